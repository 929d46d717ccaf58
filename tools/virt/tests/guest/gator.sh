# SPDX-License-Identifier: MIT
# gatord in the guest, as it is and with our patches, with one processor. What it has counted is compared on the host.
. /root/tap.sh

export GPU
name=$(basename "$GPU")
pmu=$(basename /sys/bus/event_source/devices/panthor_*)

# capture NAME GATORD COMMAND...: a local capture of the counters of NAME.xml while COMMAND runs; $status
capture()
{
	local capture=$1 gatord=$2

	shift 2
	timeout 600 $gatord -S yes -c "/root/$capture.xml" -o "/root/$capture.apc" -A "$@" >/root/said 2>&1
	status=$?
}

# captured NAME FIRST: for the host, with the epochs from FIRST on
captured()
{
	mkdir -p /root/captures
	echo "$2 $(mali-bench -d epoch)" >"/root/captures/$1.epochs"
	cp "/root/$1.apc/0000000000" "/root/captures/$1.data"
	cp "/root/$1.apc/captured.xml" "/root/captures/$1.xml"
}

# ended NAME: the capture has ended by itself: as ever, or with an error that is told
ended()
{
	if [ $status = 0 ] || { [ $status -lt 124 ] && grep -q '^\(ERROR\|FATAL\): ' /root/said; }; then
		ok "$1: the capture ends ($status)"
	else
		not_ok "$1: the capture ends" "status $status" "$(tail -n 40 /root/said)"
	fi
}

# configuration: the counters of standard input
configuration()
{
	echo '<?xml version="1.0" encoding="UTF-8"?>'
	echo '<configurations revision="3">'
	sed 's|.*|<configuration counter=&/>|'
	echo '</configurations>'
}

echo 'echo "$1" >>/root/crashed' >/root/crash.sh
echo '|/bin/sh /root/crash.sh %e' >/proc/sys/kernel/core_pattern

# ---- What gatord is told ----

panthor-perf info -j >/root/info
panthor-perf streamline -o /root >/root/streamline
as_is=/root/as-is
printf '#!/bin/sh\nexec /root/bin/%s "$@"\n' "$(sed -n '$p' /root/streamline)" >$as_is
chmod +x $as_is
patched=/root/bin/gatord-patched
sed '$d' /root/streamline | sh
is "the time between samples is set" "$(cat /sys/bus/event_source/devices/$pmu/sample_interval_ms)" 1
is "the files are of the PMU's layout" "$(ls /root/events-*.xml)" \
	"/root/events-$(cat /sys/bus/event_source/devices/$pmu/identifier).xml"

# All events of perf, and all counters that gatord knows of this GPU.
sed -n 's/.*<event event="\([^"]*\)".*/\1/p' /root/events-*.xml |
	awk -v pmu="$pmu" '{ printf "\"%s_cnt%d\" event=\"%s\"\n", pmu, NR - 1, $1 }' | configuration >/root/perf.xml
$patched -R counters.xml 2>/dev/null | grep -o '"ARM_Mali-G[0-9]*_[A-Z0-9_]*"' | configuration >/root/mali.xml
echo '"Linux_cpu_wait_contention"' | configuration >/root/none.xml
cp /root/events-*.xml /root/events.xml

# ---- Counts ----

cat >/root/reading.sh <<'END'
. /root/tap.sh

# Of the few timers by which perf samples on the only processor, all with the same period, each has come twice.
timers()
{
	[ "$(grep -c perf_swevent_hrtimer /sys/kernel/tracing/trace)" -ge 20 ]
}

# Of the only session.
delivered()
{
	cat /proc/[0-9]*/fdinfo/* 2>/dev/null | awk '/^panthor-perf-samples:/ && $2 > n { n = $2 } END { print n + 0 }'
}

more()
{
	[ "$(delivered)" -gt $((seen + 1)) ]
}

none_waits()
{
	cat /proc/[0-9]*/fdinfo/* 2>/dev/null |
		awk '/^eventfd-count:/ { n = $2 } /^eventfd-semaphore:/ && $2 == 1 { print n }' | grep -qx 0
}

# reads WAY: until gatord has read what is counted by now
reads()
{
	case $1 in
	perf*)
		: >/sys/kernel/tracing/trace
		echo 1 >/sys/kernel/tracing/events/timer/hrtimer_expire_entry/enable
		until_true 600 timers || exit
		echo 0 >/sys/kernel/tracing/events/timer/hrtimer_expire_entry/enable
		;;
	mali*)
		seen=$(delivered)
		until_true 600 more && until_true 600 none_waits || exit
		;;
	esac
}
END

# The GPU sleeps in the end.
cat >/root/work.sh <<'END'
. /root/reading.sh
reads $1
gpu-load -j 16 -p 60 >/root/load 2>&1 || exit
until_true 600 pm_is suspended || exit
reads $1
echo read >/root/$1.read
END

for way in perf mali; do
	gatord=$as_is
	[ $way = perf ] || gatord=$patched
	until_true 600 pm_is suspended
	first=$(($(mali-bench -d epoch) + 1))
	capture $way "$gatord" /bin/sh /root/work.sh $way
	is "$way: gatord captures a command to its end" "$status $(cat /root/$way.read 2>&1)" "0 read"
	[ -e /root/$way.read ] || tail -n 60 /root/said | sed 's/^/# /'
	captured $way $first
done
is "and reports no unknown block" "$(grep -c 'unknown counter block' /root/said)" 0
capture none /root/bin/gatord /bin/true
is "gatord that is not told of the GPU runs as ever" "$status" 0
capture none "$patched" /bin/true
is "and so does the patched one, without its counters" "$status" 0

# ---- A GPU that is not to be had, hangs, goes ----

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 755 /root
su user -c "timeout 600 $as_is -S yes -c /root/perf.xml -o /tmp/user.apc -A /bin/true" >/root/said 2>&1
status=$?
ended "somebody who may not count"

mkfifo /root/held
hold-set 1 >/root/held &
holder=$!
read -r line </root/held
is "another program counts another set" "$line" counting
capture perf "$as_is" /bin/true
ended "perf, another set"
capture mali "$patched" /bin/true
ended "mali, another set"
kill $holder
wait $holder 2>/dev/null

# WAY WHAT: what happens while gatord reads
cat >/root/fault.sh <<'END'
. /root/reading.sh
epoch_moves()
{
	[ "$(mali-bench -d epoch)" -gt "$epoch" ]
}

echo on >"$GPU/power/control"
mali-bench activity=1
reads $1
epoch=$(mali-bench -d epoch)
if [ $2 = hang ]; then
	mali-bench hang=1
	until_true 600 epoch_moves || exit
	mali-bench activity=0
	echo auto >"$GPU/power/control"
	reads $1
else
	echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
fi
echo done >/root/$1.$2
END

for what in hang unbind; do
	for way in perf mali; do
		gatord=$as_is
		[ $way = perf ] || gatord=$patched
		capture $way "$gatord" /bin/sh /root/fault.sh $way $what
		ended "$way, $what"
		is "$way, $what: it was in the middle of it" "$(cat /root/$way.$what 2>&1)" done
		[ $way$what != perfhang ] || { mv /root/perf.apc /root/hang.apc && captured hang 0; }
		[ $what = hang ] || echo "$name" >/sys/bus/platform/drivers/panthor/bind
		until_true 60 test -e /dev/dri/renderD128
	done
done
tar -C /root -cf /root/captures.tar captures
is "nothing has crashed" "$(cat /root/crashed 2>/dev/null)" ""
