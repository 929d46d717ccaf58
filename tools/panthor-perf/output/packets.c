// SPDX-License-Identifier: MIT
/*
 * Counter ids of a file are common to all producers of a trace, and traces are put behind
 * each other: ours begin where nobody else's are likely to be, nor those of
 * another trace of ours. So are those of blocks and groups.
 */
#include "packets.h"

#include <endian.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef Pftrace__GpuCounterDescriptor__GpuCounterSpec Spec;
typedef Pftrace__GpuCounterDescriptor__GpuCounterBlock Block;
typedef Pftrace__GpuCounterDescriptor__GpuCounterGroupSpec Group;

/* Counter ids begin somewhere in 2^28 from here on, and are positive as signed numbers. */
#define FIRST_COUNTER_ID 0x10000000u
#define COUNTER_ID_BITS 28

/* enum ClockSnapshot.Clock.BuiltinClocks, the others. */
#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_MONOTONIC 3
#define CLOCK_ID_BOOTTIME 6

/* enum TracePacket.SequenceFlags */
#define SEQ_INCREMENTAL_STATE_CLEARED 1
#define SEQ_NEEDS_INCREMENTAL_STATE 2

/* enum GpuCounterDescriptor.GpuCounterSpec.ValueDirection */
#define FORWARDS_LOOKING 2

/* A clock of a sequence's own, from 64 to 127: that of samples. */
#define CLOCK_ID_OWN 64

/* The one descriptor of a sequence. */
#define DESCRIPTOR_IID 1

/* Render nodes have three digits, and the first is 128. */
#define MAX_GPUS (1000 - 128)

/* Tags on the wire of GpuCounterEvent.counters and GpuCounter.double_value. */
#define COUNTERS (2 << 3 | 2)
#define DOUBLE_VALUE (3 << 3 | 1)

/* Bytes of a packed counter: its tag and length, the tag of its value, the value, and at most 6 of its id. */
#define VALUE_AT 3
#define ID_AT (VALUE_AT + sizeof(double))
#define COUNTER_SIZE (ID_AT + 6)

/* Bytes of a packed event without descriptor and values, at most: a GPU, which is not negative, and an id. */
#define EVENT_SIZE (6 + 11)

/*
 * The latest value of a track, and the same as a packed counter. The value is packed before the id: all bytes between the
 * digits of two values then repeat in every event, which makes a compressed trace 4 % smaller.
 */
struct value {
	double number;
	uint8_t packed[COUNTER_SIZE];
	size_t size;
};

struct packets {
	struct tracks tracks;
	packets_write *write;
	void *context;

	/* Of each track; NAN before there is a value. */
	struct value *values;

	/* A GpuCounterEvent with the values that are to be written, and room for all of them. */
	uint8_t *changed;
	size_t changed_size;

	/* True for a data source, which shares a trace with others: what it refers to is told on its own sequence. */
	bool live;

	/* Has the descriptor been written; where the last sample ended, 0 if there was none. */
	bool described;
	uint64_t end_ns;

	/* Number of the GPU, and id of the first counter: 0 if it is not chosen. */
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
	p->changed = malloc(p->tracks.count * COUNTER_SIZE + EVENT_SIZE);
	if (!p->values || !p->changed)
		goto err;
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

struct tracks *packets_tracks(struct packets *p)
{
	return &p->tracks;
}

/* The clock of samples. */
static uint32_t own_clock(const struct packets *p)
{
	return p->live ? CLOCK_ID_OWN : CLOCK_ID_MONOTONIC_RAW;
}

enum pperf_error packets_add_clocks(struct packets *p, const struct clocks *clocks)
{
	const struct {
		uint32_t id;
		uint64_t time;
	} times[] = {
		{ own_clock(p), clocks->monotonic_raw }, { CLOCK_ID_BOOTTIME, clocks->boottime },
		{ CLOCK_ID_REALTIME, clocks->realtime }, { CLOCK_ID_MONOTONIC, clocks->monotonic },
	};
	Pftrace__ClockSnapshot__Clock list[4], *pointers[4];
	Pftrace__ClockSnapshot snapshot = PFTRACE__CLOCK_SNAPSHOT__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	/* A trace that is shared compares the others by itself: two who did would seem to go back in time. */
	unsigned int count = p->live ? 2 : 4, i;

