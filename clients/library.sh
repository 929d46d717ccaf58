#!/bin/bash
# SPDX-License-Identifier: MIT
# library.sh   libpanthor-perf for arm64, which clients open when they run; prints the directory that it is in

. "$(dirname "$0")/lib.sh"

build()
{
	local sysroot=$1 out=$2

	PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig make -s \
		-C "$TOP_DIR/tools/panthor-perf" O="$out/build" \
		CC="${CROSS}gcc --sysroot=$sysroot" "$out/build/libpanthor-perf.so.0"
	mv "$out/build/libpanthor-perf.so.0" "$out"
	rm -rf "$out/build"
}

[ $# -eq 0 ] || die "usage: library.sh"
deps pkg-config
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES libc6)
kept library/arm64 "$(hash_text "$sysroot" "$(hash_files "$HERE"/{lib.sh,library.sh} \
	"$TOP_DIR"/tools/panthor-perf/{Makefile,libpanthor-perf/{*.*,reading/*},data/*.csv} \
	"$TOP_DIR/include/uapi/drm/panthor_perf_drm.h")")" "building libpanthor-perf" build "$sysroot"
echo "$DEST"
