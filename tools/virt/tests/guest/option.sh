# SPDX-License-Identifier: MIT
# option.sh [NAME=VALUE]...: what the driver reports of the GPU is this, and it works.
#   counter_hz=HZ    is of the CPU's counter
#   dma-coherent=0|1 is of the device tree
. /root/tap.sh

info=$(gpu-load -i -m)
out=$(gpu-load -m -j 32)
is "work completes" "$? $(value jobs "$out") $(value errors "$out")" "0 32 0"

for want; do
	name=${want%%=*}
	case $name in
	counter_hz)
		got=$(value counter_hz "$out")
		;;
	dma-coherent)
		got=$(ls "$GPU/of_node" | grep -c '^dma-coherent$')
		;;
	*)
		got=$(value "$name" "$info")
		;;
	esac
	is "$want" "$got" "${want#*=}"
done

# The GPU counts time in the ticks of the CPU's counter, from the same zero.
start=$(value counter_start "$out")
first=$(value first_timestamp "$out")
last=$(value last_timestamp "$out")
end=$(value counter_end "$out")
if [ "$start" -le "$first" ] && [ "$first" -lt "$last" ] && [ "$last" -le "$end" ]; then
	ok "timestamps lie between the CPU's"
else
	not_ok "timestamps lie between the CPU's" "$start <= $first < $last <= $end"
fi
