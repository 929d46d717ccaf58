#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: kcsan
# Whatever runs on this kernel has nothing to report if KCSAN is off, or watches nothing. It is on, and watches what
# the driver's files access: others it does not know (build/kernel.sh).
set -u
. "$(dirname "$0")/../lib/tap.sh"

value()
{
	sed -n "s/^$1: //p" "$SCRATCH/out"
}

plan 3
# shellcheck disable=SC2016
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -- sh -c '
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
	before=$(sed -n "s/^setup_watchpoints: //p" /sys/kernel/debug/kcsan)
	panthor-perf stat -o /dev/null -- gpu-load -j 16 >/dev/null || exit
	cat /sys/kernel/debug/kcsan
	echo "before: $before"
	# debugfs is read while requests are made beside it: by the timer of a session, of a GPU that is on.
	echo on >"$(echo /sys/bus/platform/drivers/panthor/*.gpu/power/control)" || exit
	panthor-perf record -p 1ms -o /root/data -- sh -c "
		for i in \$(seq 300); do
			cat /sys/kernel/debug/dri/*/perf || exit
		done" >/dev/null' >"$SCRATCH/out" 2>"$SCRATCH/err"
is "the run ends well, and the kernel has nothing to report" $? 0
is "KCSAN is on" "$(value enabled)" 1
watched=$(($(value setup_watchpoints) - $(value before)))
if [ "$watched" -ge 100 ]; then
	ok "accesses of the driver have been watched: $watched"
else
	not_ok "accesses of the driver have been watched" "$watched" "$(cat "$SCRATCH/err")"
fi
