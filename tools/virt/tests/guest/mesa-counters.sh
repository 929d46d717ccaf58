# SPDX-License-Identifier: MIT
# Counters by Mesa's GL, with our patches, of which /root/mesa has the libraries. The host compares what GL and its
# HUD have counted (/root/monitor, /root/beside, /root/hud) with the ledger, by the traces of the same names.
. /root/tap.sh
. /root/shown.sh

tracing=/sys/kernel/tracing
name=$(basename "$GPU")
# PanVK takes a library without a time for none.
touch -d '2025-01-01 00:00' /root/mesa/*
export LD_LIBRARY_PATH=/root/mesa:/root/lib GBM_BACKENDS_PATH=/root/mesa VK_DRIVER_FILES=/root/mesa/panfrost_icd.json HOME=/tmp
chmod 755 /root
mkdir /root/none /root/bad
: >/root/bad/libpanthor-perf.so.0

# traced NAME COMMAND...: with a trace of the samples that the driver delivers, /root/NAME.trace; how it ended
traced()
{
	trace=$1
	shift
	: >$tracing/trace
	echo 1 >$tracing/events/panthor/panthor_perf_delivery/enable
	echo 1 >$tracing/tracing_on
	"$@" >/root/out 2>/root/err
	echo "$? $(grep -c '^ok' /root/out) $(cat /root/err)"
	echo 0 >$tracing/tracing_on
	sed -n 's/^.*panthor_perf_delivery: session=\([0-9]*\) epoch=\([0-9]*\) insert=\([0-9]*\) user_data=\([0-9a-fx]*\) .*flags=\(.*\)/\1 \2 \3 \4 \5/p' \
		$tracing/trace >"/root/$trace.trace"
}

# no_library COMMAND...: Mesa finds no libpanthor-perf, in as many directories
no_library()
{
	LD_LIBRARY_PATH=/root/mesa:/root/none "$@"
}

panthor-perf info -j >/root/info 2>/dev/null
panthor-perf list -x ";" >/root/list 2>/dev/null
is "the program runs" "$(gl-work draw 2>&1 | sed -n '2p')" "ok - draw"

is "a monitor of each frame" "$(traced monitor gl-work -n 3 -m /root/monitor clear draw compute)" "0 3 "
gpu-load -j 0 -t 60 -k fragment -p 200 --duty 50 --started /root/started >/dev/null 2>&1 &
load=$!
until_true 60 test -e /root/started
is "with another process at work" "$(traced beside gl-work -n 3 -m /root/beside draw)" "0 1 "
kill $load
wait $load 2>/dev/null

# ---- The HUD ----

GALLIUM_HUD=help gl-work -p gbm -w draw >/root/help 2>&1
is "the HUD lists draw calls" "$(grep -c '^ *draw-calls$' /root/help)" 1
is "and counters, each once" "$(sort /root/help | uniq -c | awk '$1 > 1 && $2 ~ /^Mali/')" ""
sed -n 's/^ *\(\(Mali\|gpu-\|memory-\|td_\)[A-Za-z0-9_-]*\)$/\1/p' /root/help >/root/names
mkdir /root/hud
# Twelve graphs at a time: the HUD has not the room for more.
frames()
{
	GALLIUM_HUD=$1 GALLIUM_HUD_PERIOD=0 GALLIUM_HUD_VISIBLE=false GALLIUM_HUD_DUMP_DIR=/root/hud gl-work -p gbm -w -n 8 draw
}
run=0
for graphs in $(paste -s -d '+++,+++,+++\n' /root/names); do
	rm -f /root/hud/*
	traced hud frames "$graphs"
	sed "s/^/$run /" /root/hud.trace >>/root/huds.traces
	(cd /root/hud && grep '' ./*) | sed "s,^\./,$run ,; s/:/ /" >>/root/huds.values
	run=$((run + 1))
done | sort | uniq -c >/root/huds
is "frames with a HUD of all counters" "$(cat /root/huds)" "$(printf '%7d 0 1 ' $((($(wc -l </root/names) + 11) / 12)))"

# ---- Where there are no counters ----

is "without the library there is no monitor" "$(no_library gl-work -m /root/no-monitor draw 2>&1 | tail -n 1)" \
	"gl-work: there is no GL_AMD_performance_monitor"
is "and all else is as before" "$(no_library gl-work draw 2>&1 | sed -n 2p)" "ok - draw"
# cost COMMAND...: its instructions, the least of three runs
cost()
{
	for _ in 1 2 3; do
		before=$(mali-bench instructions)
		"$@" >/dev/null 2>&1
		echo $(($(mali-bench instructions) - before))
	done | sort -n | head -n 1
}
# is_cheap NAME COMMAND...: the library costs less than a hundredth of what it takes without
is_cheap()
{
	what=$1
	shift
	with=$(cost "$@")
	without=$(cost no_library "$@")
	said="$with instructions, $without without the library"
	if [ $((with * 100)) -lt $((without * 101)) ]; then
		ok "$what: $said"
	else
		not_ok "$what" "$said"
	fi
}
is_cheap "a program that asks for no counter pays less than a hundredth for it" gl-work clear draw
is_cheap "one that uses Vulkan, too" vk-work clear draw
LD_LIBRARY_PATH=/root/mesa:/root/bad GALLIUM_HUD=help gl-work -p gbm -w draw >/root/out 2>&1
has "a library that cannot be opened is reported" "$(cat /root/out)" \
	"no performance counters: .*libpanthor-perf.so.0"
is "and has no counters" "$(grep -c '^ *draw-calls$' /root/out) $(grep -c '^ *Mali' /root/out)" "1 0"
is "without the library there is not a word of it" "$(no_library gl-work draw 2>&1 | grep -ci counter)" 0
has "but when debugging" "$(PAN_MESA_DEBUG=perf no_library gl-work draw 2>&1 | grep counters)" \
	"no performance counters: libpanthor-perf.so.0"
gl-work -n 100000 draw >/root/out 2>&1 &
pid=$!
until_true 60 test -s /root/out
is "the kernel does not count for a program without a monitor" "$(sessions $pid)" 0
kill $pid
wait

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
as_user()
{
	su user -c "HOME=/tmp/user LD_LIBRARY_PATH=$LD_LIBRARY_PATH PAN_MESA_DEBUG=$1 gl-work $2 draw" 2>&1
}
is "who may not count has no monitor" "$(as_user '' '-m /tmp/none' | tail -n 1)" \
	"gl-work: there is no GL_AMD_performance_monitor"
is "and all else" "$(as_user '' '' | sed -n 2p)" "ok - draw"
has "and can ask why" "$(as_user perf '' | grep counters)" "no performance counters: .*CAP_PERFMON"

mkfifo /root/held
hold-set 1 >/root/held &
holder=$!
read -r line </root/held
is "another program counts another set" "$line" counting
is "then a monitor does not begin" "$(gl-work -m /root/no-monitor draw 2>&1 | tail -n 1)" \
	"gl-work: the monitor does not begin: GL error 0x502"
kill $holder
wait $holder 2>/dev/null

# ---- A GPU that goes in the middle ----

gl-work -n 100000 -m /root/gone draw >/root/out 2>&1 &
pid=$!
until_true 60 test -s /root/gone
is "a program with a monitor has one session" "$(sessions $pid)" 1
echo "$name" >/sys/bus/platform/drivers/panthor/unbind
ended()
{
	! kill -0 "$pid" 2>/dev/null
}
until_true 120 ended && ok "a program with a monitor ends when its GPU is unbound" ||
	not_ok "a program with a monitor ends when its GPU is unbound" "$(tail -n 5 /root/out)"
kill -9 "$pid" 2>/dev/null
wait "$pid"
status=$?
if [ "$status" -gt 0 ] && [ "$status" -lt 128 ]; then
	ok "with an error"
else
	not_ok "with an error" "status $status" "$(tail -n 5 /root/out)"
fi
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 node >/dev/null
is "bound again, there are counters again" "$(gl-work -m /root/again draw 2>&1 | sed -n 2p) $(grep -c MaliGPUActiveCy= /root/again)" \
	"ok - draw 1"
