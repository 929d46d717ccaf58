// SPDX-License-Identifier: MIT
/*
 * In rounds: first all threads decode chunks, of which there are some for each thread, then all of them run tasks over what was
 * decoded. Which thread does what makes no difference to the results.
 */
#define _GNU_SOURCE
#include "batches.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES RECORDING_CHUNK_SAMPLES
#define MAX_THREADS 16

/* Batches of a round for each thread: one that is decoded slowly has others wait. */
#define BATCHES_PER_THREAD 2

/* A batch and its memory. */
struct slot {
	struct batch batch;
	uint64_t start_ns[SAMPLES], end_ns[SAMPLES], cycles[PPERF_CLOCKS][SAMPLES];
	double length_ns[SAMPLES], seconds[SAMPLES];
	uint32_t flags[SAMPLES];
	bool slept[SAMPLES], in_protected[SAMPLES], follows[SAMPLES];
	struct batch_part parts[BATCH_PARTS][SAMPLES];

	/* Columns of all counters that are recorded, by type; then those of blocks, by block. */
	double (*columns)[SAMPLES];
	const double **of_blocks;

	struct batch_run *runs;
	size_t run_room;

	/* Fields of the sample that is decoded, of the one before it when the chunk begins, and sums of runs. */
	uint64_t *fields, *sums;

	/* RECORDING_SAMPLE if all is well. */
	enum recording_item item;
	char error[sizeof(((struct recording *)0)->error)];

	/* Of the states at the begin and at the end of the chunk. */
	uint64_t begins, ends;
};

struct reader {
	const struct batches *batches;
	const struct recording *recording;
	const struct recording_layout *layout;
	const struct chunks *chunks;

	/* The chunks that have something that is looked at. */
	size_t *wanted, num_wanted;

	/* By type, where its values begin in the fields; and the field of the front end's states, or 0. */
	size_t first_field[PPERF_BLOCK_TYPES];
	size_t front_end;

	/* What is wanted of blocks, by its place in the fields of the type. */
	size_t *of_blocks, num_of_blocks;

	struct slot *slots;
	size_t num_slots;

	/* The round: chunks from one of those wanted on, and what is to be done next. */
	size_t round, round_size;
	atomic_size_t next;
	void (*work)(struct reader *reader, size_t number);
	size_t num_works;

	/* Samples before the batch that is looked at, and the state that the one before it has ended with. */
	uint64_t number, ends;

	/* Threads beside the one that calls; they wait for each other before and after work, which is NULL at the end. */
	pthread_t threads[MAX_THREADS - 1];
	unsigned int num_threads;
	pthread_mutex_t created;
	pthread_barrier_t begin, end;
};

/* ---- Decoding ---- */

static void __attribute__((format(printf, 3, 4)))
fail(struct slot *s, enum recording_item item, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->error, sizeof(s->error), format, args);
	va_end(args);
	s->item = item;
}

/* FNV-1a, by number. */
static uint64_t hash_state(const struct recording_layout *layout, const uint64_t *fields, uint64_t end_ns)
{
	uint64_t hash = (0xcbf29ce484222325ull ^ end_ns) * 0x100000001b3ull;
	size_t i;

	for (i = 0; i < layout->fields; i++)
		hash = (hash ^ fields[i]) * 0x100000001b3ull;
	return hash;
}

/* The run that a sample belongs to. Returns NULL without memory. */
static struct batch_run *run_of(struct reader *r, struct slot *s, size_t n)
{
	const struct regions *regions = &r->batches->view->regions;
	size_t fields = r->layout->fields;
	struct batch_run *run = s->batch.num_runs ? &s->runs[s->batch.num_runs - 1] : NULL, *more;
	uint32_t region = 0;
	bool sure = true;
	uint64_t *sums;

	if (r->batches->by_region)
		sure = regions_place(regions, s->start_ns[n], s->end_ns[n], &region);

