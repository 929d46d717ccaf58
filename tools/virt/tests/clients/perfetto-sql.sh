#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Traces as Perfetto's own engine reads them (trace_processor_shell, built of PERFETTO_SRC: that takes twenty
# minutes of a processor): what convert and record --perfetto write, and a trace of traced with the scheduler, fences
# and counters. Each value of each track comes in at its time, counts are the ledger's or the CSV's, nothing is
# found wrong, and a job has been counted when its fence signals, not before it was begun.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/perfetto.sh"
. "$(dirname "$0")/../lib/ledger.sh"

GUEST=6
IMPORTED=6
JOBS=12

need_perfetto

# sql TRACE QUERY: rows of its one column
sql()
{
	echo "$2;" >"$SCRATCH/query"
	"$processor/trace_processor_shell" -q "$SCRATCH/query" "$1" 2>"$SCRATCH/sql.err" | sed '1d; s/^"//; s/"$//; /^$/d'
	[ "${PIPESTATUS[0]}" -eq 0 ] || cat "$SCRATCH/sql.err"
}

# values TEXT: "NAME<TAB>TIME<TAB>VALUE" of all that is told in a trace, in the time of its engine, BOOTTIME, by what
# was said of the clocks before: the last time they were compared before it, or the first
values()
{
	awk '/^packet/ { time = clock = n = 0; delete compared; delete changed }
		/{$/ { inside = $1 }
		$1 == "clock_id:" { clock = $2 }
		inside == "clocks" && $1 == "timestamp:" { compared[clock] = $2 }
		$1 == "counter_id:" { id = $2 }
		inside == "specs" && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); name[id] = $0 }
		inside == "counters" && $1 == "double_value:" { ids[++n] = id; changed[n] = $2 }
		/^  timestamp:/ { time = $2 }
		/^  timestamp_clock_id:/ { of = $2 }
		# Of a live trace, traced compares clocks as well: those of our sequence of packets are ours alone.
		/^}/ && 64 in compared && !live { snapshots = 0; live = 1 }
		/^}/ && (live ? 64 : 5) in compared {
			snapshots++
			from[snapshots] = compared[live ? 64 : 5]
			to[snapshots] = compared[6]
		}
		/^}/ && n {
			for (s = snapshots; s > 1 && from[s] > time; s--)
				;
			for (i = 1; i <= n; i++)
				printf "%s\t%.0f\t%.12g\n", name[ids[i]], time - from[s] + to[s], changed[i]
		}' "$1" | sort
}

# groups TEXT: "NAME<TAB>GROUP" of each track, by block
groups()
{
	awk '/^packet/ { delete label }
		/{$/ { inside = $1 }
		$1 == "counter_id:" { id = $2 }
		inside == "specs" && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); name[id] = $0 }
		inside == "counter_groups" && $1 == "name:" { sub(/^ *name: "/, ""); sub(/"$/, ""); group = $0 }
		inside == "counter_groups" && $1 == "counter_ids:" { ids[++n] = $2; of[n] = group }
		END { for (i = 1; i <= n; i++) printf "%s\t%s\n", name[ids[i]], of[i] }' "$1" | sort -u
}

# same NAME GOT WANT: equal files with so many lines at least
same()
{
	if [ "$(wc -l <"$3")" -ge "$4" ] && cmp -s "$2" "$3"; then
		ok "$1 ($(wc -l <"$3"))"
	else
		not_ok "$1" "$(wc -l "$2" "$3")" "$(diff "$2" "$3" | head -n 20)"
	fi
}

# imported NAME TRACE MODEL: 6 results. Leaves what protoc reads in $SCRATCH/text.
imported()
{
	# The engine is built without zstd.
	local name=$1 trace=$SCRATCH/expanded model=$3

	decode_trace "$2" "$SCRATCH/text"
	values "$SCRATCH/text" >"$SCRATCH/want"
	sql "$trace" "select t.name || char(9) || c.ts || char(9) || printf('%!.18g', c.value) as line
		from counter c join gpu_counter_track t on c.track_id = t.id" | awk -F'\t' '
		{ printf "%s\t%s\t%.12g\n", $1, $2, $3 }' | sort >"$SCRATCH/got"
	same "$name: each value of each track is there, at its time" "$SCRATCH/got" "$SCRATCH/want" 300
	# The kernel's own events, and those of traced, are not ours to judge.
	is "$name: nothing of it is found wrong" "$(sql "$trace" "select name || ' ' || value from stats
		where severity in ('error', 'data_loss') and value > 0 and name not glob 'ftrace*' and name not glob 'traced*'")" ""
	groups "$SCRATCH/text" >"$SCRATCH/want"
	sql "$trace" "select t.name || char(9) || g.name from gpu_counter_group g join gpu_counter_track t
		on g.track_id = t.id where g.name is not null" | sort -u >"$SCRATCH/got"
	same "$name: each track is in the group of its block" "$SCRATCH/got" "$SCRATCH/want" 300
	is "$name: units" "$(sql "$trace" "select name || ': ' || unit from gpu_counter_track where name in ('GPU load',
		'Frequency: toplevel clock', 'Output external read bytes') order by name")" "Frequency: toplevel clock: Hz
GPU load: %
Output external read bytes: B/s"
	is "$name: what a counter is" "$(sql "$trace" "select distinct description from gpu_counter_track
		where description glob 'MaliFragQueueJob of *'")" "MaliFragQueueJob of CSHW.0"
	is "$name: the GPU" "$(sql "$trace" "select distinct g.vendor || ' ' || g.name from gpu_counter_track t
		join gpu g on t.ugpu = g.ugpu")" "Arm Mali-${model^^}"
}

