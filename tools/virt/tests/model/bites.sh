#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: plain
# daily: all
# The virtual Mali is no kinder than a board: with a change of panthor that a board would punish
# (data/bites/*.patch) a test fails as that change says, and without it that test passes. And what panthor
# and panthor-perf say of firmware that offers no counters, which takes such a change as well.
#
#   bites.sh NAME...   these changes alone
set -u
. "$(dirname "$0")/../lib/tap.sh"

DIR=drivers/gpu/drm/panthor
bites=("${@/%/.patch}")
[ $# -gt 0 ] || bites=("$VIRT_DIR"/data/bites/*.patch)
bites=("${bites[@]/#*\//}")
for bite in "${bites[@]}"; do
	if ! [ -e "$VIRT_DIR/data/bites/$bite" ]; then
		echo "error: there is no change ${bite%.patch}: $(ls "$VIRT_DIR/data/bites" | sed 's/\.patch$//' | paste -sd ' ')" >&2
		exit 2
	fi
done

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

# change OPTION FILE: of the source, by a patch
change()
{
	patch -d "$SERIES_TREE" -p1 -s -F0 -V never "$1" <"$VIRT_DIR/data/$2" >"$SCRATCH/out" 2>&1 && return
	not_ok "${2##*/}: it applies" "it is to be made anew" "$(cat "$SCRATCH/out")"
	exit 1
}

plan $((6 + 2 * ${#bites[@]}))
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
	change -N "bites/$bite"
	run_test "$bite" series
	status=$?
	if [ $status -ne 0 ] && grep -qE -e "$(field "$bite" Says)" "$SCRATCH/out"; then
		ok "$name: with it, the test fails"
	else
		not_ok "$name: with it, the test fails" "status $status, and nothing says: $(field "$bite" Says)" \
			"$(tail -n 60 "$SCRATCH/out")"
	fi
	change -R "bites/$bite"
done

change -N no-counters.patch
aarch64-linux-gnu-gcc -std=gnu11 -static -O1 -Wall -Wextra -Werror -o "$SCRATCH/perf-off" \
	"$VIRT_DIR/guest/clients/perf-off.c" || exit 1
"$VIRT_DIR/run" -k "$KERNEL" -c series -f "$SCRATCH/perf-off:/root/perf-off" -- sh -c '
	gpu-load >/dev/null && /root/perf-off && panthor-perf stat true
	echo "status: $?"
	panthor-perf doctor | grep "^to do  *firmware"
	ls /sys/bus/event_source/devices | grep -c panthor' >"$SCRATCH/out" 2>"$SCRATCH/err"
is "no counters: there is nothing in the query but sizes" "$(grep '^query of 64' "$SCRATCH/out")" \
	"query of 64 bytes: 1=56 2=24 11=56"
is "no counters: SETUP" "$(grep '^command 0' "$SCRATCH/out")" "command 0: good, Operation not supported"
is "no counters: panthor-perf, whose status is 4" "$(grep '^status' "$SCRATCH/out") $(grep -c 'no performance counters' "$SCRATCH/err")" \
	"status: 4 1"
is "no counters: and doctor, which names firmware" \
	"$(grep -c '^to do .*firmware .*no counters that the driver supports' "$SCRATCH/out")" 1
is "no counters: there is no PMU" "$(tail -n 1 "$SCRATCH/out")" 0
[ -s "$SCRATCH/out" ] || sed 's/^/# /' "$SCRATCH/err"
