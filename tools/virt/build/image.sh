#!/bin/bash
# SPDX-License-Identifier: MIT
# image.sh BOARD FILE   make a bootable disk image of a Debian system for that board, and print its path
#
# SSH_KEY, PASSWORD, NAME and UBOOT are its options (Documentation/image.rst). IMAGE_SYSTEM=FILE is a system to use in
# the place of Debian's, for tests, and IMAGE_SALT has Debian's made once more.
#
# The host cannot run arm64 programs: the packages are installed on a disk of disk.sh, in the virtual machine, which packs
# the system (image-stage.sh). That is the same for all boards. The rest is done here, by whoever it is: fakeroot is
# enough.

. "$(dirname "$0")/common.sh"

KEEP=2
# Where U-Boot's image starts, as the processor wants it, and the first partition, in sectors of 512 bytes.
UBOOT_SECTOR=64
FIRST_SECTOR=32768
ESP_MIB=32
LABEL=panthor-perf
# Device tree of each board, of the kernel's package.
declare -A TREES=(
	[rock-5b]=rockchip/rk3588-rock-5b.dtb
	[orangepi-5]=rockchip/rk3588s-orangepi-5.dtb
	[orangepi-5-plus]=rockchip/rk3588-orangepi-5-plus.dtb
)
PACKAGES="ca-certificates dbus dbus-user-session dkms ethtool fdisk firmware-misc-nonfree firmware-realtek glmark2-es2-drm
	initramfs-tools iproute2 iputils-ping kmod less libegl1 libgles2 libpam-systemd mesa-vulkan-drivers nano
	openssh-server pciutils procps sudo systemd-repart systemd-resolved systemd-sysv systemd-timesyncd
	u-boot-menu udev usbutils xz-utils zstd"

# Times of files, file systems and packages are those of the commit, or before.
EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$TOP_DIR" log -1 --format=%ct)}

# our_packages DIR: those that a board needs, copied there
our_packages()
{
	local deb

	mkdir -p "$1"
	for deb in $("$BUILD_DIR/deb.sh"); do
		case $(basename "$deb") in
		*-dev_*) ;;
		*) cp "$deb" "$1/" ;;
		esac
	done
}

# install_packages DIR RELEASE: everything, on a copy of a disk that has the kernel, in the virtual machine
install_packages()
{
	local dest=$1 release=$2 boards=() board processors=$JOBS

	# As many as run gives.
	[ "$processors" -le 8 ] || processors=8
	for board in $(printf '%s\n' "${!TREES[@]}" | sort); do
		boards+=("$board=${TREES[$board]}")
	done
	# shellcheck disable=SC2086
	"$VIRT_DIR/run" -k "${release%%+*}" -c debian -p noload=1 -m 2048 -s "$processors" -t 0 --disk "$dest/disk" \
		-f "$BUILD_DIR/image-stage.sh:/root/image-stage" -f "$dest/packages:/root/packages" -o "/image.tar:$dest/root.tar" \
		-- sh /run/virt/root/image-stage "$release" "$EPOCH" "${boards[@]}" -- $PACKAGES
}

# The system of all boards, packed; made once for a commit.
system()
{
	local release needs disk key dest

	release=$("$BUILD_DIR/sources.sh" kernel-releases | awk '$2 ~ /^7\.3\./ { print $2 }' | tail -n 1)
	[ -n "$release" ] || die "Debian has no arm64 kernel 7.3: 'make releases' says what it has"
	our_packages "$SCRATCH/packages"
	mapfile -t needs < <(for p in "$SCRATCH"/packages/*.deb; do dpkg-deb -f "$p" Depends; done |
		tr ',' '\n' | sed 's/([^)]*)//; s/|.*//; s/:any//; s/ //g' | sort -u |
		grep -vxF "$(cd "$SCRATCH/packages" && printf '%s\n' *.deb | sed 's/_.*//')")
	# Of the release that kernels come from, and that alone: the kernel wants a newer one.
	# shellcheck disable=SC2086
	disk=$("$BUILD_DIR/disk.sh" "$release" -- linux-base/trixie-backports "${needs[@]/%/:arm64}" $PACKAGES)
	key=$(hash_text "$disk" "$EPOCH" "${IMAGE_SALT:-}" "$(cd "$SCRATCH/packages" && sha256sum -- *)" \
		"$PACKAGES" "$(hash_files "$BUILD_DIR/image-stage.sh")")
	dest=$CACHE/board-image/system-$key
	if [ ! -e "$dest/.complete" ]; then
		lock image
		if [ ! -e "$dest/.complete" ]; then
			need_space 10
			rm -rf "$dest"
			mkdir -p "$dest"
			cp -r "$SCRATCH/packages" "$dest/"
			cp --sparse=always "$disk" "$dest/disk"
			step "installing the image's packages in the virtual machine" install_packages "$dest" "$release"
			rm "$dest/disk"
			touch "$dest/.complete"
			prune "$CACHE/board-image/system" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest/root.tar"
}

