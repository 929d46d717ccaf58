// SPDX-License-Identifier: MIT
/*
 * In rounds: first all threads decode chunks, of which there are some for each thread, then all of them run tasks over what was
 * decoded. Which thread does what makes no difference to the results.
 */
#define _GNU_SOURCE
#include "batches.h"
#include "decode.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
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

	/* Sums of the fields of each. */
	uint64_t *sums;

	struct reader *reader;
	struct decoder decoder;

	/* RECORDING_SAMPLE if all is well. */
	enum recording_item item;
};

struct reader {
	const struct batches *batches;
	const struct recording *recording;
	const struct recording_layout *layout;
	const struct chunks *chunks;

	/* The chunks that have something that is looked at. */
	size_t *wanted, num_wanted;

	/* The field of the front end's states, or 0. */
	size_t front_end;

	/* Where the values of columns are: of all counters, then what is wanted of blocks. */
	struct recording_column *columns;
	size_t num_columns;

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
		sure = pperf_regions_place(regions, s->start_ns[n], s->end_ns[n], &region);

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

/* Adds the sample that the fields are of, if it is looked at. */
static enum recording_item add_sample(void *context, const struct recording_times *times, const struct recording_times *before)
{
	struct slot *s = context;
	struct reader *r = s->reader;
	const struct batches *b = r->batches;
	const uint64_t *fields = s->decoder.fields;
	size_t n = s->batch.columns.count, i;
	uint64_t all_states = 0;
	struct batch_run *run;

	if (!view_sees(b->view, times->start_ns, times->end_ns))
		return RECORDING_SAMPLE;
	s->start_ns[n] = times->start_ns;
	s->end_ns[n] = times->end_ns;
	s->length_ns[n] = times->end_ns - times->start_ns;
	s->seconds[n] = s->length_ns[n] / 1e9;
	s->flags[n] = times->flags;
	s->follows[n] = before && view_sees(b->view, before->start_ns, before->end_ns);
	for (i = 0; i < PPERF_CLOCKS; i++)
		s->cycles[i][n] = fields[3 + i];
	s->slept[n] = r->front_end && fields[r->front_end] & PPERF_STATE_OFF;
	for (i = 0; i < r->layout->blocks; i++)
		all_states |= fields[RECORDING_FIELDS + i];
	s->in_protected[n] = all_states & PPERF_STATE_PROTECTED;
	for (i = 0; i < BATCH_PARTS; i++)
		if (b->parts[i])
			find_part(b, i, times->start_ns, times->end_ns, &s->parts[i][n]);
	for (i = 0; i < r->num_columns; i++)
		s->columns[i][n] = recording_total(fields, &r->columns[i]);

	run = run_of(r, s, n);
	if (!run)
		return RECORDING_NO_MEMORY;
	add_fields(r, fields, s->sums + (s->batch.num_runs - 1) * r->layout->fields);
	run->count++;
	s->batch.columns.count++;
	return RECORDING_SAMPLE;
}

static void decode(struct reader *r, size_t number)
{
	struct slot *s = &r->slots[number];
	size_t i;

	s->batch.columns.count = s->batch.num_runs = 0;
	s->item = decode_chunk(&s->decoder, &r->chunks->list[r->wanted[r->round + number]]);
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
		if (s->item == RECORDING_SAMPLE && r->round + i && r->wanted[r->round + i - 1] == chunk - 1)
			s->item = decode_follows(&s->decoder, &r->chunks->list[chunk], r->ends);
		if (s->item != RECORDING_SAMPLE) {
			memcpy(recording->error, s->decoder.error, sizeof(s->decoder.error));
			return s->item;
		}
		r->ends = s->decoder.ends;
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

/* Finds where the values of columns are. Returns -1 without memory. */
static int find_columns(struct reader *r)
{
	const struct pperf_gpu_info *info = &r->recording->head.gpu;
	unsigned int type = r->batches->block_type, i;
	size_t of_blocks = type ? (size_t)info->blocks[type] * r->layout->counters[type] : 0, columns = 0, n;
	struct recording_column *column;

	for (i = 1; i < PPERF_BLOCK_TYPES; i++)
		columns += info->blocks[i] ? r->layout->counters[i] : 0;
	r->of_blocks = calloc(of_blocks + 1, sizeof(*r->of_blocks));
	r->columns = column = calloc(columns + of_blocks + 1, sizeof(*r->columns));
	if (!r->of_blocks || !r->columns)
		return -1;
	for (n = 0; n < of_blocks; n++) {
		unsigned int value = r->layout->indices[type][n % r->layout->counters[type]];

		if (r->batches->block_needs.bits[type][value / 64] >> (value % 64) & 1)
			r->of_blocks[r->num_of_blocks++] = n;
	}
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; info->blocks[type] && i < r->layout->counters[type]; i++)
			*column++ = pperf_records_column(r->recording, type, i);
	for (n = 0; n < r->num_of_blocks; n++) {
		*column = pperf_records_column(r->recording, r->batches->block_type, 0);
		column->first += r->of_blocks[n];
		column++->count = 1;
	}
	r->num_columns = column - r->columns;
	return 0;
}

static int make_slots(struct reader *r)
{
	unsigned int type = r->batches->block_type;
	size_t of_blocks = type ? (size_t)r->recording->head.gpu.blocks[type] * r->layout->counters[type] : 0, i;
	struct slot *s;

	r->slots = calloc(r->num_slots, sizeof(*r->slots));
	for (i = 0; r->slots && i < r->num_slots; i++) {
		s = &r->slots[i];
		s->reader = r;
		s->columns = malloc((r->num_columns + 1) * sizeof(*s->columns));
		s->of_blocks = calloc(of_blocks + 1, sizeof(*s->of_blocks));
		if (decoder_new(&s->decoder, r->recording, r->chunks) || !s->columns || !s->of_blocks)
			return -1;
		s->decoder.sample = add_sample;
		s->decoder.context = s;
		point(r, s);
	}
	return r->slots ? 0 : -1;
}

static void free_slots(struct reader *r)
{
	size_t i;

	for (i = 0; r->slots && i < r->num_slots; i++) {
		free(r->slots[i].columns);
		free(r->slots[i].of_blocks);
		decoder_free(&r->slots[i].decoder);
		free(r->slots[i].runs);
		free(r->slots[i].sums);
	}
	free(r->slots);
	free(r->of_blocks);
	free(r->columns);
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

enum recording_item batches_run(const struct batches *batches)
{
	struct recording *recording = &batches->view->recording;
	struct reader r = {
		.batches = batches, .recording = recording, .layout = &recording->layout, .chunks = &batches->view->chunks,
	};
	unsigned int threads = processors();
	enum recording_item item = RECORDING_NO_MEMORY;

	r.front_end = pperf_records_states(recording, PPERF_BLOCK_CSHW);
	r.num_slots = threads * BATCHES_PER_THREAD;
	if (choose_chunks(&r) || find_columns(&r) || make_slots(&r)) {
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
	pperf_records_spread(&r->layout, run->fields + RECORDING_FIELDS, a->blocks, a->values, r->head.gpu.values_per_block);
	return &a->sample;
}
