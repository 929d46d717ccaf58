// SPDX-License-Identifier: MIT
/*
 * Perfetto's trace format: perfetto.proto.
 *
 * Every value that a sample has, and every one that follows from it, is a track
 * with a name of its own. Counts are rates, so that a long sample is not higher
 * than others. A value is a point at the sample's begin, which stands for the
 * time from there on (FORWARDS), until there is another; where nothing follows,
 * zeros end it. Each sample has a packet, if only to say where it begins: rate
 * times length is the count. One of no time is a part of the next, or has a
 * nanosecond where none follows.
 * Regions are slices on a track of their own, each from a mark to the next. What was counted in one is told at its
 * end, for until then it is not known; under the names that report's JSON has for it.
 * Counter ids are common to all producers of a trace, and traces are put behind
 * each other: ours begin where nobody else's are likely to be, nor those of
 * another trace of ours. So are those of blocks and groups, and so is the id of
 * our sequence of packets, which begins anew in each.
 */
#define _GNU_SOURCE
#include "perfetto.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "figures.h"
#include "perfetto.pb-c.h"
#include "slices.h"

typedef Pftrace__GpuCounterDescriptor__GpuCounterSpec Spec;
typedef Pftrace__GpuCounterDescriptor__GpuCounterBlock Block;
typedef Pftrace__GpuCounterDescriptor__GpuCounterGroupSpec Group;
typedef Pftrace__GpuCounterEvent__GpuCounter Value;
typedef Pftrace__DebugAnnotation Note;

/* Counter ids begin somewhere in 2^28 from here on, and are positive as signed numbers. */
#define FIRST_COUNTER_ID 0x10000000u
#define COUNTER_ID_BITS 28
#define SEQUENCE_ID 0x50505046u

/* Of the track of regions: a number that nobody else is likely to have, changed by the time of its first. */
#define REGIONS_UUID 0x5050524547494f4eull

/* enum TrackEvent.Type */
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

/* enum ClockSnapshot.Clock.BuiltinClocks */
#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_MONOTONIC 3
#define CLOCK_ID_MONOTONIC_RAW 5
#define CLOCK_ID_BOOTTIME 6

#define SEQ_INCREMENTAL_STATE_CLEARED 1
#define FORWARDS_LOOKING 2

/* enum GpuCounterDescriptor.GpuCounterGroup */
enum { UNCLASSIFIED, SYSTEM, VERTICES, FRAGMENTS, PRIMITIVES, MEMORY, COMPUTE, RAY_TRACING };

/* enum GpuCounterDescriptor.MeasureUnit */
enum { NONE = 0, BYTE = 7, HERTZ = 13, SECOND = 22, VERTEX = 25, PIXEL = 26, PERCENT = 37, PRIMITIVE = 38, INSTRUCTION = 40 };

/*
 * Packets are compressed together: so many bytes, or those of so much time, which is all that is missing in the
 * file if this program is killed.
 */
#define BATCH_BYTES (256u << 10)
#define BATCH_NS 1000000000ull

/* The levels of the top-down tree that are tracks. */
#define TOPDOWN_LEVELS 2

/* Notes at the end of a slice beside those of counters. */
#define MAX_OTHER_NOTES 16

/* Where tracks come from; each has a block in the descriptor, and those of block types one for each block. */
enum source { SOURCE_LOAD, SOURCE_CLOCK, SOURCE_TOPDOWN, SOURCE_METRIC, SOURCE_COUNTER, SOURCE_BLOCK_METRIC };

enum load { LOAD_OF_TIME, LOAD_OF_CYCLES, LOAD_FLAGS };

struct track {
	enum source source;
	char *name, *description;
	int group, unit, per;

	/* By source: an enum load, a clock, a node, a counter, and its block: position in a sample, type, number. */
	enum load load;
	enum pperf_clock clock;
	const struct pperf_topdown_node *node;
	const struct pperf_counter *counter;
	unsigned int block, type, index;
};

struct bytes {
	uint8_t *at;
	size_t size, room;
};

/* What is told of a slice: notes, some of which are made of others. */
struct notes {
	Note *list, **pointers;
	size_t count;
};

struct perfetto {
	FILE *file;
	const struct recording_head *head;
	struct pperf_db *db;
	struct pperf_sums *sums;

	/* NULL if the counters recorded are not enough for it. */
	struct pperf_topdown *topdown;

	struct track *tracks;
	size_t count, room;

	/* The latest value of each track, NAN before there is one; those that are to be written. */
	Value *values;
	Value **changed;
	size_t num_changed;

	/* Has the descriptor been written; where the last sample ended, 0 if there was none. */
	bool described;
	uint64_t end_ns;

