# SPDX-License-Identifier: MIT
# What Perfetto's own engine is to judge: a recording and what convert makes of it, a trace of record's, and one of
# traced in which the scheduler, fences of JOBS jobs and our counters are (/root/system.cfg).
. /root/tap.sh
. /root/traced.sh

jobs=$1
cd /root || exit

panthor-perf info -j >info
panthor-perf list -x ';' >list
cut -d';' -f1-3 list >places

succeeds "a recording" panthor-perf record -a -p 1ms -o rec -- gpu-load -j 32
panthor-perf convert --csv rec >rec.csv
is "convert --csv" $? 0
panthor-perf convert --perfetto -o rec.trace rec
is "convert --perfetto" $? 0

first=$(($(mali-bench epoch) + 1))
succeeds "record --perfetto" panthor-perf record -a --perfetto -p 1ms -o direct.trace -- gpu-load -j 32
echo "$first" "$(mali-bench epoch)" >direct.epochs

start_traced
traced_probes >/root/probes.log 2>&1 &
probes=$!
start_source
until_true 60 is_known
knows_ftrace()
{
	perfetto --query 2>/dev/null | grep -q linux.ftrace
}
until_true 60 knows_ftrace

first=$(($(mali-bench epoch) + 1))
trace system system
until_true 60 counting
tracing()
{
	[ "$(cat /sys/kernel/tracing/events/dma_fence/dma_fence_signaled/enable)" = 1 ]
}
until_true 60 tracing
errors=0
for job in $(seq "$jobs"); do
	gpu-load -k fragment -j 1 -g 1 -q 1 --depth 1 >>load 2>&1 || errors=$((errors + 1))
	# So that most periods have one job or none.
	usleep 100000
done
is "jobs one by one, in a trace of the system" "$errors" 0
finish $trace
is "which ends well" $? 0
echo "$first" "$(mali-bench epoch)" >system.epochs
kill $source $probes $traced
