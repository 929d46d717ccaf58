#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug 6.12
# Each switch that makes firmware misbehave, and what the driver promises under it (data/faults.csv):
# sessions are compared with the ledger while a storm has this switch alone. What is an assumption is
# shown to be one: if the driver kept more than it promises, the table would be wrong.
#
# LONG: on a GPU with metadata as well.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/faults.sh"

# Only a GPU with metadata has wrong metadata.
only_g715=" meta_stale "
models=g610
[ -z "${LONG:-}" ] || models="g610 g715"

# list MODEL: NAME OPTION... of each line that is tested here
list()
{
	local name promise tests options

	while IFS=';' read -r name promise tests options _; do
		[[ " $tests " = *' vm '* ]] || continue
		[ "$1" = g715 ] || [[ "$only_g715" != *" $name "* ]] || continue
		options=${options:-$FAULT_OPTIONS}
		[[ "$options" = *$name=* ]] || options+=" -f $name"
		[ "$promise" = exact ] || options+=" -T"
		[ "$promise" != flagged ] || options+=" -c"
		echo "$name $options"
	done < <(fault_rows)
}

build_comparison
# As if the driver defended against everything.
sed 's/;assumption;/;flagged;/' "$FAULTS" >"$SCRATCH/braver"
for model in $models; do
	list "$model" >"$SCRATCH/list"
	with_faults "$model" "$SCRATCH/list"
	while read -r name options; do
		said=$(cat "$SCRATCH/faults/$name.said")
		promise=$(sed -n "s/^$name;\([a-z]*\);.*/\1/p" "$FAULTS")
		# A kind of storm is seen to begin, a fault to make a difference.
		if grep -q ' [1-9][0-9]* hits of faults' <<<"$said" ||
		   { ! grep -q "^  0x3.. .* $name " "$VIRT_PAGE" && grep -q '^# [1-9][0-9]* disturbances' <<<"$said"; }; then
			ok "$model: $name makes a difference"
		else
			not_ok "$model: $name makes a difference" "$said"
		fi
		compare_faults "$SCRATCH/braver" "$name" "$name" >"$SCRATCH/said" 2>&1
		status=$?
		case $promise in
		assumption)
			# What is late by laps may not even be found to be any sample of the ledger.
			if { [ $status -eq 1 ] && grep -qE '^# client.*(: not what records|: expected |, and no sample says)' "$SCRATCH/said"; } ||
			   { [ $status -eq 2 ] && grep -q 'that is not in the ledger' "$SCRATCH/said"; }; then
				ok "$model: $name: counts are wrong, and nothing says so"
			else
				not_ok "$model: $name: counts are wrong, and nothing says so" "status $status" \
					"$(cat "$SCRATCH/said")"
			fi
			;;
		*)
			if [ $status -eq 0 ] && [ "$(tail -n 1 <<<"$said")" = 'status 0' ]; then
				ok "$model: $name: $promise"
			else
				not_ok "$model: $name: $promise" "status $status" "$(cat "$SCRATCH/said")" "$said"
			fi
			;;
		esac
	done <"$SCRATCH/list"
	# As if the driver flagged what it likes, as it may during the storm.
	compare_faults "$FAULTS" drop_samples drop_samples -c calm >"$SCRATCH/said" 2>&1
	status=$?
	if [ $status -eq 1 ] && grep -q 'nothing was lost' "$SCRATCH/said"; then
		ok "$model: a flag after the storm is found"
	else
		not_ok "$model: a flag after the storm is found" "status $status" "$(cat "$SCRATCH/said")"
	fi
done
plan "$TAP_COUNT"
