#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: 6.18 debug 6.12-rt 7.3-rt 7.3-16k
# Runtime and system suspend. A host can be so busy that firmware is late to halt, of which panthor warns
# and goes on; quiet.sh has the same suspends where that cannot be, and where it may not warn.
set -u
. "$(dirname "$0")/../lib/tap.sh"

RUNTIME=18
SYSTEM=16
AT_WORK=6

# Later kernels lose the console.
if [ "$SERIES" = 6.12 ]; then
	plan $((RUNTIME + SYSTEM + 1 + AT_WORK + 1))
	guest_script $((RUNTIME + SYSTEM)) suspend -- runtime system turn
	suspends=guest_script
else
	plan $((RUNTIME + 1 + SYSTEM + 1 + AT_WORK + 1))
	guest_script $RUNTIME suspend -- runtime
	guest_script_by_log $SYSTEM suspend -- system turn
	suspends=guest_script_by_log
fi

# panthor of 6.12 warns when firmware does not boot. Time is instructions: firmware is never late to halt, which takes
# another way to boot.
allow_known
$suspends $AT_WORK suspend -i -- slots fails
