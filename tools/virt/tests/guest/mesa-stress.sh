# SPDX-License-Identifier: MIT
# What Mesa's users do to a GPU: many processes at once (COUNT), processes that are killed, more to tile
# than there is memory for, firmware that hangs.
. /root/tap.sh

count=$1

# silent NAME: the kernel has said nothing since the last call
silent()
{
	new_dmesg >/root/kernel
	is "$1: the kernel says nothing" "$(cat /root/kernel)" ""
}

# at_work: groups have work
at_work()
{
	[ $(($(mali-bench gpu_status) & 1)) = 1 ]
}

# complete NAME PROGRAM: new work of a new process ends well
complete()
{
	$2 clear draw compute >/root/out 2>&1
	is "$1: new work of $2 completes" "$? $(grep -c '^ok - ' /root/out)" "0 3"
}

new_dmesg >/dev/null

pids=
for i in $(seq "$count"); do
	program=gl-work
	[ $((i % 2)) = 0 ] || program=vk-work
	$program -n 20 clear draw instances compute indirect >"/root/out.$i" 2>&1 &
	pids="$pids $!"
done
bad=0
for pid in $pids; do
	wait "$pid" || bad=$((bad + 1))
done
is "$count processes: none of them fails" "$bad" 0
is "$count processes: each has drawn all scenes" "$(cat /root/out.* | grep -c '^ok - ')" $((count * 5))
is "$count processes: on the GPU" "$(cat /root/out.* | grep -c '^renderer Mali-')" "$count"
silent "$count processes"

for program in gl-work vk-work; do
	for round in 1 2 3; do
		$program -n 1000000 clear draw compute >/root/out 2>&1 &
		pid=$!
		if until_true 60 at_work; then
			ok "kill -9, round $round: $program is at work"
		else
			not_ok "kill -9, round $round: $program is at work" "$(cat /root/out)"
		fi
		kill -9 $pid
		wait $pid
		is "kill -9, round $round: it is gone" $? 137
		complete "kill -9, round $round" $program
	done
done
silent "kill -9"

# The bench page has this counter's total, whether or not the driver has counters.
fragment_jobs()
{
	mali-bench type=cshw index=0 counter=33 generated
}

# A frame that has no memory is rendered in pieces: each is a fragment job.
for program in gl-work vk-work; do
	before=$(fragment_jobs)
	$program -n 2 oom >/root/out 2>&1
	is "out of memory: $program draws its frames" "$? $(grep -c '^ok - oom' /root/out)" "0 1"
	jobs=$(($(fragment_jobs) - before))
	if [ "$jobs" -gt 2 ]; then
		ok "out of memory: in pieces"
	else
		not_ok "out of memory: in pieces" "$jobs fragment jobs for 2 frames" "$(cat /root/out)"
	fi
done
silent "out of memory"

# Vulkan tells the process that its device is lost. GL of Mesa 25 does not.
for program in gl-work vk-work; do
	$program -n 1000000 clear draw compute >/root/out 2>&1 &
	pid=$!
	if until_true 60 at_work; then
		ok "a hang: $program is at work"
	else
		not_ok "a hang: $program is at work" "$(cat /root/out)"
	fi
	mali-bench hang=1
	until_true 60 sh -c '[ "$(mali-bench hang)" = 0 ]'
	is "a hang: panthor resets the GPU" "$(mali-bench hang)" 0
	if [ $program = vk-work ]; then
		wait $pid
		is "a hang: the process is told" "$? $(sed -n 's/^reset status //p' /root/out)" "1 -4"
	else
		kill -9 $pid
		wait $pid
	fi
	new_dmesg >/root/kernel
	has "a hang: the kernel speaks of it" "$(cat /root/kernel)" "panthor"
	complete "a hang" $program
	silent "a hang"
done
