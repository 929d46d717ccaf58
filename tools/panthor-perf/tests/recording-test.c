// SPDX-License-Identifier: MIT
/* Tests of recordings: what was written is read, of whole, cut and damaged files. Prints TAP. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "fifo.h"
#include "recording-write.h"
#include "tap.h"
#include "text.h"

#define SAMPLES 18
#define MAX_BLOCKS 32

/* The same numbers each time. */
static uint64_t random_state;

static uint64_t random_bits(unsigned int bits)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return bits ? (random_state ^ random_state >> 29) >> (64 - bits) : 0;
}

static char *const command[] = { "a program", "with \"quotes\"", "\xc3\xa4", "", NULL };

static struct recording_head make_head(unsigned int values, unsigned int cores)
{
	struct recording_head head = {
		.tool = "panthor-perf test", .host = "here", .kernel = "7.3.0", .machine = "aarch64",
		.command = (char **)command, .period_ns = 200000, .set = 1,
		.gpu = {
			.size = sizeof(head.gpu), .node = "/dev/dri/renderD128", .name = "Mali-G610",
			.layout = "Mali-G710", .gpu_id = 0xa8670005, .driver_major = 1, .driver_minor = 5,
			.shader_present = 0xffffffffffffffff, .cores = cores, .slices = 2, .bus_bytes = 16,
			.blocks = { 0, 1, 0, 1, 1, 2, cores }, .values_per_block = values,
			.has_states = true, .clocks = 5, .sets = 3, .min_period_ns = 100000,
			.toplevel_hz = 1000000000,
		},
	};
	unsigned int type;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		if (!head.gpu.blocks[type])
			continue;
		head.masks.bits[type][0] = random_bits(64) & random_bits(64) & ~0xfull;
		head.masks.bits[type][1] = values == 128 ? random_bits(64) : 0;
	}
	return head;
}

/* Samples, whose values are of all sizes, in memory that the next ones do not use. */
struct samples {
	struct pperf_sample list[SAMPLES];
	struct pperf_block blocks[SAMPLES][MAX_BLOCKS];
	uint64_t values[SAMPLES][MAX_BLOCKS][PPERF_MAX_VALUES];
};

static struct samples *make_samples(const struct recording_head *head)
{
	struct samples *s = calloc(1, sizeof(*s));
	unsigned int n, type, index, value, b;
	uint64_t now = 123456789012345;
	struct pperf_block *block;

	if (!s)
		abort();
	for (n = 0; n < SAMPLES; n++) {
		struct pperf_sample *sample = &s->list[n];

		/* Sometimes a gap, and now and then nothing at all changes. */
		now += n % 7 ? 0 : random_bits(20);
		sample->start_ns = now;
		now += n % 5 ? 200000 : random_bits(30);
		sample->end_ns = now;
		sample->set = head->set;
		sample->flags = n % 11 ? 0 : random_bits(3);
		for (b = 0; b < PPERF_CLOCKS; b++)
			sample->cycles[b] = n % 3 ? 1000000 : random_bits(random_bits(6));
		sample->size = sizeof(*sample);
		sample->block_size = sizeof(*block);
		sample->num_values = head->gpu.values_per_block;
		sample->blocks = s->blocks[n];
		for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
			for (index = 0; index < head->gpu.blocks[type]; index++) {
				b = sample->num_blocks++;
				block = &s->blocks[n][b];
				block->type = type;
				block->index = index;
				block->states = random_bits(n % 4 ? 0 : 6);
				block->clock = type == PPERF_BLOCK_SHADER ? 2 : 0;
				memcpy(block->enabled, head->masks.bits[type], sizeof(block->enabled));
				block->values = s->values[n][b];
				for (value = 4; value < head->gpu.values_per_block; value++)
					if (head->masks.bits[type][value / 64] >> (value % 64) & 1 &&
					    n % 4 != 3)
						s->values[n][b][value] = random_bits(random_bits(6) + 1);
			}
		}
	}
	return s;
}

struct bytes {
	uint8_t *at;
	size_t size;
};

static void append(struct bytes *bytes, const void *more, size_t size)
{
	bytes->at = realloc(bytes->at, bytes->size + size + 1);
	if (!bytes->at)
		abort();
	memcpy(bytes->at + bytes->size, more, size);
	bytes->size += size;
}

static struct recording_mark make_mark(unsigned int n)
{
	static const char *const names[] = { "shadows", "a longer name, \xc3\xa4 <b>&\"", "", "shadows" };
	struct recording_mark mark = { .time_ns = 123456789012345 + n * 100000 };

	if (n == SAMPLES - 1)
		memset(mark.name, 'x', PPERF_MARK_LENGTH);
	else
		strcpy(mark.name, names[n % 4]);
	return mark;
}

