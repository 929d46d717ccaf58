# SPDX-License-Identifier: MIT
# suspend-fence.sh fixed|fault...: suspends in which another device waits for a job, and others; all
# of them end when the devices are suspended, and resume these at once.
. /root/tap.sh

echo devices >/sys/power/pm_test
echo 0 >/sys/module/suspend/parameters/pm_test_delay
modprobe suspend-fence
# The length of a job is a number of cycles.
for governor in /sys/class/devfreq/*/governor; do
	echo performance >"$governor"
done
hz=$(mali-bench stacks_hz)

# in_one_line COMMAND...: what it prints, and its status if that is not 0
in_one_line()
{
	"$@" >/root/out 2>&1 || echo "status=$?" >>/root/out
	tr '\n' ' ' </root/out | sed 's/ $//'
}

fixed()
{
	is "a device that is suspended after the GPU waits for the second of two jobs" \
		"$(in_one_line suspend-fence late "$hz")" \
		"suspend=0 wait=was-signaled gpu_suspended=1 pending=0 done=2"
	is "a device that is suspended before the GPU waits for the second of two jobs" \
		"$(in_one_line suspend-fence early "$hz")" \
		"suspend=0 wait=was-signaled gpu_suspended=0 pending=0 done=2"
	is "the first of two jobs is on the GPU before the suspend begins" \
		"$(in_one_line suspend-fence running "$hz")" \
		"suspend=0 wait=was-signaled gpu_suspended=1 pending=0 done=2"
	is "a job that waits for a VM_BIND job that waits for a job" \
		"$(in_one_line suspend-fence bind "$hz")" \
		"suspend=0 wait=was-signaled gpu_suspended=1 pending=0 done=2"
	is "a job that waits for what comes after the suspend does not hold it up" \
		"$(in_one_line suspend-fence never "$hz")" \
		"suspend=0 wait=unarmed pending=1 done=1"
	is "more work than may be waited for is lost by no means, and the next suspend is as good as any" \
		"$(in_one_line suspend-fence busy "$hz")" \
		"suspend=-16 wait=unarmed pending=1 done=20 again=0"

	# Nothing to wait for: the GPU is left alone.
	until_true 20 pm_is suspended
	active=$(pm runtime_active_time)
	echo freeze >/sys/power/state
	is "a suspended GPU is not woken for it" "$? $(pm runtime_active_time)" "0 $active"

	# More groups than there are slots, queues that wait for others, and a suspend after the other.
	gpu-load -m -g 12 -q 2 -j 1200 -s 100 --depth 2 --started /root/started >/root/busy 2>&1 &
	busy=$!
	until_true 60 test -e /root/started
	rounds=0
	failed=0
	while kill -0 $busy 2>/dev/null; do
		echo freeze >/sys/power/state || failed=$((failed + 1))
		rounds=$((rounds + 1))
	done
	wait $busy
	status=$?
	is "suspends under load lose nothing" "$status $(value errors "$(cat /root/busy)")" "0 0"
	[ $status -eq 0 ] || sed 's/^/# /' /root/busy
	is "all of them succeed" $failed 0
	if [ $rounds -ge 5 ]; then
		ok "there are several of them"
	else
		not_ok "there are several of them" "$rounds"
	fi
	if until_true 20 pm_is suspended; then
		ok "the GPU suspends when it is done"
	else
		not_ok "the GPU suspends when it is done" "$(pm runtime_status)"
	fi
}

# What the driver as it is does. Were it a display, that would be for ever.
fault()
{
	for try in 1 2 3 4 5; do
		out=$(in_one_line suspend-fence running "$hz" 3000)
		# The jobs were done before the GPU was suspended: this says nothing.
		case $out in
		*was-signaled*) ;;
		*) break ;;
		esac
	done
	has "without our patches it waits for as long as it likes" "$out" \
		"suspend=0 wait=gave-up gpu_suspended=1 "
}

for part; do
	$part
done
