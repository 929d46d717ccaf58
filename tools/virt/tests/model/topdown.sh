#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# What each phase of gpu-load is ends in the right part of the top-down tree, computed from the ledger
# without panthor-perf; no percentage is above 100 in any sample; and between them the phases move
# every counter that the tree reads. Time is counted by instructions: a busy host changes nothing.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# One of each layout of counters; on each kernel one for each change, and all of them with check -L.
models="g610 g715 g720 g725"
# Linux 6.12 does not know the G1.
[ "$KERNEL" = 6.12 ] || models="$models g1"
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
JOBS=8

# largest EPOCH LEVEL: "NAME PERCENT" of what is shown there: parts of the level, and those above it
# that have none
largest()
{
	awk -v epoch="$1" -v level="$2" '
		$1 == "node" && $2 == epoch && $3 > 0 && ($3 == level || $3 < level && ($4 == "td_idle" || $4 == "td_tiler")) &&
			(!name || $5 > most) { name = $4; most = $5 }
		END { print name, most }' "$SCRATCH/tree"
}

# tree NAME MODEL HZ PHASE...: the phases at a clock; $SCRATCH/tree is what came of them
tree()
{
	local name=$1 model=$2 hz=$3

	shift 3
	rm -f "$SCRATCH/shape" "$SCRATCH/phases" "$SCRATCH/ledger"
	guest_script $(($# + 1)) topdown -i -g "$model" -l "$SCRATCH/ledger" -o "/root/shape:$SCRATCH/shape" \
		-o "/root/phases:$SCRATCH/phases" -- "$hz" "$JOBS" "$@"
	"$VIRT_DIR/../panthor-perf/tests/topdown_ledger.py" "$SCRATCH/shape" "$SCRATCH/ledger" >"$SCRATCH/tree" \
		2>"$SCRATCH/err" || sed 's/^/# /' "$SCRATCH/err"
	while read -r phase first second; do
		[[ " $* " == *" $phase "* ]] || continue
		dominates "$name" "$phase" "$first" "$second"
	done <<<"$phases"
}

epoch()
{
	awk -v phase="$1" '$1 == phase { print $2 }' "$SCRATCH/phases"
}

# dominates NAME PHASE FIRST SECOND: three results
dominates()
{
	local name percent epoch

	epoch=$(epoch "$2")
	read -r name percent < <(largest "$epoch" 1)
	is "$1: $2: the largest part" "$name" "$3"
	# Most of the time, not just more than others.
	if awk -v p="${percent:-0}" 'BEGIN { exit !(p > 50) }'; then
		ok "$1: $2: $percent % of it"
	else
		not_ok "$1: $2: more than half is $3" "$(grep "^node $epoch 1" "$SCRATCH/tree")"
	fi
	read -r name percent < <(largest "$epoch" 2)
	is "$1: $2: the largest part of level 2" "$name" "$4"
}

# counts NAME PHASE COUNTER WANT OFF: a count of a phase, give or take what is not a whole on each core
counts()
{
	local got

	got=$(awk -v epoch="$(epoch "$2")" -v name="$3" '$1 == "count" && $2 == epoch && $3 == name { print $4 }' "$SCRATCH/tree")
	if [ -n "$got" ] && [ $((got - $4)) -le "$5" ] && [ $(($4 - got)) -le "$5" ]; then
		ok "$1: $2: $3"
	else
		not_ok "$1: $2: $3" "got:  ${got:-none}" "want: $4, by $5 more or less"
	fi
}

plan $(($(wc -w <<<"$models") * (4 * count + 3 + 2 + 10) + 4 * 3 + 2))
for model in $models; do
	# shellcheck disable=SC2086
	tree "$model" "$model" 150000000 $names mix
	# What the G715 calls active is the queues: streams and firmware may be so without them, in a sample.
	is "$model: nothing is above 100 %" \
		"$(grep '^over' "$SCRATCH/tree" |
			grep -vE "^over [0-9]+ $([ "$model" = g715 ] && echo '[1-9][0-9]*' || echo -) MaliCSF(MCU|CEU|LSU)Util ")" ""
	is "$model: every counter of the tree has moved" \
		"$(awk '$1 == "still" { print $2 } END { if (!NR) print "nothing was computed" }' "$SCRATCH/tree")" ""

	# What work of known size counts (Documentation/virtual-mali.rst, "What a counter counts"). On each core something
	# may have been begun before, and something else may not be complete.
	present=$(sed -n 's/^shader_present=//p' "$SCRATCH/shape")
	for ((cores = 0, m = present; m; m &= m - 1)); do
		cores=$((cores + 1))
	done
	threads=$((JOBS * 65536 * 64))
	pixels=$((JOBS * 4096 * 4096))
	primitives=$((JOBS * 1048576))
	targets=8
	further=$((JOBS * 2048 * 2048 * (targets - 1)))
	counts "$model" compute MaliNonFragWarp $((threads / 16)) "$cores"
	counts "$model" compute MaliCoreActiveCy $((threads * 60 / 16)) "$cores"
	counts "$model" compute MaliEngSFUInstr $((threads * 56 / 256)) "$cores"
	counts "$model" fragment MaliFragWarp $((pixels / 16)) "$cores"
	counts "$model" fragment MaliCoreActiveCy $((pixels * 14 / 16)) "$cores"
	counts "$model" fragment MaliTexFiltIssueCy $((pixels * 12 / 256 * 12)) $((12 * cores))
	counts "$model" tiling MaliTilerActiveCy $((JOBS * 400 + primitives * 4)) 0
	counts "$model" tiling MaliGeomTrianglePrim $primitives 0
	counts "$model" memory MaliFragWarp $((JOBS * 2048 * 2048 / 16)) "$cores"
	counts "$model" memory MaliSCBusTileWrBt $(((further + JOBS * 2048 * 2048) / 8)) "$cores"
done

# Cores with a clock of their own: cycles of theirs are not the top level's.
model=${models%% *}
tree "$model, slow" "$model" 50000000 compute tiling memory
