#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# daily: all
# Ten of the faults of data/mutants.tsv, drawn by SEED, are found by the test that has found them before.
set -u
. "$(dirname "$0")/../lib/tap.sh"

exec "$VIRT_DIR/mutants" -k "$KERNEL" -r 10
