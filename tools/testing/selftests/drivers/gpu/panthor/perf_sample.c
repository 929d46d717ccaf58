// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: what is in samples. With the bench page
 * counters are made to count what the test says, and the page tells what
 * firmware has put into its samples: nothing may be missing, and nothing be
 * added.
 */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8
#define TRIES 50

#define NEEDS_BENCH() do {						\
	if (!perf_bench)						\
		SKIP(return, "needs the bench page of the virtual Mali"); \
} while (0)

FIXTURE(sample)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_gpu_info gpu;
	struct perf_session a, b;
	struct drm_panthor_perf_cmd_setup all, none;
	uint32_t values;	/* in all blocks */
	uint64_t *before, *after;
};

FIXTURE_SETUP(sample)
{
	uint32_t size = sizeof(self->gpu);

	self->a.efd = -1;
	self->b.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &self->gpu, &size));
	perf_bench_open();
	perf_bench_calm();
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->all);
	self->values = perf_blocks(&self->info) * self->info.counters_per_block;
	self->before = calloc(self->values, sizeof(uint64_t));
	self->after = calloc(self->values, sizeof(uint64_t));
	ASSERT_NE(NULL, self->before);
	ASSERT_NE(NULL, self->after);
	if (perf_bench) {
		/* Shader cores stay up, and every block has something to count. */
		bench_reg_set(CORES_HOLD, 1);
		bench_reg_set(RATE, 100000);
		ASSERT_TRUE(perf_until(bench_reg_get64(SHADER_READY) == self->gpu.shader_present));
	}
}

FIXTURE_TEARDOWN(sample)
{
	perf_bench_calm();
	perf_session_end(&self->b);
	perf_session_end(&self->a);
	free(self->before);
	free(self->after);
	close(self->fd);
	perf_pm_write("control", "auto");
}

#define for_each_value(n, t, i, v)						\
	for (uint32_t n = 0, t = 1; t < PERF_TYPES; t++)			\
		for (uint32_t i = 0; i < perf_count(&self->info, t); i++)	\
			for (uint32_t v = 0; v < self->info.counters_per_block; v++, n++)

static uint32_t place(uint64_t present, uint32_t type, uint32_t index)
{
	if (type != DRM_PANTHOR_PERF_BLOCK_SHADER)
		return index;
	while (index--)
		present &= present - 1;
	return __builtin_ctzll(present);
}

static void choose(FIXTURE_DATA(sample) *self, uint32_t type, uint32_t index, uint32_t counter)
{
	bench_reg_set(TYPE, type);
	bench_reg_set(INDEX, place(self->gpu.shader_present, type, index));
	bench_reg_set(COUNTER, counter);
	(void)self;
	(void)type;
	(void)index;
	(void)counter;
}

/* What each counter's samples have held since the machine was switched on. */
static void read_emitted(FIXTURE_DATA(sample) *self, uint64_t *emitted)
{
	for_each_value(n, t, i, v) {
		if (v < PERF_RESERVED)
			continue;
		choose(self, t, i, v);
		emitted[n] = bench_reg_get64(EMITTED);
	}
}

/*
 * Starts the first of all sessions. Its baseline is the first sample since
 * counters were enabled: if there is no other yet when all totals have been
 * read, these are those of the baseline.
 */
static bool start_counted(FIXTURE_DATA(sample) *self, struct perf_session *s,
			  struct drm_panthor_perf_cmd_setup *setup)
{
	for (int i = 0; i < TRIES; i++) {
		if (perf_session_new(self->fd, &self->info, SLOTS, s, setup))
			return false;
		if (perf_start(self->fd, s->handle, 0))
			return false;
		read_emitted(self, self->before);
		if (bench_reg_get(INSERT) == 1)
			return true;
		perf_session_end(s);
	}
	return false;
}

