# SPDX-License-Identifier: MIT
# A GPU that panthor of this kernel does not know.
. /root/tap.sh

modprobe panthor
has "panthor says that it cannot use the GPU" "$(dmesg)" 'panthor .*gpu: .*\(probe\|error\|timeout\|failed\)'
is "and is bound to none" "$(ls /sys/bus/platform/drivers/panthor | grep gpu)" ""
is "there is no render node" "$(ls /dev/dri 2>/dev/null)" ""
