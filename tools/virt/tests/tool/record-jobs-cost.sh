#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# What it takes to record jobs. Time is counted in instructions.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((2 + 1))
guest_script 2 record-jobs-cost -i -t 1800
