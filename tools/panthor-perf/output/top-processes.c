// SPDX-License-Identifier: MIT
/* Processes that use the GPU: by their jobs, or without those by what the kernel tells of their clients. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

bool top_has_jobs(const struct top *top)
{
	return !*top->why_no_jobs && top->jobs.end_ns > top->jobs.start_ns;
}

static struct top_process *find(struct top_processes *processes, pid_t pid)
{
	size_t i;

	for (i = 0; i < processes->count; i++)
		if (processes->list[i].pid == pid)
			return &processes->list[i];
	return NULL;
}

/* Makes it if it is not there. The list has room. */
static struct top_process *add_process(struct top_processes *processes, pid_t pid, const char *command)
{
	struct top_process *p = find(processes, pid);

	if (p)
		return p;
	p = &processes->list[processes->count++];
	*p = (struct top_process){ .pid = pid, .busy = NAN, .alone = NAN, .rate = NAN, .to_run = NAN, .to_end = NAN };
	snprintf(p->command, sizeof(p->command), "%s", command);
	return p;
}

static void add_memory(const struct client *client, enum fdinfo_memory_value value, bool *known, uint64_t *sum)
{
	uint64_t bytes;

	if (!client_memory(client, value, &bytes))
		return;
	*known = true;
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = UINT64_MAX;
}

/* The kernel measures each client's time apart, so of several together it may be more than all. */
static void add_client(struct top_process *p, const struct client *client, bool has_jobs)
{
	double busy = client_busy(client);

	p->clients++;
	add_memory(client, FDINFO_RESIDENT, &p->has_resident, &p->resident);
	add_memory(client, FDINFO_TOTAL, &p->has_total, &p->total);
	if (!has_jobs && !isnan(busy))
		p->busy = isnan(p->busy) ? busy : p->busy + busy;
}

static void set_jobs(struct top_process *p, const struct job_usage *usage)
{
	double seconds = (usage->end_ns - usage->start_ns) / 1e9;
	const struct job_usage_process *jobs = job_usage_find(usage, p->pid);

	p->jobs = jobs;
	p->busy = jobs ? jobs->busy_ns / 1e9 / seconds : 0;
	p->alone = jobs ? jobs->alone_ns / 1e9 / seconds : 0;
	p->rate = jobs ? jobs->jobs / seconds : 0;
	if (!jobs || !jobs->timed)
		return;
	p->to_run = jobs->to_run_ns / 1e9 / jobs->timed;
	p->to_end = jobs->to_end_ns / 1e9 / jobs->timed;
}

static struct client_key key_of(const struct top_process *p)
{
	return (struct client_key){ p->busy, p->has_resident ? p->resident : p->total, p->command, p->pid };
}

static int compare(const void *left, const void *right, void *context)
{
	const struct client_key a = key_of(left), b = key_of(right);
	const struct top *top = context;
	int result = client_keys_compare(top->order, &a, &b);

	if (!result)
		result = (a.pid > b.pid) - (a.pid < b.pid);
	return top->reverse ? -result : result;
}

void top_sort_processes(struct top *top)
{
	if (top->processes.count)
		qsort_r(top->processes.list, top->processes.count, sizeof(*top->processes.list), compare, top);
}

bool top_find_processes(struct top *top)
{
	struct top_processes *processes = &top->processes;
	bool has_jobs = top_has_jobs(top);
	struct top_process *list;
	size_t i;

	list = reallocarray(processes->list, top->clients.count + top->jobs.count + 1, sizeof(*list));
	if (!list)
		return false;
	*processes = (struct top_processes){ .list = list };
	for (i = 0; i < top->clients.count; i++) {
		const struct client *client = &top->clients.list[i];

		add_client(add_process(processes, client->pid, client->command), client, has_jobs);
	}
	for (i = 0; has_jobs && i < top->jobs.count; i++)
		add_process(processes, top->jobs.list[i].pid, top->jobs.list[i].name);
	for (i = 0; has_jobs && i < processes->count; i++)
		set_jobs(&processes->list[i], &top->jobs);
	top_sort_processes(top);
	return true;
}
