#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Columns of numbers: all rows of a table have the same, whatever their values are, and thousands are separated.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

tool_builds live-test recording-make format-test
tool=$SCRATCH/live-test
POWERS=1 "$SCRATCH/recording-make" "$SCRATCH/powers" 30 all
"$SCRATCH/recording-make" "$SCRATCH/usual" 30 all
number='-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?'

# column NAME: the lines of $SCRATCH/column end in one column, are numbers with separators or nothing, and have all powers of ten
column()
{
	local ends

	ends=$(sed 's/[^ -~]/x/g' "$SCRATCH/column" | awk '{ print length }' | sort -u | wc -l)
	is "$1: a column, of numbers with separators" "$ends $(grep -vxE -e " *($number|-)?" "$SCRATCH/column" | head -n 3)" "1 "
	is "$1: from 1 to 10^19" "$(for n in $(seq 0 19); do
		tr -d ' ,' <"$SCRATCH/column" | grep -cx "1$(printf "%0${n}d" 0 | tail -c "$n")" | sed 's/^[1-9].*/y/'
	done | tr -d '\n')" yyyyyyyyyyyyyyyyyyyy
}

run_tests 51 "numbers" "$SCRATCH/format-test"

"$tool" report -b "$SCRATCH/powers" >"$SCRATCH/out"
width=$(awk '/^ +total +share/ { print index($0, "total") + 4; exit }' "$SCRATCH/out")
sed -n '/^ *total *share/,$p' "$SCRATCH/out" | sed '1d; /^[^ ]/d' | cut -c33-"$width" >"$SCRATCH/column"
column "report -b"
is "report -b: what follows is another column" "$(sed -n '/^ *total *share/,$p' "$SCRATCH/out" | sed '1d; /^[^ ]/d' | cut -c$((width + 1)) | sort -u)" " "

for options in "-a -b" "-a --per-core -I 1000"; do
	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf w >&6
	# shellcheck disable=SC2086
	FAKE_TICKS=$SCRATCH/ticks "$tool" stat $options -p 1s -- true 2>"$SCRATCH/out"
	exec 6>&-
	rm "$SCRATCH/ticks"
	case $options in
	*-I*) sed -n 's/^ *1\.0* \( *[-0-9,.]*\)  *\(Mali\|[A-Z]* [0-9]*$\).*/\1/p' "$SCRATCH/out" ;;
	*) sed -n 's/^\( *[-0-9,.]*[-0-9]\)  *\(Mali\|[A-Z]* [0-9]*$\).*/\1/p' "$SCRATCH/out" ;;
	esac >"$SCRATCH/column"
	column "stat $options"
done

"$tool" diff -T "$SCRATCH/usual" "$SCRATCH/powers" >"$SCRATCH/out"
sed -n '/^ *change /,/^$/p' "$SCRATCH/out" | sed '/^$/d' >"$SCRATCH/rows"
is "diff: columns of all rows" "$(sed '1d; s/^\( *[^ ]*\)%[ ~]\(.*%\)  Mali.*/\1 \2/' "$SCRATCH/rows" | awk '{ print length }' | sort -u | wc -l)" 1
is "diff: changes have separators" "$(sed '1d; s/^ *\([^ ]*\)%.*/\1/' "$SCRATCH/rows" | tr -d '+' | grep -vxE -e "$number|-?inf" | head -n 3)" ""
is "diff: large ones too" "$(grep -cE '^ *\+[0-9]{1,3}(,[0-9]{3}){3,}\.[0-9]%' "$SCRATCH/rows" | sed 's/^[1-9].*/some/')" some
is "diff: titles are above" "$(head -n 1 "$SCRATCH/rows" | awk '{ print length }')" \
	"$(sed -n '2s/%  Mali.*/%/p' "$SCRATCH/rows" | awk '{ print length }')"
plan "$TAP_COUNT"
