# SPDX-License-Identifier: MIT
# A recording of jobs of several processes on several processors, for the host. /root/counts has PID and jobs of each
# process.
. /root/tap.sh
cd /root || exit

cat >work <<'END'
for n in 1 2 3; do
	gpu-load -m -j 400 -g 2 -q 2 >load$n &
	echo $! >pid$n
done
wait
END
panthor-perf record --jobs -p 10ms -o cpus.data -- sh work >out 2>err
said="$? $(grep -c '^1,200 jobs\.$' err) $(grep -c events err)"
is "1,200 jobs are recorded" "$said" "0 1 0"
[ "$said" = "0 1 0" ] || sed 's/^/# /' out err
for n in 1 2 3; do echo "$(cat pid$n) $(sed -n 's/^jobs=//p' load$n)"; done >counts
succeeds "the recording can be converted" panthor-perf convert --json -o cpus.json cpus.data
