#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   Mesa for arm64 with our patches: panfrost, PanVK and, with PERFETTO_SRC, Mesa's pps-producer
#
# The source is Debian trixie's package, or the tree that MESA_SRC names, which stays as it is. Prints the directory
# that the libraries are in. It is kept by the content of all that goes in; what a build before has compiled is used
# again.

. "$(dirname "$0")/../lib.sh"

LIB=usr/lib/aarch64-linux-gnu
HEADER=$TOP_DIR/tools/panthor-perf/libpanthor-perf/panthor-perf.h

# What Mesa is linked against, of the release that it runs on.
PACKAGES="libc6-dev libdrm-dev libexpat1-dev libglvnd-dev libzstd-dev zlib1g-dev"
# meson of this release is older than what Mesa asks for. It is a Python program for all architectures.
MESON="meson -- ninja-build python3 python3-pkg-resources python3-setuptools"

OPTIONS=(-Dgallium-drivers=panfrost -Dvulkan-drivers=panfrost -Dplatforms= -Dglx=disabled -Degl=enabled -Dgbm=enabled
	-Dgles1=disabled -Dgles2=enabled -Dopengl=true -Dllvm=disabled -Dvideo-codecs= -Dbuild-tests=false
	-Dlibunwind=disabled -Dlmsensors=disabled -Dbuildtype=debugoptimized -Db_ndebug=true)

cross_file()
{
	local sysroot=$1 include=$2

	cat <<-FILE
		[binaries]
		c = ['${CROSS}gcc', '--sysroot=$sysroot']
		cpp = ['${CROSS}g++', '--sysroot=$sysroot']
		ar = '${CROSS}ar'
		strip = '${CROSS}strip'
		pkg-config = 'pkg-config'
		[properties]
		sys_root = '$sysroot'
		pkg_config_libdir = '$sysroot/$LIB/pkgconfig:$sysroot/usr/share/pkgconfig'
		[built-in options]
		c_args = ['-g0', '-I$include']
		cpp_args = ['-g0']
		# Libraries of that release want a newer C library than the one of this machine's compiler.
		c_link_args = ['-Wl,--allow-shlib-undefined']
		cpp_link_args = ['-Wl,--allow-shlib-undefined']
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
	FILE
}

compile()
{
	local source=$1 sysroot=$2 meson=$3 tree=$4 out=$5

	link_tree "$source" "$tree/source"
	stage_patches "$source" "$tree/stage" "$HERE"/patches/*.patch
	sync_stage "$source" "$tree/source" "$tree/stage"
	# libpanthor-perf is opened at run time; its header is all that is needed.
	mkdir -p "$tree/include"
	put "$HEADER" "$tree/include/panthor-perf.h"
	cross_file "$sysroot" "$tree/include" >"$tree/cross.ini"
	put "$tree/cross.ini" "$tree/cross"
	[ -e "$tree/build/build.ninja" ] || PYTHONPATH=$meson/usr/lib/python3/dist-packages python3 "$meson/usr/bin/meson" \
		setup "$tree/build" "$tree/source" --cross-file "$tree/cross" "${OPTIONS[@]}"
	PYTHONPATH=$meson/usr/lib/python3/dist-packages ninja -C "$tree/build" -j "$JOBS"
	rm -rf "$out"
	mkdir -p "$out"
	cp "$tree"/build/src/gallium/targets/dri/libgallium-*.so "$tree/build/src/egl/libEGL_mesa.so.0.0.0" \
		"$tree/build/src/gbm/backends/dri/dri_gbm.so" "$tree/build/src/panfrost/vulkan/libvulkan_panfrost.so" "$out"
	"${CROSS}strip" "$out"/*
	mv "$out/libEGL_mesa.so.0.0.0" "$out/libEGL_mesa.so.0"
	printf '{ "ICD": { "api_version": "1.1.0", "library_path": "./libvulkan_panfrost.so" }, "file_format_version": "1.0.0" }\n' \
		>"$out/panfrost_icd.json"
}

[ $# -eq 0 ] || die "usage: build.sh"
if [ -n "${MESA_SRC:-}" ]; then
	checkout MESA_SRC src/panfrost/meson.build "Mesa 25.0"
else
	MESA_SRC=$("$BUILD_DIR/sources.sh" source mesa trixie)
fi
deps bison flex g++ glslang-tools ninja-build patch pkg-config python3-mako python3-packaging python3-yaml
need_space 3
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" debian trixie $PACKAGES)
# shellcheck disable=SC2086
meson=$("$BUILD_DIR/sources.sh" debian trixie $MESON)
key=$(hash_text "$(source_id "$MESA_SRC")" "$sysroot" "${OPTIONS[@]}" "$(declare -f cross_file)")
kept mesa/mesa "$(hash_text "$key" "$(inputs)" "$(hash_files "$HEADER")")" "building Mesa" compile "$MESA_SRC" "$sysroot" "$meson" \
	"$CACHE/mesa/tree-$key"
echo "$DEST"
