#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# Counters in Perfetto's live traces (clients/perfetto), taken by traced of Debian: each count of each block is
# the ledger's, two traces at a time have what they ask for, and nothing that goes away makes one hang.
set -u
. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/lib/perfetto.sh"
. "$(dirname "$0")/lib/ledger.sh"

client=$VIRT_DIR/../../clients/perfetto
GUEST=20

if [ -z "${PERFETTO_SRC:-}" ]; then
	echo "1..0 # SKIP set PERFETTO_SRC to a checkout of Perfetto (clients/perfetto/README)"
	exit 0
fi

# config NAME TEXT: of a trace that lasts until it is ended
config()
{
	local tests=$VIRT_DIR/../panthor-perf/tests

	protoc --encode=TraceConfig -I "$tests" "$tests/perfetto-check.proto" >"$SCRATCH/$1.cfg" <<-END || exit 1
		buffers { size_kb: 65536 fill_policy: DISCARD }
		data_sources { config { name: "gpu.counters.panthor" gpu_counter_config { $2 } } }
		incremental_state_config { clear_period_ms: 500 }
		flush_timeout_ms: 60000
		data_source_stop_timeout_ms: 60000
	END
}

# live_sums TEXT FILE: "BLOCK-TYPE.COUNTER INDEX SUM" of what was counted, sorted. A value holds from its packet to the
# next; the last are zeros.
live_sums()
{
	awk 'FNR == NR { split($0, p, ";"); place[p[1]] = p[2] "." p[3]; next }
		/^packet/ { time = ""; event = 0; delete change }
		/^  gpu_counter_event/ { event = 1 }
		/^        specs {/ { spec = 1 }
		spec && $1 == "counter_id:" { id = $2 }
		spec && $1 == "description:" && $3 == "of" && NF == 4 && substr($2, 2) in place {
			split($4, b, /[."]/)
			of[id] = place[substr($2, 2)] " " b[2]
		}
		/^        }/ { spec = 0 }
		!spec && $1 == "counter_id:" { id = $2 }
		!spec && $1 == "double_value:" && id in of { change[id] = $2 }
		/^  timestamp:/ { time = $2 }
		/^}/ && event {
			if (last != "")
				for (id in rate) sum[of[id]] += int(rate[id] * (time - last) / 1e9 + 0.5)
			for (id in change) rate[id] = change[id]
			last = time
		}
		END { for (q in sum) if (sum[q]) printf "%s %.0f\n", q, sum[q] }' "$SCRATCH/list" "$1" | sort >"$2"
}

# names TEXT: of the tracks of a trace
names()
{
	awk '/^        specs {/ { spec = 1 } /^        }/ { spec = 0 }
		spec && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); print }' "$1" | sort -u | tr '\n' ';'
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
if build=$("$client/build.sh" 2>"$SCRATCH/err"); then
	ok "the data source builds"
else
	not_ok "the data source builds" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
build_decoder
config all 'counter_period_ns: 1000000 counter_names: "*"'
config some 'counter_period_ns: 5000000 counter_ids: 268435456 counter_names: "Frequency: *" counter_names: "*GPU active cycles"'
config instrumented 'instrumented_sampling: true'
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,trace.*,info,list}
	guest_script $GUEST perfetto -g "$model" -m 1024 -t 2400 -r none:forky -a perfetto -l "$SCRATCH/ledger" \
		-f "$build/panthor-perf-perfetto:/root/panthor-perf-perfetto" \
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
	[ "$(grep -c 'sequence_flags: 1' "$SCRATCH/text")" -gt 1 ] && ok "$model: what traced has cleared is told again" ||
		not_ok "$model: what traced has cleared is told again" "$(grep sequence_flags "$SCRATCH/text" | sort | uniq -c)"
	is "$model: it names the GPU" "$(sed -n 's/^ *name: "\(Mali-.*\)"/\1/p' "$SCRATCH/text" | sort -u)" "Mali-${model^^}"

	decode_trace "$SCRATCH/trace.some" "$SCRATCH/text"
	is "$model: the other trace has what it has asked for" "$(names "$SCRATCH/text")" \
		"$(sed -n '/"clocks":\[/,/\]/p' "$SCRATCH/info" | grep -o '"[a-z]*"' | tail -n +2 | tr -d '"' | sort |
			sed 's/.*/Frequency: & clock/' | tr '\n' ';')GPU active cycles;GPU load;"
	is_slow "$SCRATCH/text" && ok "$model: at its own pace" ||
		not_ok "$model: at its own pace" "$(grep timestamp: "$SCRATCH/text" | tail -n 40)"
	decode_trace "$SCRATCH/trace.unbound" "$SCRATCH/text"
	live_sums "$SCRATCH/text" "$SCRATCH/unbound"
	[ "$(awk '$3 > 0' "$SCRATCH/unbound" | wc -l)" -gt 0 ] && ok "$model: that of the GPU that went has counts" ||
		not_ok "$model: that of the GPU that went has counts" "$(cat "$SCRATCH/unbound")"
done
