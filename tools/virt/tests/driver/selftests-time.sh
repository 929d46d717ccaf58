#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: stock debug
# The kernel's selftest of performance counters and time, also where a tick is no whole number of
# nanoseconds, as it is not on boards.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

selftests g610 perf_time -g g610
# Half a millisecond that no register tells of, and a timestamp that stands still without COUNTER_EN.
selftests "g610 with a timestamp of its own" perf_session -g g610 -p timestamp_ahead=31250 -p timestamp_gated=on
if [ "$CONFIG" != debug ] || [ -n "${LONG:-}" ]; then
	selftests g715 perf_time -g g715 -p fw_blocks=1
	selftests "g610 at 24 MHz" perf_time -g g610 -p cntfrq=24000000
fi
plan $TAP_COUNT
