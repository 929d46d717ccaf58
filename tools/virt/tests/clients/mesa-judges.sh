#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Programs of others on Mesa with our patches: piglit's tests of GL_AMD_performance_monitor, and apitrace, which lists and
# records the counters of a trace that was made here.
set -u
. "$(dirname "$0")/../lib/tap.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=10

plan $((2 * (GUEST + 1) + 1))
if build=$("$CLIENTS/mesa/build.sh" 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err") &&
	debian=$("$VIRT_DIR/build/sources.sh" debian trixie piglit -- python3 python3-mako python3-six mesa-libgallium libegl1 \
		libgbm1 libvulkan1 libx11-6 libwayland-client0 2>"$SCRATCH/err"); then
	ok "Mesa builds with our patches"
else
	not_ok "Mesa builds with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
# Two gigabytes of tests that need no program
rm -rf "$debian"/usr/lib/aarch64-linux-gnu/piglit/generated_tests
mkdir "$SCRATCH/piglit"
cp "$debian"/usr/lib/aarch64-linux-gnu/piglit/bin/amd_performance_monitor_{api,measure} "$SCRATCH/piglit"
for file in piglit/lib/libpiglitutil{,_gl} lib{Xext,waffle-1,wayland-egl,xcb-dri2,xkbcommon}; do
	cp -L "$debian/usr/lib/aarch64-linux-gnu/$file".so.? "$SCRATCH/piglit"
done
for model in g610 g310; do
	guest_script $GUEST mesa-judges -i -g "$model" -m 1536 -t 1800 -r gl -a apitrace -a libgl1 -a libudev1 -a libjson-c5 \
		-f "$SCRATCH/piglit:/root/piglit" -f "$build:/root/mesa" \
		-f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0"
done
