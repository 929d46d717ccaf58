// SPDX-License-Identifier: MIT
/*
 * jobs-exact   compares the jobs of a recording with what the virtual Mali says of them
 *
 *   jobs-exact RECORDING TRUTH CLOCKS BOUND_US
 *
 * TRUTH is the model's (its property jobs): lines "start TIME VM RING" for a new ring, and "begin TIME VM RING" or "end TIME VM
 * RING" for its jobs, in units of the system counter. CLOCKS has two or more lines of raw-clock, from before and behind the recording.
 *
 * Each job of the model that began while jobs were recorded is in the recording once, and no other: given to firmware before it
 * began, done after it ended, and no more than the bound earlier and later. A job is not given to firmware late: that it begins
 * late behind those before it in its queue, or as its group has no slot, is so on the GPU as well; both are counted. A job
 * that has no end in the model was ended by a reset, or with its group; one that firmware was given and never began is told.
 * The recording has no time without a running job in which the model has one, and no longer one than twice the bound the other
 * way round.
 *
 * Prints what it has found, for people and as name=value. Exits with 1 if anything is not as it should be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"

/* Times of the model are rounded when they become those of the recording. */
#define ROUNDING_NS 500

struct interval {
	uint64_t start_ns, end_ns;

	/* The model does not say when it ended. */
	bool open;
};

struct ring {
	uint64_t vm, base;
	struct interval *list;
	size_t count;
	bool taken;

	/* Another one has its place. */
	bool gone;
};

struct clock {
	uint64_t ticks, ns;
};

static struct ring *rings;
static size_t num_rings;
static unsigned int complaints;

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "jobs-exact: %s: %s\n", what, why);
	exit(2);
}

static void *grow(void *list, size_t count, size_t size)
{
	list = reallocarray(list, count + 1, size);
	if (!list)
		die("memory", "there is none");
	return list;
}

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list args;

	if (++complaints > 20)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* ---- What the model says ---- */

static struct clock clocks[2];

static void read_clocks(const char *path)
{
	FILE *file = fopen(path, "re");
	struct clock c;
	uint64_t hz;
	int n = 0;

	if (!file)
		die(path, strerror(errno));
	for (; fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &c.ticks, &hz, &c.ns) == 3; n++)
		clocks[n > 0] = c;
	fclose(file);
	if (n < 2)
		die(path, "it has no two lines");
}

static uint64_t to_ns(uint64_t ticks)
{
	double rate = (double)(clocks[1].ns - clocks[0].ns) / (clocks[1].ticks - clocks[0].ticks);

	return clocks[0].ns + (int64_t)(((double)ticks - clocks[0].ticks) * rate);
}

static struct ring *find_ring(uint64_t vm, uint64_t base)
{
	size_t i;

	for (i = 0; i < num_rings; i++)
		if (rings[i].vm == vm && rings[i].base == base && !rings[i].gone)
			return &rings[i];
	rings = grow(rings, num_rings, sizeof(*rings));
	rings[num_rings] = (struct ring){ .vm = vm, .base = base };
	return &rings[num_rings++];
}

static void read_truth(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t ticks, vm, base;
	struct interval *last;
	struct ring *ring;
	char what[8];

	if (!file)
		die(path, strerror(errno));
	while (fscanf(file, "%7s %" SCNu64 " %" SCNx64 " %" SCNx64, what, &ticks, &vm, &base) == 4) {
		ring = find_ring(vm, base);
		if (!strcmp(what, "start")) {
			ring->gone = ring->count > 0;
			continue;
		}
		if (!strcmp(what, "begin")) {
			ring->list = grow(ring->list, ring->count, sizeof(*ring->list));
			ring->list[ring->count++] = (struct interval){ to_ns(ticks), 0, true };
			continue;
		}
		last = ring->count ? &ring->list[ring->count - 1] : NULL;
		if (strcmp(what, "end") || !last || !last->open)
			die(path, "an end without a begin");
		last->end_ns = to_ns(ticks);
		last->open = false;
	}
	fclose(file);
}

/* Rings of which no job began while jobs were recorded are gone; others have those that did. */
static void cut_truth(uint64_t start_ns, uint64_t end_ns)
{
	size_t i, n, left = 0, first;

	for (i = 0; i < num_rings; i++) {
		struct ring *ring = &rings[i];

		for (first = 0; first < ring->count && ring->list[first].start_ns < start_ns; first++)
			;
		for (n = ring->count; n > first && ring->list[n - 1].start_ns >= end_ns; n--)
			;
		memmove(ring->list, ring->list + first, (n - first) * sizeof(*ring->list));
		ring->count = n - first;
		if (ring->count)
			rings[left++] = *ring;
	}
	num_rings = left;
}

/* ---- Jobs ---- */

/* The jobs of a queue, as they were queued. */
struct queue {
	const struct recording_job **list;
	size_t count;
};

