#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# panthor-perf top on a terminal: its screens, keys, sizes, and terminals that will not do.
set -u
. "$(dirname "$0")/../lib/tap.sh"

RESULTS=54
plan $((RESULTS + 1))
guest_script "$RESULTS" screen -a tmux -a libc-bin
