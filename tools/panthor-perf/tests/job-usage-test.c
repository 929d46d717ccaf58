// SPDX-License-Identifier: MIT
/*
 * Tests of what is added up of jobs while they go on: however often that is done, the sums are those of each moment. Prints TAP.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job-usage.h"
#include "tap.h"

/* Times are in milliseconds here: what is ten seconds old is forgotten. */
#define MS 1000000ull
#define START (1000 * MS)
#define TIME 40000

#define PROCESSES 60
#define QUEUES 600
#define JOBS 5

struct job {
	uint64_t queued, ready, run, end;
};

static struct job jobs[QUEUES][JOBS];
static struct job_event events[QUEUES * JOBS * 6];
static size_t num_events;

/* The present time. */
static uint64_t now;

/* By time: whose jobs run, and how many queues have jobs that are ready, and that wait. */
static bool runs[PROCESSES][TIME];
static unsigned int ready[TIME], waiting[TIME];

static uint32_t find_process(void *context, uint32_t thread, char *name, size_t size)
{
	(void)context;
	/* Its name changes. */
	snprintf(name, size, "p%u at %" PRIu64, thread, now);
	return thread;
}

static bool has_gone(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return false;
}

/* Without events. */
static struct job_track *make_track_for(bool contexts, bool (*gone)(void *context, uint32_t pid))
{
	const struct job_track_processes processes = { find_process, gone, NULL };
	struct job_track *track = job_track_new(START, contexts, &processes);

	if (!track)
		abort();
	num_events = 0;
	now = START;
	return track;
}

static struct job_track *make_track(bool (*gone)(void *context, uint32_t pid))
{
	return make_track_for(true, gone);
}

static uint64_t draw(uint64_t from, uint64_t range)
{
	return from + rand() % (range + 1);
}

static struct job_event *add(uint64_t time, enum job_event_kind kind, size_t queue, size_t job)
{
	struct job_event *e = &events[num_events++];

	*e = (struct job_event){ .time_ns = START + time * MS, .kind = kind, .order = num_events, .job = { queue + 1, job + 1 },
				 .id = job + 1, .queue = queue + 1, .ours = true, .thread = queue % PROCESSES + 1 };
	snprintf(e->name, sizeof(e->name), "q%zu", queue);
	return e;
}

static struct job_fence block(size_t queue, size_t n, uint64_t head, struct job_fence fence)
{
	struct job_event *e = add(head, JOB_EVENT_BLOCKED, queue, n);

	e->fence = fence;
	e->context = fence.context;
	e->number = fence.number;
	return fence;
}

static void signal_fence(uint64_t time, struct job_fence fence, const char *driver)
{
	struct job_event *e = add(time, JOB_EVENT_SIGNALED, 0, 0);

	e->job = (struct job_fence){};
	e->context = fence.context;
	e->number = fence.number;
	strcpy(e->driver, driver);
}

/*
 * A job that is the first of its queue from some time on waits for a job of another queue that was made, itself or in an array of
 * fences, or for another driver. Returns until when, or 0.
 */
static uint64_t wait_for(size_t queue, size_t n, uint64_t head)
{
	const struct job_fence own = { 100000 + queue, n + 1 };
	size_t other = queue ? rand() % queue : 0, i;
	uint64_t signal = draw(head + 1, 100);

	for (i = 0; queue && i < JOBS && (jobs[other][i].end <= head || jobs[other][i].end > head + 400); i++)
		;
	switch (rand() % 4) {
	case 0:
		return 0;
	case 1:
		if (!queue || i == JOBS)
			return 0;
		block(queue, n, head, (struct job_fence){ other + 1, i + 1 });
		return jobs[other][i].end;
	case 2:
		if (!queue || i == JOBS)
			return 0;
		signal_fence(jobs[other][i].end, block(queue, n, head, own), "dma_fence_array");
		return jobs[other][i].end;
	default:
		signal_fence(signal, block(queue, n, head, own), "vkms");
		return signal;
	}
}

