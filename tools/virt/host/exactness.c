// SPDX-License-Identifier: MIT
/*
 * exactness   compares what sessions were given with what the GPU has counted
 *
 *   exactness [-r] [-l] [-k LOG] [-c KIND] [-t TABLE -f SWITCH,...] LEDGER RECORD TRACE
 *   exactness -d LEDGER RECORD TRACE
 *
 * RECORD and TRACE are perf-exact's, LEDGER is the model's. The kernel's
 * tracepoints (TRACE) tell after which firmware sample each session began to
 * count, and after which one each of its samples was delivered. So each sample
 * that a session was given must hold exactly what the firmware samples in
 * between hold of the counters that it asked for: this is compared sample by
 * sample, by a hash, and run by run, counter by counter.
 *
 * A sample flagged OVERFLOW or ERROR may be wrong, and no other; each that may be
 * must be flagged, and none without a cause. The ledger shows the causes:
 *
 * - counters were turned off or reset with counts in them that no record has (the
 *   last record of an enable epoch is then none that firmware took before it
 *   stopped). Each session that was counting across such a gap must have flagged
 *   it. Each must have been worth it: a request was without an answer for
 *   TIMEOUT_US, and the ledger has no sample that answered it; or the ring was full;
 *   or the kernel says in LOG, at that time, that panthor has given firmware or a job
 *   up, as on a host that is too busy; or it is one of the resets that -r says there
 *   are, on purpose. With -l requests and answers get lost on purpose, and so samples
 *   that are flagged need not be exact;
 * - a sample of firmware's own accord found no room, and cores lost their power or
 *   counting stopped after it. The period which that is in must be flagged, of each
 *   session that was counting. All that is known of what such a sample would have
 *   held is that no other one has it;
 * - any sample found no room. The period which that is in may be flagged OVERFLOW,
 *   though a sample that was requested is tried again and nothing is lost. So may
 *   the periods from there to the answer of the next request: until then firmware
 *   could not have said so again. So may those before it, if the kernel has found
 *   it out before it had read the samples that came first;
 * - counters saturated.
 *
 * -t and -f say which switches of the bench page there were, and where the driver's promises are: what
 * is looked for is the weakest promise of any of them. With "flagged", a sample that is not exact may
 * be flagged in the one after it instead, and flags need no cause while the storm lasts; before it, and
 * from a lap of the ring after it, they do. With "assumption" or "reset" there is nothing to compare
 * with, but flags are.
 *
 * -c KIND makes one thing wrong first, to show that it is found: sum, hash, flag,
 * epoch, first, loss, after, silence, log, stale, sample, interval, baseline, ledger or mask;
 * with -f also calm, a flag after the storm.
 *
 * -d compares nothing, and says what each sample must hold of all counters that are not 0, summed
 * over the blocks of a type: lines of run, sample, type, counter and sum. Of RECORD, it takes the
 * GPU alone.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "exactness.h"

#define MAX_COMPLAINTS	20
#define RESERVED	4
#define MAX_VALUES	128
#define FLAG_OVERFLOW	1u
#define FLAG_ERROR	2u
#define FLAG_LOST	(FLAG_OVERFLOW | FLAG_ERROR)
/* The driver's, but for what the clock of the trace rounds off. */
#define TIMEOUT_US	499990
#define ENABLE_US	99990
/* How often the driver looks for an answer that no interrupt has told of. */
#define CHECK_US	100000
/* What the kernel's log and its trace may differ by of the time. */
#define LOG_US		20000
/* How long after that the MCU may be stopped. */
#define RESET_US	1000000
/* A tick of the GPU timestamp, the model's if nothing else is asked of it, and what a trace rounds off. */
#define TICK_NS		16
#define TRACE_NS	1000
/* A GPU timestamp that no trace comes to. */
#define NEVER		(1ull << 58)
/* Samples that firmware takes before it stops to count. */
#define REASON_LAST(r)	((r) >= 1 && (r) <= 4)
/* Those after which counts go, of all blocks or of cores: 0 is before a loss of power. */
#define REASON_VANISH(r) ((r) == 0 || ((r) >= 2 && (r) <= 4))

static const char *const type_names[EXACT_TYPES] = {
	"metadata", "fw", "csg", "cshw", "tiler", "memsys", "shader"
};

/**
 * struct delivery - a delivery, as the kernel tells it
 * @position: number of records of the ledger up to it
 * @asked: number of them when, of the requests made before the period began, the
 *	last but two was: the last may be the one that will prove that firmware knows
 *	that OVERFLOW was acknowledged, and the one before it have been made while
 *	samples were drained that are later than what was lost
 * @user_data: the sample's
 * @ns: its end
 * @told: when the kernel last found that counts may have been lost, before it
 * @flags: its flags
 */
struct delivery {
	size_t position, asked;
	uint64_t user_data, ns, told;
	uint32_t flags;
};

/**
 * struct session_trace - what the kernel tells of one session
 * @num: number of deliveries
 * @max: how many there is room for
 * @asked: that of the next one
 * @deliveries: these
 */
struct session_trace {
	size_t num, max, asked;
	struct delivery *deliveries;
};

