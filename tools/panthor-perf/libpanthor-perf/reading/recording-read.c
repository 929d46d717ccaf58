// SPDX-License-Identifier: MIT
/* Reads the records of panthor-perf-data(5), which may come from anybody. */
#define _GNU_SOURCE
#include "recording.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <zlib.h>

#include "text.h"

/* Objects in the head are nested less deeply. */
#define MAX_DEPTH 8

static enum recording_item __attribute__((format(printf, 3, 4)))
fail(struct recording *r, enum recording_item item, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->error, sizeof(r->error), format, args);
	va_end(args);
	return item;
}

static enum recording_item no_memory(struct recording *r)
{
	return fail(r, RECORDING_NO_MEMORY, "out of memory");
}

enum recording_item pperf_records_read_failed(struct recording *r)
{
	r->error_number = errno;
	if (errno == ENOMEM)
		return no_memory(r);
	return fail(r, RECORDING_UNREADABLE, "%s", errno ? strerror(errno) : "the file changed while it was being read");
}

static uint32_t load_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t load_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

/* ---- Bytes ---- */

/* What is read at a time of a file that can be read at any place: more than it takes to ask. */
#define BUFFER (256u << 10)

/* Bytes that were asked for from a stream come as soon as they are there. */
static ssize_t read_more(struct recording *r, size_t wanted)
{
	size_t size;

	if (r->fd >= 0)
		return TEMP_FAILURE_RETRY(pread(r->fd, r->bytes + r->filled, r->room - r->filled, r->offset + r->filled - r->at));
	size = fread(r->bytes + r->filled, 1, wanted, r->file);
	return size || !ferror(r->file) ? (ssize_t)size : -1;
}

/*
 * Has so many bytes ready, from the next record on. Returns RECORDING_SAMPLE, RECORDING_CUT if the file has fewer, or what is
 * wrong.
 */
static enum recording_item have_bytes(struct recording *r, size_t size)
{
	size_t room = size > BUFFER ? size : BUFFER;
	uint8_t *bytes;
	ssize_t got;

	if (r->filled - r->at >= size)
		return RECORDING_SAMPLE;
	if (r->at)
		memmove(r->bytes, r->bytes + r->at, r->filled - r->at);
	r->filled -= r->at;
	r->at = 0;
	if (room > r->room) {
		bytes = realloc(r->bytes, room);
		if (!bytes)
			return no_memory(r);
		r->bytes = bytes;
		r->room = room;
	}
	while (r->filled < size) {
		got = read_more(r, size - r->filled);
		if (got < 0)
			return pperf_records_read_failed(r);
		if (!got)
			return RECORDING_CUT;
		r->filled += got;
	}
	return RECORDING_SAMPLE;
}

static void skip_bytes(struct recording *r, size_t size)
{
	r->at += size;
	r->offset += size;
}

/* ---- Records ---- */

enum recording_item pperf_records_get_record(const uint8_t *bytes, size_t size, struct recording_record *record)
{
	if (size < RECORDING_FRAME)
		return RECORDING_CUT;
	record->kind = bytes[0];
	record->length = load_u32(bytes) >> 8;
	record->at = bytes + 4;
	if (record->length > size - RECORDING_FRAME)
		return RECORDING_CUT;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (crc32(0, bytes, record->length + 4) != load_u32(record->at + record->length))
		return RECORDING_BROKEN;
#endif
	return RECORDING_SAMPLE;
}

/*
 * Whether the next record, whose check sum is wrong, ends in zeros that go on to the end of the file. Four
 * of them are no damage to a byte or two. The file is read to its end for it.
 */
static bool ends_in_zeros(struct recording *r, size_t size)
{
	size_t zeros = 0;

	while (zeros < size && !r->bytes[r->at + size - 1 - zeros])
		zeros++;
	if (!zeros)
		return false;
	for (skip_bytes(r, size); have_bytes(r, 1) == RECORDING_SAMPLE && !r->bytes[r->at]; skip_bytes(r, 1))
		zeros++;
	return have_bytes(r, 1) == RECORDING_CUT && zeros >= 4;
}

