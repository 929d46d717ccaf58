#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# daily: none
# Of each command that reads recordings, one run for each allocation of its own, which fails: it ends with an error
# that says so, or what it writes is whole. Those that write JSON are left out: json-c aborts without memory. The same of the
# library's reader of recordings, for which reads fail as well.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

tool=$SCRATCH/live-fast
tool_builds live-fast recording-make reader-test no-memory.so
FRAMES='1000000 7 game
3000000 7 game
5000000 7 game' MARKS='0 shadows
5500000 lighting' "$SCRATCH/recording-make" "$SCRATCH/data" 20 all glmark2

# each NAME COMMAND...: writes to standard output
each()
{
	local name=$1 n count status

	shift
	(NO_MEMORY_COUNT=$SCRATCH/count LD_PRELOAD=$SCRATCH/no-memory.so exec "$tool" "$@") >"$SCRATCH/want" 2>"$SCRATCH/err" </dev/null
	is "$name" "$? $(cat "$SCRATCH/err")" "0 "
	count=$(cat "$SCRATCH/count")
	: >"$SCRATCH/wrong"
	for ((n = 1; n <= count; n++)); do
		status=0
		(NO_MEMORY_AT=$n LD_PRELOAD=$SCRATCH/no-memory.so exec "$tool" "$@") >"$SCRATCH/got" 2>"$SCRATCH/err" </dev/null || status=$?
		if [ $status -eq 0 ]; then
			cmp -s "$SCRATCH/want" "$SCRATCH/got" || echo "$n: it ends well with less" >>"$SCRATCH/wrong"
		elif [ $status -ge 126 ] || ! [ -s "$SCRATCH/err" ]; then
			echo "$n: $status, $(head -c 200 "$SCRATCH/err")" >>"$SCRATCH/wrong"
		fi
	done
	is "$name without memory: $(tr '\n' ' ' <"$SCRATCH/count")times" "$(head -n 20 "$SCRATCH/wrong")" ""
	[ "$count" -ge 20 ] && ok "$name allocates" || not_ok "$name allocates" "$count"
}

each "convert --csv" convert --csv "$SCRATCH/data"
each "convert --perfetto" convert --perfetto "$SCRATCH/data"
each "convert --sqlite" convert --sqlite -o "$SCRATCH/database" "$SCRATCH/data"
each "report" report "$SCRATCH/data"
each "report --frames" report --frames "$SCRATCH/data"
each "report --csv" report --csv -e MaliGPUActiveCy,MaliCoreUtil "$SCRATCH/data"
each "diff" diff -e MaliGPUActiveCy,MaliCoreUtil,MaliFragActiveCy "$SCRATCH/data" "$SCRATCH/data"

# More than a chunk, and without an index
"$SCRATCH/recording-make" "$SCRATCH/chunks" 1100 default
head -c 400000 "$SCRATCH/chunks" >"$SCRATCH/cut"
ASAN_OPTIONS=detect_leaks=1 "$SCRATCH/reader-test" -m "$SCRATCH"/{data,chunks,cut} >"$SCRATCH/out" 2>"$SCRATCH/err"
is "the library: ends well, and frees all" "$? $(grep -A20 Sanitizer "$SCRATCH/err")" "0 "
relay "the library" < <(sed -n 's/^\(not \)\{0,1\}ok [0-9]* - /\1ok - /p; s/^# //p' "$SCRATCH/out")
plan "$TAP_COUNT"
