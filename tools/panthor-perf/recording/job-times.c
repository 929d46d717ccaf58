// SPDX-License-Identifier: MIT
#include "job-times.h"

#include <stdio.h>

const char *const job_states[JOB_STATES][2] = {
	[JOBS_UNKNOWN] = { "unknown", "unknown" },
	[JOBS_RUNNING] = { "running", "running" },
	[JOBS_READY] = { "ready", "ready" },
	[JOBS_WAITING] = { "waiting", "waiting for a fence" },
	[JOBS_NONE] = { "none", "no job queued" },
};

void job_times_each(const struct jobs *jobs, uint64_t from_ns, uint64_t until_ns,
		    void (*take)(void *context, const struct job_span *span), void *context)
{
	size_t n = pperf_jobs_span_at(jobs, from_ns);
	struct job_span span;

	while (from_ns < until_ns) {
		span = (struct job_span){ .end_ns = until_ns, .state = JOBS_UNKNOWN, .owner = JOBS_NOBODY };
		if (n < jobs->num_spans && jobs->spans[n].start_ns <= from_ns)
			span = jobs->spans[n++];
		else if (n < jobs->num_spans)
			span.end_ns = jobs->spans[n].start_ns;
		span.start_ns = from_ns;
		if (span.end_ns > until_ns)
			span.end_ns = until_ns;
		take(context, &span);
		from_ns = span.end_ns;
	}
}

struct adding {
	struct job_times *times;
	const struct jobs *jobs;
	uint32_t pid;
};

static void add_span(void *context, const struct job_span *span)
{
	const struct adding *a = context;
	uint64_t ns = span->end_ns - span->start_ns;

	a->times->ns[span->state] += ns;
	if (span->state != JOBS_RUNNING)
		return;
	if (span->owner == JOBS_SEVERAL)
		a->times->several_ns += ns;
	else if (a->pid && a->jobs->processes[span->owner].pid == a->pid)
		a->times->own_ns += ns;
	else
		a->times->others_ns += ns;
}

void job_times_add(struct job_times *times, const struct jobs *jobs, uint64_t from_ns, uint64_t until_ns, uint32_t pid)
{
	struct adding a = { times, jobs, pid };

	job_times_each(jobs, from_ns, until_ns, add_span, &a);
}

uint64_t job_times_idle(const struct job_times *times)
{
	uint64_t idle_ns = 0;
	int state;

	for (state = 0; state < JOB_STATES; state++)
		idle_ns += state == JOBS_RUNNING ? 0 : times->ns[state];
	return idle_ns;
}

enum job_state job_times_reason(const struct job_times *times)
{
	enum job_state reason = JOBS_RUNNING;
	uint64_t most_ns = 0;
	int state;

	/* What is known first, if two have as much. */
	for (state = JOB_STATES - 1; state >= 0; state--) {
		if (state == JOBS_RUNNING || times->ns[state] <= most_ns)
			continue;
		most_ns = times->ns[state];
		reason = state;
	}
	return reason;
}

double job_times_percent(const struct job_times *times, uint64_t ns)
{
	uint64_t all_ns = job_times_idle(times) + times->ns[JOBS_RUNNING];

	return all_ns ? 100.0 * ns / all_ns : 0;
}

const char *job_times_reason_text(const struct job_times *times, char buffer[JOB_TIMES_TEXT])
{
	enum job_state reason = job_times_reason(times);

	if (reason == JOBS_RUNNING)
		return "-";
	snprintf(buffer, JOB_TIMES_TEXT, "%s %.1f %%", job_states[reason][1], job_times_percent(times, times->ns[reason]));
	return buffer;
}
