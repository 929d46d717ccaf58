/* SPDX-License-Identifier: MIT */
/* Records jobs while counters are recorded. */
#ifndef PANTHOR_PERF_JOB_RECORDER_H
#define PANTHOR_PERF_JOB_RECORDER_H

#include "job-track.h"

/* How often events are read: before they fill their buffers, and while their threads are there to be asked for. */
#define JOB_RECORDER_MS 100

struct job_recorder;

/*
 * Begins, for the GPU of a node, before threads are started. NULL with errno if that cannot be, and a sentence that says why: as
 * of job_events_open().
 */
struct job_recorder *job_recorder_open(const char *node);
const char *job_recorder_why(int error);

/*
 * What is to be written next, valid until the next call; false if there is nothing for now. All that there is at the last call
 * and those behind it.
 */
bool job_recorder_next(struct job_recorder *recorder, bool last, struct recording_jobs *record);

/*
 * For who wants no records: reads events if that is due, or now. Returns what there is of jobs, or NULL if events were not read.
 */
struct job_track *job_recorder_look(struct job_recorder *recorder, bool now);

const struct job_track_counts *job_recorder_counts(const struct job_recorder *recorder);

/* NULL is nothing. */
void job_recorder_close(struct job_recorder *recorder);

#endif
