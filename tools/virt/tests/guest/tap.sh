# SPDX-License-Identifier: MIT
# For the scripts that run in the guest (source it). Results have no numbers:
# the host gives them (tests/lib/tap.sh).

ok()
{
	echo "ok - $1"
}

not_ok()
{
	echo "not ok - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}

# is NAME GOT WANT
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

# has NAME TEXT PATTERN: a line of TEXT matches
has()
{
	if printf '%s\n' "$2" | grep -q -- "$3"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $3" "$2"
	fi
}

# succeeds NAME COMMAND...
succeeds()
{
	local name=$1 out status

	shift
	out=$("$@" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$*: status $status" "$out"
	fi
}

# until SECONDS COMMAND...: asks again until it succeeds; fails at the end of the time.
until_true()
{
	local end=$(($(cut -d. -f1 /proc/uptime) + $1))

	shift
	while ! "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ] || return 1
		usleep 10000
	done
}

# value NAME TEXT: of name=value lines
value()
{
	printf '%s\n' "$2" | sed -n "s/^$1=//p"
}

GPU=$(ls -d /sys/bus/platform/drivers/panthor/*/of_node 2>/dev/null | sed 's|/of_node||')
[ -z "$GPU" ] || GPU=$(readlink -f "$GPU")

pm()
{
	cat "$GPU/power/$1"
}

pm_is()
{
	[ "$(pm runtime_status)" = "$1" ]
}

# without_the_host: standard input, without what a busy host causes, which does not let the processor run: messages of the
# timer's interrupt, the watchdog of clocks and the scheduler's server, and the server's report that run leaves out, too.
without_the_host()
{
	grep -vE 'hrtimer: interrupt took|clocksource: timekeeping watchdog|sched: DL replenish lagged too much' | awk '
		/\[ cut here \]/ { report = ""; inside = 1 }
		!inside { print; next }
		{ report = report $0 "\n" }
		/\[ end trace/ { inside = 0; if (report !~ /pc : hrtimer_forward.*lr : dl_(task|server)_timer/) printf "%s", report }
		END { if (inside) printf "%s", report }'
}

# The kernel's warnings and errors since it booted, panthor's among them, without those. What programs
# write to its log has other numbers in front.
complaints()
{
	dmesg -r | grep '^<[0-4]>' | without_the_host
}

quiet()
{
	is "the kernel has not complained of anything" "$(complaints)" ""
}

# What the kernel said since the last call, without those.
dmesg_lines=0
new_dmesg()
{
	dmesg_text=$(dmesg)
	printf '%s\n' "$dmesg_text" | tail -n +$((dmesg_lines + 1)) | without_the_host
	dmesg_lines=$(printf '%s\n' "$dmesg_text" | wc -l)
}