	/* Number of the GPU, and id of the first counter. */
	int32_t gpu;
	uint32_t first_id;

	/* The sums are those of samples of no time that were not written, and end where the last one did. */
	bool held;
	/* The track of regions, 0 as long as there is none; does one last. */
	uint64_t regions;
	bool in_region;

	/* What is told of each: the first figures, and so many counters and metrics. */
	struct slices *slices;
	struct figures_source figures;
	const struct pperf_counter **counters;
	size_t num_counters;
	struct notes notes;

	/* Packets that are not written yet, how many samples are in them, and where they begin. */
	struct bytes batch;
	uint64_t batch_samples, batch_ns;

	/* The same compressed, and as it is written. */
	struct bytes compressed, out;

	/* Samples in what the file has taken. */
	uint64_t written;
};

/* Makes room for so many bytes more. */
static enum pperf_error reserve(struct bytes *bytes, size_t more)
{
	uint8_t *at;

	if (bytes->size + more <= bytes->room)
		return PPERF_OK;
	at = realloc(bytes->at, 2 * (bytes->size + more));
	if (!at)
		return PPERF_ERROR_NO_MEMORY;
	bytes->at = at;
	bytes->room = 2 * (bytes->size + more);
	return PPERF_OK;
}

/* A trace is a message with one field, the packet: traces in a row are one. */
static enum pperf_error append(struct bytes *bytes, Pftrace__TracePacket *packet)
{
	Pftrace__Trace trace = PFTRACE__TRACE__INIT;
	enum pperf_error error;

	trace.n_packet = 1;
	trace.packet = &packet;
	error = reserve(bytes, pftrace__trace__get_packed_size(&trace));
	if (!error)
		bytes->size += pftrace__trace__pack(&trace, bytes->at + bytes->size);
	return error;
}

/* Writes the packets that there are as one that has them all in it. */
static enum pperf_error write_batch(struct perfetto *p)
{
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	uLongf size = compressBound(p->batch.size);
	enum pperf_error error;

	if (!p->batch.size)
		return PPERF_OK;
	p->compressed.size = p->out.size = 0;
	error = reserve(&p->compressed, size);
	if (error)
		return error;
	if (compress(p->compressed.at, &size, p->batch.at, p->batch.size) != Z_OK)
		return PPERF_ERROR_NO_MEMORY;

	packet.has_compressed_packets = true;
	packet.compressed_packets.data = p->compressed.at;
	packet.compressed_packets.len = size;
	error = append(&p->out, &packet);
	if (error)
		return error;
	if (fwrite(p->out.at, 1, p->out.size, p->file) != p->out.size || fflush(p->file))
		return PPERF_ERROR_SYSTEM;
	p->written += p->batch_samples;
	p->batch.size = p->batch_samples = 0;
	return PPERF_OK;
}

static enum pperf_error add_packet(struct perfetto *p, Pftrace__TracePacket *packet)
{
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE_ID;
	return append(&p->batch, packet);
}

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
static struct track *add_track(struct perfetto *p, enum source source, char *name, char *description)
{
	struct track *tracks;

	if (p->count == p->room) {
		tracks = reallocarray(p->tracks, p->room + 64, sizeof(*tracks));
		if (tracks) {
			p->tracks = tracks;
			p->room += 64;
		}
	}
	if (p->count == p->room || !name || !description) {
		free(name);
		free(description);
		return NULL;
	}
	memset(&p->tracks[p->count], 0, sizeof(*p->tracks));
	p->tracks[p->count].source = source;
	p->tracks[p->count].name = name;
	p->tracks[p->count].description = description;
	return &p->tracks[p->count++];
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

/* Sets whether all is recorded that a function of the library adds to a selection. */
static enum pperf_error find_recorded(const struct perfetto *p,
				      void (*add_needs)(struct pperf_selection *selection), bool *recorded)
{
	struct pperf_selection *selection;
	const struct pperf_masks *need;
	unsigned int type, i;
	enum pperf_error error;

	error = pperf_selection_new(p->db, &p->head->gpu, &selection);
	if (error)
		return error;

	add_needs(selection);
	need = pperf_selection_masks(selection);
	*recorded = true;
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES / 64; i++)
			*recorded &= !(need->bits[type][i] & ~p->head->masks.bits[type][i]);
	pperf_selection_free(selection);
	return PPERF_OK;
}

static enum pperf_error add_load(struct perfetto *p)
{
	static const struct {
		const char *name, *description;
		int unit;
	} loads[] = {
		[LOAD_OF_TIME] = { "GPU load", "Part of the time in which the GPU was active", PERCENT },
		[LOAD_OF_CYCLES] = { "GPU load while powered",
				     "Part of the GPU's clock cycles in which it was active", PERCENT },
		[LOAD_FLAGS] = { "Sample flags", "1: counts may be missing, 2: the GPU failed, 4: the sample "
				 "covers several periods", NONE },
	};
	struct track *track;
	enum pperf_error error;
	unsigned int i;
	bool have;

