# SPDX-License-Identifier: MIT
# panthor-perf record in the guest, and report, convert and diff of what it wrote: SECONDS that the
# recording under load takes, or 0 for what gpu-load does by itself; "all" or "short".
. /root/tap.sh
. /root/trace.sh

seconds=$1
what=$2
cd /root || exit

# said FIGURE: what record said of samples, flagged, stretched or lost
said()
{
	sed -n "/ lost; /s/.*[ :]\([0-9]*\) $1[ ,;].*/\1/p" /root/err
}

# holds FILE: its samples
holds()
{
	panthor-perf convert --csv "$1" 2>/dev/null | tail -n +2 | wc -l
}

panthor-perf list -x ';' | cut -d';' -f1-3 >places

# ---- Compared on the host, sample by sample ----

trace_begin
if [ "$seconds" -gt 0 ]; then
	panthor-perf record -a -p 200us -o rec -- gpu-load -j 0 -t "$seconds" >load 2>err
else
	panthor-perf record -a -p 200us -o rec -- gpu-load >load 2>err
fi
is "record has the command's status" $? 0
trace_to trace
has "and leaves its output alone" "$(cat load)" " 0 errors"
has "the end says what was recorded" "$(cat err)" \
	"^panthor-perf: [0-9]* samples, [0-9]* flagged, [0-9]* stretched, 0 lost; [0-9.]* s and $(stat -c %s rec) bytes in rec$"
grep '^panthor-perf' err | sed 's/^/# /'
panthor-perf convert --csv rec >rec.csv 2>>err
is "convert --csv" $? 0
is "has as many samples as record said" "$(($(wc -l <rec.csv) - 1))" "$(said samples)"
is "as many flagged" "$(awk -F, 'NR > 1 && $3 % 4 { n++ } END { print n + 0 }' rec.csv)" "$(said flagged)"
is "and as many stretched" "$(awk -F, 'NR > 1 && int($3 / 4) % 2 { n++ } END { print n + 0 }' rec.csv)" \
	"$(said stretched)"
panthor-perf convert --json -o rec.json rec
is "convert --json" $? 0
panthor-perf convert --perfetto -o rec.trace rec
is "convert --perfetto" $? 0
panthor-perf report -j -o rec.report.json rec
is "report -j" $? 0
panthor-perf report -o rec.report rec
is "report" $? 0
has "begins with the load" "$(head -n 8 rec.report)" "^GPU load: [0-9.]* % of the time, [0-9.]* % of the cycles$"
panthor-perf report -t -o rec.topdown rec
is "report --topdown" $? 0
if [ "$what" != all ]; then
	trace_end
	exit 0
fi

# ---- A reader that is slower than the counters ----

