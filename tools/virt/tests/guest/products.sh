# SPDX-License-Identifier: MIT
# products.sh ARCH SHADER_PRESENT INTERFACE PRODUCT LAYOUT [streams]: a product by everybody's names, and its work.
. /root/tap.sh

# Names come without spaces.
product=$(echo "$4" | tr _ ' ') layout=$(echo "$5" | tr _ ' ')

has "firmware of $1 boots" "$(dmesg)" "panthor.*CSF FW .*v$3, Features"

info=$(gpu-load -i -m)
is "architecture and cores" "$(value arch "$info") $(value shader_present "$info")" "$1 $2"
# User space knows products by their variants, too: these have none.
case $product in
Mali-G610|Mali-G710) variant=0x0 ;;
*) variant=0x4 ;;
esac
is "the variant of its cores" "$(value core_features "$info")" $variant
perf=$(panthor-perf info)
has "products.csv has its name" "$perf" "^GPU  *$product ("
has "and the layout of its counters" "$perf" "^Counter names  *$layout\$"

out=$(gpu-load -m)
is "gpu-load's status" $? 0
is "its jobs, errors and checks" "$(value jobs "$out") $(value errors "$out") $(value checks "$out")" \
	"64 0 $((64 * 34 + 2 + 4))"

[ "${6:-}" != streams ] || gpu-streams
