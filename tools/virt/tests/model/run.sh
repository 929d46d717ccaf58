#!/bin/bash
# SPDX-License-Identifier: MIT
# daily: 6.12
# tools/virt/run keeps the promises that README makes for it.
set -u
. "$(dirname "$0")/../lib/tap.sh"

run()
{
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" "$@"
}

# vm NAME-OF-RESULT [OPTION...] -- COMMAND...: leaves status, out, err
vm()
{
	run -p noload=1 -t 600 "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
	status=$?
}

out()
{
	cat "$SCRATCH/out"
}

err()
{
	cat "$SCRATCH/err"
}

# says NAME PATTERN: standard error has it
says()
{
	if grep -q -- "$2" "$SCRATCH/err"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $2" "$(err)"
	fi
}

# QEMUs that have our scratch directory's name in their command line.
left_over()
{
	ps -eo args | grep -c "[q]emu-system-aarch64 .*$SCRATCH"
}

# What is built now is not said later.
"$VIRT_DIR/build/root.sh" "$KERNEL" "$CONFIG" >/dev/null 2>&1

# A kernel that checks: run is the same, and what that kernel alone reports is seen.
if [ "$CONFIG" = debug ]; then
	plan 5
	vm -- sh -c 'modprobe kmemleak-test && rmmod kmemleak-test'
	is "a leak: 125" "$status" 125
	says "it is shown" "unreferenced object"
	vm -- sh -c 'modprobe lkdtm && echo SPINLOCKUP >/sys/kernel/debug/provoke-crash/DIRECT'
	is "a lock that lockdep dislikes: 125" "$status" 125
	vm -- sh -c 'modprobe lkdtm && echo WRITE_AFTER_FREE >/sys/kernel/debug/provoke-crash/DIRECT'
	is "KASAN's report: 125" "$status" 125
	says "it is shown" "KASAN"
	exit
fi
plan 88

# What goes in

python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(int(sys.argv[1])).randbytes(300000))' "$SEED" \
	>"$SCRATCH/random"
mkdir -p "$SCRATCH/dir/sub"
echo nested >"$SCRATCH/dir/sub/file"
printf '#!/bin/sh\necho script "$@"\n' >"$SCRATCH/script"
chmod 755 "$SCRATCH/script"
cat >"$SCRATCH/args" <<'END'
#!/bin/sh
printf '<%s>\n' "$@"
echo "$#"
END
vm -f "$SCRATCH/args:/tmp/args" -- sh /tmp/args 'a b' '' "'" '"$x"' '*' -- -t $'two\nlines' 'ü'
is "arguments arrive as they are" "$(out)" "$(printf '<%s>\n' 'a b' '' "'" '"$x"' '*' -- -t $'two\nlines' 'ü'; echo 9)"
is "a good command's status is 0" "$status" 0
is "nothing of ours is on standard error" "$(err)" ""

# shellcheck disable=SC2016
vm -f "$SCRATCH/random:/tmp/r" -f "$SCRATCH/dir" -f "$SCRATCH/script" \
	-o /tmp/copy:"$SCRATCH/copy" -o relative:"$SCRATCH/relative" -- \
	sh -c 'cat /tmp/r; cp /tmp/r /tmp/copy; echo here >relative; cat dir/sub/file >&2; script one two >&2; exit 42'
is "a status is handed on" "$status" 42
if cmp -s "$SCRATCH/out" "$SCRATCH/random"; then
	ok "binary output is intact"
else
	not_ok "binary output is intact" "$(cmp "$SCRATCH/out" "$SCRATCH/random" 2>&1)"
fi
is "files and directories go in, programs are on PATH" "$(err)" "$(printf 'nested\nscript one two')"
if cmp -s "$SCRATCH/copy" "$SCRATCH/random"; then
	ok "a file comes out"
else
	not_ok "a file comes out" "$(cmp "$SCRATCH/copy" "$SCRATCH/random" 2>&1)"
fi
is "a relative one, too" "$(cat "$SCRATCH/relative" 2>&1)" here

# Status

# shellcheck disable=SC2016
vm -- sh -c 'kill -TERM $$'
is "a signal's status is 128 + its number" "$status" 143
vm -- /tmp/nonesuch
is "a command that is not there: 127" "$status" 127
is "it says so" "$(err)" "run: /tmp/nonesuch: not found in the guest"
is "it prints nothing" "$(out)" ""
vm -f "$SCRATCH/dir" -- /root/dir
is "a command that cannot be run: 126" "$status" 126
vm -o /tmp/nonesuch:"$SCRATCH/nonesuch" -- true
is "a file that does not come out is an error" "$status" 2
is "it says which" "$(err)" "run: -o /tmp/nonesuch: No such file or directory"

