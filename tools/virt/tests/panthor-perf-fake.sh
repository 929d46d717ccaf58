#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# panthor-perf export: who asks for it by HTTP gets what the file has, whatever others do meanwhile. The
# GPU is a fake one, which counts when it is told to; all of it with ASan and UBSan. top is tested here as
# well, as far as it needs no GPU, and what record, report and convert do with files.
set -u
. "$(dirname "$0")/lib/tap.sh"

tool=$VIRT_DIR/../panthor-perf
plan $((1 + 20 + 36 + 10 + 3 + 26 + 2))

if make -s -C "$tool" O="$SCRATCH" "$SCRATCH/live-test" "$SCRATCH/top-test" >"$SCRATCH/log" 2>&1; then
	ok "the tests build"
else
	not_ok "the tests build" "$(cat "$SCRATCH/log")"
	exit 1
fi

# top: what it reads of clients, and what it draws.
run_tests 18 top "$SCRATCH/top-test"

# begin NAME OPTION...: an exporter, PID, with a FIFO for its GPU
begin()
{
	local name=$1

	shift
	mkfifo "$SCRATCH/$name.ticks"
	FAKE_TICKS=$SCRATCH/$name.ticks "$SCRATCH/live-test" export --prometheus "$@" \
		>"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err" &
	PID=$!
}

# tick NAME BYTES
tick()
{
	printf '%s' "$2" >"$SCRATCH/$1.ticks"
}

# fetch METHOD PATH [HEADER]: the whole answer
fetch()
{
	local connection

	exec {connection}<>"/dev/tcp/127.0.0.1/$PORT" || return
	printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n' "$1" "$2" "${3:+$3$'\r\n'}" >&"$connection"
	cat <&"$connection"
	exec {connection}>&-
}

body()
{
	sed '1,/^\r$/d' | tr -d '\r'
}

# metrics [HEADER]: the text
metrics()
{
	fetch GET /metrics "${1:-}" | body
}

value()
{
	printf '%s\n' "$2" | sed -n "s/^$1{[^}]*} //p" | head -n 1
}

has_samples()
{
	TEXT=$(metrics)
	[ "$(value mali_samples_total "$TEXT")" = "$1" ]
}

is_up()
{
	PORT=$(sed -n 's|^Counters are at http://127\.0\.0\.1:\([0-9]*\)/metrics$|\1|p' "$SCRATCH/web.out")
	[ -n "$PORT" ]
}

begin web --listen 127.0.0.1:0 -a
web=$PID
until_true is_up && ok "it says where it is" || not_ok "it says where it is" "$(cat "$SCRATCH/web.err")"
has_samples 0 && ok "there is an answer before the first sample" ||
	not_ok "there is an answer before the first sample" "$TEXT"
is "in which nothing was counted" "$(printf '%s\n' "$TEXT" | grep 'block="' | grep -vc ' 0$')" 0

tick web sss
until_true has_samples 3 && ok "samples come" || not_ok "samples come" "$TEXT"
first=$TEXT
is "a second scraper sees the same" "$(metrics)" "$first"
is "three samples in counter 53 of the last core" \
	"$(printf '%s\n' "$first" | sed -n 's/^mali_any_workload_active_cycles_total{gpu="renderD128",block="shader2"} //p')" \
	$((3 * (7000 - 53)))
is "its first and its second core" \
	"$(printf '%s\n' "$first" | sed -n 's/^mali_any_workload_active_cycles_total{gpu="renderD128",block="shader[01]"} //p' | tr '\n' ' ')" \
	"$((3 * (5000 - 53))) $((3 * (6000 - 53))) "

# The file of a collector is the same text.
begin file --textfile "$SCRATCH/x.prom" -a
file=$PID
tick file sss
same_as_file()
{
	cmp -s "$SCRATCH/x.prom" - <<<"$first"
}
until_true same_as_file && ok "the file has the same text" ||
	not_ok "the file has the same text" "$(diff "$SCRATCH/x.prom" - <<<"$first")"
is "everybody may read it" "$(stat -c %a "$SCRATCH/x.prom")" 644
kill -INT "$file"
wait "$file"
is "Ctrl-C ends it" "$? $(cat "$SCRATCH/file.err")" "0 "
is "with the last sample in the file" "$(value mali_samples_total "$(cat "$SCRATCH/x.prom")")" 4
is "and nothing beside it" "$(ls "$SCRATCH"/x.prom*)" "$SCRATCH/x.prom"

