#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: plain
# The selftest that shows on a board what the driver has to rely on (the assumptions of data/faults.csv)
# passes on a GPU which keeps to them, and fails on one which does not.
set -u
. "$(dirname "$0")/../lib/tap.sh"

# published SWITCH=VALUE...: the selftest's output in $SCRATCH/out, and its status
published()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -m 1024 -t 2400 -- sh -c "
		mali-bench $* >/dev/null
		export PERF_WORK='gpu-load -j 64 >/dev/null'
		export PERF_BUSY='gpu-load -k clear -s 2048 -g 1 -q 1 -j 0 -t 3600 --started \$PERF_STARTED >/dev/null'
		perf_published" >"$SCRATCH/out" 2>"$SCRATCH/err"
}

# What each switch breaks; all of them disturb the totals of published.*.
switches="cores_late=1000000:busy.cores values_late=1000000:busy.own_counts data_late=1000000:busy.complete
	memory_late=1:busy.complete insert_late=1000000:busy.in_time double_samples=1000000:busy.once
	power_loses=1000000:published.after_idleness"

plan $((2 + $(wc -w <<<"$switches")))
published timestamp
is "a GPU that publishes in order: status" $? 0
passed=$(grep '^ok ' "$SCRATCH/out" | grep -vc SKIP)
is "a GPU that publishes in order: results, none skipped" "$passed" 9
[ "$passed" = 9 ] || sed 's/^/# /' "$SCRATCH/out" "$SCRATCH/err"
for pair in $switches; do
	switch=${pair%:*} test=${pair#*:}
	published "$switch"
	failed=$(sed -n 's/^not ok [0-9]* //p' "$SCRATCH/out")
	# busy.* tell assumptions apart, and after_idleness tells the one of power, if none of these has failed.
	[[ $test = busy.* ]] && failed=$(grep '^busy\.' <<<"$failed") || failed=$(grep -e '^busy\.' -e "^$test$" <<<"$failed")
	is "$switch is found, and what it is" "$failed" "$test"
	[ "$failed" = "$test" ] || sed 's/^/# /' "$SCRATCH/out" "$SCRATCH/err"
done
