# SPDX-License-Identifier: MIT
# What the tests share that compare counts of perf with the model's ledger. After tap.sh and ledger.sh.
# $SCRATCH/runs has them as pmu-stat prints them: of each run "run EPOCH EPOCH", then "CONFIG COUNT" lines.

# Sums of the ledger by config: "CONFIG SUM", of single blocks and of all, and what the kernel makes of them.
by_config()
{
	awk '
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
			# Beats of 16 bytes.
			sum[8] = sum[5 * 256 + 32] * 16
			sum[9] = sum[5 * 256 + 47] * 16
			# No sample is flagged.
			sum[11] = 0
			for (event in sum)
				printf "0x%x %d\n", event, sum[event]
		}'
}

# compare_runs NAME RUNS EVENTS: the runs of $SCRATCH/runs, that many with so many events in all; three results
compare_runs()
{
	local name=$1 want=$2 all=$3 runs=0 events=0 wrong="" first last moved

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
	is "$name: runs and events" "$runs $events" "$want $all"
	is "$name: each event of each run is what the ledger says" "$wrong" ""
	# Those that are moved by work at all.
	moved=$(awk '$2 > 0' "$SCRATCH/seen" | wc -l)
	if [ "$moved" -gt $((events / 4)) ]; then
		ok "$name: $moved events of $events have counted something"
	else
		not_ok "$name: events have counted something" "$moved of $events"
	fi
}
