#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What panthor-perf's commands say of a GPU that is a fake one, which counts what it is told to; all of it
# with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/locales.sh"
. "$(dirname "$0")/../../virt/tests/lib/perfetto.sh"

tool=$SCRATCH/live-test
tool_builds live-test rates-test

build_decoder
make_locales
locale=C

# counted NAME BYTES ARGUMENT...: the tool while its GPU counts BYTES (see fake-gpu.c); its status, and what it
# prints in NAME.out and NAME.err
counted()
{
	local name=$1 bytes=$2 status

	shift 2
	mkfifo "$SCRATCH/ticks"
	# Open for both, so that the bytes stay until they are read.
	exec 6<>"$SCRATCH/ticks"
	printf '%s' "$bytes" >&6
	FAKE_TICKS=$SCRATCH/ticks in_locale "$locale" "$tool" "$@" >"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err"
	status=$?
	exec 6>&-
	rm "$SCRATCH/ticks"
	return $status
}

# exported NAME: NAME.prom is what export wrote after the first sample
exported()
{
	local pid

	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf s >&6
	FAKE_TICKS=$SCRATCH/ticks env --default-signal=INT "$tool" export -t "$SCRATCH/$1.now" -p 1s 2>"$SCRATCH/$1.err" &
	pid=$!
	until_true grep -qs '^mali_samples_total{.*} 1$' "$SCRATCH/$1.now"
	cp "$SCRATCH/$1.now" "$SCRATCH/$1.prom"
	kill -INT "$pid"
	wait "$pid"
	exec 6>&-
	rm "$SCRATCH/ticks"
}

# ---- Samples that cover more than one period ----

# late N OF MEAN: the sentence
late()
{
	echo "$1 of $2 samples cover$([ "$1" -ne 1 ] || echo s) more than one period (longest 5,000.000 ms, mean $3 ms): the kernel or" \
		"panthor-perf was late. No counts are missing."
}

# Each t is five seconds, all else one; the last sample is that of the end.
counted late stts record -p 1s -o "$SCRATCH/late.data" -- true
is "record tells of deadlines that were missed" "$? $(sed -n '2,$p' "$SCRATCH/late.err")" "0 $(late 2 5 2,600.000)"
is "report does" "$("$tool" report "$SCRATCH/late.data" | sed -n '1s/.*data: //p; /more than one/p')" \
	"a fake, 5 samples of 2600 ms on average over 13.000000 s; the period is 1000 ms
$(late 2 5 2,600.000)"
is "report -j does" "$("$tool" report -j "$SCRATCH/late.data" | grep -o '"\(stretched\|longest_ns\|mean_ns\)":[0-9]*' | tr '\n' ' ')" \
	'"stretched":2 "longest_ns":5000000000 "mean_ns":2600000000 '
counted late sts stat -p 1s -- true
is "stat does" "$? $(grep "more than one" "$SCRATCH/late.err")" "0 $(late 1 4 2,000.000)"
counted late sss record -p 1s -o "$SCRATCH/late.data" -- true
is "where none was, nothing is told" "$? $(sed -n '2,$p' "$SCRATCH/late.err")$("$tool" report "$SCRATCH/late.data" |
	sed -n '1s/.*data: //p; /more than one/p')" "0 a fake, 4 samples of 1000 ms over 4.000000 s"

# ---- What is recorded without -e ----

counted stat ss stat -x ';' -p 1s -- true
counted record ss record -p 1s -o "$SCRATCH/default.data" -- true
"$tool" report -j "$SCRATCH/default.data" | sed -n 's/.*"name":"\(Mali[^"]*\)".*/\1/p' >"$SCRATCH/recorded"
is "record without -e has all that stat shows" "$(cut -d';' -f3 "$SCRATCH/stat.err" | sed '/^Mali/!d' | grep -vxFf "$SCRATCH/recorded")" ""
is "which is much" "$(grep -c '^[0-9.]*;[^;]*;Mali' "$SCRATCH/stat.err" | sed 's/^[2-9].$/much/')" much
is "and top-down" "$("$tool" report -t "$SCRATCH/default.data" | grep -c '^ *[0-9.]* %')" \
	"$("$tool" report -j "$SCRATCH/default.data" | grep -c '"level":[1-9]')"

# ---- Signals ----

ended()
{
	! kill -0 "$1" 2>/dev/null
}

# begin NAME ARGUMENT...: the tool, PID, with a command that tells its process in NAME.pid, and ticks that nobody gives
begin()
{
	local name=$1

	shift
	mkfifo "$SCRATCH/$name.ticks"
	# A shell ignores SIGINT for what it starts in the background, and nothing but another program undoes that.
	FAKE_TICKS=$SCRATCH/$name.ticks env --default-signal=INT "$@" >"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err" &
	PID=$!
}

