#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock
# Sessions with a period of a millisecond: no count off, and memory flat. Time is counted by instructions, of which
# the processor does one a nanosecond: twice as many as others of run -i, and more than 64 sessions take.
#   soak.sh -t    a turn, of an hour or two of the machine's own time, and what all turns so far come to (make soak)
set -u
. "$(dirname "$0")/../lib/tap.sh"

LOG=${XDG_CACHE_HOME:-$HOME/.cache}/panthor-perf/soak/log-$KERNEL
# In all, two hours of 64 sessions and twelve of two. Each turn has a sixth of both, in a machine for each.
TURNS=6

export VIRT_SHIFT=0

# runs SESSIONS: how often they are in the log
runs()
{
	grep -c " $1 sessions," "$LOG"
}

# soak GPU SESSIONS SECONDS
soak()
{
	# With how long firmware takes, which is nothing else with -i, no run is the same as another.
	in_guest 4 "$1, $2 sessions, $3 s" -i -g "$1" -p "latency_seed=$((SEED + 1))" -m 1024 -t 20000 -- perf-soak "$2" "$3"
}

case ${1:-} in
'')
	plan 10
	soak g310 64 12
	soak g715 2 20
	;;
-t)
	mkdir -p "$(dirname "$LOG")"
	touch "$LOG"
	for turn in "g310 64 $((2 * 3600 / TURNS))" "g610 2 $((12 * 3600 / TURNS))"; do
		# Of a turn that was interrupted, the first half may be there.
		[[ $turn != *" 64 "* ]] || [ "$(runs 64)" -le "$(runs 2)" ] || continue
		# shellcheck disable=SC2086
		soak $turn | tee "$SCRATCH/results"
		if grep -q '^not ok' "$SCRATCH/results"; then
			exit 1
		fi
		sed -n "s/^# #: in all:\(.*\)/$(date -I)\1, at $(git -C "$VIRT_DIR" describe --always --dirty)/p" \
			"$SCRATCH/results" >>"$LOG"
	done
	echo "$(runs 2) of $TURNS turns"
	awk '{ s[$2] += $4; n[$2] += $6 } END { for (k in s) print k " sessions: " s[k] " s, " n[k] " samples so far, none wrong: " FILENAME }' \
		"$LOG"
	;;
esac
