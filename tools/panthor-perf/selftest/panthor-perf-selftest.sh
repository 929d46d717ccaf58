#!/bin/sh
# SPDX-License-Identifier: MIT
# panthor-perf selftest: run the kernel's selftests of performance counters on this machine, and write a report. This is
# a program of its own, as it has to read reports where no tests are installed.
#
# The directory of a run is its state, and survives a crash of the machine:
#   running       name of the part that runs, and the boot that it runs in; not in the report
#   PART.N.tap    what a part has printed; N is 1, and one more for each time that the part was resumed
#   *.txt         what is known of the machine
set -u
export LC_ALL=C

SELF="panthor-perf selftest"
TESTS=${PANTHOR_PERF_SELFTESTS:-/usr/libexec/panthor-perf-selftests}
PATH=$TESTS:$PATH:/usr/sbin:/sbin
# A part that asks has a question in front of it.
QUESTION="The next tests take a processor offline for a moment, unbind the GPU from its driver, and bind it again.
Programs that use the GPU end, a desktop too."

# Parts, the least disturbing first: name, whether to ask, command, what it means if a test fails. Two tests of perf_uapi
# leave no memory to anybody else for a moment, for which the kernel may kill other programs: they are not for a board.
parts()
{
	cat <<-'END'
	load|no|load|The GPU does not execute command streams of ours: tests that need work are skipped.
	board|no|board|Cycles are computed from the rates of the clock framework.
	uapi|no|perf_uapi -T setup_objects_without_memory -T setup_without_memory|The driver accepts wrong arguments, or rejects good ones. Counts are not affected.
	debugfs|no|perf_debugfs|Diagnosis is wrong. Counts are not affected.
	sample|no|perf_sample|Samples have wrong headers, or states of blocks are wrong.
	session|no|perf_session|Sessions disturb each other, or samples are lost.
	time|no|perf_time|Times or cycles of samples are wrong, or counting keeps the GPU awake.
	published|no|perf_published|Counts are wrong: see the assumptions.
	pmu|no|perf_pmu -T other_cpu -T other_cpu_groups -f pmu|perf counts wrongly. Other programs are not affected.
	hostile|no|perf_hostile|A program can disturb those of others.
	cpus|yes|perf_pmu -t other_cpu -t other_cpu_groups|Events of perf stop when a processor is taken offline.
	pmu_gone|yes|perf_pmu -f pmu_gone|perf does not survive that the GPU is unbound.
	unplug|yes|perf_unplug|Programs do not survive that the GPU is unbound.
	END
}

# Assumptions of Documentation/gpu/panthor-perf.rst: name, tests, what else must not have failed for them to tell,
# title, consequence. Those without tests are never shown.
assumptions()
{
	cat <<-'END'
	cores|busy.cores||Blocks of shader cores are visible no later than the CSHW block|Data loss: a core looks as if it had no power, and its counts are missing without a flag.
	values|busy.own_counts||Counters are visible no later than PRFCNT_EN of their block|Wrong counts: those of an earlier lap of the ring are counted again, and the new ones are not.
	complete|busy.complete||A sample is complete when INSERT counts it|Data loss: samples without their CSHW block are flagged ERROR. What comes late is counted a lap later.
	once|busy.once||A sample is written once|Wrong counts: they are twice what they should be.
	overwrite|||No slot is written to before EXTRACT gives it back|Wrong counts: a sample may mix two.
	power|published.after_idleness|busy.|Shader cores lose no power without a firmware sample before|Data loss: what cores counted since the last sample before they went off is missing.
	in_time|busy.in_time||SAMPLE and ENABLE are acknowledged after INSERT is updated|Wrong time: counts end up one sample too late.
	epoch|sample.others_do_not_show session.first_and_last|busy.|Disabling counters writes no sample; INSERT is 0 when they are enabled|Wrong counts: those of one session are in the first sample of the next one.
	enable|||Firmware that enables counters late uses the latest configuration|Wrong counts: they are of another counter set.
	halt|published.after_suspend|busy. published.after_idleness|Firmware takes an automatic sample before the MCU halts|Data loss: counts are missing from samples in which the GPU was suspended.
	idle|idle.goes_idle idle.stays_suspended|busy.|Counting does not keep the GPU from being suspended|Power: the GPU stays on as long as a session exists.
	sizes|uapi.query_values||PERFCNT_SIZE is the size of the blocks that the GPU has, without gaps, in order|No counters, or counts in blocks that cannot have them.
	absent|sample.structure|busy.|A position without a shader core has memory that is never written|Wrong counts: cores that do not exist have values, or cores are missing.
	written|sample.structure busy.complete busy.cores|busy.|PRFCNT_EN has bit 1 set in written blocks, and clear in others|Data loss: blocks are OFF in samples while they count.
	sets|session.sets|busy.|A counter set that a block does not have is not written|Wrong counts: the block has values in that set.
	timestamp|time.bounds|busy.|Values 0 and 1 of a block are the GPU timestamp|Wrong time: samples begin and end at other times.
	cycles|board.cycles||GPU_CYCLE_COUNT counts the top-level clock while COUNTER_EN is set, from 0 when power returns|Wrong cycles: they are computed from the rates of the clock framework.
	ratio|||Clocks whose rates keep their ratio run off one source|Wrong cycles of the core group and of shader cores.
	clocks|!busy.core_clock|busy.cores|Blocks are counted by the clocks that the device tree names|Wrong cycles: utilizations exceed 100 per cent.
	END
}

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "$SELF" "$1" >&2
	exit "${2:-1}"
}

