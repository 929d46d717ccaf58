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
 * way round. Of a job that waited for a queue, a job of that queue ended when it became ready.
 *
 * Firmware that hangs tells of no end: a job may be done later than the bound if nothing began or ended on the GPU in between.
 *
 * Where events were lost, jobs of the model may be missing: those that ended behind the begin of the gaps, and began before their
 * end or are of the DEPTH next ones of their ring, which may have been given to firmware in a gap. Jobs are compared up to the
 * first gap and from the end of the last one on. Idle time is compared wherever the recording does not say that it is unknown.
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

/* As many jobs of a queue may be with firmware at once: gpu-load's --depth. */
#define DEPTH 16

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

	/* Which queue of the recording it is, if it is taken. */
	size_t queue;
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

/* The jobs of a queue, as they were run. */
struct queue {
	const struct recording_job **list;
	size_t count;
};

/* What was found. The sums are of jobs that began at once when firmware was given them, and of those that have an end. */
static struct found {
	uint64_t worst_begin_ns, worst_end_ns, begins_ns, ends_ns;
	size_t begins, ends, late, open, never, hung, missing, inside, outcomes[3];
	uint64_t no_queued, no_run;
} found;

static int compare_runs(const void *a, const void *b)
{
	const struct recording_job *x = *(const struct recording_job *const *)a, *y = *(const struct recording_job *const *)b;

	return (x->run_ns > y->run_ns) - (x->run_ns < y->run_ns);
}

