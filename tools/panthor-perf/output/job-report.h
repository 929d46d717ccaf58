/* SPDX-License-Identifier: MIT */
/* What report says of jobs: by process, and why the GPU was idle. */
#ifndef PANTHOR_PERF_JOB_REPORT_H
#define PANTHOR_PERF_JOB_REPORT_H

#include <stdio.h>

#include "view.h"

struct json_object;
struct job_report;

/*
 * Looks at the jobs of a view that has them: a job belongs where the middle of the time is in which it ran. With counters, reads
 * all samples that are looked at, for what those of the summaries have of each process. Prints what is wrong. Returns a status.
 * job_report_free() must be called in any case.
 */
int job_report_new(struct view *view, const struct summaries *summaries, bool counters, struct job_report **report);
void job_report_free(struct job_report *report);

/* Times by process, what the GPU was idle for, and what is not known. */
void job_report_print(FILE *out, const struct job_report *report);

/* Counters of each process, and of all other samples: those together have all that the recording has. */
void job_report_print_counters(FILE *out, const struct job_report *report);

/* Of a report with counters: a line for each process, and for all other samples. */
void job_report_print_csv(FILE *out, const struct job_report *report);

/* All of it; without counters, if it has none. */
struct json_object *job_report_json(const struct job_report *report);

/* What comes before whose jobs or fences the GPU was idle for, if they are known; all of it if they are of several, or not known. */
const char *job_cause_words(enum job_state state, bool known, bool several);

/* Of a region or, with own and others, a frame: how long jobs ran, and why they did not. */
struct json_object *job_times_json(const struct job_times *times, bool own);

#endif