# It ignores SIGINT, as a program does that asks whether to save.
stubborn='trap "" INT; echo $$ >'$SCRATCH'/stubborn.pid; while :; do read -rt 1 <> <(:); done'
for command in record stat; do
	rm -f "$SCRATCH/stubborn.pid"
	begin "stubborn-$command" "$tool" $command -o "$SCRATCH/stubborn.data" -- bash -c "$stubborn"
	until_true test -s "$SCRATCH/stubborn.pid"
	kill -INT "$PID"
	# The first is taken before the second comes.
	until_true grep -q '^ShdPnd:.*[014589cd]$' "/proc/$PID/status"
	read -rt 0.5 <> <(:) || :
	ended "$PID" && not_ok "$command: one Ctrl-C is the command's" || ok "$command: one Ctrl-C is the command's"
	kill -INT "$PID"
	until_true ended "$PID" || kill -KILL "$PID"
	wait "$PID"
	is "$command: a second one ends it" "$? $(grep -c "^panthor-perf: process $(cat "$SCRATCH/stubborn.pid") ignored the interrupt" \
		"$SCRATCH/stubborn-$command.err")" "130 1"
	kill -KILL "$(cat "$SCRATCH/stubborn.pid")"
done

# Who has started it ignores the end of children.
for command in record stat; do
	begin "ignored-$command" env --ignore-signal=CHLD "$tool" $command -o "$SCRATCH/ignored.data" -- sh -c 'exit 3'
	until_true ended "$PID" || kill -KILL "$PID"
	wait "$PID"
	is "$command: SIGCHLD is ignored by who has started it" $? 3
done

# ---- What people type ----

# says NAME STATUS PATTERN ARGUMENT...: the tool has this status, and a line that it prints matches
says()
{
	local name=$1 want=$2 pattern=$3 got

	shift 3
	counted says s "$@"
	got=$?
	if [ "$got" -eq "$want" ] && cat "$SCRATCH/says.out" "$SCRATCH/says.err" | grep -q -- "$pattern"; then
		ok "$name"
	else
		not_ok "$name" "status $got instead of $want" "$(head -n 5 "$SCRATCH/says.out" "$SCRATCH/says.err")"
	fi
}
says "help" 0 "^Commands:" help
says "-h" 0 "^Commands:" -h
says "help stat" 0 "^Usage: panthor-perf stat " help stat
says "stat -h" 0 "^Usage: panthor-perf stat " stat -h
for device in renderD130 130 /dev/dri/renderD130; do
	says "-d $device" 0 "^Device  */dev/dri/renderD130," info -d $device
done
says "-d of a card that is not there" 0 "^Device  *card77," info -d card77
says "-I with a unit" 0 "GPU load" stat -I 10s -- true
says "-I without" 0 "GPU load" stat -I 10000 -- true
says "-I of no whole milliseconds" 2 "or a unit, such as 1s" stat -I 1500us -- true
for command in stat record top export; do
	says "$command -p without a unit" 2 "-p: \"20\" has no unit. Did you mean 20ms?" $command -p 20
done

