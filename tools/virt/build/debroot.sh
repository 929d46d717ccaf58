#!/bin/bash
# SPDX-License-Identifier: MIT
# debroot.sh SUITE KIND [PACKAGE...]   make an archive (cpio) of the files that run -r and -a add to the root image,
#                                      from Debian's arm64 packages of SUITE, and print its path
#
# KIND is vulkan, gl (which includes Vulkan) or none. Of its packages the archive has only the files that the libraries
# need: those that a program or the loader opens by name (listed below), and everything that their NEEDED entries
# reach. PACKAGEs and their dependencies are complete, except for documentation and translations.
#
# Packages are unpacked without running their maintainer scripts. The archive is unpacked over the root image and
# replaces none of its files, so busybox and our programs are unaffected. The root image has real directories /bin and
# /lib, which in Debian are links to /usr. So each name there that programs rely on is a link of its own.
#
# Some libraries reject files whose modification time is 0, which is what all files get from a kernel without
# CONFIG_INITRAMFS_PRESERVE_MTIME. init sets the times of the files that virt/touch lists.

. "$(dirname "$0")/common.sh"

KEEP=6
LIB=usr/lib/aarch64-linux-gnu

# Files of KIND that something opens by name.
wanted()
{
	printf '%s\n' usr/lib/ld-linux-aarch64.so.1 "$LIB"/{libc.so.6,libm.so.6,libdl.so.2,libpthread.so.0,librt.so.1}
	[ "$1" != none ] || return 0
	printf '%s\n' "$LIB"/{libvulkan.so.1,libvulkan_panfrost.so,libdrm.so.2} usr/share/vulkan/icd.d/panfrost_icd*.json \
		usr/share/drirc.d/*.conf
	[ "$1" = gl ] || return 0
	printf '%s\n' "$LIB"/{libEGL.so.1,libEGL_mesa.so.0,libGLESv2.so.2,libgbm.so.1} "$LIB"/gbm/*.so \
		usr/share/glvnd/egl_vendor.d/50_mesa.json
}

# take BASE STAGE FILE: FILE of BASE, and what it is a link to
take()
{
	local base=$1 stage=$2 file=$3 to

	while [ -L "$base/$file" ] || [ -e "$base/$file" ]; do
		[ ! -L "$stage/$file" ] && [ ! -e "$stage/$file" ] || return 0
		mkdir -p "$stage/${file%/*}"
		cp -a "$base/$file" "$stage/$file"
		[ -L "$base/$file" ] || break
		to=$(readlink "$base/$file")
		case $to in
		/*) file=${to#/} ;;
		*) file=$(realpath -sm --relative-to=/ "/${file%/*}/$to") ;;
		esac
	done
}

# The NEEDED entries of all programs and libraries in a directory. Scripts are looked at as well, and
# readelf fails for them.
needed()
{
	find "$1" -type f \( -perm /111 -o -name '*.so*' \) -print0 | { xargs -0r readelf -d 2>/dev/null || :; } |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u
}

# Debian's programs may be asked for by their names in /bin, and the loader is asked for in /lib.
add_links()
{
	local stage=$1 dir file name

	for dir in bin sbin; do
		for file in "$stage/usr/$dir"/*; do
			name=${file##*/}
			mkdir -p "$stage/$dir"
			ln -sfn "../usr/$dir/$name" "$stage/$dir/$name"
		done
	done
	mkdir -p "$stage/lib"
	ln -sfn ../usr/lib/ld-linux-aarch64.so.1 "$stage/lib/ld-linux-aarch64.so.1"
	ln -sfn ../$LIB "$stage/lib/aarch64-linux-gnu"
}

# Packages of which some still have files outside of /usr
merge_usr()
{
	local stage=$1 dir

	for dir in bin sbin lib lib64; do
		if [ -L "$stage/$dir" ]; then
			rm "$stage/$dir"
		elif [ -d "$stage/$dir" ]; then
			mkdir -p "$stage/usr/$dir"
			cp -al "$stage/$dir/." "$stage/usr/$dir/"
			rm -rf "${stage:?}/$dir"
		fi
	done
}

make_archive()
{
	local kind=$1 base=$2 extra=$3 dest=$4 stage=$4/stage file library before

	rm -rf "$dest"
	mkdir -p "$stage"
	if [ -n "$extra" ]; then
		cp -a "$extra/." "$stage/"
		rm -f "$stage/.complete"
		merge_usr "$stage"
	fi
	# Patterns among the names are of files in the packages.
	(cd "$base" && wanted "$kind") >"$dest/wanted"
	while read -r file; do
		[ -e "$base/$file" ] || {
			echo "none of the packages has $file"
			return 1
		}
		take "$base" "$stage" "$file"
	done <"$dest/wanted"
	# Until nothing is new: a library that has come in needs others.
	before=
	while needed "$stage" >"$dest/needed" && [ "$(wc -l <"$dest/needed")" != "$before" ]; do
		before=$(wc -l <"$dest/needed")
		while read -r library; do
			take "$base" "$stage" "$LIB/$library"
		done <"$dest/needed"
	done
	add_links "$stage"
	mkdir -p "$stage/virt"
	(cd "$stage" && find usr/lib -name '*.so*' -type f -printf '/%p\0') >"$dest/touch"
	mv "$dest/touch" "$stage/virt/touch"
	(cd "$stage" && find . -mindepth 1 -print0 | sort -z |
		cpio --null --create --format=newc --owner=0:0 --reproducible --quiet) >"$dest/root.cpio.new"
	rm -rf "$stage"
	mv "$dest/root.cpio.new" "$dest/root.cpio"
}

main()
{
	local suite=$1 kind=$2 base extra= key dest packages=libc6

	shift 2
	case $kind in
	vulkan|gl) packages=$MESA_PACKAGES ;;
	none) ;;
	*) die "usage: debroot.sh SUITE vulkan|gl|none [PACKAGE...]" ;;
	esac
	need_tool cpio cpio
	need_tool readelf binutils
	# shellcheck disable=SC2086
	base=$("$BUILD_DIR/sources.sh" debian "$suite" $packages)
	if [ $# -gt 0 ]; then
		# shellcheck disable=SC2086
		extra=$("$BUILD_DIR/sources.sh" debian "$suite" "$@" -- $packages)
	fi
	key=$(hash_text "$kind" "$(cat "$base/.complete" ${extra:+"$extra/.complete"})" "$(hash_files "$0")")
	dest=$CACHE/root/debian-$key
	if [ ! -e "$dest/root.cpio" ]; then
		lock root-debian
		if [ ! -e "$dest/root.cpio" ]; then
			need_space 2
			step "making a root of Debian $suite ($kind${*:+ $*})" make_archive "$kind" "$base" "$extra" "$dest"
			prune "$CACHE/root/debian" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest/root.cpio"
}

[ $# -ge 2 ] || die "usage: debroot.sh SUITE vulkan|gl|none [PACKAGE...]"
main "$@"
