// SPDX-License-Identifier: MIT
/*
 * What it costs to turn firmware samples into user samples, as a ratio to
 * memcpy() of the bytes that have to move in any case: the firmware's blocks
 * out of their ring, the user's sample into its own. Both walk rings, as the
 * driver does. Times are the least of many rounds, each of a ring's length.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "panthor_perf_layout.h"

#define SLOTS 32
#define ROUNDS 2000
#define MAX_SESSIONS 64

struct gpu {
	const char *name;
	struct panthor_perf_layout_params params;
};

static const struct gpu gpus[] = {
	{
		.name = "G610",
		.params = {
			.gpu_id = 0xa8670000, .mem_features = 3 << 8,
			.shader_present = 0x50005, .user_shader_present = 0x50005,
			.glb_version = 0x01010000, .group_num = 8, .perfcnt_size = 25,
		},
	}, {
		.name = "G715",
		.params = {
			.gpu_id = 0xb8020000, .mem_features = 3 << 8,
			.shader_present = 0x170077, .user_shader_present = 0x170077,
			.glb_version = 0x03000000, .group_num = 8,
			.perfcnt_size = 18 << 16 | 54, .perfcnt_features = 2, .prfcnt_features = 2,
		},
	},
};

struct bench {
	struct panthor_perf_layout layout;
	u8 *fw_ring, *user_ring;
	struct panthor_perf_fw_sample *sample;
	struct panthor_perf_accum *accums[MAX_SESSIONS];
	u64 asked[PANTHOR_PERF_BLOCK_WORDS];
	unsigned int sessions;
	void *bounce;
};

static void *alloc(size_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);

	if (!p) {
		perror("layout-bench: cannot allocate");
		exit(1);
	}
	memset(p, 1, size);
	return p;
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void firmware(struct bench *bench)
{
	u32 slot, b;

	for (slot = 0; slot < SLOTS; slot++)
		for (b = 0; b < bench->layout.num_blocks; b++) {
			u32 *values = (u32 *)(bench->fw_ring + slot * bench->layout.fw_sample_size +
					      bench->layout.blocks[b].fw_offset);

			values[2] = 0xffffffff;
		}
}

static void run_rewrite(struct bench *bench)
{
	const struct panthor_perf_layout *layout = &bench->layout;
	struct panthor_perf_sample_info info = { .end.gpu = 1 };
	u32 slot, s;

	for (slot = 0; slot < SLOTS; slot++) {
		panthor_perf_fw_sample_read(layout, bench->fw_ring + slot * layout->fw_sample_size,
					    bench->asked, bench->sample);
		panthor_perf_fw_sample_states(layout, 0, 0, bench->sample);
		for (s = 0; s < bench->sessions; s++) {
			panthor_perf_accum_add(layout, bench->sample, bench->accums[s]);
			panthor_perf_accum_deliver(layout, bench->accums[s], NULL, &info,
						   bench->user_ring + slot * layout->user_sample_size);
		}
	}
}

static void run_read(struct bench *bench)
{
	const struct panthor_perf_layout *layout = &bench->layout;
	u32 slot;

	for (slot = 0; slot < SLOTS; slot++)
		panthor_perf_fw_sample_read(layout, bench->fw_ring + slot * layout->fw_sample_size,
					    bench->asked, bench->sample);
}

static void run_add(struct bench *bench)
{
	u32 slot;

	for (slot = 0; slot < SLOTS; slot++)
		panthor_perf_accum_add(&bench->layout, bench->sample, bench->accums[0]);
}

/* memcpy() with general registers, as a kernel has it that saves no others. */
static __attribute__((noinline)) void *plain_memcpy(void *dst, const void *src, size_t size)
{
#if defined(__x86_64__)
	void *d = dst;

	__asm__ volatile("rep movsb" : "+D" (d), "+S" (src), "+c" (size) :: "memory");
	return dst;
#elif defined(__aarch64__)
	u64 *d = dst, a, b;
	const u64 *s = src;

	for (; size >= 16; size -= 16, d += 2) {
		__asm__ volatile("ldp %0, %1, [%2], #16" : "=r" (a), "=r" (b), "+r" (s) :: "memory");
		__asm__ volatile("stp %0, %1, [%2]" :: "r" (a), "r" (b), "r" (d) : "memory");
	}
	memcpy(d, s, size);
	return dst;
#else
	return memcpy(dst, src, size);
#endif
}

static void copy_all(struct bench *bench, void *(*copy)(void *, const void *, size_t))
{
	const struct panthor_perf_layout *layout = &bench->layout;
	u32 slot, b;

	for (slot = 0; slot < SLOTS; slot++) {
		for (b = 0; b < layout->num_blocks; b++) {
			copy(bench->sample->values + b * layout->num_values,
			     bench->fw_ring + slot * layout->fw_sample_size +
			     layout->blocks[b].fw_offset, layout->fw_block_size);
		}
		copy(bench->user_ring + slot * layout->user_sample_size, bench->bounce,
		     layout->user_sample_size);
	}
}

