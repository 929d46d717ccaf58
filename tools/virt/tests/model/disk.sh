#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# run --disk: a command runs in the system of a disk, which keeps what is written.
set -u
. "$(dirname "$0")/../lib/tap.sh"
PATH=$PATH:/usr/sbin:/sbin

plan 17

# vm [OPTION...] -- COMMAND...: leaves status, out, err
vm()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -t 120 "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
	status=$?
}

# wrong NAME PATTERN ARG...: 2 results. It is refused, and says so, and there is no machine.
wrong()
{
	local name=$1 pattern=$2

	shift 2
	vm "$@" -l "$SCRATCH/ledger" -- true
	is "$name: status" "$status" 2
	if grep -q -- "$pattern" "$SCRATCH/err" && [ ! -e "$SCRATCH/ledger" ]; then
		ok "$name: message"
	else
		not_ok "$name: message" "no line matches: $pattern" "$(cat "$SCRATCH/err")"
	fi
}

# The least of a system: busybox, which the machine has as well.
# shellcheck disable=SC2046
busybox=$("$VIRT_DIR/build/sources.sh" arm64 $(. "$VIRT_DIR/build/common.sh"; echo $ARM64_PACKAGES))/bin/busybox
mkdir -p "$SCRATCH/root/bin" "$SCRATCH/root/etc"
cp "$busybox" "$SCRATCH/root/bin/"
for name in cat ls mount sh uname; do
	ln -s busybox "$SCRATCH/root/bin/$name"
done
echo "of the disk" >"$SCRATCH/root/etc/issue"
mke2fs -q -t ext4 -d "$SCRATCH/root" "$SCRATCH/disk" 32M >/dev/null 2>&1
echo "of the host" >"$SCRATCH/file"

# What is built now is not said later.
"$VIRT_DIR/build/root.sh" "$KERNEL" "$CONFIG" >/dev/null 2>&1
vm --disk "$SCRATCH/disk" -f "$SCRATCH/file" -o "copy:$SCRATCH/copy" -o "/kept:$SCRATCH/kept" -- \
	sh -c 'cat /etc/issue file; echo written >/kept; cat file >copy; mount; gpu-load; exit 42'
is "a command's status" "$status" 42
is "nothing of ours is on standard error" "$(cat "$SCRATCH/err")" ""
is "its root is the disk's, its directory has what -f copied" "$(head -n 2 "$SCRATCH/out")" "$(printf 'of the disk\nof the host')"
is "the root is that disk" "$(awk '$3 == "/" { print $1, $5 }' "$SCRATCH/out")" "/dev/vda ext4"
is "the machine's programs are there, and its GPU" "$(grep -c ' 0 errors' "$SCRATCH/out")" 1
is "a file comes out of the machine's directory" "$(cat "$SCRATCH/copy")" "of the host"
is "and one of the disk's" "$(cat "$SCRATCH/kept")" "written"
is "the disk was closed" "$(e2fsck -fn "$SCRATCH/disk" 2>&1 >/dev/null | grep -v '^e2fsck'; dumpe2fs -h "$SCRATCH/disk" 2>/dev/null |
	sed -n 's/^Filesystem state: *//p; s/.*\(needs_recovery\).*/\1/p')" clean

vm --disk "$SCRATCH/disk" -- cat /kept
is "the disk keeps what was written" "$(cat "$SCRATCH/out") $status" "written 0"
vm --disk "$SCRATCH/disk" -p noload=1 -- sh -c 'echo more >/kept; nonesuch'
is "a command of the disk that is not there: 127" "$status" 127
is "the disk was closed then, too" "$(dumpe2fs -h "$SCRATCH/disk" 2>/dev/null | grep -c needs_recovery)" 0

wrong "no such disk" "No such file" --disk "$SCRATCH/missing"
wrong "a disk that is none" "is no image of ext4: 'mke2fs -t ext4' makes one" --disk "$SCRATCH/file"
CONFIG=plain wrong "a kernel without drivers for it" "add -c debian or -c stock" --disk "$SCRATCH/disk"
