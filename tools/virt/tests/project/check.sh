#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# The runner counts what tests say, and does not believe those that say too little.
set -u
. "$(dirname "$0")/../lib/tap.sh"

plan 82

mkdir -p "$SCRATCH/top/tools/virt/build" "$SCRATCH/top/tests"
cp "$VIRT_DIR/check" "$SCRATCH/top/tools/virt/"
cp "$VIRT_DIR/build/processors.sh" "$SCRATCH/top/tools/virt/build/"

# fake NAME LINE...: a test script
fake()
{
	{
		echo '#!/bin/sh'
		echo '# kernels: none'
		printf '%s\n' "${@:2}"
	} >"$SCRATCH/top/tests/$1.sh"
	chmod +x "$SCRATCH/top/tests/$1.sh"
}

# judged ARGUMENTS WHAT SUMMARY [PATTERN]...: what the runner makes of that test
judged()
{
	local out want pattern

	# shellcheck disable=SC2086
	out=$("$SCRATCH/top/tools/virt/check" $1 2>&1)
	out="$out, status $?"
	case $3 in
	*' 0 failed, '*) want="$3, status 0" ;;
	*) want="$3, status 1" ;;
	esac
	if [ "$(tail -n 1 <<<"$out")" != "$want" ]; then
		not_ok "$2" "want: $want" "$out"
		return
	fi
	for pattern in "${@:4}"; do
		if ! grep -q -- "$pattern" <<<"$out"; then
			not_ok "$2" "no line matches: $pattern" "$out"
			return
		fi
	done
	ok "$2"
}

fake good 'echo 1..2' 'echo ok 1 - a' 'echo ok 2 - b'
judged good "good results" "2 passed, 0 failed, 0 skipped" "^ok   tests/good.sh: 2 passed"
fake tells 'echo "#: 7 lines"' 'echo 1..1' 'echo ok 1'
judged tells "what a good test tells" "1 passed, 0 failed, 0 skipped" "^    7 lines$"
fake late 'echo ok 1 - a' 'echo 1..1'
judged late "a plan at the end" "1 passed, 0 failed, 0 skipped"
fake skip 'echo "1..0 # SKIP for a reason"'
judged skip "a test that is skipped" "0 passed, 0 failed, 1 skipped" "^skip tests/skip.sh: for a reason$"
fake part 'echo 1..4' 'echo ok 1 - a' 'echo "ok 2 - b # SKIP for one"' 'echo "ok 3 # skip for another"' 'echo ok 4'
judged part "results that are skipped" "2 passed, 0 failed, 2 skipped" \
	"^ok   tests/part.sh: 2 passed, 2 skipped" "^skip tests/part.sh: b: for one$" "^skip tests/part.sh: 3: for another$"
fake mute 'echo "1..0 # SKIP "'
judged mute "a test that is skipped for no reason" "0 passed, 1 failed, 0 skipped" "; it skipped without a reason$"
fake none 'echo 1..0'
judged none "a test that plans nothing" "0 passed, 1 failed, 0 skipped" "; it skipped without a reason$"
fake mute 'echo 1..2' 'echo ok 1 - a' 'echo "ok 2 - b # SKIP"'
judged mute "a result that is skipped for no reason" "1 passed, 1 failed, 0 skipped" "; it skipped without a reason$"
fake liar 'echo "1..0 # SKIP for a reason"' 'echo ok 1'
judged liar "a test that is skipped, and is not" "1 passed, 1 failed, 1 skipped" "planned 0 results and gave 1"
fake broken 'echo 1..1' 'echo "not ok 1 - a # SKIP for a reason"'
judged broken "a bad result is bad" "0 passed, 1 failed, 0 skipped"
fake bad 'echo 1..2' 'echo not ok 1 - a' 'echo "# saw 5"' 'echo ok 2 - b'
judged bad "a bad result, and what it saw" "1 passed, 1 failed, 0 skipped" "# saw 5"
is "both again at the end, and how to repeat it" \
	"$(SEED=7 "$SCRATCH/top/tools/virt/check" bad | sed -n '/^failed: /,/ again: /p')" "failed: tests/bad.sh
    not ok 1 - a
    # saw 5
    again: SEED=7 tools/virt/check tests/bad.sh"
