#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What programs read of recordings by the library: samples, columns, regions, of whole files and others; the example; how long
# columns take, and how much memory.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

# Instructions for a sample of five columns of the default counters, at most: what was needed when this was written, and a third
# for other compilers. KiB beside the arrays.
MOST_INSTRUCTIONS=16000
MOST_KIB=60000
# KiB of stack: equations may take 128, a program and libc have some as well.
MOST_STACK_KIB=256

tool=$(cd "$(dirname "$0")/.." && pwd)
tool_builds panthor-perf recording-make reader-test libpanthor-perf.a

marks=$(for ((i = 1; i <= 40; i++)); do echo "$((i * 53000000 + i * i * 777)) part $((i % 5))"; done)
STATES=1 LATE=30000000 MARKS="$marks" "$SCRATCH/recording-make" "$SCRATCH/marks" 3000 default
STATES=1 "$SCRATCH/recording-make" "$SCRATCH/all" 1500 all
"$SCRATCH/recording-make" "$SCRATCH/none" 0 default
"$SCRATCH/recording-make" "$SCRATCH/one" 1 default
# A whole number of chunks
"$SCRATCH/recording-make" "$SCRATCH/chunks" 2048 default
ASAN_OPTIONS=detect_leaks=1 "$SCRATCH/reader-test" "$tool"/tests/recordings/*.data "$SCRATCH"/{marks,all,none,one,chunks} >"$SCRATCH/out" \
	2>"$SCRATCH/err"
is "the test ends well" "$? $(grep -A20 Sanitizer "$SCRATCH/err")" "0 "
relay "the library" < <(sed -n 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /p; s/^# //p' "$SCRATCH/out")

# ---- The example ----

# compile NAME SOURCE: with the library in it
compile()
{
	# shellcheck disable=SC2046
	"${CC:-cc}" -O2 -Wall -Wextra -Werror -I"$tool/libpanthor-perf" -o "$SCRATCH/$1" "$2" "$SCRATCH/libpanthor-perf.a" \
		$(pkg-config --libs json-c zlib libdrm) -lm 2>"$SCRATCH/err"
	is "$1 compiles" "$? $(cat "$SCRATCH/err")" "0 "
}

compile regions "$tool/examples/regions.c"
is "the example has forty lines at the most" "$(($(wc -l <"$tool/examples/regions.c") <= 40))" 1
"$SCRATCH/panthor-perf" report -j "$SCRATCH/marks" | python3 -c 'import json, sys
regions = json.load(sys.stdin)["regions"]
for region in regions[-1:] + regions[:-1]:
    print("%12.3f percent  %s" % ([c["mean"] for c in region["counters"] if c["name"] == "MaliCoreUtil"][0], region["name"] or "(no region)"))
' >"$SCRATCH/want"
is "the example says of each region what report says" "$("$SCRATCH/regions" "$SCRATCH/marks" MaliCoreUtil)" "$(cat "$SCRATCH/want")"
is "of five regions and what is in none" "$(wc -l <"$SCRATCH/want")" 6
"$SCRATCH/panthor-perf" report -j "$SCRATCH/all" | python3 -c 'import json, sys
print("%12.3f percent  (no region)" % [c["mean"] for c in json.load(sys.stdin)["counters"] if c["name"] == "MaliCoreUtil"][0])
' >"$SCRATCH/want"
is "without marks, all is in none" "$("$SCRATCH/regions" "$SCRATCH/all" MaliCoreUtil)" "$(cat "$SCRATCH/want")"
is "what is no recording" "$("$SCRATCH/regions" /dev/null MaliCoreUtil 2>&1) $("$SCRATCH/regions" "$SCRATCH/marks" none 2>&1)" \
	"not a panthor-perf recording there is no counter none"

# ---- Cost ----

cat >"$SCRATCH/columns.c" <<'END'
#include <panthor-perf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
	struct pperf_selection *selection;
	struct pperf_recording *recording;
	struct rusage before, after;
	double *values[5];
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .values = values };
	size_t i, n, count;

	getrusage(RUSAGE_SELF, &before);
	if (argc != 3 || pperf_recording_open(argv[1], &recording) ||
	    pperf_selection_new(pperf_recording_db(recording), NULL, &selection) || pperf_selection_add_list(selection, argv[2]))
		return 1;
	pperf_selection_counters(selection, &count);
	arrays.room = pperf_recording_info(recording)->samples;
	for (i = 0; i < count; i++)
		values[i] = malloc(arrays.room * sizeof(double));
	if (pperf_recording_columns(recording, selection, UINT64_MAX, &arrays, &n) || n != arrays.room || count != 5)
		return 1;
	getrusage(RUSAGE_SELF, &after);
	printf("%ld\n", after.ru_maxrss - before.ru_maxrss - (long)(count * n * sizeof(double) >> 10));
	return 0;
}
END
compile columns "$SCRATCH/columns.c"
names=MaliGPUActiveCy,MaliTexUtil,MaliExtBusRdBy,MaliL2CacheRdMissRate,MaliCoreUtil

# instructions RECORDING
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file="$SCRATCH/callgrind" "$SCRATCH/columns" "$1" $names >/dev/null 2>&1
	sed -n 's/^summary: //p' "$SCRATCH/callgrind"
}

"$SCRATCH/recording-make" "$SCRATCH/long" 200000 default
"$SCRATCH/recording-make" "$SCRATCH/2000" 2000 default
"$SCRATCH/recording-make" "$SCRATCH/6000" 6000 default
each=$((($(instructions "$SCRATCH/6000") - $(instructions "$SCRATCH/2000")) / 4000))
echo "# columns: $each instructions for a sample"
[ "$each" -gt 0 ] && [ "$each" -lt $MOST_INSTRUCTIONS ] && ok "five columns take few instructions for a sample" ||
	not_ok "five columns take few instructions for a sample" "$each, at most $MOST_INSTRUCTIONS"
kib=$("$SCRATCH/columns" "$SCRATCH/long" $names)
few=$("$SCRATCH/columns" "$SCRATCH/2000" $names)
echo "# columns: $kib KiB beside the arrays, of 2,000 samples $few"
[ "${kib:-99999}" -lt $MOST_KIB ] && [ "$kib" -lt $((few + 2000)) ] && ok "and little memory, however long a recording is" ||
	not_ok "and little memory, however long a recording is" "$kib KiB, of 2,000 samples $few"
(ulimit -s $MOST_STACK_KIB && exec "$SCRATCH/columns" "$SCRATCH/2000" $names) >"$SCRATCH/out" 2>&1
is "and little stack" "$? $(grep -cx '[0-9-]*' "$SCRATCH/out")" "0 1"
plan "$TAP_COUNT"
