#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Counters in Perfetto's traces by Mesa's pps-producer with our driver for panthor: sums over a trace are the ledger's
# between its first and its last sample, of every counter; the kernel counts during a trace only; and nothing hangs.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/perfetto.sh"
. "$TESTS_DIR/lib/ledger.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=15

need_perfetto

# sums TEXT: of all samples, by the counters' titles: "TITLE;SUM"
sums()
{
	awk '/{$/ { inside = $1 }
		$1 == "counter_id:" { id = $2 }
		inside == "specs" && $1 == "name:" { name = $0; sub(/^ *name: "/, "", name); sub(/"$/, "", name); title[id] = name }
		inside == "counters" && $1 == "int_value:" { sum[id] += $2 }
		END { for (id in sum) printf "%s;%.0f\n", title[id], sum[id] }' "$1"
}

# samples TEXT: how many a trace has
samples()
{
	awk '/^packet/ { has = 0 } /^    counters {/ { has = 1 } /^}/ { n += has } END { print n + 0 }' "$1"
}

plan $((2 * (GUEST + 1 + 4) + 1))
if build=$("$CLIENTS/mesa/build.sh" pps-producer 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err"); then
	ok "pps-producer builds with our patches"
else
	not_ok "pps-producer builds with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
build_decoder
live_config all 'counter_period_ns: 10000000'
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,trace.all,info,list,titles,deliveries}
	# shellcheck disable=SC2046
	guest_script $GUEST mesa-perfetto -g "$model" -m 1024 -t 1800 -r none:forky -a perfetto -a libdrm2 -a libjson-c5 -a libstdc++6 -a zlib1g \
		-l "$SCRATCH/ledger" -f "$TESTS_DIR/guest/traced.sh" -f "$build/pps-producer:/root/pps-producer" \
		-f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0" -f "$SCRATCH/all.cfg:/root/all.cfg" \
		$(for f in info list titles deliveries cost trace.all; do printf '%s ' -o "/root/$f:$SCRATCH/$f"; done)

	decode_trace "$SCRATCH/trace.all" "$SCRATCH/text"
	# It complains that counters have no value_direction, which Mesa does not write.
	is "$model: protoc reads the trace" "$? $(grep -v '^warning: ' "$SCRATCH/err")" "0 "
	# The first delivery begins the first sample.
	last=$(($(samples "$SCRATCH/text") + 1))
	[ "$last" -gt 10 ] && [ $(($(wc -l <"$SCRATCH/deliveries") - last)) -le 1 ] && ok "$model: $last samples, none missing" ||
		not_ok "$model: each sample is in the trace" "$last of $(wc -l <"$SCRATCH/deliveries")"
	awk -F'"' '$2 == "name" { name = $4 } $2 == "title" { print $4 ";" name }' "$SCRATCH/titles" >"$SCRATCH/names"
	sums "$SCRATCH/text" | awk -F';' 'FNR == NR { name[$1] = $2; next } $1 in name { print name[$1], $2 }' "$SCRATCH/names" - |
		sort >"$SCRATCH/got"
	# shellcheck disable=SC2046
	ledger_by_name $(awk -v last="$last" 'NR == 1 { print $2 "." $3 } NR == last { print $2 "." $3 }' "$SCRATCH/deliveries") |
		awk '{ sum[$1] += $3 } END { for (name in sum) print name, sum[name] }' | sort >"$SCRATCH/want"
	join "$SCRATCH/want" "$SCRATCH/got" >"$SCRATCH/both"
	is "$model: counters of hardware, all in the trace" "$(join -v 1 "$SCRATCH/want" "$SCRATCH/got")" ""
	if [ "$(awk '$2' "$SCRATCH/both" | wc -l)" -gt 40 ] && awk '$2 != $3 { bad = 1 } END { exit bad }' "$SCRATCH/both"; then
		ok "$model: each count is the ledger's"
	else
		not_ok "$model: each count is the ledger's" "$(awk '$2' "$SCRATCH/both" | wc -l) counts that are not 0" \
			"name, want, got:" "$(awk '$2 != $3' "$SCRATCH/both" | head -n 20)"
	fi
done