	/* A sample that is in several regions is alone. */
	if (run && sure && run->sure && run->region == region)
		return run;
	if (s->batch.num_runs == s->run_room) {
		more = reallocarray(s->runs, s->run_room + SAMPLES / 16, sizeof(*more));
		if (!more)
			return NULL;
		s->runs = more;
		sums = reallocarray(s->sums, (s->run_room + SAMPLES / 16) * fields, sizeof(*sums));
		if (!sums)
			return NULL;
		s->sums = sums;
		s->run_room += SAMPLES / 16;
	}
	run = &s->runs[s->batch.num_runs++];
	*run = (struct batch_run){ .first = n, .region = region, .sure = sure };
	memset(s->sums + (s->batch.num_runs - 1) * fields, 0, fields * sizeof(*s->sums));
	return run;
}

/* Adds the fields of a sample to those of its run. */
static void add_fields(const struct reader *r, const uint64_t *fields, uint64_t *sums)
{
	size_t states = RECORDING_FIELDS + r->layout->blocks, i;

	sums[2] |= fields[2];
	for (i = 3; i < RECORDING_FIELDS; i++)
		sums[i] += fields[i];
	/* The latest clock, and all states. */
	for (; i < states; i++)
		sums[i] = (sums[i] & 0xff) | fields[i];
	for (; i < r->layout->fields; i++)
		sums[i] += fields[i];
}

static void add_totals(const struct reader *r, struct slot *s, size_t n)
{
	const struct pperf_gpu_info *info = &r->recording->head.gpu;
	double (*column)[SAMPLES] = s->columns;
	uint64_t totals[PPERF_MAX_VALUES];
	unsigned int type, b, i, count;
	const uint64_t *field;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		count = info->blocks[type] ? r->layout->counters[type] : 0;
		field = s->fields + r->first_field[type];
		memset(totals, 0, count * sizeof(*totals));
		for (b = 0; b < info->blocks[type]; b++, field += count)
			for (i = 0; i < count; i++)
				totals[i] += field[i];
		for (i = 0; i < count; i++)
			(*column++)[n] = totals[i];
	}
	field = s->fields + r->first_field[r->batches->block_type];
	for (i = 0; i < r->num_of_blocks; i++)
		(*column++)[n] = field[r->of_blocks[i]];
}

static void find_part(const struct batches *b, unsigned int which, uint64_t start_ns, uint64_t end_ns, struct batch_part *part)
{
	double length = (double)(b->end_ns - b->start_ns) / b->parts[which];

	part->first = part->last = 0;
	part->overlap = 0;
	if (!(length > 0))
		return;
	part->first = (double)(start_ns - b->start_ns) / length;
	part->last = (double)(end_ns - b->start_ns) / length;
	part->overlap = batch_overlap(b, which, start_ns, end_ns, part->first);
}

double batch_overlap(const struct batches *b, unsigned int which, uint64_t start_ns, uint64_t end_ns, unsigned int part)
{
	double length = (double)(b->end_ns - b->start_ns) / b->parts[which];

	return fmin(end_ns - b->start_ns, (part + 1) * length) - fmax(start_ns - b->start_ns, part * length);
}

/* Adds the sample that the fields are of. Returns -1 without memory. */
static int add_sample(struct reader *r, struct slot *s, const struct recording_times *times, bool follows)
{
	size_t n = s->batch.columns.count, states = RECORDING_FIELDS, i;
	const struct batches *b = r->batches;
	uint64_t all_states = 0;
	struct batch_run *run;

	s->start_ns[n] = times->start_ns;
	s->end_ns[n] = times->end_ns;
	s->length_ns[n] = times->end_ns - times->start_ns;
	s->seconds[n] = s->length_ns[n] / 1e9;
	s->flags[n] = times->flags;
	s->follows[n] = follows;
	for (i = 0; i < PPERF_CLOCKS; i++)
		s->cycles[i][n] = s->fields[3 + i];
	s->slept[n] = r->front_end && s->fields[r->front_end] & PPERF_STATE_OFF;
	for (i = 0; i < r->layout->blocks; i++)
		all_states |= s->fields[states + i];
	s->in_protected[n] = all_states & PPERF_STATE_PROTECTED;
	for (i = 0; i < BATCH_PARTS; i++)
		if (b->parts[i])
			find_part(b, i, times->start_ns, times->end_ns, &s->parts[i][n]);
	add_totals(r, s, n);

	run = run_of(r, s, n);
	if (!run)
		return -1;
	add_fields(r, s->fields, s->sums + (s->batch.num_runs - 1) * r->layout->fields);
	run->count++;
	s->batch.columns.count++;
	return 0;
}

