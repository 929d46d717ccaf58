# SPDX-License-Identifier: MIT
# For scripts in the guest (source it): what the kernel tells of counters, in the form that
# `exactness` reads on the host.

tracing=/sys/kernel/tracing

# From the first of them on: a session that is started while the GPU is suspended goes on from the
# last firmware sample before.
trace_begin()
{
	local event

	echo 0 >$tracing/tracing_on
	echo 32768 >$tracing/buffer_size_kb
	echo mono_raw >$tracing/trace_clock
	: >$tracing/trace
	for event in fw_sample baseline delivery state lost request; do
		echo 1 >$tracing/events/panthor/panthor_perf_$event/enable
	done
	echo 1 >$tracing/tracing_on
}

# trace_to FILE: all of it so far, as perf-exact writes it
trace_to()
{
	sed -n 's/^.* \([0-9]*\)\.\([0-9]\{6\}\): *\(panthor_perf_.*\)/\1\2 \3/p' $tracing/trace >"$1"
}

# trace_end: no more, and a result
trace_end()
{
	echo 0 >$tracing/tracing_on
	is "the trace has no holes" "$(grep -c LOST $tracing/trace)" 0
}
