# SPDX-License-Identifier: MIT
# Each allocation fails once that a probe makes for counters: the GPU works without them, or without a PMU.
. /root/tap.sh

driver=/sys/bus/platform/drivers/panthor
name=$(basename "$GPU")
debug=/sys/kernel/debug
mount -t debugfs none $debug 2>/dev/null
for what in failslab fail_page_alloc; do
	echo N >$debug/$what/ignore-gfp-wait
done
echo N >$debug/fail_page_alloc/ignore-gfp-highmem

# range FUNCTION: where it is in the driver, in /root/range
range()
{
	grep '\[panthor\]' /proc/kallsyms | sort | awk -v name="$1" '
		start && $1 != start { print start, $1; exit }
		$3 == name { start = $1 }' >/root/range
}

# only_in FUNCTION: of the driver's, and of what it calls. It has moved if the module was loaded anew.
only_in()
{
	range "$1"
	read -r start end </root/range || return
	for what in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$debug/$what/verbose
		echo 0x$start >$debug/$what/require-start
		echo 0x$end >$debug/$what/require-end
		echo 32 >$debug/$what/stacktrace-depth
	done
}

# probe NUMBER: in which that allocation fails. Fails if there were fewer.
probe()
{
	echo "$name" >$driver/unbind
	dmesg -c >/dev/null
	left=$(sh -c "echo $1 >/proc/self/fail-nth; echo $name >$driver/bind; read left </proc/self/fail-nth; echo \$left")
	[ "$left" = 0 ]
}

# try FUNCTION STEP: the first allocation, and each STEPth behind it; TRIED so many, NONE without counters, UNSEEN
# without a PMU, and what is wrong in /root/wrong
try()
{
	local misses=0 number=$((1 - $2))

	TRIED=0 NONE=0 UNSEEN=0
	: >/root/wrong
	only_in "$1" || echo "there is no $1" >/root/wrong
	# Kernels that check allocate for themselves, so that a probe has not always the same.
	while [ $misses -lt 3 ] && ! [ -s /root/wrong ]; do
		number=$((number + $2)) TRIED=$((TRIED + 1))
		if probe $number; then misses=0; else misses=$((misses + 1)); fi
		said=$(dmesg | grep -o 'No performance counters: .*\|No PMU for perf: .*')
		[ "$(basename "$(readlink "$GPU/driver")")" = panthor ] || echo "$number: not bound"
		gpu-load -j 4 >/root/out 2>&1 || echo "$number: $(cat /root/out)"
		panthor-perf stat -o /dev/null -- gpu-load -j 4 >/root/out 2>&1
		status=$?
		cat $debug/dri/*/perf >/dev/null 2>&1
		state=$?
		if [ $status -ne 0 ]; then
			NONE=$((NONE + 1))
			[ $status -eq 4 ] && [ $state -ne 0 ] || echo "$number: $status, debugfs $state, $(cat /root/out)"
		elif [ $state -ne 0 ]; then
			echo "$number: no debugfs"
		elif [ "$said" = "No PMU for perf: -12" ]; then
			UNSEEN=$((UNSEEN + 1))
		elif [ -n "$said" ] || [ ! -e /sys/bus/event_source/devices/panthor_* ]; then
			echo "$number: counters and no PMU, $said"
		fi
	done >>/root/wrong
}

try panthor_perf_init 1
is "whatever counters have no memory for, the GPU works" "$(cat /root/wrong)" ""
echo "# $TRIED allocations, $NONE of which counters cannot do without"
# Of their own, for actions of DRM, and for a workqueue.
[ $NONE -ge 5 ] && ok "the tool says that there are none" || not_ok "the tool says that there are none" "$NONE of $TRIED"

# Most are for files of sysfs, one like the other. Where a PMU stays when its device goes, it has them.
echo "$name" >$driver/unbind
set -- /sys/bus/event_source/devices/panthor_*
[ -e "$1" ] && step=1 || step=23
echo "$name" >$driver/bind
try panthor_perf_register $step
is "whatever the PMU has no memory for, counters work" "$(cat /root/wrong)" ""
echo "# $TRIED of all allocations, $UNSEEN of which the PMU cannot do without"
[ $NONE -eq 0 ] && [ $UNSEEN -gt 0 ] && ok "and the PMU alone is missing" ||
	not_ok "and the PMU alone is missing" "$NONE, $UNSEEN of $TRIED"

echo "$name" >$driver/unbind
echo "$name" >$driver/bind
succeeds "with memory all is there" perf_pmu -t named_events
