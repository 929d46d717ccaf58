// SPDX-License-Identifier: MIT
/* Writes the records of panthor-perf-data(5). */
#define _GNU_SOURCE
#include "recording-write.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <zlib.h>

#include "text.h"

static void put_u32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Frames what is between four bytes after start and end. Returns where the record ends. */
static uint8_t *frame(uint8_t *start, char kind, uint8_t *end)
{
	put_u32(start, (uint32_t)(end - start - 4) << 8 | (uint8_t)kind);
	put_u32(end, crc32(0, start, end - start));
	return end + 4;
}

/* Frames a JSON object behind so many bytes, and puts it away. Returns -1 without memory. */
static int write_object(struct recording_writer *writer, char kind, struct json_object *object,
			const void *before, size_t before_size)
{
	size_t length, room;
	const char *text;
	uint8_t *bytes;
	int ret = -1;

	text = json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN |
						 JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	if (!text || length > RECORDING_MAX_LENGTH)
		goto out;

	room = before_size + length + RECORDING_FRAME;
	/* Other records may follow. */
	if (room < writer->longest)
		room = writer->longest;
	bytes = realloc(writer->bytes, room);
	if (!bytes)
		goto out;

	writer->bytes = bytes;
	if (before_size)
		memcpy(bytes, before, before_size);
	memcpy(bytes + before_size + 4, text, length);
	writer->size = frame(bytes + before_size, kind, bytes + before_size + 4 + length) - bytes;
	writer->offset += writer->size;
	ret = 0;
out:
	json_object_put(object);
	return ret;
}

/* JSON is UTF-8, which names and words of commands need not be. */
static struct json_object *new_text(const char *text)
{
	char *copy = pperf_text_utf8(text);
	struct json_object *object = copy ? json_object_new_string(copy) : NULL;

