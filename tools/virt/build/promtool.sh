#!/bin/bash
# SPDX-License-Identifier: MIT
# promtool.sh   print the path of promtool for this machine, from Debian's package prometheus. The package is only
#               unpacked: installing it would start a server

. "$(dirname "$0")/common.sh"

unpack()
{
	local dest=$1

	rm -rf "$dest" "$dest.new"
	mkdir -p "$dest.new"
	cd "$dest.new"
	apt-get download prometheus
	dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --strip-components=3 ./usr/bin/promtool
	rm -f prometheus_*.deb
	mv "$dest.new" "$dest"
}

if command -v promtool; then
	exit
fi
dest=$CACHE/promtool
if [ ! -e "$dest/promtool" ]; then
	lock promtool
	[ -e "$dest/promtool" ] || step "fetching promtool" unpack "$dest"
	unlock
fi
echo "$dest/promtool"
