#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# A GPU whose clock runs at 0.85, 1 and 1.12 times its nominal rate: what panthor-perf measures is the real one,
# and says so if they differ; a saturated GPU has a load of 100 %, and panthor's own count of a client's cycles is
# the same. So it is if the rate changes every 50 ms. Where the GPU does not count cycles, rates take over. Rates that a
# power domain applies when it is switched on are found, on a board with one, which Linux 6.12 does not know. Time is
# instructions, so that a busy machine changes nothing.
set -u
. "$(dirname "$0")/../lib/tap.sh"

results=15
[ "$KERNEL" = 6.12 ] || results=17
# Kernels of ours have no power domains.
board="-b mt8196"
[ "$KERNEL $CONFIG" = "7.3 stock" ] || board=
plan $((3 * (results + 1) + 4 * 2))
for rate in 850 1000 1120; do
	guest_script $results clock-rates -i -p "real_rate=$rate" -- "$rate" "$KERNEL"
done
for gpu in g610 g715; do
	guest_script 1 cycles -i -g "$gpu" -- real_rates "active cycles are 99 to 100.5 % of all cycles"
done
guest_script 1 cycles -i $board -- set_while_not_counting "rates set while the GPU is suspended count"
guest_script 1 cycles -i -p cycle_count=off -- across_rates "without the register cycles are those of the rates"
