// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: states of a session, its ring, who may have
 * one, and how many.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8
#define FILE_SESSIONS 64
#define DEVICE_SESSIONS 256
#define USER_SESSIONS 16

FIXTURE(session)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s, other;
	struct drm_panthor_perf_cmd_setup setup;
	char paranoid[16];	/* perf's sysctl, which a test changes; empty: there is none */
};

FIXTURE_SETUP(session)
{
	self->s.efd = -1;
	self->other.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	/* Up and idle, unless a test says otherwise. */
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
	if (perf_read_file(PERF_EVENT_PARANOID, self->paranoid, sizeof(self->paranoid)))
		self->paranoid[0] = 0;
}

FIXTURE_TEARDOWN(session)
{
	perf_session_end(&self->other);
	perf_session_end(&self->s);
	close(self->fd);
	perf_pm_write("control", "auto");
	perf_set_paranoid(true);
	if (self->paranoid[0])
		perf_write_file(PERF_EVENT_PARANOID, self->paranoid);
}

#define START(ud)	perf_start(self->fd, self->s.handle, ud)
#define SAMPLE(ud)	perf_sample(self->fd, self->s.handle, ud)
#define STOP(ud)	perf_stop(self->fd, self->s.handle, ud)

/* Deliver nothing, and go on: a whole run of another session, which comes after. */
static int other_run(FIXTURE_DATA(session) *self)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	struct perf_session o;
	int ret = perf_session_new(self->fd, &self->info, 2, &o, &setup);

	if (ret)
		return ret;
	ret = perf_start(self->fd, o.handle, 0);
	if (!ret)
		ret = perf_stop(self->fd, o.handle, 0);
	if (!ret && !perf_wait(&o, 1))
		ret = -ETIME;
	perf_session_end(&o);
	return ret;
}

/* States */

TEST_F(session, stopped)
{
	EXPECT_EQ(-EINVAL, SAMPLE(1));
	EXPECT_EQ(0, STOP(2));
	EXPECT_EQ(-EINVAL, SAMPLE(3));
	ASSERT_EQ(0, other_run(self));
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, perf_signals(&self->s));
}

TEST_F(session, one_run)
{
	uint64_t t[6];

	t[0] = perf_now();
	ASSERT_EQ(0, START(1));
	t[1] = perf_now();
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, perf_signals(&self->s));

	t[2] = perf_now();
	ASSERT_EQ(0, SAMPLE(0x1122334455667788));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	t[3] = perf_now();
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(0x1122334455667788, perf_slot(&self->s, 0)->user_data);
	EXPECT_EQ(0, perf_slot(&self->s, 0)->flags);

	t[4] = perf_now();
	ASSERT_EQ(0, STOP(~0ull));
	ASSERT_TRUE(perf_wait(&self->s, 2));
	t[5] = perf_now();
	EXPECT_EQ(2, perf_insert(&self->s));
	EXPECT_EQ(~0ull, perf_slot(&self->s, 1)->user_data);
	EXPECT_EQ(0, perf_slot(&self->s, 1)->flags);

	/* Baseline in START, ends between the request and the signal. */
	EXPECT_LE(t[0], perf_slot(&self->s, 0)->timestamp_start_ns);
	EXPECT_GE(t[1], perf_slot(&self->s, 0)->timestamp_start_ns);
	EXPECT_LE(t[2], perf_slot(&self->s, 0)->timestamp_end_ns);
	EXPECT_GE(t[3], perf_slot(&self->s, 0)->timestamp_end_ns);
	EXPECT_EQ(perf_slot(&self->s, 0)->timestamp_end_ns,
		  perf_slot(&self->s, 1)->timestamp_start_ns);
	EXPECT_LE(t[4], perf_slot(&self->s, 1)->timestamp_end_ns);
	EXPECT_GE(t[5], perf_slot(&self->s, 1)->timestamp_end_ns);

	/* Over. */
	EXPECT_EQ(-EINVAL, SAMPLE(7));
	EXPECT_EQ(0, STOP(8));
	ASSERT_EQ(0, other_run(self));
	EXPECT_EQ(2, perf_insert(&self->s));
	EXPECT_EQ(2, perf_signals(&self->s));
	/* other_run() had one as well. */
	EXPECT_EQ(3, perf_fdinfo(self->fd, "panthor-perf-samples"));
}

TEST_F(session, start_twice)
{
	uint64_t before;

	ASSERT_EQ(0, START(1));
	before = perf_now();
	EXPECT_EQ(0, START(2));
	EXPECT_EQ(0, START(3));
	EXPECT_EQ(0, perf_signals(&self->s));
	ASSERT_EQ(0, SAMPLE(4));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(4, perf_slot(&self->s, 0)->user_data);
	/* It has not begun anew. */
	EXPECT_GT(before, perf_slot(&self->s, 0)->timestamp_start_ns);
	EXPECT_EQ(1, perf_insert(&self->s));
}

TEST_F(session, order)
{
	ASSERT_EQ(0, START(0));
	for (uint64_t round = 0; round < 50; round++) {
		uint64_t end = 0;

		for (uint64_t i = 0; i < SLOTS - 1; i++)
			ASSERT_EQ(0, SAMPLE(1000 * round + i));
		ASSERT_TRUE(perf_wait(&self->s, (round + 1) * (SLOTS - 1)));
		ASSERT_EQ((round + 1) * (SLOTS - 1), perf_insert(&self->s));
		for (uint64_t i = 0; i < SLOTS - 1; i++) {
			const struct drm_panthor_perf_sample_header *h =
				perf_slot(&self->s, self->s.read);

			EXPECT_EQ(1000 * round + i, h->user_data);
			EXPECT_LE(h->timestamp_start_ns, h->timestamp_end_ns);
			if (i)
				EXPECT_EQ(end, h->timestamp_start_ns);
			end = h->timestamp_end_ns;
			perf_consume(&self->s, 1);
		}
	}
	EXPECT_EQ(50 * (SLOTS - 1), perf_signals(&self->s));
}

