#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: all
# i.MX95 as its device tree came into Linux: coregroup is the clock of a bus.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/boards.sh"

board imx95 "i.MX95" "Mali-G310 (GPU_ID 0xac740000, 1 shader cores)" "0" "core, coregroup" "toplevel" "not coherent" 1000