# OpenMetrics
openmetrics=$(metrics "Accept: application/openmetrics-text; version=1.0.0,text/plain;q=0.5")
is "OpenMetrics has an end" "$(printf '%s\n' "$openmetrics" | tail -n 1)" "# EOF"
is "and its type" "$(fetch HEAD /metrics "Accept: application/openmetrics-text" | tr -d '\r' | sed -n 's/^Content-Type: //p')" \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"
is "units are the ends of names" \
	"$(printf '%s\n' "$openmetrics" | awk '/^# UNIT/ { n++; if (substr($3, length($3) - length($4)) != "_" $4) print } END { print (n > 50) }')" 1
is "families of counters have no suffix, their values do" \
	"$(printf '%s\n' "$openmetrics" | awk '/^# TYPE .* counter$/ { if ($3 ~ /_total$/) print; counter[$3 "_total"] = 1; next }
		/^#/ { next } { name = $1; sub(/\{.*/, "", name); if ((name ~ /_total$/) != (name in counter)) print }')" ""
is "values are the same" "$(printf '%s\n' "$openmetrics" | grep -v '^#')" "$(printf '%s\n' "$first" | grep -v '^#')"
is "no metric is there twice" "$(printf '%s\n' "$first" | grep '^# TYPE' | cut -d' ' -f3 | sort | uniq -d)" ""
if promtool=$("$VIRT_DIR/build/promtool.sh" 2>"$SCRATCH/err"); then
	is "promtool has nothing to say" "$("$promtool" check metrics <<<"$first" 2>&1; echo $?)" 0
else
	not_ok "promtool has nothing to say" "$(cat "$SCRATCH/err")"
fi

# A sum that is derived, of which the next sample takes away.
frag=$(value mali_fragment_queue_active_cycles_total "$first")
tick web b
until_true has_samples 4
is "a sum that would go back stays" "$(value mali_fragment_queue_active_cycles_total "$TEXT")" "$frag"
[ "${frag%.*}" -gt 0 ] 2>/dev/null && ok "it was more than nothing" || not_ok "it was more than nothing" "$frag"

# Those who read nothing, though they ask for more than the kernel keeps for them, say nothing, or half of it.
exec 7<>"/dev/tcp/127.0.0.1/$PORT" 8<>"/dev/tcp/127.0.0.1/$PORT" 9<>"/dev/tcp/127.0.0.1/$PORT"
for _ in $(seq 500); do
	printf 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'
done >&7
printf 'GET /met' >&9
tick web s
until_true has_samples 5 && ok "who reads nothing holds nothing up" || not_ok "who reads nothing holds nothing up" "$TEXT"
exec 7>&- 8>&- 9>&-

# 64 connections of another address, of which each says a little every now and then: they have sixteen, for a while.
cat >"$SCRATCH/slow.py" <<'END'
import socket, sys, time
port, end = int(sys.argv[1]), time.monotonic() + 100
def connect():
    s = socket.socket()
    s.settimeout(60)
    s.bind(("127.0.0.2", 0))
    s.connect(("127.0.0.1", port))
    return s
slow = [connect() for _ in range(64)]
print("there", flush=True)
left = set(slow)
while left and time.monotonic() < end:
    time.sleep(1)
    for s in list(left):
        try:
            s.send(b"G")
            s.setblocking(False)
            if s.recv(1) == b"":
                left.discard(s)
        except BlockingIOError:
            pass
        except OSError:
            left.discard(s)
print("cut off" if not left else "%d are left" % len(left))
END
python3 "$SCRATCH/slow.py" "$PORT" >"$SCRATCH/slow.out" 2>&1 &
slow=$!
until_true grep -q there "$SCRATCH/slow.out" || not_ok "slow connections" "$(cat "$SCRATCH/slow.out")"
tick web s
until_true has_samples 6 && ok "many slow connections leave some for others" ||
	not_ok "many slow connections leave some for others" "$TEXT"
wait "$slow"
is "and are cut off, though they say something" "$(tail -n 1 "$SCRATCH/slow.out")" "cut off"

