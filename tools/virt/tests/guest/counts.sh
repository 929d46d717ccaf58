# SPDX-License-Identifier: MIT
# panthor-perf in the guest: NAME POSITIONS SLICES. What stat prints while the kernel's tracepoints are
# recorded is compared with the model's ledger on the host.
. /root/tap.sh

tracing=/sys/kernel/tracing

# hasnt NAME TEXT PATTERN: no line of TEXT matches
hasnt()
{
	if printf '%s\n' "$2" | grep -q -- "$3"; then
		not_ok "$1" "a line matches: $3" "$2"
	else
		ok "$1"
	fi
}

# same NAME GOT WANT: equal files
same()
{
	if cmp -s "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$2" "$3" | head -n 20)"
	fi
}

# What a program has said, but that the clock is not nominal, which a few milliseconds of work tell badly where the host
# has other work.
said()
{
	grep -v '^Clock: ' /root/err
}

# The same of one with a period, but that samples are long, as they are there.
said_with_period()
{
	said | grep -v '^[1-9][0-9,]* of [1-9][0-9,]* samples covers\{0,1\} more than one period '
}

name=$1
positions=$2
slices=$3
set -- $positions
cores=$#

panthor-perf info >/root/info 2>&1
is "info" $? 0
has "which GPU" "$(cat /root/info)" "$name"
has "its blocks" "$(cat /root/info)" "TILER 1, MEMSYS $slices, SHADER $cores"
panthor-perf info -j >/root/info 2>&1
is "info as JSON" $? 0
has "the size of a header" "$(cat /root/info)" '"sample_header_size":56,'

# little WIDTH NUMBER: its bytes, the lowest first
little()
{
	local i=0

	while [ $i -lt $1 ]; do
		printf "\\$(printf %03o $(($2 >> 8 * i & 255)))"
		i=$((i + 1))
	done
}

# field NAME: a number of info's JSON
field()
{
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" /root/info
}

# What exactness.h calls a head: the comparison on the host learns from it what the GPU is.
{
	little 4 0x54435845
	little 4 $(field gpu_id)
	little 8 $(field shader_present)
	little 4 $(field values_per_block)
	little 4 0
	for type in FW CSG CSHW TILER MEMSYS SHADER; do
		little 4 $(field $type)
	done
	little 4 0
	little 4 0
	little 8 0
	little 8 0
} >/root/record

