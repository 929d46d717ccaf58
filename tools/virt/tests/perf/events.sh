#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What perf and the kernel know of counters is what their script makes of the tables, and says what the
# tables say: every counter, every equation, by values. And what the check of that must not accept.
set -u
. "$(dirname "$0")/../lib/tap.sh"

TOP=$(cd "$VIRT_DIR/../.." && pwd)
EVENTS=$TOP/tools/perf/pmu-events
JSON=$EVENTS/arch/arm64/mali
HEADER=$TOP/drivers/gpu/drm/panthor/panthor_perf_pmu_events.h

# refused NAME FILE SED-SCRIPT PATTERN: the check says so of a file that is changed
refused()
{
	rm -rf "$SCRATCH/changed"
	cp -r "$JSON" "$SCRATCH/changed"
	sed -i "$3" "$SCRATCH/changed/$2"
	if cmp -s "$JSON/$2" "$SCRATCH/changed/$2"; then
		not_ok "$1" "the change changes nothing"
	elif "$EVENTS/mali_check.py" -n 20 "$SCRATCH/changed" >"$SCRATCH/said" 2>&1 && grep -q "^# .*$4" "$SCRATCH/said"; then
		ok "$1"
	else
		not_ok "$1" "$(cut -c 1-300 "$SCRATCH/said")"
	fi
}

# json_events LAYOUT: "NUMBER NAME" of all events in perf's JSON
json_events()
{
	awk -F '"' '/"EventName"/ { name = $4 } /"EventCode"/ { print $4, name }' "$JSON/$1"/sys/*.json | sort
}

# The same of the files for Streamline, which have to be XML.
streamline_events()
{
	python3 -c 'import sys, xml.dom.minidom
for path in sys.argv[1:]: xml.dom.minidom.parse(path)' "$SCRATCH/pmus-mali-$1.xml" "$SCRATCH/events-mali-$1.xml" &&
		sed -n 's/.*<event event="\([^"]*\)".* description="\([^"]*\)".*/\1 \L\2/p' "$SCRATCH/events-mali-$1.xml" | sort
}

plan 25
is "the kernel's table of names is up to date (mali_events.py header writes it)" \
	"$("$EVENTS/mali_events.py" header 2>&1 | diff - "$HEADER" 2>&1)" ""
mkdir "$SCRATCH/json"
is "perf's JSON is up to date (mali_events.py json writes it)" \
	"$("$EVENTS/mali_events.py" json "$SCRATCH/json" 2>&1; diff -r "$SCRATCH/json" "$JSON" 2>&1 | cut -c 1-300)" ""
run_tests 5 "the JSON says what the tables say" "$EVENTS/mali_check.py"
refused "another number of an event is found" g710/sys/tiler.json 's/"0x404"/"0x405"/' "tiler_active is event 1029, not 1028"
refused "a counter that is missing is found" g1/sys/shader-core.json 's/"EventName": "rt_miss"/"EventName": "rt_mist"/' \
	"rt_miss is event None"
refused "an event that is not there is found" g715/sys/metrics.json 's/l2_ext_read,/l2_ext_red,/' "no event l2_ext_red"
refused "another value is found" g720/sys/metrics.json 's/100 \* tiler_active, gpu_active/99 * tiler_active, gpu_active/' \
	"MaliTilerUtil is "
refused "a metric of the G715 that is 0 if GPU_ACTIVE is, is found" g715/sys/metrics.json \
	's/"d_ratio(gpu_cycles_times_cores, /"d_ratio(d_ratio(gpu_active, gpu_active) * gpu_cycles_times_cores, /' \
	"MaliConfigCoreCount is "
refused "a part that is not the table's is found" g725/sys/top-down.json \
	'/"MetricExpr"/s/4 \* exec_core_active/5 * exec_core_active/' "mali_td_[a-z_]* is "
refused "a division that gives none is found" g710/sys/metrics.json 's/d_ratio(1000 \* gpu_cycles, gpu_active_time)/1000 * gpu_cycles \/ gpu_active_time/' \
	"a division by gpu_active_time"
refused "a level without a metric that has all its events is found" g710/sys/top-down.json \
	'/mali_td_idle/,/MetricExpr/s/100 - /100 - 0 * prim_visible - /' "no metric of mali_topdown_l1 has all"
refused "an equation that is neither said nor left out is found" left-out.txt '/MaliGPUTileSize/d' \
	"MaliGPUTileSize is no metric and not in left-out"

tool=$SCRATCH/live-test
make -s -C "$TOP/tools/panthor-perf" O="$SCRATCH" "$tool" >"$SCRATCH/said" 2>&1 || sed 's/^/# /' "$SCRATCH/said"
for product in G610 G715 G720 G725 G1-Pro; do
	said=$("$tool" streamline -g $product -o "$SCRATCH" 2>&1)
	layout=$(sed -n "s|.*-mali-\(.*\)\.xml'\$|\1|p" <<<"$said")
	is "$product: Streamline's events are perf's" "$(streamline_events "$layout" 2>&1)" "$(json_events "$layout")"
done
is "and how gatord is called is said" "$said" \
	"echo 1 | tee /sys/bus/event_source/devices/panthor_*/sample_interval_ms >/dev/null
gatord -S yes -P '$SCRATCH/pmus-mali-g1.xml' -E '$SCRATCH/events-mali-g1.xml'"
"$tool" streamline -g G610 -o "$SCRATCH/nowhere" >"$SCRATCH/said" 2>&1
is "where nothing can be written, it says so" "$? $(cat "$SCRATCH/said")" \
	"8 panthor-perf: $SCRATCH/nowhere/events-mali-g710.xml: No such file or directory"
