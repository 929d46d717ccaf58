#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# libpanthor-perf-frames.so: frames of programs that use EGL, GLX and Vulkan, with libraries and a driver that are not there.
set -u
. "$(dirname "$0")/../lib/tap.sh"

here=$(cd "$VIRT_DIR/../../clients/frames/tests" && pwd)
plan 44
# Recorders of this machine are left alone.
export XDG_RUNTIME_DIR=$SCRATCH
export PANTHOR_PERF_FRAMES=1
library=$SCRATCH/libpanthor-perf-frames.so

"$VIRT_DIR/build/deps.sh" libvulkan-dev >"$SCRATCH/log" 2>&1
FLAGS=(-std=gnu11 -O2 -Wall -Wextra -Werror)
if make -s -C "$here/.." O="$SCRATCH" >>"$SCRATCH/log" 2>&1 &&
	"${CC:-cc}" "${FLAGS[@]}" -shared -fPIC -o "$SCRATCH/libfake.so" "$here/egl.c" 2>>"$SCRATCH/log" &&
	"${CC:-cc}" "${FLAGS[@]}" -o "$SCRATCH/program" "$here/program.c" 2>>"$SCRATCH/log" &&
	"${CC:-cc}" "${FLAGS[@]}" -DLINKED -o "$SCRATCH/linked" "$here/program.c" -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" -lfake 2>>"$SCRATCH/log" &&
	"${CC:-cc}" "${FLAGS[@]}" -o "$SCRATCH/layer-test" "$here/layer-test.c" 2>>"$SCRATCH/log"; then
	ok "what is tested builds"
else
	not_ok "what is tested builds" "$(cat "$SCRATCH/log")"
	exit 1
fi
is "it has what others look for, and no more" "$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vc '^dlsym$\|^egl\|^glX\|^gl.*DebugGroup\|^vkNegotiate')" 0
is "its manifest names it" "$(python3 -c 'import json, sys
layer = json.load(open(sys.argv[1]))["layer"]
print(layer["name"], layer["library_path"], layer["enable_environment"])' "$SCRATCH/panthor-perf-frames.json")" \
	"VK_LAYER_PANTHOR_PERF_frames ./libpanthor-perf-frames.so {'PANTHOR_PERF_FRAMES': '1'}"

# listen COMMAND...: what it says, its status and frames
listen()
{
	python3 "$here/listen.py" "$@" 2>"$SCRATCH/err"
	cat "$SCRATCH/err"
}

preloaded()
{
	listen env LD_PRELOAD="$library" "$@"
}

is "a program that is linked with EGL and GLX" "$(preloaded "$SCRATCH/linked" linked)" "x34s12k14s12e14 0 linked:5"
is "it does the same without it" "$(listen "$SCRATCH/linked" linked)" "x34s12k14s12e14 0"
is "a program that loads them" "$(preloaded "$SCRATCH/program" dlsym "$SCRATCH/libfake.so")" "x34s12k14 0 program:3"
is "a program that asks them for functions" "$(preloaded "$SCRATCH/linked" address)" "x34x34s12k14 0 linked:4"
is "a program without them finds none" "$(preloaded "$SCRATCH/program" none)" " 0"
is "dlsym() knows who calls" "$(preloaded "$SCRATCH/program" next)" " 0"
is "a program that forks" "$(preloaded "$SCRATCH/linked" fork)" "s12k14s12k14s12k14 0 linked:4 linked:2"
is "a program that becomes another" "$(preloaded "$SCRATCH/linked" exec)" "s12k14x34s12k14s12e14 0 linked:2 linked:5"
is "threads, of which each frame is there or told" "$(preloaded "$SCRATCH/linked" threads | grep -o '[a-z]*:[0-9]*' |
	awk -F: '{ n += $2 } END { print n }')" 10
is "nothing without PANTHOR_PERF_FRAMES" "$(PANTHOR_PERF_FRAMES='' preloaded "$SCRATCH/linked" linked)" "x34s12k14s12e14 0"
is "nor for frames that are submissions" "$(PANTHOR_PERF_FRAMES_OF=submit preloaded "$SCRATCH/linked" linked)" "x34s12k14s12e14 0"

