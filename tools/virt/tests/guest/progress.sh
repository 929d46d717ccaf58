# SPDX-License-Identifier: MIT
# The progress timer: a job that runs on for more core clock cycles than panthor allows.
. /root/tap.sh

# The timer is of 2.6e9 cycles. A core clock that nothing real has gets there before panthor's own
# timeout: the largest multiplier and the smallest divider, written past the clock's driver.
VCO_MAX=0x101ff
VCO_LOCK=0x20
VCO_KEY=0xa05f

bus=/proc/device-tree/platform-bus@*
offset=$(ls -d $bus/syscon@*)
syscon=$(($(printf '0x%s' "$(basename "$GPU" .gpu)") + 0x${offset##*@} -
	0x$(ls -d $bus/gpu@* | sed 's/.*@//')))

echo performance >/sys/class/devfreq/"$(basename "$GPU")"/governor
devmem $((syscon + VCO_LOCK)) 32 $VCO_KEY
devmem $syscon 32 $VCO_MAX
is "the core clock is fast" $(($(devmem $syscon 32))) $((VCO_MAX))

new_dmesg >/dev/null
out=$(gpu-load -m -g 1 -q 1 -j 1 -k compute -s 16777216 2>&1)
is "a job without end in sight fails" "$?" 1
log=$(new_dmesg)
has "by the progress timer" "$log" 'CSG slot [0-9]* progress timeout'
is "and not by panthor's own" "$(echo "$log" | grep -c 'job timeout')" 0
is "the clock was fast to the end" $(($(devmem $syscon 32))) $((VCO_MAX))
succeeds "work after it" gpu-load
