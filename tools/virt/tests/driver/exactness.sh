#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# quick: 7.3 stock
# long: debug
# daily: 6.12 6.18 7.2 6.12-rt 7.3-rt 7.3-16k
# Not one count off: 16 sessions of different masks, started, sampled, stopped and torn down at
# random under work that comes and goes. What each was given is compared, sample by sample and
# counter by counter, with what the GPU model's ledger says was counted.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

# At least this many firmware samples. A kernel that checks is slow.
samples=10000
[ "$CONFIG" != debug ] || samples=1000
models="g610 g710 g715"
[ -z "${QUICK:-}" ] || models="g610"
load="gpu-load -j 0 -t 3600 -p 150 --duty 60 -g 3 -q 2 >/dev/null 2>&1"

# spoil NAME KIND...: the last run once more, with one thing wrong; a result for each
spoil()
{
	local name=$1 kind status

	shift
	for kind in "$@"; do
		compare_files -k "$SCRATCH/gave-up" -c "$kind" >"$SCRATCH/spoilt" 2>&1
		status=$?
		if [ $status -eq 1 ] && grep -q '^# client' "$SCRATCH/spoilt"; then
			ok "$name: a wrong $kind is found"
		else
			not_ok "$name: a wrong $kind is found" "status $status" "$(cat "$SCRATCH/spoilt")"
		fi
	done
}

plan $((3 * $(wc -w <<<"$models") + 11 + 5))
build_comparison
for model in $models; do
	# What means nothing to an old interface is not 0 everywhere; firmware has blocks of its own, and of
	# each group.
	properties="-p features_junk=false"
	[ "$model" != g710 ] || properties="-p features_junk=true -p fw_blocks=1 -p csg_blocks=8"
	# shellcheck disable=SC2086
	count "$model" "$model" "$load" "-s $samples" $properties
	compare "$model"
	taken=$(sed -n 's/^# \([0-9]*\) firmware samples.*/\1/p' "$SCRATCH/said")
	if [ "${taken:-0}" -ge $samples ]; then
		ok "$model: at least $samples firmware samples"
	else
		not_ok "$model: at least $samples firmware samples" "there were ${taken:-none}"
	fi
	[ "$model" != g610 ] || spoil "$model" sum hash flag epoch loss stale sample interval baseline ledger mask
done
# What another session would notice as well, if there were one.
count "one session" g610 "$load" "-n 1 -s 400"
compare "one session"
spoil "one session" first silence log
