#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 7.3
# configs: plain debug
# The kernel's selftests of performance counters, in the virtual machine, which has all that they
# ask for: one that skips has failed. perf-selftests.sh [MODEL [PROGRAM...]]
#
# Time is also measured where a tick is no whole number of nanoseconds, as it is not on boards.
set -u
. "$(dirname "$0")/lib/tap.sh"

# selftests NAME PROGRAMS RUN-OPTION...
selftests()
{
	local model=$1 programs=$2

	shift 2
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -m 1024 -t 2400 "$@" -- sh -c "
		export PERF_TIME_SAMPLES=$samples
		for program in $programs; do
			echo \"@program \$program\"
			\$program 2>&1
			echo \"@status \$?\"
		done" >"$SCRATCH/out" 2>"$SCRATCH/err"
	status=$?
	name=none planned= got=0 ended=0
	while IFS= read -r line; do
		case $line in
		'@program '*)
			name=${line#@program } planned= got=0
			;;
		'@status '*)
			ended=$((ended + 1))
			is "$model: $name gives all of its results" "$got" "${planned:-a plan}"
			;;
		1..*)
			planned=${line#1..}
			;;
		'ok '*'# SKIP'*)
			got=$((got + 1))
			line=${line#ok * }
			not_ok "$model: $name: ${line%%#*}is not skipped" "$line"
			;;
		'ok '*)
			got=$((got + 1))
			ok "$model: $name: ${line#ok * }"
			;;
		'not ok '*)
			got=$((got + 1))
			not_ok "$model: $name: ${line#not ok * }"
			;;
		'#  RUN '*|'#            OK '*) ;;
		*)
			printf '# %s\n' "${line#\# }"
			;;
		esac
	done <"$SCRATCH/out"
	# shellcheck disable=SC2086
	set -- $programs
	if [ $status -eq 0 ] && [ $ended -eq $# ]; then
		ok "$model: the run ends well and the kernel has nothing to report"
	else
		not_ok "$model: the run ends well and the kernel has nothing to report" \
			"status $status, $ended programs of $# came to an end" "$(tail -n 120 "$SCRATCH/err")"
	fi
}

samples=10000
# A kernel that checks is slow.
[ "$CONFIG" = plain ] || [ -n "${LONG:-}" ] || samples=1500
models=${1:-g610 g715}
own=$#
[ $# -eq 0 ] || shift
programs=${*:-perf_uapi perf_session perf_sample perf_states perf_debugfs perf_time perf_unplug}

for model in $models; do
	# One with a block that has no counters in some sets.
	props=
	[ "$model" != g715 ] || props="-p fw_blocks=1"
	# shellcheck disable=SC2086
	selftests "$model" "$programs" -g "$model" $props
done
if [ "$own" -eq 0 ]; then
	# What has little to do with the model. A kernel that checks also injects faults.
	failures=perf_resume
	[ "$CONFIG" = plain ] || failures="perf_fail_nth perf_resume"
	# 6.12 warns of a GPU that cannot be resumed, and once more when it goes like that.
	[ "$KERNEL" != 6.12 ] || export VIRT_ALLOW_REPORT='panthor_device_(resume|unplug)'
	selftests "g610, failures" "$failures" -g g610
	unset VIRT_ALLOW_REPORT
fi
if [ "$own" -eq 0 ] && [ "$CONFIG" = plain ]; then
	selftests "g610 at 24 MHz" perf_time -g g610 -p cntfrq=24000000
fi
plan $TAP_COUNT
