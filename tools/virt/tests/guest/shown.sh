# SPDX-License-Identifier: MIT
# For scripts in the guest (source it): a GPU that works half of the time, what programs show of it, and who counts.

# near GOT WANT MARGIN
near()
{
	awk -v got="$1" -v want="$2" -v margin="$3" 'BEGIN { exit !(got ~ /^[0-9]/ && want ~ /^[0-9]/ &&
		got - want <= margin && want - got <= margin) }'
}

# is_near NAME GOT WANT MARGIN [TEXT]: TEXT is shown if not
is_near()
{
	if near "$2" "$3" "$4"; then
		ok "$1: $2 of $3"
	else
		not_ok "$1" "got:  $2" "want: $3, $4 more or less" "${5:-}"
	fi
}

# load: runs a GPU that works half of the time
load()
{
	rm -f /root/started
	gpu-load -j 0 -t 60 -k fragment -p 200 --duty 50 --started /root/started >/root/load 2>&1 &
	load=$!
	until_true 120 test -e /root/started
}

end_load()
{
	kill $load
	wait $load 2>/dev/null || :
}

# counted SECONDS COMMAND...: $of_time and $hz are what panthor-perf tells meanwhile
counted()
{
	panthor-perf stat -j -o /root/stat -- sleep "$1" &
	stat=$!
	shift
	"$@"
	wait $stat
	of_time=$(grep -o '"of_time":[ 0-9.]*' /root/stat | grep -o '[0-9.]*$' | awk '{ print 100 * $1 }')
	hz=$(grep -o '"active_hz":[ 0-9.]*' /root/stat | grep -o '[0-9.]*$' | awk '{ print $1 / 1e6 }')
}

# steady: the clock is at its highest rate, until the driver is bound again
steady()
{
	for gpu in /sys/class/devfreq/*.gpu; do
		cat "$gpu/max_freq" >"$gpu/min_freq"
	done
}

# node: the GPU's, if its driver is bound. Its number is another one if something has not let go of the last GPU yet.
node()
{
	ls /dev/dri/renderD* 2>/dev/null
}

# sessions PID: of counters, of all that it has open
sessions()
{
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '/^drm-client-id:/ { id = $2 }
		/^panthor-perf-sessions:/ && !seen[id]++ { n += $2 } END { print n + 0 }'
}
