# SPDX-License-Identifier: MIT
# stat-work.sh RUNS: what events of perf have of a command's own work, the GPU waited for, and not, and
# of one that is killed; and that a command's end does not wait for firmware that is silent for longer than 20 ms.
. /root/tap.sh

runs=$1
pmu=$(echo /sys/bus/event_source/devices/panthor_*)
load="gpu-load -j 16"
# Amounts of work, which are whole: jobs, those of each iterator, triangles, reads and hits of the tiler.
# They are the same for each run, whatever it takes.
amounts="-e 0x30b -e 0x311 -e 0x319 -e 0x321 -e 0x406 -e 0x411 -e 0x41a"

# counts [-w]: lines of an event and its count; or why there are none
counts()
{
	pmu-stat "$@" $amounts -- $load >/root/out 2>/root/err || cat /root/err
	sed 1d /root/out
}

# Long enough that a sample seldom comes by itself while the command ends.
echo 100 >$pmu/sample_interval_ms
want=$(counts -w)
is "the GPU waited for: something of each" "$(echo "$want" | awk '$2 > 0' | wc -l)" 7
is "its jobs" "$(echo "$want" | sed -n 's/^0x30b //p')" 16
for run in $(seq $runs); do
	is "run $run: not waited for, all of the command's work" "$(counts)" "$want"
done

# Nobody reads what it prints when all is done: a signal ends it.
mkfifo /root/pipe
exec 3<>/root/pipe 4>/root/pipe 3<&-
pmu-stat $amounts -- sh -c "$load >&4; echo \$? >/root/status" >/root/out 2>/root/err
exec 4>&-
is "a command that a signal ends: status" "$(cat /root/status)" $((128 + 13))
is "all of its work" "$(sed 1d /root/out)" "$want"

# killed REQUESTS: a command that has done its work, and waits to be able to print, is killed while firmware
# ignores so many requests for samples; microseconds until it is gone, and how many were ignored. The shell itself
# looks at the time: a program that does would take as long to begin.
cat >/root/killed.sh <<'END'
exec 3<>/root/full
# A pipe holds sixteen pages.
head -c $(awk '/^KernelPageSize/ { print 16 * $2 * 1024; exit }' /proc/self/smaps) /dev/zero >&3
gpu-load -j 16 >&3 &
until grep -q pipe_write /proc/$!/wchan; do usleep 1000; done
dropped=$(mali-bench drop_samples=$1 dropped)
before=$EPOCHREALTIME
kill -KILL $!
wait $!
after=$EPOCHREALTIME
echo $before $after $dropped $(mali-bench dropped drop_samples=0) |
	awk '{ printf "%d %d\n", ($2 - $1) * 1e6, $4 - $3 }' >/root/took
END
mkfifo /root/full
killed()
{
	pmu-stat -e 0x30b -- sh /root/killed.sh $1 >/root/out 2>/root/err || cat /root/err
	cat /root/took
}

# A GPU that goes to sleep takes a last sample, which would be an answer.
echo on >"$GPU/power/control"
killed 0 >/root/answered
killed 1 >/root/silent
echo auto >"$GPU/power/control"
is "firmware has not answered who waited for it" "$(cut -d' ' -f2 /root/answered /root/silent | xargs)" "0 1"
us=$(cut -d' ' -f1 /root/silent)
# In whole ticks of the kernel's clock, of 4 ms, and one more; a debug kernel's own end takes as long again.
if [ "$us" -ge 15000 ] && [ "$us" -le 60000 ]; then
	ok "it was waited for, $us us; when answered, $(cut -d' ' -f1 /root/answered) us"
else
	not_ok "it was waited for, 20 ms" "$us us"
fi
