#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Recording some ten thousand jobs a second. Time is counted in instructions, of which there are 10^9 in a second.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((3 + 1))
VIRT_SHIFT=0 guest_script 3 record-jobs-rate -i -t 3600
