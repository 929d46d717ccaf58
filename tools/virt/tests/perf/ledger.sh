#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug
# daily: plain
# perf itself, of the kernel's own source: forty events of perf stat beside work, the GPU suspended before
# and after, are what the model's ledger has, to the digit; and so are the sums of its intervals.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/ledger.sh"
. "$(dirname "$0")/../lib/pmu.sh"

# Fewer, if the environment says so.
RUNS=${RUNS:-50}
GUEST=1

plan $((2 * (GUEST + 1 + 3)))
build_ledger_sums
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,runs,info}
	guest_script $GUEST ledger -g "$model" -m 1536 -t 3000 -a perf -l "$SCRATCH/ledger" \
		-o /root/info:"$SCRATCH/info" -o /root/runs:"$SCRATCH/runs" -- "$RUNS" "$SEED"
	compare_runs "$model" "$RUNS" $((40 * RUNS))
done
