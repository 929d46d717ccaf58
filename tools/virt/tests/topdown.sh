#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# What each phase of gpu-load is ends in the right part of the top-down tree, computed from the ledger
# without panthor-perf; no percentage is above 100 in any sample; and between them the phases move
# every counter that the tree reads. Time is counted by instructions: a busy host changes nothing.
set -u
. "$(dirname "$0")/lib/tap.sh"

# One of each layout of counters; on each kernel one for each change, and all of them with check -L.
models="g610 g715 g720 g725"
if [ -z "${LONG:-}" ]; then
	[ "$KERNEL" = 6.12 ] && models=g610 || models=g725
fi

# The phase, the largest part of level 1, and of level 2.
phases="
compute  td_core     td_core_arith
fragment td_core     td_core_tex
tiling   td_tiler    td_tiler
memory   td_memory   td_mem_write
frontend td_frontend td_fe_spread
idle     td_idle     td_idle
"
names=$(awk 'NF { print $1 }' <<<"$phases")
count=$(wc -w <<<"$names")

# largest EPOCH LEVEL: "NAME PERCENT" of what is shown there: parts of the level, and those above it
# that have none
largest()
{
	awk -v epoch="$1" -v level="$2" '
		$1 == "node" && $2 == epoch && $3 > 0 && ($3 == level || $3 < level && ($4 == "td_idle" || $4 == "td_tiler")) &&
			(!name || $5 > most) { name = $4; most = $5 }
		END { print name, most }' "$SCRATCH/tree"
}

plan $(($(wc -w <<<"$models") * (count + 2 + 3 * count + 2)))
for model in $models; do
	rm -f "$SCRATCH/shape" "$SCRATCH/phases" "$SCRATCH/ledger"
	# shellcheck disable=SC2086
	guest_script $((count + 1)) topdown -i -g "$model" -l "$SCRATCH/ledger" -o "/root/shape:$SCRATCH/shape" \
		-o "/root/phases:$SCRATCH/phases" -- $names
	"$VIRT_DIR/../panthor-perf/tests/topdown_ledger.py" "$SCRATCH/shape" "$SCRATCH/ledger" >"$SCRATCH/tree" \
		2>"$SCRATCH/err" || sed 's/^/# /' "$SCRATCH/err"
	while read -r phase first second; do
		[ -n "$phase" ] || continue
		epoch=$(awk -v phase="$phase" '$1 == phase { print $2 }' "$SCRATCH/phases")
		read -r name percent < <(largest "$epoch" 1)
		is "$model: $phase: the largest part" "$name" "$first"
		# Most of the time, not just more than others.
		if awk -v p="${percent:-0}" 'BEGIN { exit !(p > 50) }'; then
			ok "$model: $phase: $percent % of it"
		else
			not_ok "$model: $phase: more than half is $first" "$(grep "^node $epoch 1" "$SCRATCH/tree")"
		fi
		read -r name percent < <(largest "$epoch" 2)
		is "$model: $phase: the largest part of level 2" "$name" "$second"
	done <<<"$phases"
	# What the G715 calls active is the queues: streams and firmware may be so without them, in a sample.
	is "$model: nothing is above 100 %" \
		"$(grep '^over' "$SCRATCH/tree" |
			grep -vE "^over [0-9]+ $([ "$model" = g715 ] && echo '[1-9][0-9]*' || echo -) MaliCSF(MCU|CEU|LSU)Util ")" ""
	is "$model: every counter of the tree has moved" \
		"$(awk '$1 == "still" { print $2 } END { if (!NR) print "nothing was computed" }' "$SCRATCH/tree")" ""
done