# The runs of stat that the host compares; nothing counts beside them, so that they are the first, second...
# At one frequency, so that the clocks have one ratio: the ledger does not tell of clocks.
for device in /sys/class/devfreq/*; do
	cat $device/max_freq >$device/min_freq
done
for event in fw_sample baseline delivery state lost request; do
	echo 1 >$tracing/events/panthor/panthor_perf_$event/enable
done
echo mono_raw >$tracing/trace_clock
echo 8192 >$tracing/buffer_size_kb
echo 1 >$tracing/tracing_on
panthor-perf stat -a -x ';' -o /root/once -- gpu-load >/dev/null 2>/root/err
is "stat of all counters" "$? $(said)" "0 "
panthor-perf stat -a -x ';' -I 20 -o /root/intervals -- gpu-load >/dev/null 2>/root/err
is "in intervals" "$? $(said_with_period)" "0 "
panthor-perf stat -a -j -p 5ms --topdown 3 -o /root/periodic -- gpu-load >/dev/null 2>/root/err
is "with a period, and top-down" "$? $(said_with_period)" "0 "
panthor-perf stat -a -x ';' -r 3 -o /root/repeated -- gpu-load >/dev/null 2>/root/err
is "of three runs" "$? $(said)" "0 "
echo 0 >$tracing/tracing_on
is "the trace has no holes" "$(grep -c LOST $tracing/trace)" 0
sed -n 's/^.* \([0-9]*\)\.\([0-9]\{6\}\): *\(panthor_perf_.*\)/\1\2 \3/p' $tracing/trace >/root/trace
for device in /sys/class/devfreq/*; do
	echo 0 >$device/min_freq
done

# What moves in tiler, L2 and shader cores is work alone: nothing of it is before or after gpu-load.
panthor-perf list -x ';' >/root/list
is "list" $? 0
grep -E '^[^;]*;(TILER|MEMSYS|SHADER);' /root/list | cut -d';' -f1-3 >/root/places

# totals: "NAME BLOCK TOTAL" of every counter of every block, by one run of mali-bench a block.
totals()
{
	for type in TILER MEMSYS SHADER; do
		case $type in
		TILER) indices=0 ;;
		MEMSYS) indices=$(seq 0 $((slices - 1))) ;;
		SHADER) indices=$positions ;;
		esac
		grep ";$type;" /root/places | cut -d';' -f3 >/root/counters
		number=0
		for index in $indices; do
			args=
			while read -r counter; do
				args="$args counter=$counter generated"
			done </root/counters
			mali-bench -d type=$(echo $type | tr A-Z a-z) index=$index $args >/root/values
			grep ";$type;" /root/places | cut -d';' -f1 | paste - /root/values |
				sed "s/^\([^	]*\)	\(.*\)/\1 $type $number \2/"
			number=$((number + 1))
		done
	done
}

totals >/root/before
is "the model tells its totals" "$(wc -l </root/before)" \
	"$(($(grep -c TILER /root/places) + slices * $(grep -c MEMSYS /root/places) + cores * $(grep -c SHADER /root/places)))"

panthor-perf stat -a -b -x ';' -o /root/counts -- gpu-load >/root/load 2>&1
is "stat has the command's status" $? 0
has "and leaves its output alone" "$(cat /root/load)" " 0 errors"
totals >/root/after

# "NAME TYPE BLOCK COUNT", of the model and of panthor-perf.
paste /root/before /root/after | awk '{ printf "%s %s %s %d\n", $1, $2, $3, $8 - $4 }' | sort >/root/want
awk -F';' '$5 != "" && $4 !~ /CSHW|topdown/ { print $3, $4, $5, $1 }' /root/counts | sort >/root/got
same "every block's counts are the model's" /root/got /root/want
awk '{ sum[$1] += $4 } END { for (n in sum) printf "%s %d\n", n, sum[n] }' /root/want | sort >/root/want.sums
awk -F';' '$5 == "" && ($4 == "TILER" || $4 == "MEMSYS" || $4 == "SHADER") { print $3, $1 }' \
	/root/counts | sort >/root/got.sums
same "and so are the sums" /root/got.sums /root/want.sums
[ "$(awk '$4 > 0' /root/want | wc -l)" -gt 100 ] && ok "something was counted" ||
	not_ok "something was counted" "$(cat /root/want)"

# Jobs, by the place of the counters.
panthor-perf stat -x ';' -e CSHW.17,CSHW.25,CSHW.33 -o /root/counts gpu-load >/dev/null 2>&1
is "jobs of the tiler, compute and fragment iterators" "$(cut -d';' -f1 /root/counts | tr '\n' ' ')" \
	"32 16 16 "

# What is derived follows from what is counted.
panthor-perf stat -x ';' -e MaliExtBusRdBt,MaliExtBusRdBy,MaliGPUActiveCy,MaliTilerActiveCy,MaliTilerUtil \
	-o /root/counts gpu-load >/dev/null
is "bytes are beats of 16" "$(sed -n 2p /root/counts | cut -d';' -f1)" \
	"$(($(sed -n 1p /root/counts | cut -d';' -f1) * 16))"
is "utilization is a part of the active cycles" \
	"$(awk -F';' '{ v[$3] = $1 } END { print int(v["MaliTilerUtil"] * 1000) }' /root/counts)" \
	"$(awk -F';' '{ v[$3] = $1 } END { print int(v["MaliTilerActiveCy"] / v["MaliGPUActiveCy"] * 100000) }' /root/counts)"

# For people.
panthor-perf stat -- gpu-load >/root/out 2>/root/err
is "stat for people" $? 0
has "has the time" "$(cat /root/err)" "Counters of $name (/dev/dri/renderD128) over "
has "names" "$(cat /root/err)" "Tiler active cycles"
has "values and rates" "$(grep MaliTilerActiveCy /root/err)" "cycles/s"
hasnt "no count is missing" "$(cat /root/err)" "missing"

panthor-perf stat -j -e MaliGPUAnyQueueActiveCy -o /root/json -- gpu-load >/dev/null
has "stat as JSON" "$(cat /root/json)" '"name":"MaliGPUAnyQueueActiveCy",'

panthor-perf stat --topdown 2 -- gpu-load >/dev/null 2>/root/err
is "top-down for people" $? 0
has "has the load first" "$(sed -n 2p /root/err)" "^GPU load: [0-9.]* % of the time, [0-9.]* % of the cycles\$"
has "parts of two levels" "$(cat /root/err)" "^ *[0-9.]*    Load/store\$"
has "the largest, and what to look at next" "$(cat /root/err)" '^Largest: .*\. [A-Z].*\.$'
has "and says that it is an estimate" "$(cat /root/err)" "estimate from counters, not a measurement"

# A machine that has much else to do may keep the reader from its ring at any time: here something does.
cat >/root/late <<'EOF'
. /root/tap.sh
delivered()
{
	sed -n 's/panthor-perf-samples:[[:space:]]*//p' /proc/$PPID/fdinfo/* 2>/dev/null | sort -n | tail -n 1
}
# Whether no sample comes any more, since the ring is full.
full()
{
	before=$(delivered)
	sleep 0.2
	[ "${before:-0}" -gt 0 ] && [ "$(delivered)" = "$before" ]
}
kill -STOP $PPID
until_true 60 full || echo "the ring is never full"
kill -CONT $PPID
exec gpu-load
EOF
panthor-perf stat --topdown -I 20 -o /root/rows -- sh /root/late >/root/out 2>/root/err
is "stat whose reader is late" "$? $(grep -c ' 0 errors$' /root/out)" "0 1"
is "a line an interval, whose parts are all cycles" \
	"$(awk '!/^#/ && !/^  *#/ { n++; t = 0; for (i = 3; i <= NF; i++) t += $i; if (NF != 7 || t < 99.9 || t > 100.1) print }
	END { print (n > 1 ? "several" : n + 0) }' /root/rows)" several
