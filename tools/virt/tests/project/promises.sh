#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# data/promises.csv: each promise stands where it says, each test of it is there and is run; and each
# test, each error of the uAPI, each promise of the driver's page and each file of its ABI has a line.
set -u
. "$(dirname "$0")/../lib/tap.sh"

cd "$VIRT_DIR/../.." || exit
TABLE=tools/virt/data/promises.csv
SELFTESTS="tools/testing/selftests/drivers/gpu/panthor tools/virt/guest/selftests"
HEADER=include/uapi/drm/panthor_perf_drm.h
PAGE=Documentation/gpu/panthor-perf.rst
# These test what tests others, or hold the project together: nobody else was promised anything.
OF_TOOLS="check closed-pipe device-calls documents figures kcsan promises shrink size"

rows()
{
	grep -v '^\(#\|$\)' "$TABLE"
}

# words: what comes in, in one line, without the signs of comments
words()
{
	sed 's/^[[:space:]]*\(\* \|\*$\|\/\*\*\)//' | tr -s ' \t\n' ' '
}

# tests_of: "FILE NAME" of each KUnit case, selftest and test function in the files that are named
tests_of()
{
	sed -nE 's/.*\bKUNIT_CASE[A-Z_]*\(([a-z0-9_]+).*/\1/p
		s/^TEST_F[A-Z_]*\(([a-z_]+), ([a-z0-9_]+).*/\1.\2/p
		s/^static void (test_[a-z0-9_]+)\(.*/\1/p' "$@"
}

# What runs somewhere, with check or check -L: scripts, and what they name.
mapfile -t scripts < <(tools/virt/check -L -l | sed 's/[ ,].*//' | sort -u)

# is_run FILE: something runs what the file is compiled to
is_run()
{
	local program

	program=$(basename "$1" .c)
	case $1 in
	drivers/*) grep -qw "tests/$program.o" drivers/gpu/drm/panthor/tests/Makefile ;;
	*) grep -qw -e "$program" "${scripts[@]}" ;;
	esac
}

# sources FILE: where tests of that file are, of which the bed's include the kernel's
sources()
{
	ls drivers/gpu/drm/panthor/tests/"$1" tools/panthor-perf/tests/"$1" 2>/dev/null
	# shellcheck disable=SC2086
	find $SELFTESTS -name "$1"
}

# wrong_test TEST: what is wrong with it, or nothing
wrong_test()
{
	local file=${1%%:*} name=${1#*:} script guest source run=

	case $file in
	*.sh)
		for script in "${scripts[@]}"; do
			[[ $script = */"$file" ]] || continue
			guest=$(basename "$file" .sh)
			[ "$1" = "$file" ] || grep -qsF -e "$name" "$script" "tools/virt/tests/guest/$guest"*.sh ||
				echo "$1: there are no such words"
			return
		done
		echo "$1: no such script is run"
		;;
	*.c)
		# shellcheck disable=SC2046
		tests_of $(sources "$file") /dev/null | grep -qxF -e "$name" || echo "$1: there is no such test"
		for source in $(sources "$file"); do
			! is_run "$source" || run=1
		done
		[ -n "$run" ] || echo "$1: nothing runs it"
		;;
	*) echo "$1: neither a script nor a source" ;;
	esac
}

plan 9

is "each line has a promise, a place, words and a test" "$(rows | awk -F';' 'NF < 4 || $1 == "" || $2 == "" || $3 == "" { print } {
	for (i = 4; i <= NF; i++) if ($i == "") print }')" ""
is "no promise is there twice" "$(rows | cut -d';' -f1 | sort | uniq -d)" ""

rows | while IFS=';' read -r _ file text _; do
	[ -e "$SCRATCH/${file//\//_}" ] || words <"$file" >"$SCRATCH/${file//\//_}"
	grep -qF -e "$text" "$SCRATCH/${file//\//_}" || echo "$file: $text"
done >"$SCRATCH/wrong" 2>&1
is "each promise is written where the table says" "$(cat "$SCRATCH/wrong")" ""

rows | cut -d';' -f4- | tr ';' '\n' | sort -u >"$SCRATCH/tests"
is "each test is there, and is run" "$(while read -r test; do wrong_test "$test"; done <"$SCRATCH/tests")" ""
# What would not be found out would not be wrong.
is "what is not there, or not run, is found" \
	"$(for test in nonesuch.sh option.sh:nonesuch perf_uapi.c:uapi.nonesuch suspend-fence.sh nonesuch.c:x fake-gpu; do
		[ -n "$(wrong_test "$test")" ] || echo "$test"
	done)" ""

is "each script holds a promise, or tests a tool" "$(for script in "${scripts[@]}"; do
	name=${script##*/}
	grep -q "^\(.*/\)\?$name\(:\|$\)" "$SCRATCH/tests" || [[ " $OF_TOOLS " = *" ${name%.sh} "* ]] || echo "$script"
done)" ""
# shellcheck disable=SC2086
is "each selftest holds a promise" "$(find $SELFTESTS -name '*.c' | while read -r file; do
	tests_of "$file" | sed "s/^/${file##*/}:/"
done | sort -u | grep -vxF -f "$SCRATCH/tests")" ""

# Lists of promises: "- " of an error in the header, "- " of the page's section, "What:" of the ABI.
{
	sed -n 's/^ \* - \(-E[A-Z0-9]*: .*\)/\1/p' "$HEADER" | sed "s|^|$HEADER;|"
	awk '/^Guarantees$/ { on = 1 } /^Permission and limits$/ { on = 0 } on && sub(/^- /, "")' "$PAGE" | sed "s|^|$PAGE;|"
	for file in Documentation/ABI/testing/*panthor*; do
		sed -n 's/^What:[[:space:]]*//p' "$file" | sed "s|^|$file;|"
	done
} >"$SCRATCH/lists"
# has_row FILE LINE: a row's words are in the entry of a list that begins with that line, up to the next one
has_row()
{
	local entry

	entry=$(awk -v line="$2" '
		on && /^( \* - |- |What:)|^ \*\/|^$/ { exit }
		!on && index($0, line) { on = 1 }
		on { sub(/^ \* +(- )?/, ""); print }' "$1" | words)
	rows | while IFS=';' read -r _ file text _; do
		[ "$file" != "$1" ] || ! grep -qF -e "$text" <<<"$entry" || echo yes
	done | grep -q yes
}
is "each error, each promise of the page and each file of the ABI has a line" \
	"$(while IFS=';' read -r file line; do
		has_row "$file" "$line" || echo "$file: $line"
	done <"$SCRATCH/lists")" ""
is "which are many" "$(awk 'END { print (NR > 30 ? "many" : NR) }' "$SCRATCH/lists")" many
