# SPDX-License-Identifier: MIT
# panthor-perf top as root, beside a recording of the same jobs; then what it shows, and to whom.
. /root/tap.sh
cd /root || exit

panthor-perf top -j -p 200ms >top.json 2>err &
top=$!
until_true 120 grep -qs '"samples"' top.json
cat >work <<'END'
gpu-load -j 200 -g 1 -q 1 &
echo $! 200 >counts
gpu-load -j 120 -g 1 -q 1 &
echo $! 120 >>counts
wait
END
panthor-perf record --jobs -p 10ms -o both.data -- sh work >out 2>err.record
said="$? $(grep -c '^320 jobs\.$' err.record)"
is "jobs are recorded beside top" "$said" "0 1"
[ "$said" = "0 1" ] || sed 's/^/# /' out err.record
kill -INT $top
wait $top
is "top ends well" "$? $(cat err)" "0 "
panthor-perf report -j both.data >report.json
panthor-perf convert --json -o both.json both.data
is "nothing is left in tracefs" "$(ls /sys/kernel/tracing/instances)" ""

# Until panthor gives the job up, after five seconds.
panthor-perf top -j -p 200ms >loop.json 2>err &
top=$!
until_true 120 grep -qs '"samples"' loop.json
gpu-fault loop >out 2>&1
kill -INT $top
wait $top
status=$? updates=$(grep -c '"command":"gpu-fault","of_time":1.0,' loop.json)
# Of 25 in five seconds.
if [ $status -eq 0 ] && [ "$updates" -ge 20 ]; then
	ok "a job that does not end is at work in each update"
else
	not_ok "a job that does not end is at work in each update" \
		"status $status, at work all the time in $updates updates, want: 20" "$(cat err out)" \
		"$(grep -o '"command":"gpu-fault","of_time":[^,]*' loop.json)"
fi

gpu-load -j 0 -t 60 -g 1 -q 1 --started started >out 2>&1 &
load=$!
until_true 60 test -e started
panthor-perf top --once -p 500ms >once 2>&1
has "why there is no job" "$(cat once)" "^No job   no job queued [0-9.]*%, waiting for a fence [0-9.]*%, ready [0-9.]*%$"
has "processes first" "$(cat once)" "^    PID   TIME  ALONE  JOBS/s WAIT ms  RUN ms RESIDNT   TOTAL COMMAND$"
has "one that works" "$(cat once)" "^ *$load *[0-9.]*% *[0-9.]*% *[0-9.]* *[0-9.]* *[0-9.]* *[-0-9.KM]* *[0-9.]*[KM] gpu-load$"
has "and one that does not" "$(cat once)" "^ *[0-9]* *0.0% *0.0% *0.0 *- *- .* panthor-perf$"

echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd
chmod 666 /dev/dri/renderD*
echo 0 >/sys/module/panthor/parameters/perf_paranoid
su user -c "panthor-perf top --once -p 500ms" >once 2>&1
is "who may not trace has clients" "$(grep -c '^ *PID CLIENT' once) $(grep -c '^No job' once)" "1 0"
su user -c "panthor-perf top --once -j -p 500ms" >once 2>&1
has "and is told why" "$(cat once)" '"jobs_not_known":"this user may not read trace events: try as root"'
is "with processes by their clients" "$(grep -o '"processes":\[{"pid":[0-9]*,"command":"[^"]*","of_time":[^,]*' once | sed 's/.*command/command/')" \
	'command":"panthor-perf","of_time":null'
kill $load
wait $load || :
