#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Frames of programs in recordings: none is lost or doubled, whatever recorders do meanwhile; what it takes if nobody
# records; and what readers make of them. The GPU is a fake one; the recorder with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/perfetto.sh"
. "$(dirname "$0")/../../virt/tests/lib/recorders.sh"

plan 64
tool=$SCRATCH/live-test
counter=MaliGPUActiveCy
build_decoder
tool_builds live-test frame-noise panthor-perf recording-make
recorders_apart

# end NAME
end()
{
	tell "$1" stop
	wait "${PID[$1]}"
	is "$1: it ends well" "$?" 0
	"$tool" convert -j "$SCRATCH/$1.data" >"$SCRATCH/$1.json"
}

noise()
{
	"${RUN[@]}" "$SCRATCH/frame-noise" "$@" &
	noise_pid=$!
	wait "$noise_pid"
}

# told NAME: how many ends of frames a recording has, by how many programs, those that are no later than the one before, how
# many were lost by what is told of frames, and what its end says
told()
{
	python3 - "$SCRATCH/$1.json" <<'END'
import json, sys
recording = json.load(open(sys.argv[1]))
frames, end, late, last = recording.get("frames", []), recording["end"], 0, {}
for frame in frames:
    late += frame["end_ns"] <= last.get(frame["pid"], 0)
    last[frame["pid"]] = frame["end_ns"]
print(len(frames), "of", len(last), late, sum(frame["lost"] for frame in frames), end.get("frames", 0), end.get("lost_frames", 0))
END
}

noise pace 1 0
is "nobody records: nothing happens" "$? $(ls "$run")" "0 "

# ---- None is lost or doubled ----

begin one
begin two
noise pace 10000 1000000
is "a program has 10,000 frames at 1 kHz" $? 0
noise fork
is "a program forks between frames" $? 0
end one
end two
for name in one two; do
	is "$name: each frame is there once, of the program, its successor and that one's child" "$(told $name)" "10005 of 3 0 0 10005 0"
done
is "with the program's name and PID" \
	"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["frames"][-1]["program"])' "$SCRATCH/one.json") $(
	grep -c "\"pid\":$noise_pid," "$SCRATCH/one.json")" "frame-noise 1"

# Threads at the same time: times of theirs may come in another order.
begin threads
noise threads 5
is "four threads have frames" $? 0
end threads
read -r found _ _ _ lost _ lost_in_all <<<"$(told threads)"
is "each frame of four threads is there or is told of: $found and $lost_in_all" \
	"$((found + lost_in_all)) $((lost_in_all >= lost))" "20 1"

# A recorder that does nothing meanwhile: the frames come later, up to as many as a program keeps.
begin stopped
kill -STOP "${PID[stopped]}"
noise flood 400 "${PID[stopped]}"
is "a recorder is stopped" $? 0
end stopped
is "it gets all frames later" "$(told stopped)" "400 of 1 0 0 400 0"

begin flood
kill -STOP "${PID[flood]}"
noise flood 5000 "${PID[flood]}"
end flood
read -r found _ _ _ lost _ lost_in_all <<<"$(told flood)"
is "frames that were too many are told of: $found and $lost" "$((found + lost)) $((found > 500)) $lost_in_all $(
	grep -c 'frames were lost: the programs sent more than' "$SCRATCH/flood.err")" "5000 1 $lost 1"

begin bad
"$SCRATCH/frame-noise" bad "$(find "$run/panthor-perf" -type s)"
is "nonsense is sent" $? 0
end bad
# Three frames, that behind three missing ones, and that without a number; five messages of nonsense.
is "and dropped, and frames that come again are known" "$(told bad)" "5 of 1 0 3 5 8"
is "names and times are put right" "$(python3 -c 'import json, sys
frames = json.load(open(sys.argv[1]))["frames"]
print([frame["program"] for frame in frames], frames[3]["end_ns"] < 1 << 62)' "$SCRATCH/bad.json")" "['bad', 'bad', 'bad', '', ''] True"

# ---- Nobody records ----

