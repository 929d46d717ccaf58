#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# A hang of the MCU and panthor's reset.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 28
# Time is instructions: caches are flushed in time, however busy the host is.
guest_script 27 hang -i
