#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The series that maintainers get can be made: the lists of what each patch adds find all of it in the
# driver as it is, and no patch is too long to be read. make check-build builds and tests each step.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# Lines that a patch adds, but for tests.
length()
{
	git apply --numstat "$1" | awk '$3 !~ /\/tests\// { n += $1 } END { print n + 0 }'
}

plan 4
for kernel in 7.3 6.12; do
	if "$VIRT_DIR/build/series.sh" "$kernel" "$SCRATCH/$kernel" 2>"$SCRATCH/err"; then
		ok "the series for Linux $kernel"
	else
		not_ok "the series for Linux $kernel" "$(cat "$SCRATCH/err")"
	fi
	is "no patch of the driver for Linux $kernel has more than 1000 lines beside its tests" \
		"$(for patch in "$SCRATCH/$kernel"/[123]-*/*.patch; do
			[[ $patch = */0000-* ]] || [ "$(length "$patch")" -le 1000 ] ||
				echo "$patch: $(length "$patch")"
		done)" ""
done
