#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Traces for Perfetto without a GPU: rates, what is not repeated, and the same from record and convert; each
# count of a minute's samples can be told from them, and how large they are. The GPU is a fake one; all of
# it with ASan and UBSan, and some with TSan, for a thread compresses and writes.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/perfetto.sh"

tool=$SCRATCH/live-test
# Of samples in which all counters change, and what one may take at the most, in bytes: 39 MB in a minute at 1 ms.
SAMPLES=3000
MOST=630
seed 1

plan 42
build_decoder
tool_builds live-test live-race recording-make tracks-test

# counted BYTES ARGUMENT...: the tool while its GPU counts BYTES (see fake-gpu.c)
counted()
{
	local bytes=$1 status

	shift
	mkfifo "$SCRATCH/ticks"
	# Open for both, so that the bytes stay until they are read.
	exec 6<>"$SCRATCH/ticks"
	printf '%s' "$bytes" >&6
	FAKE_TICKS=$SCRATCH/ticks "$tool" "$@" 2>"$SCRATCH/err"
	status=$?
	exec 6>&-
	rm "$SCRATCH/ticks"
	return $status
}

# points TEXT [UNIT]: "TIME NAME: VALUE", as they are in the trace, the time in seconds or units of so many ns
points()
{
	awk -v unit="${2:-1e9}" '/^      specs {/ { spec = 1 }
		/^      }/ { spec = 0 }
		$1 == "counter_id:" { id = $2 }
		spec && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); name[id] = $0 }
		/^  timestamp:/ { time = $2 }
		$1 == "double_value:" { printf "%.10g %s: %s\n", time / unit, name[id], $2 }' "$1"
}

run_tests 3 "numbers" "$SCRATCH/tracks-test"

# ---- What is in a trace ----

# Samples of 1, 1, 5 and 1 seconds; the last is that of the end, in which nothing counts.
counted sst record -p 1s -e MaliGPUActiveCy -o "$SCRATCH/data" -- true
is "samples, of which one is long, are recorded" "$? $(sed -n 's/^panthor-perf: \([0-9]* samples\).*/\1/p' "$SCRATCH/err")" "0 4 samples"
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
is "protoc reads the trace" "$? $(cat "$SCRATCH/err")" "0 "
points "$SCRATCH/text" >"$SCRATCH/points"
# 996 in 5 seconds, to an eighth of one.
is "counts are rates, a long sample is no spike, and zeros are not repeated" "$(grep 'GPU active cycles:' "$SCRATCH/points")" \
	"0 GPU active cycles: 996
1 GPU active cycles: 996
2 GPU active cycles: 199.1875
7 GPU active cycles: 0"
is "clocks have their frequencies" "$(grep Frequency "$SCRATCH/points")" \
	"0 Frequency: shader clock: 9000
0 Frequency: toplevel clock: 10000
1 Frequency: shader clock: 9000
1 Frequency: toplevel clock: 10000
2 Frequency: shader clock: 1800
2 Frequency: toplevel clock: 2000
7 Frequency: shader clock: 9000
7 Frequency: toplevel clock: 10000
8 Frequency: toplevel clock: 0
8 Frequency: shader clock: 0"
is "flags are those of their samples" "$(grep flags "$SCRATCH/points")" \
	"0 Sample flags: 0
2 Sample flags: 4
7 Sample flags: 0"
is "parts are in percent" "$(grep 'GPU load' "$SCRATCH/points" | head -n 2)" \
	"0 GPU load while powered: 9.9609375
0 GPU load: 9.9609375"
is "each sample has a packet, and the end" "$(awk '/^  timestamp:/ { print $2 / 1e9 }' "$SCRATCH/text" | uniq | tr '\n' ' ')" "0 1 2 7 8 "

# unit NAME: of a track
unit()
{
	awk -v name="\"$1\"" '/^      specs {/ { spec = 1; units = ""; it = 0 }
		/^      }/ { if (spec && it) print units; spec = 0 }
		spec && /^        name:/ { sub(/^ *name: /, ""); it = $0 == name }
		spec && $1 == "numerator_units:" { units = units $2 }
		spec && $1 == "denominator_units:" { units = units "/" $2 }' "$SCRATCH/text"
}
is "their units say so" "$(unit "GPU active cycles") $(unit "Frequency: toplevel clock") $(unit "GPU load")" "/SECOND HERTZ PERCENT"

