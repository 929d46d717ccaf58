# SPDX-License-Identifier: MIT
# Work under a panthor that is not ours, and a silent log.
. /root/tap.sh

has "the kernel is Debian's" "$(uname -r)" '+deb'
is "its panthor has no counters" "$(panthor-perf info 2>&1 | grep -c 'has no performance counters')" 1
succeeds "work" gpu-load
succeeds "work of more groups than the GPU has slots" gpu-load -g 20 -q 2 -j 160
modprobe governor_userspace
echo userspace >/sys/class/devfreq/"$(basename "$GPU")"/governor
for hz in 100000000 50000000; do
	echo $hz >/sys/class/devfreq/"$(basename "$GPU")"/userspace/set_freq
	is "the driver sets it to $hz" "$(mali-bench core_hz)" $hz
done
succeeds "work at that rate" gpu-load -j 16
# When panthor has been probed.
is "the log says nothing at warning or above" "$(dmesg -r | sed '1,/panthor .*clock rate/d' |
	grep '^<[0-4]>' | without_the_host)" ""
has "the log has panthor's beginning" "$(dmesg)" 'panthor .*clock rate'
