#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh                   panthor-perf-perfetto for arm64, static
# build.sh trace_processor   Perfetto's trace_processor_shell, for this machine: twenty minutes of a processor
# build.sh sdk               Perfetto's C++ library for programs of others: perfetto.cc and perfetto.h
#
# PERFETTO_SRC names a checkout of Perfetto, which stays as it is: what is built is made of it by its own tools.
# Prints the directory that the result is in. It is kept by the content of all that goes in.

. "$(dirname "$0")/../lib.sh"

# What Perfetto's build takes from Debian, and how it is told.
# shellcheck disable=SC2089,SC2090
GN_ARGS='is_debug=false is_clang=true is_hermetic_clang=false is_system_compiler=true cc="clang" cxx="clang++"
	use_custom_libcxx=false perfetto_use_system_protobuf=true perfetto_use_system_sqlite=true
	perfetto_use_system_zlib=true skip_buildtools_check=true'
SDK_ARGS='enable_perfetto_ipc=true enable_perfetto_zlib=false enable_perfetto_zstd=false enable_perfetto_re2=false
	enable_perfetto_pcre2=false is_perfetto_build_generator=true is_perfetto_embedder=true
	perfetto_amalgamated_sdk=true perfetto_enable_git_rev_version_header=true'
PROCESSOR_ARGS='enable_perfetto_zstd=false enable_perfetto_re2=false enable_perfetto_llvm_demangle=false
	enable_perfetto_trace_processor_linenoise=false enable_perfetto_trace_processor_percentile=false
	enable_perfetto_trace_processor_mac_instruments=false enable_perfetto_ui=false enable_perfetto_unittests=false
	enable_perfetto_integration_tests=false enable_perfetto_benchmarks=false enable_perfetto_fuzzers=false
	enable_perfetto_traced_perf=false enable_perfetto_heapprofd=false enable_perfetto_version_gen=false
	enable_perfetto_etm_importer=false enable_perfetto_winscope=false extra_cflags="-O0 -g0"'
PERFETTO_PACKAGES="clang generate-ninja ninja-build protobuf-compiler libprotobuf-dev libprotoc-dev libsqlite3-dev
	zlib1g-dev python3"

# copy_source OUT: its tools change times of files
copy_source()
{
	rm -rf "$1"
	mkdir -p "$1"
	cp -a "$PERFETTO_SRC" "$1/tree"
}

# gn_args ARGS: what is quoted in there is for gn, on one line
gn_args()
{
	tr -s '\n\t' '  ' <<<"$GN_ARGS $1"
}

make_processor()
{
	local out=$1

	copy_source "$out"
	# SQLite of Debian 12 may tell of a wrong place in a query that is wrong. None of ours is.
	sed -i '/^#error "SQLite version is too old."/d' "$out/tree/src/trace_processor/sqlite/sql_source.cc"
	(cd "$out/tree" && gn gen out --args="$(gn_args "$PROCESSOR_ARGS")" && ninja -C out trace_processor_shell)
	strip -o "$out/trace_processor_shell" "$out/tree/out/trace_processor_shell"
	rm -rf "$out/tree"
}

# make_sdk c|cpp OUT
make_sdk()
{
	local language=$1 out=$2

	copy_source "$out"
	(cd "$out/tree" && python3 tools/gen_amalgamated --system_buildtools --sdk "$language" --output "$out/perfetto" \
		--gn_args "$(gn_args "$SDK_ARGS")")
	rm -rf "$out/tree"
	[ "$language" = cpp ] || "${CROSS}g++" -std=c++17 -O1 -w -c -o "$out/perfetto_c.o" "$out/perfetto_c.cc"
}

# Static, against the libraries that the guest's programs have.
make_program()
{
	local sdk=$1 sysroot=$2 out=$3

	rm -rf "$out"
	mkdir -p "$out"
	cp -p "$sdk/perfetto_c.o" "$out"
	PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig make -s -C "$HERE" \
		O="$out" PERFETTO_SDK="$sdk" \
		CC="${CROSS}gcc --sysroot=$sysroot" CXX="${CROSS}g++ --sysroot=$sysroot" CFLAGS=-O2 LDFLAGS=-static
}

[[ "$*" =~ ^(|trace_processor|sdk)$ ]] || die "usage: build.sh [trace_processor | sdk]"
checkout PERFETTO_SRC tools/gen_amalgamated Perfetto
# shellcheck disable=SC2086
deps $PERFETTO_PACKAGES protobuf-c-compiler pkg-config
id=$(source_id "$PERFETTO_SRC")
if [ "$*" = trace_processor ]; then
	need_space 4
	kept perfetto/processor "$(hash_text "$id" "$GN_ARGS $PROCESSOR_ARGS")" "building trace_processor_shell" make_processor
	echo "$DEST"
	exit 0
fi
need_space 2
if [ "$*" = sdk ]; then
	kept perfetto/cpp "$(hash_text "$id" "$GN_ARGS $SDK_ARGS")" "making Perfetto's C++ library" make_sdk cpp
	echo "$DEST"
	exit 0
fi
kept perfetto/sdk "$(hash_text "$id" "$GN_ARGS $SDK_ARGS")" "making Perfetto's library" make_sdk c
sdk=$DEST

# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
key=$(hash_text "$sdk" "$sysroot" "$(hash_files "$HERE"/{source.c,Makefile,build.sh} "$TOP_DIR"/tools/panthor-perf/*/*.[ch] \
	"$TOP_DIR"/tools/panthor-perf/{output/*.proto,data/*.csv} \
	"$TOP_DIR/include/uapi/drm/panthor_perf_drm.h")")
kept perfetto/program "$key" "building panthor-perf-perfetto" make_program "$sdk" "$sysroot"
echo "$DEST"
