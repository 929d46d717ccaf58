# SPDX-License-Identifier: MIT
# What a sample costs that panthor-perf record takes and writes, in instructions of the whole machine:
# the difference of a recording with many samples and one with few, over the same time, of a GPU that is
# up and counts in every block. For a machine that counts time by instructions; prints a line as
# perf-icount does.
GPU=$(ls -d /sys/bus/platform/drivers/panthor/*/of_node | sed 's|/of_node||')
cd /root || exit

# recording PERIOD: its instructions and samples
recording()
{
	local before

	before=$(mali-bench instructions)
	panthor-perf record -a -p "$1" -o cost -- sleep 1 2>cost.err || { cat cost.err >&2; exit 1; }
	echo $(($(mali-bench instructions) - before)) "$(sed -n 's/.*: \([0-9]*\) samples, 0 flagged, [0-9]* stretched, 0 lost.*/\1/p' cost.err)"
}

echo on >"$(readlink -f "$GPU")/power/control"
mali-bench activity=1 rate=100000 cores_hold=1 >/dev/null
# The first run reads the program and its tables.
recording 100ms >/dev/null
few=$(recording 100ms)
many=$(recording 1ms)
set -- $few $many
[ $# -eq 4 ] && [ $(($4 - $2)) -gt 500 ] || { echo "record-cost: few: $few, many: $many" >&2; exit 1; }
printf '%-22s %9d %9s   a sample of all counters, taken each millisecond and written to a file\n' \
	record-sample $((($3 - $1) / ($4 - $2))) -
