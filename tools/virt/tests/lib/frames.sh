# SPDX-License-Identifier: MIT
# What tests of clients/frames share. After tap.sh and exact.sh.

# Builds the library, in $frames, and what compares recordings: 2 results. Ends if that fails.
build_frames()
{
	if frames=$("$VIRT_DIR/../../clients/frames/build.sh" 2>"$SCRATCH/err"); then
		ok "the library builds"
	else
		not_ok "the library builds" "$(tail -n 20 "$SCRATCH/err")"
		exit 1
	fi
	build_comparison
	build_reader recording-exact
	tool_builds panthor-perf
}

# frames_script N SCRIPT NAMES RUN-OPTION...: N results and one, as guest_script; with the library, and recordings and traces
# of these names
frames_script()
{
	local results=$1 script=$2 names=$3 name outputs=()

	shift 3
	for name in $names; do
		outputs+=(-o "/root/$name.data:$SCRATCH/$name.data" -o "/root/$name.trace:$SCRATCH/$name.trace")
	done
	guest_script "$results" "$script" -r gl -m 2048 -t 1800 -l "$SCRATCH/ledger" -f "$TESTS_DIR/guest/trace.sh" \
		-f "$TESTS_DIR/guest/frames.sh" -f "$frames/libpanthor-perf-frames.so" -f "$frames/panthor-perf-frames.json" \
		"${outputs[@]}" "$@"
}

# check_frames NAME FRAMES: 3 results; samples are what the ledger has, and frames and the rest have all counts
check_frames()
{
	local form

	exact_recording "$1" "$SCRATCH/$1.data" "$SCRATCH/$1.trace"
	for form in "convert -j -o $SCRATCH/all" "report -j -o $SCRATCH/report" "report --csv -o $SCRATCH/csv"; do
		# shellcheck disable=SC2086
		"$SCRATCH/panthor-perf" $form "$SCRATCH/$1.data"
	done
	is "$1: frames and the rest have all counts" "$(python3 "$VIRT_DIR/../panthor-perf/tests/frames_check.py" \
		"$SCRATCH"/{all,report,csv} 2>&1)" "0 True $(($2 - 1))"
}
