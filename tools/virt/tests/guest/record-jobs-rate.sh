# SPDX-License-Identifier: MIT
# Jobs as fast as they come, for a minute: none is lost, or it is told.
. /root/tap.sh
cd /root || exit

panthor-perf record --jobs -p 100ms -e MaliGPUActiveCy -o data -- gpu-load -m -j 0 -t 60 -k none -g 2 -q 4 --depth 16 >out 2>err
is "it is recorded, with jobs" "$? $(grep -c '^[0-9,]* jobs\.$' err)" "0 1"
jobs=$(sed -n 's/^jobs=//p' out)
recorded=$(sed -n 's/^\([0-9,]*\) jobs\.$/\1/p' err | tr -d ,)
sed 's/^/# /' err
if [ "${jobs:-0}" -ge 600000 ]; then
	ok "there are 10,000 a second"
else
	not_ok "there are 10,000 a second" "got:  $jobs in 60 s" "$(cat out)"
fi

# total KEY: of what the report says of lost events, for all CPUs
total()
{
	tr -d ' \n' <report | grep -o '"gaps":\[{[^]]*\]' | grep -o "\"$1\":[0-9]*" |
		awk -F: '{ sum += $2 } END { print sum + 0 }'
}

if grep -q '^The kernel lost trace events [0-9,]* times\{0,1\} (' err; then
	panthor-perf report -j data >report
	gaps=$(total gaps) uncounted=$(total uncounted) lost=$(total lost)
	if [ "${recorded:-0}" -le "$jobs" ] && [ $gaps -ge 1 ] &&
		{ [ $uncounted -ge 1 ] || [ $lost -ge $((jobs - ${recorded:-0})) ]; }; then
		ok "jobs are missing, and it is told"
	else
		not_ok "jobs are missing, and it is told" "$jobs jobs, $recorded recorded" \
			"gaps in the report: $gaps, of which $uncounted have no number of lost events" \
			"lost events of the others: $lost"
	fi
else
	is "each is there" "$recorded" "$jobs"
fi