	free(copy);
	return object;
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	if (text)
		json_object_object_add(object, key, new_text(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static struct json_object *block_object(const struct recording_head *head, unsigned int type)
{
	struct json_object *block = json_object_new_object(), *list = json_object_new_array();
	unsigned int value;

	for (value = PPERF_FIRST_COUNTER; value < head->gpu.values_per_block; value++)
		if (head->masks.bits[type][value / 64] >> (value % 64) & 1)
			json_object_array_add(list, json_object_new_int(value));
	add_text(block, "type", pperf_block_name(type));
	add_number(block, "count", head->gpu.blocks[type]);
	json_object_object_add(block, "counters", list);
	return block;
}

static struct json_object *gpu_object(const struct pperf_gpu_info *info)
{
	struct json_object *gpu = json_object_new_object(), *clocks = json_object_new_array();
	unsigned int clock;

	add_number(gpu, "id", info->gpu_id);
	add_text(gpu, "name", info->name);
	add_text(gpu, "layout", info->layout);
	add_text(gpu, "node", info->node);
	add_number(gpu, "driver_major", info->driver_major);
	add_number(gpu, "driver_minor", info->driver_minor);
	add_number(gpu, "shader_present", info->shader_present);
	add_number(gpu, "cores", info->cores);
	add_number(gpu, "slices", info->slices);
	add_number(gpu, "bus_bytes", info->bus_bytes);
	json_object_object_add(gpu, "states", json_object_new_boolean(info->has_states));
	add_number(gpu, "sets", info->sets);
	add_number(gpu, "min_period_ns", info->min_period_ns);
	add_number(gpu, "toplevel_hz", info->toplevel_hz);

	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (info->clocks >> clock & 1)
			json_object_array_add(clocks, json_object_new_string(pperf_clock_name(clock)));
	json_object_object_add(gpu, "clocks", clocks);
	return gpu;
}

struct json_object *recording_head_json(const struct recording_head *head)
{
	struct json_object *top = json_object_new_object(), *list;
	unsigned int i;

	add_text(top, "tool", head->tool);
	add_text(top, "host", head->host);
	add_text(top, "kernel", head->kernel);
	add_text(top, "machine", head->machine);
	if (head->command) {
		list = json_object_new_array();
		for (i = 0; head->command[i]; i++)
			json_object_array_add(list, new_text(head->command[i]));
		json_object_object_add(top, "command", list);
	}
	add_number(top, "period_ns", head->period_ns);
	add_number(top, "set", head->set);
	json_object_object_add(top, "gpu", gpu_object(&head->gpu));
	if (head->jobs)
		json_object_object_add(top, "jobs", json_object_new_boolean(true));

	add_number(top, "values_per_block", head->gpu.values_per_block);
	list = json_object_new_array();
	for (i = 1; i < PPERF_BLOCK_TYPES; i++)
		if (head->gpu.blocks[i])
			json_object_array_add(list, block_object(head, i));
	json_object_object_add(top, "blocks", list);
	return top;
}

int recording_writer_open(struct recording_writer *writer, const struct recording_head *head)
{
	uint8_t before[sizeof(pperf_records_magic) + 4];
	size_t size;
	uint8_t *bytes;

	memset(writer, 0, sizeof(*writer));
	if (pperf_records_layout_make(&writer->layout, head))
		return -1;

	writer->previous = calloc(writer->layout.fields, sizeof(*writer->previous));
	if (!writer->previous)
		goto err;

	memcpy(before, pperf_records_magic, sizeof(pperf_records_magic));
	put_u32(before + sizeof(pperf_records_magic), RECORDING_VERSION);
	if (write_object(writer, RECORDING_KIND_HEAD, recording_head_json(head), before, sizeof(before)))
		goto err;

	writer->chunk.offset = writer->offset;
	/* From here on nothing is longer than a state and a sample, a mark or jobs could be. */
	writer->longest = 2 * (RECORDING_FRAME + pperf_records_state_room(&writer->layout));
	if (head->jobs && writer->longest < RECORDING_JOBS_SIZE)
		writer->longest = RECORDING_JOBS_SIZE;
	size = writer->longest;
	/* A frame's is shorter than that of a mark. */
	if (size < RECORDING_MARK_SIZE)
		size = RECORDING_MARK_SIZE;
	if (size > writer->size) {
		bytes = realloc(writer->bytes, size);
		if (!bytes)
			goto err;
		writer->bytes = bytes;
	}
	return 0;

err:
	recording_writer_close(writer);
	return -1;
}

void recording_writer_close(struct recording_writer *writer)
{
	free(writer->previous);
	free(writer->bytes);
	free(writer->index);
	memset(writer, 0, sizeof(*writer));
}

/* ---- Chunks ---- */

/* Adds the chunk to the index: its numbers, of which times are differences. */
static void index_chunk(struct recording_writer *writer)
{
	struct recording_chunk *chunk = &writer->chunk;
	const uint64_t numbers[] = {
		writer->offset - chunk->offset, chunk->samples, chunk->start_ns, chunk->end_ns - chunk->start_ns, chunk->marks,
	};
	const size_t most = sizeof(numbers) / sizeof(numbers[0]) * RECORDING_MAX_VARINT;
	uint8_t *more;
	size_t i;

	if (writer->index_size == SIZE_MAX)
		return;
	if (writer->index_size + most > writer->index_room) {
		more = realloc(writer->index, 2 * (writer->index_room + most));
		if (!more) {
			writer->index_size = SIZE_MAX;
			return;
		}
		writer->index = more;
		writer->index_room = 2 * (writer->index_room + most);
	}
	more = writer->index + writer->index_size;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		more = pperf_records_put_varint(more, numbers[i]);
	writer->index_size = more - writer->index;
}

/* Begins another chunk, with the state that its first sample follows. Returns where that ends. */
static uint8_t *next_chunk(struct recording_writer *writer)
{
	uint8_t *end;

	index_chunk(writer);
	memset(&writer->chunk, 0, sizeof(writer->chunk));
	writer->chunk.offset = writer->offset;
	end = pperf_records_put_state(&writer->layout, writer->end_ns, writer->previous, writer->bytes + 4);
	return frame(writer->bytes, RECORDING_KIND_STATE, end);
}

/* Puts the index behind what the writer has, with where it begins at its end. A file can do without it. */
static void add_index(struct recording_writer *writer)
{
	uint8_t *bytes, *at;

	if (writer->index_size > RECORDING_MAX_LENGTH - sizeof(uint64_t))
		return;
	bytes = realloc(writer->bytes, writer->size + RECORDING_FRAME + writer->index_size + sizeof(uint64_t));
	if (!bytes)
		return;
	writer->bytes = bytes;
	bytes += writer->size;
	memcpy(bytes + 4, writer->index, writer->index_size);
	at = put_u64(bytes + 4 + writer->index_size, writer->offset);
	writer->size = frame(bytes, RECORDING_KIND_INDEX, at) - writer->bytes;
}

/* ---- Records ---- */

/* Where fields are put, and how many at the end are as they were. */
struct fields {
	uint64_t *previous;
	uint8_t *at;
	uint64_t same;
};

static inline void put_field(struct fields *f, uint64_t value)
{
	uint64_t change = value - *f->previous;

	*f->previous++ = value;
	f->at = pperf_records_put_change(f->at, change, &f->same);
}

void recording_write_sample(struct recording_writer *writer, const struct pperf_sample *sample)
{
	const struct recording_layout *layout = &writer->layout;
	bool full = writer->chunk.samples == RECORDING_CHUNK_SAMPLES;
	uint8_t *start = full ? next_chunk(writer) : writer->bytes;
	struct fields f = { .previous = writer->previous, .at = start + 4 };
	unsigned int b, i;

	put_field(&f, sample->start_ns - writer->end_ns);
	put_field(&f, sample->end_ns - sample->start_ns);
	put_field(&f, sample->flags);
	for (i = 0; i < PPERF_CLOCKS; i++)
		put_field(&f, sample->cycles[i]);
	writer->end_ns = sample->end_ns;

	for (b = 0; b < layout->blocks; b++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, b);

		put_field(&f, block->states | block->clock << 8);
	}

	for (b = 0; b < layout->blocks; b++) {
		const uint8_t *index = layout->indices[layout->types[b]];
		const uint64_t *values = pperf_sample_block_at(sample, b)->values;

		for (i = 0; i < layout->counters[layout->types[b]]; i++)
			put_field(&f, values[index[i]]);
	}

	if (!writer->chunk.samples++)
		writer->chunk.start_ns = sample->start_ns;
	writer->chunk.end_ns = sample->end_ns;
	writer->size = frame(start, RECORDING_KIND_SAMPLE, f.at) - writer->bytes;
	writer->offset += writer->size;
}

void recording_write_clocks(struct recording_writer *writer, const struct clocks *clocks)
{
	uint8_t *at = writer->bytes + 4;

	at = put_u64(at, clocks->monotonic_raw);
	at = put_u64(at, clocks->boottime);
	at = put_u64(at, clocks->realtime);
	at = put_u64(at, clocks->monotonic);
	writer->size = frame(writer->bytes, RECORDING_KIND_CLOCKS, at) - writer->bytes;
	writer->offset += writer->size;
}

void recording_write_mark(struct recording_writer *writer, const struct recording_mark *mark)
{
	size_t length = strnlen(mark->name, PPERF_MARK_LENGTH);
	uint8_t *at = put_u64(writer->bytes + 4, mark->time_ns);

	memcpy(at, mark->name, length);
	writer->size = frame(writer->bytes, RECORDING_KIND_MARK, at + length) - writer->bytes;
	writer->offset += writer->size;
	writer->chunk.marks++;
}

void recording_write_frame(struct recording_writer *writer, const struct recording_frame *end)
{
	size_t length = strnlen(end->name, RECORDING_FRAME_NAME);
	uint8_t *at = put_u64(writer->bytes + 4, end->time_ns);

	put_u32(at, end->pid);
	put_u32(at + 4, end->lost);
	memcpy(at + 8, end->name, length);
	writer->size = frame(writer->bytes, RECORDING_KIND_FRAME, at + 8 + length) - writer->bytes;
	writer->offset += writer->size;
}

void recording_write_use(struct recording_writer *writer, const struct recording_use *use)
{
	uint8_t *at = put_u64(put_u64(writer->bytes + 4, use->start_ns), use->end_ns);
	size_t i;

	for (i = 0; i < use->count; i++, at += 4)
		put_u32(at, use->users[i]);
	writer->size = frame(writer->bytes, RECORDING_KIND_USE, at) - writer->bytes;
	writer->offset += writer->size;
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t max)
{
	size_t length = strnlen(text, max);

	*at++ = length;
	memcpy(at, text, length);
	return at + length;
}

static uint8_t *put_job(uint8_t *at, const struct recording_job *job, uint64_t until_ns)
{
	*at++ = job->outcome | job->no_queued << 2 | job->no_run << 3;
	at = pperf_records_put_varint(at, job->queue);
	at = pperf_records_put_varint(at, job->waited_for);
	at = pperf_records_put_varint(at, job->thread);
	at = pperf_records_put_varint(at, until_ns - job->end_ns);
	at = pperf_records_put_varint(at, job->end_ns - job->run_ns);
	at = pperf_records_put_varint(at, job->run_ns - job->ready_ns);
	return pperf_records_put_varint(at, job->ready_ns - job->queued_ns);
}

void recording_write_jobs(struct recording_writer *writer, const struct recording_jobs *jobs)
{
	uint8_t *at = put_u64(put_u64(put_u64(writer->bytes + 4, jobs->start_ns), jobs->end_ns), jobs->open_ns);
	size_t i;

	at = pperf_records_put_varint(at, jobs->num_gaps);
	for (i = 0; i < jobs->num_gaps; i++) {
		at = pperf_records_put_varint(at, jobs->end_ns - jobs->gaps[i].end_ns);
		at = pperf_records_put_varint(at, jobs->gaps[i].end_ns - jobs->gaps[i].start_ns);
		at = pperf_records_put_varint(at, jobs->gaps[i].cpu);
		at = pperf_records_put_varint(at, jobs->gaps[i].lost);
	}
	at = pperf_records_put_varint(at, jobs->num_queues);
	for (i = 0; i < jobs->num_queues; i++) {
		at = pperf_records_put_varint(at, jobs->queues[i].id);
		at = pperf_records_put_varint(at, jobs->queues[i].pid);
		at = put_text(at, jobs->queues[i].process, RECORDING_PROCESS_NAME);
		at = put_text(at, jobs->queues[i].name, RECORDING_QUEUE_NAME);
	}
	for (i = 0; i < jobs->count; i++)
		at = put_job(at, &jobs->list[i], jobs->end_ns);
	writer->size = frame(writer->bytes, RECORDING_KIND_JOBS, at) - writer->bytes;
	writer->offset += writer->size;
}

void recording_write_record(struct recording_writer *writer, const struct recording_record *record)
{
	memcpy(writer->bytes + 4, record->at, record->length);
	writer->size = frame(writer->bytes, record->kind, writer->bytes + 4 + record->length) - writer->bytes;
	writer->offset += writer->size;
}

struct json_object *recording_end_json(const struct recording_end *end)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "reason", pperf_records_reasons[end->reason]);
	json_object_object_add(top, "status", json_object_new_int(end->status));
	add_number(top, "samples", end->samples);
	add_number(top, "overflow", end->overflow);
	add_number(top, "error", end->error);
	add_number(top, "stretched", end->stretched);
	add_number(top, "lost", end->lost);
	add_number(top, "marks", end->marks);
	add_number(top, "dropped", end->dropped);
	if (end->frames || end->lost_frames) {
		add_number(top, "frames", end->frames);
		add_number(top, "lost_frames", end->lost_frames);
	}
	if (end->clock.measured_hz) {
		add_number(top, "measured_hz", end->clock.measured_hz);
		add_number(top, "nominal_hz", end->clock.nominal_hz);
	}
	return top;
}

int recording_write_end(struct recording_writer *writer, const struct recording_end *end)
{
	index_chunk(writer);
	if (write_object(writer, RECORDING_KIND_END, recording_end_json(end), NULL, 0))
		return -1;
	add_index(writer);
	return 0;
}
