#!/bin/sh
# SPDX-License-Identifier: MIT
# gcov-save FILE: what gcov has counted in the kernel, as an archive. Its files in debugfs have no size, and tar
# would take nothing of them.
set -e
dir=$(mktemp -d)
find /sys/kernel/debug/gcov -name '*.gcda' | while read -r file; do
	cat "$file" >"$dir/${file##*/}"
done
tar -c -C "$dir" -f "$1" .
