#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What panthor-perf doctor says of machines that are made up, each a root directory: of each thing that keeps
# from counting the line, the next step and the status; all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

root=$SCRATCH/root
release=7.3.4+deb13-arm64
modules=$root/lib/modules/$release
tool_builds doctor-test

# Three modules, with a build id each, as files and as the kernel shows it. The last has no fixes.
for id in aa bb cc; do
	fixes=
	[ $id != cc ] || fixes='const char fixes[] __attribute__((section(".modinfo"))) = "name=panthor\0panthor_perf_fixes=none";'
	cc -x c -c -o "$SCRATCH/empty.o" - <<<"$fixes" && ld -r --build-id=0x$id$id$id$id -o "$SCRATCH/$id.ko" "$SCRATCH/empty.o" &&
		objcopy -O binary --only-section=.note.gnu.build-id "$SCRATCH/$id.ko" "$SCRATCH/$id.note" || exit 1
done

# The programs, with all that they are linked with.
mkdir -p "$root"/{proc,dev,tmp}
for program in sh xz gzip "$SCRATCH/doctor-test"; do
	program=$(command -v "$program")
	install -D "$program" "$root/usr/bin/$(basename "$program")"
	ldd "$program" | grep -o '/[^ ]*' | while read -r file; do
		install -D "$file" "$root$file"
	done
done
ln -s usr/bin "$root/bin"

# put FILE TEXT: in the machine
put()
{
	mkdir -p "$(dirname "$root$1")"
	printf '%s\n' "$2" >"$root$1"
}

# A machine on which all is well.
machine()
{
	rm -rf "${root:?}"/{sys,dev/mali0,lib/modules,lib/firmware,usr/src,var}
	: >"$root/dev/null"
	echo "$release" >"$SCRATCH/osrelease"
	put /sys/bus/platform/devices/fb000000.gpu/modalias 'of:NgpuT(null)Crockchip,rk3588-maliCarm,mali-valhall-csf'
	put /sys/bus/platform/devices/fea00000.hdmi/modalias 'of:NhdmiT(null)Crockchip,rk3588-dw-hdmi-qp'
	mkdir -p "$root/sys/bus/platform/drivers/panthor"
	ln -s ../../drivers/panthor "$root/sys/bus/platform/devices/fb000000.gpu/driver"
	loaded aa
	installed aa updates/dkms/panthor.ko.xz "xz -c"
	put /lib/firmware/arm/mali/arch10.8/mali_csffw.bin firmware
	put /usr/src/panthor-perf-0.3/dkms.conf 'PACKAGE_VERSION="0.3"'
	mkdir -p "$modules/build"
	put /sys/module/module/parameters/sig_enforce N
	# A second of 10000 cycles.
	printf s >"$root/ticks"
	put /sys/gpu/devfreq/gpu/cur_freq 10000
	put /sys/gpu/devfreq/gpu/trans_stat 'Total transition : 3'
	put /sys/class/dmi/id/product_name "Orion O6"
}

# loaded ID: the module that the kernel has
loaded()
{
	mkdir -p "$root/sys/module/panthor/notes"
	cp "$SCRATCH/$1.note" "$root/sys/module/panthor/notes/.note.gnu.build-id"
}

# installed ID FILE COMPRESS...: the one that modprobe takes
installed()
{
	local id=$1 file=$2

	shift 2
	rm -rf "$modules/updates"
	mkdir -p "$(dirname "$modules/$file")"
	# shellcheck disable=SC2048
	$* <"$SCRATCH/$id.ko" >"$modules/$file"
	printf '%s\n' "kernel/drivers/gpu/drm/panfrost/panfrost.ko.xz: kernel/drivers/gpu/drm/drm.ko.xz" \
		"$file: kernel/drivers/gpu/drm/drm.ko.xz" "kernel/drivers/gpu/drm/drm.ko.xz:" >"$modules/modules.dep"
}

