# SPDX-License-Identifier: MIT
# perf-stat-work.sh RUNS: what events of perf have of a command's own work, the GPU waited for, and not.
. /root/tap.sh

runs=$1
pmu=$(echo /sys/bus/event_source/devices/panthor_*)
load="gpu-load -j 16"
# Amounts of work, which are whole: jobs, those of each iterator, triangles, reads and hits of the tiler.
# They are the same for each run, whatever it takes.
amounts="-e 0x30b -e 0x311 -e 0x319 -e 0x321 -e 0x406 -e 0x411 -e 0x41a"

# counts [-w]: lines of an event and its count; or why there are none
counts()
{
	pmu-stat "$@" $amounts -- $load >/root/out 2>/root/err || cat /root/err
	sed 1d /root/out
}

# Long enough that a sample seldom comes by itself while the command ends.
echo 100 >$pmu/sample_interval_ms
want=$(counts -w)
is "the GPU waited for: something of each" "$(echo "$want" | awk '$2 > 0' | wc -l)" 7
is "its jobs" "$(echo "$want" | sed -n 's/^0x30b //p')" 16
for run in $(seq $runs); do
	is "run $run: not waited for, all of the command's work" "$(counts)" "$want"
done
