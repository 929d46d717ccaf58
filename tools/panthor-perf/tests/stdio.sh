#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# "-" is standard output for each option that names a file to write, and standard input for each file to read;
# a pipe can be read wherever a file can.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

tool_builds live-test recording-make
tool=$SCRATCH/live-test

# Nothing but a file named "-" could appear here.
mkdir "$SCRATCH/empty"
cd "$SCRATCH/empty" || exit 1
MARKS="1000000 one
5000000 two" "$SCRATCH/recording-make" "$SCRATCH/a" 50 all
MARKS="1000000 one
7000000 two" "$SCRATCH/recording-make" "$SCRATCH/b" 60 all

# run OUT ARGUMENT...: the tool, with samples to count and without a terminal
run()
{
	local out=$1 status

	shift
	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf 'ss' >&6
	FAKE_TICKS=$SCRATCH/ticks "$tool" "$@" >"$out" 2>"$SCRATCH/err"
	status=$?
	exec 6>&-
	rm "$SCRATCH/ticks"
	return $status
}

# Every option of every command that names a file to write: "COMMAND OPTION|ARGUMENTS".
outputs="convert --output|--csv $SCRATCH/a
convert --output|--json $SCRATCH/a
convert --output|--perfetto $SCRATCH/a
report --output|$SCRATCH/a
report --output|-j $SCRATCH/a
report --output|-t $SCRATCH/a
report --html|$SCRATCH/a
diff --output|$SCRATCH/a $SCRATCH/b
diff --output|-j $SCRATCH/a $SCRATCH/b
stat --output|-p 1s -- true
stat --output|-j -p 1s -- true
stat --output|-x ; -p 1s -- true
stat --output|-I 1000 -p 1s -- true
record --output|-p 1s -- true
record --output|--perfetto -p 1s -- true"
while IFS='|' read -r option arguments; do
	read -r command name <<<"$option"
	# shellcheck disable=SC2086
	run /dev/null "$command" "$name" "$SCRATCH/file" $arguments
	# shellcheck disable=SC2086
	run "$SCRATCH/out" "$command" "$name" - $arguments
	status=$?
	# Recordings have the times of this machine's clocks in them.
	case "$command $arguments" in
	record*perfetto*) same=$([ -s "$SCRATCH/out" ] && echo same) ;;
	record*) same=$(diff <("$tool" convert -c "$SCRATCH/out") <("$tool" convert -c "$SCRATCH/file") && echo same) ;;
	*) same=$(cmp "$SCRATCH/out" "$SCRATCH/file" && echo same) ;;
	esac
	is "$command $name - $arguments" "$status $same $(ls "$SCRATCH/empty")" "0 same "
	rm -rf "$SCRATCH/file" "$SCRATCH/empty/-"
done <<<"$outputs"
is "no option that names a file is missing here" "$(for command in $("$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	"$tool" $command --help | sed -n "s/^ .*\(--[a-z]*\)=\(FILE\|PAGE\).*/$command \1/p"
done | sort -u)" "$(cut -d'|' -f1 <<<"$outputs"$'\nexport --textfile' | sort -u)"

# The command's output would be part of the data.
for option in "" --perfetto; do
	run "$SCRATCH/out" record $option -o - -p 1s -- echo hello
	# A recording has the command's words.
	words=$([ -z "$option" ] && echo 1 || echo 0)
	is "record $option -o -: its command writes to standard error" "$? $(grep -ac hello "$SCRATCH/out") $(grep -c '^hello$' "$SCRATCH/err")" \
		"0 $words 1"
done
is "messages do so too" "$(grep -c '^panthor-perf: .* in standard output' "$SCRATCH/err")" 1
run "$SCRATCH/out" stat -o - -j -p 1s -- echo hello
is "stat -o -, too" "$? $(head -c 1 "$SCRATCH/out") $(grep -c '^hello$' "$SCRATCH/out" "$SCRATCH/err" | sed 's/.*://' | tr '\n' ' ')" "0 { 0 1 "
echo before >"$SCRATCH/appended"
mkfifo "$SCRATCH/ticks"
FAKE_TICKS=$SCRATCH/ticks "$tool" record -o - -- true >>"$SCRATCH/appended" 2>"$SCRATCH/err"
is "what is in the file that is appended to stays" "$? $(head -n 1 "$SCRATCH/appended")" "0 before"
rm "$SCRATCH/ticks"
FAKE_TICKS=/dev/null "$tool" convert -c "$SCRATCH/a" -o - >/dev/full 2>"$SCRATCH/err"
is "a full disk" "$? $(cat "$SCRATCH/err")" "8 panthor-perf: cannot write standard output: No space left on device"

