#!/bin/bash
# SPDX-License-Identifier: MIT
# root.sh VERSION VARIANT   build everything that a VM with this kernel needs, and print four lines: the kernel image,
#                           the root image, QEMU, the kernel's configuration

. "$(dirname "$0")/common.sh"

KEEP=6

main()
{
	local version=$1 variant=$2 kernel qemu sysroot tools firmware key dest

	kernel=$("$BUILD_DIR/kernel.sh" "$version" "$variant")
	qemu=${VIRT_QEMU:-$("$BUILD_DIR/qemu.sh")}
	# shellcheck disable=SC2086
	sysroot=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
	tools=$("$BUILD_DIR/tools.sh")
	firmware=$("$BUILD_DIR/tools.sh" -f)
	key=$(hash_text "$kernel" "$tools" "$firmware" "$sysroot" \
		"$(hash_files "$BUILD_DIR/mkroot.py" "$BUILD_DIR/cpio.py" "$BUILD_DIR/firmware.list")" \
		"$(cut -f 2 <<<"$tools" | grep -v "^$CACHE/" | xargs -r sha256sum)")
	dest=$CACHE/root/$version-$variant-$key
	if [ ! -e "$dest/root.cpio" ]; then
		lock "root-$version-$variant"
		if [ ! -e "$dest/root.cpio" ]; then
			need_space 1
			mkdir -p "$dest"
			printf '%s\n' "$tools" >"$dest/tools"
			step "making the root image ($version $variant)" /usr/bin/python3 "$BUILD_DIR/mkroot.py" \
				"$dest" "$kernel" "$sysroot" "$firmware" "$BUILD_DIR/firmware.list"
			prune "$CACHE/root/$version-$variant" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	printf '%s\n' "$kernel/Image" "$dest/root.cpio" "$qemu" "$kernel/config"
}

[ $# -eq 2 ] || die "usage: root.sh VERSION VARIANT"
need_tool python3 python3
main "$@"