/* Stops it, the last of all sessions: what is in its sample is all there is. */
static bool stop_counted(FIXTURE_DATA(sample) *self, struct perf_session *s)
{
	if (perf_stop(self->fd, s->handle, 1) ||
	    !perf_until(perf_slot(s, perf_insert(s) - 1)->user_data == 1) ||
	    !perf_until(bench_reg_get(ENABLED) == 0))
		return false;
	read_emitted(self, self->after);
	return true;
}

/* A sample of this session, when there is nobody else. */
static bool take(struct perf_session *s)
{
	uint64_t n = perf_insert(s);

	return !perf_sample(s->fd, s->handle, 5) && perf_wait(s, n + 1);
}

/* Sum of a value over the samples that are in the ring. */
static uint64_t summed(FIXTURE_DATA(sample) *self, const struct perf_session *s, uint32_t n)
{
	uint32_t per_block = self->info.counters_per_block;
	uint64_t sum = 0;

	for (uint64_t i = s->read; i < perf_insert(s); i++)
		sum += perf_values(&self->info, perf_slot(s, i), n / per_block)[n % per_block];
	return sum;
}

static void check_sums(struct __test_metadata *_metadata, FIXTURE_DATA(sample) *self,
		       struct perf_session *s,
		       struct drm_panthor_perf_cmd_setup *setup)
{
	uint32_t nonzero = 0;

	for_each_value(n, t, i, v) {
		uint64_t want = 0;

		if (v < PERF_RESERVED)
			continue;
		if (perf_enabled(perf_mask(setup, t), v))
			want = self->after[n] - self->before[n];
		nonzero += want != 0;
		EXPECT_EQ(want, summed(self, s, n)) {
			TH_LOG("%s %u counter %u", perf_type_names[t], i, v);
		}
	}
	EXPECT_LT(0, nonzero);
}

/* Structure */

static void check_structure(struct __test_metadata *_metadata, FIXTURE_DATA(sample) *self,
			    const struct perf_session *s, uint64_t index,
			    struct drm_panthor_perf_cmd_setup *setup)
{
	const struct drm_panthor_perf_sample_header *h = perf_slot(s, index);
	uint64_t timestamp = 0;

	EXPECT_EQ(setup->block_set, h->block_set);
	EXPECT_EQ(0, h->pad[0] | h->pad[1] | h->pad[2]);
	EXPECT_EQ(0, h->flags);
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		const struct drm_panthor_perf_block_header *block = perf_block(&self->info, h, b);
		const __u64 *v = perf_values(&self->info, h, b);
		uint32_t type = 0, idx = 0;
		__u64 cut[2];

		perf_block_name(&self->info, b, &type, &idx);
		cut[0] = perf_mask(setup, type)[0];
		cut[1] = self->info.counters_per_block > 64 ? perf_mask(setup, type)[1] : 0;
		EXPECT_EQ(type, block->block_type);
		EXPECT_EQ(idx, block->block_idx);
		EXPECT_EQ(1, self->info.supported_clocks >> block->clock & 1);
		EXPECT_EQ(0, block->pad[0] | block->pad[1] | block->pad[2] | block->pad[3]);
		EXPECT_EQ(cut[0], block->enable_mask[0]);
		EXPECT_EQ(cut[1], block->enable_mask[1]);
		EXPECT_EQ(0, v[0] >> 32);
		EXPECT_EQ(0, v[1] >> 32);
		if (!b)
			timestamp = v[0] | v[1] << 32;
		EXPECT_EQ(timestamp, v[0] | v[1] << 32);
		EXPECT_LT(0, timestamp);
		EXPECT_EQ(perf_narrow(cut, self->info.counters_per_block), v[2]);
		EXPECT_EQ(0, v[3]);
		for (uint32_t i = PERF_RESERVED; i < self->info.counters_per_block; i++) {
			if (!perf_enabled(cut, i))
				EXPECT_EQ(0, v[i]);
		}
	}
}