/*
 * Reads a record. Returns RECORDING_SAMPLE for a whole one of any kind,
 * RECORDING_CUT at the end of the file, or what is wrong.
 */
static enum recording_item read_record(struct recording *r, struct recording_record *record)
{
	enum recording_item item = have_bytes(r, 4);
	uint64_t offset = r->offset;
	size_t size;

	if (item != RECORDING_SAMPLE)
		return item;
	/* Room that a file system gave and nothing was written to, when the machine lost power. */
	if (!load_u32(r->bytes + r->at))
		return RECORDING_CUT;

	size = (load_u32(r->bytes + r->at) >> 8) + RECORDING_FRAME;
	item = have_bytes(r, size);
	if (item == RECORDING_SAMPLE)
		item = pperf_records_get_record(r->bytes + r->at, size, record);
	if (item == RECORDING_BROKEN) {
		if (ends_in_zeros(r, size))
			return RECORDING_CUT;
		return fail(r, RECORDING_BROKEN, "the record at byte %" PRIu64 " has a wrong checksum", offset);
	}
	if (item == RECORDING_SAMPLE)
		skip_bytes(r, size);
	return item;
}

/* Parses what a record holds. Returns RECORDING_SAMPLE, RECORDING_BROKEN if that is no JSON object, or RECORDING_NO_MEMORY. */
static enum recording_item parse_object(const struct recording_record *record, struct json_object **out)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct json_object *object;

	if (!tokener)
		return RECORDING_NO_MEMORY;

	object = json_tokener_parse_ex(tokener, (const char *)record->at, record->length);
	/* A number may otherwise go on. */
	if (json_tokener_get_error(tokener) == json_tokener_continue)
		object = json_tokener_parse_ex(tokener, "", 1);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	*out = object;
	return object ? RECORDING_SAMPLE : RECORDING_BROKEN;
}

/* A whole number from 0 to max. Returns -1 if it is there and is none; 0 if it is not there. */
static int get_number(struct json_object *object, const char *key, uint64_t max, uint64_t *value)
{
	struct json_object *found;

	*value = 0;
	if (!json_object_object_get_ex(object, key, &found))
		return 0;
	if (!json_object_is_type(found, json_type_int) || json_object_get_int64(found) < 0)
		return -1;
	*value = json_object_get_uint64(found);
	return *value > max ? -1 : 0;
}

/* A copy of a text, NULL if it is not there. Returns -1 if it is none, or without memory: errno is ENOMEM then. */
static int get_text(struct json_object *object, const char *key, char **text)
{
	struct json_object *found;

	if (!json_object_object_get_ex(object, key, &found))
		return 0;
	if (!json_object_is_type(found, json_type_string))
		return -1;
	*text = strdup(json_object_get_string(found));
	return *text ? 0 : -1;
}

static int get_list(struct json_object *object, const char *key, struct json_object **list)
{
	if (!json_object_object_get_ex(object, key, list)) {
		*list = NULL;
		return 0;
	}
	return json_object_is_type(*list, json_type_array) ? 0 : -1;
}

/* The number that a name of pperf_block_name() or pperf_clock_name() stands for, or -1. */
static int name_number(struct json_object *name, const char *(*name_of)(unsigned int), unsigned int first,
		       unsigned int end)
{
	unsigned int i;

	if (!json_object_is_type(name, json_type_string))
		return -1;
	for (i = first; i < end; i++)
		if (!strcmp(json_object_get_string(name), name_of(i)))
			return i;
	return -1;
}

