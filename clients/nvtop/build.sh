#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   nvtop with our patches for arm64, panthor alone
#
# NVTOP_SRC names a checkout of nvtop, which stays as it is. Prints the directory that nvtop is in. It is kept by the
# content of all that goes in.

. "$(dirname "$0")/../lib.sh"

build()
{
	local sysroot=$1 out=$2 lib=$1/usr/lib/aarch64-linux-gnu compiler=()

	rm -rf "$out"
	mkdir -p "$out"
	link_tree "$NVTOP_SRC" "$out/tree"
	stage_patches "$NVTOP_SRC" "$out/stage" "$HERE"/patches/*.patch
	sync_stage "$NVTOP_SRC" "$out/tree" "$out/stage"
	# The machine that runs it has no libraries of ncurses.
	compiler=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER="${CROSS}gcc"
		-DCMAKE_CXX_COMPILER="${CROSS}g++" -DCMAKE_C_FLAGS="-isystem $sysroot/usr/include"
		-DCURSES_INCLUDE_PATH="$sysroot/usr/include" -DCURSES_NCURSES_LIBRARY="$lib/libncursesw.a" -DCURSES_FORM_LIBRARY="$lib/libformw.a"
		-DCURSES_EXTRA_LIBRARY="$lib/libtinfo.a" -DLibdrm_INCLUDE_DIRS="$sysroot/usr/include;$sysroot/usr/include/libdrm"
		-DLibdrm_INCLUDE_DIR="$sysroot/usr/include/libdrm" -DLibdrm_LIBRARY="$lib/libdrm.so")
	cmake -S "$out/tree" -B "$out/build" "${compiler[@]}" -DCMAKE_BUILD_TYPE=Release -DPANTHOR_SUPPORT=ON \
		-DNVIDIA_SUPPORT=OFF -DAMDGPU_SUPPORT=OFF -DINTEL_SUPPORT=OFF -DMSM_SUPPORT=OFF -DPANFROST_SUPPORT=OFF \
		-DV3D_SUPPORT=OFF -DTPU_SUPPORT=OFF -DRADEON_SUPPORT=OFF -DROCKCHIP_SUPPORT=OFF -DMETAX_SUPPORT=OFF \
		-DASCEND_SUPPORT=OFF -DENFLAME_SUPPORT=OFF -DTENSTORRENT_SUPPORT=OFF -DIXML_SUPPORT=OFF
	cmake --build "$out/build" -j "$JOBS"
	cp "$out/build/src/nvtop" "$out"
	rm -rf "$out/build" "$out/tree" "$out/stage"
}

[ $# -eq 0 ] || die "usage: build.sh"
checkout NVTOP_SRC src/extract_gpuinfo_panthor.c "nvtop 3.2 or later"
deps cmake g++ patch pkg-config
need_space 1
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES libc6)
kept nvtop/nvtop "$(hash_text "$(source_id "$NVTOP_SRC")" "$sysroot" "$(inputs)")" "building nvtop" build "$sysroot"
echo "$DEST"