/* Where the record of the end ends, and the index begins. */
static size_t end_of(const struct bytes *file)
{
	uint64_t offset;

	memcpy(&offset, file->at + file->size - 12, sizeof(offset));
	return offset;
}

/* Samples are followed by a mark at every third and clocks at every eighth, and where each record ends is noted. */
static struct bytes make_file(const struct recording_head *head, const struct samples *s, size_t *ends)
{
	const struct recording_end last = {
		.reason = RECORDING_INTERRUPTED, .status = 7, .samples = SAMPLES, .overflow = 1, .error = 2,
		.stretched = 3, .lost = 1ull << 63, .marks = 4, .dropped = 5, .clock = { 850000000, 1000000000 },
	};
	struct recording_writer writer;
	struct recording_mark mark;
	struct bytes file = {};
	unsigned int n;

	if (recording_writer_open(&writer, head))
		abort();
	append(&file, writer.bytes, writer.size);
	*ends++ = file.size;
	for (n = 0; n < SAMPLES; n++) {
		recording_write_sample(&writer, &s->list[n]);
		append(&file, writer.bytes, writer.size);
		*ends++ = file.size;
		if (n % 3 == 2) {
			mark = make_mark(n);
			recording_write_mark(&writer, &mark);
			append(&file, writer.bytes, writer.size);
		}
		if (n % 8)
			continue;
		recording_write_clocks(&writer, &(struct clocks){ n, n + 1, n + 2, UINT64_MAX });
		append(&file, writer.bytes, writer.size);
	}
	if (recording_write_end(&writer, &last))
		abort();
	append(&file, writer.bytes, writer.size);
	*ends = end_of(&file);
	recording_writer_close(&writer);
	return file;
}

static enum recording_item open_bytes(struct recording *r, const void *bytes, size_t size)
{
	FILE *file = fmemopen((void *)bytes, size, "r");

	if (!file)
		abort();
	return pperf_records_open_stream(r, file);
}

static bool same_sample(const struct pperf_sample *a, const struct pperf_sample *b, unsigned int values)
{
	unsigned int i;

	if (a->start_ns != b->start_ns || a->end_ns != b->end_ns || a->set != b->set || a->flags != b->flags ||
	    memcmp(a->cycles, b->cycles, sizeof(a->cycles)) || a->num_blocks != b->num_blocks ||
	    a->num_values != b->num_values)
		return false;
	for (i = 0; i < a->num_blocks; i++) {
		const struct pperf_block *x = pperf_sample_block_at(a, i), *y = pperf_sample_block_at(b, i);

		if (x->type != y->type || x->index != y->index || x->states != y->states ||
		    x->clock != y->clock || memcmp(x->enabled, y->enabled, sizeof(x->enabled)) ||
		    memcmp(x->values, y->values, 8 * values))
			return false;
	}
	return true;
}