is "of a test that says nothing, what it did" \
	"$(fake mum 'echo a word' && SEED=7 "$SCRATCH/top/tools/virt/check" mum | sed -n '/^failed: /,/ again: /p')" "failed: tests/mum.sh
    it printed no plan
    a word
    again: SEED=7 tools/virt/check tests/mum.sh"
rm "$SCRATCH/top/tests/mum.sh"
fake several 'echo 1..4' 'echo ok 1' 'echo "# a"' 'echo not ok 2' 'echo "# b"' 'echo not ok 3' 'echo ok 4' 'echo "# c"'
is "what has failed, first" "$("$SCRATCH/top/tools/virt/check" several | sed -n 2,6p | tr -d ' ' | tr '\n' ' ')" \
	"#a notok2 #b notok3 allofitsoutput(8lines): "
fake short 'echo 1..3' 'echo ok 1' 'echo ok 2'
judged short "fewer results than planned" "2 passed, 1 failed, 0 skipped" "planned 3 results and gave 2"
fake long 'echo 1..1' 'echo ok 1' 'echo ok 2'
judged long "more results than planned" "2 passed, 1 failed, 0 skipped" "planned 1 results and gave 2"
fake silent 'true'
judged silent "a test that says nothing" "0 passed, 1 failed, 0 skipped" "printed no plan"
fake twice 'echo 1..2' 'echo ok 1' 'echo ok 1'
judged twice "a result that comes twice" "2 passed, 1 failed, 0 skipped" "numbered its results wrongly"
# shellcheck disable=SC2016
fake dead 'echo 1..1' 'echo ok 1' 'kill -KILL $$'
judged dead "a test that dies after its last result" "1 passed, 1 failed, 0 skipped" "died of signal 9"
fake status 'echo 1..1' 'echo ok 1' 'exit 4'
judged status "a test that ends badly" "1 passed, 1 failed, 0 skipped" "ended with status 4"

out=$("$SCRATCH/top/tools/virt/check" nonesuch 2>&1)
is "no such test: status" "$?" 1
case $out in
"check: there is no test nonesuch; there are: bad broken dead good "*) ok "no such test: message" ;;
*) not_ok "no such test: message" "$out" ;;
esac
unknown=", passed last: not known (-)"
sed -i 's/^# kernels: none/# configs: debug/' "$SCRATCH/top/tests/good.sh"
is "kernels and configurations" "$("$SCRATCH/top/tools/virt/check" -L -l good)" \
	"$(printf 'tests/good.sh (7.3 debug)\ntests/good.sh (6.12 debug)%s' "$unknown")"
is "without -L, one debug kernel" "$("$SCRATCH/top/tools/virt/check" -l good)" "tests/good.sh (7.3 debug)"
is "without -L, the other if it is asked for" "$("$SCRATCH/top/tools/virt/check" -k 6.12 -c debug -l good)" \
	"tests/good.sh (6.12 debug)"
is "not, if only the kernel is" "$("$SCRATCH/top/tools/virt/check" -k 6.12 -l good)" ""
sed -i 's/^# configs: debug/# configs: kcsan/' "$SCRATCH/top/tests/good.sh"
is "no kernel that looks for data races" "$("$SCRATCH/top/tools/virt/check" -l good)" ""
is "unless it is asked for" "$("$SCRATCH/top/tools/virt/check" -k 7.3 -c kcsan -l good)" "tests/good.sh (7.3 kcsan)"
sed -i 's/^# configs: kcsan/# configs: debug/' "$SCRATCH/top/tests/good.sh"
sed -i 's/^# configs: debug/# kernels: 6.12/' "$SCRATCH/top/tests/good.sh"
sed -i 's/^# kernels: 6.12/# configs: plain stock/' "$SCRATCH/top/tests/good.sh"
is "of 7.2 there is stock alone, and not unless it is named" "$("$SCRATCH/top/tools/virt/check" -l good | grep -c '(7\.2')" 0
is "7.2, asked for" "$("$SCRATCH/top/tools/virt/check" -k 7.2 -l good)" "tests/good.sh (7.2 stock)"
is "7.2, with -L" "$("$SCRATCH/top/tools/virt/check" -L -l good | grep '(7\.2')" "tests/good.sh (7.2 stock)$unknown"
sed -i 's/^# configs: plain stock/&\n# daily: 7.2/' "$SCRATCH/top/tests/good.sh"
is "7.2, named by a portion" "$("$SCRATCH/top/tools/virt/check" -l good | grep '(7\.2')" "tests/good.sh (7.2 stock), portion 1"
is "which is of no other kernel" "$("$SCRATCH/top/tools/virt/check" -l good | grep -c portion)" 1
sed -i 's/^# daily: 7.2/# daily: 7.3-16k/' "$SCRATCH/top/tests/good.sh"
is "a flavour, named by a portion" "$("$SCRATCH/top/tools/virt/check" -l good | grep '(.*-')" "tests/good.sh (7.3-16k stock), portion 5"
is "flavours are not for all tests of -L" "$("$SCRATCH/top/tools/virt/check" -L -l good | grep '(.*-.* stock)')" "tests/good.sh (7.3-16k stock)"
sed -i -e '/^# daily: /d' -e 's/^# configs: plain stock/# kernels: 6.12/' "$SCRATCH/top/tests/good.sh"
is "one kernel, chosen" "$("$SCRATCH/top/tools/virt/check" -c plain -l good)" "tests/good.sh (6.12 plain)"

