#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug
# daily: plain
# perf of the kernel's own source, with our JSON, on one GPU of each layout of counters (two of them on a
# kernel that checks): it lists all events and metrics with what they are, and its top-down of each phase
# of gpu-load adds up to 100, has the right part on top, and is what our check makes of the same counts.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/perf.sh"

models="g610:g710 g715:g715 g720:g720 g725:g725"
# Linux 6.12 does not know the G1.
[ "$KERNEL" = 6.12 ] || models="$models g1:g1"
[ "$CONFIG" = plain ] || models="g610:g710 g715:g715"

# perf's own tests of our JSON. That of Linux 6.12 takes all JSON of all CPUs, and does not like its own.
own=0
[ "$KERNEL" = 6.12 ] || [ "$CONFIG" != plain ] || own=2

plan $((own + $(wc -w <<<"$models") * (4 + 6 * 6 + 2)))
for model in $models; do
	perf_phases "${model%:*}" "${model#*:}" compute fragment tiling memory idle clockless
	is "${model%:*}: the clock of shader cores is not counted if it is not named" \
		"$(grep -c '"shader_cycles"' "$SCRATCH/clockless.json")" 0
	is "${model%:*}: and it is if it is" "$(grep -q '"shader_cycles"' "$SCRATCH/compute.json" && echo yes)" yes
done

if [ $own -gt 0 ]; then
	in_guest 1 "perf's own tests" -a perf -- sh -c 'perf test mali >/root/out 2>&1
		[ $(grep -c "mali_.*: Ok" /root/out) = 10 ] && echo "ok - of each layout" || { echo "not ok - of each layout"; cat /root/out; }'
fi
