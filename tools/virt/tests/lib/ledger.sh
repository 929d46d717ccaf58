# SPDX-License-Identifier: MIT
# What the tests share that add up what the model's ledger has. After tap.sh. Needs $SCRATCH/ledger; as
# $SCRATCH/info what `panthor-perf info -j` says of the GPU; and for names, as $SCRATCH/list, what
# `panthor-perf list -x ';'` says.

# Builds what adds it up, or ends with a result that says why not.
build_ledger_sums()
{
	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/ledger-sums" "$VIRT_DIR/host/ledger-sums.c" \
		"$VIRT_DIR/host/ledger.c" 2>"$SCRATCH/err" && return
	not_ok "the sums of ledgers compile" "$(cat "$SCRATCH/err")"
	exit 1
}

# of_info KEY: a number of the GPU
of_info()
{
	grep -o "\"$1\":[0-9]*" "$SCRATCH/info" | cut -d: -f2
}

# ledger_sums FIRST LAST [TYPE.COUNTER]...: of these epochs, as ledger-sums prints them
ledger_sums()
{
	local first=$1 last=$2

	shift 2
	"$SCRATCH/ledger-sums" "$SCRATCH/ledger" "$(of_info values_per_block)" "$(of_info FW)" "$(of_info CSG)" \
		"$(of_info CSHW)" "$(of_info TILER)" "$(of_info MEMSYS)" "$(of_info shader_present)" "$first" "$last" "$@"
}

# ledger_by_name FIRST LAST: the sums of these epochs, by the names of the counters: "NAME BLOCK SUM"
ledger_by_name()
{
	ledger_sums "$1" "$2" |
		awk 'FNR == NR { split($0, f, ";"); if (f[2] != "derived") name[f[2], f[3]] = f[1]; next }
			($1, $3) in name { print name[$1, $3], $2, $4 }' "$SCRATCH/list" - | sort
}
