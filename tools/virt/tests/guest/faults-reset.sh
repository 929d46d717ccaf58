# SPDX-License-Identifier: MIT
# What a reset of the GPU has to end, and what makes panthor give the GPU up.
. /root/tap.sh

# reset NAME ARGUMENT...: of perf-reset
reset()
{
	local name=$1 out status

	shift
	out=$(perf-reset "$@" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		ok "$name: $out"
	else
		not_ok "$name" "perf-reset $*: status $status" "$out" "$(dmesg | tail -n 20)"
	fi
}

# A GPU that is given up is not one for further tests, nor is one of which 6.12 cannot map memory any more
# (data/panthor-reports.csv).
case ${1:-} in
gone)
	reset l2_stuck -g l2_stuck=100 hang=1
	exit
	;;
stuck)
	reset as_stuck as_stuck=1 -- gpu-load
	exit
	;;
esac
reset hang hang=1
has "the log says who has asked for it, and why" "$(dmesg)" \
	"Performance counters: firmware does not answer, resetting the GPU"
for crash in 1 2 3; do
	reset "crash $crash" crash=$crash
done
reset cs_unrecoverable cs_unrecoverable=1 -- gpu-load
has "the log says which stream has ended" "$(dmesg)" "CS_FATAL.EXCEPTION_TYPE: 0x41 (CS_UNRECOVERABLE)"
# 6.12 flushes caches by the GPU's command when it has groups suspended alone.
case $(uname -r) in
6.12.*) ;;
*) reset flush_stuck flush_stuck=1 -- gpu-load ;;
esac
# panthor goes on when a reset does not end, and so does the model. It warns of the next one.
reset reset_stuck reset_stuck=1 hang=1
succeeds "work after all of it" gpu-load
