#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The counters of the device without a driver: every word of ring and ledger.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/qtest.sh"

build_qtest counters "$VIRT_DIR/host/ledger.c"
if [ "${1:-}" = -b ]; then
	"$SCRATCH/counters" -b "$QEMU" "$SCRATCH"
else
	"$SCRATCH/counters" "$QEMU" "$SCRATCH"
fi
