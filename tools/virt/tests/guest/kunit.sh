# SPDX-License-Identifier: MIT
# Runs the driver's KUnit suites, which are in its module, and prints what the kernel says of them.
set -e
# The console tells which test it was if one does not end.
dmesg -n 8
# Newer kernels run no test of a module unless they are told to.
modprobe kunit enable=1 autorun=1
# The GPU is left alone.
echo 0 >/sys/bus/platform/drivers_autoprobe
before=$(dmesg | wc -l)
modprobe panthor
modprobe -r panthor
dmesg | tail -n +$((before + 1))
