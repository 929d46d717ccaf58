#!/bin/bash
# SPDX-License-Identifier: MIT
# selftests.sh   compile the programs of the package panthor-perf-selftests for the virtual machine, and print their
#                directory

. "$(dirname "$0")/common.sh"

KEEP=2

main()
{
	local sysroot headers linux key dest

	# shellcheck disable=SC2086
	sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
	headers=$("$BUILD_DIR/kernel.sh" headers)
	linux=$("$BUILD_DIR/sources.sh" panthor "${KERNELS##* }")
	key=$(hash_text "$sysroot" "$linux" "$(hash_files "$0" "$TOP_DIR"/tools/panthor-perf/selftest/Makefile \
		"$TOP_DIR"/include/uapi/drm/*.h "$TOP_DIR"/tools/testing/selftests/drivers/gpu/panthor/*.[ch] \
		"$VIRT_DIR"/guest/{gpu-load.c,*.h})")
	dest=$CACHE/tools/selftests/k-$key
	if [ ! -e "$dest/.complete" ]; then
		need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
		lock tools
		if [ ! -e "$dest/.complete" ]; then
			rm -rf "$dest"
			mkdir -p "$dest"
			step "compiling the selftests" make -s -j"$JOBS" -C "$TOP_DIR/tools/panthor-perf/selftest" \
				CC="${CROSS}gcc --sysroot=$sysroot -isystem $headers -idirafter $sysroot/usr/include/libdrm" PKG_CONFIG=: LDFLAGS=-ldrm \
				KERNEL="$linux" O="$dest/build" \
				install DESTDIR="$dest" libexecdir=
			rm -rf "$dest/build"
			touch "$dest/.complete"
			prune "$CACHE/tools/selftests/k" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest/panthor-perf-selftests"
}

main