# by_ledger NAME EPOCHS: 1 result. What protoc has read is what the ledger has of these epochs.
by_ledger()
{
	live_sums "$SCRATCH/text" "$SCRATCH/got"
	# shellcheck disable=SC2046
	ledger_sums $(cat "$2") | awk 'FNR == NR { split($0, p, ";"); known[p[2], p[3]] = 1; next }
		($1, $3) in known && $4 { print $1 "." $3, $2, $4 }' "$SCRATCH/list" - | sort >"$SCRATCH/want"
	same "$1: each count of each block is the ledger's" "$SCRATCH/got" "$SCRATCH/want" 300
}

# Jobs, from when their fences were made to when they signaled, and what was counted until when: the rate of a period
# holds until there is another.
FENCES="job as (select min(case when name = 'dma_fence_init' then ts end) as begun,
		max(case when name = 'dma_fence_signaled' then ts end) as done from (select ts, name,
			extract_arg(arg_set_id, 'context') as context, extract_arg(arg_set_id, 'seqno') as seqno
			from ftrace_event where name in ('dma_fence_init', 'dma_fence_signaled') and
			extract_arg(arg_set_id, 'driver') = 'panthor') group by context, seqno having begun and done),
	period as (select ts, until, cast(round(value * (until - ts) / 1e9) as int) as jobs from (select c.ts as ts,
			lead(c.ts) over (order by c.ts) as until, c.value as value from counter c join gpu_counter_track t
			on c.track_id = t.id where t.description = 'MaliFragQueueJob of CSHW.0') where until is not null),
	until as (select until as ts, sum(jobs) over (order by ts) as counted from period)"

# fences TRACE: 5 results
fences()
{
	is "as many fences signal as there are jobs" "$(sql "$1" "with $FENCES select count(*) from job")" "$JOBS"
	is "as many are counted" "$(sql "$1" "with $FENCES select sum(jobs) from period")" "$JOBS"
	is "none is counted before it was begun, nor after its fence" "$(sql "$1" "with $FENCES
		select until.ts || ': counted ' || counted || ', begun ' || (select count(*) from job where begun <= until.ts) ||
		', done ' || (select count(*) from job where done <= until.ts) as line from until
		where counted > (select count(*) from job where begun <= until.ts) or
		counted < (select count(*) from job where done <= until.ts)")" ""
	# On a busy machine a job may take longer than a period.
	within=$(sql "$1" "with $FENCES select count(*) from job join period on begun >= period.ts and done < period.until")
	if [ "${within:-0}" -gt 0 ]; then
		is "each that begins and ends in one period is counted there" "$(sql "$1" "with $FENCES
			select count(*) from job join period on begun >= period.ts and done < period.until and jobs >= (select count(*)
			from job as other where other.begun >= period.ts and other.done < period.until)")" "$within"
	else
		not_ok "each that begins and ends in one period is counted there" "there is none of $JOBS" \
			"$(sql "$1" "with $FENCES select begun || ' ' || done from job order by begun")" \
			"$(sql "$1" "with $FENCES select ts || ' ' || until || ' ' || jobs from period where jobs")"
	fi
	is "the scheduler is in the trace" "$(sql "$1" "select count(*) > 100 from sched")" 1
}

plan $((2 * (GUEST + 1 + 3 * IMPORTED + 3 + 5) + 2))
build_source
if processor=$("$VIRT_DIR/../../clients/perfetto/build.sh" trace_processor 2>"$SCRATCH/err"); then
	ok "Perfetto's engine builds"
else
	not_ok "Perfetto's engine builds" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
build_decoder
live_config system 'counter_period_ns: 20000000 counter_names: "*"' 'data_sources { config { name: "linux.ftrace"
	ftrace_config { ftrace_events: "dma_fence/*" ftrace_events: "sched/sched_switch" } } }'
for model in g610 g715; do
	rm -f "$SCRATCH"/{ledger,rec.*,direct.*,info,list,places}
	guest_script $GUEST perfetto-sql -g "$model" -m 1024 -t 2400 -r none:forky -a perfetto -l "$SCRATCH/ledger" \
		-f "$TESTS_DIR/guest/traced.sh" -f "$SOURCE:/root/panthor-perf-perfetto" -f "$SCRATCH/system.cfg" \
		-o /root/rec.csv:"$SCRATCH/rec.csv" -o /root/rec.trace:"$SCRATCH/rec.trace" \
		-o /root/direct.trace:"$SCRATCH/direct.trace" -o /root/direct.epochs:"$SCRATCH/direct.epochs" \
		-o /root/trace.system:"$SCRATCH/system.trace" -o /root/system.epochs:"$SCRATCH/system.epochs" \
		-o /root/info:"$SCRATCH/info" -o /root/list:"$SCRATCH/list" -o /root/places:"$SCRATCH/places" -- "$JOBS"
	imported "$model, convert" "$SCRATCH/rec.trace" "$model"
	csv_sums "$SCRATCH/rec.csv" "$SCRATCH/want"
	trace_sums "$SCRATCH/text" "$SCRATCH/rec.csv" "$SCRATCH/got"
	same "$model, convert: and is that of the CSV" "$SCRATCH/got" "$SCRATCH/want" 300
	imported "$model, record" "$SCRATCH/direct.trace" "$model"
	by_ledger "$model, record" "$SCRATCH/direct.epochs"
	imported "$model, live" "$SCRATCH/system.trace" "$model"
	by_ledger "$model, live" "$SCRATCH/system.epochs"
	fences "$SCRATCH/system.trace"
done
