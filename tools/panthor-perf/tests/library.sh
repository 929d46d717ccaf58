#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What libpanthor-perf promises to programs: versions of its symbols, what abidiff says of it, that
# programs run with a library whose structs have grown, and with one that has not; and Python's module.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
tool=$top/tools/panthor-perf
library=$tool/libpanthor-perf
export PYTHONDONTWRITEBYTECODE=1

plan $((1 + 4 + 4 + 3 * 15 + 15))

# A copy in which all structs that may grow have.
grown=$SCRATCH/grown
mkdir -p "$grown/tools" "$grown/include"
cp -r "$tool" "$grown/tools/"
cp -r "$top/tools/layout" "$grown/tools/"
cp -r "$top/include/uapi" "$grown/include/"
awk '/^struct pperf_(gpu_info|counter|block|sample|log|session_options|load|reading|topdown_node|recording_info|region|recording_mark|recording_frame|column_arrays) {/ {
		grows = 1
	}
	/^};/ && grows { print "\n\tuint64_t grown[5];"; grows = 0; n++ }
	{ print }
	END { exit n != 14 }' "$library/panthor-perf.h" >"$grown/tools/panthor-perf/libpanthor-perf/panthor-perf.h"
is "fourteen structs grow" $? 0

# build DIR TREE TARGET...
build()
{
	local dir=$1 tree=$2 targets=()

	for target in "${@:3}"; do
		targets+=("$SCRATCH/$dir/$target")
	done
	make -s -j2 -C "$tree/tools/panthor-perf" O="$SCRATCH/$dir" CFLAGS="-O0 -g" "${targets[@]}" >"$SCRATCH/log" 2>&1
}

for tree in now grown; do
	where=$top
	[ $tree = now ] || where=$grown
	if build $tree "$where" libpanthor-perf.so.0 libpanthor-perf.abi recording-make session-shared-test fake/libpanthor-perf.so.0; then
		ok "the library builds, $tree"
	else
		not_ok "the library builds, $tree" "$(cat "$SCRATCH/log")" "$(command -v abidw || echo 'install abigail-tools')"
		exit 1
	fi
done

# ---- What is promised ----

version=$(sed -n 's/^#define PPERF_VERSION "\(.*\)"/\1/p' "$library/panthor-perf.h")
is "the newest version of symbols is the library's" \
	"$(objdump -T "$SCRATCH/now/libpanthor-perf.so.0" | grep -o 'PPERF_[0-9.]*' | sort -uV | tail -n 1)" "PPERF_$version"
is "all that it exports are functions with one" \
	"$(objdump -T "$SCRATCH/now/libpanthor-perf.so.0" | grep -v '\*UND\*' | grep pperf_ | grep -vc ' DF .text.* PPERF_[0-9.]* *pperf_')" 0

# abidiff wants nothing before the first element.
grep -v '^<!--' "$library/libpanthor-perf.abi" >"$SCRATCH/kept"

# same_abi FILE: what abidiff says
same_abi()
{
	abidiff --no-show-locs "$SCRATCH/kept" "$1" >"$SCRATCH/said" 2>&1
}
same_abi "$SCRATCH/now/libpanthor-perf.abi"
if [ $? -eq 0 ] && ! grep -q '[1-9][0-9]* \(Changed\|Removed\|Added\|filtered\)' "$SCRATCH/said"; then
	ok "abidiff finds it as it was written down"
else
	not_ok "abidiff finds it as it was written down; 'make abi' does so anew for what is meant" "$(head -n 40 "$SCRATCH/said")"
fi
same_abi "$SCRATCH/grown/libpanthor-perf.abi"
[ $? -ne 0 ] && grep -q 'grown' "$SCRATCH/said" && ok "it finds structs that have grown" ||
	not_ok "it finds structs that have grown" "$(cat "$SCRATCH/said")"
sed 's/^bool pperf_log_text(const struct pperf_log \*log,/& int how,/' \
	"$library/panthor-perf.h" >"$grown/tools/panthor-perf/libpanthor-perf/panthor-perf.h"
sed -i 's/^bool pperf_log_text(const struct pperf_log \*log,/& __attribute__((unused)) int how,/' \
	"$grown/tools/panthor-perf/libpanthor-perf/sample.c"
build changed "$grown" libpanthor-perf.abi
same_abi "$SCRATCH/changed/libpanthor-perf.abi"
[ $? -ne 0 ] && grep -q 'pperf_log_text' "$SCRATCH/said" && ok "and a function that takes something else" ||
	not_ok "and a function that takes something else" "$(cat "$SCRATCH/said")" "$(cat "$SCRATCH/log")"
