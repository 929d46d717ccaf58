/* SPDX-License-Identifier: MIT */
/* Sums of all samples of each region, and what is shown of them. */
#ifndef PANTHOR_PERF_REGION_SUMS_H
#define PANTHOR_PERF_REGION_SUMS_H

#include <stdio.h>

#include <columns.h>

#include "figures.h"
#include "job-times.h"
#include "regions.h"

/* Makes the sums of all regions, when all marks were added. */
enum pperf_error regions_begin(struct regions *regions, const struct pperf_db *db, const struct pperf_gpu_info *info);

/*
 * Adds samples that have the sum together, to the sums of all regions that they touch: those that pperf_regions_place() has for each,
 * or one alone that lies in others as well.
 */
void regions_add(struct regions *regions, const struct pperf_columns *columns, const struct pperf_sample *sum, uint32_t region,
		 bool sure);

/* What part of the time of a region's samples is of those that lie in others too, 0 to 1. */
double regions_uncertain(const struct region *region);

/* Lines with the figures of each, and what the GPU did in it; NULL if that is not known. */
void regions_print(FILE *out, const struct regions *regions, const struct figures_source *source, const struct job_times *jobs);

#endif
