#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf record --jobs on several processors, which each have a buffer of events: every job once, whole. When is
# a matter of record-jobs, where there is one.
set -u
. "$(dirname "$0")/../lib/tap.sh"

GUEST=2
plan $((GUEST + 1 + 4))
guest_script $GUEST record-jobs-cpus -s 4 -t 1800 -o "cpus.json:$SCRATCH/cpus.json" -o "counts:$SCRATCH/counts"

# jobs FILTER: of the recording
jobs()
{
	jq -r "[.jobs[].jobs[]] | $1" "$SCRATCH/cpus.json"
}

is "jobs of each process are as many as it gave" "$(jobs 'group_by(.pid)[] | "\(.[0].pid) \(length)"' | sort)" \
	"$(sort "$SCRATCH/counts")"
is "which are three processes, of 400 jobs each" "$(cut -d' ' -f2 "$SCRATCH/counts" | tr '\n' ' ')" "400 400 400 "
is "of each all is known" \
	"$(jobs 'map(select(.outcome != "done" or .queued_ns == null or .run_ns == null)) | .[:5][]')" ""
is "no events were lost" "$(jq '[.jobs[].gaps[]] | length' "$SCRATCH/cpus.json")" 0
