#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf doctor on the virtual Mali: with Debian's own panthor, with ours, without the right to count,
# with another panthor loaded than what is installed, without firmware. Machines that are made up:
# tools/panthor-perf/tests/doctor.sh; firmware without counters: bites.sh.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((1 + 7 + 22))
# Debian's own panthor, as an initrd may have it.
if kernel=$("$VIRT_DIR/build/sources.sh" kernel "$KERNEL" 2>"$SCRATCH/err") &&
	own=$(ls "$kernel"/usr/lib/modules/*/kernel/drivers/gpu/drm/panthor/panthor.ko.xz) &&
	xz -dc "$own" >"$SCRATCH/own.ko"; then
	ok "there is Debian's own panthor"
else
	not_ok "there is Debian's own panthor" "$(cat "$SCRATCH/err")"
fi
CONFIG=debian guest_script 6 doctor -- own
guest_script 21 doctor -f "$SCRATCH/own.ko:/root/own.ko" -- ours
