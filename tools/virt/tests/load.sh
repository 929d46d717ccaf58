#!/bin/bash
# SPDX-License-Identifier: MIT
# long: debug
# Every model completes its work under a panthor without a single patch of ours. The debug kernel
# has the one panthor it was built with, and takes its time: what does not depend on the model is
# tested there on two of them. (The rest of Linux 6.12 has a fix of the timeout of jobs, see patches/:
# without it, ten VMs at once lose some on a busy machine.)
set -u
. "$(dirname "$0")/lib/tap.sh"

[ "$CONFIG" != plain ] || CONFIG=pristine

# A process may end while panthor has yet to look at a synchronization object that one of its groups
# has waited for. With the memory gone, panthor warns that it is; nothing is lost. On a machine that
# is busy with other things, that is one process in some thousands.
export VIRT_ALLOW_REPORT='drm_WARN_ON\((IS_ERR_OR_NULL\(bo\)|ret < 0)\)(.|\n)* sync_upd_work\+'

models="
g610 10.8.6 0x50005    1.5.0
g710 10.8.6 0x1110055  1.0.0
g715 11.8.0 0x550055   2.2.0
g720 12.8.7 0x10555    3.0.0
g725 13.8.3 0x111111   3.3.0
"

if [ "$CONFIG" = pristine ]; then
	plan $((5 * 20))
else
	plan $((2 * 20 + 3 * 12))
fi
while read -r model arch cores iface; do
	[ -n "$model" ] || continue
	echo "# $model"
	if [ "$CONFIG" = pristine ] || [[ $model =~ ^g(610|715)$ ]]; then
		guest_script 19 load -g "$model" -- "$arch" "$cores" "$iface" </dev/null
	else
		guest_script 11 load -g "$model" -- "$arch" "$cores" "$iface" short </dev/null
	fi
done <<<"$models"
