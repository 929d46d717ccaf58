#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock
# Debian's own perf (package linux-perf, which has no JSON of ours) of that kernel's series, or the next, on Debian's
# own kernel with our panthor: names, units and scales in sysfs are enough for it to count.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# Later kernels are of backports, which have the perf of the newest alone.
from=() series=6.12
[ "$KERNEL" = 6.12 ] || from=(-r none:trixie-backports) series=7.3

plan 10
guest_script 7 linux-perf "${from[@]}" -a linux-perf
in_guest 1 "perf is of the series that Debian has it of" "${from[@]}" -a linux-perf -- sh -c \
	"perf --version | grep -q '^perf version $series\.' && echo ok - \$(perf --version) || echo not ok - \$(perf --version)"
