# SPDX-License-Identifier: MIT
# Frames of programs under a compositor that uses the GPU as well, by /root/libpanthor-perf-frames.so and the manifest beside it.
# Recordings and traces of the same names are for the host.
. /root/tap.sh
. /root/trace.sh
. /root/frames.sh

frames=60
export XDG_RUNTIME_DIR=/tmp/run HOME=/tmp WAYLAND_DISPLAY=wayland
mkdir -m 700 $XDG_RUNTIME_DIR
weston -B headless --renderer=gl --width=320 --height=240 --socket=$WAYLAND_DISPLAY --idle-time=0 --no-config --shell=kiosk >/root/weston 2>&1 &
weston=$!
succeeds "the compositor runs" until_true 180 test -S $XDG_RUNTIME_DIR/$WAYLAND_DISPLAY
has "on the GPU" "$(cat /root/weston)" 'GL renderer: Mali-'

# Ends when it has shown so many frames.
cat >/root/until-shown <<-'END'
	WAYLAND_DEBUG=client weston-simple-egl 2>/root/protocol &
	program=$!
	while [ "$(grep -c 'attach(wl_buffer' /root/protocol)" -lt "$1" ]; do
		kill -0 $program || exit 1
		usleep 100000
	done
	kill -INT $program
	wait $program
END
record egl PANTHOR_PERF_FRAMES=1 LD_PRELOAD=/root/libpanthor-perf-frames.so sh /root/until-shown $frames
shown=$(grep -c 'attach(wl_buffer' /root/protocol)
echo "$shown" >/root/shown
is "each frame that it has given the compositor is there once" "$(ends egl)" \
	" 1 \"frames\":$shown,\"lost_frames\":0 $shown \"program\":\"weston-simple-egl\" "
has "it swaps with damage" "$(cat /root/out)" 'EGL_EXT_swap_buffers_with_damage'

record cube PANTHOR_PERF_FRAMES=1 VK_ADD_IMPLICIT_LAYER_PATH=/root vkcube --wsi wayland --width 320 --height 240 --c $frames
is "each frame of Vulkan is there once" "$(ends cube)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"vkcube\" "
kill $weston
wait $weston
is "the compositor ends well" $? 0
