# SPDX-License-Identifier: MIT
# For tests of perf itself, of the kernel's own source (source it after tap.sh).
#
#   perf_phases MODEL LAYOUT PHASE...   4 results, and 6 for each phase: what perf lists on that GPU, and what it
#                                       makes of phases of gpu-load by mali_topdown_l1 and mali_topdown_l2

CHECK_JSON=$VIRT_DIR/../perf/pmu-events/mali_check.py

# The phase, the largest part of level 1, and of level 2, as in topdown.sh.
PERF_PHASES="
compute   td_core     td_core_arith
fragment  td_core     td_core_tex
tiling    td_tiler    td_tiler
memory    td_memory   td_mem_write
idle      td_idle     td_idle
clockless td_core     td_core_arith
"

# largest FILE LEVEL: "NAME PERCENT" of the metrics of a level, over all intervals
largest()
{
	awk -v level="$2" '
		$1 != "metric" { next }
		!($2 in seen) { seen[$2]; intervals++ }
		# All of level 2 but the two that stand for themselves have names of two parts behind td.
		{ split($3, part, "_"); deep = 4 in part ? 2 : 1 }
		deep == level || $3 == "mali_td_idle" || $3 == "mali_td_tiler" { sum[$3] += $4 }
		END { for (n in sum) if (!best || sum[n] > sum[best]) best = n
			print best, intervals ? sum[best] / intervals : 0 }' "$1"
}

perf_phases()
{
	local model=$1 layout=$2 phase first second outs=() name percent file

	shift 2
	for phase; do
		outs+=(-o "$phase.json:$SCRATCH/$phase.json")
	done
	# Time is counted by instructions: a busy host changes nothing.
	guest_script $(($# + 1)) metrics -i -g "$model" -a perf -o "list.json:$SCRATCH/list.json" \
		"${outs[@]}" -- "$@"
	"$CHECK_JSON" -l "$layout" "$SCRATCH/list.json" >"$SCRATCH/said" 2>&1
	is "$model: perf lists all events and metrics, with what they are" "$(grep -v '^listed' "$SCRATCH/said")" ""
	if grep -q '^listed [1-9][0-9][0-9] events [1-9][0-9]* metrics' "$SCRATCH/said"; then
		ok "$model: $(cat "$SCRATCH/said")"
	else
		not_ok "$model: perf lists many of them" "$(cat "$SCRATCH/said")"
	fi
	while read -r phase first second; do
		[[ " $* " == *" $phase "* ]] || continue
		file=$SCRATCH/$phase.metrics
		"$CHECK_JSON" -p "$layout" "$SCRATCH/$phase.json" >"$file" 2>&1
		is "$model: $phase: perf's metrics are their expressions" "$(grep -vE '^(metric|sum) ' "$file")" ""
		# Two groups in each of two whole intervals, and in the rest.
		is "$model: $phase: parts of each interval add up to 100 +- 0.1" \
			"$(awk '$1 == "sum" { n++; if ($4 < 99.9 || $4 > 100.1) print $3, "of interval", $2, "is", $4 }
				END { if (n < 6) print n + 0 " sums" }' "$file")" ""
		read -r name percent < <(largest "$file" 1)
		is "$model: $phase: the largest part" "$name" "mali_$first"
		if awk -v p="${percent:-0}" 'BEGIN { exit !(p > 50) }'; then
			ok "$model: $phase: $percent % of it"
		else
			not_ok "$model: $phase: more than half is $first" "$(cat "$file")"
		fi
		read -r name percent < <(largest "$file" 2)
		is "$model: $phase: the largest part of level 2" "$name" "mali_$second"
	done <<<"$PERF_PHASES"
}
