#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# panthor-perf info --debug has what its reader needs: the kernel, the GPU, its firmware, what the kernel
# says of its counters and cycles, and a sample in which something was counted.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 13
# The GPU is busy: else there is nothing in a sample. Time is instructions, so that there is work in
# the tenth of a second of the sample, however busy the host is.
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -g g715 -- sh -c '
	gpu-load -j 100000 --started /root/started >/dev/null 2>&1 &
	until [ -e /root/started ]; do usleep 10000; done
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
	panthor-perf info --debug
	status=$?
	kill $!
	echo "release: $(uname -r)"
	panthor-perf info -j | tr -d "\n"
	exit $status' >"$SCRATCH/out" 2>"$SCRATCH/err"
is "it ends well" $? 0
[ ! -s "$SCRATCH/err" ] || sed 's/^/# /' "$SCRATCH/err"

# field KEY N: the N-th word of that line
field()
{
	awk -v key="$1:" -v n="$2" '$1 == key { print $(n + 1); exit }' "$SCRATCH/out"
}

is "the kernel" "$(field kernel 2)" "$(field release 1)"
is "GPU_ID" "$((0x$(field gpu 1)))" "$(sed -n 's/.*"gpu_id": *\([0-9]*\).*/\1/p' "$SCRATCH/out")"
is "values of a block" "$((0x$(field perf 1)))" "$(sed -n 's/.*"values_per_block": *\([0-9]*\).*/\1/p' "$SCRATCH/out")"
is "shader cores" "$((0x$(field perf 11)))" "$(sed -n 's/.*"SHADER": *\([0-9]*\).*/\1/p' "$SCRATCH/out")"
is "no words that the kernel does not have" "$(awk '$1 == "perf:" { print NF - 1 }' "$SCRATCH/out")" 16
# 6.12: "CSF FW v2.2.0", 7.3: "CSF FW using interface v2.2.0".
is "the firmware's version, once" "$(grep -cE '^log: .*CSF FW (using interface )?v2\.2\.0' "$SCRATCH/out")" 1
is "the GPU's name and id, once" "$(grep -cE '^log: .*[Mm]ali-[^ ]+ id 0x' "$SCRATCH/out")" 1
is "one sample" "$(grep -c '^sample: ' "$SCRATCH/out")" 1
blocks=0
for n in 6 7 8 9 10 11; do
	blocks=$((blocks + 0x$(field perf $n)))
done
is "with all blocks" "$(grep -c '^block: ' "$SCRATCH/out")" $blocks
is "in which each shader core has counted" "$(grep -cE '^block: SHADER [0-9]+ states 0x[0-9a-f]+ clock [0-9]: .* 4=0x' "$SCRATCH/out")" \
	"$((0x$(field perf 11)))"
is "where cycles come from" "$(grep '^cycles: ' "$SCRATCH/out")" "cycles: counted by the GPU"
is "and nothing that is not the driver's" "$(grep '^log: ' "$SCRATCH/out" | grep -vc panthor)" 0
