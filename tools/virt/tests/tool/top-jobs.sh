#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# panthor-perf top, by process: what it tells of jobs, added up over all updates, is what a recording tells that is made beside it.
# Time is counted in instructions, on one processor.
set -u
. "$(dirname "$0")/../lib/tap.sh"

GUEST=11
plan $((GUEST + 1 + 5))
guest_script $GUEST top-jobs -i -t 1800 -o "top.json:$SCRATCH/top.json" -o "report.json:$SCRATCH/report.json"

# Of each job: both have a trace of their own, whose events are a little later or earlier.
SLACK_NS=5000

# sums of top: "PID JOBS BUSY ALONE TO_RUN TO_END"
jq -rs '[.[].processes[] | select(.jobs > 0 or .busy_ns > 0)] | group_by(.pid)[] | [.[0].pid, (map(.jobs) | add), (map(.busy_ns) | add),
	(map(.alone_ns) | add), (map(.queued_to_run_ns) | add), (map(.run_to_end_ns) | add)] | @tsv' "$SCRATCH/top.json" | sort -n >"$SCRATCH/top"
jq -r '.jobs.processes[] | select(.jobs > 0) | [.pid, .jobs, .busy_ns, .alone_ns] | @tsv' "$SCRATCH/report.json" | sort -n >"$SCRATCH/report"
sed 's/^/# top: /' "$SCRATCH/top"
sed 's/^/# report: /' "$SCRATCH/report"

is "processes and their jobs are those of the recording" "$(cut -f1,2 "$SCRATCH/top")" "$(cut -f1,2 "$SCRATCH/report")"
is "which are two, of 200 jobs each" "$(cut -f2 "$SCRATCH/top" | tr '\n' ' ')" "200 200 "
is "and as long busy, and alone" "$(paste "$SCRATCH/top" "$SCRATCH/report" | awk -v slack=$SLACK_NS '
	function far(a, b) { return a > b ? a - b : b - a }
	{ if (far($3, $9) > slack * $2 || far($4, $10) > slack * $2) print $0 }')" ""
is "jobs took time, and the longest was not longer than the process" "$(awk '$5 > 0 && $6 >= $3 { n++ } END { print n }' "$SCRATCH/top")" 2
is "all parts of the time make it up" "$(jq -rs 'map(select(.jobs) | .jobs | .end_ns - .start_ns - .busy_ns - .idle_ns) | unique | @csv' \
	"$SCRATCH/top.json") $(jq -rs '[.[].jobs.idle.unknown, .[].jobs.gaps] | add' "$SCRATCH/top.json")" "0 0"
