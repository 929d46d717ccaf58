#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# daily: 6.12
# Page faults, instruction faults, endless streams.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 42
guest_script 41 job-faults