TEST_F(session, semaphore)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	uint64_t n;

	ASSERT_EQ(0, perf_session_alloc(self->fd, &self->info, SLOTS, EFD_SEMAPHORE, &self->other,
					&setup));
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &self->other.handle));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 0));
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, i));
	ASSERT_EQ(0, perf_stop(self->fd, self->other.handle, 5));
	ASSERT_TRUE(perf_until(perf_insert(&self->other) == 6));
	ASSERT_TRUE(perf_wait(&self->other, 6));
	EXPECT_EQ(-1, read(self->other.efd, &n, sizeof(n)));
	EXPECT_EQ(EAGAIN, errno);
}

/* Two sessions do not see each other's requests. */
TEST_F(session, apart)
{
	struct drm_panthor_perf_cmd_setup setup = {};

	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->other, &setup));
	ASSERT_EQ(0, START(1));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 2));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, i));
		ASSERT_TRUE(perf_wait(&self->other, i + 1));
	}
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, perf_signals(&self->s));
	ASSERT_EQ(0, perf_stop(self->fd, self->other.handle, 9));
	ASSERT_TRUE(perf_wait(&self->other, 4));
	ASSERT_EQ(0, SAMPLE(5));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(4, perf_insert(&self->other));
	/* One sample for all of the time, whatever the other did. */
	EXPECT_GE(perf_slot(&self->other, 0)->timestamp_start_ns,
		  perf_slot(&self->s, 0)->timestamp_start_ns);
	EXPECT_LE(perf_slot(&self->other, 3)->timestamp_end_ns,
		  perf_slot(&self->s, 0)->timestamp_end_ns);
}

/* Ring */

TEST_F(session, full_ring)
{
	ASSERT_EQ(0, START(0));
	for (int i = 0; i < SLOTS - 1; i++)
		ASSERT_EQ(0, SAMPLE(i));
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	ASSERT_TRUE(perf_wait(&self->s, SLOTS - 1));
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	EXPECT_EQ(SLOTS - 1, perf_insert(&self->s));

	perf_consume(&self->s, 1);
	EXPECT_EQ(0, SAMPLE(SLOTS - 1));
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	ASSERT_TRUE(perf_wait(&self->s, SLOTS));

	/* The slot that was kept for it. */
	EXPECT_EQ(0, STOP(SLOTS));
	ASSERT_TRUE(perf_wait(&self->s, SLOTS + 1));
	EXPECT_EQ(SLOTS + 1, perf_insert(&self->s));
	for (uint64_t i = self->s.read; i < SLOTS + 1; i++)
		EXPECT_EQ(i, perf_slot(&self->s, i)->user_data);

	/* No slot for the last sample of another run; indices go on. */
	EXPECT_EQ(-EBUSY, START(0));
	EXPECT_EQ(-EINVAL, SAMPLE(99));
	perf_consume(&self->s, 1);
	ASSERT_EQ(0, START(0));
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	ASSERT_EQ(0, STOP(SLOTS + 1));
	ASSERT_TRUE(perf_wait(&self->s, SLOTS + 2));
	EXPECT_EQ(SLOTS + 2, perf_insert(&self->s));
	EXPECT_EQ(SLOTS + 1, perf_slot(&self->s, SLOTS + 1)->user_data);
	EXPECT_EQ(2, self->s.indices->extract_idx);
}

TEST_F(session, smallest_ring)
{
	struct drm_panthor_perf_cmd_setup setup = {};

	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 2, &self->other, &setup));
	for (uint64_t i = 0; i < 10; i++) {
		ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 0));
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, 2 * i));
		ASSERT_EQ(-EBUSY, perf_sample(self->fd, self->other.handle, 99));
		ASSERT_EQ(0, perf_stop(self->fd, self->other.handle, 2 * i + 1));
		ASSERT_TRUE(perf_wait(&self->other, 2 * i + 2));
		ASSERT_EQ(-EBUSY, perf_start(self->fd, self->other.handle, 0));
		EXPECT_EQ(2 * i, perf_slot(&self->other, 2 * i)->user_data);
		EXPECT_EQ(2 * i + 1, perf_slot(&self->other, 2 * i + 1)->user_data);
		perf_consume(&self->other, 2);
	}
}

TEST_F(session, hostile_extract)
{
	static const int64_t full[] = {
		1, 2, 1ll << 32, -SLOTS - 1, -SLOTS, -(1ll << 32), INT64_MAX, INT64_MIN
	};
	uint64_t insert = 0;

	ASSERT_EQ(0, START(0));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, SAMPLE(i));
	ASSERT_TRUE(perf_wait(&self->s, 3));
	insert = 3;
	/* insert - extract is not in 0..SLOTS - 1: there is no free slot. */
	for (size_t i = 0; i < ARRAY_SIZE(full); i++) {
		self->s.indices->extract_idx = insert + full[i];
		EXPECT_EQ(-EBUSY, SAMPLE(99)) {
			TH_LOG("extract is insert %+lld", (long long)full[i]);
		}
	}
	/* One short of being full, all of them free, and what is between. */
	self->s.indices->extract_idx = insert - SLOTS + 1;
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	self->s.indices->extract_idx = insert - SLOTS + 2;
	EXPECT_EQ(0, SAMPLE(100));
	ASSERT_TRUE(perf_wait(&self->s, ++insert));
	self->s.indices->extract_idx = insert;
	EXPECT_EQ(0, SAMPLE(101));
	ASSERT_TRUE(perf_wait(&self->s, ++insert));

	/* What was promised is delivered, whatever the index says by then. */
	self->s.indices->extract_idx = insert - SLOTS;
	EXPECT_EQ(0, STOP(102));
	ASSERT_TRUE(perf_wait(&self->s, ++insert));
	EXPECT_EQ(insert, perf_insert(&self->s));
	EXPECT_EQ(102, perf_slot(&self->s, insert - 1)->user_data);
	for (size_t i = 0; i < ARRAY_SIZE(full); i++) {
		self->s.indices->extract_idx = insert + full[i];
		EXPECT_EQ(-EBUSY, START(0));
	}
	self->s.indices->extract_idx = insert - SLOTS + 1;
	EXPECT_EQ(0, START(0));
}

