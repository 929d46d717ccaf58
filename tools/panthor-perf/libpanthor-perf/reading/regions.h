/* SPDX-License-Identifier: MIT */
/*
 * Parts of a recording that have names: each lasts from a mark to the next, whoever has set them. Those of one
 * name are one region. All else is the region without a name, so that regions make up the whole.
 */
#ifndef PPERF_REGIONS_H
#define PPERF_REGIONS_H

#include "chunks.h"

/* More names than these are one region, the last. */
#define REGIONS_MAX 200
#define REGIONS_OTHERS "(others)"

struct region {
	/* Empty: what has no name. */
	char name[PPERF_MARK_LENGTH + 1];

	/* How often it begins, and how long it lasts, as far as samples were taken: see pperf_regions_lengths(). */
	uint64_t times, lasts_ns;

	/*
	 * Samples belong where their middle lies, so that every count is in one region. Sure are those that
	 * lie in it as a whole, across those that lie in another region too: what was counted in the region
	 * is from the sum of the sure ones to that of both. All three are the program's: region-sums.h.
	 */
	struct pperf_sums *sums, *sure, *across;

	/* The latest that was added to across. */
	uint64_t latest;
};

struct regions {
	/* That without a name is always there, and the first; the others are in the order of their first marks. */
	struct region *list;
	size_t count;

	/* By time. */
	struct region_mark {
		uint64_t time_ns;
		uint32_t region;
	} *marks;
	size_t num_marks, room;

	uint64_t samples, start_ns, end_ns;
};

/*
 * Zero them to begin. Adds the region without a name and all marks of a recording. Returns RECORDING_END, or what is wrong, which
 * the recording has then.
 */
enum recording_item pperf_regions_read(struct regions *regions, struct recording *recording, const struct chunks *chunks);

/* How many marks there are up to a time, and what lasts behind so many. */
size_t pperf_regions_marks_until(const struct regions *regions, uint64_t time);
static inline uint32_t region_behind(const struct regions *r, size_t marks)
{
	return marks ? r->marks[marks - 1].region : 0;
}

/* The region that a sample belongs to, 0 without marks. Returns false if it lies in others as well. */
bool pperf_regions_place(const struct regions *regions, uint64_t start_ns, uint64_t end_ns, uint32_t *region);

/* Whether any of a region lies in that time. */
bool pperf_regions_touch(const struct regions *regions, uint32_t region, uint64_t start_ns, uint64_t end_ns);

/* The number of a region by its name, or 0. */
uint32_t pperf_regions_find(const struct regions *regions, const char *name);

/* Calls take() for each part of a time that has one region throughout. */
void pperf_regions_each(const struct regions *regions, uint64_t start_ns, uint64_t end_ns,
			void (*take)(void *context, uint32_t region, uint64_t from_ns, uint64_t until_ns), void *context);

/* Finds how long each lasts between the begin of the first sample and the end of the last one. */
void pperf_regions_lengths(struct regions *regions, uint64_t start_ns, uint64_t end_ns);
void pperf_regions_free(struct regions *regions);

#endif
