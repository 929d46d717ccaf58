// SPDX-License-Identifier: MIT
/* The device goes while firmware answers nothing. */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_unplug.c"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	return true;
}

/* Requests that are pending get theirs, and no other. */
TEST_F_TIMEOUT(unplug, pending_requests, 300)
{
	ASSERT_EQ(0, make(self, SAMPLING));
	ASSERT_EQ(0, make(self, STOPPING));
	ASSERT_TRUE(perf_until((bench_reg_set(PROTM, 1), bench_reg_get(GPU_STATUS) & 1u << 7)));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, perf_sample(self->fd, self->s[SAMPLING].handle, 10 + i));
		ASSERT_EQ(0, perf_sample(self->fd, self->s[STOPPING].handle, 20 + i));
	}
	ASSERT_EQ(0, perf_stop(self->fd, self->s[STOPPING].handle, 23));
	EXPECT_EQ(0, perf_insert(&self->s[SAMPLING]));
	EXPECT_EQ(0, perf_insert(&self->s[STOPPING]));

	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	bench_reg_set(PROTM, 0);
	gone(_metadata, self);
	EXPECT_EQ(3, perf_insert(&self->s[SAMPLING]));
	EXPECT_EQ(3, perf_signals(&self->s[SAMPLING]));
	EXPECT_EQ(4, perf_insert(&self->s[STOPPING]));
	EXPECT_EQ(4, perf_signals(&self->s[STOPPING]));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(10 + i, perf_slot(&self->s[SAMPLING], i)->user_data);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(20 + i, perf_slot(&self->s[STOPPING], i)->user_data);
	EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_ERROR, perf_slot(&self->s[SAMPLING], 2)->flags);
	EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_ERROR, perf_slot(&self->s[STOPPING], 3)->flags);
}
