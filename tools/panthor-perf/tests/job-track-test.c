// SPDX-License-Identifier: MIT
/*
 * Tests of what is made of events of the kernel's GPU scheduler, where tests with a kernel cannot have them when they want: lost
 * events, processes that end, jobs from before, fences of all kinds. Prints TAP.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job-track.h"
#include "tap.h"

#define START 1000

static uint32_t gone;

/* Threads of the process 100 are 101 to 109, and so on. */
static uint32_t find_process(void *context, uint32_t thread, char *name, size_t size)
{
	(void)context;
	snprintf(name, size, "p%u", thread / 10 * 10);
	return thread / 10 * 10;
}

static bool has_gone(void *context, uint32_t pid)
{
	(void)context;
	return pid == gone;
}

static struct job_track *make_track(bool contexts)
{
	const struct job_track_processes processes = { find_process, has_gone, NULL };
	struct job_track *t = job_track_new(START, contexts, &processes);

	if (!t)
		abort();
	gone = 0;
	return t;
}

/* Events of Linux 6.16 and later: queue Q has fences of the context Q. */
static struct job_event queued(uint64_t time_ns, uint64_t queue, uint64_t number, uint32_t thread)
{
	struct job_event e = { .time_ns = time_ns, .kind = JOB_EVENT_QUEUED, .job = { queue, number }, .queue = queue, .ours = true,
			       .thread = thread };

	snprintf(e.name, sizeof(e.name), "q%" PRIu64, queue);
	return e;
}

static struct job_event run(uint64_t time_ns, uint64_t queue, uint64_t number)
{
	struct job_event e = queued(time_ns, queue, number, 5);

	e.kind = JOB_EVENT_RUN;
	return e;
}

static struct job_event not_ours(struct job_event e)
{
	e.ours = false;
	return e;
}

static struct job_event done(uint64_t time_ns, uint64_t queue, uint64_t number)
{
	return (struct job_event){ .time_ns = time_ns, .kind = JOB_EVENT_DONE, .job = { queue, number } };
}

static struct job_event blocked(uint64_t time_ns, uint64_t queue, uint64_t number, uint64_t on, uint64_t on_number)
{
	return (struct job_event){ .time_ns = time_ns, .kind = JOB_EVENT_BLOCKED, .job = { queue, number }, .fence = { on, on_number },
				   .context = on, .number = on_number };
}

static struct job_event signaled(uint64_t time_ns, uint32_t context, uint32_t number, const char *driver)
{
	struct job_event e = { .time_ns = time_ns, .kind = JOB_EVENT_SIGNALED, .context = context, .number = number, .name = "timeline" };

	snprintf(e.driver, sizeof(e.driver), "%s", driver);
	return e;
}

static struct job_event lost(uint64_t time_ns, uint64_t until_ns)
{
	return (struct job_event){ .time_ns = time_ns, .kind = JOB_EVENT_LOST, .until_ns = until_ns, .lost = 7, .cpu = 1 };
}

/* Events before Linux 6.16: fences and queues are where they are in memory; jobs that wait have a number. */
static struct job_event old(enum job_event_kind kind, uint64_t time_ns, uint64_t queue, uint64_t fence, uint64_t id, uint32_t thread)
{
	return (struct job_event){ .time_ns = time_ns, .kind = kind, .job = { fence, 0 }, .queue = queue, .ours = true, .thread = thread,
				   .id = id, .name = "panthor-queue" };
}

static struct job_event old_blocked(uint64_t time_ns, uint64_t id, uint64_t fence, uint32_t context, uint32_t number)
{
	return (struct job_event){ .time_ns = time_ns, .kind = JOB_EVENT_BLOCKED, .id = id, .fence = { fence, 0 }, .context = context,
				   .number = number, .name = "panthor-queue" };
}

