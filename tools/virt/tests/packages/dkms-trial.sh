#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# Which kernels DKMS puts our panthor into, and which keep their own: what tools/module/pre-build decides by a
# trial, and says (that the trial compiles for Debian's kernels is what deb.sh shows); and which initrd is renewed
# then.
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
# As DKMS has it.
build=$SCRATCH/dkms/panthor-perf/1/build
kdir=$SCRATCH/kdir
modules=$SCRATCH/modules
sys=$SCRATCH/sys
mkdir -p "$SCRATCH/tools" "$sys/module/module/parameters" "$sys/kernel/security"
echo N >"$sys/module/module/parameters/sig_enforce"
mkdir -p "$build"/{6.12.107,7.3.10} "$kdir/include/config"
printf '%s\n' "6.12 6.12 6.12.107" "6.18 7.3 7.3.10" >"$build/served"
cp "$top/tools/module/pre-build" "$build/"
for tree in "$build"/[0-9]*; do
	basename "$tree" >"$tree/which"
done

# ko FILE NAME=VALUE...: a module of which modinfo says that
ko()
{
	mkdir -p "$(dirname "$1")"
	printf '%s\0' "${@:2}" >"$SCRATCH/modinfo"
	echo | gcc -c -x c - -o "$SCRATCH/empty.o"
	objcopy --add-section .modinfo="$SCRATCH/modinfo" --set-section-flags .modinfo=alloc,readonly "$SCRATCH/empty.o" "$1"
}

own=("firmware=arm/mali/arch10.8/mali_csffw.bin" "alias=of:N*T*Carm,mali-valhall-csf" "parmtype=transparent_hugepage:bool")
ko "$SCRATCH/ours.ko" "${own[@]}" "parmtype=perf_paranoid:bool"

# kernel CONFIG RECIPE: a kernel whose build does that
kernel()
{
	echo "$1" >"$kdir/include/config/auto.conf"
	printf 'modules:\n\t%s\n' "$2" >"$kdir/Makefile"
}

# trial RELEASE: sets status; $SCRATCH/said is what is seen besides DKMS's log
trial()
{
	rm -rf "$build/panthor" "$build/make.log"
	# shellcheck disable=SC2016,SC2086
	PATH=$SCRATCH/tools:$PATH ${stderr:-} bash -c '(eval "$1/pre-build $2 $3 $4 $5 $6") >>"$1/make.log" 2>&1; exit $?' bash \
		"$build" "$1" "$kdir" "$modules" "$SCRATCH/asked" "$sys" 2>"$SCRATCH/said"
	status=$?
}

# replaced NAME RELEASE TREE: by the panthor of that release
replaced()
{
	trial "$2"
	is "$1" "$status $(cat "$build/panthor/which" 2>/dev/null) $(grep . "$SCRATCH/said")" \
		"0 $3 panthor-perf: panthor of Linux $2 is replaced by that of Linux $3, with counters"
}

# kept NAME RELEASE TEXT: with that sentence, which is in the log, too
kept()
{
	trial "$2"
	is "$1" "$status $(grep . "$SCRATCH/said")" "77 panthor-perf: Linux $2 keeps its own panthor, without counters: $3"
	is "$1: in the log" "$(grep -cxF "$(grep . "$SCRATCH/said")" "$build/make.log")" 1
}

plan 65
works="cp $SCRATCH/ours.ko \$(M)/panthor.ko"
kernel CONFIG_DRM_PANTHOR=m "$works"
replaced "Debian's 6.12 gets that of 6.12" 6.12.111+deb13-arm64 6.12.107
replaced "7.3 that of 7.3" 7.3.5+deb13-arm64-16k 7.3.10
replaced "a kernel before that one, too" 7.2.12+deb13-rt-arm64 7.3.10
replaced "the first that may" 6.18.35-current-rockchip64 7.3.10
replaced "and one in between" 7.0.0-14-generic 7.3.10
untried="nobody has tried this package with Linux"
kept "one of a series that nobody has tried keeps its own" 6.17.0-5-generic \
	"$untried 6.17. To try: touch $SCRATCH/asked && dkms autoinstall -k 6.17.0-5-generic"
