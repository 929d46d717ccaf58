#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf record --jobs: every job once, and idle time as it was, by what the model says of each job. Time is
# counted in instructions, on one processor.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

GUEST=17
NAMES="one two chain starved many fence killed fault loop reset lost hidden"

plan $((GUEST + 1 + 58))
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

# compare_jobs NAME BOUND: 1 result
compare_jobs()
{
	if "$SCRATCH/host-jobs-exact" "$SCRATCH/$1.data" "$SCRATCH/truth" "$SCRATCH/clocks" "$2" \
		>"$SCRATCH/$1.said" 2>&1; then
		ok "$1: each job is there once, and idle time is what it was"
		sed 's/^/# /' "$SCRATCH/$1.said"
	else
		not_ok "$1: each job is there once, and idle time is what it was" "$(cat "$SCRATCH/$1.said")"
	fi
}

# exact NAME BOUND JOBS QUEUES PROCESSES: 2 results. BOUND: microseconds from what the GPU does to the event of it.
# Jobs are - where it depends on panthor how many there are. Processes are one more if there are fences of others. A
# job is late if it begins later than the bound and has none before it in its queue.
exact()
{
	local jobs=$3

	compare_jobs "$1" "$2"
	[ "$jobs" != - ] || jobs=$(value "$1" done | tr -d ' ')
	is "$1: jobs, done, queues, processes, and what is unknown or late" \
		"$(value "$1" jobs done queues processes dropped unfinished no_queued no_run gaps unknown_ns late)" \
		"$jobs $jobs $4 $5 0 0 0 0 0 0 0 "
}

# all_end NAME: 1 result
all_end()
{
	is "$1: firmware begins and ends each job, and hangs in none" "$(value "$1" open never hung)" "0 0 0 "
}

# between NAME KEY LEAST MOST
between()
{
	local value

	value=$(value "$1" "$2")
	if [ "${value:--1}" -ge "$3" ] && [ "$value" -le "$4" ]; then
		ok "$1: $2"
	else
		not_ok "$1: $2" "got:  $value" "want: $3 to $4"
	fi
}

# waits_before NAME QUEUES LEAST MOST: 1 result. So many queues or more have jobs that wait, LEAST to MOST of each, and
# for the queue that was set up before theirs alone. Linux 6.12 does not tell of which queue a job is that waits, and
# each job of its number is said to wait: for any of the queues before.
waits_before()
{
	local wrong

	wrong=$(value "$1" waits | tr ' ' '\n' | awk -F'[>:]' -v queues="$2" -v least="$3" -v most="$4" -v series="$SERIES" '
		NF == 3 && (series == "6.12" ? $2 >= $1 : $2 != $1 - 1) { print }
		NF == 3 { jobs[$1] += $3 }
		END { for (q in jobs) { n++; if (jobs[q] < least || jobs[q] > most) print "queue " q ": " jobs[q] }
			if (n < queues) print n + 0 " queues" }')
	if [ -z "$wrong" ]; then
		ok "$1: queues wait for the one before"
	else
		not_ok "$1: queues wait for the one before" "wrong: $(echo $wrong)" \
			"all queues, whom they wait for, and jobs: $(value "$1" waits)" "want: $2 queues or more, $3 to $4 jobs of each"
	fi
}

# told NAME: 1 result
told()
{
	local gaps missing lost

	read -r gaps missing lost < <(value "$1" gaps missing lost)
	# Of a missing job one event is lost at least. The kernel may not know how many were: 0.
	if [ "${gaps:-0}" -eq 1 ] && [ "$missing" -ge 1 ] && { [ "$lost" -eq 0 ] || [ "$lost" -ge "$missing" ]; }; then
		ok "$1: events that were lost are told, and no more jobs are missing"
	else
		not_ok "$1: events that were lost are told, and no more jobs are missing" \
			"gaps: $gaps, missing jobs: $missing, lost events: $lost"
	fi
}

# In microseconds, a job takes 80 of the GPU in the mean. Firmware begins it 10 to 25 after the scheduler's thread has
# given it, but up to 360 if the GPU has to wake up; its end is known 50 to 70 later, by an interrupt and a kernel
# thread. That it is ready comes 25 to 40 before it is given, when that thread runs. BOUND is of a single job, whose
# threads may wait for a tick of 4 ms behind others, or for several; means show how far all of them are. In the mean
# over the GPU's busy times, what a job is longer in the recording is less than three jobs.
exact one 5000 200 1 1
all_end one
# One after the other: each is a busy time of its own.
is "one: busy times" "$(value one busy_times runs)" "200 200 "
between one excess_ns 20000 200000
between one mean_begin_ns 0 45000
between one ready_ns 2000000 16000000
between one waiting_ns 0 0
exact two 20000 400 2 2
all_end two
exact chain 5000 400 4 1
all_end chain
between chain excess_ns 20000 200000
# Of 100 jobs of a queue 50 wait, if the one that they wait for is not done when their turn comes, and those behind
# them.
waits_before chain 3 10 100
exact starved 5000 - 1 1
all_end starved
# With all of the time known, this is how far idle and running times are from the GPU's.
between starved excess_ns 20000 200000
between starved mean_begin_ns 0 45000
between starved none_ns 800000000 1000000000
between starved ready_ns 4000000 32000000
between starved waiting_ns 0 0
# There are more groups than slots.
exact many 20000 640 32 1
all_end many
waits_before many 31 1 20
# The fence of another driver is a queue of another process. The GPU sleeps before it is signalled.
exact fence 5000 6 4 4
all_end fence
between fence waiting_ns 300000000 303000000
between fence ready_ns 0 300000
between fence excess_ns 20000 360000
is "fence: which timeline jobs wait for" "$(value fence timeline)" "6 suspend-fence suspend-fence "
# Jobs of four queues, as many as are in flight.
exact killed 3000 - 4 1
between killed cut 1 16
exact fault 3000 - 5 1
between fault open 1 1
between fault never 0 0
# For as long as panthor lets a job run.
exact loop 3000 - 5 1
between loop open 1 1
between loop never 0 0
between loop running_ns 5000000000 6000000000
# Firmware was given jobs that it did not begin, or whose ends it did not tell any more: one of a queue.
exact reset 3000 - 8 2
between reset cut 1 64
between reset hung 0 4
# Whether one of a queue waits when firmware hangs depends on how far the one before it is.
waits_before reset 4 1 400
# Nothing but the gap, and what the jobs in it hide, is unknown.
compare_jobs lost 20000
told lost
between lost unknown_ns "$(value lost gap_ns | tr -d ' ')" $(($(value lost gap_ns) + 1000000000))
between lost unfinished 0 64
compare_jobs hidden 20000
told hidden
