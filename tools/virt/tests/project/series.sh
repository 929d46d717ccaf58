#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The series that maintainers get can be made: the lists of what each patch adds find all of it in the
# driver as it is, no patch is too long to be read, and counters apply without the mends of part 1. make check-build
# builds and tests each step.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# Lines that a patch adds, but for tests.
length()
{
	git apply --numstat "$1" | awk '$3 !~ /\/tests\// { n += $1 } END { print n + 0 }'
}

# apply_to DIR SOURCE PATCH...: to these files of a source, one after the other; what patch has to say
apply_to()
{
	local dir=$1 src=$2 p file

	shift 2
	mkdir -p "$dir"
	for p in "$@"; do
		[[ $p != */0000-* ]] || continue
		sed -n 's,^--- a/\([^\t]*\).*,\1,p' "$p" | while read -r file; do
			[ -e "$dir/$file" ] || install -D "$src/$file" "$dir/$file"
		done
		patch -s -N -F0 -p1 -d "$dir" --no-backup-if-mismatch <"$p" || echo "$p"
	done 2>&1
}

plan 6
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
	is "the counters for Linux $kernel apply to a panthor without mends" "$(apply_to "$SCRATCH/$kernel-counters" \
		"$("$VIRT_DIR/build/sources.sh" linux "$kernel")" "$SCRATCH/$kernel"/[23]-*/*.patch)" ""
done
