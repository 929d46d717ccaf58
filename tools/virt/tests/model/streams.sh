#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# daily: 6.12
# Command streams: what gpu-load does not ask of them, on a GPU of each kind.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 177
in_guest 76 "streams, g610" -g g610 -- gpu-streams
in_guest 92 "streams, g715" -g g715 -- gpu-streams
guest_script 6 progress
