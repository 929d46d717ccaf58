#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf where /sys is empty, as in a container that has only /dev/dri: each command works, and names the
# parts that it cannot have.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((16 + 1))
guest_script 16 container -- Mali-G610
