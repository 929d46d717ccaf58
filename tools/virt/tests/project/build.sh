#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What cannot be built is said in one line, which says what to do.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 7

# refuses NAME PATTERN COMMAND...: a failure, and one line
refuses()
{
	local name=$1 pattern=$2 out

	shift 2
	if out=$("$@" 2>&1 >/dev/null); then
		not_ok "$name" "it succeeded" "$out"
	elif [ "$(wc -l <<<"$out")" != 1 ] || ! grep -q -- "$pattern" <<<"$out"; then
		not_ok "$name" "want one line with: $pattern" "$out"
	else
		ok "$name"
	fi
}

build=$VIRT_DIR/build
refuses "no kernel source where one was promised" "^error: KERNEL_SRC_7_3=/nonesuch is no kernel source tree" \
	env KERNEL_SRC_7_3=/nonesuch "$build/kernel.sh" 7.3 plain
refuses "no QEMU source where one was promised" "^error: QEMU_SRC=/nonesuch is no QEMU source tree" \
	env QEMU_SRC=/nonesuch "$build/qemu.sh"
mkdir "$SCRATCH/used"
touch "$SCRATCH/used/Kbuild" "$SCRATCH/used/.config"
refuses "a source that has been built in" "make mrproper" \
	env KERNEL_SRC_6_12="$SCRATCH/used" "$build/kernel.sh" 6.12 plain
refuses "a cache that cannot be made" "set XDG_CACHE_HOME to a directory you can write" \
	env XDG_CACHE_HOME=/proc/nonesuch "$build/qemu.sh"
refuses "no such kernel" "^error: no kernel 5.0: there are 6.12 7.3" "$build/kernel.sh" 5.0 plain
refuses "no such variant" "^error: no kernel variant fast: there are plain debug" "$build/kernel.sh" 7.3 fast

# A machine without the packages: nothing on PATH but what a shell needs.
mkdir "$SCRATCH/bin"
refuses "a package that is missing" "run 'make deps', or install the Debian package" \
	bash -c '. "$1/common.sh"; PATH=$2; need_tool meson meson' bash "$build" "$SCRATCH/bin"
