#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: debug
# Unbinding, binding, unloading and loading the driver.
set -u
. "$(dirname "$0")/lib/tap.sh"

n=$([ "$CONFIG" = debug ] && echo 35 || echo 34)
plan $((n + 1))
guest_script "$n" rebind
