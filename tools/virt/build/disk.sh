#!/bin/bash
# SPDX-License-Identifier: MIT
# disk.sh [-t SUITE] RELEASE [RELEASE...] [-- PACKAGE...]
#         make a disk for run --disk and print its path: an ext4 image of a Debian system (trixie, arm64), with the
#         kernel of the first RELEASE (as in uname -r) and its headers installed. The image is shared: copy it before
#         you write to it.
#
# The machine has no network. Its apt installs from a repository on the disk, /srv/packages, which has the kernels of
# all RELEASEs with their headers, PACKAGEs, and all dependencies. They come from SUITE first: kernel packages may need
# newer dependencies than trixie has.
#
# The host cannot run arm64 programs. So mmdebstrap only unpacks packages, and the second stage installs them in the
# virtual machine.

. "$(dirname "$0")/common.sh"

KEEP=4
SIZE=6G

make_image()
{
	local packages=$1 dest=$2 root=$2/root

	rm -rf "$dest"
	mkdir -p "$dest"
	# No chroot is entered, and so nobody has to be root for it: fakeroot is enough.
	mmdebstrap --mode=chrootless --architectures=arm64 --variant=extract \
		--include='?essential' --include='?priority(required)' --include=apt \
		trixie "$root" "deb [trusted=yes] copy:$packages ./"
	mkdir -p "$root/srv"
	cp -al "$packages" "$root/srv/packages" 2>/dev/null || cp -a "$packages" "$root/srv/packages"
	rm -f "$root/srv/packages/.complete"
	rm -f "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"/*
	echo 'deb [trusted=yes] file:/srv/packages ./' >"$root/etc/apt/sources.list"
	# As in the machine's own root, nobody waits for the disk.
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/virt"
	echo 'APT::Install-Recommends "false";' >"$root/etc/apt/apt.conf.d/virt"
	echo '127.0.0.1 localhost mali' >"$root/etc/hosts"
	# dpkg and scripts of packages ask for names of users before there is a package that brings them.
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	chown -R 0:0 "$root/srv" "$root/etc"
	mke2fs -q -t ext4 -d "$root" "$dest/disk.new" "$SIZE"
	rm -rf "$root"
}

second_stage()
{
	local release=$1 dest=$2

	"$VIRT_DIR/run" -k "${release%%+*}" -c debian -p noload=1 -m 2048 -t 3600 --disk "$dest/disk.new" \
		-f "$BUILD_DIR/second-stage.sh:/root/second-stage" \
		-- sh /run/virt/root/second-stage "linux-image-$release" "linux-headers-$release"
}

main()
{
	local suite=() releases=() names=() packages key dest fakeroot=() release

	if [ "${1:-}" = -t ]; then
		suite=(-t "$2")
		shift 2
	fi
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		releases+=("$1")
		shift
	done
	[ ${#releases[@]} -gt 0 ] || die "usage: disk.sh [-t SUITE] RELEASE [RELEASE...] [-- PACKAGE...]"
	[ $# -eq 0 ] || shift
	for release in "${releases[@]}"; do
		names+=("linux-image-$release:arm64" "linux-headers-$release:arm64")
	done
	# Of the tools that make initrds this one does for every kernel.
	packages=$("$BUILD_DIR/sources.sh" system "${suite[@]}" initramfs-tools "${names[@]}" "$@")
	key=$(hash_text "${releases[0]}" "$(cat "$packages/Packages")" "$(hash_files "$0" "$BUILD_DIR/second-stage.sh")")
	dest=$CACHE/disk/trixie-$key
	if [ ! -e "$dest/disk" ]; then
		need_tool mmdebstrap mmdebstrap
		need_tool mke2fs e2fsprogs
		lock disk
		if [ ! -e "$dest/disk" ]; then
			need_space 8
			if [ "$(id -u)" != 0 ]; then
				need_tool fakeroot fakeroot
				fakeroot=(fakeroot)
			fi
			step "unpacking a Debian system" "${fakeroot[@]}" "$0" image "$packages" "$dest"
			step "installing a Debian system in the virtual machine (with Linux ${releases[0]})" \
				second_stage "${releases[0]}" "$dest"
			mv "$dest/disk.new" "$dest/disk"
			prune "$CACHE/disk/trixie" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest/disk"
}

if [ "${1:-}" = image ]; then
	make_image "$2" "$3"
else
	main "$@"
fi
