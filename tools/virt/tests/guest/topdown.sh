# SPDX-License-Identifier: MIT
# topdown.sh PHASE...: gpu-load in each of its phases, counted; leaves /root/shape, what the GPU is, and
# /root/phases, which enable of the counters each was.
. /root/tap.sh

# The clocks stay as they are: what they would have counted follows from the time then.
for gpu in /sys/class/devfreq/*.gpu; do
	cat $gpu/max_freq >$gpu/min_freq
done
highest()
{
	[ $(mali-bench -d core_hz) -eq $(mali-bench -d stacks_hz) ]
}
until_true 60 highest
is "the clocks of cores and top level are equal" "$(mali-bench -d core_hz)" "$(mali-bench -d stacks_hz)"

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
	for name in core_hz stacks_hz; do
		echo "$name=$(mali-bench -d $name)"
	done
	echo "counter_hz=$(value counter_hz "$(gpu-load -m -j 1)")"
} >/root/shape

for phase; do
	if panthor-perf stat -e CSHW.4 -o /dev/null -- gpu-load --phase $phase -j 24 >/root/out 2>&1; then
		ok "phase $phase"
	else
		not_ok "phase $phase" "$(cat /root/out)"
	fi
	echo "$phase $(mali-bench -d epoch)"
done >/root/said
sed -n '/^[a-z]* [0-9]*$/p' /root/said >/root/phases
sed '/^[a-z]* [0-9]*$/d' /root/said
mali-bench ledger_flush=1
