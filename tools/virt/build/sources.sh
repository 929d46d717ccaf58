#!/bin/bash
# SPDX-License-Identifier: MIT
# These commands print a directory:
#
# sources.sh linux 6.12|7.3   the kernel's source
# sources.sh qemu             QEMU's source
# sources.sh source PACKAGE [SUITE]
#                             the source of another package of this release, or of release SUITE
# sources.sh arm64 PACKAGE... the files of these arm64 packages
# sources.sh kernel 6.12|7.3  the files of Debian's arm64 kernel of that series; 7.3-rt, 7.3-16k: of a flavour
# sources.sh debian SUITE PACKAGE... [-- PACKAGE...]
#                             the files of these arm64 packages of release SUITE and of their dependencies, without the
#                             dependencies of those after --
# sources.sh system [-t SUITE] PACKAGE...
#                             an apt repository of a whole arm64 system: the base packages, apt, these packages, and
#                             their dependencies (from SUITE first)
# sources.sh panthor VERSION  the source of panthor, its uAPI, drm_gpuvm and the harness of selftests in that version of
#                             Debian's kernel. For a series (6.12): in the newest version of debian/releases that Debian
#                             still has
# sources.sh root [deb]       a root directory for chroot, with the compiler of Debian's kernels; with deb, also with
#                             what builds our packages
# sources.sh headers RELEASE  the same root, with the headers of that arm64 kernel of Debian
#
# These two print lists:
#
# sources.sh newest-kernels   the newest version of the source of each series in each suite
# sources.sh kernel-releases  version and release of each Debian arm64 kernel that modules can be built for, oldest
#                             first
#
# Everything comes from Debian through our own apt configuration: the machine's package lists, foreign architectures and
# installed packages do not change.

. "$(dirname "$0")/common.sh"

APT=$CACHE/apt
# Which configuration of apt is in use: apt_setup's argument.
APT_KIND=
DL=$CACHE/download

# The machine's own mirror of the release NAME.
mirror_of()
{
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -v r="$1" '$1 == r && $2 == "main" { print $3; exit }'
}

# apt_setup         for this machine's release, and what of others the build needs
# apt_setup kernel  for the release that has the kernels and their compiler, alone: its libraries are not
#                   this machine's
# apt_setup firmware  the same, with firmware that is not free
# apt_setup SUITE   for another release, alone; one of backports with what it is for, and is taken first
apt_setup()
{
	local codename main security keys opt new kind=${1:-} archs=arm64 native components=main

	APT_KIND=$kind
	. /etc/os-release
	codename=${VERSION_CODENAME:-}
	[ "${ID:-}" = debian ] ||
		die "sources come from Debian's packages and this is not Debian: set KERNEL_SRC_6_12, KERNEL_SRC_7_3 and QEMU_SRC to sources of your own"
	main=${DEBIAN_MIRROR:-$(mirror_of "$codename")}
	[ -n "$main" ] || main=$(mirror_of stable)
	[ -n "$main" ] ||
		die "apt has no mirror of Debian $codename: add one to its sources, or set DEBIAN_MIRROR to its URI"
	security=$(mirror_of "$codename-security")
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e "$keys" ] || die "$keys is missing: install the Debian package debian-archive-keyring"
	opt="[signed-by=$keys]"

	APT=$CACHE/apt${kind:+-$kind}
	mkdir -p "$APT"/{lists/partial,cache/archives/partial,state,none} "$DL"
	new=$APT/sources.list.new
	if [ "$kind" = kernel ] || [ "$kind" = firmware ]; then
		native=$(dpkg --print-architecture)
		[ "$native" = arm64 ] || archs="$native arm64"
		[ "$kind" = kernel ] || components="main non-free-firmware"
		printf "deb $opt $main %s $components\n" trixie trixie-updates trixie-backports
		[ -z "$security" ] || echo "deb $opt $security trixie-security $components"
	elif [ -n "$kind" ]; then
		[[ $kind != *-backports ]] || echo "deb $opt $main ${kind%-backports} main"
		echo "deb $opt $main $kind main"
		echo "deb-src $opt $main $kind main"
	else
		echo "deb $opt $main $codename main"
		echo "deb-src $opt $main $codename main"
		if [ -n "$security" ]; then
			echo "deb $opt $security $codename-security main"
			echo "deb-src $opt $security $codename-security main"
		fi
		# 7.3 is a backport to the release after bookworm.
		echo "deb $opt $main trixie-backports main"
	fi >"$new"
	# The guest's packages are arm64, the sources are the same everywhere.
	cat >"$APT/apt.conf" <<-CONF
		Dir::Etc::sourcelist "$APT/sources.list";
		Dir::Etc::sourceparts "$APT/none";
		Dir::Etc::preferences "-";
		Dir::Etc::preferencesparts "$APT/none";
		Dir::State "$APT/state";
		Dir::State::lists "$APT/lists";
		Dir::State::status "$APT/state/status";
		Dir::Cache "$APT/cache";
		APT::Architecture "${archs%% *}";
		#clear APT::Architectures;
		APT::Architectures { "${archs// /\"; \"}"; };
		APT::Sandbox::User "root";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		Acquire::Languages "none";
		Acquire::Retries "3";
	CONF
	[[ $kind != *-backports ]] || echo "APT::Default-Release \"$kind\";" >>"$APT/apt.conf"
	: >"$APT/state/status"
	if ! cmp -s "$new" "$APT/sources.list" || [ ! -e "$APT/updated" ]; then
		mv "$new" "$APT/sources.list"
		rm -f "$APT/updated"
		(step "reading Debian's package lists" apt-get -c "$APT/apt.conf" update) ||
			die "$main gives no lists${kind:+ of Debian $kind}: name a release that it has, or set DEBIAN_MIRROR to another mirror's URI"
		touch "$APT/updated"
	fi
	rm -f "$new"
}

