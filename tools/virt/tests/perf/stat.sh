#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# daily: 6.12-rt 7.3-rt 7.3-16k
# long: debug
# Events of perf beside work, the GPU suspended before and after: what they count is what the model's
# ledger has, to the digit. What a command itself had the GPU do is whole when the command has ended.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/ledger.sh"
. "$(dirname "$0")/../lib/pmu.sh"

# As many at each of three intervals, and two more.
RUNS=3
[ -z "${LONG:-}" ] || RUNS=51
WORK_RUNS=3
GUEST=5

# check_group NAME: whatever the group of the last run was read of has the ledger's sums up to that sample
check_group()
{
	local first last samples

	read -r first last < <(sed -n 's/^run //p' "$SCRATCH/runs" | tail -n 1)
	ledger_sums "$first" "$last" CSHW.4 MEMSYS.32 MEMSYS.47 >"$SCRATCH/want"
	sed -n 's/^group //p' "$SCRATCH/runs" >"$SCRATCH/got"
	samples=$(wc -l <"$SCRATCH/got")
	if [ "$samples" -gt 3 ] && ! grep -qvxFf "$SCRATCH/want" "$SCRATCH/got"; then
		ok "$1: a group that was read of $samples samples has the sums of each"
	else
		not_ok "$1: a group has the sums of one sample" "of $samples samples" \
			"wrong: $(grep -vxFf "$SCRATCH/want" "$SCRATCH/got" | head -n 5)"
	fi
}

plan $((2 * (GUEST + 1 + 4) + 2 * (6 + WORK_RUNS + 1)))
build_ledger_sums
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,runs,info}
	guest_script $GUEST stat -g "$model" -m 1024 -t 2400 -l "$SCRATCH/ledger" -o /root/info:"$SCRATCH/info" \
		-o /root/runs:"$SCRATCH/runs" -- "$RUNS" "$SEED"
	compare_runs "$model" $((RUNS + 2)) $((40 * (RUNS + 1) + 8))
	check_group "$model"
	# Firmware is so slow that who does not wait for the last sample does not get it. For how long a command waits
	# at most is told by time counted by instructions.
	guest_script $((6 + WORK_RUNS)) stat-work -i -g "$model" -p mcu_latency_ns=3000000 -- "$WORK_RUNS"
done
