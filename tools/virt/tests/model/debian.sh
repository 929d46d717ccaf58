#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# Debian's own kernel, with its own panthor: nothing here is built of a kernel's source. Work that ends
# well alone: what that panthor makes of a GPU that hangs is what some of our patches are about.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 20
CONFIG=debian guest_script 9 debian -i -g g610
CONFIG=debian guest_script 9 debian -i -g g725
