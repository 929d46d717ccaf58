# SPDX-License-Identifier: MIT
# For the host's test scripts (source it): TAP, and tests that run inside a VM.
#
#   plan N                        N results will come
#   ok NAME                       the next result is good
#   not_ok NAME [TEXT...]         it is not, and why
#   is NAME GOT WANT              equal strings
#   seed NUMBER                   for a test that draws the same each time: SEED is the environment's, or NUMBER
#   allow_known                   what panthor itself reports may come, if this test is named (data/panthor-reports.csv)
#   until_true COMMAND...         asks again until it succeeds, for two minutes
#   tool_builds TARGET...         the next result is that these of panthor-perf's programs are in $SCRATCH; ends if not
#   run_tests N NAME COMMAND...   N results of a program of this machine that prints TAP, and two for its end
#   in_guest N NAME [RUN-OPTION...] -- COMMAND [ARG...]
#                                 N results from the VM and one for how the run ended
#   guest_script N SCRIPT [RUN-OPTION...] [-- ARG...]
#                                 the same, of tests/guest/SCRIPT.sh
#   guest_script_by_log N SCRIPT [RUN-OPTION...] [-- ARG...]
#                                 the same, of a script that suspends the system's devices
#
# KERNEL and CONFIG choose the kernel, as the runner sets them; SERIES is KERNEL without -rt or -16k. SEED, the
# environment's, or any, is printed: what tests draw is drawn from it, and so are, by run, the GPU's latencies.

TESTS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VIRT_DIR=$(dirname "$TESTS_DIR")
VIRT_PAGE=$VIRT_DIR/../../Documentation/virtual-mali.rst
KERNEL=${KERNEL:-7.3}
SERIES=${KERNEL%-*}
CONFIG=${CONFIG:-plain}
TAP_COUNT=0
# The same that guests leave out of their logs.
. <(sed -n '/^without_the_host()/,/^}/p' "$TESTS_DIR/guest/tap.sh")
SCRATCH=$(mktemp -d)
# What gcov counts, tools/virt/coverage looks for behind it.
[ -n "${KEEP_SCRATCH:-}" ] || trap 'rm -rf "$SCRATCH"' EXIT

plan()
{
	echo "1..$1"
}

ok()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT - $1"
}

not_ok()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "not ok $TAP_COUNT - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}

is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

until_true()
{
	local end=$((SECONDS + 120))

	while ! "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.02 <> <(:) || :
	done
}

allow_known()
{
	local known

	known=$(awk -F';' -v kernel="$SERIES" -v name="$(basename "$0" .sh)" '
		!/^#/ && index(" " $1 " ", " " kernel " ") && index(" " $5 " ", " " name " ") { printf "%s%s", more, $3; more = "|" }
		' "$VIRT_DIR/data/panthor-reports.csv")
	# Nothing at all would match any report.
	[ -z "$known" ] || export VIRT_ALLOW_REPORT=$known
}

seed()
{
	# A number of its own is for a test to have, unless somebody asks for another.
	[ -z "${SEED_DRAWN:-}" ] || SEED=$1
	echo "# SEED=$SEED"
}
[ -n "${SEED:-}" ] || SEED=$RANDOM SEED_DRAWN=1
export SEED
echo "# SEED=$SEED"

# Results of a guest, as its tap.sh gives them, from standard input; RELAYED: how many.
relay()
{
	local name=$1 line

	RELAYED=0
	while IFS= read -r line; do
		case $line in
		'ok - '*)
			RELAYED=$((RELAYED + 1))
			ok "$name: ${line#ok - }"
			;;
		'not ok - '*)
			RELAYED=$((RELAYED + 1))
			not_ok "$name: ${line#not ok - }"
			;;
		*)
			echo "# $line"
			;;
		esac
	done
}

tool_builds()
{
	if make -s -C "$VIRT_DIR/../panthor-perf" O="$SCRATCH" "${@/#/$SCRATCH/}" >"$SCRATCH/log" 2>&1; then
		ok "what is tested builds"
	else
		not_ok "what is tested builds" "$(cat "$SCRATCH/log")"
		exit 1
	fi
}

