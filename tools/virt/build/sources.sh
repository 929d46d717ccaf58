#!/bin/bash
# SPDX-License-Identifier: MIT
# sources.sh linux 6.12|7.3   prints the directory of the kernel's source
# sources.sh qemu             prints the directory of QEMU's source
# sources.sh arm64 PACKAGE... prints the directory in which the files of these arm64 packages are
# sources.sh kernel 6.12|7.3  prints the same for Debian's own arm64 kernel of that series
# sources.sh debian SUITE PACKAGE... [-- PACKAGE...]
#                             prints the directory in which the files are of those arm64 packages of the
#                             release SUITE, and of all they depend on, less what those behind -- depend on
#
# They come from Debian through an apt configuration of our own: the machine's lists, its foreign
# architectures and its installed packages stay as they are.

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
# apt_setup kernel  for the release that has the kernels, alone: its libraries are not this machine's
# apt_setup SUITE   for another release, alone
apt_setup()
{
	local codename main security keys opt new kind=${1:-}

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
	mkdir -p "$APT"/{lists/partial,cache/archives/partial,state} "$DL"
	new=$APT/sources.list.new
	if [ "$kind" = kernel ]; then
		printf "deb $opt $main %s main\n" trixie trixie-backports
	elif [ -n "$kind" ]; then
		echo "deb $opt $main $kind main"
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
	# Only arm64 indices: the guest's packages are arm64, the sources are the same everywhere.
	cat >"$APT/apt.conf" <<-CONF
		Dir::Etc::sourcelist "$APT/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "-";
		Dir::Etc::preferencesparts "-";
		Dir::State "$APT/state";
		Dir::State::lists "$APT/lists";
		Dir::State::status "$APT/state/status";
		Dir::Cache "$APT/cache";
		APT::Architecture "arm64";
		#clear APT::Architectures;
		APT::Architectures { "arm64"; };
		APT::Sandbox::User "root";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		Acquire::Languages "none";
		Acquire::Retries "3";
	CONF
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

# kernel_package KIND VERSION: the newest release of the series
kernel_package()
{
	apt-cache -c "$APT/apt.conf" --names-only search "^linux-$1-${2//./\\.}\.[0-9]+[^-]*-arm64\$" 2>/dev/null |
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
	local version=$1 dest=$CACHE/src/debian-$1 p packages

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
			printf '%s\n' $packages >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/linux-*_arm64.deb
		fi
		unlock
	fi
	echo "$dest"
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
			rm -rf "$dest" "$dest.new" "$DL"/*_arm64.deb
			mkdir -p "$dest.new"
			apt_fetch "arm64 packages" download "$@"
			for p in "$DL"/*_arm64.deb; do
				step "unpacking $(basename "$p" _arm64.deb)" dpkg-deb -x "$p" "$dest.new"
			done
			(cd "$DL" && ls ./*_arm64.deb) >"$dest.new/.complete"
			mv "$dest.new" "$dest"
			rm -f "$DL"/*_arm64.deb
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

case ${1:-} in
linux) linux_source "$2" ;;
qemu) qemu_source ;;
arm64) shift; arm64_packages "$@" ;;
kernel) debian_kernel "$2" ;;
debian) shift; debian_packages "$@" ;;
*) die "usage: sources.sh linux VERSION | qemu | arm64 PACKAGE... | kernel VERSION | debian SUITE PACKAGE..." ;;
esac
