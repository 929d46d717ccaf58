#!/bin/sh
# SPDX-License-Identifier: MIT
# second-stage.sh PACKAGE...   (in the machine, on a disk of disk.sh) install the packages that mmdebstrap unpacked, and
#                              PACKAGEs

set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
# The machine does not start from the disk: an initrd would be made for nobody.
export INITRD=No

say()
{
	echo "$(cut -d . -f 1 /proc/uptime) s: $*"
}

say "reading the list of packages"
apt-get -q update
# All at once and whatever depends on what: there is no order in which each finds what it needs.
say "installing what every system has"
apt-get -q --print-uris -y install '?essential' '?priority(required)' apt |
	sed -n "s,^'file:\([^']*\)'.*,\1,p" | sed 's,%2b,+,g; s,%7e,~,g' >/tmp/first
xargs dpkg --install --force-depends </tmp/first
rm /tmp/first
for package; do
	say "installing $package"
	apt-get -q -y install "$package"
done
apt-get clean
say "done"
