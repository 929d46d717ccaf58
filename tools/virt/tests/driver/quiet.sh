#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: 6.12
# Without a fault the kernel neither warns nor tells of errors: when the GPU works, when it and the system
# suspend, and when counters are read. A request that firmware does not answer in time is such an error, after
# which panthor goes on: other tests pass then. Time is counted by instructions, so that no host is so busy
# that firmware is late.
set -u
. "$(dirname "$0")/../lib/tap.sh"

SUSPEND=32

plan $((3 + SUSPEND + 2 + 5 + 3))
guest_script 2 quiet -i -- load quiet
guest_script_by_log $((SUSPEND + 1)) suspend -i -- runtime system quiet
guest_script 4 quiet -i -m 1536 -- session quiet
guest_script 2 quiet -i -- fault
