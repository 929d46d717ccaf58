#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh                Mesa for arm64 with our patches: panfrost and PanVK
# build.sh pps-producer   Mesa's producer for Perfetto, with its driver for panthor only. PERFETTO_SRC names a checkout of
#                         Perfetto
#
# The source is Debian trixie's package, or the tree that MESA_SRC names, which stays as it is. Prints the directory
# that the result is in. It is kept by the content of all that goes in; what a build before has compiled is used again.

. "$(dirname "$0")/../lib.sh"

LIB=usr/lib/aarch64-linux-gnu
HEADER=$TOP_DIR/tools/panthor-perf/libpanthor-perf/panthor-perf.h
UAPI=$TOP_DIR/include/uapi/drm/panthor_perf_drm.h

# What Mesa is linked against, of the release that it runs on.
PACKAGES="libc6-dev libdrm-dev libexpat1-dev libglvnd-dev libzstd-dev zlib1g-dev"
# meson of this release is older than what Mesa asks for. It is a Python program for all architectures.
MESON="meson -- ninja-build python3 python3-pkg-resources python3-setuptools"

OPTIONS=(-Dgallium-drivers=panfrost -Dvulkan-drivers=panfrost -Dplatforms= -Dglx=disabled -Degl=enabled -Dgbm=enabled
	-Dgles1=disabled -Dgles2=enabled -Dopengl=true -Dllvm=disabled -Dvideo-codecs= -Dbuild-tests=false
	-Dlibunwind=disabled -Dlmsensors=disabled -Dbuildtype=debugoptimized -Db_ndebug=true -Dpanthor-perf=enabled)
PRODUCER_OPTIONS=(-Dperfetto=true -Ddatasources=panthor)

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

# perfetto_project SDK OUT: Perfetto's library as Meson's subproject
perfetto_project()
{
	mkdir -p "$2"
	cp --no-preserve=timestamps "$1"/perfetto.{cc,h} "$2"
	cat >"$2/meson.build" <<-FILE
		project('perfetto', 'cpp', default_options : ['cpp_std=c++17'])
		dep_perfetto = declare_dependency(
		  link_with : static_library('perfetto', 'perfetto.cc', dependencies : dependency('threads')),
		  include_directories : '.',
		)
	FILE
}

# run_meson MESON ARG...
run_meson()
{
	PYTHONPATH=$1/usr/lib/python3/dist-packages python3 "$1/usr/bin/meson" "${@:2}"
}

# configure SOURCE SYSROOT MESON TREE SDK OPTION...: the patched source in TREE/source, its build in TREE/build. SDK is
# empty, or where Perfetto's library is.
configure()
{
	local source=$1 sysroot=$2 meson=$3 tree=$4 sdk=$5

	shift 5
	link_tree "$source" "$tree/source"
	stage_patches "$source" "$tree/stage" "$HERE"/patches/*.patch
	put "$UAPI" "$tree/stage/include/drm-uapi/panthor_perf_drm.h"
	[ -z "$sdk" ] || perfetto_project "$sdk" "$tree/stage/subprojects/perfetto"
	sync_stage "$source" "$tree/source" "$tree/stage"
	# libpanthor-perf is opened at run time; its header is all that is needed.
	mkdir -p "$tree/include"
	put "$HEADER" "$tree/include/panthor-perf.h"
	cross_file "$sysroot" "$tree/include" >"$tree/cross.ini"
	put "$tree/cross.ini" "$tree/cross"
	[ -e "$tree/build/build.ninja" ] ||
		run_meson "$meson" setup "$tree/build" "$tree/source" --cross-file "$tree/cross" "${OPTIONS[@]}" "$@"
}

# run_ninja MESON TREE [TARGET]
run_ninja()
{
	PYTHONPATH=$1/usr/lib/python3/dist-packages ninja -C "$2/build" -j "$JOBS" "${@:3}"
}

compile()
{
	local source=$1 sysroot=$2 meson=$3 tree=$4 out=$5

	configure "$source" "$sysroot" "$meson" "$tree" ""
	run_ninja "$meson" "$tree"
	rm -rf "$out"
	mkdir -p "$out"
	cp "$tree"/build/src/gallium/targets/dri/libgallium-*.so "$tree/build/src/egl/libEGL_mesa.so.0.0.0" \
		"$tree/build/src/gbm/backends/dri/dri_gbm.so" "$tree/build/src/panfrost/vulkan/libvulkan_panfrost.so" "$out"
	"${CROSS}strip" "$out"/*
	mv "$out/libEGL_mesa.so.0.0.0" "$out/libEGL_mesa.so.0"
	printf '{ "ICD": { "api_version": "1.1.0", "library_path": "./libvulkan_panfrost.so" }, "file_format_version": "1.0.0" }\n' \
		>"$out/panfrost_icd.json"
}

compile_producer()
{
	local source=$1 sysroot=$2 meson=$3 tree=$4 sdk=$5 out=$6

	configure "$source" "$sysroot" "$meson" "$tree" "$sdk" "${PRODUCER_OPTIONS[@]}"
	run_ninja "$meson" "$tree" src/tool/pps/pps-producer
	rm -rf "$out"
	mkdir -p "$out"
	"${CROSS}strip" -o "$out/pps-producer" "$tree/build/src/tool/pps/pps-producer"
}

[[ "$*" =~ ^(|pps-producer)$ ]] || die "usage: build.sh [pps-producer]"
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
id=$(source_id "$MESA_SRC")
if [ "$*" = pps-producer ]; then
	checkout PERFETTO_SRC tools/gen_amalgamated Perfetto
	sdk=$("$HERE/../perfetto/build.sh" sdk)
	key=$(hash_text "$id" "$sysroot" "$sdk" "${OPTIONS[@]}" "${PRODUCER_OPTIONS[@]}" "$(declare -f cross_file)")
	kept mesa/producer "$(hash_text "$key" "$(inputs)" "$(hash_files "$HEADER" "$UAPI")")" "building pps-producer" compile_producer \
		"$MESA_SRC" "$sysroot" "$meson" "$CACHE/mesa/tree-producer-$key" "$sdk"
	echo "$DEST"
	exit 0
fi
key=$(hash_text "$id" "$sysroot" "${OPTIONS[@]}" "$(declare -f cross_file)")
kept mesa/mesa "$(hash_text "$key" "$(inputs)" "$(hash_files "$HEADER" "$UAPI")")" "building Mesa" compile "$MESA_SRC" "$sysroot" "$meson" \
	"$CACHE/mesa/tree-$key"
echo "$DEST"
