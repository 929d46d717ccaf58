#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# daily: none
# Recordings in Python: every figure of report is what the module gives, columns with numpy and without, parts of the time, two
# readers of one recording, memory; data frames; sessions that are collected, dropped or inherited; types, by mypy; and the
# notebook of the examples: PICTURES=DIR in the environment keeps its pictures there, to be looked at.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

# KiB beside the arrays, however long a recording is.
MOST_KIB=60000

tool=$(cd "$(dirname "$0")/.." && pwd)
"$VIRT_DIR/build/deps.sh" mypy python3-ipykernel python3-matplotlib python3-nbclient python3-numpy python3-pandas 2>"$SCRATCH/err" ||
	{ not_ok "the packages are there" "$(cat "$SCRATCH/err")"; exit 1; }
tool_builds panthor-perf recording-make fake/libpanthor-perf.so.0
export LD_LIBRARY_PATH=$SCRATCH/fake PYTHONPATH=$tool/python PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$SCRATCH HOME=$SCRATCH
PATH=$SCRATCH:$PATH

# Debian's, which has Debian's modules.
python=/usr/bin/python3

make_recording()
{
	"$SCRATCH/recording-make" "$SCRATCH/$1" "${@:2}"
}

# says NAME WANTED SCRIPT...: what a script prints; errors as one line
says()
{
	is "$1" "$(cd "$SCRATCH" && timeout 300 "$python" "${@:3}" 2>&1)" "$2"
}

# frames NS: marks of 300 frames, in which shadows last so long
frames()
{
	python3 -c 'import sys
ns = 2000000000
print(0, "loading")
for frame in range(300):
    print(ns, "shadows")
    print(ns + int(sys.argv[1]), "lighting")
    ns += 22000000 if frame % 50 == 49 else 16000000
print(ns, "")' "$1"
}

STATES=1 MARKS="$(frames 5000000)" make_recording before.data 8000 default ./game --fast
STATES=1 MARKS="$(frames 2000000)" make_recording after.data 7000 default ./game
POWERS=1 make_recording powers 30 all
STATES=1 make_recording all 1500 all
make_recording none 0 default

# ---- The same figures ----

for file in "$SCRATCH"/{before.data,powers,all} "$tool"/tests/recordings/*.data; do
	name=${file##*/}
	panthor-perf report -j "$file" >"$SCRATCH/report" && "$python" "$tool/tests/python_report.py" "$SCRATCH/report" "$file" >"$SCRATCH/out" 2>&1
	is "$name: every figure of report is what Python gives" \
		"$? $(sed '$d' "$SCRATCH/out" | head -n 10)$(tail -n 1 "$SCRATCH/out" | sed 's/^[0-9][0-9]*$/ compared/')" "0  compared"
done

# ---- Columns ----

cat >"$SCRATCH/columns.py" <<'END'
import sys
if "without" in sys.argv:
    sys.modules["numpy"] = None
import panthor_perf
with panthor_perf.Recording("before.data") as recording:
    columns = recording.columns(["MaliGPUActiveCy", "MaliTexUtil"], 1, 3.5)
print(" ".join(sorted({type(column).__module__ for column in columns.values()})), file=sys.stderr)
for name, column in columns.items():
    print(name, len(column), column.itemsize, column.tolist())
END
(cd "$SCRATCH" && "$python" columns.py >with 2>kind && "$python" columns.py without >without 2>>kind)
is "columns are of numpy, or of array" "$? $(tr '\n' ' ' <"$SCRATCH/kind")" "0 numpy array "
is "and the same" "$(cmp "$SCRATCH/with" "$SCRATCH/without" 2>&1) $(wc -l <"$SCRATCH/with")" " 8"
says "parts of the time make up the whole" "8000 8000
True
8016
[1, 1]" -c 'import panthor_perf
recording = panthor_perf.Recording("before.data")
cuts = [None, 0.5, 0.50001, 3, 7.7777, None]
parts = [recording.columns(["MaliGPUActiveCy"], *pair) for pair in zip(cuts, cuts[1:])]
totals = [recording.total(["MaliGPUActiveCy"], *pair) for pair in zip(cuts, cuts[1:])]
print(sum(len(part["flags"]) for part in parts), sum(total.samples for total in totals))
whole = recording.total(["MaliGPUActiveCy"]).values["MaliGPUActiveCy"]
print(whole == sum(total.values["MaliGPUActiveCy"] for total in totals) == sum(sum(part["MaliGPUActiveCy"]) for part in parts))
print(round(recording.total([]).seconds * 1000))
at = (recording.columns([])["start_ns"][17] - recording.start_ns) / 1e9
print([len(recording.columns([], at, at + 0.001)["flags"]), len(list(recording.samples([], at, at + 0.001)))])'
says "two who read one recording do not disturb each other" "8000 8000 True
8000" -c 'import panthor_perf
recording = panthor_perf.Recording("before.data")
first, second, ahead = 0, 0, True
other = recording.samples([])
for sample in recording.samples([]):
    first += 1
    if first % 3:
        continue
    for _ in range(2):
        found = next(other)
        second += 1
    ahead &= found.start_ns <= sample.start_ns
    recording.columns([], 2, 2.01)
    recording.total([], 7, 7.01)
