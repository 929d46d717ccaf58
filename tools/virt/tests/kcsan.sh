#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: kcsan
# Whatever runs on this kernel has nothing to report if KCSAN is off, or watches nothing. It is on, and watches what
# the driver's files access: others it does not know (build/kernel.sh).
set -u
. "$(dirname "$0")/lib/tap.sh"

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
	# debugfs is read while the driver counts.
	panthor-perf stat -o /dev/null -- gpu-load -j 16 >/dev/null &
	while kill -0 $! 2>/dev/null; do
		cat /sys/kernel/debug/dri/*/perf >/dev/null || exit
	done
	wait $!' >"$SCRATCH/out" 2>"$SCRATCH/err"
is "the run ends well, and the kernel has nothing to report" $? 0
is "KCSAN is on" "$(value enabled)" 1
watched=$(($(value setup_watchpoints) - $(value before)))
if [ "$watched" -ge 100 ]; then
	ok "accesses of the driver have been watched: $watched"
else
	not_ok "accesses of the driver have been watched" "$watched" "$(cat "$SCRATCH/err")"
fi
