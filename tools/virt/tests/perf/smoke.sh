#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# daily: all
# perf itself, of the kernel's own source: it lists our events and metrics, and its top-down of two phases
# of gpu-load adds up to 100. metrics.sh has all phases and GPUs, on both kernels.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/perf.sh"

plan $((4 + 2 * 6))
perf_phases g715 g715 compute idle