/* The kernel keeps insert_idx for itself. */
TEST_F(session, hostile_insert)
{
	static const uint64_t junk[] = { 0, 5, ~0ull, 1ull << 63, 0x123456789abcdef };

	ASSERT_EQ(0, START(0));
	for (uint64_t i = 0; i < ARRAY_SIZE(junk); i++) {
		self->s.indices->insert_idx = junk[i];
		ASSERT_EQ(0, SAMPLE(i));
		ASSERT_TRUE(perf_wait(&self->s, i + 1));
		EXPECT_EQ(i + 1, self->s.indices->insert_idx);
		EXPECT_EQ(i, perf_slot(&self->s, i)->user_data);
		perf_consume(&self->s, 1);
	}
}

struct scribbler {
	struct drm_panthor_perf_ringbuf_control *indices;
	uint64_t insert;	/* about where the kernel is */
	bool stop;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	uint64_t x = 88172645463325252ull, extract;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Mostly what makes sense, or nearly: else nothing would ever be accepted. */
		extract = x;
		if (x & 3)
			extract = __atomic_load_n(&s->insert, __ATOMIC_RELAXED) + 1 -
				  (x >> 8) % (SLOTS + 3);
		__atomic_store_n(&s->indices->extract_idx, extract, __ATOMIC_RELAXED);
		__atomic_store_n(&s->indices->insert_idx, x, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Every request that was accepted still ends in one sample, in one signal. */
TEST_F_TIMEOUT(session, scribbled_indices, 120)
{
	struct scribbler scribbler = { .indices = self->s.indices };
	uint64_t accepted = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, scribble, &scribbler));
	/* Until some have come through: which depends on who runs when. */
	for (int i = 0; i < 200 || !accepted; i++) {
		int ret = START(0);

		if (!ret) {
			for (int j = 0; j < 20; j++) {
				ret = SAMPLE(j);
				if (!ret)
					accepted++;
				else
					ASSERT_EQ(-EBUSY, ret);
			}
			ASSERT_EQ(0, STOP(0));
			accepted++;
		} else {
			ASSERT_EQ(-EBUSY, ret);
		}
		ASSERT_TRUE(perf_wait(&self->s, accepted));
		__atomic_store_n(&scribbler.insert, accepted, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&scribbler.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	/* Where the kernel is does not depend on any of that. */
	ASSERT_EQ(0, other_run(self));
	EXPECT_EQ(accepted, perf_signals(&self->s));
	self->s.indices->extract_idx = accepted;
	ASSERT_EQ(0, START(0));
	ASSERT_EQ(0, STOP(77));
	ASSERT_TRUE(perf_wait(&self->s, accepted + 1));
	EXPECT_EQ(accepted + 1, perf_insert(&self->s));
	EXPECT_EQ(77, perf_slot(&self->s, accepted)->user_data);
}

struct turns {
	struct perf_session *s;
	int bad;
};

static void *start_and_stop(void *arg)
{
	struct turns *t = arg;

	for (int i = 0; i < 200; i++) {
		int ret = i % 2 ? perf_stop(t->s->fd, t->s->handle, 1) :
				  perf_start(t->s->fd, t->s->handle, 1);

		/* The last sample may not have come yet, and firmware be late on a busy machine. */
		if (ret && ret != -EBUSY && ret != -ETIMEDOUT)
			t->bad = ret;
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct perf_session *s = arg;

	/* STOP of the test itself is the last. */
	for (uint64_t i = 0;; i++) {
		if (!perf_wait(s, i + 1))
			return "no sample";
		if (perf_slot(s, i)->user_data == 99)
			return NULL;
		perf_consume(s, 1);
	}
}

/* Periodic sessions have a timer, which START and STOP begin and end. */
TEST_F_TIMEOUT(session, threads_start_and_stop, 300)
{
	struct turns turns[3] = {};
	pthread_t threads[3], reader;
	void *problem;
	uint64_t n;

	perf_session_end(&self->s);
	self->setup.sample_freq_ns = self->info.min_sample_period_ns;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_all, &self->s));
	for (int i = 0; i < 3; i++) {
		turns[i].s = &self->s;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, start_and_stop, &turns[i]));
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, turns[i].bad);
	}

	/* Whatever they left behind: it starts, delivers, and stops. */
	ASSERT_EQ(0, STOP(1));
	ASSERT_TRUE(perf_until(START(2) == 0));
	n = perf_insert(&self->s);
	EXPECT_TRUE(perf_until(perf_insert(&self->s) >= n + 3));
	ASSERT_EQ(0, STOP(99));
	pthread_join(reader, &problem);
	EXPECT_EQ(NULL, problem);
	n = perf_insert(&self->s);
	ASSERT_EQ(0, other_run(self));
	EXPECT_EQ(n, perf_insert(&self->s));
}

/* TEARDOWN and close in each state */

enum state { SET_UP, STARTED, SAMPLING, STOPPING, STOPPED, STATES };

static int bring_to(struct perf_session *s, enum state state)
{
	int ret = 0;

	if (state == SET_UP)
		return 0;
	ret = perf_start(s->fd, s->handle, 1);
	if (ret || state == STARTED)
		return ret;
	if (state == STOPPED) {
		ret = perf_stop(s->fd, s->handle, 2);
		return ret ? ret : perf_wait(s, 1) ? 0 : -ETIME;
	}
	/* Where firmware can be kept from answering, what is under way stays so. */
	if (!perf_hold_back())
		return -ETIME;
	for (int i = 0; !ret && i < 3; i++)
		ret = perf_sample(s->fd, s->handle, i);
	if (!ret && state == STOPPING)
		ret = perf_stop(s->fd, s->handle, 3);
	return ret;
}