# doctor [ARGUMENT...]: on that machine; its status is in $status
doctor()
{
	local own=()

	[ "$(id -u)" = 0 ] || own=(--map-root-user)
	# shellcheck disable=SC2016
	FAKE_TICKS=/ticks FAKE_SYSFS=/sys/gpu unshare "${own[@]}" --mount sh -c 'mount --rbind /proc "$0/proc" &&
		mount --bind "$1" "$0/proc/sys/kernel/osrelease" && shift && exec chroot "$0" doctor-test "$@"' \
		"$root" "$SCRATCH/osrelease" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
	status=$?
}

# says STATUS NAME STATE FINDING [NEXT]: what doctor says of one thing
says()
{
	local name="$2: $4" got

	doctor
	got=$(awk -v name="$2" '$0 ~ "^(ok|to do|unknown) +" name " " { on = 1; print; next } on && / +->/ { print } { on = 0 }' "$SCRATCH/out")
	if [ "$status" = "$1" ] && [[ $got = "$3 "* ]] && grep -qF -e "$4" <<<"$got" && [ ! -s "$SCRATCH/err" ] &&
		{ [ -z "${5:-}" ] || grep -qF -e "-> $5" <<<"$got"; }; then
		ok "$name"
	else
		not_ok "$name" "status $status" "$(cat "$SCRATCH/out" "$SCRATCH/err")"
	fi
}

# Errors of the library, by number.
error()
{
	sed -n '/^enum pperf_error {/,/^}/p' "$VIRT_DIR/../panthor-perf/libpanthor-perf/panthor-perf.h" | grep -o '^	PPERF_[A-Z_]*' |
		grep -nx "	PPERF_$1" | awk -F: '{ print $1 - 1 }'
}
old=$(error ERROR_NO_KERNEL_SUPPORT)
silent=$(error ERROR_NO_COUNTERS)
denied=$(error ERROR_PERMISSION)
none=$(error ERROR_NO_DEVICE)
arms=$(error ERROR_OTHER_INTERFACE)

machine
doctor
is "all is well: status" "$status $(cat "$SCRATCH/err")" "0 "
is "all is well: each line is" "$(awk 'NR > 2 && NF && !/^No problems found/ { print $1, $2 }' "$SCRATCH/out")" \
	"$(printf 'ok %s\n' board kernel GPU kbase module firmware counters permission clock DKMS headers signature)"
is "all is well: no next step" "$(grep -c -e '->' "$SCRATCH/out")" 0
is "all is well: and then there is info --debug" "$(tail -n 1 "$SCRATCH/out" | grep -c 'info --debug')" 1
doctor -j
is "in JSON" "$status $(jq -r '.to_do, (.findings | length), (.findings[] | .of + " " + .state)' "$SCRATCH/out" | tr '\n' ' ')" \
	"0 0 12 $(printf '%s ok ' board kernel GPU kbase module firmware counters permission clock DKMS headers signature)"
says 0 kernel ok "Linux $release, "
says 0 board ok "Orion O6"
mkdir -p "$root/sys/firmware/devicetree/base" "$root/sys/gpu/of_node"
printf 'Radxa ROCK 5B\0' >"$root/sys/firmware/devicetree/base/model"
printf 'radxa,rock-5b\0rockchip,rk3588\0' >"$root/sys/firmware/devicetree/base/compatible"
printf 'core\0coregroup\0stacks\0' >"$root/sys/gpu/of_node/clock-names"
says 0 board ok "Radxa ROCK 5B, radxa,rock-5b, rockchip,rk3588; clocks core, coregroup, stacks; memory not coherent"
: >"$root/sys/gpu/of_node/dma-coherent"
says 0 board ok "; memory coherent"
says 0 module ok "the loaded panthor is the installed one, /lib/modules/$release/updates/dkms/panthor.ko.xz"
says 0 clock ok "the GPU runs at the frequency of the clock framework, 0.01 MHz"
put /sys/gpu/devfreq/gpu/cur_freq 20000
says 0 clock ok "the GPU runs at 0.01 MHz, the clock framework says 0.02 MHz"
: >"$root/ticks"
says 0 clock unknown "not checked: the GPU was idle" "run this again while the GPU is busy"
printf s >"$root/ticks"
rm "$root/sys/gpu/devfreq/gpu/cur_freq"
says 0 clock unknown "or its frequency changed or is unknown" "run this again while the GPU is busy"
says 0 DKMS ok "panthor-perf-0.3 has built /lib/modules/$release/updates/dkms/panthor.ko.xz"

