#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What makes a storm's failure small finds the fewest switches and the shortest run, without many runs.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/shrink.sh"

all="a b c d e f g h i j k l m n o p"
runs=0

# Fails if all of $needed are there, and the run has at least $least.
fails()
{
	local length=$1 item

	shift
	runs=$((runs + 1))
	[ "$length" -ge "$least" ] || return 1
	for item in $needed; do
		[[ " $* " = *" $item "* ]] || return 1
	done
}

# small NEEDED LEAST RUNS
small()
{
	needed=$1 least=$2 runs=0
	# shellcheck disable=SC2086
	shrink fails 1000 1 $all
	is "'$needed' of 16, $least of 1000" "${SHRUNK_ITEMS[*]}, $SHRUNK_LENGTH" "$needed, $least"
	if [ $runs -le "$3" ]; then
		ok "'$needed' of 16, $least of 1000: $runs runs"
	else
		not_ok "'$needed' of 16, $least of 1000: no more than $3 runs" "$runs runs"
	fi
}

plan 11
small "c" 37 30
small "a p" 1000 60
small "b f g" 1 60
small "$all" 500 60
small "d e f g" 999 60
# What was left out first is not needed, and what stays is.
needed="x" least=1
shrink fails 10 1 x
is "one switch" "${SHRUNK_ITEMS[*]}, $SHRUNK_LENGTH" "x, 1"
