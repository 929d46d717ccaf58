#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: debug
# Unbinding, binding, unloading and loading the driver.
set -u
. "$(dirname "$0")/lib/tap.sh"

plan 35
guest_script 34 rebind
