// SPDX-License-Identifier: MIT
/*
 * A trace of Perfetto's from the standard input to the standard output, with packets that were compressed
 * as they were before: protoc, which decodes the rest, cannot do that. Written from the published format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

/* Field numbers with the wire type of bytes. */
#define TRACE_PACKET (1 << 3 | 2)
#define DEFLATED_PACKETS (50 << 3 | 2)
#define ZSTD_PACKETS (133 << 3 | 2)

/* No packet of packets is as large. */
#define MAX_EXPANDED (16ull << 20)

struct input {
	const uint8_t *at, *end;
};

static void die(const char *what)
{
	fprintf(stderr, "trace-expand: %s\n", what);
	exit(1);
}

static uint64_t number(struct input *in)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; shift < 64; shift += 7) {
		if (in->at == in->end)
			die("a number is cut");
		value |= (uint64_t)(*in->at & 0x7f) << shift;
		if (!(*in->at++ & 0x80))
			return value;
	}
	die("a number is too long");
	return 0;
}

static struct input bytes(struct input *in)
{
	uint64_t length = number(in);
	struct input found = { in->at, in->at + length };

	if (length > (uint64_t)(in->end - in->at))
		die("a field is cut");
	in->at += length;
	return found;
}

/* What has been compressed is a trace of its own. */
static void expand(uint64_t field, struct input in)
{
	uLongf size = MAX_EXPANDED;
	uint8_t *trace = malloc(size);

	if (!trace)
		die("out of memory");
	if (field == DEFLATED_PACKETS && uncompress(trace, &size, in.at, in.end - in.at) != Z_OK)
		die("what is deflated is broken");
	if (field == ZSTD_PACKETS)
		size = ZSTD_decompress(trace, size, in.at, in.end - in.at);
	if (ZSTD_isError(size))
		die("what zstd has compressed is broken");
	fwrite(trace, 1, size, stdout);
	free(trace);
}

int main(void)
{
	size_t size = 0, room = 1 << 20, n;
	uint8_t *all = malloc(room);
	struct input in, packet, content;
	const uint8_t *start;
	uint64_t field;

	while (all && (n = fread(all + size, 1, room - size, stdin))) {
		size += n;
		if (size == room)
			all = realloc(all, room *= 2);
	}
	if (!all)
		die("out of memory");

	in.at = all;
	in.end = all + size;
	while (in.at < in.end) {
		start = in.at;
		if (number(&in) != TRACE_PACKET)
			die("this is no packet");
		packet = content = bytes(&in);
		/* Such a packet has nothing else. */
		field = content.at < content.end ? number(&content) : 0;
		if (field == DEFLATED_PACKETS || field == ZSTD_PACKETS) {
			content = bytes(&content);
			if (content.end != packet.end)
				die("there is more in a packet of packets");
			expand(field, content);
		} else {
			fwrite(start, 1, in.at - start, stdout);
		}
	}
	free(all);
	return fflush(stdout) || ferror(stdout);
}