# ---- One thing that is wrong after the other ----

echo 6.1.115-vendor-rk35xx >"$SCRATCH/osrelease"
says 1 kernel "to do" "is too old" "boot one of the kernels"

machine
echo 6.10.1 >"$SCRATCH/osrelease"
doctor
is "kernel: the first that has it" "$(grep -c '^ok .*Linux 6.10.1' "$SCRATCH/out")" 1

export FAKE_GPU=$none
machine
rm -r "$root/sys/bus/platform/devices/fb000000.gpu"
says 1 GPU "to do" "the device tree has no Mali GPU" "panthor needs a Mali-G310"
machine
rm "$root/sys/bus/platform/devices/fb000000.gpu/driver"
says 1 GPU "to do" "no driver is bound to fb000000.gpu" "load panthor"
says 1 counters "to do" "a fake error"
says 1 firmware unknown "/lib/firmware/arm/mali/arch10.8/mali_csffw.bin"
rm -r "$root/lib/firmware"
says 1 firmware "to do" "arm/mali/arch*/mali_csffw.bin is missing" "install firmware-misc-nonfree"
machine
ln -sfn ../../drivers/mali "$root/sys/bus/platform/devices/fb000000.gpu/driver"
says 1 GPU "to do" "fb000000.gpu is driven by mali instead of panthor" "add module_blacklist="
: >"$root/dev/mali0"
says 1 kbase "to do" "/dev/mali0" "boot a kernel that has panthor"
rm "$root/dev/mali0"
mkdir "$root/sys/module/bifrost_kbase"
says 1 kbase "to do" "bifrost_kbase" "boot a kernel that has panthor"

machine
rm -r "$root/sys/module/panthor"
says 1 module "to do" "is installed, but not loaded" "sudo modprobe panthor"
rm "$modules/modules.dep"
says 1 module "to do" "this kernel has no panthor module" "boot a kernel with panthor"
unset FAKE_GPU

# Debian's own in the initrd, and ours on the disk; in files of all kinds.
for how in "updates/panthor.ko cat" "updates/panthor.ko.gz gzip -c" "updates/dkms/panthor.ko.xz xz -c"; do
	machine
	# shellcheck disable=SC2086
	installed bb $how
	FAKE_GPU=$old says 1 module "to do" "the loaded panthor is not the installed one, /lib/modules/$release/${how%% *}" \
		"sudo update-initramfs -u -k $release"
	loaded bb
	says 0 module ok "the loaded panthor is the installed one"
done
# No file makes it fall: each length, and each byte of the head and of the sections' table.
machine
installed aa updates/panthor.ko cat
size=$(stat -c %s "$SCRATCH/aa.ko")
wrong=
for i in $(seq 0 23); do
	head -c $((size * i / 24)) "$SCRATCH/aa.ko" >"$modules/updates/panthor.ko"
	doctor
	[ "$status" = 0 ] && grep -q '^unknown *module' "$SCRATCH/out" || wrong+=" cut $i"
	# From e_shoff on.
	cp "$SCRATCH/aa.ko" "$modules/updates/panthor.ko"
	printf '\377' | dd of="$modules/updates/panthor.ko" bs=1 seek=$((40 + i)) conv=notrunc status=none
	doctor
	[ "$status" = 0 ] || wrong+=" $((40 + i))"
done
is "module: a file that is damaged" "$wrong $(cat "$SCRATCH/err")" " "

machine
rm "$root/usr/bin/xz"
says 0 module unknown "cannot compare the loaded panthor" "install xz-utils"
cp "$(command -v xz)" "$root/usr/bin/"
# What is known of fixes is known of the module that is loaded.
machine
installed cc updates/panthor.ko.gz gzip -c
doctor
is "fixes: of another module than the loaded one nothing is known" "$(grep -c ' fixes ' "$SCRATCH/out")" 0
loaded cc
says 0 fixes ok "panthor is the kernel's own with counters, and no fixes were added: suspend, reset and scheduling"

