/* SPDX-License-Identifier: MIT */
/* What the GPU did in a part of the time, as far as jobs tell: all is taken from the spans that jobs have. */
#ifndef PANTHOR_PERF_JOB_TIMES_H
#define PANTHOR_PERF_JOB_TIMES_H

#include "jobs.h"

#define JOB_STATES (JOBS_NONE + 1)

/* Parts of the time, which make it up. */
struct job_times {
	/* By state. */
	uint64_t ns[JOB_STATES];

	/* Of JOBS_RUNNING: jobs of one process alone, of another one alone, of several at once. */
	uint64_t own_ns, others_ns, several_ns;
};

/* Each state's name in JSON, and for people. */
extern const char *const job_states[JOB_STATES][2];

/* Calls take() for each span of the time, cut at its ends; what no span covers is unknown. */
void job_times_each(const struct jobs *jobs, uint64_t from_ns, uint64_t until_ns,
		    void (*take)(void *context, const struct job_span *span), void *context);

/* Adds the time. Own is what a process of this PID does; 0 is that of none. */
void job_times_add(struct job_times *times, const struct jobs *jobs, uint64_t from_ns, uint64_t until_ns, uint32_t pid);

/* The time in which no job is known to have run, and the state that has the most of it: JOBS_RUNNING if there is none. */
uint64_t job_times_idle(const struct job_times *times);
enum job_state job_times_reason(const struct job_times *times);

/* A part of the whole, in percent: 0 of nothing. */
double job_times_percent(const struct job_times *times, uint64_t ns);

/* That state and its part, "-" if there is none. */
#define JOB_TIMES_TEXT 48
const char *job_times_reason_text(const struct job_times *times, char buffer[JOB_TIMES_TEXT]);

#endif
