#!/bin/bash
# SPDX-License-Identifier: MIT
# plugin.sh   compile the QEMU plugin that tools/virt/profile uses, and print its path

. "$(dirname "$0")/common.sh"

SOURCE=$VIRT_DIR/host/profile-plugin.c
KEEP=4

compile()
{
	local qemu=$1 dest=$2 flags

	flags=$(pkg-config --cflags --libs glib-2.0)
	mkdir -p "$dest"
	# shellcheck disable=SC2086
	gcc -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC \
		-I"$qemu/include/qemu" -o "$dest/profile.so.new" "$SOURCE" $flags
	mv "$dest/profile.so.new" "$dest/profile.so"
}

qemu=$("$BUILD_DIR/sources.sh" qemu)
key=$(hash_text "$(source_id "$qemu")" "$(hash_files "$SOURCE" "$VIRT_DIR/guest/mark.h")")
dest=$CACHE/plugin/k-$key
if [ ! -e "$dest/profile.so" ]; then
	need_tool gcc build-essential
	pkg-config --exists glib-2.0 || die "the library glib is missing: run 'make deps', or install the Debian package libglib2.0-dev"
	lock plugin
	[ -e "$dest/profile.so" ] || step "compiling the profiler's plugin" compile "$qemu" "$dest"
	prune "$CACHE/plugin/k" "$KEEP"
	unlock
fi
touch -c "$dest"
echo "$dest/profile.so"
