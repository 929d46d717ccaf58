# SPDX-License-Identifier: MIT
# What the tests share that compare what sessions were given with the model's ledger. After tap.sh.

# Builds the comparison, or ends with a result that says why not.
build_comparison()
{
	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/exactness" "$VIRT_DIR/host/exactness.c" \
		"$VIRT_DIR/host/ledger.c" 2>"$SCRATCH/err" && return
	not_ok "the comparison compiles" "$(cat "$SCRATCH/err")"
	exit 1
}

# compare_files OPTION...: ledger, record and trace of the last run
compare_files()
{
	"$SCRATCH/exactness" "$@" "$SCRATCH/ledger" "$SCRATCH/record" "$SCRATCH/trace"
}

# compare NAME OPTION...: 1 result
compare()
{
	local name="$1: every sample of every session is what the ledger says"

	shift
	# Only count leaves one.
	[ ! -e "$SCRATCH/gave-up" ] || set -- -k "$SCRATCH/gave-up" "$@"
	if compare_files "$@" >"$SCRATCH/said" 2>&1; then
		ok "$name"
		cat "$SCRATCH/said"
	else
		not_ok "$name" "$(cat "$SCRATCH/said")"
	fi
}

# build_reader PROGRAM: makes $SCRATCH/host-PROGRAM, one of tools/virt/host that reads recordings; or ends with a result that
# says why not
build_reader()
{
	local tool=$VIRT_DIR/../panthor-perf

	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror "-I$tool/libpanthor-perf"{,/reading} \
		-o "$SCRATCH/host-$1" "$VIRT_DIR/host/$1.c" "$tool"/libpanthor-perf/reading/*.c \
		"$tool"/libpanthor-perf/{columns,db,error,expr,sample,select,suggest,sums,tables,text,topdown}.c -ljson-c -lz -lm \
		2>"$SCRATCH/err" && return
	not_ok "$1 compiles" "$(cat "$SCRATCH/err")"
	exit 1
}

# exact_recording NAME RECORDING TRACE: 2 results
exact_recording()
{
	if "$SCRATCH/host-recording-exact" "$2" "$SCRATCH/record" >"$SCRATCH/said" 2>&1; then
		ok "$1: the recording can be read here"
	else
		not_ok "$1: the recording can be read here" "$(cat "$SCRATCH/said")"
	fi
	mv "$3" "$SCRATCH/trace"
	compare "$1"
}

# What panthor says when it gives firmware or a job up, as it does on a host that is too busy.
GAVE_UP='ERROR|[Tt]imed ?out|(job|progress) timeout|Failed to cleanly suspend'

# count NAME MODEL LOAD PERF-EXACT-OPTIONS [RUN-OPTION...]: 1 result. LOAD runs beside it, and again if it
# ends: panthor may end its work, and a GPU without work takes no samples. The kernel tells of that; a load
# that ends and the kernel has told of nothing is a failure. $SEED is that of the run.
count()
{
	local name=$1 model=$2 load=$3 options=$4

	shift 4
	rm -f "$SCRATCH"/{ledger,record,trace,gave-up}
	in_guest 0 "$name" -g "$model" -m 2048 -t 1800 -l "$SCRATCH/ledger" "$@" \
		-o /root/record:"$SCRATCH/record" -o /root/trace:"$SCRATCH/trace" -o /root/gave-up:"$SCRATCH/gave-up" -- sh -c "
		lines=\$(dmesg | wc -l)
		while :; do $load; echo \"the load has ended with \$?\" >>/root/ended; sleep 1; done &
		perf-exact $options -r $SEED /root/record /root/trace
		status=\$?
		kill \$!
		dmesg | tail -n +\$((lines + 1)) | grep -E 'perf-exact: |$GAVE_UP' >/root/gave-up
		grep -v 'perf-exact: ' /root/gave-up | sed 's/^/kernel: /'
		if [ -s /root/ended ] && ! grep -qv 'perf-exact: ' /root/gave-up; then
			cat /root/ended
			exit 1
		fi
		exit \$status" </dev/null
}
