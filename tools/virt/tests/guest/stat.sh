# SPDX-License-Identifier: MIT
# stat.sh RUNS SEED: counts of events of perf beside gpu-load. What was counted goes to /root/runs.
. /root/tap.sh

runs=$1
seed=$2
pmu=$(echo /sys/bus/event_source/devices/panthor_*)
load="gpu-load -j 8"

panthor-perf info -j >/root/info
: >/root/runs

# counts NAME ARGUMENT...: of pmu-stat
counts()
{
	local name=$1

	shift
	if pmu-stat "$@" >/root/out 2>/root/err; then
		ok "$name"
	else
		not_ok "$name" "$(cat /root/err)"
	fi
	cat /root/out >>/root/runs
}

# Events that the kernel makes and the ledger can confirm, lost samples, and others to make forty.
made="-e 8 -e 9 -e 0xb"
for ms in 10 1 100; do
	echo $ms >$pmu/sample_interval_ms
	counts "40 events, a sample each $ms ms" -w $made -n 37 -s $((seed + ms)) -r $((runs / 3)) -- $load
done
# Whoever reads changes nothing.
echo 2 >$pmu/sample_interval_ms
counts "read every 5 ms" -w $made -n 37 -s $seed -i 5 -- $load
counts "a group of 9 is of one sample" -w $made -n 5 -s $seed -g -- $load
