// SPDX-License-Identifier: MIT
/* Performance counters of panthor: what is in samples. */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8

FIXTURE(sample)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_gpu_info gpu;
	struct perf_session a, b;
	struct drm_panthor_perf_cmd_setup all, none;
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
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->all);
}

FIXTURE_TEARDOWN(sample)
{
	perf_session_end(&self->b);
	perf_session_end(&self->a);
	close(self->fd);
	perf_pm_write("control", "auto");
}

/* A sample of this session, when there is nobody else. */
static bool take(struct perf_session *s)
{
	uint64_t n = perf_insert(s);

	return !perf_sample(s->fd, s->handle, 5) && perf_wait(s, n + 1);
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
		perf_work(true);
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

	perf_work(true);
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

/* Power */

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

TEST_HARNESS_MAIN
