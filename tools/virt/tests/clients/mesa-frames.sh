#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Frames of GL and Vulkan programs by libpanthor-perf-frames.so, with Debian's Mesa: each frame is there once, when it was swapped
# or presented, its labels are regions, and its counts and those of the rest are what the ledger has.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/frames.sh"

NAMES="gl pbuffer damage present vulkan"
GUEST=45
plan $((2 + GUEST + 1 + 5 * 3))

build_frames
frames_script $GUEST mesa-frames "$NAMES" -a vulkan-validationlayers
for name in $NAMES; do
	check_frames "$name" 60
done
