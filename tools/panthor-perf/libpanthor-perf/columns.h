/* SPDX-License-Identifier: MIT */
/*
 * Many samples of a recording at a time, for the program, which has the library in it: no part of the library's
 * interface. Results are those of the same samples one by one, to the last digit.
 */
#ifndef PPERF_COLUMNS_H
#define PPERF_COLUMNS_H

#include "panthor-perf.h"

/* As many values as come at a time. */
#define COLUMNS_MAX_VALUES 128

struct pperf_columns {
	/* At least one. */
	size_t count;

	const uint64_t *start_ns, *end_ns;

	/* The time between both. */
	const double *seconds;

	const uint64_t *cycles[PPERF_CLOCKS];

	/* Whether the GPU was off for a part of it. */
	const bool *slept;

	/* Sums over all blocks of a type, NULL for counters that are not recorded. */
	const double *totals[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES];
};

/*
 * Values of a counter or metric from a sample on, with the length of each as its seconds. Returns how many there are:
 * up to COLUMNS_MAX_VALUES. Values may be infinite or NAN. Nothing is evaluated without a counter.
 */
size_t pperf_columns_values(const struct pperf_columns *columns, const struct pperf_db *db,
			    const struct pperf_gpu_info *info, const struct pperf_counter *counter, size_t first,
			    double *values);

/* The same as of one block of a type: totals of the type have to be those of the block. */
size_t pperf_columns_block_values(const struct pperf_columns *columns, const struct pperf_db *db,
				  const struct pperf_gpu_info *info, const struct pperf_counter *counter, unsigned int type,
				  size_t first, double *values);

/* Adds all of them to sums. Sum is a sample that has what they have together; its times are not looked at. */
void pperf_sums_add_columns(struct pperf_sums *sums, const struct pperf_columns *columns, const struct pperf_sample *sum);

/*
 * The load of each, as of sums that were reset before it: they are not changed, but learn the rate of the clock. Returns false
 * if active cycles were not recorded.
 */
bool pperf_sums_loads(struct pperf_sums *sums, const struct pperf_columns *columns, struct pperf_load *loads);

/*
 * Adds all of them. PPERF_ERROR_NO_VALUE if a node has no value. Shares, if wanted, are a column of each node: NAN for
 * samples of no cycles.
 */
enum pperf_error pperf_topdown_add_columns(struct pperf_topdown *topdown, const struct pperf_columns *columns,
					   double *const *shares);

#endif
