#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   libpanthor-perf-frames.so and its manifest for arm64; prints the directory that they are in

. "$(dirname "$0")/../lib.sh"

build()
{
	make -s -C "$HERE" O="$2" CC="${CROSS}gcc --sysroot=$1"
}

[ $# -eq 0 ] || die "usage: build.sh"
deps make
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $MESA_DEV_PACKAGES)
kept frames/arm64 "$(hash_text "$sysroot" "$(hash_files "$HERE"/{build.sh,Makefile,*.[ch],*.map,*.json} "$TOP_DIR/clients/lib.sh" \
	"$TOP_DIR"/tools/panthor-perf/libpanthor-perf/*.[ch])")" "building libpanthor-perf-frames.so" build "$sysroot"
echo "$DEST"
