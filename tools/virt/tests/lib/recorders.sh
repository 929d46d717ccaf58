# SPDX-License-Identifier: MIT
# Recorders (panthor-perf record with a fake GPU) that tests control, and programs that they listen to. After tap.sh; $tool is
# the program of panthor-perf.

# recorders_apart: sets run, where recorders of this test are, and RUN, the prefix of commands that look there alone
recorders_apart()
{
	run=$SCRATCH/run
	mkdir "$run"
	RUN=(env XDG_RUNTIME_DIR="$run")
	# shellcheck disable=SC2016
	[ "$(id -u)" -ne 0 ] || RUN+=(unshare -m sh -c 'mount -t tmpfs -o ro none /run && exec "$@"' sh)
}

declare -A PID CTL ACK
# begin NAME OPTION...: a recorder of $counter, which obeys
begin()
{
	local name=$1 ctl ack

	shift
	mkfifo "$SCRATCH/$name".{ticks,ctl,ack}
	exec {ctl}<>"$SCRATCH/$name.ctl" {ack}<>"$SCRATCH/$name.ack"
	CTL[$name]=$ctl
	ACK[$name]=$ack
	FAKE_TICKS=$SCRATCH/$name.ticks "${RUN[@]}" "$tool" record --control="fifo:$SCRATCH/$name.ctl,$SCRATCH/$name.ack" -p 1s \
		-e "$counter" -o "$SCRATCH/$name.data" "$@" 2>"$SCRATCH/$name.err" {ctl}>&- {ack}>&- &
	PID[$name]=$!
	tell "$name" ping
}

# tell NAME WORD: until it is done; what was counted and marked before was read by then
tell()
{
	local answer

	echo "$2" >&"${CTL[$1]}"
	read -rt 120 answer <&"${ACK[$1]}"
	[ "${answer:-}" = ack ] || not_ok "$1: $2" "no ack: ${answer:-}" "$(cat "$SCRATCH/$1.err")"
}
