# SPDX-License-Identifier: MIT
# For scripts in the guest (source it, after tap.sh and trace.sh): recordings of programs that have frames.

# As systemd does: Linux has room for 10.
echo 512 >/proc/sys/net/unix/max_dgram_qlen

# record NAME COMMAND...: 3 results; a recording of a program in an environment, and its trace
record()
{
	name=$1
	shift
	trace_begin
	panthor-perf record -a -p 1ms -o "/root/$name.data" -- env "$@" >/root/out 2>/root/err
	is "$name: the program is recorded" "$?$(grep -A 2 '^not ok' /root/out)" 0
	trace_to "/root/$name.trace"
	trace_end
	has "$name: nothing is lost" "$(cat /root/err)" ' 0 lost;'
	# What is in it besides samples.
	panthor-perf convert -j "/root/$name.data" | grep '^"marks"\|^"frames"\|^"end"' >"/root/$name.json"
}

# ends NAME: how many ends of frames, of which program, and how many were lost
ends()
{
	grep -o '"program":"[^"]*"\|"frames":[0-9]*,"lost_frames":[0-9]*' "/root/$1.json" | sort | uniq -c | tr -s ' \n' ' '
}

# in_time NAME: how many frames ended between the times of NAME.times, of how many
in_time()
{
	grep -o '"end_ns":[0-9]*,"program"' "/root/$1.json" | grep -o '[0-9]*' | sort -n |
		awk 'NR == FNR { ends[NR] = $1; next } { good += ends[FNR] >= $1 && ends[FNR] <= $2 } END { print good " of " FNR }' \
			- "/root/$1.times"
}

# processes NAME: how many frames each had
processes()
{
	grep -o '"pid":[0-9]*,"lost"' "/root/$1.json" | sort | uniq -c | awk '{ print $1 }' | sort | tr '\n' ' '
}

# regions NAME: how often each is marked, and null
regions()
{
	grep -o '"time_ns":[0-9]*,"name":[^}]*' "/root/$1.json" | sed 's/.*"name"://; s/"//g' | sort | uniq -c | tr -s ' \n' ' '
}