# shellcheck disable=SC2016
fake patient 'echo 1..1' 'echo "ok 1 - ${LONG:-short}"; echo "not ok 2 - ${LONG:-short}"'
is "without -L, nothing is long" "$(LONG=1 "$SCRATCH/top/tools/virt/check" patient | grep '^    ok')" \
	"    ok 1 - short"
is "with -L, it is" "$("$SCRATCH/top/tools/virt/check" -L patient | grep '^    ok')" "    ok 1 - 1"
sed -i 's/^# kernels: none/# long: debug/' "$SCRATCH/top/tests/patient.sh"
is "a configuration for -L alone: not without" "$("$SCRATCH/top/tools/virt/check" -k 7.3 -l patient)" \
	"tests/patient.sh (7.3 plain)"
is "a configuration for -L alone: with it" "$("$SCRATCH/top/tools/virt/check" -L -k 7.3 -l patient)" \
	"$(printf 'tests/patient.sh (7.3 plain)\ntests/patient.sh (7.3 debug)%s' "$unknown")"
sed -i 's/^# long: debug/# long: 6.12/' "$SCRATCH/top/tests/patient.sh"
is "a kernel for -L alone: not without" "$("$SCRATCH/top/tools/virt/check" -l patient)" \
	"$(printf 'tests/patient.sh (7.3 plain)\ntests/patient.sh (7.3 debug)')"
is "a kernel for -L alone: with it" "$("$SCRATCH/top/tools/virt/check" -L -c plain -l patient)" \
	"$(printf 'tests/patient.sh (7.3 plain)\ntests/patient.sh (6.12 plain)%s' "$unknown")"
sed -i 's/^# long: 6.12/# kernels: none\n# long: none/' "$SCRATCH/top/tests/patient.sh"
is "without a kernel, for -L alone: not without" "$("$SCRATCH/top/tools/virt/check" -l patient)" ""
is "without a kernel, for -L alone: with it" "$("$SCRATCH/top/tools/virt/check" -L -l patient)" \
	"tests/patient.sh$unknown"

# What -L alone runs is noted when it has passed.
fake lengthy '# long: none' 'echo 1..1' 'echo ok 1'
noted=$SCRATCH/top/tools/virt/data/long-runs.csv
mkdir -p "${noted%/*}"
is "a long run that is not known" "$("$SCRATCH/top/tools/virt/check" -L -l lengthy)" \
	"tests/lengthy.sh$unknown"
git -C "$SCRATCH/top" init -q
git -C "$SCRATCH/top" -c user.name=x -c user.email=x commit -q --allow-empty -m x
commit=$(git -C "$SCRATCH/top" rev-parse --short HEAD)
until day=$(date +%F); "$SCRATCH/top/tools/virt/check" -L lengthy patient >/dev/null; [ "$(date +%F)" = "$day" ]; do
	:
done
is "a long run that has passed, and no other, is noted" "$(grep -v '^#' "$noted")" "tests/lengthy.sh;$day;$commit"
is "and told" "$("$SCRATCH/top/tools/virt/check" -L -l lengthy)" "tests/lengthy.sh, passed last: $day ($commit)"
fake lengthy '# long: none' 'echo 1..1' 'echo not ok 1'
"$SCRATCH/top/tools/virt/check" -L lengthy >/dev/null
is "not, if it has failed" "$(grep -vc '^#' "$noted")" 1

