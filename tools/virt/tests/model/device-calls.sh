#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# Who calls whom in the device: each file only those below it in the list of virtual-mali.rst, and QEMU's checkpatch
# has nothing to say.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 4
qemu=$VIRT_DIR/qemu
# From the top down, as virtual-mali.rst has them.
order=$(sed -n '/^Who calls whom/,/^The board/s/^  \(mali-csf[a-z-]*\)  .*/\1/p' "$VIRT_PAGE")
is "virtual-mali.rst lists every file of the device" "$(sort <<<"$order")" \
	"$(cd "$qemu" && ls mali-csf*.c | sed 's/\.c$//' | sort)"

# Names that others use begin with their file's: mali_csf_mmu_..., in mali-csf-mmu.c.
calls()
{
	local file=$1 other

	# The preprocessor takes comments out; what it cannot include does not matter.
	sed '/^#include/d' "$qemu/$file.c" | "${CC:-cc}" -E -P -x c - 2>/dev/null |
		grep -o '\bmali_csf_[a-z]*_' | sort -u | while read -r other; do
		other=${other%_}
		echo "${other//_/-}"
	done
}

upward=
seen=0
for file in $order; do
	above=${above:-}
	for other in $(calls "$file"); do
		seen=$((seen + 1))
		! grep -qx -- "$other" <<<"$above" || upward="$upward $file->$other"
	done
	above="$above
$file"
done
is "nothing calls upwards" "$upward" ""
[ "$seen" -gt 60 ] && ok "calls were found" || not_ok "calls were found" "$seen"

src=$("$VIRT_DIR/build/sources.sh" qemu)
found=$(cd "$src" && for f in "$qemu"/mali-csf*.[ch]; do
	perl scripts/checkpatch.pl --no-tree --terse -f "$f"
done 2>&1 | grep -v '^total: 0 errors, 0 warnings')
is "QEMU's checkpatch is silent" "$found" ""
