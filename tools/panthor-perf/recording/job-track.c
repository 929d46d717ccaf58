// SPDX-License-Identifier: MIT
/*
 * A queue runs its jobs in the order in which they were queued. Its first job that has not run waits for fences, one after the
 * other: it is ready when the last of them is signalled, and no job behind it is ready before it.
 *
 * What lost events hide is not made up. A job that was on its way then and never ends is of an unknown end, and one that is first
 * seen later has been on its way for an unknown time: what the GPU did meanwhile is a gap as well.
 */
#define _GNU_SOURCE
#include "job-track.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "text.h"

/* How often is written that there were no jobs. */
#define QUIET_NS 1000000000ull

/* A job whose events may be lost is given up, and a queue forgotten, of which nothing comes for so long: twice panthor's limit. */
#define FORGOTTEN_NS 10000000000ull

/* So long, if its process goes on. */
#define UNUSED_NS 3600000000000ull

/* So many gaps can wait for the record that has them, then they become one. */
#define MAX_GAPS 64

/* That a fence which stands for others is asked and that it tells of them are not further from each other. */
#define NO_WAIT_NS 100000

/* As many timelines of other drivers are told apart. */
#define MAX_TIMELINES 256

/* CPUs whose last fence is known. */
#define MAX_CPUS 256

/*
 * QUEUED -> RUNNING   it was given to the driver
 * QUEUED -> CLOSED    it was dropped, or what happened to it was lost
 * RUNNING -> CLOSED   it is done, or that was lost
 */
enum state { QUEUED, RUNNING, CLOSED };

struct job {
	struct job_fence fence;
	uint64_t id;
	struct queue *queue;
	enum state state;
	struct recording_job record;

	/* Whose fence it waited for last. */
	struct queue *waited_for;

	/* It waits for this one, which a CPU has found. */
	bool blocked;
	uint32_t blocked_cpu;
	uint64_t blocked_ns;
	struct job_fence waits_for;
	uint32_t context, number;

	/* Since when events are lost that may have been of it, and since when its process has gone; 0 if that is not so. */
	uint64_t lost_ns, gone_ns;

	TAILQ_ENTRY(job) in_queue, in_blocked, in_closed;
};

TAILQ_HEAD(jobs, job);

/* A queue, or a timeline of another driver, which has no key and no jobs. */
struct queue {
	uint64_t key;
	bool ours;
	struct recording_queue record;

	/* The number was given that the record has. */
	bool numbered;

	/* That of the last job that was queued, before Linux 6.16. */
	uint64_t last_id;

	/* Those that have not ended, as they were queued. */
	struct jobs jobs;

	/* The highest number of a fence that is done, and when. Events of those up to it that come later are late, and of no new job. */
	uint64_t done, done_ns;

	/* When the last job that ran was ready, and what it had waited for. */
	uint64_t ready_ns;
	struct queue *waited_for;

	/* When the last event of its jobs came. */
	uint64_t moved_ns;

	/* While queues are forgotten: this one is not. */
	bool kept;
	TAILQ_ENTRY(queue) in_all;
};

TAILQ_HEAD(queues, queue);

struct job_track {
	struct job_track_processes processes;
	bool contexts;
	uint64_t start_ns;

	/* Up to where events were taken, up to where they were the time before, and up to where that was written. */
	uint64_t until_ns, before_ns, written_ns;
	bool ended;

	/* Trees of jobs that are not closed by fence, and of queues by key. */
	void *by_fence, *by_key;
	struct queues queues, timelines;
	struct jobs blocked, closed;
	unsigned int num_timelines;
	uint32_t next_id;

	/* Whose fence each CPU has signalled last: of a queue, or of another driver and timeline, if there are any. */
	struct last {
		struct queue *queue;
		char driver[16], name[64];

		/* It was before a job was found to wait here. */
		bool before_wait;
	} last[MAX_CPUS];

	/*
	 * When events were lost last, or tracing began: from the first gap on that is not further from the next one than a job is
	 * waited for, up to the last. A job that is seen for the first time later, but not as it is queued, may be from then.
	 */
	uint64_t lost_ns, lost_until_ns;

	/* Up to where all of it is known to be unseen. */
	uint64_t unseen_ns;

	struct recording_gap gaps[MAX_GAPS];
	size_t num_gaps;
	struct job_track_counts counts;

	/* Lists of the record that was given out. */
	struct recording_gap out_gaps[RECORDING_JOBS_GAPS];
	struct recording_queue out_queues[RECORDING_JOBS_QUEUES];
	struct recording_job out[RECORDING_JOBS_JOBS];
};

/* ---- Gaps ---- */

