// SPDX-License-Identifier: MIT
/*
 * Each time a list is made of the jobs that have ended since the last time, and of those that have not; what they did in that time
 * is added up, and the list is forgotten.
 */
#define _GNU_SOURCE
#include "job-usage.h"

#include <stdlib.h>
#include <string.h>

#include "job-parts.h"

struct look {
	struct job_usage *usage;
	struct jobs jobs;

	/* Of which jobs are known; by process of the list: for how long jobs ran, and those of no other. */
	struct job_parts known;
	uint64_t *busy_ns, *alone_ns;
	bool wrong;
};

/* ---- Jobs ---- */

/* Makes it if it is not there. NULL without memory. */
static struct job_usage_process *find(struct job_usage *u, uint32_t pid, const char *name)
{
	struct job_usage_process *p;
	size_t i;

	for (i = 0; i < u->count; i++)
		if (u->list[i].pid == pid && (pid || !strcmp(u->list[i].name, name)))
			return &u->list[i];
	if (u->count == u->room) {
		p = reallocarray(u->list, 2 * u->room + 16, sizeof(*p));
		if (!p)
			return NULL;
		u->list = p;
		u->room = 2 * u->room + 16;
	}
	p = &u->list[u->count++];
	*p = (struct job_usage_process){ .pid = pid };
	strcpy(p->name, name);
	return p;
}

static void add_record(struct look *look, struct recording_jobs *record, uint64_t end_ns)
{
	struct job_usage_process *p;
	size_t i;

	/* A process has one name, even if it changes that. */
	for (i = 0; i < record->num_queues; i++) {
		p = record->queues[i].pid ? find(look->usage, record->queues[i].pid, record->queues[i].process) : NULL;
		if (p)
			strcpy(record->queues[i].process, p->name);
	}
	/* A record may be of an earlier time, as may be what it has of that. */
	record->start_ns = look->usage->end_ns;
	record->end_ns = record->open_ns = end_ns;
	look->wrong |= pperf_jobs_add(&look->jobs, record) != RECORDING_END;
}

static void add_open(void *context, struct recording_jobs *record)
{
	struct look *look = context;

	add_record(look, record, look->usage->end_ns);
}

static void make_list(struct look *look, struct job_track *track, uint64_t until_ns)
{
	struct recording_jobs record, rest = {};
	size_t i;

	while (job_track_record(track, &record)) {
		for (i = 0; i < record.num_gaps; i++)
			look->usage->gaps += record.gaps[i].cpu != RECORDING_NO_CPU;
		add_record(look, &record, look->usage->end_ns);
	}
	job_track_each_open(track, add_open, look);
	job_track_forget(track);
	job_track_renumber(track);
	add_record(look, &rest, until_ns);
	look->wrong |= pperf_jobs_end(&look->jobs) != RECORDING_END;
}

/* ---- Sums ---- */

static void add_span(void *context, const struct job_span *span)
{
	struct look *look = context;

	if (span->state == JOBS_RUNNING && span->owner != JOBS_SEVERAL)
		look->alone_ns[span->owner] += span->end_ns - span->start_ns;
	if (span->state != JOBS_UNKNOWN)
		look->wrong |= job_parts_add(&look->known, span->start_ns, span->end_ns) != 0;
}

static void add_sums(struct look *look)
{
	struct jobs *jobs = &look->jobs;
	struct job_usage_process *p;
	size_t i;

	for (i = 0; i < jobs->num_processes; i++) {
		/* Timelines of other drivers are processes without jobs. */
		if (!jobs->processes[i].jobs)
			continue;
		p = find(look->usage, jobs->processes[i].pid, jobs->processes[i].name);
		look->wrong |= !p;
		if (!p)
			continue;
		p->busy_ns += look->busy_ns[i];
		p->alone_ns += look->alone_ns[i];
	}
	for (i = 0; i < jobs->count && !look->wrong; i++) {
		const struct recording_job *job = &jobs->list[i];
		const struct job_process *process = &jobs->processes[jobs->queues[job->queue].process];

		if (job->outcome == JOB_UNFINISHED)
			continue;
		p = find(look->usage, process->pid, process->name);
		p->jobs++;
		if (!job_has_times(job))
			continue;
		p->timed++;
		p->to_run_ns += job->run_ns - job->queued_ns;
		p->to_end_ns += job->end_ns - job->run_ns;
	}
}

int job_usage_add(struct job_usage *u, struct job_track *track)
{
	struct look look = { .usage = u };
	uint64_t until_ns = job_track_until(track);

	if (until_ns <= u->end_ns)
		return 0;
	make_list(&look, track, until_ns);
	look.busy_ns = calloc(look.jobs.num_processes + 1, sizeof(*look.busy_ns));
	look.alone_ns = calloc(look.jobs.num_processes + 1, sizeof(*look.alone_ns));
	look.wrong |= !look.busy_ns || !look.alone_ns;
	if (!look.wrong) {
		job_times_add(&u->times, &look.jobs, u->end_ns, until_ns, 0);
		job_times_each(&look.jobs, u->end_ns, until_ns, add_span, &look);
		look.wrong |= job_parts_busy(&look.known, &look.jobs, look.busy_ns) != 0;
	}
	if (!look.wrong)
		add_sums(&look);
	u->end_ns = until_ns;
	free(look.busy_ns);
	free(look.alone_ns);
	free(look.known.list);
	pperf_jobs_free(&look.jobs);
	return look.wrong ? -1 : 0;
}

const struct job_usage_process *job_usage_find(const struct job_usage *u, uint32_t pid)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (u->list[i].pid == pid)
			return &u->list[i];
	return NULL;
}

void job_usage_reset(struct job_usage *u, uint64_t start_ns)
{
	u->start_ns = u->end_ns = start_ns;
	u->times = (struct job_times){};
	u->count = u->gaps = 0;
}

void job_usage_free(struct job_usage *u)
{
	free(u->list);
	*u = (struct job_usage){};
}
