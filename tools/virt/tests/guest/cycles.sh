# SPDX-License-Identifier: MIT
# cycles.sh TEST WHAT: a test of perf_time's, which says WHAT of cycles.
. /root/tap.sh

modprobe -q governor_userspace

# A selftest that skips ends well, too.
cycles()
{
	perf_time -t "$1" >/root/out 2>&1 && grep -qx "ok 1 cycles.$1" /root/out || { cat /root/out; return 1; }
}

succeeds "$2" cycles "$1"
