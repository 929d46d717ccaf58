#!/bin/bash
# SPDX-License-Identifier: MIT
# kernel.sh VERSION VARIANT   build a kernel and print the directory of the result:
#                             Image, config, release, modules/lib/modules/RELEASE/; for gcov also notes/
# kernel.sh headers           the same for the uAPI headers of the newest kernel
# kernel.sh tree VERSION      make only the patched source tree, and print it
# kernel.sh overlay VERSION   list the files that are added to that tree, besides patches: FILE<tab>PLACE
# kernel.sh object VERSION VARIANT   prepare the tree and its build directory for building single objects, and print
#                             both
# kernel.sh panthor VERSION VARIANT [FILE]   build only panthor and print the module, which run's VIRT_FILE copies into
#                             a VM. FILE replaces the driver's file of that name
#
# VARIANT is one of:
#
#   those of configs/   a kernel of ours
#   pristine            the plain image, with panthor from Debian's unpatched source
#   noperf, nopmu       the plain image, with our panthor without DRM_PANTHOR_PERF, or without DRM_PANTHOR_PERF_PMU
#   series              the plain image, with panthor of the kernel tree SERIES_TREE, at a step of the series that
#                       maintainers get
#   debian              Debian's kernel, with those of its modules that configs/debian.modules lists; 6.18: a kernel
#                       of KERNEL_SRC_6_18
#   stock               debian, with our panthor in place of Debian's
#
# The unpacked source never changes. Our patches and files are applied to a copy made of hard links, in which only files
# that differ are replaced. So make rebuilds only those.

. "$(dirname "$0")/common.sh"

KEEP_IMAGES=6
# Part of every key: another number when this script makes other results of the same sources.
RECIPE=1

kernel_make()
{
	local tree=$1 out=$2

	shift 2
	make -C "$tree" O="$out" ARCH=arm64 CROSS_COMPILE="$CROSS" \
		KBUILD_BUILD_USER=virt KBUILD_BUILD_HOST=virt KBUILD_BUILD_TIMESTAMP='1970-01-01' \
		KBUILD_BUILD_VERSION=1 -j"$JOBS" "$@"
}