/* All jobs that are to be written, one line each: process, queue, thread, times, outcome, unknown times, what it waited for. */
static void print_jobs(struct job_track *t, char *to, size_t size)
{
	static const char *const outcomes[] = { "", " dropped", " unfinished" };
	struct recording_jobs r;
	size_t i;

	*to = 0;
	while (job_track_record(t, &r)) {
		for (i = 0; i < r.count; i++) {
			const struct recording_job *j = &r.list[i];
			const struct recording_queue *q = &r.queues[j->queue], *w = j->waited_for ? &r.queues[j->waited_for - 1] : NULL;

			snprintf(to + strlen(to), size - strlen(to), "%s %s %u: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "%s%s%s%s%s%s%s\n",
				 q->process, q->name, j->thread, j->queued_ns, j->ready_ns, j->run_ns, j->end_ns, outcomes[j->outcome],
				 j->no_queued ? " no queued" : "", j->no_run ? " no run" : "", w ? " < " : "", w ? w->process : "", w ? " " : "",
				 w ? w->name : "");
		}
		for (i = 0; i < r.num_gaps; i++)
			snprintf(to + strlen(to), size - strlen(to), "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				 r.gaps[i].cpu == RECORDING_NO_CPU ? "unseen" : "gap", r.gaps[i].start_ns, r.gaps[i].end_ns,
				 r.gaps[i].lost);
	}
}

static void expect_jobs(struct job_track *t, const char *want)
{
	char got[4096];

	print_jobs(t, got, sizeof(got));
	expect(!strcmp(got, want), "got:\n%swant:\n%s", got, want);
}

static void check(const char *name, bool contexts, const struct job_event *list, size_t count, uint64_t until_ns, const char *want)
{
	struct job_track *t = make_track(contexts);

	begin();
	job_track_take(t, list, count, until_ns);
	job_track_end(t);
	expect_jobs(t, want);
	job_track_free(t);
	end(name);
}

#define CHECK(name, contexts, until, want, ...) \
	do { \
		const struct job_event list[] = { __VA_ARGS__ }; \
		check(name, contexts, list, sizeof(list) / sizeof(list[0]), until, want); \
	} while (0)

