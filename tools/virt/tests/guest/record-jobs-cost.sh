# SPDX-License-Identifier: MIT
# What it takes to record a job, in instructions of the whole machine: the difference of two recordings of the same work, with
# and without jobs.
. /root/tap.sh
cd /root || exit

# About a thousand jobs a second, each of which is waited for. The first ones take what is done once.
cat >work <<'END'
gpu-load -j 2000 -k none -g 1 -q 1 --depth 1 --period 100 --duty 25 >/dev/null
before=$(mali-bench instructions)
gpu-load -j 2000 -k none -g 1 -q 1 --depth 1 --period 100 --duty 25 >/dev/null
echo $(($(mali-bench instructions) - before))
END

# recording OPTION: instructions of 2,000 jobs
recording()
{
	panthor-perf record $1 -p 10ms -e MaliGPUActiveCy -o data -- sh work 2>err
}

recording >/dev/null
without=$(recording)
with=$(recording --jobs)
is "all jobs are recorded" "$(grep -c '^4,000 jobs\.$' err)" 1
each=$(((with - without) / 2000))
echo "# $each instructions for a job"
# A thousand of them a second are less than a hundredth of a core that executes 1.5 * 10^9 instructions a second, which the
# slow cores of an RK3588, with 1.8 GHz, about do. Half of it is in the kernel, most of that for fences.
is "a job takes less than 15,000 instructions, and more than none" "$((each > 0)) $((each < 15000))" "1 1"
