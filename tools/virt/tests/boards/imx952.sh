#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: all
# i.MX952: one clock.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board imx952 "i.MX952" "Mali-G310 (GPU_ID 0xac740000, 1 shader cores)" "0" "core" "toplevel" "not coherent" 1000
