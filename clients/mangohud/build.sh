#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh   MangoHud with our patches for arm64 and Debian trixie, its Vulkan layer alone
#
# MANGOHUD_SRC names a checkout of MangoHud with its subprojects (README), which stays as it is. Prints the directory
# that is to be /root/mangohud where it runs. It is kept by the content of all that goes in.

. "$(dirname "$0")/../lib.sh"

# Trixie's meson as well: an older one is not enough. What runs here anyway comes not from there.
LIBRARIES="libcap-dev libdrm-dev libgl-dev libvulkan-dev libwayland-dev libxkbcommon-dev meson"
NOT_THESE="libc6-dev libstdc++-14-dev ninja-build python3"

# cross_file SYSROOT
cross_file()
{
	local sysroot=$1 lib=$1/usr/lib/aarch64-linux-gnu

	cat <<-END
		[binaries]
		c = '${CROSS}gcc'
		cpp = '${CROSS}g++'
		ar = '${CROSS}ar'
		strip = '${CROSS}strip'
		pkg-config = 'pkg-config'
		[properties]
		needs_exe_wrapper = true
		sys_root = '$sysroot'
		pkg_config_libdir = '$lib/pkgconfig:$sysroot/usr/share/pkgconfig'
		[built-in options]
		c_args = ['-isystem', '$sysroot/usr/include']
		cpp_args = ['-isystem', '$sysroot/usr/include']
		# The libraries want a later C library than this machine may have.
		c_link_args = ['-L$lib', '-Wl,-rpath-link=$lib', '-Wl,--allow-shlib-undefined']
		cpp_link_args = ['-L$lib', '-Wl,-rpath-link=$lib', '-Wl,--allow-shlib-undefined']
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
	END
}

build()
{
	local sysroot=$1 out=$2

	# Ninja runs it as well.
	export PYTHONPATH=$sysroot/usr/lib/python3/dist-packages
	# A build that was interrupted goes on: it takes some minutes.
	mkdir -p "$out"
	link_tree "$MANGOHUD_SRC" "$out/tree"
	stage_patches "$MANGOHUD_SRC" "$out/stage" "$HERE"/patches/*.patch
	sync_stage "$MANGOHUD_SRC" "$out/tree" "$out/stage"
	cross_file "$sysroot" >"$out/cross"
	[ -e "$out/build/build.ninja" ] ||
		python3 -m mesonbuild.mesonmain setup "$out/build" "$out/tree" --cross-file "$out/cross" \
			--prefix=/root/mangohud --libdir=lib -Dwith_x11=disabled -Dwith_dbus=disabled \
			-Dwith_nvml=disabled -Dwith_xnvctrl=disabled -Dwith_mangohud_next=false \
			-Dmangoplot=disabled -Dinclude_doc=false -Dtests=disabled -Doptimization=1
	ninja -C "$out/build" -j "$JOBS" src/libMangoHud.so
	mkdir -p "$out"/mangohud/{lib/mangohud,layers}
	"${CROSS}strip" -o "$out/mangohud/lib/mangohud/libMangoHud.so" "$out/build/src/libMangoHud.so"
	cp "$out"/build/src/MangoHud.*.json "$out/mangohud/layers"
	rm -rf "$out"/{build,tree,stage,cross}
}

[ $# -eq 0 ] || die "usage: build.sh"
checkout MANGOHUD_SRC mangohud-next/legacy_gpu_wrapper/wrapper.cpp "MangoHud later than 0.8.3"
for subproject in imgui implot spdlog vulkan-headers vulkan-utility-libraries; do
	directory=$(sed -n 's/^directory *= *//p' "$MANGOHUD_SRC/subprojects/$subproject.wrap")
	[ -e "$MANGOHUD_SRC/subprojects/$directory/meson.build" ] ||
		die "$MANGOHUD_SRC lacks its subproject $subproject: run 'meson subprojects download' there"
done
deps g++ glslang-tools ninja-build patch pkg-config python3-mako
need_space 1
# shellcheck disable=SC2086
sysroot=$("$BUILD_DIR/sources.sh" debian trixie $LIBRARIES -- $NOT_THESE)
kept mangohud/mangohud "$(hash_text "$(source_id "$MANGOHUD_SRC")" "$sysroot" "$(inputs)")" "building MangoHud" \
	build "$sysroot"
echo "$DEST/mangohud"
