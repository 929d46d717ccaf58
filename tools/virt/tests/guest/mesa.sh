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
is "Mesa complains of nothing" "$(grep -v 'panvk is not a conformant' /root/err)" ""
is "nor does the kernel" "$(new_dmesg)" ""

# Three frames of triangles, a strip of them (GL), lines (GL), triangles with indices: the same number of
# primitives on every GPU, whatever instructions draw them.
primitives()
{
	mali-bench type=tiler index=0 counter=6 generated
}
before=$(primitives)
$program -n 3 clear draw >/root/out 2>&1
is "primitives" "$? $(($(primitives) - before))" \
	"0 $((3 * $([ "$program" = gl-work ] && echo $((1000 + 998 + 500 + 100)) || echo $((1000 + 100 + 100)))))"
