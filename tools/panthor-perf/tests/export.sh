#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# panthor-perf export: who asks for it by HTTP gets what the file has, whatever others do meanwhile. The
# GPU is a fake one, which counts when it is told to; all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan 58

tool_builds live-test

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
	[ -e "$SCRATCH/web.out" ] || return
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

# Counter 53 tells that a core is active, and the cores' clock has 9000 cycles in a sample.
is "the load of each core" "$(printf '%s\n' "$first" | sed -n 's/^mali_core_load_ratio{gpu="renderD128",core="\([0-9]\)"} \([0-9.]\{6\}\).*/\1 \2/p' | tr '\n' ' ')" \
	"0 0.$(((5000 - 53) * 10000 / 9000)) 1 0.$(((6000 - 53) * 10000 / 9000)) 2 0.$(((7000 - 53) * 10000 / 9000)) "
is "by the names of all GPUs, the load is the same" "$(printf '%s\n' "$first" |
	sed -n 's/^hw_gpu_utilization_ratio{gpu="renderD128",hw_id="renderD128",hw_name="a fake",hw_vendor="Arm",hw_gpu_task="general"} //p')" \
	"$(printf '%s\n' "$first" | sed -n 's/^mali_gpu_load_ratio{gpu="renderD128",of="time"} //p')"
# Slices 0 and 1 are blocks 2 and 3, and beats have 16 bytes.
is "and what was read and written adds up" "$(printf '%s\n' "$first" |
	sed -n 's/^hw_gpu_io_bytes_total{.*network_io_direction="\([a-z]*\)"} /\1 /p' | tr '\n' ' ')" \
	"receive $((3 * (3000 - 32 + 4000 - 32) * 16)) transmit $((3 * (3000 - 47 + 4000 - 47) * 16)) "

is "cycles of each clock that there is" "$(printf '%s\n' "$first" | sed -n 's/^mali_clock_cycles_total{gpu="renderD128",clock="\([a-z]*\)"} /\1 /p' | tr '\n' ' ')" \
	"toplevel 30000 shader 27000 "

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
fails "a port that is none" 2 "the port must be a number from 0 to 65535" --listen 127.0.0.1:65536
fails "no port" 2 "the port must be a number from 0 to 65535" --listen 127.0.0.1:
fails "a host alone" 2 "the port must be a number from 0 to 65535" --listen localhost
fails "an address that is none" 2 "use ADDRESS:PORT" --listen 300.1.1.1:80
fails "an address of others" 8 "cannot listen on 192.0.2.1:0" --listen 192.0.2.1:0

kill -INT "$web"
wait "$web"
is "Ctrl-C ends the server" "$? $(cat "$SCRATCH/web.err")" "0 "

# The GPU goes and comes back, twice. The FIFO is held open, as nobody else has it open meanwhile.
mkfifo "$SCRATCH/gone.ticks"
exec 6<>"$SCRATCH/gone.ticks"
# The port of the server before must not be read again.
rm "$SCRATCH/web.out"
FAKE_GONE=$SCRATCH/gone FAKE_TICKS=$SCRATCH/gone.ticks "$SCRATCH/live-test" export -a --listen 127.0.0.1:0 \
	>"$SCRATCH/web.out" 2>"$SCRATCH/gone.err" &
gone=$!
until_true is_up || not_ok "an exporter whose GPU will go" "$(cat "$SCRATCH/gone.err")"
# up_is UP SAMPLES
up_is()
{
	TEXT=$(metrics)
	[ "$(value panthor_gpu_up "$TEXT") $(value mali_samples_total "$TEXT")" = "$1 $2" ]
}
# totals: all counters of the last text
totals()
{
	printf '%s\n' "$TEXT" | grep '^[a-z0-9_]*_total{' | sed 's/ /_/g; s/_\([^_]*\)$/ \1/'
}
printf ss >&6
until_true up_is 1 2 && ok "the GPU is up" || not_ok "the GPU is up" "$TEXT" "$(cat "$SCRATCH/gone.err")"
is "which is a gauge with a help" "$(printf '%s\n' "$TEXT" | grep -c -e '^# TYPE panthor_gpu_up gauge$' -e '^# HELP panthor_gpu_up 1 while')" 2
totals >"$SCRATCH/before"
samples=2
for round in 1 2; do
	: >"$SCRATCH/gone"
	printf sg >&6
	samples=$((samples + 1))
	until_true up_is 0 $samples && ok "round $round: it goes, after its last sample was published" ||
		not_ok "round $round: it goes, after its last sample was published" "$TEXT" "$(cat "$SCRATCH/gone.err")"
	totals >"$SCRATCH/while"
	is "round $round: no gauge has a value of the last period" \
		"$(printf '%s\n' "$TEXT" | sed -n 's/^# TYPE \(.*\) gauge$/\1/p' | tr '\n' ' ')" "panthor_gpu_up mali_gpu_info "
	rm "$SCRATCH/gone"
	printf s >&6
	samples=$((samples + 1))
	until_true up_is 1 $samples && ok "round $round: it is back, and counted" ||
		not_ok "round $round: it is back, and counted" "$TEXT" "$(cat "$SCRATCH/gone.err")"
	totals >"$SCRATCH/after"
	is "round $round: counters went on from where they were" "$(paste -d' ' "$SCRATCH"/{before,while,after} |
		awk '$1 != $3 || $3 != $5 || $2 > $4 || $4 > $6 { print } $6 > $4 { n++ } END { print (n > 50) }')" 1
	cp "$SCRATCH/after" "$SCRATCH/before"