TEST_F_TIMEOUT(session, teardown_in_each_state, 120)
{
	/* Counters stay on, as they do for others. */
	ASSERT_EQ(0, START(0));
	for (int state = 0; state < STATES; state++) {
		struct drm_panthor_perf_cmd_setup setup = {};
		uint64_t insert, signals;

		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->other, &setup));
		ASSERT_EQ(0, bring_to(&self->other, state));
		EXPECT_EQ(0, perf_teardown(self->fd, self->other.handle));
		insert = perf_insert(&self->other);
		signals = perf_signals(&self->other);
		EXPECT_EQ(insert, signals);
		if (PERF_BED)
			EXPECT_EQ(state == STOPPED, insert);
		EXPECT_EQ(-ENOENT, perf_stop(self->fd, self->other.handle, 0));
		EXPECT_EQ(-ENOENT, perf_teardown(self->fd, self->other.handle));
		perf_let_go();
		/* What comes after it has no effect on it. */
		ASSERT_EQ(0, other_run(self));
		EXPECT_EQ(insert, perf_insert(&self->other));
		EXPECT_EQ(signals, perf_signals(&self->other));
		self->other.handle = 0;
		perf_session_free(&self->other);
	}
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
}

TEST_F_TIMEOUT(session, close_in_each_state, 120)
{
	ASSERT_EQ(0, START(0));
	for (int state = 0; state < STATES; state++) {
		struct drm_panthor_perf_cmd_setup setup = {};
		int fd = perf_open_device();
		uint64_t insert;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &self->other, &setup));
		ASSERT_EQ(0, bring_to(&self->other, state));
		/* What is mapped keeps the file: the kernel sees the last of it go. */
		perf_bo_unmap(&self->other.ring);
		perf_bo_unmap(&self->other.ctl);
		self->other.handle = 0;
		ASSERT_EQ(0, close(fd));
		self->other.ring.handle = 0;
		self->other.ctl.handle = 0;
		insert = perf_signals(&self->other);
		if (PERF_BED)
			EXPECT_EQ(state == STOPPED, insert);
		perf_let_go();
		ASSERT_EQ(0, other_run(self));
		EXPECT_EQ(insert, perf_signals(&self->other));
		perf_session_free(&self->other);
	}
}

/* Limits */

static int new_bare(int fd, const struct drm_panthor_perf_cmd_setup *shared, uint32_t *handle)
{
	struct drm_panthor_perf_cmd_setup setup = *shared;

	return perf_setup(fd, &setup, handle);
}

TEST_F_TIMEOUT(session, limit_of_a_file, 120)
{
	uint32_t handle, handles[FILE_SESSIONS];
	int other = perf_open_device();
	struct perf_session o;

	ASSERT_LE(0, other);
	/* One is there already. All of them share ring and indices. */
	for (int i = 1; i < FILE_SESSIONS; i++)
		ASSERT_EQ(0, new_bare(self->fd, &self->setup, &handles[i]));
	EXPECT_EQ(FILE_SESSIONS, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(-ENOSPC, new_bare(self->fd, &self->setup, &handle));
	EXPECT_EQ(FILE_SESSIONS, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	/* Others have theirs. */
	ASSERT_EQ(0, perf_session_new(other, &self->info, 2, &o, &self->setup));
	perf_session_end(&o);
	close(other);

	ASSERT_EQ(0, perf_teardown(self->fd, handles[7]));
	self->setup.fd = self->s.efd;
	self->setup.ringbuf_handle = self->s.ring.handle;
	self->setup.control_handle = self->s.ctl.handle;
	self->setup.sample_slots = SLOTS;
	EXPECT_EQ(0, new_bare(self->fd, &self->setup, &handles[7]));
	EXPECT_EQ(-ENOSPC, new_bare(self->fd, &self->setup, &handle));
	/* All at once. */
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	for (int i = 1; i < FILE_SESSIONS; i++)
		ASSERT_EQ(0, perf_start(self->fd, handles[i], 0));
	for (int i = 1; i < FILE_SESSIONS; i++)
		ASSERT_EQ(0, perf_sample(self->fd, handles[i], i));
	ASSERT_TRUE(perf_wait(&self->s, FILE_SESSIONS - 1));
}

/**
 * struct crowd - threads that set sessions up in one file, and what came of it
 * @fd: device file
 * @setup: what all of them ask for
 * @go: where they wait for each other
 * @succeeded: how many sessions there are
 * @refused: how often there were too many
 * @other: an answer that is neither
 */
struct crowd {
	int fd;
	struct drm_panthor_perf_cmd_setup setup;
	pthread_barrier_t go;
	int succeeded, refused, other;
};

static void *crowd_in(void *arg)
{
	struct crowd *crowd = arg;
	uint32_t handle;

	pthread_barrier_wait(&crowd->go);
	for (int i = 0; i < FILE_SESSIONS; i++) {
		int ret = new_bare(crowd->fd, &crowd->setup, &handle);

		if (!ret)
			__atomic_add_fetch(&crowd->succeeded, 1, __ATOMIC_RELAXED);
		else if (ret == -ENOSPC)
			__atomic_add_fetch(&crowd->refused, 1, __ATOMIC_RELAXED);
		else
			__atomic_store_n(&crowd->other, ret, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Neither more nor less of them, whoever comes first. */
TEST_F_TIMEOUT(session, limit_of_threads, 120)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];

	for (int round = 0; round < 5; round++) {
		struct crowd crowd = { .fd = perf_open_device(), .setup = self->setup };
		struct perf_session s;

		ASSERT_LE(0, crowd.fd);
		ASSERT_EQ(0, perf_session_alloc(crowd.fd, &self->info, 2, 0, &s, &crowd.setup));
		ASSERT_EQ(0, pthread_barrier_init(&crowd.go, NULL, THREADS));
		for (int i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, crowd_in, &crowd));
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&crowd.go);
		EXPECT_EQ(0, crowd.other);
		EXPECT_EQ(FILE_SESSIONS, crowd.succeeded);
		EXPECT_EQ((THREADS - 1) * FILE_SESSIONS, crowd.refused);
		EXPECT_EQ(FILE_SESSIONS, perf_fdinfo(crowd.fd, "panthor-perf-sessions"));
		perf_session_free(&s);
		close(crowd.fd);
	}
}

/**
 * struct guesser - a thread that tears down sessions before their handles are known
 * @fd: device file
 * @next: the handle it expects next
 * @last: the last one there will be
 */
struct guesser {
	int fd;
	uint32_t next, last;
};

static void *guess(void *arg)
{
	struct guesser *g = arg;

	for (; g->next <= g->last; g->next++) {
		while (perf_teardown(g->fd, g->next) == -ENOENT)
			;
	}
	return NULL;
}

/* A session exists, or it does not: it cannot be torn down before it is set up. */
TEST_F_TIMEOUT(session, teardown_of_guesses, 120)
{
	enum { ROUNDS = 300 };
	struct guesser g = {
		.fd = self->fd, .next = self->s.handle + 1, .last = self->s.handle + ROUNDS,
	};
	pthread_t thread;
	uint32_t handle;

	ASSERT_EQ(0, pthread_create(&thread, NULL, guess, &g));
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		/* Never more than one is ahead of the other thread. */
		ASSERT_EQ(0, new_bare(self->fd, &self->setup, &handle));
		EXPECT_EQ(self->s.handle + i, handle);
		ASSERT_TRUE(perf_until(perf_start(self->fd, handle, 0) == -ENOENT));
	}
	pthread_join(thread, NULL);
	EXPECT_TRUE(perf_until(perf_fdinfo(self->fd, "panthor-perf-sessions") == 1));
	EXPECT_EQ(0, other_run(self));
}

