#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: debug
# daily: debug
# A probe that runs out of memory while counters are made ready, on a kernel that injects faults.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 6
guest_script 5 probe-memory -m 1024 -t 3600
