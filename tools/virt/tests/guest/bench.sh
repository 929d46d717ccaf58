# SPDX-License-Identifier: MIT
# The bench page from the guest, under a driver that knows nothing of it.
. /root/tap.sh

# generated TYPE INDEX COUNTER
generated()
{
	mali-bench type=$1 index=$2 counter=$3 generated
}

is "the page is there" "$(mali-bench id version)" "0x424c414d
1"
is "a list names every register once" "$(mali-bench | cut -d= -f1 | sort | uniq -d)" ""
is "without a sample there are no cycles at the last one" \
	"$(mali-bench last_core_cycles last_coregroup_cycles last_stacks_cycles | sort -u)" 0

# Bad input changes nothing, also not what stands before it.
before=$(mali-bench rate)
mali-bench rate=1 nosuch=2 2>/root/err
is "an unknown register is refused" $? 1
has "and named" "$(cat /root/err)" "no register 'nosuch'"
mali-bench rate=1 storm_seed=12x 2>/root/err
is "no number is refused" $? 1
mali-bench rate=1 drop_acks=0x100000000 2>/root/err
is "a number of 33 bits is refused" $? 1
mali-bench rate=1 epoch=3 2>/root/err
is "a register that cannot be set is refused" $? 1
mali-bench rate=1 add 2>/root/err
is "a register without a value is refused" $? 1
is "nothing was changed by these" "$(mali-bench rate)" "$before"

# Work moves what it should.
succeeds "work" gpu-load
is "jobs of the tiler, compute and fragment iterators" \
	"$(generated cshw 0 17) $(generated cshw 0 25) $(generated cshw 0 33)" "32 16 16"
active=$(generated cshw 0 4)
for c in 5 6 16 24 32 40 45 48; do
	v=$(generated cshw 0 $c)
	[ "$v" -gt 0 ] && [ "$v" -le "$active" ] || echo "CSHW $c: $v of $active"
done >/root/out
is "busy cycles are not 0 and not above GPU_ACTIVE" "$(cat /root/out)" ""
is "the cores share the work" "$(generated shader 0 24)" "$(generated shader 18 24)"
[ "$(generated shader 0 24)" -gt 0 ] && ok "compute warps" || not_ok "compute warps" "none"
# Counters that nobody has described: source * (1 + 64 * counter + index) >> 14.
for core in 0 2 16 18; do
	for c in 8 25 30; do
		source=$(generated shader $core 53)
		v=$(generated shader $core $c)
		[ "$v" -eq $((source * (1 + 64 * c + core) >> 14)) ] || echo "SHADER $core $c: $v of $source"
	done
done >/root/out
is "what the cores count of work" "$(cat /root/out)" ""
is "a hole is no core" "$(mali-bench type=shader index=1 counter=4 exists)" 0
is "a core is" "$(mali-bench index=2 exists)" 1

# Disturbed at random, work is still right.
mali-bench storm_seed=11 storm_period=2000 storm_kinds=0x1f storm=1
for round in 1 2 3; do
	succeeds "work in a storm, round $round" gpu-load
done
[ "$(mali-bench storm_events)" -gt 0 ] && ok "there was a storm" || not_ok "there was a storm" "no events"
mali-bench storm=0
is "nothing of it lasts" "$(mali-bench storm storm_now protm sleep cores_off ack_delay ring_full)" "0
0x0
0
0
0x0
0
0"
succeeds "work after it" gpu-load

# A suspended GPU counts nothing.
until_true 20 pm_is suspended
mali-bench activity=1 rate=1000000
# The scheduler may resume the GPU once more for an event that arrived while it was suspended.
counts_nothing()
{
	before=$(generated cshw 0 7)
	usleep 20000
	[ "$(generated cshw 0 7)" = "$before" ]
}
succeeds "a suspended GPU counts no activity" until_true 20 counts_nothing
echo on >"$GPU/power/control"
until_true 20 pm_is active
before=$(generated cshw 0 7)
counts()
{
	[ "$(generated cshw 0 7)" -gt "$before" ]
}
succeeds "one that is up does" until_true 20 counts
mali-bench activity=0

# A hang lasts, whatever the storm draws while it does.
mali-bench hang=1 storm_seed=1 storm_period=1000 storm_kinds=128 storm=1
drawn()
{
	[ "$(mali-bench storm_events)" -ge 10 ]
}
until_true 20 drawn
is "a storm does not end a hang" "$(mali-bench hang)" 1
mali-bench storm=0 hang=0
succeeds "work when it is over" gpu-load

# Another interface version at the next boots of firmware.
echo auto >"$GPU/power/control"
mali-bench iface=1.2.3
new_dmesg >/dev/null
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/unbind
echo "$(basename "$GPU")" >/sys/bus/platform/drivers/panthor/bind
has "another interface version" "$(new_dmesg)" " v1\.2\.3"
is "the page shows it" "$(mali-bench iface_now)" 0x1020003
succeeds "work on it" gpu-load