static int parse_block(struct recording_head *head, struct json_object *block)
{
	struct json_object *name, *list, *counter;
	uint64_t count, value;
	size_t i;
	int type;

	if (!json_object_is_type(block, json_type_object) ||
	    !json_object_object_get_ex(block, "type", &name))
		return -1;

	type = name_number(name, pperf_block_name, 1, PPERF_BLOCK_TYPES);
	if (type < 0 || head->gpu.blocks[type] ||
	    get_number(block, "count", RECORDING_MAX_BLOCKS, &count) || !count ||
	    get_list(block, "counters", &list))
		return -1;

	head->gpu.blocks[type] = count;
	for (i = 0; list && i < json_object_array_length(list); i++) {
		counter = json_object_array_get_idx(list, i);
		if (!json_object_is_type(counter, json_type_int) ||
		    json_object_get_int64(counter) < PPERF_FIRST_COUNTER ||
		    json_object_get_int64(counter) >= head->gpu.values_per_block)
			return -1;
		value = json_object_get_uint64(counter);
		head->masks.bits[type][value / 64] |= 1ull << (value % 64);
	}
	return 0;
}

static int parse_command(struct recording_head *head, struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct json_object *word;

	head->command = calloc(n + 1, sizeof(*head->command));
	if (!head->command)
		return -1;

	for (i = 0; i < n; i++) {
		word = json_object_array_get_idx(list, i);
		if (!json_object_is_type(word, json_type_string))
			return -1;
		head->command[i] = strdup(json_object_get_string(word));
		if (!head->command[i])
			return -1;
	}
	return 0;
}

static int get_u32(struct json_object *object, const char *key, uint32_t max, uint32_t *value)
{
	uint64_t number;

	if (get_number(object, key, max, &number))
		return -1;
	*value = number;
	return 0;
}

/* Returns the key whose value is wrong, or NULL. */
static const char *parse_gpu(struct pperf_gpu_info *info, struct json_object *gpu)
{
	struct {
		const char *key;
		const char **text;
	} texts[] = { { "name", &info->name }, { "layout", &info->layout }, { "node", &info->node } };
	struct {
		const char *key;
		uint32_t *value;
	} numbers[] = {
		{ "id", &info->gpu_id }, { "driver_major", (uint32_t *)&info->driver_major },
		{ "driver_minor", (uint32_t *)&info->driver_minor }, { "cores", &info->cores },
		{ "slices", &info->slices }, { "bus_bytes", &info->bus_bytes }, { "sets", &info->sets },
	};
	struct json_object *found;
	size_t i;
	int clock;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (get_text(gpu, texts[i].key, (char **)texts[i].text))
			return texts[i].key;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (get_u32(gpu, numbers[i].key, numbers[i].value == &info->gpu_id ? UINT32_MAX : INT32_MAX,
			    numbers[i].value))
			return numbers[i].key;

	if (get_number(gpu, "shader_present", UINT64_MAX, &info->shader_present))
		return "shader_present";
	if (get_number(gpu, "min_period_ns", INT64_MAX, &info->min_period_ns))
		return "min_period_ns";
	if (get_number(gpu, "toplevel_hz", INT64_MAX, &info->toplevel_hz))
		return "toplevel_hz";
	info->has_states = json_object_object_get_ex(gpu, "states", &found) && json_object_get_boolean(found);

	if (get_list(gpu, "clocks", &found))
		return "clocks";
	for (i = 0; found && i < json_object_array_length(found); i++) {
		clock = name_number(json_object_array_get_idx(found, i), pperf_clock_name, 0, PPERF_CLOCKS);
		if (clock < 0)
			return "clocks";
		info->clocks |= 1u << clock;
	}
	return NULL;
}

