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

# with_faults MODEL FILE [RUN-OPTION...]: 1 result. Runs perf-exact for each line of FILE, NAME
# OPTION..., in one machine. Leaves $SCRATCH/ledger, and $SCRATCH/out/NAME.record, .trace and .said.
with_faults()
{
	local model=$1 file=$2

	shift 2
	rm -rf "$SCRATCH/ledger" "$SCRATCH/out.tar" "$SCRATCH/faults"
	in_guest 0 "$model" -i -g "$model" -m 1536 -t 3000 -l "$SCRATCH/ledger" "$@" -f "$file:/root/faults" \
		-f "$TESTS_DIR/guest/faults.sh:/root/faults.sh" -o /root/out.tar:"$SCRATCH/out.tar" \
		-- sh /root/faults.sh /root/faults </dev/null
	mkdir -p "$SCRATCH/faults"
	tar -C "$SCRATCH/faults" --strip-components=1 -xf "$SCRATCH/out.tar"
}

# compare_faults TABLE SWITCHES NAME: compares what perf-exact was given in the run NAME with the
# weakest promise of these switches
compare_faults()
{
	"$SCRATCH/exactness" -t "$1" -f "$2" "$SCRATCH/ledger" "$SCRATCH/faults/$3.record" "$SCRATCH/faults/$3.trace"
}
