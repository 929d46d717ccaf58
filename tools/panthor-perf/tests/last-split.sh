#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# record --last and --split: which samples are in which file. The GPU is a fake one, which counts when it is told to;
# all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan 49

export tool=$SCRATCH/live-test
tool_builds live-test live-fast slow-disk.so
cd "$SCRATCH" || exit 1
mkfifo ticks ctl ack
exec 6<>ticks 7<>ctl 8<>ack

# count N: N samples of which none is like another
count()
{
	head -c "$1" /dev/zero | tr '\0' r >ticks
}

# control COMMAND...: waits until each is done
control()
{
	local command reply

	for command; do
		echo "$command" >ctl
		read -rt 60 reply <ack || echo "no ack for $command" >>failures
	done
}

# await FILE: until it is there
await()
{
	until [ -s "$1" ]; do sleep 0.05; done
}
export -f count control await

# record ARGUMENT...: its status; what it says is in err
record()
{
	FAKE_TICKS=ticks "$tool" record -p 1s "$@" 2>err
}

# said: what it says but for the figures of all
said()
{
	sed '/^panthor-perf: [0-9]* samples/d' err
}

# rows FILE...: their samples
rows()
{
	local file

	for file; do
		"$tool" convert --csv "$file" 2>&1 | tail -n +2
	done
}

# ends FILE...: reason and number of samples of each, as its end says
ends()
{
	local file

	for file; do
		"$tool" convert --json "$file" 2>&1 | sed -n 's/.*"reason":"\([a-z]*\)".*"samples":\([0-9]*\).*/\1 \2/p'
	done | tr '\n' ' '
}

# places FILE...: which samples of the truth each has: FIRST-LAST, with +1 if the one is behind that counting stops with
places()
{
	local file

	for file; do
		rows "$file" | awk 'FNR == NR { of[$0] = FNR; next }
			more || (FNR > 1 && $0 in of && of[$0] != last + 1) { print "sample " FNR " does not follow"; wrong = 1; exit }
			!($0 in of) { more = 1; next }
			{ last = of[$0] }
			FNR == 1 { first = last }
			END { if (!wrong) print first "-" last (more ? "+1" : "") }' truth -
	done | tr '\n' ' '
}

record -o plain -- bash -c 'count 60'
rows plain | sed '$d' >truth
is "the truth is of samples that differ" "$(said)$(wc -l <truth) $(sort -u truth | wc -l)" "60 60"

# ---- The last samples ----

record --last 5s --control fifo:ctl,ack -o last -- bash -c '
	count 10; control dump; "$tool" convert --csv last | tail -n +2 >at-once
	count 3; kill -USR2 $PPID; await last.1
	count 20; control dump ping
	count 2; control dump
	count 1'
is "record --last" "$? $(said)" "0 "
is "writes the last samples at dump, SIGUSR2 and the end" "$(places last last.1 last.2 last.3 last.4)$(echo last*)" \
	"6-10 9-13 29-33 31-35 33-36+1 last last.1 last.2 last.3 last.4"
is "dump is acknowledged when the file is whole" "$(cat at-once)" "$(sed -n 6,10p truth)"
is "ends say that it went on" "$(ends last last.1 last.2 last.3 last.4)" \
	"continued 5 continued 5 continued 5 continued 5 command 5 "
is "the command was answered" "$(cat failures 2>/dev/null)" ""
is "record says how much it wrote" "$(sed 's/ and [0-9]* bytes//' err)" \
	"panthor-perf: 37 samples, 0 flagged, 0 stretched, 0 lost; 37.000000 s in 5 files, the last of which is last.4"
is "report reads such a file" "$("$tool" report last 2>&1 | head -n 1)" "last: a fake, 5 samples of 1000 ms over 5.000000 s"

# Requests that come while a file is written become one.
record --last 10s -o twice -- bash -c '
	count 10; for i in 1 2 3 4 5; do kill -USR2 $PPID; done; await twice
	count 20; for i in 1 2 3 4 5; do kill -USR2 $PPID; done; sleep 0.5'
