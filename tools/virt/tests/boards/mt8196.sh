#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: stock
# daily: all
# MT8196: firmware sets the rates of core and stacks, of which few changes are announced; fuses say which cores there
# are. Linux 6.12 does not know its power domain.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board mt8196 "MT8196" "Mali-G725 (GPU_ID 0xd8300000, 11 shader cores)" "0, 2, 4, 6, 8, 10, 12, 14, 18, 20, 22" \
	"core, stacks" "toplevel, shader" "not coherent" 1000
