#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# How much there is to read of the driver: lines, lines of code, and how branched its functions are.
# The limits are what a maintainer is asked to read; whoever adds beyond them takes something out.
set -u
. "$(dirname "$0")/../lib/tap.sh"

DRIVER=$VIRT_DIR/../../drivers/gpu/drm/panthor
MAX_LINES=6500
MAX_CODE=4000
MAX_BRANCHES=15

# at_most NAME GOT MAX
at_most()
{
	if [ "${2:-0}" -gt 0 ] && [ "$2" -le "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  ${2:-nothing}" "want: at most $3"
	fi
}

plan 3
files=("$DRIVER"/*.[ch])
lines=$(cat "${files[@]}" | wc -l)
code=$(cloc --quiet --csv --hide-rate "${files[@]}" | awk -F, '$2 == "SUM" { print $5 }')
pmccabe "$DRIVER"/*.c | sort -k 1nr >"$SCRATCH/functions"
echo "#: the driver without its tests: $lines lines, ${code:-?} of them code, $(wc -l <"$SCRATCH/functions") functions"
echo "#: most branched: $(awk 'NR <= 3 { printf "%s%s %d", sep, $NF, $1; sep = ", " }' "$SCRATCH/functions")"
at_most "lines" "$lines" "$MAX_LINES"
at_most "lines of code" "$code" "$MAX_CODE"
at_most "branches of a function (pmccabe)" "$(awk 'NR == 1 { print $1 }' "$SCRATCH/functions")" "$MAX_BRANCHES"