# The same samples, recorded as a trace at once.
counted sst record -P -p 1s -e MaliGPUActiveCy -o "$SCRATCH/direct" -- true
is "record -P" $? 0
decode_trace "$SCRATCH/direct" "$SCRATCH/text.direct"
same_packets()
{
	# Clocks are those of the moment.
	diff <(sed '/clock_snapshot/,/^  }/d' "$SCRATCH/text") <(sed '/clock_snapshot/,/^  }/d' "$SCRATCH/text.direct")
}
is "writes what convert -P makes of the recording" "$(same_packets)" ""
# clocks TEXT: the time of CLOCK_REALTIME that the first sample is put into time by, in ns
clocks()
{
	awk '/clock_snapshot/ { inside = 1 } inside && $1 == "clock_id:" { id = $2 }
		inside && $1 == "timestamp:" && id == 1 { last = $2; inside = 0 }
		$1 == "counters" { print last; exit }' "$1"
}
# Clocks drift: a comparison from before a long delay says nothing of the samples behind it.
FAKE_STARTED=$SCRATCH/started counted s record -P -D 50ms -p 1s -e MaliGPUActiveCy -o "$SCRATCH/trace" -- \
	bash -c "until [ -e '$SCRATCH/started' ]; do read -rt 0.02 <> <(:); done"
decode_trace "$SCRATCH/trace" "$SCRATCH/text"
began=$(date -r "$SCRATCH/started" +%s%N)
compared=$(clocks "$SCRATCH/text")
[ "${compared:-0}" -ge "$began" ] && ok "behind a delay clocks are compared when counting begins" ||
	not_ok "behind a delay clocks are compared when counting begins" "compared at ${compared:-none}, begun at $began"
[ "$(grep -c clock_snapshot "$SCRATCH/text.direct")" -gt 0 ] && ok "with clocks" || not_ok "with clocks" "$(head "$SCRATCH/text.direct")"
is "it is compressed" "$(head -c 1 "$SCRATCH/direct" | od -An -tx1)$(protoc --decode_raw <"$SCRATCH/direct" | sed -n 's/^  \([0-9]*\): .*/\1/p' | sort -u)" " 0a133"

# ---- Samples of no time, gaps, and traces behind each other ----

# active BYTES: "TIME TRACK VALUE" of two tracks, in ns, of a recording of what BYTES count; its GPU goes at the end
active()
{
	counted "${1}g" record -p 1s -e MaliGPUActiveCy -o "$SCRATCH/data" -- true
	"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
	points "$SCRATCH/text" 1 | sed -n 's/GPU active cycles://p; s/Frequency: toplevel clock: /Hz /p' | tr -s ' ' | sort -n | tr '\n' ';'
}
is "counts of a sample of no time are those of the next one, too" "$(active szzs)" \
	"0 996;0 Hz 10000;1000000000 2988;1000000000 Hz 30000;2000000000 0;2000000000 Hz 0;"
# 996 and 10000 in a nanosecond, to an eighth of one.
is "those of the last have a nanosecond" "$(active sz)" \
	"0 996;0 Hz 10000;1000000000 996029759488;1000000000 Hz 10000026042368;1000000001 0;1000000001 Hz 0;"
is "so have those before a gap" "$(active szps)" \
	"0 996;0 Hz 10000;1000000000 996029759488;1000000000 Hz 10000026042368;1000000001 0;1000000001 Hz 0;2000000000 996;2000000000 Hz 10000;3000000000 0;3000000000 Hz 0;"
is "a gap is shown" "$(active sps)" \
	"0 996;0 Hz 10000;1000000000 0;1000000000 Hz 0;2000000000 996;2000000000 Hz 10000;3000000000 0;3000000000 Hz 0;"

