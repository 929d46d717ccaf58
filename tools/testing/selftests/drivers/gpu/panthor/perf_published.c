// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: what firmware publishes is complete, however
 * often and whenever it is asked. The driver has no way to tell if it is not.
 *
 * Needs work for the GPU, given by two commands:
 *
 * PERF_WORK does the same work each time and waits for its end, such as a benchmark
 * of a fixed number of frames. Counters that count the same in each of some runs of it
 * are those of work, and not of time; which they are need not be known. They have to
 * count the same, but for one part in eight, as long as clocks do not change: while
 * another session has firmware samples taken all the time, and when shader cores lose
 * their power, or the GPU is suspended, before they are sampled.
 *
 * PERF_BUSY keeps the GPU busy until it is killed (perf.h). Every cycle then is one in
 * which the GPU is active, so that each sample, however long it is, tells by itself
 * whether it holds its own counts: those of another sample would be of another length.
 */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS		64
#define RUNS		4
#define ROUNDS		8
#define PERIOD_NS	1000000
#define IDLE_US		200000
#define SAMPLES		100

/* Counters of all GPUs with a command stream frontend: cycles in which the GPU, or a core, was active. */
#define CSHW_GPU_ACTIVE		4
#define SHADER_CORE_ACTIVE	26

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

/* What happens between the end of the work and the sample. */
enum before { AT_ONCE, IDLE, SUSPENDED };

/* Counts that one run of the work adds, whatever the rate is. */
static bool count_at_a_rate(FIXTURE_DATA(published) *self, uint64_t *sums, enum before before)
{
	const struct drm_panthor_perf_sample_header *h;
	uint32_t n = 0;
	bool good;

	if (perf_start(self->s.fd, self->s.handle, 1))
		return false;
	good = !system(self->work);
	/* Nothing tells when cores have lost their power. */
	if (before == IDLE)
		usleep(IDLE_US);
	else if (before == SUSPENDED)
		good &= perf_until(perf_pm_is("suspended"));
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

/*
 * Counts that one run of the work adds, at one rate: clocks that change change the cycles that it
 * takes. The rate is free again when they are there: cores may lose their power meanwhile.
 */
static bool count(FIXTURE_DATA(published) *self, uint64_t *sums, enum before before)
{
	char rate[32];
	bool good;

	if (!perf_devfreq_read("max_freq", rate, sizeof(rate)))
		perf_devfreq_write("min_freq", rate);
	good = count_at_a_rate(self, sums, before);
	perf_devfreq_write("min_freq", "0");
	return good;
}

/* Have firmware samples taken all the time, for another session. */
static void sample_often(struct __test_metadata *_metadata, FIXTURE_DATA(published) *self,
			 struct perf_session *other)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;

	setup.sample_freq_ns = PERIOD_NS;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, other, &setup));
	ASSERT_EQ(0, perf_start(self->fd, other->handle, 1));
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
	struct perf_session other;

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
	/* What is sampled while the work runs is there, whatever is lost with the power of cores. */
	sample_often(_metadata, self, &other);
	ASSERT_TRUE(count(self, self->sums, AT_ONCE));
	perf_session_end(&other);
	if (!cores_count(self, self->sums))
		SKIP(return, "PERF_WORK makes no shader core count");
	for (int run = 0; run < RUNS; run++) {
		ASSERT_TRUE(count(self, self->sums + run * self->values, AT_ONCE));
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
	perf_pm_write("control", "auto");
}

/* What each run has counted alike, and is not 0, has to be counted again. */
static void compare(struct __test_metadata *_metadata, FIXTURE_DATA(published) *self,
		    enum before before)
{
	const uint64_t *first = self->sums;
	uint64_t *again = self->sums + RUNS * self->values;
	uint32_t steady = 0;

	for (int round = 0; round < ROUNDS; round++) {
		ASSERT_TRUE(count(self, again, before));
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
	struct perf_session other;

	sample_often(_metadata, self, &other);
	compare(_metadata, self, AT_ONCE);
	perf_session_end(&other);
}

TEST_F_TIMEOUT(published, after_idleness, 900)
{
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	compare(_metadata, self, IDLE);
}

TEST_F_TIMEOUT(published, after_suspend, 900)
{
	compare(_metadata, self, SUSPENDED);
}

/* What a sample of a busy GPU shows. */
enum verdict {
	FINE,
	INCOMPLETE,		/* flagged ERROR */
	NEXT,			/* its counts are those of the sample before it, or none yet */
	TWICE,			/* its counts are twice its own */
	OTHER,			/* its counts are of some other time */
	NO_CORES,		/* only shader cores have not counted */
	CORES_LONG,		/* only shader cores were active for longer than their clock ran */
	VERDICTS
};

FIXTURE(busy)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s;
	bool cores;			/* a shader core has counted in some sample */
	uint32_t number[VERDICTS];
	enum verdict worst;		/* of those that are not fine, the most frequent one */
};

static bool near(uint64_t count, uint64_t cycles)
{
	uint64_t bound = cycles / 8 + 1000;

	return count <= cycles + bound && count + bound >= cycles;
}

