#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# long: none
# Frames of a program that uses GLX, with this machine's Mesa and an X server without a screen.
set -u
. "$(dirname "$0")/../lib/tap.sh"

here=$(cd "$VIRT_DIR/../../clients/frames/tests" && pwd)
plan 4
# Recorders of this machine are left alone.
export XDG_RUNTIME_DIR=$SCRATCH PANTHOR_PERF_FRAMES=1

"$VIRT_DIR/build/deps.sh" libvulkan-dev libgl-dev libx11-dev libgl1 libglx-mesa0 xvfb >"$SCRATCH/log" 2>&1
if make -s -C "$here/.." O="$SCRATCH" >>"$SCRATCH/log" 2>&1 &&
	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/glx" "$here/glx.c" -lGL -lX11 2>>"$SCRATCH/log"; then
	ok "what is tested builds"
else
	not_ok "what is tested builds" "$(cat "$SCRATCH/log")"
	exit 1
fi
# The server writes its number when it is ready.
mkfifo "$SCRATCH/display"
Xvfb -displayfd 5 -screen 0 320x240x24 -nolisten tcp 5>"$SCRATCH/display" >"$SCRATCH/server" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$SCRATCH"' EXIT
read -r display <"$SCRATCH/display"
export DISPLAY=:$display

# frames HOW: of 200 that a program swaps, and what its result was
frames()
{
	python3 "$here/listen.py" env LD_PRELOAD="$SCRATCH/libpanthor-perf-frames.so" "$SCRATCH/glx" "$1" 200 2>&1 | sed 's/.*) //'
}

is "a program that is linked with GLX" "$(frames linked)" "0 glx:200"
is "one that asks GLX for its function" "$(frames address)" "0 glx:200"
is "without the library there are none" "$(python3 "$here/listen.py" "$SCRATCH/glx" linked 3 2>&1 | sed 's/.*) //')" "0"
