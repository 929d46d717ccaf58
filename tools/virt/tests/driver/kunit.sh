#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver's KUnit suites, in its module, in the VM on the kernels of all other tests.
set -u
. "$(dirname "$0")/../lib/tap.sh"

"$VIRT_DIR/run" -v -t 1800 -k "$KERNEL" -c "$CONFIG" -p noload=1 -f "$TESTS_DIR/guest/kunit.sh:/root/kunit.sh" -- \
	sh /root/kunit.sh >"$SCRATCH/log" 2>"$SCRATCH/err"
status=$?
python3 "$TESTS_DIR/lib/ktap.py" "$status" <"$SCRATCH/log" >"$SCRATCH/tap"
result=$?
cat "$SCRATCH/tap"
[ "$result" -eq 0 ] || tail -n 100 "$SCRATCH/err" | sed 's/^/# /'
exit $result
