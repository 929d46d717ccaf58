#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# long: none
# "From source" in Documentation/board.rst, on Debian 12 and 13: the tool and the library build, pass their tests, install and run in
# a root that has the packages it names, and no others.
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP needs root, to make a system and change into it"
	exit
fi
plan 9

packages=$(sed -n '/^From source$/,/^Other distributions$/p' "$top/Documentation/board.rst" | sed -n '/apt install/,/[^\\]$/p' |
	sed 's/.*apt install//; s/#.*//; s/\\$//' | tr -s ' \n' ,)
packages=${packages#,}
packages=${packages%,}
has_compiler=$(tr , '\n' <<<"$packages" | grep -cx -e gcc -e make -e libdrm-dev)
is "board.rst names packages" "$has_compiler" 3

# in_root DIR COMMAND
in_root()
{
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/nonexistent unshare --net chroot "$1" sh -c "cd /source && $2" \
		>"$SCRATCH/said" 2>&1
}

version=$("$top/packaging/version")
for suite in bookworm trixie; do
	root=$SCRATCH/$suite
	case $suite in
	bookworm) apt=apt ;;
	trixie) apt=apt-kernel ;;
	esac
	sources=$("$VIRT_DIR/build/sources.sh" newest-kernels >/dev/null 2>"$SCRATCH/err" && . "$VIRT_DIR/build/common.sh" &&
		sed -n "s/\[.*\] //; /^deb .* $suite main/p" "$CACHE/$apt/sources.list")
	if mmdebstrap --variant=essential --include="$packages" "$suite" "$root" - <<<"$sources" 2>"$SCRATCH/err"; then
		ok "$suite has the packages"
	else
		not_ok "$suite has the packages" "$(tail -n 20 "$SCRATCH/err")"
	fi
	(cd "$top" && find LICENSES include packaging tools/layout tools/panthor-perf -type f -not -path '*/build/*' -print0 |
		tar -c --null -T - | tar -x -C "$root" --one-top-level=source)
	echo "$version" >"$root/source/VERSION"
	in_root "$root" "make -C tools/panthor-perf WARNINGS='-Wall -Wextra -Werror' install"
	is "$suite: builds and installs without a warning" "$? $(grep 'error\|warning' "$SCRATCH/said")" "0 "
	in_root "$root" "panthor-perf --version"
	is "$suite: runs" "$(cat "$SCRATCH/said")" "panthor-perf $version"
	in_root "$root" "panthor-perf info"
	is "$suite: finds no GPU: status" $? 3
	rm -rf "$root"
done
