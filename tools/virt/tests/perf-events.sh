#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What perf and the kernel know of counters is what their script makes of the tables.
set -u
. "$(dirname "$0")/lib/tap.sh"

TOP=$(cd "$VIRT_DIR/../.." && pwd)
EVENTS=$TOP/tools/perf/pmu-events
HEADER=$TOP/drivers/gpu/drm/panthor/panthor_perf_pmu_events.h

plan 1
is "the kernel's table of names is up to date (mali_events.py header writes it)" \
	"$("$EVENTS/mali_events.py" header 2>&1 | diff - "$HEADER" 2>&1)" ""
