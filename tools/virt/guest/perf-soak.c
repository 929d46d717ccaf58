// SPDX-License-Identifier: MIT
/*
 * perf-soak   sessions with all counters and a period of a millisecond, for hours
 *
 *   perf-soak SESSIONS SECONDS
 *
 * Each sample has to follow the one before it, and sums are compared with what the bench page says
 * that firmware's samples have held. What the kernel has of memory may not grow meanwhile. Prints
 * four results. For a machine that counts time by instructions (tools/virt/run -i), with the
 * virtual Mali.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "perf-bench.h"

#define SEC		1000000000ull
#define PERIOD		1000000ull
#define SLOTS		256
#define BATCH		64	/* samples that are read together */
#define RATE		1000000	/* units a second, of each block */
#define WARM_NS		(10 * SEC)
#define VALUES		(114 * 128)
/* The smallest object for each sample is more, after 17,000 of them. */
#define MAX_GROWTH_KB	256

/**
 * struct progress - what a session was given
 * @end_ns: where its latest sample ended, or 0
 * @base_ns: where its first sample began
 * @samples: how many
 * @sums: of each value
 */
static struct progress {
	uint64_t end_ns, base_ns, samples;
	uint64_t sums[VALUES];
} progress[MAX_SESSIONS];

/* What firmware's samples had held: before all sessions, when all have begun, before they end, and behind it. */
static uint64_t before[VALUES], begun[VALUES], ending[VALUES], ended[VALUES];
static const char *const kinds[] = { "SUnreclaim", "VmallocUsed", "Percpu" };
static unsigned int complaints;
static uint64_t stretched;

static void read_emitted(uint64_t cores, uint64_t *emitted)
{
	for (uint32_t b = 0; b < perf_blocks(&info); b++) {
		uint32_t type = 0, index = 0;

		perf_block_name(&info, b, &type, &index);
		for (uint32_t v = PERF_RESERVED; v < info.counters_per_block; v++) {
			bench_choose(cores, type, index, v);
			emitted[b * info.counters_per_block + v] = bench_reg_get64(EMITTED);
		}
	}
}

static void take(unsigned int n, const struct drm_panthor_perf_sample_header *h)
{
	const uint32_t values = info.counters_per_block;
	struct progress *p = &progress[n];
	uint32_t flags;

	if (!p->samples)
		p->base_ns = p->end_ns = h->timestamp_start_ns;
	flags = perf_stretched(p->base_ns, PERIOD, h);
	stretched += !!flags;
	if ((h->timestamp_start_ns != p->end_ns || h->flags != flags) && complaints++ < 20)
		printf("# session %u, sample %" PRIu64 ": from %" PRIu64 " to %" PRIu64 ", behind one that ended at %"
		       PRIu64 "; flags %#x, of its times %#x\n", n, p->samples, (uint64_t)h->timestamp_start_ns,
		       (uint64_t)h->timestamp_end_ns, p->end_ns, h->flags, flags);
	p->end_ns = h->timestamp_end_ns;
	p->samples++;
	for (uint32_t b = 0; b < perf_blocks(&info); b++) {
		const __u64 *v = perf_values(&info, h, b);

		for (uint32_t i = PERF_RESERVED; i < values; i++)
			p->sums[b * values + i] += v[i];
	}
}

/* Takes what has been delivered to each. */
static void collect(unsigned int count)
{
	for (unsigned int n = 0; n < count; n++) {
		struct perf_session *s = &sessions[n];
		uint64_t insert = perf_insert(s);

		for (uint64_t i = s->read; i < insert; i++)
			take(n, perf_slot(s, i));
		perf_consume(s, insert - s->read);
	}
}

static void run_until(unsigned int count, uint64_t end)
{
	while (progress[0].end_ns < end) {
		if (!perf_wait(&sessions[0], sessions[0].read + BATCH))
			die("samples do not come");
		collect(count);
	}
}

static void read_memory(uint64_t kb[])
{
	char text[8192];

	if (perf_read_file("/proc/meminfo", text, sizeof(text)))
		die("/proc/meminfo cannot be read");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *line = strstr(text, kinds[i]);

		if (!line)
			die("/proc/meminfo has no %s", kinds[i]);
		kb[i] = strtoull(line + strlen(kinds[i]) + 1, NULL, 10);
	}
}

