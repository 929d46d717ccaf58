#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# long: plain
# Many processes, killed processes, no memory for the tiler, a hang, with Debian's Mesa.
set -u
. "$(dirname "$0")/lib/tap.sh"

# 6.12 expects all groups to be idle when it resets (hang.sh).
if [ "$KERNEL" = 6.12 ]; then
	export VIRT_ALLOW_REPORT='list_empty\(&sched->groups\.runnable|panthor_sched_pre_reset'
fi

plan 40
# More than the GPU has slots.
guest_script 39 mesa-stress -r gl -t 1800 -- 12
