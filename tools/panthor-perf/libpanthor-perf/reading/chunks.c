// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "chunks.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A chunk has no more bytes than these, unless it is one record. */
#define MAX_BYTES (64u << 20)

/* Without an index they are made: of so many bytes, or the samples that the format allows. */
#define MADE_BYTES (4u << 20)

/* Their states are of so many bytes, or no more than the records before them: those of samples are much smaller. */
#define STATE_BYTES (64u << 20)

static struct chunk *add_chunk(struct chunks *chunks, uint64_t offset)
{
	struct chunk *more;

	/* A power of two has been reached. */
	if (!(chunks->count & (chunks->count - 1))) {
		more = reallocarray(chunks->list, chunks->count ? 2 * chunks->count : 1, sizeof(*more));
		if (!more)
			return NULL;
		chunks->list = more;
	}
	more = &chunks->list[chunks->count++];
	memset(more, 0, sizeof(*more));
	more->range.offset = offset;
	more->number = chunks->samples;
	return more;
}

static uint8_t *read_at(int fd, uint64_t offset, size_t size)
{
	uint8_t *bytes = malloc(size);
	size_t done = 0;
	ssize_t got = 1;

	for (; bytes && done < size && got > 0; done += got) {
		got = TEMP_FAILURE_RETRY(pread(fd, bytes + done, size - done, offset + done));
		if (got <= 0) {
			if (!got)
				errno = 0;
			free(bytes);
			return NULL;
		}
	}
	return bytes;
}

uint8_t *pperf_chunk_read(const struct recording *r, const struct chunk *chunk)
{
	return read_at(r->fd, chunk->range.offset, chunk->range.bytes);
}

enum recording_item pperf_chunk_each(struct recording *r, const struct chunk *chunk,
				     enum recording_item (*take)(void *context, const struct recording_record *record), void *context)
{
	uint8_t *bytes = pperf_chunk_read(r, chunk);
	enum recording_item item = RECORDING_END;
	uint64_t at, size = chunk->range.bytes;
	struct recording_record record;

	if (!bytes)
		return pperf_records_read_failed(r);
	for (at = 0; at < size && item == RECORDING_END; at += record.length + RECORDING_FRAME) {
		item = RECORDING_BROKEN;
		if (pperf_records_get_record(bytes + at, size - at, &record) == RECORDING_SAMPLE)
			item = take(context, &record);
		if (item == RECORDING_BROKEN) {
			snprintf(r->error, sizeof(r->error), "the record at byte %" PRIu64 " is invalid", chunk->range.offset + at);
			break;
		}
	}
	free(bytes);
	return item;
}

enum recording_item pperf_chunk_differs(struct recording *r, const struct chunk *chunk)
{
	snprintf(r->error, sizeof(r->error), "the records from byte %" PRIu64 " on are not those that its index tells of",
		 chunk->range.offset);
	return RECORDING_BROKEN;
}

enum recording_item pperf_chunk_begin(struct recording *r, const struct chunk *chunk)
{
	const uint8_t *state = chunk->state;
	size_t size = chunk->state_size;
	enum recording_item item = RECORDING_END;
	struct recording_record record;
	uint8_t *bytes = NULL;

	pperf_records_seek(r, chunk->range.offset);
	if (chunk->range.offset == r->first)
		return RECORDING_END;
	if (!state) {
		bytes = pperf_chunk_read(r, chunk);
		if (!bytes)
			return pperf_records_read_failed(r);
		if (pperf_records_get_record(bytes, chunk->range.bytes, &record) == RECORDING_SAMPLE &&
		    record.kind == RECORDING_KIND_STATE) {
			state = record.at;
			size = record.length;
		}
	}
	if (!state || pperf_records_get_state(&r->layout, state, state + size, &r->end_ns, r->previous)) {
		snprintf(r->error, sizeof(r->error), "the record at byte %" PRIu64 " is invalid", chunk->range.offset);
		item = RECORDING_BROKEN;
	}
	free(bytes);
	return item;
}

/* ---- By the index ---- */

/* Reads the index that a file ends in. Returns NULL without one; errno is ENOMEM without memory. */
static uint8_t *read_index(const struct recording *r, uint64_t *offset, struct recording_record *record)
{
	uint8_t *bytes = NULL;
	struct stat file;
	off_t size;

	errno = 0;
	if (fstat(r->fd, &file) || (uint64_t)file.st_size < r->first + 12)
		return NULL;
	size = file.st_size;
	if (TEMP_FAILURE_RETRY(pread(r->fd, offset, sizeof(*offset), size - 12)) != sizeof(*offset))
		return NULL;
	*offset = le64toh(*offset);
	if (*offset >= r->first && *offset < (uint64_t)size && size - *offset <= RECORDING_MAX_LENGTH + RECORDING_FRAME)
		bytes = read_at(r->fd, *offset, size - *offset);
	if (bytes && pperf_records_get_record(bytes, size - *offset, record) == RECORDING_SAMPLE &&
	    record->kind == RECORDING_KIND_INDEX && record->length == size - *offset - RECORDING_FRAME && record->length >= 8)
		return bytes;
	free(bytes);
	return NULL;
}

