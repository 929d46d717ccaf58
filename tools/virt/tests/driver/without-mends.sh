#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock 7.2
# Counters need none of the mends of panthor that the series begins with (patches/series/1-mends). Without these, they
# apply to the panthor of the kernel, and to one that is changed as vendors do it (vendor.patch), without fuzz; they
# compile, and pass the selftests.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

kernel=$("$VIRT_DIR/build/sources.sh" kernel "$KERNEL") &&
	version=$(awk '{ print $2; exit }' "$kernel/.complete") &&
	release=$(cd "$kernel/usr/lib/modules" && ls) &&
	own=$("$VIRT_DIR/build/sources.sh" panthor "$version") || exit

# built_of NAME SOURCE: 1 result; the module is in VIRT_FILE
built_of()
{
	local dir

	if dir=$(MENDS=n SRC=$2 "$VIRT_DIR/build/module.sh" debian "$KERNEL" 2>"$SCRATCH/err"); then
		ok "$1: counters apply without the mends, and compile"
	else
		not_ok "$1: counters apply without the mends, and compile" "$(tail -n 20 "$SCRATCH/err")"
		return 1
	fi
	export VIRT_FILE=$dir/panthor.ko:/lib/modules/$release/updates/panthor.ko
}

programs="perf_uapi perf_session perf_sample perf_states perf_debugfs perf_unplug"
if built_of "the kernel's own panthor" "$own"; then
	selftests "the kernel's own panthor" "$programs" -g g610
fi
# No vendor has 6.12.
if [ "$SERIES" != 6.12 ]; then
	cp -r "$own" "$SCRATCH/vendor"
	is "a vendor's panthor: the changes apply" \
		"$(patch -s -F0 -p1 -d "$SCRATCH/vendor" <"$TESTS_DIR/driver/vendor.patch" 2>&1)" ""
	if built_of "a vendor's panthor" "$SCRATCH/vendor"; then
		selftests "a vendor's panthor" "$programs" -g g720 -p coherent=on
	fi
fi
plan $TAP_COUNT