fake byhand 'echo 1..1' 'echo ok 1'
sed -i 's/^# kernels: none/# configs: none/' "$SCRATCH/top/tests/byhand.sh"
is "one that is run by hand" "$("$SCRATCH/top/tools/virt/check" -L -l byhand)" ""

# Seven portions, of which each commit has the next one.
for n in 1 2 3 4 5 6 7 8 9; do
	fake "daily$n" '# daily: all' 'echo 1..1' 'echo ok 1'
done
fake always 'echo 1..1' 'echo ok 1'
rm -f "$SCRATCH/top/tests/"[b-c]*.sh "$SCRATCH/top/tests/"[e-z]*.sh "$SCRATCH/top/tests/"de*.sh
out=$(DAY=2 "$SCRATCH/top/tools/virt/check" 2>&1)
is "a day's portion: its tests" "$(grep '^ok ' <<<"$out" | sort | awk '{ printf "%s ", $2 }')" \
	"tests/always.sh: tests/daily2.sh: tests/daily8.sh: "
is "a day's portion: it is named" "$(grep '^DAY' <<<"$out")" "DAY=2: tests/daily2.sh, tests/daily8.sh"
is "without DAY, the commit chooses" "$(env -u DAY "$SCRATCH/top/tools/virt/check" | grep '^DAY')" \
	"DAY=2: tests/daily2.sh, tests/daily8.sh"
is "a day's portion: the seed is named" "$(SEED=77 DAY=3 "$SCRATCH/top/tools/virt/check" | grep '^SEED')" "SEED=77"
for day in 1 2 3 4 5 6 7; do
	DAY=$day "$SCRATCH/top/tools/virt/check" | sed -n 's|^ok   tests/\(daily.\).*|\1|p'
done | sort | uniq -c | awk '{ print $1, $2 }' >"$SCRATCH/portions"
is "seven portions have all, each once" "$(awk '{ n++; sum += $1 } END { print n, sum }' "$SCRATCH/portions")" "9 9"
is "a test that is named runs on any day" "$(DAY=2 "$SCRATCH/top/tools/virt/check" daily3 | tail -n 1)" \
	"1 passed, 0 failed, 0 skipped"
out=$(DAY=8 "$SCRATCH/top/tools/virt/check" 2>&1)
is "a day that there is not" "$out, $?" "check: DAY is a number from 1 to 7, not '8', 1"
rm -f "$SCRATCH/top/tests/"[ad]*.sh

# What it started ends with it, however it ends, and whichever of its threads takes the signal: the main
# one, which waits, need not.
mkfifo "$SCRATCH/begun"
# shellcheck disable=SC2016
fake endless "echo \$\$ >$SCRATCH/begun" 'exec sleep 1000'
for which in first last; do
	"$SCRATCH/top/tools/virt/check" endless >"$SCRATCH/endless" 2>&1 &
	runner=$!
	read -r test <"$SCRATCH/begun"
	threads=("/proc/$runner/task"/*)
	[ $which = last ] && thread=${threads[-1]##*/} || thread=$runner
	kill "$thread"
	timeout 60 tail --pid="$runner" -f /dev/null || kill -KILL "$runner" "$test"
	wait "$runner"
	is "a runner that is ended says so, $which thread of it" "$? $(tail -n 1 "$SCRATCH/endless")" "130 check: interrupted"
	timeout 60 tail --pid="$test" -f /dev/null
	is "its test has ended, too, $which thread" "$(kill -0 "$test" 2>&1 >/dev/null | grep -c 'No such process')" 1
done

# A pipe that nobody reads: a test that has ended cannot be reported.
mkfifo "$SCRATCH/unread"
exec 7<>"$SCRATCH/unread" 8>"$SCRATCH/unread" 7<&-
fake good 'echo 1..1' 'echo ok 1'
timeout 60 "$SCRATCH/top/tools/virt/check" -j 2 endless good >&8 2>"$SCRATCH/err"
is "a runner whose output is cut off ends quietly" "$? $(cat "$SCRATCH/err")" "141 "
exec 8>&-
rm "$SCRATCH/top/tests/good.sh"

