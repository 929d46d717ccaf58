#!/bin/bash
# SPDX-License-Identifier: MIT
# Runtime and system suspend.
set -u
. "$(dirname "$0")/lib/tap.sh"

RUNTIME=18
SYSTEM=14

# The virtio_console of Linux 7.3, on resuming, asks the host for the state of its ports before it
# has a buffer for the answer (virtcons_restore()). The ports stay closed: what the guest finds
# comes out by the kernel's log, and it switches itself off.
system_by_log()
{
	local results

	VIRT_LOG=$SCRATCH/log "$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -t 300 \
		-f "$TESTS_DIR/guest/tap.sh:/root/tap.sh" \
		-f "$TESTS_DIR/guest/suspend.sh:/root/test.sh" \
		-- sh -c 'sh /root/test.sh system 2>&1 | while IFS= read -r line; do
				echo "TAP $line" >/dev/kmsg
			done
			poweroff -f' >/dev/null 2>"$SCRATCH/err"
	relay system < <(tr -d '\r' <"$SCRATCH/log" | sed -n 's/^\[[^]]*\]\(\[[^]]*\]\)\{0,1\} TAP //p')
	results=$RELAYED
	while [ "$results" -lt "$SYSTEM" ]; do
		results=$((results + 1))
		not_ok "system: result $results of $SYSTEM did not come" "$(tail -n 40 "$SCRATCH/log")"
	done
	if grep -E 'cut here|WARNING: |BUG: |KASAN|Oops|possible .*(deadlock|recursive)|INFO: task' \
		"$SCRATCH/log" >"$SCRATCH/reports"; then
		not_ok "system: the kernel has nothing to report" "$(cat "$SCRATCH/reports")"
	else
		ok "system: the kernel has nothing to report"
	fi
}

if [ "$KERNEL" = 6.12 ]; then
	plan $((RUNTIME + SYSTEM + 1))
	guest_script $((RUNTIME + SYSTEM)) suspend -- runtime system
else
	plan $((RUNTIME + 1 + SYSTEM + 1))
	guest_script $RUNTIME suspend -- runtime
	system_by_log
fi