# A PMU that outlives its device is for kernels whose core of perf is not mended.
kept_pmu()
{
	grep -q '^+++ b/kernel/events/core\.c' "patches/$1"/*.patch || echo backports/panthor_perf_pmu_keep.[ch]
}

# Where each file of ours goes in a kernel tree: "FILE<tab>PLACE" lines.
overlay_files()
{
	local version=$1 f patches=("$TOP_DIR/patches/$1"/*.patch)

	# Without the patches that make a kernel build them, our files are nothing to it.
	[ ${#patches[@]} -gt 0 ] || return 0
	cd "$TOP_DIR"
	{
		[ ! -d drivers ] || find drivers -type f \( -name '*.[chS]' -o -name 'Kconfig*' -o -name Makefile -o -name .kunitconfig \)
		[ ! -d include ] || find include -type f -name '*.h'
	} | sort | while read -r f; do
		printf '%s\t%s\n' "$TOP_DIR/$f" "$f"
	done
	if [ -e Kconfig.perf ]; then
		printf '%s\t%s\n' "$TOP_DIR/Kconfig.perf" drivers/gpu/drm/panthor/Kconfig.perf
	fi
	# The patches of that kernel name the header where it is wanted.
	for f in backports/"$version"/*.h $(kept_pmu "$version"); do
		printf '%s\t%s\n' "$TOP_DIR/$f" "drivers/gpu/drm/panthor/$(basename "$f")"
	done
}

overlay_inputs()
{
	overlay_files "$1" | cut -f 1
	printf '%s\n' "$TOP_DIR/patches/$1"/*.patch
}

fragments()
{
	local version=$1 variant=$2 f patches=("$TOP_DIR/patches/$1"/*.patch)

	for f in base "base-$version" perf "perf-$version" "$variant" "$variant-$version"; do
		# Options of our own exist in a tree that has our Kconfig.
		case $f in
		perf*) [ -e "$TOP_DIR/Kconfig.perf" ] && [ ${#patches[@]} -gt 0 ] || continue ;;
		esac
		[ ! -e "$BUILD_DIR/configs/$f.config" ] || echo "$BUILD_DIR/configs/$f.config"
	done
}

# Brings the tree up to what the source, our patches and our files make of it.
sync_tree()
{
	local version=$1 src=$2 tree=$3 file place

	link_tree "$src" "$tree"
	stage_patches "$src" "$tree.stage" "$TOP_DIR/patches/$version"/*.patch
	while IFS=$'\t' read -r file place; do
		mkdir -p "$tree.stage/$(dirname "$place")"
		cp "$file" "$tree.stage/$place"
	done < <(overlay_files "$version")
	sync_stage "$src" "$tree" "$tree.stage"
}

# Configures, and insists on every line that was asked for.
configure()
{
	local version=$1 variant=$2 tree=$3 out=$4 key line lost=

	mkdir -p "$out"
	# shellcheck disable=SC2046
	cat $(fragments "$version" "$variant") >"$out/fragments.new"
	key=$(hash_text "$(cat "$out/fragments.new")" "$(cd "$tree" && find drivers/gpu/drm/panthor -name 'Kconfig*' -exec cat {} +)")
	if [ -e "$out/.config" ] && [ "$(cat "$out/fragments.key" 2>/dev/null)" = "$key" ]; then
		return
	fi
	mv "$out/fragments.new" "$out/fragments"
	KCONFIG_ALLCONFIG="$out/fragments" kernel_make "$tree" "$out" allnoconfig
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$out/.config" || lost="$lost $line" ;;
		'# CONFIG_'*' is not set')
			line=${line#\# }
			! grep -q "^${line% is not set}=" "$out/.config" || lost="$lost ${line% is not set}=n" ;;
		esac
	done <"$out/fragments"
	if [ -n "$lost" ]; then
		echo "Linux $version does not take these lines of the configuration:$lost"
		return 1
	fi
	echo "$key" >"$out/fragments.key"
}

# The driver's own sources in a tree, or all of panthor's if there are none of ours.
own_sources()
{
	find "$1/drivers/gpu/drm/panthor" -maxdepth 1 -name 'panthor_perf*.c' | sort | grep . ||
		find "$1/drivers/gpu/drm/panthor" -maxdepth 1 -name '*.c' | sort
}

# Those of panthor's sources that our patches change.
patched_sources()
{
	sed -n "s,^+++ b/\\(drivers/gpu/drm/panthor/[a-z_]*\\.c\\).*,$2/\\1,p" "$TOP_DIR/patches/$1"/*.patch | sort -u
}

# instrument OPTION FILE...: for make, of these sources alone
instrument()
{
	local option=$1 f

	shift
	for f in "$@"; do
		echo "${option}_$(basename "$f" .c).o=y"
	done
}

# instruments VERSION TREE VARIANT: for make, a line each
instruments()
{
	# shellcheck disable=SC2046
	case $3 in
	# Without a seed, what was counted belongs to one compilation, and not to another one of the same source.
	gcov)
		echo CFLAGS_MODULE=-frandom-seed=0
		instrument GCOV_PROFILE $(own_sources "$2"; patched_sources "$1" "$2")
		;;
	debug) instrument KCOV_INSTRUMENT $(own_sources "$2") ;;
	# n is for all files but those that are named. What the layout's functions are given is the caller's own, or locked
	# by it, and they do so much with it that little else would be watched.
	kcsan)
		echo KCSAN_SANITIZE=n
		instrument KCSAN_SANITIZE $(own_sources "$2" | grep -v '_layout\.c$')
		;;
	esac
}

build_kernel()
{
	local version=$1 tree=$2 out=$3 variant=$4 flags

	mapfile -t flags < <(instruments "$version" "$tree" "$variant")
	kernel_make "$tree" "$out" "${flags[@]}" Image modules
}

# What tools/virt/coverage has to know of an image whose driver counts which lines are executed: the compiler's
# notes of each source, and "FILE<tab>LINE<tab>TEXT" of the lines that are ours.
install_notes()
{
	local version=$1 src=$2 tree=$3 out=$4 notes=$5 f name

	mkdir -p "$notes"
	{
		own_sources "$tree"
		patched_sources "$version" "$tree"
	} | while read -r f; do
		name=$(basename "$f" .c)
		diff -N --unchanged-line-format= --old-line-format= --new-line-format="$name.c"$'\t%dn\t%L' \
			"$src/drivers/gpu/drm/panthor/$name.c" "$f" || [ $? -eq 1 ]
	done >"$notes/lines"
	# Those of nothing else are there.
	cp "$out"/drivers/gpu/drm/panthor/*.gcno "$notes/"
}

test_module_files()
{
	printf '%s\n' "$VIRT_DIR"/guest/modules/{Kbuild,*.[ch]}
}

# Modules that tests load. They are no part of the tree: a pristine image has them, too.
install_test_modules()
{
	local tree=$1 out=$2 dest=$3 mod=$2.modules release f

	mkdir -p "$mod"
	test_module_files | while read -r f; do
		put "$f" "$mod/$(basename "$f")"
	done
	kernel_make "$tree" "$out" M="$mod" modules
	release=$(cat "$dest/release")
	for f in "$mod"/*.ko; do
		install -D -m 644 "$f" "$dest/modules/lib/modules/$release/updates/$(basename "$f")"
		"${CROSS}strip" --strip-debug "$dest/modules/lib/modules/$release/updates/$(basename "$f")"
	done
	depmod -b "$dest/modules" "$release"
}

install_image()
{
	local tree=$1 out=$2 dest=$3

	rm -rf "$dest.new"
	mkdir -p "$dest.new/modules"
	cp "$out/arch/arm64/boot/Image" "$out/System.map" "$dest.new/"
	cp "$out/.config" "$dest.new/config"
	cp "$out/include/config/kernel.release" "$dest.new/release"
	kernel_make "$tree" "$out" INSTALL_MOD_PATH="$dest.new/modules" INSTALL_MOD_STRIP=1 modules_install
	rm -f "$dest.new"/modules/lib/modules/*/{build,source}
	install_test_modules "$tree" "$out" "$dest.new"
	rm -rf "$dest"
	mv "$dest.new" "$dest"
}

