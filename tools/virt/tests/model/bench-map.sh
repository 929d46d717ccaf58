#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The map of the bench page in virtual-mali.rst is the device's.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 1
# As the preprocessor sees it: a line a register.
map=$("${CC:-cc}" -E -P -x c -I"$VIRT_DIR/qemu" - <<'EOF' | sed -n 's/@/\n/gp' | sed -n 's/^ *MAP *//p' | sed 's/" *"//g; s/"//g; s/ *$//' |
#include "mali-csf-bench-regs.h"
#define MAP(sym, name, bits, r, w, help) @ MAP sym bits r w name: help
MALI_BENCH_REGS(MAP)
EOF
	while read -r symbol bits r w name help; do
		printf '%s %s %s %s %s\n' "$(sed -n "s/^ *MALI_BENCH_$symbol = \(0x[0-9a-f]*\),/\1/p" \
			"$VIRT_DIR/qemu/mali-csf-bench-regs.h")" "$bits" \
			"$(case $r$w in 10) echo r ;; 11) echo rw ;; 01) echo w ;; esac)" "${name% :}" "$help"
	done | sed 's/: / /')
page=$(sed -n 's/^  \(0x[0-9a-f]\{3\}\)  */\1 /p' "$VIRT_PAGE" | tr -s ' ')
if [ -n "$map" ]; then
	is "virtual-mali.rst has every register of the bench page as it is" "$page" "$(tr -s ' ' <<<"$map")"
else
	not_ok "virtual-mali.rst has every register of the bench page as it is" "no registers found in mali-csf-bench-regs.h"
fi
