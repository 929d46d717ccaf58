#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What report says of jobs: times and counters by process, and why the GPU was idle. Of a scenario, each figure is written down here; of jobs by
# chance, another program looks at each moment.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan 24
seed 1
tool=$SCRATCH/panthor-perf
tool_builds panthor-perf recording-make

# frames FILE OPTION...: a line for each frame, none if it has no frames
frames()
{
	if grep -q '^"frames":' "$SCRATCH/all.json"; then
		"$tool" report --csv -e MaliGPUActiveCy -o "$SCRATCH/frames.csv" "${@:2}" "$1"
	else
		: >"$SCRATCH/frames.csv"
	fi
}

# check FILE [FROM UNTIL]: what is wrong with the report on a recording or, from and until so many nanoseconds, on a part of it
check()
{
	local from=${2:-} until=${3:-}

	"$tool" convert -j -o "$SCRATCH/all.json" "$1" &&
		"$tool" report -j ${from:+--time "${from}ns,${until}ns"} -o "$SCRATCH/report.json" "$1" &&
		frames "$1" ${from:+--time "${from}ns,${until}ns"} &&
		python3 "$(dirname "$0")/jobs_check.py" "$SCRATCH/all.json" "$SCRATCH/report.json" "$SCRATCH/frames.csv" ${from:+"$from" "$until"} 2>&1
}

# ---- A scenario ----

# A game with two queues, a compositor, and another driver's fences; times in microseconds.
QUEUES='7 game panthor-queue-1-1-0
7 game panthor-queue-1-2-0
8 weston panthor-queue-2-1-0
0 vkms timeline b'
jobs='0 7 - 2000 2000 5000 3
1 7 3000 3500 4000 8000
2 8 3000 7000 7500 9000 1
0 7 20000 24000 26000 30000 3
2 8 21000 25000 - 30000 3 1
2 8 22000 40000 40000 41000
until 50000
gap 1 62000 64000 5
gap 0 63000 65000 0
gap 1 64500 65000 3
gap 4294967295 63500 65000 0
0 7 60000 60000 61000 70000 -1 2
2 8 60500 60500 - 66000
until 90000'
# in_ns: times of jobs in nanoseconds
in_ns()
{
	awk '/^until/ { print $1, $2 "000"; next }
		/^gap/ { print $1, $2, $3 "000", $4 "000", $5; next }
		{ for (n = 3; n <= 6; n++) if ($n != "-") $n = $n "000"; print }'
}
export QUEUES
JOBS=$(in_ns <<<"$jobs") "$SCRATCH/recording-make" "$SCRATCH/data" 100 default
"$SCRATCH/recording-make" "$SCRATCH/none" 100 default
"$tool" report "$SCRATCH/data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "report of a recording with jobs" "$? $(cat "$SCRATCH/err")" "0 "
is "the whole of it" "$(sed -n '/^Jobs ran/,/^$/p' "$SCRATCH/out")" \
	'Jobs ran for 0.018000 s of 0.100000 s, those of several processes at once for 0.000500 s
                                    from queued to run, in ms      from run to end, in ms
          busy    share      jobs        50%       95%       max        50%       95%       max  process
    0.016000 s   16.0 %         4      1.000     6.000     6.000      4.000     4.000     4.000  game (PID 7); without times of 1 unfinished, 1 with unknown times
    0.002500 s    2.5 %         4      4.500    18.000    18.000      1.000     1.500     1.500  weston (PID 8); without times of 1 dropped, 1 with unknown times
GPU idle, or not known: 0.082000 s, 82.0 % of the time
    0.052000 s   52.0 %  no job queued
      0.030000 s  2 times, longest 0.019000 s, after weston (PID 8), panthor-queue-2-1-0
      0.020000 s  1 time, longest 0.020000 s, after game (PID 7), panthor-queue-1-1-0
      0.002000 s  1 time, longest 0.002000 s, before the first job
    0.014000 s   14.0 %  waiting for a fence
      0.010000 s  1 time, longest 0.010000 s, for an unknown fence
      0.002000 s  1 time, longest 0.002000 s, for vkms, timeline b
      0.002000 s  1 time, longest 0.002000 s, for several fences
    0.003000 s    3.0 %  ready
      0.001500 s  2 times, longest 0.001000 s, of game (PID 7), panthor-queue-1-1-0
      0.001500 s  2 times, longest 0.001000 s, of several queues
    0.013000 s   13.0 %  unknown