usage()
{
	cat <<-END
	Usage: $SELF [-y] [-o DIR] [--resume]
	       $SELF --read FILE
	Runs the selftests of the driver, and writes panthor-perf-report-BOARD-DATE.tar.gz.

	  -o, --output=DIR   Write the report to DIR, which has to survive a crash (default: the current directory)
	      --read=FILE    Print what a report says
	      --resume       Go on with a run that was interrupted, by a crash for example
	  -y, --yes          Don't ask before tests that unbind the GPU
	  -?, --help         Print this help

	Environment:
	  PANTHOR_PERF_SELFTESTS   the directory of the tests
	  PERF_WORK                a command that does the same work on the GPU each time it runs (default: gpu-load)
	  PERF_BUSY                one that keeps the GPU busy until it is killed, and creates the file \$PERF_STARTED
	                           once it does (default: gpu-load)
	END
}

# ---- what a report says ----

# results DIR: "ok|not ok|skip|died NAME" of each test, in order
results()
{
	for tap in "$1"/*.tap; do
		[ -f "$tap" ] && [ ! -L "$tap" ] || continue
		# Reports come from elsewhere.
		tr -cd '\n -~' <"$tap" | awk '
			/^ok [0-9]+ .*# SKIP/	{ print "skip " $3; next }
			/^ok [0-9]+ /		{ print "ok " $3; next }
			/^not ok [0-9]+ .*# DIED/	{ print "died " $4; next }
			/^not ok [0-9]+ /	{ print "not ok " $4 }'
	done
}

# part_results DIR PART
part_results()
{
	rm -rf "$SCRATCH/one"
	mkdir "$SCRATCH/one"
	for tap in "$1/$2".*.tap; do
		[ ! -f "$tap" ] || [ -L "$tap" ] || cp "$tap" "$SCRATCH/one/"
	done
	results "$SCRATCH/one"
}

# show_parts DIR: status 1 if a test has failed
show_parts()
{
	failed=0
	say "Tests"
	parts >"$SCRATCH/parts"
	while IFS='|' read -r part _ _ meaning; do
		part_results "$1" "$part" >"$SCRATCH/results"
		awk -v part="$part" -v meaning="$meaning" '
			{ n[$1 == "not" ? "not" : $1]++ }
			$1 == "not" { bad = bad "\n             failed: " $3 }
			$1 == "died" { bad = bad "\n             the machine or the test run stopped in " $2 }
			END {
				if (!NR) {
					printf "  %-10s not run\n", part
					exit 0
				}
				printf "  %-10s %d passed, %d failed, %d skipped\n", part, n["ok"], n["not"] + n["died"], n["skip"]
				if (bad == "")
					exit 0
				printf "             %s%s\n", meaning, bad
				exit 1
			}' "$SCRATCH/results" || failed=1
	done <"$SCRATCH/parts"
	return $failed
}

# show_assumptions DIR: status 1 if one is broken
show_assumptions()
{
	results "$1" >"$SCRATCH/results"
	say "Assumptions about firmware"
	assumptions | awk -F '|' -v results="$SCRATCH/results" '
		BEGIN {
			while ((getline line < results) > 0) {
				name = line
				sub(/.* /, "", name)
				state[name] = line ~ /^(not ok|died)/ ? "bad" : line ~ /^ok/ ? "ok" : "skip"
			}
		}
		# Tests whose failure alone tells something have a "!".
		{
			n = split($2, tests, " ")
			verdict = n ? "held" : "not shown"
			for (i = 1; i <= n; i++) {
				test = tests[i]
				one_sided = sub(/^!/, "", test)
				if (state[test] == "bad")
					verdict = "broken"
				else if ((state[test] != "ok" || one_sided) && verdict != "broken")
					verdict = "not shown"
			}
			m = split($3, others, " ")
			for (i = 1; i <= m; i++)
				for (name in state)
					if (state[name] == "bad" && index(name, others[i]) == 1 && verdict == "broken")
						verdict = "not shown"
			printf "  %-10s %-10s %s\n", verdict, $1, $4
			if (verdict == "broken") {
				printf "                        %s\n", $5
				bad = 1
			}
		}
		END { exit bad }'
}

# show DIR: status 1 if something has failed
show()
{
	status=0
	[ ! -f "$1/machine.txt" ] || [ -L "$1/machine.txt" ] || { tr -cd '\n -~' <"$1/machine.txt" | head -n 12; say; }
	show_parts "$1" || status=1
	say
	show_assumptions "$1" || status=1
	say
	say "held: a test shows it. broken: a test shows that it is not so. not shown: no test of it ran, or none exists."
	return $status
}

read_report()
{
	[ -r "$1" ] || die "cannot read $1"
	mkdir "$SCRATCH/report"
	tar -xzf "$1" -C "$SCRATCH/report" 2>/dev/null || die "$1 is no report, or damaged: a report is a .tar.gz that $SELF has written"
	for dir in "$SCRATCH/report"/panthor-perf-report-*; do
		if [ -d "$dir" ] && [ ! -L "$dir" ]; then
			show "$dir"
			return
		fi
	done
	die "$1 is no report of $SELF"
}

# ---- what is known of the machine ----

# text FILE: the strings of a property of the device tree
text()
{
	tr '\0' ' ' <"$1" | sed 's/ *$//'
}

gpu_device()
{
	for device in /sys/bus/platform/drivers/panthor/*; do
		if [ -e "$device/of_node" ] || [ -e "$device/firmware_node" ]; then
			say "$device"
			return
		fi
	done
}

board_name()
{
	{
		if [ -r /proc/device-tree/compatible ]; then
			tr '\0' '\n' </proc/device-tree/compatible
		else
			cat /sys/class/dmi/id/product_name 2>/dev/null
		fi
	} | head -n 1 | tr -c 'A-Za-z0-9.\n' - | sed 's/^-*//; s/-*$//; s/^$/unknown/'
}