awk '/pperf_strerror;/ { next } { print }' "$library/libpanthor-perf.map" >"$grown/tools/panthor-perf/libpanthor-perf/libpanthor-perf.map"
cp "$library/panthor-perf.h" "$library/sample.c" "$grown/tools/panthor-perf/libpanthor-perf/"
build less "$grown" libpanthor-perf.abi
same_abi "$SCRATCH/less/libpanthor-perf.abi"
[ $? -ne 0 ] && grep -q 'pperf_strerror' "$SCRATCH/said" && ok "and one that is gone" ||
	not_ok "and one that is gone" "$(cat "$SCRATCH/said")" "$(cat "$SCRATCH/log")"

# ---- Programs and libraries of other times ----

run_tests 13 "a program and its library" env LD_LIBRARY_PATH="$SCRATCH/now" "$SCRATCH/now/session-shared-test"
run_tests 13 "a program, and a library whose structs have grown" \
	env LD_LIBRARY_PATH="$SCRATCH/grown" "$SCRATCH/now/session-shared-test"
run_tests 13 "a program whose structs have grown, and a library whose have not" \
	env LD_LIBRARY_PATH="$SCRATCH/now" "$SCRATCH/grown/session-shared-test"

# ---- Python ----

# python LIBRARY TICKS SCRIPT...: with a GPU that counts what TICKS say (see fake-gpu.c)
python()
{
	mkfifo "$SCRATCH/ticks"
	exec 6<>"$SCRATCH/ticks"
	printf '%s' "$2" >&6
	FAKE_TICKS=$SCRATCH/ticks LD_LIBRARY_PATH=$SCRATCH/$1/fake PYTHONPATH=$tool/python timeout 60 python3 "${@:3}" \
		>"$SCRATCH/out" 2>"$SCRATCH/err"
	status=$?
	exec 6>&-
	rm "$SCRATCH/ticks"
	return $status
}

# Slices 0 and 1 are blocks 2 and 3, and beats have 16 bytes: (3000 - n + 4000 - n) * 16.
python now ssssssssss "$tool/examples/load.py"
is "the example in Python" "$? $(cat "$SCRATCH/err")" "0 "
is "prints what the GPU counts" "$(uniq -c "$SCRATCH/out" | sed 's/^ *//')" "1 a fake
10  10.0 %    0.111 MB/s read    0.110 MB/s written"
is "and has twenty lines at the most" "$(($(wc -l <"$tool/examples/load.py") <= 20))" 1

cat >"$SCRATCH/test.py" <<'END'
import os, signal, sys, panthor_perf
with panthor_perf.open() as gpu:
    print(gpu.name, gpu.layout, gpu.cores, gpu.slices, panthor_perf.version() >= "0.3", panthor_perf.gpus())
    names = [counter.name for counter in gpu.counters()]
    print(len(names) > 200, "MaliTexUtil" in names)
    with gpu.session(["MaliGPUActiveCy", "SHADER.32", "MaliTexUtil"], 1, per_block=True) as session:
        first = next(session)
        kept = dict(first.values)
        session.stop()
        rest = list(session)
    print(first.values["MaliGPUActiveCy"], first.seconds, first.cycles, first.stretched, rest[0].stretched, rest[0].seconds)
    name = next(name for name in first.values if name not in ("MaliGPUActiveCy", "MaliTexUtil") and first.blocks.get(name) and len(first.blocks[name]) == 3)
    print(first.values[name] == sum(first.blocks[name]), first.blocks[name][0] - first.blocks[name][1])
    print(kept == first.values, len(rest), [sample.last for sample in rest], rest[-1].values["MaliGPUActiveCy"], rest[-1].load)
    with gpu.session(["MaliGPUActiveCy"]) as session:
        print(session.sample().values, session.poll())
        # A signal ends a wait, and its handler is Python's.
        signal.signal(signal.SIGALRM, lambda *_: sys.exit("alarm"))
        for bad in ["NoSuchCounter"], "MaliGPUActiveCy":
            try:
                gpu.session(bad)
            except (panthor_perf.Error, TypeError) as error:
                print(type(error).__name__, error)
        try:
            gpu.session([], set="fourth")
        except ValueError as error:
            print(error)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        next(session)