# build_panthor VARIANT SOURCE TREE OUT PLAIN DEST: the image PLAIN with another panthor, and nothing
# else of ours in its modules: built by itself, from that source.
build_panthor()
{
	local variant=$1 src=$2 tree=$3 out=$4 plain=$5 dest=$6 mod=$4.$1 release off=() flags=()

	mkdir -p "$mod"
	rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.cmd' --exclude='*.mod*' --exclude='*.order' \
		--exclude='*.symvers' "$src/drivers/gpu/drm/panthor/" "$mod/"
	case $variant in
	noperf) off=(DRM_PANTHOR_PERF DRM_PANTHOR_PERF_PMU) ;;
	nopmu) off=(DRM_PANTHOR_PERF_PMU) ;;
	# In front of the plain kernel's own.
	series) flags=("KCFLAGS=-include $src/include/uapi/drm/panthor_drm.h") ;;
	esac
	if [ ${#off[@]} -gt 0 ]; then
		# Off for make, and for the compiler, which otherwise sees what the kernel has.
		printf '#undef CONFIG_%s\n' "${off[@]}" >"$mod/off.h"
		mapfile -t flags < <(printf 'CONFIG_%s=\n' "${off[@]}" DRM_PANTHOR_PERF_KUNIT_TEST)
		flags+=("KCFLAGS=-include $mod/off.h")
	fi
	kernel_make "$tree" "$out" M="$mod" "${flags[@]}" modules
	rm -rf "$dest.new"
	cp -a "$plain" "$dest.new"
	rm -f "$dest.new/.complete"
	release=$(cat "$plain/release")
	# Whatever else our build of the directory made (tests, say) is no part of it.
	rm -rf "$dest.new/modules/lib/modules/$release/kernel/drivers/gpu/drm/panthor"
	install -D -m 644 "$mod/panthor.ko" "$dest.new/modules/lib/modules/$release/kernel/drivers/gpu/drm/panthor/panthor.ko"
	"${CROSS}strip" --strip-debug "$dest.new/modules/lib/modules/$release/kernel/drivers/gpu/drm/panthor/panthor.ko"
	depmod -b "$dest.new/modules" "$release"
	rm -rf "$dest"
	mv "$dest.new" "$dest"
}

debian_modules()
{
	sed 's/#.*//' "$BUILD_DIR/configs/debian.modules" | awk -v first="${1:-}" 'NF && (!first || $2 == "first") { print $1 }'
}

# Debian's image, and the modules asked for with those that they need, as in the package but not
# compressed. "first" has those that the machine needs before anything else.
unpack_debian()
{
	local src=$1 dest=$2 release image module file

	release=$(cd "$src/usr/lib/modules" && ls)
	for image in "$src/boot/vmlinuz-$release" "$src/usr/lib/modules/$release/vmlinuz"; do
		[ ! -e "$image" ] || break
	done
	rm -rf "$dest.new"
	mkdir -p "$dest.new/modules/lib/modules/$release" "$dest.new/all/lib"
	cp "$image" "$dest.new/Image"
	cp "$src/boot/config-$release" "$dest.new/config" 2>/dev/null || : >"$dest.new/config"
	echo "$release" >"$dest.new/release"
	debian_modules first >"$dest.new/first"
	ln -s "$src/usr/lib/modules" "$dest.new/all/lib/modules"
	depmod -b "$dest.new/all" "$release"
	for module in $(debian_modules); do
		modprobe -d "$dest.new/all" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" { print $2 }' | sort -u >"$dest.new/list"
	while read -r file; do
		module=$dest.new/modules/lib/modules/$release/${file#*"/modules/$release/"}
		mkdir -p "$(dirname "$module")"
		case $file in
		*.xz) xz -dc "$file" >"${module%.xz}" ;;
		*) cp "$file" "$module" ;;
		esac
	done <"$dest.new/list"
	# Of 7.3 these are made when the package is installed.
	for file in "$src/usr/lib/modules/$release"/modules.{order,builtin,builtin.modinfo}; do
		[ ! -e "$file" ] || cp "$file" "$dest.new/modules/lib/modules/$release/"
	done
	depmod -b "$dest.new/modules" "$release"
	rm -rf "$dest" "$dest.new/all" "$dest.new/list"
	mv "$dest.new" "$dest"
}

