#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What record, report, convert and diff do with files, pipes, names and other people's descriptors. The GPU is
# a fake one, which counts when it is told to; all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan 28

tool_builds live-test live-fast slow-disk.so

# tick NAME BYTES
tick()
{
	printf '%s' "$2" >"$SCRATCH/$1.ticks"
}

# record NAME COMMAND-LINE...: its status and, in NAME.err, what it says. Nothing is counted but at its end.
record()
{
	local name=$1 status

	shift
	mkfifo "$SCRATCH/$name.ticks"
	exec 6<>"$SCRATCH/$name.ticks"
	FAKE_TICKS=$SCRATCH/$name.ticks "$SCRATCH/live-test" record "$@" >"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err"
	status=$?
	exec 6>&-
	return $status
}

# said NAME: the figures
said()
{
	sed -n 's/^panthor-perf: \([0-9]* samples, .* lost\); .* and \([0-9]* bytes\) in .*/\1, \2/p' "$SCRATCH/$1.err"
}

# as_json NAME: the recording
as_json()
{
	"$SCRATCH/live-test" convert --json "$SCRATCH/$1.data" 2>&1
}

# The head has the whole command: of 240 KiB here, with a queue of 64 KiB.
long=$(printf '%0120000d' 0)
record long -m 128 -o "$SCRATCH/long.data" -- true "$long" "$long"
is "a command longer than the queue is recorded" "$? $(sed '/samples/d' "$SCRATCH/long.err" | head -n 3)" "0 "
is "with all its words" "$(as_json long | tr ',' '\n' | grep -c "^\"$long\"")" 2

# What is under names of ours that were there before.
echo before >"$SCRATCH/real"
ln -s real "$SCRATCH/link"
echo mine >"$SCRATCH/link.new"
"$SCRATCH/live-test" convert --csv -o "$SCRATCH/link" "$SCRATCH/long.data" 2>"$SCRATCH/err"
is "-o follows a link" "$? $(cat "$SCRATCH/err") $(readlink "$SCRATCH/link") $(head -c 8 "$SCRATCH/real")" "0  real start_ns"
"$SCRATCH/live-test" convert --csv -o "$SCRATCH/real" "$SCRATCH/long.data" 2>"$SCRATCH/err"
echo mine >"$SCRATCH/real.new"
"$SCRATCH/live-test" convert --json -o "$SCRATCH/real" "$SCRATCH/long.data" 2>"$SCRATCH/err"
is "-o replaces a file" "$? $(cat "$SCRATCH/err") $(head -c 1 "$SCRATCH/real")" "0  {"
is "and leaves others alone" "$(cat "$SCRATCH/real.new" "$SCRATCH/link.new") $(cd "$SCRATCH" && echo real*)" \
	"mine
mine real real.new"
is "with the mode that the mask gives" \
	"$(umask 027; "$SCRATCH/live-test" convert --json -o "$SCRATCH/masked" "$SCRATCH/long.data"; stat -c %a "$SCRATCH/masked")" 640
"$SCRATCH/live-test" convert --csv -o "$SCRATCH/no/such" "$SCRATCH/long.data" 2>"$SCRATCH/err"
is "a directory that is not there" "$? $(cat "$SCRATCH/err")" "8 panthor-perf: $SCRATCH/no/such: No such file or directory"

# The command has the standard streams, and what this shell leaves open.
list="ls /proc/self/fd | tr '\n' ' '"
open=$(bash -c "exec 6<>/dev/null; $list")
for form in "" --perfetto; do
	record "fds$form" $form -o "$SCRATCH/fds.recorded" -- bash -c "$list"
	is "the command inherits no file${form:+ with $form}" "$(cat "$SCRATCH/fds$form.out")" "$open"
done

# Traces: figures of other ends, and of pipes.
mkfifo "$SCRATCH/pipe"
cat "$SCRATCH/pipe" >"$SCRATCH/piped" &
cat=$!
record pipe --perfetto -o "$SCRATCH/pipe" -- true
status=$?
wait "$cat"
is "a trace to a pipe" "$status $(said pipe)" "0 1 samples, 0 flagged, 0 stretched, 0 lost, $(stat -c %s "$SCRATCH/piped") bytes"
record full --perfetto -o /dev/full -- true
is "a trace to a full disk" "$? $(said full) $(grep -c 'No space left' "$SCRATCH/full.err")" \
	"8 1 samples, 0 flagged, 0 stretched, 1 lost, 0 bytes 1"