# Binary data is not for a terminal.
mkfifo "$SCRATCH/ticks"
for command in "record -o - -- true" "record --perfetto -o - -- true" "convert --perfetto -o - $SCRATCH/a" "convert --perfetto $SCRATCH/a" \
	"convert --perfetto -o /dev/tty $SCRATCH/a"; do
	FAKE_TICKS=$SCRATCH/ticks script -qec "$tool $command; echo = \$?" "$SCRATCH/typescript" </dev/null >/dev/null 2>&1
	is "$command, of a terminal" "$(sed '1d; $d' "$SCRATCH/typescript" | tr -d '\r\n' | sed 's/: a terminal cannot.*file/ - refused/')" \
		"panthor-perf: $(case $command in */dev/tty*) echo /dev/tty ;; *) echo standard output ;; esac) - refused= 2"
done
rm "$SCRATCH/ticks"

# Every file to read: "COMMAND|ARGUMENTS BEFORE|BEHIND".
while IFS='|' read -r command before behind; do
	# shellcheck disable=SC2086
	want=$("$tool" $command $before "$SCRATCH/a" $behind)
	for how in "<" "pipe" "FIFO"; do
		case $how in
		"<") got=$("$tool" $command $before - $behind <"$SCRATCH/a" 2>"$SCRATCH/err") ;;
		pipe) got=$(cat "$SCRATCH/a" | "$tool" $command $before - $behind 2>"$SCRATCH/err") ;;
		FIFO)
			mkfifo "$SCRATCH/fifo"
			cat "$SCRATCH/a" >"$SCRATCH/fifo" &
			got=$("$tool" $command $before "$SCRATCH/fifo" $behind 2>"$SCRATCH/err")
			wait
			rm "$SCRATCH/fifo"
			;;
		esac
		got="$?
$(cat "$SCRATCH/err")$got"
		is "$command $before - $behind: $how" "$(sed "s,^standard input:,$SCRATCH/a:,; s,\([AB]\: \|\"[ab]\": *\"\)standard input,\1$SCRATCH/a,
			s,$SCRATCH/fifo,$SCRATCH/a," <<<"$got")" "0
$want"
	done
done <<EOF2
report||
report|-j|
report|--region one|
report|-t|
convert|-c|
convert|-j|
diff||$SCRATCH/b
diff|$SCRATCH/b|
diff|-j|$SCRATCH/b
EOF2
for command in "report --html -" "convert -P"; do
	# shellcheck disable=SC2086
	cat "$SCRATCH/a" | "$tool" $command - >"$SCRATCH/out" 2>"$SCRATCH/err"
	# shellcheck disable=SC2086
	is "$command -" "$? $(cat "$SCRATCH/err") $("$tool" $command "$SCRATCH/a" | sed "s,$SCRATCH/a,standard input,g" | cmp - "$SCRATCH/out")" "0  "
done
"$tool" diff - - <"$SCRATCH/a" >"$SCRATCH/out" 2>&1
is "standard input is one recording" "$? $(head -n 1 "$SCRATCH/out")" "2 panthor-perf diff: standard input can be only one of the two files"
cat "$SCRATCH/a" | TMPDIR=$SCRATCH/no "$tool" report - >"$SCRATCH/out" 2>&1
is "there is no room for what comes out of a pipe" "$? $(cat "$SCRATCH/out")" \
	"8 panthor-perf: standard input: cannot create a temporary file in $SCRATCH/no: No such file or directory"
QUEUES="7 game queue" JOBS="0 7 1000 1000 2000 3000
until 5000" "$SCRATCH/recording-make" "$SCRATCH/jobs" 5 default
TMPDIR=$SCRATCH/no "$tool" convert --json "$SCRATCH/jobs" >"$SCRATCH/out" 2>&1
is "nor is there for jobs" "$? $(cat "$SCRATCH/out")" \
	"8 panthor-perf: $SCRATCH/jobs: cannot create a temporary file in $SCRATCH/no: No such file or directory"
run /dev/null record -p 1s -o "$SCRATCH/file" -- true
run "$SCRATCH/out" record -p 1s -o - -- true
is "one reads what the other writes" "$("$tool" report - <"$SCRATCH/out" | sed 1d)" "$("$tool" report "$SCRATCH/file" | sed 1d)"
is "all that is written has a name" "$(ls "$SCRATCH/empty")" ""
plan "$TAP_COUNT"
