#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug 6.12
# What a reset of the GPU has to end within a second, of the table of switches (data/faults.csv), and
# what makes panthor give it up. Time is counted by instructions: no host is too slow.
set -u
. "$(dirname "$0")/../lib/tap.sh"

first=10
[ "$KERNEL" != 6.12 ] || first=9
plan $((first + 5))
guest_script $first faults-reset -i
guest_script 1 faults-reset -i -- gone
allow_known
guest_script 1 faults-reset -i -- stuck
