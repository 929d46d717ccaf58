#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: plain
# The selftest that shows on a board what the driver has to rely on (the assumptions of data/faults.csv)
# passes on a GPU which keeps to them, and fails on one which does not.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# published SWITCH=VALUE...: the selftest's output in $SCRATCH/out, and its status
published()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -m 1024 -t 2400 -- sh -c "
		mali-bench $* >/dev/null
		export PERF_WORK='gpu-load -j 16 >/dev/null'
		perf_published" >"$SCRATCH/out" 2>"$SCRATCH/err"
}

switches="cores_late=1000000 values_late=1000000 power_loses=1000000"

plan $((2 + $(wc -w <<<"$switches")))
published timestamp
is "a GPU that publishes in order: status" $? 0
is "a GPU that publishes in order: results, none skipped" "$(grep '^ok ' "$SCRATCH/out" | grep -vc SKIP)" 2
for switch in $switches; do
	published $switch
	status=$?
	if [ $status -eq 1 ] && grep -q '^not ok ' "$SCRATCH/out"; then
		ok "$switch is found"
	else
		not_ok "$switch is found" "status $status" "$(tail -n 40 "$SCRATCH/out" "$SCRATCH/err")"
	fi
done
