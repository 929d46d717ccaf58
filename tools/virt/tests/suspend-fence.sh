#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# Jobs end before the system suspends: a device that waits for one, as displays do, does not hang.
set -u
. "$(dirname "$0")/lib/tap.sh"

FIXED=11
FAULT=1

plan $((FIXED + 1 + FAULT + 1))
guest_script_by_log $FIXED suspend-fence -- fixed
# What else goes wrong there is not ours to judge.
CONFIG=pristine VIRT_ALLOW_REPORT=. guest_script_by_log $FAULT suspend-fence -- fault