/* Reads all there is. Returns the samples that are as they were written, up to the first that is not. */
static unsigned int read_all(struct recording *r, const struct samples *s, enum recording_item *last)
{
	unsigned int n = 0, wrong = 0;
	struct recording_mark mark;

	do {
		*last = pperf_records_next(r);
		if (*last == RECORDING_MARK) {
			mark = make_mark(n - 1);
			wrong += n % 3 || r->mark.time_ns != mark.time_ns || strcmp(r->mark.name, mark.name);
		}
		if (*last != RECORDING_SAMPLE)
			continue;
		if (n >= SAMPLES || !same_sample(&r->sample, &s->list[n], r->head.gpu.values_per_block))
			wrong++;
		n++;
	} while (*last <= RECORDING_CLOCKS);
	expect(!wrong, "%u of %u samples are wrong", wrong, n);
	return n;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void expect_head(const struct recording_head *a, const struct recording_head *b)
{
	unsigned int i;

	expect(same_text(a->tool, b->tool) && same_text(a->host, b->host) && same_text(a->kernel, b->kernel) &&
	       same_text(a->machine, b->machine), "where it comes from is another");
	expect(a->period_ns == b->period_ns && a->set == b->set, "period %" PRIu64 ", set %u", b->period_ns, b->set);
	expect(!memcmp(&a->masks, &b->masks, sizeof(a->masks)), "the masks are others");
	expect(same_text(a->gpu.name, b->gpu.name) && same_text(a->gpu.layout, b->gpu.layout) &&
	       same_text(a->gpu.node, b->gpu.node), "the GPU's names are others");
	expect(a->gpu.gpu_id == b->gpu.gpu_id && a->gpu.driver_major == b->gpu.driver_major &&
	       a->gpu.driver_minor == b->gpu.driver_minor && a->gpu.shader_present == b->gpu.shader_present &&
	       a->gpu.cores == b->gpu.cores && a->gpu.slices == b->gpu.slices &&
	       a->gpu.bus_bytes == b->gpu.bus_bytes && a->gpu.values_per_block == b->gpu.values_per_block &&
	       a->gpu.has_states == b->gpu.has_states && a->gpu.clocks == b->gpu.clocks &&
	       a->gpu.sets == b->gpu.sets && a->gpu.min_period_ns == b->gpu.min_period_ns &&
	       a->gpu.toplevel_hz == b->gpu.toplevel_hz, "the GPU is another");
	expect(!memcmp(a->gpu.blocks, b->gpu.blocks, sizeof(a->gpu.blocks)), "the blocks are others");
	for (i = 0; a->command && a->command[i]; i++)
		expect(b->command && same_text(a->command[i], b->command[i]), "word %u of the command", i);
	expect(!a->command == !b->command, "there is no command, or one");
}

static void test_round_trip(unsigned int values, unsigned int cores)
{
	struct recording_head head = make_head(values, cores);
	struct samples *s = make_samples(&head);
	size_t ends[SAMPLES + 2];
	struct bytes file = make_file(&head, s, ends);
	enum recording_item item;
	struct recording r;
	unsigned int n;
	char name[80];

	begin();
	item = open_bytes(&r, file.at, file.size);
	expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
	expect_head(&head, &r.head);
	n = read_all(&r, s, &item);
	expect(n == SAMPLES && item == RECORDING_END, "%u samples, then %d: %s", n, item, r.error);
	expect(r.end.reason == RECORDING_INTERRUPTED && r.end.status == 7 && r.end.samples == SAMPLES &&
	       r.end.overflow == 1 && r.end.error == 2 && r.end.stretched == 3 && r.end.lost == 1ull << 63 &&
	       r.end.marks == 4 && r.end.dropped == 5 && r.end.clock.measured_hz == 850000000 &&
	       r.end.clock.nominal_hz == 1000000000,
	       "the end is another");
	expect(r.clocks.monotonic_raw == 16 && r.clocks.boottime == 17 && r.clocks.realtime == 18 &&
	       r.clocks.monotonic == UINT64_MAX, "the last clocks are others");

	expect(r.mark.time_ns == make_mark(SAMPLES - 1).time_ns && strlen(r.mark.name) == PPERF_MARK_LENGTH,
	       "the last mark is %" PRIu64 " %s", r.mark.time_ns, r.mark.name);

	/* And once more, from the first. */
	expect(!pperf_records_rewind(&r), "it cannot be read again");
	n = read_all(&r, s, &item);
	expect(n == SAMPLES && item == RECORDING_END, "then %u samples and %d: %s", n, item, r.error);
	pperf_records_close(&r);
	snprintf(name, sizeof(name), "what was written is read: blocks of %u values, %u cores", values, cores);
	end(name);
	free(file.at);
	free(s);
}

static void test_sparse_head(void)
{
	struct recording_head head = { .gpu = { .values_per_block = 64 } };
	struct recording_writer writer;
	struct recording r;
	enum recording_item item;
	struct pperf_sample nothing = { .start_ns = 5, .end_ns = 9 };
	struct bytes file = {};

	begin();
	expect(!recording_writer_open(&writer, &head), "it cannot be written");
	append(&file, writer.bytes, writer.size);
	recording_write_sample(&writer, &nothing);
	append(&file, writer.bytes, writer.size);
	recording_writer_close(&writer);
	item = open_bytes(&r, file.at, file.size);
	expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
	expect(!r.head.command && !r.head.gpu.layout && same_text(r.head.gpu.name, "unknown Mali"),
	       "there is more than was written");
	item = pperf_records_next(&r);
	expect(item == RECORDING_SAMPLE && r.sample.start_ns == 5 && r.sample.end_ns == 9, "%d: %s", item, r.error);
	item = pperf_records_next(&r);
	expect(item == RECORDING_CUT, "then %d", item);
	pperf_records_close(&r);

	/* More blocks than the format has room for. */
	head.gpu.blocks[PPERF_BLOCK_SHADER] = RECORDING_MAX_BLOCKS + 1;
	expect(recording_writer_open(&writer, &head), "too many blocks are written");
	end("a GPU of which nothing is known");
	free(file.at);
}

/* A file that ends anywhere has all samples that are whole, and no other. */
static void test_cuts(void)
{
	struct recording_head head = make_head(64, 1);
	struct samples *s = make_samples(&head);
	size_t ends[SAMPLES + 2], size;
	struct bytes file = make_file(&head, s, ends);
	enum recording_item item;
	struct recording r;
	unsigned int n, whole;

	begin();
	for (size = 1; size < ends[SAMPLES + 1]; size++) {
		/* In memory of just this size, so that reading further is found. */
		uint8_t *copy = malloc(size);

		if (!copy)
			abort();
		memcpy(copy, file.at, size);
		item = open_bytes(&r, copy, size);
		if (size < ends[0]) {
			expect(item == RECORDING_BROKEN && *r.error, "%zu bytes: %d", size, item);
		} else {
			for (whole = 0; whole < SAMPLES && ends[whole + 1] <= size; whole++)
				;
			n = read_all(&r, s, &item);
			expect(n == whole && item == RECORDING_CUT, "%zu bytes: %u samples, not %u, then %d: %s",
			       size, n, whole, item, r.error);
		}
		pperf_records_close(&r);
		free(copy);
	}
	end("a file cut at any byte has its whole samples");

	/* Room without content, as a file system leaves it. */
	begin();
	memset(file.at + ends[11], 0, file.size - ends[11]);
	item = open_bytes(&r, file.at, file.size);
	expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
	n = read_all(&r, s, &item);
	expect(n == 11 && item == RECORDING_CUT, "%u samples, then %d: %s", n, item, r.error);
	pperf_records_close(&r);
	end("zeros at the end of a file are no content");
	free(file.at);
	free(s);
}

/* Zeros may begin in a record, whose head and first values were written. */
static void test_zeros(void)
{
	const size_t more = 8192;
	struct recording_head head = make_head(64, 1);
	struct samples *s = make_samples(&head);
	size_t ends[SAMPLES + 2], at, from;
	struct bytes file = make_file(&head, s, ends);
	uint8_t *copy = malloc(file.size + more);
	enum recording_item item;
	struct recording r;
	unsigned int n, whole;

	if (!copy)
		abort();
	begin();
	for (at = ends[0]; at < ends[SAMPLES + 1]; at++) {
		memset(copy, 0, file.size + more);
		memcpy(copy, file.at, at);
		/* What was zero before is as it was. */
		for (from = at; from < ends[SAMPLES + 1] && !file.at[from]; from++)
			;
		if (from == ends[SAMPLES + 1])
			break;
		for (whole = 0; whole < SAMPLES && ends[whole + 1] <= from; whole++)
			;
		item = open_bytes(&r, copy, file.size + more);
		expect(item == RECORDING_END, "zeros from byte %zu: %s", at, r.error);
		n = read_all(&r, s, &item);
		expect(n == whole && item == RECORDING_CUT, "zeros from byte %zu: %u samples, not %u, then %d: %s", at, n,
		       whole, item, r.error);
		pperf_records_close(&r);
	}
	expect(at > ends[SAMPLES + 1] - 4, "only %zu of %zu bytes were tried", at, ends[SAMPLES + 1]);
	end("zeros from any byte to the end of a file are no content");

	/* Not so if something comes after them. */
	begin();
	memcpy(copy, file.at, file.size);
	memset(copy + ends[11] - 6, 0, 6);
	item = open_bytes(&r, copy, file.size);
	expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
	n = read_all(&r, s, &item);
	expect(n == 10 && item == RECORDING_BROKEN, "%u samples, then %d: %s", n, item, r.error);
	pperf_records_close(&r);
	end("zeros amid a file are damage");
	free(copy);
	free(file.at);
	free(s);
}

/* No byte can be changed without being found. */
static void test_damage(void)
{
	struct recording_head head = make_head(64, 1);
	struct samples *s = make_samples(&head);
	size_t ends[SAMPLES + 2], at;
	struct bytes file = make_file(&head, s, ends);
	enum recording_item item;
	struct recording r;
	unsigned int n, bit;

	begin();
	for (at = 0; at < ends[SAMPLES + 1]; at++) {
		bit = at % 8;
		file.at[at] ^= 1 << bit;
		item = open_bytes(&r, file.at, file.size);
		if (item == RECORDING_END) {
			n = read_all(&r, s, &item);
			expect(n < SAMPLES || item != RECORDING_END, "bit %u of byte %zu is not missed", bit, at);
		}
		/* A length that has grown cannot be told from a file that was cut. */
		expect(item == RECORDING_BROKEN || item == RECORDING_CUT, "bit %u of byte %zu: %d", bit, at, item);
		expect(item == RECORDING_CUT || *r.error, "bit %u of byte %zu: nothing is said", bit, at);
		pperf_records_close(&r);
		file.at[at] ^= 1 << bit;
	}
	end("a changed byte is found");
	free(file.at);
	free(s);
}

/* A record with a right check sum. */
static void append_record(struct bytes *file, char kind, const void *bytes, size_t size)
{
	uint8_t start[4] = { kind, size & 0xff, size >> 8 & 0xff, size >> 16 };
	uint32_t sum = crc32(crc32(0, start, 4), bytes, size);
	uint8_t last[4] = { sum, sum >> 8, sum >> 16, sum >> 24 };

	append(file, start, 4);
	append(file, bytes, size);
	append(file, last, 4);
}

static void test_unknown_kinds(void)
{
	struct recording_head head = make_head(64, 1);
	struct samples *s = make_samples(&head);
	size_t ends[SAMPLES + 2];
	struct bytes file = make_file(&head, s, ends), mixed = {};
	enum recording_item item;
	struct recording r;
	unsigned int n;

	begin();
	append(&mixed, file.at, ends[0]);
	append_record(&mixed, 'x', "what a later program has to say", 31);
	append(&mixed, file.at + ends[0], ends[1] - ends[0]);
	append_record(&mixed, 'y', "", 0);
	append(&mixed, file.at + ends[1], file.size - ends[1]);
	item = open_bytes(&r, mixed.at, mixed.size);
	expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
	n = read_all(&r, s, &item);
	expect(n == SAMPLES && item == RECORDING_END, "%u samples, then %d: %s", n, item, r.error);
	pperf_records_close(&r);

	file.at[sizeof(pperf_records_magic)]++;
	item = open_bytes(&r, file.at, file.size);
	expect(item == RECORDING_BROKEN && strstr(r.error, "version 2"), "another version: %d: %s", item, r.error);
	pperf_records_close(&r);
	end("records of unknown kinds are skipped, other versions refused");
	free(mixed.at);
	free(file.at);
	free(s);
}

/* Right check sums over what no program of ours has written. */
static void test_nonsense(void)
{
#define HEAD(rest) "{\"gpu\":{\"id\":1},\"values_per_block\":64," rest "}"
#define ONE_BLOCK HEAD("\"blocks\":[{\"type\":\"CSHW\",\"count\":1,\"counters\":[4,5]}]")
	static const struct {
		const char *name, *head;
	} heads[] = {
		{ "no object", "[]" }, { "no JSON", "{\"gpu\":" }, { "more than an object", "{} {}" },
		{ "nothing", "" }, { "no GPU", "{}" }, { "a GPU that is text", "{\"gpu\":\"G610\"}" },
		{ "no blocks", HEAD("\"set\":0") }, { "a number as blocks", HEAD("\"blocks\":5") },
		{ "another number of values", "{\"gpu\":{},\"values_per_block\":96,\"blocks\":[]}" },
		{ "a negative period", HEAD("\"blocks\":[],\"period_ns\":-1") },
		{ "a period that is text", HEAD("\"blocks\":[],\"period_ns\":\"1\"") },
		{ "an unknown set", HEAD("\"blocks\":[],\"set\":3") },
		{ "an unknown type", HEAD("\"blocks\":[{\"type\":\"NEURAL\",\"count\":1}]") },
		{ "a type without a name", HEAD("\"blocks\":[{\"type\":\"-\",\"count\":1}]") },
		{ "65 blocks", HEAD("\"blocks\":[{\"type\":\"CSHW\",\"count\":65}]") },
		{ "no block", HEAD("\"blocks\":[{\"type\":\"CSHW\",\"count\":0}]") },
		{ "a type twice", HEAD("\"blocks\":[{\"type\":\"FW\",\"count\":1},{\"type\":\"FW\",\"count\":1}]") },
		{ "counter 3", HEAD("\"blocks\":[{\"type\":\"FW\",\"count\":1,\"counters\":[3]}]") },
		{ "counter 64", HEAD("\"blocks\":[{\"type\":\"FW\",\"count\":1,\"counters\":[64]}]") },
		{ "an unknown clock", "{\"gpu\":{\"clocks\":[\"tower\"]}}" },
		{ "a command that is a number", HEAD("\"blocks\":[],\"command\":[1]") },
		{ "deep nesting", "{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}" },
	};
	/* Fields: gap, duration, flags, three clocks, states, two values. */
	static const struct {
		const char *name, *sample;
		size_t size;
	} samples[] = {
		{ "a number without an end", "\x02\x80", 2 },
		{ "a number of too many bits", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11 },
		{ "a run without a length", "\x00", 1 },
		{ "a run beyond the last field", "\x00\x09", 2 },
		{ "a run of 2^64", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ "a field too many", "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02", 10 },
		{ "a time before the last", "\x01", 1 },
		{ "flags of 33 bits", "\x00\x01\x80\x80\x80\x80\x40", 7 },
		{ "states of 17 bits", "\x00\x05\x80\x80\x10", 5 },
		{ "an unknown clock", "\x00\x05\x80\x0c", 4 },
	};
	static const struct {
		const char *name, *mark;
		size_t size;
	} marks[] = {
		{ "a mark that is too short", "1234567", 7 },
		{ "a time of 2^63", "\0\0\0\0\0\0\0\x80x", 9 },
		{ "a name with an end in it", "\1\0\0\0\0\0\0\0x\0y", 11 },
		{ "a name with a control character", "\1\0\0\0\0\0\0\0x\x1b", 10 },
		{ "a name with one of two bytes", "\1\0\0\0\0\0\0\0\xc2\x9b", 10 },
		{ "a name that is no UTF-8", "\1\0\0\0\0\0\0\0x\xc3", 10 },
		{ "a name that is too long", "\1\0\0\0\0\0\0\0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 8 + PPERF_MARK_LENGTH + 1 },
	};
	static const struct {
		const char *name, *frame;
		size_t size;
	} frames[] = {
		{ "a frame that is too short", "12345678abcd123", 15 },
		{ "a frame of 2^63", "\0\0\0\0\0\0\0\200abcd1234x", 17 },
		{ "a program with an end in its name", "\1\0\0\0\0\0\0\0abcd1234x\0y", 19 },
		{ "a program with a control character", "\1\0\0\0\0\0\0\0abcd1234\x1b", 17 },
		{ "a program whose name is too long", "\1\0\0\0\0\0\0\0abcd1234xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		  16 + RECORDING_FRAME_NAME + 1 },
	};
	static const struct {
		const char *name, *use;
		size_t size;
	} uses[] = {
		{ "users without a time", "123456789012345", 15 },
		{ "a part of a user", "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0abc", 19 },
		{ "an end before the begin", "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0abcd", 20 },
		{ "an end at 2^63", "\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200abcd", 20 },
		{ "too many users", "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0abcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcd",
		  16 + 4 * (RECORDING_USERS + 1) },
	};
	static const char *const ends[] = {
		"", "{}", "{\"reason\":\"tired\"}", "{\"reason\":\"command\",\"status\":256}",
		"{\"reason\":\"command\",\"lost\":-1}", "{\"reason\":\"command\",\"lost\":0.5}",
		"{\"reason\":\"command\",\"measured_hz\":8.5}",
	};
	uint8_t before[12] = { 0, 0, 0, 0, 0, 0, 0, 0, RECORDING_VERSION };
	enum recording_item item;
	struct recording r;
	struct bytes file;
	size_t i;

	memcpy(before, pperf_records_magic, sizeof(pperf_records_magic));
	begin();
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', heads[i].head, strlen(heads[i].head));
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d", heads[i].name, item);
		pperf_records_close(&r);
		free(file.at);
	}
	file = (struct bytes){};
	append(&file, before, sizeof(before));
	append_record(&file, 'S', "", 0);
	item = open_bytes(&r, file.at, file.size);
	expect(item == RECORDING_BROKEN && *r.error, "a sample in the head's place: %d", item);
	pperf_records_close(&r);
	free(file.at);
	end("heads that make no sense are refused");

	begin();
	for (i = 0; i <= sizeof(samples) / sizeof(samples[0]); i++) {
		const char *name = "clocks that are too short", *bytes = "1234567";
		char kind = 'C';
		size_t size = 7;

		if (i < sizeof(samples) / sizeof(samples[0])) {
			name = samples[i].name;
			bytes = samples[i].sample;
			size = samples[i].size;
			kind = 'S';
		}
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', ONE_BLOCK, strlen(ONE_BLOCK));
		append_record(&file, kind, bytes, size);
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
		item = pperf_records_next(&r);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d", name, item);
		pperf_records_close(&r);
		free(file.at);
	}
	end("samples that make no sense are refused");

	begin();
	for (i = 0; i <= sizeof(marks) / sizeof(marks[0]); i++) {
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', ONE_BLOCK, strlen(ONE_BLOCK));
		append_record(&file, 'M', "\2\0\0\0\0\0\0\0x", 9);
		if (i < sizeof(marks) / sizeof(marks[0]))
			append_record(&file, 'M', marks[i].mark, marks[i].size);
		else
			append_record(&file, 'M', "\1\0\0\0\0\0\0\0x", 9);
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
		item = pperf_records_next(&r);
		expect(item == RECORDING_MARK && r.mark.time_ns == 2 && same_text(r.mark.name, "x"), "a mark: %d", item);
		item = pperf_records_next(&r);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d",
		       i < sizeof(marks) / sizeof(marks[0]) ? marks[i].name : "a mark before the last", item);
		pperf_records_close(&r);
		free(file.at);
	}
	end("marks that make no sense are refused");

	begin();
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', ONE_BLOCK, strlen(ONE_BLOCK));
		append_record(&file, 'F', "\2\0\0\0\0\0\0\0\3\0\0\0\4\0\0\0x", 17);
		append_record(&file, 'F', frames[i].frame, frames[i].size);
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
		item = pperf_records_next(&r);
		expect(item == RECORDING_FRAME_END && r.frame.time_ns == 2 && r.frame.pid == 3 && r.frame.lost == 4 &&
		       same_text(r.frame.name, "x"), "a frame: %d", item);
		item = pperf_records_next(&r);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d", frames[i].name, item);
		pperf_records_close(&r);
		free(file.at);
	}
	end("frames that make no sense are refused");

	begin();
	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', ONE_BLOCK, strlen(ONE_BLOCK));
		append_record(&file, 'U', "\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\200", 20);
		append_record(&file, 'U', uses[i].use, uses[i].size);
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
		item = pperf_records_next(&r);
		expect(item == RECORDING_USE && r.use.start_ns == 2 && r.use.end_ns == 3 && r.use.count == 1 &&
		       r.use.users[0] == (RECORDING_USER_UNKNOWN | 4), "users: %d", item);
		item = pperf_records_next(&r);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d", uses[i].name, item);
		pperf_records_close(&r);
		free(file.at);
	}
	end("users that make no sense are refused");

	begin();
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		file = (struct bytes){};
		append(&file, before, sizeof(before));
		append_record(&file, 'H', ONE_BLOCK, strlen(ONE_BLOCK));
		append_record(&file, 'E', ends[i], strlen(ends[i]));
		item = open_bytes(&r, file.at, file.size);
		expect(item == RECORDING_END, "it cannot be opened: %s", r.error);
		item = pperf_records_next(&r);
		expect(item == RECORDING_BROKEN && *r.error, "%s: %d", ends[i], item);
		pperf_records_close(&r);
		free(file.at);
	}
	end("ends that make no sense are refused");
}

