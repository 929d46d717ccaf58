#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# daily: debug
# The kernel's selftests of performance counters that have little to do with the GPU's model: of a GPU
# that cannot be resumed, of hostile clients and, on a kernel that also injects faults, of memory that runs out.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

programs="perf_hostile perf_resume"
[[ $CONFIG != @(debug|gcov) ]] || programs="perf_fail_nth $programs"
allow_known
selftests "g610, failures" "$programs" -g g610
plan $TAP_COUNT
