# SPDX-License-Identifier: MIT
# The driver unbound and bound again, unloaded and loaded.
. /root/tap.sh

driver=/sys/bus/platform/drivers/panthor
name=$(basename "$GPU")

is "the GPU is bound to panthor" "$(basename "$(readlink "$GPU/driver")")" panthor
for round in 1 2 3; do
	succeeds "round $round: work" gpu-load -j 16
	# The GPU may be on or suspended by now: both must do.
	[ $round -ne 2 ] || until_true 20 pm_is suspended
	echo "$name" >$driver/unbind
	is "round $round: unbound" "$? $(readlink "$GPU/driver")" "0 "
	gpu-load >/root/out 2>&1
	is "round $round: there is no device to load" "$? $(cat /root/out)" \
		"1 gpu-load: no panthor device: is the driver loaded (modprobe panthor)?"
	echo "$name" >$driver/bind
	is "round $round: bound" "$? $(basename "$(readlink "$GPU/driver")")" "0 panthor"
done
succeeds "work after it" gpu-load

# Firmware that does not disable counters when the device goes may write to its ring until the MCU has stopped.
# The ring is freed with what else is in the MCU's address space then, after the work that pings firmware was
# cancelled, and not before. Other timers are cancelled as well: the stack tells which.
enabled()
{
	[ "$(mali-bench enabled)" -eq 1 ]
}

