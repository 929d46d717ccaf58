// SPDX-License-Identifier: MIT
/*
 * What is in samples, when counters are made to count what the test says, and the page tells what
 * firmware has put into its samples: nothing may be missing, and nothing be added.
 */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_sample.c"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	/* Shader cores stay up, and every block has something to count. */
	bench_reg_set(CORES_HOLD, 1);
	bench_reg_set(RATE, 100000);
	return !perf_pm_write("control", "on") &&
	       perf_until(bench_reg_get64(SHADER_READY) == gpu->shader_present);
}

#define TRIES 50
/* Times the number of a value, it fits a counter. */
#define AMOUNT_STEP 100003ull
/* Values of all blocks, of the largest GPU that there can be. */
#define VALUES (114 * 128)

/* What samples had held of each value before a session began, and after it ended. */
static uint64_t before[VALUES], after[VALUES];

#define for_each_value(n, t, i, v)						\
	for (uint32_t n = 0, t = 1; t < PERF_TYPES; t++)			\
		for (uint32_t i = 0; i < perf_count(&self->info, t); i++)	\
			for (uint32_t v = 0; v < self->info.counters_per_block; v++, n++)

/* What each counter's samples have held since the machine was switched on. */
static void read_emitted(FIXTURE_DATA(sample) *self, uint64_t *emitted)
{
	for_each_value(n, t, i, v) {
		if (v < PERF_RESERVED)
			continue;
		bench_choose(self->gpu.shader_present, t, i, v);
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
		read_emitted(self, before);
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
	read_emitted(self, after);
	return true;
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
			want = after[n] - before[n];
		nonzero += want != 0;
		EXPECT_EQ(want, summed(self, s, n)) {
			TH_LOG("%s %u counter %u", perf_type_names[t], i, v);
		}
	}
	EXPECT_LT(0, nonzero);
}

/* All blocks have the same timestamp, that of the firmware's sample. */
TEST_F(sample, gpu_timestamp)
{
	bool found = false;

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

TEST_F_TIMEOUT(sample, everything_counted, 300)
{
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	for_each_value(n, t, i, v) {
		if (v < PERF_RESERVED)
			continue;
		/* Different everywhere. */
		bench_choose(self->gpu.shader_present, t, i, v);
		bench_reg_set64(AMOUNT, AMOUNT_STEP * n);
		bench_reg_set(ADD, 1);
	}
	for (int i = 0; i < 3; i++)
		ASSERT_TRUE(take(&self->a));
	ASSERT_TRUE(stop_counted(self, &self->a));
	check_sums(_metadata, self, &self->a, &self->all);
	for_each_value(n, t, i, v) {
		if (v >= PERF_RESERVED)
			EXPECT_LE(AMOUNT_STEP * n, after[n] - before[n]);
	}
	for (uint64_t i = 0; i < perf_insert(&self->a); i++)
		EXPECT_EQ(0, perf_slot(&self->a, i)->flags);
}

TEST_F_TIMEOUT(sample, single_counters, 300)
{
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

	while (perf_block_name(&self->info, tiler, &type, &index),
	       type != DRM_PANTHOR_PERF_BLOCK_TILER)
		tiler++;
	ASSERT_TRUE(start_counted(self, &self->a, &self->all));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0));
	for (int i = 0; i < 6; i++) {
		bench_choose(self->gpu.shader_present, DRM_PANTHOR_PERF_BLOCK_TILER, 0, 20);
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
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	ASSERT_TRUE(take(&self->a));
	bench_choose(self->gpu.shader_present, DRM_PANTHOR_PERF_BLOCK_MEMSYS, 0, 30);
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
	bench_reg_set(ACTIVITY, 0);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->b, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->b.handle, 0));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	for (int run = 0; run < 3; run++) {
		uint32_t shader = perf_blocks(&self->info) - 1;

		bench_choose(self->gpu.shader_present, DRM_PANTHOR_PERF_BLOCK_SHADER,
			     self->info.shader_blocks - 1, 41);
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

/* Counts up to the very last moment before it sleeps, and from the first after. */
TEST_F_TIMEOUT(sample, across_suspend, 300)
{
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

/* A request that firmware forgets is made again, or the GPU is reset: it ends. */
TEST_F_TIMEOUT(sample, hang, 120)
{
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

#define OWN_SAMPLES 20

/* What nobody asks for the driver asks for, every tenth of a second, lest a counter of 32 bits is full. */
TEST_F_TIMEOUT(sample, asked_by_itself, 300)
{
	uint64_t first, begin, took;

	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->a, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->a.handle, 0));
	/* In this order, so that a stall does not make the time shorter. */
	begin = perf_now();
	first = bench_reg_get64(SAMPLES) - bench_reg_get64(AUTOS);
	ASSERT_TRUE(perf_until(bench_reg_get64(SAMPLES) - bench_reg_get64(AUTOS) >=
			       first + OWN_SAMPLES));
	took = perf_now() - begin;
	EXPECT_LE((OWN_SAMPLES - 1) * 100000000ull, took);
	EXPECT_GE(OWN_SAMPLES * 500000000ull, took);
	EXPECT_EQ(0, perf_signals(&self->a));
	/* The next one has all of that. */
	ASSERT_TRUE(take(&self->a));
	EXPECT_EQ(0, perf_slot(&self->a, 0)->flags);
	EXPECT_LE(took, perf_slot(&self->a, 0)->timestamp_end_ns -
			perf_slot(&self->a, 0)->timestamp_start_ns);
}
