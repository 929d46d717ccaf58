// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "job-parts.h"

#include <stdlib.h>

int job_parts_add(struct job_parts *parts, uint64_t from_ns, uint64_t until_ns)
{
	struct job_part *last = parts->count ? &parts->list[parts->count - 1] : NULL, *more;
	uint64_t before_ns = last ? last->before_ns + last->until_ns - last->from_ns : 0;

	if (last && last->until_ns == from_ns) {
		last->until_ns = until_ns;
		return 0;
	}
	if (parts->count == parts->room) {
		more = reallocarray(parts->list, 2 * parts->room + 64, sizeof(*more));
		if (!more)
			return -1;
		parts->list = more;
		parts->room = 2 * parts->room + 64;
	}
	parts->list[parts->count++] = (struct job_part){ from_ns, until_ns, before_ns };
	return 0;
}

uint64_t job_parts_until(const struct job_parts *parts, uint64_t time_ns)
{
	size_t low = 0, high = parts->count, middle;
	const struct job_part *part;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (parts->list[middle].from_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	part = &parts->list[low - 1];
	return part->before_ns + (time_ns < part->until_ns ? time_ns : part->until_ns) - part->from_ns;
}

uint64_t job_parts_between(const struct job_parts *parts, uint64_t from_ns, uint64_t until_ns)
{
	return job_parts_until(parts, until_ns) - job_parts_until(parts, from_ns);
}

struct run {
	uint64_t run_ns, end_ns;
	uint32_t process;
};

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->run_ns > y->run_ns) - (x->run_ns < y->run_ns);
}

int job_parts_busy(const struct job_parts *parts, const struct jobs *jobs, uint64_t *busy_ns)
{
	uint64_t *until_ns = calloc(jobs->num_processes + 1, sizeof(*until_ns)), from_ns;
	struct run *runs = calloc(jobs->count + 1, sizeof(*runs));
	int wrong = !until_ns || !runs;
	size_t count = 0, i;

	for (i = 0; i < jobs->num_processes; i++)
		busy_ns[i] = 0;
	for (i = 0; !wrong && i < jobs->count; i++) {
		const struct recording_job *job = &jobs->list[i];

		if (job->run_ns < job->end_ns)
			runs[count++] = (struct run){ job->run_ns, job->end_ns, jobs->queues[job->queue].process };
	}
	if (count)
		qsort(runs, count, sizeof(*runs), compare_runs);
	for (i = 0; i < count; i++) {
		const struct run *run = &runs[i];

		from_ns = run->run_ns > until_ns[run->process] ? run->run_ns : until_ns[run->process];
		if (from_ns >= run->end_ns)
			continue;
		busy_ns[run->process] += job_parts_between(parts, from_ns, run->end_ns);
		until_ns[run->process] = run->end_ns;
	}
	free(until_ns);
	free(runs);
	return wrong ? -1 : 0;
}

bool job_has_times(const struct recording_job *job)
{
	return job->outcome == JOB_DONE && !job->no_queued && !job->no_run;
}
