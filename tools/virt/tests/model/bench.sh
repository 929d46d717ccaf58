#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# The bench page, worked by mali-bench.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 33
guest_script 31 bench -l "$SCRATCH/ledger"
is "without samples the ledger is empty" "$(stat -c %s "$SCRATCH/ledger")" 0
