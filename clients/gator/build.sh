#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   gatord for arm64, static: as it is, and gatord-patched, with our patches and those of ../libgpucounters
#
# GATOR_SRC names a checkout of gator with its submodule ext/libGPUInfo, which stays as it is. Prints the directory
# that both are in. It is kept by the content of all that goes in.

. "$(dirname "$0")/../lib.sh"

# What gatord is linked with, of the machine's own release.
LIBRARIES="libboost1.81-dev libboost-atomic1.81-dev libboost-filesystem1.81-dev libboost-regex1.81-dev
	libboost-system1.81-dev libicu-dev libmxml-dev libprotobuf-dev zlib1g-dev"

# apply TREE: as the README has it
apply()
{
	local patch

	for patch in "$TOP_DIR"/clients/libgpucounters/patches/000[1-5]*; do
		git -C "$1" apply -p2 --directory=daemon/hwcpipe2 "$patch"
	done
	git -C "$1" apply "$HERE"/patches/*.patch
}

# The second build compiles what the patches have changed.
build()
{
	local sysroot=$1 out=$2 lib=$1/usr/lib/aarch64-linux-gnu

	# Not a repository that the cache happens to be in.
	export GIT_CEILING_DIRECTORIES=$out
	export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$lib/pkgconfig
	rm -rf "$out"
	mkdir -p "$out"
	link_tree "$GATOR_SRC" "$out/tree"
	cmake -S "$out/tree/daemon" -B "$out/build" -DENABLE_VCPKG=OFF -DCONFIG_USE_PERFETTO=OFF -DGATORD_BUILD_STATIC=ON \
		-DGATORD_WERROR=OFF -DCMAKE_BUILD_TYPE=MinSizeRel -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
		-DCMAKE_C_COMPILER="${CROSS}gcc" -DCMAKE_CXX_COMPILER="${CROSS}g++" \
		-DCMAKE_CXX_FLAGS="-Dlibgpuinfo=libarmgpuinfo -isystem $sysroot/usr/include" -DBoost_USE_STATIC_LIBS=ON \
		-DCMAKE_PREFIX_PATH="$sysroot/usr" -DBoost_DIR="$(echo "$lib"/cmake/Boost-*)" \
		-DProtobuf_INCLUDE_DIR="$sysroot/usr/include" -DProtobuf_LIBRARY="$lib/libprotobuf.a" \
		-DProtobuf_LITE_LIBRARY="$lib/libprotobuf-lite.a" -DCMAKE_LIBRARY_PATH="$lib" \
		-DCMAKE_EXE_LINKER_FLAGS="-L$lib"
	cmake --build "$out/build" -j "$JOBS"
	cp "$out/build/gatord" "$out"
	apply "$out/tree"
	cmake --build "$out/build" -j "$JOBS"
	cp "$out/build/gatord" "$out/gatord-patched"
	rm -rf "$out/build" "$out/tree"
}

[ $# -eq 0 ] || die "usage: build.sh"
checkout GATOR_SRC daemon/CMakeLists.txt gator
[ -e "$GATOR_SRC/ext/libGPUInfo/source/libgpuinfo.cpp" ] ||
	die "$GATOR_SRC has no libGPUInfo: git -C $GATOR_SRC submodule update --init ext/libGPUInfo"
deps cmake g++ git pkg-config protobuf-compiler
need_space 1
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $LIBRARIES)
key=$(hash_text "$(source_id "$GATOR_SRC")" "$sysroot" "$(inputs)" \
	"$(hash_files "$TOP_DIR"/clients/libgpucounters/patches/000[1-5]*)")
kept gator/gatord "$key" "building gatord" build "$sysroot"
echo "$DEST"
