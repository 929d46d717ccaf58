// SPDX-License-Identifier: MIT
/* The PMU, when counters are made to count what the test says, and the page tells what firmware wrote. */
#include "bed.h"
#include "../client.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_pmu.c"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	bench_reg_set(RATE, 100000);
	return true;
}

/* What firmware's samples have had of a counter. */
static uint64_t emitted(FIXTURE_DATA(pmu) *self, const struct counter *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < perf_count(&self->info, c->type); i++) {
		if (c->block && c->block != i + 1)
			continue;
		bench_choose(self->gpu.shader_present, c->type, i, c->counter);
		sum += bench_reg_get64(EMITTED);
	}
	return sum;
}

/* What its first block has counted, sampled or not. */
static uint64_t generated(FIXTURE_DATA(pmu) *self, const struct counter *c)
{
	bench_choose(self->gpu.shader_present, c->type, 0, c->counter);
	return bench_reg_get64(GENERATED);
}

/* Counts are what firmware's samples held, of every counter of each type, and of some of each block. */
TEST_F_TIMEOUT(pmu, counts_what_was_written, 600)
{
	static struct counter counters[MANY];
	static uint64_t before[MANY];
	const uint32_t values = self->info.counters_per_block;
	uint64_t written, time;
	uint32_t n = 0;
	int samples;

	for (uint32_t t = FW; t < PERF_TYPES; t++) {
		uint32_t blocks = perf_count(&self->info, t);

		for (uint32_t v = PERF_RESERVED; blocks && v < values; v++)
			counters[n++] = (struct counter) { .type = t, .counter = v };
		for (uint32_t i = 0; i < 4 * blocks; i++) {
			uint32_t b = 1 + i / 4, v = (7 * b + 17 * (i % 4)) % (values - PERF_RESERVED);

			counters[n++] = (struct counter) { .type = t, .block = b, .counter = PERF_RESERVED + v };
		}
		ASSERT_LE(n, MANY - values - 256);
	}
	ASSERT_TRUE(suspend());
	samples = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
	ASSERT_LE(0, samples);
	for (uint32_t i = 0; i < n; i++) {
		self->fds[i] = pmu_open(&self->pmu, PMU_CONFIG(counters[i].type, counters[i].counter,
							       counters[i].block));
		ASSERT_LE(0, self->fds[i]);
	}
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	for (uint32_t i = 0; i < n; i++)
		before[i] = emitted(self, &counters[i]);
	written = bench_reg_get64(SAMPLES);
	for (int round = 0; round < 2; round++)
		ASSERT_TRUE(count_for_a_while(samples));
	for (uint32_t i = 0; i < n; i++) {
		EXPECT_EQ(emitted(self, &counters[i]) - before[i], pmu_count(self->fds[i])) {
			TH_LOG("%s %u %u", perf_type_names[counters[i].type], counters[i].counter,
			       counters[i].block);
		}
	}
	EXPECT_EQ(bench_reg_get64(SAMPLES) - written, pmu_count(samples));
	/* While it is suspended, nothing is sampled, however long that is. */
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "1"));
	written = bench_reg_get64(SAMPLES);
	time = perf_now();
	while (perf_now() < time + 50000000)
		pmu_count(self->fds[0]);
	EXPECT_TRUE(perf_pm_is("suspended"));
	EXPECT_EQ(written, bench_reg_get64(SAMPLES));
	close(samples);
}

/* How many times more than others the virtual Mali's activity moves a counter of the tiler. */
static uint64_t weight(uint64_t config)
{
	return 1 + (uint8_t)config + 128 * 33;
}

/* Counters of one sample have moved by as much as the model says, whenever the group is read. */
TEST_F_TIMEOUT(pmu, group_is_in_proportion, 300)
{
	uint64_t configs[5] = {
		PMU_FIRMWARE_SAMPLES, PMU_CONFIG(TILER, 4, 0), PMU_CONFIG(TILER, 6, 0),
		PMU_CONFIG(TILER, 9, 1), PMU_CONFIG(TILER, 23, 0),
	};
	uint64_t got[5], last = 0;
	uint32_t different = 0;

	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "1"));
	ASSERT_EQ(0, pmu_group_open(&self->pmu, configs, 5, &self->group));
	perf_work(true);
	ASSERT_TRUE(resume());
	while (different < GROUP_READS) {
		ASSERT_EQ(0, pmu_group_read(&self->group, got));
		for (int i = 2; i < 5; i++) {
			EXPECT_EQ(got[1] * weight(configs[i]), got[i] * weight(configs[1])) {
				TH_LOG("sample %llu: counter %u", (unsigned long long)got[0],
				       (uint8_t)configs[i]);
			}
		}
		different += got[0] != last;
		last = got[0];
	}
	EXPECT_LT(0, got[1]);
}

/*
 * What was counted before an event was opened is not in it, even if no sample has
 * had it so far.
 */
