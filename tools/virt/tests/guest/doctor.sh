# SPDX-License-Identifier: MIT
# What doctor says (tests/tool/doctor.sh): own, of Debian's own panthor, or ours.
. /root/tap.sh

tool=$(command -v panthor-perf)
release=$(uname -r)

# says STATUS NAME STATE FINDING [WHO]: a line of what doctor says to root, or to another
says()
{
	su "${5:-root}" -c "$tool doctor" >/root/said 2>&1
	status=$?
	if [ $status -eq "$1" ] && grep -q "^$3  *$2  *.*$4" /root/said; then
		ok "$2: $4"
	else
		not_ok "$2: $4" "status $status" "$(cat /root/said)"
	fi
}

# all_well [WHO]: the clock is only known while the GPU is busy
all_well()
{
	su "${1:-root}" -c "$tool doctor" >/root/said 2>&1
	if [ $? -eq 0 ] && [ "$(grep '^ok ' /root/said | grep -vc '  clock  ')" -eq 11 ]; then
		ok "${2:-all is well}"
	else
		not_ok "${2:-all is well}" "$(cat /root/said)"
	fi
}

own()
{
	says 1 kernel ok "Linux $release, .*Debian"
	says 1 GPU ok "panthor drives "
	says 1 module ok "the loaded panthor is the installed one, /lib/modules/$release/kernel/drivers/gpu/drm/panthor/panthor.ko"
	says 1 counters "to do" "has no performance counters. Install panthor-perf-dkms"
	says 1 DKMS "to do" "is not installed"
	says 1 headers "to do" "/lib/modules/$release/build is missing"
}

ours()
{
	file=/lib/modules/$release/updates/panthor.ko
	echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd

	new_dmesg >/dev/null
	all_well
	says 0 module ok "the loaded panthor is the installed one, $file"
	says 0 counters ok "Mali-G610, /dev/dri/renderD128, 4 shader cores"
	is "in JSON" "$(panthor-perf doctor -j | tr -d '\n' | grep -o '"of":"[^"]*", *"state":"ok"' | grep -vc '"clock"')" 11
	is "which the kernel has no word of" "$(new_dmesg)" ""

	# Without a right.
	says 1 permission "to do" "No permission to open a render node in /dev/dri. Join its group" user
	says 1 counters unknown "no permission to query the GPU" user
	chmod 666 /dev/dri/renderD128
	says 1 permission "to do" "Run as root or with CAP_PERFMON" user
	says 1 counters ok "Mali-G610" user
	echo 0 >/sys/module/panthor/parameters/perf_paranoid
	all_well user "with leave for everybody, all is well"

	# The initrd has Debian's own, and the disk ours.
	modprobe -r panthor
	says 1 module "to do" "is installed, but not loaded: $file"
	says 1 GPU "to do" "no driver is bound"
	cp $file /root/ours.ko
	cp /root/own.ko $file
	# Which ours may bring with it: modprobe goes by the dependencies of ours.
	modprobe -q drm_gpuvm
	modprobe panthor
	cp /root/ours.ko $file
	says 1 module "to do" "the loaded panthor is not the installed one, $file"
	says 1 counters "to do" "has no performance counters"
	says 1 GPU ok "panthor drives "
	modprobe -r panthor
	modprobe panthor
	all_well root "with the one that is installed, all is well"
	# A package that has been upgraded since.
	cp /root/own.ko $file
	says 1 module "to do" "the loaded panthor is not the installed one, $file"
	says 1 counters ok "Mali-G610"
	cp /root/ours.ko $file

	# No firmware.
	modprobe -r panthor
	mv /lib/firmware /lib/firmware.away
	modprobe panthor
	says 1 firmware "to do" "arm/mali/arch.*/mali_csffw.bin is missing"
	says 1 GPU "to do" "no driver is bound"
	modprobe -r panthor
	mv /lib/firmware.away /lib/firmware
	modprobe panthor
	all_well root "with firmware, all is well"
}

case $1 in
own) own ;;
ours) ours ;;
esac
