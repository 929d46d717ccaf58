#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# What icount.sh makes of figures: each is compared, on a kernel or by a compiler without figures of its own
# with the nearest, and a tenth is what it may be off.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/figures.sh"

cat >"$SCRATCH/kept" <<'END'
# RELEASE COMPILER GPU NAME INSTRUCTIONS
7.3.5 gcc-14.2.0 g610 start 5000
7.3.5 gcc-14.2.0 g610 stop 6000
7.3.4 gcc-12.2.0 g610 start 1000
7.3.4 gcc-12.2.0 g610 stop 2000
7.3.4 gcc-12.2.0 g715 start 1500
7.3.11 gcc-12.2.0 g610 start 3000
7.3.11 gcc-12.2.0 g610 stop 4000
7.30.6 gcc-12.2.0 g610 start 9000
6.12.117 gcc-12.2.0 g610 start 7000
END

# nearest RELEASE COMPILER WANT
nearest()
{
	is "Linux $1 by $2" "$(nearest_figures "$1" "$2" "$SCRATCH/kept")" "$3"
}

# compared NAME RELEASE START STOP WANT...: the lines that come of it, without what a failure says
compared()
{
	local name=$1 release=$2

	printf '%s\n' "$release gcc-12.2.0 g610 start $3" "$release gcc-12.2.0 g610 stop $4" |
		grep -v ' $' >"$SCRATCH/measured"
	shift 4
	is "$name" "$(TAP_COUNT=0; compare_figures g610 "$SCRATCH/measured" "$SCRATCH/kept" |
		grep -E '^(not )?ok|compared' | sed 's/ - .*//')" "$(printf '%s\n' "$@")"
}

plan 17
nearest 7.3.4 gcc-12.2.0 "7.3.4 gcc-12.2.0"
nearest 7.3.5 gcc-12.2.0 "7.3.4 gcc-12.2.0"
nearest 7.3.10-rc1 gcc-12.2.0 "7.3.11 gcc-12.2.0"
nearest 7.3.11 gcc-14.2.0 "7.3.5 gcc-14.2.0"
nearest 7.3.9 clang-19.1.7 "7.3.11 gcc-12.2.0"
nearest 6.12.90 gcc-12.2.0 "6.12.117 gcc-12.2.0"
nearest 7.4.4 gcc-12.2.0 ""

compared "the same" 7.3.4 1000 2000 "ok 1" "ok 2" "ok 3"
compared "a tenth more" 7.3.4 1100 2200 "ok 1" "ok 2" "ok 3"
compared "more than a tenth more" 7.3.4 1101 2000 "not ok 1" "ok 2" "ok 3"
compared "more than a tenth less" 7.3.4 1000 1799 "ok 1" "not ok 2" "ok 3"
other="# g610: Linux 7.3.5 by gcc-12.2.0 is compared with Linux 7.3.4 by gcc-12.2.0, the nearest that is kept"
compared "another kernel, 9 % more" 7.3.5 1090 2180 "$other" "ok 1" "ok 2" "ok 3"
compared "another kernel, 11 % more" 7.3.5 1110 2000 "$other" "not ok 1" "ok 2" "ok 3"
compared "another kernel, 11 % less" 7.3.5 1000 1780 "$other" "ok 1" "not ok 2" "ok 3"
compared "another series" 7.4.4 1000 2000 "not ok 1"
compared "what is not measured" 7.3.4 1000 "" "ok 1" "not ok 2"
compared "what is not kept" 6.12.117 7000 8000 "ok 1" "not ok 2" "ok 3"
