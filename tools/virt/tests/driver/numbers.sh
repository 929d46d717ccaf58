#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain stock
# All numbers of panthor's interface but two are taken, or free, as they are without our patches: the
# driver's version, types of queries, ioctls. Programs built for a later panthor go by these: they are
# refused what this kernel does not have.
set -u
. "$(dirname "$0")/../lib/tap.sh"

case $CONFIG in
stock) kinds="debian stock" ;;
*) kinds="pristine $CONFIG noperf" ;;
esac

# What the two that are ours answer: a size, what there is to count, and without counters no command.
ours="query 0x3ffffff0
answer 0x3ffffff0
ioctl 0x9c"

plan $(($(wc -w <<<"$kinds") * 3 - 1))
aarch64-linux-gnu-gcc -std=gnu11 -static -O1 -Wall -Wextra -Werror -o "$SCRATCH/numbers" \
	"$VIRT_DIR/guest/clients/numbers.c" || exit 1
first=${kinds%% *}
for kind in $kinds; do
	"$VIRT_DIR/run" -k "$KERNEL" -c "$kind" -f "$SCRATCH/numbers:/root/numbers" -- /root/numbers \
		>"$SCRATCH/$kind" 2>"$SCRATCH/err"
	is "$kind: status" $? 0
	[ -s "$SCRATCH/$kind" ] || sed 's/^/# /' "$SCRATCH/err"
	case $kind in
	"$first") want="Invalid argument, Invalid argument, Invalid argument" ;;
	noperf) want="64 bytes, good, Operation not supported" ;;
	*) want="64 bytes, good, good" ;;
	esac
	is "$kind: our numbers" "$(while read -r number; do
		sed -n "s/^$number: //p" "$SCRATCH/$kind"
	done <<<"$ours" | paste -sd, | sed 's/,/, /g')" "$want"
	[ "$kind" = "$first" ] || is "$kind: all other numbers are those of $first" \
		"$(diff "$SCRATCH/$first" "$SCRATCH/$kind" | grep '^[<>]' | grep -vFf <(sed 's/$/:/' <<<"$ours"))" ""
done
