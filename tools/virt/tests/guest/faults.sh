#!/bin/sh
# SPDX-License-Identifier: MIT
# In the guest, for tests/driver/faults.sh and tests/driver/storm-faults.sh: perf-exact once for each line of
# "NAME OPTION..." of the file $1. What it has to say goes to out/NAME.said, its files beside that.
# Without -a in the options, there is work for the GPU that comes and goes.
mkdir -p out
while read -r name options; do
	load=
	case " $options " in
	*' -a '*) ;;
	*)
		gpu-load -j 0 -t 3600 -p 400 --duty 30 -g 1 -q 1 >/dev/null 2>&1 &
		load=$!
		;;
	esac
	# shellcheck disable=SC2086
	perf-exact $options "out/$name.record" "out/$name.trace" >"out/$name.said" 2>&1 </dev/null
	echo "status $?" >>"out/$name.said"
	[ -z "$load" ] || kill "$load"
done <"$1"
mali-bench ledger_flush=1
dmesg | grep -E 'ERROR|timed ?out' | tail -n 40 >out/kernel
tar cf out.tar out
