# SPDX-License-Identifier: MIT
# perf-metrics.sh PHASE...: leaves what perf lists in /root/list.json, and what it makes of two seconds of
# each phase of gpu-load, and of a rest, in /root/PHASE.json.
. /root/tap.sh

if perf list -j >/root/list.json 2>/root/err; then
	ok "perf list"
else
	not_ok "perf list" "$(cat /root/err)"
fi
for phase; do
	if perf stat -M mali_topdown_l1,mali_topdown_l2 -a -j -I 1000 -o /root/$phase.json -- \
		gpu-load --phase $phase -t 2.5 >/root/out 2>&1; then
		ok "phase $phase"
	else
		not_ok "phase $phase" "$(cat /root/out)"
	fi
done
