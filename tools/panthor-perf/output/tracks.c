// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "tracks.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The levels of the top-down tree that are tracks. */
#define TOPDOWN_LEVELS 2

/* By what a counter's group, or else its name, has in it. */
static int group_of(const struct pperf_counter *counter)
{
	static const struct {
		const char *text;
		int group;
	} groups[] = {
		{ "Ray Tracing", RAY_TRACING }, { "External Bus", MEMORY }, { "L2 ", MEMORY },
		{ "MMU", MEMORY }, { "External Read", MEMORY }, { "Fragment", FRAGMENTS },
		{ "ZS Unit", FRAGMENTS }, { "Overdraw", FRAGMENTS }, { "pixels", FRAGMENTS },
		{ "Tile Unit", FRAGMENTS }, { "Primitive", PRIMITIVES }, { "Geometry", PRIMITIVES },
		{ "Vertex", VERTICES }, { "Tiler", VERTICES }, { "GPU ", SYSTEM }, { "CSF ", SYSTEM },
	};
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strstr(counter->group, groups[i].text))
			return groups[i].group;
	if (strstr(counter->name, "NonFrag") || strstr(counter->name, "Comp"))
		return COMPUTE;
	if (strstr(counter->name, "Frag"))
		return FRAGMENTS;
	return UNCLASSIFIED;
}

static void set_unit(struct track *track, const char *unit)
{
	static const struct {
		const char *text;
		int unit, per;
	} units[] = {
		{ "bytes", BYTE, NONE }, { "bytes/second", BYTE, SECOND }, { "percent", PERCENT, NONE },
		{ "pixels", PIXEL, NONE }, { "primitives", PRIMITIVE, NONE },
		{ "instructions", INSTRUCTION, NONE }, { "vertices", VERTEX, NONE },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(unit, units[i].text)) {
			track->unit = units[i].unit;
			track->per = units[i].per;
		}
	}
}

/* Of counts, their unit a second. */
static void set_counter_unit(struct track *track, const struct pperf_counter *counter)
{
	set_unit(track, counter->unit);
	if (counter->kind == PPERF_KIND_COUNT)
		track->per = SECOND;
}

/* Takes the texts, which are NULL without memory. Returns NULL then. */
static struct track *add_track(struct tracks *t, enum source source, char *name, char *description)
{
	struct track *tracks;

	if (t->count == t->room) {
		tracks = reallocarray(t->list, t->room + 64, sizeof(*tracks));
		if (tracks) {
			t->list = tracks;
			t->room += 64;
		}
	}
	if (t->count == t->room || !name || !description) {
		free(name);
		free(description);
		return NULL;
	}
	memset(&t->list[t->count], 0, sizeof(*t->list));
	t->list[t->count].source = source;
	t->list[t->count].wanted = true;
	t->list[t->count].name = name;
	t->list[t->count].description = description;
	return &t->list[t->count++];
}

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *format, ...)
{
	char *result;
	va_list args;

	va_start(args, format);
	if (vasprintf(&result, format, args) < 0)
		result = NULL;
	va_end(args);
	return result;
}

/* Adds to the masks what a function of the library adds to a selection. */
static enum pperf_error add_needs(const struct tracks *t, void (*need)(struct pperf_selection *selection),
				  struct pperf_masks *masks)
{
	struct pperf_selection *selection;
	unsigned int type, i;
	enum pperf_error error;

	error = pperf_selection_new(t->db, t->gpu, &selection);
	if (error)
		return error;

	need(selection);
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES / 64; i++)
			masks->bits[type][i] |= pperf_selection_masks(selection)->bits[type][i];
	pperf_selection_free(selection);
	return PPERF_OK;
}

/* Sets whether all of that is recorded. */
static enum pperf_error find_recorded(const struct tracks *t, void (*need)(struct pperf_selection *selection),
				      bool *recorded)
{
	struct pperf_masks masks = {};
	enum pperf_error error = add_needs(t, need, &masks);
	unsigned int type, i;

	*recorded = true;
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES / 64; i++)
			*recorded &= !(masks.bits[type][i] & ~t->masks->bits[type][i]);
	return error;
}

static enum pperf_error add_load(struct tracks *t)
{
	static const struct {
		const char *name, *description;
		int unit;
	} loads[] = {
		[LOAD_OF_TIME] = { "GPU load", "Share of time in which the GPU was active", PERCENT },
		[LOAD_OF_CYCLES] = { "GPU load while powered",
				     "Share of GPU clock cycles in which it was active", PERCENT },
		[LOAD_FLAGS] = { "Sample flags", "1: counts may be missing, 2: the GPU failed, 4: the sample "
				 "covers several periods", NONE },
	};
	struct track *track;
	enum pperf_error error;
	unsigned int i;
	bool have;

