// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: states of blocks. Each rule by which they
 * are derived is made to apply, with the bench page, and must yield its bits
 * and no others, with metadata in firmware's samples and without.
 */
#include "bed.h"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	/* Shader cores stay up. */
	bench_reg_set(CORES_HOLD, 1);
	return !perf_pm_write("control", "on") &&
	       perf_until(bench_reg_get64(SHADER_READY) == gpu->shader_present);
}

#define SLOTS 16
#define TRIES 50

#define ON		DRM_PANTHOR_PERF_BLOCK_STATE_ON
#define OFF		DRM_PANTHOR_PERF_BLOCK_STATE_OFF
#define AVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE
#define UNAVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE
#define NORMAL		DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL
#define PROTECTED	DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED

/*
 * The sessions: one has enabled everything, one nothing but the tiler's
 * counters, and so does not look at other blocks.
 */
FIXTURE(states)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_gpu_info gpu;
	struct perf_session all, tiler, other;
	struct drm_panthor_perf_cmd_setup masks_all, masks_tiler;
};

FIXTURE_SETUP(states)
{
	uint32_t size = sizeof(self->gpu);

	self->all.efd = -1;
	self->tiler.efd = -1;
	self->other.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	EXPECT_EQ(DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT, self->info.flags);
	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &self->gpu, &size));
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->masks_all);
	self->masks_tiler.tiler_enable_mask[0] = ~0ull;
}

FIXTURE_TEARDOWN(states)
{
	perf_bench_calm();
	perf_session_end(&self->other);
	perf_session_end(&self->tiler);
	perf_session_end(&self->all);
	close(self->fd);
	perf_pm_write("control", "auto");
}

/* Firmware that does not run does not take it. */
static bool enter_protected_mode(void)
{
	return perf_until((bench_reg_set(PROTM, 1), bench_reg_get(GPU_STATUS) & 1u << 7));
}

/* Set up and started. */
static bool begin(FIXTURE_DATA(states) *self, uint8_t set)
{
	self->masks_all.block_set = set;
	self->masks_tiler.block_set = set;
	return !perf_session_new(self->fd, &self->info, SLOTS, &self->all, &self->masks_all) &&
	       !perf_session_new(self->fd, &self->info, SLOTS, &self->tiler, &self->masks_tiler) &&
	       !perf_start(self->fd, self->all.handle, 0) &&
	       !perf_start(self->fd, self->tiler.handle, 0);
}

/* The oldest sample makes room, that of a request that has been made is waited for. */
static bool taken(struct perf_session *s)
{
	if (!perf_wait(s, s->read + 1))
		return false;
	perf_consume(s, 1);
	return true;
}

/* A sample of both, which end the period that is in progress. */
static bool take(FIXTURE_DATA(states) *self)
{
	return !perf_sample(self->fd, self->all.handle, 1) && taken(&self->all) &&
	       !perf_sample(self->fd, self->tiler.handle, 1) && taken(&self->tiler);
}

/* What there is without a core: there is no metadata in samples of the same size. */
static bool has_metadata(FIXTURE_DATA(states) *self)
{
	uint32_t blocks = perf_blocks(&self->info) - self->info.shader_blocks +
			  64 - __builtin_clzll(self->gpu.shader_present);

	return bench_reg_get(SAMPLE_SIZE) == (blocks + 1) * 4 * self->info.counters_per_block;
}

