#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# daily: debug 6.12-rt 7.3-rt 7.3-16k
# Events of perf that many threads open, read, control and close, while the GPU is suspended, reset and
# unbound, CPUs come and go, and sessions count another set: the kernel has nothing to complain of, no
# count goes back, and in the end all counts as before.
set -u
. "$(dirname "$0")/../lib/tap.sh"

models=g610
[ -z "${LONG:-}" ] || models="g610 g715"
seconds=$([ -n "${LONG:-}" ] && echo 60 || echo 4)

allow_known

plan $(($(wc -w <<<"$models") * 2))
for model in $models; do
	in_guest 1 "$model" -g "$model" -m 1024 -t 1800 -- sh -c "
		if out=\$(pmu-stress -t $seconds -s $SEED 2>&1); then
			echo 'ok - eight threads'
		else
			echo 'not ok - eight threads'
		fi
		echo \"\$out\""
done
