#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: 6.12
# panthor-perf selftest: on a GPU that is as it should be it passes, and shows all assumptions that tests can show; on
# one that breaks an assumption, it is that one which is broken. A machine that is switched off in the middle goes on,
# and the report has nothing of the person or the machine in it.
#
# LONG: each switch that breaks an assumption.
set -u
. "$(dirname "$0")/../lib/tap.sh"

programs=$("$VIRT_DIR/build/selftests.sh")
host=mysecrethost

# selftest OUT COMMAND: in the machine, with the package's programs; the output in $SCRATCH/OUT, and its status
selftest()
{
	# Time is instructions: the tests that have limits hold on a busy machine.
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -m 1024 -t 2400 -f "$programs:/root/programs" -o "/root/report:$SCRATCH/$1.tar.gz" -- sh -c "
		export PANTHOR_PERF_SELFTESTS=/root/programs
		hostname $host
		cd /root
		$2
		status=\$?
		mv panthor-perf-report-*.tar.gz report
		exit \$status" >"$SCRATCH/$1" 2>"$SCRATCH/err"
}

# verdicts OUT VERDICT: names of the assumptions of which it says so
verdicts()
{
	sed -nE "s/^  $2 +([a-z_]+)  .*/\1/p" "$SCRATCH/$1" | sort | tr '\n' ' '
}

# SWITCH=VALUE: the assumption that it breaks. (overwrite needs a driver that is late by a whole lap of the ring.)
switches="cores_late=1000000:cores values_late=1000000:values memory_late=1:complete insert_late=1000000:in_time
	double_samples=1000000:once power_loses=1000000:power data_late=1000000:complete"
[ -n "${LONG:-}" ] || switches="cores_late=1000000:cores"

plan $((21 + 2 * $(wc -w <<<"$switches")))

selftest good "panthor-perf selftest -y"
is "a GPU as it should be: status" $? 0
is "no part has failed" "$(grep -cE '^  [a-z_]+ +[0-9]+ passed, 0 failed, ' "$SCRATCH/good")" 13
[ "$(grep -c ' 0 failed, ' "$SCRATCH/good")" = 26 ] || sed 's/^/# /' "$SCRATCH/good"
is "no assumption is broken" "$(verdicts good broken)" ""
is "those that are not shown" "$(verdicts good 'not shown')" "clocks enable overwrite ratio "
is "all others are held" "$(verdicts good held | wc -w)" 15

# What the report has
mkdir "$SCRATCH/report"
tar -xzf "$SCRATCH/good.tar.gz" -C "$SCRATCH/report"
cd "$SCRATCH"/report/panthor-perf-report-* || exit 1
is "it is called by the board and the date" "$(basename "$PWD" | sed 's/[0-9]\{8\}-[0-9]\{6\}$/DATE/')" \
	panthor-perf-report-linux-dummy-virt-DATE
is "its files" "$(ls | tr '\n' ' ')" "board.1.tap cpus.1.tap debugfs.1.tap dmesg.txt doctor.txt hostile.1.tap info.txt load.1.tap \
machine.txt pmu.1.tap pmu_gone.1.tap published.1.tap sample.1.tap session.1.tap summary.txt time.1.tap uapi.1.tap unplug.1.tap "
is "the clock was measured" "$(grep -c '^ok  *clock  *the GPU runs at' doctor.txt)" 1
is "a sample of the working GPU" "$(grep -cE '^block: CSHW .* 4=0x' info.txt)" 1
is "the node of the GPU" "$(grep -c '^compatible = .*arm,mali-valhall-csf' machine.txt)" 1
is "the kernel's lines of the driver, and no others" \
	"$(grep -q 'ali-[^ ]* id 0x' dmesg.txt && echo some) $(grep -vc panthor dmesg.txt)" "some 0"
is "no host name, address, or id of the machine or the boot" \
	"$(grep -rlE "$host|([0-9a-f]{2}:){5}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}|serial-number" . | tr '\n' ' ')" ""

# Reading it, on this machine
script=$VIRT_DIR/../panthor-perf/selftest/panthor-perf-selftest.sh
"$script" --read "$SCRATCH/good.tar.gz" >"$SCRATCH/read"
is "--read: status" $? 0
is "--read prints what the run has printed" "$(sed -n '/^Tests$/,$p' "$SCRATCH/read")" \
	"$(sed -n '/^Tests$/,/^held: /p' "$SCRATCH/good")"
echo junk >"$SCRATCH/junk"
"$script" --read "$SCRATCH/junk" >"$SCRATCH/read" 2>&1
is "--read of another file" "$? $(cat "$SCRATCH/read")" \
	"1 panthor-perf selftest: $SCRATCH/junk is no report, or damaged: a report is a .tar.gz that panthor-perf selftest has written"

# Without -y nothing is unbound
selftest asked "panthor-perf selftest </dev/null"
is "without -y: status" $? 0
is "what unbinds is not run" "$(sed -n '/^Tests$/,$s/^  \([a-z_]*\)  *not run$/\1/p' "$SCRATCH/asked" | tr '\n' ' ')" "cpus pmu_gone unplug "

for pair in $switches; do
	switch=${pair%:*}
	selftest broken "mali-bench ${switch%=*}=${switch#*=} >/dev/null; panthor-perf selftest </dev/null"
	is "$switch: status" $? 1
	is "$switch: what is broken" "$(verdicts broken broken)" "${pair#*:} "
done

# The machine is switched off while a part runs. What it has written is on a disk, which here is a directory that goes
# out of one machine and into the next.
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -m 1024 -t 2400 -f "$programs:/root/programs" -o "/root/disk.tar:$SCRATCH/disk.tar" -- sh -c '
	cd /root
	mkdir disk
	PANTHOR_PERF_SELFTESTS=/root/programs panthor-perf selftest -y -o disk >/dev/null 2>&1 &
	until grep -qs "RUN  *session.order " disk/*/session.1.tap; do usleep 1000; done
	kill -STOP -1
	tar -cf disk.tar disk' >/dev/null 2>"$SCRATCH/err"
is "switched off in the middle" "$(tar -tf "$SCRATCH/disk.tar" | grep -c '/running$')" 1
VIRT_FILE=$SCRATCH/disk.tar:/root/disk.tar selftest resumed "tar -xf disk.tar; panthor-perf selftest -y --resume -o disk; status=\$?; mv disk/*.tar.gz .; (exit \$status)"
is "it says where the machine stopped" "$(grep -c '^The machine stopped in session\.order\.$' "$SCRATCH/resumed")" 1
is "that test has failed, and no other" "$(grep -E ' failed: | stopped in ' "$SCRATCH/resumed" | sed 's/.* stopped in //' | tr '\n' ' ')" \
	"session.order. session.order "
is "all others of that part have run" "$(grep -c '^session: [0-9]* passed, 1 failed, 0 skipped$' "$SCRATCH/resumed")" 1
