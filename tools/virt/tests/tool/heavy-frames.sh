#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# A frame with three times the work of others is the slowest, and what limits it is named. Time is counted in instructions.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((6 + 1))
guest_script 6 heavy-frames -i -t 1800