# Nothing in it is of a person or of this one machine: no host name, no serial number, no address.
write_machine()
{
	say "Board: $(text /proc/device-tree/model 2>/dev/null)"
	[ ! -r /proc/device-tree/compatible ] || say "Compatible: $(text /proc/device-tree/compatible)"
	[ ! -r /sys/class/dmi/id/product_name ] || say "Product: $(cat /sys/class/dmi/id/product_name)"
	say "Kernel: $(uname -srvm)"
	say "System: $(sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/\1/p' /etc/os-release 2>/dev/null)"
	say "Tool: $(panthor-perf --version)"
	say "Date: $(date -u '+%Y-%m-%d %H:%M UTC')"
	say
	[ -z "$gpu" ] || say "GPU: ${gpu##*/}"
	for file in "$gpu"/devfreq/*/cur_freq "$gpu"/devfreq/*/available_frequencies "$gpu"/devfreq/*/governor; do
		[ ! -r "$file" ] || say "devfreq ${file##*/}: $(cat "$file")"
	done
	if [ -r /sys/kernel/debug/clk/clk_summary ]; then
		say
		sed -n '1,3p; /gpu\|mali/Ip' /sys/kernel/debug/clk/clk_summary
	fi
	if [ -d "$gpu/of_node" ]; then
		say
		say "Device tree, node of the GPU:"
		for file in "$gpu"/of_node/*; do
			[ -f "$file" ] || continue
			case ${file##*/} in
			compatible|status|*-names|name) say "${file##*/} = $(text "$file")" ;;
			*) say "${file##*/} = $(od -An -v -tx1 "$file" | tr -d '\n')" ;;
			esac
		done
	fi
	if command -v dpkg-query >/dev/null; then
		say
		dpkg-query -W -f '${Package} ${Version}\n' 'panthor-perf*' libpanthor-perf0 firmware-misc-nonfree \
			mesa-vulkan-drivers libgl1-mesa-dri "linux-image-$(uname -r)" 2>/dev/null | grep -v ' $'
	fi
}

