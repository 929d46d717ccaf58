#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What libpanthor-perf needs no GPU for: tables, equations, choice of counters, sums, load, top-down,
# checks of the interface; with ASan and UBSan. Every equation is compared with what a C++ compiler
# makes of it. Programs that use the library set the locale they please: it works in all of them.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/locales.sh"

tool=$VIRT_DIR/../panthor-perf
layouts="Mali-G710 Mali-G715 Mali-G720 Mali-G725 Mali_G1"

plan $((1 + 4 * 34 + 12 + 1))
# shellcheck disable=SC2046,SC2086
tool_builds {library,equations}-test $(printf "equations-%s " $layouts)

make_locales
for locale in $LOCALES; do
	run_tests 32 "the library in $locale" in_locale "$locale" "$SCRATCH/library-test"
done
# shellcheck disable=SC2086
run_tests 10 "equations" "$tool/tests/equations" "$SCRATCH" $layouts

# The comparison finds an operator that is not the table's.
sed -i 's/N(max(MALI_CONFIG_ELAPSED_CYCLES, /N(min(MALI_CONFIG_ELAPSED_CYCLES, /' "$SCRATCH/equations-Mali-G710.cc"
g++ -std=c++11 -ffp-contract=off -o "$SCRATCH/equations-Mali-G710" "$SCRATCH/equations-Mali-G710.cc" 2>"$SCRATCH/log"
is "one wrong equation is found" \
	"$("$tool/tests/equations" "$SCRATCH" Mali-G710 | grep -c '^not ok 1 - \|^# .* td_total ' | sed 's/^[2-9].*/found/; s/^1[0-9].*/found/')" found
