// SPDX-License-Identifier: MIT
/*
 * Counter ids are common to all producers of a trace, and traces are put behind
 * each other: ours begin where nobody else's are likely to be, nor those of
 * another trace of ours. So are those of blocks and groups.
 */
#include "packets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef Pftrace__GpuCounterDescriptor__GpuCounterSpec Spec;
typedef Pftrace__GpuCounterDescriptor__GpuCounterBlock Block;
typedef Pftrace__GpuCounterDescriptor__GpuCounterGroupSpec Group;
typedef Pftrace__GpuCounterEvent__GpuCounter Value;

/* Counter ids begin somewhere in 2^28 from here on, and are positive as signed numbers. */
#define FIRST_COUNTER_ID 0x10000000u
#define COUNTER_ID_BITS 28

/* enum ClockSnapshot.Clock.BuiltinClocks, the others. */
#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_MONOTONIC 3
#define CLOCK_ID_BOOTTIME 6

#define SEQ_INCREMENTAL_STATE_CLEARED 1
#define FORWARDS_LOOKING 2

struct packets {
	struct tracks tracks;
	packets_write *write;
	void *context;

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
};

/* By the name of its render node, of which the first is renderD128. */
static int32_t gpu_number(const char *node)
{
	const char *name = node ? strrchr(node, '/') : NULL;
	int minor;

	return name && sscanf(name, "/renderD%3d", &minor) == 1 && minor >= 128 ? minor - 128 : 0;
}

enum pperf_error packets_open(const struct recording_head *head, packets_write *write, void *context,
			      struct packets **packets)
{
	struct packets *p = calloc(1, sizeof(*p));
	enum pperf_error error;
	size_t i;

	if (!p)
		return PPERF_ERROR_NO_MEMORY;
	p->write = write;
	p->context = context;
	p->gpu = gpu_number(head->gpu.node);

	error = tracks_open(&p->tracks, head);
	if (error)
		goto err;
	error = PPERF_ERROR_NO_MEMORY;
	p->values = calloc(p->tracks.count, sizeof(*p->values));
	p->changed = calloc(p->tracks.count, sizeof(*p->changed));
	if (!p->values || !p->changed)
		goto err;

	for (i = 0; i < p->tracks.count; i++) {
		pftrace__gpu_counter_event__gpu_counter__init(&p->values[i]);
		p->values[i].has_counter_id = true;
		p->values[i].has_double_value = true;
		p->values[i].double_value = NAN;
	}
	*packets = p;
	return PPERF_OK;

err:
	packets_close(p);
	return error;
}

void packets_close(struct packets *p)
{
	if (!p)
		return;
	tracks_close(&p->tracks);
	free(p->values);
	free(p->changed);
	free(p);
}

const struct tracks *packets_tracks(const struct packets *p)
{
	return &p->tracks;
}

enum pperf_error packets_add_clocks(struct packets *p, const struct recording_clocks *clocks)
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
	return p->write(p->context, &packet);
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

/* Recordings that begin at different times, or are of different GPUs, have ids that lie apart. */
static void choose_ids(struct packets *p, uint64_t time)
{
	uint64_t hash = (time * 64 + p->gpu) * 0x9e3779b97f4a7c15ull;
	size_t i;

	p->first_id = FIRST_COUNTER_ID + (uint32_t)(hash >> (64 - COUNTER_ID_BITS));
	for (i = 0; i < p->tracks.count; i++)
		p->values[i].counter_id = p->first_id + i;
}

/* Tells of all tracks, in the first packet of ours that has values. */
static enum pperf_error describe(struct packets *p, uint64_t time)
{
	Pftrace__GpuCounterDescriptor descriptor = PFTRACE__GPU_COUNTER_DESCRIPTOR__INIT;
	Pftrace__GpuCounterEvent event = PFTRACE__GPU_COUNTER_EVENT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	Spec *specs = calloc(p->tracks.count, sizeof(*specs)), **spec_pointers = calloc(p->tracks.count, sizeof(*spec_pointers));
	Block *blocks = calloc(p->tracks.count, sizeof(*blocks)), **block_pointers = calloc(p->tracks.count, sizeof(*block_pointers));
	Group *groups = calloc(p->tracks.count, sizeof(*groups)), **group_pointers = calloc(p->tracks.count, sizeof(*group_pointers));
	uint32_t *ids = calloc(p->tracks.count, sizeof(*ids));
	enum pperf_error error = PPERF_ERROR_NO_MEMORY;
	size_t i, j, n = 0;

