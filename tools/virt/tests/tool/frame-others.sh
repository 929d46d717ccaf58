#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# kernels: 7.3
# Recordings tell in which frames another process used the GPU, as far as the kernel tells, which that of Linux 6.12 does
# not. Time is counted in instructions.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan $((7 + 1))
guest_script 7 frame-others -i -t 1800
