# SPDX-License-Identifier: MIT
# VK_KHR_performance_query by PanVK with our patches, of which /root/mesa has the library. The host compares what queries
# have counted (/root/queries, /root/beside) with the ledger, by the traces of the same names.
. /root/tap.sh
. /root/shown.sh

tracing=/sys/kernel/tracing
name=$(basename "$GPU")
# The driver takes a library without a time for none.
touch -d '2025-01-01 00:00' /root/mesa/*
export LD_LIBRARY_PATH=/root/lib VK_DRIVER_FILES=/root/mesa/panfrost_icd.json HOME=/tmp
chmod 755 /root

# traced NAME COMMAND...: with a trace of sessions and their samples, /root/NAME.trace; how it ended, and what went wrong
traced()
{
	trace=$1
	shift
	: >$tracing/trace
	for event in baseline delivery; do
		echo 1 >$tracing/events/panthor/panthor_perf_$event/enable
	done
	echo 1 >$tracing/tracing_on
	"$@" >"/root/$trace" 2>/root/err
	echo "$? $(grep -A 1 '^not ok' "/root/$trace") $(grep -v 'panvk is not a conformant' /root/err)"
	echo 0 >$tracing/tracing_on
	sed -n 's/^.*panthor_perf_\([a-z]*\): session=\([0-9]*\) epoch=\([0-9]*\) insert=\([0-9]*\) .*/\1 \2 \3.\4/p' \
		$tracing/trace >"/root/$trace.trace"
}

no_library()
{
	LD_LIBRARY_PATH=/root/none "$@"
}

panthor-perf info -j >/root/info 2>/dev/null
panthor-perf list -x ';' >/root/list 2>/dev/null
is "queries, in all ways" "$(traced queries vk-perf)" "0  "
is "there are some of each scene" "$(awk '$1 == "query" { print $2 }' /root/queries | uniq | tr '\n' ' ')" \
	"one again several secondary wait devices lock fork "
gpu-load -j 0 -t 60 -k fragment -p 200 --duty 50 --started /root/started >/dev/null 2>&1 &
load=$!
until_true 60 test -e /root/started
is "with another process at work" "$(traced beside vk-perf one several)" "0  "
kill $load
wait $load 2>/dev/null
is "two processes with queries at a time" \
	"$(vk-perf several >/root/out 2>&1 & vk-perf several 2>&1 | grep '^ok\|^not ok'; wait; grep '^ok\|^not ok' /root/out)" \
	"ok - several
ok - several"
is "validation layers are silent" \
	"$(VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation vk-perf -v >/root/out 2>&1; echo $?; grep -c '^ok' /root/out; grep -iE 'validation|vuid' /root/out | head -n 5)" \
	"0
9"
is "they do say something" \
	"$(VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation vk-perf secondary-inside 2>&1 | grep -c 'VUID' | sed 's/^[1-9].*/yes/')" yes
is "queries that cannot be" "$(vk-perf secondary-inside unlocked 2>&1 | grep '^not ok\|^ok' | tr '\n' ';')" \
	"ok - secondary-inside;ok - unlocked;"
is "all other work is as before" "$(vk-work -n 3 2>&1 | grep -c '^ok') $(vk-work -n 3 2>&1 | grep -c '^not ok')" "10 0"

# ---- Where there are no counters ----

is "without the library there is no extension" "$(no_library vk-perf 2>&1 | tail -n 1)" "no VK_KHR_performance_query"
has "and it can be asked why" "$(PANVK_DEBUG=startup no_library vk-perf 2>&1 | grep counters)" \
	"no performance counters: libpanthor-perf.so.0"
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
as_user()
{
	su user -c "HOME=/tmp/user LD_LIBRARY_PATH=$LD_LIBRARY_PATH VK_DRIVER_FILES=$VK_DRIVER_FILES PANVK_DEBUG=$1 vk-perf" 2>&1
}
mkdir /root/bad
: >/root/bad/libpanthor-perf.so.0
has "a library that cannot be opened is an error" "$(LD_LIBRARY_PATH=/root/bad vk-perf 2>&1)" "^vk-perf: enumerate_counters.*: -3"
is "nor for who may not count" "$(as_user '' | tail -n 1)" "no VK_KHR_performance_query"
has "who can ask why" "$(as_user startup | grep counters)" "no performance counters: .*CAP_PERFMON"
mkfifo /root/held
is "while another program counts another set, the lock is refused" \
	"$(vk-perf -x '(hold-set 1 >/root/held 2>/dev/null &); read -r line </root/held' refused 2>&1 | grep '^ok\|^not ok')" "ok - refused"
kill "$(pidof hold-set)"
is "when it counts no more, a lock without a timeout is acquired" \
	"$(vk-perf -x '(hold-set 1 >/root/held & read -r line </root/held; (sleep 2; kill $!) &) >/dev/null 2>&1' patient 2>&1 |
		grep '^ok\|^not ok')" "ok - patient"

# ---- A GPU that goes, or hangs ----

is "a GPU that is unbound: the device is lost, and nobody waits" \
	"$(vk-perf -x "echo $name >/sys/bus/platform/drivers/panthor/unbind" until 2>&1 | awk '$1 == "result" && $3 != "runs" { printf "%s %s;", $3, $4 }')" \
	"fence -4;query -4;submit -4;idle -4;"
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 node >/dev/null
is "bound again, there are queries" "$(vk-perf one 2>&1 | grep -c '^query one')" \
	"$(awk '$1 == "query" && $2 == "one"' /root/queries | wc -l)"
is "a GPU that hangs: the device is lost" \
	"$(vk-perf -x 'mali-bench hang=1' until 2>&1 | awk '$1 == "result" && $3 == "submit" { printf "%s %s;", $3, $4 }')" \
	"submit -4;"
