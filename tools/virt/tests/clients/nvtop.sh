#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# nvtop with our patch shows the load that panthor-perf tells, as root and as an ordinary user; without library,
# permission, or GPU it is as before; and so is Debian's own nvtop beside our kernel.
set -u
. "$(dirname "$0")/../lib/tap.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=18

if [ -z "${NVTOP_SRC:-}" ]; then
	echo "1..0 # SKIP set NVTOP_SRC to a checkout of nvtop (clients/nvtop/README)"
	exit 0
fi

plan $((2 * (GUEST + 1) + 1))
if build=$("$CLIENTS/nvtop/build.sh" 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err"); then
	ok "nvtop builds with our patch"
else
	not_ok "nvtop builds with our patch" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
for model in g610 g715; do
	guest_script $GUEST nvtop -i -g "$model" -m 1024 -t 1800 -r none:trixie -a nvtop -a libdrm2 -a libjson-c5 -a zlib1g \
		-f "$build/nvtop:/root/nvtop" -f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0" \
		-f "$TESTS_DIR/guest/shown.sh"
done