static int compare_ends(const void *a, const void *b)
{
	const struct recording_job *x = *(const struct recording_job *const *)a, *y = *(const struct recording_job *const *)b;

	return x->end_ns == y->end_ns ? compare_runs(a, b) : (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Nothing began or ended on the GPU between two times. */
static bool is_still(uint64_t from_ns, uint64_t until_ns)
{
	size_t i, n;

	for (i = 0; i < num_rings; i++)
		for (n = 0; n < rings[i].count; n++) {
			const struct interval *job = &rings[i].list[n];

			if ((job->start_ns > from_ns && job->start_ns < until_ns) ||
			    (!job->open && job->end_ns > from_ns && job->end_ns < until_ns))
				return false;
		}
	return true;
}

static bool fits(const struct interval *truth, const struct recording_job *job, uint64_t bound_ns)
{
	if ((!job->no_run && job->run_ns > truth->start_ns + ROUNDING_NS) || (job->outcome == JOB_DONE && job->end_ns < truth->start_ns))
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
	uint64_t from_ns = before && before->end_ns > job->run_ns ? before->end_ns : job->run_ns, delay_ns;

	if (truth->open) {
		found.open++;
	} else if (job->outcome == JOB_DONE) {
		delay_ns = job->end_ns > truth->end_ns ? job->end_ns - truth->end_ns : 0;
		if (delay_ns > found.worst_end_ns)
			found.worst_end_ns = delay_ns;
		found.ends_ns += delay_ns;
		found.ends++;
	}
	if (job->no_run)
		return;
	delay_ns = truth->start_ns > from_ns ? truth->start_ns - from_ns : 0;
	if (delay_ns > bound_ns) {
		found.late++;
		return;
	}
	if (delay_ns > found.worst_begin_ns)
		found.worst_begin_ns = delay_ns;
	if (from_ns == job->run_ns) {
		found.begins_ns += delay_ns;
		found.begins++;
	}
}

/* Of a job that does not fit. */
static void check_misfit(size_t number, size_t i, struct interval *truth, const struct recording_job *job, uint64_t bound_ns)
{
	if (job->outcome == JOB_DONE && !truth->open && job->run_ns <= truth->start_ns + ROUNDING_NS && job->end_ns > truth->end_ns &&
	    is_still(truth->end_ns + bound_ns, job->end_ns)) {
		found.hung++;
		truth->end_ns = job->end_ns;
		return;
	}
	complain("queue %zu, job %zu: run %" PRIu64 ", end %" PRIu64 ", but in the model from %" PRIu64 " to %" PRIu64, number, i,
		 job->run_ns, job->end_ns, truth->start_ns, truth->end_ns);
}

/* Job i of a queue is job n of a ring. */
static void check_pair(size_t number, const struct queue *queue, size_t i, struct ring *ring, size_t n, uint64_t bound_ns)
{
	struct interval *truth = &ring->list[n];

	if (!fits(truth, queue->list[i], bound_ns))
		check_misfit(number, i, truth, queue->list[i], bound_ns);
	else
		check_job(truth, n ? truth - 1 : NULL, queue->list[i], bound_ns);
	/* What the model does not know, for the idle time. */
	if (truth->open)
		truth->end_ns = queue->list[i]->end_ns;
}

static struct ring *find_best(const struct queue *queue, uint64_t bound_ns)
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
	return best;
}

static void check_queue(size_t number, const struct queue *queue, struct ring *ring, uint64_t bound_ns)
{
	size_t i;

	if (ring->count > queue->count)
		complain("queue %zu has %zu jobs that ran, and the model %zu", number, queue->count, ring->count);
	for (i = 0; i < ring->count && i < queue->count; i++)
		check_pair(number, queue, i, ring, i, bound_ns);
	for (; i < queue->count; i++, found.never++) {
		ring->list = grow(ring->list, i, sizeof(*ring->list));
		ring->list[i] = (struct interval){ queue->list[i]->run_ns, queue->list[i]->end_ns, true };
		ring->count = i + 1;
	}
}

/* Jobs of a ring that the recording does not have, from one number to another: their events may have been lost between two times. */
static void check_missing(const struct ring *ring, size_t n, size_t end, uint64_t from_ns, uint64_t until_ns, uint64_t bound_ns)
{
	size_t behind = 0;

	for (; n < end; n++) {
		const struct interval *truth = &ring->list[n];

		found.missing++;
		behind += truth->start_ns > until_ns;
		if ((!truth->open && truth->end_ns + bound_ns < from_ns) || behind > DEPTH)
			complain("no job of a ring that the model has from %" PRIu64 " to %" PRIu64 ", where no events were lost",
				 truth->start_ns, truth->end_ns);
	}
}

/* The same of a queue some of whose events were lost between two times. */
static void check_queue_around(size_t number, const struct queue *queue, struct ring *ring, uint64_t from_ns, uint64_t until_ns,
			       uint64_t bound_ns)
{
	size_t before, after = 0, i;

	for (before = 0; before < queue->count && queue->list[before]->run_ns < from_ns && queue->list[before]->end_ns <= from_ns; before++)
		;
	while (after < queue->count - before && queue->list[queue->count - 1 - after]->end_ns >= until_ns &&
	       queue->list[queue->count - 1 - after]->outcome == JOB_DONE)
		after++;
	found.inside += queue->count - before - after;
	if (before + after > ring->count) {
		complain("queue %zu has %zu jobs before the lost events and %zu behind them, but the model %zu in all", number, before, after,
			 ring->count);
		return;
	}
	for (i = 0; i < before; i++)
		check_pair(number, queue, i, ring, i, bound_ns);
	for (i = 0; i < after; i++)
		check_pair(number, queue, queue->count - 1 - i, ring, ring->count - 1 - i, bound_ns);
	check_missing(ring, before, ring->count - after, from_ns, until_ns, bound_ns);
}

/* Jobs that ran, of each queue. Where events were lost, those as well of which it is known only that they are done. */
static struct queue *sort_jobs(const struct jobs *jobs)
{
	struct queue *queues = calloc(jobs->num_queues + 1, sizeof(*queues));
	size_t i;

	if (!queues)
		die("memory", "there is none");
	for (i = 0; i < jobs->count; i++) {
		const struct recording_job *job = &jobs->list[i];
		struct queue *queue = &queues[job->queue];

		found.outcomes[job->outcome]++;
		found.no_queued += job->no_queued;
		found.no_run += job->no_run;
		if (job->no_run && (!jobs->num_gaps || job->outcome != JOB_DONE))
			continue;
		queue->list = grow(queue->list, queue->count, sizeof(*queue->list));
		queue->list[queue->count++] = job;
	}
	for (i = 0; i < jobs->num_queues; i++)
		if (queues[i].count)
			qsort(queues[i].list, queues[i].count, sizeof(*queues[i].list), jobs->num_gaps ? compare_ends : compare_runs);
	return queues;
}

static void check_jobs(const struct jobs *jobs, uint64_t bound_ns)
{
	struct queue *queues = sort_jobs(jobs);
	uint64_t from_ns = UINT64_MAX, until_ns = 0;
	struct ring *ring;
	size_t i;

	for (i = 0; i < jobs->num_gaps; i++) {
		if (jobs->gaps[i].cpu == RECORDING_NO_CPU)
			continue;
		if (jobs->gaps[i].start_ns < from_ns)
			from_ns = jobs->gaps[i].start_ns;
		if (jobs->gaps[i].end_ns > until_ns)
			until_ns = jobs->gaps[i].end_ns;
	}
	for (i = 0; i < jobs->num_queues; i++) {
		if (!queues[i].count)
			continue;
		ring = find_best(&queues[i], bound_ns);
		if (!ring) {
			complain("queue %zu, which has %zu jobs that ran, is no ring of the model", i, queues[i].count);
			continue;
		}
		ring->taken = true;
		ring->queue = i;
		if (jobs->num_gaps)
			check_queue_around(i, &queues[i], ring, from_ns, until_ns, bound_ns);
		else
			check_queue(i, &queues[i], ring, bound_ns);
	}
	for (i = 0; i < num_rings; i++)
		if (!rings[i].taken && jobs->num_gaps)
			check_missing(&rings[i], 0, rings[i].count, from_ns, until_ns, bound_ns);
		else if (!rings[i].taken)
			complain("a ring of the model with %zu jobs is no queue", rings[i].count);
}

/* ---- What jobs waited for ---- */

/* When the first job of each queue was queued. */
static uint64_t *first_queued;

static int compare_queues(const void *a, const void *b)
{
	uint64_t x = first_queued[*(const size_t *)a], y = first_queued[*(const size_t *)b];

	return (x > y) - (x < y);
}

/* Places of queues in the order in which their first jobs were queued. */
static size_t *order_queues(const struct jobs *jobs)
{
	size_t *order = calloc(jobs->num_queues + 1, sizeof(*order)), *places = calloc(jobs->num_queues + 1, sizeof(*places)), i;

	first_queued = malloc((jobs->num_queues + 1) * sizeof(*first_queued));
	if (!order || !places || !first_queued)
		die("memory", "there is none");
	for (i = 0; i < jobs->num_queues; i++) {
		order[i] = i;
		first_queued[i] = UINT64_MAX;
	}
	for (i = jobs->count; i--;)
		first_queued[jobs->list[i].queue] = jobs->list[i].queued_ns;
	qsort(order, jobs->num_queues, sizeof(*order), compare_queues);
	for (i = 0; i < jobs->num_queues; i++)
		places[order[i]] = i;
	free(order);
	free(first_queued);
	return places;
}

/* A job became ready when one of the queue ended that it waited for: no earlier, and no more than the bound later. */
static void check_wait(const struct recording_job *job, uint64_t bound_ns)
{
	const struct ring *ring = NULL;
	uint64_t nearest_ns = 0;
	size_t i;

	for (i = 0; i < num_rings && !ring; i++)
		if (rings[i].taken && rings[i].queue == job->waited_for - 1)
			ring = &rings[i];
	for (i = 0; ring && i < ring->count; i++)
		if (ring->list[i].end_ns <= job->ready_ns + ROUNDING_NS && ring->list[i].end_ns > nearest_ns)
			nearest_ns = ring->list[i].end_ns;
	if (!ring || job->ready_ns > nearest_ns + bound_ns)
		complain("a job queued at %" PRIu64 " was ready at %" PRIu64 " for queue %u, whose job before that ended at %" PRIu64,
			 job->queued_ns, job->ready_ns, job->waited_for - 1, nearest_ns);
}

/*
 * Prints which queues waited for which, by the order in which their first jobs were queued, how many jobs of each did; and for which
 * timelines of other drivers.
 */
static void check_waits(const struct jobs *jobs, uint64_t bound_ns)
{
	size_t n = jobs->num_queues, *places = order_queues(jobs), *pairs = calloc(n * n + 1, sizeof(*pairs)), i, k;

	if (!pairs)
		die("memory", "there is none");
	for (i = 0; i < jobs->count; i++) {
		const struct recording_job *job = &jobs->list[i];

		if (!job->waited_for)
			continue;
		pairs[places[job->queue] * n + places[job->waited_for - 1]]++;
		if (jobs->processes[jobs->queues[job->waited_for - 1].process].pid)
			check_wait(job, bound_ns);
	}
	printf("waits=");
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (pairs[i * n + k])
				printf("%zu>%zu:%zu ", i, k, pairs[i * n + k]);
	printf("\n");
	for (k = 0; k < n; k++) {
		const struct job_queue *queue = &jobs->queues[k];
		size_t count = 0;

		for (i = 0; i < n; i++)
			count += pairs[i * n + places[k]];
		if (count && !jobs->processes[queue->process].pid)
			printf("timeline=%zu %s %s\n", count, jobs->processes[queue->process].name, queue->name);
	}
	free(pairs);
	free(places);
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
	uint64_t totals[5] = {}, busy_ns = 0, longest = 0, gap_ns = 0, at;
	struct interval *busy;
	size_t count = find_busy(&busy), i, n = 0, runs = 0;

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
		runs += span->state == JOBS_RUNNING;
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
	for (i = 0; i < jobs->num_gaps; i++)
		if (jobs->gaps[i].cpu != RECORDING_NO_CPU)
			gap_ns += jobs->gaps[i].end_ns - jobs->gaps[i].start_ns;
	printf("busy_ns=%" PRIu64 "\nbusy_times=%zu\nruns=%zu\nlongest_idle_run_ns=%" PRIu64 "\ngap_ns=%" PRIu64 "\n", busy_ns, count, runs,
	       longest, gap_ns);
	/* How much longer the recording has running jobs than the model, in each of the model's busy times. */
	printf("excess_ns=%" PRId64 "\n", count ? ((int64_t)totals[JOBS_RUNNING] - (int64_t)busy_ns) / (int64_t)count : 0);
	for (i = 0; i < 5; i++)
		printf("%s_ns=%" PRIu64 "\n", names[i], totals[i]);
	free(busy);
}

int main(int argc, char **argv)
{
	struct jobs jobs = {};
	struct recording r;
	struct chunks chunks;
	uint64_t bound_ns, lost = 0;
	size_t gaps = 0, i;
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
	check_waits(&jobs, bound_ns);
	check_idle(&jobs, bound_ns);
	printf("jobs=%zu\nqueues=%zu\nrings=%zu\nprocesses=%zu\n", jobs.count, jobs.num_queues, num_rings, jobs.num_processes);
	printf("done=%zu\ndropped=%zu\nunfinished=%zu\nno_queued=%" PRIu64 "\nno_run=%" PRIu64 "\n", found.outcomes[JOB_DONE],
	       found.outcomes[JOB_DROPPED], found.outcomes[JOB_UNFINISHED], found.no_queued, found.no_run);
	printf("open=%zu\nnever=%zu\nlate=%zu\nhung=%zu\nmissing=%zu\ninside=%zu\n", found.open, found.never, found.late, found.hung,
	       found.missing, found.inside);
	/* Jobs that the GPU did not end. */
	printf("cut=%zu\n", found.open + found.never);
	printf("worst_begin_ns=%" PRIu64 "\nworst_end_ns=%" PRIu64 "\nmean_begin_ns=%" PRIu64 "\nmean_end_ns=%" PRIu64 "\n",
	       found.worst_begin_ns, found.worst_end_ns, found.begins ? found.begins_ns / found.begins : 0,
	       found.ends ? found.ends_ns / found.ends : 0);
	for (i = 0; i < jobs.num_gaps; i++) {
		if (jobs.gaps[i].cpu == RECORDING_NO_CPU)
			continue;
		gaps++;
		lost += jobs.gaps[i].lost;
	}
	printf("gaps=%zu\nlost=%" PRIu64 "\n", gaps, lost);
	if (complaints)
		printf("%u complaints\n", complaints);
	return complaints ? 1 : 0;
}
