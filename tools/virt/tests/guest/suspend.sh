# SPDX-License-Identifier: MIT
# suspend.sh runtime|system|turn|slots|fails...: runtime suspend when idle; system suspend to idle; jobs whose turn comes
# while the system is suspended; jobs of more groups than the GPU has slots; a GPU that cannot be suspended or resumed with
# the system. Work after each.
. /root/tap.sh

# suspended_time_grew SINCE [MILLISECONDS]
suspended_time_grew()
{
	[ $(($(pm runtime_suspended_time) - $1)) -ge "${2:-100}" ]
}

stays_suspended()
{
	active=$(pm runtime_active_time)
	since=$(pm runtime_suspended_time)
	until_true 20 suspended_time_grew "$since" 1000 && [ "$(pm runtime_active_time)" = "$active" ]
}

# The scheduler may resume the GPU once more for an event that arrived while it was suspended.
stays_suspended_in_the_end()
{
	stays_suspended || stays_suspended
}

# System suspend: the GPU asleep already, on but idle, and at work. An alarm that goes off before
# the system sleeps would not wake it: the count of such events tells, and a later one is tried.
SLEEP='cd /sys/power
before=$(cat suspend_stats/success)
for seconds in 2 3 4 6 8 12 16; do
	events=$(cat wakeup_count)
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo +$seconds >/sys/class/rtc/rtc0/wakealarm
	echo "$events" >wakeup_count && echo freeze >state
	[ "$(cat suspend_stats/success)" = "$before" ] || exit 0
done
exit 1'

sleep_once()
{
	sh -c "$SLEEP"
}

success()
{
	cat /sys/power/suspend_stats/success
}

runtime()
{
	is "panthor's device is managed" "$(pm control)" auto

	for round in 1 2 3 4 5; do
		succeeds "round $round: work" gpu-load -j 16
		if until_true 20 pm_is suspended; then
			ok "round $round: the idle GPU is suspended"
		else
			not_ok "round $round: the idle GPU is suspended" "$(pm runtime_status)"
		fi
	done

	succeeds "a suspended GPU stays so" stays_suspended_in_the_end

	# Groups that live through suspends: idle for much longer than the autosuspend delay.
	echo 20 >"$GPU/power/autosuspend_delay_ms"
	since=$(pm runtime_suspended_time)
	out=$(gpu-load -m -p 500 --duty 4 -t 4)
	is "work with pauses" "$? $(value errors "$out")" "0 0"
	if suspended_time_grew "$since"; then
		ok "the GPU is suspended in the pauses, with its groups"
	else
		not_ok "the GPU is suspended in the pauses, with its groups" \
			"suspended for $(($(pm runtime_suspended_time) - since)) ms"
	fi

	# Forbidden to sleep, then allowed again.
	echo on >"$GPU/power/control"
	is "forbidden to suspend, the GPU is on" "$(pm runtime_status)" active
	succeeds "work while it may not suspend" gpu-load -j 16
	is "and still is" "$(pm runtime_status)" active
	echo auto >"$GPU/power/control"
	if until_true 20 pm_is suspended; then
		ok "allowed again, it suspends"
	else
		not_ok "allowed again, it suspends" "$(pm runtime_status)"
	fi
}

system()
{
	before=$(success)
	succeeds "suspend to idle of a suspended GPU" sleep_once
	is "it did suspend" "$(success)" $((before + 1))
	succeeds "work after it" gpu-load

	# Sessions that are counting, with deadlines before, after and meanwhile.
	until_true 20 pm_is suspended
	succeeds "periodic sessions of a suspended GPU go on after it" perf-suspend sh -c "$SLEEP"
	is "it did suspend" "$(success)" $((before + 2))

	echo on >"$GPU/power/control"
	succeeds "suspend to idle of an idle GPU that is on" sleep_once
	is "it did suspend" "$(success)" $((before + 3))
	succeeds "work after it" gpu-load
	succeeds "periodic sessions of a GPU that is on go on after it" perf-suspend sh -c "$SLEEP"
	is "it did suspend" "$(success)" $((before + 4))
	echo auto >"$GPU/power/control"

	gpu-load -m -p 20 --duty 60 -t 8 >/root/busy 2>&1 &
	busy=$!
	until_true 20 pm_is active
	succeeds "suspend to idle of a GPU at work" sleep_once
	is "it did suspend" "$(success)" $((before + 5))
	wait $busy
	is "the work goes on after it" "$? $(value errors "$(cat /root/busy)")" "0 0"
	if until_true 20 pm_is suspended; then
		ok "and the GPU suspends when it is done"
	else
		not_ok "and the GPU suspends when it is done" "$(pm runtime_status)"
	fi
}

turn()
{
	# Nobody submits a job then, but what a job waits for may be signaled.
	modprobe suspend-fence
	echo devices >/sys/power/pm_test
	# Longer than panthor lets a job run.
	echo 6 >/sys/module/suspend/parameters/pm_test_delay
	for control in auto on; do
		echo $control >"$GPU/power/control"
		out=$(suspend-fence turn "$(mali-bench stacks_real_hz)" | tr '\n' ' ')
		has "jobs whose turn comes while it is suspended go on when it is resumed ($control)" "$out" \
			"suspend=0 wait=\(was-\)\{0,1\}signaled gpu_suspended=1 done=2 "
	done
	echo none >/sys/power/pm_test
	echo auto >"$GPU/power/control"
}

slots()
{
	modprobe suspend-fence
	echo devices >/sys/power/pm_test
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	is "each group goes on after a suspend, though there are not enough slots for all" "$(suspend_at_work slots)" \
		"suspend=0 wait=not-called gpu_suspended=1 done=12 "
	echo none >/sys/power/pm_test
}

# suspend_at_work KIND: with a job on the GPU that no device waits for
suspend_at_work()
{
	suspend-fence "$1" "$(mali-bench stacks_real_hz)" 2>&1 | tr '\n' ' '
}

# Jobs from before the suspend end, though nobody submits another one.
fails()
{
	modprobe suspend-fence
	echo devices >/sys/power/pm_test
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	# On until the system is suspended.
	echo on >"$GPU/power/control"
	until_true 20 pm_is active

	# -EAGAIN
	is "a suspend of the GPU that fails is not tried again" "$(suspend_at_work refused)" \
		"suspend=-11 wait=not-called gpu_suspended=0 done=2 "
	succeeds "work after it" gpu-load

	failed=$(cat /sys/power/suspend_stats/failed_resume)
	# When a fast boot has failed, 6.12 stops firmware before it tries a slow one.
	boots=1
	case $(uname -r) in
	6.12.*) boots=2 ;;
	esac
	mali-bench boot_fail=$boots
	is "jobs go on when firmware does not boot in a resume of the system" "$(suspend_at_work alone)" \
		"suspend=0 wait=not-called gpu_suspended=1 done=2 "
	is "it did not boot" "$(mali-bench boot_fail) $(($(cat /sys/power/suspend_stats/failed_resume) - failed))" "0 1"
	succeeds "work after it" gpu-load
	echo none >/sys/power/pm_test
	echo auto >"$GPU/power/control"
}

for part; do
	$part
done
