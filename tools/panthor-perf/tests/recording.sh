#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Recordings without a GPU: what was written is read, cut at every byte and damaged at every byte; a
# fuzzer's first steps over what report, convert and diff read (`make fuzz-data` goes on for ten
# minutes).
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

RUNS=2000
seed 1

tool_builds recording-test jobs-test job-track-test job-usage-test recording-fuzz

export ASAN_OPTIONS=detect_leaks=0
"$SCRATCH/recording-test" >"$SCRATCH/out" 2>&1
is "the tests of recordings end well" $? 0
relay "recordings" < <(sed -n 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /p; s/^# //p' "$SCRATCH/out")

for test in jobs-test job-track-test job-usage-test; do
	"$SCRATCH/$test" >"$SCRATCH/out" 2>&1
	is "$test ends well" $? 0
	relay "jobs" < <(sed -n 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /p; s/^# //p' "$SCRATCH/out")
done

mkdir "$SCRATCH/found"
"$SCRATCH/recording-test" "$SCRATCH/found"
if "$SCRATCH/recording-fuzz" -close_fd_mask=2 -max_len=20000 -seed=1 -runs=$RUNS -artifact_prefix="$SCRATCH/" \
	"$SCRATCH/found" >"$SCRATCH/out" 2>&1; then
	ok "$RUNS broken recordings do no harm"
else
	not_ok "$RUNS broken recordings do no harm" "$(tail -n 40 "$SCRATCH/out")"
fi
plan "$TAP_COUNT"
