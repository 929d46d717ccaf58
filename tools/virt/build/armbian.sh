#!/bin/bash
# SPDX-License-Identifier: MIT
# armbian.sh FAMILY DIR   write what Armbian's build, a clone of it in DIR, takes as its user's own: patches for the
#                         kernels whose patches are in its patch/kernel/archive/FAMILY, and an extension that asks for
#                         the option; print what was written
#
# The kernel keeps its own panthor, with what Armbian changes in it, and gets counters alone (MENDS=n of module.sh). The
# patches are the same for all families.

. "$(dirname "$0")/common.sh"

# Panthor of these has the lines that the patches need.
SERIES=7.3
FAMILIES='^(rockchip64|cix)-(6\.18|7\.[0-3])$'
# Armbian sorts all patches by their names: after its own.
PREFIX=zz-panthor-perf

family=${1:-}
out=${2:-}
[[ $family =~ $FAMILIES ]] ||
	die "FAMILY=$family: there are rockchip64 and cix, each with the version of its kernel, from 6.18 to 7.3, as in" \
		"cix-7.1: a directory in patch/kernel/archive of Armbian's build"
[ -n "$out" ] || die "OUT=DIR is missing: the directory of Armbian's build, or one to copy userpatches from"
[ -d "$out" ] || die "OUT=$out: there is no such directory"
[ -w "$out" ] || die "OUT=$out: you may not write there"
need_tool git git
out=$(cd "$out" && pwd)

export MENDS=n
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/patches"
mapfile -t patches < <("$BUILD_DIR/module.sh" patches $SERIES)
n=0
for patch in "${patches[@]}"; do
	n=$((n + 1))
	cp "$patch" "$work/patches/$PREFIX-$n-$(basename "$patch" | sed 's/^[0-9]*-//')"
done

# The files come with the date of the commit that has them.
git init -q "$work/repo"
while IFS=$'\t' read -r file place; do
	install -D -m 644 "$file" "$work/repo/$place"
done < <("$BUILD_DIR/module.sh" files $SERIES)
date=$(git -C "$TOP_DIR" log -1 --format=%cI)
git -C "$work/repo" add -f .
GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git -C "$work/repo" -c user.name=panthor-perf \
	-c user.email=panthor-perf@localhost -c commit.gpgSign=false -c core.hooksPath=/dev/null commit -q -m "drm/panthor: Add performance counters" \
	-m "All files of panthor-perf, as of commit $(git -C "$TOP_DIR" rev-parse --short=12 HEAD)."
git -C "$work/repo" format-patch -q --root --zero-commit --no-signature --abbrev=12 --stdout -1 \
	>"$work/patches/$PREFIX-$((n + 1))-files.patch"

dest=$out/userpatches/kernel/archive/$family
mkdir -p "$dest" "$out/userpatches/extensions"
# Those of an earlier version may have other names.
rm -f "$dest/$PREFIX"-*.patch
cp "$work"/patches/*.patch "$dest/"
cp "$TOP_DIR/packaging/armbian" "$out/userpatches/extensions/panthor-perf.sh"
printf '%s\n' "$dest"/"$PREFIX"-*.patch "$out/userpatches/extensions/panthor-perf.sh"
say "Next, in Armbian's build: ./compile.sh BOARD=... BRANCH=... BSPFREEZE=yes ENABLE_EXTENSIONS=panthor-perf"