kept "also a later one" 7.4.0-rc1 "$untried 7.4. To try: touch $SCRATCH/asked && dkms autoinstall -k 7.4.0-rc1"
touch "$SCRATCH/asked"
replaced "unless somebody asks for a trial" 6.17.0-5-generic 7.3.10
replaced "or of the later one" 7.4.0-rc1 7.3.10
rm "$SCRATCH/asked"

later="Look for a later version of this package"
kept "one that is too old keeps its own" 6.6.1 "it is older than 6.12, the first that this package has a source for. Install a later kernel"
kernel CONFIG_DRM_PANTHOR=y "$works"
kept "one that has it built in" 7.3.4 \
	"it is built in (CONFIG_DRM_PANTHOR=y), where no module takes its place. Install a kernel that has it as a module"
kernel CONFIG_DRM=y "$works"
kept "one that has none" 7.3.4 "it is built without one (CONFIG_DRM_PANTHOR). Install a kernel that has it as a module"
kernel CONFIG_DRM_PANTHOR=m "@echo 'panthor_gem.c:7:9: error: no such thing'; false"
kept "one for which it does not compile" 7.3.99 \
	"that of Linux 7.3.10 does not compile for it (panthor_gem.c:7:9: error: no such thing). $later"
kernel CONFIG_DRM_PANTHOR=m "@echo 'ERROR: modpost: \"perf_allow_cpu\" [panthor.ko] undefined!'; false"
kept "one with which it does not link" 7.3.99 \
	"that of Linux 7.3.10 does not compile for it (ERROR: modpost: \"perf_allow_cpu\" [panthor.ko] undefined!). $later"

kernel CONFIG_DRM_PANTHOR=m "$works"
stock=$modules/7.2.12/kernel/drivers/gpu/drm/panthor/panthor.ko
ko "$stock" "${own[@]}"
replaced "one whose own panthor knows what ours knows" 7.2.12 7.3.10
ko "$stock" "${own[@]}" "alias=of:N*T*Ccix,sky1-mali"
kept "another's knows another device" 7.2.12 "it has the alias of:N*T*Ccix,sky1-mali, which that of Linux 7.3.10 has not. $later"
ko "$stock" "${own[@]}" "alias=acpi*:CIXH5000:*"
kept "or one that ACPI tells of" 7.2.12 "it has the alias acpi*:CIXH5000:*, which that of Linux 7.3.10 has not. $later"
ko "$stock" "${own[@]}" "parmtype=protected:int"
kept "another's has another parameter" 7.2.12 "it has the parmtype protected:int, which that of Linux 7.3.10 has not. $later"
ko "$stock" "${own[@]}" "firmware=arm/mali/arch15.8/mali_csffw.bin"
kept "another's wants other firmware" 7.2.12 \
	"it has the firmware arm/mali/arch15.8/mali_csffw.bin, which that of Linux 7.3.10 has not. $later"
xz "$stock"
kept "it may be compressed" 7.2.12 \
	"it has the firmware arm/mali/arch15.8/mali_csffw.bin, which that of Linux 7.3.10 has not. $later"
mkdir -p "$build/../../original_module/7.2.12/aarch64"
mv "$stock.xz" "$build/../../original_module/7.2.12/aarch64/"
echo "/lib/modules/7.2.12/kernel/drivers/gpu/drm/panthor/panthor.ko.xz" \
	>"$build/../../original_module/7.2.12/aarch64/panthor.ko.xz.origin"
kept "and DKMS may have put it aside" 7.2.12 \
	"it has the firmware arm/mali/arch15.8/mali_csffw.bin, which that of Linux 7.3.10 has not. $later"
ko "$modules/7.2.12/updates/dkms/panthor.ko" "${own[@]}" "alias=of:N*T*Cours"
rm -rf "$build/../../original_module"
replaced "what DKMS has installed is none of the kernel's own" 7.2.12 7.3.10

