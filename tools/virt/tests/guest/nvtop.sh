# SPDX-License-Identifier: MIT
# nvtop with our patch, /root/nvtop, with /root/lib/libpanthor-perf.so.0 and without; and Debian's. Time is counted by
# instructions: each has its share of it.
. /root/tap.sh
. /root/shown.sh

export HOME=/root TERM=linux
name=$(basename "$GPU")

# snap [VARIABLE=VALUE] PROGRAM: what it says of two seconds, or of more
snap()
{
	env "$@" -s -d ${tenths:-20} >/root/snap 2>/root/snap.err
	echo $?
}

# field NAME: of the snapshot, without its unit
field()
{
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" /root/snap | sed 's/[%A-Z].*//' | head -n 1
}

at_work()
{
	is "a GPU at work" "$(tenths=50; snap LD_LIBRARY_PATH=/root/lib /root/nvtop)" 0
}

steady
is "it runs without the library" "$(snap /root/nvtop) $(cat /root/snap.err)" "0 "
is "and then has no load" "$(field gpu_util)" null
is "an idle GPU" "$(snap LD_LIBRARY_PATH=/root/lib /root/nvtop) $(field gpu_util)" "0 0"

load
# Both begin and end, which takes the load's processor, at other times: what is between is to be much longer.
counted 5 at_work
near "$of_time" 0 5 && not_ok "of which panthor-perf tells" "$of_time" || ok "of which panthor-perf tells: $of_time"
is_near "has the load that panthor-perf tells" "$(field gpu_util)" "$of_time" 8 "$(cat /root/snap)"
is_near "and its frequency" "$(field gpu_clock)" "$hz" 20 "$(cat /root/snap)"
is "Debian's nvtop runs beside it" "$(snap nvtop) $(cat /root/snap.err)" "0 "
is "and knows the GPU" "$(grep -c '"device_name"' /root/snap)" 1

# ---- Who may not count ----

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 755 /root
chmod 666 /dev/dri/renderD128
as_user()
{
	su user -c "HOME=/tmp LD_LIBRARY_PATH=/root/lib /root/nvtop -s -d 20" >/root/snap 2>/root/snap.err
}
as_user
is "somebody without the right to count" "$? $(field gpu_util) $(cat /root/snap.err)" "0 null "
echo 0 >/sys/module/panthor/parameters/perf_paranoid
as_user
is "with leave for everybody" "$?" 0
is_near "an ordinary user sees the load" "$(field gpu_util)" "$of_time" 15 "$(cat /root/snap /root/snap.err)"
end_load

mkfifo /root/held
hold-set 1 >/root/held &
holder=$!
read -r line </root/held
is "another program counts another set" "$line" counting
is "then it has no load" "$(snap LD_LIBRARY_PATH=/root/lib /root/nvtop) $(field gpu_util)" "0 null"
kill $holder
wait $holder 2>/dev/null

# ---- A GPU that goes ----

LD_LIBRARY_PATH=/root/lib /root/nvtop -l -d 5 >/root/loop 2>&1 &
loop=$!
sampled()
{
	grep -q '"gpu_util": "' /root/loop
}
until_true 60 sampled && ok "it looks again and again" || not_ok "it looks again and again" "$(cat /root/loop)"
echo "$name" >/sys/bus/platform/drivers/panthor/unbind
gone()
{
	! ls -l /proc/$loop/fd 2>/dev/null | grep -q eventfd
}
until_true 60 gone && ok "an unbound GPU is let go" || not_ok "an unbound GPU is let go" "$(ls -l /proc/$loop/fd)"
kill -INT $loop
wait $loop
is "and nvtop ends as ever" $? 0
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 test -e /dev/dri/renderD128
is "bound again, the next one counts" "$(snap LD_LIBRARY_PATH=/root/lib /root/nvtop) $(field gpu_util)" "0 0"