status_of()
{
	head -n 1 | tr -d '\r' | cut -d' ' -f2
}
is "another path" "$(fetch GET /other | status_of)" 404
is "the top" "$(fetch GET / | status_of)" 200
is "another method" "$(fetch DELETE /metrics | status_of)" 405
is "a head alone" "$(fetch HEAD /metrics | body | wc -c)" 0

# fails NAME STATUS TEXT OPTION...
fails()
{
	local name=$1 status=$2 text=$3 got

	shift 3
	got=$(FAKE_TICKS=$SCRATCH/web.ticks "$SCRATCH/live-test" export --prometheus "$@" 2>&1)
	case $?:$got in
	"$status:"*"$text"*) ok "$name" ;;
	*) not_ok "$name" "status $? instead of $status, and: $got" ;;
	esac
}
fails "a port in use" 8 "cannot listen on 127.0.0.1:$PORT: Address already in use" --listen "127.0.0.1:$PORT"
fails "a port that is none" 2 "a port is a number from 0 to 65535" --listen 127.0.0.1:65536
fails "no port" 2 "a port is a number from 0 to 65535" --listen 127.0.0.1:
fails "a host alone" 2 "a port is a number from 0 to 65535" --listen localhost
fails "an address that is none" 2 "say ADDRESS:PORT" --listen 300.1.1.1:80
fails "an address of others" 8 "cannot listen on 192.0.2.1:0" --listen 192.0.2.1:0

kill -INT "$web"
wait "$web"
is "Ctrl-C ends the server" "$? $(cat "$SCRATCH/web.err")" "0 "
mkfifo "$SCRATCH/gone.ticks"
exec 6<>"$SCRATCH/gone.ticks"
tick gone sg
FAKE_TICKS=$SCRATCH/gone.ticks "$SCRATCH/live-test" export --prometheus -a --textfile "$SCRATCH/gone.prom" 2>"$SCRATCH/gone.err"
is "the GPU goes" "$? $(cat "$SCRATCH/gone.err")" "7 panthor-perf: /dev/dri/renderD128 is gone"
exec 6>&-
is "after its last sample was published" "$(value mali_samples_total "$(cat "$SCRATCH/gone.prom")")" 1

# top, of the same GPU: what was counted before it ends is shown.
# top NAME BYTES OPTION...: its output in NAME.out
top()
{
	local name=$1 bytes=$2

	shift 2
	mkfifo "$SCRATCH/$name.ticks"
	# Open for both, so that the bytes stay until they are read.
	exec 6<>"$SCRATCH/$name.ticks"
	tick "$name" "$bytes"
	FAKE_TICKS=$SCRATCH/$name.ticks "$SCRATCH/live-test" top "$@" >"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err"
	is "top: $name" "$? $(cat "$SCRATCH/$name.err")" "0 "
	exec 6>&-
}
top json ss --once -j -p 10ms
is "top: samples that were counted, with the last" "$(grep -o '"samples":[0-9]*' "$SCRATCH/json.out")" '"samples":3'
is "top: counters by block" "$(grep -o '"MaliAnyActiveCy":\[[0-9,]*\]' "$SCRATCH/json.out")" \
	"\"MaliAnyActiveCy\":[$((2 * (5000 - 53))),$((2 * (6000 - 53))),$((2 * (7000 - 53)))]"
is "top: active cycles" "$(grep -o '"active_cycles":[0-9]*' "$SCRATCH/json.out")" "\"active_cycles\":$((2 * (1000 - 4)))"
is "top: the load, of 3 s and 30000 cycles" \
	"$(grep -o '"of_[a-z]*":[0-9.]*' "$SCRATCH/json.out" | head -n 2 | awk -F: '{ printf "%.4f ", $2 }')" "0.0664 0.0664 "
top text ss --once -p 10ms
is "top: as text" "$(sed -n 2p "$SCRATCH/text.out" | sed 's/\[[^]]*\]/[]/; s/  */ /g')" \
	"GPU [] 6.6% of time 6.6% of cycles 0.01 MHz"
is "top: a core" "$(sed -n 's/.*Core 2   \[[^]]*\] *\([0-9.]*%\).*/\1/p' "$SCRATCH/text.out")" \
	"$(echo "scale=6; 2 * (7000 - 53) / 27000 * 100" | bc | awk '{ printf "%.1f%%", $1 }')"