	if (!specs || !spec_pointers || !blocks || !block_pointers || !groups || !group_pointers || !ids)
		goto out;

	choose_ids(p, time);
	for (i = 0; i < p->tracks.count; i++) {
		ids[i] = p->first_id + i;
		fill_spec(&specs[i], &p->tracks.list[i], ids[i]);
		spec_pointers[i] = &specs[i];
	}

	for (i = 0; i < p->tracks.count; i = j, n++) {
		for (j = i + 1; j < p->tracks.count && tracks_same_block(&p->tracks.list[i], &p->tracks.list[j]); j++)
			;
		pftrace__gpu_counter_descriptor__gpu_counter_block__init(&blocks[n]);
		blocks[n].has_block_id = true;
		blocks[n].block_id = ids[i];
		blocks[n].has_block_capacity = true;
		blocks[n].block_capacity = j - i;
		blocks[n].n_counter_ids = j - i;
		blocks[n].counter_ids = &ids[i];
		blocks[n].name = tracks_block_name(&p->tracks, &p->tracks.list[i]);
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

	descriptor.n_specs = p->tracks.count;
	descriptor.specs = spec_pointers;
	descriptor.n_blocks = n;
	descriptor.blocks = block_pointers;
	descriptor.n_counter_groups = n;
	descriptor.counter_groups = group_pointers;
	if (p->tracks.gpu->min_period_ns) {
		descriptor.has_min_sampling_period_ns = true;
		descriptor.min_sampling_period_ns = p->tracks.gpu->min_period_ns;
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
	error = p->write(p->context, &packet);
	p->described = true;
out:
	for (i = 0; blocks && i < p->tracks.count; i++)
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

static enum pperf_error write_values(struct packets *p, uint64_t time)
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
	return p->write(p->context, &packet);
}

/* What a track has already is not written again. */
static void set_value(struct packets *p, size_t i, double number)
{
	Value *value = &p->values[i];

	if (value->double_value == number)
		return;
	value->double_value = number;
	p->changed[p->num_changed++] = value;
}

/* Ends what the last sample's values stand for. */
static enum pperf_error write_zeros(struct packets *p)
{
	size_t i;

	for (i = 0; i < p->tracks.count; i++)
		set_value(p, i, 0);
	return write_values(p, p->end_ns);
}

/* Writes what the sums have, from a time to where the next sample begins. */
static enum pperf_error write_sums(struct packets *p, uint64_t start_ns, uint64_t end_ns)
{
	struct pperf_load load = {};
	size_t i;

	/* Without the count of active cycles it stays 0, and has no track. */
	pperf_sums_load(p->tracks.sums, &load, sizeof(load));
	for (i = 0; i < p->tracks.count; i++)
		set_value(p, i, tracks_value(&p->tracks, &p->tracks.list[i], end_ns - start_ns, &load));
	p->end_ns = end_ns;
	p->held = false;
	return write_values(p, start_ns);
}

/* Ends the last sample where nothing is counted behind it. */
static enum pperf_error write_end(struct packets *p)
{
	enum pperf_error error = p->held ? write_sums(p, p->end_ns, p->end_ns + 1) : PPERF_OK;

	return error || !p->end_ns ? error : write_zeros(p);
}

static enum pperf_error add_up(struct packets *p, const struct pperf_sample *sample)
{
	if (!p->held)
		tracks_reset(&p->tracks);
	return tracks_add(&p->tracks, sample);
}

enum pperf_error packets_add_sample(struct packets *p, const struct pperf_sample *sample)
{
	enum pperf_error error = PPERF_OK;

	if (!p->described)
		error = describe(p, sample->start_ns);
	if (!error && sample->start_ns > p->end_ns)
		error = write_end(p);
	if (!error)
		error = add_up(p, sample);
	if (error)
		return error;

	if (sample->end_ns > sample->start_ns)
		return write_sums(p, sample->start_ns, sample->end_ns);
	p->end_ns = sample->end_ns;
	p->held = true;
	return PPERF_OK;
}

enum pperf_error packets_end(struct packets *p)
{
	enum pperf_error error = write_end(p);

	p->end_ns = 0;
	return error;
}
