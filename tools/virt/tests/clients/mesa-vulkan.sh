#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# VK_KHR_performance_query of PanVK with our patches: every query has the ledger's counts between its two samples, of every
# counter; validation layers are silent; without library, permission, or the GPU there is an error, and never a wait.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/ledger.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=18
MODELS="g610 g310"

# compare FILE NAME: each query of FILE with what the ledger has between the two samples of its session
compare()
{
	local session begin end bad=0 queries=0

	awk '$1 == "counter" { print $2 + 1, $3 }' "$SCRATCH/queries" >"$SCRATCH/names"
	awk '$1 == "query"' "$SCRATCH/$1" >"$SCRATCH/lines"
	# EPOCH.INSERT of each delivery, by the number of its session's baseline and its own
	awk '$1 == "baseline" { number[$2] = ++sessions } $1 == "delivery" { print number[$2], ++n[$2], $3 }' \
		"$SCRATCH/$1.trace" >"$SCRATCH/points"
	: >"$SCRATCH/differences"
	while read -r _ _ session begin end values; do
		ledger_by_name "$(awk -v s="$session" -v n="$begin" '$1 == s && $2 == n { print $3 }' "$SCRATCH/points")" \
			"$(awk -v s="$session" -v n="$end" '$1 == s && $2 == n { print $3 }' "$SCRATCH/points")" |
			awk '{ sum[$1] += $3 } END { for (name in sum) print name, sum[name] }' | sort >"$SCRATCH/want"
		tr ' ' '\n' <<<"$values" | paste -d ' ' <(cut -d ' ' -f 2 "$SCRATCH/names") - | sort >"$SCRATCH/got"
		join -a 1 "$SCRATCH/want" "$SCRATCH/got" | awk -v query="$session $begin" '$2 != $3 { print query, $0 }' >>"$SCRATCH/differences"
		[ -s "$SCRATCH/want" ] || bad=$((bad + 1))
		queries=$((queries + 1))
	done <"$SCRATCH/lines"
	if [ "$queries" -gt 0 ] && [ "$bad" = 0 ] && [ ! -s "$SCRATCH/differences" ]; then
		ok "$2: $queries queries of $(wc -l <"$SCRATCH/want") counters"
	else
		not_ok "$2" "$queries queries, $bad without a place in the ledger; session, begin, counter, want, got:" \
			"$(head -n 20 "$SCRATCH/differences")"
	fi
}

plan $((2 * (GUEST + 1 + 2) + 1))
if build=$("$CLIENTS/mesa/build.sh" 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err"); then
	ok "Mesa builds with our patches"
else
	not_ok "Mesa builds with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
for model in $MODELS; do
	rm -f "$SCRATCH/ledger"
	# shellcheck disable=SC2046
	guest_script $GUEST mesa-vulkan -g "$model" -t 1800 -r vulkan -a vulkan-validationlayers -a libcap2 -a libjson-c5 -l "$SCRATCH/ledger" \
		-f "$build:/root/mesa" -f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0" \
		-f "$TESTS_DIR/guest/shown.sh" $(for f in info list queries queries.trace beside beside.trace; do
			printf '%s ' -o "/root/$f:$SCRATCH/$f"; done)
	compare queries "queries have the ledger's counts"
	compare beside "beside another process, too"
done
