/* SPDX-License-Identifier: MIT */
/* What panthor-perf stat has been asked for and has counted, for those who count and those who show. */
#ifndef PANTHOR_PERF_STAT_H
#define PANTHOR_PERF_STAT_H

#include "common.h"
#include "figures.h"

struct stat_arguments {
	const char *device;
	const char *output;
	const char *separator;
	bool json;
	bool per_block;
	bool per_core;
	bool all;

	/* Deepest level of top-down to show, 0: none. */
	unsigned int topdown;

	/* Length of an interval, 0: none; period of samples, 0: chosen here; number of runs. */
	unsigned long interval_ms;
	uint64_t period_ns;
	unsigned long repeat;

	/* From the start of the command to that of counting; 0: none. */
	uint64_t delay_ns;

	/* Counter set, 0 being the primary one. */
	uint8_t set;

	/* Lists of counters. */
	const char **events;
	size_t num_events;

	char **command;
};

/* One run of the command, or one interval. */
struct stat_run {
	struct pperf_sums *sums;

	/* NULL if it is not shown. */
	struct pperf_topdown *topdown;
};

struct stat_report {
	FILE *out;

	/* It is a terminal that has no room for whole rows. */
	bool narrow;

	const struct stat_arguments *arguments;
	const struct pperf_gpu_info *gpu;
	const struct pperf_db *db;

	/* What comes first. */
	struct figures_source source;

	/* Of top-down, deepest level in JSON; 0 if there is none, or what was counted has no value in it. */
	unsigned int level;

	/* What is shown. */
	const struct pperf_counter *const *counters;
	size_t num_counters;

	const struct stat_run *runs;
	size_t num_runs;

	/* Of all runs. */
	const struct pperf_log *log;
	struct rates clock;

	/* Columns of the widest value so far. */
	int width;

	/* Begin of the first sample, for the time of intervals. */
	uint64_t begin_ns;
};

/* Shows what was counted in all runs, in the form that was asked for. */
void stat_show(struct stat_report *report);

/* Shows one interval, which is the only run. */
void stat_show_interval(struct stat_report *report, bool first);

/* Tells, beside the counts, of the clock's rate and of what happened to samples. */
void stat_show_end(const struct stat_report *report, FILE *out);

#endif
