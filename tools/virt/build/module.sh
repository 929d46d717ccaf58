#!/bin/bash
# SPDX-License-Identifier: MIT
# module.sh make KDIR [DEST]      build panthor with counters as a module, for the kernel with the headers or build
#                                 directory KDIR, as DEST (default: panthor.ko), and print its path
# module.sh debian VERSION        the same for Debian's kernel of a series (6.12, 7.2, 7.3) or a release (6.12.107),
#                                 with the modules of the tests, or for the kernel of KERNEL_SRC_6_18 (6.18); print the
#                                 directory of all modules
# module.sh series RELEASE        print the series whose panthor and patches the module for a kernel has: the kernel's
#                                 own if we have patches for it, else the newest that we have
# module.sh tree SERIES SOURCE DEST   make only the source directory of a module: panthor from the kernel SOURCE, with
#                                 the patches of that series
# module.sh patches SERIES        print the patches that the module's panthor has
# module.sh files SERIES          print what is added to it: FILE<tab>PLACE, the place in a kernel tree
#
# The compiler must be the one that built the kernel. Variables for make: CC=COMPILER, LLVM=1|-VERSION, and SRC=DIR, a
# kernel source of the series that module.sh series prints. Without SRC, the source is KDIR if that is in a source tree
# of the series, else Debian's newest. With MENDS=n the module is the kernel's own panthor, which its vendor may have
# changed, with counters alone: SRC is the source that the kernel was built from, of 6.12, 6.18 or later, and the
# patches of patches/series/1-mends, which it may not take, are left out.

. "$(dirname "$0")/common.sh"

MODULE_DIR=$TOP_DIR/tools/module
PANTHOR=drivers/gpu/drm/panthor
UAPI=include/uapi/drm/panthor_drm.h
KEEP=4

