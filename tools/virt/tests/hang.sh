#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# A hang of the MCU and panthor's reset.
set -u
. "$(dirname "$0")/lib/tap.sh"

# 6.12 expects all groups to be idle when it resets, and warns of one that was submitted to and
# waits for a slot; it goes on with it as it should. Later kernels do not warn.
if [ "$KERNEL" = 6.12 ]; then
	export VIRT_ALLOW_REPORT='list_empty\(&sched->groups\.runnable|panthor_sched_pre_reset'
fi

plan 28
guest_script 27 hang
