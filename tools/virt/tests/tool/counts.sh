#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# quick: 7.3 stock
# daily: 6.12
# panthor-perf against the real driver: what it prints is what the model's ledger says. The debug
# kernel has the driver's own tests; this one would tell nothing more there, very slowly.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

tool=$VIRT_DIR/../panthor-perf

# printed FILE [intervals]: "SAMPLE PLACE VALUE" lines, of what stat printed of counters with a place, and
# none that is 0. An interval is a sample; else all that a run has is one.
printed()
{
	awk -F';' -v intervals="${2:-}" '
		FNR == NR { place[$1] = $2 " " $3; next }
		intervals { n += FNR > 1 && $1 != time; time = $1; value = $2; name = $4 }
		!intervals { value = $1; name = $3 }
		place[name] ~ / [0-9]/ && value != 0 { print n + 0, place[name], value }' \
		"$SCRATCH/list" "$SCRATCH/$1" | sort
}

# named: of lines that begin with a run and a sample, those whose counter has a name
named()
{
	awk 'FNR == NR { split($0, f, ";"); has[f[2] " " f[3]]; next }
		{ $3 = toupper($3) }
		$3 " " $4 in has' "$SCRATCH/list" "$SCRATCH/all"
}

# ledger RUN [samples]: the same as printed() of the ledger
ledger()
{
	awk -v run="$1" -v samples="${2:-}" '
		$1 == run { sum[(samples ? $2 : 0) " " $3 " " $4] += $5 }
		END { for (k in sum) printf "%s %.0f\n", k, sum[k] }' "$SCRATCH/sums" | sort
}

# same_lines NAME: that $SCRATCH/got is $SCRATCH/want, and is not nothing
same_lines()
{
	if [ "$(wc -l <"$SCRATCH/want")" -lt 100 ]; then
		not_ok "$1" "there is hardly anything to compare:" "$(head "$SCRATCH/want")"
	elif cmp -s "$SCRATCH/got" "$SCRATCH/want"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$SCRATCH/got" "$SCRATCH/want" | head -n 20)"
	fi
}

# json_counters FILE: like printed(), of JSON
json_counters()
{
	sed -n 's/^ *"\(value\|block\|index\)":"\{0,1\}\([^",]*\).*/\1 \2/p' "$1" |
		awk '$1 == "value" { value = $2 } $1 == "block" { block = $2 }
			$1 == "index" && value != 0 { print 0, block, $2, value }' | sort
}

# topdown MODEL LAYOUT SLICES CORES: what stat says of each part against what a C++ compiler makes of the
# equations and the ledger, sample by sample. How long the GPU slept is in no counter: idle is left out.
topdown()
{
	local program=$SCRATCH/build/equations-$2

	make -s -C "$tool" O="$SCRATCH/build" "$program" >"$SCRATCH/err" 2>&1 ||
		cat "$SCRATCH/err"
	awk -v slices="$3" -v cores="$4" '
		$1 != 2 { next }
		$2 != sample { if (sample != "") print "="; sample = $2
			print "MALI_CONFIG_SHADER_CORE_COUNT", cores
			print "MALI_CONFIG_L2_CACHE_COUNT", slices
			print "MALI_CONFIG_EXT_BUS_BYTE_SIZE 16"
			print "MALI_CONFIG_SHADER_CLOCK_RATIO 1" }
		{ print $3 "." $4, $5 }
		END { print "=" }' "$SCRATCH/sums" | "$program" |
		awk '/^td_/ { sum[$1] += $2 } END { for (n in sum) printf "%s %.17g\n", n, sum[n] }' |
		grep -v 'td_idle\|td_total' | sort >"$SCRATCH/want"
	sed -n 's/^ *"\(name\|cycles\)":"\{0,1\}\([^",]*\).*/\1 \2/p' "$SCRATCH/periodic" |
		awk '$1 == "name" { name = $2 } $1 == "cycles" && name ~ /^td_/ { print name, $2 }' |
		grep -v 'td_idle\|td_total' | sort >"$SCRATCH/got"
	if join "$SCRATCH/got" "$SCRATCH/want" | awk '
			function abs(x) { return x < 0 ? -x : x }
			abs($2 - $3) > 1e-6 + 1e-9 * abs($3) { print; bad = 1 }
			$3 > 0 { n++ }
			END { exit bad || n < 15 }' >"$SCRATCH/said" &&
			[ "$(wc -l <"$SCRATCH/got")" -eq "$(wc -l <"$SCRATCH/want")" ]; then
		ok "$1: top-down is what the ledger says of each sample"
	else
		not_ok "$1: top-down is what the ledger says of each sample" "$(cat "$SCRATCH/said")" \
			"$(cat "$SCRATCH/got")"
	fi
}

