#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The README's map of the bench page is the device's.
set -u
. "$(dirname "$0")/lib/tap.sh"

plan 1
map=$(sed -n 's/^ *R(\(0x[0-9a-f]*\), [A-Z0-9_]*, "\([a-z0-9_]*\)", \([0-9]*\), \([01]\), \([01]\), "\(.*\)").*/\1 \3 \4\5 \2 \6/p' \
	"$VIRT_DIR/qemu/mali-csf-bench-regs.h" | sed 's/^\([^ ]* [^ ]*\) 10 /\1 r /; s/^\([^ ]* [^ ]*\) 11 /\1 rw /; s/^\([^ ]* [^ ]*\) 01 /\1 w /')
readme=$(sed -n 's/^  \(0x[0-9a-f]\{3\}\)  */\1 /p' "$VIRT_DIR/README" | tr -s ' ')
if [ -n "$map" ]; then
	is "README has every register of the bench page as it is" "$readme" "$(tr -s ' ' <<<"$map")"
else
	not_ok "README has every register of the bench page as it is" "no registers found in mali-csf-bench-regs.h"
fi