/* The sample taken last: its tiler, other blocks but cores, the first core, other cores. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(states) *self, const char *what,
		  const struct perf_session *s, const uint8_t want[4])
{
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		const struct drm_panthor_perf_block_header *block =
			perf_block(&self->info, perf_slot(s, s->read - 1), b);
		int i = 1;

		if (block->block_type == DRM_PANTHOR_PERF_BLOCK_TILER)
			i = 0;
		else if (block->block_type == DRM_PANTHOR_PERF_BLOCK_SHADER)
			i = block->block_idx ? 3 : 2;
		EXPECT_EQ(want[i], block->block_states) {
			TH_LOG("%s: %s: %s %u has %#x, not %#x", what,
			       s == &self->tiler ? "tiler only" : "everything",
			       perf_type_names[block->block_type], block->block_idx,
			       block->block_states, want[i]);
		}
	}
}

#define CHECK(what, s, ...) \
	check(_metadata, self, what, s, (const uint8_t[4]) { __VA_ARGS__ })

TEST_F_TIMEOUT(states, power_of_cores, 120)
{
	const uint8_t on = ON | AVAILABLE | NORMAL;
	uint64_t first = self->gpu.shader_present & -self->gpu.shader_present;

	ASSERT_TRUE(begin(self, 0));
	ASSERT_TRUE(take(self));
	CHECK("as it begins", &self->all, on, on, on, on);
	CHECK("as it begins", &self->tiler, on, on, NORMAL, NORMAL);

	/* The sample that is taken before its power goes, and the one that is asked for. */
	bench_reg_set64(CORES_OFF, first);
	ASSERT_TRUE(perf_until(bench_reg_get64(SHADER_READY) ==
			       (self->gpu.shader_present & ~first)));
	ASSERT_TRUE(take(self));
	CHECK("power goes", &self->all, on, on, ON | OFF | AVAILABLE | NORMAL, on);
	CHECK("power goes", &self->tiler, on, on, NORMAL, NORMAL);

	ASSERT_TRUE(take(self));
	CHECK("without power", &self->all, on, on, OFF | UNAVAILABLE | NORMAL, on);
	CHECK("without power", &self->tiler, on, on, NORMAL, NORMAL);

	bench_reg_set64(CORES_OFF, 0);
	ASSERT_TRUE(perf_until(bench_reg_get64(SHADER_READY) == self->gpu.shader_present));
	ASSERT_TRUE(take(self));
	ASSERT_TRUE(take(self));
	CHECK("power is back", &self->all, on, on, on, on);
	CHECK("power is back", &self->tiler, on, on, NORMAL, NORMAL);
}

/*
 * The samples before and after it are folded into one, or are two. Without metadata there is one more
 * when it ends, which has no counts and tells nothing of power.
 */
TEST_F_TIMEOUT(states, protected_mode, 300)
{
	const uint8_t on = ON | AVAILABLE | NORMAL, both = on | PROTECTED;
	struct drm_panthor_perf_cmd_setup emit = self->masks_all;
	const bool metadata = has_metadata(self);
	bool found = false;

	ASSERT_TRUE(begin(self, 0));
	emit.setup_flags = DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->other, &emit));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 2));
	for (int i = 0; !found && i < TRIES; i++) {
		uint64_t samples;

		ASSERT_TRUE(take(self));
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, 1));
		ASSERT_TRUE(taken(&self->other));
		ASSERT_TRUE(enter_protected_mode());
		/* Not if it has answered a request of the driver's own. */
		for (int j = 0; !found && j < 500; j++) {
			usleep(2000);
			found = perf_insert(&self->other) > self->other.read;
		}
		if (found) {
			ASSERT_TRUE(taken(&self->other));
			EXPECT_EQ(2, perf_slot(&self->other, self->other.read - 1)->user_data);
			CHECK("entry", &self->other, both, both, both, both);
		}
		/* It may have to wait for such a request, which then is the first after it. */
		samples = bench_reg_get64(SAMPLES);
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, 1));
		bench_reg_set(PROTM, 0);
		ASSERT_TRUE(taken(&self->other));
		if (!metadata) {
			EXPECT_EQ(2, perf_slot(&self->other, self->other.read - 1)->user_data);
			EXPECT_EQ(0, perf_slot(&self->other, self->other.read - 1)->flags);
			CHECK("end", &self->other, NORMAL | PROTECTED, NORMAL | PROTECTED,
			      NORMAL | PROTECTED, NORMAL | PROTECTED);
			ASSERT_TRUE(taken(&self->other));
		}
		found = found && bench_reg_get64(SAMPLES) == samples + (metadata ? 1 : 2);
	}
	ASSERT_TRUE(found);
	EXPECT_EQ(1, perf_slot(&self->other, self->other.read - 1)->user_data);
	EXPECT_EQ(0, perf_slot(&self->other, self->other.read - 1)->flags);
	if (metadata)
		CHECK("exit", &self->other, both, both, both & ~ON, both & ~ON);
	else
		CHECK("exit", &self->other, on, on, on, on);

	ASSERT_TRUE(take(self));
	CHECK("through it", &self->all, both, both, both, both);
	CHECK("through it", &self->tiler, both, both, NORMAL | PROTECTED, NORMAL | PROTECTED);

	ASSERT_TRUE(take(self));
	CHECK("after it", &self->all, on, on, on, on);
	CHECK("after it", &self->tiler, on, on, NORMAL, NORMAL);
}

