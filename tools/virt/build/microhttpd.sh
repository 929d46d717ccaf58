#!/bin/bash
# SPDX-License-Identifier: MIT
# microhttpd.sh   build libmicrohttpd from Debian's source, for the guest's static programs, and print the directory
#                 with its include/ and lib/
#
# Debian's static library includes TLS and so needs GnuTLS, which depends on a library without a static version. The
# guest's programs do not need TLS.

. "$(dirname "$0")/common.sh"

build()
{
	local src=$1 sysroot=$2 dest=$3

	rm -rf "$dest.build" "$dest.new"
	mkdir -p "$dest.build"
	cd "$dest.build"
	"$src/configure" --quiet --prefix=/ ${CROSS:+--host=aarch64-linux-gnu} --disable-shared --enable-static \
		--disable-https --disable-doc --disable-examples --disable-curl --disable-bauth --disable-dauth \
		CC="${CROSS}gcc --sysroot=$sysroot" CFLAGS=-O2
	make -s -j"$JOBS" -C src/include
	make -s -j"$JOBS" -C src/microhttpd libmicrohttpd.la
	mkdir -p "$dest.new/include" "$dest.new/lib"
	cp "$src/src/include/microhttpd.h" "$dest.new/include/"
	cp src/microhttpd/.libs/libmicrohttpd.a "$dest.new/lib/"
	rm -rf "$dest" "$dest.build"
	mv "$dest.new" "$dest"
}

main()
{
	local src sysroot dest

	src=$("$BUILD_DIR/sources.sh" source libmicrohttpd)
	# shellcheck disable=SC2086
	sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
	dest=$CACHE/microhttpd/k-$(hash_text "$(source_id "$src")" "$sysroot" "$(hash_files "$BUILD_DIR/microhttpd.sh")")
	if [ ! -e "$dest/lib/libmicrohttpd.a" ]; then
		need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
		lock microhttpd
		[ -e "$dest/lib/libmicrohttpd.a" ] || step "building libmicrohttpd" build "$src" "$sysroot" "$dest"
		prune "$CACHE/microhttpd/k" 2
		unlock
	fi
	touch -c "$dest"
	echo "$dest"
}

main