/* Jobs of a queue: one after the other is queued, ready, run and done; some wait for a fence. */
static void make_queue(size_t queue, bool fences)
{
	uint64_t first = draw(0, TIME - 4000), was_ready = 0, was_run = 0, was_done = 0, head, signal;
	struct job *j;
	size_t n;

	for (n = 0; n < JOBS; n++) {
		j = &jobs[queue][n];
		j->queued = first = draw(first, 200);
		add(j->queued, JOB_EVENT_QUEUED, queue, n);
		head = j->queued > was_run ? j->queued : was_run;
		j->ready = j->queued > was_ready ? j->queued : was_ready;
		signal = fences ? wait_for(queue, n, head) : 0;
		if (signal)
			j->ready = signal;
		j->run = draw(j->ready > head ? j->ready : head, 50);
		j->end = draw(j->run > was_done ? j->run : was_done, 100);
		add(j->run, JOB_EVENT_RUN, queue, n);
		add(j->end, JOB_EVENT_DONE, queue, n);
		was_ready = j->ready;
		was_run = j->run;
		was_done = j->end;
	}
}

static int compare(const void *a, const void *b)
{
	const struct job_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* What is so at each moment, by the jobs that are seen. */
static void make_moments(size_t queues, bool (*seen)[JOBS])
{
	size_t q, n;
	uint64_t t;

	memset(runs, 0, sizeof(runs));
	memset(ready, 0, sizeof(ready));
	memset(waiting, 0, sizeof(waiting));
	for (q = 0; q < queues; q++) {
		for (n = 0; n < JOBS; n++) {
			if (!seen[q][n])
				continue;
			for (t = jobs[q][n].queued; t < jobs[q][n].ready; t++)
				waiting[t]++;
			for (t = jobs[q][n].ready; t < jobs[q][n].run; t++)
				ready[t]++;
			for (t = jobs[q][n].run; t < jobs[q][n].end; t++)
				runs[q % PROCESSES][t] = true;
		}
	}
}

static void make_all(size_t queues, bool fences)
{
	static bool all[QUEUES][JOBS];
	size_t q;

	memset(all, true, sizeof(all));
	for (q = 0; q < queues; q++)
		make_queue(q, fences);
	make_moments(queues, all);
	qsort(events, num_events, sizeof(events[0]), compare);
}

/* Adds another one to a sum. */
static void add_usage(struct job_usage_process *sum, struct job_times *times, const struct job_usage *usage)
{
	size_t i;

	for (i = 0; i < JOB_STATES; i++)
		times->ns[i] += usage->times.ns[i];
	times->several_ns += usage->times.several_ns;
	for (i = 0; i < usage->count; i++) {
		const struct job_usage_process *p = &usage->list[i];

		expect(p->pid && p->pid <= PROCESSES, "process %u", p->pid);
		sum[p->pid - 1].busy_ns += p->busy_ns;
		sum[p->pid - 1].alone_ns += p->alone_ns;
		sum[p->pid - 1].jobs += p->jobs;
		sum[p->pid - 1].timed += p->timed;
		sum[p->pid - 1].to_run_ns += p->to_run_ns;
		sum[p->pid - 1].to_end_ns += p->to_end_ns;
	}
}

static void compare_with_moments(size_t queues, const struct job_usage_process *got, const struct job_times *times)
{
	struct job_usage_process want[PROCESSES] = {};
	struct job_times all = {};
	size_t n, p, q, run;
	uint64_t t;

	for (t = 0; t < TIME; t++) {
		for (p = 0, run = 0, q = 0; p < PROCESSES; p++) {
			run += runs[p][t];
			want[p].busy_ns += runs[p][t] ? MS : 0;
			if (runs[p][t])
				q = p;
		}
		want[q].alone_ns += run == 1 ? MS : 0;
		all.several_ns += run > 1 ? MS : 0;
		all.ns[run ? JOBS_RUNNING : ready[t] ? JOBS_READY : waiting[t] ? JOBS_WAITING : JOBS_NONE] += MS;
	}
	for (q = 0; q < queues; q++) {
		for (n = 0; n < JOBS; n++) {
			p = q % PROCESSES;
			want[p].jobs++;
			want[p].timed++;
			want[p].to_run_ns += (jobs[q][n].run - jobs[q][n].queued) * MS;
			want[p].to_end_ns += (jobs[q][n].end - jobs[q][n].run) * MS;
		}
	}
	for (p = 0; p < PROCESSES; p++)
		expect(!memcmp(&got[p], &want[p], sizeof(got[p])), "process %zu: busy %" PRIu64 ", alone %" PRIu64 ", %" PRIu64 " jobs (%" PRIu64
		       "), to run %" PRIu64 ", to end %" PRIu64 "; want %" PRIu64 " %" PRIu64 " %" PRIu64 " (%" PRIu64 ") %" PRIu64 " %" PRIu64,
		       p + 1, got[p].busy_ns, got[p].alone_ns, got[p].jobs, got[p].timed, got[p].to_run_ns, got[p].to_end_ns,
		       want[p].busy_ns, want[p].alone_ns, want[p].jobs, want[p].timed, want[p].to_run_ns, want[p].to_end_ns);
	for (n = 0; n < JOB_STATES; n++)
		expect(times->ns[n] == all.ns[n], "%s: %" PRIu64 ", want %" PRIu64, job_states[n][1], times->ns[n], all.ns[n]);
	expect(times->several_ns == all.several_ns, "several: %" PRIu64 ", want %" PRIu64, times->several_ns, all.several_ns);
}

/* So many queues, whose events are taken each so often, and shown each so many times. */
static void check(const char *name, size_t queues, bool fences, uint64_t step, unsigned int updates)
{
	struct job_track *track = make_track(has_gone);
	struct job_usage_process sum[PROCESSES] = {};
	struct job_usage usage = {};
	struct job_times times = {};
	size_t done = 0, first;
	unsigned int n = 0;
	uint64_t start;

	begin();
	make_all(queues, fences);
	job_usage_reset(&usage, START);
	for (now = start = START; now < START + TIME * MS;) {
		now += draw(1, step) * MS;
		if (now > START + TIME * MS)
			now = START + TIME * MS;
		for (first = done; done < num_events && events[done].time_ns < now; done++)
			;
		job_track_take(track, events + first, done - first, now);
		expect(!job_usage_add(&usage, track), "it cannot be added");
		expect(usage.start_ns == start && usage.end_ns == now, "%" PRIu64 " to %" PRIu64, usage.start_ns, usage.end_ns);
		if (++n % updates)
			continue;
		add_usage(sum, &times, &usage);
		start = now;
		job_usage_reset(&usage, now);
		expect(!job_usage_find(&usage, 1), "a process without jobs");
	}
	add_usage(sum, &times, &usage);
	compare_with_moments(queues, sum, &times);
	job_usage_free(&usage);
	job_track_free(track);
	end(name);
}

/* How many there are in each of the next updates, after so many looks. */
static void expect_jobs(struct job_track *track, struct job_usage *usage, uint64_t at_ns, uint64_t jobs, uint64_t waiting_ns,
			uint64_t unknown_ns)
{
	uint64_t ended = 0;
	size_t i;

	job_usage_reset(usage, job_track_until(track));
	job_track_take(track, NULL, 0, at_ns);
	expect(!job_usage_add(usage, track), "it cannot be added");
	for (i = 0; i < usage->count; i++)
		ended += usage->list[i].jobs;
	expect(ended == jobs && usage->times.ns[JOBS_WAITING] == waiting_ns && usage->times.ns[JOBS_UNKNOWN] == unknown_ns,
	       "up to %" PRIu64 ": %" PRIu64 " jobs, waiting %" PRIu64 ", unknown %" PRIu64, at_ns, ended, usage->times.ns[JOBS_WAITING],
	       usage->times.ns[JOBS_UNKNOWN]);
}

static bool all_gone(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return true;
}

/* Jobs of which nothing comes any more. */
static void test_forgotten(void)
{
	struct job_track *track = make_track(all_gone);
	struct job_usage usage = {};

	begin();
	add(100, JOB_EVENT_QUEUED, 0, 0);
	add(150, JOB_EVENT_QUEUED, 0, 1);
	block(0, 0, 100, (struct job_fence){ 77, 1 });
	qsort(events, num_events, sizeof(events[0]), compare);
	job_track_take(track, events, num_events, START + 1000 * MS);
	/* It is not known at once that the process has gone. */
	expect_jobs(track, &usage, START + 2000 * MS, 0, 0, 0);
	expect_jobs(track, &usage, START + 11000 * MS, 0, 0, 0);
	expect_jobs(track, &usage, START + 13000 * MS, 0, 0, 0);
	expect_jobs(track, &usage, START + 13500 * MS, 2, 0, 0);
	expect_jobs(track, &usage, START + 14000 * MS, 0, 0, 0);

	num_events = 0;
	add(14100, JOB_EVENT_QUEUED, 1, 0);
	add(14200, JOB_EVENT_RUN, 1, 0);
	add(14250, JOB_EVENT_LOST, 0, 0)->until_ns = START + 14300 * MS;
	job_track_take(track, events, num_events, START + 15000 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect_jobs(track, &usage, START + 16000 * MS, 0, 0, 1000 * MS);
	expect_jobs(track, &usage, START + 26000 * MS, 0, 0, 10000 * MS);
	expect_jobs(track, &usage, START + 27000 * MS, 0, 0, 0);

	/* What a job has waited for is not, while that runs. */
	num_events = 0;
	add(30000, JOB_EVENT_QUEUED, 2, 0);
	add(30100, JOB_EVENT_QUEUED, 3, 0);
	add(30200, JOB_EVENT_RUN, 2, 0);
	block(3, 0, 30300, (struct job_fence){ 3, 1 });
	add(30400, JOB_EVENT_DONE, 2, 0);
	add(30410, JOB_EVENT_QUEUED, 4, 0);
	add(30420, JOB_EVENT_RUN, 4, 0);
	add(30430, JOB_EVENT_DONE, 4, 0);
	add(30500, JOB_EVENT_RUN, 3, 0);
	add(30600, JOB_EVENT_QUEUED, 3, 1);
	add(30700, JOB_EVENT_RUN, 3, 1);
	job_track_take(track, events, num_events, START + 31000 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect_jobs(track, &usage, START + 42000 * MS, 0, 0, 0);
	expect_jobs(track, &usage, START + 53000 * MS, 0, 0, 0);
	expect(usage.times.ns[JOBS_RUNNING] == 11000 * MS, "running %" PRIu64, usage.times.ns[JOBS_RUNNING]);
	job_usage_free(&usage);
	job_track_free(track);
	end("jobs of which nothing comes any more are forgotten");
}

static void test_moments(void)
{
	check("one queue", 1, true, 50, 1);
	check("one queue, taken at once", 1, true, 2 * TIME, 1);
	check("a few queues", 4, true, 30, 3);
	check("queues of several processes", 100, false, 100, 7);
	check("processes that come and go", QUEUES, true, 70, 4);
	check("the same, in few steps", QUEUES, true, 3000, 1);
}

/* Of the time in which events were lost nothing is known. */
static void test_lost(void)
{
	struct job_track *track = make_track(has_gone);
	struct job_usage usage = {};

	begin();
	add(100, JOB_EVENT_QUEUED, 0, 0);
	add(200, JOB_EVENT_RUN, 0, 0);
	add(400, JOB_EVENT_LOST, 0, 0)->until_ns = START + 600 * MS;
	add(2500, JOB_EVENT_DONE, 0, 0);
	job_usage_reset(&usage, START);
	job_track_take(track, events, 2, START + 300 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect(usage.count == 1 && usage.list[0].busy_ns == 100 * MS && !usage.list[0].jobs, "a job that runs: %" PRIu64,
	       usage.list[0].busy_ns);
	/* It may have ended among them: nothing is known until it does. */
	job_track_take(track, events + 2, 1, START + 1000 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect(usage.gaps == 1 && usage.times.ns[JOBS_RUNNING] == 200 * MS && usage.times.ns[JOBS_READY] == 100 * MS &&
	       usage.times.ns[JOBS_NONE] == 100 * MS && usage.times.ns[JOBS_UNKNOWN] == 600 * MS,
	       "%" PRIu64 " gaps, running %" PRIu64 ", ready %" PRIu64 ", none %" PRIu64 ", unknown %" PRIu64, usage.gaps,
	       usage.times.ns[JOBS_RUNNING], usage.times.ns[JOBS_READY], usage.times.ns[JOBS_NONE], usage.times.ns[JOBS_UNKNOWN]);
	job_track_take(track, events + 3, 1, START + 3000 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect(usage.times.ns[JOBS_RUNNING] == 1700 * MS && usage.times.ns[JOBS_NONE] == 600 * MS && usage.list[0].jobs == 1,
	       "running %" PRIu64 ", none %" PRIu64 ", %" PRIu64 " jobs", usage.times.ns[JOBS_RUNNING], usage.times.ns[JOBS_NONE],
	       usage.list[0].jobs);
	job_usage_free(&usage);
	job_track_free(track);

	/* Of a job that had not run when events were lost it is not known whether it did. */
	track = make_track(has_gone);
	add(100, JOB_EVENT_QUEUED, 0, 0);
	add(400, JOB_EVENT_LOST, 0, 0)->until_ns = START + 600 * MS;
	job_usage_reset(&usage, START);
	job_track_take(track, events, 2, START + 1000 * MS);
	expect(!job_usage_add(&usage, track), "it cannot be added");
	expect(usage.times.ns[JOBS_READY] == 300 * MS && usage.times.ns[JOBS_NONE] == 100 * MS && usage.times.ns[JOBS_UNKNOWN] == 600 * MS,
	       "queued: ready %" PRIu64 ", none %" PRIu64 ", unknown %" PRIu64, usage.times.ns[JOBS_READY], usage.times.ns[JOBS_NONE],
	       usage.times.ns[JOBS_UNKNOWN]);
	job_usage_free(&usage);
	job_track_free(track);
	end("the time of lost events is unknown");
}

/*
 * Drops the events of a CPU between two times, and puts what the reader tells of it in the place of the first; that is the reader's
 * time of the last one before it, or a little later.
 */
static void drop(uint32_t cpu, uint64_t start_ns, uint64_t end_ns)
{
	struct job_event lost = { .time_ns = start_ns, .until_ns = start_ns, .kind = JOB_EVENT_LOST, .cpu = cpu };
	size_t i, left = 0, place = 0;

	for (i = 0; i < num_events; i++) {
		const struct job_event e = events[i];

		if (e.time_ns < start_ns)
			place = left + 1;
		if (e.cpu == cpu && e.time_ns >= start_ns && e.time_ns < end_ns && e.kind != JOB_EVENT_LOST) {
			lost.until_ns = e.time_ns + MS;
			lost.lost++;
		} else {
			events[left++] = e;
		}
	}
	num_events = left;
	if (!lost.lost)
		return;
	memmove(&events[place + 1], &events[place], (num_events - place) * sizeof(events[0]));
	events[place] = lost;
	num_events++;
}

/*
 * Makes events of those before Linux 6.16: a fence is where it is in memory, where another is later, and a queue tells which of its
 * jobs waits, but not which queue it is.
 */
static void make_old(void)
{
	static size_t places[QUEUES][JOBS], free_places[QUEUES * JOBS];
	size_t num_free = 0, num_places = 0, i;
	struct job_event *e;

	for (i = 0; i < num_events; i++) {
		const size_t queue = events[i].job.context - 1, n = events[i].job.number - 1;

		e = &events[i];
		if (e->kind == JOB_EVENT_SIGNALED)
			continue;
		if (e->kind == JOB_EVENT_QUEUED)
			places[queue][n] = num_free ? free_places[--num_free] : ++num_places;
		if (e->kind == JOB_EVENT_DONE)
			free_places[num_free++] = places[queue][n];
		e->job = (struct job_fence){ places[queue][n], 0 };
		strcpy(e->name, "panthor-queue");
		if (e->kind != JOB_EVENT_BLOCKED)
			continue;
		e->job = (struct job_fence){};
		/* That of a job, or one that stands for others. */
		if (e->fence.context <= QUEUES)
			e->fence = (struct job_fence){ places[e->fence.context - 1][e->fence.number - 1], 0 };
		else
			e->fence = (struct job_fence){ QUEUES * JOBS + e->fence.context, 0 };
	}
}

/*
 * What is known at a time, with lost events: it has to be so. Before Linux 6.16 jobs can be taken for others that wait.
 */
static void check_moment(bool contexts, const struct jobs *list, const struct job_span *span, uint64_t t)
{
	size_t p, run = 0, owner = 0;
	bool unknown = false;

	for (p = 0; p < PROCESSES; p++)
		run += runs[p][t];
	/* One of which nobody saw that it queued jobs. */
	for (p = 0; p < list->num_processes; p++)
		unknown |= !list->processes[p].pid && list->processes[p].jobs;
	switch (span->state) {
	case JOBS_RUNNING:
		if (span->owner != JOBS_SEVERAL)
			owner = list->processes[span->owner].pid;
		/* All unknown processes count as one. */
		expect(span->owner == JOBS_SEVERAL ? run > !unknown : owner ? run == 1 && runs[owner - 1][t] : run > 0,
		       "at %" PRIu64 " %s runs, and %zu processes do", t, span->owner == JOBS_SEVERAL ? "several" : "one", run);
		break;
	case JOBS_READY:
		expect(!run && (ready[t] || (!contexts && waiting[t])), "at %" PRIu64 " a job is ready; %zu run, %u are ready, %u wait", t,
		       run, ready[t], waiting[t]);
		break;
	case JOBS_WAITING:
		expect(!run && (contexts ? waiting[t] && !ready[t] : waiting[t] || ready[t]),
		       "at %" PRIu64 " a job waits; %zu run, %u are ready, %u wait", t, run, ready[t], waiting[t]);
		break;
	case JOBS_NONE:
		expect(!run && !ready[t] && !waiting[t], "at %" PRIu64 " is no job; %zu run, %u are ready, %u wait", t, run, ready[t], waiting[t]);
		break;
	default:
		break;
	}
}

/* Of jobs whose events are all lost nobody can know. */
static void forget_unseen(size_t queues)
{
	static bool seen[QUEUES][JOBS];
	size_t i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < num_events; i++)
		if (events[i].kind == JOB_EVENT_QUEUED || events[i].kind == JOB_EVENT_RUN || events[i].kind == JOB_EVENT_DONE)
			seen[events[i].queue - 1][events[i].id - 1] = true;
	make_moments(queues, seen);
}

/* However many events are lost, nothing is said of the GPU that was not so. Returns the part of the time that is known. */
static double check_lost(bool contexts, size_t queues, unsigned int gaps, uint64_t longest)
{
	struct job_track *track = make_track_for(contexts, has_gone);
	size_t done = 0, first, i, n = 0;
	struct recording_jobs record;
	uint64_t known = 0, t;
	struct job_event at;
	struct jobs list = {};

	make_all(queues, rand() % 2);
	if (!contexts)
		make_old();
	for (i = 0; i < num_events; i++) {
		events[i].cpu = rand() % 4;
		/* A fence that stands for others is signalled behind the last of them. */
		for (n = i; !strcmp(events[i].driver, "dma_fence_array") && n > 0 && events[n - 1].time_ns == events[i].time_ns; n--)
			if (events[n - 1].kind == JOB_EVENT_DONE)
				events[i].cpu = events[n - 1].cpu;
	}
	n = 0;
	/* Each begins with an event. */
	for (; gaps; gaps--) {
		at = events[rand() % num_events];
		drop(at.cpu, at.time_ns, at.time_ns + draw(1, longest) * MS);
	}
	forget_unseen(queues);
	for (now = START; now < START + TIME * MS;) {
		now += draw(1, 200) * MS;
		if (now > START + TIME * MS)
			now = START + TIME * MS;
		for (first = done; done < num_events && events[done].time_ns < now; done++)
			;
		job_track_take(track, events + first, done - first, now);
		if (now == START + TIME * MS)
			job_track_end(track);
		while (job_track_record(track, &record)) {
			for (i = 0; i < record.num_queues; i++)
				if (record.queues[i].pid)
					*record.queues[i].process = 0;
			expect(pperf_jobs_add(&list, &record) == RECORDING_END, "a record cannot be added");
		}
		job_track_forget(track);
	}
	expect(pperf_jobs_end(&list) == RECORDING_END, "there are no spans");
	for (t = 0; t < TIME && good; t++) {
		while (n < list.num_spans && list.spans[n].end_ns <= START + t * MS)
			n++;
		expect(n < list.num_spans, "no span at %" PRIu64, t);
		check_moment(contexts, &list, &list.spans[n], t);
		known += list.spans[n].state != JOBS_UNKNOWN;
	}
	pperf_jobs_free(&list);
	job_track_free(track);
	return known / (double)TIME;
}

static void test_gaps(bool contexts, const char *name)
{
	double none = 1, few = 0, many = 0, known;
	int i;

	begin();
	for (i = 0; i < 8; i++) {
		known = check_lost(contexts, 1 + 20 * i, 0, 1);
		none = known < none ? known : none;
		few += check_lost(contexts, 1 + 20 * i, 3, 50) / 8;
		many += check_lost(contexts, 1 + 20 * i, 100, 2000) / 8;
	}
	expect(none == 1 && few < 1 && few > 0.5 && many < few, "known: %.3f, with few gaps %.3f, with many %.3f", none, few, many);
	end(name);
}

int main(void)
{
	const char *seed = getenv("SEED");

	srand(seed ? atoi(seed) : 1);
	test_moments();
	test_lost();
	test_forgotten();
	test_gaps(true, "nothing is said that was not so, whatever was lost");
	test_gaps(false, "before Linux 6.16: nothing is said that was not so, whatever was lost");
	printf("1..%u\n", tests);
	return failed;
}
