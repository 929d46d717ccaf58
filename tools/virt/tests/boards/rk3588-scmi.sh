#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: all
# RK3588 with clocks by SCMI: the clock framework has the rate that was asked for, and the GPU runs at another.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board rk3588-scmi "RK3588 with SCMI clocks" "Mali-G610 (GPU_ID 0xa8670000, 4 shader cores)" "0, 2, 16, 18" \
	"core, coregroup, stacks" "toplevel, coregroup, shader" "not coherent" 1113
