#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# Events of perf that many threads open, read, control and close, while the GPU is suspended, reset and
# unbound, CPUs come and go, and sessions count another set: the kernel has nothing to complain of, no
# count goes back, and in the end all counts as before.
set -u
. "$(dirname "$0")/lib/tap.sh"

models=g610
seconds=2
if [ -n "${LONG:-}" ]; then
	models="g610 g715"
	seconds=30
fi

# 6.12 warns of a GPU whose firmware dies while it is resumed, and once more when it goes like that.
[ "$KERNEL" != 6.12 ] || export VIRT_ALLOW_REPORT='panthor_device_(resume|unplug)'

plan $(($(wc -w <<<"$models") * 3))
for model in $models; do
	seed=$RANDOM
	echo "# seed $seed"
	# Groups and CPUs that go are too much for perf itself.
	in_guest 2 "$model" -g "$model" -m 1024 -t 1800 -- sh -c "
		for without in -G '-x hotplug'; do
			if out=\$(pmu-stress -t $seconds -s $seed \$without 2>&1); then
				echo \"ok - eight threads, \$without\"
			else
				echo \"not ok - eight threads, \$without\"
			fi
			echo \"\$out\"
		done"
done
