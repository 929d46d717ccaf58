#!/bin/bash
# SPDX-License-Identifier: MIT
# long: debug
# daily: plain
# Every product that the kernel's panthor probes: its names, its work, and its instructions, each by
# what it must leave. What the kernel does not probe is refused with a message, and nothing else happens.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/products.sh"

# Results of gpu-streams, by the set of instructions.
streams_of()
{
	case $1 in
	10.*) echo 76 ;;
	*) echo 92 ;;
	esac
}

good=$(products_of "$KERNEL") bad=$(not_probed_by "$KERNEL")
results=0
# shellcheck disable=SC2086
while read -r _ arch _; do
	results=$((results + 8 + $(streams_of "$arch")))
done < <(products $good)
plan $((results + 4 * $(wc -w <<<"$bad")))

# shellcheck disable=SC2086
while read -r model arch cores iface _ name layout; do
	echo "# $model"
	guest_script $((7 + $(streams_of "$arch"))) products -g "$model" -- "$arch" "$cores" "$iface" "$name" \
		"$layout" streams </dev/null
done < <(products $good)
for model in $bad; do
	echo "# $model"
	# It asks for the L2's power where that was before PWR_CONTROL, and there is nothing at L2_PWRON now.
	VIRT_ALLOW_GUEST_ERRORS='^mali-csf: write of 0x1 to register 0x1a0 ignored$' \
		guest_script 3 not-probed -g "$model" -p noload=1 </dev/null
done
