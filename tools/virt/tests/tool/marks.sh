#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: 6.12
# panthor-perf mark and record --control while a GPU works: each sample of a recording with regions, and of
# one with pauses, is what the model has counted, and sums of regions make up the whole.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

plan $((27 + 1 + 4))
build_comparison
build_reader recording-exact
guest_script 27 marks -g g610 -m 2048 -t 900 -l "$SCRATCH/ledger" -f "$TESTS_DIR/guest/trace.sh" \
	-f "$VIRT_DIR/../panthor-perf/man/panthor-perf-record.1" \
	-o rec:"$SCRATCH/rec" -o trace:"$SCRATCH/trace.rec" -o paused:"$SCRATCH/paused" -o trace.paused:"$SCRATCH/trace.paused"
exact_recording "regions" "$SCRATCH/rec" "$SCRATCH/trace.rec"
exact_recording "pauses" "$SCRATCH/paused" "$SCRATCH/trace.paused"
