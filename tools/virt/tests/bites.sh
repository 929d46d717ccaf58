#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# daily: all
# The virtual Mali is no kinder than a board: with a change of panthor that a board would punish
# (data/bites/*.patch) a test fails as that change says, and without it that test passes.
#
#   bites.sh NAME...   these alone
set -u
. "$(dirname "$0")/lib/tap.sh"

DIR=drivers/gpu/drm/panthor
bites=("${@/%/.patch}")
[ $# -gt 0 ] || bites=("$VIRT_DIR"/data/bites/*.patch)
bites=("${bites[@]/#*\//}")

# field BITE NAME: what its patch says
field()
{
	sed -n "s/^$2: //p" "$VIRT_DIR/data/bites/$1"
}

# run_test BITE CONFIG: its status; what it and the kernel say is in $SCRATCH/out
run_test()
{
	local options

	read -ra options <<<"$(field "$1" Options)"
	# shellcheck disable=SC2046
	"$VIRT_DIR/run" -k "$KERNEL" -c "$2" -m 1024 -t 300 "${options[@]}" -- $(field "$1" Test) >"$SCRATCH/out" 2>&1
}

plan $((1 + 2 * ${#bites[@]}))
# Only panthor is built anew, and of it what a patch has changed: files that are copied have no time of before.
export SERIES_TREE=$SCRATCH/tree
if tree=$("$VIRT_DIR/build/kernel.sh" tree "$KERNEL" 2>"$SCRATCH/err") &&
	mkdir -p "$SERIES_TREE/${DIR%/*}" "$SERIES_TREE/include/uapi" &&
	cp -r "$tree/$DIR" "$SERIES_TREE/$DIR" && cp -r "$tree/include/uapi/drm" "$SERIES_TREE/include/uapi/"; then
	ok "there is a source to change"
else
	not_ok "there is a source to change" "$(cat "$SCRATCH/err")"
	exit 1
fi
# No test of it runs here.
: >"$SERIES_TREE/$DIR/tests/Makefile"
for bite in "${bites[@]}"; do
	name=${bite%.patch}
	run_test "$bite" "$CONFIG"
	is "$name: without it, the test passes" $? 0
	if ! patch -d "$SERIES_TREE" -p1 -s -V never <"$VIRT_DIR/data/bites/$bite" >"$SCRATCH/out" 2>&1; then
		not_ok "$name: with it, the test fails" "the patch does not apply; it is to be made anew" "$(cat "$SCRATCH/out")"
		continue
	fi
	run_test "$bite" series
	status=$?
	if [ $status -ne 0 ] && grep -qE -e "$(field "$bite" Says)" "$SCRATCH/out"; then
		ok "$name: with it, the test fails"
	else
		not_ok "$name: with it, the test fails" "status $status, and nothing says: $(field "$bite" Says)" \
			"$(tail -n 60 "$SCRATCH/out")"
	fi
	patch -d "$SERIES_TREE" -p1 -R -s -V never <"$VIRT_DIR/data/bites/$bite" >/dev/null || exit 1
done
