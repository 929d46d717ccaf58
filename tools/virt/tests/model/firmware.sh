#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# Firmware files: which boot, what they publish, and that a damaged one does not come up.
set -u
. "$(dirname "$0")/../lib/tap.sh"

fw=$SCRATCH/fw
mkdir "$fw"
if ! cc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$VIRT_DIR/qemu" -o "$SCRATCH/mkfw" "$VIRT_DIR/host/mkfw.c" \
	2>"$SCRATCH/cc"; then
	plan 1
	not_ok "mkfw compiles" "$(cat "$SCRATCH/cc")"
	exit 1
fi

# damage NAME OFFSET BYTE: the good file with one byte of it replaced
damage()
{
	cp "$fw/good" "$fw/$1"
	printf "%b" "\\x$3" | dd of="$fw/$1" bs=1 seek="$2" conv=notrunc status=none
}

"$SCRATCH/mkfw" -o "$fw/good"
"$SCRATCH/mkfw" -o "$fw/newer" -i 3.1.0
# Interfaces from 4.0 on have 64-bit endpoint requests, from 4.1 on GLB_STATE: 7.3 knows them.
"$SCRATCH/mkfw" -o "$fw/latest" -i 4.1.0
damage magic 0 00
damage code $((4096 + 2000)) fe
damage image 4096 00
head -c 6000 "$fw/good" >"$fw/short"

latest=4.1.0
count=21
if [ "$KERNEL" = 6.12 ]; then
	latest=
	count=18
fi
plan $((count + 7))

"$SCRATCH/mkfw" >/dev/null 2>"$SCRATCH/err"
is "mkfw without a file says how it is used" "$? $(cat "$SCRATCH/err")" "2 usage: mkfw -o FILE [-i X.Y.Z]"
for bad in 1.5 0.1.0 1.256.0 1.2.3.4; do
	"$SCRATCH/mkfw" -o "$SCRATCH/none" -i $bad >/dev/null 2>&1
	is "mkfw refuses interface $bad" "$? $(ls "$SCRATCH/none" 2>/dev/null)" "2 "
done
"$SCRATCH/mkfw" -o /nonexistent/file 2>"$SCRATCH/err"
is "mkfw says what it cannot write" "$? $(cat "$SCRATCH/err")" \
	"1 mkfw: /nonexistent/file: No such file or directory"

guest_script $count firmware -g g610 -p noload=1 -f "$fw:/root/fw" -- "$latest"
