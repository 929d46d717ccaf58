# SPDX-License-Identifier: MIT
# panthor-perf top on a terminal, which is tmux: what is on the screen after each key.
. /root/tap.sh

node=/dev/dri/renderD128
export LC_ALL=C.UTF-8

tm()
{
	TERM=screen tmux -u -L test -f /dev/null "$@" 2>>/root/tmux.err
}

# run COLUMNS ROWS COMMAND: on a terminal of its own; its status is shown when it has ended
run()
{
	tm kill-server
	# The server goes on a little after that.
	until_true 60 no_server || not_ok "tmux does not end"
	tm new-session -d -x "$1" -y "$2" "$3; echo \"status \$?\"; exec cat"
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
	sed 's/[0-9][0-9.]*/N/g; s/\[[^]]*\]/[]/g; s/N [kMG]B\/s/N B\/s/g; s/  */ /g; s/ $//' | LC_ALL=C grep -v "$(printf '\342[\240-\243]')" |
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

run 80 24 "panthor-perf top -p 100ms"
shows "top starts" "^panthor-perf top - Mali-G610 ($node), every 100 ms"
looks "80x24" <<'END'
END
tm resize-window -x 200 -y 60
looks "200x60" <<'END'
END
tm resize-window -x 30 -y 8
shows "a window that is too small" "^30x8 is too small"
tm resize-window -x 80 -y 24
shows "and large again" "q end  h help  p pause  s time"
