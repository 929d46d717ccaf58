#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# panthor-perf record --jobs: every job once, and idle time as it was, by what the model says of each job. Time is counted in
# instructions, on one processor.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

GUEST=15
NAMES="one two chain starved many fence killed fault loop reset"

plan $((GUEST + 1 + 10 * 2 + 7))
build_reader jobs-exact
outs=()
for name in $NAMES; do
	outs+=(-o "$name.data:$SCRATCH/$name.data")
done
guest_script $GUEST record-jobs -i -t 1800 -p "jobs=$SCRATCH/truth" -o "clocks:$SCRATCH/clocks" "${outs[@]}"

# value NAME KEY...: values of jobs-exact
value()
{
	local name=$1 key

	shift
	for key in "$@"; do
		sed -n "s/^$key=//p" "$SCRATCH/$name.said"
	done | tr '\n' ' '
}

# exact NAME BOUND JOBS QUEUES PROCESSES: 2 results. BOUND: microseconds from what the GPU does to the event of it. Jobs are -
# where it depends on panthor how many there are. Processes are one more if there are fences of others.
exact()
{
	if "$SCRATCH/host-jobs-exact" "$SCRATCH/$1.data" "$SCRATCH/truth" "$SCRATCH/clocks" "$2" >"$SCRATCH/$1.said"; then
		ok "$1: each job is there once, and idle time is what it was"
	else
		not_ok "$1: each job is there once, and idle time is what it was" "$(cat "$SCRATCH/$1.said")"
	fi
	sed 's/^/# /' "$SCRATCH/$1.said"
	[ "$3" != - ] || set -- "$1" "$2" "$(value "$1" done | tr -d ' ')" "$4" "$5"
	is "$1: jobs, done, queues, processes, and what is unknown" \
		"$(value "$1" jobs done queues processes dropped unfinished no_queued no_run gaps)" "$3 $3 $4 $5 0 0 0 0 0 "
}

# between NAME KEY LEAST MOST
between()
{
	local value

	value=$(value "$1" "$2")
	if [ "$value" -ge "$3" ] && [ "$value" -le "$4" ]; then
		ok "$1: $2"
	else
		not_ok "$1: $2" "got:  $value" "want: $3 to $4"
	fi
}

exact one 3000 200 1 1
between one never 0 0
# The kernel's threads wait for their turn behind programs that start.
exact two 20000 400 2 2
exact chain 3000 400 4 1
exact starved 3000 - 1 1
between starved none_ns 800000000 1000000000
# There are more groups than slots.
exact many 20000 640 32 1
# The fence of another driver is a queue of another process.
exact fence 3000 6 4 4
between fence waiting_ns 300000000 303000000
exact killed 3000 - 4 1
exact fault 3000 - 5 1
between fault open 1 1
# For as long as panthor lets a job run.
exact loop 3000 - 5 1
between loop open 1 1
between loop running_ns 5000000000 6000000000
# Firmware was given jobs that it did not begin.
exact reset 3000 - 8 2
between reset never 1 64