if valgrind --version >/dev/null 2>&1; then
	mkdir -p "$run/panthor-perf"
	for count in 1 1001; do
		"${RUN[@]}" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$SCRATCH/frame-noise" pace $count 0 2>&1 |
			awk '/Collected/ { print $NF }'
	done >"$SCRATCH/instructions"
	each=$((($(sed -n 2p "$SCRATCH/instructions") - $(sed -n 1p "$SCRATCH/instructions")) / 1000))
	if [ "$each" -gt 0 ] && [ "$each" -le 200 ]; then
		ok "a frame that nobody records takes $each instructions, of 200 at most"
	else
		not_ok "a frame that nobody records takes at most 200 instructions" "it takes $each" "$(cat "$SCRATCH/instructions")"
	fi
else
	not_ok "a frame that nobody records takes at most 200 instructions" "install valgrind"
fi

# ---- Readers ----

# Ends of frames of two programs, some of them behind samples that are later.
FRAMES='0 7 game
16000000 7 game
20500000 8 other
33000000 7 game 2
40000000 8 other
900000000 7 game'
LATE=30000000 FRAMES=$FRAMES "$SCRATCH/recording-make" "$SCRATCH/data" 800 default
want='game 7 0 16000000 0
game 7 16000000 33000000 2
other 8 20500000 40000000 0
game 7 33000000 900000000 0'
# cut SIZE: the recording without its last bytes
cut_file()
{
	head -c -"$1" "$SCRATCH/data" >"$SCRATCH/cut"
}
cat >"$SCRATCH/frames.py" <<'END'
import sys, panthor_perf
with panthor_perf.Recording(sys.argv[1]) as recording:
    for frame in recording.frames():
        print(frame.program, frame.pid, frame.start_ns - recording.start_ns, frame.end_ns - recording.start_ns, frame.lost)
