#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The counters of the device without a driver: every word of ring and ledger.
set -u
. "$(dirname "$0")/lib/tap.sh"

if ! qemu=$("$VIRT_DIR/build/qemu.sh" 2>"$SCRATCH/err"); then
	plan 1
	not_ok "QEMU builds" "$(cat "$SCRATCH/err")"
	exit 1
fi
if ! "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/counters" "$VIRT_DIR/qemu/qtest/counters.c" \
	"$VIRT_DIR/qemu/qtest/vgpu.c" "$VIRT_DIR/host/ledger.c" -lfdt 2>"$SCRATCH/err"; then
	plan 1
	not_ok "the test compiles" "$(cat "$SCRATCH/err")"
	exit 1
fi
if [ "${1:-}" = -b ]; then
	"$SCRATCH/counters" -b "$qemu" "$SCRATCH"
else
	"$SCRATCH/counters" "$qemu" "$SCRATCH"
fi