# against_ledger MODEL LAYOUT SLICES CORES: 5 results
against_ledger()
{
	compare_files -d >"$SCRATCH/all" 2>"$SCRATCH/err" || cat "$SCRATCH/err"
	named >"$SCRATCH/sums"

	printed once >"$SCRATCH/got"
	ledger 0 >"$SCRATCH/want"
	same_lines "$1: stat prints what the ledger says, exactly"

	printed intervals intervals >"$SCRATCH/got"
	ledger 1 samples >"$SCRATCH/want"
	same_lines "$1: and so does each interval"

	json_counters "$SCRATCH/periodic" >"$SCRATCH/got"
	ledger 2 >"$SCRATCH/want"
	same_lines "$1: and the sum of periods"

	topdown "$@"

	# Mean and spread, with as many digits as awk has.
	awk -F';' 'FNR == NR { place[$1] = $2 " " $3; next }
		place[$3] ~ / [0-9]/ && $1 != 0 { printf "%s %.6g %.6g\n", place[$3], $1, $7 }' \
		"$SCRATCH/list" "$SCRATCH/repeated" | sort >"$SCRATCH/got"
	awk '$1 >= 3 && $1 <= 5 { v[$3 " " $4, $1] += $5; all[$3 " " $4] }
		END { for (k in all) {
			mean = (v[k, 3] + v[k, 4] + v[k, 5]) / 3
			square = 0
			for (i = 3; i <= 5; i++)
				square += (v[k, i] - mean) * (v[k, i] - mean)
			printf "%s %.6g %.6g\n", k, mean, sqrt(square / 2)
		} }' "$SCRATCH/sums" | sort >"$SCRATCH/want"
	same_lines "$1: and mean and spread of three runs"
}

# in_vm MODEL NAME LAYOUT POSITIONS SLICES CORES
in_vm()
{
	rm -f "$SCRATCH"/{ledger,record,trace,list,once,intervals,periodic,repeated}
	# What is said of another rate than the nominal one is clock-rates.sh's.
	guest_script 81 counts -t 1800 -p real_rate=1000 -g "$1" -m 512 -l "$SCRATCH/ledger" -o record:"$SCRATCH/record" \
		-o trace:"$SCRATCH/trace" -o list:"$SCRATCH/list" -o once:"$SCRATCH/once" \
		-o intervals:"$SCRATCH/intervals" -o periodic:"$SCRATCH/periodic" \
		-o repeated:"$SCRATCH/repeated" -- "$2" "$4" "$5"
	against_ledger "$1" "$3" "$5" "$6"
}

plan $((2 * (81 + 1 + 5) + 5))
build_comparison
# Model, name, layout, positions of shader cores, L2 slices, shader cores.
in_vm g610 Mali-G610 Mali-G710 "0 2 16 18" 4 4
in_vm g715 Mali-G715 Mali-G715 "0 2 4 6 16 18 20 22" 4 8

# A kernel without counters, and no driver at all.
got=$("$VIRT_DIR/run" -k "$KERNEL" -c debian -- sh -c 'panthor-perf info 2>&1; echo $?
	panthor-perf stat -- touch /root/ran 2>&1; echo $?; ls /root/ran 2>&1')
case $got in
*"has no performance counters. Install panthor-perf-dkms and reboot, or build the kernel with CONFIG_DRM_PANTHOR_PERF.
4
"*"has no performance counters. Install panthor-perf-dkms and reboot, or build the kernel with CONFIG_DRM_PANTHOR_PERF.
4
"*"/root/ran: No such file or directory")
	ok "without support in the kernel, a clear message, and the command is not run"
	;;
*)
	not_ok "without support in the kernel, a clear message, and the command is not run" "$got"
	;;
esac

got=$("$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -p noload=1 -- sh -c '
	panthor-perf info 2>&1; echo $?
	panthor-perf list -g g610 | grep -c Mali; echo $?
	panthor-perf stat -e "" true >/dev/null 2>&1; echo $?
	panthor-perf info -d /dev/null 2>&1; echo $?')
{
	read -r message
	read -r status
	read -r listed
	read -r list_status
	read -r usage_status
	read -r wrong_device
	read -r wrong_status
} <<<"$got"
case $message in
"panthor-perf: No Mali GPU driven by panthor found"*) ok "without a driver, a clear message" ;;
*) not_ok "without a driver, a clear message" "$got" ;;
esac
is "and a status" "$status $list_status $usage_status $wrong_status" "3 0 2 3"
[ "${listed:-0}" -gt 150 ] && ok "counters can be listed without a GPU" ||
	not_ok "counters can be listed without a GPU" "$got"
is "a node of another driver" "$wrong_device" \
	"panthor-perf: /dev/null is not a GPU driven by panthor"