END
cat >"$SCRATCH/want" <<'END'
a fake Mali-G710 3 2 True ['/dev/dri/renderD128', '/dev/dri/renderD129']
True True
996 1.0 {'toplevel': 10000, 'shader': 9000} False True 5.0
True -1000
True 2 [False, True] 0 <Load 0.0 % of the time, 0.0 % of the cycles>
{'MaliGPUActiveCy': 996} None
Error a fake has no counter "NoSuchCounter". Run panthor-perf list to see all counters.
TypeError counters must be a list of names
unknown counter set 'fourth'; use one of primary, secondary, tertiary
END
STATES=1 MARKS="0 one
500000000 two" "$SCRATCH/now/recording-make" "$SCRATCH/recording" 1500 default ./game
cat >"$SCRATCH/recorded.py" <<'END'
import sys, panthor_perf
with panthor_perf.Recording(sys.argv[1]) as recording:
    print(recording, recording.command, recording.period, recording.kernel)
    print([(region.name, region.times) for region in recording.regions()], [mark.name for mark in recording.marks()])
    columns, total = recording.columns(["MaliGPUActiveCy"]), recording.total(["MaliGPUActiveCy"])
    print(sum(columns["MaliGPUActiveCy"]) == total.values["MaliGPUActiveCy"] > 0, len(total.topdown[1]), total.topdown[1][0].title)
END
for library in now grown; do
	python $library "" "$SCRATCH/recorded.py" "$SCRATCH/recording"
	is "recordings in Python with the library, $library" "$? $(cat "$SCRATCH/err" "$SCRATCH/out")" \
		"0 <Recording of Mali-G710: 1500 samples in 1.502000 s> ['./game'] 0.001 7.3.0
[('', 0), ('one', 1), ('two', 1)] ['one', 'two']
True 5 Idle"
	python $library st "$SCRATCH/test.py"
	is "Python's module with the library, $library" "$? $(cat "$SCRATCH/err")" "1 alarm"
	is "and what it says" "$(cat "$SCRATCH/out")" "$(cat "$SCRATCH/want")"
done
python now g -c 'import panthor_perf
with panthor_perf.open() as gpu, gpu.session(period=1) as session:
    try:
        next(session)
    except panthor_perf.Error as error:
        print(error.code, error)
    session.close()
    try:
        session.poll()
    except ValueError as error:
        print(error)
'
is "a GPU that goes is an exception, and so is a session that was closed" "$? $(cat "$SCRATCH/err" "$SCRATCH/out")" \
	"0 11 /dev/dri/renderD128 is gone
the session is closed"
python now "" -c 'import panthor_perf
gpu = panthor_perf.open(fd=0)
gpu.session(["MaliGPUActiveCy"], 1).start()
gpu.close()
gpu.close()
print(gpu)'
is "a GPU is opened by a descriptor, and closed with its sessions, once" "$? $(cat "$SCRATCH/err" "$SCRATCH/out")" \
	"0 <Gpu a fake at /dev/dri/renderD128>"
python now "" -c 'import panthor_perf
gpu = panthor_perf.open()
gpu.close()
for function in gpu.counters, gpu.frequency, gpu.session:
    try:
        function()
    except ValueError as error:
        print(error)'
is "a GPU that was closed is an exception" "$? $(cat "$SCRATCH/err" "$SCRATCH/out")" "0 the GPU is closed
the GPU is closed
the GPU is closed"
python now "" -c 'import panthor_perf, pathlib
with panthor_perf.open(pathlib.Path("/dev/dri/renderD129")) as gpu:
    print(gpu.node)
    for period in -1, 1e-10, 2e10, float("inf"), float("nan"):
        try:
            gpu.session(["MaliGPUActiveCy"], period)
        except ValueError as error:
            print(error)'
is "and so is a period that is none" "$? $(cat "$SCRATCH/err" "$SCRATCH/out")" "0 /dev/dri/renderD129
invalid period in seconds: -1
invalid period in seconds: 1e-10
invalid period in seconds: 20000000000.0
invalid period in seconds: inf
invalid period in seconds: nan"
python now "" -c 'import panthor_perf
with panthor_perf.region("nobody records"):
    panthor_perf.mark("\u00e4")
panthor_perf.frame()
for name in "", 97 * "x", "a\n":
    try:
        panthor_perf.mark(name)
    except panthor_perf.Error as error:
        print(error.code, error)'
is "marks have names, and do nothing where nobody records, as frames do" "$? $(cat "$SCRATCH/err")$(uniq -c "$SCRATCH/out" | tr -s ' ')" \
	"0  3 1 the name of a mark must have 1 to 96 bytes without control characters"
ldd "$SCRATCH/now/fake/libpanthor-perf.so.0" | grep -q libdrm
is "all of it without libdrm" $? 1
