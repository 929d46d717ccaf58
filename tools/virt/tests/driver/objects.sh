#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# daily: all
# Our objects compile, without a word, where no VM runs: on machines with longs of 32 bits, on x86, and
# with the other compiler. "make check-build" does far more.
set -u
. "$(dirname "$0")/../lib/tap.sh"

checks=()
for kernel in 7.3 6.12; do
	checks+=("$kernel gcc arm module" "$kernel gcc x86_64 module" "$kernel clang arm64 module")
done
exec "$VIRT_DIR/build/check-build.sh" -o "${checks[@]}"