/* Returns the key whose value is wrong, or for which there is no memory: errno is ENOMEM then. NULL if all is well. */
static const char *parse_head(struct recording_head *head, struct json_object *top)
{
	struct {
		const char *key;
		char **text;
	} texts[] = {
		{ "tool", &head->tool }, { "host", &head->host }, { "kernel", &head->kernel },
		{ "machine", &head->machine },
	};
	struct json_object *gpu, *list;
	const char *wrong;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (get_text(top, texts[i].key, texts[i].text))
			return texts[i].key;

	head->gpu.size = sizeof(head->gpu);
	head->gpu.interface_known = true;
	if (!json_object_object_get_ex(top, "gpu", &gpu) || !json_object_is_type(gpu, json_type_object))
		return "gpu";
	wrong = parse_gpu(&head->gpu, gpu);
	if (wrong)
		return wrong;
	if (!head->gpu.name)
		head->gpu.name = strdup("unknown Mali");
	if (!head->gpu.name)
		return "name";

	if (get_list(top, "command", &list) || (list && parse_command(head, list)))
		return "command";
	if (get_number(top, "period_ns", INT64_MAX, &head->period_ns))
		return "period_ns";
	if (get_u32(top, "set", 2, &head->set))
		return "set";
	head->jobs = json_object_object_get_ex(top, "jobs", &list) && json_object_get_boolean(list);

	if (get_u32(top, "values_per_block", PPERF_MAX_VALUES, &head->gpu.values_per_block) ||
	    (head->gpu.values_per_block != 64 && head->gpu.values_per_block != 128))
		return "values_per_block";
	if (get_list(top, "blocks", &list) || !list)
		return "blocks";
	for (i = 0; i < json_object_array_length(list); i++)
		if (parse_block(head, json_object_array_get_idx(list, i)))
			return "blocks";
	return NULL;
}

/* Makes the sample whose values records change. */
static enum recording_item make_sample(struct recording *r)
{
	const struct recording_head *head = &r->head;
	unsigned int type, index, b = 0;
	struct pperf_block *block;

	if (pperf_records_layout_make(&r->layout, head))
		return fail(r, RECORDING_BROKEN, "the recording has too many blocks");

	r->blocks = calloc(r->layout.blocks + 1, sizeof(*r->blocks));
	r->values = calloc(r->layout.blocks * (size_t)head->gpu.values_per_block + 1, sizeof(*r->values));
	r->previous = calloc(r->layout.fields, sizeof(*r->previous));
	r->state = calloc(r->layout.fields, sizeof(*r->state));
	if (!r->blocks || !r->values || !r->previous || !r->state)
		return no_memory(r);

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = 0; index < head->gpu.blocks[type]; index++, b++) {
			block = &r->blocks[b];
			block->type = type;
			block->index = index;
			memcpy(block->enabled, head->masks.bits[type], sizeof(block->enabled));
			block->values = r->values + b * (size_t)head->gpu.values_per_block;
		}
	}
	r->sample.set = head->set;
	r->sample.size = sizeof(r->sample);
	r->sample.block_size = sizeof(*r->blocks);
	r->sample.num_values = head->gpu.values_per_block;
	r->sample.num_blocks = r->layout.blocks;
	r->sample.blocks = r->blocks;
	return RECORDING_END;
}

static enum recording_item read_head(struct recording *r)
{
	const size_t start = sizeof(pperf_records_magic) + 4;
	struct recording_record record;
	struct json_object *object;
	enum recording_item item = have_bytes(r, start);
	const char *wrong;
	uint32_t version;

	if (item > RECORDING_CUT)
		return item;
	if (r->filled < sizeof(pperf_records_magic) || memcmp(r->bytes, pperf_records_magic, sizeof(pperf_records_magic)))
		return fail(r, RECORDING_BROKEN, "not a panthor-perf recording");
	if (item == RECORDING_CUT)
		return fail(r, RECORDING_BROKEN, "the recording is incomplete: its header is cut off");
	version = load_u32(r->bytes + sizeof(pperf_records_magic));
	if (version != RECORDING_VERSION)
		return fail(r, RECORDING_BROKEN, "the recording has format version %u, but this panthor-perf "
			    "reads version %u", version, RECORDING_VERSION);