TEST_F(sample, structure)
{
	/* Each a mask of another kind, and each type another. */
	for (int round = 0; round < 6; round++) {
		struct drm_panthor_perf_cmd_setup setup = {};

		for (uint32_t t = 1; t < PERF_TYPES; t++) {
			static const uint64_t masks[6] = {
				~0ull, 0, 0xf, 0x8000000000000010, 0x0123456789abcdef, 0x1000,
			};

			perf_mask(&setup, t)[0] = masks[(round + t) % 6];
			perf_mask(&setup, t)[1] = masks[(round + t + 1) % 6];
		}
		if (perf_bench)
			bench_reg_set(ACTIVITY, 1);
		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &setup));
		ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
		ASSERT_TRUE(take(&self->a));
		ASSERT_TRUE(take(&self->a));
		check_structure(_metadata, self, &self->a, 0, &setup);
		check_structure(_metadata, self, &self->a, 1, &setup);
		perf_session_end(&self->a);
	}
}

/* Masks of others, who sample as they like, do not show. */
TEST_F(sample, others_do_not_show)
{
	struct drm_panthor_perf_cmd_setup one = {};

	if (perf_bench)
		bench_reg_set(ACTIVITY, 1);
	one.tiler_enable_mask[0] = 1ull << 17;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &one));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	ASSERT_TRUE(take(&self->a));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0));
	ASSERT_TRUE(take(&self->b));
	ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(take(&self->b));
	ASSERT_TRUE(take(&self->a));
	for (int i = 0; i < 3; i++)
		check_structure(_metadata, self, &self->a, i, &one);
	check_structure(_metadata, self, &self->b, 0, &self->all);
	check_structure(_metadata, self, &self->b, 1, &self->all);
}

/* All blocks have the same timestamp, that of the firmware's sample. */
TEST_F(sample, gpu_timestamp)
{
	bool found = false;

	NEEDS_BENCH();
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	for (int i = 0; !found && i < TRIES; i++) {
		uint64_t samples = bench_reg_get64(SAMPLES), timestamp;
		const __u64 *v = perf_values(&self->info, perf_slot(&self->a, i), 0);

		ASSERT_TRUE(take(&self->a));
		perf_consume(&self->a, 1);
		timestamp = bench_reg_get64(LAST_TIMESTAMP);
		/* If there was no other sample meanwhile. */
		if (bench_reg_get64(SAMPLES) != samples + 1)
			continue;
		found = true;
		EXPECT_EQ(timestamp, v[0] | v[1] << 32);
	}
	EXPECT_TRUE(found);
}

/* Counts */

TEST_F_TIMEOUT(sample, everything_counted, 300)
{
	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	for_each_value(n, t, i, v) {
		if (v < PERF_RESERVED)
			continue;
		/* Different everywhere. */
		choose(self, t, i, v);
		bench_reg_set64(AMOUNT, 1000003ull * n);
		bench_reg_set(ADD, 1);
	}
	for (int i = 0; i < 3; i++)
		ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(stop_counted(self, &self->a));
	check_sums(_metadata, self, &self->a, &self->all);
	for_each_value(n, t, i, v) {
		if (v >= PERF_RESERVED)
			EXPECT_LE(1000003ull * n, self->after[n] - self->before[n]);
	}
	for (uint64_t i = 0; i < perf_insert(&self->a); i++)
		EXPECT_EQ(0, perf_slot(&self->a, i)->flags);
}

TEST_F_TIMEOUT(sample, single_counters, 300)
{
	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 1);
	/* First and last counter, ends of words, one in the middle of its four. */
	for (uint32_t v = PERF_RESERVED; v < self->info.counters_per_block; v = v * 2 - 1) {
		struct drm_panthor_perf_cmd_setup setup = {};

		for (uint32_t t = 1; t < PERF_TYPES; t++)
			perf_mask(&setup, t)[v / 64] = 1ull << (v % 64);
		ASSERT_TRUE(start_counted(self, &self->a, &setup));
		ASSERT_TRUE(take(&self->a));
		ASSERT_TRUE(stop_counted(self, &self->a));
		check_sums(_metadata, self, &self->a, &setup);
		perf_session_end(&self->a);
	}
}

