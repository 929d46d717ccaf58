# SPDX-License-Identifier: MIT
# panthor-perf top and export, that show what happens now: NAME KERNEL. What was counted, and in which
# enable epochs of the counters, goes to the host.
. /root/tap.sh

name=$1
kernel=$2
node=/dev/dri/renderD128

panthor-perf info -j >/root/info
panthor-perf list -x ';' >/root/list

# counting PID: it has a sample; a session counts later than it is there
counting()
{
	grep -q 'panthor-perf-samples:[[:space:]]*[1-9]' /proc/$1/fdinfo/* 2>/dev/null
}

# measure NAME COMMAND...: counts work, until Ctrl-C
measure()
{
	local what=$1 first pid

	shift
	first=$(($(mali-bench epoch) + 1))
	"$@" 2>/root/err &
	pid=$!
	until_true 120 counting $pid || not_ok "$what does not count" "$(cat /root/err)"
	# Beside processes that end while they are looked at.
	for _ in $(seq 100); do
		/bin/true
	done &
	gpu-load >/root/load 2>&1
	has "$what: work" "$(cat /root/load)" " 0 errors"
	kill -INT $pid
	wait $pid
	is "$what: Ctrl-C ends it well" "$? $(cat /root/err)" "0 "
	echo "$what $first $(mali-bench epoch)" >>/root/epochs
}

top_json()
{
	exec panthor-perf top -j -p 100ms >/root/top.json
}

export_file()
{
	exec panthor-perf export --prometheus -a -p 100ms --textfile /root/all.prom
}

: >/root/epochs
measure top top_json
measure export export_file
is "nothing lies beside the file" "$(ls /root/all.prom*)" /root/all.prom

# One update.
panthor-perf top --once -p 100ms >/root/once 2>&1
is "top --once" $? 0
has "the load of the GPU is first" "$(sed -n 2p /root/once)" "^GPU  .*% of time .*% of cycles .* MHz"
has "its name" "$(cat /root/once)" "top - $name ($node)"
has "a shader core" "$(cat /root/once)" "Core 0   \[.*\] .*%"
has "memory" "$(cat /root/once)" "^Memory   read .*B/s, write .*B/s"
has "top-down" "$(cat /root/once)" "^Top-down Idle .*% Front end"
has "the program itself, without jobs" "$(cat /root/once)" "^ *[0-9]* *0.0% *0.0% *0.0 *- *- .* panthor-perf$"

# Lines.
panthor-perf top --lines -p 100ms 2>/root/err | head -n 3 >/root/lines
has "top --lines: titles" "$(sed -n 1p /root/lines)" "^   TIME  CYCLES FREQUENCY"
has "an update" "$(sed -n 3p /root/lines)" "^ *[0-9.]*% *[0-9.]*% .*B/s .*B/s"
panthor-perf top -p 100ms </dev/null 2>/root/err | head -n 2 >/root/lines
has "without a terminal, lines" "$(sed -n 2p /root/lines)" "^ *[0-9.]*% *[0-9.]*% .*B/s .*B/s"

# Clients: a file that this shell and a child have open, three times in all.
exec 8<>$node 9>&8
(exec sleep 1000) &
child=$!
# Its processes are the matter of top-jobs.
clients()
{
	panthor-perf top --once -j -p 100ms | sed 's/,"processes":.*//' >/root/clients.json
}
clients
is "a client that is seen three times is there once" \
	"$(grep -o "\"pid\":$$," /root/clients.json | wc -l) $(grep -o "\"pid\":$child," /root/clients.json | wc -l)" "1 0"