machine
mkdir -p "$modules"
echo kernel/drivers/gpu/drm/panthor/panthor.ko >"$modules/modules.builtin"
printf 'panthor.license=Dual MIT/GPL\0panthor.panthor_perf_fixes=none\0panfrost.license=GPL\0' >"$modules/modules.builtin.modinfo"
says 0 fixes ok "no fixes were added"
printf 'panthor.license=Dual MIT/GPL\0other.panthor_perf_fixes=none\0' >"$modules/modules.builtin.modinfo"
doctor
is "fixes: built in, and those of no other module" "$status $(grep -c ' fixes ' "$SCRATCH/out")" "0 0"
FAKE_GPU=$old says 1 module "to do" "built into this kernel" "boot a kernel that has panthor as a module"
says 0 module ok "built into this kernel"

machine
FAKE_GPU=$silent says 1 firmware "to do" "no counters that the driver supports" "install a newer mali_csffw.bin"
FAKE_GPU=$arms says 1 counters "to do" "a fake error"
FAKE_GPU=$arms says 1 firmware ok "it runs"
FAKE_GPU=$arms says 1 DKMS ok "panthor-perf-0.3 has built"
FAKE_GPU=$denied says 1 permission "to do" "a fake error: permission denied"
FAKE_GPU=$denied says 1 counters unknown "no permission to query the GPU"
FAKE_SESSION=$denied says 1 permission "to do" "a fake error: permission denied"
FAKE_SESSION=$denied says 1 counters ok "/dev/dri/renderD128, 3 shader cores"
FAKE_SESSION=$old says 1 permission "to do" "a fake error"
rm -r "$modules/build"
FAKE_SESSION=$old says 1 headers "to do" "/lib/modules/$release/build is missing"
machine
mkdir -p "$root/sys/module/mali_kbase"
says 0 kbase ok "but does not drive the GPU"
machine

# The kernel's own panthor, for one reason or another.
export FAKE_GPU=$old
rm -r "$modules/build" "$modules/updates" "$root/usr/src"
installed aa kernel/drivers/gpu/drm/panthor/panthor.ko.xz xz -c
says 1 module ok "the loaded panthor is the installed one, /lib/modules/$release/kernel/drivers"
says 1 counters "to do" "a fake error"
says 1 DKMS "to do" "not installed" "install it as described"
says 1 headers "to do" "/lib/modules/$release/build is missing" "on Debian, sudo apt install linux-headers-arm64"
machine
installed aa kernel/drivers/gpu/drm/panthor/panthor.ko.xz xz -c
says 1 DKMS "to do" "panthor-perf-0.3 has not built a module" "sudo dkms autoinstall -k $release"
log=/var/lib/dkms/panthor-perf/0.3/build/make.log
kept="keeps its own panthor, without counters: it is built without one (CONFIG_DRM_PANTHOR). Install another"
put $log "# command: pre-build
panthor-perf: Linux $release-rt $kept"
says 1 DKMS "to do" "panthor-perf-0.3 has not built a module for this kernel" "sudo dkms autoinstall -k $release"
put $log "# command: pre-build
panthor-perf: Linux $release $kept"
says 1 DKMS "to do" "panthor-perf-0.3 has not built a module: it is built without one (CONFIG_DRM_PANTHOR). Install another" \
	"fix that, then run sudo dkms autoinstall -k $release"
says 1 headers ok "/lib/modules/$release/build"
put /sys/kernel/security/lockdown "none [integrity] confidentiality"
says 1 signature "to do" "signed with a key it trusts (lockdown)" "sudo mokutil --import"
unset FAKE_GPU
says 0 signature ok "has accepted the module"
put /sys/kernel/security/lockdown "[none] integrity confidentiality"
put /sys/module/module/parameters/sig_enforce Y
says 0 signature ok "this kernel requires one (module.sig_enforce)"
FAKE_GPU=$none says 1 signature "to do" "module.sig_enforce"
put /sys/module/module/parameters/sig_enforce N
mkdir -p "$root/sys/firmware/efi/efivars"
printf '\006\0\0\0\001' >"$root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
says 0 signature ok "although secure boot is on"

plan "$TAP_COUNT"