	error = find_recorded(p, pperf_selection_need_load, &have);
	if (error)
		return error;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (i != LOAD_FLAGS && !have)
			continue;
		track = add_track(p, SOURCE_LOAD, strdup(loads[i].name), strdup(loads[i].description));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->load = i;
		track->group = SYSTEM;
		track->unit = loads[i].unit;
	}
	return PPERF_OK;
}

static enum pperf_error add_clocks(struct perfetto *p)
{
	struct track *track;
	unsigned int clock;

	for (clock = 0; clock < PPERF_CLOCKS; clock++) {
		if (!(p->head->gpu.clocks >> clock & 1))
			continue;
		track = add_track(p, SOURCE_CLOCK, text("Frequency: %s clock", pperf_clock_name(clock)),
				  strdup("Cycles a second in the mean over the sample; the clock stands still while the GPU sleeps"));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->clock = clock;
		track->group = SYSTEM;
		track->unit = HERTZ;
	}
	return PPERF_OK;
}

static enum pperf_error add_topdown(struct perfetto *p)
{
	const struct pperf_topdown_node *const *nodes;
	struct track *track;
	enum pperf_error error;
	size_t count, n;
	bool have;

	nodes = pperf_db_topdown(p->db, &count);
	if (!count)
		return PPERF_OK;

	error = find_recorded(p, pperf_selection_need_topdown, &have);
	if (error || !have)
		return error;

	error = pperf_topdown_new(p->db, &p->head->gpu, &p->topdown);
	if (error)
		return error;

	for (n = 0; n < count; n++) {
		if (nodes[n]->level < 1 || nodes[n]->level > TOPDOWN_LEVELS)
			continue;
		track = add_track(p, SOURCE_TOPDOWN,
				  nodes[n]->level == 1 ? text("Top-down: %s", nodes[n]->title) :
				  text("Top-down: %s: %s", nodes[n]->parent->title, nodes[n]->title),
				  text("An estimate. %s", nodes[n]->next ? nodes[n]->next : ""));
		if (!track)
			return PPERF_ERROR_NO_MEMORY;
		track->node = nodes[n];
		track->group = SYSTEM;
		track->unit = PERCENT;
	}
	return PPERF_OK;
}

static enum pperf_error add_metrics(struct perfetto *p)
{
	const struct pperf_counter *const *counters;
	struct track *track;
	size_t count, i;