TEST_F_TIMEOUT(pmu, starts_exactly, 300)
{
	const struct counter tiler = { .type = TILER, .counter = PERF_RESERVED };
	const struct counter memsys = { .type = MEMSYS, .counter = PERF_RESERVED };
	uint64_t before;
	int samples = -1;

	ASSERT_TRUE(resume());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "100"));
	/* Somebody else has counters enabled, and takes no samples. */
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->all));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	for (int round = 0; round < 2; round++) {
		const struct counter *c = round ? &memsys : &tiler;

		/* There is something that no sample has so far. */
		bench_reg_set(ACTIVITY, 1);
		before = generated(self, c);
		ASSERT_TRUE(perf_until(generated(self, c) > before));
		bench_reg_set(ACTIVITY, 0);
		self->fds[round] = pmu_open(&self->pmu, PMU_CONFIG(c->type, c->counter, 0));
		ASSERT_LE(0, self->fds[round]);
		if (!round)
			samples = keep(self, 2, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
		ASSERT_TRUE(sampled(samples));
		EXPECT_EQ(0, pmu_count(self->fds[round])) {
			TH_LOG("the event that %s", round ? "needs other blocks" : "is the first");
		}
	}
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(sampled(samples));
	bench_reg_set(ACTIVITY, 0);
	ASSERT_TRUE(sampled(samples));
	for (int i = 0; i < 2; i++)
		EXPECT_LT(0, pmu_count(self->fds[i]));
}

/*
 * perf holds a lock that others wait for while an event is opened into a group, so that firmware
 * that does not answer is not waited for long. It is if only the interrupt is lost.
 */
TEST_F_TIMEOUT(pmu, opens_in_time, 300)
{
	struct perf_event_attr attr = pmu_attr(&self->pmu, PMU_CONFIG(TILER, PERF_RESERVED, 0));
	uint64_t before, took;

	ASSERT_TRUE(resume());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "100"));
	self->fds[0] = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
	ASSERT_LE(0, self->fds[0]);
	ASSERT_TRUE(sampled(self->fds[0]));
	/* In protected mode firmware answers nothing. */
	ASSERT_TRUE(perf_until((bench_reg_set(PROTM, 1), bench_reg_get(GPU_STATUS) & 1u << 7)));
	before = perf_now();
	EXPECT_EQ(-ETIMEDOUT, pmu_open_once(&attr, -1, self->pmu.cpu, self->fds[0], 0));
	took = perf_now() - before;
	EXPECT_LE(240000000, took);
	EXPECT_GT(2250000000, took);
	bench_reg_set(PROTM, 0);

	ASSERT_TRUE(sampled(self->fds[0]));
	bench_reg_set(IRQS_LOST, 1);
	self->fds[1] = pmu_open_once(&attr, -1, self->pmu.cpu, self->fds[0], 0);
	EXPECT_LE(0, self->fds[1]) {
		TH_LOG("%s", strerror(-self->fds[1]));
	}
	EXPECT_EQ(0, bench_reg_get(IRQS_LOST));
}