/* Cycles in a sample of the clock that this block is counted by. */
static uint64_t cycles_of(const struct drm_panthor_perf_info *info,
			  const struct drm_panthor_perf_sample_header *h, uint32_t block)
{
	switch (perf_block(info, h, block)->clock) {
	case DRM_PANTHOR_PERF_CLOCK_COREGROUP: return h->coregroup_clock_cycles;
	case DRM_PANTHOR_PERF_CLOCK_SHADER: return h->shader_clock_cycles;
	default: return h->toplevel_clock_cycles;
	}
}

/* What shader cores have counted in a sample whose other counts are fine. */
static enum verdict judge_cores(FIXTURE_DATA(busy) *self,
				const struct drm_panthor_perf_sample_header *h)
{
	uint32_t blocks = perf_blocks(&self->info);
	enum verdict verdict = NO_CORES;

	for (uint32_t b = blocks - self->info.shader_blocks; b < blocks; b++) {
		uint64_t n = perf_values(&self->info, h, b)[SHADER_CORE_ACTIVE];
		uint64_t cycles = cycles_of(&self->info, h, b);

		if (!n)
			continue;
		self->cores = true;
		if (n > cycles && !near(n, cycles))
			return CORES_LONG;
		verdict = FINE;
	}
	return verdict;
}

FIXTURE_SETUP(busy)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	uint64_t counted = 0, passed = 0, before = 0;
	uint32_t cshw, long_ones = 0;

	self->s.efd = -1;
	self->fd = -1;
	if (!perf_has_work())
		SKIP(return, "PERF_BUSY is no command that keeps the GPU busy");
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	perf_masks_all(&setup);
	cshw = self->info.fw_blocks + self->info.csg_blocks;
	ASSERT_TRUE(perf_work(true));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &setup));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	for (uint32_t n = 0; n < SAMPLES; n++) {
		const struct drm_panthor_perf_sample_header *h;
		enum verdict verdict = FINE;
		uint64_t cycles, active;

		/* Each of another length: 2 to 20 ms, in an order that does not repeat. */
		usleep(2000 + n * 7919 % 18000);
		ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, n));
		ASSERT_TRUE(perf_wait(&self->s, n + 1));
		h = perf_slot(&self->s, n);
		cycles = cycles_of(&self->info, h, cshw);
		active = perf_values(&self->info, h, cshw)[CSHW_GPU_ACTIVE];
		counted += active;
		passed += cycles;
		if (h->flags & DRM_PANTHOR_PERF_SAMPLE_ERROR)
			verdict = INCOMPLETE;
		else if (near(active, cycles))
			verdict = judge_cores(self, h);
		else if (near(active, before))
			verdict = NEXT;
		else if (near(active, 2 * cycles))
			verdict = TWICE;
		else
			verdict = OTHER;
		if (verdict != FINE && self->number[verdict] < 4)
			TH_LOG("sample %u: verdict %u, flags %#x, %llu of %llu cycles active, sample before: %llu",
			       n, verdict, h->flags, (unsigned long long)active,
			       (unsigned long long)cycles, (unsigned long long)before);
		long_ones += active > cycles && verdict != FINE;
		self->number[verdict]++;
		if (verdict != FINE && self->number[verdict] > self->number[self->worst])
			self->worst = verdict;
		before = cycles;
		perf_consume(&self->s, 1);
	}
	TH_LOG("of %u samples %u are incomplete, %u late, %u twice, %u others, %u lack cores, %u long",
	       SAMPLES, self->number[INCOMPLETE], self->number[NEXT], self->number[TWICE],
	       self->number[OTHER], self->number[NO_CORES], self->number[CORES_LONG]);
	/* What is incomplete is found at some other time, as long as the ring goes round. */
	if (self->number[INCOMPLETE] > SAMPLES / 10)
		self->worst = INCOMPLETE;
	/* Counts of some other time are too many as often as they are too few. */
	if (self->worst != INCOMPLETE && !long_ones && counted < passed / 4 * 3)
		SKIP(return, "PERF_BUSY does not keep the GPU busy");
}

FIXTURE_TEARDOWN(busy)
{
	perf_work(false);
	if (self->fd < 0)
		return;
	perf_session_end(&self->s);
	close(self->fd);
}

static void check_verdict(struct __test_metadata *_metadata, FIXTURE_DATA(busy) *self,
			  enum verdict verdict)
{
	/* One fault looks like several others now and then. */
	EXPECT_NE(verdict, self->worst) {
		TH_LOG("%u samples of %u", self->number[verdict], SAMPLES);
	}
}

TEST_F(busy, complete)
{
	check_verdict(_metadata, self, INCOMPLETE);
}

TEST_F(busy, in_time)
{
	check_verdict(_metadata, self, NEXT);
}

TEST_F(busy, once)
{
	check_verdict(_metadata, self, TWICE);
}

TEST_F(busy, own_counts)
{
	check_verdict(_metadata, self, OTHER);
}

TEST_F(busy, cores)
{
	if (!self->cores)
		SKIP(return, "PERF_BUSY makes no shader core count");
	check_verdict(_metadata, self, NO_CORES);
}

TEST_F(busy, core_clock)
{
	if (!self->cores)
		SKIP(return, "PERF_BUSY makes no shader core count");
	check_verdict(_metadata, self, CORES_LONG);
}

TEST_HARNESS_MAIN
