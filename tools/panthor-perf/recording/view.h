/* SPDX-License-Identifier: MIT */
/* What the commands share that show recordings. */
#ifndef PANTHOR_PERF_VIEW_H
#define PANTHOR_PERF_VIEW_H

#include <stdio.h>

#include "recording.h"
#include "regions.h"

struct view {
	const char *path;
	struct recording recording;
	struct pperf_db *db;

	/* Its marks, as far as it was read. */
	struct regions regions;
	bool has_marks;

	/* The only region that is looked at, 0 being the whole recording. */
	uint32_t region;

	/* Gaps between samples that are looked at and follow each other. */
	struct pperf_log gaps;
	uint64_t end_ns;
	bool last_seen;
};

/*
 * Opens a recording and the database of its counters. A pipe's is copied to a temporary file if it is to be read
 * again. Prints what is wrong. Returns a status.
 */
int view_open(struct view *view, const char *path, bool again);
void view_close(struct view *view);

/*
 * Looks at one region alone, in all that is read from here on: the recording is read once to find it. Prints
 * what is wrong. Returns a status.
 */
int view_choose_region(struct view *view, const char *name);

/* The same by its number, of a recording whose marks are known. */
int view_look_at_region(struct view *view, uint32_t region);

/* The next sample, or what comes behind the last. */
enum recording_item view_next(struct view *view);

/* Goes back to the first sample. Returns -1 if that cannot be. */
int view_rewind(struct view *view);

/* Adds up all regions, with another look at the whole recording. Returns a status. */
int view_sum_regions(struct view *view);

/* Says what ended the reading of a recording, if that was not its end. Returns a status. */
int view_finish(const struct view *view, enum recording_item item);

/* A file that gets its name when it is whole, or what a link, a device or a pipe leads to, or standard output. */
struct output {
	FILE *file;
	const char *path;
	char *temporary;
};

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

	/* By the time that samples cover. */
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
	struct pperf_sums *sums;

	/* NULL if the counters recorded are not enough for it. */
	struct pperf_topdown *topdown;

	struct summary *list;
	size_t count;

	/* Bins of each line; 0 if there are no lines. */
	size_t bins;
};

/* What is wanted of a recording. */
enum summary_depth {
	/* Nothing of single samples: no least, most, percentiles, time line, noise. */
	SUMMARY_SUMS,

	SUMMARY_SAMPLES,

	/* Lines to be drawn as well. */
	SUMMARY_LINES,
};

/*
 * Reads a recording, more than once if there is much in it, or more than sums is wanted. Of the counters
 * of the patterns or, without any, of all that it has. Prints what is wrong. Returns a status.
 */
int summarize(struct view *view, char *const *patterns, unsigned int num_patterns, enum summary_depth depth,
	      struct summaries *summaries);
void summaries_free(struct summaries *summaries);

/* Of a recording that has fewer samples than when it was read before: for view_finish(). */
enum recording_item view_changed(struct view *view);

/* A line of nothing. NULL without memory. */
struct bin *line_new(const struct summaries *summaries);

/* The bin of a sample, of which the first is number 0. */
size_t line_bin(const struct summaries *summaries, uint64_t sample);

/* Adds what a sample says, or NAN, and the time that it covers. */
void line_add(struct bin *bin, double value, double weight);

/* To be called when all samples were added. */
void line_end(struct bin *line, const struct summaries *summaries);

/* Adds a list of patterns, separated by commas, to an array of them. Returns -1 without memory. */
int add_pattern(char ***patterns, unsigned int *count, char *list);

#endif
