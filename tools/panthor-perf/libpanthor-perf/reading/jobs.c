// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more in a list that grows. Returns it, or NULL without memory. */
static void *add_to(void **list, size_t count, size_t *room, size_t size)
{
	void *more;

	if (count == *room) {
		more = reallocarray(*list, 2 * *room + 64, size);
		if (!more)
			return NULL;
		*list = more;
		*room = 2 * *room + 64;
	}
	return (char *)*list + count * size;
}

#define ADD(list, count, room) ((typeof(list))add_to((void **)&(list), count, &(room), sizeof(*(list))))

/* ---- Records ---- */

/* The number of a process, which is made if there is none; -1 without memory. */
static int64_t find_process(struct jobs *jobs, const struct recording_queue *queue)
{
	struct job_process *p;
	size_t n;

	for (n = 0; n < jobs->num_processes; n++)
		if (jobs->processes[n].pid == queue->pid && !strcmp(jobs->processes[n].name, queue->process))
			return n;
	p = ADD(jobs->processes, jobs->num_processes, jobs->process_room);
	if (!p)
		return -1;
	*p = (struct job_process){ .pid = queue->pid };
	strcpy(p->name, queue->process);
	return jobs->num_processes++;
}

static int make_room_for_id(struct jobs *jobs, uint32_t id)
{
	size_t count = 2 * (size_t)id + 64;
	uint32_t *more;

	if (id < jobs->num_ids)
		return 0;
	more = reallocarray(jobs->by_id, count, sizeof(*more));
	if (!more)
		return -1;
	memset(more + jobs->num_ids, 0, (count - jobs->num_ids) * sizeof(*more));
	jobs->by_id = more;
	jobs->num_ids = count;
	return 0;
}

/* Finds or makes a queue, which has one process and one name. */
static enum recording_item find_queue(struct jobs *jobs, const struct recording_queue *queue, uint32_t *place)
{
	const struct job_process *p;
	struct job_queue *q;
	int64_t process;

	if (make_room_for_id(jobs, queue->id))
		return RECORDING_NO_MEMORY;
	if (jobs->by_id[queue->id]) {
		*place = jobs->by_id[queue->id] - 1;
		q = &jobs->queues[*place];
		p = &jobs->processes[q->process];
		return p->pid != queue->pid || strcmp(p->name, queue->process) || strcmp(q->name, queue->name) ? RECORDING_BROKEN :
													 RECORDING_END;
	}
	process = find_process(jobs, queue);
	q = ADD(jobs->queues, jobs->num_queues, jobs->queue_room);
	if (process < 0 || !q)
		return RECORDING_NO_MEMORY;
	*q = (struct job_queue){ .process = process };
	strcpy(q->name, queue->name);
	*place = jobs->num_queues++;
	jobs->by_id[queue->id] = *place + 1;
	return RECORDING_END;
}

static int add_job(struct jobs *jobs, const struct recording_job *job, const uint32_t *queues)
{
	struct recording_job *j = ADD(jobs->list, jobs->count, jobs->room);

	if (!j)
		return -1;
	*j = *job;
	j->queue = queues[job->queue];
	j->waited_for = job->waited_for ? queues[job->waited_for - 1] + 1 : 0;
	jobs->queues[j->queue].jobs++;
	jobs->processes[jobs->queues[j->queue].process].jobs++;
	jobs->count++;
	return 0;
}

static enum recording_item add_known(struct jobs *jobs, const struct recording_jobs *from)
{
	struct recording_range *last = jobs->num_known ? &jobs->known[jobs->num_known - 1] : NULL;
	struct recording_gap *gap;
	size_t i;

	if (last && from->start_ns < last->end_ns)
		return RECORDING_BROKEN;
	if (last && from->start_ns == last->end_ns) {
		last->end_ns = from->end_ns;
	} else {
		last = ADD(jobs->known, jobs->num_known, jobs->known_room);
		if (!last)
			return RECORDING_NO_MEMORY;
		*last = (struct recording_range){ from->start_ns, from->end_ns };
		jobs->num_known++;
	}
	jobs->open_ns = from->open_ns;
	for (i = 0; i < from->num_gaps; i++) {
		gap = ADD(jobs->gaps, jobs->num_gaps, jobs->gap_room);
		if (!gap)
			return RECORDING_NO_MEMORY;
		*gap = from->gaps[i];
		jobs->num_gaps++;
	}
	return RECORDING_END;
}

enum recording_item pperf_jobs_add(struct jobs *jobs, const struct recording_jobs *from)
{
	uint32_t *queues = calloc(from->num_queues + 1, sizeof(*queues));
	enum recording_item item = queues ? add_known(jobs, from) : RECORDING_NO_MEMORY;
	size_t i;

