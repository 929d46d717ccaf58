#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# make armbian: for each family of kernels, the patches apply as Armbian's build applies them, to panthor of that kernel
# where its source is here (7.1 is not: that of 7.2), for CIX boards of 7.x to one that is changed as vendors do it; and
# the extension asks for the option. (without-mends.sh compiles the same, and runs it.)
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
panthor=drivers/gpu/drm/panthor
out=$SCRATCH/build

# armbian [NAME=VALUE]...: leaves status, and $SCRATCH/said
armbian()
{
	make -s -C "$top" armbian "$@" >"$SCRATCH/said" 2>&1
	status=$?
}

# refused NAME PATTERN: it said so, and wrote nothing
refused()
{
	if [ $status -ne 0 ] && grep -qE -- "$2" "$SCRATCH/said" && [ -z "$(ls -A "$out")" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, expected: $2" "$(cat "$SCRATCH/said")" "written: $(ls -A "$out")"
	fi
}

# source_for FAMILY: the kernel's source, with a vendor's changes for CIX
source_for()
{
	local src dest=$SCRATCH/source-$1

	case $1 in
	*-6.18) src=$KERNEL_SRC_6_18 ;;
	*-7.3) src=$("$VIRT_DIR/build/sources.sh" panthor 7.3) || return ;;
	*) src=$("$VIRT_DIR/build/sources.sh" panthor 7.2) || return ;;
	esac
	mkdir -p "$dest"
	(cd "$src" && cp -r --parents $panthor include/uapi/drm/panthor_drm.h "$dest/") || return
	case $1 in
	cix-7.*) patch -s -F0 -p1 -d "$dest" <"$TESTS_DIR/driver/vendor.patch" || return ;;
	esac
	echo "$dest"
}

# apply DIR PATCHES: as Armbian's build does; what patch has to say of those that it refuses, and which are not mails,
# one in a file
apply()
{
	local patch

	for patch in "$2"/*.patch; do
		patch --batch -p1 -N -d "$1" <"$patch" >"$SCRATCH/log" 2>&1 || cat "$SCRATCH/log"
		[ "$(sed -n '1{/^From .* Mon Sep 17 00:00:00 2001$/p}' "$patch" | wc -l) $(grep -c '^From ' "$patch")" = "1 1" ] ||
			echo "$patch is not one mail"
		LC_ALL=C grep -nP '[^\x00-\x7f]' "$patch"
	done
}

# lacking DIR: which of our files are not in it as they are here
lacking()
{
	local file place count=0

	while IFS=$'\t' read -r file place; do
		count=$((count + 1))
		cmp -s "$file" "$1/$place" || echo "$place"
	done < <(MENDS=n "$VIRT_DIR/build/module.sh" files 7.3)
	[ $count -gt 0 ] || echo "module.sh has no list of our files"
}

mkdir "$out"
armbian FAMILY=cix-5.10 OUT="$out"
refused "a kernel that is too old: refused" 'FAMILY=cix-5\.10: there are rockchip64 and cix, .* from 6\.18 to 7\.3'
armbian FAMILY=sunxi64-7.1 OUT="$out"
refused "a family without panthor" 'FAMILY=sunxi64-7\.1: there are '
armbian FAMILY=../cix-7.1 OUT="$out"
refused "another place" 'FAMILY=\.\./cix-7\.1: there are '
armbian OUT="$out"
refused "no family" 'FAMILY=: there are '
armbian FAMILY=cix-7.1
refused "no directory" 'OUT=DIR is missing'
armbian FAMILY=cix-7.1 OUT="$SCRATCH/nowhere"
refused "one that is not there" 'OUT=.*nowhere: there is no such directory'

families="rockchip64-7.1 rockchip64-7.2 rockchip64-7.3 cix-7.1 cix-7.2 cix-7.3"
[ -z "${KERNEL_SRC_6_18:-}" ] || families="rockchip64-6.18 cix-6.18 $families"
for family in $families; do
	armbian FAMILY=$family OUT="$out"
	is "$family: written, and said where" "$status $(grep -c "^$out/userpatches/" "$SCRATCH/said")" \
		"0 $(find "$out/userpatches" -path "*/$family/*" -o -name panthor-perf.sh | wc -l)"
	if ! dir=$(source_for $family 2>"$SCRATCH/err"); then
		not_ok "$family: there is a source to apply it to" "$(cat "$SCRATCH/err")"
		continue
	fi
	is "$family: all patches apply" "$(apply "$dir" "$out/userpatches/kernel/archive/$family")" ""
	is "$family: with them all files come" "$(lacking "$dir")" ""
	is "$family: the option is there" "$(grep -h '^source.*perf\|^config DRM_PANTHOR_PERF$' "$dir/$panthor"/Kconfig*)" \
		"source \"$panthor/Kconfig.perf\"
config DRM_PANTHOR_PERF"
done

archive=$out/userpatches/kernel/archive/cix-7.1
cp -r "$archive" "$SCRATCH/before"
touch "$archive/zz-panthor-perf-9-old.patch" "$archive/zz-mine.patch"
armbian FAMILY=cix-7.1 OUT="$out"
is "once more: the same bytes, nothing of an older version, and what others have put there" \
	"$(diff -r "$SCRATCH/before" "$archive" 2>&1)" "Only in $archive: zz-mine.patch"

# hook NAME COMMAND: the extension as Armbian's build has it, with functions that only say what they are asked
hook()
{
	bash -c '
		exit_with_error() { echo "error: $*"; exit 1; }
		display_alert() { :; }
		run_host_command_logged() { "$@"; }
		chroot_sdcard_apt_get_install() { echo "install $*"; }
		chroot_sdcard() { echo "chroot $*"; }
		USERPATCHES_PATH=$1/userpatches SDCARD=$1/card SRC=$1 KERNELPATCHDIR=$2
		declare -a opts_y=(BEFORE)
		. "$USERPATCHES_PATH/extensions/panthor-perf.sh"
		eval "$3"' bash "$out" "$1" "$2" 2>&1
}

is "the extension asks for the option" "$(hook archive/cix-7.1 'custom_kernel_config__panthor_perf; echo "${opts_y[*]}"')" \
	"BEFORE DRM_PANTHOR_PERF"
is "it accepts a kernel with patches" "$(hook archive/cix-7.1 extension_finish_config__panthor_perf)" ""
is "and of another says what to do" "$(hook archive/meson64-6.18 extension_finish_config__panthor_perf)" \
	"error: panthor-perf no patches for this kernel: make armbian FAMILY=meson64-6.18 OUT=$out"
mkdir -p "$out/card/root" "$out/userpatches/panthor-perf"
is "without packages an image gets none" "$(hook archive/cix-7.1 post_install_kernel_debs__panthor_perf)" ""
touch "$out/userpatches/panthor-perf"/{panthor-perf_1_arm64,panthor-perf-selftests_1_arm64,panthor-perf-dkms_1_all}.deb
is "with them it gets the tool and its tests, and not the driver by DKMS" \
	"$(hook archive/cix-7.1 post_install_kernel_debs__panthor_perf)" \
	"install /root/panthor-perf_1_arm64.deb /root/panthor-perf-selftests_1_arm64.deb
chroot rm -f /root/panthor-perf_1_arm64.deb /root/panthor-perf-selftests_1_arm64.deb"
plan $TAP_COUNT
