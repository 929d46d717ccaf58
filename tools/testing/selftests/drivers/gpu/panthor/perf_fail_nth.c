// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: whatever allocation or access to the user's
 * memory fails, an ioctl fails cleanly or succeeds, and the next one works.
 *
 * Each call is made again and again; the first time its first point where a
 * failure can be injected fails, then its second, until it has no more. Kernels
 * that check allocate for themselves, so that a call has not always the same
 * points. What leaks or is freed twice is for the kernel to notice: this is best
 * run with KASAN, lockdep and kmemleak.
 */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"
#include "pmu.h"

#define SLOTS		4
/* More points than any of the calls has. */
#define MAX_NTH		2000
/* So many times in a row, a call had fewer points than asked for: it has no more. */
#define MISSES		3
/* So many sweeps of a call may fail too seldom. */
#define TURNS		3
#define MARK		0x5555555555555555ull
#define NO_HANDLE	0xdeadu

/**
 * struct sweep - one call, at one point after the other
 * @ctl: the thread's fail-nth
 * @nth: the point that is to fail, from 1
 * @misses: how often in a row the call had no such point
 * @failed: how often the call failed
 * @must_fail: how often it must at least
 * @turns: sweeps that ended with fewer
 */
struct sweep {
	int ctl;
	unsigned int nth;
	unsigned int misses;
	unsigned int failed;
	unsigned int must_fail;
	unsigned int turns;
};

FIXTURE(fail_nth)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct sweep sweep;
};

FIXTURE_VARIANT(fail_nth)
{
	bool up;
};

/* Memory is mapped for the GPU, and firmware told to count. */
FIXTURE_VARIANT_ADD(fail_nth, running) { .up = true };

/* The GPU is left alone. */
FIXTURE_VARIANT_ADD(fail_nth, suspended) { .up = false };

/*
 * Whether there is a point to try. Where one of the kernel's own comes and goes, the
 * one behind it may never be the n-th. So a sweep that failed too seldom is made again.
 */
static bool more(struct sweep *sweep)
{
	if (sweep->misses < MISSES)
		return true;
	if (sweep->failed >= sweep->must_fail || ++sweep->turns == TURNS)
		return false;
	sweep->nth = 0;
	sweep->misses = 0;
	sweep->failed = 0;
	return true;
}

/* Between this and disarm(), nothing but the call. */
static bool arm(struct sweep *sweep)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", ++sweep->nth);

	return sweep->nth <= MAX_NTH && write(sweep->ctl, text, len) == len;
}

/* A call that failed must have had that point. Reading and writing have some as well. */
static bool disarm(struct sweep *sweep, bool failed)
{
	char text[16] = "";
	ssize_t n = pread(sweep->ctl, text, sizeof(text) - 1, 0);
	bool hit = n > 0 && !strtoul(text, NULL, 10);

	while (write(sweep->ctl, "0", 1) != 1)
		;
	sweep->misses = hit ? 0 : sweep->misses + 1;
	sweep->failed += failed;
	return hit || !failed;
}

/* How many sessions a file has. */
static long long num_sessions(int fd)
{
	return perf_fdinfo(fd, "panthor-perf-sessions");
}

/* A session counts, delivers and stops: nothing of what failed before is left. */
static int works(FIXTURE_DATA(fail_nth) *self, uint8_t block_set)
{
	struct drm_panthor_perf_cmd_setup setup = { .block_set = block_set };
	struct perf_session s;
	int ret;

	perf_masks_all(&setup);
	ret = perf_session_new(self->fd, &self->info, SLOTS, &s, &setup);
	if (ret)
		return ret;
	ret = perf_start(s.fd, s.handle, 1);
	if (!ret)
		ret = perf_sample(s.fd, s.handle, 2);
	if (!ret)
		ret = perf_stop(s.fd, s.handle, 3);
	if (!ret && (!perf_wait(&s, 2) || perf_insert(&s) != 2))
		ret = -ETIME;
	if (!ret && (perf_slot(&s, 0)->user_data != 2 || perf_slot(&s, 1)->user_data != 3 ||
		     perf_slot(&s, 0)->flags || perf_slot(&s, 1)->flags))
		ret = -EBADMSG;
	perf_session_end(&s);
	return ret;
}

