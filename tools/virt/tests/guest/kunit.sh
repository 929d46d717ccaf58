# SPDX-License-Identifier: MIT
# Runs the driver's KUnit suites, as modules, and prints what the kernel says of them.
set -e
# The console tells which test it was if one does not end.
dmesg -n 8
# Newer kernels run no test of a module unless they are told to.
modprobe kunit enable=1 autorun=1
before=$(dmesg | wc -l)
found=
for module in /lib/modules/*/kernel/drivers/gpu/drm/panthor/tests/*.ko; do
	[ -e "$module" ] || continue
	found=1
	name=$(basename "$module" .ko)
	modprobe "$name"
	modprobe -r "$name"
done
dmesg | tail -n +$((before + 1))
if [ -z "$found" ]; then
	echo "this kernel has no test module of panthor's"
	exit 1
fi