# meant TEXT ARGUMENT...: the message ends with this
meant()
{
	local name=$1

	says "$*" 2 "\\. $name$" "${@:2}"
}
meant "Did you mean stat?" statt
meant "Did you mean record or report?" repord
meant "Did you mean doctor?" DOCTOR
meant "Run panthor-perf help to list all commands." nothing
meant "Did you mean MaliGPUActiveCy?" stat -e MaliGPUActive -- true
meant "Did you mean MaliGPUActiveCy?" stat -e maligpuactivcy -- true
meant "Did you mean GPU active cycles?" stat -e "GPU active cycle" -- true
meant "Did you mean GPU_ACTIVE?" stat -e GPU_ACTVIE -- true
meant "Did you mean SHADER.20?" record -o "$SCRATCH/x" -e shadr.20 -- true
meant "Did you mean MaliExtBusRd, MaliExtBusWr or MaliExtBusRdBy?" stat -e MaliExtBusBy -- true
meant "Run panthor-perf list to see all counters." stat -e "Mali*Nothing" -- true
meant "Run panthor-perf list to see all counters." stat -e SHADER.200 -- true
meant "Did you mean MaliGPUActiveCy?" report -e MaliGPUActive "$SCRATCH/late.data"
meant "Did you mean MaliGPUActiveCy?" diff -e MaliGPUActive "$SCRATCH/late.data" "$SCRATCH/late.data"
meant "Did you mean G610 or G615?" list -g G61
meant "Did you mean Mali-G610?" list -g Mali-G160
meant "Did you mean G1-Pro?" list -g G1Pro
meant "Use the name of a product, such as G610." list -g Adreno
says "a counter set" 2 "Did you mean secondary?$" stat --set secondry -- true
says "a unit" 2 "Did you mean 10ms?$" stat -p 10mss -- true
says "a time that is none" 2 "Use a number with a unit of ns, us, ms or s, such as 200us.$" stat -p soon -- true
says "export needs no form" 2 "cannot be combined" export -l :0 -t "$SCRATCH/x"
says "all GPUs are listed" 0 "^Device  */dev/dri/renderD129," info
is "each of them" "$(counted info s info -j; grep -o '"device":"[^"]*"' "$SCRATCH/info.out" | tr '\n' ' ')" \
	'"device":"/dev/dri/renderD128" "device":"/dev/dri/renderD129" '
mkdir -p "$SCRATCH/gpu/of_node"
printf 'core\0stacks\0' >"$SCRATCH/gpu/of_node/clock-names"
FAKE_SYSFS=$SCRATCH/gpu says "names of the GPU's clocks" 0 "^Names of clocks  *core, stacks$" info
printf 'core\0coregroup\0' >"$SCRATCH/gpu/of_node/clock-names"
FAKE_SYSFS=$SCRATCH/gpu says "one that is not the core group's" 0 "^Names of clocks  *core, coregroup (coregroup is a bus clock" info
is "names of clocks in JSON" "$(FAKE_SYSFS=$SCRATCH/gpu "$tool" info -j -d renderD128 | jq -c '[.clock_names, .memory]')" \
	'[["core","coregroup"],"not coherent"]'
says "list as JSON" 0 '"equation":' list -j -g G610
is "has all that list -x has" "$("$tool" list -j -g G610 | sed -n 's/.*"name":"\([^"]*\)".*/\1/p')" \
	"$("$tool" list -x : -g G610 | cut -d: -f1)"
(cd "$SCRATCH" && counted default s record -p 1s -- true)
is "record's file is what report and convert read" \
	"$(cd "$SCRATCH" && "$tool" report | head -n 1 | cut -d: -f1; cd "$SCRATCH" && "$tool" convert -c | wc -l)" "panthor-perf.data
3"
# A terminal shows nothing of a trace.
script -qec "$tool convert -P $SCRATCH/late.data; echo = \$?" "$SCRATCH/typescript" </dev/null >/dev/null 2>&1
is "a trace is not written to a terminal" "$(grep -ac "a terminal cannot show binary data" "$SCRATCH/typescript") $(grep -a '^= ' "$SCRATCH/typescript" |
	tr -d '\r')" "1 = 2"

# completes WORD...: what the last of the words of a command line can become
completes()
{
	bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_panthor_perf
		printf "%s\n" "${COMPREPLY[@]}"' bash "$VIRT_DIR/../panthor-perf/panthor-perf.bash" "$tool" "$@" | tr '\n' ' '
}
is "counters complete" "$(completes stat -e MaliGPUAnyQueueA) $(completes stat --event = MaliGPUAnyQueueA)" \
	"MaliGPUAnyQueueActiveCy  MaliGPUAnyQueueActiveCy "
is "and the last of a list" "$(completes record -e MaliTilerActiveCy,MaliGPUAnyQueueA)" "MaliTilerActiveCy,MaliGPUAnyQueueActiveCy "
for command in report convert diff; do
	is "$command reads files" "$(completes $command "$SCRATCH/late.dat")" "$SCRATCH/late.data "
done

# Each line is an update, for which there is a sample; how often all of /proc is read does not follow them.
cat >"$SCRATCH/scans.c" <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

DIR *opendir(const char *name)
{
	DIR *(*real)(const char *) = (DIR * (*)(const char *))dlsym(RTLD_NEXT, "opendir");
	int fd = strcmp(name, "/proc") ? -1 : open(getenv("SCANS"), O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (fd >= 0 && write(fd, "s", 1) == 1)
		close(fd);
	return real(name);
}
END
if "${CC:-cc}" -shared -fPIC -o "$SCRATCH/scans.so" "$SCRATCH/scans.c" -ldl 2>"$SCRATCH/err"; then
	mkfifo "$SCRATCH/ticks" "$SCRATCH/lines"
	exec 6<>"$SCRATCH/ticks" 7<>"$SCRATCH/lines"
	began=$(date +%s%N)
	FAKE_TICKS=$SCRATCH/ticks env --default-signal=INT ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$SCRATCH/scans.so" \
		SCANS="$SCRATCH/scans" "$tool" top -p 10ms >"$SCRATCH/lines" 2>"$SCRATCH/err" &
	pid=$!
	updates=0
	printf s >&6
	while [ "$updates" -lt 60 ] && read -rt 60 line <&7; do
		case $line in
		*%*)
			updates=$((updates + 1))
			printf s >&6
			;;
		esac
	done
	kill -INT "$pid"
	wait "$pid"
	status=$?
	exec 6>&- 7>&-
	rm "$SCRATCH/ticks"
	scans=$(stat -c %s "$SCRATCH/scans" 2>/dev/null)
	# One before the first update, and one at the end.
	most=$((($(date +%s%N) - began) / 250000000 + 2))
	[ "$status" -eq 0 ] && [ "$updates" -eq 60 ] && [ "${scans:-0}" -gt 0 ] && [ "$scans" -le "$most" ] &&
		ok "$updates updates of top read /proc $scans times" ||
		not_ok "top reads /proc every 250 ms at the most" "status $status, $updates updates, ${scans:-none} of $most" "$(cat "$SCRATCH/err")"
else
	not_ok "what counts how often /proc is read compiles" "$(cat "$SCRATCH/err")"
fi

# ---- Counter sets ----

# The tables have names of the primary set alone: what is counted in another one is none of those.
counted set ss stat --set secondary -p 1s -x ';' -e SHADER.20 -- true
is "stat of another set" "$? $(cut -d';' -f1,3,4 "$SCRATCH/set.err")" "0 $((2 * (5000 + 6000 + 7000 - 60)));SHADER.20;SHADER"
counted set ss stat --set secondary -p 1s -e SHADER.20 -- true
is "which has no counter of a load" "$(grep -c 'SHADER.20' "$SCRATCH/set.err") $(grep -c 'GPU load' "$SCRATCH/set.err")" "1 0"
counted clocks ss stat -j -o "$SCRATCH/clocks" -p 1s -- true
is "stat -j has the cycles of each clock that there is" "$? $(tr -d ' \n' <"$SCRATCH/clocks" | grep -o '"cycles":{[^}]*}')" \
	'0 "cycles":{"toplevel":30000,"shader":27000}'
counted set ss record --set 1 -p 1s -e SHADER.20 -o "$SCRATCH/set.data" -- true
is "and record" "$? $("$tool" report -j "$SCRATCH/set.data" | grep -o '"set":[0-9]\|"name":"[A-Z][^"]*"\|"total":[0-9]*' | tr '\n' ' ')" \
	"0 \"set\":1 \"name\":\"SHADER.20\" \"total\":$((2 * (5000 + 6000 + 7000 - 60))) "
is "and a trace" "$("$tool" convert -P "$SCRATCH/set.data" | "$SCRATCH/expand-trace" | grep -ac 'Core 0: SHADER.20')" 1
says "names of the primary set" 2 'has no counter "MaliGPUActiveCy"' stat --set secondary -e MaliGPUActiveCy -- true
says "another set without -e" 2 "needs -e BLOCK.INDEX" record --set secondary -- true
says "a set that is none" 2 "unknown counter set \"3\". Use primary, secondary or tertiary." stat --set 3 -- true

# ---- Figures ----

# 1000 cycles a second or so, of which the GPU was active in 996 (s), or 986 with the last.
says "stat has the mean frequency" 0 "^Mean frequency while active: 0.01 MHz" stat -p 1s -- true
is "and report" "$("$tool" report "$SCRATCH/late.data" | grep '^Mean freq')" "Mean frequency while active: 0.01 MHz"
is "and its JSON" "$("$tool" report -j "$SCRATCH/late.data" | grep -o '"active_hz":[0-9]*')" '"active_hz":10000'
says "and that of stat" 0 '"active_hz":10000' stat -j -p 1s -- true
exported frequency
is "and export" "$(sed -n 's/^mali_gpu_active_frequency_hertz{[^}]*} //p' "$SCRATCH/frequency.prom")" 10000

# The same everywhere: what comes first, of two seconds.
# first FILE: its figures in JSON, without spaces
first()
{
	tr -d ' \n' <"$1" | grep -oE '"(load|bandwidth)":\{[^}]*\}' | sed 's/\.0\([,}]\)/\1/g' | sort
}
counted same ss record -p 1s -o "$SCRATCH/same.data" -- true
"$tool" report -j "$SCRATCH/same.data" >"$SCRATCH/same.report"
counted same-stat ss stat -j -p 1s -o "$SCRATCH/same.stat" -- true
counted same-top ss top --once -j -p 10ms
first "$SCRATCH/same.report" >"$SCRATCH/first"
is "load, frequency and bandwidth are counted" "$(grep -oE '"[a-z_]*":[0-9.]*[1-9][0-9.]*' "$SCRATCH/first" | cut -d: -f1 | tr '\n' ' ')" \
	'"read" "written" "of_time" "of_cycles" "active_seconds" "active_cycles" "cycles" "active_hz" '
is "stat has those of report" "$(first "$SCRATCH/same.stat")" "$(cat "$SCRATCH/first")"
is "so has top" "$(first "$SCRATCH/same-top.out")" "$(cat "$SCRATCH/first")"
exported same
counted one sg stat -j -p 1s -o "$SCRATCH/one.stat"
is "so has export, of one second" \
	"$(sed -n 's/^mali_\(gpu_load_ratio\|gpu_active_frequency_hertz\|external_memory_bytes_per_second\){[^}]*} //p' "$SCRATCH/same.prom" | tr '\n' ' ')" \
	"$(first "$SCRATCH/one.stat" | awk '{ gsub(/[{},]/, "\n"); print }' | awk -F: '/of_time|of_cycles|active_hz/ { load = load $2 " " }
		/read|written/ { bandwidth = bandwidth $2 " " } END { print load bandwidth }')"
counted same-rows ss stat -x ';' -p 1s -- true
is "so have rows of stat" "$(awk -F';' '$4 == "figure" { v[$3] = $1 / ($2 == "percent" ? 100 : 1) }
	END { for (n in v) printf "%s %.9g\n", n, v[n] }' "$SCRATCH/same-rows.err" | sort)" "$(sed -E 's/^"([a-z]*)":\{/\1,/; s/\}$//' "$SCRATCH/first" |
	awk -F, '{ for (i = 2; i <= NF; i++) { split($i, v, ":"); gsub(/"/, "", v[1])
		if (v[1] !~ /^(active_seconds|active_cycles|cycles)$/) printf "%s.%s %.9g\n", $1, v[1], v[2] } }' | sort)"
is "with units, and behind all counters" \
	"$(awk -F';' '$4 == "figure" { print NF, $2, $5 $6 } $4 == "topdown" { n++ } $3 ~ /^Mali/ && seen { print } { seen += $4 == "figure" }
		END { print n }' "$SCRATCH/same-rows.err" | tr '\n' ';')" \
	"6 percent ;6 percent ;6 hertz ;6 bytes/second ;6 bytes/second ;6;"
is "of top-down those of its line" "$(awk -F';' '$4 == "topdown" && $5 == 1 { printf "%.0f%% ", $1 }' "$SCRATCH/same-rows.err")" \
	"$(counted same-line ss stat -p 1s -- true; sed -n '/^Top-down/{s/^[^:]*: //; s/[^0-9]* \([0-9]*%\),*/\1 /g; p}' "$SCRATCH/same-line.err")"
counted same-rows ss stat -x ';' -r 1 -p 1s -- true
is "and with -r a deviation" "$(awk -F';' '$4 == "figure" { print NF, $7 }' "$SCRATCH/same-rows.err" | sort | uniq -c | tr -s ' ')" " 5 7 0"
counted same-rows ss stat -x ';' -I 1s -p 1s -- true
is "with -I a time, in each interval" "$(awk -F';' '$4 ~ /^load\./ { n[$1]++ } END { for (t in n) { times++; if (n[t] != 3 && n[t] != 2) print t, n[t] } print (times > 1) }' \
	"$SCRATCH/same-rows.err")" 1
counted same-rows ss stat -x ';' -e MaliGPUActiveCy -p 1s -- true
is "with -e what is wanted alone" "$(cut -d';' -f3 "$SCRATCH/same-rows.err")" MaliGPUActiveCy
for form in "report $SCRATCH/same.data" "stat -p 1s -- true" "stat -a -p 1s -- true"; do
	# shellcheck disable=SC2086
	counted first ss $form
	cat "$SCRATCH/first.out" "$SCRATCH/first.err" | sed -n '/^GPU load/,/^Top-down/p' >"$SCRATCH/text"
	is "${form%% *} says them first" "$(sed 's/[0-9.]\+/N/g' "$SCRATCH/text")" "GPU load: N % of the time, N % of the cycles
Mean frequency while active: N MHz
External memory: N kB/s read, N kB/s written
Top-down (an estimate): Idle N%, Front end N%, Tiler N%, Shader cores N%, External memory N%"
	[ -n "${text:-}" ] || text=$(cat "$SCRATCH/text")
	is "the same" "$(cat "$SCRATCH/text")" "$text"
done
counted few ss stat -e MaliGPUActiveCy -p 1s -- true
is "but top-down, if few counters are wanted" "$(grep -c '^Top-down' "$SCRATCH/few.err") $(grep -c '^External' "$SCRATCH/few.err")" "0 1"
"$tool" report --html "$SCRATCH/same.html" "$SCRATCH/same.data" 2>"$SCRATCH/err"
is "a page has them" "$? $(cat "$SCRATCH/err")$(sed -n 's/.*data-key="\([a-z_.]*\)" data-v="\([^"]*\)".*/\1 \2/p' "$SCRATCH/same.html" |
	sed 's/\.0$//' | sort)" "0 $(awk '{ match($0, /"[a-z]*/); object = substr($0, 2, RLENGTH - 1); sub(/^[^{]*{/, ""); sub(/}.*/, ""); n = split($0, item, ",")
	for (i = 1; i <= n; i++) { split(item[i], v, ":"); gsub(/"/, "", v[1]); if (v[1] ~ /^(of_|active_hz|read|written)/) print object "." v[1], v[2] } }' \
	"$SCRATCH/first" | sort)"

# The real rate of the clock and the nominal one: 10000 cycles a second were counted.
# nominal HZ CHANGES: what the kernel says
nominal()
{
	mkdir -p "$SCRATCH/sys/devfreq/gpu"
	echo "$1" >"$SCRATCH/sys/devfreq/gpu/cur_freq"
	printf '     From  :   To\n           :%10d%10d   time(ms)\n*%10d:         0         1       700\n %10d:         1         0        40\nTotal transition : %d\n' \
		"$1" 70000000 "$1" 70000000 "$2" >"$SCRATCH/sys/devfreq/gpu/trans_stat"
}
mkdir "$SCRATCH/rates"
run_tests 17 "rates" "$SCRATCH/rates-test" "$SCRATCH/rates"
export FAKE_SYSFS=$SCRATCH/sys
off="the GPU runs at 0.01 MHz, the clock framework says 0.02 MHz"
nominal 20000 2
counted clock-stat ss stat -p 1s -- true
is "stat says that the clock's rate is not the nominal one" "$(grep -A1 '^Mean' "$SCRATCH/clock-stat.err")" \
	"Mean frequency while active: 0.01 MHz
Clock: $off"
counted clock-lines ss stat -x ';' -p 1s -- true
is "beside fields, too" "$(grep -c "^Clock: $off\$" "$SCRATCH/clock-lines.err") $(grep -c ';' "$SCRATCH/clock-lines.err" | sed 's/[0-9]\+/N/')" "1 N"
counted clock-json ss stat -j -o "$SCRATCH/clock.stat" -p 1s -- true
is "and beside JSON" "$(cat "$SCRATCH/clock-json.err")" "Clock: $off"
both='"clock":{"measured_hz":10000,"nominal_hz":20000}'
is "which has both" "$(tr -d ' \n' <"$SCRATCH/clock.stat" | grep -o '"clock":{[^}]*}')" "$both"
counted clock-runs s stat -r 2 -p 1s -- true
is "of two runs, once" "$(grep "^Clock" "$SCRATCH/clock-runs.err")" "Clock: $off"
counted clock-intervals sss stat -I 1s -p 1s -- sleep 0.1
is "behind intervals, once" "$(grep "^Clock" "$SCRATCH/clock-intervals.err")" "Clock: $off"
counted clock-record ss record -a -p 1s -o "$SCRATCH/clock.data" -- true
is "report" "$("$tool" report "$SCRATCH/clock.data" | grep -A1 '^Mean')" "Mean frequency while active: 0.01 MHz
Clock: $off"
is "and its JSON" "$("$tool" report -j "$SCRATCH/clock.data" | tr -d ' \n' | grep -o '"clock":{[^}]*}')" "$both"
"$tool" report --html "$SCRATCH/clock.html" "$SCRATCH/clock.data"
is "a page" "$(grep -o '<dt>Clock</dt><dd>[^<]*' "$SCRATCH/clock.html")" "<dt>Clock</dt><dd>$off"
is "its end has them" "$("$tool" convert -j "$SCRATCH/clock.data" | grep -o '"measured_hz":[0-9]*,"nominal_hz":[0-9]*')" \
	'"measured_hz":10000,"nominal_hz":20000'
counted clock-top ss top --once -p 10ms
is "top, below the load" "$(sed -n 3p "$SCRATCH/clock-top.out")" "Clock    $off"
counted clock-top ss top --once -j -p 10ms
is "and its JSON" "$(grep -o '"clock":{[^}]*}' "$SCRATCH/clock-top.out")" "$both"
mkfifo "$SCRATCH/ticks"
exec 6<>"$SCRATCH/ticks"
printf s >&6
FAKE_TICKS=$SCRATCH/ticks env --default-signal=INT "$tool" top -p 10ms --lines >"$SCRATCH/clock-now.out" 2>"$SCRATCH/clock-now.err" &
pid=$!
until_true [ -s "$SCRATCH/clock-now.out" ]
printf s >&6
kill -INT $pid
wait $pid
exec 6>&-
rm "$SCRATCH/ticks"
is "and with --lines, once" "$(cat "$SCRATCH/clock-now.err")" "panthor-perf: $off"
exported clock
is "export has both" "$(sed -n 's/^mali_gpu_\([a-z]*\)_frequency_hertz{[^}]*} /\1 /p' "$SCRATCH/clock.prom" | tr '\n' ' ')" "active 10000 nominal 20000 "

# Up to 2 % is no difference.
# silent NAME BYTES: nothing is said of the clock
silent()
{
	counted clock-stat "$2" stat -p 1s -- true
	is "nothing is said $1" "$(grep -c '^Mean' "$SCRATCH/clock-stat.err") $(grep '^Clock' "$SCRATCH/clock-stat.err")" "1 "
}
nominal 10200 2
silent "of 2 % more" ss
nominal 9810 2
silent "of 2 % less" ss
nominal 10210 2
counted clock-stat ss stat -p 1s -- true
is "but of 2.1 %" "$(grep -c '^Clock: the GPU runs at 0.01 MHz, the clock framework says 0.01 MHz$' "$SCRATCH/clock-stat.err")" 1
rm "$SCRATCH/sys/devfreq/gpu/trans_stat"
silent "if the changes of the rate are not known" ss

# A rate that cannot be read has an error of its own, which is not the one that is told.
# It is read ten times a second at most. 8 is PPERF_ERROR_TOO_MANY, 16 PPERF_ERROR_NO_MEMORY.
nominal 20000 2
rm "$SCRATCH/sys/devfreq/gpu/cur_freq"
counted gone s stat -p 1s -- sh -c 'sleep 0.2; printf g >"$FAKE_TICKS"'
is "a GPU that goes, and its rate with it" "$? $(grep '^panthor-perf' "$SCRATCH/gone.err")" "7 panthor-perf: /dev/dri/renderD128 is gone"
counted full ss stat -I 1s -p 1s -x ';' -o /dev/full -- true
is "intervals on a disk that is full" "$? $(cat "$SCRATCH/full.err")" "8 panthor-perf: cannot write /dev/full: No space left on device"
FAKE_SESSION=8 counted many "" top --once
is "no session for top, and no rate" "$? $(cat "$SCRATCH/many.err")" "1 panthor-perf: a fake error: too many counter sessions"
unset FAKE_SYSFS
FAKE_GPU=16 counted memory "" stat -- true
is "memory that runs out anywhere" "$? $(cat "$SCRATCH/memory.err")" "1 panthor-perf: out of memory"

# b has a derived count that is less than nothing, and in the share of a second.
counted negative bb record -a -p 1s -o "$SCRATCH/negative.data" -- true
is "negative values keep to their columns" \
	"$("$tool" report "$SCRATCH/negative.data" | grep '^  Mali' | awk 'length > 117 && substr($0, 117, 2) != "  "')" ""
is "and there are some" "$("$tool" report "$SCRATCH/negative.data" | grep -c '^  Mali.* -[0-9.]* k' | sed 's/^[1-9][0-9]*$/some/')" some
# A terminal of a hundred columns, and one that is wide enough for whole rows.
for columns in 100 200; do
	in_locale C script -qec "stty columns $columns; $tool report -b $SCRATCH/late.data" "$SCRATCH/typescript.$columns" </dev/null >/dev/null 2>&1
	sed '1d; $d' "$SCRATCH/typescript.$columns" | tr -d '\r' >"$SCRATCH/rows.$columns"
done
is "rows fit a terminal of a hundred columns" "$(grep '^  ' "$SCRATCH/rows.100" | awk 'length > 100')" ""
is "with all that is in them" "$(tr -s ' \n' '\n\n' <"$SCRATCH/rows.100" | sort)" \
	"$(tr -s ' \n' '\n\n' <"$SCRATCH/rows.200" | sort)"
is "which are not folded if there is room" "$(cat "$SCRATCH/rows.200")" "$(in_locale C "$tool" report -b "$SCRATCH/late.data")"
for columns in 100 200; do
	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf ss >&6
	FAKE_TICKS=$SCRATCH/ticks in_locale C script -qec "stty columns $columns; $tool stat -a --per-core -p 1s -- true" \
		"$SCRATCH/typescript" </dev/null >/dev/null 2>&1
	exec 6>&-
	rm "$SCRATCH/ticks"
	sed '1d; $d' "$SCRATCH/typescript" | tr -d '\r' >"$SCRATCH/stat.$columns"
done
is "rows of stat do, too" "$(awk 'length > 100' "$SCRATCH/stat.100")$(grep -c '^ .*Mali' "$SCRATCH/stat.100" | sed 's/^[1-9][0-9][0-9]$/many/')" many
is "with all that is in theirs" "$(tr -s ' \n' '\n\n' <"$SCRATCH/stat.100" | sort)" \
	"$(tr -s ' \n' '\n\n' <"$SCRATCH/stat.200" | sort)"
# Of top-down each sample is needed once: a pipe will do.
is "report -t looks at each sample once" "$(cat "$SCRATCH/late.data" | "$tool" report -t /dev/stdin 2>&1 | sed 1d)" \
	"$("$tool" report -t "$SCRATCH/late.data" | sed 1d)"

# ---- A delay ----

# The command runs before counting begins, of which the file tells, and gives the ticks when it has.
export FAKE_STARTED=$SCRATCH/started
# shellcheck disable=SC2016
counted delay "" record -p 1s --delay 1500ms -o "$SCRATCH/delay.data" -- bash -c '
	[ -e "$FAKE_STARTED" ] && echo "counting began first"
	until [ -e "$FAKE_STARTED" ]; do read -rt 0.02 <> <(:); done
	printf ss >"$FAKE_TICKS"'
is "record --delay lets the command begin" "$? $(cat "$SCRATCH/delay.out")$(grep -o '^panthor-perf: [0-9]* samples' "$SCRATCH/delay.err")" \
	"0 panthor-perf: 3 samples"
rm "$FAKE_STARTED"
counted delay ss record -p 1s --delay 1000s -o "$SCRATCH/delay.data" -- bash -c 'exit 3'
is "a command that ends before" "$? $(grep -c 'nothing was counted' "$SCRATCH/delay.err") $(ls "$FAKE_STARTED" 2>/dev/null)" "3 1 "
is "leaves a recording of nothing" "$("$tool" report "$SCRATCH/delay.data" 2>&1 | sed -n '1p; /^GPU load/p; /^Mean/p')" \
	"panthor-perf: $SCRATCH/delay.data has no samples
GPU load: 0.00 % of the time, 0.00 % of the cycles"
is "of which there is no page" \
	"$("$tool" report --html "$SCRATCH/delay.html" "$SCRATCH/delay.data" 2>&1; echo $?) $(ls "$SCRATCH"/delay.html* 2>/dev/null)" \
	"panthor-perf: $SCRATCH/delay.data has no samples
1 "
counted delay ss record -p 1s --delay 1000s -o "$SCRATCH/delay.data" -- /no/such
is "a command that is not there" "$? $(grep -c 'nothing was counted' "$SCRATCH/delay.err")" "127 0"
says "a delay without a unit" 2 "-D: \"5\" has no unit. Did you mean 5ms?" record --delay 5 -- true
# shellcheck disable=SC2016
counted delay "" stat -p 1s -r 1 -D 1500ms -- bash -c '
	[ -e "$FAKE_STARTED" ] && echo "counting began first"
	until [ -e "$FAKE_STARTED" ]; do read -rt 0.02 <> <(:); done
	printf ss >"$FAKE_TICKS"'
is "stat -D lets the command begin" "$? $(cat "$SCRATCH/delay.out")$(grep -o ', [0-9]* samples' "$SCRATCH/delay.err")" "0 , 3 samples"
rm "$FAKE_STARTED"
counted delay ss stat -p 1s -D 1000s -- bash -c 'exit 3'
is "and ends with it" "$? $(cat "$SCRATCH/delay.err") $(ls "$FAKE_STARTED" 2>/dev/null)" \
	"3 panthor-perf: nothing was counted: the delay was not over "
unset FAKE_STARTED

# Ctrl-C between two runs, which no command gets.
# shellcheck disable=SC2016
FAKE_INTERRUPT=1 RUNS=$SCRATCH/runs counted between s stat -p 1s -r 3 -- sh -c 'echo run >>"$RUNS"'
is "Ctrl-C between two runs" "$? $(cat "$SCRATCH/runs") $(grep -o '^panthor-perf: .*\|, [0-9]* samples' "$SCRATCH/between.err" | tr '\n' ' ')" \
	"130 run panthor-perf: interrupted before a run , 2 samples "

# ---- Locales ----

# What has no graph, for which a locale needs the characters; and what has.
plain="report -j late;report -t late;report --html /dev/null late;convert -c late;convert -j late;convert -P late;diff late late;diff -j late late;\
info;info -j;list;list -x :;list -g MALI-G610;stat -p 1s -- true;stat -j -p 1s -- true;stat -x : -p 1s -- true;top --once -j -p 10ms"
graphs="report late;report -b late;top --once -p 10ms"

# print_all COMMANDS: what they print in the locale
print_all()
{
	local command commands words

	IFS=';' read -ra commands <<<"$1"
	for command in "${commands[@]}"; do
		read -ra words <<<"${command//late/$SCRATCH/late.data}"
		counted locale st "${words[@]}"
		echo "$command: $?"
		# Other processes are none of this test's.
		sed 's/"hidden_processes":[0-9]*//; s/[0-9]* \(processes of other users\)/N \1/' "$SCRATCH/locale.out" "$SCRATCH/locale.err"
	done
}
for locale in C C.UTF-8 de_DE.UTF-8; do
	print_all "$plain" >"$SCRATCH/$locale.plain"
	print_all "$graphs" >"$SCRATCH/$locale.graphs"
	is "$locale: commands print the same as in C" "$(diff -a "$SCRATCH/C.plain" "$SCRATCH/$locale.plain")" ""
done
is "all commands end well" "$(grep -ah ': [1-9][0-9]*$' "$SCRATCH"/*.{plain,graphs})" ""
is "graphs are the same in all languages" "$(diff -a "$SCRATCH/C.UTF-8.graphs" "$SCRATCH/de_DE.UTF-8.graphs")" ""
locale=C

plan "$TAP_COUNT"