/* Begins with the state that a chunk's first sample follows. Returns -1 if it has none. */
static int begin_state(const struct reader *r, struct slot *s, const struct chunk *chunk, const struct recording_record *first,
		       uint64_t *end_ns)
{
	*end_ns = 0;
	memset(s->fields, 0, r->layout->fields * sizeof(*s->fields));
	if (chunk == r->chunks->list)
		return 0;
	if (chunk->state)
		return recording_get_state(r->layout, chunk->state, chunk->state + chunk->state_size, end_ns, s->fields);
	if (first->kind != RECORDING_KIND_STATE)
		return -1;
	return recording_get_state(r->layout, first->at, first->at + first->length, end_ns, s->fields);
}

/* Adds a sample's record to the slot, if it is looked at. */
static int read_sample(struct reader *r, struct slot *s, const struct recording_record *record, uint64_t *end_ns, bool *seen)
{
	const struct recording_layout *layout = r->layout;
	struct recording_times times;
	bool follows = *seen;

	if (recording_get_changes(record->at, record->at + record->length, s->fields, layout->fields) ||
	    recording_get_times(layout, s->fields, *end_ns, &times) || s->batch.columns.count == SAMPLES)
		return -1;
	*end_ns = times.end_ns;
	*seen = view_sees(r->batches->view, times.start_ns, times.end_ns);
	if (*seen && add_sample(r, s, &times, follows))
		fail(s, RECORDING_NO_MEMORY, "out of memory");
	return 0;
}

static void decode_bytes(struct reader *r, struct slot *s, const struct chunk *chunk, const uint8_t *bytes)
{
	uint64_t end_ns = 0, samples = 0, at, size = chunk->range.bytes;
	struct recording_record record = {};
	enum recording_item item;
	bool seen = false;

	for (at = 0; at < size && s->item == RECORDING_SAMPLE; at += record.length + RECORDING_FRAME) {
		item = recording_get_record(bytes + at, size - at, &record);
		if (item != RECORDING_SAMPLE) {
			fail(s, RECORDING_BROKEN, "the record at byte %" PRIu64 " has a wrong checksum", chunk->range.offset + at);
			return;
		}
		if (!at) {
			if (begin_state(r, s, chunk, &record, &end_ns))
				goto invalid;
			s->begins = hash_state(r->layout, s->fields, end_ns);
			seen = chunk->number && view_sees(r->batches->view, end_ns - s->fields[1], end_ns);
		}
		if (record.kind != RECORDING_KIND_SAMPLE)
			continue;
		if (read_sample(r, s, &record, &end_ns, &seen))
			goto invalid;
		samples++;
	}
	s->ends = hash_state(r->layout, s->fields, end_ns);
	if (s->item == RECORDING_SAMPLE &&
	    (samples != chunk->range.samples || (samples && end_ns != chunk->range.end_ns)))
		fail(s, RECORDING_BROKEN, "the samples from byte %" PRIu64 " on are not those that its index tells of",
		     chunk->range.offset);
	return;

invalid:
	fail(s, RECORDING_BROKEN, "the record at byte %" PRIu64 " is invalid", chunk->range.offset + at);
}

