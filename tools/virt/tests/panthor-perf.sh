#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# panthor-perf against the real driver: what it prints is what the model has counted. The debug
# kernel has the driver's own tests; this one would tell nothing more there, very slowly.
set -u
. "$(dirname "$0")/lib/tap.sh"

plan $((3 * 37 + 5))

# Model, positions of shader cores, L2 slices.
guest_script 36 panthor-perf -- Mali-G610 "0 2 16 18" 4
guest_script 36 panthor-perf -g g710 -- Mali-G710 "0 2 4 6 16 20 24" 4
guest_script 36 panthor-perf -g g715 -- Mali-G715 "0 2 4 6 16 18 20 22" 4

# A kernel without counters, and no driver at all.
got=$("$VIRT_DIR/run" -k "$KERNEL" -c debian -- sh -c 'panthor-perf info 2>&1; echo $?
	panthor-perf stat -- touch /root/ran 2>&1; echo $?; ls /root/ran 2>&1')
case $got in
*"has no performance counters: build it with CONFIG_DRM_PANTHOR_PERF
1
"*"has no performance counters: build it with CONFIG_DRM_PANTHOR_PERF
1
"*"/root/ran: No such file or directory")
	ok "without support in the kernel, a clear message, and the command is not run"
	;;
*)
	not_ok "without support in the kernel, a clear message, and the command is not run" "$got"
	;;
esac

got=$("$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -p noload=1 -- sh -c '
	panthor-perf info 2>&1; echo $?
	panthor-perf list -g g610 | grep -c Mali; echo $?
	panthor-perf stat -e "" true >/dev/null 2>&1; echo $?
	panthor-perf info -d /dev/null 2>&1; echo $?')
{
	read -r message
	read -r status
	read -r listed
	read -r list_status
	read -r usage_status
	read -r wrong_device
	read -r wrong_status
} <<<"$got"
case $message in
"panthor-perf: no GPU with the panthor driver"*) ok "without a driver, a clear message" ;;
*) not_ok "without a driver, a clear message" "$got" ;;
esac
is "and a status" "$status $list_status $usage_status $wrong_status" "1 0 2 1"
[ "${listed:-0}" -gt 150 ] && ok "counters can be listed without a GPU" ||
	not_ok "counters can be listed without a GPU" "$got"
is "a node of another driver" "$wrong_device" \
	"panthor-perf: /dev/null is not a GPU with the panthor driver"