	skip_bytes(r, start);
	item = read_record(r, &record);
	if (item == RECORDING_CUT)
		return fail(r, RECORDING_BROKEN, "the recording is incomplete: its header is cut off");
	if (item != RECORDING_SAMPLE)
		return item;
	if (record.kind != RECORDING_KIND_HEAD)
		return fail(r, RECORDING_BROKEN, "the recording does not start with a header");

	item = parse_object(&record, &object);
	if (item == RECORDING_NO_MEMORY)
		return no_memory(r);
	if (item != RECORDING_SAMPLE)
		return fail(r, RECORDING_BROKEN, "the header of the recording is not a JSON object");
	errno = 0;
	wrong = parse_head(&r->head, object);
	if (wrong && errno == ENOMEM)
		item = no_memory(r);
	json_object_put(object);
	if (item == RECORDING_NO_MEMORY)
		return item;
	if (wrong)
		return fail(r, RECORDING_BROKEN, "\"%s\" is missing or invalid in the header of the recording", wrong);

	item = make_sample(r);
	if (item != RECORDING_END)
		return item;
	r->first = r->offset;
	return RECORDING_END;
}

enum recording_item pperf_records_open_stream(struct recording *r, FILE *file)
{
	memset(r, 0, sizeof(*r));
	r->file = file;
	r->fd = fileno(file);
	/* Of a pipe, or what was read from before. */
	if (r->fd >= 0 && lseek(r->fd, 0, SEEK_CUR))
		r->fd = -1;
	return read_head(r);
}

enum recording_item pperf_records_open_fd(struct recording *r, int fd)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	return read_head(r);
}

void pperf_records_seek(struct recording *r, uint64_t offset)
{
	r->offset = offset;
	r->at = r->filled = 0;
	r->end_ns = r->mark.time_ns = 0;
	memset(r->previous, 0, r->layout.fields * sizeof(*r->previous));
}

int pperf_records_rewind(struct recording *r)
{
	if (r->fd < 0 && fseek(r->file, r->first, SEEK_SET)) {
		pperf_records_read_failed(r);
		return -1;
	}
	pperf_records_seek(r, r->first);
	return 0;
}

/* Each reads a record: RECORDING_SAMPLE, RECORDING_BROKEN if it is none of its kind, or RECORDING_NO_MEMORY. */
static enum recording_item read_sample(struct recording *r, const struct recording_record *record)
{
	const struct recording_layout *layout = &r->layout;
	const uint64_t *field = r->previous + RECORDING_FIELDS;
	struct pperf_sample *sample = &r->sample;
	struct recording_times times;
	unsigned int i;

	if (pperf_records_get_changes(record->at, record->at + record->length, r->previous, layout->fields) ||
	    pperf_records_get_times(layout, r->previous, r->end_ns, &times))
		return RECORDING_BROKEN;

	r->end_ns = times.end_ns;
	sample->start_ns = times.start_ns;
	sample->end_ns = times.end_ns;
	sample->flags = times.flags;
	for (i = 0; i < PPERF_CLOCKS; i++)
		sample->cycles[i] = r->previous[3 + i];
	if (!r->fields_only)
		pperf_records_spread(layout, field, r->blocks, r->values, r->head.gpu.values_per_block);
	return RECORDING_SAMPLE;
}

/* A state says what is known already, to those who begin there. */
static enum recording_item check_state(struct recording *r, const struct recording_record *record)
{
	uint64_t end_ns;

	if (pperf_records_get_state(&r->layout, record->at, record->at + record->length, &end_ns, r->state) ||
	    end_ns != r->end_ns || memcmp(r->state, r->previous, r->layout.fields * sizeof(*r->state)))
		return RECORDING_BROKEN;
	return RECORDING_SAMPLE;
}

static enum recording_item read_clock_record(struct recording *r, const struct recording_record *record)
{
	const uint8_t *at = record->at;

