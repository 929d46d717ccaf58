#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock debug kcsan
# daily: 6.12 stock 6.12-rt 7.3-rt 7.3-16k
# Not one count off, whatever firmware does meanwhile: half of 32 sessions are periodic, half
# manual, and firmware is disturbed at random. First by what loses nothing, when no sample may say
# that anything was lost. Then its ring looks full as well: every period that has lost a sample of
# firmware's own accord must say so, and one that has not may if the ring was found full in it. With
# lost requests and acknowledgements counters are started anew or, as with hangs, the GPU is reset: every
# sample that is not exact must be flagged, and none without a cause.
#
# Firmware of the second model does not raise an event again at a doorbell.
#
# LONG (make storm): 100,000 firmware samples or a minute of each, whichever comes first.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/exact.sh"

# name, kinds of the bench page's storm, mean us between them, comparison, what gives the GPU
# something to count
storms="
sleep,protected_mode,power,slow_answers  15  50000 --    load
and_full_rings                           31  50000 --    load
and_lost_requests_and_answers           127  50000 -l,-r activity
and_hangs                               255 300000 -l,-r activity
"
models="g610 g715"

# Firmware samples and seconds of each, at most, and which. A kernel that checks is slow: there, the
# mildest comes over the first of the models, and the wildest over the second.
samples=3000 seconds=15 turns="1 2 3 4 5 6 7 8"
[ "$CONFIG" != debug ] || samples=500 turns="1 8"
[ -z "${LONG:-}" ] || samples=100000 seconds=60 turns="1 2 3 4 5 6 7 8"

# Each of the fourth has one more.
plan $((2 * $(wc -w <<<"$turns") + $(grep -o '[48]' <<<"$turns" | wc -l)))
build_comparison
turn=0
for model in $models; do
	properties=
	[ "$model" != g715 ] || properties="-p events_once=on"
	while read -r name kinds period options source; do
		[ -n "$name" ] || continue
		turn=$((turn + 1))
		[[ " $turns " = *" $turn "* ]] || continue
		name="$model, ${name//_/ }"
		load='gpu-load -j 0 -t 3600 -p 300 --duty 50 -g 3 -q 2 >/dev/null 2>&1' args=
		[ "$source" = load ] || load='sleep 86400' args=-a
		# shellcheck disable=SC2086
		count "$name" "$model" "$load" \
			"$args -n 32 -p 16 -s $samples -t $seconds -k $kinds -u $period" $properties
		options=${options#--}
		# shellcheck disable=SC2086
		compare "$name" ${options//,/ }
		[[ $name = *hangs ]] || continue
		# shellcheck disable=SC2086
		compare_files -k "$SCRATCH/gave-up" -c after ${options//,/ } >"$SCRATCH/spoilt" 2>&1
		case "$? $(cat "$SCRATCH/spoilt")" in
		1\ *'# client '*) ok "$name: a loss after a run began is found" ;;
		2\ *'nothing to spoil'*) ok "$name: a loss after a run began # SKIP no run began while counters were off" ;;
		*) not_ok "$name: a loss after a run began is found" "$(cat "$SCRATCH/spoilt")" ;;
		esac
	done <<<"$storms"
done
