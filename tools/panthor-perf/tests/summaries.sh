#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What report and diff say of recordings, by chunks and on all processors, is what one finds sample by sample; of recordings that
# earlier versions wrote, too. Races are looked for, and instructions counted.
#
# recordings/ has a file of each format: 0.3.data without chunks, chunks.data the same with them. Both are recordings of
# `STATES=1 LATE=20000000 MARKS=... recording-make FILE 2500 load "a program" "with words"`.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

# Instructions for a sample of the default counters, at most: what was needed when this was written, and a third for other
# compilers.
declare -A MOST=([report]=48000 ["report -j"]=48000 ["convert --csv"]=48000)

export ASAN_OPTIONS=detect_leaks=1
recordings=$(dirname "$0")/recordings
tool_builds panthor-perf recording-make summary-test summary-race

make_recording()
{
	"$SCRATCH/recording-make" "$SCRATCH/$1" "${@:2}"
}

marks=$(for ((i = 1; i <= 40; i++)); do echo "$((i * 53000000 + i * i * 777)) part $((i % 5))"; done)
STATES=1 LATE=30000000 MARKS="$marks
2300000000
2300400000 short
2300600000 " make_recording marks 3000 default
STATES=1 make_recording all 1500 all
POWERS=1 make_recording powers 30 all
FRAMES=$(for ((i = 0; i <= 100; i++)); do echo "$((i * 25000000)) 7 game"; done) make_recording frames 3000 load
make_recording none 0 default
make_recording one 1 default

# compare NAME PROGRAM
compare()
{
	"$SCRATCH/$2" "$recordings"/*.data "$SCRATCH"/{marks,all,powers,frames,none,one} >"$SCRATCH/out" 2>"$SCRATCH/err"
	is "$1: the test ends well" $? 0
	relay "$1" < <(sed -n 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /p; s/^# //p' "$SCRATCH/out"; tail -n 20 "$SCRATCH/err" | sed -n '/Sanitizer/,$p')
}

compare "as it is" summary-test
compare "races" summary-race

cmp <("$SCRATCH/panthor-perf" report -j "$recordings/0.3.data") <("$SCRATCH/panthor-perf" report -j "$recordings/chunks.data") \
	>"$SCRATCH/differ" 2>&1
is "the same recording in both formats says the same" "$(cat "$SCRATCH/differ")" ""

# One processor does what several do.
taskset -c 0 "$SCRATCH/panthor-perf" report -j "$SCRATCH/marks" >"$SCRATCH/one-processor"
"$SCRATCH/panthor-perf" report -j "$SCRATCH/marks" | cmp - "$SCRATCH/one-processor" >"$SCRATCH/differ" 2>&1
is "on one processor it says the same" "$(cat "$SCRATCH/differ")" ""

# instructions COMMAND...: all of them
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file="$SCRATCH/callgrind" "$SCRATCH/panthor-perf" "$@" >/dev/null 2>&1
	sed -n 's/^summary: //p' "$SCRATCH/callgrind"
}

make_recording long 6144 default
make_recording short 2048 default
for command in "${!MOST[@]}"; do
	# shellcheck disable=SC2086 # words
	each=$((($(instructions $command "$SCRATCH/long") - $(instructions $command "$SCRATCH/short")) / 4096))
	if [ $each -gt 1000 ] && [ $each -le "${MOST[$command]}" ]; then
		ok "$command: at most ${MOST[$command]} instructions for a sample"
	else
		not_ok "$command: at most ${MOST[$command]} instructions for a sample" "it takes $each"
	fi
	echo "# $command: $each instructions for a sample"
done

# A part of the time is what --time names, whatever else is in the file.
"$SCRATCH/panthor-perf" report -j --time 1s,2s "$SCRATCH/long" >"$SCRATCH/part"
is "a part of the time" "$(jq -c '[.samples, .start_ns - 5000000000, .end_ns - 5000000000]' "$SCRATCH/part")" \
	"[998,1000000000,2000000000]"
"$SCRATCH/panthor-perf" report -j --time 0.025m,2s "$SCRATCH/long" >"$SCRATCH/part"
is "minutes" "$(jq -c '[.start_ns - 5000000000, .end_ns - 5000000000]' "$SCRATCH/part")" "[1500000000,2000000000]"
is "a part before all" "$("$SCRATCH/panthor-perf" report -j --time ,1us "$SCRATCH/long" 2>&1 | head -n 1)" \
	"panthor-perf: $SCRATCH/long has no samples"
for wrong in 1s 2s,1s 1,2 1s,1s , ; do
	"$SCRATCH/panthor-perf" report --time "$wrong" "$SCRATCH/long" >"$SCRATCH/out" 2>"$SCRATCH/err"
	echo "$? $wrong"
done >"$SCRATCH/statuses"
is "times that are none" "$(tr '\n' ' ' <"$SCRATCH/statuses")" "2 1s 2 2s,1s 2 1,2 2 1s,1s 0 , "
plan "$TAP_COUNT"