# Package lists grow old: what a mirror has dropped is looked up once more in fresh ones.
apt_fetch()
{
	local what=$1

	shift
	apt_setup "$APT_KIND"
	cd "$DL"
	if ! (step "fetching $what" apt-get -c "$APT/apt.conf" "$@") 2>"$DL/error"; then
		rm -f "$APT/updated"
		apt_setup "$APT_KIND"
		step "fetching $what" apt-get -c "$APT/apt.conf" "$@"
	else
		cat "$DL/error" >&2
	fi
	cd "$TOP_DIR"
}

newest()
{
	ls -t "$@" 2>/dev/null | head -n 1
}

linux_source()
{
	local version=$1 name deb dest override

	name=KERNEL_SRC_$(var_version "$version")
	override=${!name:-}
	if [ -n "$override" ]; then
		[ -e "$override/Kbuild" ] || die "$name=$override is no kernel source tree"
		[ ! -e "$override/.config" ] || die "$name=$override has been built in: run 'make mrproper' there, or use a clean copy"
		cd "$override" && pwd
		return
	fi
	dest=$CACHE/src/linux-$version
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-deb dpkg
			need_space 6
			apt_fetch "Linux $version" download "linux-source-$version"
			deb=$(newest "$DL/linux-source-${version}"_*.deb)
			[ -n "$deb" ] || die "Debian has no linux-source-$version any more: set $name to a source tree of your own"
			rm -rf "$dest" "$dest.new"
			mkdir -p "$dest.new"
			step "unpacking Linux $version" sh -c \
				'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/linux-source-$3.tar.xz" | tar -xJ -C "$2" --strip-components=1' \
				sh "$deb" "$dest.new" "$version"
			[ -e "$dest.new/Kbuild" ] || die "$deb holds no kernel source"
			basename "$deb" >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$deb"
		fi
		unlock
	fi
	echo "$dest"
}

qemu_source()
{
	local dsc dest=$CACHE/src/qemu

	if [ -n "${QEMU_SRC:-}" ]; then
		[ -e "$QEMU_SRC/qemu-options.hx" ] || die "QEMU_SRC=$QEMU_SRC is no QEMU source tree"
		cd "$QEMU_SRC" && pwd
		return
	fi
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-source dpkg-dev
			need_space 3
			apt_fetch QEMU source --download-only qemu
			dsc=$(newest "$DL"/qemu_*.dsc)
			[ -n "$dsc" ] || die "Debian has no source package qemu here: set QEMU_SRC to a source tree of your own"
			rm -rf "$dest" "$dest.new"
			mkdir -p "$CACHE/src"
			# apt has checked the signatures of the lists, and by them these files.
			step "unpacking QEMU" dpkg-source --no-check -x "$dsc" "$dest.new"
			basename "$dsc" >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/qemu_*
		fi
		unlock
	fi
	echo "$dest"
}

