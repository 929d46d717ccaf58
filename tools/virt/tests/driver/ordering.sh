#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The barriers of the driver's two rings and of the totals of perf's events, tried in a model of arm64's
# memory (tools/ordering): nothing goes wrong with all of them, and something does without any one of them.
set -u
. "$(dirname "$0")/../lib/tap.sh"

TOP=$(cd "$TESTS_DIR/../../.." && pwd)
PANTHOR=$TOP/drivers/gpu/drm/panthor

if ! make -C "$TOP/tools/ordering" O="$SCRATCH" all >"$SCRATCH/log" 2>&1; then
	not_ok "the driver's functions and the model build" "$(tail -n 30 "$SCRATCH/log")"
	plan "$TAP_COUNT"
	exit 1
fi

status=0
for program in litmus ring totals; do
	"$SCRATCH/ordering-$program" >"$SCRATCH/$program" 2>&1 || status=1
	sed "s/^1\.\..*/# &/; s/^\(not \)\?ok [0-9]* - /\1ok - $program: /" "$SCRATCH/$program"
	results=$(grep -cE '^(not )?ok ' "$SCRATCH/$program")
	TAP_COUNT=$((TAP_COUNT + results))
	is "$program: all of its tests have run" "$results" "$(sed -n 's/^1\.\.//p' "$SCRATCH/$program")"
done >"$SCRATCH/all"
cat "$SCRATCH/all"
TAP_COUNT=$(grep -cE '^(not )?ok ' "$SCRATCH/all")

# tried PROGRAM: "FUNCTION BARRIER" of each that was left out
tried()
{
	sed -n 's/^ok [0-9]* - .*: nothing in place of \(.*\)() of \(.*\)() is found out.*/\2 \1/p' "$SCRATCH/$1" |
		grep -v ' spin_unlock$' | sort -u
}

# The same of each barrier that the driver has. Of the PMU, all that orders in the functions of the totals: what
# else there is orders the state of one event, by the usual pair of release and acquire.
awk '
	/^[a-z].*\(/ && !/;$/ { match($0, /[a-z_0-9]+\(/); name = substr($0, RSTART, RLENGTH - 1) }
	match($0, /^\t+((smp|dma)_)?(mb|rmb|wmb|mb__[a-z_]*|store_mb|store_release|load_acquire)\(/) {
		barrier = substr($0, RSTART, RLENGTH - 1)
		sub(/^\t+/, "", barrier)
		print name, barrier
	}' $(ls "$PANTHOR"/panthor_perf_*.c | grep -v '/panthor_perf_pmu\.c$') | sort >"$SCRATCH/have"
is "each barrier of the two rings was left out once, and that was found out" \
	"$(tried ring)" "$(cat "$SCRATCH/have")"
awk '
	/^[a-z].*\(/ && !/;$/ { match($0, /[a-z_0-9]+\(/); name = substr($0, RSTART, RLENGTH - 1) }
	/^}/ { name = "" }
	name ~ /^(panthor_perf_pmu_(un)?pin|totals_[a-z]+)$/ {
		while (match($0, /(smp_[a-z_]+|atomic_[a-z_]*(acquire|release))\(/)) {
			print name, substr($0, RSTART, RLENGTH - 1)
			$0 = substr($0, RSTART + RLENGTH)
		}
	}' "$PANTHOR/panthor_perf_pmu.c" | sort >"$SCRATCH/have"
is "so was all that orders the totals" "$(tried totals)" "$(cat "$SCRATCH/have")"
is "which is six things" "$(wc -l <"$SCRATCH/have")" 6
plan "$TAP_COUNT"
exit $status
