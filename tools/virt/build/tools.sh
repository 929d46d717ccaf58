#!/bin/bash
# SPDX-License-Identifier: MIT
# tools.sh [NAME]...   compile the guest's programs statically (those of guest.list, or only NAMEs), and print
#                      "NAME<tab>FILE" lines
# tools.sh -f          make the firmware file and print its path
# tools.sh -r          compile the programs for a root with Mesa (guest/mesa), dynamically linked, and print the same
#                      lines
#
# Programs are cached, keyed by their sources and all headers that they could include.

. "$(dirname "$0")/common.sh"

CFLAGS=(-std=gnu11 -O2 -g0 -Wall -Wextra -Werror)
KEEP=4

# headers_key DIR...: of every header there, and of all else that is part of a program
headers_key()
{
	local files

	mapfile -t files < <(cd "$TOP_DIR" && find "$@" -name '*.h' -o -name '*.csv' -o -path '*/html/*' 2>/dev/null | sort)
	(cd "$TOP_DIR" && hash_files "${files[@]}")
}

# Those of panthor-perf have headers, tables and a library that no other program has.
is_panthor_perf()
{
	[[ $1 = "$TOP_DIR"/tools/panthor-perf/* ]]
}

compile()
{
	local out=$1 arg args=() made own=()

	shift
	made=$(dirname "$out")
	mkdir -p "$made"
	for arg in "$@"; do
		if [[ $arg = *.proto ]]; then
			need_tool protoc-c protobuf-c-compiler
			protoc-c -I"${arg%/*}" --c_out="$made" "$arg"
			arg=$made/$(basename "$arg" .proto).pb-c.c
		fi
		args+=("$arg")
	done
	! is_panthor_perf "$1" || own=("-I$TOP_DIR/tools/panthor-perf/"{commands,output,recording,shared,libpanthor-perf,libpanthor-perf/reading}
		-isystem "$MICROHTTPD/include" -L"$MICROHTTPD/lib" "-isystem$SYSROOT/usr/include/"{traceevent,tracefs}
		-isystem "$made")
	"${CROSS}gcc" --sysroot="$SYSROOT" -static "${CFLAGS[@]}" "${own[@]}" \
		-I"$TOP_DIR/include/uapi" -I"$VIRT_DIR/qemu" \
		-isystem "$KERNEL_HEADERS" -isystem "$SYSROOT/usr/include/libdrm" -isystem "$SELFTEST_DIR" \
		-o "$out.new" "${args[@]}"
	mv "$out.new" "$out"
}

# program NAME SOURCE... [-lLIBRARY...]
program()
{
	local name=$1 key dest sources=() arg headers=$HEADERS_KEY

	shift
	for arg in "$@"; do
		case $arg in
		-*) ;;
		*) sources+=("$arg") ;;
		esac
	done
	case ${sources[0]} in
	*.c) ;;
	*)
		printf '%s\t%s\n' "$name" "${sources[0]}"
		return
		;;
	esac
	! is_panthor_perf "${sources[0]}" || headers="$headers $OWN_HEADERS_KEY $MICROHTTPD"
	# These include one of the kernel's.
	[[ ${sources[0]} != */guest/selftests/* ]] || headers="$headers $SELFTESTS_KEY"
	key=$(hash_text "$name $*" "$headers" "$SYSROOT" "$(hash_files "${sources[@]}")" "${CFLAGS[*]}")
	dest=$CACHE/tools/$name/k-$key/$name
	if [ ! -e "$dest" ]; then
		need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
		lock tools
		[ -e "$dest" ] || step "compiling $name" compile "$dest" "$@"
		prune "$CACHE/tools/$name/k" "$KEEP"
		unlock
	fi
	touch -c "${dest%/*}"
	printf '%s\t%s\n' "$name" "$dest"
}

programs()
{
	local name words sources options w f named=

	# shellcheck disable=SC2086
	SYSROOT=$("$BUILD_DIR/sources.sh" arm64 $ARM64_PACKAGES)
	MICROHTTPD=$("$BUILD_DIR/microhttpd.sh")
	KERNEL_HEADERS=$("$BUILD_DIR/kernel.sh" headers)
	# Selftests name their harness by the way to it from a directory as deep as theirs.
	SELFTEST_DIR=$("$BUILD_DIR/sources.sh" linux "${KERNELS##* }")/tools/testing/selftests/drivers/net/netdevsim
	HEADERS_KEY=$(headers_key include tools/virt/guest tools/virt/host tools/virt/qemu/mali-csf-bench-regs.h tools/testing)
	OWN_HEADERS_KEY=$(headers_key tools/panthor-perf LICENSES/uPlot)
	SELFTESTS_KEY=$(hash_files "$TOP_DIR"/tools/testing/selftests/drivers/gpu/panthor/*.c)
	cd "$TOP_DIR"
	while read -r -a words; do
		case ${words[0]:-} in
		''|'#'*) continue ;;
		esac
		name=${words[0]}
		sources=()
		options=()
		for w in "${words[@]:1}"; do
			case $w in
			-*) options+=("$w") ;;
			*)
				for f in $w; do
					[ ! -e "$f" ] || sources+=("$TOP_DIR/$f")
				done
				;;
			esac
		done
		[ ${#sources[@]} -gt 0 ] || continue
		if [ "$name" != '*' ]; then
			named+=" ${sources[*]} "
			[ $# -gt 0 ] && [[ " $* " != *" $name "* ]] || program "$name" "${sources[@]}" "${options[@]}"
			continue
		fi
		for f in "${sources[@]}"; do
			name=$(basename "${f%.*}")
			[[ $named != *" $f "* && $named != *" $name "* ]] || continue
			named+=" $name "
			[ $# -gt 0 ] && [[ " $* " != *" $name "* ]] || program "$name" "$f" "${options[@]}"
		done
	done < <(set -f; cat "$BUILD_DIR/guest.list")
}

# compile_mesa OUT SOURCE LIBRARY...: with the shaders that lie beside it, as arrays of words in a header
# each, NAME.comp as NAME_comp.h
compile_mesa()
{
	local out=$1 source=$2 include=${1%/*}/shaders shader name

	shift 2
	rm -rf "$include"
	mkdir -p "$include"
	for shader in "${source%/*}"/*.{vert,frag,comp}; do
		name=$(basename "$shader" | tr . _)
		glslangValidator -V --quiet --vn "$name" -o "$include/$name.h" "$shader"
	done
	"${CROSS}gcc" --sysroot="$SYSROOT" "${CFLAGS[@]}" -I"$include" -isystem "$SYSROOT/usr/include/libdrm" \
		-o "$out.new" "$source" "$@" -Wl,--allow-shlib-undefined
	rm -rf "$include"
	mv "$out.new" "$out"
}

mesa_programs()
{
	local name source key dest libraries

	# shellcheck disable=SC2086
	SYSROOT=$("$BUILD_DIR/sources.sh" arm64 $MESA_DEV_PACKAGES)
	while read -r name libraries; do
		source=$VIRT_DIR/guest/mesa/$name.c
		key=$(hash_text "$SYSROOT" "$libraries" "${CFLAGS[*]}" "$(declare -f compile_mesa)" \
			"$(hash_files "$VIRT_DIR"/guest/*.h "$VIRT_DIR"/guest/mesa/*.{h,vert,frag,comp} "$source")")
		dest=$CACHE/tools/$name/k-$key/$name
		if [ ! -e "$dest" ]; then
			need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
			need_tool glslangValidator glslang-tools
			lock tools
			if [ ! -e "$dest" ]; then
				mkdir -p "${dest%/*}"
				# shellcheck disable=SC2086
				step "compiling $name" compile_mesa "$dest" "$source" $libraries
			fi
			prune "$CACHE/tools/$name/k" "$KEEP"
			unlock
		fi
		touch -c "${dest%/*}"
		printf '%s\t%s\n' "$name" "$dest"
	done <<-END
		gl-work -lEGL -lGLESv2 -lgbm
		vk-work -lvulkan
		vk-perf -lvulkan
		vk-careless -ldl
	END
}

make_firmware()
{
	local dest=$1

	mkdir -p "$dest"
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$VIRT_DIR/qemu" -o "$dest/mkfw" "$VIRT_DIR/host/mkfw.c"
	"$dest/mkfw" -o "$dest/mali_csffw.bin.new"
	mv "$dest/mali_csffw.bin.new" "$dest/mali_csffw.bin"
}

firmware()
{
	local key dest

	[ -e "$VIRT_DIR/host/mkfw.c" ] || die "$VIRT_DIR/host/mkfw.c is missing"
	key=$(hash_files "$VIRT_DIR/host/mkfw.c" "$VIRT_DIR"/qemu/mali-csf-fw.h "$VIRT_DIR"/qemu/mali-csf.h)
	dest=$CACHE/firmware/$key
	if [ ! -e "$dest/mali_csffw.bin" ]; then
		need_tool gcc build-essential
		lock tools
		[ -e "$dest/mali_csffw.bin" ] || step "making the firmware" make_firmware "$dest"
		unlock
	fi
	echo "$dest/mali_csffw.bin"
}

if [ "${1:-}" = -f ]; then
	firmware
elif [ "${1:-}" = -r ]; then
	mesa_programs
else
	programs "$@"
fi