FIXTURE_SETUP(fail_nth)
{
	self->sweep.ctl = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	self->sweep.ctl = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (self->sweep.ctl < 0 || !perf_all_can_fail())
		SKIP(return, "needs the kernel's fault injection");
	ASSERT_EQ(0, perf_pm_write("control", variant->up ? "on" : "auto"));
	if (!variant->up)
		ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (self->sweep.ctl >= 0)
		close(self->sweep.ctl);
	if (self->fd >= 0)
		close(self->fd);
	perf_pm_write("control", "auto");
}

TEST_F_TIMEOUT(fail_nth, open_file, 600)
{
	self->sweep.must_fail = 1;
	while (more(&self->sweep)) {
		int fd;

		ASSERT_TRUE(arm(&self->sweep));
		fd = perf_open_device();
		ASSERT_TRUE(disarm(&self->sweep, fd < 0));
		if (fd >= 0) {
			EXPECT_EQ(0, num_sessions(fd));
			close(fd);
		}
	}
	TH_LOG("failed at %u of %u", self->sweep.failed, self->sweep.nth - MISSES);
	EXPECT_LE(self->sweep.must_fail, self->sweep.failed);
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_PRIMARY));
}

TEST_F_TIMEOUT(fail_nth, query, 600)
{
	/* Its struct in, what is asked for out. */
	self->sweep.must_fail = 2;
	while (more(&self->sweep)) {
		struct drm_panthor_perf_info info;
		uint32_t size = sizeof(info);
		int ret;

		memset(&info, 0xff, sizeof(info));
		ASSERT_TRUE(arm(&self->sweep));
		ret = perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, &info, &size);
		ASSERT_TRUE(disarm(&self->sweep, ret));
		EXPECT_EQ(ret ? -EFAULT : 0, ret);
		EXPECT_TRUE(ret || !memcmp(&info, &self->info, sizeof(info)));
	}
	EXPECT_LE(self->sweep.must_fail, self->sweep.failed);
}

/*
 * Another set than the last session's: a SETUP that failed must not hold it.
 *
 * A session of another file comes first, which makes what the device has from its
 * first session on. Among this are rate notifiers of clocks, and when one of
 * them is the first of its clock, clk_notifier_register() does not fail for want
 * of memory but stops the kernel, by a BUG_ON() in srcu_init_notifier_head().
 */
TEST_F_TIMEOUT(fail_nth, set_up, 600)
{
	struct drm_panthor_perf_cmd_setup held_setup = {};
	struct perf_session held;

	/* Both structs, the session, and something of what it needs. */
	self->sweep.must_fail = 5;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &held, &held_setup));
	while (more(&self->sweep)) {
		struct drm_panthor_perf_cmd_setup setup = {
			.block_set = self->sweep.nth % 3,
		};
		struct perf_session s;
		int fd = perf_open_device();
		uint64_t index = 0;
		int ret;

		ASSERT_LE(0, fd);
		perf_masks_all(&setup);
		ASSERT_EQ(0, perf_session_alloc(fd, &self->info, SLOTS, 0, &s, &setup));
		s.indices->insert_idx = MARK;
		s.indices->extract_idx = MARK;

		struct drm_panthor_perf_control c = {
			.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .handle = NO_HANDLE,
			.size = sizeof(setup), .pointer = (uintptr_t)&setup,
		};

		ASSERT_TRUE(arm(&self->sweep));
		ret = perf_control(fd, &c);
		ASSERT_TRUE(disarm(&self->sweep, ret));
		if (ret && !num_sessions(fd)) {
			EXPECT_TRUE(ret == -ENOMEM || ret == -EFAULT) {
				TH_LOG("point %u: %d", self->sweep.nth, ret);
			}
			index = MARK;
		} else if (ret) {
			/* The DRM core could not copy back what has been done. */
			EXPECT_EQ(-EFAULT, ret);
		} else {
			EXPECT_EQ(1, c.handle);
			EXPECT_EQ(1, num_sessions(fd));
			EXPECT_EQ(0, perf_start(fd, c.handle, 0));
		}
		if (ret)
			EXPECT_EQ(NO_HANDLE, c.handle);
		EXPECT_EQ(index, s.indices->insert_idx);
		EXPECT_EQ(index, s.indices->extract_idx);
		perf_session_free(&s);
		close(fd);
	}
	TH_LOG("failed at %u of %u", self->sweep.failed, self->sweep.nth - MISSES);
	EXPECT_LE(self->sweep.must_fail, self->sweep.failed);
	perf_session_end(&held);
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_SECONDARY));
}

enum { START, SAMPLE, STOP, TEARDOWN, CALLS };

