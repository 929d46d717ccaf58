# SPDX-License-Identifier: MIT
# Frames of GL and Vulkan programs of Debian's Mesa, by /root/libpanthor-perf-frames.so and the manifest beside it. Recordings
# and traces of the same names are for the host.
. /root/tap.sh
. /root/trace.sh
. /root/frames.sh

frames=60
layer="PANTHOR_PERF_FRAMES=1 VK_ADD_IMPLICIT_LAYER_PATH=/root"
library="PANTHOR_PERF_FRAMES=1 LD_PRELOAD=/root/libpanthor-perf-frames.so"

record gl $library gl-work -p gbm -w -t /root/gl.times -n $frames draw
is "each frame of GL is there once" "$(ends gl)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"gl-work\" "
is "each ends while it is swapped" "$(in_time gl)" "$frames of $frames"

record pbuffer $library PANTHOR_PERF_FRAMES_LABELS=1 gl-work -p surfaceless -w -g -t /root/pbuffer.times -n $frames draw
is "each frame of a pbuffer is there once" "$(ends pbuffer)" \
	" 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"gl-work\" "
is "each ends while its pbuffer is swapped" "$(in_time pbuffer)" "$frames of $frames"
is "groups of GL are regions, and end with their frame" "$(regions pbuffer)" " $((2 * frames)) draw $frames draw/inner $frames null "

record damage $library gl-work -p gbm -d -t /root/damage.times -n $frames draw
is "each frame with damage is there once" "$(ends damage)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"gl-work\" "
is "each ends while it is swapped with damage" "$(in_time damage)" "$frames of $frames"

record present $layer PANTHOR_PERF_FRAMES_LABELS=1 vk-work -l -t /root/present.times -n $frames present
is "each frame that Vulkan presents is there once" "$(ends present)" \
	" 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"vk-work\" "
is "each ends while it is presented" "$(in_time present)" "$frames of $frames"
is "labels of queues are regions, and end with their frame" "$(regions present)" " $frames null $frames present $frames present/inner "

record vulkan $layer PANTHOR_PERF_FRAMES_OF=submit PANTHOR_PERF_FRAMES_LABELS=1 vk-work -l -n $frames draw
is "each frame of Vulkan is there once" "$(ends vulkan)" " 1 \"frames\":$frames,\"lost_frames\":0 $frames \"program\":\"vk-work\" "
is "labels around submissions are regions" "$(regions vulkan)" " $((2 * frames)) draw $frames draw/inner $frames null "

record off VK_ADD_IMPLICIT_LAYER_PATH=/root LD_PRELOAD=/root/libpanthor-perf-frames.so PANTHOR_PERF_FRAMES_LABELS=1 vk-work -l -n 3 draw
is "there is none if none is wanted" "$(ends off)$(regions off)" ""

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

export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
env $layer PANTHOR_PERF_FRAMES_LABELS=1 vk-work -l -n 2 draw present >/root/out 2>/root/err
is "the program runs with validation layers" "$?$(grep -A 2 '^not ok' /root/out)" 0
is "which say nothing" "$(grep -i 'validation\|VUID' /root/out /root/err)" ""
record careless $layer PANTHOR_PERF_FRAMES_OF=submit vk-careless
is "a program that forks, and destroys nothing, has all frames" "$(ends careless)" " 1 \"frames\":8,\"lost_frames\":0 8 \"program\":\"vk-careless\" "
is "of two devices and of its child" "$(processes careless)" "2 6 "
is "and validation layers say nothing" "$(grep -i 'validation\|VUID' /root/out /root/err)" ""
