#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Recordings without --jobs are, to the byte, what they were before there were jobs: records of all other kinds, in one
# chunk and in several. The sums are those of recording-make before the commit "tools: record: Record the jobs of the
# GPU's scheduler".
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

plan 4
tool_builds recording-make

# sum SAMPLES COUNTERS
sum()
{
	STATES=1 MARKS='1000 a' FRAMES=$'1000 7 x\n20000 7 x 2' USES='100 300 5' \
		"$SCRATCH/recording-make" "$SCRATCH/made" "$@" sh -c true &&
		sha256sum <"$SCRATCH/made" | cut -d' ' -f1
}

is "300 samples of the counters of a report" "$(sum 300 default)" \
	f4bf793a0630c86f8bf0232708983311c3fafec41fac690ff2b197e4cecadc58
is "50 samples of all counters" "$(sum 50 all)" \
	11bd0e5277cdd901b3410045ceba6341bdede626aac998735aa1d034ac8fcff2
is "5,000 samples of the load" "$(sum 5000 load)" \
	957ffdad37a33a14dfc76ab6a5489011d71dd39adaf3dc06c0a5a8d3877a9966