static struct worst {
	uint64_t begins, ends;
	size_t late, open, never, outcomes[3];
	uint64_t no_queued, no_run;
} worst;

static int compare_runs(const void *a, const void *b)
{
	const struct recording_job *x = *(const struct recording_job *const *)a, *y = *(const struct recording_job *const *)b;

	return (x->run_ns > y->run_ns) - (x->run_ns < y->run_ns);
}

static bool fits(const struct interval *truth, const struct recording_job *job, uint64_t bound_ns)
{
	if (job->run_ns > truth->start_ns + ROUNDING_NS || (job->outcome == JOB_DONE && job->end_ns < truth->start_ns))
		return false;
	return truth->open || job->outcome != JOB_DONE ||
	       (job->end_ns + ROUNDING_NS >= truth->end_ns && job->end_ns <= truth->end_ns + bound_ns);
}

/* How many jobs of a queue are those of a ring. */
static size_t count_fits(const struct ring *ring, const struct queue *queue, uint64_t bound_ns)
{
	size_t i, count = 0;

	for (i = 0; i < ring->count && i < queue->count; i++)
		count += fits(&ring->list[i], queue->list[i], bound_ns);
	return count;
}

static void check_job(const struct interval *truth, const struct interval *before, const struct recording_job *job, uint64_t bound_ns)
{
	uint64_t from_ns = before && before->end_ns > job->run_ns ? before->end_ns : job->run_ns;

	if (truth->open)
		worst.open++;
	else if (job->outcome == JOB_DONE && job->end_ns > truth->end_ns && job->end_ns - truth->end_ns > worst.ends)
		worst.ends = job->end_ns - truth->end_ns;
	if (truth->start_ns <= from_ns)
		return;
	if (truth->start_ns - from_ns > bound_ns)
		worst.late++;
	else if (truth->start_ns - from_ns > worst.begins)
		worst.begins = truth->start_ns - from_ns;
}

static void check_queue(size_t number, const struct queue *queue, uint64_t bound_ns)
{
	struct ring *best = NULL;
	size_t i, most = 0, fit;

	for (i = 0; i < num_rings; i++) {
		fit = rings[i].taken ? 0 : count_fits(&rings[i], queue, bound_ns);
		if (fit > most) {
			most = fit;
			best = &rings[i];
		}
	}
	if (!best) {
		complain("queue %zu, which has %zu jobs that ran, is no ring of the model", number, queue->count);
		return;
	}
	best->taken = true;
	if (best->count > queue->count)
		complain("queue %zu has %zu jobs that ran, and the model %zu", number, queue->count, best->count);
	for (i = 0; i < best->count && i < queue->count; i++) {
		if (!fits(&best->list[i], queue->list[i], bound_ns))
			complain("queue %zu, job %zu: run %" PRIu64 ", end %" PRIu64 ", but in the model from %" PRIu64 " to %" PRIu64, number, i,
				 queue->list[i]->run_ns, queue->list[i]->end_ns, best->list[i].start_ns, best->list[i].end_ns);
		else
			check_job(&best->list[i], i ? &best->list[i - 1] : NULL, queue->list[i], bound_ns);
		/* What the model does not know, for the idle time. */
		if (best->list[i].open)
			best->list[i].end_ns = queue->list[i]->end_ns;
	}
	for (; i < queue->count; i++, worst.never++) {
		best->list = grow(best->list, i, sizeof(*best->list));
		best->list[i] = (struct interval){ queue->list[i]->run_ns, queue->list[i]->end_ns, true };
		best->count = i + 1;
	}
}

static void check_jobs(const struct jobs *jobs, uint64_t bound_ns)
{
	struct queue *queues = calloc(jobs->num_queues + 1, sizeof(*queues));
	size_t i;

	if (!queues)
		die("memory", "there is none");
	for (i = 0; i < jobs->count; i++) {
		const struct recording_job *job = &jobs->list[i];
		struct queue *queue = &queues[job->queue];

		worst.outcomes[job->outcome]++;
		worst.no_queued += job->no_queued;
		worst.no_run += job->no_run;
		if (job->no_run)
			continue;
		queue->list = grow(queue->list, queue->count, sizeof(*queue->list));
		queue->list[queue->count++] = job;
	}
	for (i = 0; i < jobs->num_queues; i++) {
		if (!queues[i].count)
			continue;
		qsort(queues[i].list, queues[i].count, sizeof(*queues[i].list), compare_runs);
		check_queue(i, &queues[i], bound_ns);
	}
	for (i = 0; i < num_rings; i++)
		if (!rings[i].taken)
			complain("a ring of the model with %zu jobs is no queue", rings[i].count);
}

