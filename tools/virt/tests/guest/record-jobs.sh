# SPDX-License-Identifier: MIT
# Recordings of jobs, for the host to compare with what the model says of them. /root/clocks has moments before and
# behind.
. /root/tap.sh
cd /root || exit

# jobs NAME STATUS COMMAND [LOSSES]: a recording, in which the kernel lost events so often
jobs()
{
	local said

	panthor-perf record --jobs -p 10ms -o "$1.data" -- sh -c "$3" >out 2>err
	said="$? $(grep -c '^[0-9,]* jobs\{0,1\}\.$' err)"
	said="$said $(grep -c '^The kernel lost trace events 1 time (' err) $(grep -c 'events' err)"
	is "$1: it is recorded" "$said" "$2 1 ${4:-0} ${4:-0}"
	[ "$said" = "$2 1 ${4:-0} ${4:-0}" ] || sed 's/^/# /' out err
}

# Waits for a file. The test fails by what it finds then if there is none.
cat >await <<'END'
. /root/tap.sh
until_true 60 test -e "$1"
END

raw-clock >clocks
jobs one 0 'gpu-load -j 200 -g 1 -q 1 --depth 1'
jobs two 0 'gpu-load -j 200 -g 1 -q 1 & gpu-load -j 200 -g 1 -q 1; wait'
jobs chain 0 'gpu-load -j 400 -g 1 -q 4'
jobs starved 0 'gpu-load -g 1 -q 1 --period 50 --duty 10 -t 1'
jobs many 0 'gpu-load -j 640 -g 32 -q 1'

modprobe suspend-fence
for n in 1 2 3; do echo "suspend-fence opened $(mali-bench stacks_real_hz) 100;"; done >fenced
jobs fence 0 "$(tr '\n' ' ' <fenced)"

# In the middle of jobs of 50 ms or so.
jobs killed 0 'gpu-load -g 1 -q 4 -k compute -s 65536 -j 0 -t 60 --started started & sh await started
	kill -9 $!; wait $! 2>/dev/null; true'
jobs fault 0 'gpu-fault read; true'
# Until panthor gives the job up.
jobs loop 0 'gpu-fault loop; true'

jobs reset 0 "$(cat <<'END'
gpu-load -g 2 -q 2 -j 0 -t 60 --started again & sh await again; mali-bench hang=1; wait $!; gpu-load -j 64; true
END
)"

# lose OPTIONS [COMMAND]: the recorder does not read until the kernel has dropped events, while jobs go on, and of
# those of COMMAND the oldest
cat >lose <<'END'
. /root/tap.sh
rm -f lossy
stats='/sys/kernel/tracing/instances/panthor-perf-*/per_cpu/cpu0/stats'
overrun()
{
	[ "$(sed -n 's/^overrun: //p' $stats)" -ge 5000 ]
}
gpu-load -k none -g 1 $1 -j 0 -t 8 --started lossy &
until_true 60 test -e lossy || echo "no job was done"
sleep 0.3
kill -STOP $PPID
$2 &
until_true 60 overrun || echo "no events were lost"
cat $stats
kill -CONT $PPID
wait
END
jobs lost 0 'exec sh lose "-q 4 --depth 16"' 1
sed 's/^/# /' out err

# The same with long jobs, of 2 s or so, of which the kernel drops all but the end, beside short ones with pauses.
jobs hidden 0 'exec sh lose "-q 1 --depth 1" "gpu-load -k compute -s 6000000 -g 1 -q 1 -j 4"' 1
sed 's/^/# /' out err

# Recordings that begin amid short jobs. One may go on at the end of each.
gpu-load -g 1 -q 1 -j 0 --depth 1 -t 60 --started amid >out &
load=$!
until_true 60 test -e amid
for n in 1 2 3 4 5 6 7 8; do
	panthor-perf record --jobs -p 10ms -o amid.data -- sleep 0.1 2>err || cat err
	panthor-perf report -j amid.data | sed -n 's/.*"unfinished": *\([0-9]*\).*/\1/p' | head -n 1
done >unfinished
kill $load
wait $load || :
if [ "$(grep -c '^[01]$' unfinished)" = 8 ]; then
	ok "no job that ended when a recording began stays open"
else
	not_ok "no job that ended when a recording began stays open" \
		"unfinished jobs of 8 recordings, 0 or 1 each:" "$(cat unfinished)"
fi

instances=/sys/kernel/tracing/instances
is "nothing is left in tracefs" "$(ls $instances)" ""
panthor-perf record --jobs -o left.data -- sh -c "touch begun; exec sleep 1000" 2>err &
until_true 60 test -e begun
made=$(ls $instances)
kill -9 $!
until_true 60 sh -c '[ -z "$(ls /sys/kernel/tracing/instances)" ]'
is "nor when it is killed" "${made%-*} $(ls $instances)" "panthor-perf "

mkdir $instances/panthor-perf-4194303
made=$(ls $instances)
panthor-perf record --jobs -o left.data -- true 2>err
is "the next one removes what is left" "$? $made $(ls $instances)" "0 panthor-perf-4194303 "

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
echo 0 >/sys/module/panthor/parameters/perf_paranoid
mkdir -m 777 /tmp/user
su user -c "XDG_RUNTIME_DIR=/tmp/user panthor-perf record --jobs -p 10ms -o /tmp/user/own -- gpu-load -j 4 >/dev/null" 2>err
said="$? $(grep -c '^panthor-perf: --jobs: this user may not read trace events' err) $(
	panthor-perf convert --json -o - /tmp/user/own | grep -c '"jobs"')"
is "who may not trace is told so once, and counts" "$said" "0 1 0"
[ "$said" = "0 1 0" ] || sed 's/^/# /' err
raw-clock >>clocks
