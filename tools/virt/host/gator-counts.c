// SPDX-License-Identifier: MIT
/*
 * gator-counts   what a local capture of gatord has of each counter
 *
 *   gator-counts DIR.apc/0000000000
 *
 * Prints lines of a counter's key, of which DIR.apc/captured.xml has the name, and its count: what perf read last
 * in a group, or the sum of what gatord has read itself.
 *
 * The file is frames: their length in 4 bytes, the lowest first, then the kind of frame and what it has. Numbers in
 * frames are packed, if nothing else is said: 7 bits a byte, the lowest first; bit 7 says that there are more, and
 * bit 6 of the last one is the sign.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Kinds of frames; what one about events of perf has; keys of a frame of counters that are no counters. */
enum { BLOCK_COUNTER = 5, PERF_ATTRS = 11, PERF_DATA = 12 };
enum { ATTRS_KEYS = 2 };
enum { KEY_TIME, KEY_THREAD, KEY_CORE };

struct reader {
	const uint8_t *p, *end;
};

/* An event of perf. One counter has several, if it counts on several processors. */
struct event {
	uint64_t id;
	int64_t key;
	uint64_t value;
	bool read;
};

struct sum {
	int64_t key;
	uint64_t sum;
};

#define MAX 4096
/* A record has 64 KiB at most. */
#define MAX_WORDS 8192

static struct event events[MAX];
static struct sum sums[MAX];
static size_t num_events, num_sums;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	fputs("gator-counts: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static const uint8_t *take(struct reader *r, size_t size)
{
	const uint8_t *p = r->p;

	if ((size_t)(r->end - p) < size)
		die("a frame ends in the middle of something");
	r->p += size;
	return p;
}

static int64_t packed(struct reader *r)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = *take(r, 1);
		if (shift > 63)
			die("a number has more than 64 bits");
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

static uint32_t little_endian(struct reader *r)
{
	const uint8_t *p = take(r, 4);

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void add_events(struct reader *r)
{
	int64_t count = packed(r);

	while (count-- > 0) {
		if (num_events == MAX)
			die("more than %d events", MAX);
		events[num_events].id = packed(r);
		events[num_events++].key = packed(r);
	}
}

static struct event *find_event(uint64_t id)
{
	for (size_t i = 0; i < num_events; i++)
		if (events[i].id == id)
			return &events[i];
	return NULL;
}

/*
 * A sample whose words are its event, two more (the time, and that event again), and a group that was read: how
 * many, for how long twice, and of each its value and its event, that of the sample the first. Other samples, of
 * which the file does not say what they have, are as good as never like that.
 */
static bool is_group(const uint64_t *words, size_t count)
{
	if (count < 8 || words[3] > MAX || count != 6 + 2 * words[3] || words[7] != words[0])
		return false;
	for (size_t i = 7; i < count; i += 2)
		if (!find_event(words[i]))
			return false;
	return true;
}

static void add_sample(const uint64_t *words, size_t count)
{
	if (!is_group(words, count))
		return;
	for (size_t i = 6; i < count; i += 2) {
		struct event *event = find_event(words[i + 1]);

		if (event->read && words[i] < event->value)
			die("key 0x%" PRIx64 " has gone back from %" PRIu64 " to %" PRIu64, event->key, event->value, words[i]);
		event->value = words[i];
		event->read = true;
	}
}

/* Records of perf, each of their words a number. */
static void add_records(struct reader *r)
{
	static uint64_t words[MAX_WORDS];

	packed(r);	/* the processor */
	little_endian(r);	/* how many bytes follow */
	while (r->p < r->end) {
		uint64_t header = packed(r);
		/* One word was the header. */
		size_t count = ((header >> 48) + 7) / 8;

		if (!count--)
			die("a record without a size");
		for (size_t i = 0; i < count; i++)
			words[i] = packed(r);
		if ((header & UINT32_MAX) == PERF_RECORD_SAMPLE)
			add_sample(words, count);
	}
}

static void add(int64_t key, uint64_t count)
{
	size_t i = 0;

	while (i < num_sums && sums[i].key != key)
		i++;
	if (i == MAX)
		die("more than %d counters", MAX);
	if (i == num_sums)
		sums[num_sums++].key = key;
	sums[i].sum += count;
}

static void add_counters(struct reader *r)
{
	packed(r);	/* a processor */
	while (r->p < r->end) {
		int64_t key = packed(r), value = packed(r);

		if (key != KEY_TIME && key != KEY_THREAD && key != KEY_CORE)
			add(key, value);
	}
}

/* Which event is which may be told after it has counted: all is read twice. */
static void add_frame(struct reader *r, bool counts)
{
	int64_t kind = packed(r);

	if (kind == PERF_ATTRS && !counts) {
		packed(r);	/* a processor */
		/* Some are empty. */
		if (r->p < r->end && packed(r) == ATTRS_KEYS)
			add_events(r);
	} else if (kind == PERF_DATA && counts) {
		add_records(r);
	} else if (kind == BLOCK_COUNTER && counts) {
		add_counters(r);
	}
}

static void read_all(struct reader all, bool counts)
{
	while (all.p < all.end) {
		uint32_t length = little_endian(&all);
		struct reader frame = { .p = take(&all, length), .end = all.p };

		add_frame(&frame, counts);
	}
}

int main(int argc, char **argv)
{
	struct reader all;
	uint8_t *data;
	FILE *file;
	long size;

	if (argc != 2)
		die("usage: gator-counts FILE");
	file = fopen(argv[1], "r");
	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		die("%s cannot be read", argv[1]);
	rewind(file);
	data = malloc(size + 1);
	if (!data || fread(data, 1, size, file) != (size_t)size)
		die("%s cannot be read", argv[1]);
	all.p = data;
	all.end = data + size;
	read_all(all, false);
	read_all(all, true);

	for (size_t i = 0; i < num_events; i++)
		if (events[i].read)
			add(events[i].key, events[i].value);
	for (size_t i = 0; i < num_sums; i++)
		printf("0x%" PRIx64 " %" PRIu64 "\n", sums[i].key, sums[i].sum);
	free(data);
	fclose(file);
	return 0;
}
