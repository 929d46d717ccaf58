# SPDX-License-Identifier: MIT
# The packages on a Debian system (tests/packages/dkms.sh): PART MODULE OLD NEW. MODULE is the version of the packages,
# in /root/packages; the kernel is the release OLD in the first part, and NEW in the second.
. /root/tap.sh

part=$1
module=$2
old=$3
new=$4
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# The machine does not start from the disk: of initrds there is only the one that the first part makes.
export INITRD=No
packages='panthor-perf panthor-perf-dkms'

# What happens, at which second of the machine's.
step()
{
	echo "$(cut -d . -f 1 /proc/uptime) s: $*"
}

# The file that a kernel of that release takes for panthor, less the directory of its modules.
file()
{
	modinfo -k "$1" -n panthor | sed 's,.*/modules/[^/]*/,,'
}

kernels()
{
	printf '%s\n' "$old" "$new" | uniq
}

# What dkms status says if the module is installed for those kernels, and their own is kept for later.
built_for()
{
	for release; do
		echo "panthor-perf/$module, $release, aarch64: installed (Original modules exist)"
	done
}

# Which directory of modules the panthor in the initrd is from.
in_initrd()
{
	lsinitramfs "/boot/initrd.img-$old" | sed -n 's,.*/modules/[^/]*/\(.*\)/panthor\.ko.*,\1,p'
}

# The kernel's own panthor: 3 results.
own_panthor()
{
	is "$1: modprobe takes the kernel's own" "$(file "$(uname -r)")" kernel/drivers/gpu/drm/panthor/panthor.ko.xz
	succeeds "$1: it loads" modprobe panthor
	has "$1: it has no counters" "$(/run/virt/usr/bin/panthor-perf info 2>&1)" 'no performance counters'
}

# The one of the package: 4 results, and what it counts for the host.
our_panthor()
{
	is "$1: modprobe takes ours" "$(file "$(uname -r)")" updates/dkms/panthor.ko.xz
	succeeds "$1: it loads" modprobe panthor
	panthor-perf info -j >/root/info
	panthor-perf list -x ';' >/root/list
	succeeds "$1: the package's panthor-perf counts" /usr/bin/panthor-perf stat -a -x ';' -o /root/stat gpu-load
	has "$1: and it has something to count" "$(cat /root/stat)" '^[1-9][0-9]*;cycles;MaliGPUActiveCy;'
}

first()
{
	is "the kernel" "$(uname -r)" "$old"
	own_panthor "before"
	succeeds "the kernel's own is unloaded" modprobe -r panthor

	# As plymouth has it, and with nothing else.
	sed -i 's/^MODULES=.*/MODULES=list/' /etc/initramfs-tools/initramfs.conf
	echo panthor >>/etc/initramfs-tools/modules
	step "an initrd is made"
	succeeds "an initrd is made" update-initramfs -c -k "$old"
	is "it has the kernel's own panthor" "$(in_initrd)" kernel/drivers/gpu/drm/panthor

	step "apt reads its lists"
	succeeds "apt reads its lists" apt-get -q update
	# A kernel that is not what it was.
	header=$(echo /usr/src/linux-headers-*-common/include/drm/drm_gem.h)
	echo '#error nothing compiles' >>"$header"
	step "apt installs both packages, and DKMS tries"
	said=$(apt-get -q -y install /root/packages/*.deb 2>&1)
	is "apt installs both packages" $? 0
	step "it has"
	has "a kernel for which it does not compile is skipped, with a sentence" "$said" \
		"^panthor-perf: Linux $old keeps its own panthor, without counters: .* does not compile for it"
	is "and keeps its own" "$(file "$old") $(in_initrd)" \
		"kernel/drivers/gpu/drm/panthor/panthor.ko.xz kernel/drivers/gpu/drm/panthor"
	sed -i '$d' "$header"
	step "DKMS builds"
	said=$(dkms autoinstall -k "$old" 2>&1)
	is "then DKMS builds" $? 0
	step "it has"
	has "and says that the driver is replaced" "$said" "^panthor-perf: panthor of Linux $old is replaced by that of Linux "
	is "the initrd has ours" "$(in_initrd)" updates/dkms
	# shellcheck disable=SC2086
	is "they are installed" "$(dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' $packages 2>&1)" \
		"$(for p in $packages; do echo "$p $module ii "; done)"
	is "no package is half installed" "$(dpkg --audit)" ""
	is "DKMS has built and installed it" "$(dkms status)" "$(built_for "$old")"
	our_panthor "then"

	if [ "$old" = "$new" ]; then
		step "apt installs the kernel again"
		succeeds "apt installs the kernel anew" sh -c \
			'apt-get -q -y --reinstall install $(dpkg-query -W -f "\${Package} " "linux-*-$1")' sh "$new"
	else
		step "apt installs the newer kernel, and DKMS builds"
		succeeds "apt installs the kernel anew" apt-get -q -y install "linux-image-$new" "linux-headers-$new"
	fi
	step "it has"
	is "no package is half installed then" "$(dpkg --audit)" ""
	# shellcheck disable=SC2046
	is "the module is built and installed for each kernel" "$(dkms status | sort)" "$(built_for $(kernels) | sort)"
	is "the newer kernel's panthor is ours" "$(file "$new")" updates/dkms/panthor.ko.xz
	is "the older one's still is" "$(file "$old")" updates/dkms/panthor.ko.xz
}

second()
{
	is "the kernel" "$(uname -r)" "$new"
	our_panthor "after the update"
	step "apt purges both packages"
	# shellcheck disable=SC2086
	succeeds "apt purges both packages" apt-get -q -y purge $packages
	step "it has"
	is "no package is half removed" "$(dpkg --audit)" ""
	is "DKMS knows nothing of it" "$(dkms status)" ""
	is "the initrd has the kernel's own panthor" "$(in_initrd)" kernel/drivers/gpu/drm/panthor
	is "no file of theirs is left" "$(find / -xdev -path /srv -prune -o -path '*panthor-perf*' -print)" ""
	is "no module of theirs is left" "$(find /lib/modules/*/updates -name 'panthor*' 2>/dev/null)" ""
	for release in $(kernels); do
		is "$release takes its own panthor" "$(file "$release")" kernel/drivers/gpu/drm/panthor/panthor.ko.xz
	done
	step "dpkg looks at the kernels' files"
	# shellcheck disable=SC2046
	is "the kernels' files are as they came" "$(dpkg --verify $(dpkg-query -W -f '${Package}\n' 'linux-*'))" ""
	succeeds "ours is unloaded" modprobe -r panthor
	own_panthor "in the end"
	has "it works" "$(gpu-load 2>&1)" ' 0 errors'
}

case $part in
first) first ;;
second) second ;;
esac
step "the end"