is "and that samples are longer is told, and nothing else" \
	"$(said | sed 's/^[1-9][0-9,]* of [1-9][0-9,]* samples covers\{0,1\} more than one period .*/longer/')" longer

panthor-perf stat --per-core -x ';' -e MaliCoreUtil -o /root/counts -- gpu-load >/dev/null
is "each core's value of what is derived" \
	"$(awk -F';' '$5 != "" { print $3, $4, $5, ($1 > 0 && $1 <= 100) }' /root/counts | sort -u | wc -l)" $cores

# The library's example.
count >/root/out 2>&1
is "the library's example counts" $? 0
has "and prints the load" "$(cat /root/out)" "^GPU load [0-9.]* %\$"

panthor-perf 2>/root/err
is "without a command" $? 2
has "the commands are listed" "$(cat /root/err)" "^  stat  *count while a command runs$"

# The command's end is stat's.
panthor-perf stat -o /dev/null -- sh -c 'exit 7'
is "the command's status" $? 7
panthor-perf stat -o /dev/null -- sh -c 'kill -9 $$'
is "the signal that ended it" $? 137
panthor-perf stat -o /dev/null -- /root/no-such-command 2>/root/err
is "a command that is not there" $? 127
has "is named" "$(cat /root/err)" "cannot run /root/no-such-command"
panthor-perf stat -o /dev/null -- /root/tap.sh 2>/dev/null
is "a command that cannot be run" $? 126