# numbers TEXT: of its GPU, and what its counters and groups are called by
numbers()
{
	awk '$1 == "gpu_id:" { print "gpu", $2 }
		/^      (specs|counter_groups|blocks) {/ { first = 1 }
		first && ($1 == "counter_id:" || $1 == "group_id:" || $1 == "block_id:") { print $1, $2; first = 0 }' "$1" | sort -u
}

# Of two GPUs at different times, and of one with other counters.
counted s record -p 1s -e MaliGPUActiveCy -o "$SCRATCH/one" -- true
counted ps record -p 1s -e MaliTilerActiveCy -o "$SCRATCH/two" -- true
counted pps record -d /dev/dri/renderD129 -p 1s -e MaliGPUActiveCy -o "$SCRATCH/three" -- true
for name in one two three; do
	"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/$name" && decode_trace "$SCRATCH/trace" "$SCRATCH/$name.text"
	numbers "$SCRATCH/$name.text" >"$SCRATCH/$name.numbers"
done
is "no two traces have the same numbers" "$(grep -hv gpu "$SCRATCH"/{one,two,three}.numbers | sort | uniq -d)" ""
[ "$(grep -vc gpu "$SCRATCH/one.numbers")" -gt 10 ] && ok "though each has many" || not_ok "though each has many" "$(cat "$SCRATCH/one.numbers")"
is "a GPU's is that of its node" "$(grep -h gpu "$SCRATCH"/{one,two,three}.numbers | tr '\n' ' ')" "gpu 0 gpu 0 gpu 1 "

# ---- Jobs ----

# slices TEXT: "BEGIN END TRACK: NAME", in ns behind the first sample; what leads to another one is in front of it, with ">"
slices()
{
	awk '/^packet/ { kind = name = note = type = pid = tid = parent = from = to = "" }
		/^  track_(event|descriptor) {/ { kind = $1 }
		/^  timestamp:/ { time = $2 - 5e9 }
		$1 == "uuid:" || $1 == "track_uuid:" { uuid = $2 }
		$1 == "parent_uuid:" { parent = $2 }
		$1 == "pid:" { pid = $2 }
		$1 == "tid:" { tid = $2 }
		$1 == "type:" { type = $2 }
		$1 == "flow_ids:" { from = $2 }
		$1 == "terminating_flow_ids:" { to = $2 }
		$1 == "string_value:" || /^    name:/ || $1 == "process_name:" { text = $0; sub(/^[^"]*"/, "", text); sub(/"$/, "", text) }
		$1 == "string_value:" { note = " (" text ")" }
		/^    name:/ || $1 == "process_name:" { name = text }
		/^}/ && kind == "track_descriptor" {
			track[uuid] = tid ? process[pid] "/" tid : parent ? track[parent] "/" name : name
			if (pid && !tid) process[pid] = name
		}
		/^}/ && type == "TYPE_SLICE_BEGIN" {
			if (uuid in begin) print "slices overlap in", track[uuid]
			begin[uuid] = time
			what[uuid] = name note (to != "" && to in submit ? ", submitted at " submit[to] : "")
		}
		/^}/ && type == "TYPE_SLICE_END" { print begin[uuid], time, track[uuid] ": " what[uuid]; delete begin[uuid] }
		/^}/ && type == "TYPE_INSTANT" {
			print time, time, track[uuid] ": " name (to != "" && to in submit ? ", submitted at " submit[to] : "")
			if (from != "") submit[from] = time
		}' "$1" | sort -n -k 1,1 -k 2,2 -k 3
}

# Two in one queue at once, of which the first waits for the display; one that waits and is killed, one that does not end, one of
# which the begin is not known, and one that an unknown thread queued.
export QUEUES='700 game q-0
650 compositor q-1
0 vkms crtc-0'
JOBS='0 702 1000 1200 1300 2000 2
0 702 1100 1100 1250 2500
1 651 3000 3500 - 3500 0 1
until 4000
1 0 - - - 5000 -1 2
1 0 - 5000 5100 6000
0 0 5000 5000 5000 7000 -1 2
gap 3 4200 4400 17
gap 2 4300 4500 0
gap 4294967295 4400 4600 0
until 8000' "$SCRATCH/recording-make" "$SCRATCH/data" 30 default
for compression in zstd deflate; do
	"$tool" convert --perfetto=$compression -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
	slices "$SCRATCH/text" >"$SCRATCH/slices"
	is "$compression: jobs are slices of their queues, to which their threads lead" "$(cat "$SCRATCH/slices")" \
		"1000 1000 game/702: Submit job 1 to q-0
1000 1200 GPU jobs/game (PID 700): q-0, queued: waiting for a fence (vkms: crtc-0)
1100 1100 game/702: Submit job 2 to q-0
1100 1250 GPU jobs/game (PID 700): q-0, queued: ready
1200 1300 GPU jobs/game (PID 700): q-0, queued: ready
1250 2500 GPU jobs/game (PID 700): q-0: Job 2, submitted at 1100
1300 2000 GPU jobs/game (PID 700): q-0: Job 1, submitted at 1000
3000 3000 compositor/651: Submit job 1 to q-1
3000 3500 GPU jobs/compositor (PID 650): q-1, queued: waiting for a fence (game: q-0)
3500 3500 GPU jobs/compositor (PID 650): q-1: Job 1 dropped, submitted at 3000
4200 4400 GPU jobs/Jobs may be missing: CPU 3 lost 17 events
4300 4500 GPU jobs/Jobs may be missing: CPU 2 lost events
4400 4600 GPU jobs/Jobs may be missing: A job may have been there unseen
5000 5000 GPU jobs/compositor (PID 650): q-1: Job 2 unfinished
5000 5100 GPU jobs/compositor (PID 650): q-1, queued: ready
5000 7000 GPU jobs/game (PID 700): q-0: Job 3 (unfinished)
5100 6000 GPU jobs/compositor (PID 650): q-1: Job 3"
done

# Many at once, whose record comes behind all samples: no slices of a track overlap, and none is missing. Of two queues of the
# same name, the one that has a job later has a number.
export QUEUES='700 game q-0
700 game q-0
650 compositor q-2
600 tool q-3'
awk -v seed="$SEED" 'BEGIN {
	srand(seed)
	for (i = 1; i <= 2000; i++) {
		end += int(rand() * 40) * 1000
		run = end - int(rand() * 200) * 1000
		ready = run - int(rand() * 3) * int(rand() * 100) * 1000
		queued = ready - int(rand() * 2) * int(rand() * 100) * 1000
		print int(rand() * 4), 1000 + int(rand() * 5), queued + 1e6, ready + 1e6, run + 1e6, end + 1e6
		if (i % 400 == 0) { end += 1000; print "until", end + 1e6 }
	}
}' >"$SCRATCH/jobs"
JOBS=$(cat "$SCRATCH/jobs") "$SCRATCH/recording-make" "$SCRATCH/data" 300 default
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
slices "$SCRATCH/text" >"$SCRATCH/slices"
awk -v second="$(awk '$1 < 2 { print 3 - ($1 + 1); exit }' "$SCRATCH/jobs")" 'FILENAME == "-" { pid[NR] = $1; name[NR] = $2; queue[NR] = $3; if (NR == second) same[NR] = " (2)"; next }
	/until/ { next }
	{
		n = $1 + 1
		of = "GPU jobs/" name[n] " (PID " pid[n] "): " queue[n] same[n]
		print $3, $3, name[n] "/" $2 ": Submit job " ++jobs[n] " to " queue[n]
		if ($3 < $4) print $3, $4, of ", queued: waiting for a fence"
		if ($4 < $5) print $4, $5, of ", queued: ready"
		print $5, $6, of ": Job " jobs[n] ", submitted at " $3
	}' - "$SCRATCH/jobs" <<<"$QUEUES" | sort -n -k 1,1 -k 2,2 -k 3 >"$SCRATCH/want"
