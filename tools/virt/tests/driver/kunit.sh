#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver's KUnit suites, in its module, in the VM on the kernels of all other tests; and in LONG by the
# kernel's own kunit.py, on a small kernel that is built for this alone. "make kunit" does that on both.

set -u
. "$(dirname "$0")/../lib/tap.sh"

if [ -n "${LONG:-}" ] && [ "$CONFIG $KERNEL" = "plain 7.3" ]; then
	exec "$VIRT_DIR/build/kunit.sh" "$KERNEL"
fi

"$VIRT_DIR/run" -v -k "$KERNEL" -c "$CONFIG" -p noload=1 -f "$TESTS_DIR/guest/kunit.sh:/root/kunit.sh" -- \
	sh /root/kunit.sh >"$SCRATCH/log" 2>"$SCRATCH/err"
status=$?
python3 "$TESTS_DIR/lib/ktap.py" "$status" <"$SCRATCH/log" >"$SCRATCH/tap"
result=$?
cat "$SCRATCH/tap"
[ "$result" -eq 0 ] || tail -n 100 "$SCRATCH/err" | sed 's/^/# /'
exit $result
