#!/bin/bash
# SPDX-License-Identifier: MIT
# check-tree.sh VERSION   prints the directory of a patched kernel source for checks
#
# Not the tree that the VM's kernels are built from, which may be brought to another state while a
# check compiles. To be called with the lock check-VERSION held, for as long as the tree is used.

. "$(dirname "$0")/common.sh"

[ $# -eq 1 ] || die "usage: check-tree.sh VERSION"
src=$("$BUILD_DIR/sources.sh" linux "$1")
env "KERNEL_SRC_$(var_version "$1")=$src" XDG_CACHE_HOME="$CACHE/check" "$BUILD_DIR/kernel.sh" tree "$1"
