# SPDX-License-Identifier: MIT
# libGPUCounters in the guest, and a GPU that hangs, and goes. Time has to be instructions: then this happens
# between the first two samples of api-example, which takes ten of them in a second, however busy the host is.
. /root/tap.sh

# first_sample: runs api-example, and stops it right after its first sample. Its process is in $process,
# and descriptor 3 has what it prints from then on.
first_sample()
{
	rm -f /root/fifo
	mkfifo /root/fifo
	/root/bin/api-example >/root/fifo 2>&1 &
	process=$!
	exec 3</root/fifo
	sed -n '/^GPU Active cycles /q' <&3
	kill -STOP $process
}

# goes_on: lets it go on until its end
goes_on()
{
	kill -CONT $process
	cat <&3 >/root/rest
	wait $process
}

# kinds: what api-example has printed since its first sample, those of a kind together
kinds()
{
	sed 's/^GPU Active cycles .*/a value/; s/^Sample collection failure$/an error/' /root/rest | uniq
}

# A GPU that is up, so that it is asked for samples.
echo on >"$GPU/power/control"
mali-bench activity=1

first_sample
mali-bench hang=1
goes_on
is "a hang: api-example ends" $? 0
is "a hang: it tells of it, and goes on" \
	"$(kinds)" "an error
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

first_sample
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
goes_on
is "unplug: api-example ends" $? 0
is "unplug: it tells of it" "$(kinds)" "an error
Failed to stop accumulation"
for period in 0 2000000; do
	eval "wait \$until_$period"
	is "unplug, period $period: sampling ends with an error" "$? $(tail -n 1 /root/until.$period)" \
		"0 ended: No such device"
done
/root/bin/api-example >/root/out 2>&1
is "without a GPU it says so" "$? $(cat /root/out)" "255 Mali GPU device 0 is missing"
