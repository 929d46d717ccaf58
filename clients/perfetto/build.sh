#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   panthor-perf-perfetto for arm64, static
#
# PERFETTO_SRC names a checkout of Perfetto, which stays as it is: its library for programs is made of it by its
# own tool. Prints the directory that the program is in. It is kept by the content of all that goes in.

. "$(dirname "$0")/../../tools/virt/build/common.sh"

HERE=$TOP_DIR/clients/perfetto
KEEP=2
# What Perfetto's build takes from Debian, and how it is told.
# shellcheck disable=SC2089,SC2090
GN_ARGS='is_debug=false is_clang=true is_hermetic_clang=false is_system_compiler=true cc="clang" cxx="clang++"
	use_custom_libcxx=false perfetto_use_system_protobuf=true perfetto_use_system_sqlite=true
	perfetto_use_system_zlib=true skip_buildtools_check=true'
SDK_ARGS='enable_perfetto_ipc=true enable_perfetto_zlib=false enable_perfetto_zstd=false enable_perfetto_re2=false
	enable_perfetto_pcre2=false is_perfetto_build_generator=true is_perfetto_embedder=true
	perfetto_amalgamated_sdk=true perfetto_enable_git_rev_version_header=true'
SDK_PACKAGES="clang generate-ninja ninja-build protobuf-compiler libprotobuf-dev libprotoc-dev libsqlite3-dev
	zlib1g-dev python3"

make_sdk()
{
	local out=$1

	rm -rf "$out"
	mkdir -p "$out"
	# Its own copy: the tool changes times of files.
	cp -a "$PERFETTO_SRC" "$out/tree"
	# What is quoted in there is for gn, on one line.
	(cd "$out/tree" && python3 tools/gen_amalgamated --system_buildtools --sdk c --output "$out/perfetto" \
		--gn_args "$(tr -s '\n\t' '  ' <<<"$GN_ARGS $SDK_ARGS")")
	rm -rf "$out/tree"
	"${CROSS}g++" -std=c++17 -O1 -w -c -o "$out/perfetto_c.o" "$out/perfetto_c.cc"
	touch "$out/.done"
}

# Static, against the libraries that the guest's programs have.
make_program()
{
	local sdk=$1 sysroot=$2 out=$3

	rm -rf "$out"
	mkdir -p "$out"
	cp -p "$sdk/perfetto_c.o" "$out"
	PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig make -s -C "$HERE" \
		O="$out" PERFETTO_SDK="$sdk" KERNEL_HEADERS="$("$BUILD_DIR/kernel.sh" headers)" \
		CC="${CROSS}gcc --sysroot=$sysroot" CXX="${CROSS}g++ --sysroot=$sysroot" CFLAGS=-O2 LDFLAGS=-static
	touch "$out/.done"
}

[ $# -eq 0 ] || die "usage: build.sh"
[ -n "${PERFETTO_SRC:-}" ] || die "set PERFETTO_SRC to a checkout of Perfetto"
[ -e "$PERFETTO_SRC/tools/gen_amalgamated" ] || die "$PERFETTO_SRC is no checkout of Perfetto (PERFETTO_SRC)"
PERFETTO_SRC=$(cd "$PERFETTO_SRC" && pwd)

packages=(protobuf-c-compiler pkg-config)
[ -z "$CROSS" ] || packages+=(g++-aarch64-linux-gnu)
# shellcheck disable=SC2086
"$BUILD_DIR/deps.sh" $SDK_PACKAGES "${packages[@]}"
need_space 2
key=$(hash_text "$(source_id "$PERFETTO_SRC")" "$GN_ARGS $SDK_ARGS")
sdk=$CACHE/perfetto/sdk-$key
if [ ! -e "$sdk/.done" ]; then
	lock perfetto
	[ -e "$sdk/.done" ] || step "making Perfetto's library" make_sdk "$sdk"
	prune "$CACHE/perfetto/sdk" "$KEEP"
	unlock
fi
touch -c "$sdk"

# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
cd "$TOP_DIR" || exit 1
key=$(hash_text "$sdk" "$sysroot" "$(hash_files clients/perfetto/{source.c,Makefile,build.sh} tools/panthor-perf/*.[ch] \
	tools/panthor-perf/*.proto tools/panthor-perf/data/*.csv tools/panthor-perf/libpanthor-perf/*.[ch] \
	include/uapi/drm/panthor_perf_drm.h)")
dest=$CACHE/perfetto/program-$key
if [ ! -e "$dest/.done" ]; then
	lock perfetto
	[ -e "$dest/.done" ] || step "building panthor-perf-perfetto" make_program "$sdk" "$sysroot" "$dest"
	prune "$CACHE/perfetto/program" "$KEEP"
	unlock
fi
touch -c "$dest"
echo "$dest"