/* The value, as its place, that is not between what there was at least and at most; -1 if all are. */
static int64_t wrong_sum(const uint64_t *sums)
{
	for (uint32_t i = 0; i < perf_blocks(&info) * info.counters_per_block; i++) {
		if (sums[i] < ending[i] - begun[i] || sums[i] > ended[i] - before[i])
			return i;
	}
	return -1;
}

/* Values that have counted, of which the bench page tells the sum exactly. */
static unsigned int exact_values(void)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < perf_blocks(&info) * info.counters_per_block; i++)
		n += ended[i] > before[i] && ending[i] - begun[i] == ended[i] - before[i];
	return n;
}

static void result(bool ok, const char *text)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned int count = argc == 3 ? atoi(argv[1]) : 0;
	uint64_t seconds = argc == 3 ? atoi(argv[2]) : 0, first_kb[3], last_kb[3], samples = 0, begin, instructions;
	struct drm_panthor_gpu_info gpu;
	bool flat = true;
	int64_t wrong = -1;

	if (!count || count > MAX_SESSIONS || seconds * SEC <= WARM_NS)
		die("usage: perf-soak SESSIONS SECONDS, of at most %u and more than %llu", MAX_SESSIONS, WARM_NS / SEC);
	gpu = open_gpu();
	other_fd = perf_open_device();
	if (!perf_bench_open() || other_fd < 0)
		die("needs the virtual Mali and its bench page");
	bench_reg_set(RATE, RATE);
	bench_reg_set(CORES_HOLD, 1);
	if (!perf_until(bench_reg_get64(SHADER_READY) == gpu.shader_present))
		die("shader cores do not get power");

	read_emitted(gpu.shader_present, before);
	for (unsigned int i = 0; i < count; i++)
		set_up_session(i, PERIOD, SLOTS);
	start_together(count);
	fprintf(stderr, "all have begun\n");
	read_emitted(gpu.shader_present, begun);
	bench_reg_set(ACTIVITY, 1);

	begin = perf_now();
	instructions = bench_reg_get64(INSTRUCTIONS);
	run_until(count, begin + WARM_NS);
	read_memory(first_kb);
	for (uint64_t s = WARM_NS / SEC; s < seconds; s += 60) {
		run_until(count, begin + s * SEC);
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " s\n", s, seconds);
	}
	run_until(count, begin + seconds * SEC);
	instructions = bench_reg_get64(INSTRUCTIONS) - instructions;
	read_memory(last_kb);

	bench_reg_set(ACTIVITY, 0);
	run_until(count, perf_now() + PERIOD);
	read_emitted(gpu.shader_present, ending);
	for (unsigned int i = 0; i < count; i++) {
		if (perf_stop(fd, sessions[i].handle, 1))
			die("STOP fails");
		if (!perf_until(perf_slot(&sessions[i], perf_insert(&sessions[i]) - 1)->user_data == 1))
			die("the last sample of session %u does not come", i);
		collect(count);
	}
	if (!perf_until(!bench_reg_get(ENABLED)))
		die("counters are still enabled");
	read_emitted(gpu.shader_present, ended);

	for (unsigned int i = 0; i < count; i++) {
		samples += progress[i].samples;
		if (wrong >= 0)
			continue;
		wrong = wrong_sum(progress[i].sums);
		if (wrong >= 0)
			printf("# session %u, block %" PRIi64 ", value %" PRIi64 ": %" PRIu64 ", not from %" PRIu64 " to %" PRIu64
			       "\n", i, wrong / info.counters_per_block, wrong % info.counters_per_block,
			       progress[i].sums[wrong], ending[wrong] - begun[wrong], ended[wrong] - before[wrong]);
	}
	result(!complaints, "each sample follows the one before it, and has the flags that follow from its times");
	result(wrong < 0, "the sums of each session are those of firmware's samples");
	printf("# %u values are known exactly\n", exact_values());
	result(exact_values() > perf_blocks(&info) * info.counters_per_block / 2, "which most have, and exactly");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		printf("# %s: %" PRIu64 " kB, then %" PRIu64 " kB\n", kinds[i], first_kb[i], last_kb[i]);
		flat &= last_kb[i] <= first_kb[i] + MAX_GROWTH_KB;
	}
	result(flat, "memory is flat");
	printf("#: in all: %u sessions, %" PRIu64 " s, %" PRIu64 " samples, %" PRIu64 " of more than a period, %" PRIu64 " million instructions a second\n",
	       count, seconds, samples, stretched, instructions / seconds / 1000000);
	return 0;
}