	for (i = 0; i < from->num_queues && item == RECORDING_END; i++)
		item = find_queue(jobs, &from->queues[i], &queues[i]);
	for (i = 0; i < from->count && item == RECORDING_END; i++)
		if (add_job(jobs, &from->list[i], queues))
			item = RECORDING_NO_MEMORY;
	free(queues);
	return item;
}

static enum recording_item take_jobs(void *context, const struct recording_record *record)
{
	struct recording_jobs jobs;
	enum recording_item item;

	if (record->kind != RECORDING_KIND_JOBS)
		return RECORDING_END;
	item = pperf_records_get_jobs(record, &jobs);
	if (item == RECORDING_JOBS)
		item = pperf_jobs_add(context, &jobs);
	pperf_records_free_jobs(&jobs);
	return item;
}

/* ---- Spans ---- */

/* Something that begins or ends at a time: a state of jobs, of the owner of the queue, or that jobs are known or in a gap. */
enum kind { KIND_KNOWN, KIND_GAP, KIND_RUNNING, KIND_READY, KIND_WAITING, KINDS };

struct change {
	uint64_t time_ns;
	uint32_t owner;
	uint8_t kind;
	bool ends;
};

/* Who has a state: how often each, how many do, and the sum of their numbers, which is the one that is alone. */
struct holders {
	uint32_t *times;
	size_t count;
	uint64_t sum;
};

struct sweep {
	struct jobs *jobs;
	struct change *list;
	size_t count, room;
	struct holders holders[KINDS];

	/* The queue whose job ended last. */
	uint32_t last;
};

static int add_change(struct sweep *s, enum kind kind, uint32_t owner, uint64_t start_ns, uint64_t end_ns)
{
	struct change *change;
	int ends;

	for (ends = 0; ends < 2 && start_ns < end_ns; ends++) {
		change = ADD(s->list, s->count, s->room);
		if (!change)
			return -1;
		*change = (struct change){ ends ? end_ns : start_ns, owner, kind, ends };
		s->count++;
	}
	return 0;
}

static int add_changes(struct sweep *s)
{
	const struct jobs *jobs = s->jobs;
	const struct recording_job *job;
	int wrong = 0;
	size_t i;

	for (i = 0; i < jobs->num_known && !wrong; i++)
		wrong = add_change(s, KIND_KNOWN, 0, jobs->known[i].start_ns, jobs->known[i].end_ns);
	for (i = 0; i < jobs->num_gaps && !wrong; i++)
		wrong = add_change(s, KIND_GAP, 0, jobs->gaps[i].start_ns, jobs->gaps[i].end_ns);
	for (i = 0; i < jobs->count && !wrong; i++) {
		job = &jobs->list[i];
		wrong = add_change(s, KIND_WAITING, job->waited_for, job->queued_ns, job->ready_ns) ||
			add_change(s, KIND_READY, job->queue, job->ready_ns, job->run_ns) ||
			add_change(s, KIND_RUNNING, job->queue, job->run_ns, job->end_ns);
	}
	return wrong;
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* What ends and begins at once is one thing. */
	return x->ends - y->ends;
}

static void apply(struct sweep *s, const struct change *change)
{
	struct holders *h = &s->holders[change->kind];
	uint32_t owner = change->owner;

	if (change->kind == KIND_RUNNING) {
		if (change->ends)
			s->last = owner;
		owner = s->jobs->queues[owner].process;
	}
	if (change->ends ? !--h->times[owner] : !h->times[owner]++) {
		h->count += change->ends ? -1 : 1;
		h->sum += change->ends ? -(uint64_t)owner : owner;
	}
}

static uint32_t owner_of(const struct holders *h)
{
	return h->count == 1 ? h->sum : JOBS_SEVERAL;
}

/* What is so from a time on. */
static struct job_span span_from(const struct sweep *s, uint64_t start_ns)
{
	const struct holders *h = s->holders;
	struct job_span span = { .start_ns = start_ns, .state = JOBS_NONE, .owner = s->last };

	if (!h[KIND_KNOWN].count || h[KIND_GAP].count) {
		span.state = JOBS_UNKNOWN;
		span.owner = JOBS_NOBODY;
	} else if (h[KIND_RUNNING].count) {
		span.state = JOBS_RUNNING;
		span.owner = owner_of(&h[KIND_RUNNING]);
	} else if (h[KIND_READY].count) {
		span.state = JOBS_READY;
		span.owner = owner_of(&h[KIND_READY]);
	} else if (h[KIND_WAITING].count) {
		span.state = JOBS_WAITING;
		span.owner = owner_of(&h[KIND_WAITING]);
		/* Places behind those of queues: 0 is that of none. */
		if (span.owner != JOBS_SEVERAL)
			span.owner = span.owner ? span.owner - 1 : JOBS_NOBODY;
	}
	return span;
}