/* Counters cannot be enabled there, and nothing else happens: not NORMAL. */
TEST_F_TIMEOUT(states, wholly_in_protected_mode, 120)
{
	const uint8_t off = OFF | AVAILABLE | PROTECTED;

	ASSERT_TRUE(enter_protected_mode());
	ASSERT_TRUE(begin(self, 0));
	ASSERT_TRUE(take(self));
	ASSERT_TRUE(take(self));
	ASSERT_NE(0, bench_reg_get(GPU_STATUS) & 1u << 7);
	CHECK("in it", &self->all, off, off, off, off);
	CHECK("in it", &self->tiler, off, off, OFF | PROTECTED, OFF | PROTECTED);

	bench_reg_set(PROTM, 0);
	ASSERT_TRUE(perf_until(bench_reg_get(ENABLED)));
	/* Both ends of it may be in the same sample, or not. */
	ASSERT_TRUE(take(self));
	ASSERT_TRUE(take(self));
	ASSERT_TRUE(take(self));
	CHECK("after it", &self->all, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL,
	      ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);
}

/* Metadata tells of sleep, nothing else does. Cores have no power in it, and after it. */
TEST_F_TIMEOUT(states, sleep, 120)
{
	const uint8_t on = ON | AVAILABLE | NORMAL, slept = on | OFF;
	uint8_t told;

	ASSERT_TRUE(begin(self, 0));
	ASSERT_TRUE(take(self));
	told = has_metadata(self) ? OFF : 0;
	/* A doorbell wakes it, be it the driver's own. */
	ASSERT_TRUE(perf_until((bench_reg_set(SLEEP, 1), bench_reg_get64(SHADER_READY) == 0)));
	ASSERT_TRUE(take(self));
	CHECK("sleep", &self->all, on | told, on | told, slept, slept);
	CHECK("sleep", &self->tiler, on | told, on | told, NORMAL | told, NORMAL | told);
}

TEST_F_TIMEOUT(states, suspend, 120)
{
	const uint8_t on = ON | AVAILABLE | NORMAL, slept = on | OFF, off = slept & ~ON;
	const uint8_t off_core = OFF | UNAVAILABLE | NORMAL;

	ASSERT_TRUE(begin(self, 0));
	ASSERT_TRUE(take(self));
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_TRUE(take(self));
	CHECK("into it", &self->all, slept, slept, slept, slept);
	CHECK("into it", &self->tiler, slept, slept, OFF | NORMAL, OFF | NORMAL);

	ASSERT_TRUE(take(self));
	CHECK("in it", &self->all, off, off, off_core, off_core);
	CHECK("in it", &self->tiler, off, off, off_core, off_core);

	ASSERT_EQ(0, perf_pm_write("control", "on"));
	ASSERT_TRUE(perf_until(perf_pm_is("active")));
	ASSERT_TRUE(perf_until(bench_reg_get64(SHADER_READY) == self->gpu.shader_present));
	ASSERT_TRUE(take(self));
	CHECK("out of it", &self->all, slept, slept, slept, slept);
	CHECK("out of it", &self->tiler, slept, slept, OFF | NORMAL, OFF | NORMAL);

	ASSERT_TRUE(take(self));
	CHECK("after it", &self->all, on, on, on, on);
	CHECK("after it", &self->tiler, on, on, NORMAL, NORMAL);
}

/* In the other sets, the model's firmware and CSG blocks have no counters. */
TEST_F_TIMEOUT(states, sets, 120)
{
	const uint8_t on = ON | AVAILABLE | NORMAL;
	const uint32_t values = self->info.counters_per_block;

	bench_reg_set(RATE, 100000);
	bench_reg_set(ACTIVITY, 1);
	for (uint8_t set = 0; set < 3; set++) {
		ASSERT_TRUE(begin(self, set));
		ASSERT_EQ(set, bench_reg_get(SET));
		ASSERT_TRUE(take(self));
		for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
			const struct drm_panthor_perf_sample_header *h =
				perf_slot(&self->all, self->all.read - 1);
			const struct drm_panthor_perf_block_header *block =
				perf_block(&self->info, h, b);
			bool none = set && block->block_type <= DRM_PANTHOR_PERF_BLOCK_CSG;

			EXPECT_EQ(none ? ON | UNAVAILABLE | NORMAL : on, block->block_states) {
				TH_LOG("set %u: %s %u has %#x", set,
				       perf_type_names[block->block_type],
				       block->block_idx, block->block_states);
			}
			for (uint32_t v = PERF_RESERVED; none && v < values; v++)
				EXPECT_EQ(0, perf_values(&self->info, h, b)[v]);
		}
		/* Who does not look at a block does not know that it has some. */
		CHECK("a set", &self->tiler, on, set ? ON | NORMAL : on, NORMAL, NORMAL);
		perf_session_end(&self->tiler);
		perf_session_end(&self->all);
	}
}

TEST_HARNESS_MAIN
