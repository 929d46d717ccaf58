# SPDX-License-Identifier: MIT
# Mesa on the virtual Mali: PROGRAM RENDERER RESET-STATUS [SCENE...]. No perf interface is needed.
. /root/tap.sh

program=$1
renderer=$2
reset=$3
shift 3

new_dmesg >/dev/null
$program -n 3 "$@" >/root/out 2>/root/err
is "the status" $? 0
has "the renderer" "$(head -n 1 /root/out)" "^renderer $renderer"
is "no scene fails" "$(grep -A 1 '^not ok' /root/out)" ""
if [ "$(grep -c '^ok - ' /root/out)" -ge $(($# ? $# : 10)) ]; then
	ok "all of them have been drawn"
else
	not_ok "all of them have been drawn" "$(cat /root/out)"
fi
is "the reset status" "$(sed -n 's/^reset status //p' /root/out)" "$reset"
is "Mesa complains of nothing" "$(cat /root/err)" ""
# A host that is busy makes the kernel speak of its timers.
is "nor does the kernel" "$(new_dmesg | grep -v 'hrtimer: interrupt took')" ""
