#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: all
# RK3588 as its device tree in Linux has it: the clock framework knows the rate, and tells of changes.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board rk3588 "RK3588" "Mali-G610 (GPU_ID 0xa8670000, 4 shader cores)" "0, 2, 16, 18" "core, coregroup, stacks" \
	"toplevel, coregroup, shader" "not coherent" 1000