second += len(list(other))
print(first, second, ahead)
print(len({sample.start_ns for sample in recording.samples([])}))'
says "regions and marks" "['', 'loading', 'shadows', 'lighting'] [1, 1, 300, 300] 601
loading shadows lighting
{1: 1996, 2: 5, 3: 11}" -c 'import collections, panthor_perf
recording = panthor_perf.Recording("before.data")
regions = recording.regions()
print([region.name for region in regions], [region.times for region in regions], len(recording.marks()) - 1)
print(*[mark.name for mark in recording.marks()[:3]])
print(dict(collections.Counter(map(int, recording.columns([], 0, 2.016)["region"]))))'

# ---- Data frames ----

says "data frames have names of regions, and times from the begin" "seconds 0.0 8000 ['', 'loading', 'shadows', 'lighting']
True True True
1996" -c 'import panthor_perf
recording = panthor_perf.Recording("before.data")
frame = recording.dataframe(["MaliGPUActiveCy", "MaliTexUtil"])
print(frame.index.name, frame.index[0], len(frame), list(frame["region"].cat.categories))
totals = recording.by_region(["MaliGPUActiveCy"])
sums = frame.groupby("region", observed=True)["MaliGPUActiveCy"].sum()
print(*[sums[name] == totals[name].values["MaliGPUActiveCy"] for name in sums.index if name])
print(int((frame["region"] == "loading").sum()))'

# ---- What it is, and what it is not ----

says "what a recording is" "./game --fast recording-make board 7.3.0 aarch64
Mali-G710 Mali-G710 10 4 primary 0.001 command ended 0 0
8000 <Recording of Mali-G710: 8000 samples in 8.056000 s>" -c 'import panthor_perf
recording = panthor_perf.Recording("before.data")
print(*recording.command, recording.tool, recording.host, recording.kernel, recording.machine)
gpu = recording.gpu
print(gpu.name, gpu.layout, gpu.cores, gpu.slices, recording.set, recording.period, recording.ended, recording.status, recording.lost_samples)
print(len(recording), recording)'
says "one without samples" "0 0 0 {'MaliGPUActiveCy': 0, 'MaliTexUtil': None} {} ['']" -c 'import panthor_perf
recording = panthor_perf.Recording("none")
total = recording.total(["MaliGPUActiveCy", "MaliTexUtil"])
print(len(recording), len(recording.columns()["flags"]), len(list(recording)), total.values, total.topdown, list(recording.by_region()))'
head -c 100000 "$SCRATCH/before.data" >"$SCRATCH/cut"
(head -c 1000000 "$SCRATCH/before.data"; printf x; tail -c +1000002 "$SCRATCH/before.data") >"$SCRATCH/damaged"
says "one that was cut, by a descriptor" "cut True True" -c 'import os, panthor_perf
fd = os.open("cut", os.O_RDONLY)
recording = panthor_perf.Recording(fd=fd)
os.close(fd)
print(recording.ended, 0 < len(recording) < 8000, len(recording) == len(recording.columns([])["flags"]))'
says "errors are exceptions" "15 nosuch: No such file or directory
12 not a panthor-perf recording
12 True
2 Mali-G710 has no counter \"Nonsense\". Run panthor-perf list to see all counters.
13 MaliSCBusLSWBWrBt was not recorded
invalid time in seconds: -1
invalid time in seconds: nan
counters must be a list of names
a recording is opened by a path or by a file descriptor
the recording is closed
the recording is closed" -c 'import panthor_perf, pathlib
def fails(function):
    try:
        function()
    except panthor_perf.Error as error:
        print(error.code, True if "the record at byte" in str(error) else error)
    except (TypeError, ValueError) as error:
        print(error)
    else:
        print("no error")
