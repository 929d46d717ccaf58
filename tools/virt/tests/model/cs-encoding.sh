#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The guest programs' assembler against the tables of the instruction sets.
set -u
. "$(dirname "$0")/../lib/tap.sh"

if ! "${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -Werror -o "$SCRATCH/cs-check" \
	"$VIRT_DIR/host/cs-check.c"; then
	plan 1
	not_ok "cs-check compiles"
	exit 1
fi

n=0
for set in "10 v10" "11 v11plus"; do
	table=$VIRT_DIR/data/cs_instructions_${set#* }.csv
	"$SCRATCH/cs-check" "${set% *}" "$table" >"$SCRATCH/out"
	status=$?
	relay "arch ${set% *}" < <(sed 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /; /^1\.\./d' "$SCRATCH/out")
	is "arch ${set% *}: cs-check's status and the number of its results" "$status $RELAYED" \
		"0 $(sed -n 's/^1\.\.//p' "$SCRATCH/out")"
	n=$((n + RELAYED + 1))
done
plan $n