/* That with which another one becomes one: of the same CPU, if there is one. NULL if there is room for both. */
static struct recording_gap *partner_of(struct job_track *t, const struct recording_gap *gap)
{
	struct recording_gap *g;
	size_t i;

	for (i = t->num_gaps; i--;) {
		g = &t->gaps[i];
		if (gap->cpu == RECORDING_NO_CPU && g->start_ns <= gap->start_ns && gap->end_ns <= g->end_ns)
			return g;
		if (g->cpu == gap->cpu && (t->num_gaps == MAX_GAPS || (gap->cpu == RECORDING_NO_CPU && g->start_ns <= gap->end_ns &&
								       gap->start_ns <= g->end_ns)))
			return g;
	}
	return t->num_gaps == MAX_GAPS ? &t->gaps[MAX_GAPS - 1] : NULL;
}

static void add_gap(struct job_track *t, struct recording_gap gap)
{
	struct recording_gap *partner = partner_of(t, &gap);

	if (!partner) {
		t->gaps[t->num_gaps++] = gap;
		return;
	}
	partner->start_ns = gap.start_ns < partner->start_ns ? gap.start_ns : partner->start_ns;
	partner->end_ns = gap.end_ns > partner->end_ns ? gap.end_ns : partner->end_ns;
	partner->lost += gap.lost;
}

/* A job may have been on the GPU between two times, or waiting for that, unseen. */
static void add_unseen(struct job_track *t, const struct queue *q, uint64_t start_ns, uint64_t end_ns)
{
	if ((!q || q->ours) && start_ns < end_ns)
		add_gap(t, (struct recording_gap){ start_ns, end_ns, RECORDING_NO_CPU, 0 });
}

/* A job is seen for the first time, of a queue if that is known: it may have been there since events were lost. */
static void add_unseen_before(struct job_track *t, const struct queue *q, uint64_t time_ns)
{
	/* It is not before others of its queue. */
	if (q && q->done_ns > t->lost_ns) {
		add_unseen(t, q, q->done_ns, time_ns);
	} else if (!q || q->ours) {
		add_unseen(t, q, t->unseen_ns > t->lost_ns ? t->unseen_ns : t->lost_ns, time_ns);
		t->unseen_ns = time_ns;
	}
}

/* Since when events may be lost of a job of which there is one. */
static uint64_t lost_since(const struct job_track *t, uint64_t time_ns)
{
	return time_ns < t->lost_until_ns ? time_ns : 0;
}

static uint64_t last_seen(const struct job *job)
{
	return job->state == QUEUED ? job->record.queued_ns : job->record.run_ns;
}

/* Events are lost from a time on: jobs that are on their way then may be of an unknown end. */
static void lose(struct job_track *t, struct recording_gap gap)
{
	struct queue *q;
	struct job *job;

	if (gap.end_ns < gap.start_ns)
		gap.end_ns = gap.start_ns;
	if (gap.start_ns > t->lost_until_ns + FORGOTTEN_NS)
		t->lost_ns = gap.start_ns;
	if (gap.end_ns > t->lost_until_ns)
		t->lost_until_ns = gap.end_ns;
	TAILQ_FOREACH(q, &t->queues, in_all)
		TAILQ_FOREACH(job, &q->jobs, in_queue)
			if (!job->lost_ns)
				job->lost_ns = gap.start_ns > last_seen(job) ? gap.start_ns : last_seen(job);
	add_gap(t, gap);
}

/* There is no memory for what comes at a time. */
static void lose_event(struct job_track *t, uint64_t time_ns)
{
	t->counts.no_memory++;
	lose(t, (struct recording_gap){ time_ns, time_ns, RECORDING_NO_CPU, 0 });
}

/* ---- Queues ---- */

static int compare_keys(const void *a, const void *b)
{
	const struct queue *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static struct queue *find_queue(const struct job_track *t, uint64_t key)
{
	struct queue wanted = { .key = key }, **found = tfind(&wanted, &t->by_key, compare_keys);

	return found ? *found : NULL;
}

static struct queue *new_queue(struct queues *list)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	TAILQ_INIT(&q->jobs);
	TAILQ_INSERT_TAIL(list, q, in_all);
	return q;
}

static struct queue *make_queue(struct job_track *t, const struct job_event *e)
{
	struct queue *q = new_queue(&t->queues);

	if (!q)
		return NULL;
	q->key = e->queue;
	q->ours = e->ours;
	strcpy(q->record.name, e->name);
	pperf_text_clean(q->record.name);
	if (!tsearch(q, &t->by_key, compare_keys)) {
		TAILQ_REMOVE(&t->queues, q, in_all);
		free(q);
		return NULL;
	}
	return q;
}

