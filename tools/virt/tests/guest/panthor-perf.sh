# SPDX-License-Identifier: MIT
# panthor-perf in the guest: NAME POSITIONS SLICES.
. /root/tap.sh

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
awk -F';' '$5 != "" && $4 != "CSHW" { print $3, $4, $5, $1 }' /root/counts | sort >/root/got
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
counting()
{
	grep -q 'panthor-perf-sessions:[[:space:]]*1' /proc/$pid/fdinfo/* 2>/dev/null
}
until_true 20 counting || not_ok "the session does not show in fdinfo"
gpu-load >/dev/null
kill -INT $pid
wait $pid
is "without a command, Ctrl-C ends it" $? 0
is "with the counts" "$(cut -d';' -f1 /root/counts)" 16

# Bad input.
panthor-perf stat -e NoSuchCounter -- touch /root/ran 2>/root/err
is "an unknown counter" $? 2
has "is named" "$(cat /root/err)" "$name has no counter \"NoSuchCounter\": see panthor-perf list"
panthor-perf stat -o /no/such/directory/file -- touch /root/ran 2>/root/err
is "a file that cannot be written" $? 1
[ ! -e /root/ran ] && ok "and the command is not run" || not_ok "and the command is not run" "it was"

# Without CAP_PERFMON.
tool=$(command -v panthor-perf)
chmod 666 /dev/dri/renderD128
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
su user -c "$tool stat -- true" 2>/root/err
is "without the right to count" $? 1
has "what to do" "$(cat /root/err)" "run as root or with CAP_PERFMON"
su user -c "$tool info" >/dev/null 2>&1
is "info needs no right" $? 0
echo 0 >/sys/module/panthor/parameters/perf_paranoid
su user -c "$tool stat -- true" 2>/root/err
is "with leave for everybody" $? 0