/**
 * struct gap - what has been between two records of the ledger
 * @silent_from: when the first request was made which, the kernel says, had no answer for long, so
 *	that counters may begin anew; 0: there was none
 * @excused: there was, and the ledger has no answer either; or the kernel's log says why
 * @down: the MCU was stopped
 * @failed: counters should have been enabled and were not: what the GPU did then is in no record
 * @full: a sample found no room
 * @vanished: the GPU timestamp of the last of these that was of firmware's own accord, so that counts
 *	have gone with it; 0: there was none
 * @epoch: the epoch of that one
 * @full_since: the GPU timestamp of the first of these
 * @flagged: the last run that has a flagged sample of the records around it
 */
struct gap {
	uint64_t silent_from;
	bool excused, down, failed, full;
	uint64_t vanished;
	uint32_t epoch;
	uint64_t full_since;
	uint64_t flagged;
};

/**
 * struct baseline - the beginning of a run, as the kernel tells it
 * @position: number of records of the ledger up to it
 * @sampled: it is the last of these
 * @user_data: START's
 * @ns: when it was
 * @session: the kernel's number of the session
 * @first: the session's first delivery that is the run's
 */
struct baseline {
	size_t position;
	bool sampled;
	uint64_t user_data, ns;
	unsigned int session;
	size_t first;
};

static struct exact_head head;
static struct ledger_layout layout;
static struct ledger_record *records;
static bool *answers;		/* each record is of a request that was acknowledged */
static size_t num_records, seen;
static struct baseline *baselines;
static size_t num_baselines;
static struct session_trace *sessions;
static size_t num_sessions;
static uint32_t blocks, values, total;	/* of a user sample */
static uint64_t *prefix;	/* sums of the ledger's records before each */
static uint64_t *factors;
static struct gap *gaps;	/* before each record, and after the last */
static bool *saturated;		/* each record has such a value */
static uint64_t complaints;
static size_t calm_at;		/* the first record that has nothing to do with the storm before it */
static bool lossy, was_reset;
static bool insert_late;		/* a sample may be in the ring before INSERT tells of it */

