// SPDX-License-Identifier: MIT
/*
 * recording-exact   a recording of panthor-perf, as perf-exact would have written it
 *
 *   recording-exact RECORDING RECORD
 *
 * So that `exactness` compares it with what the GPU has counted. A recording does
 * not tell what commands had as user_data: all samples of a run have START's, and
 * the last one STOP's. These are those of panthor-perf record. Where a sample does
 * not begin at the end of the one before, there was a pause, and it is another run,
 * whose are two more.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"
#include "exactness.h"

#define TAG_START 1
#define TAG_STOP 2

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "recording-exact: %s: %s\n", what, why);
	exit(1);
}

static void put(FILE *out, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, out) != size)
		die("record", "it cannot be written");
}

static struct exact_sample *samples;
static size_t room, n, total;
static uint64_t *sums;

/* Ends a run, behind which all is as before the first. */
static void put_run(FILE *out, struct exact_run *run)
{
	if (n)
		samples[n - 1].user_data = run->start_data - TAG_START + TAG_STOP;
	run->samples = n;
	put(out, run, sizeof(*run));
	put(out, samples, n * sizeof(*samples));
	put(out, sums, total * sizeof(*sums));
	memset(sums, 0, total * sizeof(*sums));
	run->start_data += 2;
	n = 0;
}

int main(int argc, char **argv)
{
	struct exact_run run = { .start_data = TAG_START };
	struct exact_head head = { .magic = EXACT_MAGIC, .sessions = 1 };
	uint64_t end_ns = 0, count = 0;
	enum recording_item item;
	struct recording r;
	unsigned int b, i;
	FILE *in, *out;

	if (argc != 3)
		die("usage", "recording-exact RECORDING RECORD");
	in = fopen(argv[1], "re");
	if (!in)
		die(argv[1], strerror(errno));
	if (pperf_records_open_stream(&r, in) != RECORDING_END)
		die(argv[1], r.error);

	head.gpu_id = r.head.gpu.gpu_id;
	head.shader_present = r.head.gpu.shader_present;
	head.values = r.head.gpu.values_per_block;
	for (i = 1; i < EXACT_TYPES; i++) {
		head.count[i] = r.head.gpu.blocks[i];
		memcpy(run.mask[i], r.head.masks.bits[i], sizeof(run.mask[i]));
	}
	run.period_ns = r.head.period_ns;
	total = (size_t)r.layout.blocks * head.values;
	sums = calloc(total + 1, sizeof(*sums));
	if (!sums)
		die(argv[1], "out of memory");

	out = fopen(argv[2], "wb");
	if (!out)
		die(argv[2], "it cannot be written");
	put(out, &head, sizeof(head));
	while ((item = pperf_records_next(&r)) <= RECORDING_CLOCKS) {
		struct exact_sample *s;

		if (item != RECORDING_SAMPLE)
			continue;
		if (n && r.sample.start_ns != end_ns)
			put_run(out, &run);
		end_ns = r.sample.end_ns;
		count++;
		if (n == room) {
			room = room ? 2 * room : 1024;
			samples = realloc(samples, room * sizeof(*samples));
			if (!samples)
				die(argv[1], "out of memory");
		}
		s = &samples[n++];
		*s = (struct exact_sample){
			.user_data = run.start_data, .end_ns = r.sample.end_ns, .flags = r.sample.flags,
		};
		for (b = 0; b < r.sample.num_blocks; b++) {
			for (i = 0; i < head.values; i++) {
				s->hash += pperf_sample_block_at(&r.sample, b)->values[i] * exact_factor(b * head.values + i);
				sums[b * head.values + i] += pperf_sample_block_at(&r.sample, b)->values[i];
			}
		}
	}
	if (item != RECORDING_END)
		die(argv[1], item == RECORDING_CUT ? "it was cut short" : r.error);
	put_run(out, &run);
	if (fclose(out))
		die(argv[2], "it cannot be written");
	printf("# %" PRIu64 " samples recorded\n", count);
	free(sums);
	free(samples);
	pperf_records_close(&r);
	return 0;
}
