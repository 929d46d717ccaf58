#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# MangoHud with our patch shows the load that panthor-perf tells, by one session for all its processes, as root and
# as an ordinary user; without library, permission, or GPU it is as before; and so is Debian's beside our kernel.
set -u
. "$(dirname "$0")/../lib/tap.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=27

if [ -z "${MANGOHUD_SRC:-}" ]; then
	echo "1..0 # SKIP set MANGOHUD_SRC to a checkout of MangoHud (clients/mangohud/README)"
	exit 0
fi

plan $((GUEST + 1 + 1))
if build=$("$CLIENTS/mangohud/build.sh" 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err"); then
	ok "MangoHud builds with our patch"
else
	not_ok "MangoHud builds with our patch" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
guest_script $GUEST mangohud -i -g g610 -t 1800 -r vulkan -a mangohud -a libcap2 -a libjson-c5 -a zlib1g \
	-f "$build:/root/mangohud" \
	-f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0" -f "$TESTS_DIR/guest/shown.sh" \
	-f "$VIRT_DIR/../../packaging/modprobe/panthor-perf.conf:/root/panthor-perf.conf"
