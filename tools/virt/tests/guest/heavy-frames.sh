# SPDX-License-Identifier: MIT
# A frame with three times the work of others is the slowest, and what limits it is named.
. /root/tap.sh

# work PHASE JOBS: a frame
work()
{
	echo "gpu-load --phase $1 -j $2 >/dev/null"
}

# slowest FILE: its number and its largest part beside idle
slowest()
{
	panthor-perf report -j -e MaliGPUActiveCy "$1" | sed -n '/"slowest"/,$p' | grep -m 2 -o '"frame":[0-9]*\|"limited_by":"[a-z_]*"' | tr '\n' ' '
}

normal=$(work compute 16)
panthor-perf record -p 1ms -o compute -- frame-run "$normal" "$normal" "$(work compute 48)" "$normal" 2>err
is "frames are recorded" $? 0
is "the heavy frame is the slowest: it computes" "$(slowest compute)" '"frame":3 "limited_by":"td_core_arith" '
panthor-perf record -p 1ms -o memory -- frame-run "$normal" "$(work memory 48)" "$normal" "$normal" 2>err
is "frames with memory are recorded" $? 0
is "the heavy frame is the slowest: it writes" "$(slowest memory)" '"frame":2 "limited_by":"td_mem_write" '
active=$(panthor-perf report --csv -e MaliGPUActiveCy compute | awk -F, 'NR == 4 { print $NF }')
panthor-perf report --budget "MaliGPUActiveCy=$((active - 1))" compute >out 2>&1
is "it alone is over a budget of less" "$? $(grep -c '^  frame [0-9]* of frame-run' out) $(grep -c '^  frame 3 of' out)" "1 1 1"
panthor-perf report --budget "MaliGPUActiveCy=$active" compute >out 2>&1
is "and within one of as much" $? 0
