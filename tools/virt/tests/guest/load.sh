# SPDX-License-Identifier: MIT
# load.sh ARCH SHADER_PRESENT INTERFACE [short]: gpu-load in its kinds, and what panthor says of the GPU.
. /root/tap.sh

log=$(dmesg)
has "panthor logs the firmware's interface version $3" "$log" \
	"panthor.*CSF FW .*v$3, Features"

info=$(gpu-load -i -m)
is "GPU_INFO's architecture" "$(value arch "$info")" "$1"
is "GPU_INFO's shader cores" "$(value shader_present "$info")" "$2"

out=$(gpu-load -m)
is "the default load's status" $? 0
is "the default load's jobs" "$(value jobs "$out")" 64
is "the default load's errors" "$(value errors "$out")" 0
for kind in compute tiling idvs fragment; do
	is "the default load's $kind jobs" "$(value jobs_$kind "$out")" 16
done
# Every job is checked in as many places, then every group and queue once.
is "the default load's checks" "$(value checks "$out")" $((64 * 34 + 2 + 4))

[ "${4:-}" != short ] || exit 0

for kind in none compute tiling idvs fragment; do
	succeeds "a load of $kind" gpu-load -k $kind -j 24 -g 3 -q 1
done

# All queues of a group, and jobs one at a time.
succeeds "eight queues in a group" gpu-load -g 1 -q 8 -j 64 --depth 1
# More groups than slots: the scheduler has to take turns.
slots=$(value csg_slots "$info")
succeeds "more groups than the GPU has slots" gpu-load -g $((slots + 3)) -q 2 -j $(((slots + 3) * 8))

# More address spaces than the GPU has: each process has a VM of its own.
pids=
for i in 1 2 3 4 5 6 7 8 9 10; do
	gpu-load -g 1 -q 2 -j 20 >/root/out.$i 2>&1 &
	pids="$pids $!"
done
bad=
for pid in $pids; do
	wait $pid || bad="$bad $pid"
done
if [ -z "$bad" ]; then
	ok "ten VMs at once"
else
	not_ok "ten VMs at once" "failed:$bad" "$(cat /root/out.*)"
fi
