#!/bin/sh
# SPDX-License-Identifier: MIT
# kernels: none
# The counter layout, the file the kernel builds, tested on this machine.

set -eu

top=$(cd "$(dirname "$0")/../../../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! make -C "$top/tools/layout" O="$tmp" all >"$tmp/log" 2>&1; then
	echo "1..1"
	echo "not ok 1 - the layout's tests build"
	sed 's/^/# /' "$tmp/log"
	exit 1
fi

# Some programs, one plan: run all, then renumber.
status=0
for program in test inputs accesses; do
	"$tmp/layout-$program" >>"$tmp/out" 2>&1 || status=1
done

awk '
	/^1\.\.[0-9]+$/ { sub(/^1\.\./, ""); plan += $0; next }
	/^(not )?ok [0-9]+ / { n++; sub(/ok [0-9]+ /, "ok " n " ") }
	{ print }
	END { print "1.." plan }
' "$tmp/out"
exit $status
