#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# Counters in Perfetto's live traces (clients/perfetto), taken by traced of Debian: each count of each block is
# the ledger's, two traces at a time have what they ask for, and nothing that goes away makes one hang.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/perfetto.sh"
. "$(dirname "$0")/../lib/ledger.sh"

GUEST=20

need_perfetto

# names TEXT: of the tracks of a trace
names()
{
	awk '/^        specs {/ { spec = 1 } /^        }/ { spec = 0 }
		spec && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); print }' "$1" | sort -u | tr '\n' ';'
}

# values TEXT NAME: of the track of that name
values()
{
	awk -v name="\"$2\"" '/^ *specs {/ { spec = 1 } spec && $1 == "counter_id:" { id = $2 }
		spec && index($0, "name: " name) { wanted = id } /^ *}/ { spec = 0 }
		!spec && $1 == "counter_id:" { id = $2 } $1 == "double_value:" && id == wanted { print $2 }' "$1"
}

# told_again TEXT: what there is was told twice within four seconds; without need it is each five
told_again()
{
	awk '/^  timestamp:/ { time = $2 }
		/^  sequence_flags: 1$/ { told = 1 }
		/^}/ {
			if (told && last && time - last < 4e9)
				again = 1
			if (told)
				last = time
			told = 0
		}
		END { exit !again }' "$1"
}

# is_slow TEXT: it has no more samples than one each 5 ms, and one more
is_slow()
{
	awk '/^packet/ { time = ""; event = 0 }
		/^    counters/ { event = 1 }
		/^  timestamp:/ { time = $2 }
		/^}/ && event { if (!n++) first = time; last = time }
		END { exit !(n > 2 && (n - 2) * 5e6 <= last - first) }' "$1"
}

plan $((2 * (GUEST + 1 + 7) + 1))
build_source
build_ledger_sums
build_decoder
live_config all 'counter_period_ns: 1000000 counter_names: "*"'
live_config some 'counter_period_ns: 5000000 counter_ids: 268435456 counter_names: "Frequency: *" counter_names: "*GPU active cycles"'
live_config instrumented 'instrumented_sampling: true'
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,trace.*,info,list}
	guest_script $GUEST perfetto -g "$model" -m 1024 -t 2400 -r none:forky -a perfetto -l "$SCRATCH/ledger" \
		-f "$TESTS_DIR/guest/traced.sh" \
		-f "$SOURCE:/root/panthor-perf-perfetto" \
		-f "$SCRATCH/all.cfg:/root/all.cfg" -f "$SCRATCH/some.cfg:/root/some.cfg" \
		-f "$SCRATCH/instrumented.cfg:/root/instrumented.cfg" \
		-o /root/trace.all:"$SCRATCH/trace.all" -o /root/trace.some:"$SCRATCH/trace.some" \
		-o /root/trace.unbound:"$SCRATCH/trace.unbound" -o /root/info:"$SCRATCH/info" -o /root/list:"$SCRATCH/list" \
		-o /root/epochs:"$SCRATCH/epochs"

	decode_trace "$SCRATCH/trace.all" "$SCRATCH/text"
	is "$model: protoc reads the trace" "$? $(cat "$SCRATCH/err")" "0 "
	live_sums "$SCRATCH/text" "$SCRATCH/all"
	grep -v ' 0$' "$SCRATCH/all" >"$SCRATCH/got"
	# shellcheck disable=SC2046
	ledger_sums $(cat "$SCRATCH/epochs") | awk 'FNR == NR { split($0, p, ";"); known[p[2], p[3]] = 1; next }
		($1, $3) in known && $4 { print $1 "." $3, $2, $4 }' "$SCRATCH/list" - | sort >"$SCRATCH/want"
	if [ "$(wc -l <"$SCRATCH/want")" -gt 300 ] && cmp -s "$SCRATCH/got" "$SCRATCH/want"; then
		ok "$model: each count of each block is the ledger's"
	else
		not_ok "$model: each count of each block is the ledger's" "$(wc -l <"$SCRATCH/want") counts that are not 0" \
			"$(diff "$SCRATCH/got" "$SCRATCH/want" | head -n 20)"
	fi
	told_again "$SCRATCH/text" && ok "$model: what traced has cleared is told again" ||
		not_ok "$model: what traced has cleared is told again" "$(grep sequence_flags "$SCRATCH/text" | sort | uniq -c)"
	is "$model: it names the GPU" "$(sed -n 's/^ *name: "\(Mali-.*\)"/\1/p' "$SCRATCH/text" | sort -u)" "Mali-${model^^}"

	decode_trace "$SCRATCH/trace.some" "$SCRATCH/text"
	is "$model: the other trace has what it has asked for" "$(names "$SCRATCH/text")" \
		"$(sed -n '/"clocks":\[/,/\]/p' "$SCRATCH/info" | grep -o '"[a-z]*"' | tail -n +2 | tr -d '"' | sort |
			sed 's/.*/Frequency: & clock/' | tr '\n' ';')GPU active cycles;GPU load;"
	is_slow "$SCRATCH/text" && ok "$model: at its own pace" ||
		not_ok "$model: at its own pace" "$(grep timestamp: "$SCRATCH/text" | tail -n 40)"
	decode_trace "$SCRATCH/trace.unbound" "$SCRATCH/text"
	[ "$(values "$SCRATCH/text" "GPU active cycles" | awk '$1 > 0' | wc -l)" -gt 0 ] &&
		ok "$model: that of the GPU that went has counts" ||
		not_ok "$model: that of the GPU that went has counts" "$(values "$SCRATCH/text" "GPU active cycles")"
done
