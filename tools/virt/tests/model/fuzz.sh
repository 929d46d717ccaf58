#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The device compiled with ASan and UBSan: what a fuzzer has found worth keeping, once more.
#   fuzz.sh -t SECONDS   looks for more; `make fuzz-device` (SEED: what is tried)
#   fuzz.sh -m           keeps of the inputs only those that reach what no other does
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/qtest.sh"

build_qtest fuzz sanitized
corpus=$VIRT_DIR/qemu/qtest/corpus
case ${1:-} in
'')
	"$SCRATCH/fuzz" -r "$QEMU" "$SCRATCH" "$corpus"
	;;
-t)
	# An input that has failed is kept.
	found=${XDG_CACHE_HOME:-$HOME/.cache}/panthor-perf/fuzz
	mkdir -p "$found"
	# Inputs that are found are named by it: another one each time.
	seed "$(date +%s)"
	"$SCRATCH/fuzz" -t "$2" -s "$SEED" "$QEMU" "$found" "$corpus"
	;;
-m)
	"$SCRATCH/fuzz" -m "$QEMU" "$SCRATCH" "$corpus"
	;;
esac
