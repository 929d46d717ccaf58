// SPDX-License-Identifier: MIT
/* Hostile clients of a GPU that hangs, and goes, meanwhile. */
#include "bed.h"

/* Firmware that hangs ends with a reset, while the GPU is kept on. */
#define perf_disturb(turn) ((turn) % 10 != 5 || (bench_reg_set(HANG, 1), perf_until(!bench_reg_get(HANG))))

#include "../../../testing/selftests/drivers/gpu/panthor/perf_hostile.c"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	bench_reg_set(RATE, 100000);
	bench_reg_set(ACTIVITY, 1);
	return true;
}

/* The device goes from under eight threads; it comes back for who comes next. */
TEST_F_TIMEOUT(hostile, mob_unbound, 300)
{
	struct mob mob = { .fd = self->fd, .info = self->info, .shared = self->s };
	pthread_t threads[THREADS];
	char device[512];

	ASSERT_EQ(0, perf_sysfs(device, sizeof(device)));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, riot, &mob));
	ASSERT_TRUE(perf_until(__atomic_load_n(&mob.done, __ATOMIC_RELAXED) > 200));
	ASSERT_EQ(0, perf_bind(device, "unbind"));
	EXPECT_TRUE(perf_until(__atomic_load_n(&mob.gone, __ATOMIC_RELAXED) > 200));
	__atomic_store_n(&mob.end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, mob.wrong);
	EXPECT_EQ(-ENODEV, perf_sample(self->fd, self->s.handle, 1));
	close(self->fd);
	self->s.ring.handle = 0;
	self->s.ctl.handle = 0;
	perf_session_free(&self->s);
	ASSERT_EQ(0, perf_bind(device, "bind"));
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	self->fd = perf_open_device();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	EXPECT_EQ(0, sample_once(&self->s, 2));
}
