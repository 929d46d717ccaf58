#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock 6.18 7.2
# Counters need none of the mends of panthor that the series begins with (patches/series/1-mends). Without these, they
# apply to the panthor of the kernel, and to one that is changed as vendors do it (vendor.patch), without fuzz; they
# compile, and pass the selftests. The same patches fit Linux 6.18 to 7.3.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftests.sh"

image=$("$VIRT_DIR/build/kernel.sh" "$KERNEL" stock) && release=$(cat "$image/release") || exit
if [ "$KERNEL" = 6.18 ]; then
	own=$KERNEL_SRC_6_18
else
	kernel=$("$VIRT_DIR/build/sources.sh" kernel "$KERNEL") &&
		version=$(awk '{ print $2; exit }' "$kernel/.complete") &&
		own=$("$VIRT_DIR/build/sources.sh" panthor "$version") || exit
fi

# built_of NAME SOURCE: 1 result; the module is in VIRT_FILE. It may need other modules than the image's panthor, so the
# list of what needs which is in FILES, for run
built_of()
{
	local dir modules=$SCRATCH/modules

	if dir=$(MENDS=n SRC=$2 "$VIRT_DIR/build/module.sh" debian "$KERNEL" 2>"$SCRATCH/err"); then
		ok "$1: counters apply without the mends, and compile"
	else
		not_ok "$1: counters apply without the mends, and compile" "$(tail -n 20 "$SCRATCH/err")"
		return 1
	fi
	export VIRT_FILE=$dir/panthor.ko:/lib/modules/$release/updates/panthor.ko
	rm -rf "$modules"
	cp -r "$image/modules" "$modules"
	cp "$dir/panthor.ko" "$modules/lib/modules/$release/updates/"
	depmod -b "$modules" "$release"
	FILES=(-f "$modules/lib/modules/$release/modules.dep:/lib/modules/$release/modules.dep")
}

programs="perf_uapi perf_session perf_sample perf_states perf_debugfs perf_unplug"
if built_of "the kernel's own panthor" "$own"; then
	selftests "the kernel's own panthor" "$programs" -g g610 "${FILES[@]}"
	# 6.12 has backports of its own.
	[ "$SERIES" = 6.12 ] || is "the kernel's own panthor: doctor says that it has no fixes" \
		"$("$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" "${FILES[@]}" -- panthor-perf doctor 2>"$SCRATCH/err" | grep -c '^ok  *fixes ')" 1
fi
# No vendor has 6.12, and the changes are to a panthor that has headers for each block of registers.
if [ "$SERIES" != 6.12 ] && [ "$SERIES" != 6.18 ]; then
	cp -r "$own" "$SCRATCH/vendor"
	is "a vendor's panthor: the changes apply" \
		"$(patch -s -F0 -p1 -d "$SCRATCH/vendor" <"$TESTS_DIR/driver/vendor.patch" 2>&1)" ""
	if built_of "a vendor's panthor" "$SCRATCH/vendor"; then
		selftests "a vendor's panthor" "$programs" -g g720 -p coherent=on "${FILES[@]}"
	fi
fi
plan $TAP_COUNT
