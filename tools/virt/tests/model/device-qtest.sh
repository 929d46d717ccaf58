#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The device without a driver, or with a bad one.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/qtest.sh"

# By ASan and UBSan as well, which see what QEMU survives by luck.
build_qtest device sanitized
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1
"$SCRATCH/device" "$QEMU" "$SCRATCH"
