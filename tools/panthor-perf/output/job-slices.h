/* SPDX-License-Identifier: MIT */
/* Jobs as slices, as they come. */
#ifndef PANTHOR_PERF_JOB_SLICES_H
#define PANTHOR_PERF_JOB_SLICES_H

#include "events.h"
#include "recording.h"

struct job_slices;

/* The events have to outlive them. */
enum pperf_error job_slices_new(const struct events *events, struct job_slices **slices);
void job_slices_free(struct job_slices *slices);

/* Adds all jobs of a record that pperf_records_next() has found. */
enum pperf_error job_slices_add(struct job_slices *slices, const struct recording_record *record);

#endif
