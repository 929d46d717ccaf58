#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# The runner counts what tests say, and does not believe those that say too little.
set -u
. "$(dirname "$0")/lib/tap.sh"

plan 32

mkdir -p "$SCRATCH/top/tools/virt" "$SCRATCH/top/tests"
cp "$VIRT_DIR/check" "$SCRATCH/top/tools/virt/"

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

# judged ARGUMENTS WHAT SUMMARY [PATTERN]: what the runner makes of that test
judged()
{
	local out status

	# shellcheck disable=SC2086
	out=$("$SCRATCH/top/tools/virt/check" $1 2>&1)
	status=$?
	case $3 in
	*' 0 failed') out="$out, status $status"; set -- "$1" "$2" "$3, status 0" "${4:-}" ;;
	*) out="$out, status $status"; set -- "$1" "$2" "$3, status 1" "${4:-}" ;;
	esac
	if [ "$(tail -n 1 <<<"$out")" != "$3" ]; then
		not_ok "$2" "want: $3" "$out"
	elif [ -n "$4" ] && ! grep -q -- "$4" <<<"$out"; then
		not_ok "$2" "no line matches: $4" "$out"
	else
		ok "$2"
	fi
}

fake good 'echo 1..2' 'echo ok 1 - a' 'echo ok 2 - b'
judged good "good results" "2 passed, 0 failed" "^ok   tests/good.sh: 2 passed"
fake late 'echo ok 1 - a' 'echo 1..1'
judged late "a plan at the end" "1 passed, 0 failed"
fake skip 'echo "1..0 # SKIP for a reason"'
judged skip "a test that is skipped" "0 passed, 0 failed"
fake bad 'echo 1..2' 'echo not ok 1 - a' 'echo "# saw 5"' 'echo ok 2 - b'
judged bad "a bad result, and what it saw" "1 passed, 1 failed" "# saw 5"
fake several 'echo 1..4' 'echo ok 1' 'echo "# a"' 'echo not ok 2' 'echo "# b"' 'echo not ok 3' 'echo ok 4' 'echo "# c"'
is "what has failed, first" "$("$SCRATCH/top/tools/virt/check" several | sed -n 2,6p | tr -d ' ' | tr '\n' ' ')" \
	"#a notok2 #b notok3 allofitsoutput(8lines): "
fake short 'echo 1..3' 'echo ok 1' 'echo ok 2'
judged short "fewer results than planned" "2 passed, 1 failed" "planned 3 results and gave 2"
fake long 'echo 1..1' 'echo ok 1' 'echo ok 2'
judged long "more results than planned" "2 passed, 1 failed" "planned 1 results and gave 2"
fake silent 'true'
judged silent "a test that says nothing" "0 passed, 1 failed" "printed no plan"
fake twice 'echo 1..2' 'echo ok 1' 'echo ok 1'
judged twice "a result that comes twice" "2 passed, 1 failed" "numbered its results wrongly"
# shellcheck disable=SC2016
fake dead 'echo 1..1' 'echo ok 1' 'kill -KILL $$'
judged dead "a test that dies after its last result" "1 passed, 1 failed" "died of signal 9"
fake status 'echo 1..1' 'echo ok 1' 'exit 4'
judged status "a test that ends badly" "1 passed, 1 failed" "ended with status 4"

out=$("$SCRATCH/top/tools/virt/check" nonesuch 2>&1)
is "no such test: status" "$?" 1
case $out in
"check: there is no test nonesuch; there are: bad dead good "*) ok "no such test: message" ;;
*) not_ok "no such test: message" "$out" ;;
esac
sed -i 's/^# kernels: none/# configs: debug/' "$SCRATCH/top/tests/good.sh"
is "kernels and configurations" "$("$SCRATCH/top/tools/virt/check" -L -l good)" \
	"$(printf 'tests/good.sh (7.3 debug)\ntests/good.sh (6.12 debug)')"
is "without -L, one debug kernel" "$("$SCRATCH/top/tools/virt/check" -l good)" "tests/good.sh (7.3 debug)"
is "without -L, the other if it is asked for" "$("$SCRATCH/top/tools/virt/check" -k 6.12 -c debug -l good)" \
	"tests/good.sh (6.12 debug)"
is "not, if only the kernel is" "$("$SCRATCH/top/tools/virt/check" -k 6.12 -l good)" ""
sed -i 's/^# configs: debug/# kernels: 6.12/' "$SCRATCH/top/tests/good.sh"
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
	"$(printf 'tests/patient.sh (7.3 plain)\ntests/patient.sh (7.3 debug)')"

# What it started ends with it, however it ends.
mkfifo "$SCRATCH/begun"
# shellcheck disable=SC2016
fake endless "echo \$\$ >$SCRATCH/begun" 'exec sleep 1000'
"$SCRATCH/top/tools/virt/check" endless >"$SCRATCH/endless" 2>&1 &
runner=$!
read -r test <"$SCRATCH/begun"
kill "$runner"
wait "$runner"
is "a runner that is ended says so" "$? $(tail -n 1 "$SCRATCH/endless")" "130 check: interrupted"
timeout 60 tail --pid="$test" -f /dev/null
is "its test has ended, too" "$(kill -0 "$test" 2>&1 >/dev/null | grep -c 'No such process')" 1

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
is "within the budget: summary" "$? $(tail -n 1 <<<"$out")" "0 2 passed, 0 failed"
is "the most expensive first" "$(sed -n '/^minutes of processor time:$/,/ in all$/s/^[ 0-9.]*  //p' <<<"$out" |
	tr '\n' ' ')" "tests/dear.sh tests/cheap.sh in all "
if [ "$(cost_of tests/dear.sh)" -ge 2 ] && [ "$(cost_of 'in all')" -ge 2 ]; then
	ok "a test's cost is that of what it starts"
else
	not_ok "a test's cost is that of what it starts" "$out"
fi
judged "dear -b 0.01" "over the budget: one failure" "1 passed, 1 failed" \
	"^FAIL budget: 0\.0[2-9] minutes of processor time, and 0\.01 are allowed"
judged "dear -L" "with -L, any cost" "1 passed, 0 failed"
out=$("$SCRATCH/top/tools/virt/check" -b many 2>&1)
is "no such budget" "$? $out" "1 check: -b takes a number of minutes, not many"

# Builds, and their order.
mkdir -p "$SCRATCH/top/tools/virt/build"
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
