# SPDX-License-Identifier: MIT
# What the tests share that run the kernel's selftests of performance counters in the virtual machine,
# which has all that they ask for: one that skips has failed. After tap.sh.

# A kernel that checks is slow.
SELFTEST_SAMPLES=10000
[ "$CONFIG" != debug ] || [ -n "${LONG:-}" ] || SELFTEST_SAMPLES=1500

# may_skip RESULT: nothing else is skipped, and these not where they need not be
may_skip()
{
	case $1 in
	# Debian's kernels have udmabuf, those of ours have not.
	*'uapi.setup_imported # SKIP no udmabuf') [ "$CONFIG" != stock ] ;;
	# Only panthor of 7.3 takes memory back, and our kernels have no swap.
	*'hostile.evicted # SKIP '*) [ "$SERIES $CONFIG" != "7.3 stock" ] ;;
	# perf's core is mended in the newest 6.12 and in 7.3, and not in 6.18.15 and 7.2.
	*'pmu.other_cpu_groups # SKIP perf of this kernel moves the first group alone') [[ $KERNEL = 6.18 || $KERNEL = 7.2 ]] ;;
	# Debian's kernels have BPF, and of ours those for debugging and for coverage.
	*'pmu_gone.in_bpf_map # SKIP a kernel without BPF') [[ $CONFIG = plain || $CONFIG = kcsan ]] ;;
	# The rate of this board's clock is not set by Linux.
	*'cycles.across_rates # SKIP a clock of a fixed rate') [ "$model" = cix-p1 ] ;;
	*) false ;;
	esac
}

# selftests NAME PROGRAMS RUN-OPTION...: a result for each of theirs, one for each program, and one
# for the run. The plan comes after the last of them.
selftests()
{
	local model=$1 programs=$2

	shift 2
	name=none planned= got=0 ended=0
	while IFS= read -r line; do
		case $line in
		'@program '*)
			name=${line#@program } planned= got=0
			;;
		'@status '*)
			ended=$((ended + 1))
			is "$model: $name ends well and gives all of its results" "status ${line#@status }, $got" \
				"status 0, ${planned:-a plan}"
			;;
		1..*)
			planned=${line#1..}
			;;
		'ok '*'# SKIP'*)
			got=$((got + 1))
			line=${line#ok * }
			may_skip "$line" || not_ok "$model: $name: ${line%%#*}is not skipped" "$line"
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
	done < <("$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -m 1024 -t 2400 "$@" -- sh -c "
		export PERF_TIME_SAMPLES=$SELFTEST_SAMPLES
		# A module in Debian's kernels, where nothing loads it by itself.
		modprobe -q governor_userspace
		for program in $programs; do
			echo \"@program \$program\"
			\$program 2>&1
			echo \"@status \$?\"
		done" 2>"$SCRATCH/err"
		echo $? >"$SCRATCH/status")
	status=$(cat "$SCRATCH/status")
	# shellcheck disable=SC2086
	set -- $programs
	if [ $status -eq 0 ] && [ $ended -eq $# ]; then
		ok "$model: the run ends well and the kernel has nothing to report"
	else
		not_ok "$model: the run ends well and the kernel has nothing to report" \
			"status $status, $ended programs of $# came to an end" "$(tail -n 120 "$SCRATCH/err")"
	fi
}
