#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# daily: debug
# The kernel's selftests of performance counters on a G715, one with a block that has no counters in
# some sets; or, of them, the programs that are named: selftests-g715.sh [PROGRAM...]
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

selftests g715 "${*:-perf_uapi perf_session perf_sample perf_states perf_debugfs perf_unplug}" -g g715 -p fw_blocks=1
plan $TAP_COUNT