/* Firmware hangs, or dies: what was lost is told, and counting goes on. */
TEST_F_TIMEOUT(pmu, across_reset, 300)
{
	int samples, lost, count;

	ASSERT_TRUE(resume());
	samples = keep(self, 0, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	lost = keep(self, 1, pmu_open(&self->pmu, PMU_LOST));
	count = keep(self, 2, pmu_open(&self->pmu, PMU_CONFIG(TILER, PERF_RESERVED, 0)));
	for (int i = 0; i < 3; i++)
		ASSERT_LE(0, self->fds[i]);
	bench_reg_set(ACTIVITY, 1);
	ASSERT_TRUE(sampled(samples));
	EXPECT_EQ(0, pmu_count(lost));
	for (uint32_t crash = 0; crash < 2; crash++) {
		uint64_t before = pmu_count(lost), counted;

		if (crash)
			bench_reg_set(CRASH, 1);
		else
			bench_reg_set(HANG, 1);
		EXPECT_TRUE(perf_until(pmu_count(lost) > before)) {
			TH_LOG("nothing is lost");
		}
		ASSERT_TRUE(perf_until(!bench_reg_get(HANG) && bench_reg_get(ENABLED)));
		ASSERT_TRUE(sampled(samples));
		counted = pmu_count(count);
		before = pmu_count(lost);
		ASSERT_TRUE(sampled(samples));
		EXPECT_LT(counted, pmu_count(count));
		EXPECT_EQ(before, pmu_count(lost));
	}
}

/* Threads that close files with jobs; closes that each is to check, and may need for that. */
#define CLOSERS_OF_FILES	8
#define FILES_CHECKED		25
#define FILES_CLOSED		500

/**
 * struct file_closer - a thread that closes files
 * @thread: the thread
 * @event: what counts
 * @checked: closes after which the event had to have what was counted before
 * @missing: how much it had not, of the first that lacked something
 * @error: why a file could not be had, or nothing be submitted, or 0
 */
struct file_closer {
	pthread_t thread;
	int event;
	uint32_t checked;
	uint64_t missing;
	int error;
};

static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static uint64_t added;

static uint64_t add_one(void)
{
	uint64_t n;

	pthread_mutex_lock(&adding);
	bench_reg_set(ADD, 1);
	n = ++added;
	pthread_mutex_unlock(&adding);
	return n;
}

static void *close_files(void *data)
{
	struct file_closer *c = data;

	for (int i = 0; i < FILES_CLOSED && c->checked < FILES_CHECKED && !c->missing; i++) {
		/* A submission of no job is one as well, for any group. */
		struct drm_panthor_group_submit none = {};
		uint64_t before, begin, took, count;
		int fd = perf_open_device();

		if (fd < 0 || perf_ioctl(fd, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &none)) {
			c->error = errno;
			break;
		}
		before = add_one();
		begin = now_ns(CLOCK_MONOTONIC_COARSE);
		close(fd);
		took = now_ns(CLOCK_MONOTONIC_COARSE) - begin;
		count = pmu_count(c->event);
		/* The driver gives up after 20 ms of jiffies, with which this clock goes on. */
		if (took >= 10000000)
			continue;
		c->checked++;
		if (count < before)
			c->missing = before - count;
	}
	return NULL;
}

/* Who closes a file finds all in the count that its jobs did before, beside others who close theirs. */
TEST_F_TIMEOUT(pmu, files_closed, 300)
{
	struct file_closer closers[CLOSERS_OF_FILES] = {};
	uint32_t checked = 0;
	int samples, n;

	ASSERT_TRUE(resume());
	/* Samples of the interval are not those that files wait for. */
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "100"));
	ASSERT_LE(0, keep(self, 0, pmu_open(&self->pmu, PMU_CONFIG(TILER, PERF_RESERVED, 0))));
	samples = keep(self, 1, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	ASSERT_LE(0, samples);
	ASSERT_TRUE(sampled(samples));
	bench_choose(self->gpu.shader_present, TILER, 0, PERF_RESERVED);
	bench_reg_set64(AMOUNT, 1);
	added = 0;
	for (n = 0; n < CLOSERS_OF_FILES; n++) {
		closers[n].event = self->fds[0];
		if (pthread_create(&closers[n].thread, NULL, close_files, &closers[n]))
			break;
	}
	EXPECT_EQ(CLOSERS_OF_FILES, n);
	for (int i = 0; i < n; i++) {
		EXPECT_EQ(0, pthread_join(closers[i].thread, NULL));
		EXPECT_EQ(0, closers[i].error);
		EXPECT_EQ(0, closers[i].missing) {
			TH_LOG("after %u closes", closers[i].checked);
		}
		checked += closers[i].checked;
	}
	EXPECT_LT(0, checked) {
		TH_LOG("all closes took 10 ms");
	}
	ASSERT_TRUE(sampled(samples));
	EXPECT_EQ(added, pmu_count(self->fds[0]));
}

/* Ends with the number of the first attempt, from 1, that did not end as it should. */
static int refuse_nobody(FIXTURE_DATA(pmu) *self, bool allowed)
{
	for (int i = 0; i < 9; i++) {
		struct perf_event_attr attr = pmu_attr(&self->pmu, PMU_FIRMWARE_SAMPLES);
		bool task = i >= 7;
		int fd;

		attr.exclude_user = i == 1;
		attr.exclude_kernel = i == 2 || i == 8;
		attr.exclude_hv = i == 3;
		attr.exclude_idle = i == 4;
		attr.exclude_host = i == 5;
		attr.exclude_guest = i == 6;
		fd = pmu_open_attr(&attr, task ? 0 : -1, task ? -1 : self->pmu.cpu, -1, 0);
		if ((fd >= 0) != (allowed && !i))
			return i + 1;
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/* An event that perf refuses does not enable counters meanwhile. */
TEST_F(pmu, refused_starts_nothing)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3" };
	bool by_perf = perf_goes_by_perf();

	ASSERT_TRUE(resume());
	for (size_t i = 0; i < 2 * ARRAY_SIZE(levels); i++) {
		bool allowed = i / 2 < 2 && by_perf;
		uint32_t epoch;
		int status;
		pid_t pid;

		ASSERT_EQ(0, perf_write_file(PERF_EVENT_PARANOID, levels[i / 2]));
		ASSERT_EQ(0, perf_set_paranoid(i % 2));
		ASSERT_TRUE(perf_at_rest());
		epoch = bench_reg_get(EPOCH);
		pid = fork();
		if (!pid)
			_exit(setgid(PERF_NOBODY) || setuid(PERF_NOBODY) ? 255 : refuse_nobody(self, allowed));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_TRUE(perf_at_rest());
		EXPECT_EQ(epoch + allowed, bench_reg_get(EPOCH)) {
			TH_LOG("perf_event_paranoid %s, perf_paranoid %zu, attempt %d", levels[i / 2], i % 2,
			       WEXITSTATUS(status));
		}
	}
}