is "no slices of a track overlap, however many jobs there are at once" "$(wc -l <"$SCRATCH/want" | awk '{ print ($1 > 5000) }') $(
	diff "$SCRATCH/want" "$SCRATCH/slices" | head -n 10)" "1 "
"$SCRATCH/live-race" convert -P -o "$SCRATCH/raced" "$SCRATCH/data" >"$SCRATCH/out" 2>&1
is "jobs: no race, and the same bytes" "$? $(cat "$SCRATCH/out") $(cmp "$SCRATCH/raced" "$SCRATCH/trace" 2>&1)" "0  "

# More at once than there may be tracks: the rest are moments.
awk 'BEGIN {
	for (i = 1; i <= 400; i++)
		print 0, 701, 1e6 + i, 1e6 + i, 2e6 + i, 3e6 + i
	print "until", 4e6
}' >"$SCRATCH/jobs"
QUEUES='700 game q-0' JOBS=$(cat "$SCRATCH/jobs") "$SCRATCH/recording-make" "$SCRATCH/data" 300 default
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
slices "$SCRATCH/text" >"$SCRATCH/slices"
is "of more jobs at once than there are tracks the rest are moments" \
	"$(grep -c 'queued: ready' "$SCRATCH/slices") $(awk '/q-0: Job/ { n[$2 - $1]++ } END { print n[1000000], n[0] }' "$SCRATCH/slices")" "256 256 144"
