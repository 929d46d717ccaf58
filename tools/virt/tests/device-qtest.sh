#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The device without a driver, or with a bad one.
set -u
. "$(dirname "$0")/lib/tap.sh"
. "$TESTS_DIR/lib/qtest.sh"

build_qtest device
"$SCRATCH/device" "$QEMU" "$SCRATCH"
