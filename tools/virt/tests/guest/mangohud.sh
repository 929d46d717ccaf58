# SPDX-License-Identifier: MIT
# MangoHud with our patch, /root/mangohud, over frames that nobody sees, with libpanthor-perf and without; and
# Debian's. Time is counted by instructions: each has its share of it.
. /root/tap.sh
. /root/shown.sh

export HOME=/tmp MANGOHUD=1
ours=/root/mangohud/layers
debians=/usr/share/vulkan/implicit_layer.d
config=fps_limit=10,gpu_core_clock,fps_sampling_period=500,autostart_log=1,log_interval=100,output_folder
name=$(basename "$GPU")
chmod 755 /root

# new_log DIRECTORY
new_log()
{
	rm -rf "$1"
	mkdir "$1"
	chmod 777 "$1"
}

# frames LAYERS [VARIABLE=VALUE]...: four seconds of them and more; how that ended
frames()
{
	layers=$1
	shift
	new_log /tmp/log
	env "$@" VK_IMPLICIT_LAYER_PATH="$layers" MANGOHUD_CONFIG="$config=/tmp/log" \
		vk-work -n 45 present >/tmp/log/out 2>/tmp/log/err
	echo "$? $(tail -n 1 /tmp/log/out)"
}

# start DIRECTORY: frames without an end, in the background, once there is a log
start()
{
	new_log "$1"
	LD_LIBRARY_PATH=/root/lib VK_IMPLICIT_LAYER_PATH=$ours MANGOHUD_CONFIG=$config=$1 \
		vk-work -n 100000 present >"$1/out" 2>"$1/err" &
	pid=$!
	until_true 60 shows "$1"
}

shows()
{
	ls "$1"/*.csv >/dev/null 2>&1
}

# column NAME: its values in the log
column()
{
	awk -F, -v name="$1" 'FNR == 3 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		FNR > 3 && column { print $column }' /tmp/log/vk-work_*.csv
}

# mean NAME: of the values, of which there are 20 or more
mean()
{
	column "$1" | awk '{ sum += $1 } END { if (NR >= 20) print sum / NR }'
}

# told: what MangoHud says of counters
told()
{
	grep -h 'whole Mali GPU' "${1:-/tmp/log}/err"
}

one_session()
{
	[ "$(sessions "$1")" = 1 ]
}

at_work()
{
	is "a GPU at work" "$(frames $ours LD_LIBRARY_PATH=/root/lib)" "0 reset status 0"
}

steady
load
is "it runs without the library" "$(frames $ours)" "0 reset status 0"
is "and then has no load" "$(column gpu_load | sort -u)" 0
is "and says nothing of it" "$(told)" ""
counted 4 at_work
is_near "of which panthor-perf tells" "$of_time" 50 20
is_near "the log has the load that panthor-perf tells" "$(mean gpu_load)" "$of_time" 8 "$(head -n 20 /tmp/log/*)"
is_near "and its frequency" "$(mean gpu_core_clock)" "$hz" 20
is "nothing is complained of" "$(told)" ""
is "Debian's MangoHud runs beside it" "$(frames $debians)" "0 reset status 0"
end_load
is "an idle GPU" "$(frames $ours LD_LIBRARY_PATH=/root/lib)" "0 reset status 0"
is_near "has only the load of the overlay" "$(mean gpu_load)" 0 8

# ---- Several processes ----

start /tmp/first
first=$pid
is "a process with an overlay counts" "$(sessions "$first")" 1
start /tmp/second
second=$pid
is "of two, one" "$(sessions "$first") $(sessions "$second")" "1 0"
kill "$first"
until_true 60 one_session "$second"
is "and the other one when that has ended" "$(sessions "$second")" 1
kill "$second"
wait

# ---- Who may not count ----

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
as_user()
{
	chmod 666 /dev/dri/renderD*
	new_log /tmp/log
	su user -c "HOME=/tmp LD_LIBRARY_PATH=/root/lib VK_IMPLICIT_LAYER_PATH=$ours \
		MANGOHUD_CONFIG=$config=/tmp/log $(command -v vk-work) -n 45 present" >/tmp/log/out 2>/tmp/log/err
	echo "$? $(tail -n 1 /tmp/log/out)"
}
load
is "somebody without the right to count" "$(as_user)" "0 reset status 0"
is "has no load" "$(column gpu_load | sort -u)" 0
is "and is told once" "$(told | wc -l)" 1
has "what to do" "$(told)" "Run as root or with CAP_PERFMON"
end_load
mkdir -p /etc/modprobe.d
cp /root/panthor-perf.conf /etc/modprobe.d/
modprobe -r panthor && modprobe panthor
until_true 60 node >/dev/null
steady
load
is "an ordinary user, with the package's option for modprobe" "$(as_user)" "0 reset status 0"
is_near "sees the load" "$(mean gpu_load)" "$of_time" 15
end_load

mkfifo /root/held
hold-set 1 >/root/held &
holder=$!
read -r line </root/held
is "another program counts another set" "$line" counting
is "then there is no load" "$(frames $ours LD_LIBRARY_PATH=/root/lib) $(column gpu_load | sort -u)" \
	"0 reset status 0 0"
has "and a sentence for it" "$(told)" "another program is using a different counter set of this GPU. End it first"
kill $holder
wait $holder 2>/dev/null

# ---- A GPU that goes ----

start /tmp/first
echo "$name" >/sys/bus/platform/drivers/panthor/unbind
gone()
{
	! kill -0 "$pid" 2>/dev/null
}
until_true 60 gone && ok "work on a GPU that is unbound ends" || not_ok "work on a GPU that is unbound ends"
kill -9 "$pid" 2>/dev/null
wait
is "without a word of MangoHud's about counters" "$(told /tmp/first)" ""
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 node >/dev/null
steady
load
is "bound again, the next one counts" "$(frames $ours LD_LIBRARY_PATH=/root/lib)" "0 reset status 0"
is_near "what there is" "$(mean gpu_load)" "$of_time" 15
end_load
