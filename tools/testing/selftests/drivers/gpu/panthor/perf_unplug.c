// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: the device goes while sessions count. It is
 * unbound from its driver, and bound again at the end.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8

enum { SET_UP, STARTED, SAMPLING, STOPPING, STOPPED, PERIODIC, FULL, STATES };

FIXTURE(unplug)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s[STATES];
	char device[512];
};

FIXTURE_SETUP(unplug)
{
	for (int i = 0; i < STATES; i++)
		self->s[i].efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_sysfs(self->device, sizeof(self->device)));
	ASSERT_EQ(0, perf_pm_write("control", "on"));
}

FIXTURE_TEARDOWN(unplug)
{
	int fd;

	for (int i = 0; i < STATES; i++)
		perf_session_free(&self->s[i]);
	close(self->fd);
	if (access("/sys/bus/platform/drivers/panthor", F_OK))
		return;
	fd = perf_open_device();
	if (fd < 0)
		perf_bind(self->device, "bind");
	else
		close(fd);
	perf_pm_write("control", "auto");
}

static int make(FIXTURE_DATA(unplug) *self, int state)
{
	struct drm_panthor_perf_cmd_setup setup = {
		.sample_freq_ns = state == PERIODIC ? 100000000000 : 0,
	};
	struct perf_session *s = &self->s[state];
	int ret;

	perf_masks_all(&setup);
	ret = perf_session_new(self->fd, &self->info, SLOTS, s, &setup);
	if (ret || state == SET_UP)
		return ret;
	ret = perf_start(self->fd, s->handle, 100 + state);
	if (!ret && state == STOPPED) {
		ret = perf_stop(self->fd, s->handle, 200);
		if (!ret && !perf_wait(s, 1))
			ret = -ETIME;
	}
	for (int i = 0; !ret && state == FULL && i < SLOTS - 1; i++) {
		ret = perf_sample(self->fd, s->handle, 300 + i);
		if (!ret && !perf_wait(s, i + 1))
			ret = -ETIME;
	}
	return ret;
}

static void gone(struct __test_metadata *_metadata, FIXTURE_DATA(unplug) *self)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	uint32_t handle;

	EXPECT_EQ(-ENODEV, perf_setup(self->fd, &setup, &handle));
	for (int i = 0; i < STATES; i++) {
		if (!self->s[i].handle)
			continue;
		EXPECT_EQ(-ENODEV, perf_start(self->fd, self->s[i].handle, 0));
		EXPECT_EQ(-ENODEV, perf_sample(self->fd, self->s[i].handle, 0));
		EXPECT_EQ(-ENODEV, perf_stop(self->fd, self->s[i].handle, 0));
		EXPECT_EQ(-ENODEV, perf_teardown(self->fd, self->s[i].handle));
	}
}

/* Every session that counts gets one last sample, and one signal. */
TEST_F_TIMEOUT(unplug, last_samples, 300)
{
	static const uint64_t before[STATES] = { [STOPPED] = 1, [FULL] = SLOTS - 1 };

	for (int i = 0; i < STATES; i++) {
		if (i != SAMPLING && i != STOPPING)
			ASSERT_EQ(0, make(self, i));
	}
	/* Objects can be let go of: the ring is the session's as well. */
	ASSERT_EQ(0, perf_bo_close(self->fd, &self->s[STARTED].ring));
	ASSERT_EQ(0, perf_bo_close(self->fd, &self->s[STARTED].ctl));

	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	gone(_metadata, self);
	for (int i = 0; i < STATES; i++) {
		bool counts = i == STARTED || i == PERIODIC || i == FULL;
		struct perf_session *s = &self->s[i];

		if (i == SAMPLING || i == STOPPING)
			continue;
		EXPECT_EQ(before[i] + counts, perf_insert(s)) {
			TH_LOG("state %d", i);
		}
		EXPECT_EQ(before[i] + counts, perf_signals(s)) {
			TH_LOG("state %d", i);
		}
		if (counts) {
			const struct drm_panthor_perf_sample_header *h = perf_slot(s, before[i]);

			EXPECT_EQ(100 + i, h->user_data);
			EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_ERROR, h->flags);
			EXPECT_LE(h->timestamp_start_ns, h->timestamp_end_ns);
		}
		for (uint64_t j = 0; j < before[i]; j++)
			EXPECT_EQ(0, perf_slot(s, j)->flags);
	}
}

