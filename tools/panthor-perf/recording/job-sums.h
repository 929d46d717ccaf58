/* SPDX-License-Identifier: MIT */
/*
 * What was counted while jobs of one process alone ran, of each process; while those of several did; and while the GPU was idle.
 * Samples are never split: those that lie in more than one of these times are told apart.
 */
#ifndef PANTHOR_PERF_JOB_SUMS_H
#define PANTHOR_PERF_JOB_SUMS_H

#include <columns.h>

#include "view.h"

/* Where a sample lies as a whole, or that it does not. Behind these come processes. */
enum {
	JOB_SUMS_SEVERAL,
	JOB_SUMS_EDGES,
	JOB_SUMS_IDLE,
	JOB_SUMS_UNKNOWN,
	JOB_SUMS_PROCESSES,
};

struct job_sums {
	/* An element for each of these: seconds are those of its samples. */
	struct pperf_columns columns;

	/* The place of each process, 0 if it was never alone. */
	size_t *places;

	/* Samples, and their time. */
	uint64_t *samples, *counted_ns;

	/* All memory that columns point to. */
	double *seconds, *totals;
	uint64_t *cycles;
	bool *slept;
};

/* Adds up all samples that are looked at, by the jobs of the view. Prints what is wrong. Returns a status. */
int job_sums_read(struct job_sums *sums, struct view *view);

/* To be called in any case. */
void job_sums_free(struct job_sums *sums);

#endif