# uuid NAME: the same for each build of a commit
uuid()
{
	hash_text "$BOARD $EPOCH $1" | sha256sum | sed -E 's/(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-8\4-\5/'
}

# configure ROOT: write the files that are this board's or were asked for
configure()
{
	local root=$1 v hash console="console=ttyS2,1500000 console=tty1"

	cp -r "$BUILD_DIR/image/." "$root/"
	echo "$NAME" >"$root/etc/hostname"
	printf '127.0.0.1 localhost\n127.0.1.1 %s\n::1 localhost ip6-localhost\n' "$NAME" >"$root/etc/hosts"
	ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
	if [ "$BOARD" = virt ]; then
		console=console=ttyAMA0
		# That of the model, which is no processor.
		while read -r v; do
			install -D -m 644 "$FIRMWARE" "$root/usr/lib/firmware/updates/arm/mali/arch$v/mali_csffw.bin"
		done < <(grep -v '^#' "$BUILD_DIR/firmware.list")
	else
		mkdir -p "$root/boot/extlinux"
		cp "$root/usr/share/panthor-perf-image/$BOARD/extlinux.conf" "$root/boot/extlinux/"
		cp "$root/usr/share/panthor-perf-image/$BOARD/u-boot" "$root/etc/default/"
	fi
	rm -r "$root/usr/share/panthor-perf-image"
	sed -i "s/@CONSOLE@/$console/" "$root/boot/grub/grub.cfg"
	{
		echo "Mali performance counters on $BOARD. Commands: panthor-perf doctor, stat, top, record."
		echo "To test this board and write a report: sudo panthor-perf selftest"
	} >"$root/etc/motd"
	hash=$(printf %s "${PASSWORD:-debian}" | openssl passwd -6 -salt "$(uuid salt | tr -d -)" -stdin)
	sed -i "s,^debian:[^:]*:,debian:$hash:," "$root/etc/shadow"
	if [ -n "${SSH_KEY:-}" ]; then
		install -d -m 700 "$root/home/debian/.ssh"
		install -m 600 "$SSH_KEY" "$root/home/debian/.ssh/authorized_keys"
		chown -R 1000:1000 "$root/home/debian/.ssh"
	fi
	find "$root" -newermt "@$EPOCH" -exec touch -h -d "@$EPOCH" {} +
}

# file_systems TAR DIR: the contents of both partitions, as DIR/root and DIR/esp. Whoever runs this is root or thinks so.
file_systems()
{
	local root=$2/tree size

	mkdir "$root"
	tar -x --numeric-owner -p -f "$1" -C "$root"
	mkdir -p "$root"/{dev,proc,sys,run,tmp,mnt,root}
	chmod 1777 "$root/tmp"
	chmod 700 "$root/root"
	configure "$root"
	# In MiB: a tenth more than what is in it, and room for logs and reports. It grows at the first boot.
	size=$(($(du -sm "$root" | cut -f 1) * 11 / 10 + 256))
	# U-Boot reads it: nothing in it is newer than that knows.
	E2FSPROGS_FAKE_TIME=$EPOCH mke2fs -q -t ext4 -O ^metadata_csum_seed,^orphan_file -L $LABEL -m 1 -U "$(uuid fs)" \
		-E "hash_seed=$(uuid hash),root_owner=0:0" -d "$root" "$2/root" "${size}M"
	# When an inode was changed or read is all that mke2fs takes from the clock.
	(cd "$root" && find . -printf "sif \"/%P\" ctime @$EPOCH\nsif \"/%P\" atime @$EPOCH\n") >"$2/times"
	E2FSPROGS_FAKE_TIME=$EPOCH debugfs -w -f "$2/times" "$2/root" >/dev/null
	truncate -s ${ESP_MIB}M "$2/esp"
	mkfs.vfat -n EFI --invariant "$2/esp" >/dev/null
	printf 'search --no-floppy --set=root --label %s\nconfigfile /boot/grub/grub.cfg\n' $LABEL >"$2/grub.cfg"
	mmd -i "$2/esp" ::EFI ::EFI/BOOT ::EFI/debian
	touch -d "@$EPOCH" "$2/grub.cfg"
	mcopy -m -i "$2/esp" "$GRUB" ::EFI/BOOT/BOOTAA64.EFI
	mcopy -m -i "$2/esp" "$2/grub.cfg" ::EFI/debian/grub.cfg
	rm -rf "$root"
}