/* Nothing that changes costs a frame; what changes by little costs a byte. */
static void test_size(void)
{
	struct recording_head head = make_head(64, 4);
	struct samples *s = make_samples(&head);
	struct recording_writer writer;
	struct pperf_sample *sample = &s->list[0];
	unsigned int values = 0, type;

	begin();
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		values += head.gpu.blocks[type] * __builtin_popcountll(head.masks.bits[type][0]);
	expect(!recording_writer_open(&writer, &head), "it cannot be written");
	recording_write_sample(&writer, sample);
	sample->start_ns = sample->end_ns;
	sample->end_ns += 200000;
	recording_write_sample(&writer, sample);
	sample->start_ns = sample->end_ns;
	sample->end_ns += 200000;
	recording_write_sample(&writer, sample);
	expect(writer.size == RECORDING_FRAME, "a sample that is like the last takes %zu bytes", writer.size);

	for (type = 0; type < sample->num_blocks; type++)
		for (unsigned int i = 4; i < 64; i++)
			if (s->blocks[0][type].enabled[0] >> i & 1)
				s->values[0][type][i] += i % 2 ? 60 : -60ull;
	sample->start_ns = sample->end_ns;
	sample->end_ns += 200000;
	recording_write_sample(&writer, sample);
	expect(writer.size <= values + RECORDING_FRAME + 2 && writer.size > values,
	       "%u values that change by little take %zu bytes", values, writer.size);
	recording_writer_close(&writer);
	end("what changes little is short");
	free(s);
}