# Patches that are for panthor. What they mend elsewhere is not in panthor.ko, nor in the kernel that it
# is for: instead of a mend of perf's core there is the PMU that is kept, which 6.12 always has.
panthor_patches()
{
	local p mends=

	case ${MENDS:-y} in
	y) ;;
	n) mends=$(sed -n 's/^Patch: //p' "$TOP_DIR"/patches/series/1-mends/* | while read -r p; do
			printf '%s\n' "$TOP_DIR/patches/$1"/$p
		done) ;;
	*) die "MENDS is y or n, not $MENDS" ;;
	esac
	for p in "$TOP_DIR/patches/$1"/*.patch "$MODULE_DIR/$1"/*.patch; do
		! grep -q "^+++ b/$PANTHOR/" "$p" || grep -qxF "$p" <<<"$mends" || echo "$p"
	done
}

supported_series()
{
	(cd "$TOP_DIR/patches" && ls -d [0-9]* | sort -V)
}

# series_for RELEASE: no series of which we have patches is older than the kernel's own, unless it is the newest
series_for()
{
	local series

	series=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$1") || die "$1 is no release of a kernel: 7.3 and 6.12.107+deb13-arm64 are some"
	printf '%s\n' "$(supported_series | head -n 1)" "$series" | sort -VC ||
		die "Linux $1 is older than $(supported_series | head -n 1), the first whose panthor we have patches for, and it keeps its own: install a later kernel"
	supported_series | grep -xF "$series" || supported_series | tail -n 1
}

# Files and directories that make up for what the kernel lacks: for panthor of a later one, or, where panthor is the
# kernel's own, for counters alone.
compat_files()
{
	if [ "${MENDS:-y}" = n ] && [ ! -d "$TOP_DIR/backports/$1" ]; then
		printf '%s\n' "$TOP_DIR"/backports/6.18/*
	else
		printf '%s\n' "$TOP_DIR/backports/$1"/*.h "$MODULE_DIR/$1"/*.h
	fi
	printf '%s\n' "$TOP_DIR"/backports/*.[ch]
}

tree_inputs()
{
	panthor_patches "$1"
	printf '%s\n' "$TOP_DIR/$PANTHOR"/*.[ch] "$TOP_DIR"/include/uapi/drm/*.h "$MODULE_DIR/Kbuild"
	compat_files "$1" | while read -r file; do
		find "$file" -type f
	done
}

# added_files SERIES: what a kernel tree with counters has besides patches, FILE<tab>PLACE
added_files()
{
	local file

	cd "$TOP_DIR"
	for file in "$PANTHOR"/*.[ch] include/uapi/drm/*.h; do
		printf '%s\t%s\n' "$TOP_DIR/$file" "$file"
	done
	printf '%s\t%s\n' "$TOP_DIR/Kconfig.perf" "$PANTHOR/Kconfig.perf"
	compat_files "$1" | while read -r file; do
		find "$file" -type f -printf "%p\t$PANTHOR/$(basename "$file")/%P\n" | sed 's,/$,,'
	done
}

# The module has the drm_gpuvm of its panthor's kernel in it. From kernel to kernel functions of the same name take
# other locks, or free memory at once or later, which no probe can tell. Other modules cannot call this one.
bring_gpuvm()
{
	local src=$1 dest=$2

	mkdir -p "$dest/include/drm"
	sed '/^EXPORT_SYMBOL/d; /^MODULE_/d' "$src/drivers/gpu/drm/drm_gpuvm.c" >"$dest/drm_gpuvm.c"
	cp "$src/include/drm/drm_gpuvm.h" "$dest/include/drm/"
}

make_tree()
{
	local series=$1 src=$2 dest=$3 patches=() compat

	mapfile -t patches < <(panthor_patches "$series")
	[ ${#patches[@]} -gt 0 ] || die "there are no patches for Linux $series: there are some for $(supported_series | paste -sd ' ')"
	stage_patches "$src" "$dest.stage" "${patches[@]}"
	rm -rf "$dest"
	mkdir -p "$dest/include/uapi/drm"
	cp "$src/$PANTHOR"/*.[ch] "$src/$PANTHOR/Makefile" "$dest/"
	cp "$dest.stage/$PANTHOR"/*.[ch] "$dest.stage/$PANTHOR/Makefile" "$dest/"
	rm -rf "$dest.stage"
	cp "$TOP_DIR/$PANTHOR"/*.[ch] "$MODULE_DIR/Kbuild" "$dest/"
	cp "$src/$UAPI" "$TOP_DIR"/include/uapi/drm/*.h "$dest/include/uapi/drm/"
	mapfile -t compat < <(compat_files "$series")
	cp -r "${compat[@]}" "$dest/"
	! grep -qs '"include/drm/drm_gpuvm\.h"' "$dest/panthor_module_compat.h" || bring_gpuvm "$src" "$dest"
	# Tests of the driver are for kernels that have KUnit.
	sed -i '/tests\//d' "$dest/Makefile"
}

# config_value KDIR NAME: of the kernel's configuration, without quotes
config_value()
{
	awk -F = -v name="$2" '$1 == name { sub(/^[^=]*=/, ""); gsub(/"/, ""); print; exit }' "$1/include/config/auto.conf"
}

# source_of KDIR SERIES: the source of panthor for the kernel of KDIR. One of its own may have changes of its own.
source_of()
{
	local kdir=$1 series=$2 up

	if [ -n "${SRC:-}" ]; then
		[ -e "$SRC/$PANTHOR/panthor_drv.c" ] || die "SRC=$SRC has no $PANTHOR"
		cd "$SRC" && pwd
		return
	fi
	for up in "$kdir" "$kdir/source"; do
		if { [ "${MENDS:-y}" = n ] || [[ $(cat "$kdir/include/config/kernel.release") = "$series".* ]]; } &&
			[ -e "$up/$PANTHOR/panthor_drv.c" ]; then
			[ ! -e "$up/$PANTHOR/panthor_perf.c" ] ||
				die "$up has our files in it: its own panthor has counters. SRC=DIR names a source without them"
			cd "$up" && pwd
			return
		fi
	done
	[ "${MENDS:-y}" != n ] || die "MENDS=n is for the kernel's own panthor: name the source that it was built from by SRC=DIR"
	"$BUILD_DIR/sources.sh" panthor "$series" || die "name a source of Linux $series by SRC=DIR"
}

# compiler_of TEXT: "gcc 14" of what --version prints first; as Kbuild, which has the last word
compiler_of()
{
	sed -n 's/^.*clang version \([0-9]*\).*/clang \1/p; t; s/([^)]*)//g; s/^.* \([0-9]*\)\.[0-9][0-9.]*.*/gcc \1/p' <<<"$1"
}

