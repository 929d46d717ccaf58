/* SPDX-License-Identifier: MIT */
/*
 * What was counted in each frame of each process. A sample in more than one frame is shared out by time. Shares are whole counts,
 * and those of all frames of a process and of the rest add up to the sample's counts.
 */
#ifndef PANTHOR_PERF_FRAME_SUMS_H
#define PANTHOR_PERF_FRAME_SUMS_H

#include <columns.h>

#include "view.h"

/* As many frames come at a time. */
#define FRAME_SUMS_MAX COLUMNS_MAX_VALUES

/* Frames of one process that follow each other, from one of the view's list on; columns have an element for each. */
struct frame_columns {
	size_t first;

	/* Seconds are those in which something was counted. */
	struct pperf_columns columns;

	/* Nanoseconds of these, and of them those that are parts of samples. */
	const uint64_t *counted_ns, *shared_ns;

	/* PPERF_SAMPLE_* of any sample. */
	const uint32_t *flags;
};

/*
 * Reads all samples of the frames that are looked at, and calls the function for these and others, of which it may be without
 * samples: those of a process are in order. It returns a status, with which reading ends unless it is STATUS_OK. Prints what is
 * wrong. Returns a status.
 */
int view_sum_frames(struct view *view, int (*done)(void *context, const struct frame_columns *columns), void *context);

#endif
