// SPDX-License-Identifier: MIT
#include "decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static enum recording_item __attribute__((format(printf, 3, 4)))
fail(struct decoder *d, enum recording_item item, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->error, sizeof(d->error), format, args);
	va_end(args);
	return item;
}

static enum recording_item invalid(struct decoder *d, uint64_t offset)
{
	return fail(d, RECORDING_BROKEN, "the record at byte %" PRIu64 " is invalid", offset);
}

int decoder_new(struct decoder *d, const struct recording *recording, const struct chunks *chunks)
{
	memset(d, 0, sizeof(*d));
	d->recording = recording;
	d->chunks = chunks;
	d->fields = malloc(recording->layout.fields * sizeof(*d->fields));
	return d->fields ? 0 : -1;
}

void decoder_free(struct decoder *d)
{
	free(d->fields);
}

/* FNV-1a, by number. */
static uint64_t hash_state(const struct decoder *d, uint64_t end_ns)
{
	uint64_t hash = (0xcbf29ce484222325ull ^ end_ns) * 0x100000001b3ull;
	size_t i;

	for (i = 0; i < d->recording->layout.fields; i++)
		hash = (hash ^ d->fields[i]) * 0x100000001b3ull;
	return hash;
}

/* Begins with the state that a chunk's first sample follows. Returns -1 if it has none. */
static int begin_state(struct decoder *d, const struct chunk *chunk, const struct recording_record *first, uint64_t *end_ns)
{
	const struct recording_layout *layout = &d->recording->layout;

	*end_ns = 0;
	memset(d->fields, 0, layout->fields * sizeof(*d->fields));
	if (chunk == d->chunks->list)
		return 0;
	if (chunk->state)
		return pperf_records_get_state(layout, chunk->state, chunk->state + chunk->state_size, end_ns, d->fields);
	if (first->kind != RECORDING_KIND_STATE)
		return -1;
	return pperf_records_get_state(layout, first->at, first->at + first->length, end_ns, d->fields);
}

/* Adds the changes of a sample's record to the fields. Returns RECORDING_BROKEN if they are none. */
static enum recording_item change_fields(struct decoder *d, const struct recording_record *record, uint64_t previous_end_ns,
					 struct recording_times *times)
{
	const struct recording_layout *layout = &d->recording->layout;

	if (pperf_records_get_changes(record->at, record->at + record->length, d->fields, layout->fields) ||
	    pperf_records_get_times(layout, d->fields, previous_end_ns, times))
		return RECORDING_BROKEN;
	return RECORDING_SAMPLE;
}

static enum recording_item decode_bytes(struct decoder *d, const struct chunk *chunk, const uint8_t *bytes)
{
	struct recording_times times[2] = {}, *before = chunk->number ? &times[1] : NULL;
	uint64_t samples = 0, marks = 0, at, size = chunk->range.bytes;
	struct recording_record record = {};
	enum recording_item item;

	for (at = 0; at < size; at += record.length + RECORDING_FRAME) {
		item = pperf_records_get_record(bytes + at, size - at, &record);
		if (item != RECORDING_SAMPLE)
			return fail(d, RECORDING_BROKEN, "the record at byte %" PRIu64 " has a wrong checksum",
				    chunk->range.offset + at);
		if (!at) {
			if (begin_state(d, chunk, &record, &times[1].end_ns))
				return invalid(d, chunk->range.offset);
			times[1].start_ns = times[1].end_ns - d->fields[1];
			d->begins = hash_state(d, times[1].end_ns);
		}
		marks += record.kind == RECORDING_KIND_MARK;
		if (record.kind != RECORDING_KIND_SAMPLE)
			continue;
		if (samples++ == RECORDING_CHUNK_SAMPLES || change_fields(d, &record, times[1].end_ns, times))
			return invalid(d, chunk->range.offset + at);
		item = d->sample(d->context, times, before);
		if (item != RECORDING_SAMPLE)
			return fail(d, item, "out of memory");
		times[1] = times[0];
		before = &times[1];
	}
	d->ends = hash_state(d, times[1].end_ns);
	if (samples != chunk->range.samples || marks != chunk->range.marks || (samples && times[1].end_ns != chunk->range.end_ns))
		return fail(d, RECORDING_BROKEN, "the records from byte %" PRIu64 " on are not those that its index tells of",
			    chunk->range.offset);
	return RECORDING_SAMPLE;
}

enum recording_item decode_chunk(struct decoder *d, const struct chunk *chunk)
{
	uint8_t *bytes = pperf_chunk_read(d->recording, chunk);
	enum recording_item item;

	d->begins = d->ends = 0;
	if (bytes)
		item = decode_bytes(d, chunk, bytes);
	else if (errno == ENOMEM)
		item = fail(d, RECORDING_NO_MEMORY, "out of memory");
	else
		item = fail(d, RECORDING_UNREADABLE, "%s", errno ? strerror(errno) : "the file changed while it was being read");
	free(bytes);
	return item;
}

enum recording_item decode_follows(struct decoder *d, const struct chunk *chunk, uint64_t ends)
{
	return d->begins == ends ? RECORDING_SAMPLE : invalid(d, chunk->range.offset);
}