/* ---- Idle time ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The model's busy time, as intervals that do not touch each other. Returns how many. */
static size_t find_busy(struct interval **out)
{
	struct interval *list = NULL;
	size_t i, n, count = 0, left = 0;

	for (i = 0; i < num_rings; i++)
		for (n = 0; n < rings[i].count; n++) {
			list = grow(list, count, sizeof(*list));
			list[count++] = rings[i].list[n];
		}
	qsort(list, count, sizeof(*list), compare_starts);
	for (i = 0; i < count; i++) {
		if (left && list[i].start_ns <= list[left - 1].end_ns) {
			if (list[i].end_ns > list[left - 1].end_ns)
				list[left - 1].end_ns = list[i].end_ns;
		} else {
			list[left++] = list[i];
		}
	}
	*out = list;
	return left;
}

static void check_idle(const struct jobs *jobs, uint64_t bound_ns)
{
	static const char *const names[] = { "unknown", "running", "ready", "waiting", "none" };
	uint64_t totals[5] = {}, busy_ns = 0, longest = 0, at;
	struct interval *busy;
	size_t count = find_busy(&busy), i, n = 0;

	for (i = 0; i < count; i++)
		busy_ns += busy[i].end_ns - busy[i].start_ns;
	for (i = 0; i < jobs->num_spans; i++) {
		const struct job_span *span = &jobs->spans[i];
		size_t last = i;

		totals[span->state] += span->end_ns - span->start_ns;
		if (span->state == JOBS_UNKNOWN)
			continue;
		/* All of one kind. */
		while (last + 1 < jobs->num_spans && (jobs->spans[last + 1].state == JOBS_RUNNING) == (span->state == JOBS_RUNNING) &&
		       jobs->spans[last + 1].state != JOBS_UNKNOWN) {
			last++;
			totals[jobs->spans[last].state] += jobs->spans[last].end_ns - jobs->spans[last].start_ns;
		}
		while (n < count && busy[n].end_ns <= span->start_ns + ROUNDING_NS)
			n++;
		for (at = span->start_ns; at < jobs->spans[last].end_ns;) {
			uint64_t next = jobs->spans[last].end_ns;

			if (n < count && busy[n].start_ns < next)
				next = busy[n].start_ns > at ? busy[n].start_ns : at;
			/* From at to next the model is idle. */
			if (span->state == JOBS_RUNNING && next - at > longest)
				longest = next - at;
			if (n == count || busy[n].start_ns >= jobs->spans[last].end_ns)
				break;
			at = busy[n].end_ns < jobs->spans[last].end_ns ? busy[n].end_ns : jobs->spans[last].end_ns;
			if (span->state != JOBS_RUNNING && at - next > ROUNDING_NS)
				complain("from %" PRIu64 " to %" PRIu64 " the model has a job, and the recording has none that runs", next, at);
			if (busy[n].end_ns <= jobs->spans[last].end_ns)
				n++;
		}
		i = last;
	}
	if (longest > 2 * bound_ns)
		complain("the recording has a running job for %" PRIu64 " ns in which the model has none", longest);
	printf("busy_ns=%" PRIu64 "\nlongest_idle_run_ns=%" PRIu64 "\n", busy_ns, longest);
	for (i = 0; i < 5; i++)
		printf("%s_ns=%" PRIu64 "\n", names[i], totals[i]);
	free(busy);
}

int main(int argc, char **argv)
{
	struct jobs jobs = {};
	struct recording r;
	struct chunks chunks;
	uint64_t bound_ns;
	int fd;

	if (argc != 5)
		die("usage", "jobs-exact RECORDING TRUTH CLOCKS BOUND_US");
	bound_ns = strtoull(argv[4], NULL, 10) * 1000;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(argv[1], strerror(errno));
	if (pperf_records_open_fd(&r, fd) != RECORDING_END || pperf_chunks_find(&r, &chunks) != RECORDING_END ||
	    pperf_jobs_read(&jobs, &r, &chunks) != RECORDING_END)
		die(argv[1], r.error);
	if (!jobs.num_spans)
		die(argv[1], "jobs were not recorded");
	read_clocks(argv[3]);
	read_truth(argv[2]);
	cut_truth(jobs.known[0].start_ns, jobs.known[jobs.num_known - 1].end_ns);
	check_jobs(&jobs, bound_ns);
	check_idle(&jobs, bound_ns);
	printf("jobs=%zu\nqueues=%zu\nrings=%zu\nprocesses=%zu\ndone=%zu\ndropped=%zu\nunfinished=%zu\nno_queued=%" PRIu64 "\nno_run=%" PRIu64
	       "\nopen=%zu\nnever=%zu\nlate=%zu\nworst_begin_ns=%" PRIu64 "\nworst_end_ns=%" PRIu64 "\ngaps=%zu\n", jobs.count, jobs.num_queues, num_rings,
	       jobs.num_processes, worst.outcomes[JOB_DONE], worst.outcomes[JOB_DROPPED], worst.outcomes[JOB_UNFINISHED], worst.no_queued,
	       worst.no_run, worst.open, worst.never, worst.late, worst.begins, worst.ends, jobs.num_gaps);
	if (complaints)
		printf("%u complaints\n", complaints);
	return complaints ? 1 : 0;
}
