#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: debug
# daily: all
# What a fuzzer of calls has found worth keeping (guest/fuzz-ioctl-corpus.h), once more, on a kernel that checks.
#   fuzz-ioctl.sh -t SECONDS   looks for more, from where it was left (make fuzz-ioctl)
#   fuzz-ioctl.sh -m           makes the corpus of what was found on each kernel, without what others reach as well
set -u
. "$(dirname "$0")/../lib/tap.sh"

STATE=${XDG_CACHE_HOME:-$HOME/.cache}/panthor-perf/fuzz-ioctl
FOUND=$STATE/$KERNEL
# A machine of its own each time: what one has been through does not excuse another.
TURN=600
allow_known

# fuzz OPTION...: its output in $SCRATCH/out
fuzz()
{
	mkdir -p "$STATE"
	touch "$FOUND"
	"$VIRT_DIR/run" -k "$KERNEL" -c debug -m 1024 -t $((${seconds:-0} + 3600)) -f "$FOUND:/root/found" -- \
		fuzz-ioctl "$@" /root/found >"$SCRATCH/out" 2>"$SCRATCH/err"
}

case ${1:-} in
'')
	plan 3
	in_guest 2 corpus -m 1024 -t 3600 -- fuzz-ioctl -r
	;;
-t)
	left=$2
	seed "$(date +%s)"
	while [ "$left" -gt 0 ]; do
		seconds=$((left < TURN ? left : TURN))
		fuzz -t "$seconds" -s "$((SEED + left))"
		status=$?
		sed -n 's/^new //p' "$SCRATCH/out" >>"$FOUND"
		if [ $status -ne 0 ] || grep -q '^failed' "$SCRATCH/out"; then
			{ grep -B 1 '^failed' "$SCRATCH/out" || grep '^try' "$SCRATCH/out" | tail -n 1; } | tee "$STATE/failed-$(date +%s)"
			tail -n 60 "$SCRATCH/err"
			echo "status $status: the input above; it is in $STATE"
			exit 1
		fi
		grep '^# in all' "$SCRATCH/out" | sed "s/^# in all: /$(date -I) /" | tee -a "$STATE/log-$KERNEL"
		left=$((left - seconds))
	done
	awk '{ n += $2 } END { print n " inputs so far, none of them failed: " FILENAME }' "$STATE/log-$KERNEL"
	;;
-m)
	for KERNEL in 6.12 7.3; do
		FOUND=$STATE/$KERNEL
		fuzz -m || { tail -n 60 "$SCRATCH/err"; exit 1; }
		sed -n 's/^new \(.*\)/"\1",/p' "$SCRATCH/out" >>"$SCRATCH/corpus"
	done
	{
		echo '/* SPDX-License-Identifier: MIT */'
		sort -u "$SCRATCH/corpus"
	} >"$VIRT_DIR/guest/fuzz-ioctl-corpus.h"
	wc -l "$VIRT_DIR/guest/fuzz-ioctl-corpus.h"
	;;
esac
