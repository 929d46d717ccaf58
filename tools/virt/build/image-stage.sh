#!/bin/sh
# SPDX-License-Identifier: MIT
# image-stage.sh RELEASE EPOCH BOARD[=DTB]... -- PACKAGE...
#         (in the machine, on a copy of a disk of disk.sh) install PACKAGEs and those in /root/packages, make what the
#         kernel RELEASE boots with, remove what differs between two runs, and pack the system as /image.tar. Files
#         that are younger than EPOCH get that time.

set -e
release=$1
export SOURCE_DATE_EPOCH=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
shift 2
boards=
while [ "$1" != -- ]; do
	boards="$boards $1"
	shift
done
shift

say()
{
	echo "$(cut -d . -f 1 /proc/uptime) s: $*"
}

# A key of this machine would be the same in all boards, and its signature another one in each build.
mkdir -p /etc/dkms/framework.conf.d
echo 'sign_file=/nowhere' >/etc/dkms/framework.conf.d/image.conf
mkdir -p /etc/initramfs-tools/conf.d
echo 'RESUME=none' >/etc/initramfs-tools/conf.d/image
# By it the initrd has what checks the root's file system.
echo 'LABEL=panthor-perf / ext4 defaults,noatime,x-systemd.growfs 0 1' >/etc/fstab

say "reading the list of packages"
apt-get -q update
say "installing packages"
apt-get -q -y install "$@"
say "installing our packages, with the module for $release"
apt-get -q -y install /root/packages/*.deb
[ -e "/lib/modules/$release/updates/dkms/panthor.ko.xz" ] || dkms autoinstall -k "$release"
dkms status
modinfo -k "$release" -n panthor | grep -q updates/dkms || {
	cat /var/lib/dkms/panthor-perf/*/build/make.log
	exit 1
}

say "the user"
useradd --create-home --shell /bin/bash --groups sudo,video,render debian
systemctl enable systemd-networkd systemd-resolved systemd-timesyncd ssh sshd-keygen

say "making an initrd"
update-initramfs -c -k "$release"

# Where kernels are without a menu: GRUB takes those.
[ -e "/boot/vmlinuz-$release" ] || cp "/usr/lib/modules/$release/vmlinuz" "/boot/vmlinuz-$release"
ln -sf "boot/vmlinuz-$release" /vmlinuz
ln -sf "boot/initrd.img-$release" /initrd.img

say "boot menus"
for board in $boards; do
	mkdir -p /usr/share/panthor-perf-image/"${board%%=*}"
	{
		echo 'U_BOOT_ROOT="root=LABEL=panthor-perf"'
		echo 'U_BOOT_PARAMETERS="ro console=ttyS2,1500000 console=tty1"'
		echo 'U_BOOT_FDT_DIR="/usr/lib/modules/"'
		echo "U_BOOT_FDT=\"dtb/${board#*=}\""
	} >/etc/default/u-boot
	u-boot-update
	cp /etc/default/u-boot /boot/extlinux/extlinux.conf /usr/share/panthor-perf-image/"${board%%=*}/"
done
rm -rf /boot/extlinux /etc/default/u-boot

say "removing what is not for others"
apt-get clean
rm -rf /srv/packages /root/packages /var/lib/apt/lists/* /var/lib/dkms/mok.* /var/cache/ldconfig/aux-cache \
	/var/cache/debconf/*-old /var/lib/dpkg/*-old /var/backups/* /etc/*- /etc/.pwd.lock \
	/etc/ssh/ssh_host_* /var/lib/systemd/random-seed /var/lib/systemd/catalog/database /tmp/* /var/tmp/* \
	/etc/dpkg/dpkg.cfg.d/virt /etc/apt/apt.conf.d/virt /etc/apt/sources.list /etc/dkms/framework.conf.d/image.conf
find /var/log -type f -delete
find / -xdev \( -path /var/lib/dkms -o -path /usr/src \) -prune -o -name __pycache__ -type d -exec rm -rf {} +
find /var/lib/dkms -name make.log -delete
: >/etc/machine-id
rm -f /var/lib/dbus/machine-id

# Of the disk alone, without what is mounted on it. Status 1 is that a directory has changed, such as this one.
say "packing"
mkdir /mnt/root
mount --bind / /mnt/root
cd /mnt/root
tar --create --file /image.tar --sort=name --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --clamp-mtime \
	--exclude=./image.tar --exclude=./lost+found --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
	--exclude='./run/*' --exclude='./tmp/*' --exclude='./mnt/root' . || [ $? = 1 ]
cd /
umount /mnt/root
rmdir /mnt/root
say "done"
