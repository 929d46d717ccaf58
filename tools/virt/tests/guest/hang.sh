# SPDX-License-Identifier: MIT
# The MCU stops answering; panthor's own reset gets the GPU back.
. /root/tap.sh

# What the kernel says when it gives a group request up; then it resets.
gave_up='CSG [0-9]* update request timedout'

# What the kernel has said since.
log=/root/log

succeeds "work before" gpu-load

# A hang of a suspended GPU would be one at boot, which is another thing.
echo on >"$GPU/power/control"

for round in 1 2 3; do
	new_dmesg >/dev/null
	for _ in 1 2 3 4 5; do
		mali-bench hang=1
		hung=$(mali-bench hang)
		gpu-load >/root/out 2>&1
		status=$?
		new_dmesg >"$log"
		# A ping that was due may have ended it first; the next is 12 s away.
		grep -q 'FW ping timeout' "$log" || break
	done
	is "round $round: a hang is injected" "$hung" 1
	is "round $round: work that is lost is not reported as done" $status 1
	has "round $round: panthor notices" "$(cat "$log")" "$gave_up"
	is "round $round: the reset ends the hang" "$(mali-bench hang)" 0
	succeeds "round $round: new work completes" gpu-load
done

# In the middle of work, with a second process whose group may be on a slot too.
gpu-load -t 600 -g 1 -q 2 --started /root/started.1 >/root/out.1 2>&1 &
first=$!
gpu-load -t 600 -g 1 -q 2 --started /root/started.2 >/root/out.2 2>&1 &
second=$!
until_true 60 test -e /root/started.1 -a -e /root/started.2
mali-bench hang=1
wait $first
is "a hang under load: the first process sees it" $? 1
wait $second
is "a hang under load: the second process sees it" $? 1
succeeds "a hang under load: new work completes" gpu-load

# Firmware that has stopped by itself, and says why in HALT_STATUS: no fast reset for the driver.
for crash in 1 2; do
	rm -f /root/started.1
	gpu-load -t 600 -g 1 -q 2 --started /root/started.1 >/root/out.1 2>&1 &
	load=$!
	until_true 60 test -e /root/started.1
	# At once: a reset follows.
	is "crash $crash: firmware has halted" "$(mali-bench crash=$crash mcu_status)" 2
	wait $load
	is "crash $crash: the process sees it" $? 1
	succeeds "crash $crash: new work completes" gpu-load
done

echo auto >"$GPU/power/control"
if until_true 20 pm_is suspended; then
	ok "the GPU suspends when it is done"
else
	not_ok "the GPU suspends when it is done" "$(pm runtime_status)"
fi
is "the GPU is where it was" "$(basename "$(readlink "$GPU/driver")")" panthor