static int call(int fd, uint32_t handle, int which)
{
	switch (which) {
	case START: return perf_start(fd, handle, START);
	case SAMPLE: return perf_sample(fd, handle, SAMPLE);
	case STOP: return perf_stop(fd, handle, STOP);
	default: return perf_teardown(fd, handle);
	}
}

/* The sample of STOP is there, and so nothing comes any more. */
static bool stopped(struct perf_session *s)
{
	uint64_t insert = perf_insert(s);

	return insert && perf_slot(s, insert - 1)->user_data == STOP;
}

/*
 * Each of them is done or is not done, which what comes afterwards tells, and
 * nothing in between.
 */
TEST_F_TIMEOUT(fail_nth, commands, 600)
{
	for (int which = START; which < CALLS; which++) {
		/* Its structs in. What comes after that is not always at the same point. */
		struct sweep sweep = {
			.ctl = self->sweep.ctl,
			.must_fail = which == TEARDOWN ? 1 : 2,
		};

		while (more(&sweep)) {
			struct drm_panthor_perf_cmd_setup setup = {};
			int fd = perf_open_device();
			uint64_t samples = 0;
			struct perf_session s;
			bool done = false;
			int ret;

			ASSERT_LE(0, fd);
			perf_masks_all(&setup);
			ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &s, &setup));
			if (which != START)
				ASSERT_EQ(0, perf_start(fd, s.handle, 0));

			ASSERT_TRUE(arm(&sweep));
			ret = call(fd, s.handle, which);
			ASSERT_TRUE(disarm(&sweep, ret));

			switch (which) {
			case START:
				done = !perf_sample(fd, s.handle, SAMPLE);
				samples = done ? 2 : 0;
				break;
			case STOP:
				done = perf_sample(fd, s.handle, SAMPLE) == -EINVAL;
				samples = done ? 1 : 2;
				break;
			case TEARDOWN:
				done = !num_sessions(fd);
				samples = !done;
				break;
			}
			EXPECT_EQ(which == TEARDOWN && done ? -ENOENT : 0,
				  perf_stop(fd, s.handle, STOP));
			if (which == SAMPLE) {
				EXPECT_TRUE(perf_until(stopped(&s)));
				done = perf_insert(&s) == 2;
				samples = 1 + done;
			}
			EXPECT_TRUE(!samples || perf_until(stopped(&s)));
			EXPECT_EQ(samples, perf_insert(&s));
			EXPECT_EQ(ret ? -EFAULT : 0, ret);
			EXPECT_TRUE(ret || done);
			perf_session_free(&s);
			close(fd);
		}
		EXPECT_LE(sweep.must_fail, sweep.failed) {
			TH_LOG("command %d", which);
		}
	}
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_TERTIARY));
}

/* An event is there, or nothing of it is. As with set_up, a session keeps what the device has. */
TEST_F_TIMEOUT(fail_nth, open_event, 600)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	struct perf_session held;
	struct pmu pmu;

	if (pmu_find(&pmu))
		SKIP(return, "the kernel has no PMU for it");
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &held, &setup));
	for (int beside = 0; beside < 2; beside++) {
		/* Perf's own, and something of ours. */
		struct sweep sweep = { .ctl = self->sweep.ctl, .must_fail = 3 };
		uint64_t config = PMU_CONFIG(DRM_PANTHOR_PERF_BLOCK_TILER, 4, 0), count;
		int other = -1;

		/* Beside one that counts it starts no counters, but waits for a sample. */
		if (beside)
			other = pmu_open(&pmu, PMU_GPU_TIME);
		while (more(&sweep)) {
			int fd;

			ASSERT_TRUE(arm(&sweep));
			fd = pmu_open(&pmu, config);
			ASSERT_TRUE(disarm(&sweep, fd < 0));
			if (fd < 0) {
				EXPECT_TRUE(fd == -ENOMEM || fd == -EFAULT || fd == -ENFILE) {
					TH_LOG("point %u: %d", sweep.nth, fd);
				}
				continue;
			}
			EXPECT_EQ(0, pmu_read(fd, &count));
			EXPECT_EQ(0, count);
			close(fd);
		}
		TH_LOG("failed at %u of %u", sweep.failed, sweep.nth - MISSES);
		EXPECT_LE(sweep.must_fail, sweep.failed);
		if (other >= 0)
			close(other);
	}
	perf_session_end(&held);
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_SECONDARY));
}

TEST_HARNESS_MAIN
