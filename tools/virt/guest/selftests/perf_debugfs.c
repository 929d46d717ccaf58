// SPDX-License-Identifier: MIT
/* What debugfs tells of firmware, compared with what the bench page knows of it. */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_debugfs.c"

static long long value_now(FIXTURE_DATA(debugfs) *self, const char *key)
{
	return look(self) ? -1 : value(self, key);
}

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	return true;
}

/* What waits is seen, and looking at it does not wait for what it waits for. */
TEST_F_TIMEOUT(debugfs, pending, 120)
{
	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 0));
	ASSERT_TRUE(perf_until((bench_reg_set(PROTM, 1), bench_reg_get(GPU_STATUS) & 1u << 7)));
	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 1));
	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 2));
	ASSERT_EQ(0, look(self));
	EXPECT_SESSION(0, "started", 0, 2, 0);
	ASSERT_EQ(0, perf_stop(self->fd, self->manual.handle, 3));
	ASSERT_EQ(0, look(self));
	EXPECT_SESSION(0, "stopping", 0, 3, 0);
	bench_reg_set(PROTM, 0);
	ASSERT_TRUE(perf_wait(&self->manual, 3));
	ASSERT_EQ(0, look(self));
	EXPECT_SESSION(0, "stopped", 3, 0, 3);
}

TEST_F_TIMEOUT(debugfs, firmware, 120)
{
	ASSERT_EQ(0, look(self));
	EXPECT_TRUE(is_state(self, "idle"));
	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 0));
	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 1));
	ASSERT_TRUE(perf_wait(&self->manual, 1));
	ASSERT_EQ(0, look(self));
	EXPECT_TRUE(is_state(self, "counting"));
	EXPECT_EQ(0, value(self, "failures"));

	/* It has been answered, and the driver is not told. */
	bench_reg_set(DROP_SAMPLE_ACKS, 1);
	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 2));
	ASSERT_TRUE(perf_wait(&self->manual, 2));
	EXPECT_TRUE(perf_until(!look(self) && is_state(self, "counting")));

	/* Without power it is not woken. */
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, look(self));
	EXPECT_TRUE(is_state(self, "down"));
	EXPECT_EQ(2, value(self, "sessions"));
	EXPECT_TRUE(perf_pm_is("suspended"));
}

/* Samples that firmware was asked for. */
static uint64_t requested(void)
{
	return bench_reg_get64(SAMPLES) - bench_reg_get64(AUTOS);
}

/* Firmware is told that THRESHOLD was acknowledged, though nobody asks it for a sample. */
TEST_F_TIMEOUT(debugfs, rearmed, 120)
{
	uint32_t threshold = 1u << 24, known, slots = bench_reg_get(SLOTS);
	uint64_t requests = 0, after = 1, events;

	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 0));
	/* Once more if the driver has asked for a sample itself, since there was none for long. */
	for (int tries = 0; tries < 50 && requests != after; tries++) {
		requests = requested();
		known = bench_reg_get(REQ);
		events = bench_reg_get64(THRESHOLDS);
		/* Samples of its own accord, up to half of the ring. */
		for (uint32_t i = 0; i < slots && bench_reg_get64(THRESHOLDS) == events; i++) {
			bench_reg_set(PROTM, 1);
			bench_reg_set(PROTM, 0);
		}
		if (bench_reg_get64(THRESHOLDS) == events)
			continue;
		ASSERT_TRUE(perf_until((bench_reg_get(REQ) ^ known) & threshold));
		after = requested();
	}
	EXPECT_EQ(requests, after);
}

#define STRIKES 3

/* Firmware that hangs is no end of START, nor of the GPU: three resets, and no more. */
TEST_F_TIMEOUT(debugfs, start_times_out, 300)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), resets = 0;

	ASSERT_LE(0, log);
	ASSERT_LE(0, lseek(log, 0, SEEK_END));
	for (int i = 1; i <= STRIKES + 2; i++) {
		bench_reg_set(HANG, 1);
		EXPECT_EQ(-ETIMEDOUT, perf_start(self->fd, self->manual.handle, i)) {
			TH_LOG("START %d", i);
		}
		resets += bed_logged(log, "resetting the GPU");
		EXPECT_EQ(i < STRIKES ? i : STRIKES, resets) {
			TH_LOG("START %d", i);
		}
		EXPECT_EQ(i, value_now(self, "failures")) {
			TH_LOG("START %d", i);
		}
		/* As it was before. */
		EXPECT_EQ(-EINVAL, perf_sample(self->fd, self->manual.handle, i));
		/* START does not ask for a reset while there is one. */
		if (i <= STRIKES)
			ASSERT_TRUE(perf_until(!bench_reg_get(HANG) && !look(self) &&
					       is_state(self, "idle")));
	}
	EXPECT_EQ(1, bench_reg_get(HANG));
	close(log);
	bench_reg_set(HANG, 0);
	EXPECT_EQ(0, perf_start(self->fd, self->manual.handle, 9));
	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 10));
	ASSERT_TRUE(perf_wait(&self->manual, 1));
	EXPECT_EQ(10, perf_slot(&self->manual, 0)->user_data);
	EXPECT_EQ(0, perf_slot(&self->manual, 0)->flags);
	EXPECT_EQ(0, value_now(self, "failures"));
}
