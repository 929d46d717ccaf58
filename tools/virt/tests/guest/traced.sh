# SPDX-License-Identifier: MIT
# For scripts in the guest (source it behind tap.sh): Perfetto's service, our source, and traces, which have the
# configuration /root/CONFIG.cfg and go to /root/trace.NAME.

export PERFETTO_PRODUCER_SOCK_NAME=/root/producer PERFETTO_CONSUMER_SOCK_NAME=/root/consumer

start_traced()
{
	rm -f /root/producer /root/consumer
	traced >>/root/traced.log 2>&1 &
	traced=$!
	until_true 60 test -S /root/consumer
}

start_source()
{
	/root/panthor-perf-perfetto >>/root/source.log 2>&1 &
	source=$!
}

is_known()
{
	perfetto --query 2>/dev/null | grep -q gpu.counters.panthor
}

# A source opens the GPU a while before it counts.
counting()
{
	grep -q '^state: counting' /sys/kernel/debug/dri/*/perf
}

# What has counted for a trace may still do so when that has ended.
nobody_counts()
{
	grep -q '^sessions: 0$' /sys/kernel/debug/dri/*/perf
}

# trace NAME CONFIG: begins one; its process is in $trace
trace()
{
	perfetto -c "/root/$2.cfg" -o "/root/trace.$1" >>/root/perfetto.log 2>&1 &
	trace=$!
}

# finish PROCESS: ends a trace, and says how that went
finish()
{
	kill -INT "$1"
	wait "$1"
}