static int add_span(struct jobs *jobs, struct job_span span, uint64_t end_ns)
{
	struct job_span *last = jobs->num_spans ? &jobs->spans[jobs->num_spans - 1] : NULL;

	if (span.start_ns == end_ns)
		return 0;
	span.end_ns = end_ns;
	if (last && last->state == span.state && last->owner == span.owner) {
		last->end_ns = end_ns;
		return 0;
	}
	last = ADD(jobs->spans, jobs->num_spans, jobs->span_room);
	if (!last)
		return -1;
	*last = span;
	jobs->num_spans++;
	return 0;
}

/* Goes through all changes, between the first and the last time of which jobs are known. */
static int make_spans(struct sweep *s)
{
	struct jobs *jobs = s->jobs;
	uint64_t begin_ns = jobs->known[0].start_ns, end_ns = jobs->known[jobs->num_known - 1].end_ns;
	struct job_span span = { .start_ns = begin_ns, .state = JOBS_UNKNOWN, .owner = JOBS_NOBODY };
	size_t i;

	for (i = 0; i < s->count && s->list[i].time_ns < end_ns; i++) {
		if (s->list[i].time_ns > span.start_ns && add_span(jobs, span, s->list[i].time_ns))
			return -1;
		apply(s, &s->list[i]);
		span = span_from(s, s->list[i].time_ns > begin_ns ? s->list[i].time_ns : begin_ns);
	}
	return add_span(jobs, span, end_ns);
}

static enum recording_item find_spans(struct jobs *jobs)
{
	struct sweep s = { .jobs = jobs, .last = JOBS_NOBODY };
	enum recording_item item = RECORDING_NO_MEMORY;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		s.holders[kind].times = calloc(jobs->num_queues + jobs->num_processes + 1, sizeof(*s.holders[kind].times));
		if (!s.holders[kind].times)
			goto out;
	}
	if (add_changes(&s))
		goto out;
	if (s.count)
		qsort(s.list, s.count, sizeof(*s.list), compare_changes);
	if (!jobs->num_known || !make_spans(&s))
		item = RECORDING_END;
out:
	for (kind = 0; kind < KINDS; kind++)
		free(s.holders[kind].times);
	free(s.list);
	return item;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct recording_job *x = a, *y = b;

	if (x->queued_ns != y->queued_ns)
		return x->queued_ns < y->queued_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* A recording that goes on elsewhere, or was cut short, does not have the jobs that had not ended: from then on all is open. */
static void forget_open(struct jobs *jobs)
{
	while (jobs->num_known && jobs->known[jobs->num_known - 1].start_ns >= jobs->open_ns)
		jobs->num_known--;
	if (jobs->num_known && jobs->known[jobs->num_known - 1].end_ns > jobs->open_ns)
		jobs->known[jobs->num_known - 1].end_ns = jobs->open_ns;
}

enum recording_item pperf_jobs_end(struct jobs *jobs)
{
	if (jobs->count)
		qsort(jobs->list, jobs->count, sizeof(*jobs->list), compare_jobs);
	return find_spans(jobs);
}

enum recording_item pperf_jobs_read(struct jobs *jobs, struct recording *r, const struct chunks *chunks)
{
	enum recording_item item = RECORDING_END;
	size_t i;

	for (i = 0; r->head.jobs && i < chunks->count && item == RECORDING_END; i++)
		item = pperf_chunk_each(r, &chunks->list[i], take_jobs, jobs);
	if (item == RECORDING_END)
		forget_open(jobs);
	if (item == RECORDING_END)
		item = pperf_jobs_end(jobs);
	if (item == RECORDING_NO_MEMORY)
		snprintf(r->error, sizeof(r->error), "out of memory");
	return item;
}

size_t pperf_jobs_span_at(const struct jobs *jobs, uint64_t time_ns)
{
	size_t first = 0, end = jobs->num_spans, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (jobs->spans[middle].end_ns > time_ns)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

void pperf_jobs_free(struct jobs *jobs)
{
	free(jobs->processes);
	free(jobs->queues);
	free(jobs->by_id);
	free(jobs->list);
	free(jobs->known);
	free(jobs->gaps);
	free(jobs->spans);
	memset(jobs, 0, sizeof(*jobs));
}
