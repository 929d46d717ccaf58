#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# Debian's Mesa, GL ES and Vulkan, on the virtual Mali: on a panthor without a patch of ours all is well
# by what API and kernel say; with ours, counters are those of the ledger, to the digit, and the same
# from one run to the next if time is counted by instructions.
# With MESA, a directory of clients/mesa/build.sh, and LIBRARY, one of clients/library.sh, that Mesa is run in place of
# Debian's.
set -u
. "$(dirname "$0")/../lib/tap.sh"

LIB=/usr/lib/aarch64-linux-gnu
MESA_FILES=()
UNPATCHED=pristine
[ "$CONFIG" != stock ] || UNPATCHED=debian
if [ -n "${MESA:-}" ]; then
	for file in "$MESA"/libgallium-*.so "$MESA/libvulkan_panfrost.so"; do
		MESA_FILES+=(-f "$file:$LIB/${file##*/}")
	done
	MESA_FILES+=(-f "$MESA/libEGL_mesa.so.0:$LIB/libEGL_mesa.so.0.0.0" -f "$MESA/dri_gbm.so:$LIB/gbm/dri_gbm.so"
		-f "$LIBRARY/libpanthor-perf.so.0:$LIB/libpanthor-perf.so.0" -a libjson-c5)
fi

plan $((${MESA:+1 +} 2 * 9 + 2 * 8 + 2))

# Debian's Mesa says nothing of counters.
[ -z "${MESA:-}" ] || is "GL and Vulkan are those in place of Debian's" \
	"$("$VIRT_DIR/run" -k "$KERNEL" -c "$UNPATCHED" -r gl "${MESA_FILES[@]}" -- sh -c '
		PAN_MESA_DEBUG=perf gl-work draw; PANVK_DEBUG=startup vk-work draw' 2>&1 | grep -c '^MESA: info: no performance counters')" 2

# On a panthor as it is. What GL of Mesa 25 does not have is a reset status.
CONFIG=$UNPATCHED guest_script 8 mesa -r gl "${MESA_FILES[@]}" -- gl-work Mali-G610 unknown
CONFIG=$UNPATCHED guest_script 8 mesa -r vulkan "${MESA_FILES[@]}" -- vk-work Mali-G610 0

"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/ledger-sums" "$VIRT_DIR/host/ledger-sums.c" \
	"$VIRT_DIR/host/ledger.c" || exit 1

# counted FILE NAME: a counter's sum over all blocks, of panthor-perf's output
counted()
{
	awk -F';' -v name="$2" '$3 == name && $5 == "" { print $1 }' "$1"
}

# counters ROOT PROGRAM: 8 results
counters()
{
	local root=$1 program=$2 i status

	for i in 1 2; do
		rm -f "$SCRATCH/ledger"
		"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -r "$root" "${MESA_FILES[@]}" -l "$SCRATCH/ledger" \
			-o /root/counts:"$SCRATCH/counts$i" -o /root/list:"$SCRATCH/list" -- sh -c "
				panthor-perf list -x ';' >/root/list
				exec panthor-perf stat -a -b -x ';' -o /root/counts -- $program -n 3 clear draw" \
			>"$SCRATCH/out" 2>"$SCRATCH/err"
		status=$?
		is "$program, run $i: the status, and nothing to complain of" "$status $(cat "$SCRATCH/err")" "0 "
	done
	is "$program: the renderer" "$(head -n 1 "$SCRATCH/out" | cut -c 1-18)" "renderer Mali-G610"
	if cmp -s "$SCRATCH/counts1" "$SCRATCH/counts2"; then
		ok "$program: both runs have the same counts"
	else
		not_ok "$program: both runs have the same counts" \
			"$(diff "$SCRATCH/counts1" "$SCRATCH/counts2" | head -n 20)"
	fi

	# Counts of each block by name, and those of the ledger with the names that the list has.
	awk -F';' '$5 != "" && $4 != "topdown" { print $3, $4, $5, $1 }' "$SCRATCH/counts2" | sort >"$SCRATCH/got"
	# A G610 has no blocks of firmware and groups, and four slices.
	"$SCRATCH/ledger-sums" "$SCRATCH/ledger" 64 0 0 1 1 4 0x50005 0 0xffffffff >"$SCRATCH/sums"
	awk 'NR == FNR { split($0, f, ";"); name[f[2] " " f[3]] = f[1]; next }
		($1 " " $3) in name { print name[$1 " " $3], $1, $2, $4 }' \
		"$SCRATCH/list" "$SCRATCH/sums" | sort >"$SCRATCH/want"
	if [ -s "$SCRATCH/want" ] && cmp -s "$SCRATCH/got" "$SCRATCH/want"; then
		ok "$program: every count is the ledger's"
	else
		not_ok "$program: every count is the ledger's" \
			"$(diff "$SCRATCH/got" "$SCRATCH/want" | head -n 20)"
	fi

	# Three frames of each scene, 256 pixels both ways; a warp is 16.
	is "$program: fragment jobs" "$(counted "$SCRATCH/counts2" MaliFragQueueJob)" 6
	is "$program: fragment warps" "$(counted "$SCRATCH/counts2" MaliFragWarp)" $((6 * 256 * 256 / 16))
	is "$program: primitives" "$(awk '$1 == "TILER" && $3 == 6 { print $4 }' "$SCRATCH/sums")" "$3"
}

# Triangles, a strip of them, lines; triangles with indices.
counters gl gl-work $((3 * (1000 + 998 + 500 + 100)))
counters vulkan vk-work $((3 * (1000 + 100 + 100)))

# What there is not
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -a there-is-no-such-package -- true >"$SCRATCH/out" 2>"$SCRATCH/err"
is "no such package: the status" "$?" 2
is "and a message" "$(grep '^error:' "$SCRATCH/err")" \
	"error: Debian trixie has no package there-is-no-such-package for arm64"