/* Two frames, another process at work, and jobs. */
static void append_frames(struct bytes *file, const struct samples *s)
{
	struct recording_writer writer = { .bytes = malloc(RECORDING_JOBS_SIZE) };
	uint64_t start_ns = s->list[0].start_ns, end_ns = s->list[3].end_ns;
	struct recording_queue queues[] = { { .id = 0, .pid = 7, .process = "x", .name = "q" }, { .id = 1, .process = "drv", .name = "t" } };
	struct recording_job job = { start_ns, start_ns + 1000, start_ns + 2000, s->list[1].end_ns, .waited_for = 2, .thread = 8 };
	struct recording_gap gap = { s->list[2].start_ns, s->list[2].end_ns, 1, 5 };
	struct recording_jobs jobs = { start_ns, end_ns, end_ns, &gap, queues, &job, 1, 2, 1 };
	struct recording_frame frame = { .pid = 7, .name = "x" };
	struct recording_use use = { .start_ns = start_ns, .end_ns = end_ns, .users = { 9 }, .count = 1 };
	size_t n;

	if (!writer.bytes)
		abort();
	for (n = 0; n < 3; n++) {
		frame.time_ns = s->list[n].end_ns;
		recording_write_frame(&writer, &frame);
		append(file, writer.bytes, writer.size);
	}
	recording_write_use(&writer, &use);
	append(file, writer.bytes, writer.size);
	recording_write_jobs(&writer, &jobs);
	append(file, writer.bytes, writer.size);
	free(writer.bytes);
}

