#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Frames of programs under Weston, which draws by Debian's Mesa too: each is there once, and its counts and those of the rest are
# what the ledger has.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/frames.sh"

GUEST=12
plan $((2 + GUEST + 1 + 2 * 3))

build_frames
frames_script $GUEST weston-frames "egl cube" -a weston -a vulkan-tools -o "/root/shown:$SCRATCH/shown"
check_frames egl "$(cat "$SCRATCH/shown")"
check_frames cube 60
