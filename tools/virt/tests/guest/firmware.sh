# SPDX-License-Identifier: MIT
# firmware.sh LATEST: loads panthor with one firmware file after the other; LATEST is the interface
# version of the file of that name, empty if the driver does not know it.
. /root/tap.sh

# The driver was not there to find it by.
GPU=$(ls -d /sys/bus/platform/devices/*.gpu)
place=/lib/firmware/arm/mali/arch10.8/mali_csffw.bin

# load FILE: LOG is what the kernel says of it
load()
{
	cp "/root/fw/$1" $place
	dmesg -c >/dev/null
	modprobe panthor
	LOG=$(dmesg)
}

# boots FILE VERSION
boots()
{
	load "$1"
	has "$1: publishes $2" "$LOG" "CSF FW.* v$2,"
	succeeds "$1: work" gpu-load -j 16
	until_true 20 pm_is suspended
	succeeds "$1: work after a suspend" gpu-load -j 16
	modprobe -r panthor
}

# fails FILE MESSAGE
fails()
{
	load "$1"
	has "$1: the driver says why" "$LOG" "$2"
	is "$1: there is no GPU" "$(ls /dev/dri 2>/dev/null)" ""
	modprobe -r panthor
}

boots good 1.5.0
boots newer 3.1.0
[ -z "$1" ] || boots latest "$1"
fails magic "Invalid firmware magic"
fails short "file truncated"
fails code "Failed to boot MCU (status=fatal)"
fails image "Failed to boot MCU (status=fatal)"
boots good 1.5.0

# A boot that does not come up, from the bench page.
dmesg -c >/dev/null
mali-bench boot_fail=1
modprobe panthor
has "boot_fail: the driver gives up" "$(dmesg)" "Failed to boot MCU (status=enabled)"
