#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The table of switches has all of them, virtual-mali.rst prints it as it is, each line has its tests, and what
# is an assumption stands in the driver's documentation.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/faults.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
kunit=$top/drivers/gpu/drm/panthor/tests
doc=$top/Documentation/gpu/panthor-perf.rst

plan 6
is "virtual-mali.rst prints the table" \
	"$(sed -n '/^  switch  *promise/,/^$/p' "$VIRT_PAGE" | sed -n '2,$p' | sed '/^$/d')" \
	"$(fault_rows | awk -F';' '{ printf "  %-17s %-11s%s\n", $1, $2, $5 }')"

# Writable registers of the map that make something go wrong: those of firmware and GPU, and all faults.
is "each switch has one line" "$(fault_rows | cut -d';' -f1 | sort)" \
	"$(sed -n 's/^  0x\(08[048]\|09.\|0a[048]\|0b0\|0bc\|228\|3..\)  ..  r\{0,1\}w  *\([a-z0-9_]*\) .*/\2/p' "$VIRT_PAGE" | sort)"

wrong=$(fault_rows | while IFS=';' read -r name promise tests _ then; do
	case $promise in
	exact|flagged|reset|assumption) ;;
	*) echo "$name: '$promise' is no promise" ;;
	esac
	[ -n "$tests" ] && [ -n "$then" ] || echo "$name: there is no test, or nothing is said"
done)
is "each line has a promise, a test and what happens" "$wrong" ""

missing=$(fault_rows | while IFS=';' read -r name promise tests _; do
	for test in $tests; do
		case $test in
		vm|reset) ;;
		kunit:*) grep -q "KUNIT_CASE(${test#kunit:})" "$kunit"/*.c || echo "$name: $test" ;;
		selftest:*)
			[ -e "$top/tools/testing/selftests/drivers/gpu/panthor/${test#selftest:}.c" ] ||
				[ -e "$top/tools/virt/guest/selftests/${test#selftest:}.c" ] || echo "$name: $test"
			;;
		*) echo "$name: $test" ;;
		esac
	done
done)
is "the tests of each line are there" "$missing" ""

is "Documentation has each assumption" \
	"$(fault_rows | awk -F';' '$2 == "assumption" { print $1 }' | while read -r name; do
		grep -q "[( ]\`\`$name\`\`[,)]" "$doc" || echo "$name"
	done)" ""
# What bites.sh finds: a row of a patch's name, and what it says of itself, folded.
is "virtual-mali.rst prints what a board would punish" \
	"$(sed -n '/^What a board would punish$/,/^The bench page$/p' "$VIRT_PAGE" | grep '^  ')" \
	"$(for patch in "$VIRT_DIR"/data/bites/*.patch; do
		name=${patch##*/}
		printf '%s: %s' "$(sed -n 's/^What: //p' "$patch")" "$(sed -n 's/^Board: //p' "$patch")" | fold -s -w 80 |
			awk -v name="${name%.patch}" '{ sub(/ $/, ""); printf "  %-18s%s\n", NR == 1 ? name : "", $0 }'
	done)"