CPU 0 lost an unknown number of events in 1 gap of 0.002000 s: jobs may be missing
CPU 1 lost 8 events in 2 gaps of 0.002500 s: jobs may be missing
As events were lost, jobs may have been there unseen in 1 gap of 0.001500 s'
is "as each moment has it" "$(check "$SCRATCH/data")" "0 32 8 8 5 0"
is "jobs change nothing else" "$(sed '/^Jobs ran/,/^$/d' "$SCRATCH/out" | tail -n +2)" "$("$tool" report "$SCRATCH/none" | tail -n +2)"
is "JSON of a recording without jobs has none" "$("$tool" report -j "$SCRATCH/none" | jq .jobs)" null

is "a part of the time has what lies in it" "$("$tool" report --time 21ms,25500us "$SCRATCH/data" | sed -n '/^Jobs ran/,/^$/p')" \
	'Jobs ran for 0.000000 s of 0.004500 s
GPU idle: 0.004500 s, 100.0 % of the time
    0.003000 s   66.7 %  waiting for a fence
      0.002000 s  1 time, longest 0.002000 s, for several fences
      0.001000 s  1 time, longest 0.001000 s, for vkms, timeline b
    0.001500 s   33.3 %  ready
      0.001000 s  1 time, longest 0.001000 s, of game (PID 7), panthor-queue-1-1-0
      0.000500 s  1 time, longest 0.000500 s, of several queues'
MARKS='7200000 a
7700000 
28000000 a
40500000 b' JOBS=$(in_ns <<<"$jobs") "$SCRATCH/recording-make" "$SCRATCH/marked" 100 default
is "so has a region" "$("$tool" report --region a "$SCRATCH/marked" | sed -n '/^Jobs ran/,/^$/p')" \
	'Jobs ran for 0.003000 s of 0.013000 s, those of several processes at once for 0.000200 s
                                    from queued to run, in ms      from run to end, in ms
          busy    share      jobs        50%       95%       max        50%       95%       max  process
    0.002500 s   19.2 %         1      6.000     6.000     6.000      4.000     4.000     4.000  game (PID 7)
    0.000700 s    5.4 %         1          -         -         -          -         -         -  weston (PID 8); without times of 1 dropped
GPU idle: 0.010000 s, 76.9 % of the time
    0.010000 s   76.9 %  waiting for a fence
      0.010000 s  1 time, longest 0.010000 s, for an unknown fence'

JOBS="until 0" "$SCRATCH/recording-make" "$SCRATCH/empty" 100 default
is "without any job, nothing is known" "$("$tool" report "$SCRATCH/empty" | sed -n '/^Jobs ran/,/^$/p')" \
	'Jobs ran for 0.000000 s of 0.100000 s
GPU idle, or not known: 0.100000 s, 100.0 % of the time
    0.100000 s  100.0 %  unknown'
JOBS='until 100000000' "$SCRATCH/recording-make" "$SCRATCH/quiet" 100 default
is "if none was queued, that is why" "$("$tool" report "$SCRATCH/quiet" | sed -n '/^Jobs ran/,/^$/p')" \
	'Jobs ran for 0.000000 s of 0.100000 s
GPU idle: 0.100000 s, 100.0 % of the time
    0.100000 s  100.0 %  no job queued
      0.100000 s  1 time, longest 0.100000 s, before the first job'
"$tool" diff "$SCRATCH/none" "$SCRATCH/none" | tail -n +3 >"$SCRATCH/without"
"$tool" diff "$SCRATCH/data" "$SCRATCH/data" 2>"$SCRATCH/err" | tail -n +3 >"$SCRATCH/with"
is "diff does not look at jobs" "$(cat "$SCRATCH/err" "$SCRATCH/with")" "$(cat "$SCRATCH/without")"

# ---- Regions and frames ----

