#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# What performance counters cost, in instructions (perf-icount), is what it was before, within a tenth:
# icount.figures. These are counts and no times: a busy machine counts the same. A kernel and compiler
# without figures there are compared with the nearest that have some, see lib/figures.sh.
#
#   icount.sh -w   writes what it measures of KERNEL (of the environment) into icount.figures instead
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/figures.sh"

FIGURES=$TESTS_DIR/driver/icount.figures
# Of a recorded sample: how many times a period of the driver's it may cost.
MOST_PERIODS=5
# What does not depend on how the deadlines of many sessions happen to fall together. The third model is the
# first with firmware that takes 25 times as long to answer, as it may on a board: what polls takes more.
MEASURED="empty-ioctl round-trip round-trip-busy round-trip-many period-one events start-stop suspend-resume"
# Of what 64 events of perf may take while the GPU sleeps.
MOST_ASLEEP=1000

run_i()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i "$@"
}

# measure GPU FILE: "RELEASE COMPILER GPU NAME INSTRUCTIONS" lines
measure()
{
	local slow=()

	[ "$1" = "${1%-slow}" ] || slow=(-p mcu_latency_ns=50000)
	# shellcheck disable=SC2086
	run_i -m 1024 -g "${1%-slow}" "${slow[@]}" -f "$TESTS_DIR/guest/record-cost.sh" -- \
		sh -c 'cat /proc/version; perf-icount "$@" && exec sh /root/record-cost.sh' sh $MEASURED >"$SCRATCH/out" 2>"$SCRATCH/err" || return
	# Linux version RELEASE (WHO) (aarch64-linux-gnu-gcc (Debian 12.2.0-14) 12.2.0, GNU ld ...
	awk -v gpu="$1" '
		FNR == 1 {
			release = $3
			compiler = match($0, /clang/) ? "clang" : "gcc"
			sub(/,.*/, "")
			compiler = compiler "-" $NF
		}
		$1 ~ /^[a-z]/ && $1 != "record-sample" && $1 !~ /-asleep$/ && $2 ~ /^[0-9]+$/ { print release, compiler, gpu, $1, $2 }' \
		"$SCRATCH/out" >"$2"
}

# recorded GPU: what a sample costs that panthor-perf record takes and writes. It is told, and no more than so
# many times what the driver alone takes for a period; how samples fall together with ticks moves it.
recorded()
{
	local cost period

	cost=$(awk '$1 == "record-sample" { print $2 }' "$SCRATCH/out")
	period=$(awk '$1 == "period-1" { print $2 }' "$SCRATCH/out")
	if [ "${cost:-0}" -gt 0 ] && [ "$cost" -le $((MOST_PERIODS * ${period:-0})) ]; then
		ok "$1: a sample that is recorded takes $cost instructions, $period of them without the program"
	else
		not_ok "$1: a sample that is recorded takes at most $MOST_PERIODS times what the driver takes" \
			"got:  $cost" "driver: $period"
	fi
}

# events GPU: what 64 events of perf take, beside one, and while the GPU sleeps
events()
{
	local suffix one all asleep

	for suffix in "" -busy; do
		one=$(awk -v name="events-1$suffix" '$1 == name { print $2 }' "$SCRATCH/out")
		all=$(awk -v name="events-64$suffix" '$1 == name { print $2 }' "$SCRATCH/out")
		if [ "${all:-0}" -gt 0 ] && [ "$all" -lt $((2 * ${one:-0})) ]; then
			ok "$1$suffix: a sample of 64 events of perf takes $all instructions, one of one $one"
		else
			not_ok "$1$suffix: a sample of 64 events of perf takes less than twice what one takes" \
				"64: $all" "1:  $one"
		fi
	done
	asleep=$(awk '$1 == "events-64-asleep" { print $2 }' "$SCRATCH/out")
	if [ -n "$asleep" ] && [ "$asleep" -le $MOST_ASLEEP ]; then
		ok "$1: 64 events of a GPU that sleeps take $asleep instructions in 10 ms"
	else
		not_ok "$1: 64 events of a GPU that sleeps take nothing" "got:  $asleep" "want: $MOST_ASLEEP, or less"
	fi
}

