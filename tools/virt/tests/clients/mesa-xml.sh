#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# Mesa's generator reads the XML of counters that clients/mesa/xml.sh writes, and what it makes of it compiles and has each
# counter of the tables.
set -u
. "$(dirname "$0")/../lib/tap.sh"

DATA=$VIRT_DIR/../panthor-perf/data/hw_counters.csv

plan 4
if [ -z "${MESA_SRC:-}" ]; then
	MESA_SRC=$("$VIRT_DIR/build/sources.sh" source mesa trixie 2>"$SCRATCH/err") || exit 1
fi
mkdir -p "$SCRATCH/xml" "$SCRATCH/perf"
is "the files are written" "$("$VIRT_DIR/../../clients/mesa/xml.sh" "$SCRATCH/xml" 2>&1; cd "$SCRATCH/xml" && echo *)" \
	"G1.xml G710.xml G715.xml G720.xml G725.xml"
is "Mesa reads them" "$(/usr/bin/python3 "$MESA_SRC/src/panfrost/perf/pan_gen_perf.py" --code "$SCRATCH/metrics.c" \
	--header "$SCRATCH/metrics.h" "$SCRATCH"/xml/*.xml 2>&1)" ""
# What README says that has to change in Mesa
sed 's/\(PAN_PERF_MAX_COUNTERS\) .*/\1 128/
	s/^   PAN_PERF_COUNTER_UNITS_ISSUES,/&\n   PAN_PERF_COUNTER_UNITS_BOXES, PAN_PERF_COUNTER_UNITS_EVENTS, PAN_PERF_COUNTER_UNITS_INTERRUPTS,\n   PAN_PERF_COUNTER_UNITS_NODES, PAN_PERF_COUNTER_UNITS_RAYS, PAN_PERF_COUNTER_UNITS_TESTS,/' \
	"$MESA_SRC/src/panfrost/perf/pan_perf.h" >"$SCRATCH/perf/pan_perf.h"
cat >"$SCRATCH/list.c" <<'C'
#include <stdio.h>
#include "metrics.c"

int main(void)
{
	for (unsigned int p = 0; p < ARRAY_SIZE(panfrost_perf_configs); p++)
		for (unsigned int c = 0; c < panfrost_perf_configs[p]->n_categories; c++) {
			const struct panfrost_perf_category *category = &panfrost_perf_configs[p]->categories[c];

			for (unsigned int i = 0; i < category->n_counters; i++)
				printf("%s %u %u %s\n", panfrost_perf_configs[p]->name, c, category->counters[i].offset,
				       category->counters[i].symbol_name);
		}
	return 0;
}
C
is "the tables compile" "$("${CC:-cc}" -I"$SCRATCH" -I"$MESA_SRC/src" -I"$MESA_SRC/include" -o "$SCRATCH/list" "$SCRATCH/list.c" 2>&1)" ""
"$SCRATCH/list" | sort >"$SCRATCH/got"
awk -F, '!/^#/ && $1 != "layout" {
	sub(/^Mali[- ]/, "", $1)
	print $1, index("CSHW  TILER MEMSYSSHADER", $2), $4, tolower($5)
}' "$DATA" | awk '{ $2 = ($2 - 1) / 6; print }' | sort >"$SCRATCH/want"
is "with each counter in its place" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 5)" ""
