# SPDX-License-Identifier: MIT
# suspend-fence.sh: a suspend in which another device waits for a job. It ends when the devices are
# suspended, and resumes these at once.
. /root/tap.sh

echo devices >/sys/power/pm_test
echo 0 >/sys/module/suspend/parameters/pm_test_delay
modprobe suspend-fence
# The length of a job is a number of cycles.
for governor in /sys/class/devfreq/*/governor; do
	echo performance >"$governor"
done
hz=$(mali-bench stacks_real_hz)

for try in 1 2 3 4 5; do
	out=$(suspend-fence running "$hz" 3000 | tr '\n' ' ')
	# The jobs were done before the GPU was suspended: this says nothing.
	case $out in
	*was-signaled*) ;;
	*) break ;;
	esac
done
# Were it a display, that would be for ever.
has "a device that waits for a job waits for as long as it likes" "$out" "suspend=0 wait=gave-up gpu_suspended=1 "
