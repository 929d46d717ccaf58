# SPDX-License-Identifier: MIT
# Marks and pauses of panthor-perf record in the guest.
. /root/tap.sh
. /root/trace.sh

cd /root || exit
counter=MaliFragQueueJob

# What the page has recorded beside a trace of the GPU.
sed -n 's/^ *ftrace_events: "\(.*\)"$/\1/p' panthor-perf-record.1 >wanted
is "the kernel has all events of the page's trace" "$(wc -l <wanted) $(while read -r event; do
	ls -d $tracing/events/$event >/dev/null 2>&1 || echo "$event"
done <wanted)" "6 "

# sums FILE: "REGION COUNTER TOTAL LEAST MOST" of a report's regions, and "all COUNTER TOTAL" of the whole
sums()
{
	awk '/^  "regions":/ { part = "regions" } /^  "counters":/ { part = "all" }
		{ value = $0; sub(/^[^:]*:/, "", value); gsub(/^"|"?,?$/, "", value) }
		part == "regions" && /^      "name":/ { region = value }
		/^          "name":/ || (part == "all" && /^      "name":/) { name = value }
		part == "regions" && /^          "total":/ { total = value }
		part == "regions" && /^          "least":/ { least = value }
		part == "regions" && /^          "most":/ { print region, name, total, least, value }
		part == "all" && /^      "total":/ && value !~ /\./ { print "all", name, value }' "$1"
}

# jobs RECORDING: of the whole
jobs()
{
	panthor-perf report -j -e $counter "$1" >out && sums out | sed -n "s/^all $counter //p"
}

panthor-perf record -p 1ms -e $counter -o small -- gpu-load -j 64 >/dev/null 2>&1
panthor-perf record -p 1ms -e $counter -o large -- gpu-load -j 128 >/dev/null 2>&1
small=$(jobs small)
large=$(jobs large)
[ "${small:-0}" -gt 0 ] && [ "$large" -eq $((2 * small)) ] && ok "$small and $large jobs" || not_ok "jobs" "$small, $large"

# ---- Regions ----

trace_begin
panthor-perf record -a -p 200us -o rec -- sh -c 'panthor-perf mark small && gpu-load -j 64 && panthor-perf mark large &&
	gpu-load -j 128 && panthor-perf mark --end && gpu-load -j 64' >load 2>err
is "work with marks is recorded" $? 0
trace_to trace
trace_end
is "all of it was done" "$(grep -c ' 0 errors' load)" 3
has "nothing is lost" "$(cat err)" " 0 lost"
is "no socket is left" "$(ls /run/panthor-perf)" ""
panthor-perf report -j -o report rec
is "report -j" $? 0
sums report >sums
is "there are two regions, and what is in none" "$(sed 's/ .*//' sums | uniq | tr '\n' ' ')" "small large null all "

# The time of each is that of work, which processes begin and end long before and behind marks.
is "the jobs of each are in it" "$(awk -v c=$counter '$2 == c && $1 != "all" { print $1, $3, $4, $5 }' sums | tr '\n' ' ')" \
	"small $small $small $small large $large $large $large null $small $small $small "
awk '$1 != "all" { sum[$2] += $3; if ($4 + 0 > $3 || $3 + 0 > $5) print "wrong:", $0; n += $5 > $4 } $1 == "all" { if (sum[$2] != $3) print "wrong:", $0, sum[$2]; counters++ }
	END { print (counters > 100) }' sums >wrong
is "sums of regions make up the whole, counter by counter" "$(cat wrong)" 1
panthor-perf report -j --region large -o report rec
is "report --region" $? 0
sums report | awk '{ print $2, $3 }' >one
is "has its sums" "$(awk '$1 == "large" { print $2, $3 }' sums | diff - one)" ""
panthor-perf diff -T -j -e $counter --region large rec rec >out
is "diff of a region" "$? $(grep -c '"change_percent":0.0' out)" "0 1"
panthor-perf report rec >out
has "report has them in lines" "$(cat out)" ' s  *1  *[0-9.]* %  .* %  small$'

# ---- Who may mark ----

panthor-perf record -p 10ms -o c 2>err &
pid=$!
until_true 60 test -S /run/panthor-perf/$pid || not_ok "there is no socket" "$(cat err)"
is "a socket has the group and the mode of the GPU's node" "$(stat -c '%g %a' /run/panthor-perf/$pid)" "$(stat -c '%g %a' /dev/dri/renderD128)"
kill -INT $pid
wait $pid
is "and ends well" "$? $(ls /run/panthor-perf)" "0 "
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
tool=$(command -v panthor-perf)
chmod 600 /dev/dri/renderD128
panthor-perf record -p 10ms -o c -- sh -c "su user -c '$tool mark theirs' >said 2>&1" 2>err
is "who may not open the GPU may mark" "$? $(cat said)" "0 "
is "and is not heard" "$(panthor-perf convert --json c | tail -n 1 | grep -o '"marks":[0-9]*')" '"marks":0'
chmod 666 /dev/dri/renderD128
panthor-perf record -p 10ms -o c -- su user -c "$tool mark theirs" 2>err
is "who may open it" $? 0
is "is heard" "$(panthor-perf convert --json c | grep -c '"name":"theirs"')" 1
is "nobody records: mark does nothing" "$(su user -c "$tool mark x" 2>&1; echo $?)" 0

# ---- Pauses ----

mkfifo ctl ack
exec 3<>ctl 4<>ack
tell()
{
	echo "$1" >&3
	read -r answer <&4
	[ "$answer" = ack ] || not_ok "$1" "$answer"
}
trace_begin
panthor-perf record --delay=-1 --control=fifo:ctl,ack -a -p 200us -o paused 2>err &
pid=$!
gpu-load -j 128 >load
tell enable
gpu-load -j 64 >>load
tell disable
gpu-load -j 128 >>load
tell enable
gpu-load -j 64 >>load
tell stop
wait $pid
is "a recording with pauses ends well" $? 0
trace_to trace.paused
trace_end
is "it has the work between them" "$(jobs paused)" $((2 * small))
panthor-perf report paused >out
has "and tells of the gap" "$(cat out)" '^1 gap between samples, [0-9.]* s in total, was not counted.$'
is "of all that was done" "$(grep -c ' 0 errors' load)" 4