is "signals that come quickly" "$? $(said)" "0 "
wrong=
for file in twice*; do
	case $(places "$file") in
	"1-10 "|"21-30 "|"22-30+1 ") ;;
	*) wrong+="$file: $(places "$file")" ;;
	esac
done
is "write whole files" "$wrong" ""
[ "$(echo twice* | wc -w)" -le 11 ] && ok "no more than were asked for" || not_ok "no more than were asked for" "$(echo twice*)"

# A disk that takes nothing for a while: counting goes on, and who controls it is answered.
export SLOW_UNTIL=quick
(tool=$SCRATCH/live-fast; LD_PRELOAD=$SCRATCH/slow-disk.so record --last 5s --control fifo:ctl,ack -o slow -- bash -c '
	unset LD_PRELOAD
	count 10; kill -USR2 $PPID; control ping; sleep 0.3
	count 10; control ping; stat -c %s slow >meanwhile
	for i in 1 2 3; do kill -USR2 $PPID; control ping; done
	count 10; touch quick; await slow.1; control dump
	count 1')
is "a disk that is slow" "$? $(said)" "0 "
is "holds up nothing else" "$(cat meanwhile failures 2>/dev/null)" 0
is "but what is asked for meanwhile comes behind it, once" "$(echo slow slow.[0-9]*)" "slow slow.1 slow.2 slow.3"
is "and no sample is lost" "$(places slow slow.1 slow.2 slow.3)$(grep -o '[0-9]* lost' err)" "6-10 26-30 26-30 28-31+1 0 lost"

# Longer ones than all that was counted.
record --last 1000s -o all -- bash -c 'count 20'
is "more than there is" "$? $(said)$(places all)" "0 1-20+1 "
# No sample at all.
record --last 5s --delay 1000s -o none -- true
is "nothing counted" "$? $(said) $(ends none)" "0 panthor-perf: nothing was counted: the recording ended during the delay command 0 "
# A gap is time, too.
record --last 7s --control fifo:ctl,ack -o gap -- bash -c 'printf rrrrrrpppprrr >ticks; control ping; sleep 0.5; control dump'
is "a gap" "$(rows gap | cut -d, -f1,2)" "$(printf '%s000000000,%s000000000\n' 10 11 11 12 12 13)"
is "a gap in it" "$(rows gap.1 | cut -d, -f1 | tr '\n' ' ')" "10000000000 11000000000 12000000000 13000000000 "

# ---- Marks ----

# The region goes on in all files, and the clocks are known.
record --last 5s --on-mark slow --socket sock -o marked -- bash -c '
	"$tool" mark --socket sock shadows; count 10; sleep 0.5
	"$tool" mark --socket sock quick; count 10; sleep 0.5
	"$tool" mark --socket sock slow; await marked
	count 10'
is "record --on-mark" "$? $(said)" "0 "
is "writes at a mark of that name alone" "$(places marked marked.1)$(echo marked*)" "16-20 27-30+1 marked marked.1"
# The marks are of now, which is long behind samples of the fake.
is "with the marks of that time" "$("$tool" convert --json marked | grep -o '"name":"[a-z]*"' | tr '\n' ' ')" '"name":"quick" "name":"slow" '
is "and the region that lasts" "$("$tool" convert --json marked.1 | grep -o '"name":"[a-z]*"' | tr '\n' ' ')" '"name":"slow" '

# ---- Memory ----

record -a -o plain -- bash -c 'count 3000'
rows plain | sed '$d' >truth
record -a -m 512 --last 2500s -o small -- bash -c 'count 3000'
is "less memory than needed" "$? $(said | sed '/^Writing the file was too slow/d; s/only the last [0-9.]* s. Use -m [0-9]* or/only the last X s. Use -m N or/')" \
	"0 There was memory for only the last X s. Use -m N or more."
read -r seconds needed < <(sed -n 's/.*only the last \([0-9]*\)\.000 s. Use -m \([0-9]*\) or more\./\1 \2/p' err)
is "has what fits" "$(places small)" "$((3002 - seconds))-3000+1 "
[ "$(stat -c %s small)" -le $((512 << 10)) ] && [ "$(stat -c %s small)" -gt $((400 << 10)) ] && ok "which is most of the memory" ||
	not_ok "which is most of the memory" "$(stat -c %s small) bytes of $((512 << 10))"
record -a -m "$needed" --last 2500s -o enough -- bash -c 'count 3000'
is "as much as it says is enough" "$? $(said | sed '/^Writing the file was too slow/d') $(places enough)" "0  502-3000+1 "

# ---- Files one after the other ----

record -a --split 300s -o split -- bash -c 'count 3000'
is "record --split" "$? $(said) $(echo split*)" "0  $(printf 'split-%06d ' {1..11} | sed 's/ $//')"
is "no sample is lost, doubled or changed" "$(rows split-* | sed '$d' | cmp - truth 2>&1)" ""
is "each file is whole" "$(ends split-*)" "$(printf 'continued 300 %.0s' {1..10})command 1 "
is "and has the same head" "$(for file in split-*; do head -c 1000 "$file" | sed 's/"command".*//' | md5sum; done | sort -u | wc -l)" 1

record --split 4s -o gaps -- bash -c 'printf rrrrrrppppppprprrr >ticks'
is "gaps end files" "$(for file in gaps*; do rows "$file" | cut -d, -f1 | sed 's/000000000$//' | tr '\n' ' '; echo; done)" \
	"0 1 2 3 
4 5 
13 15 16 
17 18 "
record --split 5s --keep 3 -o kept -- bash -c 'count 32'
is "record --keep" "$? $(said) $(echo kept*)" "0  kept-000005 kept-000006 kept-000007"
is "has the newest" "$(ends kept*)" "continued 5 continued 5 command 3 "
record --split 5s --keep 4 -o kept -- bash -c 'count 7'
is "numbers go on where they were" "$? $(echo kept*) $(ends kept*)" \
	"0 kept-000006 kept-000007 kept-000008 kept-000009 continued 5 command 3 continued 5 command 3 "

# ---- What goes wrong ----

# refuses NAME MESSAGE ARGUMENT...
refuses()
{
	local name=$1 message=$2

	shift 2
	record "$@" -- true
	is "$name" "$? $(head -n 1 err | sed 's/^[^:]*: //')" "$message"
}
touch before
refuses "two forms" "2 use only one of --last, --split and --perfetto" --last 5s --split 5s
refuses "a trace" "2 use only one of --last, --split and --perfetto" --perfetto --last 5s
refuses "standard output" "2 --last and --split write several files: use -o with the name of a file" --split 5s -o -
refuses "options of another form" "2 --on-mark needs --last" --split 5s --on-mark slow
refuses "a short time" '2 --split: "20ms" is not a time from 1s to 24h. Use a number with a unit, such as 30s or 10m' --split 20ms
refuses "a time without a unit" '2 --last: "5" is not a time from 1s to 24h. Use a number with a unit, such as 30s or 10m' --last 5
refuses "no file" '2 --keep: use a number from 1 to 999999, not "0"' --split 1m --keep 0
refuses "minutes of a period" '2 -p: "1m" is not a time. Did you mean 1ms?' --split 1m -p 1m
refuses "a name that no mark can have" "2 --on-mark: a name has 1 to 96 bytes of UTF-8, without control characters" --last 1h --on-mark $'\a'
mkfifo pipe
refuses "a FIFO" "8 pipe is not a regular file: --last cannot write it more than once. Use -o with another name" --last 5s -o pipe
is "nothing was changed" "$(find . -newer before ! -name . ! -name err ! -name pipe)" ""

# A file that cannot be written: the recording goes on.
mkdir failed.1
record --last 5s --control fifo:ctl,ack -o failed -- bash -c 'count 5; control dump; count 5; control dump; rmdir failed.1; count 5'
is "a dump that fails" "$? $(said)" "8 panthor-perf: cannot write the last samples to failed.1: Is a directory"
is "is no end of others" "$(rows failed failed.1 | cut -d, -f1 | sed 's/000000000$//' | tr '\n' ' ')" "0 1 2 3 4 11 12 13 14 15 "
