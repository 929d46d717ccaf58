#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# panthor-perf record, report, convert and diff: what they say is, sample by sample and counter by
# counter, what the model has counted. One GPU on each kernel; with LONG both, and a recording of 30 s.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/perfetto.sh"

tool=$VIRT_DIR/../panthor-perf
NEWEST=7.3

# Bytes of an enabled counter in a sample, at most.
MOST_BYTES=3

# same NAME GOT WANT: equal files, which are not empty
same()
{
	if [ -s "$3" ] && cmp -s "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$2" "$3" | head -n 20)" "$(wc -l "$2" "$3")"
	fi
}

# ledger_sums FILE: "SAMPLE TYPE.INDEX SUM" of all that the model has counted in each sample
ledger_sums()
{
	compare_files -d | awk '{ print $2, toupper($3) "." $4, $5 }' | sort >"$1"
}

# json_sums: the same of what was converted, by names of the counters
json_sums()
{
	awk 'FNR == NR { split($0, p, ";"); place[p[1]] = p[2] "." p[3]; next }
		/^{"start_ns"/ {
			delete sum
			n = split($0, word, /[",{}:]+/)
			for (i = 1; i < n; i++) if (word[i] in place) sum[place[word[i]]] += word[i + 1]
			for (q in sum) if (sum[q]) printf "%d %s %.0f\n", sample, q, sum[q]
			sample++
		}' "$SCRATCH/places" "$SCRATCH/rec.json" | sort >"$1"
}

# report_sums FILE, report_json_sums FILE: "NAME TOTAL" of counters of hardware
report_sums()
{
	awk 'FNR == NR { split($0, p, ";"); if (p[2] != "derived") is[p[1]] = 1; next }
		$1 in is { gsub(",", "", $2); if ($2) print $1, $2 }' "$SCRATCH/places" "$SCRATCH/rec.report" | sort >"$1"
}

report_json_sums()
{
	awk 'FNR == NR { split($0, p, ";"); if (p[2] != "derived") is[p[1]] = 1; next }
		{ gsub(/[",]/, "") }
		/name:/ { sub(/.*name:/, ""); name = $0 }
		/total:/ && name in is { sub(/.*total:/, ""); if ($0 != 0) print name, $0 }' \
		"$SCRATCH/places" "$SCRATCH/rec.report.json" | sort >"$1"
}

# forms NAME: 6 results. What was made of the recording is what the ledger says.
forms()
{
	ledger_sums "$SCRATCH/want"
	# Counters without a name are not recorded.
	awk 'FNR == NR { split($0, p, ";"); place[p[2] "." p[3]] = 1; next } $2 in place' \
		"$SCRATCH/places" "$SCRATCH/want" >"$SCRATCH/want.named"
	csv_sums "$SCRATCH/rec.csv" "$SCRATCH/got"
	same "$1: CSV has every sample as the ledger has it" "$SCRATCH/got" "$SCRATCH/want.named"
	json_sums "$SCRATCH/got"
	same "$1: so has JSON" "$SCRATCH/got" "$SCRATCH/want.named"
	decode_trace "$SCRATCH/rec.trace" "$SCRATCH/trace.txt"
	is "$1: protoc reads the trace" "$? $(cat "$SCRATCH/err")" "0 "
	trace_sums "$SCRATCH/trace.txt" "$SCRATCH/rec.csv" "$SCRATCH/got"
	same "$1: and so has the trace, each once" "$SCRATCH/got" "$SCRATCH/want.named"
	awk 'FNR == NR { split($0, p, ";"); if (p[2] != "derived") name[p[2] "." p[3]] = p[1]; next }
		{ sum[name[$2]] += $3 }
		END { for (n in sum) printf "%s %.0f\n", n, sum[n] }' "$SCRATCH/places" "$SCRATCH/want.named" |
		sort >"$SCRATCH/want.sums"
	report_sums "$SCRATCH/got"
	same "$1: report has the sums" "$SCRATCH/got" "$SCRATCH/want.sums"
	report_json_sums "$SCRATCH/got"
	same "$1: and so has its JSON" "$SCRATCH/got" "$SCRATCH/want.sums"
}

# trace_form NAME SAMPLES: 6 results. The trace is what Perfetto wants.
trace_form()
{
	is "$1: every track has a name of its own" \
		"$(awk '/^      specs {/ { s = 1 } /^      }/ { s = 0 } s && $1 == "name:"' "$SCRATCH/trace.txt" | sort | uniq -d)" ""
	is "$1: all values are of the time that follows" \
		"$(grep value_direction: "$SCRATCH/trace.txt" | sort -u | tr -d ' ')" "value_direction:FORWARDS_LOOKING"
	is "$1: a point for each sample, and one that ends them" \
		"$(awk '/^  timestamp:/ { print $2 }' "$SCRATCH/trace.txt" | sort -un | wc -l)" $(($2 + 1))
	is "$1: in the clock of the samples" \
		"$(awk '$1 == "timestamp_clock_id:" { print $2 }' "$SCRATCH/trace.txt" | sort -u)" 5
	is "$1: which is compared with the others before" \
		"$(awk '/^packet/ { n++ } /clock_id:/ && n == 1 { print $2 }' "$SCRATCH/trace.txt" | sort | tr '\n' ' ')" "1 3 5 6 "
	for track in "GPU load" "Frequency: toplevel clock" "Top-down: Idle" "Top-down: Shader cores: Arithmetic" "Core 0: Fragment active cycles" \
		"Core 3: Fragment active cycles" "Slice 1: Read lookup requests" "Output external read bytes" \
		"GPU active cycles"; do
		grep -qF "name: \"$track\"" "$SCRATCH/trace.txt" || echo "$track"
	done >"$SCRATCH/missing"
	is "$1: the tracks that people look for are there" "$(cat "$SCRATCH/missing")" ""
}

# record MODEL RESULTS SECONDS WHAT [RUN-OPTION...]
record()
{
	local model=$1 results=$2 seconds=$3 what=$4

	shift 4
	rm -f "$SCRATCH"/{ledger,record,trace*,rec*,slow,direct*,places}
	guest_script "$results" record -g "$model" -m 2048 -t 1800 -l "$SCRATCH/ledger" \
		-f "$TESTS_DIR/guest/trace.sh" "$@" \
		-o rec:"$SCRATCH/rec" -o rec.csv:"$SCRATCH/rec.csv" -o rec.json:"$SCRATCH/rec.json" \
		-o rec.trace:"$SCRATCH/rec.trace" -o rec.report:"$SCRATCH/rec.report" \
		-o rec.report.json:"$SCRATCH/rec.report.json" -o places:"$SCRATCH/places" \
		-o trace:"$SCRATCH/trace.rec" -- "$seconds" "$what"
}

# size NAME: 1 result. Of a recording of gpu-load.
size()
{
	local counters samples bytes

	# Counters of hardware with a place that the GPU has: columns of the first block of each type.
	counters=$(head -n 1 "$SCRATCH/rec.csv" | tr , '\n' | grep -c '\.0:[^s]')
	samples=$(($(wc -l <"$SCRATCH/rec.csv") - 1))
	bytes=$(stat -c %s "$SCRATCH/rec")
	if [ "$counters" -gt 100 ] && [ "$bytes" -le $((MOST_BYTES * counters * samples)) ]; then
		ok "$1: at most $MOST_BYTES bytes an enabled counter a sample ($bytes of $samples samples of $counters counters)"
	else
		not_ok "$1: at most $MOST_BYTES bytes an enabled counter a sample" \
			"$bytes bytes, $samples samples, $counters counters"
	fi
}

build_comparison
build_reader recording-exact
build_decoder

# All of it, or what a recording and its forms are.
full()
{
	local seconds=0

	[ -z "${LONG:-}" ] || seconds=30
	record g610 67 "$seconds" all -o slow:"$SCRATCH/slow" -o trace.slow:"$SCRATCH/trace.slow" \
		-o direct.trace:"$SCRATCH/direct.trace" -o direct.samples:"$SCRATCH/direct.samples"
	size g610
	exact_recording g610 "$SCRATCH/rec" "$SCRATCH/trace.rec"
	forms g610
	trace_form g610 "$(($(wc -l <"$SCRATCH/rec.csv") - 1))"
	exact_recording "g610, a slow reader" "$SCRATCH/slow" "$SCRATCH/trace.slow"
	# Two traces in a row are one.
	cat "$SCRATCH/direct.trace" "$SCRATCH/rec.trace" >"$SCRATCH/both.trace"
	decode_trace "$SCRATCH/both.trace" "$SCRATCH/both.txt"
	packets=$(grep -c '^packet' "$SCRATCH/trace.txt")
	decode_trace "$SCRATCH/direct.trace" "$SCRATCH/trace.txt"
	is "g610: protoc reads what record --perfetto has written" "$? $(cat "$SCRATCH/err")" "0 "
	is "g610: which has a point for each sample, and one that ends them" \
		"$(awk '/^  timestamp:/ { print $2 }' "$SCRATCH/trace.txt" | sort -un | wc -l)" \
		"$(($(cat "$SCRATCH/direct.samples") + 1))"
	is "g610: traces can be put one behind the other" "$(grep -c '^packet' "$SCRATCH/both.txt")" \
		"$((packets + $(grep -c '^packet' "$SCRATCH/trace.txt")))"
}

short()
{
	record g715 14 0 short
	exact_recording g715 "$SCRATCH/rec" "$SCRATCH/trace.rec"
	forms g715
	trace_form g715 "$(($(wc -l <"$SCRATCH/rec.csv") - 1))"
}

[ -z "${LONG:-}" ] && [ "$KERNEL" != $NEWEST ] || full
[ -z "${LONG:-}" ] && [ "$KERNEL" = $NEWEST ] || short
plan "$TAP_COUNT"
