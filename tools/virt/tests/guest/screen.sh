# SPDX-License-Identifier: MIT
# panthor-perf top on a terminal, which is tmux: what is on the screen after each key.
. /root/tap.sh

node=/dev/dri/renderD128
export LC_ALL=C.UTF-8

GPU_SYSFS=$(ls -d /sys/bus/platform/drivers/panthor/*/of_node)
GPU_SYSFS=$(cd -P "${GPU_SYSFS%/of_node}" && pwd)

# Each look at the screen is a program that is started: it looks less often than others ask.
until_true()
{
	local end=$(($(cut -d. -f1 /proc/uptime) + $1))

	shift
	while ! "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ] || return 1
		usleep 100000
	done
}

tm()
{
	TERM=screen tmux -u -L test -f /dev/null "$@" 2>>/root/tmux.err
}

# run COLUMNS ROWS COMMAND: on a terminal of its own; its status is shown when it has ended, be it by Ctrl-C
run()
{
	tm kill-server
	# The server goes on a little after that.
	until_true 60 no_server || not_ok "tmux does not end"
	tm new-session -d -x "$1" -y "$2" "trap : INT; $3; echo \"status \$?\"; exec cat"
}

no_server()
{
	! TERM=screen tmux -L test has-session 2>/dev/null
}

screen()
{
	tm capture-pane -p
}

has_line()
{
	screen | grep -q -- "$1"
}

# shows NAME PATTERN: a line of the screen matches, some time or other
shows()
{
	if until_true 120 has_line "$2"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $2" "$(screen)" "$(cat /root/tmux.err)"
	fi
}

# Numbers, how far bars reach, and the graph.
mask()
{
	sed 's/[0-9][0-9.]*/N/g; s/N[BKMG] /N /g; s/\[[^]]*\]/[]/g; s/N [kMG]B\/s/N B\/s/g; s/  */ /g; s/ $//' | LC_ALL=C grep -v "$(printf '\342[\240-\243]')" |
		grep -v '^$'
}

# looks NAME: the masked screen is the text on standard input
looks()
{
	cat >/root/want
	same_screen()
	{
		screen | mask | cmp -s - /root/want
	}
	if until_true 120 same_screen; then
		ok "$1"
	else
		not_ok "$1" "$(screen | mask | diff - /root/want)" "$(screen)"
	fi
}

press()
{
	tm send-keys "$@"
}

# order FIRST SECOND: clients of these names are one above the other
is_order()
{
	[ "$(screen | grep -o ' \(panthor-perf\|sh\)$' | tr -d ' \n')" = "$1$2" ]
}
order()
{
	if until_true 120 is_order "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(screen)"
	fi
}

# With a screen of 80 columns, what is behind is cut.
upper_of_80()
{
	cat <<'END'
panthor-perf top - Mali-GN (/dev/dri/renderDN), every N ms
GPU [] N% of time N% of cycles N MHz
Queues [] N% Fragment [] N%
Vertex [] N% Compute [] N%
Tiler [] N%
Core N [] N% Core N [] N%
Core N [] N% Core N [] N%
Memory read N B/s, write N B/s
Top-down Idle N% Front end N% Tiler N% Shader cores N% External memory N%
Estimate: Idle. Nothing was submitted: look at the CPU threads that feed the GPU
No job no job queued N%, waiting for a fence N%, ready N%
N%
 N%
END
}

screen_of_80()
{
	upper_of_80
	cat <<'END'
 PID TIME ALONE JOBS/s WAIT ms RUN ms RESIDNT TOTAL COMMAND
 N N% N% N - - N N panthor-perf
q quit h help p pause
END
}

clients_of_80()
{
	upper_of_80
	cat <<'END'
 PID CLIENT TIME CYCLES MHz RESIDNT TOTAL SHARED SESS COMMAND
 N N - - - N N N N panthor-perf
q quit h help p pause Per-client GPU time is off in the kernel; press h for h
END
}

run 80 24 "panthor-perf top -p 100ms"
screen_of_80 | looks "80x24"
press v
clients_of_80 | looks "v: clients"
press v
tm resize-window -x 200 -y 60
looks "200x60" <<'END'
panthor-perf top - Mali-GN (/dev/dri/renderDN), every N ms
GPU [] N% of time N% of cycles N MHz
Queues [] N% Fragment [] N% Vertex [] N% Compute [] N% Tiler [] N%
Core N [] N% Core N [] N% Core N [] N% Core N [] N%
Memory read N B/s, write N B/s
Top-down Idle N% Front end N% Tiler N% Shader cores N% External memory N%
Estimate: Idle. Nothing was submitted: look at the CPU threads that feed the GPU, at frame pacing and at fences they wait for.
No job no job queued N%, waiting for a fence N%, ready N%
N%
 N%
 PID TIME ALONE JOBS/s WAIT ms RUN ms RESIDNT TOTAL COMMAND
 N N% N% N - - N N panthor-perf
