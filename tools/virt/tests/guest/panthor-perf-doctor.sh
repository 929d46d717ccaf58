# SPDX-License-Identifier: MIT
# What doctor says (tests/panthor-perf-doctor.sh): own, of Debian's own panthor, or ours.
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

# all_well [WHO]
all_well()
{
	su "${1:-root}" -c "$tool doctor" >/root/said 2>&1
	if [ $? -eq 0 ] && [ "$(grep -c '^ok ' /root/said)" -eq 10 ]; then
		ok "${2:-all is well}"
	else
		not_ok "${2:-all is well}" "$(cat /root/said)"
	fi
}

own()
{
	says 1 kernel ok "Linux $release, .*Debian"
	says 1 GPU ok "which panthor drives"
	says 1 module ok "loaded is what is installed, /lib/modules/$release/kernel/drivers/gpu/drm/panthor/panthor.ko"
	says 1 counters "to do" "has no performance counters: install panthor-perf-dkms"
	says 1 DKMS "to do" "is not installed"
	says 1 headers "to do" "there is no /lib/modules/$release/build"
}

ours()
{
	file=/lib/modules/$release/updates/panthor.ko
	echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd

	new_dmesg >/dev/null
	all_well
	says 0 module ok "loaded is what is installed, $file"
	says 0 counters ok "Mali-G610, /dev/dri/renderD128, 4 shader cores"
	is "in JSON" "$(panthor-perf doctor -j | grep -c '"state":"ok"') $?" "10 0"
	is "which the kernel has no word of" "$(new_dmesg)" ""

	# Without a right.
	says 1 permission "to do" "a render node in /dev/dri cannot be opened: join its group" user
	says 1 counters unknown "may not be asked" user
	chmod 666 /dev/dri/renderD128
	says 1 permission "to do" "run as root or with CAP_PERFMON" user
	says 1 counters ok "Mali-G610" user
	echo 0 >/sys/module/panthor/parameters/perf_paranoid
	all_well user "with leave for everybody, all is well"

	# The initrd has Debian's own, and the disk ours.
	modprobe -r panthor
	says 1 module "to do" "not loaded, but is installed: $file"
	says 1 GPU "to do" "has no driver"
	cp $file /root/ours.ko
	cp /root/own.ko $file
	modprobe panthor
	cp /root/ours.ko $file
	says 1 module "to do" "loaded is another panthor than what is installed, $file"
	says 1 counters "to do" "has no performance counters"
	says 1 GPU ok "which panthor drives"
	modprobe -r panthor
	modprobe panthor
	all_well root "with the one that is installed, all is well"
	# A package that has been upgraded since.
	cp /root/own.ko $file
	says 1 module "to do" "loaded is another panthor than what is installed, $file"
	says 1 counters ok "Mali-G610"
	cp /root/ours.ko $file

	# No firmware.
	modprobe -r panthor
	mv /lib/firmware /lib/firmware.away
	modprobe panthor
	says 1 firmware "to do" "there is no arm/mali/arch.*/mali_csffw.bin"
	says 1 GPU "to do" "has no driver"
	modprobe -r panthor
	mv /lib/firmware.away /lib/firmware
	modprobe panthor
	all_well root "with firmware, all is well"
}

case $1 in
own) own ;;
ours) ours ;;
esac