other_source()
{
	local package=$1 suite=${2:-} dsc dest=$CACHE/src/source-$1${2:+-$2}

	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-source dpkg-dev
			need_space 1
			apt_setup "$suite"
			rm -f "$DL/${package}"_*
			apt_fetch "the source of $package" source --download-only "$package"
			dsc=$(newest "$DL/${package}"_*.dsc)
			[ -n "$dsc" ] || die "Debian has no source package $package here"
			rm -rf "$dest" "$dest.new"
			mkdir -p "$CACHE/src"
			# apt has checked the signatures of the lists, and by them these files.
			step "unpacking $package" dpkg-source --no-check -x "$dsc" "$dest.new"
			basename "$dsc" >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL/${package}"_*
		fi
		unlock
	fi
	echo "$dest"
}

# kernel_package KIND VERSION: the newest release of the series, or the one that has all three numbers; -rt and -16k
# are Debian's flavours with PREEMPT_RT and with pages of 16 KiB
kernel_package()
{
	local version=${2%-*} flavour=arm64

	case $2 in
	*-rt) flavour=rt-arm64 ;;
	*-16k) flavour=arm64-16k ;;
	esac
	[[ $version == *.*.* ]] || version=$version.[0-9]+
	apt-cache -c "$APT/apt.conf" --names-only search "^linux-$1-${version//./\\.}\+[^-]*-$flavour\$" 2>/dev/null |
		cut -d ' ' -f 1 | sort -V | tail -n 1
}

# Image and modules are two packages, of older kernels one.
kernel_packages()
{
	local modules

	modules=$(kernel_package modules "$1")
	if [ -n "$modules" ]; then
		echo "${modules/-modules-/-binary-} $modules"
	else
		kernel_package image "$1"
	fi
}

debian_kernel()
{
	local version=$1 dest=$CACHE/src/kernel-$1 p packages

	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-deb dpkg
			need_space 2
			apt_setup kernel
			packages=$(kernel_packages "$version")
			[ -n "$packages" ] || die "Debian has no arm64 kernel $version"
			rm -rf "$dest" "$dest.new" "$DL"/linux-*_arm64.deb
			mkdir -p "$dest.new"
			# shellcheck disable=SC2086
			apt_fetch "Debian's kernel $version" download $packages
			for p in "$DL"/linux-*_arm64.deb; do
				step "unpacking $(basename "$p" _arm64.deb)" dpkg-deb -x "$p" "$dest.new"
			done
			for p in "$DL"/linux-*_arm64.deb; do
				dpkg-deb -W "$p"
			done >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/linux-*_arm64.deb
		fi
		unlock
	fi
	echo "$dest"
}

# newest_version SERIES: of the source of that series, the newest of debian/releases, or if Debian has that one no
# more, the newest of them that it has, or its newest
newest_version()
{
	local listed there

	listed=$(sed 's/[ #].*//' "$TOP_DIR/debian/releases" | { grep "^${1//./\\.}\." || true; } | sort -V)
	# What has been fetched is found without apt.
	if [ -e "$CACHE/src/panthor-${listed##*$'\n'}/.complete" ]; then
		echo "${listed##*$'\n'}"
		return
	fi
	lock apt
	apt_setup kernel
	unlock
	there=$(kernel_versions "$1" | cut -d ' ' -f 2 | sort -uV)
	[ -n "$there" ] || die "Debian has no source of Linux $1"
	{ grep -xF "$there" <<<"$listed" || echo "$there"; } | tail -n 1
}

