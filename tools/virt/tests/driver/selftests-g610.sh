#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# quick: 7.3 stock
# daily: 7.2 6.12-rt 7.3-rt 7.3-16k
# The kernel's selftests of performance counters on a G610; or, of them, the
# programs that are named: selftests-g610.sh [PROGRAM...]
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

selftests g610 "${*:-perf_uapi perf_session perf_sample perf_states perf_debugfs perf_unplug}" -g g610
plan $TAP_COUNT