MARKS='7200000 a
7700000 
28000000 a
40500000 b' FRAMES='1000000 7 game
9000000 7 game
31000000 7 game
20500000 5 other
21500000 5 other' JOBS=$(in_ns <<<"$jobs") "$SCRATCH/recording-make" "$SCRATCH/framed" 100 default
"$tool" report "$SCRATCH/framed" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "regions say how long the GPU was idle, and mostly why" "$? $(cat "$SCRATCH/err") $(grep -A 3 'GPU idle  mostly .*region$' "$SCRATCH/out" |
	tr -s ' ' | sed 's/ load.*written / /; s/ [0-9.]* %.*B\/s / /')" "0   time times GPU idle mostly across region
 0.013000 s 2 76.9 % waiting for a fence 76.9 % 14.3 % a
 0.059500 s 1 89.1 % no job queued 65.5 % 1.7 % b
 0.027500 s 69.1 % no job queued 47.3 % 3.6 % (no region)"
is "frames have the time of their own jobs and of others" "$(grep '^  jobs:' "$SCRATCH/out")" \
	"  jobs: own 31.7 % of the time, others' 3.3 %, of several at once 1.7 %; GPU idle 63.3 %, mostly no job queued 40.0 %
  jobs: own 0.0 % of the time, others' 0.0 %, of several at once 0.0 %; GPU idle 100.0 %, mostly waiting for a fence 100.0 %"
# Without the columns before and behind, which are by counters.
is "so have the slowest" "$(awk '/own jobs/ { on = 1 } /^$/ { on = 0 } on { print substr($0, 1, 38), substr($0, 48, 66) }' "$SCRATCH/out" |
	tr -s ' ' | sed 's/ $//')" \
	" slowest at time own jobs others' several GPU idle mostly
 2 0.009 s 22.000 ms 18.2 % 0.0 % 0.0 % 81.8 % no job queued 50.0 %
 1 0.001 s 8.000 ms 68.8 % 12.5 % 6.2 % 12.5 % no job queued 12.5 %
 slowest at time own jobs others' several GPU idle mostly
 1 0.021 s 1.000 ms 0.0 % 0.0 % 0.0 % 100.0 % waiting for a fence 100.0 %"

# ---- Counters by process ----

"$tool" report --jobs -e MaliGPUActiveCy,MaliALUUtil "$SCRATCH/data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "report --jobs" "$? $(cat "$SCRATCH/err")" "0 "
is "has counters by process, and all the rest" "$(grep ^Counters "$SCRATCH/out")" \
	"Counters while jobs of game (PID 7) alone ran: 15 samples, 0.015000 s
Counters while jobs of weston (PID 8) alone ran: 2 samples, 0.002000 s
Counters of samples at edges, which are in more than one of these times: 1 sample, 0.001000 s
Counters while the GPU was idle: 69 samples, 0.069000 s
Counters while jobs are unknown: 13 samples, 0.013000 s"
"$tool" report --jobs --csv -e MaliGPUActiveCy,MaliALUUtil "$SCRATCH/data" >"$SCRATCH/csv"
is "with the totals and means of its lines of CSV" \
	"$(awk '/^  MaliGPUActiveCy/ { gsub(",", ""); total = $2 } /^  MaliALUUtil/ { print total, $2 }' "$SCRATCH/out")" \
	"$(awk -F, 'NR > 1 && $4 { printf "%d %.2f\n", $(NF - 1), $NF }' "$SCRATCH/csv")"
