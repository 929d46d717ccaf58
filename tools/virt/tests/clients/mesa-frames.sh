#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Frames of GL and Vulkan programs by libpanthor-perf-frames.so, with Debian's Mesa: each frame is there once, when it was swapped
# or presented, its labels are regions, and its counts and those of the rest are what the ledger has.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

NAMES="gl pbuffer damage present vulkan"
GUEST=45
TOOL=$VIRT_DIR/../panthor-perf
plan $((2 + GUEST + 1 + 5 * 3))

if frames=$("$VIRT_DIR/../../clients/frames/build.sh" 2>"$SCRATCH/err"); then
	ok "the library builds"
else
	not_ok "the library builds" "$(tail -n 20 "$SCRATCH/err")"
	exit 1
fi
build_comparison
build_recordings
tool_builds panthor-perf
outputs=()
for name in $NAMES; do
	outputs+=(-o "/root/$name.data:$SCRATCH/$name.data" -o "/root/$name.trace:$SCRATCH/$name.trace")
done
guest_script $GUEST mesa-frames -r gl -a vulkan-validationlayers -m 2048 -t 1800 -l "$SCRATCH/ledger" -f "$TESTS_DIR/guest/trace.sh" \
	-f "$TESTS_DIR/guest/frames.sh" \
	-f "$frames/libpanthor-perf-frames.so" -f "$frames/panthor-perf-frames.json" "${outputs[@]}"
for name in $NAMES; do
	exact_recording "$name" "$SCRATCH/$name.data" "$SCRATCH/$name.trace"
	for form in "convert -j -o $SCRATCH/all" "report -j -o $SCRATCH/report" "report --csv -o $SCRATCH/csv"; do
		# shellcheck disable=SC2086
		"$SCRATCH/panthor-perf" $form "$SCRATCH/$name.data"
	done
	is "$name: frames and the rest have all counts" "$(python3 "$TOOL/tests/frames_check.py" "$SCRATCH"/{all,report,csv} 2>&1)" \
		"0 True 59"
done
