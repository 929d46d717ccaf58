# SPDX-License-Identifier: MIT
# What the tests share that read the table of switches, data/faults.csv. After tap.sh and exact.sh.

FAULTS=$VIRT_DIR/data/faults.csv
# What perf-exact is given unless the table has something else. Time is counted by instructions, so
# that each run is the same on any host.
FAULT_OPTIONS='-a -n 6 -p 3 -s 400 -t 4 -u 5000'

# fault_rows: lines of the table
fault_rows()
{
	grep -v '^#' "$FAULTS"
}

# run_faults MODEL FILE [RUN-OPTION...]: runs perf-exact for each line of FILE, NAME OPTION..., in one
# machine. Leaves $SCRATCH/ledger, and $SCRATCH/faults/NAME.record, .trace and .said. What the machine
# prints goes to $SCRATCH/err.
run_faults()
{
	local model=$1 file=$2 status

	shift 2
	rm -rf "$SCRATCH/ledger" "$SCRATCH/out.tar" "$SCRATCH/faults"
	"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -g "$model" -m 1536 -t 3000 -l "$SCRATCH/ledger" "$@" \
		-f "$file:/root/faults" -f "$TESTS_DIR/guest/faults.sh:/root/faults.sh" \
		-o /root/out.tar:"$SCRATCH/out.tar" -- sh /root/faults.sh /root/faults >"$SCRATCH/out" 2>"$SCRATCH/err" \
		</dev/null
	status=$?
	mkdir -p "$SCRATCH/faults"
	tar -C "$SCRATCH/faults" --strip-components=1 -xf "$SCRATCH/out.tar" || status=1
	return $status
}

# with_faults MODEL FILE [RUN-OPTION...]: the same, and 1 result for how the run ends
with_faults()
{
	if run_faults "$@"; then
		ok "$1: the run ends well and the kernel has nothing to report"
	else
		not_ok "$1: the run ends well and the kernel has nothing to report" "$(tail -n 120 "$SCRATCH/err")"
	fi
}

# compare_faults TABLE SWITCHES NAME [OPTION]...: compares what perf-exact was given in the run NAME with
# the weakest promise of these switches
compare_faults()
{
	local files=("$SCRATCH/ledger" "$SCRATCH/faults/$3.record" "$SCRATCH/faults/$3.trace")

	"$SCRATCH/exactness" -t "$1" -f "$2" "${@:4}" "${files[@]}"
}