# One line of JSON for each line of CSV.
is "which are those of JSON" "$(tail -n +2 "$SCRATCH/csv")" "$("$tool" report -j -e MaliGPUActiveCy,MaliALUUtil "$SCRATCH/data" | jq -r '.jobs |
	def values: .counters as $list | [0, 1] | map($list[.] | if . then .total // .mean else "" end) |
		map(if . == "" then . elif . == floor then tostring else (. * 1e9 | tostring) end);
	(.processes[] | ["process", .process, .pid, .samples, .sampled_ns, .busy_ns, .alone_ns, .jobs, .timed, .dropped, .unfinished, .unknown,
		(.queued_to_run_ns, .run_to_end_ns | .p50, .p95, .max)] + values),
	(.other_samples | to_entries[] | .key as $of | .value | [$of, "", "", .samples, .sampled_ns] + [range(13) | ""] + values) |
	map(tostring) | join(",")' | awk -F, -v OFS=, '$NF != "" { $NF = sprintf("%.9g", $NF / 1e9) } { print }')"
is "a process that was never alone says so" "$("$tool" report --jobs --time 40600us,62ms -e MaliGPUActiveCy "$SCRATCH/data" | grep '^No sample')" \
	"No sample lies wholly in the time of weston (PID 8) alone. Record with a shorter period (-p)"
"$tool" report --jobs "$SCRATCH/none" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "without jobs, there are no counters by process" "$? $(sed 's,/.*/,,' "$SCRATCH/err" "$SCRATCH/out")" \
	"2 panthor-perf: none has no jobs. Record with --jobs"
"$tool" report --jobs --frames --csv "$SCRATCH/data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "lines of CSV are of frames or of processes" "$? $(sed 1q "$SCRATCH/err") $(cat "$SCRATCH/out")" \
	"2 panthor-perf report: --csv cannot be combined with both --frames and --jobs "

# ---- Jobs by chance ----

# draw SEED: bursts of jobs of 30 queues, a sixth of which are of several at once; some lack a time, or never ran, or did not end;
# and at the end one of each program alone
draw()
{
	awk -v seed="$1" '
		function draw(below) { return int(rand() * below) }
		function known(time) { return rand() < 0.02 ? "-" : time }
		BEGIN {
			srand(seed)
			for (now = 1000000; now < 870000000; now += rand() < 0.1 ? draw(6000000) : draw(500000)) {
				queued = now + draw(1000)
				ready = rand() < 0.4 ? queued : queued + draw(1500000)
				run = rand() < 0.2 ? ready : ready + draw(400000)
				end = run + draw(rand() < 0.1 ? 5000000 : 500000)
				outcome = rand() < 0.03 ? 1 + draw(2) : 0
				if (outcome == 1) { run = "-"; end = ready + draw(500000) }
				printf "%d %d %s %d %s %d %d %d\n", draw(30), 100 + draw(5), known(queued), ready, outcome == 1 ? run : known(run), end,
					(ready > queued && rand() < 0.8) ? draw(32) : -1, outcome
			}
			for (n = 0; n < 5; n++)
				printf "%d %d %d %d %d %d -1 0\n", n, 100 + n, now = 880000000 + n * 4000000, now, now, now + 2500000
		}' | sort -n -k 6,6 | awk -v seed="$1" '
		BEGIN { srand(seed) }
		{ print; end = $6 }
		NR % 300 == 0 && end < 870000000 {
			for (n = int(rand() * 4); n >= 0; n--) {
				from = end - int(rand() * 5000000)
				printf "gap %s %d %d %d\n", rand() < 0.3 ? "4294967295" : int(rand() * 4), from, from + int(rand() * (end - from)), int(rand() * 3)
			}
			print "until", end + 1
		}
		END { print "until", end + 1 }'
}
QUEUES=$(for ((i = 0; i < 30; i++)); do echo "$((100 + i % 5)) program$((i % 5)) queue $i"; done; echo "0 vkms timeline"; echo "0 v4l2 other")
draw "$SEED" >"$SCRATCH/jobs"
# Frames of two of the programs, and of one without jobs; and regions.
frames=$(awk 'BEGIN {
	for (n = 0; n < 50; n++) printf "%d 100 program0\n%d 102 program2\n%d 9 none\n", n * 16712345, 3000000 + n * 8123456, n * 1999999
}' | sort -n)
marks=$(awk 'BEGIN { for (n = 0; n < 40; n++) printf "%d %s\n", 1234567 + n * 21111111, n % 4 ? "region " n % 4 : "" }')
FRAMES=$frames MARKS=$marks JOBS=$(cat "$SCRATCH/jobs") "$SCRATCH/recording-make" "$SCRATCH/random" 900 default
check "$SCRATCH/random" >"$SCRATCH/checked"
read -r _ intervals count causes places framed < <(tail -n 1 "$SCRATCH/checked")
is "of $count jobs by chance, all figures are those of each moment ($intervals, $causes causes, $places places, $framed frames)" \
	"$(sed '$d' "$SCRATCH/checked") $((count > 1000 && intervals > 4000 && causes > 60 && places == 9 && framed > 140))" " 1"
check "$SCRATCH/random" 200123456 200987654 >"$SCRATCH/checked"
is "the same of less than a millisecond" "$(cut -d ' ' -f 1 "$SCRATCH/checked" | uniq)" 0
check "$SCRATCH/random" 300000000 700000000 >"$SCRATCH/checked"
is "the same of a part" "$(cut -d ' ' -f 1 "$SCRATCH/checked" | uniq)" 0
