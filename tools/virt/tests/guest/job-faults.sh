# SPDX-License-Identifier: MIT
# Streams that go wrong: what the job, the group, the kernel's log and other groups see of it.
. /root/tap.sh

# fault KIND FENCE STATE QUEUES PATTERN...: each pattern is a line that the kernel logs.
# Of a page fault panthor hears twice, from the MMU and from firmware, in no certain order: if from
# the MMU first, it blames all queues of the group, else the one. QUEUES is then "mmu".
fault()
{
	local kind=$1 want out status queues=$4 mmu

	if [ "$queues" = mmu ]; then
		queues=0x1
		mmu='s/^fatal_queues=0x3$/fatal_queues=0x1/'
	else
		mmu=
	fi
	want="fence=$2 state=$3 fatal_queues=$queues resubmit=-22"
	shift 4
	new_dmesg >/dev/null
	out=$(gpu-fault "$kind" 2>&1)
	status=$?
	is "$kind: the program ends" "$status" 0
	is "$kind: job and group" \
		"$(echo "$out" | grep -E '^(fence|state|fatal_queues|resubmit)=' | sed "$mmu" |
			tr '\n' ' ' | sed 's/ $//')" \
		"$want"
	is "$kind: a group in another VM works on" \
		"$(value bystander "$out") $(value bystander_state "$out")" "10/10 0x0"
	is "$kind: a new group in the same VM works" "$(value after "$out")" 2
	log=$(new_dmesg)
	for pattern; do
		has "$kind: the kernel says '$pattern'" "$log" \
			"$(echo "$pattern" | sed "s/@VA@/$(value va "$out")/")"
	done
	[ $status -eq 0 ] || printf '%s\n' "$out" | sed 's/^/# /'
}

EINVAL=-22
ETIMEDOUT=-110
FATAL=0x2
TIMEDOUT=0x1

out=$(gpu-fault none)
is "none: all is well" "$(value fence "$out") $(value state "$out") $(value resubmit "$out")" "1 0x0 0"

fault read $EINVAL $FATAL mmu \
	'Unhandled Page fault in AS[1-9][0-9]* at VA @VA@' 'access type 0x2: READ'
fault write $EINVAL $FATAL mmu \
	'Unhandled Page fault in AS[1-9][0-9]* at VA @VA@' 'access type 0x3: WRITE'
fault readonly $EINVAL $FATAL mmu \
	'Unhandled Page fault in AS[1-9][0-9]* at VA @VA@' 'access type 0x3: WRITE' 'PERM'
fault stream $EINVAL $FATAL mmu 'Unhandled Page fault in AS[1-9][0-9]* at VA @VA@'
fault call $EINVAL $FATAL mmu 'Unhandled Page fault in AS[1-9][0-9]* at VA @VA@'
fault opcode $EINVAL $FATAL 0x1 'CS_FATAL.EXCEPTION_TYPE: 0x[0-9a-f]* (CS_INSTR_INVALID)'
fault loop $ETIMEDOUT $TIMEDOUT 0x0 'job timeout'

succeeds "work after all of it" gpu-load
