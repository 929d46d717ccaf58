# SPDX-License-Identifier: MIT
# What a reset of the GPU has to end, and what makes panthor give the GPU up.
. /root/tap.sh

device=$(basename "$(readlink -f "$GPU")")
driver=/sys/bus/platform/drivers/panthor

# reset NAME ARGUMENT...: of perf-reset
reset()
{
	local name=$1 out status

	shift
	out=$(perf-reset "$@" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		ok "$name: $out"
	else
		not_ok "$name" "perf-reset $*: status $status" "$out" "$(dmesg | tail -n 20)"
	fi
}

reset hang hang=1
for crash in 1 2 3; do
	reset "crash $crash" crash=$crash
done
reset as_stuck as_stuck=1 -- gpu-load
reset flush_stuck flush_stuck=1 -- gpu-load
succeeds "work after all of it" gpu-load

# The GPU that is given up comes back when it is bound again, but not if its L2 cannot be switched on.
reset reset_stuck -g reset_stuck=100 hang=1
echo "$device" >"$driver/unbind"
echo "$device" >"$driver/bind"
succeeds "work after reset_stuck" gpu-load
reset l2_stuck -g l2_stuck=100 hang=1
