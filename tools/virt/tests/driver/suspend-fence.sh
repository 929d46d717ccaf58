#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: none
# Run by hand, on any kernel: what is wrong with panthor itself, with our patches or without. A device
# that waits, in its suspend, for a job of the GPU, as displays do for what they show, waits for ever
# once the GPU is suspended. When this fails, somebody has mended it.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 4
for CONFIG in "$CONFIG" pristine; do
	# What else goes wrong there is not ours to judge.
	VIRT_ALLOW_REPORT=. guest_script_by_log 1 suspend-fence
done
