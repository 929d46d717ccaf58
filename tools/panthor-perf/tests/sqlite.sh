#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Recordings as databases of SQLite: every figure of report is what SQL gives, the questions of Documentation/sql.rst have the
# answers that are there, what is not whole has no name, and size, memory and instructions.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

# Instructions for a sample of the default counters, at most: what was needed when this was written, and a third for other
# compilers and other versions of SQLite. KiB, however long a recording is.
MOST_INSTRUCTIONS=130000
MOST_KIB=64000

tool=$(cd "$(dirname "$0")/.." && pwd)
tool_builds panthor-perf recording-make
PATH=$SCRATCH:$PATH

make_recording()
{
	"$SCRATCH/recording-make" "$SCRATCH/$1" "${@:2}"
}

# sql DATABASE STATEMENT
sql()
{
	python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row, sep="|")' "$@"
}

# Frames of two regions; one in fifty is slow.
frames=$(python3 -c 'ns = 2000000000
print(0, "loading")
for frame in range(491):
    print(ns, "shadows")
    print(ns + 5000000, "lighting")
    ns += 22000000 if frame % 50 == 49 else 16000000
print(ns, "")')
# Of the same frames: two jobs each, and one of a compositor that waits for them. Before a slow one, the first waits for the display.
queues='700 game panthor-queue-1-1-0
650 compositor panthor-queue-2-1-0
0 vkms crtc-0'
jobs=$(python3 -c 'ns = 2000000000
for frame in range(491):
    slow = frame % 50 == 49
    begin = ns + (6000000 if slow else 0)
    print(0, 702, ns + 200000, begin + 200000, begin + 220000, begin + 5000000, 2 if slow else -1)
    print(0, 702, begin + 3000000, begin + 3000000, begin + 3020000, begin + 10000000)
    print(1, 651, ns + 9000000, begin + 10000000, begin + 10050000, begin + 12000000, 0)
    ns += 22000000 if slow else 16000000
    if frame % 100 == 99 or frame == 490:
        print("until", ns if frame < 490 else 10060000000)')
STATES=1 MARKS="$frames" QUEUES=$queues JOBS=$jobs make_recording before.data 10000 default ./game
make_recording after.data 8000 default ./game
POWERS=1 make_recording powers 30 all
STATES=1 make_recording all 1500 all
make_recording none 0 default
make_recording 2000 2000 default

# ---- The same figures ----

for file in "$SCRATCH"/{before.data,after.data,powers,all} "$tool"/tests/recordings/*.data; do
	name=${file##*/}
	panthor-perf report -j "$file" >"$SCRATCH/report" && panthor-perf convert --sqlite -o "$SCRATCH/database" "$file" &&
		"$tool/tests/sql_report.py" "$SCRATCH/report" "$SCRATCH/database" >"$SCRATCH/out" 2>&1
	is "$name: every figure of report is what SQL gives" \
		"$? $(sed '$d' "$SCRATCH/out" | head -n 10)$(tail -n 1 "$SCRATCH/out" | sed 's/^[0-9][0-9]*$/ compared/')" "0  compared"
done
panthor-perf convert --sqlite -o "$SCRATCH/database" "$SCRATCH/none"
is "a recording without samples" "$? $(sql "$SCRATCH/database" 'SELECT samples, start_ns, (SELECT count(*) FROM sample) FROM recording')" \
	"0 0|None|0"
is "region 0 has no name, and without samples no time" "$(sql "$SCRATCH/database" 'SELECT * FROM region')" "0|None|0|0.0|0.0"
panthor-perf convert --csv "$SCRATCH/after.data" | head -n 3 | cut -d, -f1-5 >"$SCRATCH/want"
panthor-perf convert --sqlite -o "$SCRATCH/after.db" "$SCRATCH/after.data"
is "samples are those of --csv" "start_ns,end_ns,flags,toplevel_cycles,shader_cycles
$(sql "$SCRATCH/after.db" "SELECT start_ns || ',' || end_ns || ',' || flags || ',' || toplevel_cycles || ',' || shader_cycles
	FROM sample LIMIT 2")" "$(cat "$SCRATCH/want")"
is "a gap is a row" "$(sql "$SCRATCH/after.db" "SELECT count(*) FROM sample a JOIN sample b ON b.number = a.number + 1
	WHERE b.start_ns <> a.end_ns AND NOT EXISTS (SELECT * FROM gap WHERE gap.start_ns = a.end_ns AND gap.end_ns = b.start_ns)")" 0
is "without marks, all samples are in region 0, which is the whole" "$(sql "$SCRATCH/after.db" "SELECT id, name, times,
	seconds = (end_ns - start_ns) / 1e9, region.active_seconds = recording.active_seconds,
	(SELECT count(*) FROM sample WHERE region = id) = samples FROM region, recording")" "0|None|0|1|1|1"

# ---- Jobs ----

# Two queues at once, one that waits for a fence and is then killed, one of which the begin is not known, and events that were lost.
QUEUES=$queues JOBS='0 702 1000 1200 1300 2000 2
0 702 1100 1100 1250 2500
1 651 3000 3500 - 3500 0 1
1 0 - - - 5000 -1 2
1 0 - 5000 5100 6000
gap 3 5500 7000 12
until 8000' make_recording jobs 30 default
panthor-perf convert --sqlite -o "$SCRATCH/jobs.db" "$SCRATCH/jobs"
is "each job is a row" "$? $(sql "$SCRATCH/jobs.db" "SELECT process, pid, name, thread, queued_ns - start_ns, ready_ns - start_ns,
	run_ns - start_ns, job.end_ns - start_ns, (SELECT name FROM queue WHERE id = waited_for), outcome FROM job JOIN queue ON queue = id, recording
	ORDER BY job.rowid")" "0 game|700|panthor-queue-1-1-0|702|1000|1200|1300|2000|crtc-0|done
game|700|panthor-queue-1-1-0|702|1100|1100|1250|2500|None|done
compositor|650|panthor-queue-2-1-0|651|3000|3500|None|3500|panthor-queue-1-1-0|dropped
compositor|650|panthor-queue-2-1-0|None|None|5000|None|5000|None|unfinished
compositor|650|panthor-queue-2-1-0|None|None|5000|5100|6000|None|done"
is "so is each time in which none runs, with what was missing" "$(sql "$SCRATCH/jobs.db" "SELECT idle.start_ns - recording.start_ns,
	idle.end_ns - recording.start_ns, reason, process, pid, name FROM recording, idle LEFT JOIN queue ON queue = id ORDER BY 1")" "0|1000|no job queued|None|None|None
1000|1100|waiting for a fence|vkms|None|crtc-0
1100|1250|ready|game|700|panthor-queue-1-1-0
2500|3000|no job queued|game|700|panthor-queue-1-1-0
3000|3500|waiting for a fence|game|700|panthor-queue-1-1-0
3500|5000|no job queued|game|700|panthor-queue-1-1-0
5000|5100|ready|compositor|650|panthor-queue-2-1-0
5500|7000|unknown|None|None|None
7000|8000|no job queued|compositor|650|panthor-queue-2-1-0
8000|30000000|unknown|None|None|None"
panthor-perf convert --sqlite -o "$SCRATCH/before.db" "$SCRATCH/before.data"
is "the times of idle and those of jobs are the whole time" "$(sql "$SCRATCH/before.db" "
	SELECT sum(ns) FROM (SELECT end_ns - start_ns AS ns FROM idle UNION ALL
		SELECT max(end_ns - max(run_ns, coalesce(max(end_ns) OVER (
			ORDER BY run_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)), 0) FROM job)")" \
	"$(sql "$SCRATCH/before.db" "SELECT end_ns - start_ns FROM recording")"
is "and those of report" "$(sql "$SCRATCH/before.db" "SELECT sum(end_ns - start_ns) FROM idle")" \
	"$(panthor-perf report -j "$SCRATCH/before.data" | jq .jobs.idle_ns)"
is "without jobs there are no such tables" "$(sql "$SCRATCH/after.db" "SELECT name FROM sqlite_master
	WHERE name IN ('queue', 'job', 'idle')")" ""

# ---- The schema ----

panthor-perf convert --schema "$SCRATCH/before.data" >"$SCRATCH/want"
panthor-perf convert --sqlite -o "$SCRATCH/board.db" "$SCRATCH/before.data"
sql "$SCRATCH/board.db" "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid" >"$SCRATCH/got"
is "--schema prints that of the database" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 10)" ""
for table in $(sql "$SCRATCH/board.db" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"); do
	grep -q "^\.It Li $table$" "$tool/man/panthor-perf-record.1" || echo "$table"
done >"$SCRATCH/missing"
is "the manual page describes each table" "$(cat "$SCRATCH/missing")" ""

# ---- Questions ----

page=$VIRT_DIR/../../Documentation/sql.rst
(cd "$SCRATCH" && "$tool/tests/sql_answers.py" "$page" board.db) >"$SCRATCH/answers" 2>"$SCRATCH/err"
is "the answers of Documentation/sql.rst" "$? $(diff "$page" "$SCRATCH/answers"; cat "$SCRATCH/err")" "0 "
is "of twelve questions" "$(grep -c '?$' "$page")" 12

# ---- Files ----

echo old >"$SCRATCH/kept"
# refuses NAME WANTED ARGUMENT...
refuses()
{
	panthor-perf convert "${@:3}" >"$SCRATCH/out" 2>"$SCRATCH/err"
	is "$1" "$? $(sed -n 's/^panthor-perf[^:]*: //p' "$SCRATCH/err" | head -n 1)" "$2"
}
refuses "there is no database on standard output" \
	"2 a database cannot be written to standard output: use --output with the name of a file" --sqlite "$SCRATCH/none"
echo kept >"$SCRATCH/target"
ln -s target "$SCRATCH/link"
refuses "nor through a link" "2 a database cannot be written to $SCRATCH/link: use --output with the name of a file" --sqlite \
	-o "$SCRATCH/link" "$SCRATCH/none"
is "which stays what it is" "$(cat "$SCRATCH/link")" kept
refuses "nor in a device" "2 a database cannot be written to /dev/null: use --output with the name of a file" --sqlite -o /dev/null \
	"$SCRATCH/none"
refuses "two forms" "2 use only one of --csv, --json, --perfetto, --sqlite and --schema" --sqlite --csv "$SCRATCH/none"
head -c 100000 "$SCRATCH/after.data" >"$SCRATCH/cut"
refuses "a recording that was cut short" "0 $SCRATCH/cut is incomplete: the data after its last whole sample is missing" --sqlite \
	-o "$SCRATCH/database" "$SCRATCH/cut"
is "has no end" "$(sql "$SCRATCH/database" 'SELECT ended, samples > 100, samples = (SELECT count(*) FROM sample) FROM recording')" "None|1|1"
(head -c 1000000 "$SCRATCH/after.data"; printf x; tail -c +1000002 "$SCRATCH/after.data") >"$SCRATCH/damaged"
panthor-perf convert --sqlite -o "$SCRATCH/kept" "$SCRATCH/damaged" 2>"$SCRATCH/err"
is "of a damaged recording there is no database" "$? $(cat "$SCRATCH/kept") $(find "$SCRATCH" -name 'kept.*')" "9 old "
(ulimit -f 200; trap '' XFSZ; panthor-perf convert --sqlite -o "$SCRATCH/kept" "$SCRATCH/after.data") 2>"$SCRATCH/err"
is "nor if there is no room for it" \
	"$? $(sed 's/: [^:]*$//' "$SCRATCH/err") $(cat "$SCRATCH/kept") $(find "$SCRATCH" -name 'kept.*')" \
	"8 panthor-perf: cannot write the database old "
# By the signal for a file that is too large.
(ulimit -c 0 -f 200; exec "$SCRATCH/panthor-perf" convert --sqlite -o "$SCRATCH/kept" "$SCRATCH/before.data") 2>"$SCRATCH/err"
is "nor if it is killed" "$? $(cat "$SCRATCH/kept") $(find "$SCRATCH" -name 'kept.*')" "153 old "
# By others, while it waits for the rest of a recording: files are made in the same way for all forms.
mkfifo "$SCRATCH/fifo"
has_temporary()
{
	[ -n "$(find "$SCRATCH" -name 'kept.*')" ]
}
for signal in HUP INT TERM; do
	env --default-signal="$signal" "$SCRATCH/panthor-perf" convert --csv -o "$SCRATCH/kept" "$SCRATCH/fifo" 2>"$SCRATCH/err" &
	pid=$!
	exec 6>"$SCRATCH/fifo"
	head -c 4096 "$SCRATCH/2000" >&6
	until_true has_temporary || cat "$SCRATCH/err"
	kill -"$signal" "$pid"
	wait "$pid" 2>/dev/null
	is "nor of any file if it ends by SIG$signal" "$(kill -l $?) $(cat "$SCRATCH/kept") $(find "$SCRATCH" -name 'kept.*')" "$signal old "
	exec 6>&-
done

# ---- Cost ----

# instructions RECORDING
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file="$SCRATCH/callgrind" "$SCRATCH/panthor-perf" convert --sqlite \
		-o "$SCRATCH/database" "$1" >/dev/null 2>&1
	sed -n 's/^summary: //p' "$SCRATCH/callgrind"
}

make_recording 6000 6000 default
make_recording long 60000 default
each=$((($(instructions "$SCRATCH/6000") - $(instructions "$SCRATCH/2000")) / 4000))
echo "# convert --sqlite: $each instructions for a sample"
[ "$each" -gt 0 ] && [ "$each" -lt $MOST_INSTRUCTIONS ] && ok "it takes few instructions for a sample" ||
	not_ok "it takes few instructions for a sample" "$each, at most $MOST_INSTRUCTIONS"
kib=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$SCRATCH/panthor-perf" convert --sqlite -o "$SCRATCH/database" "$SCRATCH/long")
csv=$(panthor-perf convert --csv "$SCRATCH/long" | wc -c)
size=$(stat -c %s "$SCRATCH/database")
echo "# convert --sqlite: $kib KiB of memory; $size bytes, --csv $csv"
[ "${kib:-99999}" -lt $MOST_KIB ] && ok "and little memory" || not_ok "and little memory" "$kib KiB, at most $MOST_KIB"
[ "$size" -lt $((csv / 2)) ] && ok "a database is half as large as --csv at the most" ||
	not_ok "a database is half as large as --csv at the most" "$size of $csv bytes"
plan "$TAP_COUNT"
