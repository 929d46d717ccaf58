# SPDX-License-Identifier: MIT
# Recordings of jobs, for the host to compare with what the model says of them. /root/clocks has moments before and behind.
. /root/tap.sh
cd /root || exit

# jobs NAME STATUS COMMAND: a recording
jobs()
{
	panthor-perf record --jobs -p 10ms -e MaliGPUActiveCy -o "$1.data" -- sh -c "$3" >out 2>err
	is "$1: it is recorded" "$? $(grep -c '^[0-9,]* jobs\{0,1\}\.$' err) $(grep -c 'events' err)" "$2 1 0"
}

raw-clock >clocks
jobs one 0 'gpu-load -j 200 -g 1 -q 1 --depth 1'
jobs two 0 'gpu-load -j 200 -g 1 -q 1 & gpu-load -j 200 -g 1 -q 1; wait'
jobs chain 0 'gpu-load -j 400 -g 1 -q 4'
jobs starved 0 'gpu-load -g 1 -q 1 --period 50 --duty 10 -t 1'
jobs many 0 'gpu-load -j 640 -g 32 -q 1'

modprobe suspend-fence
for n in 1 2 3; do echo "suspend-fence opened $(mali-bench stacks_real_hz) 100;"; done >fenced
jobs fence 0 "$(tr '\n' ' ' <fenced)"

# In the middle of it.
jobs killed 0 'gpu-load -g 1 -q 4 -j 0 -t 60 --started started & until [ -e started ]; do usleep 1000; done; kill -9 $!; wait $! 2>/dev/null; true'
jobs fault 0 'gpu-fault read; true'
# Until panthor gives the job up.
jobs loop 0 'gpu-fault loop; true'

jobs reset 0 "$(cat <<'END'
gpu-load -g 2 -q 2 -j 0 -t 60 --started again & until [ -e again ]; do usleep 1000; done; mali-bench hang=1; wait $!; gpu-load -j 64; true
END
)"

# Recordings that begin amid short jobs. One may go on at the end of each.
gpu-load -g 1 -q 1 -j 0 --depth 1 -t 60 --started amid >out &
load=$!
until_true 60 test -e amid
for n in 1 2 3 4 5 6 7 8; do
	panthor-perf record --jobs -p 10ms -o amid.data -- sleep 0.1 2>err
	panthor-perf report -j amid.data | sed -n 's/.*"unfinished": *\([0-9]*\).*/\1/p' | head -n 1
done >unfinished
kill $load
wait $load || :
is "no job that ended when a recording began stays open" "$(grep -c '^[01]$' unfinished)" 8

is "nothing is left in tracefs" "$(ls /sys/kernel/tracing/instances)" ""
panthor-perf record --jobs -o left.data -- sh -c "touch begun; exec sleep 1000" 2>err &
until_true 60 test -e begun
kill -9 $!
until_true 60 sh -c '[ -z "$(ls /sys/kernel/tracing/instances)" ]'
is "nor when it is killed" "$(ls /sys/kernel/tracing/instances)" ""

mkdir /sys/kernel/tracing/instances/panthor-perf-4194303
panthor-perf record --jobs -o left.data -- true 2>err
is "the next one removes what is left" "$(ls /sys/kernel/tracing/instances)" ""

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
echo 0 >/sys/module/panthor/parameters/perf_paranoid
mkdir -m 777 /tmp/user
su user -c "XDG_RUNTIME_DIR=/tmp/user panthor-perf record --jobs -p 10ms -o /tmp/user/own -- gpu-load -j 4 >/dev/null" 2>err
is "who may not trace is told so once, and counts" "$? $(grep -c '^panthor-perf: --jobs: this user may not read trace events' err) $(
	panthor-perf convert --json -o - /tmp/user/own | grep -c '"jobs"')" "0 1 0"
raw-clock >>clocks
