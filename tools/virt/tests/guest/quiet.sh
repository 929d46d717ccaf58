# SPDX-License-Identifier: MIT
# quiet.sh load|session|fault...: work, and work that is counted; a fault, of which the kernel does complain.
. /root/tap.sh

load()
{
	succeeds "work" gpu-load
}

session()
{
	succeeds "work whose counts are asked for" panthor-perf stat -o /dev/null -- gpu-load
	succeeds "periodic sessions beside work" perf-exact -a -n 6 -p 3 -s 400 -t 4 -u 5000 /root/record /root/trace
	succeeds "events of perf, of work" pmu-stat -n 40 -s 1 -- gpu-load
}

fault()
{
	# A hang of a suspended GPU would be one at boot, which is another thing.
	echo on >"$GPU/power/control"
	mali-bench hang=1
	gpu-load >/root/out 2>&1
	is "work of firmware that hangs is lost" $? 1
	has "the kernel complains of it" "$(complaints)" 'panthor.*CSG [0-9]* update request timedout'
}

for part; do
	$part
done
