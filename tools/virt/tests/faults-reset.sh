#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain debug
# long: debug
# What a reset of the GPU has to end within a second, of the table of switches (data/faults.csv), and
# what makes panthor give it up. Time is counted by instructions: no host is too slow.
set -u
. "$(dirname "$0")/lib/tap.sh"

plan 10
guest_script 9 faults-reset -i