# labels COMMAND...: the same with labels as regions
labels()
{
	PANTHOR_PERF_FRAMES_LABELS=1 preloaded "$@"
}

is "groups of GL are regions; what is open ends with the frame and the program" "$(labels "$SCRATCH/linked" labels)" \
	"(11(13)0(11s12)0(11 0 [a|a/b|a|a/with tab||last|] linked:1"
is "those of a thread are its own" "$(labels "$SCRATCH/linked" owners | grep -o '0 \[.*')" "0 [mine|other||mine/inner|mine|]"
is "the 17th within others is none" "$(labels "$SCRATCH/linked" deep | grep -o '0 \[.*')" "0 [15|15/16|15||again|]"
name=$(printf '%94s' '' | tr ' ' n)
is "a name is cut where a character ends" "$(labels "$SCRATCH/linked" long | grep -o '0 \[.*')" "0 [$name|$name/i|$name|]"
is "they are none if that is not asked for" "$(preloaded "$SCRATCH/linked" labels)" "(11(13)0(11s12)0(11 0 linked:1"
is "nor without frames" "$(PANTHOR_PERF_FRAMES='' labels "$SCRATCH/linked" labels)" "(11(13)0(11s12)0(11 0"
label_calls="q0(outer q0(inner q1(inner q1) q0) q0:1 q0) q1(outer 0"
is "labels of queues are regions" "$(PANTHOR_PERF_FRAMES_LABELS=1 listen "$SCRATCH/layer-test" "$library" labels)" \
	"$label_calls [outer|outer/inner|inner||outer||outer|] layer-test:1"
is "they are none if that is not asked for: Vulkan" "$(listen "$SCRATCH/layer-test" "$library" labels)" "$label_calls layer-test:1"

calls="q0+3 q0*4 q0*5 q0:1 q1+3 q1*4 q1*5 q1:2 q0+3 q0*4 q0*5 q0:1"
more="-d0 q1+3 q1*4 q1*5 q1:2 -d1 -i0 -i1"
is "a Vulkan program with two devices" "$(listen "$SCRATCH/layer-test" "$library" present)" "$calls $more 0 layer-test:4"
is "whose frames are submissions" "$(PANTHOR_PERF_FRAMES_OF=submit listen "$SCRATCH/layer-test" "$library" submit)" \
	"$calls $more 0 layer-test:12"
is "which ends without destroying anything" "$(listen "$SCRATCH/layer-test" "$library" exit)" "$calls 0 layer-test:3"
is "which forks" "$(listen "$SCRATCH/layer-test" "$library" fork | sed 's/ layer-test/\nlayer-test/g' | LC_ALL=C sort | tr '\n' ' ')" \
	"layer-test:1 layer-test:4 $calls q1+3 q1*4 q1*5 q1:2 q0+3 q0*4 q0*5 q0:1 0 "
is "nothing without PANTHOR_PERF_FRAMES: Vulkan" "$(PANTHOR_PERF_FRAMES='' listen "$SCRATCH/layer-test" "$library" present)" "$calls $more 0"
is "preloaded and as a layer it is one" "$(preloaded "$SCRATCH/layer-test" "$library" exit)" "$calls 0 layer-test:3"

if valgrind --version >/dev/null 2>&1; then
	PANTHOR_PERF_FRAMES_LABELS=1 LD_PRELOAD=$library valgrind -q --error-exitcode=9 --leak-check=no \
		"$SCRATCH/linked" fork >/dev/null 2>"$SCRATCH/err"
	is "valgrind finds nothing: EGL" "$? $(cat "$SCRATCH/err")" "0 "
	valgrind -q --error-exitcode=9 --leak-check=no "$SCRATCH/layer-test" "$library" present >/dev/null 2>"$SCRATCH/err"
	is "valgrind finds nothing: Vulkan" "$? $(cat "$SCRATCH/err")" "0 "