run_tests()
{
	local expected=$1 name=$2

	shift 2
	"$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
	is "$name: ends well" "$? $(cat "$SCRATCH/err")" "0 "
	relay "$name" < <(sed 's/^\(ok\|not ok\) [0-9]* - /\1 - /; /^1\.\./d' "$SCRATCH/out")
	is "$name: all results came" "$RELAYED" "$expected"
}

in_guest()
{
	local expected=$1 name=$2 results status

	shift 2
	relay "$name" < <("$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" "$@" 2>"$SCRATCH/err" | tee "$SCRATCH/out"
		echo "${PIPESTATUS[0]}" >"$SCRATCH/status")
	status=$(cat "$SCRATCH/status")
	results=$RELAYED
	# A guest that dies early owes its results: the plan must come out.
	while [ "$results" -lt "$expected" ]; do
		results=$((results + 1))
		not_ok "$name: result $results of $expected did not come"
	done
	if [ "$status" -eq 0 ] && [ "$results" -eq "$expected" ]; then
		ok "$name: the run ends well and the kernel has nothing to report"
	else
		not_ok "$name: the run ends well and the kernel has nothing to report" \
			"status $status, $results results of $expected" "$(tail -n 120 "$SCRATCH/err")"
	fi
}

guest_script()
{
	local expected=$1 script=$2 options=()

	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	in_guest "$expected" "$script" "${options[@]}" \
		-f "$TESTS_DIR/guest/tap.sh:/root/tap.sh" -f "$TESTS_DIR/guest/$script.sh:/root/test.sh" \
		-- sh /root/test.sh "$@"
}

# The virtio_console of Linux 7.3, on resuming, asks the host for the state of its ports before it
# has a buffer for the answer (virtcons_restore()). The ports stay closed: what the guest finds
# comes out by the kernel's log, as does what gcov has counted, and it switches itself off.
guest_script_by_log()
{
	local expected=$1 script=$2 stamp='^\[[^]]*\]\(\[[^]]*\]\)\{0,1\}' options=() results

	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	VIRT_LOG=$SCRATCH/log "$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -t 600 "${options[@]}" \
		-f "$TESTS_DIR/guest/tap.sh:/root/tap.sh" \
		-f "$TESTS_DIR/guest/$script.sh:/root/test.sh" \
		-- sh -c 'sh /root/test.sh "$@" 2>&1 | while IFS= read -r line; do
				echo "TAP $line" >/dev/kmsg
			done
			[ ! -e /virt/gcov ] || {
				sh /usr/bin/gcov-save /root/gcov
				gzip -c /root/gcov | base64 | while read -r line; do
					echo "GCOV $line" >/dev/kmsg
				done
			}
			poweroff -f' sh "$@" >/dev/null 2>"$SCRATCH/err"
	relay "$script" < <(tr -d '\r' <"$SCRATCH/log" | sed -n "s/$stamp TAP //p")
	[ -z "${VIRT_GCOV:-}" ] ||
		tr -d '\r' <"$SCRATCH/log" | sed -n "s/$stamp GCOV //p" | base64 -d | gunzip >"$VIRT_GCOV/$script-by-log.tar"
	results=$RELAYED
	while [ "$results" -lt "$expected" ]; do
		results=$((results + 1))
		not_ok "$script: result $results of $expected did not come" "$(tail -n 40 "$SCRATCH/log")"
	done
	# The status tells nothing: a machine that goes off by itself has not come to its end.
	if without_the_host <"$SCRATCH/log" |
		grep -E 'cut here|WARNING: |BUG: |KASAN|Oops|possible .*(deadlock|recursive)|INFO: task' |
		grep -vE "${VIRT_ALLOW_REPORT:-^\$}" >"$SCRATCH/reports" ||
		grep -q '^run: the guest made' "$SCRATCH/err"; then
		not_ok "$script: the kernel has nothing to report" "$(cat "$SCRATCH/reports" "$SCRATCH/err")"
	else
		ok "$script: the kernel has nothing to report"
	fi
}
