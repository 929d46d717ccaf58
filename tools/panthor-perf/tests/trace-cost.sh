#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What a trace for Perfetto costs, of the default counters: bytes and instructions of a sample, and memory, which does
# not grow with the recording.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$VIRT_DIR/tests/lib/perfetto.sh"

# At the most: bytes of 10,000 samples, each; instructions of one more sample, with those that read it; KiB of data.
BYTES=860
INSTRUCTIONS=400000
MEMORY=49152

tool_builds live-fast recording-make
tool=$SCRATCH/live-fast

# at_most NAME NUMBER MOST
at_most()
{
	if [ -n "$2" ] && [ "$2" -le "$3" ]; then
		ok "$1: $2, $3 at the most"
	else
		not_ok "$1: $3 at the most" "${2:-none}"
	fi
}

# instructions SAMPLES
instructions()
{
	"$SCRATCH/recording-make" "$SCRATCH/data" "$1" default
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" \
		2>&1 | sed -n 's/.*Collected : //p'
}

"$SCRATCH/recording-make" "$SCRATCH/data" 10000 default
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data"
is "convert -P" $? 0
at_most "bytes of a sample" $(($(stat -c %s "$SCRATCH/trace") / 10000)) $BYTES

(ulimit -d $MEMORY && exec "$tool" convert -P -o "$SCRATCH/small" "$SCRATCH/data" 2>"$SCRATCH/err")
is "$((MEMORY / 1024)) MiB of memory are enough" "$? $(cat "$SCRATCH/err") $(cmp "$SCRATCH/small" "$SCRATCH/trace" 2>&1)" "0  "

few=$(instructions 1000)
many=$(instructions 3000)
at_most "instructions of a sample" "$(((many - few) / 2000))" $INSTRUCTIONS

# The same, compressed so that every version of Perfetto reads it.
build_decoder
"$tool" convert --perfetto=deflate -o "$SCRATCH/deflated" "$SCRATCH/data"
"$tool" convert --perfetto=zstd -o "$SCRATCH/trace" "$SCRATCH/data"
cmp <("$SCRATCH/expand-trace" <"$SCRATCH/deflated") <("$SCRATCH/expand-trace" <"$SCRATCH/trace") >"$SCRATCH/differ" 2>&1
is "deflate has the same packets" "$? $(cat "$SCRATCH/differ") $(($(stat -c %s "$SCRATCH/deflated") > $(stat -c %s "$SCRATCH/trace")))" "0  1"
"$tool" convert --perfetto=lz4 "$SCRATCH/data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "another compression" "$? $(head -n 1 "$SCRATCH/err")" "2 panthor-perf convert: --perfetto: use zstd or deflate, not \"lz4\""
plan "$TAP_COUNT"