recording = panthor_perf.Recording(pathlib.Path("before.data"))
fails(lambda: panthor_perf.Recording("nosuch"))
fails(lambda: panthor_perf.Recording("/dev/null"))
fails(lambda: panthor_perf.Recording("damaged").columns([]))
fails(lambda: recording.columns(["Nonsense"]))
fails(lambda: recording.columns(["MaliSCBusLSWBWrBt"]))
fails(lambda: recording.columns([], -1))
fails(lambda: recording.total([], 0, float("nan")))
fails(lambda: recording.columns("MaliTexUtil"))
fails(lambda: panthor_perf.Recording())
recording.close()
recording.close()
fails(recording.columns)
fails(lambda: next(iter(recording)))'
make_recording long 200000 default
make_recording short 2000 default
# beside NAME: KiB that five columns take beside the arrays
beside()
{
	(cd "$SCRATCH" && "$python" -c 'import numpy, panthor_perf, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
columns = panthor_perf.Recording(sys.argv[1]).columns(
    ["MaliGPUActiveCy", "MaliTexUtil", "MaliExtBusRdBy", "MaliL2CacheRdMissRate", "MaliCoreUtil"])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before - sum(column.nbytes for column in columns.values()) // 1024)' "$1")
}
long=$(beside long)
short=$(beside short)
echo "# five columns: $long KiB beside the arrays, of 2,000 samples $short"
[ "$long" -lt $MOST_KIB ] && [ "$long" -lt $((short + 4000)) ] && ok "columns take little memory, however long a recording is" ||
	not_ok "columns take little memory, however long a recording is" "$long KiB, of 2,000 samples $short"

# ---- Sessions ----

# session NAME WANTED TICKS SCRIPT: with a GPU that counts what TICKS say (see fake-gpu.c)
session()
{
	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf '%s' "$3" >&6
	FAKE_TICKS=$SCRATCH/ticks says "$1" "$2" -c "$4"
	exec 6>&-
	rm "$SCRATCH/ticks"
}

session "collect() counts for so long, twice" "4 [False, False, False, True]
1 [True]
invalid time in seconds: -1
invalid time in seconds: inf" sss 'import panthor_perf
with panthor_perf.open() as gpu:
    session = gpu.session(["MaliGPUActiveCy"], 1)
    samples = session.collect(0.5)
    print(len(samples), [sample.last for sample in samples])
    samples = session.collect(0)
    print(len(samples), [sample.last for sample in samples])
    for seconds in -1, float("inf"):
        try:
            session.collect(seconds)
        except ValueError as error:
            print(error)'
session "a session that is dropped ends, and so does one of a GPU that is" "True
False
gone
gone" "" 'import panthor_perf, weakref
gpu = panthor_perf.open()
session = gpu.session(["MaliGPUActiveCy"], 1)
session.start()
handle = session._session
print(bool(handle))
del session
print(bool(handle))
session = gpu.session(["MaliGPUActiveCy"], 1)
gone = weakref.ref(session), weakref.ref(gpu)
del session, gpu
for reference in gone:
    print("gone" if reference() is None else "kept")'
session "one that a process has inherited is not its own to end" "child 0
1" "" 'import os, panthor_perf
from panthor_perf import _library
gpu = panthor_perf.open()
freed = []
_library.session_close = freed.append
session = gpu.session(["MaliGPUActiveCy"], 1)
child = os.fork()
if not child:
    session.close()
    print("child", len(freed), flush=True)
    os._exit(0)
os.waitpid(child, 0)
session.close()
print(len(freed))'

# ---- Types, and the notebook ----

is "mypy finds nothing" "$(cd "$SCRATCH" && /usr/bin/mypy --strict --ignore-missing-imports --cache-dir "$SCRATCH/mypy" "$tool/python/panthor_perf" 2>&1 |
	grep -v '^Success')" ""
cat >"$SCRATCH/typed.py" <<'END'
import panthor_perf
recording = panthor_perf.Recording("before.data")
busy: float = recording.total().seconds
wrong: int = recording.gpu.name
END
is "and programs are checked by its types" "$(cd "$SCRATCH" && MYPYPATH=$tool/python /usr/bin/mypy --strict --ignore-missing-imports \
	--cache-dir "$SCRATCH/mypy" typed.py 2>&1 | grep -o 'typed.py:[0-9]*: error: Incompatible types in assignment')" \
	"typed.py:4: error: Incompatible types in assignment"
# What it prints of regions and shares is what report says.
(cd "$SCRATCH" && "$python" "$tool/tests/notebook.py" "$tool/examples/analysis.ipynb" ${PICTURES:+"$PICTURES"}) >"$SCRATCH/out" 2>"$SCRATCH/err"
is "the notebook runs to its end, with three pictures" "$? $(grep -c '^picture True True$' "$SCRATCH/out") $(grep -A20 Error "$SCRATCH/err")" "0 3 "
panthor-perf report -j "$SCRATCH/before.data" | python3 -c 'import json, sys
report = json.load(sys.stdin)
for region in report["regions"][-1:] + report["regions"][:-1]:
    print(region["name"] or "", region.get("times", 1), "%.3f" % region["seconds"])' >"$SCRATCH/want"
is "it has the regions of report" "$(sed -n '/^ *times /,/^picture/p' "$SCRATCH/out" | sed '1,2d; /^picture/d' | tr -s ' ' | sed 's/^ *//')" \
	"$(sed 's/^ *//' "$SCRATCH/want")"
is "and has no outputs of its own" "$(grep -c '"output_type"\|"execution_count": [0-9]' "$tool/examples/analysis.ipynb")" 0
plan "$TAP_COUNT"