# Sets FLAGS, for make: the kernel's own compiler.
choose_compiler()
{
	local kdir=$1 text wanted cc found said=

	text=$(config_value "$kdir" CONFIG_CC_VERSION_TEXT)
	wanted=$(compiler_of "$text")
	FLAGS=(ARCH=arm64 CROSS_COMPILE="$CROSS")
	[ -n "$wanted" ] || die "$kdir does not say which compiler made its kernel: it is no build directory of a kernel since 5.8"
	if [ "${wanted% *}" = clang ]; then
		# As the kernel's makefiles take it: 1, or the suffix of the version.
		LLVM=${LLVM:--${wanted#* }}
		cc=clang${LLVM#1}
		found=$(compiler_of "$("$cc" --version 2>/dev/null | head -n 1)")
		[ "$found" = "$wanted" ] ||
			die "the kernel of $kdir was compiled by $text, and $cc is ${found:-missing}: install ${wanted/ /-}, or name it by LLVM="
		FLAGS+=(LLVM="$LLVM")
		return
	fi
	for cc in ${CC:-"${text%% *}" "${CROSS}gcc-${wanted#* }" "${CROSS}gcc"}; do
		found=$("$cc" --version 2>/dev/null | head -n 1) || continue
		if [ "$(compiler_of "$found")" = "$wanted" ]; then
			FLAGS+=(CC="$cc")
			return
		fi
		said="$said; $cc is $found"
	done
	die "the kernel of $kdir was compiled by $text, and a module by another compiler may crash it${said:-; there is none of it here}: install ${wanted/ /-}, or name it by CC="
}

check_kernel()
{
	local kdir=$1

	[ -n "$kdir" ] || die "KDIR=DIR is missing: the headers or the build directory of the kernel that the module is for"
	[ -d "$kdir" ] || die "there is no directory $kdir"
	[ -e "$kdir/include/config/kernel.release" ] && [ -e "$kdir/include/config/auto.conf" ] || die "$kdir is no build directory of a kernel, or nothing has been built there"
	[ "$(config_value "$kdir" CONFIG_ARM64)" = y ] || die "$kdir is of a kernel that is not for arm64"
	[ "$(config_value "$kdir" CONFIG_DRM_PANTHOR)" != y ] ||
		die "the kernel of $kdir has panthor built in (CONFIG_DRM_PANTHOR=y): a module would never get the GPU. Build that kernel with CONFIG_DRM_PANTHOR=m"
}

# tell_how FILE RELEASE SOURCE: what it is, what to do with it, and how to be rid of it
tell_how()
{
	local version=$3

	[ ! -e "$3/.complete" ] || version="Linux $(cat "$3/.complete") of Debian's"
	say "Its panthor is that of $version: what else has been done to the kernel's own is not in it.
For Linux $2, on that machine, as root, and then reboot:
    install -D -m 644 $(basename "$1") /lib/modules/$2/updates/panthor.ko
    depmod $2 && update-initramfs -u -k $2      (or dracut -f, mkinitcpio -P)
To go back: remove that file, and do the second line again. If the machine does not come up, boot with
module_blacklist=panthor on the kernel's command line first, which leaves the GPU alone."
}

module_make()
{
	local kdir=$1 dir=$2

	shift 2
	make -C "$kdir" M="$dir" -j"$JOBS" "$@" modules
}

make_module()
{
	local kdir=$1 dest=${2:-panthor.ko} release series src dir

	check_kernel "$kdir"
	kdir=$(cd "$kdir" && pwd)
	[ -d "$(dirname "$dest")" ] || die "there is no directory $(dirname "$dest") for $dest"
	release=$(cat "$kdir/include/config/kernel.release")
	series=$(series_for "$release")
	choose_compiler "$kdir"
	need_tool patch patch
	src=$(source_of "$kdir" "$series")
	dir=$CACHE/module/make-$(hash_text "$kdir" "$src")
	lock module
	mkdir -p "$CACHE/module"
	step "preparing panthor of Linux $series for Linux $release" make_tree "$series" "$src" "$dir"
	step "building panthor for Linux $release" module_make "$kdir" "$dir" "${FLAGS[@]}"
	unlock
	cp "$dir/panthor.ko" "$dest"
	echo "$dest"
	tell_how "$dest" "$release" "$src"
}

# Those of the tests are in a directory of their own.
build_in_root()
{
	local root=$1 series=$2 src=$3 release=$4 dest=$5 work=/build/$2-$4 name

	rm -rf "${root:?}$work" "$dest.new"
	mkdir -p "$root$work/tests" "$dest.new"
	make_tree "$series" "$src" "$root$work/panthor"
	cp "$VIRT_DIR"/guest/modules/{Kbuild,*.[ch]} "$root$work/tests/"
	for name in panthor tests; do
		in_root "$root" make -C "/usr/src/linux-headers-$release" M="$work/$name" -j"$JOBS" modules
		in_root "$root" sh -c 'aarch64-linux-gnu-strip --strip-debug "$@"' sh \
			$(cd "$root" && ls ".$work/$name"/*.ko | sed 's/^\.//')
	done
	cp "$root$work"/*/*.ko "$dest.new/"
	rm -rf "${root:?}$work" "$dest"
	mv "$dest.new" "$dest"
}

# For a kernel that is built here. Its image has the modules of the tests.
build_beside()
{
	local version=$1 series=$2 src=$3 dest=$4 places work

	mapfile -t places < <("$BUILD_DIR/kernel.sh" object "$version" plain)
	work=${places[1]}.stock
	make_tree "$series" "$src" "$work"
	module_make "${places[1]}" "$work" ARCH=arm64 CROSS_COMPILE="$CROSS"
	rm -rf "$dest" "$dest.new"
	mkdir -p "$dest.new"
	"${CROSS}strip" --strip-debug -o "$dest.new/panthor.ko" "$work/panthor.ko"
	mv "$dest.new" "$dest"
}

debian_module()
{
	local series kernel release src root dest inputs

	series=$(series_for "$1")
	if [ "$1" = 6.18 ]; then
		release=$(basename "$("$BUILD_DIR/kernel.sh" "$1" debian)")
	else
		kernel=$("$BUILD_DIR/sources.sh" kernel "$1")
		release=$(cd "$kernel/usr/lib/modules" && ls)
	fi
	src=${SRC:-$("$BUILD_DIR/sources.sh" panthor "$series")}
	mapfile -t inputs < <(tree_inputs "$series"; printf '%s\n' "$VIRT_DIR"/guest/modules/{Kbuild,*.[ch]})
	dest=$CACHE/module/$1-stock-$(hash_text "$release $(source_id "$src")" "$(hash_files "${inputs[@]}")" "$(declare -f make_tree compat_files bring_gpuvm build_in_root build_beside)")
	if [ ! -e "$dest/panthor.ko" ]; then
		need_tool patch patch
		[ "$1" = 6.18 ] || root=$("$BUILD_DIR/sources.sh" headers "$release")
		lock module
		if [ ! -e "$dest/panthor.ko" ]; then
			mkdir -p "$CACHE/module"
			if [ "$1" = 6.18 ]; then
				step "building panthor for Linux 6.18" build_beside "$1" "$series" "$src" "$dest"
			else
				step "building panthor for Debian's Linux $release" \
					build_in_root "$root" "$series" "$src" "$release" "$dest"
			fi
			prune "$CACHE/module/$1-stock" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest"
}

case ${1:-} in
make) make_module "${2:-}" "${3:-}" ;;
debian) debian_module "$2" ;;
series) series_for "$2" ;;
tree) make_tree "$2" "$3" "$4" ;;
patches) panthor_patches "$2" ;;
files) added_files "$2" ;;
*) die "usage: module.sh make KDIR [DEST] | debian VERSION | series RELEASE | tree SERIES SOURCE DEST | patches SERIES |
	files SERIES" ;;
esac
