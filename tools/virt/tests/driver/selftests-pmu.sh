#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# long: debug
# daily: 6.12 6.12-rt 7.3-rt 7.3-16k
# The kernel's selftest of the PMU through which perf counts what the GPU does.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

selftests g610 perf_pmu -g g610
selftests g715 perf_pmu -g g715 -p fw_blocks=1
plan $TAP_COUNT