/* One client's samples take nothing from another's, and its period may be long. */
TEST_F_TIMEOUT(sample, beyond_32_bits, 300)
{
	const uint32_t per_block = self->info.counters_per_block;
	uint32_t tiler = 0, type = 0, index = 0;

	NEEDS_BENCH();
	while (perf_block_name(&self->info, tiler, &type, &index),
	       type != DRM_PANTHOR_PERF_BLOCK_TILER)
		tiler++;
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0));
	for (int i = 0; i < 6; i++) {
		choose(self, DRM_PANTHOR_PERF_BLOCK_TILER, 0, 20);
		bench_reg_set64(AMOUNT, 0xf0000000);
		bench_reg_set(ADD, 1);
		ASSERT_TRUE(take(&self->b));
	}
	/* B goes first, and A has all of it. */
	ASSERT_EQ(0, perf_stop(self->fd, self->b.handle, 1));
	ASSERT_TRUE(perf_wait(&self->b, 7));
	ASSERT_TRUE(stop_counted(self, &self->a));
	EXPECT_EQ(1, perf_insert(&self->a));
	EXPECT_EQ(0, perf_slot(&self->a, 0)->flags);
	check_sums(_metadata, self, &self->a, &self->all);
	EXPECT_LE(6ull * 0xf0000000, perf_values(&self->info, perf_slot(&self->a, 0), tiler)[20]);
	EXPECT_LE(6ull * 0xf0000000, summed(self, &self->b, tiler * per_block + 20));
}

/* What a counter of 32 bits could not hold is missing, and that is said once. */
TEST_F_TIMEOUT(sample, saturation, 300)
{
	NEEDS_BENCH();
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	ASSERT_TRUE(take(&self->a));
	choose(self, DRM_PANTHOR_PERF_BLOCK_MEMSYS, 0, 30);
	bench_reg_set64(AMOUNT, 1ull << 33);
	bench_reg_set(ADD, 1);
	ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(take(&self->a));
	EXPECT_EQ(0, perf_slot(&self->a, 0)->flags);
	EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_OVERFLOW, perf_slot(&self->a, 1)->flags);
	EXPECT_EQ(0, perf_slot(&self->a, 2)->flags);
}

/* What was counted before START is not in a sample, nor what comes after STOP. */
TEST_F_TIMEOUT(sample, only_between, 300)
{
	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 0);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	for (int run = 0; run < 3; run++) {
		uint32_t shader = perf_blocks(&self->info) - 1;

		choose(self, DRM_PANTHOR_PERF_BLOCK_SHADER, self->info.shader_blocks - 1, 41);
		bench_reg_set64(AMOUNT, 1000);
		bench_reg_set(ADD, 1);
		ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
		bench_reg_set64(AMOUNT, 7);
		bench_reg_set(ADD, 1);
		ASSERT_TRUE(take(&self->a));
		bench_reg_set64(AMOUNT, 70 + run);
		bench_reg_set(ADD, 1);
		ASSERT_EQ(0, perf_stop(self->fd, self->a.handle, 0));
		ASSERT_TRUE(perf_wait(&self->a, 2 * run + 2));
		bench_reg_set64(AMOUNT, 1000);
		bench_reg_set(ADD, 1);
		EXPECT_EQ(7, perf_values(&self->info, perf_slot(&self->a, 2 * run), shader)[41]);
		EXPECT_EQ(70 + run, perf_values(&self->info, perf_slot(&self->a, 2 * run + 1),
						shader)[41]);
		perf_consume(&self->a, 2);
	}
}

/*
 * A sample that nobody consumed stays in the ring when counters are turned off.
 * A block that is not written in the next run must not be taken from there.
 */