/* Writes whole recordings to a directory, for the fuzzer to begin with. */
static int write_seeds(const char *directory)
{
	static const struct {
		unsigned int values, cores;
		const char *layout;
	} seeds[] = {
		{ 64, 1, "Mali-G710" }, { 64, 4, "Mali-G710" }, { 128, 2, "Mali-G715" }, { 128, 1, "Mali G1" },
		{ 64, 1, NULL }, { 64, 2, "no layout" },
	};
	char path[4096];
	FILE *out;
	size_t i;

	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct recording_head head = make_head(seeds[i].values, seeds[i].cores);
		size_t ends[SAMPLES + 2];
		struct samples *s;
		unsigned int type, word;
		struct bytes file;

		head.gpu.layout = seeds[i].layout;
		head.jobs = true;
		/* Everything that equations and top-down ask for. */
		for (type = 1; type < PPERF_BLOCK_TYPES && i < 4; type++)
			for (word = 0; word < seeds[i].values / 64 && head.gpu.blocks[type]; word++)
				head.masks.bits[type][word] = word ? UINT64_MAX : UINT64_MAX << PPERF_FIRST_COUNTER;
		if (i % 2)
			head.command = NULL;
		s = make_samples(&head);
		file = make_file(&head, s, ends);
		snprintf(path, sizeof(path), "%s/seed-%zu", directory, i);
		out = fopen(path, "w");
		/* Four samples, a mark among them, and frames are enough to reach everything. */
		file.size = ends[4];
		append_frames(&file, s);
		if (!out || fwrite(file.at, 1, file.size, out) != file.size || fclose(out)) {
			perror(path);
			return 1;
		}
		free(file.at);
		free(s);
	}
	return 0;
}