# What is running is told now and then, on a terminal in a line that is overwritten.
sed 's/^TELL_SECONDS = 60$/TELL_SECONDS = 0.1/' "$VIRT_DIR/check" >"$SCRATCH/top/tools/virt/check"
# shellcheck disable=SC2016
fake watched 'timeout 120 sh -c "until grep -q \"running: tests/watched.sh [0-9]* s\" $WATCHED; do sleep 0.1; done" || exit' \
	'echo 1..1' 'echo ok 1'
WATCHED=$SCRATCH/watched "$SCRATCH/top/tools/virt/check" watched >"$SCRATCH/watched" 2>&1
is "what runs is told" "$? $(grep -c '^running: tests/watched.sh [0-9]* s$' "$SCRATCH/watched" | sed 's/[1-9].*/some/')" "0 some"
WATCHED=$SCRATCH/screen script -qefc "$SCRATCH/top/tools/virt/check watched" "$SCRATCH/screen" >/dev/null 2>&1 </dev/null
is "in a line of a terminal that is overwritten" \
	"$? $(tr '\r' '\n' <"$SCRATCH/screen" | grep -c '^.\[Krunning: tests/watched.sh [0-9]* s$' | sed 's/[1-9].*/some/')" "0 some"
rm "$SCRATCH/top/tests/watched.sh"
cp "$VIRT_DIR/check" "$SCRATCH/top/tools/virt/"

# The quick ones alone, and what more there would be.
fake brisk '# quick: none' 'echo 1..1' 'echo ok 1'
more=$(DAY=1 "$SCRATCH/top/tools/virt/check" -l | grep -vc 'tests/brisk\.sh\|portion [2-7]$')
is "quick: what says so, and at the end what else there is" "$(DAY=1 "$SCRATCH/top/tools/virt/check" -q 2>&1 | tail -n 1)" \
	"1 passed, 0 failed, 0 skipped; make check-all runs $more tests more, and builds 0 kernels for them"
is "quick is not long" "$("$SCRATCH/top/tools/virt/check" -q -L 2>&1)" "check: -q and -L exclude each other"
rm "$SCRATCH/top/tests/brisk.sh"

# What it costs. burn.py takes 1.2 s of processor time, however long that is.
echo 'import time
while time.process_time() < 1.2: pass' >"$SCRATCH/burn.py"
fake cheap 'echo 1..1' 'echo ok 1'
fake dear "python3 $SCRATCH/burn.py" 'echo 1..1' 'echo ok 1'
# cost_of NAME: in hundredths of a minute, as the output in $out has it
cost_of()
{
	sed -n "s|^ *\([0-9]*\)\.\([0-9][0-9]\)  $1\$|\1\2|p" <<<"$out" | sed 's/^0*\(.\)/\1/'
}
out=$("$SCRATCH/top/tools/virt/check" dear cheap 2>&1)
is "within the budget: summary" "$? $(tail -n 1 <<<"$out")" "0 2 passed, 0 failed, 0 skipped"
is "the most expensive first" "$(sed -n '/^minutes of processor time:$/,/ in all$/s/^[ 0-9.]*  //p' <<<"$out" |
	tr '\n' ' ')" "tests/dear.sh tests/cheap.sh in all "
if [ "$(cost_of tests/dear.sh)" -ge 2 ] && [ "$(cost_of 'in all')" -ge 2 ]; then
	ok "a test's cost is that of what it starts"
else
	not_ok "a test's cost is that of what it starts" "$out"
fi
judged "dear -b 0.01" "over the budget: one failure" "1 passed, 1 failed, 0 skipped" \
	"^FAIL budget: 0\.0[2-9] minutes of processor time, and 0\.01 are allowed"
# As if each took 100 hours more.
mkdir "$SCRATCH/slow"
echo 'import os, types
wait4 = os.wait4
def slow(*args):
    pid, status, usage = wait4(*args)
    return pid, status, types.SimpleNamespace(ru_utime=usage.ru_utime + 360000, ru_stime=usage.ru_stime)
os.wait4 = slow' >"$SCRATCH/slow/sitecustomize.py"
PYTHONPATH=$SCRATCH/slow judged cheap "without a budget, any cost" "1 passed, 0 failed, 0 skipped" "^ *600[0-9]\.[0-9]*  in all$"
out=$("$SCRATCH/top/tools/virt/check" -b many 2>&1)
is "no such budget" "$? $out" "1 check: -b takes a number of minutes, not many"

