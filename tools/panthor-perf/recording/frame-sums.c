// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "frame-sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "common.h"

/* A process while samples are in its frames. */
struct adding {
	/* Frames that have all of their samples, or none of them yet, and those that are in the columns. */
	size_t next, begun;

	uint64_t start_ns[FRAME_SUMS_MAX], end_ns[FRAME_SUMS_MAX];
	uint64_t counted_ns[FRAME_SUMS_MAX], shared_ns[FRAME_SUMS_MAX];
	uint64_t cycles[PPERF_CLOCKS][FRAME_SUMS_MAX];
	double seconds[FRAME_SUMS_MAX];
	uint32_t flags[FRAME_SUMS_MAX];
	bool slept[FRAME_SUMS_MAX];
	double totals[][FRAME_SUMS_MAX];
};

struct frame_sums {
	struct view *view;
	int (*done)(void *context, const struct frame_columns *columns);
	void *context;
	int status;

	/* By process; NULL before its first sample and behind its last frame. */
	struct adding **adding;

	/* Counters that are recorded. */
	struct {
		unsigned int type, value;
	} *counters;
	size_t num_counters;
};

/* A part of a count, up to a part of its time: those of all of the time are the count. */
static double part_of(double count, uint64_t ns, uint64_t length_ns)
{
	return ns == length_ns ? count : floor(count * ((double)ns / length_ns));
}

static int hand_over(struct frame_sums *s, const struct frame_process *process, struct adding *a)
{
	struct frame_columns f = {
		.first = process->first + a->begun, .counted_ns = a->counted_ns, .shared_ns = a->shared_ns, .flags = a->flags,
		.columns = {
			.count = a->next - a->begun, .start_ns = a->start_ns, .end_ns = a->end_ns, .seconds = a->seconds,
			.slept = a->slept,
		},
	};
	size_t i;

	if (!f.columns.count)
		return s->status;
	for (i = 0; i < PPERF_CLOCKS; i++)
		f.columns.cycles[i] = a->cycles[i];
	for (i = 0; i < s->num_counters; i++)
		f.columns.totals[s->counters[i].type][s->counters[i].value] = a->totals[i];
	for (i = 0; i < f.columns.count; i++)
		a->seconds[i] = a->counted_ns[i] / 1e9;
	if (!s->status)
		s->status = s->done(s->context, &f);
	a->begun = a->next;
	return s->status;
}

/* Begins with the next frame of a process: its values are 0. */
static void begin_frame(struct frame_sums *s, const struct frame_process *process, struct adding *a)
{
	const struct frame *frame = &s->view->frames.list[process->first + a->next];
	size_t slot = a->next - a->begun, i;

	a->start_ns[slot] = frame->start_ns;
	a->end_ns[slot] = frame->end_ns;
	a->counted_ns[slot] = a->shared_ns[slot] = 0;
	a->flags[slot] = 0;
	a->slept[slot] = false;
	for (i = 0; i < PPERF_CLOCKS; i++)
		a->cycles[i][slot] = 0;
	for (i = 0; i < s->num_counters; i++)
		a->totals[i][slot] = 0;
}

static void end_frame(struct frame_sums *s, const struct frame_process *process, struct adding *a)
{
	a->next++;
	if (a->next == process->count || a->next - a->begun == FRAME_SUMS_MAX)
		hand_over(s, process, a);
	if (a->next < process->count)
		begin_frame(s, process, a);
}

/* Adds what a sample has from one part of its time to another to the frame that lasts. */
static void add_part(struct frame_sums *s, struct adding *a, const struct batch *batch, size_t n, uint64_t from, uint64_t to)
{
	const struct pperf_columns *c = &batch->columns;
	uint64_t start = c->start_ns[n], length = c->end_ns[n] - start;
	size_t slot = a->next - a->begun, i;
	bool whole = to - from == length;
	double count;

	for (i = 0; i < s->num_counters; i++) {
		count = c->totals[s->counters[i].type][s->counters[i].value][n];
		a->totals[i][slot] += whole ? count : part_of(count, to - start, length) - part_of(count, from - start, length);
	}
	for (i = 0; i < PPERF_CLOCKS; i++) {
		count = c->cycles[i][n];
		a->cycles[i][slot] += whole ? count : part_of(count, to - start, length) - part_of(count, from - start, length);
	}
	a->flags[slot] |= batch->flags[n];
	a->slept[slot] |= c->slept[n];
	a->counted_ns[slot] += to - from;
	if (!whole)
		a->shared_ns[slot] += to - from;
}

