# SPDX-License-Identifier: MIT
# A frame in which another process was at work says so, if the kernel tells; and who may not see processes does not know.
. /root/tap.sh

idle='sleep 4'
work='gpu-load --phase compute -t 4 >/dev/null'

# others FILE: of the second, fourth and last of seven frames, each of which has one before and behind it that may be part of a
# look at processes that it shares
others()
{
	panthor-perf report --csv -e MaliGPUActiveCy "$1" | awk -F, 'NR == 3 || NR == 5 || NR == 7 { printf "%s;", $9 }'
}

frames()
{
	panthor-perf record -p 10ms -o "$1" -- frame-run "$idle" "$idle" "$idle" "$work" "$idle" "$idle" "$idle" 2>err
	is "$1: frames are recorded" $? 0
}

frames untold
is "a kernel that does not tell: work is not known, nothing is nobody's" "$(others untold)" "0;;0;"
echo 3 >$GPU/profiling
frames told
is "a kernel that tells: another process was at work in one frame" "$(others told)" "0;1;0;"
is "report says so" "$(panthor-perf report told | grep -c '(other processes at work)')" \
	"$(panthor-perf report --csv told | awk -F, '$9 == 1' | wc -l)"
panthor-perf record -p 10ms --split 10s -o part -- frame-run "$idle" "$idle" "$idle" "$idle" 2>err
is "parts have it, too" "$? $(panthor-perf report --csv part-000001 | awk -F, '$9 == "0"' | wc -l)" "0 1"

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
echo 0 >/sys/module/panthor/parameters/perf_paranoid
mkdir -m 777 /tmp/user
su user -c "XDG_RUNTIME_DIR=/tmp/user panthor-perf record -p 10ms -o /tmp/user/own -- frame-run '$idle' '$idle'" 2>err
is "who may not see other users' processes does not know" "$? $(
	panthor-perf report --csv /tmp/user/own | awk -F, 'NR > 1 { printf "%s;", $9 }')" "0 ;;"
