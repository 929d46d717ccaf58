# SPDX-License-Identifier: MIT
# libGPUCounters in the guest; what it was given is compared on the host.
. /root/tap.sh
. /root/trace.sh

# first_sample COMMAND...: runs it, and stops it right after its first sample. Its process is in
# $process, all that it prints in /root/out, and descriptor 3 has what is to come.
first_sample()
{
	local line

	rm -f /root/fifo
	mkfifo /root/fifo
	"$@" >/root/fifo 2>&1 &
	process=$!
	exec 3</root/fifo
	: >/root/out
	while read -r line <&3; do
		echo "$line" >>/root/out
		case $line in
		'GPU Active cycles '*|sampling) break ;;
		esac
	done
	kill -STOP $process
}

# goes_on: lets it go on until its end
goes_on()
{
	kill -CONT $process
	cat <&3 >/root/rest
	cat /root/rest >>/root/out
	wait $process
}

# kinds: what api-example has printed since its first sample, those of a kind together
kinds()
{
	sed 's/^GPU Active cycles .*/a value/; s/^Sample collection failure$/an error/' /root/rest | uniq
}

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

# A GPU that is up, so that it is asked for samples.
echo on >"$GPU/power/control"
mali-bench activity=1

first_sample /root/bin/api-example
mali-bench hang=1
goes_on
is "a hang: api-example ends" $? 0
is "a hang: it tells of it, and goes on" \
	"$(kinds | tail -n 2)" "an error
a value"
for period in 0 2000000; do
	/root/bin/libgpucounters-record -e $period >/root/until.$period 2>&1 &
	eval "until_$period=\$!"
	until_true 60 grep -q sampling /root/until.$period
done
mali-bench hang=1
for period in 0 2000000; do
	if until_true 60 grep -q exact /root/until.$period; then
		ok "a hang, period $period: one sample is flagged, and others come"
	else
		not_ok "a hang, period $period: one sample is flagged, and others come" "$(cat /root/until.$period)"
	fi
done

first_sample /root/bin/api-example
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
goes_on
is "unplug: api-example ends" $? 0
is "unplug: it tells of it" "$(kinds | tail -n 2)" "an error
Failed to stop accumulation"
for period in 0 2000000; do
	eval "wait \$until_$period"
	is "unplug, period $period: sampling ends with an error" "$? $(tail -n 1 /root/until.$period)" \
		"0 ended: No such device"
done
/root/bin/api-example >/root/out 2>&1
is "without a GPU it says so" "$? $(cat /root/out)" "255 Mali GPU device 0 is missing"
