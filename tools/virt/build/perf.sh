#!/bin/bash
# SPDX-License-Identifier: MIT
# perf.sh VERSION   build perf for the guest from that kernel's source, with our descriptions of GPU events from
#                   tools/perf, and print its path. It is one static program
#
# Only tests of perf and people need it, so it is built on demand. The source is the files in perf's MANIFEST, as hard
# links, as in kernel.sh.

. "$(dirname "$0")/common.sh"

KEEP_PERFS=3

# Of libraries only the C library: all else that perf could have is not for a machine of two seconds.
WITHOUT="NO_LIBELF NO_LIBTRACEEVENT NO_LIBPYTHON NO_SLANG NO_LIBNUMA NO_ZLIB NO_LZMA NO_LIBZSTD NO_LIBUNWIND
	NO_BACKTRACE NO_LIBDEBUGINFOD NO_SDT NO_JVMTI NO_CAPSTONE NO_LIBPFM4 NO_DEMANGLE NO_LIBLLVM NO_LIBBPF"
WITHOUT_6_12="NO_DWARF NO_LIBPERL NO_LIBAUDIT NO_LIBCRYPTO NO_LIBCAP NO_LIBBABELTRACE NO_LIBDW_DWARF_UNWIND"
WITHOUT_7_3="NO_LIBDW NO_BABELTRACE2 NO_RUST"

overlay_files()
{
	cd "$TOP_DIR"
	find tools/perf -type f -name '*.json' | sort
}

# The files that perf's own tarball has.
take_source()
{
	local src=$1 part=$2 path

	rm -rf "$part" "$part.new"
	mkdir -p "$part.new"
	cd "$src"
	while read -r path; do
		for path in $path; do
			[ -e "$path" ] || continue
			mkdir -p "$part.new/$(dirname "$path")"
			cp -al "$path" "$part.new/$path" 2>/dev/null || cp -a "$path" "$part.new/$path"
		done
	done <tools/perf/MANIFEST
	mv "$part.new" "$part"
}

sync_tree()
{
	local part=$1 tree=$2 file

	link_tree "$part" "$tree"
	stage_patches "$part" "$tree.stage" "$TOP_DIR"/tools/perf/pmu-events/jevents.patch
	overlay_files | while read -r file; do
		mkdir -p "$tree.stage/$(dirname "$file")"
		cp "$TOP_DIR/$file" "$tree.stage/$file"
	done
	sync_stage "$part" "$tree" "$tree.stage"
}

build_perf()
{
	local version=$1 tree=$2 out=$3 dest=$4 option flags=() without

	without=WITHOUT_$(var_version "$version")
	for option in $WITHOUT ${!without}; do
		flags+=("$option=1")
	done
	mkdir -p "$out"
	make -C "$tree/tools/perf" O="$out" ARCH=arm64 CROSS_COMPILE="$CROSS" LDFLAGS=-static WERROR=0 JEVENTS_MODEL=all EXTRA_CFLAGS="-O1 -g0" \
		"${flags[@]}" BUILD_BPF_SKEL=0 -j"$JOBS" "$out/perf"
	rm -rf "$dest.new"
	mkdir -p "$dest.new"
	"${CROSS}strip" -o "$dest.new/perf" "$out/perf"
	rm -rf "$dest"
	mv "$dest.new" "$dest"
}

main()
{
	local version=$1 src tree part out dest inputs

	case " $KERNELS " in
	*" $version "*) ;;
	*)
		[[ " $STOCK_KERNELS " == *" $version "* ]] || die "no kernel $version: there are $STOCK_KERNELS"
		# It need not be that of the running kernel.
		version=${KERNELS##* }
		;;
	esac
	src=$("$BUILD_DIR/sources.sh" linux "$version")
	mapfile -t inputs < <(overlay_files | sed "s,^,$TOP_DIR/,")
	dest=$CACHE/perf/$version-$(hash_text "$(source_id "$src")" \
		"$(hash_files "$BUILD_DIR/perf.sh" "$TOP_DIR/tools/perf/pmu-events/jevents.patch" "${inputs[@]}")")
	if [ ! -e "$dest/perf" ]; then
		need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
		need_tool flex flex
		need_tool bison bison
		need_tool python3 python3
		need_tool patch patch
		lock "perf-$version"
		if [ ! -e "$dest/perf" ]; then
			need_space 2
			tree=$CACHE/tree/perf-$version-$(hash_text "$(source_id "$src")")
			part=$tree.source
			out=$CACHE/build/$(basename "$tree")
			[ -e "$part" ] || step "taking perf of Linux $version" take_source "$src" "$part"
			step "preparing perf of Linux $version" sync_tree "$part" "$tree"
			step "building perf of Linux $version" build_perf "$version" "$tree" "$out" "$dest"
			prune "$CACHE/perf/$version" "$KEEP_PERFS"
		fi
		unlock
	fi
	# What is in use is not old.
	touch -c "$dest"
	echo "$dest/perf"
}

[ $# -eq 1 ] || die "usage: perf.sh VERSION"
main "$1"
