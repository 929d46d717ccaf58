// SPDX-License-Identifier: MIT
#include "job-sums.h"

#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "common.h"

/* Makes places: processes that are nowhere alone have none. Returns -1 without memory. */
static int make_places(struct job_sums *s, const struct view *view)
{
	const struct recording_layout *layout = &view->recording.layout;
	const struct jobs *jobs = &view->jobs;
	size_t count = JOB_SUMS_PROCESSES, counters = 0, i;
	unsigned int type, n;
	double *column;

	s->places = calloc(jobs->num_processes + 1, sizeof(*s->places));
	if (!s->places)
		return -1;
	for (i = 0; i < jobs->num_spans; i++)
		if (jobs->spans[i].state == JOBS_RUNNING && jobs->spans[i].owner != JOBS_SEVERAL && !s->places[jobs->spans[i].owner])
			s->places[jobs->spans[i].owner] = count++;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		counters += view->recording.head.gpu.blocks[type] ? layout->counters[type] : 0;
	s->samples = calloc(count, sizeof(*s->samples));
	s->counted_ns = calloc(count, sizeof(*s->counted_ns));
	s->seconds = calloc(count, sizeof(*s->seconds));
	s->cycles = calloc(count, PPERF_CLOCKS * sizeof(*s->cycles));
	s->slept = calloc(count, sizeof(*s->slept));
	s->totals = column = calloc(count, (counters + 1) * sizeof(*s->totals));
	if (!s->samples || !s->counted_ns || !s->seconds || !s->cycles || !s->slept || !s->totals)
		return -1;
	s->columns = (struct pperf_columns){
		.count = count, .start_ns = s->counted_ns, .end_ns = s->counted_ns, .seconds = s->seconds, .slept = s->slept,
	};
	for (n = 0; n < PPERF_CLOCKS; n++)
		s->columns.cycles[n] = s->cycles + n * count;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (n = 0; view->recording.head.gpu.blocks[type] && n < layout->counters[type]; n++, column += count)
			s->columns.totals[type][layout->indices[type][n]] = column;
	return 0;
}

struct reading {
	struct job_sums *sums;
	const struct view *view;
};

static size_t place_of_span(const struct reading *r, size_t n)
{
	const struct job_span *span = n < r->view->jobs.num_spans ? &r->view->jobs.spans[n] : NULL;

	if (!span || span->state == JOBS_UNKNOWN)
		return JOB_SUMS_UNKNOWN;
	if (span->state != JOBS_RUNNING)
		return JOB_SUMS_IDLE;
	return span->owner == JOBS_SEVERAL ? JOB_SUMS_SEVERAL : r->sums->places[span->owner];
}

static size_t place_of_sample(const struct reading *r, uint64_t start_ns, uint64_t end_ns)
{
	const struct jobs *jobs = &r->view->jobs;
	size_t n = pperf_jobs_span_at(jobs, start_ns), place = place_of_span(r, n);

	/* Before the first span, there is none. */
	if (n < jobs->num_spans && jobs->spans[n].start_ns > start_ns) {
		place = JOB_SUMS_UNKNOWN;
		if (jobs->spans[n].start_ns < end_ns && place_of_span(r, n) != place)
			return JOB_SUMS_EDGES;
	}
	for (; n < jobs->num_spans && jobs->spans[n].end_ns < end_ns; n++)
		if (place_of_span(r, n + 1) != place)
			return JOB_SUMS_EDGES;
	return place;
}

/* Adds samples that follow each other in one place. */
static void add_samples(const struct reading *r, size_t place, const struct pperf_columns *c, size_t first, size_t end)
{
	const struct recording_layout *layout = &r->view->recording.layout;
	struct job_sums *s = r->sums;
	double *total = s->totals + place;
	const double *counts;
	unsigned int type, i;
	size_t n;

	s->samples[place] += end - first;
	for (n = first; n < end; n++) {
		s->counted_ns[place] += c->end_ns[n] - c->start_ns[n];
		s->slept[place] |= c->slept[n];
		for (i = 0; i < PPERF_CLOCKS; i++)
			s->cycles[i * s->columns.count + place] += c->cycles[i][n];
	}
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (i = 0; r->view->recording.head.gpu.blocks[type] && i < layout->counters[type]; i++, total += s->columns.count) {
			counts = c->totals[type][layout->indices[type][i]];
			for (n = first; n < end; n++)
				*total += counts[n];
		}
	}
}

static void add_batch(void *context, size_t number, const struct batch *batch)
{
	const struct pperf_columns *c = &batch->columns;
	const struct reading *r = context;
	size_t first = 0, place = 0, next, n;

	(void)number;
	for (n = 0; n < c->count; n++) {
		next = place_of_sample(r, c->start_ns[n], c->end_ns[n]);
		if (n && next != place) {
			add_samples(r, place, c, first, n);
			first = n;
		}
		place = next;
	}
	add_samples(r, place, c, first, c->count);
}

int job_sums_read(struct job_sums *s, struct view *view)
{
	struct reading r = { s, view };
	const struct batches batches = { .view = view, .task = add_batch, .context = &r, .tasks = 1 };
	int status;
	size_t i;

	memset(s, 0, sizeof(*s));
	if (make_places(s, view))
		return complain_of_memory();
	status = view_finish(view, batches_run(&batches));
	for (i = 0; i < s->columns.count; i++)
		s->seconds[i] = s->counted_ns[i] / 1e9;
	return status;
}

void job_sums_free(struct job_sums *s)
{
	free(s->places);
	free(s->samples);
	free(s->counted_ns);
	free(s->seconds);
	free(s->totals);
	free(s->cycles);
	free(s->slept);
}
