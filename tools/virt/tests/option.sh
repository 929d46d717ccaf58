#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# Properties of the model, as the guest sees them; a client that is not ours.
set -u
. "$(dirname "$0")/lib/tap.sh"

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
	plan 44
	none=dma-coherent=0
	coherent=dma-coherent=1
else
	plan 47
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

# Nothing of ours goes into this client, and it is not in the image.
if ! aarch64-linux-gnu-gcc -std=gnu11 -static -O1 -Wall -Wextra -Werror -o "$SCRATCH/raw-client" \
	"$TESTS_DIR/raw-client.c" 2>"$SCRATCH/cc"; then
	not_ok "raw-client compiles" "$(cat "$SCRATCH/cc")"
	exit 1
fi
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -f "$SCRATCH/raw-client:/root/raw-client" \
	-- /root/raw-client >"$SCRATCH/out" 2>"$SCRATCH/err"
is "a client of no library's: status" $? 0
is "a client of no library's: result" "$(cat "$SCRATCH/out")" "3735928559 + 1 = 3735928560"
[ -s "$SCRATCH/out" ] || sed 's/^/# /' "$SCRATCH/err"
