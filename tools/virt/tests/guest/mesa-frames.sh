# SPDX-License-Identifier: MIT
# Frames of GL and Vulkan programs of Debian's Mesa, by /root/libpanthor-perf-frames.so and the manifest beside it. Recordings
# and traces of the same names are for the host.
. /root/tap.sh
. /root/trace.sh

frames=60

# record NAME COMMAND...: a recording, of a program in an environment
record()
{
	name=$1
	shift
	trace_begin
	panthor-perf record -a -p 1ms -o "/root/$name.data" -- env "$@" >/root/out 2>/root/err
	is "$name: the program is recorded" "$?$(grep -A 2 '^not ok' /root/out)" 0
	trace_to "/root/$name.trace"
	trace_end
	has "$name: nothing is lost" "$(cat /root/err)" ' 0 lost;'
}

# ends NAME: how many ends of frames, of which program, and how many were lost
ends()
{
	panthor-perf convert -j "/root/$1.data" | grep -o '"program":"[^"]*"\|"frames":[0-9]*,"lost_frames":[0-9]*' | sort | uniq -c |
		tr -s ' \n' ' '
}

record gl PANTHOR_PERF_FRAMES=1 LD_PRELOAD=/root/libpanthor-perf-frames.so gl-work -p gbm -w -n $frames draw
is "each frame of GL is there once" "$(ends gl)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"gl-work\" "

record vulkan PANTHOR_PERF_FRAMES=1 PANTHOR_PERF_FRAMES_OF=submit VK_ADD_IMPLICIT_LAYER_PATH=/root vk-work -n $frames draw
is "each frame of Vulkan is there once" "$(ends vulkan)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"vk-work\" "

record off VK_ADD_IMPLICIT_LAYER_PATH=/root LD_PRELOAD=/root/libpanthor-perf-frames.so vk-work -n 3 draw
is "there is none if none is wanted" "$(ends off)" ""

for name in gl vulkan; do
	panthor-perf report -j --budget 100s -o /root/report /root/$name.data
	is "$name: no frame is over a large budget" $? 0
	panthor-perf report -j --budget 1us -o /root/report /root/$name.data
	is "$name: all are over a small one" "$? $(grep -c '"budget":"seconds"' /root/report)" "1 $((frames - 1))"
	panthor-perf report --csv -e MaliGPUActiveCy /root/$name.data >/root/$name.csv
	# A frame in a hundred may be too short for its work to be in it.
	is "$name: frames have counts" "$(awk -F, 'NR > 1 { n++; active += $NF > 0 } END { print (n == '$((frames - 1))' && active > n / 2) }' \
		/root/$name.csv)" 1
done
VK_ADD_IMPLICIT_LAYER_PATH=/root PANTHOR_PERF_FRAMES=1 VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation vk-work -n 2 draw >/root/out 2>/root/err
is "the program runs with validation layers" "$?$(grep -A 2 '^not ok' /root/out)" 0
is "which say nothing" "$(grep -i 'validation\|VUID' /root/out /root/err)" ""
