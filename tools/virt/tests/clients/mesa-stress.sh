#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: plain
# Many processes, killed processes, no memory for the tiler, a hang, with Debian's Mesa.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 80
# More groups than the GPU has slots; as many, where a group that waits for one may be timed out.
guest_script 39 mesa-stress -r gl -t 1800 -- 12
CONFIG=pristine guest_script 39 mesa-stress -r gl -t 1800 -- 8
