# SPDX-License-Identifier: MIT
# A saturated GPU whose clock runs at 0.85, 1 and 1.12 times its nominal rate, and changes every 50 ms.
. /root/tap.sh

modprobe -q governor_userspace

# A selftest that skips ends well, too.
real_rates()
{
	perf_time -t real_rates >/root/out 2>&1 && grep -qx 'ok 1 cycles.real_rates' /root/out || { cat /root/out; return 1; }
}

succeeds "active cycles are 99 to 100.5 % of all cycles" real_rates
sed -n 's/.*real_rates:\(.* cycles, .*\)/#: \1/p' /root/out
