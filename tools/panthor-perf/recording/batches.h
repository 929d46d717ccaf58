/* SPDX-License-Identifier: MIT */
/*
 * All samples of a recording that are looked at, in order, many at a time: decoded by all processors at once, into columns.
 */
#ifndef PANTHOR_PERF_BATCHES_H
#define PANTHOR_PERF_BATCHES_H

#include <columns.h>

#include "view.h"

/* Samples that follow each other: all, or those of a region that lie in it as a whole, or one that lies in others too. */
struct batch_run {
	/* Those of the batch. */
	size_t first, count;

	uint32_t region;
	bool sure;

	/* What they have together, in the order of the recording's fields: states of blocks, counts, cycles, flags. */
	uint64_t *fields;
};

/* Samples of one chunk. */
struct batch {
	struct pperf_columns columns;

	/* How many samples that are looked at come before it. */
	uint64_t number;

	/* Of each sample: its length, flags, whether a block was in protected mode, and whether the one before it is looked at as well. */
	const double *length_ns;
	const uint32_t *flags;
	const bool *in_protected, *follows;

	/* In which parts of the time of all that is looked at it begins and ends. */
	const struct batch_part *parts[2];

	struct batch_run *runs;
	size_t num_runs;

	/* Columns of each block of the type whose blocks are wanted, of what is wanted of them; NULL of all else. */
	const double *const *of_blocks;
};

/* The time is in equal parts, as many as this for either. */
#define BATCH_PARTS 2

/* Its part of the time where it begins, where it ends, and how long it is in the first, in nanoseconds. */
struct batch_part {
	uint32_t first, last;
	double overlap;
};

struct batches {
	struct view *view;

	/* Whether runs are of one region each; else each batch is one run. */
	bool by_region;

	/* Whose blocks have columns of their own, 0: none; and of what. */
	unsigned int block_type;
	struct pperf_masks block_needs;

	/* Parts of the time, from begin to end; 0: they are not wanted. */
	unsigned int parts[BATCH_PARTS];
	uint64_t start_ns, end_ns;

	/*
	 * What is done with batches: each task is given one after the other, in order, and is never run twice at a time;
	 * tasks run at the same time as others.
	 */
	void (*task)(void *context, size_t number, const struct batch *batch);
	void *context;
	size_t tasks;
};

/* Returns RECORDING_END, or what is wrong, which the recording of the view has then. */
enum recording_item batches_run(const struct batches *batches);

/* The overlap of a sample with a part behind its first, in nanoseconds. */
double batch_overlap(const struct batches *batches, unsigned int which, uint64_t start_ns, uint64_t end_ns, unsigned int part);

/* The columns as of one block of the type whose blocks are wanted. */
struct pperf_columns batch_of_block(const struct batches *batches, const struct batch *batch, unsigned int block);

/* A sample for the sums of runs, and its memory. adder_free() must be called in any case. */
struct adder {
	const struct recording *recording;
	struct pperf_sample sample;
	struct pperf_block *blocks;
	uint64_t *values;
};

/* Returns -1 without memory. */
int adder_new(struct adder *adder, const struct recording *recording);
void adder_free(struct adder *adder);

/* What a run has together; its columns are a part of those of the batch. */
const struct pperf_sample *adder_sum(struct adder *adder, const struct batch_run *run);
struct pperf_columns batch_columns(const struct batch *batch, const struct batch_run *run);

#endif