/**
 * struct rush - threads that make first and last sessions of a device
 * @info: what the device can count
 * @go: where they wait for each other
 * @error: an answer that was not 0
 */
struct rush {
	const struct drm_panthor_perf_info *info;
	pthread_barrier_t go;
	int error;
};

static bool is_answered(int fd, uint32_t handle, int *ret)
{
	*ret = perf_start(fd, handle, 0);
	return *ret != -ETIMEDOUT;
}

static void *come_and_go(void *arg)
{
	struct rush *rush = arg;
	struct drm_panthor_perf_cmd_setup setup = {};
	struct perf_session s;
	int fd = perf_open_device();
	int ret = fd < 0 ? fd : perf_session_alloc(fd, rush->info, 2, 0, &s, &setup);

	pthread_barrier_wait(&rush->go);
	for (int i = 0; !ret && i < 100; i++) {
		uint32_t handle;

		ret = perf_setup(fd, &setup, &handle);
		if (!ret && i % 10 == 0) {
			/* Firmware may be late on a busy machine: not what this is about. */
			if (!perf_until(is_answered(fd, handle, &ret)))
				ret = -ETIMEDOUT;
			if (!ret)
				ret = perf_stop(fd, handle, 1);
			if (!ret && !perf_wait(&s, i / 10 + 1))
				ret = -ETIME;
			/* As a new session finds it. */
			s.read = 0;
		}
		if (!ret)
			ret = perf_teardown(fd, handle);
	}
	if (ret)
		__atomic_store_n(&rush->error, ret, __ATOMIC_RELAXED);
	if (fd >= 0) {
		perf_session_free(&s);
		close(fd);
	}
	return NULL;
}

/* Counters are enabled for the first session and disabled after the last one, under all of them. */
TEST_F_TIMEOUT(session, first_and_last, 300)
{
	enum { THREADS = 4 };
	struct rush rush = { .info = &self->info };
	pthread_t threads[THREADS];

	perf_session_end(&self->s);
	ASSERT_EQ(0, pthread_barrier_init(&rush.go, NULL, THREADS));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, come_and_go, &rush));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&rush.go);
	EXPECT_EQ(0, rush.error);
	EXPECT_EQ(0, other_run(self));
}

TEST_F_TIMEOUT(session, limit_of_a_device, 300)
{
	enum { FILES = 64 };
	struct perf_session first[FILES];
	uint32_t count = 1, handle;
	int fds[FILES], files = 0, ret = 0;

	while (!ret && files < FILES) {
		struct drm_panthor_perf_cmd_setup setup = {};

		fds[files] = perf_open_device();
		ASSERT_LE(0, fds[files]);
		ret = perf_session_new(fds[files], &self->info, 2, &first[files], &setup);
		if (ret) {
			close(fds[files]);
			break;
		}
		count++;
		for (int i = 1; !ret && i < FILE_SESSIONS; i++) {
			ret = new_bare(fds[files], &setup, &handle);
			count += !ret;
		}
		files++;
	}
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(DEVICE_SESSIONS, count) {
		TH_LOG("only %u sessions", count);
	}
	/* Closing gives them all back. */
	for (int i = 0; i < files; i++) {
		perf_session_free(&first[i]);
		close(fds[i]);
	}
	ASSERT_EQ(0, other_run(self));
	for (int i = 1; i < FILE_SESSIONS; i++)
		EXPECT_EQ(0, new_bare(self->fd, &self->setup, &handle));
}

/* Counter sets */

/* A set is held by who counts, from START to the last sample. */
TEST_F(session, sets)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;

	for (int set = 1; set < 3; set++) {
		uint64_t n = perf_insert(&self->s);

		setup.block_set = set;
		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->other, &setup));

		ASSERT_EQ(0, START(1));
		EXPECT_EQ(-EBUSY, perf_start(self->fd, self->other.handle, 2));
		EXPECT_EQ(-EINVAL, perf_sample(self->fd, self->other.handle, 3));
		ASSERT_EQ(0, SAMPLE(4));
		ASSERT_TRUE(perf_wait(&self->s, n + 1));
		EXPECT_EQ(-EBUSY, perf_start(self->fd, self->other.handle, 5));
		ASSERT_EQ(0, STOP(6));
		ASSERT_TRUE(perf_wait(&self->s, n + 2));

		ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 7));
		EXPECT_EQ(-EBUSY, START(8));
		EXPECT_EQ(0, perf_start(self->fd, self->other.handle, 9));
		ASSERT_EQ(0, perf_sample(self->fd, self->other.handle, 10));
		ASSERT_TRUE(perf_wait(&self->other, 1));
		EXPECT_EQ(set, perf_slot(&self->other, 0)->block_set);
		EXPECT_EQ(0, perf_slot(&self->other, 0)->flags);
		/* Who goes without a last sample holds nothing, either. */
		EXPECT_EQ(0, perf_teardown(self->fd, self->other.handle));
		self->other.handle = 0;
		ASSERT_EQ(0, START(11));
		ASSERT_EQ(0, STOP(12));
		ASSERT_TRUE(perf_wait(&self->s, n + 3));
		for (uint64_t i = n; i < n + 3; i++) {
			EXPECT_EQ(0, perf_slot(&self->s, i)->block_set);
			EXPECT_EQ(0, perf_slot(&self->s, i)->flags);
		}
		perf_consume(&self->s, 3);
		perf_session_end(&self->other);
	}
}