static void test_new(void)
{
	CHECK("a job, and one that waits for it", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p200 q2 201: 1150 1300 1310 1400 < p100 q1\n",
	      queued(1100, 1, 1, 101), queued(1150, 2, 1, 201), blocked(1160, 2, 1, 1, 1), run(1200, 1, 1), done(1300, 1, 1),
	      run(1310, 2, 1), done(1400, 2, 1));
	CHECK("jobs behind one that waits are not ready before it", true, 3000,
	      "p100 q1 101: 1100 1500 1510 1600 < vkms timeline\n"
	      "p100 q1 102: 1200 1500 1520 1700 < vkms timeline\n",
	      queued(1100, 1, 1, 101), queued(1200, 1, 2, 102), blocked(1210, 1, 1, 77, 5), signaled(1500, 77, 5, "vkms"),
	      run(1510, 1, 1), run(1520, 1, 2), done(1600, 1, 1), done(1700, 1, 2));
	CHECK("of two fences the last one counts; one that was signaled unseen was so when the job ran", true, 3000,
	      "p100 q1 101: 1100 1400 1410 1500 < a timeline\n"
	      "p100 q1 101: 1600 1650 1650 1700\n",
	      queued(1100, 1, 1, 101), blocked(1110, 1, 1, 77, 5), signaled(1300, 77, 5, "b"), blocked(1310, 1, 1, 78, 5),
	      signaled(1400, 78, 5, "a"), run(1410, 1, 1), done(1500, 1, 1), signaled(1550, 78, 6, "a"), queued(1600, 1, 2, 101),
	      blocked(1610, 1, 2, 78, 6), run(1650, 1, 2), done(1700, 1, 2));
	CHECK("a chain of fences is signaled with the last of them", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p200 q2 201: 1150 1301 1310 1400 < p100 q1\n",
	      queued(1100, 1, 1, 101), queued(1150, 2, 1, 201), blocked(1160, 2, 1, 90, 1), run(1200, 1, 1), done(1300, 1, 1),
	      signaled(1301, 90, 1, "dma_fence_chain"), run(1310, 2, 1), done(1400, 2, 1));
	CHECK("a chain of fences that were signaled before is not waited for, on one CPU", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p200 q2 201: 1350 1350 1410 1500\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), done(1300, 1, 1), queued(1350, 2, 1, 201), blocked(1400, 2, 1, 90, 1),
	      signaled(1401, 90, 1, "dma_fence_chain"), run(1410, 2, 1), done(1500, 2, 1));
	CHECK("a chain of fences that is signaled later is waited for", true, 300000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p200 q2 201: 1350 201401 201410 201500 < p100 q1\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), done(1300, 1, 1), queued(1350, 2, 1, 201), blocked(1400, 2, 1, 90, 1),
	      signaled(201401, 90, 1, "dma_fence_chain"), run(201410, 2, 1), done(201500, 2, 1));
	CHECK("a reset ends jobs in another order", true, 3000,
	      "p100 q1 101: 1110 1110 1250 1500\n"
	      "p100 q1 101: 1100 1100 1200 1501\n",
	      queued(1100, 1, 1, 101), queued(1110, 1, 2, 101), run(1200, 1, 1), run(1250, 1, 2), done(1500, 1, 2), done(1501, 1, 1));
	/* Until they were seen, they were somewhere. */
	CHECK("jobs from before", true, 3000,
	      "p100 q1 0: 1100 1100 1100 1200 no queued\n"
	      "p100 q1 101: 1400 1400 1500 1600\n"
	      "p100 q2 101: 1800 1800 1900 2000\n"
	      "unseen: 1000 1700 0\n",
	      run(1100, 1, 8), done(1200, 1, 8), queued(1400, 1, 9, 101), run(1500, 1, 9), done(1600, 1, 9), done(1700, 2, 3), queued(1800, 2, 4, 101),
	      run(1900, 2, 4), done(2000, 2, 4), done(2100, 2, 3));
	CHECK("jobs at the end", true, 3000,
	      "p100 q1 101: 1100 1100 1200 3000 unfinished\n"
	      "p100 q1 101: 1110 1110 3000 3000 unfinished no run\n"
	      "p200 q2 201: 1150 3000 3000 3000 unfinished no run < p100 q1\n",
	      queued(1100, 1, 1, 101), queued(1110, 1, 2, 101), run(1200, 1, 1), queued(1150, 2, 1, 201), blocked(1160, 2, 1, 1, 1));
	CHECK("other devices and page tables are fences, and no jobs", true, 3000,
	      "p100 q1 101: 1100 1300 1310 1400 < p300 q9\n",
	      not_ours(queued(1050, 9, 1, 301)), queued(1100, 1, 1, 101), blocked(1110, 1, 1, 9, 1), not_ours(run(1200, 9, 1)), done(1300, 9, 1),
	      run(1310, 1, 1), done(1400, 1, 1));
}

