#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh guest       libGPUCounters with our patches, its example and its unit tests for arm64, static,
#                      and our recorder, which samples by its device layer
# build.sh sanitized   its unit tests for this machine, with AddressSanitizer and UBSan
#
# LIBGPUCOUNTERS_SRC names a checkout of libGPUCounters, which stays as it is. Prints the directory
# that the build is in; programs are in its bin. It is kept by the content of all that goes in.

. "$(dirname "$0")/../lib.sh"

RECORDER=$VIRT_DIR/guest/libgpucounters-record.cpp
SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"

# configure BUILD OPTION...
configure()
{
	cmake -S "$TREE" -B "$@" -DCMAKE_BUILD_TYPE= -DHWCPIPE_FRONTEND_ENABLE_TESTS=ON \
		-DHWCPIPE_ENABLE_RTTI=ON -DHWCPIPE_ENABLE_EXCEPTIONS=ON
}

# Each test, once it is built, is asked what it has, and whether it can report as junit does: this
# machine cannot run those of the guest, and nobody reads the answers.
configure_guest()
{
	local emulator=()

	[ -z "$CROSS" ] || emulator=(-DCMAKE_CROSSCOMPILING_EMULATOR="/bin/echo;junit")
	configure "$1" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
		-DCMAKE_C_COMPILER="${CROSS}gcc" -DCMAKE_CXX_COMPILER="${CROSS}g++" -DCMAKE_EXE_LINKER_FLAGS=-static \
		-DHWCPIPE_BUILD_EXAMPLES=ON -DHWCPIPE_FRONTEND_TESTS_SANITIZE=OFF "${emulator[@]}"
}

build()
{
	local kind=$1 out=$2 program

	TREE=$out/tree
	rm -rf "$out"
	mkdir -p "$out/bin"
	link_tree "$LIBGPUCOUNTERS_SRC" "$TREE"
	stage_patches "$LIBGPUCOUNTERS_SRC" "$out/stage" "$HERE"/patches/*.patch
	sync_stage "$LIBGPUCOUNTERS_SRC" "$TREE" "$out/stage"
	if [ "$kind" = guest ]; then
		configure_guest "$out/build"
	else
		configure "$out/build" -DCMAKE_CXX_FLAGS="$SANITIZE"
	fi
	cmake --build "$out/build" -j "$JOBS"
	if [ "$kind" = guest ]; then
		"${CROSS}g++" -std=c++14 -O2 -Wall -Wextra -Werror -static -I"$TREE/backend/device/include" \
			-I"$VIRT_DIR/host" -o "$out/bin/libgpucounters-record" "$RECORDER" \
			"$out/build/backend/device/libdevice.a"
		cp "$out/build/examples/api-example" "$out/bin"
	fi
	for program in "$out"/build/test/*-test; do
		cp "$program" "$out/bin"
	done
	rm -rf "$TREE" "$out/build"
}

kind=${1:-}
case $kind in
guest|sanitized) ;;
*) die "usage: build.sh guest|sanitized" ;;
esac
checkout LIBGPUCOUNTERS_SRC backend/device/CMakeLists.txt libGPUCounters
deps cmake g++ patch
need_space 1
key=$(hash_text "$kind" "$(source_id "$LIBGPUCOUNTERS_SRC")" "$(inputs)" \
	"$(hash_files "$RECORDER" "$VIRT_DIR/host/exactness.h")")
kept "libgpucounters/$kind" "$key" "building libGPUCounters ($kind)" build "$kind"
echo "$DEST"