	error = find_recorded(t, pperf_selection_need_load, &have);
	if (error)
		return error;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (i != LOAD_FLAGS && !have)
			continue;
		track = add_track(t, SOURCE_LOAD, strdup(loads[i].name), strdup(loads[i].description));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->load = i;
		track->group = SYSTEM;
		track->unit = loads[i].unit;
	}
	return PPERF_OK;
}

static enum pperf_error add_clocks(struct tracks *t)
{
	struct track *track;
	unsigned int clock;

	for (clock = 0; clock < PPERF_CLOCKS; clock++) {
		if (!(t->gpu->clocks >> clock & 1))
			continue;
		track = add_track(t, SOURCE_CLOCK, text("Frequency: %s clock", pperf_clock_name(clock)),
				  strdup("Mean clock cycles per second of the sample; the clock is stopped while the GPU sleeps"));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->clock = clock;
		track->group = SYSTEM;
		track->unit = HERTZ;
	}
	return PPERF_OK;
}

static enum pperf_error add_topdown(struct tracks *t)
{
	const struct pperf_topdown_node *const *nodes;
	struct track *track;
	enum pperf_error error;
	size_t count, n;
	bool have;

	nodes = pperf_db_topdown(t->db, &count);
	if (!count)
		return PPERF_OK;

	error = find_recorded(t, pperf_selection_need_topdown, &have);
	if (error || !have)
		return error;

	error = pperf_topdown_new(t->db, t->gpu, &t->topdown);
	if (error)
		return error;

	for (n = 0; n < count; n++) {
		if (nodes[n]->level < 1 || nodes[n]->level > TOPDOWN_LEVELS)
			continue;
		track = add_track(t, SOURCE_TOPDOWN,
				  nodes[n]->level == 1 ? text("Top-down: %s", nodes[n]->title) :
				  text("Top-down: %s: %s", nodes[n]->parent->title, nodes[n]->title),
				  text("Estimate. %s", nodes[n]->next ? nodes[n]->next : ""));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->node = nodes[n];
		track->group = SYSTEM;
		track->unit = PERCENT;
	}
	return PPERF_OK;
}

static enum pperf_error add_metrics(struct tracks *t)
{
	const struct pperf_counter *const *counters;
	struct track *track;
	size_t count, i;

	counters = pperf_db_counters(t->db, &count);
	for (i = 0; i < count; i++) {
		if (!counters[i]->equation || counters[i]->kind == PPERF_KIND_CONSTANT ||
		    !pperf_counter_in(t->db, counters[i], t->masks) ||
		    !pperf_counter_exists(t->db, counters[i], t->gpu))
			continue;
		track = add_track(t, SOURCE_METRIC, strdup(counters[i]->title),
				  text("%s: %s", counters[i]->name, counters[i]->equation));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->counter = counters[i];
		track->group = group_of(counters[i]);
		set_counter_unit(track, counters[i]);
	}
	return PPERF_OK;
}

/* What people call a block; the number is left out where there is one alone. */
static char *block_name(const struct pperf_gpu_info *info, unsigned int type, unsigned int index)
{
	static const char *const names[PPERF_BLOCK_TYPES] = {
		[PPERF_BLOCK_FW] = "Firmware", [PPERF_BLOCK_CSG] = "Group", [PPERF_BLOCK_CSHW] = "Front end",
		[PPERF_BLOCK_TILER] = "Tiler", [PPERF_BLOCK_MEMSYS] = "Slice", [PPERF_BLOCK_SHADER] = "Core",
	};

	if (info->blocks[type] == 1)
		return strdup(names[type]);
	return text("%s %u", names[type], index);
}

/* A track of one block, named after both. */
static struct track *add_block_track(struct tracks *t, enum source source, const struct pperf_counter *counter,
				     unsigned int block, unsigned int type, unsigned int index)
{
	bool alone = t->gpu->blocks[type] == 1;
	char *name = block_name(t->gpu, type, index);
	struct track *track;

	if (!name)
		return NULL;
	track = add_track(t, source, alone ? strdup(counter->title) : text("%s: %s", name, counter->title),
			  text("%s of %s.%u%s%s", counter->name, pperf_block_name(type), index,
			       counter->equation ? ": " : "", counter->equation ? counter->equation : ""));
	free(name);
	if (!track)
		return NULL;
	track->counter = counter;
	track->block = block;
	track->type = type;
	track->index = index;
	track->group = type < PPERF_BLOCK_TILER ? SYSTEM : group_of(counter);
	set_counter_unit(track, counter);
	return track;
}

