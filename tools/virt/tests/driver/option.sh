#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: 6.12
# Properties of the model, as the guest sees them; a client that is not ours; a panthor that is built
# without counters, and one without its PMU.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# try WANT,... RUN-OPTION...
try()
{
	local want

	IFS=, read -ra want <<<"$1"
	shift
	guest_script $((2 + ${#want[@]})) option "$@" -- "${want[@]}"
}

# From 7.3 on the driver says which protocol is in use: 0 ACE-Lite, 31 none.
if [ "$KERNEL" = 6.12 ]; then
	plan 53
	none=dma-coherent=0
	coherent=dma-coherent=1
else
	plan 56
	none=dma-coherent=0,selected_coherency=31
	coherent=dma-coherent=1,selected_coherency=0
fi

try "$none,counter_hz=62500000,csg_slots=8,cs_slots=8,shader_count=4,l2_slices=4,name=Mali-G610" \
	-g g610
try "$coherent,csg_slots=8" -g g610 -p coherent=true
try "$coherent" -g g715 -p coherent=true
try counter_hz=24000000,name=Mali-G710 -g g710 -p cntfrq=24000000
try shader_present=0x8000000000000001,shader_count=2 -g g710 -p shader_present=0x8000000000000001
try shader_present=0x1,shader_count=1,csg_slots=3,cs_slots=8 -g g610 -p shader_present=0x1 -p csgs=3
try csg_slots=12,cs_slots=16,l2_slices=16 -g g725 -p csgs=12 -p streams=16 -p l2_slices=16

# compile_client NAME: a client into which nothing else of ours goes, and which is not in the image
compile_client()
{
	aarch64-linux-gnu-gcc -std=gnu11 -static -O1 -Wall -Wextra -Werror -o "$SCRATCH/$1" "$VIRT_DIR/guest/clients/$1.c" \
		2>"$SCRATCH/cc" && return
	not_ok "$1 compiles" "$(cat "$SCRATCH/cc")"
	exit 1
}

# run_client CONFIG NAME
run_client()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$1" -f "$SCRATCH/$2:/root/$2" -- "/root/$2" >"$SCRATCH/out" 2>"$SCRATCH/err"
}

compile_client raw-client
run_client "$CONFIG" raw-client
is "a client of no library's: status" $? 0
is "a client of no library's: result" "$(cat "$SCRATCH/out")" "3735928559 + 1 = 3735928560"
[ -s "$SCRATCH/out" ] || sed 's/^/# /' "$SCRATCH/err"

# Built without DRM_PANTHOR_PERF, panthor works, says that there are no blocks, and what a sample
# without any would be: headers of 56 and 24 bytes, 56 in all. Every command ends alike.
CONFIG=noperf try name=Mali-G610 -g g610
compile_client perf-off
run_client noperf perf-off
is "without counters: status" $? 0
is "without counters: what the query and the ioctl say" "$(cat "$SCRATCH/out")" "size of the query: 64
query of 44 bytes: 1=56 2=24
query of 64 bytes: 1=56 2=24 11=56
$(for cmd in 0 1 2 3 4 5; do
	echo "command $cmd: Operation not supported, Operation not supported"
done)"
[ -s "$SCRATCH/out" ] || sed 's/^/# /' "$SCRATCH/err"

# Built without DRM_PANTHOR_PERF_PMU, counters are what they are, and perf knows nothing of them.
"$VIRT_DIR/run" -k "$KERNEL" -c nopmu -- sh -c '
	echo "PMUs: $(ls /sys/bus/event_source/devices | grep -c panthor)"
	perf_sample >/root/out 2>&1
	echo "status: $?"
	grep "^# Totals:" /root/out' >"$SCRATCH/out" 2>"$SCRATCH/err"
is "without a PMU: status" $? 0
is "without a PMU: there is none, and sessions work" "$(head -n 2 "$SCRATCH/out")" "PMUs: 0
status: 0"
is "without a PMU: no test of sessions is skipped" "$(grep -c 'fail:0 xfail:0 xpass:0 skip:0 error:0' "$SCRATCH/out")" 1
[ -s "$SCRATCH/out" ] || sed 's/^/# /' "$SCRATCH/err"
