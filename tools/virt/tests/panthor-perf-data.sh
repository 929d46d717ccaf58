#!/bin/sh
# SPDX-License-Identifier: MIT
# kernels: none
# What panthor-perf needs no GPU for: tables, equations, choice of counters, checks of the interface.

set -eu

top=$(cd "$(dirname "$0")/../../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! make -C "$top/tools/panthor-perf" O="$tmp" "$tmp/data-test" >"$tmp/log" 2>&1; then
	echo "1..1"
	echo "not ok 1 - panthor-perf's tests build"
	sed 's/^/# /' "$tmp/log"
	exit 1
fi

ASAN_OPTIONS=detect_leaks=0 "$tmp/data-test"