q quit h help p pause
END
is "it is on all of the screen" "$(screen | sed -n '60s/ .*//p')" q
tm resize-window -x 30 -y 8
shows "a window that is too small" "^Terminal too small: 30x8"
tm resize-window -x 80 -y 24
screen_of_80 | looks "and as large as before"

press h
shows "h: help" "^panthor-perf top - help"
shows "tells how clients' time is turned on" "echo 3 > $GPU_SYSFS/profiling"
press x
screen_of_80 | looks "any key goes back"
press '?'
shows "?: help" "^panthor-perf top - help"
press q
shows "of which q is no end" "^q quit"

press s
shows "s: the time between updates is asked for" "^New update interval, such as 500ms (now 0.1 s): _"
press 5 0 0 Enter
shows "a number without a unit is none" '^"500": use a time of 10ms or more'
press s 3 x BSpace s Enter
shows "3s is one" "every 3 s$"
press -
shows "-: a shorter one" "every 2 s$"
press - - -
shows "and a shorter one" "every 200 ms$"
press +
shows "+: a longer one" "every 500 ms$"
press s 1 0 Escape
shows "Escape changes nothing" "every 500 ms$"
press s 1 0 0 m s Enter
shows "100ms" "every 100 ms$"

# A second client: this shell. While the display is paused it does not appear.
press v p
shows "p: pause" "^PAUSED"
exec 9<>$node
panthor-perf top --once -p 500ms >/root/once
has "meanwhile others see a new client" "$(cat /root/once)" " sh$"
press h
shows "help in a pause" "^panthor-perf top - help"
press h
shows "goes back to the pause" "^PAUSED"
is "in which nothing changes" "$(screen | grep -c ' sh$')" 0
press Space
shows "space: it goes on" "^q quit"
shows "and the client is there" " 0 sh$"
press C
order "C: by command" panthor-perf sh
press R
order "R: the other way round" sh panthor-perf
press M
order "M: by memory" panthor-perf sh
press N
order "N: by process, of which this is the older" sh panthor-perf
exec 9>&-

press q
shows "q: the end" "^status 0"
is "and the screen is as before" "$(screen | grep -c 'panthor-perf top')" 0

# Work, in colours, as braille and as blocks.
# On a busy machine a job may not end in time.
while :; do gpu-load -j 1000000; done >/dev/null 2>&1 &
load=$!
run 80 24 "panthor-perf top -p 100ms"
shows "work shows as braille" "$(printf '\342[\240-\243]')"
has_colours()
{
	tm capture-pane -p -e | grep -q "$(printf '\033\\[3[1-3]m')"
}
until_true 120 has_colours && ok "in colours" || not_ok "in colours" "$(tm capture-pane -p -e)"
press g
shows "g: as blocks" "$(printf '\342\226[\201-\210]') *$"
press C-c
shows "Ctrl-C: the end" "^status 0"
run 80 24 "TERM=vt100 LC_ALL=C panthor-perf top -p 100ms"
shows "without UTF-8 it is plain characters" "#"
is "and on a terminal without colours there are none" "$(tm capture-pane -p -e | grep -c "$(printf '\033\\[3[1-3]m')")" 0
is "and nothing else" "$(screen | LC_ALL=C grep -c "$(printf '[\200-\377]')")" 0
press q
shows "q: the end there" "^status 0"
kill -KILL $load
killall -KILL gpu-load
wait $load 2>/dev/null
run 80 24 "NO_COLOR=1 TERM=vt100 panthor-perf top -p 100ms"
screen_of_80 | looks "a vt100 has the same screen"
press q
shows "which is left as well" "^status 0"

# Terminals that will not do.
run 120 24 "TERM=dumb panthor-perf top -p 100ms"
shows "a dumb terminal gets lines" "^   TIME  CYCLES FREQUENCY"
shows "of loads" "^ *[0-9.]*% *[0-9.]*% .*B/s .*B/s"
press C-c
shows "until Ctrl-C" "^status 0"
run 80 24 "TERM=no-such-terminal panthor-perf top"
shows "an unknown terminal is an error" "^status 10"
has "that says what to do" "$(screen | tr -d '\n')" "unknown terminal \"no-such-terminal\"\. Set TERM to a known terminal"

# Without CAP_PERFMON.
chmod 666 $node
echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
run 80 24 "su user -c '$(command -v panthor-perf) top -p 100ms'"
shows "without CAP_PERFMON, what cannot be seen is told" "^Load is not available: no permission to count"
shows "and the rest is there" " 0 panthor-perf$"
press q
shows "and it ends well" "^status 0"

# The GPU goes.
run 80 24 "panthor-perf top -p 100ms"
shows "top runs" " panthor-perf$"
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
shows "it ends when the GPU goes" "^status 7"
has "says so" "$(screen)" "^panthor-perf: .*gone"
is "and has left the screen" "$(screen | grep -c 'panthor-perf top')" 0
tm kill-server
