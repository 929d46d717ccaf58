#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# panthor-perf export while the GPU is unbound, bound again, and given up by its driver.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((24 + 1))
guest_script 24 export