/* Adds a sample to all frames of a process that it touches. */
static void add_sample(struct frame_sums *s, size_t number, const struct batch *batch, size_t n)
{
	const struct frame_process *process = &s->view->frames.processes[number];
	uint64_t start = batch->columns.start_ns[n], end = batch->columns.end_ns[n], from, to;
	struct adding *a = s->adding[number];

	while (a->next < process->count) {
		const struct frame *frame = &s->view->frames.list[process->first + a->next];

		from = frame->start_ns > start ? frame->start_ns : start;
		to = frame->end_ns < end ? frame->end_ns : end;
		if (from < to || (start == end && frame->start_ns <= start && start < frame->end_ns))
			add_part(s, a, batch, n, from, to);
		if (frame->end_ns > end)
			return;
		end_frame(s, process, a);
	}
}

static struct adding *begin_process(struct frame_sums *s, const struct frame_process *process)
{
	struct adding *a = calloc(1, sizeof(*a) + s->num_counters * sizeof(a->totals[0]));

	if (a && process->count)
		begin_frame(s, process, a);
	return a;
}

static void add_batch(void *context, size_t number, const struct batch *batch)
{
	const struct pperf_columns *c = &batch->columns;
	const uint64_t batch_start = c->start_ns[0], batch_end = c->end_ns[c->count - 1];
	struct frame_sums *s = context;
	const struct frames *frames = &s->view->frames;
	size_t p, n;

	(void)number;
	for (p = 0; p < frames->num_processes && !s->status; p++) {
		const struct frame_process *process = &frames->processes[p];
		const struct frame *list = frames->list + process->first;

		if (!process->count || list[0].start_ns >= batch_end)
			continue;
		if (!s->adding[p] && list[process->count - 1].end_ns > batch_start)
			s->adding[p] = begin_process(s, process);
		if (!s->adding[p] && list[process->count - 1].end_ns > batch_start) {
			s->status = complain_of_memory();
			return;
		}
		for (n = 0; s->adding[p] && n < c->count && s->adding[p]->next < process->count; n++)
			add_sample(s, p, batch, n);
		if (s->adding[p] && s->adding[p]->next == process->count) {
			free(s->adding[p]);
			s->adding[p] = NULL;
		}
	}
}

/* Hands over the frames that go on behind the last sample. */
static void end_all(struct frame_sums *s)
{
	const struct frames *frames = &s->view->frames;
	size_t p;

	for (p = 0; p < frames->num_processes; p++) {
		struct adding *a = s->adding[p];

		while (a && a->next < frames->processes[p].count)
			end_frame(s, &frames->processes[p], a);
		free(a);
	}
}

/* Looks at all chunks that have a part of a frame that is looked at, as a whole. Returns false if there are none. */
static bool choose_chunks(struct view *view)
{
	uint64_t from_ns = UINT64_MAX, until_ns = 0;
	size_t i;

	for (i = 0; i < view->frames.count; i++) {
		const struct frame *frame = &view->frames.list[i];

		if (!view_sees(view, frame->start_ns, frame->end_ns))
			continue;
		from_ns = frame->start_ns < from_ns ? frame->start_ns : from_ns;
		until_ns = frame->end_ns > until_ns ? frame->end_ns : until_ns;
	}
	view->region = 0;
	view->from_ns = UINT64_MAX;
	view->until_ns = 0;
	for (i = 0; i < view->chunks.count; i++) {
		const struct recording_chunk *chunk = &view->chunks.list[i].range;

		if (!chunk->samples || chunk->end_ns < from_ns || chunk->start_ns > until_ns)
			continue;
		view->from_ns = chunk->start_ns < view->from_ns ? chunk->start_ns : view->from_ns;
		view->until_ns = chunk->end_ns + 1;
	}
	return view->until_ns;
}

int view_sum_frames(struct view *view, int (*done)(void *context, const struct frame_columns *columns), void *context)
{
	const struct recording_layout *layout = &view->recording.layout;
	struct view whole = *view;
	struct frame_sums s = { .view = &whole, .done = done, .context = context };
	const struct batches batches = { .view = &whole, .task = add_batch, .context = &s, .tasks = 1 };
	unsigned int type, i;
	int status;

	if (!choose_chunks(&whole))
		return STATUS_OK;
	s.adding = calloc(view->frames.num_processes + 1, sizeof(*s.adding));
	s.counters = calloc(PPERF_BLOCK_TYPES * PPERF_MAX_VALUES, sizeof(*s.counters));
	if (!s.adding || !s.counters) {
		status = complain_of_memory();
		goto out;
	}
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (i = 0; view->recording.head.gpu.blocks[type] && i < layout->counters[type]; i++) {
			s.counters[s.num_counters].type = type;
			s.counters[s.num_counters++].value = layout->indices[type][i];
		}
	}
	status = view_finish(&whole, batches_run(&batches));
	end_all(&s);
	if (!status)
		status = s.status;
out:
	free(s.adding);
	free(s.counters);
	return status;
}
