# SPDX-License-Identifier: MIT
# What it takes to record a job, in instructions of the whole machine: the difference of two recordings of the same
# work, with and without jobs.
. /root/tap.sh
cd /root || exit

JOBS=2000
# A thousand of them a second are then less than a hundredth of a core that executes 1.2 * 10^9 instructions a second; the
# slow cores of an RK3588, with 1.8 GHz, execute about 1.5 * 10^9. Half of it is in the kernel, most of that for fences.
# Linux 6.12 takes twice as much as 7.3. What the same code takes differs by 500 from build to build.
MOST=12000

# About a thousand jobs a second, each of which is waited for. The first ones take what is done once.
cat >work <<END
gpu-load -j $JOBS -k none -g 1 -q 1 --depth 1 --period 100 --duty 25 >/dev/null
before=\$(mali-bench instructions)
gpu-load -j $JOBS -k none -g 1 -q 1 --depth 1 --period 100 --duty 25 >/dev/null
echo \$((\$(mali-bench instructions) - before))
END

# recording OPTION: instructions of so many jobs
recording()
{
	panthor-perf record $1 -p 10ms -e MaliGPUActiveCy -o data -- sh work 2>err
}

recording >/dev/null
without=$(recording)
with=$(recording --jobs)
if [ "$(grep -c '^4,000 jobs\.$' err)" = 1 ]; then
	ok "all jobs are recorded"
else
	not_ok "all jobs are recorded" "want: 4,000 jobs." "$(cat err)"
fi
each=$(((with - without) / JOBS))
echo "# $each instructions for a job: for 1,000 jobs a second $((each / 120)) in 10,000 of a core with 1.2 * 10^9 a second"
echo "# $((1000 * (with - without) / without)) in a thousand of what the same work takes without --jobs"
if [ $each -gt 0 ] && [ $each -lt $MOST ]; then
	ok "a job takes less than 12,000 instructions, and more than none"
else
	not_ok "a job takes less than 12,000 instructions, and more than none" "got:  $each" \
		"with jobs: $with" "without: $without"
fi
