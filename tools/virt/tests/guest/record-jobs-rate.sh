# SPDX-License-Identifier: MIT
# Jobs as fast as they come, for a minute: none is lost, or it is told.
. /root/tap.sh
cd /root || exit

panthor-perf record --jobs -p 100ms -e MaliGPUActiveCy -o data -- gpu-load -m -j 0 -t 60 -k none -g 2 -q 4 --depth 16 >out 2>err
is "it is recorded" $? 0
jobs=$(sed -n 's/^jobs=//p' out)
recorded=$(sed -n 's/^\([0-9,]*\) jobs\.$/\1/p' err | tr -d ,)
echo "# $jobs jobs, $recorded recorded"
sed 's/^/# /' err
is "there are hundreds of thousands" "$((jobs > 400000))" 1
if grep -q 'trace events' err; then
	is "jobs are missing, and it is told" "$((recorded <= jobs))" 1
else
	is "each is there" "$recorded" "$jobs"
fi
