/* SPDX-License-Identifier: MIT */
/*
 * Parts of a recording that have names: each lasts from a mark to the next, whoever has set them. Those of one
 * name are one region. All else is the region without a name, so that regions make up the whole.
 */
#ifndef PANTHOR_PERF_REGIONS_H
#define PANTHOR_PERF_REGIONS_H

#include <stdio.h>

#include <columns.h>

#include "figures.h"
#include "recording.h"

struct json_object;

/* More names than these are one region, the last. */
#define REGIONS_MAX 200
#define REGIONS_OTHERS "(others)"

struct region {
	/* Empty: what has no name. */
	char name[PPERF_MARK_LENGTH + 1];

	/* How often it begins, and how long it lasts, as far as samples were taken. */
	uint64_t times, lasts_ns;

	/*
	 * Samples belong where their middle lies, so that every count is in one region. Sure are those that
	 * lie in it as a whole, across those that lie in another region too: what was counted in the region
	 * is from the sum of the sure ones to that of both.
	 */
	struct pperf_sums *sums, *sure, *across;

	/* The latest that was added to across. */
	uint64_t latest;
};

struct regions {
	/* That without a name is the first; the others are in the order of their first marks. */
	struct region *list;
	size_t count;

	/* By time. */
	struct region_mark {
		uint64_t time_ns;
		uint32_t region;
	} *marks;
	size_t num_marks, room;

	uint64_t samples, start_ns, end_ns;
};

/* Zero them to begin. Adds a mark of a recording, behind all others. Returns -1 without memory. */
int regions_add_mark(struct regions *regions, const struct recording_mark *mark);

/* The region that a sample belongs to, 0 without marks. Returns false if it lies in others as well. */
bool regions_place(const struct regions *regions, uint64_t start_ns, uint64_t end_ns, uint32_t *region);

/* Whether any of a region lies in that time. */
bool regions_touch(const struct regions *regions, uint32_t region, uint64_t start_ns, uint64_t end_ns);

/* The number of a region by its name, or 0. */
uint32_t regions_find(const struct regions *regions, const char *name);

/* Makes the sums of all regions, when all marks were added. */
enum pperf_error regions_begin(struct regions *regions, const struct pperf_db *db, const struct pperf_gpu_info *info);

/*
 * Adds samples that have the sum together, to the sums of all regions that they touch: those that regions_place() has for each,
 * or one alone that lies in others as well.
 */
void regions_add(struct regions *regions, const struct pperf_columns *columns, const struct pperf_sample *sum, uint32_t region,
		 bool sure);

/* To be called when all samples were added. */
void regions_end(struct regions *regions);
void regions_free(struct regions *regions);

/* What part of the time of a region's samples is of those that lie in others too, 0 to 1. */
double regions_uncertain(const struct region *region);

/* Lines with the figures of each. */
void regions_print(FILE *out, const struct regions *regions, const struct figures_source *source);

#endif