done
is "it says so" "$(cat "$SCRATCH/gone.err")" "$(for _ in 1 2; do
	echo "panthor-perf: /dev/dri/renderD128 is gone; waiting for the GPU to return"
	echo "panthor-perf: the GPU is back"
done)"
: >"$SCRATCH/gone"
printf g >&6
until_true up_is 0 $samples
kill -INT "$gone"
wait "$gone"
is "Ctrl-C ends it while the GPU is gone" $? 0
FAKE_GONE=$SCRATCH/gone fails "it does not start without a GPU" 3 "is a file" --listen 127.0.0.1:0
rm "$SCRATCH/gone"

# The same in a file.
printf sg >&6
FAKE_GONE=$SCRATCH/gone FAKE_TICKS=$SCRATCH/gone.ticks "$SCRATCH/live-test" export --textfile "$SCRATCH/gone.prom" 2>"$SCRATCH/gone.err" &
gone=$!
in_file()
{
	[ "$(value "$1" "$(cat "$SCRATCH/gone.prom" 2>/dev/null)")" = "$2" ]
}
until_true grep -qs "the GPU is back" "$SCRATCH/gone.err"
printf s >&6
until_true in_file mali_samples_total 2 && ok "a file goes on, too" || not_ok "a file goes on, too" "$(cat "$SCRATCH/gone.prom" "$SCRATCH/gone.err")"
: >"$SCRATCH/gone"
printf g >&6
until_true in_file panthor_gpu_up 0 && ok "and says that the GPU is gone" || not_ok "and says that the GPU is gone" "$(cat "$SCRATCH/gone.prom")"
kill -INT "$gone"
wait "$gone"
is "Ctrl-C ends that, too" $? 0
rm "$SCRATCH/gone"

# It goes when it is to stop: two samples are left in its ring, and the file says so.
printf s >&6
FAKE_STOP=gone FAKE_TICKS=$SCRATCH/gone.ticks "$SCRATCH/live-test" export --textfile "$SCRATCH/stop.prom" 2>"$SCRATCH/stop.err" &
gone=$!
until_true grep -qs '^mali_samples_total{.*} 1$' "$SCRATCH/stop.prom"
kill -INT "$gone"
wait "$gone"
is "it goes when it is to stop" "$? $(cat "$SCRATCH/stop.err") $(for name in mali_samples_total panthor_gpu_up; do
	value $name "$(cat "$SCRATCH/stop.prom")"
done | tr '\n' ' ')" "0 panthor-perf: /dev/dri/renderD128 is gone 3 0 "
exec 6>&-

# A name of a node may be any that a file can have.
mkfifo "$SCRATCH/quote.ticks"
exec 6<>"$SCRATCH/quote.ticks"
tick quote s
FAKE_TICKS=$SCRATCH/quote.ticks "$SCRATCH/live-test" export -d '/dev/a"b' --textfile "$SCRATCH/quote.prom" 2>"$SCRATCH/quote.err" &
quote=$!
until_true grep -qs '^mali_samples_total{.*} 1$' "$SCRATCH/quote.prom"
kill -INT "$quote"
wait "$quote"
exec 6>&-
is "a quote in its name is told as one in each label" \
	"$(grep -c '{gpu="a\\"b",hw_id="a\\"b",' "$SCRATCH/quote.prom") $(grep -v '^#' "$SCRATCH/quote.prom" | grep -c '"a"b"')" "3 0"
