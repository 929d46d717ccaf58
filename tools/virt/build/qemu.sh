#!/bin/bash
# SPDX-License-Identifier: MIT
# qemu.sh              builds QEMU with the virtual Mali in it, and prints the path of the program
# qemu.sh sanitized    the same, its device compiled with ASan and UBSan, and with what tells a fuzzer
#                      where it has been (qtest/coverage.c)
#
# One build directory for each source of QEMU and set of flags: a change in the device's files
# compiles those, links, and no more. What comes out is kept by content, so that a VM that runs and
# another checkout each keep the program that belongs to them.

. "$(dirname "$0")/common.sh"

KEEP=6
DEVICE_DIR=$VIRT_DIR/qemu
DEVICES=$BUILD_DIR/configs/qemu-devices.mak
# Only what the virtual machine uses: of the devices those of configs/qemu-devices.mak, no tracing, and
# nothing for a debugger to read.
FLAGS=(
	--without-default-features
	--target-list=aarch64-softmmu
	--enable-tcg
	--enable-fdt=system
	--enable-plugins
	--disable-install-blobs
	--disable-docs
	--disable-debug-info
	--enable-trace-backends=nop
	--without-default-devices
	--with-devices-aarch64=mali
	--meson=/usr/bin/meson
)

device_files()
{
	local f

	for f in "$DEVICE_DIR"/mali-csf*.[ch] "$DEVICE_DIR/qemu.patch" "$DEVICES"; do
		[ ! -e "$f" ] || echo "$f"
	done
}

sync_qemu()
{
	local src=$1 tree=$2 f patches=()

	link_tree "$src" "$tree"
	[ ! -e "$DEVICE_DIR/qemu.patch" ] || patches=("$DEVICE_DIR/qemu.patch")
	stage_patches "$src" "$tree.stage" "${patches[@]}"
	mkdir -p "$tree.stage/hw/misc" "$tree.stage/configs/devices/aarch64-softmmu"
	cp "$DEVICES" "$tree.stage/configs/devices/aarch64-softmmu/mali.mak"
	for f in "$DEVICE_DIR"/mali-csf*.[ch]; do
		cp "$f" "$tree.stage/hw/misc/"
	done
	sync_stage "$src" "$tree" "$tree.stage"
}

configure_qemu()
{
	local tree=$1 out=$2

	[ ! -e "$out/.configured" ] || return 0
	rm -rf "$out"
	mkdir -p "$out"
	cd "$out"
	"$tree/configure" "${FLAGS[@]}"
	touch .configured
}

build_qemu()
{
	local tree=$1 out=$2

	ninja -C "$out" -j"$JOBS" qemu-system-aarch64 2>&1 | tee "$out/ninja.log"
	# QEMU's own files may make a compiler talk, ours may not. Once more, so that it says it again.
	if grep -q 'mali-csf.*warning:' "$out/ninja.log"; then
		touch "$tree"/hw/misc/mali-csf*.c
		echo "the compiler warns about the device"
		return 1
	fi
}

# The commands that have just built the device and the program, with a few flags more: the rest of
# QEMU is the same. Memory that QEMU moves for the device is checked as well, by the library.
sanitize_qemu()
{
	local out=$1 dest=$2 object line flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined"

	cd "$out"
	mkdir -p "$dest"
	ninja -t commands qemu-system-aarch64 | tail -n 1 >sanitized.link
	grep -o '[^ ]*/hw_misc_mali-csf[^ ]*\.o' sanitized.link | sort -u >sanitized.objects
	while read -r object; do
		line=$(ninja -t commands "$object" | tail -n 1)
		line=${line//"-MF $object.d -o $object"/"-MF sanitized.d -o ${object%.o}.sanitized.o"}
		sh -c "${line/ -O2 / -O1 -g $flags -fsanitize-coverage=trace-pc }"
	done <sanitized.objects
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fPIE -c -o sanitized-coverage.o "$DEVICE_DIR/qtest/coverage.c"
	line=$(sed 's,\(/hw_misc_mali-csf[^ ]*\)\.o,\1.sanitized.o,g; s, -o qemu-system-aarch64 , -o qemu-sanitized sanitized-coverage.o ,' \
		sanitized.link)
	sh -c "$line $flags"
	mv qemu-sanitized "$dest/sanitized"
}

main()
{
	local src id key dest tree out files program=qemu-system-aarch64

	src=$("$BUILD_DIR/sources.sh" qemu)
	id=$(source_id "$src")
	mapfile -t files < <(device_files)
	key=$(hash_text "$id" "${FLAGS[*]}" "$(hash_files "${files[@]}")")
	if [ "${1:-}" = sanitized ]; then
		program=sanitized
		key=$(hash_text "$key" "$(hash_files "$DEVICE_DIR"/qtest/coverage.[ch])")-sanitized
	fi
	dest=$CACHE/qemu/bin-$key
	if [ -e "$dest/$program" ]; then
		# What is in use is not old.
		touch -c "$dest"
		echo "$dest/$program"
		return
	fi

	need_tool gcc build-essential
	need_tool meson meson
	need_tool ninja ninja-build
	need_tool pkg-config pkg-config
	need_tool patch patch
	pkg-config --exists glib-2.0 || die "the library glib is missing: run 'make deps', or install the Debian package libglib2.0-dev"
	pkg-config --exists pixman-1 || die "the library pixman is missing: run 'make deps', or install the Debian package libpixman-1-dev"
	[ -e /usr/include/libfdt.h ] || die "the library libfdt is missing: run 'make deps', or install the Debian package libfdt-dev"
	lock qemu
	if [ -e "$dest/$program" ]; then
		echo "$dest/$program"
		return
	fi
	need_space 2
	tree=$CACHE/tree/qemu-$(hash_text "$src $(cat "$src/.complete" 2>/dev/null)")
	out=$CACHE/build/qemu-$(hash_text "$tree ${FLAGS[*]}")
	step "preparing QEMU" sync_qemu "$src" "$tree"
	# meson leaves a source tree whose build files changed in the middle of a configuration unfinished.
	step "configuring QEMU" configure_qemu "$tree" "$out"
	step "building QEMU" build_qemu "$tree" "$out"
	mkdir -p "$dest"
	if [ "$program" = sanitized ]; then
		step "building QEMU with sanitizers in its device" sanitize_qemu "$out" "$dest"
	else
		cp "$out/$program" "$dest/$program.new"
		mv "$dest/$program.new" "$dest/$program"
	fi
	prune "$CACHE/qemu/bin" "$KEEP"
	echo "$dest/$program"
}

[ $# -eq 0 ] || [ "$*" = sanitized ] || die "usage: qemu.sh [sanitized]"
main "$@"