static void test_text(void)
{
	static const struct {
		const char *text, *clean, *utf8;
	} texts[] = {
		{ "", "", "" },
		{ "as it is \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "as it is \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "as it is \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* Control characters of one byte, and of two. */
		{ "\x1b[2J\n\x7f", "?[2J??", "\x1b[2J\n\x7f" },
		{ "a\xc2\x9b" "2J\xc2\xa0", "a?2J\xc2\xa0", "a\xc2\x9b" "2J\xc2\xa0" },
		/* A byte that begins nothing, one that ends too early, forms that are too long, half a pair, too large. */
		{ "\x9b" "b", "?b", "\xef\xbf\xbd" "b" },
		{ "\xe2\x82", "??", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc1\x9b", "??", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe0\x82\x9b", "???", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "???", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "????", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xff", "?", "\xef\xbf\xbd" },
	};
	char *copy;
	size_t i;

	begin();
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		copy = strdup(texts[i].text);
		if (!copy)
			abort();
		pperf_text_clean(copy);
		expect(same_text(copy, texts[i].clean), "text %zu for a terminal: \"%s\"", i, copy);
		free(copy);
		copy = pperf_text_utf8(texts[i].text);
		expect(same_text(copy, texts[i].utf8), "text %zu for JSON: \"%s\"", i, copy);
		free(copy);
	}
	end("texts that are none are made some");
}

static bool told(const struct fifo *queue)
{
	struct pollfd fd = { .fd = queue->eventfd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void test_queue(void)
{
	static const uint8_t bytes[1024];
	const uint8_t *at;
	struct fifo queue;

	begin();
	if (fifo_open(&queue, sizeof(bytes)))
		abort();
	fifo_put(&queue, bytes, sizeof(bytes));
	fifo_show(&queue);
	expect(fifo_get(&queue, &at) == sizeof(bytes), "not all that was put in can be taken");
	fifo_release(&queue, 1);
	expect(!told(&queue) && fifo_room(&queue, 1), "room that nobody wants is told of");
	expect(!fifo_room(&queue, 2) && !told(&queue), "there is too much room");
	fifo_release(&queue, 1);
	expect(told(&queue), "room that was wanted is not told of");
	expect(fifo_room(&queue, 2) && !told(&queue), "the room is told of still");
	fifo_leave(&queue, FIFO_DONE);
	expect(told(&queue) && fifo_reader(&queue) == FIFO_DONE && !told(&queue), "the end is not told of, or twice");
	fifo_close(&queue);
	end("the queue tells of room");
}

int main(int argc, char **argv)
{
	random_state = 1;
	if (argc > 1)
		return write_seeds(argv[1]);

	printf("1..18\n");
	test_round_trip(64, 4);
	test_round_trip(128, 16);
	test_sparse_head();
	test_cuts();
	test_zeros();
	test_damage();
	test_unknown_kinds();
	test_nonsense();
	test_size();
	test_text();
	test_queue();
	return failed;
}
