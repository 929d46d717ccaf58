/* SPDX-License-Identifier: MIT */
/* What the commands share that show recordings. */
#ifndef PANTHOR_PERF_VIEW_H
#define PANTHOR_PERF_VIEW_H

#include <stdio.h>

#include <columns.h>

#include "chunks.h"
#include "frames.h"
#include "job-times.h"
#include "recording.h"
#include "region-sums.h"

struct view {
	const char *path;
	struct recording recording;
	struct pperf_db *db;

	/* All its parts, its marks, and its frames. */
	struct chunks chunks;
	struct regions regions;
	struct frames frames;

	/* Its jobs, if they were read and it has any. */
	struct jobs jobs;
	bool has_jobs;

	/* What the GPU did in each region, if that is known: see view_sum_regions(). */
	struct job_times *region_jobs;

	/* What is looked at: a region, 0 being the whole recording, and a part of the time; until_ns is UINT64_MAX for all. */
	uint32_t region;
	uint64_t from_ns, until_ns;
};

/* Opens a recording and the database of its counters, for who reads it in a row. Prints what is wrong. Returns a status. */
int view_open_stream(struct view *view, const char *path);

/*
 * The same, for who looks at parts of it, or more than once: its chunks, marks and frames are known then. A pipe's is copied to a
 * temporary file.
 */
int view_open(struct view *view, const char *path);

/* A file without a name, to write and to read. Prints what is wrong. Returns NULL then. */
FILE *view_temporary(const struct view *view);
void view_close(struct view *view);

/* Reads the jobs, if it has any. Prints what is wrong. Returns a status. */
int view_read_jobs(struct view *view);

/* Looks at one region alone from here on. Prints what is wrong. Returns a status. */
int view_choose_region(struct view *view, const char *name);

/* Looks at a part of the time alone, from its begin on, in nanoseconds. */
void view_choose_time(struct view *view, uint64_t from_ns, uint64_t until_ns);

/* Whether a sample is looked at, which belongs where its middle is, or any of a chunk may be. */
bool view_sees(const struct view *view, uint64_t start_ns, uint64_t end_ns);
bool view_sees_part(const struct view *view, const struct recording_chunk *chunk);

/* Adds up all regions, of the whole recording, and their jobs, if these were read. Returns a status. */
int view_sum_regions(struct view *view);

/* Says what ended the reading of a recording, if that was not its end. Returns a status. */
int view_finish(const struct view *view, enum recording_item item);

/* All samples that are looked at: how many, where the first begins and where the last ends. Returns a status. */
struct extent {
	uint64_t samples, start_ns, end_ns;
};
int view_extent(struct view *view, struct extent *extent);

/* The same of the whole recording. */
struct extent view_whole(const struct view *view);

/* Calls take() for each part of the time that is looked at, whatever samples are in it, from the first sample to the last. */
void view_each_time(const struct view *view, void (*take)(void *context, uint64_t from_ns, uint64_t until_ns), void *context);

/* A file that gets its name when it is whole, or what a link, a device or a pipe leads to, or standard output. */
struct output {
	FILE *file;
	const char *path;
	char *temporary;
};

/* True if output_open() makes a new file that takes the place of one of this name: it is not a device, a pipe, or a link. */
bool output_replaces(const char *path);

/* Path is NULL or "-" for standard output. Binary data is not for terminals. Prints what is wrong. Returns a status. */
int output_open(struct output *output, const char *path, bool binary);

/* Status is that of what has been written: unless it is STATUS_OK, there will be no file. Returns a status. */
int output_close(struct output *output, int status);

/*
 * What is to be said of one counter or metric over a recording. Of counts all but
 * the total are rates, in units a second; of ratios there is no total, and the mean
 * is the ratio of all that was counted.
 */
#define SUMMARY_BINS 24
#define SUMMARY_PARTS 10
#define SUMMARY_PERCENTILES 3

extern const int summary_percentiles[SUMMARY_PERCENTILES];

/*
 * How a value went over the time, to be drawn: a line of bins, in each of which are as many samples as in any
 * other, or one more. Where no sample has a value, there are none: NAN.
 */
struct bin {
	/* By the time that samples cover. */
	double mean;
	double min, max;

	/* While samples are added: their time, of which mean is the sum so far. */
	double weight;
};

/* Bins of a line, and of the lines of all counters together. */
#define LINE_MAX_BINS 2000
#define LINES_MAX_BINS 350000

struct summary {
	const struct pperf_counter *counter;

	/* False if there is nothing: the equation has no value in any sample. */
	bool valid;
	double total, mean, min, max;

	/* By the time that samples cover: of a value of one sample, up to QUANTILES_ERROR above the right one. */
	double percentile[SUMMARY_PERCENTILES];

	/* Of cycles: the part of the clock's cycles that this is of, 0 to 1; else negative. */
	double share;

	/* Means over equal parts of the time. */
	double timeline[SUMMARY_BINS];

	/*
	 * How far the mean may be from that of another recording of the same: the standard
	 * error of the mean, from those of SUMMARY_PARTS parts of the time; a part of the mean.
	 */
	double noise;

	/* The line, if lines are wanted. Valid or not. */
	struct bin *line;
};

/* All that is to be said of a recording. */
struct summaries {
	struct pperf_log log;

	/* Gaps between samples that are looked at and follow each other. */
	struct pperf_log gaps;
	struct pperf_sums *sums;

	/* NULL if the counters recorded are not enough for it. */
	struct pperf_topdown *topdown;

	struct summary *list;
	size_t count;

	/* Bins of each line, and samples that are looked at; 0 bins if there are no lines. */
	size_t bins;
	uint64_t samples;
};

/* What is wanted of a recording. */
enum summary_depth {
	/* Nothing of single samples: no least, most, percentiles, time line, noise. */
	SUMMARY_SUMS,

	SUMMARY_SAMPLES,
};

struct batch;
struct batches;

/* Who wants lines, and takes samples on the way. */
struct summary_lines {
	/*
	 * Called when it is known what there is, before samples are read. Adds tasks to those of the batches, from a number on: they
	 * are told of the number less that. Returns a status.
	 */
	int (*begin)(void *context, const struct summaries *summaries, struct batches *batches);
	void (*task)(void *context, size_t number, const struct batch *batch);
	void *context;
};

/*
 * Reads what is looked at of a recording. Of the counters of the patterns or, without any, of all that it has. Prints what is
 * wrong. Lines is NULL if none are wanted. Returns a status.
 */
int summarize(struct view *view, char *const *patterns, unsigned int num_patterns, enum summary_depth depth,
	      const struct summary_lines *lines, struct summaries *summaries);
void summaries_free(struct summaries *summaries);

/* The standard error of the mean of parts that are not NAN, as a part of a mean. */
double summary_noise(const double *means, unsigned int parts, double mean);

/* A line of nothing. NULL without memory. */
struct bin *line_new(const struct summaries *summaries);

/* The bin of a sample, of which the first is number 0. */
size_t line_bin(const struct summaries *summaries, uint64_t sample);

/* Adds what samples say from a number on, or NAN, and the time that each covers. */
void line_add(struct bin *line, const struct summaries *summaries, uint64_t number, const double *values, const double *weights,
	      size_t count);

/* To be called when all samples were added. */
void line_end(struct bin *line, const struct summaries *summaries);

/* Values of a counter in columns: NAN where there is none. */
void view_values(const struct view *view, const struct pperf_columns *columns, const struct pperf_counter *counter, double *values);

/* Adds a list of patterns, separated by commas, to an array of them. Returns -1 without memory. */
int add_pattern(char ***patterns, unsigned int *count, char *list);

#endif
