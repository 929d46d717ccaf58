#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The guest programs' assembler against the table of the instruction set.
set -u
. "$(dirname "$0")/lib/tap.sh"

if ! "${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -Werror -o "$SCRATCH/cs-check" \
	"$VIRT_DIR/host/cs-check.c"; then
	plan 1
	not_ok "cs-check compiles"
	exit 1
fi
"$SCRATCH/cs-check" "$VIRT_DIR/data/cs_instructions_v10.csv"