static void decode(struct reader *r, size_t number)
{
	const struct chunk *chunk = &r->chunks->list[r->wanted[r->round + number]];
	struct slot *s = &r->slots[number];
	uint8_t *bytes = chunk_read(r->recording, chunk);
	size_t i;

	s->batch.columns.count = s->batch.num_runs = 0;
	s->item = RECORDING_SAMPLE;
	s->begins = s->ends = 0;
	if (bytes)
		decode_bytes(r, s, chunk, bytes);
	else if (errno == ENOMEM)
		fail(s, RECORDING_NO_MEMORY, "out of memory");
	else
		fail(s, RECORDING_UNREADABLE, "%s", errno ? strerror(errno) : "the file changed while it was being read");
	free(bytes);

	s->batch.runs = s->runs;
	for (i = 0; i < s->batch.num_runs; i++)
		s->runs[i].fields = s->sums + i * r->layout->fields;
}

/* ---- Rounds ---- */

static void run_task(struct reader *r, size_t number)
{
	size_t i;

	for (i = 0; i < r->round_size; i++)
		if (r->slots[i].batch.columns.count)
			r->batches->task(r->batches->context, number, &r->slots[i].batch);
}

static void help(struct reader *r)
{
	size_t number;

	while ((number = atomic_fetch_add(&r->next, 1)) < r->num_works)
		r->work(r, number);
}

static void *run_thread(void *context)
{
	struct reader *r = context;

	/* The barriers are made when it is known how many threads there are. */
	pthread_mutex_lock(&r->created);
	pthread_mutex_unlock(&r->created);
	for (;;) {
		pthread_barrier_wait(&r->begin);
		if (!r->work)
			return NULL;
		help(r);
		pthread_barrier_wait(&r->end);
	}
}

/* Has all threads do some work. */
static void share_work(struct reader *r, void (*work)(struct reader *reader, size_t number), size_t works)
{
	r->work = work;
	r->num_works = works;
	atomic_store(&r->next, 0);
	pthread_barrier_wait(&r->begin);
	help(r);
	pthread_barrier_wait(&r->end);
}

static void start_threads(struct reader *r, unsigned int wanted)
{
	pthread_mutex_init(&r->created, NULL);
	pthread_mutex_lock(&r->created);
	while (r->num_threads < wanted && !pthread_create(&r->threads[r->num_threads], NULL, run_thread, r))
		r->num_threads++;
	pthread_barrier_init(&r->begin, NULL, r->num_threads + 1);
	pthread_barrier_init(&r->end, NULL, r->num_threads + 1);
	pthread_mutex_unlock(&r->created);
}

static void end_threads(struct reader *r)
{
	unsigned int i;

	r->work = NULL;
	pthread_barrier_wait(&r->begin);
	for (i = 0; i < r->num_threads; i++)
		pthread_join(r->threads[i], NULL);
	pthread_barrier_destroy(&r->begin);
	pthread_barrier_destroy(&r->end);
	pthread_mutex_destroy(&r->created);
}

/* Looks for the first batch of a round that is wrong, and numbers samples. */
static enum recording_item check_round(struct reader *r, struct recording *recording)
{
	size_t i, chunk;
	struct slot *s;

	for (i = 0; i < r->round_size; i++) {
		s = &r->slots[i];
		chunk = r->wanted[r->round + i];
		if (s->item == RECORDING_SAMPLE && r->round + i && r->wanted[r->round + i - 1] == chunk - 1 &&
		    s->begins != r->ends)
			fail(s, RECORDING_BROKEN, "the record at byte %" PRIu64 " is invalid", r->chunks->list[chunk].range.offset);
		if (s->item != RECORDING_SAMPLE) {
			memcpy(recording->error, s->error, sizeof(s->error));
			return s->item;
		}
		r->ends = s->ends;
		s->batch.number = r->number;
		r->number += s->batch.columns.count;
	}
	return RECORDING_SAMPLE;
}

