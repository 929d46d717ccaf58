#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# make module builds for a kernel with the compiler of that kernel, or says what is wrong and builds
# nothing. (That the module works, on Debian's kernels, is what all tests on "stock" show.)
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
src=$SCRATCH/src
kdir=$SCRATCH/kdir
panthor=drivers/gpu/drm/panthor

# A kernel whose build does nothing but what module.sh and our Kbuild can see of it: a make that says
# which compiler it was given, and makes a file by the name of a module.
fake_kernel()
{
	mkdir -p "$kdir/include/config" "$kdir/include/generated"
	printf '%s\n' CONFIG_ARM64=y "CONFIG_CC_VERSION_TEXT=\"$2\"" >"$kdir/include/config/auto.conf"
	echo "$1" >"$kdir/include/config/kernel.release"
	cat >"$kdir/Makefile" <<-'MAKE'
		src := $(M)
		srctree := /
		-include include/config/auto.conf
		include $(M)/Kbuild
		modules: ; echo "$(CC)" >$(M)/panthor.ko
	MAKE
}

# fake_compiler NAME TEXT: a compiler that knows but its name
fake_compiler()
{
	mkdir -p "$SCRATCH/bin"
	printf '#!/bin/sh\necho "%s"\n' "$2" >"$SCRATCH/bin/$1"
	chmod +x "$SCRATCH/bin/$1"
}

# module [NAME=VALUE]...: leaves status, $SCRATCH/said, and $SCRATCH/panthor.ko
module()
{
	rm -f "$SCRATCH/panthor.ko"
	# common.sh puts Debian's own directories first.
	make -s -C "$top" module KDIR="$kdir" O="$SCRATCH/panthor.ko" "$@" >"$SCRATCH/said" 2>&1
	status=$?
}

# refused NAME PATTERN: it said so, and nothing was built
refused()
{
	if [ $status -ne 0 ] && grep -qE -- "$2" "$SCRATCH/said" && [ ! -e "$SCRATCH/panthor.ko" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, expected: $2" "$(tail -n 20 "$SCRATCH/said")"
	fi
}

plan 22
gcc=$(LC_ALL=C aarch64-linux-gnu-gcc --version | head -n 1)
series=7.3
# With a source that our patches fit.
if ! whole=$("$VIRT_DIR/build/sources.sh" linux $series 2>"$SCRATCH/said"); then
	not_ok "the source of Linux $series is there" "$(cat "$SCRATCH/said")"
	exit 1
fi
mkdir -p "$src/$panthor"
find "$whole/$panthor" -maxdepth 1 -type f -exec cp {} "$src/$panthor/" \;
(cd "$whole" && cp --parents include/uapi/drm/panthor_drm.h include/drm/drm_gpuvm.h drivers/gpu/drm/drm_gpuvm.c "$src/")

fake_kernel $series.4 "$gcc"
module SRC="$src"
is "a kernel by the machine's compiler: it is built" "$status" 0
is "by that compiler" "$(cat "$SCRATCH/panthor.ko" 2>/dev/null)" "$(printf %s "${gcc%% *}")"
[ $status -eq 0 ] || sed 's/^/# /' "$SCRATCH/said"
is "how to install it is said, and how to go back" \
	"$(grep -c -e "^ *install .* panthor.ko /lib/modules/$series.4/updates/panthor.ko$" -e '^To go back: ' "$SCRATCH/said")" 2

fake_kernel $series.4 "aarch64-linux-gnu-gcc-99 (Debian 99.2.0-1) 99.2.0"
module SRC="$src"
refused "a kernel by another: refused, with both names" 'gcc-99 \(Debian 99\.2\.0-1\) 99\.2\.0, .*aarch64-linux-gnu-gcc .*install gcc-99'
module SRC="$src" CC=gcc
refused "one that is named by CC= is no exception" 'gcc-99 .*; gcc is gcc'
fake_compiler my-gcc "my-gcc (Of my own 99.9.1) 99.2.1 20261122"
module SRC="$src" CC="$SCRATCH/bin/my-gcc"
is "one of that version is" "$status $(cat "$SCRATCH/panthor.ko" 2>/dev/null)" "0 $SCRATCH/bin/my-gcc"

# What does not go by module.sh, as on a board.
dir=$SCRATCH/tree
"$VIRT_DIR/build/module.sh" tree $series "$src" "$dir"
rm -f "$SCRATCH/panthor.ko"
make -s -C "$kdir" M="$dir" CC=gcc modules >"$SCRATCH/said" 2>&1
status=$?
refused "the module's own makefile refuses it, too" 'was compiled by aarch64-linux-gnu-gcc-99 .* and gcc is gcc'
make -s -C "$kdir" M="$dir" CC="$SCRATCH/bin/my-gcc" modules >"$SCRATCH/said" 2>&1
is "and takes the right one" $? 0

fake_kernel $series.4 "$gcc"
module SRC="$src" MENDS=maybe
refused "mends are left out or not" 'MENDS is y or n, not maybe'
module MENDS=n
refused "without mends it takes the kernel's own source" 'name the source that it was built from by SRC=DIR'

fake_kernel $series.4 "clang version 99.1.0"
module SRC="$src"
refused "a kernel by clang" 'compiled by clang version 99\.1\.0, and clang-99 is missing'

fake_kernel $series.4 "$gcc"
echo CONFIG_DRM_PANTHOR=y >>"$kdir/include/config/auto.conf"
module SRC="$src"
refused "a kernel with panthor built in" 'has panthor built in .*CONFIG_DRM_PANTHOR=m'

fake_kernel 6.6.1 "$gcc"
module SRC="$src"
refused "a kernel that is too old" 'Linux 6\.6\.1 is older than 6\.12, .*: install a later kernel'
# Debian's source is there when it has been fetched once.
for release in 6.18.35-current-rockchip64 7.1.13+deb13-arm64 7.2.12+deb13-arm64 7.4.0; do
	fake_kernel $release "$gcc"
	module
	is "one that we have no patches for gets panthor of Linux $series, $release" \
		"$status $(sed -n 's/^Its panthor is that of Linux \([0-9]*\.[0-9]*\)\..*/\1/p' "$SCRATCH/said")" "0 $series"
done
fake_kernel $series.4 "$gcc"
module SRC="$SCRATCH"
refused "a source without panthor" 'SRC=.* has no drivers/gpu/drm/panthor'
sed -i 's/^void panthor_sched_suspend(struct panthor_device \*ptdev)$/& /' "$src/$panthor/panthor_sched.c"
module SRC="$src"
refused "a source that is another next to what is changed" 'does not apply to '
sed -i 's/^\(void panthor_sched_suspend(struct panthor_device \*ptdev)\) $/\1/' "$src/$panthor/panthor_sched.c"
cp "$top/$panthor/panthor_perf.c" "$src/$panthor/"
mkdir -p "$kdir/$panthor"
cp "$src/$panthor"/* "$kdir/$panthor/"
module
refused "a tree that has our files" 'has counters'
rm "$src/$panthor"/*.h
kdir=$SCRATCH
module
refused "a directory that is no kernel's" 'no build directory of a kernel'
kdir=$SCRATCH/nowhere
module
refused "no directory" 'no directory .*nowhere'
