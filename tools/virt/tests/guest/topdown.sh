# SPDX-License-Identifier: MIT
# topdown.sh HZ JOBS PHASE...: so many jobs of gpu-load in each of its phases (mix: its kinds at once, in
# several groups), counted, at a clock; leaves /root/shape, what the GPU is, and /root/phases, which enable
# of the counters each was.
. /root/tap.sh

hz=$1
jobs=$2
shift 2

# The clock stays as it is: what it would have counted follows from the time then.
for gpu in /sys/class/devfreq/*.gpu; do
	echo $hz >$gpu/min_freq
	echo $hz >$gpu/max_freq
done
at_rate()
{
	[ $(mali-bench -d core_hz) = $hz ]
}
until_true 60 at_rate
is "the GPU's clock" "$(mali-bench -d core_hz)" $hz

info=$(gpu-load -i -m)
blocks()
{
	n=0
	while [ "$(mali-bench -d type=$1 index=$n counter=4 exists)" = 1 ]; do
		n=$((n + 1))
	done
	echo $n
}
{
	for name in arch shader_present l2_slices; do
		echo "$name=$(value $name "$info")"
	done
	echo "fw_blocks=$(blocks fw)"
	echo "csg_blocks=$(blocks csg)"
	for name in core stacks; do
		echo "${name}_hz=$(mali-bench -d ${name}_real_hz)"
	done
	echo "counter_hz=$(value counter_hz "$(gpu-load -m -j 1)")"
} >/root/shape

for phase; do
	how="--phase $phase"
	[ $phase != mix ] || how="-s 512"
	if panthor-perf stat -e CSHW.4 -o /dev/null -- gpu-load $how -j $jobs >/root/out 2>&1; then
		ok "phase $phase"
	else
		not_ok "phase $phase" "$(cat /root/out)"
	fi
	echo "$phase $(mali-bench -d epoch)"
done >/root/said
sed -n '/^[a-z]* [0-9]*$/p' /root/said >/root/phases
sed '/^[a-z]* [0-9]*$/d' /root/said
mali-bench ledger_flush=1