is "clients" "$(grep -o '"id":[0-9]*,"pid":[0-9]*,"command":"[^"]*"' /root/clients.json | sed 's/.*command":"//; s/"//' | sort | tr '\n' ' ')" \
	"panthor-perf sh "
kill $child
exec 8>&- 9>&-

# What the kernel tells of a client that works. It is stopped to be compared.
gpu-load -j 1000000 >/dev/null 2>&1 &
load=$!
device=$(ls -d /sys/bus/platform/drivers/panthor/*/of_node)
device=${device%/of_node}
busy()
{
	clients
	grep -q '"command":"gpu-load","of_time":0*\.*[0-9.]*[1-9]' /root/clients.json
}
# fdinfo KEY: of the client
fdinfo()
{
	cat /proc/$load/fdinfo/* | sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" | head -n 1
}
# json KEY: of the client, in the last output
json()
{
	sed 's/.*"command":"gpu-load"//; s/"command".*//' /root/clients.json | grep -o "\"$1\":[0-9a-z.]*" | head -n 1 | cut -d: -f2
}
working()
{
	grep -q panthor /proc/$load/fdinfo/* 2>/dev/null
}
# The share of time of its process, the first number behind the PID, is not 0.0 %.
process_busy()
{
	panthor-perf top --once -p 100ms >/root/once
	grep -q "^ *$load  *[0-9.]*[1-9][0-9.]*% .* gpu-load$" /root/once
}
until_true 60 working || not_ok "gpu-load does not open the GPU"
if [ "$kernel" = 6.12 ]; then
	clients
	is "the time of clients is not known" "$(json of_time) $(json of_cycles)" "null null"
	until_true 120 process_busy && ok "and that of its process is" ||
		not_ok "and that of its process is" "$(cat /root/once)"
else
	until_true 120 process_busy && ok "before, that of its process is known" ||
		not_ok "before, that of its process is known" "$(cat /root/once)"
	echo 3 >$device/profiling
	until_true 120 busy && ok "a client's time" || not_ok "a client's time" "$(cat /root/clients.json)"
	# The kernel adds a job's when it ends: of a period it can be more than all.
	has "and its cycles" "$(json of_cycles)" "[1-9]"
	kill -STOP $load
	# What was given to the GPU ends: nothing has changed when it was looked at ten times, 100 ms apart.
	same=0
	stays_same()
	{
		before=$now
		now=$(cat /proc/$load/fdinfo/* | grep 'drm-\(engine\|cycles\)-')
		[ -n "$now" ] && [ "$now" = "$before" ] && same=$((same + 1)) || same=0
		usleep 100000
		[ $same -eq 10 ]
	}
	now=
	until_true 60 stays_same
	clients
	is "its engine's time is the kernel's" "$(json engine)" "$(fdinfo drm-engine-panthor)"
	is "and so are its cycles" "$(json cycles)" "$(fdinfo drm-cycles-panthor)"
fi
# memory KEY: in bytes
memory()
{
	cat /proc/$load/fdinfo/* | awk -v key="drm-$1-memory:" \
		'$1 == key { printf "%d\n", $2 * ($3 == "KiB" ? 1024 : $3 == "MiB" ? 1048576 : 1); exit }'
}
has_memory()
{
	[ "$(memory total)" -gt 0 ] 2>/dev/null
}
until_true 60 has_memory && ok "it has memory" || not_ok "it has memory" "$(cat /proc/$load/fdinfo/*)"
kill -STOP $load
clients
is "its memory is the kernel's" "$(json total) $(json shared) $(json resident)" \
	"$(memory total) $(memory shared) $(memory resident)"
kill -KILL $load
wait $load 2>/dev/null

# Without CAP_PERFMON.
tool=$(command -v panthor-perf)
chmod 666 $node
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
su user -c "$tool top --once -p 100ms" >/root/once 2>&1
is "without CAP_PERFMON, top" $? 0
has "says what cannot be seen" "$(cat /root/once)" "^Load is not available: no permission to count"
has "shows the rest" "$(cat /root/once)" " 0 panthor-perf$"
has "and whom it cannot look at" "$(cat /root/once)" "processes of other users are hidden"
su user -c "$tool top --once -j -p 100ms" >/root/once 2>&1
has "as JSON" "$(cat /root/once)" '"not_counted":"Load is not available: '
su user -c "$tool export --prometheus --textfile /tmp/x.prom" >/root/once 2>&1
is "without CAP_PERFMON, export" $? 5

# Errors.
fails()
{
	local name=$1 status=$2 pattern=$3

	shift 3
	"$@" >/root/out 2>&1
	is "$name" "$?" "$status"
	has "$name: what is wrong" "$(cat /root/out)" "$pattern"
}
fails "a full disk" 8 "cannot write" sh -c 'panthor-perf top -j -p 50ms >/dev/full'
fails "a period without a unit" 2 "has no unit. Did you mean 5ms?" panthor-perf top -p 5
fails "a period that is too short" 2 "the shortest interval is 10ms" panthor-perf top -p 1ms
fails "another device" 3 "/dev/null is not a GPU" panthor-perf top --once -d /dev/null
fails "export to two places" 2 "cannot be combined" panthor-perf export --listen :0 --textfile /root/x.prom
fails "a directory that is not there" 8 "cannot write /no/such/x.prom" \
	panthor-perf export --prometheus --textfile /no/such/x.prom
mkdir /root/dir.prom
fails "a directory in the file's place" 8 "cannot write /root/dir.prom" \
	panthor-perf export --prometheus --textfile /root/dir.prom
is "nothing is left beside it" "$(ls -d /root/dir.prom*)" /root/dir.prom

# The GPU goes.
gone()
{
	local what=$1 pid

	shift
	"$@" >/dev/null 2>/root/err &
	pid=$!
	until_true 120 counting $pid || not_ok "$what does not count"
	echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
	wait $pid
	is "$what ends when the GPU goes" $? 7
	has "$what says so" "$(cat /root/err)" "^panthor-perf: .*gone"
	echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/bind
}
gone top panthor-perf top -j -p 100ms