# Every key, on a terminal.
mkfifo "$SCRATCH/screen.ticks"
exec 6<>"$SCRATCH/screen.ticks"
mkfifo "$SCRATCH/keys"
exec 5<>"$SCRATCH/keys"
FAKE_TICKS=$SCRATCH/screen.ticks TERM=vt100 script -eqfc "stty rows 24 columns 80; $SCRATCH/live-test top -p 10ms 2>$SCRATCH/screen.err" \
	"$SCRATCH/typescript" <"$SCRATCH/keys" >/dev/null 2>&1 &
script=$!
tick screen ssssbssss
typed()
{
	grep -aq -- "$1" "$SCRATCH/typescript" 2>/dev/null
}
until_true typed "SESS COMMAND" && ok "top: a screen" || not_ok "top: a screen" "$(cat "$SCRATCH/typescript" "$SCRATCH/screen.err")"
printf 'hxp ?xs100\177ms\rs\033s5s\r++++++++++----------=gPMNCR<>>>>zZ\033[A' >&5
tick screen ssss
printf 'h' >&5
until_true typed "Any key goes back" && ok "top: keys" || not_ok "top: keys" "$(cat "$SCRATCH/typescript")"
printf 'xq' >&5
wait "$script"
is "top: ends well after them" "$? $(cat "$SCRATCH/screen.err")" "0 "

# The terminal's signals, and a terminal that goes without one.
# screen NAME COMMAND: SCRIPT runs it on a terminal; TOP: its process
screen()
{
	mkfifo "$SCRATCH/$1.ticks"
	FAKE_TICKS=$SCRATCH/$1.ticks TERM=vt100 SHELL=/bin/bash script -eqfc \
		"stty rows 24 columns 80; echo \$\$ >$SCRATCH/$1.pid; $2 exec $SCRATCH/live-test top -p 10ms 2>$SCRATCH/$1.err" \
		"$SCRATCH/typescript" <"$SCRATCH/keys" >/dev/null 2>&1 &
	SCRIPT=$!
	tick "$1" ssss
	until_true typed "SESS COMMAND"
	TOP=$(cat "$SCRATCH/$1.pid")
}
gone()
{
	! kill -0 "$1" 2>/dev/null
}
rm "$SCRATCH/typescript"
screen quit ""
printf '\034' >&5
until_true gone "$SCRIPT" || kill -KILL "$TOP"
wait "$SCRIPT"
is "top: Ctrl-\\ ends it well" "$? $(cat "$SCRATCH/quit.err")" "0 "
rm "$SCRATCH/typescript"
screen hangup "trap '' HUP;"
kill -KILL "$SCRIPT"
if until_true gone "$TOP"; then
	ok "top: ends without its terminal"
else
	kill -KILL "$TOP"
	not_ok "top: ends without its terminal" "it is still there"
fi
is "top: and finds nothing wrong" "$(cat "$SCRATCH/hangup.err")" ""

# ---- Files ----

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
is "a trace to a pipe" "$? $(wait "$cat")$(said pipe)" "0 1 samples, 0 flagged, 0 stretched, 0 lost, $(stat -c %s "$SCRATCH/piped") bytes"
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
	"panthor-perf: $SCRATCH/nothing.data holds no samples
$SCRATCH/nothing.data: a fake, no samples"

# A pipe is read once.
as_json long >"$SCRATCH/long.json"
is "a recording from a pipe is converted" "$(cat "$SCRATCH/long.data" | "$SCRATCH/live-test" convert --json /dev/stdin 2>&1 |
	diff - "$SCRATCH/long.json")" ""
cat "$SCRATCH/long.data" | "$SCRATCH/live-test" report /dev/stdin >"$SCRATCH/out" 2>&1
is "and not reported" "$? $(cat "$SCRATCH/out")" \
	"8 panthor-perf: /dev/stdin: it has to be read twice, which a pipe cannot: put it into a file"

# What a terminal obeys, and what is no UTF-8, in the command and in names of files.
record evil -o "$SCRATCH/evil.data" -- true $'\x1b[2J' $'\xc2\x9b2J' $'\xff\xc3\xa4'
"$SCRATCH/live-test" report "$SCRATCH/evil.data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "report prints nothing that a terminal obeys" "$? $(sed -n 's/^of //p' "$SCRATCH/out")" $'0 true ?[2J ?2J \xef\xbf\xbd\xc3\xa4'
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
