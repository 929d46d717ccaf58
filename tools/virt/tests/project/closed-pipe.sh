#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# Python tools whose output is cut off, as by head, end without a traceback.
set -u
. "$(dirname "$0")/../lib/tap.sh"

TOP=$(cd "$VIRT_DIR/../.." && pwd)
cd "$TOP" || exit 1
tool_builds fake/libpanthor-perf.so.0

# A pipe that nobody reads.
mkfifo "$SCRATCH/pipe" "$SCRATCH/ticks"
exec 7<>"$SCRATCH/pipe" 8>"$SCRATCH/pipe" 7<&-
exec 6<>"$SCRATCH/ticks"
printf ssssssssss >&6
export FAKE_TICKS=$SCRATCH/ticks LD_LIBRARY_PATH=$SCRATCH/fake PYTHONPATH=$TOP/tools/panthor-perf/python

# TOOL STATUS ARGUMENT...: 141 is that of a program that SIGPIPE has ended
tools="tools/panthor-perf/examples/load.py 141
tools/panthor-perf/tests/notebook.py 141 -h
tools/panthor-perf/tests/python_report.py 141 -h
tools/panthor-perf/tests/sql_answers.py 141 -h
tools/panthor-perf/tests/sql_report.py 141 -h
tools/panthor-perf/tests/topdown_check.py 141 -h
tools/panthor-perf/tests/topdown_ledger.py 141 -h
tools/perf/pmu-events/mali_check.py 141 -h
tools/perf/pmu-events/mali_events.py 141 header
tools/virt/build/series-step.py 141 -h
tools/virt/check 141 -l
tools/virt/check 141 -h
tools/virt/run 141 -h
tools/virt/tests/lib/ktap.py 141 0"
while read -r tool want arguments; do
	# shellcheck disable=SC2086
	timeout 60 "./$tool" $arguments >&8 2>"$SCRATCH/err" </dev/null
	is "$tool $arguments" "$? $(cat "$SCRATCH/err")" "$want "
done <<<"$tools"
is "no tool is missing here" "$(grep -rlE '^#!.*python' clients debian packaging patches tools | sort)" \
	"$(cut -d' ' -f1 <<<"$tools" | sort -u)"
plan "$TAP_COUNT"
