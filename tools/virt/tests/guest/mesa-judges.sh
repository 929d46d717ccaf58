# SPDX-License-Identifier: MIT
# piglit and apitrace on Mesa with our patches, of which /root/mesa has the libraries.
. /root/tap.sh

export LD_LIBRARY_PATH=/root/mesa:/root/lib GBM_BACKENDS_PATH=/root/mesa HOME=/tmp
export PIGLIT_PLATFORM=gbm WAFFLE_PLATFORM=gbm WAFFLE_GBM_DEVICE=/dev/dri/renderD128
cd /root || exit

piglit()
{
	LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/root/piglit "/root/piglit/amd_performance_monitor_$1" -auto -fbo >"/root/$1" 2>&1
	echo "$? $(tail -n 1 "/root/$1")"
}

# It finds libraries of GL by names that only development packages have.
replay()
{
	LD_PRELOAD=libEGL.so.1:libGLESv2.so.2 eglretrace --headless "$@" work.trace 2>/root/err
}

is "piglit: the API" "$(piglit api)" '0 PIGLIT: {"result": "pass" }'
is "its subtests" "$(grep -c '"subtest"' api) $(grep '"subtest"' api | grep -vc '"pass"')" "34 0"
is "piglit: measuring" "$(piglit measure)" '0 PIGLIT: {"result": "pass" }'
is "its subtests" "$(grep -c '"subtest"' measure) $(grep '"subtest"' measure | grep -vc '"pass"')" "4 0"

apitrace trace -a egl -o work.trace gl-work -p gbm -w -n 3 clear draw >out 2>&1
is "apitrace makes a trace" "$? $(grep -c '^ok' out)" "0 2"
replay --list-metrics >metrics
is "and lists counters" "$(grep -c 'Metric #.*: MaliGPUActiveCy ' metrics)" 1
sed -n 's/.*Metric #.*: \(Mali[A-Za-z0-9]*\) .*/\1/p' metrics >names
panthor-perf list -x ';' | awk -F';' '$2 != "derived" && $1 ~ /^Mali/ { print $1 }' >hardware
is "all that the hardware has" "$(grep -vxFf names hardware) $(($(wc -l <hardware) > 100))" " 1"
# Group and number of three: cycles, jobs, primitives
place()
{
	awk -v name="$1" '$1 == "Group" { group = substr($2, 2) + 0 }
		$1 == "Metric" && $3 == name { printf "[%d, %d]", group, substr($2, 2); exit }' metrics
}
replay --pframes="GL_AMD_performance_monitor: $(place MaliGPUActiveCy), $(place MaliFragQueueJob)" >frames
is "it records frames" "$(head -n 1 frames | tr '\t' ' ')" "# MaliGPUActiveCy MaliFragQueueJob"
is "each with its jobs" "$(awk '$1 == "frame" && $2 > 1000 { printf "%s ", $3 }' frames)" "2 2 2 2 2 "
replay --pdrawcalls="GL_AMD_performance_monitor: $(place MaliGPUActiveCy), $(place MaliFragQueueJob)" >calls
is "and calls, the same in each frame" "$(awk '$4 == "glDrawArrays" || $4 == "glDrawElements" { n[$4, $6]++ }
	END { for (i in n) { split(i, at, SUBSEP); print at[1], at[2], n[i] } }' calls | sort | tr '\n' ' ')" "glDrawArrays 1 9 glDrawElements 1 3 "
