# SPDX-License-Identifier: MIT
# libGPUCounters in the guest; what it was given is compared on the host.
. /root/tap.sh
. /root/trace.sh

panthor-perf list -x ';' | cut -d';' -f1-3 >/root/places

gpu-load -j 0 -t 3600 -p 150 --duty 60 -g 3 -q 2 >/dev/null 2>&1 &
load=$!
trace_begin
/root/bin/api-example >/root/printed 2>&1
is "api-example succeeds" $? 0
is "and prints its samples" "$(grep -c '^GPU Active cycles ' /root/printed)" 10
trace_to /root/trace.example
/root/bin/libgpucounters-record /root/record >/root/said 2>&1
is "the samplers of the device layer do as they should" "$? $(cat /root/said)" "0 "
trace_to /root/trace.all
trace_end
# The recorder does not tell of the session of api-example.
session=$(sed -n 's/.* panthor_perf_baseline: session=\([0-9]*\) .*/\1/p' /root/trace.example)
grep -v " session=$session " /root/trace.all >/root/trace.record
kill $load
wait $load 2>/dev/null

for test in counter-enumeration counter-sampler gpu-instance hwcpipe-double device-panthor-perf; do
	/root/bin/$test-test >/root/out 2>&1
	is "unit tests: $test" "$? $(tail -n 20 /root/out | grep -o 'All tests passed')" "0 All tests passed"
done