/* Permission */

/* What SETUP answers a user without rights, or nobody with one capability. Runs in a child. */
static int as_user(uid_t user, int cap, const struct drm_panthor_perf_cmd_setup *setups, int count,
		   int fd)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int ret = 0;

		if (cap < 0 ? setgid(user) || setuid(user) : perf_keep_one(cap))
			_exit(255);
		for (int i = 0; !ret && i < count; i++) {
			uint32_t handle;

			ret = new_bare(fd, &setups[0], &handle);
			if (ret)
				_exit(i < count - 1 ? 254 : -ret);
		}
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return -WEXITSTATUS(status);
}

static int as_nobody_with(int cap, const struct drm_panthor_perf_cmd_setup *setups, int count,
			  int fd)
{
	return as_user(PERF_NOBODY, cap, setups, count, fd);
}

static int as_nobody(const struct drm_panthor_perf_cmd_setup *setups, int count, int fd)
{
	return as_nobody_with(-1, setups, count, fd);
}

TEST_F(session, permission)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	uint32_t big_slots = 2;
	struct perf_bo big;

	/* One that was made while it was allowed goes on. */
	ASSERT_EQ(0, START(0));
	EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
	setup.fd = -1;
	EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
	ASSERT_EQ(0, perf_set_paranoid(false));
	EXPECT_EQ(-EBADF, as_nobody(&setup, 1, self->fd));
	setup.fd = self->setup.fd;
	EXPECT_EQ(0, as_nobody(&setup, 1, self->fd));

	/* Short periods, long rings, and other sets are for who is trusted. */
	setup.sample_freq_ns = 1000000;
	EXPECT_EQ(0, as_nobody(&setup, 1, self->fd));
	setup.sample_freq_ns = 999999;
	EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
	setup.sample_freq_ns = 1;
	EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
	setup.sample_freq_ns = 0;
	setup.block_set = 1;
	EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
	setup.block_set = 0;

	/* On the smallest GPUs, the longest ring that there can be is not that long. */
	while ((uint64_t)big_slots * self->info.sample_size <= 16 << 20 &&
	       big_slots < self->info.max_sample_slots)
		big_slots *= 2;
	for (int i = 0; i < 2; i++) {
		uint64_t size = perf_page_align((uint64_t)big_slots * self->info.sample_size);

		ASSERT_EQ(0, perf_bo_create(self->fd, &big, size, 0));
		setup.ringbuf_handle = big.handle;
		setup.sample_slots = big_slots;
		EXPECT_EQ(size > 16 << 20 ? -EACCES : 0, as_nobody(&setup, 1, self->fd));
		EXPECT_EQ(0, perf_bo_close(self->fd, &big));
		big_slots /= 2;
	}

	ASSERT_EQ(0, perf_set_paranoid(true));
	EXPECT_EQ(-EACCES, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(0, SAMPLE(1));
	EXPECT_TRUE(perf_wait(&self->s, 1));
}

/* Who may: by perf's own rule, where there is one for modules, but by no other's limits. */
TEST_F(session, permission_of_perf)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3" };
	bool by_perf = perf_goes_by_perf();

	if (!self->paranoid[0])
		SKIP(return, "no perf");
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		int ret = by_perf && i < 2 ? 0 : -EACCES;

		ASSERT_EQ(0, perf_write_file(PERF_EVENT_PARANOID, levels[i]));
		for (int paranoid = 1; paranoid >= 0; paranoid--) {
			ASSERT_EQ(0, perf_set_paranoid(paranoid));
			for (int set = 0; set < 3; set++) {
				struct drm_panthor_perf_cmd_setup setup = self->setup;
				int want = !paranoid && !set ? 0 : ret;

				setup.block_set = set;
				EXPECT_EQ(want, as_nobody(&setup, 1, self->fd)) {
					TH_LOG("perf_event_paranoid %s, perf_paranoid %d, set %d",
					       levels[i], paranoid, set);
				}
				EXPECT_EQ(0, as_nobody_with(CAP_PERFMON, &setup, 1, self->fd));
				EXPECT_EQ(0, as_nobody_with(CAP_SYS_ADMIN, &setup, 1, self->fd));
				EXPECT_EQ(want, as_nobody_with(CAP_SYS_NICE, &setup, 1,
							       self->fd));
				/* The limits are those of who is not trusted. */
				setup.sample_freq_ns = 999999;
				EXPECT_EQ(-EACCES, as_nobody(&setup, 1, self->fd));
				EXPECT_EQ(0, as_nobody_with(CAP_PERFMON, &setup, 1, self->fd));
			}
			/* Sessions of who has left go with the file, of which all of these are. */
			perf_session_end(&self->s);
			close(self->fd);
			self->fd = perf_open_device();
			ASSERT_LE(0, self->fd);
			ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s,
						      &self->setup));
		}
	}
}

