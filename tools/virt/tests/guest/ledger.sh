# SPDX-License-Identifier: MIT
# ledger.sh RUNS SEED: counts of perf stat beside gpu-load, of other events in each run. What was counted
# goes to /root/runs, as pmu-stat prints it. Every other run is one of intervals, which are added up.
. /root/tap.sh

runs=$1
seed=$2
pmu=$(basename /sys/bus/event_source/devices/panthor_*)
# Work for longer than an interval, with rests between, and the GPU asleep in the end.
cat >/root/work.sh <<'END'
gpu-load -j 16 -p 60 >&2 || exit
until [ "$(cat $GPU/power/runtime_status)" = suspended ]; do
	usleep 10000
done
END
export GPU

panthor-perf info -j >/root/info
: >/root/runs
failed=
for run in $(seq $runs); do
	intervals=
	[ $((run % 2)) -eq 1 ] || intervals="-I 100"
	events=
	for config in $(pmu-stat -n 40 -s $((seed + run))); do
		events="$events -e $pmu/config=$config,name=c$config/"
	done
	until_true 60 pm_is suspended
	first=$(($(mali-bench -d epoch) + 1))
	if ! perf stat -a -x ';' $intervals -o /root/counts $events -- sh /root/work.sh >/root/out 2>&1; then
		failed="$failed run $run: $(cat /root/out /root/counts)"
		continue
	fi
	echo "run $first $(mali-bench -d epoch)" >>/root/runs
	# With intervals a time comes first. An event that was chosen twice is two lines.
	sed '/^#/d; /^$/d' /root/counts | awk -F';' -v time=${intervals:+1} '
		time && $1 != now { now = $1; line = 0 }
		{ sum[++line] += $(time + 1); name[line] = substr($(time + 3), 2) }
		END { for (i = 1; i in name; i++) printf "%s %d\n", name[i], sum[i] }' >>/root/runs
done
is "$runs runs of perf stat" "$failed" ""
