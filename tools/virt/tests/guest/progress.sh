# SPDX-License-Identifier: MIT
# The progress timer: a job that runs on for more core clock cycles than panthor allows.
. /root/tap.sh

# The timer is of 2.6e9 cycles. A core clock that nothing real has gets there before panthor's own
# timeout: the board's registers take a rate that the clock's driver would not ask for.
HZ=4294967295
CFGDATA=0xa0
CFGCTRL=0xa4
START_READ=0x80100000
START_WRITE=0xc0100000

bus=/proc/device-tree/platform-bus@*
offset=$(ls -d $bus/sysreg@*)
sysreg=$(($(printf '0x%s' "$(basename "$GPU" .gpu)") + 0x${offset##*@} -
	0x$(ls -d $bus/gpu@* | sed 's/.*@//')))

# The governor that leaves the rate as it is: in Debian's kernels a module.
modprobe -q governor_userspace
echo userspace >/sys/class/devfreq/"$(basename "$GPU")"/governor
# The rate of the core clock.
rate()
{
	devmem $((sysreg + CFGCTRL)) 32 $START_READ
	echo $(($(devmem $((sysreg + CFGDATA)) 32)))
}
devmem $((sysreg + CFGDATA)) 32 $HZ
devmem $((sysreg + CFGCTRL)) 32 $START_WRITE
is "the core clock is fast" "$(rate)" $HZ

new_dmesg >/dev/null
out=$(gpu-load -m -g 1 -q 1 -j 1 -k compute -s 16777216 2>&1)
is "a job without end in sight fails" "$?" 1
log=$(new_dmesg)
has "by the progress timer" "$log" 'CSG slot [0-9]* progress timeout'
is "and not by panthor's own" "$(echo "$log" | grep -c 'job timeout')" 0
is "the clock was fast to the end" "$(rate)" $HZ
succeeds "work after it" gpu-load
