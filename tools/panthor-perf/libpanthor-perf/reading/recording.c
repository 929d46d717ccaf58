// SPDX-License-Identifier: MIT
/* What writing and reading a recording have in common. */
#include "recording.h"

#include <endian.h>
#include <string.h>

/* The first byte is not text, and the line ends show a transfer as text. */
const char pperf_records_magic[8] = { '\x89', 'P', 'P', 'D', '\r', '\n', '\x1a', '\n' };

const char *const pperf_records_reasons[5] = { "command", "interrupt", "gpu", "failure", "continued" };
const char *const pperf_records_outcomes[3] = { "done", "dropped", "unfinished" };

int pperf_records_layout_make(struct recording_layout *layout, const struct recording_head *head)
{
	unsigned int type, index, value;

	memset(layout, 0, sizeof(*layout));
	layout->fields = RECORDING_FIELDS;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		if (head->gpu.blocks[type] > RECORDING_MAX_BLOCKS)
			return -1;

		for (value = PPERF_FIRST_COUNTER; value < head->gpu.values_per_block; value++)
			if (head->masks.bits[type][value / 64] >> (value % 64) & 1)
				layout->indices[type][layout->counters[type]++] = value;

		for (index = 0; index < head->gpu.blocks[type]; index++) {
			layout->types[layout->blocks++] = type;
			layout->fields += 1 + layout->counters[type];
		}
	}
	return 0;
}

/* ---- Numbers ---- */

const uint8_t *pperf_records_get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
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

/* ---- Fields ---- */

/* The number that the seven low bits of each byte make. */
static inline uint64_t join_bits(uint64_t bytes)
{
	bytes = (bytes & 0x7f007f007f007f00ull) >> 1 | (bytes & 0x007f007f007f007full);
	bytes = (bytes & 0x3fff00003fff0000ull) >> 2 | (bytes & 0x00003fff00003fffull);
	return (bytes & 0x0fffffff00000000ull) >> 4 | (bytes & 0x000000000fffffffull);
}

static inline uint64_t change_of(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/*
 * Adds changes two by two, without a branch for each byte, for as long as both are in the next eight bytes and not 0: most are
 * of two bytes or three. Returns where that ends, and the next field.
 */
static const uint8_t *get_pairs(const uint8_t *at, const uint8_t *end, uint64_t **fields, const uint64_t *last)
{
	uint64_t *field = *fields, bytes, first, second, values[2];
	unsigned int length;

	while (end - at >= (ptrdiff_t)sizeof(bytes) && field < last) {
		memcpy(&bytes, at, sizeof(bytes));
		bytes = le64toh(bytes);
		/* The highest bits of the bytes that end numbers. */
		first = ~bytes & 0x8080808080808080ull;
		second = first & (first - 1);
		if (!second)
			break;
		length = __builtin_ctzll(first) + 1;
		bytes &= 0x7f7f7f7f7f7f7f7full;
		values[0] = bytes & (first - 1);
		values[1] = (bytes & (second - 1)) >> length;
		if (!values[0] || !values[1])
			break;
		at += (__builtin_ctzll(second) + 1) / 8;
		*field++ += change_of(join_bits(values[0]));
		*field++ += change_of(join_bits(values[1]));
	}
	*fields = field;
	return at;
}

int pperf_records_get_changes(const uint8_t *at, const uint8_t *end, uint64_t *fields, size_t count)
{
	uint64_t *const last = fields + count, value, run;

	while (at < end) {
		at = get_pairs(at, end, &fields, last - 1);
		if (at == end)
			break;
		at = pperf_records_get_varint(at, end, &value);
		if (!at)
			return -1;
		if (!value) {
			at = pperf_records_get_varint(at, end, &run);
			if (!at || run >= (size_t)(last - fields))
				return -1;
			fields += run + 1;
			continue;
		}
		if (fields == last)
			return -1;
		*fields++ += change_of(value);
	}
	return 0;
}

int pperf_records_get_times(const struct recording_layout *layout, const uint64_t *fields, uint64_t previous_end_ns,
			struct recording_times *times)
{
	unsigned int b;

	/* Time does not go back, and the numbers are ones that the kernel could have given. */
	if (__builtin_add_overflow(previous_end_ns, fields[0], &times->start_ns) ||
	    __builtin_add_overflow(times->start_ns, fields[1], &times->end_ns) || times->end_ns > INT64_MAX ||
	    fields[2] > UINT32_MAX)
		return -1;
	times->flags = fields[2];
	for (b = 0; b < layout->blocks; b++)
		if (fields[RECORDING_FIELDS + b] > UINT16_MAX || fields[RECORDING_FIELDS + b] >> 8 >= PPERF_CLOCKS)
			return -1;
	return 0;
}

void pperf_records_spread(const struct recording_layout *layout, const uint64_t *fields, struct pperf_block *blocks,
		      uint64_t *values, unsigned int values_per_block)
{
	const uint64_t *field = fields + layout->blocks;
	unsigned int b, i;

	for (b = 0; b < layout->blocks; b++, values += values_per_block) {
		const uint8_t *index = layout->indices[layout->types[b]];

		blocks[b].states = fields[b] & 0xff;
		blocks[b].clock = fields[b] >> 8;
		for (i = 0; i < layout->counters[layout->types[b]]; i++)
			values[index[i]] = *field++;
	}
}

/* ---- State: the end of the previous sample in eight bytes, and its fields as changes from 0 ---- */

size_t pperf_records_state_room(const struct recording_layout *layout)
{
	return sizeof(uint64_t) + (layout->fields + 1) * RECORDING_MAX_VARINT;
}

uint8_t *pperf_records_put_state(const struct recording_layout *layout, uint64_t end_ns, const uint64_t *fields, uint8_t *to)
{
	uint64_t end = htole64(end_ns), same = 0;
	size_t i;

	memcpy(to, &end, sizeof(end));
	to += sizeof(end);
	for (i = 0; i < layout->fields; i++)
		to = pperf_records_put_change(to, fields[i], &same);
	return to;
}

int pperf_records_get_state(const struct recording_layout *layout, const uint8_t *at, const uint8_t *end, uint64_t *end_ns,
			uint64_t *fields)
{
	uint64_t ns;

	if (end - at < (ptrdiff_t)sizeof(ns))
		return -1;
	memcpy(&ns, at, sizeof(ns));
	*end_ns = le64toh(ns);
	memset(fields, 0, layout->fields * sizeof(*fields));
	return pperf_records_get_changes(at + sizeof(ns), end, fields, layout->fields);
}

/* ---- Columns ---- */

struct recording_column pperf_records_column(const struct recording *r, unsigned int type, unsigned int place)
{
	const struct pperf_gpu_info *info = &r->head.gpu;
	struct recording_column column = { RECORDING_FIELDS + r->layout.blocks + place, r->layout.counters[type], info->blocks[type] };
	unsigned int t;

	for (t = 1; t < type; t++)
		column.first += (size_t)info->blocks[t] * r->layout.counters[t];
	return column;
}

size_t pperf_records_states(const struct recording *r, unsigned int type)
{
	return r->head.gpu.blocks[type] ? RECORDING_FIELDS + pperf_info_first_block(&r->head.gpu, type) : 0;
}
