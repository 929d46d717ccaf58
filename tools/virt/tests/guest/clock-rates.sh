# SPDX-License-Identifier: MIT
# clock-rates.sh RATE KERNEL: what panthor-perf says of a GPU whose clock runs at so many thousandths of its nominal
# rate, which is 100 MHz here.
. /root/tap.sh

rate=$1
kernel=$2

# near NAME GOT WANT PARTS: within so many thousandths
near()
{
	if awk -v got="$2" -v want="$3" -v parts="$4" \
		'BEGIN { d = (got - want) / want * 1000; exit !(got != "" && d <= parts && d >= -parts) }'; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3, within $4 thousandths" "$(cat "${5:-/dev/null}")"
	fi
}

# field KEY FILE: a number in JSON
field()
{
	tr -d '\n ' <$2 | grep -o "\"$1\":[0-9.]*" | head -n 1 | cut -d: -f2
}

for device in /sys/class/devfreq/*; do
	echo 100000000 >$device/max_freq
	echo 100000000 >$device/min_freq
done
hz=$(mali-bench core_real_hz)
is "the real rate" $hz $((rate * 100000))
text="the GPU runs at $((rate / 10)) MHz, the clock framework says 100 MHz"
line="
Clock: $text"
[ $rate -ne 1000 ] || text= line=

[ "$kernel" = 6.12 ] || echo 3 >$GPU/profiling
# One queue that is never empty.
gpu-load -g 1 -q 1 -k compute -s 100000 -j 0 -t 1000 --depth 16 --started /root/started >/root/load 2>&1 &
load=$!
until_true 60 [ -e /root/started ] || not_ok "gpu-load does not begin" "$(cat /root/load)"

panthor-perf stat -p 10ms -- sleep 0.5 >/root/stat 2>&1
is "stat" "$(grep -A 1 '^Mean' /root/stat | grep -v ^External)" "Mean frequency while active: $((rate / 10)) MHz$line"
panthor-perf stat -j -p 10ms -o /root/json -- sleep 0.5 2>/root/err
near "its JSON: the measured rate" "$(field measured_hz /root/json)" $hz 1 /root/json
is "the nominal one" "$(field nominal_hz /root/json)" 100000000
near "the mean frequency" "$(field active_hz /root/json)" $hz 1 /root/json
near "the load of a saturated GPU, of the time" "$(field of_time /root/json)" 1 5 /root/json
near "and of the cycles" "$(field of_cycles /root/json)" 1 5 /root/json
near "active cycles are all cycles, and no more" "$(field active_cycles /root/json)" "$(field cycles /root/json)" 5 /root/json

panthor-perf record -p 10ms -o /root/data -- sleep 0.5 2>/root/err
is "report" "$(panthor-perf report /root/data | grep -A 1 '^Mean' | grep -v ^External)" "Mean frequency while active: $((rate / 10)) MHz$line"
panthor-perf report --html /root/html /root/data
is "a page" "$(sed -n 's|.*<dt>Clock</dt><dd>\([^<]*\).*|\1|p' /root/html)" "$text"
is "top" "$(panthor-perf top --once -p 500ms | sed -n 's/^Clock *//p')" "$text"
panthor-perf export -p 100ms --textfile /root/prom 2>/root/err &
export=$!
until_true 60 grep -qs '^mali_gpu_active_frequency_hertz{' /root/prom
kill -INT $export
wait $export
near "export: the measured rate" "$(sed -n 's/^mali_gpu_active_frequency_hertz{.*} //p' /root/prom)" $hz 1
is "the nominal one" "$(sed -n 's/^mali_gpu_nominal_frequency_hertz{.*} //p' /root/prom)" 100000000
is "doctor" "$(panthor-perf doctor | sed -n 's/^ok  *clock  *//p')" \
	"${text:-the GPU runs at the frequency of the clock framework, 100 MHz}"
mount -t debugfs none /sys/kernel/debug 2>/dev/null
is "info --debug" "$(panthor-perf info --debug | grep '^cycles:')" "cycles: counted by the GPU"

# cycles: those of the client's jobs that have ended, as the kernel counts them
cycles()
{
	cat /proc/$load/fdinfo/* | sed -n 's/^drm-cycles-panthor:[^0-9]*//p' | head -n 1
}
# idle: the client has no jobs in flight
idle()
{
	before=$now
	now=$(cycles)
	usleep 100000
	[ "$now" = "$before" ]
}
if [ "$kernel" != 6.12 ]; then
	# Between two moments at which it has no jobs.
	kill -STOP $load
	until_true 60 idle
	start=$now
	cat >/root/work <<-END
		kill -CONT $load
		sleep 1
		kill -STOP $load
		sleep 1
	END
	panthor-perf record -p 10ms -e MaliGPUActiveCy -o /root/data -- sh /root/work 2>/root/err
	now=
	until_true 60 idle
	panthor-perf convert -c /root/data >/root/csv
	panthor-perf report -j /root/data >/root/json
	near "cycles in fdinfo are those in which the GPU was active" $((now - start)) "$(field active_cycles /root/json)" 1
	near "and, but for the idle time behind, those of its clock" $((now - start)) "$(awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /toplevel/) c = i; if ($i ~ /MaliGPUActiveCy/) a = i } next }
		$a > 0 { sum += $c } END { printf "%.0f", sum }' /root/csv)" 20
fi
kill -KILL $load