# by NAME CONFIG WANTED: of a kernel with that configuration kbuild is told that (make's own CC is cc)
by()
{
	kernel "CONFIG_DRM_PANTHOR=m
$2" "@echo told \$(CC) \$(LLVM); $works"
	trial 7.3.5
	is "$1" "$status $(grep '^told' "$build/make.log")" "0 told $3"
}

# compiler NAME VERSION [MACHINE]
compiler()
{
	cat >"$SCRATCH/tools/$1" <<-END
		#!/bin/sh
		case \$1 in
		-dumpversion) echo $2 ;;
		-dumpmachine) echo ${3:-aarch64-linux-gnu} ;;
		*) exit 1 ;;
		esac
	END
	chmod +x "$SCRATCH/tools/$1"
}

# Some kernels have it in quotes.
gcc='CONFIG_CC_VERSION_TEXT=aarch64-linux-gnu-gcc-no (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
CONFIG_CC_IS_GCC=y
CONFIG_GCC_VERSION=130300
CONFIG_CLANG_VERSION=0'
quoted='CONFIG_CC_VERSION_TEXT="aarch64-linux-gnu-gcc-no (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0"
CONFIG_GCC_VERSION=130300'
clang='CONFIG_CC_VERSION_TEXT=Debian clang version 17.0.6 (1)
CONFIG_CC_IS_CLANG=y
CONFIG_GCC_VERSION=0
CONFIG_CLANG_VERSION=170006'
compiler gcc 14
compiler gcc-13 13 x86_64-linux-gnu
by "kbuild is told nothing if that compiler is missing" "$gcc" cc
compiler gcc-13 13
by "another compiler than gcc is named" "$gcc" gcc-13
compiler aarch64-linux-gnu-gcc-no 13.3.0
by "the one of the kernel's own name comes first" "$gcc" aarch64-linux-gnu-gcc-no
by "also in quotes" "$quoted" aarch64-linux-gnu-gcc-no
touch "$kdir/.kernelvariables"
by "Debian's headers say it themselves" "$gcc" cc
rm "$kdir/.kernelvariables" "$SCRATCH"/tools/*gcc*
compiler clang 19.1.7
compiler clang-17 17.0.6
by "a kernel by another clang" "$clang" clang-17
by "and by the rest of LLVM" "$clang
CONFIG_LD_IS_LLD=y" "cc -17"
compiler clang 17.0.6
by "or by clang" "$clang" clang
by "and LLVM" "$clang
CONFIG_LD_IS_LLD=y" "cc 1"
rm "$SCRATCH"/tools/clang*
kernel CONFIG_DRM_PANTHOR=m "$works"

# What comes to no end is no reason for a package to stay half configured.
printf '#!/bin/sh\necho "cp: No space left on device" >&2\nexit 1\n' >"$SCRATCH/tools/cp"
chmod +x "$SCRATCH/tools/cp"
kept "one whose trial does not end" 7.3.5 \
	"nobody can tell whether another one works, as its trial did not end. DKMS has a log of it"
rm "$SCRATCH/tools/cp"
mv "$kdir/include" "$kdir/away"
kept "one whose headers are not whole" 7.3.5 "there are no whole headers of it in $kdir. Install them anew"
mv "$kdir/away" "$kdir/include"
# As when systemd updates: what is said goes to a socket, which cannot be opened.
gcc -o "$SCRATCH/to-socket" -x c - <<'C'
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int ends[2];

	return argc < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || dup2(ends[0], 2) != 2 || execvp(argv[1], argv + 1);
}
C
stderr=$SCRATCH/to-socket
trial 7.3.5
is "nobody has to be able to read what it says" "$status $(cat "$build/panthor/which")" "0 7.3.10"
trial 6.6.1
is "also of one that keeps its own" "$status $(grep -c '^panthor-perf: Linux 6.6.1 keeps its own' "$build/make.log")" "77 1"
stderr=

# A kernel that refuses modules which nobody has signed.
unsigned="this machine takes modules alone that are signed with a key it knows. Enrol that of DKMS (mokutil --import \
/var/lib/dkms/mok.pub, and reboot), or, if it knows that of DKMS, touch $SCRATCH/asked; then dkms autoinstall -k 7.3.5"
echo Y >"$sys/module/module/parameters/sig_enforce"
replaced "what another machine's kernel wants is nothing to it" 7.3.5 7.3.10
mkdir -p "$modules/$(uname -r)"
kept "one that would refuse it" 7.3.5 "$unsigned"
echo N >"$sys/module/module/parameters/sig_enforce"
echo "none [integrity] confidentiality" >"$sys/kernel/security/lockdown"
kept "by a lockdown" 7.3.5 "$unsigned"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$*" != "--test-key /var/lib/dkms/mok.pub" ] || echo "$2 is already enrolled"\nexit 1\n' >"$SCRATCH/tools/mokutil"
chmod +x "$SCRATCH/tools/mokutil"
replaced "unless it knows the key" 7.3.5 7.3.10
rm "$SCRATCH/tools/mokutil"
touch "$SCRATCH/asked"
replaced "or somebody asks for a trial" 7.3.5 7.3.10
rm "$SCRATCH/asked"
echo "[none] integrity confidentiality" >"$sys/kernel/security/lockdown"
replaced "no lockdown is none" 7.3.5 7.3.10
rm "$sys/kernel/security/lockdown"

# An initrd is a list of files here, and what makes another tells of it.
boot=$SCRATCH/boot
mkdir -p "$boot" "$SCRATCH/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\ncat "$1"\n' >"$SCRATCH/bin/lsinitramfs"
for name in depmod update-initramfs dracut; do
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho "%s $*"\n' $name >"$SCRATCH/bin/$name"
done
chmod +x "$SCRATCH/bin"/*
# No others than these are there, whatever this machine has.
for name in sh grep uname cat; do
	ln -s "$(command -v $name)" "$SCRATCH/bin/"
done
renew()
{
	PATH=$SCRATCH/bin "$top/tools/module/renew-initrd" 7.3.4-none "$boot" "$modules"
}
is "without an initrd none is made, nor are modules known of a kernel that is not there" "$(renew)" ""
mkdir -p "$modules/7.3.4-none"
: >"$modules/7.3.4-none/modules.dep"
initrd=$boot/initrd.img-7.3.4-none
echo usr/lib/modules/7.3.4-none/kernel/fs/ext4/ext4.ko.xz >"$initrd"
is "one without a panthor stays" "$(renew)" "depmod 7.3.4-none"
echo usr/lib/modules/7.3.4-none/kernel/drivers/gpu/drm/panthor/panthor.ko.xz >>"$initrd"
is "one with a panthor is renewed, once the modules are known" "$(renew)" \
	"$(printf 'depmod 7.3.4-none\nupdate-initramfs -u -k 7.3.4-none')"
anew="panthor-perf: make $initrd anew, which may have another panthor"
printf '#!/bin/sh\nexit 1\n' >"$SCRATCH/bin/update-initramfs"
is "one that cannot be renewed is told" "$(renew)" "$(printf 'depmod 7.3.4-none\n%s' "$anew")"
rm "$SCRATCH/bin/update-initramfs"
mv "$SCRATCH/bin/lsinitramfs" "$SCRATCH/bin/lsinitrd"
is "by dracut, too" "$(renew)" "$(printf 'depmod 7.3.4-none\ndracut -q --force %s 7.3.4-none' "$initrd")"
printf '#!/bin/sh\necho etc/ld.so.cache\nexit 1\n' >"$SCRATCH/bin/lsinitrd"
is "one that can be read in part is told" "$(renew)" "$(printf 'depmod 7.3.4-none\n%s' "$anew")"
rm "$SCRATCH/bin/lsinitrd"
is "one that cannot be read is told" "$(renew)" "$(printf 'depmod 7.3.4-none\n%s' "$anew")"
