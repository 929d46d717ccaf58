# SPDX-License-Identifier: MIT
# Traces that panthor-perf writes for Perfetto (source it behind tap.sh): what is in them, by protoc and the
# published format, to be compared with recordings. $SCRATCH/places has lines of `list -x ';'`.
#
#   build_decoder             1 result if it fails, and an end
#   decode_trace TRACE TEXT   what protoc reads; what it says in $SCRATCH/err
#   csv_sums CSV FILE         "SAMPLE BLOCK.INDEX SUM" of what all blocks of a sample have counted, sorted
#   trace_sums TEXT CSV FILE  the same of a trace; the CSV has begins and ends of its samples
#   live_sums TEXT FILE       "BLOCK-TYPE.COUNTER INDEX SUM" of what a trace has counted, sorted; $SCRATCH/list has
#                             lines of `list -x ';'`
# And for those that take traces with traced:
#   need_perfetto             ends the test without PERFETTO_SRC
#   build_source              1 result; $SOURCE is the program
#   live_config NAME TEXT [MORE]   $SCRATCH/NAME.cfg: counters as TEXT says, and MORE sources, until it is ended

build_decoder()
{
	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/expand-trace" "$VIRT_DIR/host/trace-expand.c" -lz -lzstd \
		2>"$SCRATCH/err" && return
	not_ok "what reads traces compiles" "$(cat "$SCRATCH/err")"
	exit 1
}

decode_trace()
{
	local tests=$VIRT_DIR/../panthor-perf/tests

	"$SCRATCH/expand-trace" <"$1" >"$SCRATCH/expanded" 2>"$SCRATCH/err" &&
		protoc --decode=Trace -I "$tests" "$tests/perfetto-check.proto" <"$SCRATCH/expanded" >"$2" 2>"$SCRATCH/err"
}

csv_sums()
{
	awk -F, 'FNR == NR { split($0, p, ";"); place[p[1]] = p[2] "." p[3]; next }
		FNR == 1 { for (i = 1; i <= NF; i++) if (split($i, w, ":") == 2 && w[2] in place) of[i] = place[w[2]]; next }
		{
			delete sum
			for (i in of) sum[of[i]] += $i
			for (q in sum) if (sum[q]) printf "%d %s %.0f\n", FNR - 2, q, sum[q]
		}' "$SCRATCH/places" "$1" | sort >"$2"
}

# A track keeps its value until there is another: what it has at a sample's begin is that sample's, a rate.
trace_sums()
{
	awk 'FILENAME == ARGV[1] { split($0, p, ";"); place[p[1]] = p[2] "." p[3]; next }
		FILENAME == ARGV[2] { split($0, f, ","); sample[f[1]] = FNR - 2; seconds[f[1]] = (f[2] - f[1]) / 1e9; next }
		/^      specs {/ { spec = 1 }
		spec && $1 == "counter_id:" { id = $2 }
		# Of counters of hardware: metrics of a block have an equation.
		spec && $1 == "description:" && $3 == "of" && NF == 4 && substr($2, 2) in place { of[id] = place[substr($2, 2)] }
		/^      }/ { spec = 0 }
		!spec && $1 == "counter_id:" { id = $2 }
		!spec && $1 == "double_value:" && id in of { rate[id] = $2 }
		/counter_descriptor/ { description = 1 }
		/^  timestamp:/ { time = $2 }
		/^}/ {
			if (!description && time in sample) {
				for (id in rate) sum[of[id]] += int(rate[id] * seconds[time] + 0.5)
				for (q in sum) if (sum[q]) printf "%d %s %.0f\n", sample[time], q, sum[q]
				delete sum
			}
			description = 0
			time = ""
		}' "$SCRATCH/places" "$2" "$1" | sort >"$3"
}

# A value holds from its packet to the next; the last are zeros.
live_sums()
{
	awk 'FNR == NR { split($0, p, ";"); place[p[1]] = p[2] "." p[3]; next }
		/^packet/ { time = ""; event = 0; delete change }
		/^  gpu_counter_event/ { event = 1 }
		/{$/ { inside = $1 }
		$1 == "counter_id:" { id = $2 }
		inside == "specs" && $1 == "description:" && $3 == "of" && NF == 4 && substr($2, 2) in place {
			split($4, b, /[."]/)
			of[id] = place[substr($2, 2)] " " b[2]
		}
		inside == "counters" && $1 == "double_value:" && id in of { change[id] = $2 }
		/^  timestamp:/ { time = $2 }
		/^}/ && event {
			if (last != "")
				for (id in rate) sum[of[id]] += int(rate[id] * (time - last) / 1e9 + 0.5)
			for (id in change) rate[id] = change[id]
			last = time
		}
		END { for (q in sum) if (sum[q]) printf "%s %.0f\n", q, sum[q] }' "$SCRATCH/list" "$1" | sort >"$2"
}

need_perfetto()
{
	[ -z "${PERFETTO_SRC:-}" ] || return 0
	echo "1..0 # SKIP set PERFETTO_SRC to a checkout of Perfetto (clients/perfetto/README)"
	exit 0
}

build_source()
{
	if ! SOURCE=$("$VIRT_DIR/../../clients/perfetto/build.sh" 2>"$SCRATCH/err"); then
		not_ok "the data source builds" "$(tail -n 40 "$SCRATCH/err")"
		exit 1
	fi
	ok "the data source builds"
	SOURCE=$SOURCE/panthor-perf-perfetto
}

live_config()
{
	local tests=$VIRT_DIR/../panthor-perf/tests

	protoc --encode=TraceConfig -I "$tests" "$tests/perfetto-check.proto" >"$SCRATCH/$1.cfg" <<-END || exit 1
		buffers { size_kb: 65536 fill_policy: DISCARD }
		data_sources { config { name: "gpu.counters.panthor" gpu_counter_config { $2 } } }
		${3:-}
		incremental_state_config { clear_period_ms: 500 }
		flush_timeout_ms: 60000
		data_source_stop_timeout_ms: 60000
	END
}