/*
 * Before Linux 6.16 a queue may be in the place of another one: of another kind or name, or its jobs are counted anew. And one may
 * have been written before its process was known.
 */
static bool is_another(const struct job_track *t, const struct queue *q, const struct job_event *e)
{
	if (!t->contexts && (q->ours != e->ours || strcmp(q->record.name, e->name) || e->id <= q->last_id))
		return true;
	return !q->record.pid && q->numbered;
}

/* The process of the thread that has queued a queue's first job is that of the queue. */
static struct queue *queue_of(struct job_track *t, const struct job_event *e)
{
	struct queue *q = find_queue(t, e->queue);
	struct recording_queue *r;

	if (q && e->kind == JOB_EVENT_QUEUED && is_another(t, q, e)) {
		tdelete(q, &t->by_key, compare_keys);
		q = NULL;
	}
	if (!q)
		q = make_queue(t, e);
	if (!q || e->kind != JOB_EVENT_QUEUED)
		return q;
	q->last_id = e->id;
	r = &q->record;
	if (!r->pid)
		r->pid = t->processes.find(t->processes.context, e->thread, r->process, sizeof(r->process));
	return q;
}

static struct queue *timeline_of(struct job_track *t, const char *driver, const char *name)
{
	struct recording_queue record = {};
	struct queue *q;

	snprintf(record.process, sizeof(record.process), "%s", driver);
	snprintf(record.name, sizeof(record.name), "%s", name);
	pperf_text_clean(record.process);
	pperf_text_clean(record.name);
	TAILQ_FOREACH(q, &t->timelines, in_all)
		if (!strcmp(q->record.process, record.process) && !strcmp(q->record.name, record.name))
			return q;
	q = t->num_timelines < MAX_TIMELINES ? new_queue(&t->timelines) : NULL;
	if (!q)
		return NULL;
	t->num_timelines++;
	q->record = record;
	return q;
}

/* ---- Jobs ---- */