static void test_lost(void)
{
	CHECK("what was lost is not made up", true, 3000,
	      /* That it ran was lost: it cannot have before the gap. */
	      "p100 q1 101: 1100 1100 1500 2000 no run\n"
	      /* Its end was lost: that of the next shows that it came. */
	      "p100 q2 102: 1100 1100 1200 1500 unfinished\n"
	      "p100 q2 102: 1300 1300 2100 2200\n"
	      /* Nothing came any more. */
	      "p100 q3 103: 1100 1100 1200 1500 unfinished\n"
	      "gap: 1500 1900 7\n"
	      "unseen: 1500 3000 0\n",
	      queued(1100, 1, 1, 101), queued(1100, 2, 1, 102), queued(1100, 3, 1, 103), run(1200, 2, 1), run(1200, 3, 1),
	      queued(1300, 2, 2, 102), lost(1500, 1900), done(2000, 1, 1), run(2100, 2, 2), done(2200, 2, 2));
	CHECK("a job whose end was lost has ended before that of the next", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1500 unfinished\n"
	      "p100 q1 101: 2000 2000 2100 2200\n"
	      "gap: 1500 1600 7\n"
	      "unseen: 1500 2200 0\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), lost(1500, 1600), queued(2000, 1, 2, 101), run(2100, 1, 2), done(2200, 1, 2));
	CHECK("a job has not ended before it ran, however long events may be lost", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1200 unfinished\n"
	      "gap: 1050 1900 7\n"
	      "unseen: 1200 3000 0\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), lost(1050, 1900));
	CHECK("of a job that is first seen in a gap, what comes then may be lost", true, 3000,
	      "p100 q1 101: 1100 1100 1300 1300 unfinished\n"
	      "p100 q2 101: 1200 1200 1200 1200 unfinished no run\n"
	      "gap: 1050 1900 7\n"
	      "unseen: 1200 3000 0\n",
	      lost(1050, 1900), queued(1100, 1, 1, 101), queued(1200, 2, 1, 101), run(1300, 1, 1));
	CHECK("what one CPU lost another may tell of: no job has run since the beginning then", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "gap: 1500 1900 7\n"
	      "unseen: 1300 1700 0\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), done(1300, 1, 1), lost(1500, 1900), done(1600, 1, 2), done(1700, 1, 3));
	/* It was on its way since the one before it in its queue ended, or events were lost. */
	CHECK("a job of which nothing but its end is known is none, and the time before it is not known", true, 30000000000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p100 q1 101: 2050 2050 2060 2070\n"
	      "gap: 1500 1900 7\n"
	      "unseen: 1300 2000 0\n"
	      "gap: 20000000000 20000000100 7\n"
	      "unseen: 20000000000 20000005000 0\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), done(1300, 1, 1), lost(1500, 1900), done(2000, 1, 2), queued(2050, 1, 3, 101),
	      run(2060, 1, 3), done(2070, 1, 3), lost(20000000000, 20000000100), done(20000005000, 2, 1));
	CHECK("nor is that before a job is given to firmware that was not seen before", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p100 q1 0: 2000 2000 2000 2100 no queued\n"
	      "gap: 1500 1900 7\n"
	      "unseen: 1300 2000 0\n",
	      queued(1100, 1, 1, 101), run(1200, 1, 1), done(1300, 1, 1), lost(1500, 1900), run(2000, 1, 2), done(2100, 1, 2));
	CHECK("it is of no matter for other devices", true, 3000,
	      "gap: 1500 1900 7\n",
	      not_ours(queued(1100, 9, 1, 101)), not_ours(run(1200, 9, 1)), lost(1500, 1900), done(2000, 9, 2), not_ours(run(2100, 9, 3)));
	CHECK("events are lost twice, and a job ran in between, or not", true, 3000,
	      "p100 q1 101: 1100 1100 1500 2200 no run\n"
	      "gap: 1500 1600 7\n"
	      "gap: 2000 2100 7\n"
	      "unseen: 1500 2100 0\n",
	      queued(1100, 1, 1, 101), lost(1500, 1600), lost(2000, 2100), done(2200, 1, 1));
	CHECK("what is lost up to the end is known up to the end", true, 3000,
	      "gap: 2900 3000 7\n",
	      lost(2900, 3100));
	CHECK("before Linux 6.16: of a job whose end alone is known nobody knows whose it is", false, 3000,
	      "unseen: 1000 2000 0\n",
	      old(JOB_EVENT_DONE, 2000, 0, 0x80, 0, 0));
}

/* A file can be cut where no job is open, and all gaps are told. */
static void test_open(void)
{
	const struct job_event list[] = { queued(1100, 1, 1, 101), run(1200, 1, 1), lost(1300, 5500) };
	struct job_track *t = make_track(true);
	struct recording_jobs r;

	begin();
	job_track_take(t, list, 3, 5000);
	expect(!job_track_record(t, &r), "there is a record up to %" PRIu64, r.end_ns);
	job_track_take(t, NULL, 0, 1000006000);
	expect(job_track_record(t, &r) && r.open_ns == 1100 && r.end_ns == 1000006000 && r.num_gaps == 1, "open since %" PRIu64 " of %" PRIu64
	       ", %zu gaps", r.open_ns, r.end_ns, r.num_gaps);
	job_track_forget(t);
	expect(!job_track_record(t, &r), "there is a record up to %" PRIu64, r.end_ns);
	job_track_take(t, (struct job_event[]){ lost(10000000000, 20000000001) }, 1, 20000000000);
	expect(job_track_record(t, &r) && r.open_ns == 1100, "open since %" PRIu64 " of %" PRIu64, r.open_ns, r.end_ns);
	job_track_forget(t);
	expect(job_track_record(t, &r) && r.open_ns == 10000000000 && r.num_gaps == 1, "open since %" PRIu64 " of %" PRIu64 ", %zu gaps", r.open_ns,
	       r.end_ns, r.num_gaps);
	job_track_take(t, NULL, 0, 21000000000);
	expect_jobs(t, "gap: 10000000000 20000000001 7\n");
	job_track_free(t);
	end("files do not wait for long for jobs whose ends may be lost, and wait for the end of gaps");
}

/* Queues of processes that have gone are forgotten, and numbered anew if they come again. */
static void test_forgotten(void)
{
	struct job_track *t = make_track(true);
	uint64_t time_ns = START, n;
	uint32_t ids[4] = {};
	struct recording_jobs r;

	begin();
	for (n = 0; n < 4; n++) {
		const struct job_event list[] = { queued(time_ns + 1, 1, n + 1, 101), run(time_ns + 2, 1, n + 1), done(time_ns + 3, 1, n + 1) };

		job_track_take(t, list, 3, time_ns + 4);
		if (job_track_record(t, &r) && r.count == 1)
			ids[n] = r.queues[0].id;
		/* Of the first time it is there, of the second it has not been gone for long enough. */
		gone = n ? 100 : 0;
		time_ns += n == 1 ? 9000000000 : 11000000000;
		job_track_take(t, NULL, 0, time_ns);
		while (job_track_record(t, &r))
			;
		job_track_forget(t);
	}
	expect(ids[0] == 0 && ids[1] == 0 && ids[2] == 0 && ids[3] == 1, "numbers %u %u %u %u", ids[0], ids[1], ids[2], ids[3]);
	job_track_free(t);
	end("queues of processes that have gone are forgotten");
}

/* One may wait for longer than jobs whose events may be lost are waited for: that the next one waits behind it tells that it does. */
static void test_kept(void)
{
	const struct job_event list[] = { queued(1100, 1, 1, 101), blocked(1110, 1, 1, 77, 5), lost(1200, 1300), queued(2000, 1, 2, 102) };
	const struct job_event last[] = { signaled(30000000000, 77, 5, "vkms"), run(30000000010, 1, 1), run(30000000020, 1, 2),
					  done(30000000030, 1, 1), done(30000000040, 1, 2) };
	struct job_track *t = make_track(true);
	struct recording_jobs r;

	begin();
	job_track_take(t, list, 4, 5000);
	job_track_take(t, NULL, 0, 20000000000);
	job_track_forget(t);
	expect(job_track_record(t, &r) && r.open_ns == 1100 && !r.count, "open since %" PRIu64 ", %zu jobs", r.open_ns, r.count);
	job_track_take(t, last, 5, 30000000100);
	expect_jobs(t, "p100 q1 101: 1100 30000000000 30000000010 30000000030 < vkms timeline\n"
		    "p100 q1 102: 2000 30000000000 30000000020 30000000040 < vkms timeline\n"
		    "unseen: 1200 30000000010 0\n");
	job_track_free(t);
	end("a job that others wait behind is waited for");
}

static void test_gone(void)
{
	struct job_event list[] = { queued(1100, 1, 1, 101), queued(1200, 1, 2, 101), queued(1200, 2, 1, 201),
				    blocked(1110, 1, 1, 77, 5), blocked(1210, 2, 1, 77, 5) };
	struct job_track *t = make_track(true);

	begin();
	list[3].time_ns = 1210;
	job_track_take(t, list, 5, 1900);
	expect_jobs(t, "");
	gone = 100;
	job_track_take(t, NULL, 0, 2000);
	expect_jobs(t, "");
	/* The kernel gives the first of them up, and all the others at the end. */
	list[0] = signaled(2500, 77, 5, "vkms");
	list[1] = run(2510, 1, 1);
	list[2] = done(2520, 1, 1);
	job_track_take(t, list, 3, 2600);
	job_track_end(t);
	expect_jobs(t, "p100 q1 101: 1100 2500 2510 2520 < vkms timeline\n"
		    "p100 q1 101: 1200 2000 2000 2000 dropped no run < vkms timeline\n"
		    "p200 q2 201: 1200 2500 2600 2600 unfinished no run < vkms timeline\n");
	job_track_free(t);
	end("jobs of a process that has gone are dropped, and no others");
}

static void test_old(void)
{
	CHECK("before Linux 6.16: a fence in the place of another is another job", false, 3000,
	      "p100 panthor-queue 101: 1100 1100 1200 1300\n"
	      "p100 panthor-queue 101: 1400 1400 1500 1600\n",
	      old(JOB_EVENT_QUEUED, 1100, 0x10, 0x80, 1, 101), old(JOB_EVENT_RUN, 1200, 0x10, 0x80, 1, 5), old(JOB_EVENT_DONE, 1300, 0, 0x80, 0, 0),
	      old(JOB_EVENT_QUEUED, 1400, 0x10, 0x80, 2, 101), old(JOB_EVENT_RUN, 1500, 0x10, 0x80, 2, 5), old(JOB_EVENT_DONE, 1600, 0, 0x80, 0, 0));
	CHECK("before Linux 6.16: a job waits for one of another queue, and one of its number does not", false, 3000,
	      "p300 panthor-queue 301: 1150 1150 1250 1260\n"
	      "p100 panthor-queue 101: 1100 1100 1200 1300\n"
	      "p200 panthor-queue 201: 1150 1300 1310 1400 < p100 panthor-queue\n",
	      old(JOB_EVENT_QUEUED, 1100, 0x10, 0x80, 1, 101), old(JOB_EVENT_RUN, 1130, 0x10, 0x80, 1, 5),
	      old(JOB_EVENT_QUEUED, 1150, 0x20, 0x90, 1, 201), old(JOB_EVENT_QUEUED, 1150, 0x30, 0xa0, 1, 301),
	      old_blocked(1160, 1, 0x80, 50, 1), old(JOB_EVENT_RUN, 1200, 0x10, 0x80, 1, 5), old(JOB_EVENT_RUN, 1250, 0x30, 0xa0, 1, 5),
	      old(JOB_EVENT_DONE, 1260, 0, 0xa0, 0, 0), old(JOB_EVENT_DONE, 1300, 0, 0x80, 0, 0), old(JOB_EVENT_RUN, 1310, 0x20, 0x90, 1, 5),
	      old(JOB_EVENT_DONE, 1400, 0, 0x90, 0, 0));
}

static void test_place(void)
{
	CHECK("before Linux 6.16: a queue in the place of another is that of another process", false, 1700,
	      "p100 panthor-queue 101: 1100 1100 1200 1300\n"
	      "p200 panthor-queue 201: 1400 1400 1500 1600\n",
	      old(JOB_EVENT_QUEUED, 1100, 0x10, 0x80, 1, 101), old(JOB_EVENT_RUN, 1200, 0x10, 0x80, 1, 5), old(JOB_EVENT_DONE, 1300, 0, 0x80, 0, 0),
	      old(JOB_EVENT_QUEUED, 1400, 0x10, 0x90, 1, 201), old(JOB_EVENT_RUN, 1500, 0x10, 0x90, 1, 5), old(JOB_EVENT_DONE, 1600, 0, 0x90, 0, 0));
	CHECK("before Linux 6.16: a queue is that of the process that has queued its first job", false, 1700,
	      "p100 panthor-queue 101: 1100 1100 1200 1300\n"
	      "p100 panthor-queue 777: 1400 1400 1500 1600\n",
	      old(JOB_EVENT_QUEUED, 1100, 0x10, 0x80, 1, 101), old(JOB_EVENT_RUN, 1200, 0x10, 0x80, 1, 5), old(JOB_EVENT_DONE, 1300, 0, 0x80, 0, 0),
	      old(JOB_EVENT_QUEUED, 1400, 0x10, 0x90, 2, 777), old(JOB_EVENT_RUN, 1500, 0x10, 0x90, 2, 5), old(JOB_EVENT_DONE, 1600, 0, 0x90, 0, 0));
}

/* So many that they cannot all be told apart: those that are waited for are. */
static void test_timelines(void)
{
	static struct job_event list[1004];
	struct job_track *t = make_track(true);
	size_t n;

	begin();
	for (n = 0; n < 1000; n++) {
		list[n] = signaled(1100 + n, n, 1, "drm");
		snprintf(list[n].name, sizeof(list[n].name), "timeline %zu", n);
	}
	list[n++] = queued(2100, 1, 1, 101);
	list[n++] = blocked(2110, 1, 1, 7777, 1);
	list[n++] = signaled(2200, 7777, 1, "vkms");
	list[n++] = run(2300, 1, 1);
	job_track_take(t, list, n, 2400);
	job_track_end(t);
	expect_jobs(t, "p100 q1 101: 2100 2200 2300 2400 unfinished < vkms timeline\n");
	job_track_free(t);
	end("only timelines that are waited for take room");
}

/* Events that come later than those behind them. */
static void test_late(void)
{
	CHECK("a fence whose job is done is not waited for", true, 3000,
	      "p100 q1 101: 1100 1100 1200 1300\n"
	      "p200 q2 201: 1150 1150 1400 1500\n",
	      queued(1100, 1, 1, 101), queued(1150, 2, 1, 201), run(1200, 1, 1), done(1300, 1, 1), blocked(1301, 2, 1, 1, 1), run(1400, 2, 1),
	      done(1500, 2, 1));
	CHECK("events that are late are of no new job", true, 3000,
	      "p100 q1 101: 1100 1100 1300 1300 no run\n",
	      queued(1100, 1, 1, 101), done(1300, 1, 1), run(1200, 1, 1), queued(1100, 1, 1, 101));
}

/* More than one record has room for. */
static void test_many(void)
{
	struct job_track *t = make_track(true);
	uint64_t jobs = 0, records = 0, until_ns = START, n;
	struct recording_jobs r;

	begin();
	for (n = 1; n <= 1000; n++) {
		struct job_event list[] = { queued(n * 10000, n % 100, n, n), run(n * 10000 + 1, n % 100, n), done(n * 10000 + 2, n % 100, n) };

		job_track_take(t, list, 3, n * 10000 + 2);
	}
	for (n = 0; n < 40; n++)
		job_track_take(t, &(struct job_event){ .kind = JOB_EVENT_LOST, .time_ns = 10900000, .until_ns = 11000000 }, 1, 11000000);
	job_track_end(t);
	for (n = 0; job_track_record(t, &r); records++) {
		expect(r.start_ns == until_ns && r.end_ns >= r.start_ns && r.count <= RECORDING_JOBS_JOBS && r.num_queues <= RECORDING_JOBS_QUEUES &&
		       r.num_gaps <= RECORDING_JOBS_GAPS, "a record has %zu jobs of %zu queues, %zu gaps, from %" PRIu64 " to %" PRIu64, r.count,
		       r.num_queues, r.num_gaps, r.start_ns, r.end_ns);
		until_ns = r.end_ns;
		jobs += r.count;
		n += r.num_gaps;
	}
	expect(jobs == 1000 && n == 40 && until_ns == 11000000, "%" PRIu64 " jobs and %" PRIu64 " gaps in %" PRIu64 " records, up to %" PRIu64, jobs, n,
	       records, until_ns);
	expect(job_track_counts(t)->jobs == 1000 && job_track_counts(t)->gaps == 40, "that is not what is counted");
	job_track_free(t);
	end("records follow each other, and have all");
}

int main(void)
{
	printf("1..33\n");
	test_new();
	test_lost();
	test_open();
	test_forgotten();
	test_kept();
	test_gone();
	test_old();
	test_place();
	test_timelines();
	test_late();
	test_many();
	return failed;
}
