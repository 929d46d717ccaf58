// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: what firmware publishes is complete, however
 * often and whenever it is asked. The driver has no way to tell if it is not.
 *
 * Needs work that is the same each time: PERF_WORK is a command that gives it to
 * the GPU and waits for its end, such as a benchmark of a fixed number of frames.
 * Counters that count the same in each of some runs of it are those of work, and
 * not of time; which they are need not be known. They have to count the same, but for
 * one part in eight,
 *
 * - while another session has firmware samples taken all the time, which would show
 *   blocks or values that are seen after INSERT;
 * - when the GPU has been idle for a while before it is sampled, which would show
 *   counts that shader cores lose together with their power.
 *
 * Blocks of shader cores alone may be seen after INSERT each time: those cores look as
 * if they had no power. The work has to count something in one at least.
 */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS		64
#define RUNS		4
#define ROUNDS		8
#define PERIOD_NS	1000000
#define IDLE_US		200000

FIXTURE(published)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_perf_cmd_setup setup;
	struct perf_session s;
	const char *work;
	uint32_t values;
	uint64_t *sums;		/* RUNS of them, and one to compare */
};

/* Counts that one run of the work adds, with a wait before they are sampled. */
static bool count(FIXTURE_DATA(published) *self, uint64_t *sums, unsigned int idle_us)
{
	const struct drm_panthor_perf_sample_header *h;
	uint32_t n = 0;
	bool good;

	if (perf_start(self->s.fd, self->s.handle, 1))
		return false;
	good = !system(self->work);
	usleep(idle_us);
	if (perf_stop(self->s.fd, self->s.handle, 2) || !perf_wait(&self->s, self->s.read + 1))
		return false;
	h = perf_slot(&self->s, self->s.read);
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		const __u64 *v = perf_values(&self->info, h, b);

		for (uint32_t i = 0; i < self->info.counters_per_block; i++)
			sums[n++] = i < PERF_RESERVED ? 0 : v[i];
	}
	good &= !(h->flags & ~DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
	perf_consume(&self->s, 1);
	return good;
}

/* Has any shader core counted anything? Their blocks are the last ones. */
static bool cores_count(const FIXTURE_DATA(published) *self, const uint64_t *sums)
{
	uint32_t others = perf_blocks(&self->info) - self->info.shader_blocks;

	for (uint32_t n = others * self->info.counters_per_block; n < self->values; n++)
		if (sums[n])
			return true;
	return false;
}

FIXTURE_SETUP(published)
{
	self->s.efd = -1;
	self->fd = -1;
	self->work = getenv("PERF_WORK");
	if (!self->work)
		SKIP(return, "PERF_WORK is no command that gives the GPU work");
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	perf_masks_all(&self->setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
	self->values = perf_blocks(&self->info) * self->info.counters_per_block;
	self->sums = calloc((RUNS + 1) * self->values, sizeof(*self->sums));
	ASSERT_NE(NULL, self->sums);
	for (int run = 0; run < RUNS; run++) {
		ASSERT_TRUE(count(self, self->sums + run * self->values, 0));
		EXPECT_TRUE(cores_count(self, self->sums + run * self->values)) {
			TH_LOG("run %d: no shader core has counted anything", run);
		}
	}
}

FIXTURE_TEARDOWN(published)
{
	if (self->fd < 0)
		return;
	perf_session_end(&self->s);
	close(self->fd);
	free(self->sums);
}

/* What each run has counted alike, and is not 0, has to be counted again. */
static void compare(struct __test_metadata *_metadata, FIXTURE_DATA(published) *self,
		    unsigned int idle_us)
{
	const uint64_t *first = self->sums;
	uint64_t *again = self->sums + RUNS * self->values;
	uint32_t steady = 0;

	for (int round = 0; round < ROUNDS; round++) {
		ASSERT_TRUE(count(self, again, idle_us));
		steady = 0;
		for (uint32_t n = 0; n < self->values; n++) {
			bool same = first[n];

			for (int run = 1; run < RUNS; run++)
				same &= first[run * self->values + n] == first[n];
			steady += same;
			if (!same)
				continue;
			/* Some are of time, and the same in a few runs by chance. */
			EXPECT_LE(first[n], again[n] + first[n] / 8 + 1) {
				TH_LOG("block %u counter %u", n / self->info.counters_per_block,
				       n % self->info.counters_per_block);
			}
			EXPECT_LE(again[n], first[n] + first[n] / 8 + 1) {
				TH_LOG("block %u counter %u", n / self->info.counters_per_block,
				       n % self->info.counters_per_block);
			}
		}
	}
	/* If there are none, the work is not the same each time, or what is published is not. */
	EXPECT_LT(0, steady);
}

TEST_F_TIMEOUT(published, while_sampled, 900)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	struct perf_session other;

	setup.sample_freq_ns = PERIOD_NS;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &other, &setup));
	ASSERT_EQ(0, perf_start(self->fd, other.handle, 1));
	compare(_metadata, self, 0);
	perf_session_end(&other);
}

TEST_F_TIMEOUT(published, after_idleness, 900)
{
	compare(_metadata, self, IDLE_US);
}

TEST_HARNESS_MAIN
