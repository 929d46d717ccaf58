#!/bin/bash
# SPDX-License-Identifier: MIT
# check-tree.sh VERSION   print the directory of a patched kernel source, for checks
#
# The VM kernels are built from another tree, which may change while a check compiles. The caller must hold the lock
# check-VERSION while it uses this tree.

. "$(dirname "$0")/common.sh"

[ $# -eq 1 ] || die "usage: check-tree.sh VERSION"
src=$("$BUILD_DIR/sources.sh" linux "$1")
env "KERNEL_SRC_$(var_version "$1")=$src" XDG_CACHE_HOME="$CACHE/check" "$BUILD_DIR/kernel.sh" tree "$1"
