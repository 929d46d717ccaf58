#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# libGPUCounters' unit tests, and those of our patches, on this machine with AddressSanitizer and
# UBSan. libgpucounters.sh runs them in the guest.
set -u
. "$(dirname "$0")/../lib/tap.sh"

tests="counter-enumeration counter-sampler gpu-instance hwcpipe-double device-panthor-perf"

if [ -z "${LIBGPUCOUNTERS_SRC:-}" ]; then
	echo "1..0 # SKIP set LIBGPUCOUNTERS_SRC to a checkout of libGPUCounters (clients/libgpucounters/README)"
	exit 0
fi

plan $((1 + 5))
if build=$("$VIRT_DIR/../../clients/libgpucounters/build.sh" sanitized 2>"$SCRATCH/err"); then
	ok "libGPUCounters builds with our patches and sanitizers"
else
	not_ok "libGPUCounters builds with our patches and sanitizers" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
for test in $tests; do
	if UBSAN_OPTIONS=print_stacktrace=1 "$build/bin/$test-test" >"$SCRATCH/out" 2>&1 &&
	   grep -q '^All tests passed' "$SCRATCH/out"; then
		ok "$test: $(grep '^All tests passed' "$SCRATCH/out")"
	else
		not_ok "$test" "$(tail -n 60 "$SCRATCH/out")"
	fi
done