/* ---- Set up ---- */

static unsigned int processors(void)
{
	cpu_set_t set;
	unsigned int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count > MAX_THREADS ? MAX_THREADS : count;
}

/* What points into a slot does not change from batch to batch. */
static void point(const struct reader *r, struct slot *s)
{
	const struct pperf_gpu_info *info = &r->recording->head.gpu;
	struct pperf_columns *c = &s->batch.columns;
	double (*column)[SAMPLES] = s->columns;
	unsigned int type, i;
	size_t n;

	c->start_ns = s->start_ns;
	c->end_ns = s->end_ns;
	c->seconds = s->seconds;
	c->slept = s->slept;
	for (i = 0; i < PPERF_CLOCKS; i++)
		c->cycles[i] = s->cycles[i];
	for (i = 0; i < BATCH_PARTS; i++)
		s->batch.parts[i] = s->parts[i];
	s->batch.length_ns = s->length_ns;
	s->batch.flags = s->flags;
	s->batch.in_protected = s->in_protected;
	s->batch.follows = s->follows;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; info->blocks[type] && i < r->layout->counters[type]; i++)
			c->totals[type][r->layout->indices[type][i]] = *column++;
	for (n = 0; n < r->num_of_blocks; n++)
		s->of_blocks[r->of_blocks[n]] = *column++;
	s->batch.of_blocks = s->of_blocks;
}

static int make_slots(struct reader *r)
{
	const struct pperf_gpu_info *info = &r->recording->head.gpu;
	size_t columns = 0, of_blocks, i;
	unsigned int type = r->batches->block_type;

	of_blocks = type ? (size_t)info->blocks[type] * r->layout->counters[type] : 0;
	r->of_blocks = calloc(of_blocks + 1, sizeof(*r->of_blocks));
	if (!r->of_blocks)
		return -1;
	for (i = 0; i < of_blocks; i++) {
		unsigned int value = r->layout->indices[type][i % r->layout->counters[type]];

		if (r->batches->block_needs.bits[type][value / 64] >> (value % 64) & 1)
			r->of_blocks[r->num_of_blocks++] = i;
	}
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		columns += info->blocks[type] ? r->layout->counters[type] : 0;
	r->slots = calloc(r->num_slots, sizeof(*r->slots));
	for (i = 0; r->slots && i < r->num_slots; i++) {
		r->slots[i].columns = malloc((columns + r->num_of_blocks + 1) *
					     sizeof(*r->slots[i].columns));
		r->slots[i].of_blocks = calloc(of_blocks + 1, sizeof(*r->slots[i].of_blocks));
		r->slots[i].fields = malloc(r->layout->fields * sizeof(*r->slots[i].fields));
		if (!r->slots[i].columns || !r->slots[i].of_blocks || !r->slots[i].fields)
			return -1;
		point(r, &r->slots[i]);
	}
	return r->slots ? 0 : -1;
}

static void free_slots(struct reader *r)
{
	size_t i;

	for (i = 0; r->slots && i < r->num_slots; i++) {
		free(r->slots[i].columns);
		free(r->slots[i].of_blocks);
		free(r->slots[i].fields);
		free(r->slots[i].runs);
		free(r->slots[i].sums);
	}
	free(r->slots);
	free(r->of_blocks);
}

static int choose_chunks(struct reader *r)
{
	size_t i;

	r->wanted = calloc(r->chunks->count + 1, sizeof(*r->wanted));
	if (!r->wanted)
		return -1;
	for (i = 0; i < r->chunks->count; i++)
		if (r->chunks->list[i].range.samples && view_sees_part(r->batches->view, &r->chunks->list[i].range))
			r->wanted[r->num_wanted++] = i;
	return 0;
}