# On a terminal
vm -T -- sh -c 'tty; exit 7'
is "a command on a terminal: the terminal, the status" "$(tr -d '\r' <"$SCRATCH/out") $status" "/dev/hvc0 7"

SEED=7 vm -p real_rate=850 -- mali-bench -d real_rate
is "a real rate that is given is the one" "$(out)" 850

# The clock is the host's.
before=$(date +%s)
SEED=7 VIRT_SHOW_QEMU=1 vm -- date +%s
now=$(out)
says "the GPU's latencies and real rate are drawn from SEED" "model=g610,latency_seed=8,real_rate=1131"
if [ "$now" -ge "$before" ] && [ "$now" -le "$(date +%s)" ]; then
	ok "the clock is the host's"
else
	not_ok "the clock is the host's" "from $before to $(date +%s) here, $now there"
fi

# Many writers, and one that outlives the command
# shellcheck disable=SC2016
vm -- sh -c 'sleep 1000 &
	p=; for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero bs=1000 count=500 2>/dev/null & p="$p $!"; done; wait $p'
is "4 MB from eight writers" "$(wc -c <"$SCRATCH/out")" 4000000
is "what the command left behind does not keep the machine" "$status" 0

# Wrong use: status 2, a message, and no machine
wrong()
{
	local name=$1 pattern=$2

	shift 2
	vm "$@" -l "$SCRATCH/ledger" -- true
	is "$name: status" "$status" 2
	says "$name: message" "$pattern"
}
wrong "no such model" "model" -g g999
wrong "no such property" "nonesuch" -p nonesuch=1
wrong "no such board" "choose one of rk3588, " -b nonesuch
wrong "clocks without core" "name core, and others of coregroup and stacks" -p clocks=stacks
wrong "a clock of an unknown name" "clocks=core+bus: name core" -p clocks=core+bus
wrong "a clock of no rate" "clocks=core@0: name core" -p clocks=core@0
wrong "operating points the wrong way round" "the lowest first" -p opps=100000000+50000000
wrong "rates of stacks without a power domain" "with gpufreq" -p opps=50000000/40000000
wrong "a power domain without a driver" "gpufreq is for kernels of Debian's" -c plain -p gpufreq=on
wrong "a rate that is too low" "real_rate must be 1 to 4000" -p real_rate=0
wrong "a rate that is too high" "real_rate must be 1 to 4000" -p real_rate=4001
wrong "neither on nor off" "cycle_count" -p cycle_count=some
wrong "no such file" "no file $SCRATCH/missing" -f "$SCRATCH/missing"
wrong "no such directory" "no directory $SCRATCH/missing" -o x:"$SCRATCH/missing/x"
wrong "no number" "takes a number" -s many
wrong "no such option" "option" -Z
SEED=x wrong "no number to draw from" "SEED is a number, not 'x'"
wrong "fuses that nothing reads" "shader_fuses is for kernels of Debian's" -c plain -p shader_fuses=1
wrong "no such root" "takes vulkan or gl" -r opencl
wrong "no such package name" "no name of a Debian package" -a 'A b'
KERNEL=5.0 wrong "no such kernel" "no kernel 5.0"
is "no machine is left" "$(left_over)" 0

# Hangs and reports

vm -t 8 -l "$SCRATCH/ledger" -- sleep 1000
is "a guest that does not end is ended: 125" "$status" 125
says "it says so" "did not come to an end in 8 s"
is "nothing of it is left" "$(left_over)" 0

vm -- sh -c 'modprobe lkdtm && echo WARNING >/sys/kernel/debug/provoke-crash/DIRECT; echo on'
is "a report: 125" "$status" 125
says "it is shown" "WARNING: .*lkdtm"
VIRT_EXPECT_REPORT=lkdtm_WARNING vm -- sh -c 'modprobe lkdtm && echo WARNING >/sys/kernel/debug/provoke-crash/DIRECT; echo on; exit 3'
is "a report that was declared: the command's status" "$status $(out)" "3 on"
VIRT_EXPECT_REPORT=lkdtm_WARNING vm -- true
is "a declared report that does not come: 125" "$status" 125
VIRT_EXPECT_REPORT=another vm -- sh -c 'modprobe lkdtm && echo WARNING >/sys/kernel/debug/provoke-crash/DIRECT'
is "another report than the declared: 125" "$status" 125
VIRT_ALLOW_REPORT=lkdtm_WARNING vm -- sh -c 'modprobe lkdtm && echo WARNING >/sys/kernel/debug/provoke-crash/DIRECT; exit 4'
is "a report that is allowed: the command's status" "$status" 4
VIRT_ALLOW_REPORT=lkdtm_WARNING vm -- sh -c 'exit 5'
is "an allowed report that does not come: the command's status" "$status" 5
VIRT_ALLOW_REPORT=another vm -- sh -c 'modprobe lkdtm && echo WARNING >/sys/kernel/debug/provoke-crash/DIRECT'
is "another report than the allowed: 125" "$status" 125

