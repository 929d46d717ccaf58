#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: debug 6.12-rt 7.3-rt 7.3-16k
# Unbinding, binding, unloading and loading the driver.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# Two more on kernels whose trace tells when interrupts are on, and one on those that have probes, which our kernels
# have not, as that of 6.18.
case "$SERIES $CONFIG" in
*' debug') n=38 ;;
'6.18 stock') n=36 ;;
*' stock') n=37 ;;
*) n=36 ;;
esac
plan $((n + 1))
guest_script "$n" rebind -t 1800