	if (record->length < 32)
		return RECORDING_BROKEN;
	r->clocks.monotonic_raw = load_u64(at);
	r->clocks.boottime = load_u64(at + 8);
	r->clocks.realtime = load_u64(at + 16);
	r->clocks.monotonic = load_u64(at + 24);
	return RECORDING_SAMPLE;
}

int pperf_records_get_mark(const struct recording_record *record, struct recording_mark *previous)
{
	struct recording_mark mark = {};
	const uint8_t *at = record->at;
	size_t length = record->length;

	if (length < 8 || length - 8 > PPERF_MARK_LENGTH)
		return -1;
	mark.time_ns = load_u64(at);
	memcpy(mark.name, at + 8, length - 8);
	if (mark.time_ns < previous->time_ns || mark.time_ns > INT64_MAX || strlen(mark.name) != length - 8 ||
	    !pperf_text_is_clean(mark.name))
		return -1;
	*previous = mark;
	return 0;
}

static enum recording_item read_mark(struct recording *r, const struct recording_record *record)
{
	return pperf_records_get_mark(record, &r->mark) ? RECORDING_BROKEN : RECORDING_SAMPLE;
}

int pperf_records_get_frame(const struct recording_record *record, struct recording_frame *frame)
{
	size_t length = record->length;

	memset(frame, 0, sizeof(*frame));
	if (length < 16 || length - 16 > RECORDING_FRAME_NAME)
		return -1;
	frame->time_ns = load_u64(record->at);
	frame->pid = load_u32(record->at + 8);
	frame->lost = load_u32(record->at + 12);
	memcpy(frame->name, record->at + 16, length - 16);
	return frame->time_ns > INT64_MAX || strlen(frame->name) != length - 16 || !pperf_text_is_clean(frame->name) ? -1 : 0;
}

static enum recording_item read_frame(struct recording *r, const struct recording_record *record)
{
	return pperf_records_get_frame(record, &r->frame) ? RECORDING_BROKEN : RECORDING_SAMPLE;
}

int pperf_records_get_use(const struct recording_record *record, struct recording_use *use)
{
	size_t i;

	memset(use, 0, sizeof(*use));
	if (record->length < 16 || record->length % 4 || (record->length - 16) / 4 > RECORDING_USERS)
		return -1;
	use->start_ns = load_u64(record->at);
	use->end_ns = load_u64(record->at + 8);
	use->count = (record->length - 16) / 4;
	for (i = 0; i < use->count; i++)
		use->users[i] = load_u32(record->at + 16 + 4 * i);
	return use->end_ns > INT64_MAX || use->start_ns > use->end_ns ? -1 : 0;
}

static enum recording_item read_use(struct recording *r, const struct recording_record *record)
{
	return pperf_records_get_use(record, &r->use) ? RECORDING_BROKEN : RECORDING_SAMPLE;
}

/* What is left to read of a record: at is NULL when there was less than that. */
struct left {
	const uint8_t *at, *end;
};

static uint64_t take_varint(struct left *left, uint64_t max)
{
	uint64_t value = 0;

	if (left->at)
		left->at = pperf_records_get_varint(left->at, left->end, &value);
	if (value > max)
		left->at = NULL;
	return left->at ? value : 0;
}

/* A text of at most so many bytes, behind its length. */
static void take_text(struct left *left, char *text, size_t max)
{
	size_t length = take_varint(left, max);

	if (left->at && length > (size_t)(left->end - left->at))
		left->at = NULL;
	if (!left->at)
		return;
	memcpy(text, left->at, length);
	text[length] = 0;
	left->at += length;
	if (strlen(text) != length || !pperf_text_is_clean(text))
		left->at = NULL;
}

/* A number of things that take so many bytes each, at least. */
static size_t take_count(struct left *left, size_t bytes)
{
	return take_varint(left, left->at ? (left->end - left->at) / bytes : 0);
}