# panthor_source VERSION: of the kernel's package, as in 6.12.117-1 or 7.3.4-1~bpo13+1
panthor_source()
{
	local version=$1 series dest deb whole files=(drivers/gpu/drm/panthor include/uapi/drm/panthor_drm.h
		tools/testing/selftests/kselftest{,_harness}.h drivers/gpu/drm/drm_gpuvm.c include/drm/drm_gpuvm.h)

	[[ $version =~ ^([0-9]+\.[0-9]+)\.[0-9]+-[0-9] ]] || die "$version is no version of Debian's kernel: 6.12.117-1 is one"
	series=${BASH_REMATCH[1]}
	dest=$CACHE/src/panthor-$version
	# One that an earlier script has made lacks the last of these.
	if [ ! -e "$dest/${files[-1]}" ]; then
		lock apt
		if [ ! -e "$dest/${files[-1]}" ]; then
			need_tool dpkg-deb dpkg
			need_space 1
			rm -rf "$dest.new"
			mkdir -p "$dest.new"
			# A rebuild for another release of Debian has the same source.
			whole=$(cat "$CACHE/src/linux-$series/.complete" 2>/dev/null || true)
			whole=${whole#*_}
			if [ "${whole%%[~_]*}" = "${version%%~*}" ]; then
				(cd "$CACHE/src/linux-$series" && cp -a --parents "${files[@]}" "$dest.new/")
			else
				apt_setup kernel
				rm -f "$DL/linux-source-${series}"_*.deb
				apt_fetch "the source of Linux $version" download "linux-source-$series=$version"
				deb=$(newest "$DL/linux-source-${series}"_*.deb)
				step "unpacking panthor of Linux $version" sh -c \
					'deb=$1 dest=$2 series=$3; shift 3
					dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$series.tar.xz" |
						tar -xJ -C "$dest" --strip-components=1 "$@"' \
					sh "$deb" "$dest.new" "$series" "${files[@]/#/linux-source-$series/}"
				rm -f "$deb"
			fi
			[ -e "$dest.new/${files[0]}/panthor_drv.c" ] || die "Linux $version has no panthor"
			echo "$version" >"$dest.new/.complete"
			rm -rf "$dest"
			mv "$dest.new" "$dest"
		fi
		unlock
	fi
	echo "$dest"
}

# A root into which packages are unpacked and not installed: nothing in them is run for that.
ROOT_PACKAGES="gcc-14-aarch64-linux-gnu make dash coreutils sed grep mawk findutils diffutils pahole libssl3t64 base-files"
# What builds packages besides those that debian/control names.
DEB_PACKAGES="base-files base-passwd bash coreutils dash debianutils diffutils dkms dpkg dpkg-dev findutils grep gzip hostname \
	gcc-aarch64-linux-gnu kmod libc-bin libc6-dev:arm64 lintian make mawk pahole patch perl pkgconf:arm64 sed tar util-linux"

unpack_root()
{
	local archives=$1 dest=$2 p

	# The links /bin, /lib and so on come first.
	dpkg-deb -x "$archives"/base-files_*.deb "$dest"
	for p in "$archives"/*.deb; do
		dpkg-deb -x "$p" "$dest"
	done
	# An alternative, which the package's own script would choose.
	ln -sf mawk "$dest/usr/bin/awk"
	rm -rf "$dest"/usr/share/{doc,man,locale,info}
	# Others have these of the machine, see in_root.
	[ "$(id -u)" != 0 ] || mknod -m 666 "$dest/dev/null" c 1 3
	mkdir -p "$dest/build"
}

# The same, and dpkg is told of each package: its tools have to know in which one a library is. Scripts of
# packages do not run.
unpack_deb_root()
{
	local archives=$1 dest=$2 info=$2/var/lib/dpkg/info control=$2/control.new name p

	unpack_root "$archives" "$dest"
	mkdir -p "$info"
	{ echo "$(dpkg --print-architecture)"; echo arm64; } | uniq >"$dest/var/lib/dpkg/arch"
	for p in "$archives"/*.deb; do
		dpkg-deb -e "$p" "$control"
		name=$(awk '/^Package:/ { p = $2 } /^Architecture:/ { a = $2 } /^Multi-Arch: same/ { same = 1 }
			END { print p (same ? ":" a : "") }' "$control/control")
		sed '1a Status: install ok installed' "$control/control" >>"$dest/var/lib/dpkg/status"
		echo >>"$dest/var/lib/dpkg/status"
		for file in symbols shlibs; do
			[ ! -e "$control/$file" ] || mv "$control/$file" "$info/$name.$file"
		done
		rm -rf "$control"
		dpkg-deb --fsys-tarfile "$p" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$info/$name.list"
	done
	# What dpkg and scripts of packages leave: names of files have the architecture, and whose Debian this is.
	echo 1 >"$info/format"
	ln -sf debian "$dest/etc/dpkg/origins/default"
	cp "$dest/usr/share/base-passwd/passwd.master" "$dest/etc/passwd"
	cp "$dest/usr/share/base-passwd/group.master" "$dest/etc/group"
}

build_root()
{
	local kind=${1:-} dest archives=$DL/root packages=$ROOT_PACKAGES unpack=unpack_root what="the compiler of Debian's kernels"

	if [ "$kind" = deb ]; then
		packages=$DEB_PACKAGES
		unpack=unpack_deb_root
		what="what builds packages"
	fi
	# shellcheck disable=SC2086
	dest=$CACHE/src/root${kind:+-$kind}-$(hash_text $packages "$(declare -f unpack_root unpack_deb_root)" \
		"$([ -z "$kind" ] || sed -n '/^Build-Depends/,/^[^ ].*:/p' "$TOP_DIR/debian/control")")
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-deb dpkg
			need_space 2
			apt_setup kernel
			rm -rf "$dest" "$dest.new" "$archives"
			mkdir -p "$dest.new" "$archives/partial"
			# shellcheck disable=SC2086
			apt_fetch "$what" -o Dir::Cache::archives="$archives" -y \
				--download-only --no-install-recommends install $packages
			[ -z "$kind" ] || apt_fetch "what our packages are built with" -o Dir::Cache::archives="$archives" -y \
				--download-only --no-install-recommends --host-architecture arm64 -Pcross,nocheck build-dep "$TOP_DIR/"
			step "unpacking $what" "$unpack" "$archives" "$dest.new"
			ls "$archives" >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -rf "$archives"
		fi
		unlock
	fi
	echo "$dest"
}

# "SUITE VERSION" lines: of each suite the newest version of each series
newest_kernels()
{
	local version

	lock apt
	apt_setup kernel
	unlock
	for version in $DEBIAN_KERNELS; do
		kernel_versions "$version" | awk '!seen[$1]++'
	done
}

kernel_releases()
{
	local series names

	lock apt
	apt_setup kernel
	unlock
	for series in $DEBIAN_KERNELS; do
		names=$(apt-cache -c "$APT/apt.conf" --names-only search "^linux-headers-${series//./\\.}\.[0-9]+\+[^-]*-arm64\$" |
			sed 's/ .*/:arm64/')
		# shellcheck disable=SC2086
		[ -z "$names" ] || apt-cache -c "$APT/apt.conf" show $names |
			awk '/^Package:/ { sub(/^linux-headers-/, "", $2); release = $2 } /^Version:/ { print $2, release }' |
			sort -uV
	done
}

# kernel_versions SERIES: "SUITE VERSION" lines, the newest first
kernel_versions()
{
	apt-cache -c "$APT/apt.conf" madison "linux-source-$1" |
		awk -F ' *\\| *' '$3 !~ /Sources$/ { split($3, where, "[ /]main"); n = split(where[1], part, " "); print part[n], $2 }' |
		uniq
}

kernel_headers()
{
	local release=$1 root p dest common

	root=$(build_root)
	dest=$root/usr/src/linux-headers-$release
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			apt_setup kernel
			rm -f "$DL"/linux-{headers,kbuild}-*.deb
			# Flavours have common headers of their own, or share them.
			mapfile -t common < <(apt-cache -c "$APT/apt.conf" show "linux-headers-$release:arm64" |
				grep '^Depends' | grep -o 'linux-\(headers\|kbuild\)-[^ ,]*')
			apt_fetch "headers of Linux $release" download "linux-headers-$release:arm64" "${common[@]}"
			for p in "$DL"/linux-{headers,kbuild}-*.deb; do
				step "unpacking $(basename "${p%_*}")" dpkg-deb -x "$p" "$root"
			done
			touch "$dest/.complete"
			rm -f "$DL"/linux-{headers,kbuild}-*.deb
		fi
		unlock
	fi
	echo "$root"
}

arm64_packages()
{
	local key dest p

	key=$(hash_text "$@")
	dest=$CACHE/src/arm64-$key
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_space 1
			rm -rf "$dest" "$dest.new" "$DL"/*_{arm64,all}.deb
			mkdir -p "$dest.new"
			apt_fetch "arm64 packages" download "$@"
			for p in "$DL"/*_{arm64,all}.deb; do
				step "unpacking $(basename "$p" .deb)" dpkg-deb -x "$p" "$dest.new"
			done
			(cd "$DL" && ls ./*_{arm64,all}.deb) >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/*_{arm64,all}.deb
		fi
		unlock
	fi
	echo "$dest"
}

# closure PACKAGE...: what apt would install for them on an empty machine
closure()
{
	apt-get -c "$APT/apt.conf" --simulate --no-install-recommends install "$@" 2>"$DL/error" |
		sed -n 's/^Inst \([^ ]*\) .*/\1/p' | sort
}

# debian_closure SUITE FILE PACKAGE...: into FILE, or an end with what apt says
debian_closure()
{
	local suite=$1 file=$2 p

	shift 2
	for p in "$@"; do
		[ -n "$(apt-cache -c "$APT/apt.conf" --quiet=0 show "$p" 2>/dev/null)" ] ||
			die "Debian $suite has no package $p for arm64"
	done
	closure "$@" >"$file"
	[ -s "$file" ] || die "$* cannot be installed from Debian $suite: $(grep -v '^$' "$DL/error" | tail -n 5)"
}

unpack_debian()
{
	local dest=$1 p

	for p in "$DL"/*.deb; do
		dpkg-deb -x "$p" "$dest"
	done
	rm -rf "$dest"/usr/share/{doc,doc-base,man,locale,info,lintian,bug,help,gnome/help}
}

debian_packages()
{
	local suite=$1 key dest less=() packages=()

	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		packages+=("$1")
		shift
	done
	[ $# -eq 0 ] || less=("${@:2}")
	[ "$suite" != kernel ] || die "kernel is no release of Debian"
	key=$(hash_text "$suite" "${packages[@]}" -- "${less[@]}" "$(declare -f unpack_debian)")
	dest=$CACHE/src/$suite-$key
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-deb dpkg
			need_space 2
			# What is in sid today is gone tomorrow.
			[ "$suite" != sid ] || rm -f "$CACHE/apt-sid/updated"
			apt_setup "$suite"
			debian_closure "$suite" "$DL/all" "${packages[@]}" "${less[@]}"
			: >"$DL/less"
			[ ${#less[@]} -eq 0 ] || debian_closure "$suite" "$DL/less" "${less[@]}"
			# Those that are asked for by name come in any case.
			{
				comm -23 "$DL/all" "$DL/less"
				printf '%s\n' "${packages[@]}"
			} | sort -u >"$DL/list"
			rm -rf "$dest" "$dest.new" "$DL"/*.deb
			# shellcheck disable=SC2046
			apt_fetch "packages of Debian $suite" download $(cat "$DL/list")
			(cd "$DL" && ls ./*.deb) >"$DL/list"
			mkdir -p "$dest.new"
			step "unpacking packages of Debian $suite" unpack_debian "$dest.new"
			mv "$DL/list" "$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/*.deb "$DL/all" "$DL/less"
		fi
		unlock
	fi
	echo "$dest"
}

# What every system has, as apt and mmdebstrap say it.
SYSTEM_PACKAGES=('?narrow(?or(?essential,?priority(required)),?architecture(arm64))' apt)

system_packages()
{
	local dest archives=$DL/system p kind=kernel

	dest=$CACHE/src/system-$(hash_text "$@" "${SYSTEM_PACKAGES[@]}")
	if [ ! -e "$dest/.complete" ]; then
		lock apt
		if [ ! -e "$dest/.complete" ]; then
			need_tool dpkg-scanpackages dpkg-dev
			need_space 2
			# Whoever asks for firmware wants what Debian has of it.
			[[ " $*" != *" firmware-"* ]] || kind=firmware
			apt_setup "$kind"
			rm -rf "$dest" "$dest.new" "$archives"
			mkdir -p "$dest.new" "$archives/partial"
			apt_fetch "packages of an arm64 system" -o APT::Architecture=arm64 -o Dir::Cache::archives="$archives" \
				-y --download-only --no-install-recommends install "${SYSTEM_PACKAGES[@]}" "$@"
			# Without the epoch, as in Debian's pool: its colon would be encoded twice over in names.
			for p in "$archives"/*.deb; do
				mv "$p" "$dest.new/$(basename "$p" | sed 's/_[0-9]*%3a/_/')"
			done
			(cd "$dest.new" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
			ls "$dest.new" >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -rf "$archives"
			prune "$CACHE/src/system" 4
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest"
}

case ${1:-} in
linux) linux_source "$2" ;;
qemu) qemu_source ;;
source) other_source "$2" "${3:-}" ;;
arm64) shift; arm64_packages "$@" ;;
kernel) debian_kernel "$2" ;;
debian) shift; debian_packages "$@" ;;
system) shift; system_packages "$@" ;;
panthor)
	version=$2
	[[ $version == *.*.* ]] || version=$(newest_version "$version")
	panthor_source "$version"
	;;
root) build_root "${2:-}" ;;
newest-kernels) newest_kernels ;;
kernel-releases) kernel_releases ;;
headers) kernel_headers "$2" ;;
*) die "usage: sources.sh linux VERSION | qemu | source PACKAGE [SUITE] | arm64 PACKAGE... | kernel VERSION |
	debian SUITE PACKAGE... | system [-t SUITE] PACKAGE... | panthor VERSION | root [deb] | headers RELEASE | newest-kernels |
	kernel-releases" ;;
esac