static int compare_fences(const void *a, const void *b)
{
	const struct job_fence *x = &((const struct job *)a)->fence, *y = &((const struct job *)b)->fence;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static struct job *find_job(const struct job_track *t, struct job_fence fence)
{
	struct job wanted = { .fence = fence }, **found = tfind(&wanted, &t->by_fence, compare_fences);

	return found ? *found : NULL;
}

static struct job *make_job(struct job_track *t, const struct job_event *e)
{
	struct queue *q = queue_of(t, e);
	struct job *job, *before;

	if (t->contexts && q && e->job.number <= q->done)
		return NULL;
	job = q ? calloc(1, sizeof(*job)) : NULL;
	if (job)
		job->fence = e->job;
	if (!job || !tsearch(job, &t->by_fence, compare_fences)) {
		lose_event(t, e->time_ns);
		free(job);
		return NULL;
	}
	job->id = e->id;
	job->queue = q;
	job->record.queued_ns = e->time_ns;
	job->record.ready_ns = e->time_ns;
	job->lost_ns = lost_since(t, e->time_ns);
	q->moved_ns = e->time_ns;
	/* One of which it was not seen that it was queued may be before others. */
	TAILQ_FOREACH_REVERSE(before, &q->jobs, jobs, in_queue)
		if (t->contexts ? before->fence.number < e->job.number : before->id < e->id)
			break;
	if (before)
		TAILQ_INSERT_AFTER(&q->jobs, before, job, in_queue);
	else
		TAILQ_INSERT_HEAD(&q->jobs, job, in_queue);
	return job;
}

static void unblock(struct job_track *t, struct job *job)
{
	if (job->blocked)
		TAILQ_REMOVE(&t->blocked, job, in_blocked);
	job->blocked = false;
}

/* It is ready no earlier than the one before it. */
static void set_ready(struct job *job)
{
	struct queue *q = job->queue;

	if (job->record.ready_ns < q->ready_ns) {
		job->record.ready_ns = q->ready_ns;
		job->waited_for = q->waited_for;
	}
	q->ready_ns = job->record.ready_ns;
	q->waited_for = job->waited_for;
}

/* Of a job that has not run, it is known at most that it did not up to its end. */
static void close_job(struct job_track *t, struct job *job, enum recording_outcome outcome, uint64_t end_ns)
{
	struct recording_job *r = &job->record;

	if (end_ns < r->queued_ns)
		end_ns = r->queued_ns;
	if (job->state == QUEUED) {
		if (job->blocked)
			r->ready_ns = end_ns;
		set_ready(job);
		r->run_ns = end_ns;
		r->no_run = true;
	}
	if (r->run_ns > end_ns)
		r->run_ns = end_ns;
	if (r->ready_ns > r->run_ns)
		r->ready_ns = r->run_ns;
	if (r->queued_ns > r->ready_ns)
		r->ready_ns = r->run_ns = r->queued_ns;
	r->outcome = outcome;
	r->end_ns = end_ns;
	unblock(t, job);
	job->state = CLOSED;
	tdelete(job, &t->by_fence, compare_fences);
	TAILQ_REMOVE(&job->queue->jobs, job, in_queue);
	if (job->queue->ours)
		TAILQ_INSERT_TAIL(&t->closed, job, in_closed);
	else
		free(job);
}

/* No event of it will come any more. Events that were lost since some time may be from later on. */
static void give_up(struct job_track *t, struct job *job, enum recording_outcome outcome, uint64_t time_ns)
{
	if (job->lost_ns) {
		add_unseen(t, job->queue, job->lost_ns, time_ns);
		close_job(t, job, JOB_UNFINISHED, job->lost_ns);
	} else if (job->gone_ns) {
		close_job(t, job, JOB_DROPPED, job->gone_ns);
	} else {
		close_job(t, job, outcome, time_ns);
	}
}

static void block(struct job_track *t, struct job *job, const struct job_event *e)
{
	unblock(t, job);
	job->blocked = true;
	job->blocked_cpu = e->cpu;
	job->blocked_ns = e->time_ns;
	if (e->cpu < MAX_CPUS)
		t->last[e->cpu].before_wait = true;
	job->waits_for = e->fence;
	job->context = e->context;
	job->number = e->number;
	TAILQ_INSERT_TAIL(&t->blocked, job, in_blocked);
}

/* Whose fence one is. */
static struct queue *owner_of(const struct job_track *t, struct job_fence fence)
{
	struct job *job;

	if (t->contexts)
		return find_queue(t, fence.context);
	job = find_job(t, fence);
	return job ? job->queue : NULL;
}

static void signal_job(struct job_track *t, struct job *job, struct queue *owner, uint64_t time_ns)
{
	unblock(t, job);
	if (time_ns > job->record.ready_ns)
		job->record.ready_ns = time_ns;
	job->waited_for = owner;
}

/* It was given to firmware before a time, unseen, while events were lost: the first time or a later one. */
static void run_unseen(struct job_track *t, struct job *job, uint64_t time_ns)
{
	if (job->state != QUEUED || !job->lost_ns)
		return;
	if (job->blocked)
		job->record.ready_ns = job->lost_ns;
	unblock(t, job);
	set_ready(job);
	job->state = RUNNING;
	job->record.run_ns = job->lost_ns;
	job->record.no_run = true;
	add_unseen(t, job->queue, job->lost_ns, t->lost_until_ns < time_ns ? t->lost_until_ns : time_ns);
}

/* ---- Events ---- */

static void take_queued(struct job_track *t, const struct job_event *e)
{
	struct job *job = find_job(t, e->job);

	/* Before Linux 6.16 another one was in its place. */
	if (job)
		give_up(t, job, job->state == QUEUED ? JOB_DROPPED : JOB_UNFINISHED, e->time_ns);
	job = make_job(t, e);
	if (job)
		job->record.thread = e->thread;
}

static void take_blocked(struct job_track *t, const struct job_event *e)
{
	struct queue *q;
	struct job *job;

	if (t->contexts) {
		job = find_job(t, e->job);
		q = find_queue(t, e->fence.context);
		/* A fence may be asked for between the end of its job and its signal. */
		if (job && job->state == QUEUED && !(q && e->fence.number <= q->done))
			block(t, job, e);
		return;
	}
	/*
	 * Queues have the same name, and jobs are counted in each. One that did not wait runs before the fence is signalled, or
	 * at once.
	 */
	TAILQ_FOREACH(q, &t->queues, in_all) {
		TAILQ_FOREACH(job, &q->jobs, in_queue)
			if (job->state == QUEUED)
				break;
		if (job && job->id == e->id && !job->blocked && !strcmp(q->record.name, e->name))
			block(t, job, e);
	}
}

static void take_run(struct job_track *t, const struct job_event *e)
{
	struct job *job = find_job(t, e->job), *other;

	/* Before Linux 6.16 another one may be in its place, unseen. */
	if (job && !t->contexts && (job->id != e->id || job->queue->key != e->queue)) {
		give_up(t, job, JOB_UNFINISHED, e->time_ns);
		job = NULL;
	}
	if (!job) {
		job = make_job(t, e);
		if (!job)
			return;
		job->record.no_queued = true;
		add_unseen_before(t, job->queue, e->time_ns);
	}
	/* What it waited for meanwhile may not have been seen. */
	if (job->lost_ns)
		add_unseen(t, job->queue, job->lost_ns, e->time_ns);
	for (other = TAILQ_FIRST(&job->queue->jobs); other != job; other = TAILQ_NEXT(other, in_queue))
		run_unseen(t, other, e->time_ns);
	/* The fence was signaled, unseen. Before Linux 6.16 it may have been before. */
	if (job->blocked && t->contexts)
		signal_job(t, job, owner_of(t, job->waits_for), e->time_ns);
	unblock(t, job);
	set_ready(job);
	job->state = RUNNING;
	job->record.run_ns = e->time_ns;
	job->lost_ns = lost_since(t, e->time_ns);
	job->gone_ns = 0;
	job->queue->moved_ns = e->time_ns;
}

/* One that began before events came has run from then on. Of one whose events were lost nothing is known. */
static struct job *make_unknown(struct job_track *t, const struct job_event *e)
{
	struct queue *q = t->contexts ? find_queue(t, e->job.context) : NULL;
	struct job_event first = { .time_ns = t->start_ns, .kind = JOB_EVENT_RUN, .job = e->job };
	struct job *job;

	if (q && e->job.number <= q->done)
		return NULL;
	if (!q || !q->ours || t->counts.gaps || t->counts.no_memory) {
		add_unseen_before(t, q, e->time_ns);
		return NULL;
	}
	first.queue = q->key;
	job = make_job(t, &first);
	if (!job)
		return NULL;
	job->state = RUNNING;
	job->record.run_ns = first.time_ns;
	job->record.no_queued = job->record.no_run = true;
	return job;
}

static void take_done(struct job_track *t, const struct job_event *e)
{
	struct queue *owner = owner_of(t, e->job);
	struct job *job = find_job(t, e->job), *other, *next;

	for (other = TAILQ_FIRST(&t->blocked); other; other = next) {
		next = TAILQ_NEXT(other, in_blocked);
		if (other->waits_for.context == e->job.context && other->waits_for.number == e->job.number)
			signal_job(t, other, owner, e->time_ns);
	}
	if (e->cpu < MAX_CPUS)
		t->last[e->cpu] = (struct last){ .queue = owner };
	if (!job)
		job = make_unknown(t, e);
	if (!job)
		return;
	/* A reset can end jobs of a queue in another order: only of those whose events may be lost nothing else comes. */
	for (other = TAILQ_FIRST(&job->queue->jobs); other != job; other = next) {
		next = TAILQ_NEXT(other, in_queue);
		if (other->lost_ns)
			give_up(t, other, JOB_UNFINISHED, e->time_ns);
	}
	/* Before Linux 6.16 it may be the end of another one in its place. */
	if (job->lost_ns && !t->contexts) {
		give_up(t, job, JOB_UNFINISHED, e->time_ns);
		return;
	}
	run_unseen(t, job, e->time_ns);
	job->queue->moved_ns = job->queue->done_ns = e->time_ns;
	if (e->job.number > job->queue->done)
		job->queue->done = e->job.number;
	close_job(t, job, JOB_DONE, e->time_ns);
}

/* A fence that stands for others is signalled on the CPU that has signalled the last of them, right behind it. */
static struct queue *signaled_by(struct job_track *t, const struct job_event *e, bool stands)
{
	const struct last *last;

	if (!stands)
		return timeline_of(t, e->driver, e->name);
	last = e->cpu < MAX_CPUS ? &t->last[e->cpu] : NULL;
	if (last && last->queue)
		return last->queue;
	return last && *last->driver ? timeline_of(t, last->driver, last->name) : timeline_of(t, e->driver, e->name);
}

static void take_signaled(struct job_track *t, const struct job_event *e)
{
	bool stands = !strcmp(e->driver, "dma_fence_chain") || !strcmp(e->driver, "dma_fence_array");
	struct job *job, *next;
	struct last *last;

	for (job = TAILQ_FIRST(&t->blocked); job; job = next) {
		next = TAILQ_NEXT(job, in_blocked);
		if (job->context != e->context || job->number != e->number)
			continue;
		/* One that stands for others finds only when it is waited for that they are signalled: that was no wait. */
		if (stands && job->blocked_cpu == e->cpu && e->cpu < MAX_CPUS && t->last[e->cpu].before_wait &&
		    e->time_ns - job->blocked_ns < NO_WAIT_NS)
			unblock(t, job);
		else
			signal_job(t, job, signaled_by(t, e, stands), e->time_ns);
	}
	if (stands || e->cpu >= MAX_CPUS)
		return;
	last = &t->last[e->cpu];
	last->queue = NULL;
	last->before_wait = false;
	strcpy(last->driver, e->driver);
	strcpy(last->name, e->name);
}

static void take_lost(struct job_track *t, const struct job_event *e)
{
	t->counts.gaps++;
	t->counts.lost += e->lost;
	if (e->cpu < MAX_CPUS)
		t->last[e->cpu] = (struct last){};
	lose(t, (struct recording_gap){ e->time_ns, e->until_ns, e->cpu, e->lost });
}

/* Jobs that wait in queues of processes that have gone. The kernel gives them up when what they wait for is signaled. */
static void find_gone(struct job_track *t)
{
	struct queue *q;
	struct job *job;

	TAILQ_FOREACH(q, &t->queues, in_all) {
		job = TAILQ_LAST(&q->jobs, jobs);
		if (job && job->state == QUEUED && !job->gone_ns && q->moved_ns < t->before_ns && q->record.pid &&
		    t->processes.has_gone(t->processes.context, q->record.pid))
			TAILQ_FOREACH(job, &q->jobs, in_queue)
				if (job->state == QUEUED && !job->gone_ns)
					job->gone_ns = t->until_ns;
	}
}

void job_track_take(struct job_track *t, const struct job_event *list, size_t count, uint64_t until_ns)
{
	static void (*const take[])(struct job_track *track, const struct job_event *event) = {
		[JOB_EVENT_QUEUED] = take_queued, [JOB_EVENT_BLOCKED] = take_blocked, [JOB_EVENT_RUN] = take_run,
		[JOB_EVENT_DONE] = take_done, [JOB_EVENT_SIGNALED] = take_signaled, [JOB_EVENT_LOST] = take_lost,
	};
	size_t i;

	for (i = 0; i < count; i++)
		take[list[i].kind](t, &list[i]);
	t->before_ns = t->until_ns;
	if (until_ns > t->until_ns)
		t->until_ns = until_ns;
	find_gone(t);
}

void job_track_end(struct job_track *t)
{
	struct queue *q;
	struct job *job;
	size_t i;

	TAILQ_FOREACH(q, &t->queues, in_all)
		while ((job = TAILQ_FIRST(&q->jobs))) {
			if (job->blocked)
				job->waited_for = owner_of(t, job->waits_for);
			give_up(t, job, JOB_UNFINISHED, t->until_ns);
		}
	for (i = 0; i < t->num_gaps; i++)
		if (t->gaps[i].end_ns > t->until_ns)
			t->gaps[i].end_ns = t->until_ns;
	t->ended = true;
}

/* ---- Records ---- */

/* What is told of a queue. The last number is that of all others. */
static struct recording_queue record_of(struct job_track *t, struct queue *q)
{
	if (!q->numbered) {
		q->record.id = t->next_id;
		t->next_id += t->next_id < RECORDING_MAX_QUEUES - 1;
		q->numbered = true;
	}
	if (q->record.id == RECORDING_MAX_QUEUES - 1)
		return (struct recording_queue){ .id = q->record.id, .name = "too many queues" };
	return q->record;
}

/* The place of a queue in the record, or -1 if it has no more room. */
static int place_of(struct job_track *t, struct recording_jobs *out, struct queue *q)
{
	const struct recording_queue record = record_of(t, q);
	size_t i;

	for (i = 0; i < out->num_queues; i++)
		if (out->queues[i].id == record.id)
			return i;
	if (out->num_queues == RECORDING_JOBS_QUEUES)
		return -1;
	out->queues[out->num_queues] = record;
	return out->num_queues++;
}

/* Returns false if there is no more room. */
static bool put_job(struct job_track *t, struct recording_jobs *out, const struct job *job)
{
	struct recording_job *r = &out->list[out->count];
	int place, waited_for = -1;

	if (out->count == RECORDING_JOBS_JOBS)
		return false;
	place = place_of(t, out, job->queue);
	if (job->waited_for)
		waited_for = place_of(t, out, job->waited_for);
	if (place < 0 || (job->waited_for && waited_for < 0))
		return false;
	*r = job->record;
	r->queue = place;
	r->waited_for = waited_for + 1;
	out->count++;
	t->counts.jobs++;
	return true;
}

/* When the oldest job was queued that may run still, or a gap began that is not written. */
static uint64_t oldest_open(const struct job_track *t)
{
	uint64_t oldest_ns = UINT64_MAX;
	const struct queue *q;
	const struct job *job;
	size_t i;

	for (i = 0; i < t->num_gaps; i++)
		if (t->gaps[i].start_ns < oldest_ns)
			oldest_ns = t->gaps[i].start_ns;
	TAILQ_FOREACH(q, &t->queues, in_all)
		if (q->ours)
			TAILQ_FOREACH(job, &q->jobs, in_queue)
				if ((!job->gone_ns || job->lost_ns) && job->record.queued_ns < oldest_ns)
					oldest_ns = job->record.queued_ns;
	TAILQ_FOREACH(job, &t->closed, in_closed)
		if (job->record.queued_ns < oldest_ns)
			oldest_ns = job->record.queued_ns;
	return oldest_ns;
}

static void put_gaps(struct job_track *t, struct recording_jobs *out)
{
	size_t i, left = 0;

	for (i = 0; i < t->num_gaps; i++) {
		if (t->gaps[i].end_ns <= out->end_ns && out->num_gaps < RECORDING_JOBS_GAPS)
			out->gaps[out->num_gaps++] = t->gaps[i];
		else
			t->gaps[left++] = t->gaps[i];
	}
	t->num_gaps = left;
}

/* One can end later than what was taken. */
static bool has_gap(const struct job_track *t)
{
	size_t i;

	for (i = 0; i < t->num_gaps; i++)
		if (t->gaps[i].end_ns <= t->until_ns)
			return true;
	return false;
}

bool job_track_record(struct job_track *t, struct recording_jobs *out)
{
	struct job *job;

	*out = (struct recording_jobs){ .start_ns = t->written_ns, .end_ns = t->written_ns, .gaps = t->out_gaps,
					.queues = t->out_queues, .list = t->out };
	if (TAILQ_EMPTY(&t->closed) && !has_gap(t) && t->until_ns - t->written_ns < (t->ended ? 1 : QUIET_NS))
		return false;
	while ((job = TAILQ_FIRST(&t->closed)) && put_job(t, out, job)) {
		if (job->record.end_ns > out->end_ns)
			out->end_ns = job->record.end_ns;
		TAILQ_REMOVE(&t->closed, job, in_closed);
		free(job);
	}
	if (!job && out->end_ns < t->until_ns)
		out->end_ns = t->until_ns;
	put_gaps(t, out);
	out->open_ns = oldest_open(t);
	if (out->open_ns > out->end_ns)
		out->open_ns = out->end_ns;
	t->written_ns = out->end_ns;
	return true;
}

/* ---- What goes on ---- */

uint64_t job_track_until(const struct job_track *t)
{
	return t->until_ns;
}

/* Jobs that were dropped, or whose ends were lost: not of one that another one is still behind. */
static void forget_jobs(struct job_track *t, struct queue *q)
{
	struct job *job, *next;

	for (job = TAILQ_FIRST(&q->jobs); job; job = next) {
		next = TAILQ_NEXT(job, in_queue);
		if ((job->lost_ns && t->until_ns - job->lost_ns > FORGOTTEN_NS &&
		     !(job->state == QUEUED && next && next->state == QUEUED && !next->lost_ns && !next->blocked)) ||
		    (job->gone_ns && t->until_ns - job->gone_ns > FORGOTTEN_NS))
			give_up(t, job, JOB_DROPPED, t->until_ns);
	}
}

static void forget_queue(struct job_track *t, struct queue *q)
{
	if (find_queue(t, q->key) == q)
		tdelete(q, &t->by_key, compare_keys);
	TAILQ_REMOVE(&t->queues, q, in_all);
	free(q);
}

/* Of one whose process has gone, or is not known, nothing more will come, and of others most likely. */
static bool is_old(const struct job_track *t, const struct queue *q)
{
	uint64_t ns = t->until_ns > q->moved_ns ? t->until_ns - q->moved_ns : 0;

	return TAILQ_EMPTY(&q->jobs) && ns > FORGOTTEN_NS &&
	       (ns > UNUSED_NS || !q->record.pid || t->processes.has_gone(t->processes.context, q->record.pid));
}

/* Forgets queues that nothing refers to. They are made anew if something comes of them. */
static void forget_queues(struct job_track *t)
{
	struct queue *q, *next;
	struct job *job;
	size_t cpu;

	TAILQ_FOREACH(q, &t->queues, in_all)
		q->kept = !is_old(t, q);
	TAILQ_FOREACH(q, &t->queues, in_all) {
		TAILQ_FOREACH(job, &q->jobs, in_queue)
			if (job->waited_for)
				job->waited_for->kept = true;
		if (q->waited_for)
			q->waited_for->kept = true;
	}
	TAILQ_FOREACH(job, &t->closed, in_closed) {
		job->queue->kept = true;
		if (job->waited_for)
			job->waited_for->kept = true;
	}
	/* That was right behind it, long ago. */
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		if (t->last[cpu].queue && !t->last[cpu].queue->kept)
			t->last[cpu] = (struct last){};
	for (q = TAILQ_FIRST(&t->queues); q; q = next) {
		next = TAILQ_NEXT(q, in_all);
		if (!q->kept)
			forget_queue(t, q);
	}
}

void job_track_forget(struct job_track *t)
{
	struct queue *q;

	TAILQ_FOREACH(q, &t->queues, in_all)
		forget_jobs(t, q);
	forget_queues(t);
}

void job_track_renumber(struct job_track *t)
{
	struct queue *q;

	t->next_id = 0;
	TAILQ_FOREACH(q, &t->queues, in_all)
		q->numbered = false;
	TAILQ_FOREACH(q, &t->timelines, in_all)
		q->numbered = false;
}

/* Of a job whose events may be lost nothing is known since then, and neither is what the GPU does. */
static void tell_open(struct job_track *t, const struct job *job, job_track_take_open *take, void *context)
{
	uint64_t end_ns = job->lost_ns ? job->lost_ns : t->until_ns;
	struct recording_gap gap = { end_ns, t->until_ns, RECORDING_NO_CPU, 0 };
	struct recording_queue queues[2] = { record_of(t, job->queue) };
	struct recording_job copy = job->record;
	struct recording_jobs record = { .queues = queues, .num_queues = 1, .list = &copy, .count = 1, .gaps = &gap,
					 .num_gaps = job->lost_ns > 0 };
	struct queue *waits_for = job->waited_for;

	if (job->state == QUEUED) {
		copy.no_run = true;
		copy.run_ns = end_ns;
		if (job->blocked) {
			copy.ready_ns = end_ns;
			waits_for = owner_of(t, job->waits_for);
		} else if (copy.ready_ns < job->queue->ready_ns) {
			copy.ready_ns = job->queue->ready_ns;
			waits_for = job->queue->waited_for;
		}
	}
	copy.outcome = JOB_UNFINISHED;
	copy.end_ns = end_ns;
	copy.queue = copy.waited_for = 0;
	if (waits_for) {
		queues[record.num_queues++] = record_of(t, waits_for);
		copy.waited_for = record.num_queues;
	}
	take(context, &record);
}

static void tell_open_of(struct job_track *t, const struct queue *q, job_track_take_open *take, void *context)
{
	const struct job *job, *lost = NULL, *running = NULL, *queued = NULL;

	/* The others add nothing to these. */
	TAILQ_FOREACH(job, &q->jobs, in_queue) {
		if (job->lost_ns)
			lost = lost && lost->lost_ns <= job->lost_ns ? lost : job;
		else if (job->state == RUNNING)
			running = running ? running : job;
		else if (!job->gone_ns)
			queued = queued ? queued : job;
	}
	if (lost)
		tell_open(t, lost, take, context);
	if (running)
		tell_open(t, running, take, context);
	if (queued)
		tell_open(t, queued, take, context);
}

void job_track_each_open(struct job_track *t, job_track_take_open *take, void *context)
{
	struct recording_gap gap = { 0, t->until_ns, RECORDING_NO_CPU, 0 };
	struct recording_jobs record = { .gaps = &gap, .num_gaps = 1 };
	struct queue *q;
	size_t i;

	TAILQ_FOREACH(q, &t->queues, in_all)
		if (q->ours)
			tell_open_of(t, q, take, context);
	for (i = 0; i < t->num_gaps; i++) {
		gap.start_ns = t->gaps[i].start_ns;
		if (gap.start_ns < gap.end_ns)
			take(context, &record);
	}
}

/* ---- All of it ---- */

struct job_track *job_track_new(uint64_t start_ns, bool contexts, const struct job_track_processes *processes)
{
	struct job_track *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->processes = *processes;
	t->contexts = contexts;
	t->start_ns = t->until_ns = t->written_ns = t->lost_ns = t->lost_until_ns = start_ns;
	TAILQ_INIT(&t->queues);
	TAILQ_INIT(&t->timelines);
	TAILQ_INIT(&t->blocked);
	TAILQ_INIT(&t->closed);
	return t;
}

const struct job_track_counts *job_track_counts(const struct job_track *t)
{
	return &t->counts;
}

void job_track_free(struct job_track *t)
{
	struct queue *q;
	struct job *job;

	if (!t)
		return;
	job_track_end(t);
	while ((job = TAILQ_FIRST(&t->closed))) {
		TAILQ_REMOVE(&t->closed, job, in_closed);
		free(job);
	}
	while ((q = TAILQ_FIRST(&t->queues)))
		forget_queue(t, q);
	while ((q = TAILQ_FIRST(&t->timelines))) {
		TAILQ_REMOVE(&t->timelines, q, in_all);
		free(q);
	}
	free(t);
}
