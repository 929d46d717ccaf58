#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf top, by process: what it tells of jobs, added up over all updates, is what a recording tells that is
# made beside it. Time is counted in instructions, on one processor.
set -u
. "$(dirname "$0")/../lib/tap.sh"

GUEST=11
plan $((GUEST + 1 + 8))
guest_script $GUEST top-jobs -i -t 1800 -o "top.json:$SCRATCH/top.json" -o "report.json:$SCRATCH/report.json" \
	-o "both.json:$SCRATCH/both.json" -o "counts:$SCRATCH/counts"

# Of each job: both have a trace of their own, whose events are a little later or earlier. Between those of one moment
# the thread that queues a job can be interrupted by what the others of the machine do, and idle time is between them, too:
# four times as much.
SLACK_NS=5000
QUEUED_SLACK_NS=20000

# top: "PID JOBS BUSY ALONE TO_RUN TO_END"; the recording: the same, "PID JOBS TO_RUN TO_END" of what was converted,
# and times by what the GPU did
jq -rs '[.[].processes[] | select(.jobs > 0 or .busy_ns > 0)] | group_by(.pid)[] | [.[0].pid, (map(.jobs) | add), (map(.busy_ns) | add),
	(map(.alone_ns) | add), (map(.queued_to_run_ns) | add), (map(.run_to_end_ns) | add)] | @tsv' "$SCRATCH/top.json" | sort -n >"$SCRATCH/top"
jq -r '.jobs.processes[] | select(.jobs > 0) | [.pid, .jobs, .busy_ns, .alone_ns] | @tsv' "$SCRATCH/report.json" | sort -n >"$SCRATCH/report"
jq -r '[.jobs[].jobs[]] | group_by(.pid)[] | [.[0].pid, length, (map(.run_ns - .queued_ns) | add),
	(map(.end_ns - .run_ns) | add)] | @tsv' "$SCRATCH/both.json" | sort -n >"$SCRATCH/both"
# The recording's time is within top's: what is beyond has no jobs.
jq -rs '[.[] | select(.jobs) | .jobs] | "ready \(map(.idle.ready) | add)", "waiting \(map(.idle.waiting) | add)",
	"none \((map(.idle.none) | add) - (map(.end_ns - .start_ns) | add))"' "$SCRATCH/top.json" >"$SCRATCH/top.idle"
jq -r '.jobs | "ready \(.idle.ready.ns)", "waiting \(.idle.waiting.ns)", "none \(.idle.none.ns - .time_ns)"' \
	"$SCRATCH/report.json" >"$SCRATCH/report.idle"
for name in top report both; do
	sed "s/^/# $name: /" "$SCRATCH/$name"
done
paste "$SCRATCH/top.idle" "$SCRATCH/report.idle" | sed 's/^/# idle, top and report: /'

# far WHAT SLACK FIELD FIELD...: lines of $SCRATCH/top beside those of another file, in which two fields are further
# apart than so much for each job
far()
{
	paste "$SCRATCH/top" "$SCRATCH/$1" | awk -v slack="$2" -v list="${*:3}" '
		function far(a, b) { return a == "" || b == "" || (a > b ? a - b : b - a) > slack * $2 }
		{ n = split(list, f, " "); for (i = 1; i < n; i += 2) if (far($f[i], $f[i + 1])) { print $0; next } }'
}

is "processes and their jobs are those of the recording" "$(cut -f1,2 "$SCRATCH/top")" "$(cut -f1,2 "$SCRATCH/report")"
is "and those that the shell started" "$(cut -f1,2 "$SCRATCH/top" | tr '\t' ' ')" "$(sort -n "$SCRATCH/counts")"
is "which have 200 and 120 jobs" "$(cut -d' ' -f2 "$SCRATCH/counts" | tr '\n' ' ')" "200 120 "
is "busy times, and those alone, are the recording's" "$(far report $SLACK_NS 3 9 4 10)" ""
is "times from queued to run, and from run to done, are the recording's" "$(far both $QUEUED_SLACK_NS 5 9 6 10)" ""
is "idle times by cause are the recording's" "$(paste "$SCRATCH/top.idle" "$SCRATCH/report.idle" |
	awk -v slack=$((QUEUED_SLACK_NS * 320)) '{ n++
		d = $2 > $4 ? $2 - $4 : $4 - $2; if ($1 != $3 || d > slack) print } END { print n }')" 3
is "all parts of the time make it up" "$(jq -rs 'map(select(.jobs) | .jobs | .end_ns - .start_ns - .busy_ns - .idle_ns) | unique | @csv' \
	"$SCRATCH/top.json")" 0
is "in none of it jobs are unknown" "$(jq -rs '[.[].jobs | .idle.unknown, .gaps] | add' "$SCRATCH/top.json")" 0
