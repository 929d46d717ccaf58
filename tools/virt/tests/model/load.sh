#!/bin/bash
# SPDX-License-Identifier: MIT
# long: debug
# daily: 6.12
# Models with all that models differ in complete their work under a panthor without a single patch of
# ours (products.sh has the others). The debug kernel has the one panthor it was built with, and takes
# its time: what does not depend on the model is tested there on two of them. (The rest of Linux 6.12
# has a fix of the timeout of jobs, see patches/: without it, ten VMs at once lose some on a busy
# machine.)
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/products.sh"

[ "$CONFIG" != plain ] || CONFIG=pristine

allow_known

if [ "$CONFIG" = pristine ]; then
	plan $((5 * 20))
else
	plan $((2 * 20 + 3 * 12))
fi
while read -r model arch cores iface _; do
	echo "# $model"
	if [ "$CONFIG" = pristine ] || [[ $model =~ ^g(610|715)$ ]]; then
		guest_script 19 load -g "$model" -- "$arch" "$cores" "$iface" </dev/null
	else
		guest_script 11 load -g "$model" -- "$arch" "$cores" "$iface" short </dev/null
	fi
done < <(products g610 g710 g715 g720 g725)
