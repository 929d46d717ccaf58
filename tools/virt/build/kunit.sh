#!/bin/bash
# SPDX-License-Identifier: MIT
# kunit.sh VERSION [TREE]   run the driver's KUnit suites with that kernel's kunit.py, in our QEMU, and print TAP. Uses
#                           our patched source, or TREE, a kernel tree that must not change meanwhile
#
# kunit.py starts from the kernel's default configuration, which builds far more than the tests need. We pass it
# allnoconfig and .kunitconfig instead, as one more kunitconfig.

. "$(dirname "$0")/common.sh"

[ $# -eq 1 ] || [ $# -eq 2 ] || die "usage: kunit.sh VERSION [TREE]"
version=$1
suites=drivers/gpu/drm/panthor/tests
build=$CACHE/check/kunit/$version${2:+-tree}

need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
need_tool flex flex
need_tool bison bison
need_tool bc bc
qemu=$("$BUILD_DIR/qemu.sh")
if [ $# -eq 2 ]; then
	tree=$2
else
	# Its source tree, too, is nobody else's for as long.
	lock "check-$version"
	tree=$("$BUILD_DIR/check-tree.sh" "$version")
fi
[ -e "$tree/$suites/.kunitconfig" ] || die "$suites/.kunitconfig is missing"
mkdir -p "$build"

lean_config()
{
	mkdir -p "$build/lean"
	# The machine's lines, which kunit.py adds, and what allnoconfig takes away.
	{
		grep -ho 'CONFIG_[A-Z0-9_]*=y' "$tree/tools/testing/kunit/qemu_configs/arm64.py"
		printf 'CONFIG_%s=y\n' EXPERT TTY PRINTK PRINTK_TIME BUG KALLSYMS \
			KUNIT_DEFAULT_ENABLED KUNIT_AUTORUN_ENABLED
		cat "$tree/$suites/.kunitconfig"
	} >"$build/lean/wanted"
	make -s -C "$tree" O="$build/lean" ARCH=arm64 CROSS_COMPILE="$CROSS" \
		KCONFIG_ALLCONFIG="$build/lean/wanted" allnoconfig
	put "$build/lean/.config" "$build/kunitconfig"
}

# kunit.py insists on every line of both.
step "configuring a kernel for KUnit (Linux $version)" lean_config

# A name of our own: results that are no longer the newest are removed in the end.
mkdir -p "$build/bin"
ln -f "$qemu" "$build/bin/qemu-system-aarch64" 2>/dev/null || cp "$qemu" "$build/bin/qemu-system-aarch64"
PATH=$build/bin:$PATH
status=0
rm -f "$build/out/test.log"
(
	cd "$tree"
	export PYTHONDONTWRITEBYTECODE=1
	nice ./tools/testing/kunit/kunit.py run --arch=arm64 --cross_compile="$CROSS" --jobs="$JOBS" \
		--build_dir="$build/out" --timeout=900 \
		--kunitconfig="$suites/.kunitconfig" --kunitconfig="$build/kunitconfig"
) >"$build/log" 2>&1 </dev/null || status=$?
[ -e "$build/out/test.log" ] || : >"$build/out/test.log"
# kunit.py's machine has one processor.
python3 "$VIRT_DIR/tests/lib/ktap.py" "$status" concurrent <"$build/out/test.log" && exit
[ "$status" -eq 0 ] || tail -n 100 "$build/log" | sed 's/^/# /'
exit 1