# The file has room for some samples, and no more are read when it is full.
mkfifo "$SCRATCH/many.ticks"
exec 6<>"$SCRATCH/many.ticks"
tick many sbsbsbsbsbsbsbsb
(ulimit -f 12 && FAKE_TICKS=$SCRATCH/many.ticks \
	exec "$SCRATCH/live-test" record --perfetto -o "$SCRATCH/many" -- true) 2>"$SCRATCH/many.err"
exec 6>&-
read -r samples lost bytes <<<"$(said many | sed 's/ samples,.* stretched, / /; s/ lost, / /; s/ bytes//')"
[ "${lost:-0}" -gt 0 ] && [ "$lost" -lt "$samples" ] && [ "$bytes" -eq 12288 ] && ok "a trace that has no room for all" ||
	not_ok "a trace that has no room for all" "$(cat "$SCRATCH/many.err")"

# A FIFO that nobody reads.
mkfifo "$SCRATCH/unread" "$SCRATCH/unread.ticks"
FAKE_TICKS=$SCRATCH/unread.ticks "$SCRATCH/live-test" record -o "$SCRATCH/unread" -- true 2>"$SCRATCH/unread.err" &
unread=$!
until_true grep -q 'State:.S' "/proc/$unread/status"
kill -TERM "$unread"
ended()
{
	! kill -0 "$unread" 2>/dev/null
}
until_true ended || kill -KILL "$unread"
wait "$unread"
is "who waits for a reader of a FIFO can be ended" "$?" 143

# A terminal that is closed is the end, as Ctrl-C is.
mkfifo "$SCRATCH/hup.ticks"
FAKE_TICKS=$SCRATCH/hup.ticks "$SCRATCH/live-test" record -o "$SCRATCH/hup.data" 2>"$SCRATCH/hup.err" &
hup=$!
# The shell that becomes it blocks others for a moment.
until_true grep -q "^SigBlk:.*[13579bdf]$" "/proc/$hup/status"
kill -HUP "$hup"
wait "$hup"
is "SIGHUP ends a recording well" "$? $(as_json hup | grep -o '"reason":"[a-z]*","status":[0-9]*,"samples":[0-9]*')" \
	'0 "reason":"interrupt","status":0,"samples":1'

# It tells it twice: the shell, and the kernel when the shell has ended. The disk is slow, so that the second finds it still writing.
mkfifo "$SCRATCH/twice.ticks"
SLOW_UNTIL=$SCRATCH/quick LD_PRELOAD=$SCRATCH/slow-disk.so FAKE_TICKS=$SCRATCH/twice.ticks "$SCRATCH/live-fast" record \
	-o "$SCRATCH/twice.data" 2>"$SCRATCH/twice.err" &
hup=$!
until_true grep -q "^SigBlk:.*[13579bdf]$" "/proc/$hup/status"
# taken: it has read all signals
taken()
{
	grep -q "^ShdPnd:[[:space:]]*0*$" "/proc/$hup/status"
}
for _ in 1 2; do
	kill -HUP "$hup"
	until_true taken
done
touch "$SCRATCH/quick"
wait "$hup"
is "and so does one that comes twice" "$? $(as_json twice | grep -o '"reason":"[a-z]*","status":[0-9]*,"samples":[0-9]*')" \
	'0 "reason":"interrupt","status":0,"samples":1'

# The GPU goes when counting is to stop.
FAKE_STOP=gone record gone-at-stop -o "$SCRATCH/gone-at-stop.data" -- true
is "the GPU goes when it is to stop" "$? $(said gone-at-stop | sed 's/, [0-9]* bytes//')" \
	"7 2 samples, 0 flagged, 0 stretched, 0 lost"
is "with what was in the ring" "$(as_json gone-at-stop | grep -c start_ns) $(as_json gone-at-stop | grep -o '"reason":"[a-z]*"')" \
	'2 "reason":"gpu"'
is "it says so once" "$(grep -c 'is gone' "$SCRATCH/gone-at-stop.err")" 1