/* What the driver promises under a switch; the weakest is the last. */
enum promise { EXACT, FLAGGED, RESET, ASSUMPTION };
static enum promise promise;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("exactness: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static void __attribute__((format(printf, 1, 2))) wrong(const char *fmt, ...)
{
	va_list args;

	if (complaints++ >= MAX_COMPLAINTS)
		return;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

static void *grown(void *array, size_t num, size_t *max, size_t size)
{
	if (num < *max)
		return array;
	*max = *max ? 2 * *max : 64;
	array = realloc(array, *max * size);
	if (!array)
		die("no memory");
	return array;
}

static void read_ledger(const char *path)
{
	struct ledger *ledger = ledger_open(path);
	struct ledger_record r;
	size_t max = 0, max_answers = 0, max_gaps = 0;
	int ret;

	if (!ledger)
		exit(2);
	gaps = grown(gaps, 0, &max_gaps, sizeof(*gaps));
	gaps[0] = (struct gap){};
	while ((ret = ledger_next(ledger, &r)) > 0) {
		if (ledger_no_room(&r)) {
			struct gap *gap = &gaps[num_records];

			if (!gap->full)
				gap->full_since = r.timestamp;
			gap->full = true;
			if (r.reason & LEDGER_OWN_ACCORD && REASON_VANISH(r.reason & ~LEDGER_BITS)) {
				gap->vanished = r.timestamp;
				gap->epoch = r.epoch;
			}
			continue;
		}
		records = grown(records, num_records, &max, sizeof(r));
		answers = grown(answers, num_records, &max_answers, sizeof(*answers));
		answers[num_records] = !(r.reason & (LEDGER_OWN_ACCORD | LEDGER_UNANSWERED));
		r.reason &= ~LEDGER_BITS;
		records[num_records++] = r;
		gaps = grown(gaps, num_records, &max_gaps, sizeof(*gaps));
		gaps[num_records] = (struct gap){};
	}
	if (ret < 0)
		exit(2);
	if (!num_records)
		die("%s: there is no firmware sample in it", path);
	saturated = calloc(num_records, sizeof(*saturated));
	if (!saturated)
		die("no memory");
}

/* Counters began anew between record r - 1 and record r, or may have after the last. */
static bool anew(size_t r)
{
	return r && (r == num_records || records[r].epoch != records[r - 1].epoch);
}

/* And had not been sampled before that. */
static bool is_gap(size_t r)
{
	return anew(r) && !REASON_LAST(records[r - 1].reason);
}

/* GPU timestamp 0, in the clock of the trace. */
static int64_t zero_ns = INT64_MAX;

/* When a record was made. */
static uint64_t record_ns(size_t r)
{
	return zero_ns + records[r].timestamp * TICK_NS;
}

/* Whether there was reason for counters to begin anew. */
static bool explained(size_t r)
{
	return gaps[r].full || gaps[r].excused || (was_reset && gaps[r].down);
}

/*
 * Whether there may be a flag on the records from @from to @to, of which the kernel has last found a
 * cause when it was @told. Firmware says that the ring was full a moment after it has said how many
 * samples there are: one more may have come, or, on a host that is busy, any number of them.
 */
static bool has_cause(size_t asked, size_t from, size_t to, uint64_t told, uint32_t flag)
{
	for (size_t r = from; r <= to; r++) {
		if ((lossy ? anew(r) : is_gap(r)) && explained(r))
			return true;
		if (flag == FLAG_OVERFLOW && r < to && saturated[r])
			return true;
		if (flag == FLAG_ERROR && gaps[r].failed)
			return true;
	}
	for (size_t r = asked; flag == FLAG_OVERFLOW && r <= num_records; r++) {
		if (gaps[r].full && (r <= to + 1 || zero_ns + (int64_t)gaps[r].full_since * TICK_NS <=
						    (int64_t)told + TRACE_NS))
			return true;
	}
	return false;
}

static bool all_have_cause(const struct delivery *d, size_t from, size_t to, uint32_t flags)
{
	return (!(flags & FLAG_OVERFLOW) || has_cause(d->asked, from, to, d->told, FLAG_OVERFLOW)) &&
	       (!(flags & FLAG_ERROR) || has_cause(d->asked, from, to, d->told, FLAG_ERROR));
}

/* The first record of the epoch after that of record @r - 1. */
static size_t end_of_epoch(size_t r)
{
	while (r && !anew(r))
		r++;
	return r;
}

/* The kernel numbers samples of an epoch from 1, the ledger from 0. */
static size_t find_record(size_t from, unsigned int insert, uint64_t timestamp)
{
	while (from < num_records && (records[from].timestamp != timestamp || records[from].insert + 1 != insert))
		from++;
	return from;
}

/* The same if timestamps are not to be believed; @same: of the epoch of the record before. */
static size_t find_numbered(size_t from, unsigned int insert, bool same)
{
	size_t r = from;

	while (r < num_records && records[r].insert + 1 != insert)
		r++;
	if (same && from && r < num_records && records[r].epoch != records[from - 1].epoch)
		return num_records;
	return r;
}

/*
 * Sessions that were started before the first sample that the trace has, record @r, began to count
 * with counters off: before the first record of its epoch, and after all that earlier traces have.
 */
static void place_early_baselines(size_t r)
{
	while (r && records[r - 1].epoch == records[r].epoch)
		r--;
	for (size_t i = 0; i < num_baselines; i++)
		baselines[i].position = r;
}

static void read_trace(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t position = 0, max_baselines = 0, asked[3] = {};
	unsigned int session, epoch, insert, reason, flags, enabled, counting = 0;
	unsigned int last_epoch = 0, last_insert = 0;
	uint64_t data, ns, timestamp = 0, us, requested = 0, unanswered = 0, told = 0;
	uint64_t failed_us = 0;
	size_t failed_at = 0;
	bool failed = false;
	char text[512], state[16];

	if (!f)
		die("%s cannot be read", path);
	while (fgets(text, sizeof(text), f)) {
		char *line = strchr(text, ' ');

		us = strtoull(text, NULL, 10);
		if (!line++)
			die("%s: a line that makes no sense: %s", path, text);
		if (sscanf(line, "panthor_perf_fw_sample: epoch=%u insert=%u timestamp=%" SCNu64 " reason=%u",
			   &epoch, &insert, &timestamp, &reason) == 4) {
			size_t found = find_record(position, insert, timestamp);

			if (found == num_records && promise != EXACT)
				found = find_numbered(position, insert, epoch == last_epoch && seen);
			position = found;
			if (position++ == num_records)
				die("the kernel has seen a sample (epoch %u, insert %u, timestamp %" PRIu64
				    ") that is not in the ledger", epoch, insert, timestamp);
			if (!seen)
				place_early_baselines(position - 1);
			seen++;
			last_epoch = epoch;
			last_insert = insert;
		} else if (sscanf(line, "panthor_perf_state: state=%15s", state) == 1) {
			bool up = strcmp(state, "down") && strcmp(state, "gone");

			/* Counters stay enabled while the MCU is about to stop. */
			enabled = !strcmp(state, "counting") || (!strcmp(state, "closing") && counting);
			/* A request that is given up: what is still in the ring is read after this. */
			unanswered = counting && !strcmp(state, "failed") ? requested : 0;
			requested = 0;
			gaps[position].down |= !up;
			/* From counting, counters are enabled anew at once, unless firmware does not answer. */
			if (failed && us - failed_us >= ENABLE_US)
				for (size_t r = failed_at; r <= position; r++)
					gaps[r].failed = true;
			failed = !strcmp(state, "failed");
			failed_us = us;
			failed_at = position;
			if (failed && !counting)
				gaps[position].failed = true;
			counting = enabled;
			/*
			 * What was in the ring when the MCU had stopped has been read. What INSERT had
			 * not told of by then is lost in the period that ends here.
			 */
			if (!up && seen && insert_late)
				position = end_of_epoch(position);
		} else if (sscanf(line, "panthor_perf_request: epoch=%u seq=%u", &epoch, &insert) == 2) {
			requested = us;
			asked[0] = asked[1];
			asked[1] = asked[2];
			asked[2] = position;
		} else if (sscanf(line, "panthor_perf_lost: epoch=%u insert=%u flags=%x", &epoch, &insert, &flags) == 3) {
			if (unanswered && failed_us - unanswered >= TIMEOUT_US && !gaps[position].silent_from)
				gaps[position].silent_from = unanswered;
			told = us * 1000;
		} else if (sscanf(line, "panthor_perf_baseline: session=%u epoch=%u insert=%u user_data=%" SCNx64
				  " ns=%" SCNu64, &session, &epoch, &insert, &data, &ns) == 5) {
			/* Of a sample that was discarded when counters were turned off. */
			size_t start = counting ? position : end_of_epoch(position);

			/* A trace may begin after the last sample of an epoch that has ended. */
			if (insert && (seen || counting) &&
			    (epoch != last_epoch || insert != last_insert))
				wrong("the baseline of session %u is sample %u of epoch %u, the last one was %u of %u",
				      session, insert, epoch, last_insert, last_epoch);
			baselines = grown(baselines, num_baselines, &max_baselines, sizeof(*baselines));
			if (session >= num_sessions) {
				sessions = realloc(sessions, (session + 1) * sizeof(*sessions));
				if (!sessions)
					die("no memory");
				memset(&sessions[num_sessions], 0, (session + 1 - num_sessions) * sizeof(*sessions));
				num_sessions = session + 1;
			}
			baselines[num_baselines++] = (struct baseline){
				.position = start, .sampled = counting, .user_data = data, .ns = ns,
				.session = session, .first = sessions[session].num,
			};
			sessions[session].asked = asked[0];
		} else if (sscanf(line, "panthor_perf_delivery: session=%u epoch=%u insert=%u user_data=%" SCNx64
				  " ns=%" SCNu64 " flags=%x", &session, &epoch, &insert, &data, &ns, &flags) == 6) {
			struct session_trace *s;

			if (session >= num_sessions)
				die("a delivery to session %u, which has no baseline", session);
			/* A trace may begin after the last sample of an epoch that has ended. */
			if (insert && (seen || counting) &&
			    (epoch != last_epoch || insert != last_insert))
				wrong("a delivery to session %u is up to sample %u of epoch %u, the last one was %u of %u",
				      session, insert, epoch, last_insert, last_epoch);
			s = &sessions[session];
			s->deliveries = grown(s->deliveries, s->num, &s->max, sizeof(*s->deliveries));
			s->deliveries[s->num++] = (struct delivery){
				.position = position, .asked = s->asked, .user_data = data, .ns = ns, .told = told,
				.flags = flags,
			};
			s->asked = asked[0];
			/*
			 * It ends with the sample before it, or later if nothing was counted. In a storm, it may end
			 * before that: firmware may have said so.
			 */
			if (position && (!head.storm_from_ns || ns < head.storm_from_ns) &&
			    (int64_t)(ns - records[position - 1].timestamp * TICK_NS) < zero_ns)
				zero_ns = ns - records[position - 1].timestamp * TICK_NS;
		} else {
			die("%s: a line that makes no sense: %s", path, line);
		}
	}
	fclose(f);
}

/*
 * The kernel says that panthor has given something up, at @us give or take @off: counters may begin anew
 * then, or when the MCU is stopped for it.
 */
static void excuse_at(uint64_t us, uint64_t off)
{
	bool stopped = false;

	off += LOG_US;
	for (size_t r = 1; r <= num_records; r++) {
		if (!anew(r) || (r < num_records && record_ns(r) < (us - off) * 1000))
			continue;
		if (record_ns(r - 1) <= (us + off) * 1000) {
			gaps[r].excused = true;
			stopped |= gaps[r].down;
		} else if (gaps[r].down && !stopped && record_ns(r - 1) < (us + RESET_US) * 1000) {
			gaps[r].excused = stopped = true;
		}
	}
}

/* Lines as dmesg prints them. perf-exact has written one, and what its clock was before and after it. */
static void read_log(const char *path)
{
	FILE *f = fopen(path, "r");
	double seconds, marked = 0, offset = 0;
	uint64_t before = 0, after = 0;
	char line[1024], *text;

	if (!f)
		die("%s cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "[%lf]", &seconds) != 1)
			continue;
		text = strstr(line, EXACT_CLOCK);
		if (!text && !offset)
			die("%s: no clock before: %s", path, line);
		if (!text)
			excuse_at(seconds * 1e6 + offset, after - before);
		else if (sscanf(text + strlen(EXACT_CLOCK), "%" SCNu64 " %" SCNu64, &before, &after) == 2)
			offset = before - marked * 1e6;
		else
			marked = seconds;
	}
	if (!offset)
		die("%s: perf-exact's clock is not in it", path);
	fclose(f);
}

/* A request had no answer if there is no record of one, up to the driver's last look in time but one. */
static void look_for_answers(void)
{
	for (size_t r = 0; r <= num_records; r++) {
		struct gap *gap = &gaps[r];
		bool answered = false;

		if (!gap->silent_from)
			continue;
		for (size_t i = 0; i < num_records; i++)
			answered |= answers[i] && record_ns(i) > gap->silent_from * 1000 + TRACE_NS &&
				    record_ns(i) < (gap->silent_from + TIMEOUT_US - CHECK_US) * 1000;
		gap->excused |= !answered;
	}
}

/* Where firmware has a block: shader cores at their physical positions. */
static unsigned int place(unsigned int type, unsigned int index)
{
	uint64_t present = head.shader_present;

	if (type != LEDGER_SHADER || head.gpu_id >> 28 >= 14)
		return index;
	while (index--)
		present &= present - 1;
	return __builtin_ctzll(present);
}

static void make_layout(void)
{
	unsigned int there = records[0].size / (4 * head.values), known = 0;

	values = layout.words = head.values;
	for (int t = LEDGER_FW; t < LEDGER_TYPES; t++) {
		layout.count[t] = head.count[t];
		blocks += head.count[t];
	}
	if (head.gpu_id >> 28 < 14)
		layout.count[LEDGER_SHADER] = 64 - __builtin_clzll(head.shader_present);
	for (int t = LEDGER_FW; t < LEDGER_TYPES; t++)
		known += layout.count[t];
	if (there != known && there != known + 1)
		die("a sample in the ledger has %u blocks, the kernel knows of %u", there, known);
	layout.count[LEDGER_META] = there - known;
	total = blocks * values;
}

/* Calls with each value of a user sample: its number, type, index and counter. */
#define for_each_value(n, t, i, v)						\
	for (uint32_t n = 0, t = LEDGER_FW; t < LEDGER_TYPES; t++)		\
		for (uint32_t i = 0; i < head.count[t]; i++)			\
			for (uint32_t v = 0; v < values; v++, n++)

static void sum_ledger(void)
{
	uint32_t *words = calloc(total, sizeof(*words));

	prefix = calloc((num_records + 1) * total, sizeof(*prefix));
	factors = calloc(total, sizeof(*factors));
	if (!words || !prefix || !factors)
		die("no memory");
	for_each_value(n, t, i, v) {
		words[n] = ledger_offset(&layout, t, place(t, i)) / 4 + v;
		factors[n] = exact_factor(n);
	}
	for (size_t r = 0; r < num_records; r++) {
		const uint64_t *before = &prefix[r * total];
		uint64_t *after = &prefix[(r + 1) * total];

		if (records[r].size != ledger_sample_size(&layout))
			die("record %zu of the ledger has %u bytes, expected %zu", r, records[r].size,
			    ledger_sample_size(&layout));
		/* What was not written is zero in a ledger; the first values are no counts. */
		for (uint32_t n = 0; n < total; n++) {
			uint32_t word;

			memcpy(&word, records[r].blocks + 4 * (size_t)words[n], sizeof(word));
			saturated[r] |= n % values >= RESERVED && word == UINT32_MAX;
			after[n] = before[n] + (n % values < RESERVED ? 0 : word);
		}
	}
	free(words);
}

static bool asked_for(const struct exact_run *run, uint32_t type, uint32_t v)
{
	return v >= RESERVED && run->mask[type][v / 64] >> (v % 64) & 1;
}

static uint64_t counted(size_t from, size_t to, uint32_t n)
{
	return prefix[to * total + n] - prefix[from * total + n];
}

static struct {
	uint64_t runs, samples, flagged, flagged_exact, sums, nonzero, gaps, losses, calm[2];
} stats;

static const struct baseline *find_baseline(uint64_t user_data)
{
	for (size_t i = 0; i < num_baselines; i++) {
		if (baselines[i].user_data == user_data)
			return &baselines[i];
	}
	return NULL;
}

static bool same(const struct exact_run *run, const struct exact_sample *s, size_t from, size_t to)
{
	uint64_t hash = 0;

	for_each_value(n, t, i, v) {
		if (asked_for(run, t, v))
			hash += counted(from, to, n) * factors[n];
	}
	return hash == s->hash;
}

/* The first record from which on nothing is left of the storm: what was late then has come. */
static size_t calm_from(void)
{
	size_t r = 0;

	while (r < num_records && record_ns(r) < head.storm_to_ns)
		r++;
	return r + EXACT_LAP;
}

/*
 * Whether sample @k is from before the storm, or from after it: no switch had to do with it. What was
 * delivered before it has another one behind it that ended before it, too.
 */
static bool is_calm(const struct exact_run *run, const struct exact_sample *samples, size_t k, size_t from)
{
	bool before = k + 1 < run->samples && samples[k + 1].end_ns < head.storm_from_ns;
	bool after = k && samples[k - 1].end_ns > head.storm_to_ns && from >= calm_at;

	if (!head.storm_to_ns)
		return false;
	stats.calm[0] += before;
	stats.calm[1] += after;
	return before || after;
}

/*
 * Whether the epoch in which samples of @gap, before record @r, were lost had ended before the run began. There may be
 * no record of it. Counters were off then, and what the run counted is of a later epoch: that of the record, if there
 * is one.
 */
static bool ended_before(const struct baseline *b, const struct gap *gap, size_t r)
{
	return !b->sampled && (r == num_records || gap->epoch != records[r].epoch) &&
	       zero_ns + (int64_t)(gap->vanished * TICK_NS) <= (int64_t)b->ns;
}

static void compare(const struct exact_run *run, const struct exact_sample *samples, const uint64_t *sums)
{
	const struct baseline *b = find_baseline(run->start_data);
	const struct session_trace *s;
	size_t from, to, before, lost = 0;
	bool strict;

	stats.runs++;
	if (!b) {
		wrong("client %u, run %#" PRIx64 ": the kernel tells of no such START", run->client, run->start_data);
		return;
	}
	s = &sessions[b->session];
	from = before = b->position;
	for (size_t k = 0; k < run->samples; k++) {
		const struct delivery *d = &s->deliveries[b->first + k];

		if (b->first + k >= s->num || d->user_data != samples[k].user_data || d->ns != samples[k].end_ns ||
		    d->flags != samples[k].flags) {
			wrong("client %u, run %#" PRIx64 ", sample %zu: user_data %#" PRIx64 ", end %" PRIu64
			      ", flags %#x; the kernel tells of %s, %#" PRIx64 ", %" PRIu64 ", %#x", run->client,
			      run->start_data, k, samples[k].user_data, samples[k].end_ns, samples[k].flags,
			      b->first + k >= s->num ? "no delivery" : "another one",
			      b->first + k >= s->num ? 0 : d->user_data, b->first + k >= s->num ? 0 : d->ns,
			      b->first + k >= s->num ? 0 : d->flags);
			return;
		}
		stats.samples++;
		/* What was discarded before the baseline is before what follows it, too. */
		to = d->position > from ? d->position : from;
		strict = is_calm(run, samples, k, from) ? promise <= FLAGGED : promise == EXACT;
		if (samples[k].flags & FLAG_LOST) {
			stats.flagged++;
			stats.flagged_exact += same(run, &samples[k], from, to);
			if (strict && !all_have_cause(d, from, to, samples[k].flags))
				wrong("client %u, run %#" PRIx64 ", sample %zu (records %zu to %zu of the ledger): "
				      "flags %#x, and nothing was lost", run->client, run->start_data, k, from, to,
				      samples[k].flags);
			for (size_t r = promise == EXACT ? from : before; r <= to; r++)
				gaps[r].flagged = stats.runs;
		}
		if (!same(run, &samples[k], from, to)) {
			lost++;
			if (!lossy || !(samples[k].flags & FLAG_LOST ||
					(promise != EXACT && k + 1 < run->samples && samples[k + 1].flags & FLAG_LOST)))
				wrong("client %u, run %#" PRIx64 ", sample %zu of %u (user_data %#" PRIx64 ", flags %#x): "
				      "not what records %zu to %zu of the ledger hold", run->client, run->start_data, k,
				      run->samples, samples[k].user_data, samples[k].flags, from, to);
		}
		before = from;
		from = to;
	}
	for (size_t r = b->position; r < from; r++) {
		if (!gaps[r].vanished)
			continue;
		if (r == b->position && ended_before(b, &gaps[r], r))
			continue;
		stats.losses++;
		if (gaps[r].flagged != stats.runs)
			wrong("client %u, run %#" PRIx64 ": there was no room for a sample of firmware's own accord before "
			      "record %zu of the ledger, and no sample says that counts may be missing", run->client,
			      run->start_data, r);
	}
	/* Counters that began anew with the baseline did so before it. */
	for (size_t r = b->position + !b->sampled; r < from; r++) {
		if (!is_gap(r))
			continue;
		stats.gaps++;
		if (gaps[r].flagged != stats.runs)
			wrong("client %u, run %#" PRIx64 ": counts were lost before record %zu of the ledger (the one "
			      "before is of reason %u, the next one %" PRIu64 " ticks later), and no sample says so",
			      run->client, run->start_data, r, records[r - 1].reason,
			      r < num_records ? records[r].timestamp - records[r - 1].timestamp : 0);
	}
	if (lossy && lost)
		return;
	for_each_value(n, t, i, v) {
		uint64_t want = asked_for(run, t, v) ? counted(b->position, from, n) : 0;

		if (v < RESERVED)
			continue;
		stats.sums++;
		stats.nonzero += want != 0;
		if (sums[n] != want)
			wrong("client %u, run %#" PRIx64 " (session %u, %u samples, records %zu to %zu of the ledger): "
			      "%s %u counter %u: expected %" PRIu64 ", got %" PRIu64, run->client, run->start_data,
			      b->session, run->samples, b->position, from, type_names[t], i, v, want, sums[n]);
	}
}

/* What the samples of a run hold, whoever was given them. */
static void print_run(size_t run)
{
	const struct baseline *b = &baselines[run];
	const struct session_trace *s = &sessions[b->session];
	size_t from = b->position, end = s->num;

	for (size_t i = run + 1; i < num_baselines && end == s->num; i++) {
		if (baselines[i].session == b->session)
			end = baselines[i].first;
	}
	for (size_t k = b->first; k < end; k++) {
		uint64_t sums[EXACT_TYPES][MAX_VALUES] = {};
		size_t to = s->deliveries[k].position > from ? s->deliveries[k].position : from;

		for_each_value(n, t, i, v)
			sums[t][v] += counted(from, to, n);
		for (uint32_t t = LEDGER_FW; t < LEDGER_TYPES; t++) {
			for (uint32_t v = RESERVED; v < values; v++) {
				if (sums[t][v])
					printf("%zu %zu %s %u %" PRIu64 "\n", run, k - b->first, type_names[t], v,
					       sums[t][v]);
			}
		}
		from = to;
	}
}

/* A run that can be spoiled: it has counted something, and is not the first. */
static bool spoilable(const struct exact_run *run, const uint64_t *sums)
{
	if (run->samples < 3)
		return false;
	for (uint32_t n = 0; n < total; n++) {
		if (n % values >= RESERVED && sums[n])
			return true;
	}
	return false;
}

static bool spoil(const char *kind, struct exact_run *run, struct exact_sample *samples, uint64_t *sums)
{
	struct baseline *b = (struct baseline *)find_baseline(run->start_data);
	uint32_t n = 0;

	while (n % values < RESERVED || !sums[n])
		n++;
	if (!b)
		return false;
	if (!strcmp(kind, "sum")) {
		sums[n]++;
	} else if (!strcmp(kind, "hash")) {
		samples[1].hash++;
	} else if (!strcmp(kind, "flag")) {
		/* The kernel says so as well. */
		struct delivery *d = &sessions[b->session].deliveries[b->first];

		if (all_have_cause(&d[1], d[0].position, d[1].position, FLAG_OVERFLOW))
			return false;
		samples[1].flags |= FLAG_OVERFLOW;
		d[1].flags |= FLAG_OVERFLOW;
	} else if (!strcmp(kind, "epoch")) {
		/* Counters began anew within the second sample. */
		size_t r = sessions[b->session].deliveries[b->first].position + 1;

		if (r >= sessions[b->session].deliveries[b->first + 1].position)
			return false;
		records[r - 1].reason = 0;
		for (; r < num_records; r++)
			records[r].epoch++;
	} else if (!strcmp(kind, "first")) {
		/* They did so right behind the sample that is the baseline. */
		if (!b->sampled || !b->position || b->position >= sessions[b->session].deliveries[b->first].position ||
		    samples[0].flags & FLAG_LOST)
			return false;
		records[b->position - 1].reason = 0;
		for (size_t r = b->position; r < num_records; r++)
			records[r].epoch++;
	} else if (!strcmp(kind, "silence") || !strcmp(kind, "log")) {
		/*
		 * They did so where some sample begins, which is flagged. The kernel's reason: a request
		 * that had no answer, though the ledger has it; or what it says a second later in its log.
		 */
		struct delivery *d = &sessions[b->session].deliveries[b->first];
		size_t k = 1, r;

		while (k < run->samples && (d[k - 1].position == d[k].position || !d[k - 1].position ||
					    !answers[d[k - 1].position - 1]))
			k++;
		if (k == run->samples)
			return false;
		r = d[k - 1].position;
		records[r - 1].reason = 0;
		for (size_t i = r; i < num_records; i++)
			records[i].epoch++;
		samples[k].flags |= FLAG_ERROR;
		d[k].flags |= FLAG_ERROR;
		if (!strcmp(kind, "silence")) {
			gaps[r].silent_from = record_ns(r - 1) / 1000 - 10;
			look_for_answers();
		} else {
			excuse_at(record_ns(r) / 1000 + 1000000, 0);
		}
	} else if (!strcmp(kind, "calm")) {
		/* The kernel says so as well. */
		size_t k = 1;

		while (k < run->samples && (samples[k - 1].end_ns <= head.storm_to_ns ||
					    sessions[b->session].deliveries[b->first + k - 1].position < calm_at))
			k++;
		if (k == run->samples)
			return false;
		samples[k].flags |= FLAG_ERROR;
		sessions[b->session].deliveries[b->first + k].flags |= FLAG_ERROR;
	} else if (!strcmp(kind, "loss")) {
		/* Cores have lost their power in the second sample, and there was no room for their counts. */
		const struct delivery *d = &sessions[b->session].deliveries[b->first];

		if (d[1].position < d[0].position + 2 || samples[0].flags & FLAG_LOST ||
		    samples[1].flags & FLAG_LOST)
			return false;
		gaps[d[1].position - 1].full = true;
		gaps[d[1].position - 1].vanished = NEVER;
		gaps[d[1].position - 1].full_since = NEVER;
	} else if (!strcmp(kind, "after")) {
		/* They did so while the run counted nothing yet, counters being off: a moment after it began. */
		if (b->sampled || gaps[b->position].vanished || samples[0].flags & FLAG_LOST ||
		    b->position >= sessions[b->session].deliveries[b->first].position)
			return false;
		gaps[b->position].full = true;
		gaps[b->position].vanished = (b->ns - zero_ns + TRACE_NS) / TICK_NS;
		gaps[b->position].full_since = NEVER;
	} else if (!strcmp(kind, "stale")) {
		/* The ring was full when the run began, and some later sample says so. */
		struct delivery *d = &sessions[b->session].deliveries[b->first];
		size_t k = 1;

		while (k < run->samples && d[k].asked <= b->position)
			k++;
		if (k == run->samples)
			return false;
		gaps[b->position].full = true;
		gaps[b->position].full_since = NEVER;
		samples[k].flags |= FLAG_OVERFLOW;
		d[k].flags |= FLAG_OVERFLOW;
	} else if (!strcmp(kind, "sample")) {
		/* One sample never came. */
		memmove(&samples[1], &samples[2], (run->samples - 2) * sizeof(*samples));
		run->samples--;
	} else if (!strcmp(kind, "interval")) {
		struct delivery *d = &sessions[b->session].deliveries[b->first];

		/* A count more of the next period. */
		if (d->position == num_records || !counted(d->position, d->position + 1, n))
			return false;
		d->position++;
	} else if (!strcmp(kind, "baseline")) {
		if (!b->position || !counted(b->position - 1, b->position, n))
			return false;
		b->position--;
	} else if (!strcmp(kind, "ledger")) {
		/* The GPU has counted one more in the run's first record. */
		for (size_t r = b->position + 1; r <= num_records; r++)
			prefix[r * total + n]++;
	} else if (!strcmp(kind, "mask")) {
		uint32_t block = n / values, v = n % values;

		for (uint32_t t = LEDGER_FW; t < LEDGER_TYPES; t++) {
			if (block < head.count[t]) {
				run->mask[t][v / 64] &= ~(1ull << (v % 64));
				break;
			}
			block -= head.count[t];
		}
	} else {
		die("there is no way to spoil '%s'", kind);
	}
	return true;
}

/* The promise of a switch, as the table has it: lines of "switch;promise;...". */
static enum promise promise_of(const char *table, const char *name)
{
	static const char *const names[] = { "exact", "flagged", "reset", "assumption" };
	FILE *f = fopen(table, "r");
	size_t len = strlen(name);
	char line[1024];

	if (!f)
		die("%s cannot be read", table);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, len) || line[len] != ';')
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const char *got = line + len + 1;

			if (!strncmp(got, names[i], strlen(names[i])) && got[strlen(names[i])] == ';') {
				fclose(f);
				return i;
			}
		}
		die("%s: %s has no promise that is known: %s", table, name, line);
	}
	die("%s: there is no line for %s", table, name);
}