	for (i = 0; i < count; i++) {
		pftrace__clock_snapshot__clock__init(&list[i]);
		list[i].has_clock_id = true;
		list[i].clock_id = times[i].id;
		list[i].has_timestamp = true;
		list[i].timestamp = times[i].time;
		pointers[i] = &list[i];
	}
	snapshot.n_clocks = count;
	snapshot.clocks = pointers;
	packet.clock_snapshot = &snapshot;
	return p->write(p->context, &packet);
}

static bool selected_by_default(const struct track *track)
{
	return track->source <= SOURCE_TOPDOWN;
}

/* Recordings that begin at different times, or are of different GPUs, have ids that lie apart. */
static uint32_t choose_ids(const struct packets *p, uint64_t time)
{
	uint64_t hash = (time * 64 + p->gpu) * 0x9e3779b97f4a7c15ull;

	return FIRST_COUNTER_ID + (uint32_t)(hash >> (64 - COUNTER_ID_BITS));
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
	spec->select_by_default = selected_by_default(track);
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

/* What is told of all tracks that are wanted. */
struct description {
	Pftrace__GpuCounterDescriptor descriptor;
	Spec *specs, **spec_pointers;
	Block *blocks, **block_pointers;
	Group *groups, **group_pointers;
	uint32_t *ids;
};

static void free_description(struct description *d)
{
	size_t i;

	for (i = 0; i < d->descriptor.n_blocks; i++)
		free(d->blocks[i].name);
	free(d->specs);
	free(d->spec_pointers);
	free(d->blocks);
	free(d->block_pointers);
	free(d->groups);
	free(d->group_pointers);
	free(d->ids);
}

/* Begins a block, of which more counters may follow. */
static enum pperf_error add_block(const struct packets *p, struct description *d, const struct track *track,
				  uint32_t *ids)
{
	Block *block = &d->blocks[d->descriptor.n_blocks];
	Group *group = &d->groups[d->descriptor.n_blocks];

	pftrace__gpu_counter_descriptor__gpu_counter_block__init(block);
	block->has_block_id = true;
	block->block_id = *ids;
	block->has_block_capacity = true;
	block->counter_ids = ids;
	block->name = tracks_block_name(&p->tracks, track);
	if (!block->name)
		return PPERF_ERROR_NO_MEMORY;
	d->block_pointers[d->descriptor.n_blocks++] = block;

	/* The same for readers that show groups. */
	pftrace__gpu_counter_descriptor__gpu_counter_group_spec__init(group);
	group->has_group_id = true;
	group->group_id = *ids;
	group->name = block->name;
	group->counter_ids = ids;
	d->group_pointers[d->descriptor.n_counter_groups++] = group;
	return PPERF_OK;
}

/* free_description() must be called in any case. */
static enum pperf_error make_description(const struct packets *p, struct description *d)
{
	size_t count = p->tracks.count, i, n = 0;
	const struct track *last = NULL, *track;
	enum pperf_error error = PPERF_OK;

	*d = (struct description) {
		.descriptor = PFTRACE__GPU_COUNTER_DESCRIPTOR__INIT,
		.specs = calloc(count, sizeof(*d->specs)),
		.spec_pointers = calloc(count, sizeof(*d->spec_pointers)),
		.blocks = calloc(count, sizeof(*d->blocks)),
		.block_pointers = calloc(count, sizeof(*d->block_pointers)),
		.groups = calloc(count, sizeof(*d->groups)),
		.group_pointers = calloc(count, sizeof(*d->group_pointers)),
		.ids = calloc(count, sizeof(*d->ids)),
	};
	if (!d->specs || !d->spec_pointers || !d->blocks || !d->block_pointers || !d->groups || !d->group_pointers ||
	    !d->ids)
		return PPERF_ERROR_NO_MEMORY;

	for (i = 0; i < count && !error; i++) {
		track = &p->tracks.list[i];
		if (!track->wanted)
			continue;
		d->ids[n] = p->first_id + i;
		fill_spec(&d->specs[n], track, d->ids[n]);
		d->spec_pointers[n] = &d->specs[n];
		if (!last || !tracks_same_block(last, track))
			error = add_block(p, d, track, &d->ids[n]);
		if (!error) {
			d->blocks[d->descriptor.n_blocks - 1].block_capacity++;
			d->blocks[d->descriptor.n_blocks - 1].n_counter_ids++;
			d->groups[d->descriptor.n_blocks - 1].n_counter_ids++;
		}
		last = track;
		n++;
	}

	d->descriptor.n_specs = n;
	d->descriptor.specs = d->spec_pointers;
	d->descriptor.blocks = d->block_pointers;
	d->descriptor.counter_groups = d->group_pointers;
	if (p->tracks.gpu->min_period_ns) {
		d->descriptor.has_min_sampling_period_ns = true;
		d->descriptor.min_sampling_period_ns = p->tracks.gpu->min_period_ns;
	}
	return error;
}

/* Names the GPU, at its number: those before it are not known of. */
static enum pperf_error write_gpu(struct packets *p)
{
	Pftrace__GpuInfo info = PFTRACE__GPU_INFO__INIT;
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	Pftrace__GpuInfo__Gpu gpu = PFTRACE__GPU_INFO__GPU__INIT, unknown = gpu, *gpus[MAX_GPUS];
	int32_t i;

	for (i = 0; i < p->gpu; i++)
		gpus[i] = &unknown;
	gpus[i] = &gpu;
	gpu.name = (char *)p->tracks.gpu->name;
	gpu.vendor = (char *)"Arm";
	info.n_gpus = p->gpu + 1;
	info.gpus = gpus;
	packet.gpu_info = &info;
	return p->write(p->context, &packet);
}

/* Writes a packed event, with the data, if any, that it refers to. */
static enum pperf_error write_event(struct packets *p, uint8_t *bytes, size_t size, Pftrace__InternedData *data,
				    uint64_t time, uint32_t flags)
{
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;

	packet.interned_data = data;
	packet.has_gpu_counter_event = true;
	packet.gpu_counter_event.data = bytes;
	packet.gpu_counter_event.len = size;
	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = own_clock(p);
	packet.has_sequence_flags = true;
	packet.sequence_flags = flags;
	return p->write(p->context, &packet);
}

/* What every event of this source says. */
static Pftrace__GpuCounterEvent empty_event(const struct packets *p)
{
	Pftrace__GpuCounterEvent event = PFTRACE__GPU_COUNTER_EVENT__INIT;

	event.has_counter_descriptor_iid = p->live;
	event.counter_descriptor_iid = DESCRIPTOR_IID;
	event.has_gpu_id = true;
	event.gpu_id = p->gpu;
	return event;
}

/* Forgets the values of all tracks, which have these ids from here on. */
static void reset_values(struct packets *p)
{
	Pftrace__GpuCounterEvent__GpuCounter id = PFTRACE__GPU_COUNTER_EVENT__GPU_COUNTER__INIT;
	size_t i;

	id.has_counter_id = true;
	for (i = 0; i < p->tracks.count; i++) {
		struct value *value = &p->values[i];

		id.counter_id = p->first_id + i;
		value->number = NAN;
		value->size = ID_AT + protobuf_c_message_pack(&id.base, value->packed + ID_AT);
		value->packed[0] = COUNTERS;
		value->packed[1] = value->size - 2;
		value->packed[2] = DOUBLE_VALUE;
	}
}

/* Tells of all tracks, in the first packet that has values. */
static enum pperf_error describe(struct packets *p, uint64_t time)
{
	Pftrace__InternedGpuCounterDescriptor interned = PFTRACE__INTERNED_GPU_COUNTER_DESCRIPTOR__INIT, *list = &interned;
	Pftrace__InternedData data = PFTRACE__INTERNED_DATA__INIT;
	Pftrace__GpuCounterEvent event = empty_event(p);
	enum pperf_error error = write_gpu(p);
	struct description description;
	uint8_t *bytes = NULL;

	if (error)
		return error;
	if (!p->first_id)
		p->first_id = choose_ids(p, time);
	reset_values(p);

	error = make_description(p, &description);
	if (error)
		goto out;
	interned.has_iid = true;
	interned.iid = DESCRIPTOR_IID;
	interned.has_gpu_id = true;
	interned.gpu_id = p->gpu;
	interned.counter_descriptor = &description.descriptor;
	data.n_gpu_counter_descriptors = 1;
	data.gpu_counter_descriptors = &list;
	if (!p->live)
		event.counter_descriptor = &description.descriptor;

	error = PPERF_ERROR_NO_MEMORY;
	bytes = malloc(pftrace__gpu_counter_event__get_packed_size(&event));
	if (bytes)
		error = write_event(p, bytes, pftrace__gpu_counter_event__pack(&event, bytes), p->live ? &data : NULL, time,
				    SEQ_INCREMENTAL_STATE_CLEARED);
	free(bytes);
	p->described = !error;
out:
	free_description(&description);
	return error;
}

static enum pperf_error write_values(struct packets *p, uint64_t time)
{
	Pftrace__GpuCounterEvent event = empty_event(p);
	size_t size = p->changed_size + pftrace__gpu_counter_event__pack(&event, p->changed + p->changed_size);

	p->changed_size = 0;
	/* They lack zeros that were told before. */
	return write_event(p, p->changed, size, NULL, time, SEQ_NEEDS_INCREMENTAL_STATE);
}

/*
 * A zero is not repeated: most tracks of an idle GPU have nothing else. Any other value is, though Perfetto shows the same
 * without it: samples that have the same tracks differ in digits alone, which compresses best.
 */
static void set_value(struct packets *p, size_t i, double number)
{
	struct value *value = &p->values[i];
	uint64_t bits;

	if (!number && value->number == 0)
		return;
	value->number = number;
	memcpy(&bits, &number, sizeof(bits));
	bits = htole64(bits);
	memcpy(value->packed + VALUE_AT, &bits, sizeof(bits));
	/* A fixed size is copied faster; the next value overwrites what is behind the packed one. */
	memcpy(p->changed + p->changed_size, value->packed, sizeof(value->packed));
	p->changed_size += value->size;
}

/* Ends what the last sample's values stand for. */
static enum pperf_error write_zeros(struct packets *p)
{
	size_t i;

	for (i = 0; i < p->tracks.count; i++)
		if (p->tracks.list[i].wanted)
			set_value(p, i, 0);
	return write_values(p, p->end_ns);
}

/* Writes what the sums have, from a time to where the next sample begins. */
static enum pperf_error write_sums(struct packets *p, uint64_t start_ns, uint64_t end_ns)
{
	struct pperf_load load = {};
	const struct track *track;
	int percent;
	size_t i;

	/* Without the count of active cycles it stays 0, and has no track. */
	pperf_sums_load(p->tracks.sums, &load, sizeof(load));
	/*
	 * Percentages have fewer digits than others. This order compressed well among those tried on packets of
	 * `recording-make FILE 20000 default`.
	 */
	for (percent = 0; percent < 2; percent++) {
		for (i = p->tracks.count; i-- > 0;) {
			track = &p->tracks.list[i];
			if (track->wanted && (track->unit == PERCENT) == percent)
				set_value(p, i, tracks_value(&p->tracks, track, end_ns - start_ns, &load));
		}
	}
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
	enum pperf_error error = PPERF_OK;

	if (p->end_ns && !p->described)
		error = describe(p, p->end_ns);
	if (!error)
		error = write_end(p);
	p->end_ns = 0;
	return error;
}

/* ---- For data sources ---- */

void packets_go_live(struct packets *p)
{
	p->live = true;
	p->first_id = FIRST_COUNTER_ID + ((uint32_t)p->gpu << 16);
}

void packets_want_default(struct packets *p)
{
	size_t i;

	for (i = 0; i < p->tracks.count; i++)
		p->tracks.list[i].wanted = selected_by_default(&p->tracks.list[i]);
}

bool packets_want_id(struct packets *p, uint32_t id)
{
	if (id - p->first_id >= p->tracks.count)
		return false;
	p->tracks.list[id - p->first_id].wanted = true;
	return true;
}

bool packets_want_name(struct packets *p, const char *pattern)
{
	bool found = false;
	size_t i;

	for (i = 0; i < p->tracks.count; i++) {
		/* Names may have brackets. */
		if (!strcmp(pattern, p->tracks.list[i].name) || !fnmatch(pattern, p->tracks.list[i].name, 0))
			found = p->tracks.list[i].wanted = true;
	}
	return found;
}

void packets_tell_again(struct packets *p)
{
	p->described = false;
}

/* Without descriptions and groups, which are in the trace. */
static void shorten(struct description *d)
{
	size_t i;

	for (i = 0; i < d->descriptor.n_specs; i++)
		d->specs[i].description = NULL;
	d->descriptor.n_counter_groups = 0;
}

enum pperf_error packets_announce(struct packets *p, const char *name, size_t max, uint8_t **bytes, size_t *size)
{
	Pftrace__DataSourceDescriptor source = PFTRACE__DATA_SOURCE_DESCRIPTOR__INIT;
	struct description description;
	enum pperf_error error;

	error = make_description(p, &description);
	if (error)
		goto out;
	shorten(&description);
	description.descriptor.has_supports_counter_names = true;
	description.descriptor.supports_counter_names = true;
	description.descriptor.has_supports_counter_name_globs = true;
	description.descriptor.supports_counter_name_globs = true;
	source.name = (char *)name;
	source.has_will_notify_on_stop = true;
	source.will_notify_on_stop = true;
	source.gpu_counter_descriptor = &description.descriptor;

	*size = pftrace__data_source_descriptor__get_packed_size(&source);
	error = PPERF_ERROR_TOO_MANY;
	if (*size > max)
		goto out;
	error = PPERF_ERROR_NO_MEMORY;
	*bytes = malloc(*size);
	if (!*bytes)
		goto out;
	pftrace__data_source_descriptor__pack(&source, *bytes);
	error = PPERF_OK;
out:
	free_description(&description);
	return error;
}
