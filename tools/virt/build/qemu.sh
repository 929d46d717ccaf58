#!/bin/bash
# SPDX-License-Identifier: MIT
# qemu.sh              build QEMU with the virtual Mali, and print the path of the program
# qemu.sh sanitized    the same, with the device compiled with ASan, UBSan, and coverage feedback for a fuzzer
#                      (qtest/coverage.c)
# qemu.sh covered      the same, with the device compiled for gcov
#
# There is one build directory for each QEMU source and set of flags, so a change of the device's files compiles only
# those, and links.
# Results are stored by content: a running VM and other checkouts keep their own program.

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
	# For QEMU of other versions than Debian's, too.
	PATCH_FUZZ=2 stage_patches "$src" "$tree.stage" "${patches[@]}"
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

# again OUT DEST KIND FLAGS COMPILE-FLAGS [OBJECT]: the commands that have just built the device and the program, with a
# few flags more: the rest of QEMU is the same. A program of that name.
again()
{
	local out=$1 dest=$2 kind=$3 flags=$4 compile=$5 more=${6:-} object line

	cd "$out"
	mkdir -p "$dest"
	ninja -t commands qemu-system-aarch64 | tail -n 1 >"$kind.link"
	grep -o '[^ ]*/hw_misc_mali-csf[^ ]*\.o' "$kind.link" | sort -u >"$kind.objects"
	while read -r object; do
		line=$(ninja -t commands "$object" | tail -n 1)
		line=${line//"-MF $object.d -o $object"/"-MF $kind.d -o ${object%.o}.$kind.o"}
		sh -c "${line/ -O2 / $flags $compile }"
	done <"$kind.objects"
	line=$(sed "s,\\(/hw_misc_mali-csf[^ ]*\\)\\.o,\\1.$kind.o,g; s, -o qemu-system-aarch64 , -o qemu-$kind $more ," "$kind.link")
	sh -c "$line $flags"
	mv "qemu-$kind" "$dest/$kind"
}

# Memory that QEMU moves for the device is checked as well, by the library.
make_sanitized()
{
	(cd "$1" && gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fPIE -c -o sanitized-coverage.o "$DEVICE_DIR/qtest/coverage.c")
	again "$1" "$2" sanitized "-fsanitize=address,undefined -fno-sanitize-recover=undefined" \
		"-O1 -g -fsanitize-coverage=trace-pc" sanitized-coverage.o
}

# With what gcov wants to know of it.
make_covered()
{
	again "$1" "$2" covered --coverage -O0
	find "$1" -name 'hw_misc_mali-csf*.covered.gcno' -exec cp -t "$2" {} +
}

main()
{
	local src id key dest tree out files program=qemu-system-aarch64

	src=$("$BUILD_DIR/sources.sh" qemu)
	id=$(source_id "$src")
	mapfile -t files < <(device_files)
	key=$(hash_text "$id" "${FLAGS[*]}" "$(hash_files "${files[@]}")")
	if [ $# -gt 0 ]; then
		program=$1
		key=$(hash_text "$key" "$(hash_files "$DEVICE_DIR"/qtest/coverage.[ch])")-$1
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
	if [ $# -gt 0 ]; then
		step "building QEMU with its device $program" "make_$program" "$out" "$dest"
	else
		cp "$out/$program" "$dest/$program.new"
		mv "$dest/$program.new" "$dest/$program"
	fi
	prune "$CACHE/qemu/bin" "$KEEP"
	echo "$dest/$program"
}

[[ $* == @(|sanitized|covered) ]] || die "usage: qemu.sh [sanitized|covered]"
main "$@"
