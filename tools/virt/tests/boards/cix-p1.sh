#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: all
# CIX P1: coherent, and firmware sets a rate that the clock framework never learns.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board cix-p1 "CIX P1" "Mali-G720 (GPU_ID 0xc8700000, 10 shader cores)" "0, 2, 4, 6, 8, 10, 16, 18, 20, 22" \
	"core, stacks" "toplevel, shader" "coherent" 600
