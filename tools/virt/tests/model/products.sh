#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# Each product that the test load.sh has no model of: it probes, has its names, and does its work.
# products-long.sh has all products on both kernels, and their instructions.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/products.sh"

plan $((4 + 6 * 8))

# What a GPU_ID says: version, product.
numbers()
{
	echo "$(($1 >> 28)).$(($1 >> 24 & 15)).$(($1 >> 20 & 15)) $(printf '0x%x' $(($1 >> 28 << 12 | $1 >> 16 & 15)))"
}

readme=$(sed -n '/^  model  product/,/^$/{s/^  \(g[0-9]*\)  *\(Mali[ -]\)/\1 \2/p}' "$VIRT_PAGE" | sed 's/Mali G1-/Mali_G1-/')
csv=
while read -r model name id cores _ _ iface first _; do
	read -r version product < <(numbers "$id")
	layout=$(sed -n "s/^$product,${name/_/ },[^,]*,\([^,]*\),.*/\1/p" "$VIRT_DIR/../panthor-perf/data/products.csv")
	csv="$csv$model $version $cores $iface ${first%,} $name ${layout/ /_}
"
done <<<"$readme"
is "the models of virtual-mali.rst are those tested, and of products.csv's ids" "$csv" "$(products | tr -s ' ')
"
is "virtual-mali.rst names what Linux 6.12 does not probe" "$(awk '/ 7\.3$/ && !/ 6\.12/ { print $1 }' <<<"$readme")" \
	"$(not_probed_by 6.12)"

# Versions that a kernel declares firmware for.
declared()
{
	sed -n 's|^MODULE_FIRMWARE("arm/mali/arch\([0-9.]*\)/.*|\1|p' \
		"$("$VIRT_DIR/build/sources.sh" linux "$1")/drivers/gpu/drm/panthor/panthor_fw.c" | sort -V
}

is "there is a firmware file for each version that Linux 7.3 declares" \
	"$(grep -v '^#' "$VIRT_DIR/build/firmware.list" | sort -V)" "$(declared 7.3)"
is "and a model of each version" "$(products | awk '{ sub(/\.[0-9]*$/, "", $2); print $2 }' | sort -uV)" "$(declared 7.3)"

while read -r model arch cores iface _ name layout; do
	guest_script 7 products -g "$model" -- "$arch" "$cores" "$iface" "$name" "$layout" </dev/null
done < <(products g310 g510 g615 g620 g625 g1)