unset QUEUES

# ---- All counters change in each sample ----

"$tool" list -x ';' | cut -d';' -f1-3 >"$SCRATCH/places"
many=$(printf "%${SAMPLES}s" | tr ' ' r)

# sizes NAME OPTION...: 2 results
sizes()
{
	local name=$1 all=$((SAMPLES + 1)) form bytes text=

	shift
	counted "$many" record -p 1ms "$@" -o "$SCRATCH/data" -- true
	"$tool" convert -c -o "$SCRATCH/csv" "$SCRATCH/data"
	"$tool" convert -j -o "$SCRATCH/json" "$SCRATCH/data"
	"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data"
	is "$name: $SAMPLES samples and the last are recorded" "$(($(wc -l <"$SCRATCH/csv") - 1))" "$all"
	for form in data csv json trace; do
		text+="$form $(($(stat -c %s "$SCRATCH/$form") / all)) "
	done
	echo "# $name: bytes a sample: $text"
	decode_trace "$SCRATCH/trace" "$SCRATCH/text"
	csv_sums "$SCRATCH/csv" "$SCRATCH/want"
	trace_sums "$SCRATCH/text" "$SCRATCH/csv" "$SCRATCH/got"
	if [ "$(wc -l <"$SCRATCH/want")" -gt "$SAMPLES" ] && cmp -s "$SCRATCH/want" "$SCRATCH/got"; then
		ok "$name: every count can be told from the trace"
	else
		not_ok "$name: every count can be told from the trace" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head)"
	fi
}

sizes default
bytes=$(($(stat -c %s "$SCRATCH/trace") / (SAMPLES + 1)))
[ "$bytes" -le "$MOST" ] && ok "a sample takes $bytes bytes of a trace, $MOST at the most" ||
	not_ok "a sample takes $MOST bytes of a trace at the most" "$bytes"

# ---- The thread that compresses and writes ----

# Several batches: a second is one.
tool=$SCRATCH/live-race
for compression in zstd deflate; do
	"$SCRATCH/live-test" convert --perfetto=$compression -o "$SCRATCH/trace" "$SCRATCH/data"
	"$tool" convert --perfetto=$compression -o "$SCRATCH/raced" "$SCRATCH/data" >"$SCRATCH/out" 2>&1
	is "$compression: no race, and the same bytes" "$? $(cat "$SCRATCH/out") $(cmp "$SCRATCH/raced" "$SCRATCH/trace" 2>&1)" "0  "
done
"$tool" convert -P -o /dev/full "$SCRATCH/data" 2>"$SCRATCH/err"
is "an error of the thread is reported" "$? $(cat "$SCRATCH/err")" "8 panthor-perf: cannot write /dev/full: No space left on device"
counted "$many" record -P -p 1ms -o "$SCRATCH/direct" -- true
is "record -P: no race" "$? $(grep -c Sanitizer "$SCRATCH/err")" "0 0"
counted "$many" record -P -p 1ms -o /dev/full -- true
is "record -P: an error of the thread is reported" "$? $(grep -o -m1 "/dev/full: .*" "$SCRATCH/err")" "8 /dev/full: No space left on device"
decode_trace "$SCRATCH/direct" "$SCRATCH/text.direct"
decode_trace "$SCRATCH/raced" "$SCRATCH/text"
is "record -P writes the same samples" "$(same_packets | head)" ""
tool=$SCRATCH/live-test

sizes all -a