/* Returns where the numbers of a chunk end, or NULL if they are none. */
static const uint8_t *read_chunk(const uint8_t *at, const uint8_t *end, struct recording_chunk *chunk)
{
	uint64_t length;

	if (!(at = pperf_records_get_varint(at, end, &chunk->bytes)) || !(at = pperf_records_get_varint(at, end, &chunk->samples)) ||
	    !(at = pperf_records_get_varint(at, end, &chunk->start_ns)) || !(at = pperf_records_get_varint(at, end, &length)) ||
	    !(at = pperf_records_get_varint(at, end, &chunk->marks)) ||
	    __builtin_add_overflow(chunk->start_ns, length, &chunk->end_ns) || chunk->bytes > MAX_BYTES ||
	    chunk->bytes < RECORDING_FRAME || chunk->samples > RECORDING_CHUNK_SAMPLES)
		return NULL;
	return at;
}

/* Returns RECORDING_END, RECORDING_CUT if there is no index that fits, or what is wrong. */
static enum recording_item find_by_index(struct recording *r, struct chunks *chunks)
{
	struct recording_record record;
	uint64_t offset, index, end_ns = 0;
	uint8_t *bytes = read_index(r, &index, &record);
	const uint8_t *at, *end;
	enum recording_item item = RECORDING_CUT, found;
	struct chunk *chunk;

	if (!bytes)
		return errno == ENOMEM ? RECORDING_NO_MEMORY : RECORDING_CUT;
	at = record.at;
	end = at + record.length - sizeof(uint64_t);
	for (offset = r->first; at && at < end; offset += chunk->range.bytes) {
		chunk = add_chunk(chunks, offset);
		if (!chunk) {
			item = RECORDING_NO_MEMORY;
			goto out;
		}
		at = read_chunk(at, end, &chunk->range);
		if (!at || chunk->range.bytes > index - offset || (chunk->range.samples && chunk->range.start_ns < end_ns))
			goto out;
		if (chunk->range.samples)
			end_ns = chunk->range.end_ns;
		chunk->range.frames = RECORDING_UNCOUNTED;
		chunks->samples += chunk->range.samples;
	}
	pperf_records_seek(r, offset);
	found = pperf_records_next(r);
	if (found == RECORDING_NO_MEMORY || found == RECORDING_UNREADABLE || (found == RECORDING_END && r->offset == index))
		item = found;
out:
	free(bytes);
	return item;
}

/* ---- By reading all ---- */

/* Keeps the state that another chunk begins with. Returns NULL without memory. */
static struct chunk *begin_chunk(struct recording *r, struct chunks *chunks)
{
	struct chunk *chunk = add_chunk(chunks, r->offset);
	size_t room = pperf_records_state_room(&r->layout);
	uint8_t *state;

	if (!chunk || chunks->count == 1)
		return chunk;
	chunk->state = malloc(room);
	if (!chunk->state)
		return NULL;
	chunk->state_size = pperf_records_put_state(&r->layout, r->end_ns, r->previous, chunk->state) - chunk->state;
	state = realloc(chunk->state, chunk->state_size);
	if (state)
		chunk->state = state;
	return chunk;
}

static enum recording_item find_by_reading(struct recording *r, struct chunks *chunks)
{
	struct recording_chunk *range = NULL;
	uint64_t before, states = 0;
	enum recording_item item;
	struct chunk *chunk;

	pperf_records_seek(r, r->first);
	do {
		if (!range || range->samples == RECORDING_CHUNK_SAMPLES || range->bytes >= MADE_BYTES) {
			chunk = begin_chunk(r, chunks);
			if (!chunk)
				return RECORDING_NO_MEMORY;
			range = &chunk->range;
			states += chunk->state_size;
		}
		if (states > STATE_BYTES && states > r->offset) {
			snprintf(r->error, sizeof(r->error), "the recording has no index, and takes too much memory without one");
			return RECORDING_BROKEN;
		}
		before = r->offset;
		item = pperf_records_next(r);
		if (item > RECORDING_CLOCKS)
			break;
		range->bytes += r->offset - before;
		range->marks += item == RECORDING_MARK;
		range->frames += item == RECORDING_FRAME_END || item == RECORDING_USE;
		if (item != RECORDING_SAMPLE)
			continue;
		if (!range->samples++)
			range->start_ns = r->sample.start_ns;
		range->end_ns = r->sample.end_ns;
		chunks->samples++;
	} while (true);
	return item;
}

enum recording_item pperf_chunks_find(struct recording *r, struct chunks *chunks)
{
	bool fields_only = r->fields_only;
	enum recording_item item;

	memset(chunks, 0, sizeof(*chunks));
	item = find_by_index(r, chunks);
	if (item == RECORDING_CUT) {
		pperf_chunks_free(chunks);
		r->fields_only = true;
		item = find_by_reading(r, chunks);
		r->fields_only = fields_only;
	}
	if (item == RECORDING_NO_MEMORY)
		snprintf(r->error, sizeof(r->error), "out of memory");
	return item;
}

void pperf_chunks_free(struct chunks *chunks)
{
	size_t i;

	for (i = 0; i < chunks->count; i++)
		free(chunks->list[i].state);
	free(chunks->list);
	memset(chunks, 0, sizeof(*chunks));
}
