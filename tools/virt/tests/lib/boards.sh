# SPDX-License-Identifier: MIT
# What the tests of boards share (run -b). After tap.sh.

. "$TESTS_DIR/lib/selftests.sh"
. "$TESTS_DIR/lib/exact.sh"
. "$TESTS_DIR/lib/ledger.sh"
. "$TESTS_DIR/lib/pmu.sh"

# board NAME KEY=VALUE...: what info and doctor say, the selftests, suspends, sums of perf events and of sessions,
# compared with the ledger. Arguments are those of guest/board.sh. Prints the plan.
board()
{
	local board=$1 load="gpu-load -j 0 -t 3600 -p 150 --duty 60 -g 3 -q 2 >/dev/null 2>&1"

	shift
	# Time is instructions: the GPU is always busy, however busy the host is.
	guest_script 12 board -i -b "$board" -- "$@"
	selftests "$board" "perf_uapi perf_session perf_sample perf_time perf_states perf_debugfs perf_pmu perf_unplug" \
		-b "$board"
	# Later kernels lose the console in a suspend of the system.
	guest_script 18 suspend -b "$board" -- runtime
	if [ "$SERIES" = 6.12 ]; then
		guest_script 14 suspend -b "$board" -- system
	else
		guest_script_by_log 14 suspend -b "$board" -- system
	fi
	build_ledger_sums
	guest_script 5 stat -b "$board" -m 1024 -t 2400 -l "$SCRATCH/ledger" -o /root/info:"$SCRATCH/info" \
		-o /root/runs:"$SCRATCH/runs" -- 3 "$SEED"
	compare_runs "$board" 5 168
	build_comparison
	count "$board" "$(model_of "$board")" "$load" "-s 1000" -b "$board"
	compare "$board"
	plan "$TAP_COUNT"
}

model_of()
{
	awk -F ';' -v name="$1" '$1 == name { print $3 }' "$VIRT_DIR/data/boards.csv"
}
