# SPDX-License-Identifier: MIT
# metrics.sh PHASE...: leaves what perf lists in /root/list.json, and what it makes of two seconds of
# each phase of gpu-load, and of a rest, in /root/PHASE.json. The phase clockless is compute, where sysfs
# does not name the clock of shader cores, as on a device that has none; it stays so.
. /root/tap.sh

clockless()
{
	cp -r "$1" /root/events && rm /root/events/shader_cycles* && mount -o bind /root/events "$1"
}

if perf list -j >/root/list.json 2>/root/err; then
	ok "perf list"
else
	not_ok "perf list" "$(cat /root/err)"
fi
for phase; do
	how=$phase
	if [ $phase = clockless ]; then
		how=compute
		clockless /sys/bus/event_source/devices/panthor_*/events 2>/root/err || not_ok "no clock" "$(cat /root/err)"
	fi
	if perf stat -M mali_topdown_l1,mali_topdown_l2 -a -j -I 1000 -o /root/$phase.json -- \
		gpu-load --phase $how -t 2.5 >/root/out 2>&1; then
		ok "phase $phase"
	else
		not_ok "phase $phase" "$(cat /root/out)"
	fi
done
