// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "regions.h"

#include <stdlib.h>
#include <string.h>

/* The number of a region, which is made if there is none; -1 without memory. */
static int64_t region_number(struct regions *r, const char *name)
{
	struct region *more;
	size_t n;

	for (n = 0; n < r->count; n++)
		if (!strcmp(r->list[n].name, name))
			return n;
	if (n == REGIONS_MAX)
		return n - 1;
	if (n == REGIONS_MAX - 1)
		name = REGIONS_OTHERS;

	more = reallocarray(r->list, n + 1, sizeof(*more));
	if (!more)
		return -1;
	r->list = more;
	memset(&more[n], 0, sizeof(*more));
	strcpy(more[n].name, name);
	r->count++;
	return n;
}

/* Adds a mark behind all others. Returns -1 without memory. */
static int add_mark(struct regions *r, const struct recording_mark *mark)
{
	struct region_mark *more;
	int64_t region;

	region = region_number(r, mark->name);
	if (region < 0)
		return -1;
	if (r->num_marks == r->room) {
		more = reallocarray(r->marks, 2 * r->room + 64, sizeof(*more));
		if (!more)
			return -1;
		r->marks = more;
		r->room = 2 * r->room + 64;
	}
	r->marks[r->num_marks].time_ns = mark->time_ns;
	r->marks[r->num_marks++].region = region;
	r->list[region].times++;
	return 0;
}

/* How many marks there are up to a time. */
size_t pperf_regions_marks_until(const struct regions *r, uint64_t time)
{
	size_t low = 0, high = r->num_marks, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (r->marks[middle].time_ns <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool pperf_regions_place(const struct regions *r, uint64_t start_ns, uint64_t end_ns, uint32_t *region)
{
	size_t first = pperf_regions_marks_until(r, start_ns), last = first, n;
	bool sure = true;

	*region = region_behind(r, pperf_regions_marks_until(r, start_ns + (end_ns - start_ns) / 2));
	/* What begins where it ends is none of its own. */
	if (end_ns > start_ns)
		last = pperf_regions_marks_until(r, end_ns - 1);
	for (n = first; n < last; n++)
		sure &= r->marks[n].region == region_behind(r, first);
	return sure;
}

bool pperf_regions_touch(const struct regions *r, uint32_t region, uint64_t start_ns, uint64_t end_ns)
{
	size_t n = pperf_regions_marks_until(r, start_ns), last = pperf_regions_marks_until(r, end_ns);

	for (; n <= last; n++)
		if (region_behind(r, n) == region)
			return true;
	return false;
}

uint32_t pperf_regions_find(const struct regions *r, const char *name)
{
	uint32_t n;

	for (n = 1; n < r->count; n++)
		if (!strcmp(r->list[n].name, name))
			return n;
	return 0;
}

/* What finds marks in a chunk: how many there were. */
struct mark_finder {
	struct regions *regions;
	struct recording *recording;
	uint64_t marks;
};

static enum recording_item take_mark(void *context, const struct recording_record *record)
{
	struct mark_finder *f = context;

	if (record->kind != RECORDING_KIND_MARK)
		return RECORDING_END;
	if (pperf_records_get_mark(record, &f->recording->mark))
		return RECORDING_BROKEN;
	f->marks++;
	return add_mark(f->regions, &f->recording->mark) ? RECORDING_NO_MEMORY : RECORDING_END;
}

/* Finds the marks of a chunk. Returns RECORDING_END, or what is wrong. */
static enum recording_item read_marks(struct regions *regions, struct recording *r, const struct chunk *chunk)
{
	struct mark_finder f = { .regions = regions, .recording = r };
	enum recording_item item = chunk->range.marks ? pperf_chunk_each(r, chunk, take_mark, &f) : RECORDING_END;

	return item == RECORDING_END && f.marks != chunk->range.marks ? pperf_chunk_differs(r, chunk) : item;
}

enum recording_item pperf_regions_read(struct regions *regions, struct recording *r, const struct chunks *chunks)
{
	enum recording_item item = region_number(regions, "") < 0 ? RECORDING_NO_MEMORY : RECORDING_END;
	size_t i;

	memset(&r->mark, 0, sizeof(r->mark));
	for (i = 0; i < chunks->count && item == RECORDING_END; i++)
		item = read_marks(regions, r, &chunks->list[i]);
	if (item == RECORDING_NO_MEMORY)
		snprintf(r->error, sizeof(r->error), "out of memory");
	return item;
}

void pperf_regions_each(const struct regions *r, uint64_t start_ns, uint64_t end_ns,
			void (*take)(void *context, uint32_t region, uint64_t from_ns, uint64_t until_ns), void *context)
{
	uint64_t from = start_ns, to;
	size_t n;

	for (n = 0; n <= r->num_marks; n++) {
		to = n < r->num_marks && r->marks[n].time_ns < end_ns ? r->marks[n].time_ns : end_ns;
		if (to > from) {
			take(context, region_behind(r, n), from, to);
			from = to;
		}
	}
}

static void add_length(void *context, uint32_t region, uint64_t from_ns, uint64_t until_ns)
{
	struct regions *r = context;

	r->list[region].lasts_ns += until_ns - from_ns;
}

void pperf_regions_lengths(struct regions *r, uint64_t start_ns, uint64_t end_ns)
{
	pperf_regions_each(r, start_ns, end_ns, add_length, r);
}

void pperf_regions_free(struct regions *r)
{
	size_t n;

	for (n = 0; n < r->count; n++) {
		pperf_sums_free(r->list[n].sums);
		pperf_sums_free(r->list[n].sure);
		pperf_sums_free(r->list[n].across);
	}
	free(r->list);
	free(r->marks);
	memset(r, 0, sizeof(*r));
}
