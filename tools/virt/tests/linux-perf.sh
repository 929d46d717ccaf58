#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock
# Debian's own perf of that kernel's series (package linux-perf, which has no JSON of ours) on Debian's own
# kernel with our panthor: names, units and scales in sysfs are enough for it to count.
set -u
. "$(dirname "$0")/lib/tap.sh"

# The later kernel, and its perf, are of backports.
from=()
[ "$KERNEL" = 6.12 ] || from=(-r none:trixie-backports)

plan 10
guest_script 7 linux-perf "${from[@]}" -a linux-perf
in_guest 1 "perf is of that series" "${from[@]}" -a linux-perf -- sh -c \
	"perf --version | grep -q '^perf version $KERNEL\.' && echo ok - \$(perf --version) || echo not ok - \$(perf --version)"
