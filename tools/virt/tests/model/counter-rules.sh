#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What work moves which counter (qemu/mali-csf-rules.h): a rule for each counter that is described
# (tools/panthor-perf/data/hw_counters.csv), on each architecture, by its name; and the table of virtual-mali.rst.
#
#   counter-rules.sh -w   writes that table anew instead
set -u
. "$(dirname "$0")/../lib/tap.sh"

RULES=$VIRT_DIR/qemu/mali-csf-rules.h
DATA=$VIRT_DIR/../panthor-perf/data/hw_counters.csv
# Around the table in the page.
BEGIN="The rules, grouped by scalar::"
END="All other counters, and all counters of the other sets, count"

# "BLOCK COUNTER FIRST LAST SCALAR MUL SHIFT NAME ROUNDED" of each rule
rules()
{
	awk -F'[(), ]+' '/^(RULE|ROUNDED)\(/ { print $2, $3, $4, $5, $6, $7, $8, $9, $1 == "ROUNDED" }' "$RULES"
}

# The table: a paragraph for each scalar of each block
table()
{
	rules | awk '
		function item(    text) {
			text = $2 " " $8
			if ($6 != 1) text = text " * " $6
			if ($7) text = text ($9 ? " ~ " : " / ") 2 ^ $7
			if ($4 == 15 && $3 > 10) text = text " (" $3 " on)"
			if ($4 < 15) text = text " (" ($3 == $4 ? $3 : $3 " to " $4) ")"
			return text
		}
		{
			key = $1 " " $5
			if (!(key in list)) order[++n] = key
			list[key] = list[key] (key in list && list[key] ? ", " : "") item()
		}
		END {
			for (i = 1; i <= n; i++) {
				split(order[i], k, " ")
				if (k[1] != block) printf "\n  %s\n", block = k[1]
				line = sprintf("    %-11s", tolower(k[2]))
				indent = sprintf("%15s", "")
				count = split(list[order[i]], part, ", ")
				for (j = 1; j <= count; j++) {
					text = part[j] (j < count ? "," : "")
					if (length(line) + 1 + length(text) > 100) {
						print line
						line = indent
					}
					line = line " " text
				}
				print line
			}
			print ""
		}'
}

if [ "${1:-}" = -w ]; then
	table >"$SCRATCH/table"
	awk -v begin="$BEGIN" -v end="$END" -v table="$SCRATCH/table" '
		$0 == end { skip = 0 }
		!skip
		$0 == begin { skip = 1; while ((getline line <table) > 0) print line }' "$VIRT_PAGE" >"$SCRATCH/page" &&
		cat "$SCRATCH/page" >"$VIRT_PAGE"
	exit
fi

plan 4

# "ARCH BLOCK COUNTER NAME", as described and as there are rules
awk -F, '
	BEGIN { n = split("Mali-G710,Mali-G715,Mali-G720,Mali-G725,Mali G1", names, ","); for (i = 1; i <= n; i++) arch[names[i]] = 9 + i }
	$1 in arch { print arch[$1], $2, $4, $5 }' "$DATA" | sort >"$SCRATCH/described"
rules | awk '{ for (arch = $3; arch <= $4 && arch <= 14; arch++) print arch, $1, $2, $8 }' | sort >"$SCRATCH/ruled"

if [ "$(wc -l <"$SCRATCH/described")" -gt 800 ]; then
	ok "counters are described"
else
	not_ok "counters are described" "only $(wc -l <"$SCRATCH/described") in $DATA"
fi
is "no counter has two rules on one architecture" "$(cut -d' ' -f1-3 "$SCRATCH/ruled" | uniq -d)" ""
is "each counter that is described has a rule, and none has that is not" \
	"$(diff "$SCRATCH/described" "$SCRATCH/ruled")" ""
awk -v begin="$BEGIN" -v end="$END" '$0 == end { show = 0 } show { print } $0 == begin { show = 1 }' "$VIRT_PAGE" \
	>"$SCRATCH/shown"
table >"$SCRATCH/table"
is "the table of virtual-mali.rst is that of the rules (counter-rules.sh -w writes it)" "$(diff "$SCRATCH/shown" "$SCRATCH/table")" ""
