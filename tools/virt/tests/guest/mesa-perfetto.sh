# SPDX-License-Identifier: MIT
# Counters in Perfetto's traces by Mesa's /root/pps-producer, which finds libpanthor-perf in /root/lib: /root/all.cfg asks for
# all counters. The host compares /root/trace.all with the ledger between the samples in /root/deliveries.
. /root/tap.sh
. /root/traced.sh

tracing=/sys/kernel/tracing
name=$(basename "$GPU")
export LD_LIBRARY_PATH=/root/lib HOME=/tmp

start_producer()
{
	/root/pps-producer >>/root/producer.log 2>&1 &
	producer=$!
	until_true 60 is_known
}

# sessions PID: of counters, of all that it has open
sessions()
{
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '/^drm-client-id:/ { id = $2 }
		/^panthor-perf-sessions:/ && !seen[id]++ { n += $2 } END { print n + 0 }'
}

# wakeups PID: of all its threads
wakeups()
{
	cat /proc/"$1"/task/*/status | awk '/^voluntary_ctxt_switches:/ { n += $2 } END { print n }'
}

# sampled NUMBER: so many samples were delivered
sampled()
{
	[ "$(grep -c panthor_perf_delivery: $tracing/trace)" -ge "$1" ]
}

# said TEXT: by the producer
said()
{
	grep -q "$1" /root/producer.log
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

# counters TRACE: more than a trace without has
has_counters()
{
	[ "$(wc -c <"/root/trace.$1")" -gt $(($(wc -c </root/trace.refused) + 2000)) ]
}

panthor-perf info -j >/root/info
panthor-perf list -x ';' >/root/list
panthor-perf list -j >/root/titles
start_traced
if start_producer; then
	ok "traced knows the producer"
else
	not_ok "traced knows the producer" "$(perfetto --query 2>&1)" "$(cat /root/producer.log)"
fi
is "the kernel does not count for it before there is a trace" "$(sessions $producer)" 0
before=$(wakeups $producer)
sleep 2
is "and it sleeps" "$(($(wakeups $producer) - before))" 0

echo 1 >$tracing/events/panthor/panthor_perf_delivery/enable
echo 1 >$tracing/tracing_on
trace all all
all=$trace
until_true 120 sampled 3
is "one session in a trace" "$(sessions $producer)" 1
succeeds "work in a trace" gpu-load -j 32
before="$(wakeups $producer) $(grep -c panthor_perf_delivery: $tracing/trace)"
threads=$(ls /proc/$producer/task | wc -l)
sleep 4
echo "$before $(wakeups $producer) $(grep -c panthor_perf_delivery: $tracing/trace) $threads" >/root/cost

# A second trace at the same time is refused.
trace refused all
refused=$trace
until_true 120 said 'is already active' || not_ok "a second trace is refused" "$(tail -n 5 /root/producer.log)"
finish $refused
is "a second trace at a time ends as others do" $? 0
is "and has no session" "$(sessions $producer)" 1
finish $all
is "the trace ends" $? 0
echo 0 >$tracing/tracing_on
until_true 60 nobody_counts
is "then the kernel does not count" "$(sessions $producer)" 0
sed -n 's/^.*panthor_perf_delivery: session=\([0-9]*\) epoch=\([0-9]*\) insert=\([0-9]*\) .*/\1 \2 \3/p' \
	$tracing/trace >/root/deliveries
echo >$tracing/trace
echo 1 >$tracing/tracing_on

# ---- A GPU that goes ----

trace unbound all
until_true 120 sampled 2
echo "$name" >/sys/bus/platform/drivers/panthor/unbind
until_true 120 said 'Skipping sample' || not_ok "the producer misses the GPU" "$(tail -n 5 /root/producer.log)"
finish $trace
is "an unbound GPU: the trace ends" $? 0
ended $producer && not_ok "and the producer lives" "$(tail -n 5 /root/producer.log)" || ok "and the producer lives"
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 test -e /dev/dri/renderD128
echo >$tracing/trace
trace bound all
until_true 120 sampled 3
finish $trace
succeeds "an unbound GPU: bound again, the next trace has counters" has_counters bound

# ---- Who may not count ----

kill $producer
wait $producer 2>/dev/null
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 755 /root
chmod 666 /dev/dri/renderD* /root/producer
: >/root/producer.log
su user -c "LD_LIBRARY_PATH=/root/lib PERFETTO_PRODUCER_SOCK_NAME=/root/producer exec /root/pps-producer" \
	>/root/producer.log 2>&1 &
producer=$!
until_true 60 is_known
trace none all
until_true 60 ended $producer && ok "who may not count: the producer ends with the first trace" ||
	not_ok "who may not count: the producer ends with the first trace" "$(cat /root/producer.log)"
has "and says why" "$(cat /root/producer.log)" "CAP_PERFMON"
finish $trace
is "and the trace ends" $? 0
kill $traced
