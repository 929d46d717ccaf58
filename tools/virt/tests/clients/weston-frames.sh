#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Frames of programs under Weston, which draws by Debian's Mesa too: each is there once, and its counts and those of the rest are
# what the ledger has.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

GUEST=12
TOOL=$VIRT_DIR/../panthor-perf
plan $((2 + GUEST + 1 + 2 * 3))

if frames=$("$VIRT_DIR/../../clients/frames/build.sh" 2>"$SCRATCH/err"); then
	ok "the library builds"
else
	not_ok "the library builds" "$(tail -n 20 "$SCRATCH/err")"
	exit 1
fi
build_comparison
build_recordings
tool_builds panthor-perf
guest_script $GUEST weston-frames -r gl -a weston -a vulkan-tools -m 2048 -t 1800 -l "$SCRATCH/ledger" \
	-f "$TESTS_DIR/guest/trace.sh" -f "$TESTS_DIR/guest/frames.sh" \
	-f "$frames/libpanthor-perf-frames.so" -f "$frames/panthor-perf-frames.json" -o "/root/shown:$SCRATCH/shown" \
	-o "/root/egl.data:$SCRATCH/egl.data" -o "/root/egl.trace:$SCRATCH/egl.trace" \
	-o "/root/cube.data:$SCRATCH/cube.data" -o "/root/cube.trace:$SCRATCH/cube.trace"
# check NAME FRAMES: 3 results
check()
{
	exact_recording "$1" "$SCRATCH/$1.data" "$SCRATCH/$1.trace"
	for form in "convert -j -o $SCRATCH/all" "report -j -o $SCRATCH/report" "report --csv -o $SCRATCH/csv"; do
		# shellcheck disable=SC2086
		"$SCRATCH/panthor-perf" $form "$SCRATCH/$1.data"
	done
	is "$1: frames and the rest have all counts" "$(python3 "$TOOL/tests/frames_check.py" "$SCRATCH"/{all,report,csv} 2>&1)" \
		"0 True $(($2 - 1))"
}

check egl "$(cat "$SCRATCH/shown")"
check cube 60
