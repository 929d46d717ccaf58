#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# Not one count off: 16 sessions of different masks, started, sampled, stopped and torn down at
# random under work that comes and goes. What each was given is compared, sample by sample and
# counter by counter, with what the GPU model's ledger says was counted.
set -u
. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/lib/exact.sh"

# At least this many firmware samples. A kernel that checks is slow.
samples=10000
[ "$CONFIG" != debug ] || samples=1000
models="g610 g710 g715"
spoilt="sum hash flag epoch loss stale sample interval baseline ledger mask"

plan $((3 * 3 + 11))
build_comparison
for model in $models; do
	# What means nothing to an old interface is not 0 everywhere.
	junk=false
	[ "$model" != g710 ] || junk=true
	count "$model" "$model" "gpu-load -j 0 -t 3600 -p 150 --duty 60 -g 3 -q 2 >/dev/null 2>&1" "-s $samples" \
		-p features_junk=$junk
	# Samples may say so then, and are exact all the same.
	option=--
	! panthor_gave_up || option=-r
	compare "$model" $option
	taken=$(sed -n 's/^# \([0-9]*\) firmware samples.*/\1/p' "$SCRATCH/said")
	if [ "${taken:-0}" -ge $samples ]; then
		ok "$model: at least $samples firmware samples"
	else
		not_ok "$model: at least $samples firmware samples" "there were ${taken:-none}"
	fi
	[ "$model" = g610 ] || continue
	# The same once more, with one thing wrong.
	for kind in $spoilt; do
		compare_files -c "$kind" >"$SCRATCH/spoilt" 2>&1
		status=$?
		if [ $status -eq 1 ] && grep -q '^# client' "$SCRATCH/spoilt"; then
			ok "$model: a wrong $kind is found"
		else
			not_ok "$model: a wrong $kind is found" "status $status" "$(cat "$SCRATCH/spoilt")"
		fi
	done
done
