#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# long: debug
# daily: plain
# What is another on a G1 than on all other GPUs, with the driver: power and reset by PWR_CONTROL, when
# firmware hangs, when the GPU or the system is suspended, and when the driver goes; counters of cores
# without gaps, and firmware's newest interface.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

# Kernels whose trace tells when interrupts are on have two more.
[ "$CONFIG" = debug ] && rebind=38 || rebind=36
plan $((28 + 42 + 19 + 15 + rebind + 1 + 2))
# Time is instructions: caches are flushed in time, however busy the host is.
guest_script 27 hang -i -g g1
guest_script 41 job-faults -g g1
guest_script 18 suspend -g g1 -- runtime
guest_script_by_log 14 suspend -g g1 -- system
guest_script "$rebind" rebind -g g1
build_comparison
samples=3000
[ "$CONFIG" = plain ] || samples=500
count g1 g1 "gpu-load -j 0 -t 3600 -p 150 --duty 60 -g 3 -q 2 >/dev/null 2>&1" "-s $samples"
compare g1
