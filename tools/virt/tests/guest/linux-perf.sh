# SPDX-License-Identifier: MIT
# linux-perf.sh: Debian's own perf, which knows of our events what sysfs says, counts what the GPU has
# counted: it is suspended before and after.
. /root/tap.sh

# all TYPE COUNTER: what samples of all blocks of the type have carried since the start
all()
{
	n=0
	sum=0
	while [ "$(mali-bench -d type=$1 index=$n counter=$2 exists)" = 1 ]; do
		sum=$((sum + $(mali-bench -d type=$1 index=$n counter=$2 emitted)))
		n=$((n + 1))
	done
	echo $sum
}

# count EVENT: of perf stat -j in /root/out
count()
{
	sed -n "s|.*\"counter-value\" : \"\([0-9.]*\)\".*\"event\" : \"$1\".*|\1|p" /root/out
}

cat >/root/work <<'EOF'
. /root/tap.sh
gpu-load && until_true 60 pm_is suspended
EOF

# Only what is ours: the list is long.
has "perf lists the counter" "$(perf list 2>/root/err | grep panthor; cat /root/err)" 'panthor/gpu_active/ .*Kernel PMU event'
until_true 60 pm_is suspended
active=$(all cshw 4)
tiler=$(all tiler 4)
beats=$(all memsys 32)
succeeds "perf stat beside work" perf stat -a -j -o /root/out \
	-e panthor/gpu_active/,panthor/tiler_active/,panthor/l2_ext_read_beats/,panthor/external_read_bytes/ -- sh /root/work
active=$(($(all cshw 4) - active))
is "GPU active cycles" "$(count panthor/gpu_active/)" $active.000000
is "tiler active cycles" "$(count panthor/tiler_active/)" "$(($(all tiler 4) - tiler)).000000"
beats=$(($(all memsys 32) - beats))
is "beats read" "$(count panthor/l2_ext_read_beats/)" $beats.000000
# A beat of 16 bytes, by the scale in sysfs.
is "MiB read" "$(count panthor/external_read_bytes/)" "$(awk -v n=$beats 'BEGIN { printf "%.6f", n * 16 / 1048576 }')"
if [ $beats -gt 0 ] && [ $active -gt 0 ]; then
	ok "and there was something to count"
else
	not_ok "and there was something to count" "$(cat /root/out)"
fi