debian()
{
	local version=$1 src dest

	src=$("$BUILD_DIR/sources.sh" kernel "$version")
	dest=$CACHE/image/$version-debian-$(hash_text "$RECIPE $(cat "$src/.complete")" \
		"$(hash_files "$BUILD_DIR/configs/debian.modules")")
	if [ ! -e "$dest/.complete" ]; then
		need_tool depmod kmod
		need_tool xz xz-utils
		lock "kernel-debian-$version"
		if [ ! -e "$dest/.complete" ]; then
			step "taking modules of Debian's kernel $version" unpack_debian "$src" "$dest"
			touch "$dest/.complete"
			prune "$CACHE/image/$version-debian" "$KEEP_IMAGES"
		fi
		unlock
	fi
	# What is in use is not old.
	touch -c "$dest"
	echo "$dest"
}

# The image of Debian's kernel with our panthor, and with what tests load.
install_stock()
{
	local base=$1 modules=$2 dest=$3 release

	release=$(cat "$base/release")
	rm -rf "$dest.new"
	cp -a "$base" "$dest.new"
	rm -f "$dest.new/.complete" "$dest.new/modules/lib/modules/$release"/kernel/drivers/gpu/drm/panthor/*
	mkdir -p "$dest.new/modules/lib/modules/$release/updates"
	cp "$modules"/*.ko "$dest.new/modules/lib/modules/$release/updates/"
	depmod -b "$dest.new/modules" "$release"
	rm -rf "$dest"
	mv "$dest.new" "$dest"
}

stock()
{
	local version=$1 base modules dest

	base=$(image "$version" debian)
	modules=$("$BUILD_DIR/module.sh" debian "$version")
	dest=$CACHE/image/$version-stock-$(hash_text "$RECIPE $base $modules")
	if [ ! -e "$dest/.complete" ]; then
		lock "kernel-debian-$version"
		if [ ! -e "$dest/.complete" ]; then
			step "putting our panthor into Debian's kernel $version" install_stock "$base" "$modules" "$dest"
			touch "$dest/.complete"
			prune "$CACHE/image/$version-stock" "$KEEP_IMAGES"
		fi
		unlock
	fi
	touch -c "$dest"
	echo "$dest"
}

prepare()
{
	need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
	need_tool flex flex
	need_tool bison bison
	need_tool bc bc
	need_tool patch patch
	need_tool rsync rsync
	need_tool depmod kmod
}

image()
{
	local version=$1 variant=$2 base=$2 known=$KERNELS src id key dest tree out plain

	case " $VARIANTS pristine noperf nopmu series debian stock " in
	*" $variant "*) ;;
	*) die "no kernel variant $variant: there are $VARIANTS pristine noperf nopmu series debian stock" ;;
	esac
	case $variant in
	debian|stock) known=$STOCK_KERNELS ;;
	esac
	case " $known " in
	*" $(cut -d . -f 1-2 <<<"$version") "*) ;;
	*) die "no kernel $version: there are $known, as $variant" ;;
	esac
	# Debian has none. We have no patches for it, so this one has its own panthor.
	[ "$version $variant" != "6.18 debian" ] || variant=plain base=plain
	case $variant in
	debian|stock)
		"$variant" "$version"
		return
		;;
	*)
		[[ $version != *.*.* ]] || die "no kernel $version ($variant): of single releases there are debian and stock"
		;;
	esac
	case $variant in
	pristine|noperf|nopmu|series) base=plain ;;
	esac

	src=$("$BUILD_DIR/sources.sh" linux "$version")
	id=$(source_id "$src")
	# These are made of the plain image: of what that is made of, they are made, too.
	mapfile -t inputs < <(overlay_inputs "$version"; test_module_files
		[ "$variant" != series ] || find "$SERIES_TREE/include/uapi/drm/panthor_drm.h" \
			"$SERIES_TREE/drivers/gpu/drm/panthor" -type f | sort)
	# shellcheck disable=SC2046
	key=$(hash_text "$RECIPE $id" "$(hash_files $(fragments "$version" "$base") "${inputs[@]}")")
	dest=$CACHE/image/$version-$variant-$key
	if [ -e "$dest/.complete" ]; then
		# What is in use is not old.
		touch -c "$dest"
		echo "$dest"
		return
	fi

	prepare
	lock "kernel-$version"
	if [ -e "$dest/.complete" ]; then
		echo "$dest"
		return
	fi
	need_space 5
	tree=$CACHE/tree/$version-$(hash_text "${src} $(cat "$src/.complete" 2>/dev/null)")
	out=$CACHE/build/$(basename "$tree")-$base
	mkdir -p "$CACHE/image" "$CACHE/build"
	if [ "$variant" != "$base" ]; then
		unlock
		plain=$(image "$version" plain)
		lock "kernel-$version"
		if [ "$variant" = pristine ]; then
			step "building panthor of Linux $version as it is" \
				build_panthor pristine "$src" "$tree" "$out" "$plain" "$dest"
		elif [ "$variant" = series ]; then
			step "building panthor of $SERIES_TREE" \
				build_panthor series "$SERIES_TREE" "$tree" "$out" "$plain" "$dest"
		else
			# Another checkout may have had the tree while the lock was not held.
			step "preparing Linux $version" sync_tree "$version" "$src" "$tree"
			step "building panthor of Linux $version ($variant)" \
				build_panthor "$variant" "$tree" "$tree" "$out" "$plain" "$dest"
		fi
	else
		step "preparing Linux $version" sync_tree "$version" "$src" "$tree"
		step "configuring Linux $version ($variant)" configure "$version" "$variant" "$tree" "$out"
		step "building Linux $version ($variant)" build_kernel "$version" "$tree" "$out" "$variant"
		step "installing Linux $version ($variant)" install_image "$tree" "$out" "$dest"
		[ "$variant" != gcov ] || install_notes "$version" "$src" "$tree" "$out" "$dest/notes"
	fi
	touch "$dest/.complete"
	prune "$CACHE/image/$version-$variant" "$KEEP_IMAGES"
	echo "$dest"
}

object()
{
	local version=$1 variant=$2 src tree out

	src=$("$BUILD_DIR/sources.sh" linux "$version")
	prepare
	lock "kernel-$version"
	tree=$CACHE/tree/$version-$(hash_text "${src} $(cat "$src/.complete" 2>/dev/null)")
	out=$CACHE/build/$(basename "$tree")-$variant
	step "preparing Linux $version" sync_tree "$version" "$src" "$tree"
	echo "$tree"
	[ -n "$variant" ] || return 0
	step "configuring Linux $version ($variant)" configure "$version" "$variant" "$tree" "$out"
	echo "$out"
}

# In a directory of its own, where only what differs from the last time is compiled.
panthor()
{
	local version=$1 variant=$2 file=${3:-} places tree out mod flags f

	(image "$version" "$variant") >/dev/null
	mapfile -t places < <(object "$version" "$variant")
	tree=${places[0]} out=${places[1]} mod=${places[1]}.panthor
	lock "kernel-$version"
	mkdir -p "$mod/tests"
	(cd "$tree/drivers/gpu/drm/panthor" && find . -type f) | while read -r f; do
		[ -z "$file" ] || [ "$f" != "./$(basename "$file")" ] || continue
		put "$tree/drivers/gpu/drm/panthor/$f" "$mod/$f"
	done
	[ -z "$file" ] || put "$file" "$mod/$(basename "$file")"
	mapfile -t flags < <(instruments "$version" "$tree" "$variant")
	step "building panthor of Linux $version ($variant) alone" kernel_make "$tree" "$out" M="$mod" "${flags[@]}" modules
	"${CROSS}strip" --strip-debug -R .note.gnu.build-id -o "$mod/panthor.stripped" "$mod/panthor.ko"
	echo "$mod/panthor.stripped"
}

headers()
{
	local version=${KERNELS##* } src dest

	src=$("$BUILD_DIR/sources.sh" linux "$version")
	dest=$CACHE/headers/$(hash_text "$(source_id "$src")")
	if [ ! -e "$dest/.complete" ]; then
		need_tool rsync rsync
		lock headers
		if [ ! -e "$dest/.complete" ]; then
			rm -rf "$dest.new" "$dest.build"
			mkdir -p "$dest.build"
			step "installing the headers of Linux $version" kernel_make "$src" "$dest.build" \
				INSTALL_HDR_PATH="$dest.new" headers_install
			rm -rf "$dest" "$dest.build"
			mv "$dest.new" "$dest"
			touch "$dest/.complete"
		fi
		unlock
	fi
	echo "$dest/include"
}

case ${1:-} in
headers) headers ;;
tree) object "$2" "" ;;
overlay) overlay_files "$2" ;;
object) object "$2" "$3" ;;
panthor) panthor "${@:2}" ;;
*)
	[ $# -eq 2 ] || die "usage: kernel.sh VERSION VARIANT | headers | tree VERSION | overlay VERSION |" \
		"object VERSION VARIANT | panthor VERSION VARIANT [FILE]"
	image "$1" "$2"
	;;
esac