# Lines of the driver, and whole reports of the kernel.
write_log()
{
	dmesg | awk '
		/-+\[ cut here \]-+|Unable to handle kernel|Internal error:/ { report = 1 }
		report || /panthor/
		/---\[ end trace/ { report = 0 }'
}

# What the GPU counts, and how fast its clocks are; while it works, if it does our work.
board()
{
	say 1..1
	say "#  RUN           board.cycles ..."
	busy=
	if [ -n "${PERF_BUSY:-}" ]; then
		rm -f "$SCRATCH/started"
		PERF_STARTED=$SCRATCH/started sh -c "exec $PERF_BUSY" >/dev/null 2>&1 &
		busy=$!
		while [ ! -e "$SCRATCH/started" ] && kill -0 $busy 2>/dev/null; do
			sleep 0.1
		done
	fi
	panthor-perf doctor >"$dir/doctor.txt" 2>&1
	panthor-perf info --debug >"$dir/info.txt" 2>&1
	if [ -n "$busy" ]; then
		kill -9 $busy 2>/dev/null
		wait $busy 2>/dev/null
	fi
	case $(grep '^cycles:' "$dir/info.txt") in
	'cycles: counted by the GPU'*) say "ok 1 board.cycles" ;;
	'cycles: '*/*|'') say "ok 1 board.cycles # SKIP debugfs does not tell" ;;
	*) say "not ok 1 board.cycles" ;;
	esac
}

# ---- the run ----

progress()
{
	if [ -t 1 ]; then
		printf '\r%-78s' "  $1"
	fi
}

# Store what a part prints, so that it is on the disk if the machine stops.
store()
{
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$1"
		sync "$1" 2>/dev/null || sync
		case $line in
		'#  RUN '*) progress "$(say "$line" | awk '{ print $3 }')" ;;
		esac
	done
	progress ""
	[ ! -t 1 ] || printf '\r'
}

# Work that needs no shader. On a GPU that refuses it, tests that need work are skipped.
load()
{
	n=0
	say 1..2
	for kind in none clear; do
		n=$((n + 1))
		say "#  RUN           load.$kind ..."
		if gpu-load --work=safe --kind=$kind --size=512 --jobs=64 --timeout=20 >"$SCRATCH/load" 2>&1; then
			say "ok $n load.$kind"
		else
			sed 's/^/# /' "$SCRATCH/load"
			say "not ok $n load.$kind"
		fi
	done
}

choose_work()
{
	if [ -n "${PERF_WORK:-}" ] || [ -n "${PERF_BUSY:-}" ]; then
		:
	elif part_results "$dir" load | grep -qx 'ok load.clear'; then
		PERF_WORK="gpu-load --work=safe --kind=clear --size=512 --jobs=64 >/dev/null"
		PERF_BUSY="gpu-load --work=safe --kind=clear --size=2048 --groups=1 --queues=1 --jobs=0 --duration=3600 --started=\$PERF_STARTED >/dev/null"
	fi
	[ -z "${PERF_WORK:-}" ] || export PERF_WORK
	[ -z "${PERF_BUSY:-}" ] || export PERF_BUSY
}

boot()
{
	cat /proc/sys/kernel/random/boot_id
}

# The tests that a part has begun with, in an earlier run: they are not repeated. The last one may have no result.
begun()
{
	cat "$dir/$1".*.tap 2>/dev/null | sed -n 's/^#  RUN  *\([^ ]*\) .*/\1/p'
}

# Say in the results which test an interrupted run stopped in.
note_stop()
{
	if ! read -r part boot <"$dir/running" || ! parts | grep -q "^$part|"; then
		die "$dir/running is damaged: remove $dir, and begin anew"
	fi
	last=$(begun "$part" | tail -n 1)
	tap=$(ls "$dir/$part".*.tap 2>/dev/null | tail -n 1)
	[ -n "$last" ] && ! grep -q "^\(not \)\{0,1\}ok [0-9]* $last\( \|\$\)" "$tap" || return 0
	if [ "$boot" = "$(boot)" ]; then
		say "The run was interrupted in $last."
	else
		say "The machine stopped in $last."
	fi
	say "not ok 0 $last # DIED" >>"$tap"
	sync
}