TEST_F_TIMEOUT(sample, stale_ring, 300)
{
	bool left = false;

	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 1);
	/* It keeps the ring, and never starts. */
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	for (int i = 0; !left && i < TRIES; i++) {
		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
		ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
		/* It is written, and the driver is not told. */
		bench_reg_set(DROP_SAMPLE_ACKS, 1);
		ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 1));
		ASSERT_TRUE(perf_until(bench_reg_get(DROP_SAMPLE_ACKS) == 0));
		perf_session_end(&self->a);
		left = bench_reg_get(INSERT) != bench_reg_get(EXTRACT);
	}
	ASSERT_TRUE(left);
	bench_reg_set(CORES_HOLD, 0);
	bench_reg_set64(CORES_OFF, ~0ull);
	ASSERT_TRUE(perf_until(bench_reg_get64(SHADER_READY) == 0));
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	for (int i = 0; i < 5; i++)
		ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(stop_counted(self, &self->a));
	check_sums(_metadata, self, &self->a, &self->all);
}

/* Power and protected mode */

static void check_states(struct __test_metadata *_metadata, FIXTURE_DATA(sample) *self,
			 const struct perf_session *s, uint64_t index, uint8_t on, uint8_t off)
{
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		uint8_t states = perf_block(&self->info, perf_slot(s, index), b)->block_states;

		EXPECT_EQ(on, states & on) {
			TH_LOG("block %u has states %#x", b, states);
		}
		EXPECT_EQ(0, states & off) {
			TH_LOG("block %u has states %#x", b, states);
		}
	}
}

TEST_F_TIMEOUT(sample, suspended, 120)
{
	char before[64], after[64];

	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_pm_read("runtime_active_time", before, sizeof(before)));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	/* SETUP may have to wake it for memory of the firmware's. */
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_pm_read("runtime_active_time", before, sizeof(before)));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	for (int i = 0; i < 5; i++)
		ASSERT_TRUE(take(&self->a));
	ASSERT_EQ(0, perf_stop(self->fd, self->a.handle, 1));
	ASSERT_TRUE(perf_wait(&self->a, 6));
	EXPECT_TRUE(perf_pm_is("suspended"));
	ASSERT_EQ(0, perf_pm_read("runtime_active_time", after, sizeof(after)));
	EXPECT_STREQ(before, after);
	for (uint64_t i = 0; i < 6; i++) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->a, i);

		check_structure(_metadata, self, &self->a, i, &self->all);
		check_states(_metadata, self, &self->a, i, DRM_PANTHOR_PERF_BLOCK_STATE_OFF |
			     DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL,
			     DRM_PANTHOR_PERF_BLOCK_STATE_ON |
			     DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED);
		EXPECT_LE(h->timestamp_start_ns, h->timestamp_end_ns);
		EXPECT_EQ(0, h->toplevel_clock_cycles);
		for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
			for (uint32_t v = PERF_RESERVED; v < self->info.counters_per_block; v++)
				EXPECT_EQ(0, perf_values(&self->info, h, b)[v]);
		}
	}
}

/* Counts up to the very last moment before it sleeps, and from the first after. */
TEST_F_TIMEOUT(sample, across_suspend, 300)
{
	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	ASSERT_TRUE(take(&self->a));
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_TRUE(take(&self->a));
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	ASSERT_TRUE(perf_until(perf_pm_is("active")));
	ASSERT_TRUE(take(&self->a));
	/* The page is of a GPU that never was without power. */
	ASSERT_TRUE(stop_counted(self, &self->a));
	check_sums(_metadata, self, &self->a, &self->all);
	check_states(_metadata, self, &self->a, 0, DRM_PANTHOR_PERF_BLOCK_STATE_ON,
		     DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED);
	check_states(_metadata, self, &self->a, 1, DRM_PANTHOR_PERF_BLOCK_STATE_OFF, 0);
	for (uint64_t i = 0; i < perf_insert(&self->a); i++)
		EXPECT_EQ(0, perf_slot(&self->a, i)->flags);
}