else
	not_ok "valgrind finds nothing: EGL" "install valgrind"
	not_ok "valgrind finds nothing: Vulkan"
fi

# ---- record --frames, with a GPU that is not there ----

tool_builds live-fast
mkfifo "$SCRATCH/ticks"
exec 8<>"$SCRATCH/ticks"
# recorded COMMAND...: its status, its frames, and what record says of them
recorded()
{
	printf s >&8
	FAKE_TICKS=$SCRATCH/ticks "$SCRATCH/live-fast" record "${frames:---frames}" -o "$SCRATCH/data" -- "$@" >/dev/null 2>"$SCRATCH/err" 8>&-
	echo "$? $("$SCRATCH/live-fast" convert -j "$SCRATCH/data" | grep -o '"frames":[0-9]*,"lost_frames":[0-9]*') $(
		grep -o 'The command had no frames\|--frames: .* is not installed' "$SCRATCH/err")"
}
unset PANTHOR_PERF_FRAMES
is "record --frames of a program that is linked" "$(recorded "$SCRATCH/linked" linked)" '0 "frames":5,"lost_frames":0 '
is "the period is one for frames" "$("$SCRATCH/live-fast" convert -j "$SCRATCH/data" | grep -o '"period_ns":[0-9]*')" '"period_ns":250000'
is "short frames are told of" "$(grep -c 'shorter than the period: use a shorter one' "$SCRATCH/err")" 1
is "the loader of Vulkan is told of the layer" "$(recorded sh -c 'test "$VK_ADD_IMPLICIT_LAYER_PATH" = "$1"' sh "$SCRATCH")" \
	'0  The command had no frames'
is "what was preloaded stays" "$(LD_PRELOAD=$SCRATCH/libfake.so recorded sh -c 'test "$LD_PRELOAD" = "$1:$2"' sh "$library" "$SCRATCH/libfake.so")" \
	'0  The command had no frames'
is "frames that are submissions can be asked for" "$(frames=--frames=submit recorded sh -c 'test "$PANTHOR_PERF_FRAMES_OF" = submit')" \
	'0  The command had no frames'
is "and labels" "$(frames=--frames=submit,labels recorded sh -c 'test "$PANTHOR_PERF_FRAMES_OF$PANTHOR_PERF_FRAMES_LABELS" = submit1')" \
	'0  The command had no frames'
is "labels are in the recording" "$(frames=--frames=labels recorded "$SCRATCH/linked" owners >/dev/null
	"$SCRATCH/live-fast" convert -j "$SCRATCH/data" | grep -o '"name":"mine[^,}]*"' | tr '\n' ' ')" \
	'"name":"mine" "name":"mine/inner" "name":"mine" '
is "nothing else can" "$("$SCRATCH/live-fast" record --frames=labels,label true 2>&1 | head -n 1)" "$(
	echo 'panthor-perf record: --frames: "label" is unknown. Use --frames, --frames=submit, --frames=labels or --frames=submit,labels')"
ln -s live-fast "$SCRATCH/panthor-perf"
# budget BUDGET: the status of the example, and frames that it prints
budget()
{
	printf s >&8
	(cd "$SCRATCH" && FAKE_TICKS=$SCRATCH/ticks PATH=$SCRATCH:$PATH "$VIRT_DIR/../panthor-perf/examples/frame-budget" "$1" \
		"$SCRATCH/linked" linked >"$SCRATCH/out" 2>"$SCRATCH/err" 8>&-)
	echo "$? $(grep -c '^  frame [0-9]* of linked' "$SCRATCH/out")"
}
is "the example for CI: frames within a budget" "$(budget 100s)" "0 0"
is "and over one" "$(budget 1ns)" "1 4"
is "and without a program" "$(sh "$VIRT_DIR/../panthor-perf/examples/frame-budget" 1ms 2>&1; echo $?)" \
	"usage: frame-budget BUDGET COMMAND [ARGUMENT...]
2"
rm "$library"
is "without the library it says so" "$(recorded true)" '127  --frames: libpanthor-perf-frames.so is not installed'