# disk DIR FILE: the partitions, and U-Boot in front of them
disk()
{
	local esp=$((ESP_MIB * 2048)) root

	root=$(($(stat -c %s "$1/root") / 512))
	rm -f "$2"
	# Behind the partitions there is a second table.
	truncate -s $(((FIRST_SECTOR + esp + root + 2048) * 512)) "$2"
	sfdisk -q "$2" <<-TABLE
		label: gpt
		label-id: $(uuid disk)
		start=$FIRST_SECTOR, size=$esp, type=uefi, uuid=$(uuid esp), name=efi
		start=$((FIRST_SECTOR + esp)), size=$root, type=B921B045-1DF0-41C3-AF44-4C6F280D3FAE, uuid=$(uuid root), name=root, attrs=LegacyBIOSBootable
	TABLE
	dd if="$1/esp" of="$2" bs=1M seek=$((FIRST_SECTOR / 2048)) conv=notrunc,sparse status=none
	dd if="$1/root" of="$2" bs=1M seek=$((FIRST_SECTOR / 2048 + ESP_MIB)) conv=notrunc,sparse status=none
	[ -z "${UBOOT:-}" ] || dd if="$UBOOT" of="$2" bs=512 seek=$UBOOT_SECTOR conv=notrunc status=none
}

check_options()
{
	[ "$BOARD" = virt ] || [ -n "${TREES[$BOARD]:-}" ] ||
		die "BOARD=$BOARD is not known: it is virt or one of: $(printf '%s\n' "${!TREES[@]}" | sort | tr '\n' ' ')"
	[ -n "$FILE" ] || die "OUT is missing: name the image's file, as in OUT=$BOARD.img"
	[ -d "$(dirname "$FILE")" ] || die "OUT=$FILE: there is no directory $(dirname "$FILE")"
	[ -z "${SSH_KEY:-}" ] || grep -qE '^(ssh|ecdsa|sk)-' "$SSH_KEY" ||
		die "SSH_KEY=$SSH_KEY is no public key of ssh: name a file such as ~/.ssh/id_ed25519.pub"
	[[ $NAME =~ ^[a-z0-9][a-z0-9-]*$ ]] || die "NAME=$NAME is no name of a host: small letters, digits and - are"
	[ -n "${UBOOT:-}" ] || return 0
	[ "$BOARD" != virt ] || die "UBOOT is for boards: virt boots by UEFI"
	[ "$(head -c 4 "$UBOOT" 2>/dev/null)" = RKNS ] ||
		die "UBOOT=$UBOOT is no U-Boot for RK3588 (no RKNS at its start): give U-Boot's u-boot-rockchip.bin for $BOARD"
	[ "$(stat -Lc %s "$UBOOT")" -le $(((FIRST_SECTOR - UBOOT_SECTOR) * 512)) ] ||
		die "UBOOT=$UBOOT reaches into the first partition: give U-Boot's u-boot-rockchip.bin for $BOARD"
}

main()
{
	local tar fakeroot=()

	check_options
	need_tool mmdebstrap mmdebstrap
	need_tool sfdisk fdisk
	need_tool mkfs.vfat dosfstools
	need_tool mcopy mtools
	need_tool openssl openssl
	if [ "$(id -u)" != 0 ]; then
		need_tool fakeroot fakeroot
		fakeroot=(fakeroot)
	fi
	SCRATCH=$(mktemp -d "$(dirname "$FILE")/.image.XXXXXX")
	trap 'rm -rf "$SCRATCH"' EXIT
	FIRMWARE=$("$BUILD_DIR/tools.sh" -f)
	GRUB=$("$BUILD_DIR/sources.sh" debian trixie grub-efi-arm64-unsigned)/usr/lib/grub/arm64-efi/monolithic/grubaa64.efi
	tar=${IMAGE_SYSTEM:-$(system)}
	export BOARD NAME FIRMWARE SOURCE_DATE_EPOCH=$EPOCH GRUB
	step "making the file systems of $BOARD" "${fakeroot[@]}" "$0" --file-systems "$tar" "$SCRATCH"
	disk "$SCRATCH" "$SCRATCH/image"
	mv "$SCRATCH/image" "$FILE"
	[ "$BOARD" = virt ] || [ -n "${UBOOT:-}" ] ||
		say "There is no U-Boot in it: the board's own, in its SPI flash, has to boot it. UBOOT=FILE adds one."
	echo "$FILE"
}

if [ "${1:-}" = --file-systems ]; then
	file_systems "$2" "$3"
else
	[ $# -eq 2 ] || die "usage: image.sh BOARD FILE"
	BOARD=$1 FILE=$2 NAME=${NAME:-$1}
	main
fi
