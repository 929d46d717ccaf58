#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# long: plain
# perf of the kernel's own source, with our JSON, on one GPU of each layout of counters: it lists all
# events and metrics with what they are, and its top-down of each phase of gpu-load adds up to 100, has
# the right part on top, and is what our check makes of the same counts.
set -u
. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/lib/perf.sh"

models="g610:g710 g715:g715 g720:g720 g725:g725"
# Linux 6.12 does not know the G1.
[ "$KERNEL" = 6.12 ] || models="$models g1:g1"

plan $(($(wc -w <<<"$models") * (4 + 6 * 5)))
for model in $models; do
	perf_phases "${model%:*}" "${model#*:}" compute fragment tiling memory idle
done
