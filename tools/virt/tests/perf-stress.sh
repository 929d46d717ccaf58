#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# Events of perf that many threads open, read, control and close, while the GPU is suspended, reset and
# unbound, CPUs come and go, and sessions count another set: the kernel has nothing to complain of, no
# count goes back, and in the end all counts as before.
set -u
. "$(dirname "$0")/lib/tap.sh"

models=g610
[ -z "${LONG:-}" ] || models="g610 g715"

# On 6.12 KASAN has reported that an event is used after perf has freed it, once, with groups and CPUs that
# go at the same time. All stacks were of perf's core, but it has not been shown that the PMU has no part
# in it. There they are tried one after the other.
forms="''"
results=1
seconds=$([ -n "${LONG:-}" ] && echo 60 || echo 4)
if [ "$KERNEL" = 6.12 ]; then
	forms="-G '-x hotplug'"
	results=2
	seconds=$((seconds / 2))
fi

# 6.12 warns of a GPU whose firmware dies while it is resumed, and once more when it goes like that.
[ "$KERNEL" != 6.12 ] || export VIRT_ALLOW_REPORT='panthor_device_(resume|unplug)'

plan $(($(wc -w <<<"$models") * (results + 1)))
for model in $models; do
	seed=$RANDOM
	echo "# seed $seed"
	in_guest $results "$model" -g "$model" -m 1024 -t 1800 -- sh -c "
		for without in $forms; do
			if out=\$(pmu-stress -t $seconds -s $seed \$without 2>&1); then
				echo \"ok - eight threads \$without\"
			else
				echo \"not ok - eight threads \$without\"
			fi
			echo \"\$out\"
		done"
done