END
make -s -C "$VIRT_DIR/../panthor-perf" O="$SCRATCH" "$SCRATCH/libpanthor-perf.so.0" >"$SCRATCH/log" 2>&1
is "the library builds" "$? $(cat "$SCRATCH/log")" "0 "
python()
{
	LD_LIBRARY_PATH=$SCRATCH \
		PYTHONPATH=$VIRT_DIR/../panthor-perf/python PYTHONDONTWRITEBYTECODE=1 python3 "$@" 2>&1
}
is "the library has each frame, by its process" "$(python "$SCRATCH/frames.py" "$SCRATCH/data")" "$want"
cut_file 1
is "without an index, too" "$(python "$SCRATCH/frames.py" "$SCRATCH/cut")" "$want"
cut_file 400
is "and of a recording that was cut short" "$(python "$SCRATCH/frames.py" "$SCRATCH/cut")" "$(sed '$d' <<<"$want")"
"$tool" convert --sqlite -o "$SCRATCH/db" "$SCRATCH/data" 2>"$SCRATCH/err"
is "convert --sqlite" "$? $(cat "$SCRATCH/err")" "0 "
is "has a table of them" "$(python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("""SELECT program, pid, frame.start_ns - recording.start_ns,
        frame.end_ns - recording.start_ns, lost FROM frame, recording ORDER BY frame.end_ns"""):
    print(*row)' "$SCRATCH/db")" "$want"
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
is "convert --perfetto" "$? $(cat "$SCRATCH/err")" "0 "
is "has a track of each process" "$(grep -o 'name: "Frames of .*"' "$SCRATCH/text")" 'name: "Frames of game (PID 7)"
name: "Frames of other (PID 8)"'
is "with its frames as slices" "$(awk '/^packet/ { event = "" }
	/^  timestamp:/ { time = $2 }
	$1 == "type:" { event = substr($2, 12) }
	event && $1 == "name:" { name = $0; sub(/^ *name: "/, "", name); sub(/"$/, "", name) }
	/^}/ && event { printf "%.4f %s %s\n", (time - 5e9) / 1e9, event, name; name = "" }' "$SCRATCH/text")" \
	"0.0000 BEGIN Frame 1
0.0160 END 
0.0160 BEGIN Frame 2 and 2 lost
0.0330 END 
0.0205 BEGIN Frame 1
0.0400 END 
0.0330 BEGIN Frame 3
0.9000 END "
"$SCRATCH/recording-make" "$SCRATCH/none" 800 default
is "frames change nothing else" "$("$tool" report "$SCRATCH/data" | tail -n +2 | sed '/^Frames of/,/^$/d' | diff - <("$tool" report "$SCRATCH/none" | tail -n +2))" ""

# ---- What report says of frames ----

# A game of 60 frames a second, of which one takes longer; another program whose frames are shorter than samples.
FRAMES=$({
	for ((i = 0; i <= 40; i++)); do echo "$((i * 16666667 + (i > 20 ? 20000000 : 0))) 7 a,\"game"; done
	for ((i = 0; i < 100; i++)); do echo "$((100000000 + i * 400000)) 9 tiny"; done
	echo '712345678 7 a,"game 3'
	echo '900000000 7 a,"game'
} | sort -n) "$SCRATCH/recording-make" "$SCRATCH/game" 800 default
"$tool" report "$SCRATCH/game" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "report of a recording with frames" "$? $(cat "$SCRATCH/err")" "0 "
is "each process has its frames" "$(grep '^Frames of' "$SCRATCH/out")" 'Frames of a,"game (PID 7): 42 in 0.900000 s, 50.00 per second
Frames of tiny (PID 9): 99 in 0.039600 s, 2500.00 per second'
is "times leave out frames that cover lost ones" "$(grep -A 2 'PID 7' "$SCRATCH/out" | tail -n 2)" \
	"  1 cover others that were lost (3); the lines below leave these out
  time: 50 % up to 16.667 ms, 95 % up to 16.667 ms, 99 % up to 187.654 ms, all up to 187.654 ms"
is "the slowest come first, with what is the largest part" "$(awk '/PID 9/ { exit } $5 == "ms" && $2 ~ /^[0-9.]*$/ { print $1, $4, $7 != "" }' "$SCRATCH/out" | head -n 3)" \
	"42 187.654 1
21 36.667 1
1 16.667 1"
is "that which goes on behind the last sample says so" "$(grep -c '187.654 ms.*(not counted throughout)' "$SCRATCH/out")" 1
is "frames shorter than samples say so" "$(grep -c '(interpolated)' "$SCRATCH/out") $(grep -o '99 contain no whole sample: their counts are interpolated' "$SCRATCH/out")" \
	"10 99 contain no whole sample: their counts are interpolated"

"$tool" report --csv -o "$SCRATCH/csv" "$SCRATCH/game"
"$tool" report -j -o "$SCRATCH/report.json" "$SCRATCH/game"
"$tool" convert -j -o "$SCRATCH/all.json" "$SCRATCH/game"
is "each frame has its counts, and all frames and the rest have all" \
	"$(python3 "$(dirname "$0")/frames_check.py" "$SCRATCH/all.json" "$SCRATCH/report.json" "$SCRATCH/csv" 2>&1)" "0 True 141"

# budget STATUS LIST: 1 result; what it says is in out
budget()
{
	"$tool" report --budget "$2" -e MaliGPUActiveCy "$SCRATCH/game" >"$SCRATCH/out" 2>"$SCRATCH/err"
	is "a budget of $2" "$?" "$1"
}
budget 0 1s,MaliGPUActiveCy=1e12
budget 1 20ms,MaliGPUActiveCy=1.4e7
is "those over it are listed" "$(sed -n '/over budget/,$p' "$SCRATCH/out" | sed 's/ MaliGPUActiveCy [0-9,]*, / MaliGPUActiveCy, /')" \
	'2 frames are over budget:
  frame 21 of a,"game (PID 7) at 0.333 s: 36.667 ms, budget 20.000 ms
  frame 21 of a,"game (PID 7) at 0.333 s: MaliGPUActiveCy, budget 14,000,000
  frame 42 of a,"game (PID 7) at 0.712 s: 187.654 ms, budget 20.000 ms
  frame 42 of a,"game (PID 7) at 0.712 s: MaliGPUActiveCy, budget 14,000,000'
budget 2 20
budget 2 MaliGPU=1
is "a budget of a counter that there is not" "$(cat "$SCRATCH/err")" \
	'panthor-perf: --budget: there is no counter "MaliGPU". Run panthor-perf report to see those of the recording'
"$tool" report --budget 1s "$SCRATCH/none" >/dev/null 2>"$SCRATCH/err"
is "no frames, no budget" "$? $(grep -c 'has no frames' "$SCRATCH/err")" "2 1"

# ---- What diff says of frames ----

# times MS NAME: a hundred frames of about so many milliseconds, by each process of "PID NAME"
times()
{
	local ms=$1 of

	shift
	for ((i = 0, now = 0; i <= 100; i++)); do
		for of in "$@"; do echo "$now $of"; done
		now=$((now + ms * (1000000 + i * i * 37 % 100000)))
	done
}
FRAMES=$(times 16 "7 game") "$SCRATCH/recording-make" "$SCRATCH/a" 1800 default
FRAMES=$(times 17 "8 game" "9 other") "$SCRATCH/recording-make" "$SCRATCH/b" 1900 default
FRAMES=$(times 17 "8 game.new") "$SCRATCH/recording-make" "$SCRATCH/renamed" 1900 default
FRAMES=$(times 17 "8 game") "$SCRATCH/recording-make" "$SCRATCH/c" 1900 default

# figures FILE: of the first process, from a line for each frame: median, rate, and count of a frame, with the noise of ten parts
figures()
{
	"$tool" report --csv -e $counter "$SCRATCH/$1" | awk -F, '
		function noise(part, mean) {
			sum = squares = 0
			for (n = 0; n < 10; n++) sum += part[n] / 10
			for (n = 0; n < 10; n++) squares += (part[n] - sum) ^ 2
			return 100 * sqrt(squares / 90) / mean
		}
		NR == 1 { next }
		{ at = int((NR - 2) / 10); ns[at] += $5 - $4; count[at] += $NF / 10; print ($5 - $4) / 1e6 | "sort -n" }
		END {
			for (n = 0; n < 10; n++) { seconds += ns[n] / 1e9; mean += count[n] / 10; rate[n] = 10e9 / ns[n] }
			close("sort -n")
			printf "rate %.6g %.6g\n", 100 / seconds, noise(rate, 100 / seconds)
			printf "'$counter' %.6g %.6g\n", mean, noise(count, mean)
		}' | awk '/^[0-9]/ { time[++n] = $1; next }
			{ print }
			END { printf "time_p50 %.6g\ntime_p95 %.6g\ntime_p99 %.6g\ntime_max %.6g\n", time[50], time[95], time[99], time[100] }'
}
# changes [OPTION...] A B: the same of diff, of either
changes()
{
	"$tool" diff -j -e $counter "$@" | sed -n '/^  "frames":/,$p' | awk '
		{ value = $0; sub(/^[^:]*:/, "", value); gsub(/^"|"?,?$/, "", value) }
		/^ *"name":/ { name = value }
		/^ *"a":/ { a = value }
		/^ *"b":/ { b = value }
		/^ *"noise_a_percent":/ { noise_a = value }
		/^ *"noise_b_percent":/ {
			printf name ~ /^time/ ? "%s %.6g\n" : "%s %.6g %.6g\n", name, a, noise_a >"'"$SCRATCH"'/of_a"
			printf name ~ /^time/ ? "%s %.6g\n" : "%s %.6g %.6g\n", name, b, value >"'"$SCRATCH"'/of_b"
		}'
}
changes "$SCRATCH/a" "$SCRATCH/c"
is "diff: A has the times and counts of its frames, and their noise" "$(sort "$SCRATCH/of_a")" "$(figures a | sort)"
is "diff: so has B" "$(sort "$SCRATCH/of_b")" "$(figures c | sort)"
mv "$SCRATCH/of_a" "$SCRATCH/before"
changes -T "$SCRATCH/a" "$SCRATCH/c"
is "diff: frames are the same if totals are compared" "$(cat "$SCRATCH/of_a")" "$(cat "$SCRATCH/before")"
"$tool" diff "$SCRATCH/a" "$SCRATCH/b" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "diff: a program of two is found by its name" "$? $(cat "$SCRATCH/err") $(grep '^Frames' "$SCRATCH/out")" \
	"0  Frames of A: game (PID 7), 100 in 1.661583 s
Frames of B: game (PID 8), 100 in 1.765432 s
Frames only in B: other (PID 9)"
is "diff: times come first, then the ten largest changes" \
	"$(sed -n '/^Frames of B/,/more:/p' "$SCRATCH/out" | awk '$NF ~ /^(ms|frames\/s)$/ { print $1, $(NF - 1) } $NF ~ /.\/frame$/ { n++ } END { print n }')" \
	"+6.2% time_p50
+6.3% time_p95
+6.3% time_p99
+6.3%~ time_max
-5.9% rate
10"
is "diff: a program that is alone in both is compared whatever its name" \
	"$("$tool" diff "$SCRATCH/a" "$SCRATCH/renamed" | grep '^Frames')" "Frames of A: game (PID 7), 100 in 1.661583 s
Frames of B: game.new (PID 8), 100 in 1.765432 s"
is "diff: frames of one alone are none of both" "$("$tool" diff "$SCRATCH/none" "$SCRATCH/a" | grep -c '^Frames')" 0

# ---- A part of the time ----

"$tool" report --csv "$SCRATCH/a" >"$SCRATCH/all.csv"
first=$("$tool" report -j "$SCRATCH/a" | jq .start_ns)
# The recording has two chunks, of which the second begins at 1.026 s.
for part in "" ,0.5s 0.9s,1.2s 1.2s,; do
	"$tool" report --csv ${part:+--time "$part"} "$SCRATCH/a" >"$SCRATCH/part.csv"
	is "frames of the time ${part:-of all} are those of the whole" "$(cat "$SCRATCH/part.csv")" "$(
		awk -F, -v first="$first" -v part="$part" 'BEGIN { split(part, time, ","); if (!time[2]) time[2] = 9 }
			NR == 1 { print; next }
			{ middle = (($4 + $5) / 2 - first) / 1e9 }
			middle >= time[1] + 0 && middle < time[2] + 0' "$SCRATCH/all.csv")"
done
is "of the last of them there are fewer" "$(wc -l <"$SCRATCH/part.csv") of $(wc -l <"$SCRATCH/all.csv")" "29 of 101"

# ---- Who else was at work ----

# Frames of 25 ms: alone; with 9 at work; with 5, of which it is not known; alone; then parts that nobody has looked at.
FRAMES=$(for ((i = 0; i <= 20; i++)); do echo "$((i * 25000000)) 7 game"; done) USES='0 100000000 7
99000000 200000000
200000000 301000000 7 9
301000000 350000000 -5
350000000 400000000 7
410000000 450000000' "$SCRATCH/recording-make" "$SCRATCH/uses" 800 default
want="0 0 0 0 0 0 0 0 1 1 1 1 1 - 0 0 - 0 - -"
for size in 0 1; do
	head -c -$size "$SCRATCH/uses" >"$SCRATCH/cut"
	is "others are at work in frames, by $([ $size = 0 ] && echo "an index" || echo "reading all")" "$(
		"$tool" report --csv "$SCRATCH/cut" 2>"$SCRATCH/err" | awk -F, 'NR > 1 { print $9 == "" ? "-" : $9 }' | paste -sd ' ')" "$want"
done
"$tool" report "$SCRATCH/uses" >"$SCRATCH/out"
is "report says in how many" "$(sed -n '/have work of other/p' "$SCRATCH/out" | sed 's/^ *//')" \
	"5 have work of other processes in their counts: the GPU worked for others at the time
4 may have work of other processes in their counts: the kernel did not tell"
is "and in which" "$(awk '/\(other processes at work\)/ { print $1 }' "$SCRATCH/out" | paste -sd ' ')" "9 10"
FRAMES=$'0 7 game\n25000000 7 game' USES=$'0 9000000\n1000000 9500000\n2000000 9900000' "$SCRATCH/recording-make" "$SCRATCH/bad" 20 default
"$tool" report "$SCRATCH/bad" >"$SCRATCH/bad.out" 2>"$SCRATCH/err"
is "looks that overlap are refused" "$? $(grep -c 'is invalid' "$SCRATCH/err")" "9 1"
is "for programs, too" "$(
	"$tool" report -j "$SCRATCH/uses" | jq -c '.frames[0] | [.others, .others_unknown, (.slowest | map(.others))]')" \
	"[5,4,[false,false,false,false,false,false,false,false,true,true]]"
