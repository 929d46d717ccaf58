#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug 6.12
# Storms of several switches at a time, drawn from all under which the driver promises exact counts or
# flags (data/faults.csv). Under the first of each two storms, counts have to be exact; under the
# second, what is not has to be flagged. Time is counted by instructions, so that a seed gives the same
# storms on any host. A storm that fails is made small: the fewest switches, and the shortest run.
#
# There are two storms. SEED: what is drawn, and the storms' own seed.
# LONG (make storm): more of them, until MINUTES (10) are over.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/faults.sh"
. "$(dirname "$0")/../lib/shrink.sh"

ROUNDS=2
MINUTES=${MINUTES:-10}
[ -n "${LONG:-}" ] || MINUTES=0
STEP=50
table=$FAULTS

# draw N: a number below N, in DRAWN
draw()
{
	drawn=$(((drawn * 1103515245 + 12345) & 0x7fffffff))
	DRAWN=$(((drawn >> 8) % $1))
}

# with_promise PROMISE...: switches of these promises that a storm has
with_promise()
{
	local name promise tests

	while IFS=';' read -r name promise tests _; do
		[[ " $* " != *" $promise "* || " $tests " != *' vm '* ]] || echo "$name"
	done < <(fault_rows)
	# A kernel's test of one switch is not less a switch of storms.
	[[ " $* " != *' exact '* ]] || echo halt_first
}

# storm_fails SAMPLES SWITCH...: one storm, with $model, $options and $seed. What it has to say of a
# failure goes to $SCRATCH/why.
storm_fails()
{
	local samples=$1 status=0 list

	shift
	list=$(tr ' ' , <<<"$*")
	# Nothing is enough to be compared in less.
	echo "storm $options -s $samples -r $seed -f $list" >"$SCRATCH/list"
	if ! run_faults "$model" "$SCRATCH/list"; then
		tail -n 60 "$SCRATCH/err" >"$SCRATCH/why"
		return 0
	fi
	compare_faults "$table" "$list" storm >"$SCRATCH/why" 2>&1 || status=$?
	cat "$SCRATCH/faults/storm.said" >>"$SCRATCH/why"
	[ $status -ne 0 ] || ! grep -q '^status 0' "$SCRATCH/faults/storm.said"
}

# storm NAME SAMPLES SWITCH...: 1 result
storm()
{
	local name=$1 samples=$2 why

	shift 2
	if ! storm_fails "$samples" "$@"; then
		ok "$name"
		sed 's/^/# /; s/^# # /# /' "$SCRATCH/why"
		return
	fi
	why=$(cat "$SCRATCH/why")
	shrink storm_fails "$samples" $STEP "$@"
	not_ok "$name" "$why" "it is enough to have: SEED=$SEED, -g $model," \
		"perf-exact $options -r $seed -s $SHRUNK_LENGTH -f $(tr ' ' , <<<"${SHRUNK_ITEMS[*]}")"
	return 1
}

# draw_storm ROUND: sets what a storm is made of, $switches and $promise among it
draw_storm()
{
	local names all i models=(g610 g715 g710)

	drawn=$(((SEED + 7919 * $1) & 0x7fffffff))
	draw 1000
	promise=exact all=$(with_promise exact)
	[ $(($1 % 2)) -eq 1 ] || { promise=flagged all=$(with_promise exact flagged); }
	draw 3
	model=${models[DRAWN]}
	read -r -a names <<<"$(tr '\n' ' ' <<<"$all")"
	switches=()
	draw 6
	for ((i = DRAWN + 3; i > 0 && ${#names[@]} > 0; i--)); do
		draw ${#names[@]}
		switches+=("${names[DRAWN]}")
		names=("${names[@]:0:DRAWN}" "${names[@]:DRAWN+1}")
	done
	draw 20
	options="-n $((DRAWN + 2)) -p $((DRAWN / 2)) -t 60"
	draw 4
	[ $DRAWN -eq 0 ] || options+=" -a"
	draw 5
	options+=" -u $((1000 << DRAWN))"
	[ $promise = exact ] || options+=" -T -c"
	draw 1000000
	seed=$DRAWN
}

[ -n "${LONG:-}" ] || plan $ROUNDS
seed 1
build_comparison
samples=1000
[ "$CONFIG" = plain ] || samples=300
[ -z "${LONG:-}" ] || samples=$((3 * samples))
for ((round = 1; round <= ROUNDS || SECONDS < 60 * MINUTES; round++)); do
	draw_storm $round
	storm "$model, $promise: ${switches[*]}" $samples "${switches[@]}"
done

# That a failure is found and made small: the driver breaks a promise that it never gave.
if [ -n "${LONG:-}" ]; then
	echo "# $((round - 1)) storms in $((SECONDS / 60)) minutes"
	table=$SCRATCH/lies
	sed 's/^cores_late;assumption;/cores_late;exact;/' "$FAULTS" >"$table"
	model=g610 options="$FAULT_OPTIONS" seed=1 samples=400
	out=$(TAP_COUNT=0; storm "a promise that is none" 400 irq_late cores_late extract_latched)
	if grep -q "^# perf-exact .* -s [0-9]* -f cores_late$" <<<"$out" && ! grep -q " -s 400 -f " <<<"$out"; then
		ok "a promise that the driver does not keep is found, and what breaks it"
	else
		not_ok "a promise that the driver does not keep is found, and what breaks it" "$out"
	fi
	plan "$TAP_COUNT"
fi
