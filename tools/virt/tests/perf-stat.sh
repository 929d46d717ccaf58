#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug
# long: debug
# Events of perf beside work, the GPU suspended before and after: what they count is what the model's
# ledger has, to the digit. What a command itself had the GPU do is whole when the command has ended.
set -u
. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/lib/ledger.sh"

# As many at each of three intervals, and two more.
RUNS=3
[ -z "${LONG:-}" ] || RUNS=51
WORK_RUNS=3
GUEST=5

# Sums of the ledger by config: "CONFIG SUM", of single blocks and of all, and what the kernel makes of them.
by_config()
{
	awk -v cores="$(of_info SHADER)" -v slices="$(of_info MEMSYS)" '
		BEGIN {
			n = split("FW CSG CSHW TILER MEMSYS SHADER", names)
			for (i = 1; i <= n; i++)
				type[names[i]] = i
		}
		{
			event = type[$1] * 256 + $3
			sum[event] += $4
			sum[event + 65536 * ($2 + 1)] = $4
		}
		END {
			# GPU_ACTIVE, and beats of 16 bytes.
			sum[6] = sum[3 * 256 + 4] * cores
			sum[7] = sum[3 * 256 + 4] * slices
			sum[8] = sum[5 * 256 + 32] * 16
			sum[9] = sum[5 * 256 + 47] * 16
			# No sample is flagged.
			sum[11] = 0
			for (event in sum)
				printf "0x%x %d\n", event, sum[event]
		}'
}

# check NAME: every run of $SCRATCH/runs; three results
check()
{
	local name=$1 runs=0 events=0 wrong="" first last moved

	rm -f "$SCRATCH"/run.*
	awk -v scratch="$SCRATCH" '/^run / { n++ } /^(run|0x)/ { print >scratch "/run." n }' "$SCRATCH/runs"
	: >"$SCRATCH/seen"
	for run in "$SCRATCH"/run.*; do
		read -r _ first last <"$run"
		ledger_sums "$first" "$last" | by_config >"$SCRATCH/sums"
		wrong=$wrong$(awk -v run="${run##*.}" '
			FNR == NR { want[$1] = $2; next }
			/^0x/ && (!($1 in want) || want[$1] != $2) {
				printf "run %d: event %s: %s, and the ledger has %s\n", run, $1, $2, want[$1]
			}' "$SCRATCH/sums" "$run")
		runs=$((runs + 1))
		events=$((events + $(grep -c '^0x' "$run")))
		grep '^0x' "$run" >>"$SCRATCH/seen"
	done
	is "$name: runs and events" "$runs $events" "$((RUNS + 2)) $((40 * (RUNS + 1) + 8))"
	is "$name: each event of each run is what the ledger says" "$wrong" ""
	# Those that are moved by work at all.
	moved=$(awk '$2 > 0' "$SCRATCH/seen" | wc -l)
	if [ "$moved" -gt $((events / 4)) ]; then
		ok "$name: $moved events of $events have counted something"
	else
		not_ok "$name: events have counted something" "$moved of $events"
	fi
}

# check_group NAME: whatever the group of the last run was read of has the ledger's sums up to that sample
check_group()
{
	local first last samples

	read -r first last < <(sed -n 's/^run //p' "$SCRATCH/runs" | tail -n 1)
	ledger_sums "$first" "$last" CSHW.4 MEMSYS.32 MEMSYS.47 >"$SCRATCH/want"
	sed -n 's/^group //p' "$SCRATCH/runs" >"$SCRATCH/got"
	samples=$(wc -l <"$SCRATCH/got")
	if [ "$samples" -gt 3 ] && [ -z "$(grep -vxFf "$SCRATCH/want" "$SCRATCH/got")" ]; then
		ok "$1: a group that was read of $samples samples has the sums of each"
	else
		not_ok "$1: a group has the sums of one sample" "of $samples samples" \
			"wrong: $(grep -vxFf "$SCRATCH/want" "$SCRATCH/got" | head -n 5)"
	fi
}

plan $((2 * (GUEST + 1 + 4) + 2 * (2 + WORK_RUNS + 1)))
build_ledger_sums
seed=$RANDOM
echo "# seed $seed"
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,runs,info}
	guest_script $GUEST perf-stat -g "$model" -m 1024 -t 2400 -l "$SCRATCH/ledger" -o /root/info:"$SCRATCH/info" \
		-o /root/runs:"$SCRATCH/runs" -- "$RUNS" "$seed"
	check "$model"
	check_group "$model"
	# The limit on how long a command waits for its last sample is one of time: here it is counted by instructions.
	guest_script $((2 + WORK_RUNS)) perf-stat-work -i -g "$model" -- "$WORK_RUNS"
done