static void find_fields(struct reader *r)
{
	size_t block = RECORDING_FIELDS, value = RECORDING_FIELDS + r->layout->blocks;
	unsigned int type, n;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		n = r->recording->head.gpu.blocks[type];
		if (type == PPERF_BLOCK_CSHW && n)
			r->front_end = block;
		r->first_field[type] = value;
		block += n;
		value += (size_t)n * r->layout->counters[type];
	}
}

enum recording_item batches_run(const struct batches *batches)
{
	struct recording *recording = &batches->view->recording;
	struct reader r = {
		.batches = batches, .recording = recording, .layout = &recording->layout, .chunks = &batches->view->chunks,
	};
	unsigned int threads = processors();
	enum recording_item item = RECORDING_NO_MEMORY;

	find_fields(&r);
	r.num_slots = threads * BATCHES_PER_THREAD;
	if (choose_chunks(&r) || make_slots(&r)) {
		snprintf(recording->error, sizeof(recording->error), "out of memory");
		goto out;
	}
	item = RECORDING_SAMPLE;
	start_threads(&r, r.num_wanted < threads ? r.num_wanted : threads - 1);
	for (; item == RECORDING_SAMPLE && r.round < r.num_wanted; r.round += r.round_size) {
		r.round_size = r.num_wanted - r.round < r.num_slots ? r.num_wanted - r.round : r.num_slots;
		share_work(&r, decode, r.round_size);
		item = check_round(&r, recording);
		if (item == RECORDING_SAMPLE)
			share_work(&r, run_task, batches->tasks);
	}
	end_threads(&r);
out:
	free_slots(&r);
	free(r.wanted);
	return item == RECORDING_SAMPLE ? RECORDING_END : item;
}

/* ---- For tasks ---- */

struct pperf_columns batch_of_block(const struct batches *b, const struct batch *batch, unsigned int block)
{
	const struct recording_layout *layout = &b->view->recording.layout;
	struct pperf_columns columns = batch->columns;
	unsigned int i, count = layout->counters[b->block_type];

	for (i = 0; i < count; i++)
		columns.totals[b->block_type][layout->indices[b->block_type][i]] = batch->of_blocks[block * count + i];
	return columns;
}

struct pperf_columns batch_columns(const struct batch *batch, const struct batch_run *run)
{
	struct pperf_columns columns = batch->columns;
	unsigned int type, i;

	columns.count = run->count;
	columns.start_ns += run->first;
	columns.end_ns += run->first;
	columns.seconds += run->first;
	columns.slept += run->first;
	for (i = 0; i < PPERF_CLOCKS; i++)
		columns.cycles[i] += run->first;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES; i++)
			if (columns.totals[type][i])
				columns.totals[type][i] += run->first;
	return columns;
}

int adder_new(struct adder *a, const struct recording *r)
{
	unsigned int b;

	memset(a, 0, sizeof(*a));
	a->recording = r;
	a->blocks = calloc(r->layout.blocks + 1, sizeof(*a->blocks));
	a->values = calloc(r->layout.blocks * (size_t)r->head.gpu.values_per_block + 1, sizeof(*a->values));
	if (!a->blocks || !a->values)
		return -1;
	memcpy(a->blocks, r->blocks, r->layout.blocks * sizeof(*a->blocks));
	for (b = 0; b < r->layout.blocks; b++)
		a->blocks[b].values = a->values + b * (size_t)r->head.gpu.values_per_block;
	a->sample = r->sample;
	a->sample.blocks = a->blocks;
	return 0;
}

void adder_free(struct adder *a)
{
	free(a->blocks);
	free(a->values);
}

const struct pperf_sample *adder_sum(struct adder *a, const struct batch_run *run)
{
	const struct recording *r = a->recording;

	a->sample.flags = run->fields[2];
	memcpy(a->sample.cycles, &run->fields[3], sizeof(a->sample.cycles));
	recording_spread(&r->layout, run->fields + RECORDING_FIELDS, a->blocks, a->values, r->head.gpu.values_per_block);
	return &a->sample;
}