static void run_memcpy(struct bench *bench)
{
	copy_all(bench, memcpy);
}

static void run_plain_memcpy(struct bench *bench)
{
	copy_all(bench, plain_memcpy);
}

static double measure(struct bench *bench, void (*run)(struct bench *bench))
{
	u64 best = U64_MAX, start, spent;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		firmware(bench);
		start = now();
		run(bench);
		spent = now() - start;
		if (spent < best)
			best = spent;
	}

	return (double)best / SLOTS;
}

/* Counters that a session enables, by block type. */
struct masks {
	u64 mask[PANTHOR_PERF_BLOCK_TYPES][2];
};

static void open_sessions(struct bench *bench, unsigned int sessions,
			  const struct masks *masks)
{
	unsigned int s, w, type;

	memset(bench->asked, 0, sizeof(bench->asked));
	bench->sessions = sessions;
	for (s = 0; s < sessions; s++) {
		panthor_perf_accum_init(&bench->layout, bench->accums[s]);
		for (type = 1; type < PANTHOR_PERF_BLOCK_TYPES; type++)
			panthor_perf_accum_enable(&bench->layout, type, masks->mask[type],
						  bench->accums[s]);
		for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++)
			bench->asked[w] |= bench->accums[s]->enabled[w];
	}
}

static void bench_gpu(const struct gpu *gpu)
{
	static struct bench bench;
	const struct panthor_perf_layout *layout = &bench.layout;
	struct masks all = {}, front = {}, few = {};
	double copy, full, add;
	unsigned int s, type;
	const char *why;

	if (panthor_perf_layout_init(&bench.layout, &gpu->params, &why)) {
		fprintf(stderr, "layout-bench: %s: %s\n", gpu->name, why);
		exit(1);
	}

	bench.fw_ring = alloc(SLOTS * layout->fw_sample_size);
	bench.user_ring = alloc(SLOTS * layout->user_sample_size);
	bench.bounce = alloc(layout->user_sample_size);
	bench.sample = alloc(layout->fw_copy_size);
	for (s = 0; s < MAX_SESSIONS; s++)
		bench.accums[s] = alloc(layout->accum_size);

	for (type = 1; type < PANTHOR_PERF_BLOCK_TYPES; type++) {
		u64 high = layout->num_values > 64 ? ~0ull : 0;

		if (!layout->type_count[type])
			continue;
		all.mask[type][0] = ~0ull;
		all.mask[type][1] = high;
		few.mask[type][0] = 0x70;
	}
	front.mask[DRM_PANTHOR_PERF_BLOCK_CSHW][0] = ~0ull;

	copy = measure(&bench, run_memcpy);
	printf("%s: %u blocks, %u byte user sample, accumulator of %u bytes (%.2f samples)\n",
	       gpu->name, layout->num_blocks, layout->user_sample_size,
	       layout->accum_size,
	       (double)layout->accum_size / layout->user_sample_size);
	printf("  memcpy of blocks and sample          %7.1f ns   1.00\n", copy);
	full = measure(&bench, run_plain_memcpy);
	printf("  the same without vector registers    %7.1f ns   %.2f\n", full, full / copy);

	open_sessions(&bench, 1, &all);
	full = measure(&bench, run_rewrite);
	printf("  rewrite, all counters                %7.1f ns   %.2f\n", full, full / copy);
	open_sessions(&bench, 1, &few);
	full = measure(&bench, run_rewrite);
	printf("  rewrite, 3 counters of each block    %7.1f ns   %.2f\n", full, full / copy);
	open_sessions(&bench, 1, &front);
	full = measure(&bench, run_rewrite);
	printf("  rewrite, front end alone             %7.1f ns   %.2f\n", full, full / copy);

	open_sessions(&bench, 1, &all);
	full = measure(&bench, run_read);
	run_read(&bench);
	firmware(&bench);
	run_read(&bench);
	add = measure(&bench, run_add);
	printf("  of which: read %.1f ns, add (to a sum) %.1f ns\n", full, add);

	for (s = 1; s <= MAX_SESSIONS; s *= 8) {
		open_sessions(&bench, s, &few);
		full = measure(&bench, run_rewrite);
		printf("  %2u sessions of 3 counters a block    %7.1f ns a session\n", s, full / s);
	}

	free(bench.fw_ring);
	free(bench.user_ring);
	free(bench.bounce);
	free(bench.sample);
	for (s = 0; s < MAX_SESSIONS; s++)
		free(bench.accums[s]);
}

int main(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gpus); i++)
		bench_gpu(&gpus[i]);
	return 0;
}