/* Files, memory and eventfds may go before the device, or never. */
TEST_F_TIMEOUT(unplug, nobody_left, 300)
{
	for (int i = 0; i < 4; i++) {
		int fd = perf_open_device();
		struct drm_panthor_perf_cmd_setup setup = {};
		struct perf_session s;

		ASSERT_LE(0, fd);
		perf_masks_all(&setup);
		ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &s, &setup));
		ASSERT_EQ(0, perf_start(fd, s.handle, 0));
		ASSERT_EQ(0, perf_sample(fd, s.handle, 0));
		if (i & 1)
			close(fd);
		if (i & 2)
			close(s.efd);
	}
	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	ASSERT_EQ(0, perf_bind(self->device, "bind"));
	/* A new one, that knows nothing of the old. */
	close(self->fd);
	self->fd = perf_open_device();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, make(self, STOPPED));
	EXPECT_EQ(1, self->s[STOPPED].handle);
	EXPECT_EQ(0, perf_slot(&self->s[STOPPED], 0)->flags);
	EXPECT_EQ(1, perf_insert(&self->s[STOPPED]));
}

#define STARTERS 2
#define ROUNDS 8

/**
 * struct starter - a thread that starts and stops a session until the device goes
 * @s: session
 * @consumes: reads its ring; one thread does
 * @starts: how often it has started it
 * @error: what a command returned that it must not
 */
struct starter {
	struct perf_session *s;
	bool consumes;
	unsigned int starts;
	int error;
};

static void *start_and_stop(void *arg)
{
	struct starter *t = arg;
	int ret;

	do {
		ret = perf_start(t->s->fd, t->s->handle, 0);
		if (!ret)
			__atomic_fetch_add(&t->starts, 1, __ATOMIC_RELAXED);
		/* The ring is full, or the last sample has not been delivered. */
		if (!ret || ret == -EBUSY)
			ret = perf_stop(t->s->fd, t->s->handle, 0);
		if (t->consumes)
			perf_consume(t->s, perf_insert(t->s) - t->s->read);
		/* Firmware may be late on a busy machine. */
	} while (!ret || ret == -ETIMEDOUT);
	t->error = ret == -ENODEV ? 0 : ret;
	return NULL;
}

/* Unbind the device while two threads start and stop one session. */
TEST_F_TIMEOUT(unplug, start_meets_unbind, 300)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct drm_panthor_perf_cmd_setup setup = {};
		struct starter t[STARTERS];
		pthread_t threads[STARTERS];
		struct perf_session s;
		int fd = perf_open_device();

		ASSERT_LE(0, fd);
		perf_masks_all(&setup);
		ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &s, &setup));
		for (int i = 0; i < STARTERS; i++) {
			t[i] = (struct starter){ .s = &s, .consumes = !i };
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, start_and_stop, &t[i]));
		}
		for (int i = 0; i < STARTERS; i++)
			EXPECT_TRUE(perf_until(__atomic_load_n(&t[i].starts, __ATOMIC_RELAXED) > 2));
		EXPECT_EQ(0, perf_bind(self->device, "unbind"));
		for (int i = 0; i < STARTERS; i++) {
			pthread_join(threads[i], NULL);
			EXPECT_EQ(0, t[i].error);
		}
		perf_session_free(&s);
		close(fd);
		ASSERT_EQ(0, perf_bind(self->device, "bind"));
	}
}

TEST_HARNESS_MAIN