/* The metrics that each block of several has: how busy each core was, say. */
static enum pperf_error add_block_metrics(struct tracks *t, unsigned int block, unsigned int type,
					  unsigned int index)
{
	const struct pperf_counter *const *counters;
	size_t count, i;

	if (t->gpu->blocks[type] == 1)
		return PPERF_OK;

	counters = pperf_db_counters(t->db, &count);
	for (i = 0; i < count; i++) {
		if (counters[i]->equation && !strcmp(counters[i]->unit, "percent") &&
		    pperf_counter_block_type(t->db, counters[i]) == type &&
		    pperf_counter_in(t->db, counters[i], t->masks) &&
		    !add_block_track(t, SOURCE_BLOCK_METRIC, counters[i], block, type, index))
			return PPERF_ERROR_NO_MEMORY;
	}
	return PPERF_OK;
}

static enum pperf_error add_counters(struct tracks *t)
{
	const struct pperf_gpu_info *info = t->gpu;
	unsigned int type, index, value, block = 0;
	enum pperf_error error;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = 0; index < info->blocks[type]; index++, block++) {
			for (value = PPERF_FIRST_COUNTER; value < info->values_per_block; value++)
				if ((t->masks->bits[type][value / 64] >> (value % 64) & 1) &&
				    !add_block_track(t, SOURCE_COUNTER, pperf_db_at(t->db, type, value), block, type,
						     index))
					return PPERF_ERROR_NO_MEMORY;
			error = add_block_metrics(t, block, type, index);
			if (error)
				return error;
		}
	}
	return PPERF_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct track *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x < *y ? -1 : *x > *y);
}

/* Tracks of the same name would be drawn as one: all but the first get a number. */
static enum pperf_error make_unique(struct tracks *t)
{
	struct track **order = calloc(t->count, sizeof(*order)), *first;
	enum pperf_error error = PPERF_OK;
	char *name;
	size_t i;

	if (!order)
		return PPERF_ERROR_NO_MEMORY;
	for (i = 0; i < t->count; i++)
		order[i] = &t->list[i];
	qsort(order, t->count, sizeof(*order), by_name);

	for (first = order[0], i = 1; i < t->count && !error; i++) {
		if (strcmp(order[i]->name, first->name)) {
			first = order[i];
			continue;
		}
		name = text("%s [%zu]", first->name, (size_t)(order[i] - t->list));
		if (name) {
			free(order[i]->name);
			order[i]->name = name;
		} else {
			error = PPERF_ERROR_NO_MEMORY;
		}
	}
	free(order);
	return error;
}


enum pperf_error tracks_open(struct tracks *t, const struct recording_head *head)
{
	enum pperf_error error;

	memset(t, 0, sizeof(*t));
	t->gpu = &head->gpu;
	t->masks = &head->masks;

	/* Of an unknown layout counters have places. */
	error = pperf_db_open(head->set ? NULL : head->gpu.layout, &t->db);
	if (error == PPERF_ERROR_UNKNOWN)
		error = pperf_db_open(NULL, &t->db);
	if (!error)
		error = pperf_sums_new(t->db, t->gpu, &t->sums);
	if (!error)
		error = add_load(t);
	if (!error)
		error = add_clocks(t);
	if (!error)
		error = add_topdown(t);
	if (!error)
		error = add_metrics(t);
	if (!error)
		error = add_counters(t);
	if (!error)
		error = make_unique(t);
	return error;
}

void tracks_close(struct tracks *t)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		free(t->list[i].name);
		free(t->list[i].description);
	}
	free(t->list);
	pperf_topdown_free(t->topdown);
	pperf_sums_free(t->sums);
	pperf_db_close(t->db);
}

bool tracks_same_block(const struct track *a, const struct track *b)
{
	bool of_blocks = a->source >= SOURCE_COUNTER && b->source >= SOURCE_COUNTER;

	return of_blocks ? a->block == b->block : a->source == b->source;
}

char *tracks_block_name(const struct tracks *t, const struct track *track)
{
	static const char *const names[] = {
		[SOURCE_LOAD] = "GPU", [SOURCE_CLOCK] = "Clocks", [SOURCE_TOPDOWN] = "Top-down (estimate)", [SOURCE_METRIC] = "Metrics",
	};

	if (track->source < SOURCE_COUNTER)
		return strdup(names[track->source]);
	return block_name(t->gpu, track->type, track->index);
}