/* A time so long before another one. */
static uint64_t take_before(struct left *left, uint64_t time_ns)
{
	return time_ns - take_varint(left, time_ns);
}

static void take_gap(struct left *left, struct recording_gap *gap, uint64_t until_ns)
{
	gap->end_ns = take_before(left, until_ns);
	gap->start_ns = take_before(left, gap->end_ns);
	gap->cpu = take_varint(left, UINT32_MAX);
	gap->lost = take_varint(left, UINT64_MAX);
}

static void take_queue(struct left *left, struct recording_queue *queue)
{
	queue->id = take_varint(left, RECORDING_MAX_QUEUES - 1);
	queue->pid = take_varint(left, INT32_MAX);
	take_text(left, queue->process, RECORDING_PROCESS_NAME);
	take_text(left, queue->name, RECORDING_QUEUE_NAME);
}

static void take_job(struct left *left, struct recording_job *job, const struct recording_jobs *jobs)
{
	uint64_t flags = take_varint(left, 15);

	job->outcome = flags & 3;
	job->no_queued = flags & 4;
	job->no_run = flags & 8;
	job->queue = take_varint(left, UINT32_MAX);
	job->waited_for = take_varint(left, jobs->num_queues);
	job->thread = take_varint(left, INT32_MAX);
	job->end_ns = take_before(left, jobs->end_ns);
	job->run_ns = take_before(left, job->end_ns);
	job->ready_ns = take_before(left, job->run_ns);
	job->queued_ns = take_before(left, job->ready_ns);
	if (job->queue >= jobs->num_queues || job->outcome > JOB_UNFINISHED)
		left->at = NULL;
}

/* Bytes of a gap, a queue and a job, at least. */
#define MIN_GAP 4
#define MIN_QUEUE 4
#define MIN_JOB 8

enum recording_item pperf_records_get_jobs(const struct recording_record *record, struct recording_jobs *jobs)
{
	struct left left = { record->at + 24, record->at + record->length };
	size_t i;

	memset(jobs, 0, sizeof(*jobs));
	if (record->length < 24)
		return RECORDING_BROKEN;
	jobs->start_ns = load_u64(record->at);
	jobs->end_ns = load_u64(record->at + 8);
	jobs->open_ns = load_u64(record->at + 16);
	if (jobs->end_ns > INT64_MAX || jobs->start_ns > jobs->end_ns || jobs->open_ns > jobs->end_ns)
		return RECORDING_BROKEN;

	jobs->num_gaps = take_count(&left, MIN_GAP);
	jobs->gaps = calloc(jobs->num_gaps + 1, sizeof(*jobs->gaps));
	for (i = 0; jobs->gaps && i < jobs->num_gaps; i++)
		take_gap(&left, &jobs->gaps[i], jobs->end_ns);
	jobs->num_queues = take_count(&left, MIN_QUEUE);
	jobs->queues = calloc(jobs->num_queues + 1, sizeof(*jobs->queues));
	for (i = 0; jobs->queues && i < jobs->num_queues; i++)
		take_queue(&left, &jobs->queues[i]);
	jobs->list = calloc(left.at ? (left.end - left.at) / MIN_JOB + 1 : 1, sizeof(*jobs->list));
	if (!jobs->gaps || !jobs->queues || !jobs->list)
		return RECORDING_NO_MEMORY;
	while (left.at && left.at < left.end)
		take_job(&left, &jobs->list[jobs->count++], jobs);
	return left.at ? RECORDING_JOBS : RECORDING_BROKEN;
}

void pperf_records_free_jobs(struct recording_jobs *jobs)
{
	free(jobs->gaps);
	free(jobs->queues);
	free(jobs->list);
	memset(jobs, 0, sizeof(*jobs));
}

static enum recording_item read_jobs(struct recording *r, const struct recording_record *record)
{
	struct recording_jobs jobs;
	enum recording_item item = pperf_records_get_jobs(record, &jobs);