# reports FUNCTION...: the end of a report, in which these are the last ones, and what guests' tests see of it
reports()
{
	# shellcheck disable=SC2016
	vm -f "$VIRT_DIR/tests/guest/tap.sh":/root/tap.sh -- sh -c '. /root/tap.sh; new_dmesg >/root/before
		for line in "------------[ cut here ]------------" "WARNING: kernel/time/hrtimer.c:1098 at $0+0x78/0xb4" \
			"pc : $0+0x78/0xb4" "lr : $1+0x2f8/0x688" "---[ end trace 0000000000000000 ]---"; do
			echo "<4>$line" >/dev/kmsg
		done
		new_dmesg | grep -c "pc :"; true' "$@"
}
reports hrtimer_forward dl_task_timer
is "a report that a busy host causes is left out" "$status $(out)" "0 0"
reports hrtimer_forward panthor_perf_work
is "but no other of the kind" "$status $(out)" "125 1"

# What a guest must not do to the GPU: write what can only be read or is not there, and command an address
# space that is still at work. STATUS of address space 0 is at 0x2428, COMMAND at 0x2418, of space 1 at 0x2458.
# shellcheck disable=SC2016
WRITES='gpu() { devmem $((0x$(basename /sys/bus/platform/devices/*.gpu .gpu) + $1)) 32 $2; }
	devmem $((0x$(basename /sys/bus/platform/devices/*.sysreg .sysreg) + 8)) 32 7
	gpu 0x18 1; gpu 0x2c 2; gpu 0x10000 3; gpu 0x2010 4; gpu 0x2428 5; gpu 0x2458 6
	mali-bench as_stuck=1; gpu 0x2418 2; gpu 0x2418 3; echo on'
vm -- sh -c "$WRITES"
is "guest errors: 125" "$status $(out)" "125 on"
is "they are shown" "$(err)" "    mali-csf: write of 0x1 to register 0x18 ignored
    mali-csf: write of 0x2 to an interrupt's status ignored
    mali-csf: write of 0x3 to register 0x10000 ignored
    mali-csf: write of 0x4 to register 0x2010 ignored
    mali-csf: AS0: write of 0x5 to register 0x28 ignored
    mali-csf: AS1: unknown command 6
    mali-csf: AS0: command 3 while 2 is in progress
run: the guest made 7 errors that devices tell of"
VIRT_ALLOW_GUEST_ERRORS='^mali-csf: (write|AS[01]:)' vm -- sh -c "$WRITES; exit 6"
is "guest errors that are allowed: the command's status" "$status $(err)" "6 "
VIRT_ALLOW_GUEST_ERRORS='^mali-csf: write' vm -- sh -c "$WRITES"
is "others than the allowed: 125" "$status $(grep -c AS0 "$SCRATCH/err")" "125 2"
vm -- sh -c "$WRITES; i=0; while [ \$i -lt 100 ]; do gpu 0x18 1; i=\$((i + 1)); done"
is "of many guest errors the first are shown" "$status $(grep -c '^    mali-csf' "$SCRATCH/err")" "125 20"
says "and all of them counted" "the guest made 107 errors"

# Without clocks the GPU does not answer: an abort, which kills who is no kernel.
# shellcheck disable=SC2016
vm -- sh -c 'devmem $((0x$(basename /sys/bus/platform/devices/*.gpu .gpu))); echo $?'
is "a GPU without clocks: 125" "$status $(out | tail -n 1)" "125 135"
says "it is said why" "mali-csf: access to register 0x0 without clocks"

# Two at once
run -p noload=1 -- sh -c 'for i in $(seq 1000); do echo first; done' >"$SCRATCH/first" 2>&1 &
first=$!
run -p noload=1 -- sh -c 'for i in $(seq 1000); do echo second; done' >"$SCRATCH/second" 2>&1 &
second=$!
wait $first
a=$?
wait $second
b=$?
is "two at once: both end well" "$a $b" "0 0"
is "each has its own output" "$(sort "$SCRATCH/first" "$SCRATCH/second" | uniq -c | tr -s ' ')" \
	"$(printf ' 1000 first\n 1000 second')"

# One that is killed takes its machine along
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -p noload=1 -l "$SCRATCH/ledger" -- sleep 1000 >/dev/null 2>&1 &
pid=$!
while ! machine=$(pgrep -P $pid -f "qemu-system-aarch64 .*$SCRATCH") && kill -0 $pid; do
	sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
timeout 60 tail --pid="$machine" -f /dev/null
is "killing it kills its machine" "$(left_over)" 0
