/* SPDX-License-Identifier: MIT */
/* What jobs did in a time that goes on, by process: nothing is kept of the jobs. */
#ifndef PANTHOR_PERF_JOB_USAGE_H
#define PANTHOR_PERF_JOB_USAGE_H

#include "job-times.h"
#include "job-track.h"

struct job_usage_process {
	/* 0: not known. */
	uint32_t pid;
	char name[RECORDING_PROCESS_NAME + 1];

	/* The time in which its jobs ran, and of that the time in which no others did. */
	uint64_t busy_ns, alone_ns;

	/* Jobs that have ended; of those that have times how many, and how long they took from queued to run, and from run to end. */
	uint64_t jobs, timed, to_run_ns, to_end_ns;
};

/* Zero it, and begin by job_usage_reset(). */
struct job_usage {
	uint64_t start_ns, end_ns;
	struct job_times times;

	/* Processes that had jobs, or whose jobs others waited for. */
	struct job_usage_process *list;
	size_t count, room;

	/* Times when events were lost. */
	uint64_t gaps;
};

/*
 * Adds what has been since the end, up to when events were taken, which becomes the end. The track's records are used up.
 * Returns -1 without memory.
 */
int job_usage_add(struct job_usage *usage, struct job_track *track);

/* NULL if it had no jobs. */
const struct job_usage_process *job_usage_find(const struct job_usage *usage, uint32_t pid);

/* Begins again, at a time. */
void job_usage_reset(struct job_usage *usage, uint64_t start_ns);
void job_usage_free(struct job_usage *usage);

#endif
