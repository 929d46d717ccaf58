#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug 6.12
# What a reset of the GPU has to end within a second, of the table of switches (data/faults.csv), and
# what makes panthor give it up. Time is counted by instructions: no host is too slow.
set -u
. "$(dirname "$0")/lib/tap.sh"

first=11
[ "$KERNEL" != 6.12 ] || first=10
plan $((first + 3))
guest_script $first faults-reset -i
guest_script 1 faults-reset -i -- gone