if [ "${1:-}" = -w ]; then
	for model in g610 g715 g610-slow; do
		if ! measure "$model" "$SCRATCH/$model" || ! [ -s "$SCRATCH/$model" ]; then
			cat "$SCRATCH/err" >&2
			echo "icount.sh: $model cannot be measured" >&2
			exit 1
		fi
	done
	read -r release compiler _ <"$SCRATCH/g610"
	{
		awk -v r="$release" -v c="$compiler" '$1 != r || $2 != c' "$FIGURES"
		cat "$SCRATCH/g610" "$SCRATCH/g715" "$SCRATCH/g610-slow"
	} >"$SCRATCH/figures" && cat "$SCRATCH/figures" >"$FIGURES"
	exit
fi

for model in g610 g715 g610-slow; do
	if measure "$model" "$SCRATCH/$model" && [ -s "$SCRATCH/$model" ]; then
		compare_figures "$model" "$SCRATCH/$model" "$FIGURES"
		recorded "$model"
		events "$model"
	else
		not_ok "$model is measured" "$(tail -n 20 "$SCRATCH/err")" "$(tail -n 5 "$SCRATCH/out")"
	fi
done

# Nothing of the host reaches the guest, and so nothing differs from one run to the next, nor is anything drawn.
for run in 1 2; do
	SEED=$run run_i -- perf-icount empty-ioctl round-trip start-stop >"$SCRATCH/run$run" 2>"$SCRATCH/err" ||
		{ echo "run $run: status $?"; cat "$SCRATCH/err"; } >>"$SCRATCH/run$run"
done
is "a second run takes the very same instructions and time" "$(cat "$SCRATCH/run2")" "$(cat "$SCRATCH/run1")"

# figure NAME: of the latest output of perf-icount
figure()
{
	awk -v name="$1" '$1 == name { print $2 }' "$SCRATCH/err" "$SCRATCH/out"
}

# The profiler finds the same, though it counts them otherwise; its parts and functions are the whole.
"$VIRT_DIR/profile" -k "$KERNEL" -c "$CONFIG" -n 10000 -- perf-icount empty-ioctl >"$SCRATCH/out" 2>"$SCRATCH/err"
is "the profiler runs" $? 0
counted=$(figure empty-ioctl)
median=$(sed -n 's/^runs 500, instructions of one: median \([0-9]*\),.*/\1/p' "$SCRATCH/out")
# Reading the clock and the count has to be told from what lies between, by either.
if [ -n "$counted" ] && [ -n "$median" ] && [ $((median - counted)) -ge -40 ] && [ $((median - counted)) -le 40 ]; then
	ok "an empty ioctl takes $counted instructions, $median by the profiler"
else
	not_ok "the profiler counts as many instructions as the program" "program: $counted, profiler: $median" \
		"$(tail -n 20 "$SCRATCH/err")"
fi
awk '$2 == "whole," { whole = $1; next }
	/user space$/ { user = $1 }
	/^ / && !whole { parts += $1 }
	/^ / && whole { functions += $1 }
	END {
		functions += user
		printf "%.1f %.1f %.1f\n", whole, parts, functions
		# What each line may have lost to rounding.
		exit !(whole && parts > whole - 1 && parts < whole + 1 && functions > whole - 20 && functions < whole + 20)
	}' "$SCRATCH/out" >"$SCRATCH/sums"
status=$?
if [ $status -eq 0 ]; then
	ok "its parts and its functions are the whole: $(cat "$SCRATCH/sums")"
else
	not_ok "its parts and its functions are the whole" "whole, parts, functions: $(cat "$SCRATCH/sums")" "$(cat "$SCRATCH/out")"
fi
if grep -q '  panthor_ioctl_perf_control \[panthor\]$' "$SCRATCH/out"; then
	ok "functions of modules have their names"
else
	not_ok "functions of modules have their names" "$(cat "$SCRATCH/out")"
fi

# refuses NAME PATTERN COMMAND...: status 2, and it says why
refuses()
{
	local name=$1 pattern=$2 out

	shift 2
	out=$("$@" 2>&1 >/dev/null)
	is "$name: refused" $? 2
	if grep -q -- "$pattern" <<<"$out"; then
		ok "$name: it says why"
	else
		not_ok "$name: it says why" "want: $pattern" "$out"
	fi
}

refuses "instructions as time with two processors" "^run: -i is for one processor" run_i -s 2 -- true
refuses "the profiler without a command" "^profile: there is no command" "$VIRT_DIR/profile" -n 3
refuses "the profiler with an unknown option" "^profile: there is no option -Z" "$VIRT_DIR/profile" -Z -- true
refuses "the profiler with no number" "^profile: -n takes a number, not 'x'" "$VIRT_DIR/profile" -n x -- true
plan "$TAP_COUNT"
