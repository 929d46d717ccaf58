// SPDX-License-Identifier: MIT
/* Reads the records of panthor-perf-data(5), which may come from anybody. */
#define _GNU_SOURCE
#include "recording.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns where the number ends, or NULL if it does not. */
static const uint8_t *get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	unsigned int shift;

	*value = 0;
	for (shift = 0; shift < 64 && at < end; shift += 7) {
		*value |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80))
			return at;
	}
	return NULL;
}

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/*
 * Whether the record that was read, whose check sum is wrong, ends in zeros that go on to the end of the file. Four
 * of them are no damage to a byte or two. The file is read to its end for it.
 */
static bool ends_in_zeros(struct recording *r, size_t size)
{
	size_t zeros = 0;
	int c;

	while (zeros < size && !r->bytes[size - 1 - zeros])
		zeros++;
	if (!zeros)
		return false;
	while (!(c = getc(r->file)))
		zeros++;
	return c == EOF && !ferror(r->file) && zeros >= 4;
}
#endif

/*
 * Reads a record. Returns RECORDING_SAMPLE for a whole one of any kind,
 * RECORDING_CUT at the end of the file, or what is wrong.
 */
static enum recording_item read_record(struct recording *r, char *kind, size_t *length)
{
	uint8_t start[4], *bytes;
	uint32_t word;

	if (fread(start, 1, sizeof(start), r->file) != sizeof(start))
		goto short_read;

	word = load_u32(start);
	*kind = word & 0xff;
	*length = word >> 8;
	/* Room that a file system gave and nothing was written to, when the machine lost power. */
	if (!word)
		return RECORDING_CUT;

	if (*length + RECORDING_FRAME > r->room) {
		bytes = realloc(r->bytes, *length + RECORDING_FRAME);
		if (!bytes)
			return no_memory(r);
		r->bytes = bytes;
		r->room = *length + RECORDING_FRAME;
	}

	memcpy(r->bytes, start, sizeof(start));
	if (fread(r->bytes + 4, 1, *length + 4, r->file) != *length + 4)
		goto short_read;

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (crc32(0, r->bytes, *length + 4) != load_u32(r->bytes + 4 + *length)) {
		if (ends_in_zeros(r, *length + RECORDING_FRAME))
			return RECORDING_CUT;
		return fail(r, RECORDING_BROKEN, "the record at byte %ld has a wrong checksum", r->offset);
	}
#endif
	r->offset += *length + RECORDING_FRAME;
	return RECORDING_SAMPLE;

short_read:
	if (ferror(r->file))
		return fail(r, RECORDING_UNREADABLE, "%s", strerror(errno));
	return RECORDING_CUT;
}

/* Parses what the latest record holds. Returns NULL if that is no JSON object. */
static struct json_object *parse_object(struct recording *r, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct json_object *object = NULL;

	if (!tokener)
		return NULL;

	/* With the end that text has in memory: a number may otherwise go on. */
	r->bytes[4 + length] = 0;
	object = json_tokener_parse_ex(tokener, (const char *)r->bytes + 4, length + 1);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	return object;
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

/* A copy of a text, NULL if it is not there. Returns -1 if it is none, or without memory. */
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

/* Returns the key whose value is wrong, or NULL. */
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

	if (recording_layout_make(&r->layout, head))
		return fail(r, RECORDING_BROKEN, "the recording has too many blocks");

	r->blocks = calloc(r->layout.blocks + 1, sizeof(*r->blocks));
	r->values = calloc(r->layout.blocks * (size_t)head->gpu.values_per_block + 1, sizeof(*r->values));
	r->previous = calloc(r->layout.fields, sizeof(*r->previous));
	if (!r->blocks || !r->values || !r->previous)
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
	uint8_t start[sizeof(recording_magic) + 4];
	struct json_object *object;
	enum recording_item item;
	const char *wrong;
	size_t length, i;
	char kind;

	i = fread(start, 1, sizeof(start), r->file);
	if (ferror(r->file))
		return fail(r, RECORDING_UNREADABLE, "%s", strerror(errno));
	if (i < sizeof(recording_magic) || memcmp(start, recording_magic, sizeof(recording_magic)))
		return fail(r, RECORDING_BROKEN, "not a panthor-perf recording");
	if (i < sizeof(start))
		return fail(r, RECORDING_BROKEN, "the recording is incomplete: its header is cut off");
	if (load_u32(start + sizeof(recording_magic)) != RECORDING_VERSION)
		return fail(r, RECORDING_BROKEN, "the recording has format version %u, but this panthor-perf "
			    "reads version %u", load_u32(start + sizeof(recording_magic)), RECORDING_VERSION);

	r->offset = sizeof(start);
	item = read_record(r, &kind, &length);
	if (item == RECORDING_CUT)
		return fail(r, RECORDING_BROKEN, "the recording is incomplete: its header is cut off");
	if (item != RECORDING_SAMPLE)
		return item;
	if (kind != RECORDING_KIND_HEAD)
		return fail(r, RECORDING_BROKEN, "the recording does not start with a header");

	object = parse_object(r, length);
	if (!object)
		return fail(r, RECORDING_BROKEN, "the header of the recording is not a JSON object");
	wrong = parse_head(&r->head, object);
	json_object_put(object);
	if (wrong)
		return fail(r, RECORDING_BROKEN, "\"%s\" is missing or invalid in the header of the recording", wrong);

	item = make_sample(r);
	if (item != RECORDING_END)
		return item;
	r->first = r->offset;
	return RECORDING_END;
}

enum recording_item recording_open_stream(struct recording *r, FILE *file)
{
	memset(r, 0, sizeof(*r));
	r->file = file;
	return read_head(r);
}