void tracks_want(struct tracks *t, bool wanted)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		t->list[i].wanted = wanted;
}

enum pperf_error tracks_needs(struct tracks *t, struct pperf_masks *masks)
{
	bool load = false, topdown = false;
	enum pperf_error error = PPERF_OK;
	const struct track *track;
	size_t i;

	memset(masks, 0, sizeof(*masks));
	for (i = 0; i < t->count; i++) {
		track = &t->list[i];
		if (!track->wanted)
			continue;
		if (track->counter)
			pperf_counter_needs(t->db, track->counter, masks);
		load |= track->source == SOURCE_LOAD && track->load != LOAD_FLAGS;
		topdown |= track->source == SOURCE_TOPDOWN;
	}
	if (load)
		error = add_needs(t, pperf_selection_need_load, masks);
	if (!error && topdown)
		error = add_needs(t, pperf_selection_need_topdown, masks);
	if (!error && !topdown) {
		pperf_topdown_free(t->topdown);
		t->topdown = NULL;
	}
	return error;
}

void tracks_reset(struct tracks *t)
{
	pperf_sums_reset(t->sums);
	if (t->topdown)
		pperf_topdown_reset(t->topdown);
}

enum pperf_error tracks_add(struct tracks *t, const struct pperf_sample *sample)
{
	enum pperf_error error = pperf_sums_add(t->sums, sample);

	if (!error && t->topdown)
		error = pperf_topdown_add(t->topdown, sample);
	/* Counts that no GPU could have made are shown as nothing. */
	return error == PPERF_ERROR_NO_VALUE ? PPERF_OK : error;
}

/*
 * Digits that say nothing are zeros, which take no room when they are compressed: these are multiples of a unit, a power
 * of 2. Scaling by one is exact.
 */
static double multiple_of(double number, double unit)
{
	return nearbyint(number / unit) * unit;
}

#define MANTISSA_BITS 52

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static double from_bits(uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* Near enough to tell the count: to an eighth of it. */
static double rate_of(uint64_t count, uint64_t length_ns)
{
	double one = 1e9 / length_ns, power = from_bits(bits_of(one) >> MANTISSA_BITS << MANTISSA_BITS);

	return multiple_of(count * one, power / 4);
}

/* To the nearest number of 20 bits behind the first, or to the even one. What is carried goes into the exponent. */
static double of_20_bits(double number)
{
	unsigned int drop = MANTISSA_BITS - 20;
	uint64_t bits = bits_of(number);

	bits += (1ull << (drop - 1)) - 1 + (bits >> drop & 1);
	return from_bits(bits >> drop << drop);
}

/* Parts in percent are shown to a hundredth, all else to six digits. */
static double rounded(const struct track *track, double number)
{
	if (track->unit == PERCENT && !track->per)
		return multiple_of(number, 1.0 / 128);
	return number ? of_20_bits(number) : 0;
}

/* What a metric says: counts are rates, and a ratio of nothing is shown as 0. */
static double metric(const struct tracks *t, const struct track *track, uint64_t length_ns)
{
	double number = 0;
	enum pperf_error error = track->source == SOURCE_METRIC ?
		pperf_sums_value(t->sums, track->counter, &number) :
		pperf_sums_block_value(t->sums, track->counter, track->index, &number);

	if (error)
		return 0;
	if (track->counter->kind == PPERF_KIND_COUNT)
		number *= 1e9 / length_ns;
	return rounded(track, number);
}

double tracks_value(const struct tracks *t, const struct track *track, uint64_t length_ns,
		    const struct pperf_load *load)
{
	switch (track->source) {
	case SOURCE_LOAD:
		if (track->load == LOAD_FLAGS)
			return pperf_sums_flags(t->sums);
		return rounded(track, 100 * (track->load == LOAD_OF_TIME ? load->of_time : load->of_cycles));
	case SOURCE_CLOCK:
		return rate_of(pperf_sums_cycles(t->sums, track->clock), length_ns);
	case SOURCE_TOPDOWN:
		return rounded(track, 100 * pperf_topdown_share(t->topdown, track->node));
	case SOURCE_COUNTER:
		return rate_of(pperf_sums_block(t->sums, track->counter, track->index), length_ns);
	case SOURCE_METRIC:
	case SOURCE_BLOCK_METRIC:
		return metric(t, track, length_ns);
	}
	return 0;
}