# Without a command it counts until it is told to end.
panthor-perf stat -x ';' -e CSHW.25 -o /root/counts &
pid=$!
sampled()
{
	grep -q 'panthor-perf-samples:[[:space:]]*[1-9]' /proc/$pid/fdinfo/* 2>/dev/null
}
until_true 60 sampled || not_ok "there is no sample"
gpu-load >/dev/null
kill -INT $pid
wait $pid
is "without a command, Ctrl-C ends it" $? 0
is "with the counts" "$(cut -d';' -f1 /root/counts)" 16

# Bad input.
panthor-perf stat -e NoSuchCounter -- touch /root/ran 2>/root/err
is "an unknown counter" $? 2
has "is named" "$(cat /root/err)" "$name has no counter \"NoSuchCounter\". Run panthor-perf list to see all counters."
panthor-perf stat -o /no/such/directory/file -- touch /root/ran 2>/root/err
is "a file that cannot be written" $? 8
panthor-perf stat -o /dev/full -- true 2>/root/err
is "a disk that is full" $? 8
has "is told" "$(cat /root/err)" "cannot write /dev/full: No space left on device"
for wrong in "-p 200" "-p 0us" "-p 1x" "-I 0" "-I 1.5" "-r 0" "-r 2000" "--topdown=0" "--topdown=4" "-j -x;" \
	"-I 10 -r 2" "-e MaliGPUActiveCy,"; do
	panthor-perf stat $wrong -- touch /root/ran 2>/root/err
	is "stat $wrong" "$? $(grep -c . /root/err | sed 's/^[1-9].*/told/')" "2 told"
done
[ ! -e /root/ran ] && ok "and the command is not run" || not_ok "and the command is not run" "it was"

# Without CAP_PERFMON.
tool=$(command -v panthor-perf)
chmod 666 /dev/dri/renderD128
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
su user -c "$tool stat -- true" 2>/root/err
is "without the right to count" $? 5
has "what to do" "$(cat /root/err)" "Run as root or with CAP_PERFMON"
su user -c "$tool info" >/dev/null 2>&1
is "info needs no right" $? 0
echo 0 >/sys/module/panthor/parameters/perf_paranoid
su user -c "$tool stat -- true" 2>/root/err
is "with leave for everybody" $? 0
su user -c "$tool stat -p 500us -- true" 2>/root/err
is "but not for a short period" $? 5
has "which is told" "$(cat /root/err)" "use a period of 1 ms or more"
chmod 600 /dev/dri/renderD128
su user -c "$tool info" 2>/root/err
is "a node that may not be opened" $? 5
has "what to do" "$(cat /root/err)" "Join its group"

# Another set: hold-set counts the secondary one until it is killed.
panthor-perf info -j | grep -q '"secondary"'
is "there are more counter sets" $? 0
mkfifo /root/held
hold-set 1 >/root/held &
holder=$!
read -r line </root/held
is "another program counts another set" "$line" counting
panthor-perf stat -- true 2>/root/err
is "then there is a status for it" $? 6
has "and what to do" "$(cat /root/err)" "another program is using a different counter set of this GPU. End it first"
kill $holder
wait $holder 2>/dev/null

# The GPU goes away while it is counted: after a first sample, so that there is something to print.
panthor-perf stat -e CSHW.25 -x ';' -o /root/counts 2>/root/err &
pid=$!
until_true 60 sampled || not_ok "the first session has no sample"
first=$pid
panthor-perf stat -I 10000000 -e CSHW.25 -x ';' -o /root/interval 2>/dev/null &
pid=$!
until_true 60 sampled || not_ok "the second session has no sample"
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
wait $first
is "a GPU that goes away" $? 7
wait $pid
is "in an interval" "$? $(cut -d';' -f4,5 /root/interval)" "7 MaliCompQueueJob;CSHW"
has "is told" "$(cat /root/err)" "/dev/dri/renderD128 is gone"
is "and what was counted is printed" "$(cut -d';' -f3,4 /root/counts)" "MaliCompQueueJob;CSHW"
panthor-perf stat -p 10ms -- true 2>/root/err
is "then there is no device" $? 3