TEST_F(session, limit_of_a_user)
{
	uint32_t handle;

	ASSERT_EQ(0, perf_set_paranoid(false));
	/* What is root's does not count. */
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, USER_SESSIONS + 1, self->fd));
	EXPECT_EQ(USER_SESSIONS + 1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(0, new_bare(self->fd, &self->setup, &handle));
	EXPECT_EQ(0, perf_teardown(self->fd, 2));
	EXPECT_EQ(0, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
}

/* What one user has takes nothing from another. */
TEST_F(session, limit_is_each_users)
{
	ASSERT_EQ(0, perf_set_paranoid(false));
	for (uid_t user = PERF_NOBODY; user > PERF_NOBODY - 2; user--) {
		EXPECT_EQ(-ENOSPC, as_user(user, -1, &self->setup, USER_SESSIONS + 1, self->fd));
		EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
	}
	EXPECT_EQ(2 * USER_SESSIONS + 1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
}

/* However many users there are, they leave as many sessions to others as a file has. */
TEST_F_TIMEOUT(session, limit_of_all_users, 300)
{
	enum { FILES = DEVICE_SESSIONS / FILE_SESSIONS - 1, USERS = FILE_SESSIONS / USER_SESSIONS - 1 };
	struct perf_session first[FILES];
	uid_t user = PERF_NOBODY;
	uint32_t handle;
	int fds[FILES];

	ASSERT_EQ(0, perf_set_paranoid(false));
	for (int f = 0; f < FILES; f++) {
		struct drm_panthor_perf_cmd_setup setup = {};

		fds[f] = perf_open_device();
		ASSERT_LE(0, fds[f]);
		ASSERT_EQ(0, perf_session_new(fds[f], &self->info, 2, &first[f], &setup));
		for (int i = 0; i < USERS; i++)
			ASSERT_EQ(0, as_user(--user, -1, &setup, USER_SESSIONS, fds[f]));
		/* The rest of the file is root's, and one more is in the fixture's. */
		for (int i = 1 + !f; i < FILE_SESSIONS - USERS * USER_SESSIONS; i++)
			ASSERT_EQ(0, new_bare(fds[f], &setup, &handle));
	}
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(0, new_bare(self->fd, &self->setup, &handle));
	EXPECT_EQ(0, perf_teardown(self->fd, handle));
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(0, perf_teardown(fds[0], first[0].handle));
	EXPECT_EQ(0, as_nobody(&self->setup, 1, self->fd));
	EXPECT_EQ(-ENOSPC, as_nobody(&self->setup, 1, self->fd));
	for (int f = 0; f < FILES; f++) {
		perf_session_free(&first[f]);
		close(fds[f]);
	}
}

#define CGROUPS "/tmp/panthor-perf-cgroups"

/* Bytes of the kernel's memory that a cgroup has been charged with, or -1. */
static long long charged(const char *group)
{
	char path[256], line[256];
	long long bytes = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/memory.stat", group);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "kernel %lld", &bytes);
	if (f)
		fclose(f);
	return bytes;
}

/* Whoever sets up sessions pays for them: each keeps sums of all values that a sample has. */
TEST_F_TIMEOUT(session, charged_to_its_cgroup, 120)
{
	const char *group = CGROUPS "/panthor-perf-test";
	uint32_t handle, count = FILE_SESSIONS - 1;
	long long before = -1, after = -1, sums = (long long)count * perf_blocks(&self->info) *
		self->info.counters_per_block * (long long)sizeof(uint64_t);
	int leave, ret = 0;

	mkdir(CGROUPS, 0700);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL)) {
		rmdir(CGROUPS);
		SKIP(return, "no cgroups of version 2");
	}
	if (!perf_write_file(CGROUPS "/cgroup.subtree_control", "+memory") && !mkdir(group, 0700)) {
		/* Of this process alone: it goes back to where it was. */
		before = charged(group);
		leave = perf_write_file(CGROUPS "/panthor-perf-test/cgroup.procs", "0");
		for (uint32_t i = 0; !leave && !ret && i < count; i++)
			ret = new_bare(self->fd, &self->setup, &handle);
		/* The kernel adds up what processors have charged when that is much, or time has passed. */
		perf_until((after = charged(group)) - before >= sums);
		leave |= perf_write_file(CGROUPS "/cgroup.procs", "0");
		EXPECT_EQ(0, leave);
		EXPECT_EQ(0, rmdir(group));
	}
	umount(CGROUPS);
	rmdir(CGROUPS);
	if (before < 0)
		SKIP(return, "cgroups know nothing of memory");
	EXPECT_EQ(0, ret);
	EXPECT_LE(sums, after - before);
}

/* What sessions of nobody's have seen: when samples began and ended. */
struct looks {
	uint64_t at[4096];
	int num, stretched;
};

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The shortest time between two looks at different times, or 0 if there are none. */
static uint64_t looks_apart(struct looks *l)
{
	uint64_t least = 0;

	qsort(l->at, l->num, sizeof(l->at[0]), compare_times);
	for (int i = 1; i < l->num; i++) {
		uint64_t apart = l->at[i] - l->at[i - 1];

		if (apart && (!least || apart < least))
			least = apart;
	}
	return least;
}

static bool look(struct looks *l, struct perf_session *s)
{
	const struct drm_panthor_perf_sample_header *h = perf_slot(s, s->read);

	if (!perf_wait(s, s->read + 1) || l->num + 2 > (int)ARRAY_SIZE(l->at))
		return false;
	l->at[l->num++] = h->timestamp_start_ns;
	l->at[l->num++] = h->timestamp_end_ns;
	perf_consume(s, 1);
	return true;
}

/* Manual sessions, asked as fast as it goes, and begun and ended over and over. */
static int look_often(struct perf_session *s, int count, struct looks *l)
{
	for (int i = 0; i < 10; i++) {
		for (int j = 0; j < count; j++) {
			if (perf_start(s[j].fd, s[j].handle, 0))
				return 1;
		}
		for (int k = 0; k < 5; k++) {
			for (int j = 0; j < count; j++) {
				if (perf_sample(s[j].fd, s[j].handle, 0))
					return 2;
			}
			for (int j = 0; j < count; j++) {
				if (!look(l, &s[j]))
					return 3;
			}
		}
		for (int j = 0; j < count; j++) {
			if (perf_stop(s[j].fd, s[j].handle, 0) || !look(l, &s[j]))
				return 4;
		}
	}
	return 0;
}

