/* SPDX-License-Identifier: MIT */
/*
 * What people ask for first, the same in every command: load of the GPU and of its parts, mean frequency,
 * bandwidth of the external memory, and in a line what held the work up.
 */
#ifndef PANTHOR_PERF_FIGURES_H
#define PANTHOR_PERF_FIGURES_H

#include <stdio.h>

#include <panthor-perf.h>

#include "rates.h"

/* Parts of the GPU besides its shader cores. */
#define FIGURES_UNITS 5

/* A part that has cycles in which it is active. */
struct figures_unit {
	const char *title;
	const struct pperf_counter *counter;
	enum pperf_clock clock;
};

/* The counters that figures are made of. Those that a GPU does not have are NULL, and their figures NAN. */
struct figures_source {
	const struct pperf_db *db;
	const struct pperf_gpu_info *info;

	/* Bytes read and written; cycles in which a shader core is active. */
	const struct pperf_counter *read, *written, *core;

	struct figures_unit units[FIGURES_UNITS];
	unsigned int num_units;
};

/* The database and the info have to outlive it. */
void figures_find(struct figures_source *source, const struct pperf_db *db, const struct pperf_gpu_info *info);

/* Adds to the masks what bandwidth is made of; for load and top-down the library has functions. */
void figures_need_bandwidth(const struct figures_source *source, struct pperf_masks *masks);

struct figures {
	/* False if load is not known, which is all 0 then. */
	bool has_load;
	struct pperf_load load;

	/* Mean of the top level clock while the GPU was active, in Hz; bytes a second. NAN if not known. */
	double hz, read, written;

	/* The clock's, whether the GPU was active or not: for callers to fill in. */
	struct rates clock;
};

struct figures figures_of(const struct figures_source *source, const struct pperf_sums *sums);

/* Parts of the time, 0 to 1, sleep counted as idle; NAN if not known. */
double figures_unit_load(const struct figures_source *source, const struct pperf_sums *sums, unsigned int unit);
double figures_core_load(const struct figures_source *source, const struct pperf_sums *sums, unsigned int core);

/*
 * What they are made of: cycles as a part of the time, in which the GPU may have slept, of a clock that had so many. The clock is
 * one that the GPU tells of.
 */
double figures_part_of_time(const struct pperf_load *load, uint64_t possible, double cycles);
enum pperf_clock figures_clock(const struct figures_source *source, enum pperf_clock clock);

/* Each as a row: its name is that in JSON, with that of the object before it. NAN if it is not known. */
#define FIGURES_ROWS 5

struct figures_row {
	const char *name, *unit;
	double value;
};

void figures_rows(const struct figures *figures, struct figures_row rows[FIGURES_ROWS]);

/* A line for each figure that is known. */
void figures_print(FILE *out, const struct figures *figures);

struct json_object;

/* With as many digits as tell it from all others, and no fewer than people want to see of a time. */
struct json_object *json_seconds(double seconds);

/* Adds "load", "clock" and "bandwidth" to an object, as far as they are known. */
void figures_add_json(struct json_object *object, const struct figures *figures);

/* The parts of level 1 in a line, in percent. Share gives the part of the whole that a node is, 0 to 1. */
void figures_print_topdown(FILE *out, const struct pperf_db *db,
			   double (*share)(const void *context, const struct pperf_topdown_node *node),
			   const void *context);

/* The same of one; it can be passed as share, with a struct pperf_topdown. */
double figures_topdown_share(const void *topdown, const struct pperf_topdown_node *node);

#endif
