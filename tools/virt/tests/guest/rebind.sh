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

# A selftest that skips ends well, too.
unbind()
{
	perf_pmu -t unbind >/root/out 2>&1 && grep -qx 'ok 1 pmu_gone.unbind' /root/out || { cat /root/out; return 1; }
}

# The PMU goes with the module.
succeeds "events of perf outlive the device" unbind
for round in 1 2; do
	succeeds "round $round: unload" modprobe -r panthor
	is "round $round: the module is gone" "$(ls -d /sys/module/panthor 2>/dev/null)" ""
	succeeds "round $round: load" modprobe panthor
	succeeds "round $round: work" gpu-load
	is "round $round: events of perf count it" \
		"$(pmu-stat -w -e 0x30b -- gpu-load -j 16 2>/dev/null | sed -n 's/^0x30b //p')" 16
done
