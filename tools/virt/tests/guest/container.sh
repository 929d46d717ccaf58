# SPDX-License-Identifier: MIT
# panthor-perf where /sys is empty, as in a container that has only /dev/dri: NAME.
. /root/tap.sh

name=$1
node=/dev/dri/renderD128

panthor-perf info >/root/with_sys
mount -t tmpfs none /sys

panthor-perf info >/root/out 2>&1
is "info" "$? $(sed 's/^\(Frequency *\)unknown.*/\1?/' /root/out)" \
	"0 $(sed 's/^\(Frequency *\).*/\1?/; /^Board /d; /^Names of clocks /d; /^Memory /d' /root/with_sys)"
has "info names the part that is missing" "$(cat /root/out)" "^Frequency  *unknown until the first sample, because /sys is not mounted"
is "info, as JSON" "$(panthor-perf info -j 2>&1 | grep -c -e "\"gpu\":\"$name\"" -e "\"device\":\"$node\"")" 2
has "info --debug" "$(panthor-perf info --debug 2>&1)" "^sample: "
has "list" "$(panthor-perf list 2>&1)" "MaliGPUActiveCy"
panthor-perf stat -j -o /root/out -- gpu-load >/root/load 2>&1
is "stat" "$? $(grep -c '"samples":[1-9]' /root/out)" "0 1"
panthor-perf record -o /root/recording -- gpu-load >/root/out 2>&1
is "record" "$?" 0
panthor-perf report /root/recording >/root/out 2>&1
is "report" "$? $(grep -c "$name" /root/out)" "0 1"
exec 8<>$node
panthor-perf top --once -j -p 100ms >/root/out 2>&1
is "top knows the GPU's clients by its node" "$? $(grep -c "\"pid\":$$," /root/out)" "0 1"
exec 8>&-
panthor-perf export -t /root/x.prom -p 100ms >/root/out 2>&1 &
pid=$!
until_true 60 grep -qs '^mali_samples_total.* [1-9]' /root/x.prom
kill -INT $pid
wait $pid
is "export" "$? $(grep -c "^mali_gpu_info.*name=\"$name\"" /root/x.prom)" "0 1"
panthor-perf streamline -o /root >/root/out 2>&1
is "streamline" "$?" 0

panthor-perf doctor >/root/out 2>&1
is "doctor" "$? $(grep -c '^to do' /root/out)" "0 0"
has "doctor names the part that is missing" "$(cat /root/out)" "^unknown  *module  *.*/sys is not mounted"
panthor-perf info -d card0 >/root/out 2>&1
is "a card's render node: status" "$?" 2
has "a card's render node: what to do" "$(cat /root/out)" "card0.*/sys is not mounted.*-d renderD128"

umount /sys
has "with /sys, info has a frequency again" "$(panthor-perf info)" "^Frequency  *[0-9.]* MHz"
