# SPDX-License-Identifier: MIT
# board.sh TITLE GPU CORES CLOCKS COUNTED MEMORY REAL: what info and doctor say of a board: its name, its GPU, the
# positions of its cores, the names of its clocks, the domains that are counted, its memory; and at how many
# thousandths of the clock framework's rate the GPU runs.
. /root/tap.sh

# says KEY: of info
says()
{
	panthor-perf info | sed -n "s/^$1  *//p"
}

names=$4
case $names in
*coregroup*)
	case $5 in
	*coregroup*) bus= ;;
	*) bus=" (coregroup is a bus clock: the core group counts as top level)" ;;
	esac
esac
is "info: the board" "$(says Board)" "$1 (virtual) (linux,dummy-virt)"
is "info: the GPU" "$(says GPU)" "$2"
is "info: positions of its cores" "$(says 'Core positions')" "$3"
is "info: names of its clocks" "$(says 'Names of clocks')" "$names$bus"
is "info: clocks that are counted" "$(says Clocks)" "$5"
is "info: its memory" "$(says Memory)" "$6"

gpu-load -g 1 -q 1 -k compute -s 1000000 -j 0 -t 1000 --depth 16 --started /root/started >/root/load 2>&1 &
until_true 60 [ -e /root/started ] || not_ok "gpu-load does not begin" "$(cat /root/load)"
# Pinned while the GPU is on: else a power domain may wait with it.
device=$(echo /sys/class/devfreq/*)
max=$(tr ' ' '\n' <$device/available_frequencies | grep . | tail -n 1)
echo $max >$device/max_freq
echo $max >$device/min_freq
is "the clock framework's rate" "$(cat $device/cur_freq)" $max
is "the real one" "$(mali-bench core_real_hz)" $((max / 1000 * $7))
panthor-perf doctor >/root/doctor
is "doctor ends well" $? 0
is "doctor: the board" "$(sed -n 's/^ok  *board  *//p' /root/doctor)" \
	"$1 (virtual), linux,dummy-virt; clocks $names; memory $6"
clock="the GPU runs at the frequency of the clock framework, $((max / 1000000)) MHz"
[ $7 -eq 1000 ] || clock="the GPU runs at $((max / 1000 * $7 / 1000000)) MHz, the clock framework says $((max / 1000000)) MHz"
is "doctor: the clock" "$(sed -n 's/^ok  *clock  *//p' /root/doctor)" "$clock"
mount -t debugfs none /sys/kernel/debug 2>/dev/null
case $5 in
*coregroup*) own="own clock" ;;
*) own="top-level clock" ;;
esac
is "debugfs: the core group's clock" "$(cat /sys/kernel/debug/dri/*.gpu/perf | grep ^coregroup:)" "coregroup: $own"
