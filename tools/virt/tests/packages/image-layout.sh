#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The images that make image writes, with a small system of this test in the place of Debian's: partitions, file
# systems, U-Boot, options, and that two of them are the same. The real ones are image.sh's.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/image.sh"

export IMAGE_SYSTEM=$SCRATCH/system.tar
"$VIRT_DIR/build/deps.sh" dosfstools fdisk jq mtools openssl 2>/dev/null
# What image.sh takes from a system.
system=$SCRATCH/system
mkdir -p "$system"/{boot,etc/default,home/debian,usr/share}
echo 'debian:!:20000:0:99999:7:::' >"$system/etc/shadow"
for board in rock-5b orangepi-5 orangepi-5-plus; do
	mkdir -p "$system/usr/share/panthor-perf-image/$board"
	echo "menu of $board" >"$system/usr/share/panthor-perf-image/$board/extlinux.conf"
	echo "settings of $board" >"$system/usr/share/panthor-perf-image/$board/u-boot"
done
tar -cf "$IMAGE_SYSTEM" -C "$system" .
{ printf RKNS; head -c 1000000 /dev/urandom; } >"$SCRATCH/u-boot"
ssh='ssh-ed25519 AAAA somebody'
echo "$ssh" >"$SCRATCH/key.pub"

# image BOARD NAME=VALUE...: makes $SCRATCH/BOARD; sets said and status
image()
{
	said=$(env "${@:2}" "$VIRT_DIR/build/image.sh" "$1" "$SCRATCH/$1" 2>&1)
	status=$?
}

# refused NAME TEXT BOARD NAME=VALUE...
refused()
{
	image "${@:3}"
	is "$1" "$status $(grep '^error' <<<"$said")" "1 error: $2"
}

plan 30
image rock-5b SSH_KEY="$SCRATCH/key.pub" PASSWORD=secret NAME=board UBOOT="$SCRATCH/u-boot"
is "an image for rock-5b: status" "$status" 0
[ $status = 0 ] || sed 's/^/# /' <<<"$said"
layout "$SCRATCH/rock-5b" "$SCRATCH/u-boot"
is "U-Boot's menu" "$(in_image "$SCRATCH/rock-5b" /boot/extlinux/extlinux.conf)" "menu of rock-5b"
is "what makes the next one" "$(in_image "$SCRATCH/rock-5b" /etc/default/u-boot)" "settings of rock-5b"
is "the console in GRUB's menu" "$(in_image "$SCRATCH/rock-5b" /boot/grub/grub.cfg | grep -c ' console=ttyS2,1500000 console=tty1')" 2
is "NAME" "$(in_image "$SCRATCH/rock-5b" /etc/hostname)" board
is "SSH_KEY" "$(in_image "$SCRATCH/rock-5b" /home/debian/.ssh/authorized_keys)" "$ssh"
is "the key is the user's" \
	"$(debugfs -R 'stat /home/debian/.ssh/authorized_keys' "$(root_of "$SCRATCH/rock-5b")" 2>/dev/null | grep -o 'User: *1000 *Group: *1000\|Mode: *0600' | tr -s ' ' | xargs)" \
	"Mode: 0600 User: 1000 Group: 1000"
hash=$(in_image "$SCRATCH/rock-5b" /etc/shadow | cut -d : -f 2)
salt=$(cut -d '$' -f 3 <<<"$hash")
is "PASSWORD" "$(openssl passwd -6 -salt "$salt" secret)" "$hash"
is "passwords are not for the network" "$(in_image "$SCRATCH/rock-5b" /etc/ssh/sshd_config.d/image.conf | grep -c '^PasswordAuthentication no$')" 1
is "the root partition grows" "$(in_image "$SCRATCH/rock-5b" /etc/repart.d/50-root.conf | grep -c '^Type=root$')" 1
is "no firmware of the model's" "$(debugfs -R 'stat /usr/lib/firmware/updates' "$(root_of "$SCRATCH/rock-5b")" 2>&1 | grep -c 'not found')" 1
mv "$SCRATCH/rock-5b" "$SCRATCH/first"
image rock-5b SSH_KEY="$SCRATCH/key.pub" PASSWORD=secret NAME=board UBOOT="$SCRATCH/u-boot"
is "another one is the same" "$(cmp "$SCRATCH/first" "$SCRATCH/rock-5b" 2>&1)" ""
rm "$SCRATCH/first"

image virt
is "an image for virt: status" "$status" 0
layout "$SCRATCH/virt"
is "its firmware is the model's" "$(in_image "$SCRATCH/virt" /usr/lib/firmware/updates/arm/mali/arch10.8/mali_csffw.bin | cmp - "$("$VIRT_DIR/build/tools.sh" -f)" 2>&1)" ""

refused "no such board" "BOARD=rock-9 is not known: it is virt or one of: orangepi-5 orangepi-5-plus rock-5b " rock-9
refused "no key" "SSH_KEY=$SCRATCH/u-boot is no public key of ssh: name a file such as ~/.ssh/id_ed25519.pub" rock-5b SSH_KEY="$SCRATCH/u-boot"
refused "no name" "NAME=a b is no name of a host: small letters, digits and - are" rock-5b NAME="a b"
refused "no U-Boot" \
	"UBOOT=$SCRATCH/key.pub is no U-Boot for RK3588 (no RKNS at its start): give U-Boot's u-boot-rockchip.bin for rock-5b" \
	rock-5b UBOOT="$SCRATCH/key.pub"