# It goes before anything is counted.
mkfifo "$SCRATCH/nothing.ticks"
exec 6<>"$SCRATCH/nothing.ticks"
tick nothing g
FAKE_TICKS=$SCRATCH/nothing.ticks "$SCRATCH/live-test" record -o "$SCRATCH/nothing.data" -- true 2>"$SCRATCH/err"
exec 6>&-
is "a recording of nothing" "$("$SCRATCH/live-test" report "$SCRATCH/nothing.data" 2>&1 | head -n 2)" \
	"panthor-perf: $SCRATCH/nothing.data has no samples
$SCRATCH/nothing.data: a fake, no samples"

# A pipe.
as_json long >"$SCRATCH/long.json"
is "a recording from a pipe is converted" "$(cat "$SCRATCH/long.data" | "$SCRATCH/live-test" convert --json /dev/stdin 2>&1 |
	diff - "$SCRATCH/long.json")" ""
cat "$SCRATCH/long.data" | "$SCRATCH/live-test" report /dev/stdin >"$SCRATCH/out" 2>&1
is "and reported" "$? $(sed "1s,^/dev/stdin,$SCRATCH/long.data," "$SCRATCH/out" | diff - <("$SCRATCH/live-test" report "$SCRATCH/long.data"))" "0 "

# What a terminal obeys, and what is no UTF-8, in the command and in names of files.
record evil -o "$SCRATCH/evil.data" -- true $'\x1b[2J' $'\xc2\x9b2J' $'\xff\xc3\xa4'
"$SCRATCH/live-test" report "$SCRATCH/evil.data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "report prints nothing that a terminal obeys" "$? $(sed -n 's/^Command: //p' "$SCRATCH/out")" $'0 true ?[2J ?2J \xef\xbf\xbd\xc3\xa4'
as_json evil >"$SCRATCH/out"
is "JSON is UTF-8" "$(iconv -f UTF-8 -t UTF-8 "$SCRATCH/out" 2>&1 >/dev/null; grep -o '"command":[^]]*' "$SCRATCH/out")" \
	$'"command":["true","\\u001b[2J","\xc2\x9b2J","\xef\xbf\xbd\xc3\xa4"'
"$SCRATCH/live-test" report $'/no/\x1b[2J\xc2\x9b2J\n' 2>"$SCRATCH/err"
is "nor do messages" "$? $(cat "$SCRATCH/err")" "8 panthor-perf: /no/?[2J?2J?: No such file or directory"

named=$SCRATCH/$'x\x1b[2J\xff'
cp "$SCRATCH/evil.data" "$named"
is "nor names of files that are read" \
	"$("$SCRATCH/live-test" report "$named" | sed -n '1s/:.*//p'; "$SCRATCH/live-test" diff "$named" "$named" | sed -n '/^[AB]: /p')" \
	"$SCRATCH/x?[2J?
A: $SCRATCH/x?[2J?
B: $SCRATCH/x?[2J?"
"$SCRATCH/live-test" diff -j "$named" "$named" >"$SCRATCH/out" 2>&1
is "and they are UTF-8 in JSON" "$(iconv -f UTF-8 -t UTF-8 "$SCRATCH/out" 2>&1 >/dev/null; sed -n 's/^  "a": *"\(.*\)",/\1/p' "$SCRATCH/out")" \
	"$SCRATCH/x\\u001b[2J"$'\xef\xbf\xbd'

# What -T compares has the unit of a total, also of a counter that A has not counted.
mkfifo "$SCRATCH/none.ticks"
exec 6<>"$SCRATCH/none.ticks"
tick none b
FAKE_TICKS=$SCRATCH/none.ticks "$SCRATCH/live-test" record -o "$SCRATCH/none.data" -- true 2>"$SCRATCH/err"
tick none s
FAKE_TICKS=$SCRATCH/none.ticks "$SCRATCH/live-test" record -o "$SCRATCH/some.data" -- true 2>"$SCRATCH/err"
exec 6>&-
"$SCRATCH/live-test" diff -T "$SCRATCH/none.data" "$SCRATCH/some.data" >"$SCRATCH/out" 2>&1
is "totals are no rates" "$? $(sed -n 's/.* MaliGPUActiveCy  *//p' "$SCRATCH/out")" "0 cycles"