	pperf_records_free_jobs(&jobs);
	r->jobs = *record;
	return item == RECORDING_JOBS ? RECORDING_SAMPLE : item;
}

static const char *reason_name(unsigned int reason)
{
	return pperf_records_reasons[reason];
}

static enum recording_item read_end(struct recording *r, const struct recording_record *record)
{
	struct json_object *object, *name;
	struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{ "samples", &r->end.samples }, { "overflow", &r->end.overflow },
		{ "error", &r->end.error }, { "stretched", &r->end.stretched }, { "lost", &r->end.lost },
		{ "marks", &r->end.marks }, { "dropped", &r->end.dropped },
		{ "frames", &r->end.frames }, { "lost_frames", &r->end.lost_frames },
		{ "measured_hz", &r->end.clock.measured_hz }, { "nominal_hz", &r->end.clock.nominal_hz },
	};
	enum recording_item item = parse_object(record, &object);
	uint64_t status;
	int reason = -1;
	size_t i;

	if (item != RECORDING_SAMPLE)
		return item;

	item = RECORDING_BROKEN;
	if (json_object_object_get_ex(object, "reason", &name))
		reason = name_number(name, reason_name, 0, 5);
	if (reason < 0 || get_number(object, "status", 255, &status))
		goto out;
	r->end.reason = reason;
	r->end.status = status;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (get_number(object, numbers[i].key, UINT64_MAX, numbers[i].value))
			goto out;
	item = RECORDING_SAMPLE;
out:
	json_object_put(object);
	return item;
}

enum recording_item pperf_records_next(struct recording *r)
{
	static const struct {
		char kind;
		enum recording_item (*read)(struct recording *recording, const struct recording_record *record);

		/* What it is to those who call: nothing, if it is RECORDING_BROKEN. */
		enum recording_item item;
	} kinds[] = {
		{ RECORDING_KIND_SAMPLE, read_sample, RECORDING_SAMPLE }, { RECORDING_KIND_MARK, read_mark, RECORDING_MARK },
		{ RECORDING_KIND_CLOCKS, read_clock_record, RECORDING_CLOCKS }, { RECORDING_KIND_END, read_end, RECORDING_END },
		{ RECORDING_KIND_FRAME, read_frame, RECORDING_FRAME_END }, { RECORDING_KIND_USE, read_use, RECORDING_USE },
		{ RECORDING_KIND_JOBS, read_jobs, RECORDING_JOBS },
		{ RECORDING_KIND_STATE, check_state, RECORDING_BROKEN },
	};
	struct recording_record record;
	enum recording_item item;
	size_t i;

	for (;;) {
		r->found = r->offset;
		item = read_record(r, &record);
		if (item != RECORDING_SAMPLE)
			return item;

		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && kinds[i].kind != record.kind; i++)
			;
		if (i == sizeof(kinds) / sizeof(kinds[0]))
			continue;
		item = kinds[i].read(r, &record);
		if (item == RECORDING_NO_MEMORY)
			return no_memory(r);
		if (item != RECORDING_SAMPLE)
			return fail(r, RECORDING_BROKEN, "the record at byte %" PRIu64 " is invalid", r->found);
		if (kinds[i].item != RECORDING_BROKEN)
			return kinds[i].item;
	}
}

void pperf_records_close(struct recording *r)
{
	size_t i;

	if (r->file)
		fclose(r->file);
	free(r->head.tool);
	free(r->head.host);
	free(r->head.kernel);
	free(r->head.machine);
	free((char *)r->head.gpu.name);
	free((char *)r->head.gpu.layout);
	free((char *)r->head.gpu.node);
	for (i = 0; r->head.command && r->head.command[i]; i++)
		free(r->head.command[i]);
	free(r->head.command);
	free(r->blocks);
	free(r->values);
	free(r->previous);
	free(r->state);
	free(r->bytes);
	memset(r, 0, sizeof(*r));
}