run_part()
{
	part=$1 n=1 skip=
	shift
	say "$part $(boot)" >"$dir/running"
	while [ -e "$dir/$part.$n.tap" ]; do
		n=$((n + 1))
	done
	for test in $(begun "$part"); do
		skip="$skip -T ${test##*.}"
	done
	if [ "$1" = load ] || [ "$1" = board ]; then
		[ -z "$skip" ] || return 0
	else
		program=$1
		shift
		# The first option that matches decides.
		# shellcheck disable=SC2086
		set -- "$program" $skip "$@"
	fi
	sync
	{ "$@"; say "# status $?"; } 2>&1 | store "$dir/$part.$n.tap"
	part_results "$dir" "$part" | awk -v part="$part" '
		{ n[$1]++ }
		END { printf "%s: %d passed, %d failed, %d skipped\n", part, n["ok"], n["not"] + n["died"], n["skip"] }'
}

# Ask once. Whoever is not there says no.
may_unbind()
{
	if [ -z "$answer" ]; then
		say "$QUESTION"
		answer=n
		if [ -t 0 ]; then
			printf 'Go on? [y/N] '
			read -r answer || answer=n
		else
			say "They are not run: -y runs them."
		fi
	fi
	case $answer in
	y|Y|yes) return 0 ;;
	*) return 1 ;;
	esac
}

run()
{
	[ "$(id -u)" = 0 ] || die "needs root: run sudo $SELF"
	[ -x "$TESTS/perf_uapi" ] || die "there are no tests in $TESTS: install the package panthor-perf-selftests"
	[ -d "$output" ] && [ -w "$output" ] || die "cannot write to the directory $output"
	gpu=$(gpu_device)
	[ -n "$gpu" ] || die "no GPU is bound to panthor: run panthor-perf doctor"
	mount -t debugfs none /sys/kernel/debug 2>/dev/null || :

	dir=
	if [ -n "$resume" ]; then
		for file in "$output"/panthor-perf-report-*/running; do
			[ ! -e "$file" ] || dir=${file%/running}
		done
		[ -n "$dir" ] || die "there is no interrupted run in $output: -o names the directory it was begun in"
		note_stop
	else
		dir=$output/panthor-perf-report-$(board_name)-$(date -u +%Y%m%d-%H%M%S)
		mkdir "$dir" || die "cannot make $dir"
	fi
	trap 'say; say "To go on: $SELF --resume -o $output"; exit 130' INT TERM HUP
	write_machine >"$dir/machine.txt" 2>/dev/null
	done=
	[ ! -e "$dir/running" ] || done=$(cut -d ' ' -f 1 "$dir/running")
	parts >"$SCRATCH/run"
	# The tests read nothing, and the answer is typed.
	while IFS='|' read -r part ask command _ <&3; do
		# What lies before the part that was interrupted has been run, or refused.
		if [ -n "$done" ]; then
			[ "$part" = "$done" ] || continue
			done=
		fi
		[ "$ask" = no ] || may_unbind || continue
		[ "$part" = load ] || choose_work
		# shellcheck disable=SC2086
		run_part "$part" $command
	done 3<"$SCRATCH/run"
	write_log >"$dir/dmesg.txt"
	rm -f "$dir/running"
	say
	show "$dir" >"$SCRATCH/shown"
	status=$?
	cat "$SCRATCH/shown"
	cp "$SCRATCH/shown" "$dir/summary.txt"
	tar -czf "$dir.tar.gz.new" -C "$output" "${dir##*/}" && mv "$dir.tar.gz.new" "$dir.tar.gz" || die "cannot write $dir.tar.gz; the results are in $dir"
	sync
	say
	say "Report: $dir.tar.gz"
	return $status
}

answer='' output=. resume='' file=''
while [ $# -gt 0 ]; do
	case $1 in
	-y|--yes) answer=y ;;
	-o|--output|--read)
		[ $# -gt 1 ] || die "$1 needs an argument" 2
		[ "$1" = --read ] && file=$2 || output=$2
		shift
		;;
	--output=*) output=${1#*=} ;;
	--read=*) file=${1#*=} ;;
	--resume) resume=1 ;;
	-h|-\?|--help)
		usage
		exit
		;;
	*) die "unexpected argument: $1. Run $SELF --help" 2 ;;
	esac
	shift
done
SCRATCH=$(mktemp -d) || die "cannot make a directory for temporary files"
trap 'rm -rf "$SCRATCH"' EXIT
if [ -n "$file" ]; then
	read_report "$file"
else
	run
fi
