#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# libGPUCounters with our patches: its example prints what the GPU has counted, each sample of its
# samplers is what the ledger says, its unit tests pass, and a hang or an unplug does not hang it.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"
. "$(dirname "$0")/../lib/products.sh"

clients=$VIRT_DIR/../../clients/libgpucounters
# Long: one of each layout of counters that panthor of this kernel probes.
models="g610 g710 g715"
[ -z "${LONG:-}" ] || models="g610 g710 $(products_of "$KERNEL" | grep -x 'g715\|g720\|g725\|g1' | xargs)"

if [ -z "${LIBGPUCOUNTERS_SRC:-}" ]; then
	echo "1..0 # SKIP set LIBGPUCOUNTERS_SRC to a checkout of libGPUCounters (clients/libgpucounters/README)"
	exit 0
fi

# printed MODEL: 2 results: what api-example has printed, and that it is not nothing.
printed()
{
	compare_files -d >"$SCRATCH/sums" 2>"$SCRATCH/err" || cat "$SCRATCH/err"
	# Fields of places are a counter's name, its block and its number, those of sums a run, a sample,
	# a block, a number and a sum. Where GPU cycles are no counter, they are those of any queue, and
	# printed as all that is derived. A rate of nothing is 0.
	awk -F'[; ]' '
		function value(sample, name) { return sum[sample, place[name]] + 0 }
		NR == FNR && $3 ~ /^[0-9]+$/ { place[$1] = tolower($2) " " $3 }
		NR == FNR { next }
		$1 == 0 { sum[$2, $3 " " $4] = $5 }
		END {
			for (k = 0; k < 10; k++) {
				culled = value(k, "MaliGeomSampleCullPrim")
				seen = culled + value(k, "MaliGeomVisiblePrim")
				if ("MaliGPUActiveCy" in place)
					active = sprintf("%.0f", value(k, "MaliGPUActiveCy"))
				else
					active = sprintf("%.6g", value(k, "MaliGPUAnyQueueActiveCy"))
				printf "GPU Active cycles [%s] ; Fragment Active Cycles [%.0f] ; Geometry Sample Cull Rate [%.6g]\n",
					active, value(k, "MaliFragActiveCy"), seen ? culled / seen * 100 : 0
			}
		}' "$SCRATCH/places" "$SCRATCH/sums" >"$SCRATCH/want"
	grep '^GPU Active cycles ' "$SCRATCH/printed" >"$SCRATCH/got"
	is "$1: api-example prints what the GPU has counted" "$(cat "$SCRATCH/got")" "$(cat "$SCRATCH/want")"
	# Cycles of the whole GPU and of fragment work, and primitives.
	if grep -q '\[[1-9][0-9.e+]*\] ; Fragment Active Cycles \[[1-9][0-9]*\] .* \[[1-9]' "$SCRATCH/got"; then
		ok "$1: which is not nothing"
	else
		not_ok "$1: which is not nothing" "$(cat "$SCRATCH/got")"
	fi
}

plan $((1 + $(wc -w <<<"$models") * (10 + 3 + 10)))
if build=$("$clients/build.sh" guest 2>"$SCRATCH/err"); then
	ok "libGPUCounters builds with our patches"
else
	not_ok "libGPUCounters builds with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_comparison
for model in $models; do
	rm -f "$SCRATCH"/{ledger,record,trace*,printed,places}
	guest_script 9 libgpucounters -g "$model" -m 1024 -t 1200 -l "$SCRATCH/ledger" -f "$build/bin:/root/bin" \
		-f "$TESTS_DIR/guest/trace.sh" \
		-o record:"$SCRATCH/record" -o printed:"$SCRATCH/printed" -o places:"$SCRATCH/places" \
		-o trace.example:"$SCRATCH/trace.example" -o trace.record:"$SCRATCH/trace.record"
	mv "$SCRATCH/trace.example" "$SCRATCH/trace"
	printed "$model"
	mv "$SCRATCH/trace.record" "$SCRATCH/trace"
	compare "$model"
	guest_script 9 libgpucounters-faults -i -g "$model" -m 1024 -t 1200 -f "$build/bin:/root/bin"
done
