// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of a process, which is made if there is none; -1 without memory. */
static int64_t find_process(struct frames *f, const struct recording_frame *frame)
{
	struct frame_process *more;
	size_t n;

	/* The latest is the most likely. */
	for (n = f->num_processes; n > 0; n--)
		if (f->processes[n - 1].pid == frame->pid && !strcmp(f->processes[n - 1].name, frame->name))
			return n - 1;
	if (f->num_processes == UINT32_MAX)
		return -1;
	more = reallocarray(f->processes, f->num_processes + 1, sizeof(*more));
	if (!more)
		return -1;
	f->processes = more;
	more = &more[f->num_processes];
	memset(more, 0, sizeof(*more));
	more->pid = frame->pid;
	strcpy(more->name, frame->name);
	return f->num_processes++;
}

/* Adds the end of a frame. Returns -1 without memory. */
static int add_frame(struct frames *f, const struct recording_frame *frame)
{
	int64_t process = find_process(f, frame);
	struct frame *more;

	if (process < 0)
		return -1;
	if (f->count == f->room) {
		more = reallocarray(f->list, 2 * f->room + 64, sizeof(*more));
		if (!more)
			return -1;
		f->list = more;
		f->room = 2 * f->room + 64;
	}
	f->list[f->count++] = (struct frame){ .end_ns = frame->time_ns, .process = process, .lost = frame->lost };
	return 0;
}

/* Returns RECORDING_END, or what is wrong. Only uses that follow each other may overlap. */
static enum recording_item take_use(struct frames *f, const struct recording_record *record)
{
	struct recording_use *more;

	if (f->num_uses == f->use_room) {
		more = reallocarray(f->uses, 2 * f->use_room + 64, sizeof(*more));
		if (!more)
			return RECORDING_NO_MEMORY;
		f->uses = more;
		f->use_room = 2 * f->use_room + 64;
	}
	more = &f->uses[f->num_uses];
	if (pperf_records_get_use(record, more) || (f->num_uses && more->start_ns < more[-1].start_ns) ||
	    (f->num_uses && more->end_ns < more[-1].end_ns) || (f->num_uses > 1 && more->start_ns < more[-2].end_ns))
		return RECORDING_BROKEN;
	f->num_uses++;
	return RECORDING_END;
}

static enum recording_item take_frame(void *context, const struct recording_record *record)
{
	struct recording_frame frame;

	if (record->kind == RECORDING_KIND_USE)
		return take_use(context, record);
	if (record->kind != RECORDING_KIND_FRAME)
		return RECORDING_END;
	if (pperf_records_get_frame(record, &frame))
		return RECORDING_BROKEN;
	return add_frame(context, &frame) ? RECORDING_NO_MEMORY : RECORDING_END;
}

static int compare(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* What was found are ends: finds where frames begin. The first end of a process is the begin of its first frame. */
static void make_frames(struct frames *f)
{
	struct frame_process *process = NULL;
	uint64_t begin_ns = 0, end_ns;
	size_t n, count = 0;

	if (f->count)
		qsort(f->list, f->count, sizeof(*f->list), compare);
	for (n = 0; n < f->count; n++) {
		end_ns = f->list[n].end_ns;
		if (process == &f->processes[f->list[n].process]) {
			f->list[count] = f->list[n];
			f->list[count++].start_ns = begin_ns;
			process->count++;
		} else {
			process = &f->processes[f->list[n].process];
			process->first = count;
		}
		begin_ns = end_ns;
	}
	f->count = count;
}

/* Whether others than a process used the GPU: of a process without a PID, any may be itself. */
static enum frame_others others_in(const struct recording_use *use, uint32_t pid)
{
	enum frame_others others = OTHERS_NONE;
	size_t i;

	for (i = 0; i < use->count; i++) {
		if (pid && (use->users[i] & ~RECORDING_USER_UNKNOWN) == pid)
			continue;
		if (pid && !(use->users[i] & RECORDING_USER_UNKNOWN))
			return OTHERS_SOME;
		others = OTHERS_UNKNOWN;
	}
	return others;
}

/* Of a frame, from the first of the uses on that ends behind its begin. */
static enum frame_others find_others(const struct frames *f, const struct frame *frame, size_t n)
{
	uint32_t pid = f->processes[frame->process].pid;
	uint64_t known_ns = frame->start_ns;
	bool known = true;

	for (; n < f->num_uses && f->uses[n].start_ns < frame->end_ns; n++) {
		enum frame_others others = others_in(&f->uses[n], pid);

		if (others == OTHERS_SOME)
			return others;
		known &= others == OTHERS_NONE && f->uses[n].start_ns <= known_ns;
		known_ns = f->uses[n].end_ns;
	}
	return known && known_ns >= frame->end_ns ? OTHERS_NONE : OTHERS_UNKNOWN;
}

static void find_all_others(struct frames *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->count; i++) {
		struct frame *frame = &f->list[i];

		if (i && frame->process != frame[-1].process)
			n = 0;
		while (n < f->num_uses && f->uses[n].end_ns <= frame->start_ns)
			n++;
		frame->others = find_others(f, frame, n);
	}
}

enum recording_item pperf_frames_read(struct frames *f, struct recording *r, const struct chunks *chunks)
{
	enum recording_item item = RECORDING_END;
	bool counted = true;
	uint64_t frames;
	size_t i;

	for (i = 0; i < chunks->count && item == RECORDING_END; i++) {
		frames = chunks->list[i].range.frames;
		counted &= frames != RECORDING_UNCOUNTED;
		/* An end tells of all of them alone. */
		if (frames == RECORDING_UNCOUNTED ? r->end.frames : frames)
			item = pperf_chunk_each(r, &chunks->list[i], take_frame, f);
	}
	if (item == RECORDING_END && !counted && f->count != r->end.frames) {
		snprintf(r->error, sizeof(r->error), "the recording has %zu frames, but its end tells of %" PRIu64, f->count,
			 r->end.frames);
		item = RECORDING_BROKEN;
	}
	if (item == RECORDING_NO_MEMORY)
		snprintf(r->error, sizeof(r->error), "out of memory");
	if (item == RECORDING_END) {
		make_frames(f);
		find_all_others(f);
	}
	return item;
}

void pperf_frames_free(struct frames *f)
{
	free(f->processes);
	free(f->list);
	free(f->uses);
	memset(f, 0, sizeof(*f));
}
