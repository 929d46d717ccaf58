#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: plain
# Many processes, killed processes, no memory for the tiler, a hang, with Debian's Mesa.
set -u
. "$(dirname "$0")/lib/tap.sh"

# 6.12 expects all groups to be idle when it resets (hang.sh).
if [ "$KERNEL" = 6.12 ]; then
	export VIRT_ALLOW_REPORT='list_empty\(&sched->groups\.runnable|panthor_sched_pre_reset'
fi

plan 80
# More groups than the GPU has slots; as many, where a group that waits for one may be timed out.
guest_script 39 mesa-stress -r gl -t 1800 -- 12
CONFIG=pristine guest_script 39 mesa-stress -r gl -t 1800 -- 8