mkfifo pipe
panthor-perf record -m 128 -a -p 200us -o pipe 2>err &
pid=$!
exec 3<pipe
# delivered: how many samples the kernel has delivered to it
delivered()
{
	sed -n 's/panthor-perf-samples:[[:space:]]*//p' /proc/$pid/fdinfo/* 2>/dev/null | sort -n | tail -n 1
}
# Nothing is read until queue and ring are full: the GPU works, and no sample comes.
stuck()
{
	before=$(delivered)
	gpu-load -j 16 >/dev/null
	[ "${before:-0}" -gt 0 ] && [ "$(delivered)" = "$before" ]
}
until_true 300 stuck || not_ok "samples go on to come, and nobody reads them" "$(delivered)" "$(cat err)"
cat <&3 >slow &
reader=$!
kill -INT $pid
wait $pid
is "a slow reader: the recording ends well" $? 0
exec 3<&-
wait $reader
trace_to trace.all
trace_end
[ "$(said stretched)" -gt 0 ] && ok "a slow reader: samples are stretched" ||
	not_ok "a slow reader: samples are stretched" "$(cat err)"
is "none is lost" "$(said lost)" 0
has "and the end says why" "$(cat err)" "^Writing the file was too slow [0-9,]* time"
grep '^panthor-perf' err | sed 's/^/# /'
# What the kernel tells of the first recording is not of this one.
session=$(sed -n 's/.* panthor_perf_baseline: session=\([0-9]*\) .*/\1/p' trace)
grep -v " session=$session " trace.all >trace.slow

# Nobody reads at all: Ctrl-C, more than once, ends it.
panthor-perf record -m 128 -a -p 200us -o pipe 2>err &
pid=$!
exec 3<pipe
until_true 300 stuck || not_ok "samples go on to come, and nobody reads them" "$(delivered)" "$(cat err)"
gone()
{
	kill -INT $pid 2>/dev/null
	grep -q '^State:[[:space:]]*Z' /proc/$pid/status 2>/dev/null || [ ! -e /proc/$pid ]
}
until_true 60 gone || kill -KILL $pid
wait $pid
is "a file that nobody takes: more than one Ctrl-C ends it" $? 8
has "and says what is missing" "$(cat err)" "^panthor-perf: interrupted while writing pipe: the end is missing$"
cat <&3 >cut
exec 3<&-
[ "$(holds cut)" -gt 0 ] && ok "and what was taken can be read" || not_ok "and what was taken can be read" "$(ls -l cut)"

panthor-perf record --perfetto -p 1ms -o direct.trace -- gpu-load >/dev/null 2>err
is "record --perfetto" $? 0
is "loses nothing" "$(said lost)" 0
said samples >direct.samples

# ---- What changed ----

panthor-perf record -p 1ms -a -o a -- gpu-load -j 64 >/dev/null 2>&1
panthor-perf record -p 1ms -a -o b -- gpu-load -j 128 >/dev/null 2>&1
panthor-perf diff -T -e MaliFragQueueJob,MaliCompQueueJob,MaliGPUIRQ a b >out 2>err
is "diff" $? 0
is "twice the jobs are 100 % more" "$(awk '/Mali/ { sub(/~/, "", $1); print $1, $NF, $(NF - 1) }' out | sort -k 3)" \
	"+100.0% jobs MaliCompQueueJob
+100.0% jobs MaliFragQueueJob
+100.0% interrupts MaliGPUIRQ"
panthor-perf diff -T -j -e MaliFragQueueJob b a >out
is "and as JSON half as many are 50 % less" "$(grep -c '"change_percent":-50.0' out)" 1

# ---- Ends ----

panthor-perf record -o c -p 1ms 2>err &
pid=$!
counting()
{
	grep -q 'panthor-perf-samples:[[:space:]]*[1-9]' /proc/$pid/fdinfo/* 2>/dev/null
}
until_true 60 counting || not_ok "no samples come" "$(cat err)"
kill -INT $pid
wait $pid
is "without a command, Ctrl-C ends it well" $? 0
is "its end is in the file" "$(panthor-perf convert --json c | tail -n 1 | grep -o '"reason":"[a-z]*"')" '"reason":"interrupt"'
is "and all that it said" "$(holds c)" "$(said samples)"

panthor-perf record -o c -p 1ms 2>err &
pid=$!
written()
{
	[ "$(holds c)" -gt 0 ]
}
: >c
until_true 60 written || not_ok "nothing is written" "$(cat err)"
kill -KILL $pid
wait $pid 2>/dev/null
panthor-perf report c >out 2>err
is "a kill leaves a file that can be read" $? 0
has "which is said to be cut" "$(cat err)" "c is incomplete"

panthor-perf record -o c -- sh -c 'exit 7' 2>/dev/null
is "the command's status" $? 7
panthor-perf record -o c -- /root/no-such-command 2>err
is "a command that is not there" $? 127
has "is named" "$(cat err)" "cannot run /root/no-such-command"

# ---- Bad input ----

cp c kept
for period in 200 0ms 1m -1ms ms; do
	panthor-perf record -p $period -o c -- touch ran 2>err
	is "a period of $period" "$?" 2
done
has "says which units there are" "$(cat err)" "ns, us, ms or s"
panthor-perf record -e NoSuchCounter -o c -- touch ran 2>err
is "an unknown counter" $? 2
panthor-perf record -d /dev/null -o c -- touch ran 2>err
is "a device that is no GPU" $? 3
panthor-perf record -o /no/such/directory/c -- touch ran 2>err
is "a file that cannot be made" $? 8
[ ! -e ran ] && ok "and the command is not run" || not_ok "and the command is not run" "it was"
cmp -s c kept && ok "and the file is as it was" || not_ok "and the file is as it was" "$(cmp c kept 2>&1)"
panthor-perf record -o /dev/full -- true 2>err
is "a full disk" $? 8
has "is told" "$(cat err)" "No space left on device"
has "with what was lost" "$(cat err)" "[1-9][0-9]* lost"
[ -c /dev/full ] && ok "and /dev/full is still there" || not_ok "and /dev/full is still there" "$(ls -l /dev/full)"
panthor-perf report /bin/busybox 2>err >out
is "a file that is no recording" $? 9
has "is named" "$(cat err)" "/bin/busybox: not a panthor-perf recording"
panthor-perf report /root/no-such-file 2>err
is "a file that is not there" $? 8
panthor-perf convert --csv rec >/dev/full 2>err
is "an output that is full" $? 8
panthor-perf convert rec 2>err
is "no form" $? 2
panthor-perf report -e NoSuchCounter rec 2>err
is "a counter that nobody knows" $? 2
panthor-perf record -e CSHW.4 -o c -- true 2>/dev/null
panthor-perf report -e MaliTilerActiveCy c 2>err
is "a counter that was not recorded" $? 2
has "is named" "$(cat err)" "c does not contain MaliTilerActiveCy: it was not recorded"
panthor-perf report -t c 2>err
is "a tree whose counters were not" $? 2

tool=$(command -v panthor-perf)
chmod 666 /dev/dri/renderD128
chmod 777 /root
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
cp c kept
su user -c "$tool record -o /root/kept -- touch /root/ran" 2>err
is "without the right to count" $? 5
has "what to do" "$(cat err)" "Run as root or with CAP_PERFMON"
[ ! -e ran ] && ok "the command is not run" || not_ok "the command is not run" "it was"

mkfifo held
hold-set 1 >held &
holder=$!
read -r line <held
is "another program counts another set" "$line" counting
panthor-perf record -o kept -- touch ran 2>err
is "then there is a status for it" $? 6
kill $holder
wait $holder 2>/dev/null
[ ! -e ran ] && cmp -s c kept && ok "and nothing else happens" || not_ok "and nothing else happens" "$(ls -l ran c kept 2>&1)"

# ---- The GPU goes away ----

panthor-perf record -p 1ms -o c 2>err &
pid=$!
until_true 60 counting || not_ok "no samples come" "$(cat err)"
basename "$GPU" >/sys/bus/platform/drivers/panthor/unbind
wait $pid
is "a GPU that goes away" $? 7
is "all that came before is in the file" "$(holds c)" "$(said samples)"
is "and how it ended" "$(panthor-perf convert --json c | tail -n 1 | grep -o '"reason":"[a-z]*"')" '"reason":"gpu"'