	counters = pperf_db_counters(p->db, &count);
	for (i = 0; i < count; i++) {
		if (!counters[i]->equation || counters[i]->kind == PPERF_KIND_CONSTANT ||
		    !pperf_counter_in(p->db, counters[i], &p->head->masks) ||
		    !pperf_counter_exists(p->db, counters[i], &p->head->gpu))
			continue;
		track = add_track(p, SOURCE_METRIC, strdup(counters[i]->title),
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
static struct track *add_block_track(struct perfetto *p, enum source source, const struct pperf_counter *counter,
				     unsigned int block, unsigned int type, unsigned int index)
{
	bool alone = p->head->gpu.blocks[type] == 1;
	char *name = block_name(&p->head->gpu, type, index);
	struct track *track;

	if (!name)
		return NULL;
	track = add_track(p, source, alone ? strdup(counter->title) : text("%s: %s", name, counter->title),
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
static enum pperf_error add_block_metrics(struct perfetto *p, unsigned int block, unsigned int type,
					  unsigned int index)
{
	const struct pperf_counter *const *counters;
	size_t count, i;

	if (p->head->gpu.blocks[type] == 1)
		return PPERF_OK;

	counters = pperf_db_counters(p->db, &count);
	for (i = 0; i < count; i++) {
		if (counters[i]->equation && !strcmp(counters[i]->unit, "percent") &&
		    pperf_counter_block_type(p->db, counters[i]) == type &&
		    pperf_counter_in(p->db, counters[i], &p->head->masks) &&
		    !add_block_track(p, SOURCE_BLOCK_METRIC, counters[i], block, type, index))
			return PPERF_ERROR_NO_MEMORY;
	}
	return PPERF_OK;
}

static enum pperf_error add_counters(struct perfetto *p)
{
	const struct pperf_gpu_info *info = &p->head->gpu;
	unsigned int type, index, value, block = 0;
	enum pperf_error error;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = 0; index < info->blocks[type]; index++, block++) {
			for (value = PPERF_FIRST_COUNTER; value < info->values_per_block; value++)
				if ((p->head->masks.bits[type][value / 64] >> (value % 64) & 1) &&
				    !add_block_track(p, SOURCE_COUNTER, pperf_db_at(p->db, type, value), block, type,
						     index))
					return PPERF_ERROR_NO_MEMORY;
			error = add_block_metrics(p, block, type, index);
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
static enum pperf_error make_unique(struct perfetto *p)
{
	struct track **order = calloc(p->count, sizeof(*order)), *first;
	enum pperf_error error = PPERF_OK;
	char *name;
	size_t i;

	if (!order)
		return PPERF_ERROR_NO_MEMORY;
	for (i = 0; i < p->count; i++)
		order[i] = &p->tracks[i];
	qsort(order, p->count, sizeof(*order), by_name);

	for (first = order[0], i = 1; i < p->count && !error; i++) {
		if (strcmp(order[i]->name, first->name)) {
			first = order[i];
			continue;
		}
		name = text("%s [%zu]", first->name, (size_t)(order[i] - p->tracks));
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

/* By the name of its render node, of which the first is renderD128. */
static int32_t gpu_number(const char *node)
{
	const char *name = node ? strrchr(node, '/') : NULL;
	int minor;

	return name && sscanf(name, "/renderD%3d", &minor) == 1 && minor >= 128 ? minor - 128 : 0;
}

/* What slices have sums of: all counters that are recorded, and the metrics, as report has them. */
static enum pperf_error find_counters(struct perfetto *p)
{
	const struct pperf_gpu_info *info = &p->head->gpu;
	unsigned int type, value;
	size_t most = p->count, i;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		most += info->blocks[type] ? info->values_per_block : 0;
	p->counters = calloc(most, sizeof(*p->counters));
	p->notes.list = calloc(most + MAX_OTHER_NOTES, sizeof(*p->notes.list));
	p->notes.pointers = calloc(most + MAX_OTHER_NOTES, sizeof(*p->notes.pointers));
	if (!p->counters || !p->notes.list || !p->notes.pointers)
		return PPERF_ERROR_NO_MEMORY;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (value = PPERF_FIRST_COUNTER; info->blocks[type] && value < info->values_per_block; value++)
			if (p->head->masks.bits[type][value / 64] >> (value % 64) & 1)
				p->counters[p->num_counters++] = pperf_db_at(p->db, type, value);
	for (i = 0; i < p->count; i++)
		if (p->tracks[i].source == SOURCE_METRIC)
			p->counters[p->num_counters++] = p->tracks[i].counter;
	return PPERF_OK;
}

static slices_mark write_mark;

enum pperf_error perfetto_open(const struct recording_head *head, FILE *file, struct perfetto **perfetto)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	enum pperf_error error;
	size_t i;

	if (!p)
		return PPERF_ERROR_NO_MEMORY;
	p->head = head;
	p->file = file;

	/* Of an unknown layout counters have places. */
	error = pperf_db_open(head->set ? NULL : head->gpu.layout, &p->db);
	if (error == PPERF_ERROR_UNKNOWN)
		error = pperf_db_open(NULL, &p->db);
	if (!error)
		error = pperf_sums_new(p->db, &head->gpu, &p->sums);
	if (!error)
		error = add_load(p);
	if (!error)
		error = add_clocks(p);
	if (!error)
		error = add_topdown(p);
	if (!error)
		error = add_metrics(p);
	if (!error)
		error = add_counters(p);
	if (!error)
		error = make_unique(p);
	if (!error)
		error = find_counters(p);
	if (!error)
		error = slices_new(p->db, &head->gpu, write_mark, p, &p->slices);
	if (error)
		goto err;
	figures_find(&p->figures, p->db, &head->gpu);

	p->gpu = gpu_number(head->gpu.node);
	error = PPERF_ERROR_NO_MEMORY;
	p->values = calloc(p->count, sizeof(*p->values));
	p->changed = calloc(p->count, sizeof(*p->changed));
	if (!p->values || !p->changed)
		goto err;

	for (i = 0; i < p->count; i++) {
		pftrace__gpu_counter_event__gpu_counter__init(&p->values[i]);
		p->values[i].has_counter_id = true;
		p->values[i].has_double_value = true;
		p->values[i].double_value = NAN;
	}
	*perfetto = p;
	return PPERF_OK;

err:
	perfetto_close(p);
	return error;
}

void perfetto_close(struct perfetto *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->count; i++) {
		free(p->tracks[i].name);
		free(p->tracks[i].description);
	}
	slices_free(p->slices);
	free(p->counters);
	free(p->notes.list);
	free(p->notes.pointers);
	free(p->tracks);
	free(p->values);
	free(p->changed);
	free(p->batch.at);
	free(p->compressed.at);
	free(p->out.at);
	pperf_topdown_free(p->topdown);
	pperf_sums_free(p->sums);
	pperf_db_close(p->db);
	free(p);
}

enum pperf_error perfetto_add_clocks(struct perfetto *p, const struct recording_clocks *clocks)
{
	const struct {
		uint32_t id;
		uint64_t time;
	} times[] = {
		{ CLOCK_ID_MONOTONIC_RAW, clocks->monotonic_raw }, { CLOCK_ID_BOOTTIME, clocks->boottime },
		{ CLOCK_ID_REALTIME, clocks->realtime }, { CLOCK_ID_MONOTONIC, clocks->monotonic },
	};
	Pftrace__ClockSnapshot__Clock list[4], *pointers[4];
	Pftrace__ClockSnapshot snapshot = PFTRACE__CLOCK_SNAPSHOT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		pftrace__clock_snapshot__clock__init(&list[i]);
		list[i].has_clock_id = true;
		list[i].clock_id = times[i].id;
		list[i].has_timestamp = true;
		list[i].timestamp = times[i].time;
		pointers[i] = &list[i];
	}
	snapshot.n_clocks = 4;
	snapshot.clocks = pointers;
	packet.clock_snapshot = &snapshot;
	return add_packet(p, &packet);
}

static void fill_spec(Spec *spec, const struct track *track, uint32_t id)
{
	pftrace__gpu_counter_descriptor__gpu_counter_spec__init(spec);
	spec->has_counter_id = true;
	spec->counter_id = id;
	spec->name = track->name;
	spec->description = track->description;
	spec->has_value_direction = true;
	spec->value_direction = FORWARDS_LOOKING;
	spec->has_select_by_default = true;
	spec->select_by_default = track->source <= SOURCE_TOPDOWN;
	if (track->unit) {
		spec->n_numerator_units = 1;
		spec->numerator_units = (int32_t *)&track->unit;
	}
	if (track->per) {
		spec->n_denominator_units = 1;
		spec->denominator_units = (int32_t *)&track->per;
	}
	spec->n_groups = 1;
	spec->groups = (int32_t *)&track->group;
}

/* True if tracks that follow each other are shown together. */
static bool same_block(const struct track *a, const struct track *b)
{
	bool of_blocks = a->source >= SOURCE_COUNTER && b->source >= SOURCE_COUNTER;

	return of_blocks ? a->block == b->block : a->source == b->source;
}

static char *track_block_name(const struct perfetto *p, const struct track *track)
{
	static const char *const names[] = {
		[SOURCE_LOAD] = "GPU", [SOURCE_CLOCK] = "Clocks", [SOURCE_TOPDOWN] = "Top-down (estimate)", [SOURCE_METRIC] = "Metrics",
	};

	if (track->source < SOURCE_COUNTER)
		return strdup(names[track->source]);
	return block_name(&p->head->gpu, track->type, track->index);
}

/* Recordings that begin at different times, or are of different GPUs, have ids that lie apart. */
static void choose_ids(struct perfetto *p, uint64_t time)
{
	uint64_t hash = (time * 64 + p->gpu) * 0x9e3779b97f4a7c15ull;
	size_t i;

	p->first_id = FIRST_COUNTER_ID + (uint32_t)(hash >> (64 - COUNTER_ID_BITS));
	for (i = 0; i < p->count; i++)
		p->values[i].counter_id = p->first_id + i;
}

/* Tells of all tracks, in the first packet of ours that has values. */
static enum pperf_error describe(struct perfetto *p, uint64_t time)
{
	Pftrace__GpuCounterDescriptor descriptor = PFTRACE__GPU_COUNTER_DESCRIPTOR__INIT;
	Pftrace__GpuCounterEvent event = PFTRACE__GPU_COUNTER_EVENT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	Spec *specs = calloc(p->count, sizeof(*specs)), **spec_pointers = calloc(p->count, sizeof(*spec_pointers));
	Block *blocks = calloc(p->count, sizeof(*blocks)), **block_pointers = calloc(p->count, sizeof(*block_pointers));
	Group *groups = calloc(p->count, sizeof(*groups)), **group_pointers = calloc(p->count, sizeof(*group_pointers));
	uint32_t *ids = calloc(p->count, sizeof(*ids));
	enum pperf_error error = PPERF_ERROR_NO_MEMORY;
	size_t i, j, n = 0;

	if (!specs || !spec_pointers || !blocks || !block_pointers || !groups || !group_pointers || !ids)
		goto out;

	choose_ids(p, time);
	for (i = 0; i < p->count; i++) {
		ids[i] = p->first_id + i;
		fill_spec(&specs[i], &p->tracks[i], ids[i]);
		spec_pointers[i] = &specs[i];
	}

	for (i = 0; i < p->count; i = j, n++) {
		for (j = i + 1; j < p->count && same_block(&p->tracks[i], &p->tracks[j]); j++)
			;
		pftrace__gpu_counter_descriptor__gpu_counter_block__init(&blocks[n]);
		blocks[n].has_block_id = true;
		blocks[n].block_id = ids[i];
		blocks[n].has_block_capacity = true;
		blocks[n].block_capacity = j - i;
		blocks[n].n_counter_ids = j - i;
		blocks[n].counter_ids = &ids[i];
		blocks[n].name = track_block_name(p, &p->tracks[i]);
		if (!blocks[n].name)
			goto out;
		block_pointers[n] = &blocks[n];

		/* The same for readers that show groups. */
		pftrace__gpu_counter_descriptor__gpu_counter_group_spec__init(&groups[n]);
		groups[n].has_group_id = true;
		groups[n].group_id = ids[i];
		groups[n].name = blocks[n].name;
		groups[n].n_counter_ids = j - i;
		groups[n].counter_ids = &ids[i];
		group_pointers[n] = &groups[n];
	}

	descriptor.n_specs = p->count;
	descriptor.specs = spec_pointers;
	descriptor.n_blocks = n;
	descriptor.blocks = block_pointers;
	descriptor.n_counter_groups = n;
	descriptor.counter_groups = group_pointers;
	if (p->head->gpu.min_period_ns) {
		descriptor.has_min_sampling_period_ns = true;
		descriptor.min_sampling_period_ns = p->head->gpu.min_period_ns;
	}

	event.counter_descriptor = &descriptor;
	event.has_gpu_id = true;
	event.gpu_id = p->gpu;
	packet.gpu_counter_event = &event;
	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = CLOCK_ID_MONOTONIC_RAW;
	packet.has_sequence_flags = true;
	packet.sequence_flags = SEQ_INCREMENTAL_STATE_CLEARED;
	error = add_packet(p, &packet);
	p->described = true;
out:
	for (i = 0; blocks && i < p->count; i++)
		free(blocks[i].name);
	free(specs);
	free(spec_pointers);
	free(blocks);
	free(block_pointers);
	free(groups);
	free(group_pointers);
	free(ids);
	return error;
}

static enum pperf_error write_values(struct perfetto *p, uint64_t time)
{
	Pftrace__GpuCounterEvent event = PFTRACE__GPU_COUNTER_EVENT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;

	event.n_counters = p->num_changed;
	event.counters = p->changed;
	p->num_changed = 0;
	event.has_gpu_id = true;
	event.gpu_id = p->gpu;
	packet.gpu_counter_event = &event;
	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = CLOCK_ID_MONOTONIC_RAW;
	return add_packet(p, &packet);
}

/* ---- What is told of a slice ---- */

static Note *add_note(struct notes *notes, const char *name)
{
	Note *note = &notes->list[notes->count];

	pftrace__debug_annotation__init(note);
	note->name = (char *)name;
	notes->pointers[notes->count++] = note;
	return note;
}

static void note_count(struct notes *notes, const char *name, uint64_t count)
{
	Note *note = add_note(notes, name);

	note->has_uint_value = true;
	note->uint_value = count;
}

/* Nothing, if there is no such number. */
static void note_number(struct notes *notes, const char *name, double number)
{
	Note *note;

	if (!isfinite(number))
		return;
	note = add_note(notes, name);
	note->has_double_value = true;
	note->double_value = number;
}

/* Puts the notes from the first on, if there are any, into one of this name, which is added to a list. */
static size_t wrap_notes(struct notes *notes, size_t first, const char *name, Note **list, size_t count)
{
	size_t inside = notes->count - first;

	if (!inside)
		return count;
	list[count] = add_note(notes, name);
	list[count]->n_dict_entries = inside;
	list[count]->dict_entries = &notes->pointers[first];
	return count + 1;
}

static void note_counters(struct perfetto *p, const struct pperf_sums *sums)
{
	const struct pperf_counter *counter;
	double value;
	size_t i;

	for (i = 0; i < p->num_counters; i++) {
		counter = p->counters[i];
		if (!counter->equation)
			note_count(&p->notes, counter->name, pperf_sums_total(sums, counter));
		else if (!pperf_sums_value(sums, counter, &value))
			note_number(&p->notes, counter->name, value);
	}
}

/* Of a slice that is shorter than a sample nothing more is known than that. Returns how many are in the list. */
static size_t note_sums(struct perfetto *p, const struct pperf_sums *sums, Note *list[MAX_OTHER_NOTES])
{
	bool missing = pperf_sums_flags(sums) & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR);
	struct figures f = figures_of(&p->figures, sums);
	struct notes *notes = &p->notes;
	size_t first, count = 0;

	notes->count = 0;
	note_count(notes, "samples", pperf_sums_samples(sums));
	list[count++] = notes->pointers[0];
	if (!pperf_sums_samples(sums))
		return count;

	note_number(notes, "sampled_seconds", pperf_sums_seconds(sums));
	list[count++] = notes->pointers[1];
	if (missing) {
		list[count] = add_note(notes, "missing");
		list[count]->has_bool_value = true;
		list[count++]->bool_value = true;
	}
	first = notes->count;
	if (f.has_load) {
		note_number(notes, "of_time", f.load.of_time);
		note_number(notes, "of_cycles", f.load.of_cycles);
		note_number(notes, "active_hz", f.hz);
	}
	count = wrap_notes(notes, first, "load", list, count);
	first = notes->count;
	note_number(notes, "read", f.read);
	note_number(notes, "written", f.written);
	count = wrap_notes(notes, first, "bandwidth", list, count);
	first = notes->count;
	note_counters(p, sums);
	return wrap_notes(notes, first, "counters", list, count);
}

/* Name: of a region that begins; NULL for the end of one, whose sums are not known if they are NULL. */
static enum pperf_error write_slice(struct perfetto *p, uint64_t time, const char *name, const struct pperf_sums *sums)
{
	Pftrace__TrackEvent event = PFTRACE__TRACK_EVENT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	Note *list[MAX_OTHER_NOTES];

	event.has_type = true;
	event.type = name ? SLICE_BEGIN : SLICE_END;
	event.has_track_uuid = true;
	event.track_uuid = p->regions;
	event.name = (char *)name;
	if (sums) {
		event.n_debug_annotations = note_sums(p, sums, list);
		event.debug_annotations = list;
	}
	packet.track_event = &event;
	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = CLOCK_ID_MONOTONIC_RAW;
	p->in_region = name;
	return add_packet(p, &packet);
}

static enum pperf_error describe_regions(struct perfetto *p, uint64_t time)
{
	Pftrace__TrackDescriptor track = PFTRACE__TRACK_DESCRIPTOR__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;

	p->regions = REGIONS_UUID ^ time;
	track.has_uuid = true;
	track.uuid = p->regions;
	track.name = (char *)"GPU regions";
	packet.track_descriptor = &track;
	return add_packet(p, &packet);
}

/* For slices, which know what lies before a mark. */
static enum pperf_error write_mark(void *context, const struct recording_mark *mark, const struct pperf_sums *sums)
{
	enum pperf_error error = PPERF_OK;
	struct perfetto *p = context;

	if (!p->regions)
		error = describe_regions(p, mark->time_ns);
	if (!error && p->in_region)
		error = write_slice(p, mark->time_ns, NULL, sums);
	if (!error && *mark->name)
		error = write_slice(p, mark->time_ns, mark->name, NULL);
	if (error || p->batch.size < BATCH_BYTES)
		return error;
	return write_batch(p);
}

enum pperf_error perfetto_add_mark(struct perfetto *p, const struct recording_mark *mark)
{
	return slices_add_mark(p->slices, mark);
}

/* What a track has already is not written again. */
static void set_value(struct perfetto *p, size_t i, double number)
{
	Value *value = &p->values[i];

	if (value->double_value == number)
		return;
	value->double_value = number;
	p->changed[p->num_changed++] = value;
}

/* Digits that say nothing are zeros, which take no room when they are compressed: these are multiples of a power of 2. */
static double multiple_of(double number, int exponent)
{
	return ldexp(nearbyint(ldexp(number, -exponent)), exponent);
}

/* Near enough to tell the count: to an eighth of it. */
static double rate_of(uint64_t count, uint64_t length_ns)
{
	double one = 1e9 / length_ns;

	return multiple_of(count * one, ilogb(one) - 2);
}

/* Parts in percent are shown to a hundredth, all else to six digits. */
static double rounded(const struct track *track, double number)
{
	if (track->unit == PERCENT && !track->per)
		return multiple_of(number, -7);
	return number ? multiple_of(number, ilogb(number) - 20) : 0;
}

/* Ends what the last sample's values stand for. */
static enum pperf_error write_zeros(struct perfetto *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		set_value(p, i, 0);
	return write_values(p, p->end_ns);
}

/* What a metric says: counts are rates, and a ratio of nothing is shown as 0. */
static double metric(const struct perfetto *p, const struct track *track, uint64_t length_ns)
{
	double number = 0;
	enum pperf_error error = track->source == SOURCE_METRIC ?
		pperf_sums_value(p->sums, track->counter, &number) :
		pperf_sums_block_value(p->sums, track->counter, track->index, &number);

	if (error)
		return 0;
	if (track->counter->kind == PPERF_KIND_COUNT)
		number *= 1e9 / length_ns;
	return rounded(track, number);
}

/* Of what the sums have, as that of so much time. */
static double value_of(const struct perfetto *p, const struct track *track, uint64_t length_ns,
		       const struct pperf_load *load)
{
	switch (track->source) {
	case SOURCE_LOAD:
		if (track->load == LOAD_FLAGS)
			return pperf_sums_flags(p->sums);
		return rounded(track, 100 * (track->load == LOAD_OF_TIME ? load->of_time : load->of_cycles));
	case SOURCE_CLOCK:
		return rate_of(pperf_sums_cycles(p->sums, track->clock), length_ns);
	case SOURCE_TOPDOWN:
		return rounded(track, 100 * pperf_topdown_share(p->topdown, track->node));
	case SOURCE_COUNTER:
		return rate_of(pperf_sums_block(p->sums, track->counter, track->index), length_ns);
	case SOURCE_METRIC:
	case SOURCE_BLOCK_METRIC:
		return metric(p, track, length_ns);
	}
	return 0;
}

/* Writes what the sums have, from a time to where the next sample begins. */
static enum pperf_error write_sums(struct perfetto *p, uint64_t start_ns, uint64_t end_ns)
{
	struct pperf_load load = {};
	size_t i;

	/* Without the count of active cycles it stays 0, and has no track. */
	pperf_sums_load(p->sums, &load, sizeof(load));
	for (i = 0; i < p->count; i++)
		set_value(p, i, value_of(p, &p->tracks[i], end_ns - start_ns, &load));
	p->end_ns = end_ns;
	p->held = false;
	return write_values(p, start_ns);
}

/* Ends the last sample where nothing is counted behind it. */
static enum pperf_error write_end(struct perfetto *p)
{
	enum pperf_error error = p->held ? write_sums(p, p->end_ns, p->end_ns + 1) : PPERF_OK;

	return error || !p->end_ns ? error : write_zeros(p);
}

static enum pperf_error add_up(struct perfetto *p, const struct pperf_sample *sample)
{
	enum pperf_error error;

	if (!p->held) {
		pperf_sums_reset(p->sums);
		if (p->topdown)
			pperf_topdown_reset(p->topdown);
	}
	error = pperf_sums_add(p->sums, sample);
	if (!error && p->topdown)
		error = pperf_topdown_add(p->topdown, sample);
	/* Counts that no GPU could have made are shown as nothing. */
	return error == PPERF_ERROR_NO_VALUE ? PPERF_OK : error;
}

enum pperf_error perfetto_add_sample(struct perfetto *p, const struct pperf_sample *sample)
{
	enum pperf_error error = PPERF_OK;

	if (!p->described)
		error = describe(p, sample->start_ns);
	if (!error && sample->start_ns > p->end_ns)
		error = write_end(p);
	if (!error)
		error = add_up(p, sample);
	if (!error)
		error = slices_add_sample(p->slices, sample);
	if (error)
		return error;

	if (sample->end_ns > sample->start_ns) {
		error = write_sums(p, sample->start_ns, sample->end_ns);
	} else {
		p->end_ns = sample->end_ns;
		p->held = true;
	}
	if (error)
		return error;

	if (!p->batch_samples++)
		p->batch_ns = sample->start_ns;
	if (p->batch.size < BATCH_BYTES && sample->end_ns - p->batch_ns < BATCH_NS)
		return PPERF_OK;
	return write_batch(p);
}

enum pperf_error perfetto_end(struct perfetto *p)
{
	enum pperf_error error = write_end(p);

	if (!error)
		error = slices_end(p->slices);
	p->end_ns = 0;
	return error ? error : write_batch(p);
}

uint64_t perfetto_written(const struct perfetto *p)
{
	return p->written;
}

enum recording_item perfetto_convert(struct recording *recording, FILE *file, enum pperf_error *error,
				     uint64_t *written)
{
	enum recording_item item;
	struct perfetto *p;

	*error = perfetto_open(&recording->head, file, &p);
	if (*error)
		return RECORDING_BROKEN;

	do {
		item = recording_next(recording);
		if (item == RECORDING_SAMPLE)
			*error = perfetto_add_sample(p, &recording->sample);
		else if (item == RECORDING_MARK)
			*error = perfetto_add_mark(p, &recording->mark);
		else if (item == RECORDING_CLOCKS)
			*error = perfetto_add_clocks(p, &recording->clocks);
	} while (!*error && item <= RECORDING_CLOCKS);

	if (!*error)
		*error = perfetto_end(p);
	if (written)
		*written = perfetto_written(p);
	perfetto_close(p);
	return item;
}
