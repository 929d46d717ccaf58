#!/bin/bash
# SPDX-License-Identifier: MIT
# deb.sh [DIR]        build the arm64 packages of debian/control and print their paths; with DIR, copy them there
# deb.sh lintian      run lintian on them
# deb.sh dkms RELEASE [COMMAND]
#                     build the module of the dkms package for that kernel with DKMS, and print the output of DKMS
#                     and of the package's scripts. COMMAND runs first, in the root, as on a board
# deb.sh trees DIR    write the sources of the module to DIR, for debian/rules
# deb.sh harness DIR  write what the kernel's selftests are compiled with to DIR, for debian/rules
#
# Packages are built in a root directory of the Debian release that the kernels come from. Nothing is installed there:
# the packages are unpacked, and dpkg is told that they are installed.

. "$(dirname "$0")/common.sh"

DEBIAN=$TOP_DIR/debian
# From this series on kernels have the newest panthor, if it compiles for them.
FIRST=6.18
KEEP=4

# The packages need no more of this project than the tool, the interface, and what tests them on a board.
sources()
{
	(cd "$TOP_DIR" && find Documentation/*.rst clients/frames debian include/uapi packaging tools/panthor-perf LICENSES \
		tools/testing tools/virt/guest/{gpu-load.c,*.h} -type f ! -name '*.o' | sort)
}

# Whoever updates today has the newest of each suite, for which DKMS will only try.
tell_untested()
{
	local suite version

	"$BUILD_DIR/sources.sh" newest-kernels | while read -r suite version; do
		grep -q "^$version " "$DEBIAN/releases" ||
			say "warning: Debian's newest kernel in $suite is $version, which debian/releases does not have: 'make releases' says what it would take"
	done
}

# trees DEST: a directory for each series of which we have patches, and served, with "FROM TO DIRECTORY" lines: the
# series of kernels that it is for
trees()
{
	local dest=$1 series src version from served=()

	rm -rf "$dest"
	mkdir -p "$dest"
	for series in $KERNELS; do
		src=$("$BUILD_DIR/sources.sh" panthor "$series")
		version=$(cat "$src/.complete")
		"$BUILD_DIR/module.sh" tree "$series" "$src" "$dest/${version%%-*}"
		from=$series
		[ "$series" != "${KERNELS##* }" ] || from=$FIRST
		served+=("$from $series ${version%%-*}")
	done
	tell_untested
	cp "$TOP_DIR"/tools/module/{pre-build,renew-initrd} "$dest/"
	# Last, as debian/rules goes by it.
	printf '%s\n' "${served[@]}" >"$dest/served"
}

# harness DIR: of a kernel's source what its selftests are compiled with
harness()
{
	local src

	src=$("$BUILD_DIR/sources.sh" panthor "${KERNELS##* }")
	mkdir -p "$1"
	(cd "$src" && cp --parents tools/testing/selftests/*.h include/uapi/drm/panthor_drm.h "$1/")
}

# Times of files are those of the commit, or before.
build_packages()
{
	local root=$1 work=$2 epoch

	epoch=$(git -C "$TOP_DIR" log -1 --format=%ct 2>/dev/null || true)
	# Its own tests are make check's. Cleaning would take away the sources of the module, which are there.
	in_root "$root" sh -c "cd $work && ${epoch:+SOURCE_DATE_EPOCH=$epoch} DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage \
		--no-check-builddeps --no-pre-clean --host-arch arm64 --build=binary --unsigned-changes --build-profiles=cross,nocheck"
}

packages()
{
	local key dest root work=/build/deb/panthor-perf inputs file version

	mapfile -t inputs < <(sources | sed "s,^,$TOP_DIR/,"; printf '%s\n' "$TOP_DIR"/patches/*/*.patch \
		"$TOP_DIR"/backports/{*,*/*}.[ch] "$TOP_DIR"/drivers/gpu/drm/panthor/*.[ch] "$TOP_DIR"/tools/module/{*,*/*}.* \
		"$TOP_DIR"/tools/module/{Kbuild,pre-build,renew-initrd} "$BUILD_DIR"/{deb,module}.sh)
	version=$("$TOP_DIR/packaging/version")
	# DEB_SALT has them built once more, for a test that compares.
	key=$(hash_text "$version ${DEB_SALT:-}" "$(hash_files "${inputs[@]}")")
	dest=$CACHE/deb/packages-$key
	if [ ! -e "$dest/.complete" ]; then
		need_tool patch patch
		root=$("$BUILD_DIR/sources.sh" root deb)
		lock deb
		if [ ! -e "$dest/.complete" ]; then
			rm -rf "${root:?}/build/deb" "$dest"
			mkdir -p "$root$work" "$dest"
			sources | while read -r file; do
				mkdir -p "$root$work/$(dirname "$file")"
				cp "$TOP_DIR/$file" "$root$work/$file"
			done
			echo "$version" >"$root$work/VERSION"
			trees "$root$work/debian/dkms"
			harness "$root$work/debian/harness"
			step "building the Debian packages" build_packages "$root" "$work"
			cp "$root"/build/deb/*.deb "$root"/build/deb/*.changes "$dest/"
			rm -rf "${root:?}/build/deb"
			touch "$dest/.complete"
			prune "$CACHE/deb/packages" "$KEEP"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest"
}

# forget_dkms ROOT RELEASE: what try_dkms leaves there, whatever has ended it
forget_dkms()
{
	rm -rf "$1/var/lib/dkms/panthor-perf" "$1/usr/src/panthor-perf"-* "$1/usr/src/linux-headers-${2%%-*}"-* \
		"$1/usr/lib/linux-kbuild-${2%%-*}" "${1:?}/usr/lib/modules/$2"
}

# DKMS as on a board, but for the compiler, which runs here.
try_dkms()
{
	local release=$1 command=${2:-:} dest root from name=panthor-perf

	dest=$(packages)
	root=$("$BUILD_DIR/sources.sh" root deb)
	from=$("$BUILD_DIR/sources.sh" headers "$release")
	lock deb
	forget_dkms "$root" "$release"
	mkdir -p "$root/usr/lib/modules/$release"
	cp -a "$from/usr/src/linux-headers-$release" "$from/usr/src/linux-headers-${release%%-*}-common" "$root/usr/src/"
	cp -a "$from/usr/lib/linux-kbuild-${release%%-*}" "$root/usr/lib/"
	ln -sfn "/usr/src/linux-headers-$release" "$root/usr/lib/modules/$release/build"
	dpkg-deb -x "$dest"/$name-dkms_*.deb "$root"
	# shellcheck disable=SC2016
	in_root "$root" sh -c 'cd /usr/src; module=$(echo '"$name"'-* | sed "s,\(.*\)-,\1/,"); eval "$2"
		dkms add "$module" && dkms build "$module" -k "$1" -a aarch64; echo "status $?"; dkms status
		find /var/lib/dkms -name make.log -exec grep -h "^panthor-perf: " {} +' sh "$release" "$command" 2>&1 || true
	forget_dkms "$root" "$release"
	unlock
}

case ${1:-} in
dkms) try_dkms "$2" "${3:-}" ;;
trees) trees "$(realpath "$2")" ;;
harness) harness "$(realpath "$2")" ;;
lintian)
	dest=$(packages)
	root=$("$BUILD_DIR/sources.sh" root deb)
	rm -rf "${root:?}/build/lintian"
	mkdir -p "$root/build/lintian"
	cp "$dest"/*.deb "$root/build/lintian/"
	in_root "$root" sh -c 'cd /build/lintian && lintian --allow-root --tag-display-limit 0 --display-info --pedantic *.deb'
	rm -rf "${root:?}/build/lintian"
	;;
*)
	dest=$(packages)
	if [ -n "${1:-}" ]; then
		mkdir -p "$1"
		cp "$dest"/*.deb "$1/"
		dest=$1
	fi
	printf '%s\n' "$dest"/*.deb
	;;
esac
