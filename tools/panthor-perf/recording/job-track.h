/* SPDX-License-Identifier: MIT */
/* Makes jobs of the events of the kernel's GPU scheduler. */
#ifndef PANTHOR_PERF_JOB_TRACK_H
#define PANTHOR_PERF_JOB_TRACK_H

#include "job-events.h"
#include "recording.h"

struct job_track;

/*
 * Who tells of threads: the process of a thread and the process's name, at most so many bytes with a zero; and whether a process
 * has gone. Returns the PID, 0 if it is not known.
 */
struct job_track_processes {
	uint32_t (*find)(void *context, uint32_t thread, char *name, size_t size);
	bool (*has_gone)(void *context, uint32_t pid);
	void *context;
};

/* Events are given from a time on; contexts: they tell of fences by context and number. NULL without memory. */
struct job_track *job_track_new(uint64_t start_ns, bool contexts, const struct job_track_processes *processes);

/* Takes events, in the order of time, which are all up to a time. */
void job_track_take(struct job_track *track, const struct job_event *list, size_t count, uint64_t until_ns);

/* There will be no more. */
void job_track_end(struct job_track *track);

/* What is to be written next: it stays as it is until the next call of any function. False if there is nothing. */
bool job_track_record(struct job_track *track, struct recording_jobs *record);

/* Up to when events were taken. */
uint64_t job_track_until(const struct job_track *track);

/*
 * For who adds up instead of writing, as often as it likes: calls take() with a record for jobs that have not ended, as if they had
 * then. Of each queue that is the one that has run longest, the first that has not run, which those behind it wait for, and the one
 * whose events may be lost for longest: its record has a gap from then on. So have others for gaps that go on. The times of records
 * are not set.
 */
typedef void job_track_take_open(void *context, struct recording_jobs *record);
void job_track_each_open(struct job_track *track, job_track_take_open *take, void *context);

/*
 * Forgets what nothing has come of for ten seconds: of a process that has gone, jobs that have not run and queues; and jobs whose
 * ends may have been lost. Of other processes it forgets queues of which nothing has come for an hour. To be called once a second
 * or so, between the last record and new events.
 */
void job_track_forget(struct job_track *track);

/* Numbers queues anew in the records that follow. */
void job_track_renumber(struct job_track *track);

struct job_track_counts {
	/* Jobs that were to be written. */
	uint64_t jobs;

	/* Gaps, and the events that were lost in those of which the kernel tells how many. */
	uint64_t gaps, lost;

	/* Events for which there was no memory: jobs may be missing. */
	uint64_t no_memory;
};
const struct job_track_counts *job_track_counts(const struct job_track *track);

/* NULL is nothing. */
void job_track_free(struct job_track *track);

#endif