# How many at a time: one for each processor. Two that wait for each other end only if both run.
mkfifo "$SCRATCH/here" "$SCRATCH/there"
fake meet1 "timeout 60 sh -c 'echo >$SCRATCH/here && read -r line <$SCRATCH/there' || exit" 'echo 1..1' 'echo ok 1'
fake meet2 "timeout 60 sh -c 'read -r line <$SCRATCH/here && echo >$SCRATCH/there' || exit" 'echo 1..1' 'echo ok 1'
if [ "$("$VIRT_DIR/build/processors.sh")" -gt 1 ]; then
	judged "meet1 meet2" "two processors, two tests at a time" "2 passed, 0 failed, 0 skipped"
else
	ok "two processors, two tests at a time # SKIP there is one"
fi
for n in 1 2; do
	fake alone$n "echo begins >>$SCRATCH/order" "python3 $SCRATCH/burn.py" "echo ends >>$SCRATCH/order" 'echo 1..1' 'echo ok 1'
done
processor=$(sed -n 's/^Cpus_allowed_list:\t\([0-9]*\).*/\1/p' /proc/self/status)
taskset -c "$processor" "$SCRATCH/top/tools/virt/check" alone1 alone2 >"$SCRATCH/out" 2>&1
is "one processor of the machine's, one test at a time" "$(tail -n 1 "$SCRATCH/out") $(xargs <"$SCRATCH/order")" \
	"2 passed, 0 failed, 0 skipped begins ends begins ends"

# share PATH LIMIT...: how many processors that share of their time is, as "QUOTA PERIOD" of groups' files
share()
{
	local path=$1

	rm -rf "$SCRATCH/machine"
	mkdir -p "$SCRATCH/machine/proc/self" "$SCRATCH/machine/sys/fs/cgroup/cpu/a/b" "$SCRATCH/machine/sys/fs/cgroup/a/b"
	echo "$path" >"$SCRATCH/machine/proc/self/cgroup"
	shift
	while [ $# -gt 0 ]; do
		echo "$2" >"$SCRATCH/machine/sys/fs/cgroup/$1"
		shift 2
	done
	"$VIRT_DIR/build/processors.sh" "$SCRATCH/machine"
}
processors=$(nproc)
is "no limit of their time" "$(share 0::/a/b a/cpu.max 'max 100000') $(share 0::/) $(share 2:cpu,cpuacct:/a \
	cpu/a/cpu.cfs_quota_us -1 cpu/a/cpu.cfs_period_us 100000)" "$processors $processors $processors"
is "a limit below one" "$(share 0::/a a/cpu.max '50000 100000')" 1
is "a limit of a group above, and one of its own" "$(share 0::/a/b a/cpu.max '20000 20000' a/b/cpu.max '90000 10000')" 1
is "a limit where the group is not to be seen" "$(share 0::/system/x cpu.max '100000 100000')" 1
is "a limit as cgroup version 1 has it" "$(share 2:cpu,cpuacct:/a cpu/a/cpu.cfs_quota_us 100000 \
	cpu/a/cpu.cfs_period_us 100000)" 1
is "a limit above one is rounded up" "$(share 0::/a a/cpu.max '100001 100000')" $((processors > 2 ? 2 : processors))
is "a limit above what there is" "$(share 0::/a a/cpu.max "$(((processors + 1) * 1000)) 1000")" "$processors"

# Builds, and their order.
for script in kernel qemu root; do
	cat >"$SCRATCH/top/tools/virt/build/$script.sh" <<-EOF
		#!/bin/sh
		echo "\$*" >>"$SCRATCH/built.$script"
		[ $script != kernel ] || python3 $SCRATCH/burn.py
	EOF
	chmod +x "$SCRATCH/top/tools/virt/build/$script.sh"
done
fake built 'echo 1..1' 'echo ok 1'
sed -i 's/^# kernels: none/# configs: plain debug/' "$SCRATCH/top/tests/built.sh"
out=$("$SCRATCH/top/tools/virt/check" built 2>&1)
is "builds: the kernel of the slow tests is the first" "$(cat "$SCRATCH/built.kernel")" \
	"$(printf '7.3 debug\n7.3 plain\n6.12 plain')"
if [ "$(cost_of 'building: kernel.sh 6.12 plain')" -ge 2 ] && [ "$(cost_of 'in all')" -ge 6 ]; then
	ok "builds are among the costs"
else
	not_ok "builds are among the costs" "$out"
fi