static void take_promises(const char *table, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		enum promise p;

		name[strcspn(name, "=")] = 0;
		insert_late |= !strcmp(name, "insert_late");
		p = promise_of(table, name);
		if (p > promise)
			promise = p;
	}
	/* Counters may begin anew then, and samples be wrong. */
	lossy |= promise != EXACT;
}

int main(int argc, char **argv)
{
	const char *kind = NULL, *table = NULL, *log = NULL;
	char *switches = NULL;
	struct exact_run run;
	struct exact_sample *samples = NULL;
	uint64_t *sums, trace_samples = 0;
	size_t max = 0;
	bool print = false;
	FILE *f;
	int opt;

	while ((opt = getopt(argc, argv, "rldk:c:t:f:")) != -1) {
		switch (opt) {
		case 'r': was_reset = true; break;
		case 'l': lossy = true; break;
		case 'd': print = true; break;
		case 'k': log = optarg; break;
		case 'c': kind = optarg; break;
		case 't': table = optarg; break;
		case 'f': switches = optarg; break;
		default: optind = argc; break;
		}
	}
	if (argc - optind != 3 || !table != !switches)
		die("usage: exactness [-r] [-l] [-d] [-k LOG] [-c KIND] [-t TABLE -f SWITCH,...] LEDGER RECORD TRACE");
	if (table)
		take_promises(table, switches);
	f = fopen(argv[optind + 1], "rb");
	if (!f || fread(&head, sizeof(head), 1, f) != 1 || head.magic != EXACT_MAGIC)
		die("%s is no record of perf-exact", argv[optind + 1]);
	read_ledger(argv[optind]);
	make_layout();
	read_trace(argv[optind + 2]);
	look_for_answers();
	if (log)
		read_log(log);
	calm_at = calm_from();
	sum_ledger();
	if (print) {
		for (size_t i = 0; i < num_baselines; i++)
			print_run(i);
		return 0;
	}
	sums = calloc(total, sizeof(*sums));
	if (!sums)
		die("no memory");

	while (fread(&run, sizeof(run), 1, f) == 1) {
		while (max < run.samples)
			samples = grown(samples, max, &max, sizeof(*samples));
		if ((run.samples && fread(samples, sizeof(*samples), run.samples, f) != run.samples) ||
		    fread(sums, sizeof(*sums), total, f) != total)
			die("%s is cut short", argv[optind + 1]);
		if (kind && spoilable(&run, sums) && spoil(kind, &run, samples, sums))
			kind = NULL;
		compare(&run, samples, sums);
	}
	for (size_t i = 0; i < num_sessions; i++)
		trace_samples += sessions[i].num;
	if (kind)
		die("there was nothing to spoil");
	if (trace_samples != stats.samples && !complaints)
		wrong("the kernel tells of %" PRIu64 " deliveries, clients of %" PRIu64, trace_samples, stats.samples);
	if (num_baselines != stats.runs)
		wrong("the kernel tells of %zu runs, clients of %" PRIu64, num_baselines, stats.runs);
	if (head.storm_to_ns && (!stats.calm[0] || !stats.calm[1]))
		wrong("there are %" PRIu64 " samples from before the storm and %" PRIu64 " from after it: none to "
		      "compare", stats.calm[0], stats.calm[1]);
	if (!stats.nonzero)
		wrong("nothing was counted: there is nothing to compare");
	printf("# %zu firmware samples, %zu of them used; %" PRIu64 " runs, %" PRIu64 " samples, %" PRIu64
	       " sums compared, %" PRIu64 " not 0; %" PRIu64 " samples flagged, %" PRIu64 " of these exact, %" PRIu64
	       " gaps crossed, %" PRIu64 " losses; %" PRIu64 " differences\n", num_records, seen, stats.runs, stats.samples, stats.sums, stats.nonzero, stats.flagged,
	       stats.flagged_exact, stats.gaps, stats.losses, complaints);
	return complaints ? 1 : 0;
}
