#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: stock
# daily: all
# Cores that fuses have cut off, as a board's device tree tells panthor of Linux 7.3: registers and
# layout of samples have them still, where they are only junk. The selftests find each block of the
# cores that are left, and its counters; that firmware is given another one would be the guest's error.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

# fused MODEL FUSES CORES PROGRAMS: of the model's cores those that FUSES leave, which are CORES
fused()
{
	local model=$1 fuses=$2 cores=$3 programs=$4

	in_guest 0 "$model with fuses $fuses" -g "$model" -p "shader_fuses=$fuses" -- panthor-perf info
	is "$model with fuses $fuses: cores" "$(sed -n 's/^Blocks .*SHADER \([0-9]*\)$/\1/p' "$SCRATCH/out")" "$cores"
	selftests "$model with fuses $fuses" "$programs" -g "$model" -p "shader_fuses=$fuses"
}

# The highest position, by which there are fewer than SHADER_PRESENT says.
fused g610 0x10005 3 "perf_sample perf_pmu"
# Of architecture 14 samples have no holes, but for these.
fused g1 0x5500014 6 perf_sample
plan "$TAP_COUNT"