TEST_F_TIMEOUT(sample, across_protected_mode, 300)
{
	NEEDS_BENCH();
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(perf_until((bench_reg_set(PROTM, 1),
					bench_reg_get(GPU_STATUS) & 1u << 7)));
		ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 5));
		bench_reg_set(PROTM, 0);
		ASSERT_TRUE(perf_wait(&self->a, i + 1));
	}
	ASSERT_TRUE(stop_counted(self, &self->a));
	check_sums(_metadata, self, &self->a, &self->all);
	for (uint64_t i = 0; i < perf_insert(&self->a); i++)
		EXPECT_EQ(0, perf_slot(&self->a, i)->flags);
}

/* Samples that nobody asked for are folded, or delivered to who has asked for that. */
TEST_F_TIMEOUT(sample, emit_auto, 300)
{
	struct drm_panthor_perf_cmd_setup setup = self->all;
	bool found = false;

	NEEDS_BENCH();
	setup.setup_flags = DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &setup));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0xa));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0xb));
	for (int i = 0; !found && i < TRIES; i++) {
		uint64_t autos = bench_reg_get64(AUTOS), had = perf_insert(&self->b);

		ASSERT_TRUE(perf_until((bench_reg_set(PROTM, 1),
					bench_reg_get(GPU_STATUS) & 1u << 7)));
		/* It may have answered a request of the driver's own. */
		found = bench_reg_get64(AUTOS) > autos;
		if (found) {
			ASSERT_TRUE(perf_until(perf_insert(&self->b) > had));
			EXPECT_EQ(0xb, perf_slot(&self->b, had)->user_data);
			ASSERT_TRUE(perf_wait(&self->b, perf_insert(&self->b)));
		}
		bench_reg_set(PROTM, 0);
		perf_consume(&self->b, perf_insert(&self->b) - self->b.read);
	}
	ASSERT_TRUE(found);
	EXPECT_EQ(0, perf_insert(&self->a));
	EXPECT_EQ(0, perf_signals(&self->a));
	ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 0xaa));
	ASSERT_TRUE(perf_wait(&self->a, 1));
	EXPECT_EQ(0xaa, perf_slot(&self->a, 0)->user_data);
	EXPECT_EQ(0, perf_slot(&self->a, 0)->flags);
}

/* Trouble */

/* A request that firmware forgets is made again, or the GPU is reset: it ends. */
TEST_F_TIMEOUT(sample, hang, 120)
{
	NEEDS_BENCH();
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	ASSERT_TRUE(take(&self->a));
	bench_reg_set(HANG, 1);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 10 + i));
	ASSERT_TRUE(perf_wait(&self->a, 4));
	/* Wait for the reset to be over: then all is as before. */
	ASSERT_TRUE(perf_until(bench_reg_get(HANG) == 0 && bench_reg_get(ENABLED)));
	ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(take(&self->a));
	EXPECT_EQ(6, perf_signals(&self->a));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(10 + i, perf_slot(&self->a, 1 + i)->user_data);
	EXPECT_EQ(0, perf_slot(&self->a, 0)->flags);
	EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_ERROR, perf_slot(&self->a, 1)->flags);
	EXPECT_EQ(0, perf_slot(&self->a, 5)->flags);
}

TEST_F_TIMEOUT(sample, lost_requests, 300)
{
	NEEDS_BENCH();
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	bench_reg_set(DROP_SAMPLES, 1);
	ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 1));
	ASSERT_TRUE(perf_wait(&self->a, 1));
	bench_reg_set(DROP_SAMPLE_ACKS, 1);
	ASSERT_EQ(0, perf_sample(self->fd, self->a.handle, 2));
	ASSERT_TRUE(perf_wait(&self->a, 2));
	ASSERT_TRUE(perf_until(bench_reg_get(ENABLED)));
	ASSERT_TRUE(take(&self->a));
	EXPECT_EQ(1, perf_slot(&self->a, 0)->user_data);
	EXPECT_EQ(2, perf_slot(&self->a, 1)->user_data);
	EXPECT_EQ(3, perf_signals(&self->a));
}

TEST_HARNESS_MAIN