/* Periodic sessions, begun one a little after the other. */
static int look_in_turns(struct perf_session *s, int count, uint64_t period, struct looks *l)
{
	uint64_t base[4];

	for (int j = 0; j < count; j++) {
		if (perf_start(s[j].fd, s[j].handle, 0))
			return 5;
	}
	for (int i = 0; i < 30; i++) {
		for (int j = 0; j < count; j++) {
			const struct drm_panthor_perf_sample_header *h = perf_slot(&s[j], i);

			if (!look(l, &s[j]))
				return 6;
			if (!i)
				base[j] = h->timestamp_start_ns;
			if (h->flags != perf_stretched(base[j], period, h))
				return 7;
			l->stretched += !!h->flags;
		}
	}
	return 0;
}

static int look_as_nobody(int fd, const struct drm_panthor_perf_info *info, uint64_t period)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = period };
	static struct looks looks;
	struct perf_session s[4];
	uint64_t apart;
	int ret;

	if (setgid(PERF_NOBODY) || setuid(PERF_NOBODY))
		return 10;
	for (int j = 0; j < 4; j++) {
		if (perf_session_new(fd, info, SLOTS, &s[j], &setup))
			return 11;
	}
	ret = period ? look_in_turns(s, 4, period, &looks) : look_often(s, 4, &looks);
	if (ret)
		return ret;
	apart = looks_apart(&looks);
	printf("# %d looks, at least %llu ns apart; %d stretched\n", looks.num,
	       (unsigned long long)apart, looks.stretched);
	fflush(stdout);
	for (int j = 0; j < 4; j++)
		perf_session_end(&s[j]);
	return apart >= 1000000 ? 0 : 12;
}

/* Whoever is not trusted cannot watch the GPU more closely than once a millisecond. */
TEST_F_TIMEOUT(session, nobody_looks_closely, 300)
{
	ASSERT_EQ(0, perf_set_paranoid(false));
	for (int periodic = 0; periodic < 2; periodic++) {
		pid_t pid = fork();
		int status;

		ASSERT_LE(0, pid);
		if (!pid)
			_exit(look_as_nobody(self->fd, &self->info, periodic * 1000000));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* Periodic sessions */

FIXTURE(periodic)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s;
	struct drm_panthor_perf_cmd_setup setup;
};

FIXTURE_SETUP(periodic)
{
	int ret;

	self->s.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->setup);
	self->setup.sample_freq_ns = 10000000;
	ret = perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "no periodic sessions");
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(periodic)
{
	perf_session_end(&self->s);
	close(self->fd);
	perf_pm_write("control", "auto");
}

TEST_F(periodic, samples_come)
{
	uint64_t base = 0, end = 0, insert, signals;

	ASSERT_EQ(0, START(0xabc));
	EXPECT_EQ(-EINVAL, SAMPLE(1));
	for (uint64_t i = 0; i < 20; i++) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->s, i);

		ASSERT_TRUE(perf_wait(&self->s, i + 1));
		EXPECT_EQ(0xabc, h->user_data);
		EXPECT_LT(h->timestamp_start_ns, h->timestamp_end_ns);
		if (!i)
			base = h->timestamp_start_ns;
		EXPECT_EQ(i ? end : base, h->timestamp_start_ns);
		EXPECT_EQ(perf_stretched(base, self->setup.sample_freq_ns, h), h->flags);
		end = h->timestamp_end_ns;
		perf_consume(&self->s, 1);
	}
	ASSERT_EQ(0, STOP(0xdef));
	ASSERT_TRUE(perf_until(perf_slot(&self->s, perf_insert(&self->s) - 1)->user_data == 0xdef));
	insert = perf_insert(&self->s);
	ASSERT_TRUE(perf_wait(&self->s, insert));
	for (; self->s.read < insert; perf_consume(&self->s, 1)) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->s, self->s.read);

		EXPECT_EQ(self->s.read == insert - 1 ? 0xdef : 0xabc, h->user_data);
		EXPECT_EQ(perf_stretched(base, self->setup.sample_freq_ns, h), h->flags);
		EXPECT_EQ(end, h->timestamp_start_ns);
		end = h->timestamp_end_ns;
	}
	/* Then nothing. */
	signals = perf_signals(&self->s);
	EXPECT_EQ(insert, signals);
	usleep(50000);
	EXPECT_EQ(insert, perf_insert(&self->s));
	EXPECT_EQ(signals, perf_signals(&self->s));
}

TEST_F(periodic, stretched)
{
	uint64_t period = self->setup.sample_freq_ns, base, end;
	int stretched = 0;

	ASSERT_EQ(0, START(5));
	/* Nobody reads: all but one slot, and then nothing more. */
	ASSERT_TRUE(perf_wait(&self->s, SLOTS - 1));
	usleep(5 * period / 1000);
	EXPECT_EQ(SLOTS - 1, perf_insert(&self->s));
	EXPECT_EQ(SLOTS - 1, perf_signals(&self->s));
	base = perf_slot(&self->s, 0)->timestamp_start_ns;
	end = perf_slot(&self->s, 0)->timestamp_end_ns;
	stretched = !!perf_slot(&self->s, 0)->flags;
	perf_consume(&self->s, 1);
	ASSERT_TRUE(perf_wait(&self->s, SLOTS));
	/* The last one has its slot in any case, and what has become due meanwhile is in it. */
	usleep(5 * period / 1000);
	ASSERT_EQ(0, STOP(6));
	ASSERT_TRUE(perf_wait(&self->s, SLOTS + 1));
	EXPECT_EQ(6, perf_slot(&self->s, SLOTS)->user_data);
	for (int i = 1; i < SLOTS + 1; i++) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->s, i);

		EXPECT_EQ(end, h->timestamp_start_ns);
		end = h->timestamp_end_ns;
		EXPECT_EQ(perf_stretched(base, period, h), h->flags);
		stretched += !!h->flags;
		/* All the time from the one before to now is in it, and it says so. */
		if (i >= SLOTS - 1) {
			EXPECT_LE(h->timestamp_start_ns + 2 * period, h->timestamp_end_ns);
			EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_STRETCHED, h->flags);
		}
	}
	EXPECT_EQ(stretched, perf_fdinfo(self->fd, "panthor-perf-stretched"));
}

TEST_HARNESS_MAIN