tracing=/sys/kernel/tracing
events="kmem/kfree timer/timer_cancel"
mount -t tracefs none $tracing 2>/dev/null
# On a busy machine the driver may give firmware up before it is unbound, or firmware see its request: then again.
for round in 1 2 3 4 5; do
	echo on >"$GPU/power/control"
	panthor-perf stat -o /dev/null -- sleep 1000 >/dev/null 2>&1 &
	until_true 60 enabled
	echo $$ >$tracing/set_event_pid
	for event in $events; do
		echo 1 >$tracing/events/$event/enable
	done
	echo 1 >$tracing/options/stacktrace
	mali-bench ack_delay=1000000000
	echo "$name" >$driver/unbind
	for event in $events; do
		echo 0 >$tracing/events/$event/enable
	done
	echo >$tracing/set_event_pid
	kill $!
	requested=$(($(mali-bench req) >> 5 & 1))
	mali-bench ack_delay=0
	order=$(awk '
		/: kfree: / { what = "free" }
		/: timer_cancel: / { what = "timer" }
		what == "timer" && / => __cancel_work/ { what = "work" }
		what == "work" && / => panthor_fw_unplug/ { stopped = 1 }
		what == "free" && / => panthor_kernel_bo_destroy/ { freed++; if (!stopped) early = 1 }
		END { print (freed > 1), early + 0 }' $tracing/trace)
	echo 0 >$tracing/options/stacktrace
	echo >$tracing/trace
	echo "$name" >$driver/bind
	[ $requested -eq 0 ] || break
done
is "firmware has not seen that counters are to be disabled" $requested 1
is "the ring is freed when the MCU has stopped" "$order" "1 0"
echo auto >"$GPU/power/control"

# The closer to one another the probe reads the two clocks, the better it knows how far they are apart: nothing
# interrupts it. It tries again if that took long. Kernels that tell of that are those for debugging.
irqs=$tracing/events/preemptirq/irq_enable
if [ -d $irqs ]; then
	echo "$name" >$driver/unbind
	echo $$ >$tracing/set_event_pid
	echo 1 >$irqs/enable
	echo "$name" >$driver/bind
	echo 0 >$irqs/enable
	echo >$tracing/set_event_pid
	# One function may be part of the other.
	is "interrupts are off while clocks are read" \
		"$(grep -q 'caller=\(panthor_perf_clock_sync\|panthor_perf_clock_init\)+' $tracing/trace && echo yes)" yes
	echo >$tracing/trace

	# START reads the clock and GPU_CYCLE_COUNT together, in the process of its caller.
	echo on >"$GPU/power/control"
	echo 1 >$tracing/options/event-fork
	echo $$ >$tracing/set_event_pid
	echo 1 >$irqs/enable
	panthor-perf stat -o /dev/null -- true >/dev/null 2>&1
	echo 0 >$irqs/enable
	echo >$tracing/set_event_pid
	echo 0 >$tracing/options/event-fork
	echo auto >"$GPU/power/control"
	is "and while they are read together with cycles" \
		"$(grep -q 'caller=panthor_perf_clock_\(pair\|now\|up\)+' $tracing/trace && echo yes)" yes
	echo >$tracing/trace
fi

# What follows the rates of clocks comes and goes with the device.
modprobe -q governor_userspace
echo "$name" >$driver/unbind
echo "$name" >$driver/bind
rates()
{
	perf_time -t across_rates >/root/out 2>&1 && grep -qx 'ok 1 cycles.across_rates' /root/out || { cat /root/out; return 1; }
}
succeeds "rates are followed after that" rates

# A selftest that skips ends well, too.
unbind()
{
	perf_pmu -t unbind >/root/out 2>&1 && grep -qx 'ok 1 pmu_gone.unbind' /root/out || { cat /root/out; return 1; }
}

# The PMU goes with the module.
succeeds "events of perf while the device goes" unbind
for round in 1 2; do
	succeeds "round $round: unload" modprobe -r panthor
	is "round $round: the module is gone" "$(ls -d /sys/module/panthor 2>/dev/null)" ""
	succeeds "round $round: load" modprobe panthor
	succeeds "round $round: work" gpu-load
	is "round $round: events of perf count it" \
		"$(pmu-stat -w -e 0x30b -- gpu-load -j 16 2>/dev/null | sed -n 's/^0x30b //p')" 16
done

# perf has a timer for each CPU that lets groups of a PMU's events take turns. Writing perf_event_mux_interval_ms arms
# them. perf frees them with the PMU: none may be armed when the module is gone.
timers="timer/hrtimer_start timer/hrtimer_cancel timer/hrtimer_expire_entry"

# interval_file: for how many milliseconds the timers are armed
interval_file()
{
	echo /sys/bus/event_source/devices/panthor_*/perf_event_mux_interval_ms
}

# trace_timers 0|1
trace_timers()
{
	for event in $timers; do
		echo $1 >$tracing/events/$event/enable
	done
}

# armed_timers: how many were armed, and how many of them still are
armed_timers()
{
	awk '
		match($0, /hrtimer=[0-9a-fx]+/) { timer = substr($0, RSTART, RLENGTH) }
		/: hrtimer_(cancel|expire_entry): / { delete armed[timer] }
		/: hrtimer_start: .* function=perf_mux_hrtimer_handler / { armed[timer] = 1; started[timer] = 1 }
		END { for (timer in started) all++; for (timer in armed) left++; print all + 0, left + 0 }' $tracing/trace
}

# Once, on a busy machine, the trace had none that was armed, and nobody knows why: then again.
for round in 1 2 3; do
	echo >$tracing/trace
	trace_timers 1
	echo 60000 >"$(interval_file)"
	interval=$(cat "$(interval_file)")
	modprobe -r panthor
	trace_timers 0
	armed=$(armed_timers)
	modprobe panthor
	[ "${armed% *}" -ne "$(nproc)" ] || break
	echo "# $armed, interval $interval: $(grep -c hrtimer= $tracing/trace) events of timers, $(grep entries-in-buffer $tracing/trace)"
done
is "perf's timers of the PMU are cancelled, one for each CPU" "$armed" "$(nproc) 0"

# perf_pmu_unregister() removes the file after it has waited for readers. Write it meanwhile. A probe says when that
# begins; only Debian's kernels have probes.
if [ -e $tracing/kprobe_events ]; then
	echo p:going perf_pmu_unregister >$tracing/kprobe_events
	echo >$tracing/trace
	trace_timers 1
	echo 1 >$tracing/events/kprobes/going/enable
	file=$(interval_file)
	(
		grep -q -m 1 'going:' $tracing/trace_pipe
		echo 60000 >"$file"
	) 2>/dev/null &
	modprobe -r panthor
	wait $!
	trace_timers 0
	is "and not armed again while the PMU goes" "$(armed_timers)" "0 0"
	echo 0 >$tracing/events/kprobes/going/enable
	echo >$tracing/kprobe_events
	modprobe panthor
fi

# What a module parameter takes, on both sides of each of its bounds, and what it says of the rest.
parameters=/sys/module/panthor/parameters

# load PARAMETER=VALUE TEXT: whether the module is loaded, and if the kernel says that, once. What is refused,
# modprobe tries in another way as well.
load()
{
	modprobe -r panthor
	lines=$(dmesg | wc -l)
	modprobe panthor ${1:+"$1"} 2>/dev/null && status=loaded || status=refused
	case $status,$(dmesg | tail -n +$((lines + 1)) | grep -cF "$2") in
	*,0) echo "$status" ;;
	*,1|refused,2) echo "$status, told" ;;
	*) echo "$status, told too often" ;;
	esac
}

for value in N:N 0:N Y:Y 1:Y; do
	got=$(load "perf_paranoid=${value%:*}" perf_paranoid)
	is "perf_paranoid=${value%:*}" "$got, $(cat $parameters/perf_paranoid)" "loaded, ${value#*:}"
done
is "perf_paranoid=2 is neither yes nor no" \
	"$(load perf_paranoid=2 "\`2' invalid for parameter \`perf_paranoid'")" "refused, told"
is "perf_paranoid is Y otherwise" "$(load "" perf_), $(cat $parameters/perf_paranoid)" \
	"loaded, Y"
is "perf_paranoid is read and written" "$(echo N >$parameters/perf_paranoid; { echo 2 >$parameters/perf_paranoid; } 2>&1 |
	grep -c 'Invalid argument') $(cat $parameters/perf_paranoid)" "1 N"
