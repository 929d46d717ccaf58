#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# panthor-perf top as far as it needs no GPU: what it reads of clients, what it draws, keys, and the ends of
# its terminal. The GPU is a fake one, which counts when it is told to; all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan $((1 + 20 + 16))

tool_builds live-test top-test

# top: what it reads of clients, and what it draws.
run_tests 18 top "$SCRATCH/top-test"

# tick NAME BYTES
tick()
{
	printf '%s' "$2" >"$SCRATCH/$1.ticks"
}

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

# A line is of samples: there is none while none have come, but for the last one.
mkfifo "$SCRATCH/quiet.ticks"
exec 6<>"$SCRATCH/quiet.ticks"
FAKE_TICKS=$SCRATCH/quiet.ticks "$SCRATCH/live-test" top -j -p 10ms >"$SCRATCH/quiet.out" 2>"$SCRATCH/quiet.err" &
quiet=$!
tick quiet s
has_lines()
{
	[ "$(grep -c '"samples"' "$SCRATCH/quiet.out")" -ge "$1" ]
}
until_true has_lines 1 || :
waits()
{
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$quiet/status"
}
before=$(waits)
has_waited()
{
	[ "$(waits)" -ge $((before + 20)) ]
}
until_true has_waited || :
# A background process of a shell does not have SIGINT.
kill -TERM "$quiet"
wait "$quiet"
is "top: no line without a sample" "$? $(cat "$SCRATCH/quiet.err") $(grep -o '"samples":[0-9]*' "$SCRATCH/quiet.out" | tr '\n' ' ')" \
	"0  \"samples\":1 \"samples\":1 "
exec 6>&-

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
printf 'v' >&5
until_true typed "No jobs: " && ok "top: processes, without jobs" || not_ok "top: processes, without jobs" "$(cat "$SCRATCH/typescript")"
printf 'vhxp ?xs100\177ms\rs\033s5s\r++++++++++----------=gPMNCR<>>>>zZ\033[A' >&5
tick screen ssss
printf 'h' >&5
until_true typed "Press any key to return" && ok "top: keys" || not_ok "top: keys" "$(cat "$SCRATCH/typescript")"
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
