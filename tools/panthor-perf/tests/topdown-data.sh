#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# data/topdown.csv: every equation resolves on every layout, no part is negative, parts make up their
# whole, whatever the counters; and what the checker must not accept.
set -u
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

# result NAME STATUS: 0 is good; says what is in $tmp/out if not
result()
{
	n=$((n + 1))
	[ "$2" -eq 0 ] || printf 'not '
	echo "ok $n - $1"
	[ "$2" -eq 0 ] || sed 's/^/# /' "$tmp/out"
}

# refused NAME SED-SCRIPT PATTERN: the checker says so of a topdown.csv that is changed
refused()
{
	sed "$2" "$data/topdown.csv" >"$tmp/topdown.csv"
	if cmp -s "$tmp/topdown.csv" "$data/topdown.csv"; then
		echo "the change changes nothing" >"$tmp/out"
		result "$1" 1
		return
	fi
	if "$here/topdown_check.py" -n 200 "$tmp/topdown.csv" >"$tmp/out" 2>&1; then
		result "$1" 1
	else
		grep -q "$3" "$tmp/out"
		result "$1" $?
	fi
}

echo "1..6"
"$here/topdown_check.py" -n 300 >"$tmp/out" 2>&1
result "the tree holds on every layout" $?
refused "a counter that is not there" 's/MaliTilerActiveCy/MaliNoSuchCy/' "no MaliNoSuchCy"
refused "a part that is negative" 's/^all,1,td_idle,\(.*\),td_total - MaliGPUActiveCy,/all,1,td_idle,\1,td_total - 2 * MaliGPUActiveCy,/' "td_idle is -"
refused "parts that are not the whole" 's/^all,1,td_tiler,\(.*\),td_h_tiler \* td_h_keep,/all,1,td_tiler,\1,td_h_tiler,/' "parts of td_total are off"
refused "the wrong part for a workload" 's/td_h_w_alu,,\(.*\),td_h_alu \* td_h_alu/td_h_w_alu,,\1,0 * td_h_alu * td_h_alu/' "arithmetic: "
refused "a name that comes twice" 's/td_h_comp,,/td_h_queued,,/' "is there twice"