int recording_rewind(struct recording *r)
{
	if (fseek(r->file, r->first, SEEK_SET)) {
		fail(r, RECORDING_UNREADABLE, "%s", strerror(errno));
		return -1;
	}
	r->offset = r->first;
	r->end_ns = r->mark.time_ns = 0;
	memset(r->previous, 0, r->layout.fields * sizeof(*r->previous));
	return 0;
}

/* Adds the changes of a record to the fields. Returns -1 if they are no changes of them. */
static int read_changes(struct recording *r, size_t length)
{
	size_t i = 0, fields = r->layout.fields;
	const uint8_t *at = r->bytes + 4, *end = at + length;
	uint64_t value, run;

	while (at < end) {
		at = get_varint(at, end, &value);
		if (!at)
			return -1;
		if (!value) {
			at = get_varint(at, end, &run);
			if (!at || run >= fields - i)
				return -1;
			i += run + 1;
			continue;
		}
		if (i == fields)
			return -1;
		r->previous[i++] += value >> 1 ^ (0 - (value & 1));
	}
	return 0;
}

static int read_sample(struct recording *r, size_t length)
{
	const struct recording_layout *layout = &r->layout;
	struct pperf_sample *sample = &r->sample;
	const uint64_t *field = r->previous;
	unsigned int b, i;

	if (read_changes(r, length))
		return -1;

	/* Time does not go back, and the numbers are ones that the kernel could have given. */
	if (__builtin_add_overflow(r->end_ns, field[0], &sample->start_ns) ||
	    __builtin_add_overflow(sample->start_ns, field[1], &sample->end_ns) ||
	    sample->end_ns > INT64_MAX || field[2] > UINT32_MAX)
		return -1;

	r->end_ns = sample->end_ns;
	sample->flags = field[2];
	for (i = 0; i < PPERF_CLOCKS; i++)
		sample->cycles[i] = field[3 + i];
	field += RECORDING_FIELDS;

	for (b = 0; b < layout->blocks; b++, field++) {
		if (*field > UINT16_MAX || *field >> 8 >= PPERF_CLOCKS)
			return -1;
		r->blocks[b].states = *field & 0xff;
		r->blocks[b].clock = *field >> 8;
	}

	for (b = 0; b < layout->blocks; b++) {
		const uint8_t *index = layout->indices[layout->types[b]];
		uint64_t *values = r->values + b * (size_t)r->head.gpu.values_per_block;

		for (i = 0; i < layout->counters[layout->types[b]]; i++)
			values[index[i]] = *field++;
	}
	return 0;
}

static int read_clock_record(struct recording *r, size_t length)
{
	const uint8_t *at = r->bytes + 4;

	if (length < 32)
		return -1;
	r->clocks.monotonic_raw = load_u64(at);
	r->clocks.boottime = load_u64(at + 8);
	r->clocks.realtime = load_u64(at + 16);
	r->clocks.monotonic = load_u64(at + 24);
	return 0;
}

static int read_mark(struct recording *r, size_t length)
{
	const uint8_t *at = r->bytes + 4;
	struct recording_mark mark = {};

	if (length < 8 || length - 8 > PPERF_MARK_LENGTH)
		return -1;
	mark.time_ns = load_u64(at);
	memcpy(mark.name, at + 8, length - 8);
	if (mark.time_ns < r->mark.time_ns || mark.time_ns > INT64_MAX || strlen(mark.name) != length - 8 ||
	    !text_is_clean(mark.name))
		return -1;
	r->mark = mark;
	return 0;
}

static const char *reason_name(unsigned int reason)
{
	return recording_reasons[reason];
}

static int read_end(struct recording *r, size_t length)
{
	struct json_object *object = parse_object(r, length), *name;
	struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{ "samples", &r->end.samples }, { "overflow", &r->end.overflow },
		{ "error", &r->end.error }, { "stretched", &r->end.stretched }, { "lost", &r->end.lost },
		{ "marks", &r->end.marks }, { "dropped", &r->end.dropped },
		{ "measured_hz", &r->end.clock.measured_hz }, { "nominal_hz", &r->end.clock.nominal_hz },
	};
	int reason = -1, ret = -1;
	uint64_t status;
	size_t i;

	if (!object)
		return -1;

	if (json_object_object_get_ex(object, "reason", &name))
		reason = name_number(name, reason_name, 0, 4);
	if (reason < 0 || get_number(object, "status", 255, &status))
		goto out;
	r->end.reason = reason;
	r->end.status = status;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (get_number(object, numbers[i].key, UINT64_MAX, numbers[i].value))
			goto out;
	ret = 0;
out:
	json_object_put(object);
	return ret;
}

enum recording_item recording_next(struct recording *r)
{
	long offset = r->offset;
	enum recording_item item;
	size_t length;
	char kind;
	int ret = 0;

	for (;;) {
		item = read_record(r, &kind, &length);
		if (item != RECORDING_SAMPLE)
			return item;

		switch (kind) {
		case RECORDING_KIND_SAMPLE:
			ret = read_sample(r, length);
			item = RECORDING_SAMPLE;
			break;
		case RECORDING_KIND_MARK:
			ret = read_mark(r, length);
			item = RECORDING_MARK;
			break;
		case RECORDING_KIND_CLOCKS:
			ret = read_clock_record(r, length);
			item = RECORDING_CLOCKS;
			break;
		case RECORDING_KIND_END:
			ret = read_end(r, length);
			item = RECORDING_END;
			break;
		default:
			offset = r->offset;
			continue;
		}
		if (ret)
			return fail(r, RECORDING_BROKEN, "the record at byte %ld is invalid", offset);
		return item;
	}
}

void recording_close(struct recording *r)
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
	free(r->bytes);
	memset(r, 0, sizeof(*r));
}
