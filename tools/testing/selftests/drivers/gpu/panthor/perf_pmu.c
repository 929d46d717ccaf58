// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor as perf shows them: the PMU of a GPU, what it
 * refuses, and what its events count. Most counts are compared with those of a
 * session that has counted at the same time.
 *
 * Counts are compared while the GPU is suspended: firmware took its last sample
 * before, and so events and sessions have seen the same samples.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "../../../kselftest_harness.h"
#include "pmu.h"

#define SLOTS		8
#define INTERVAL	"sample_interval_ms"
#define DEFAULT_MS	"10"
#define MUX_INTERVAL	"perf_event_mux_interval_ms"
#define MAX_SAMPLE_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
/* Events of a test that has many, and files of all. */
#define MANY		2048
/* Counters 4 and 5 of a CSHW block on every GPU: GPU_ACTIVE, MCU_ACTIVE. */
#define GPU_ACTIVE	4
/* The same of a memory system block: L2_EXT_READ_BEATS, L2_EXT_WRITE_BEATS. */
#define READ_BEATS	32
#define WRITE_BEATS	47

#define FW	DRM_PANTHOR_PERF_BLOCK_FW
#define CSHW	DRM_PANTHOR_PERF_BLOCK_CSHW
#define TILER	DRM_PANTHOR_PERF_BLOCK_TILER
#define MEMSYS	DRM_PANTHOR_PERF_BLOCK_MEMSYS
#define SHADER	DRM_PANTHOR_PERF_BLOCK_SHADER

FIXTURE(pmu)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_gpu_info gpu;
	struct drm_panthor_perf_cmd_setup all;
	struct perf_session s;
	struct pmu pmu;
	struct pmu_group group;
	int *fds;		/* MANY events, or -1 */
	char paranoid[16];	/* perf's sysctls, each of which a test changes */
	char rate[16];
};

FIXTURE_SETUP(pmu)
{
	struct rlimit files = { MANY + 256, MANY + 256 };
	uint32_t size = sizeof(self->gpu);

	self->s.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	if (pmu_find(&self->pmu)) {
		close(self->fd);
		self->fd = -1;
		SKIP(return, "the kernel has no PMU for it");
	}
	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &self->gpu, &size));
	perf_masks_all(&self->all);
	self->fds = calloc(MANY, sizeof(*self->fds));
	ASSERT_NE(NULL, self->fds);
	for (int i = 0; i < MANY; i++)
		self->fds[i] = -1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, DEFAULT_MS));
	ASSERT_EQ(0, perf_read_file(PERF_EVENT_PARANOID, self->paranoid, sizeof(self->paranoid)));
	ASSERT_EQ(0, perf_read_file(MAX_SAMPLE_RATE, self->rate, sizeof(self->rate)));
}

FIXTURE_TEARDOWN(pmu)
{
	if (self->fd < 0)
		return;
	pmu_group_close(&self->group);
	for (int i = 0; i < MANY; i++) {
		if (self->fds[i] >= 0)
			close(self->fds[i]);
	}
	free(self->fds);
	perf_session_end(&self->s);
	close(self->fd);
	pmu_write_file(&self->pmu, INTERVAL, DEFAULT_MS);
	perf_pm_write("control", "auto");
	perf_write_file(PERF_EVENT_PARANOID, self->paranoid);
	perf_write_file(MAX_SAMPLE_RATE, self->rate);
	perf_set_paranoid(true);
}

/* An event that is closed in the end. */
static int keep(FIXTURE_DATA(pmu) *self, int which, int event)
{
	self->fds[which] = event;
	return event;
}

static bool suspend(void)
{
	return !perf_pm_write("control", "auto") && perf_until(perf_pm_is("suspended"));
}

static bool resume(void)
{
	return !perf_pm_write("control", "on") && perf_until(perf_pm_is("active"));
}

/* Until firmware's next sample but one has been counted: the first may have been taken before. */
static bool sampled(int samples)
{
	uint64_t before = pmu_count(samples);

	return perf_until(pmu_count(samples) >= before + 2);
}

/* The GPU, which is suspended before and after, is up for some samples and counts. */
static bool count_for_a_while(int samples)
{
	bool ok;

	perf_work(true);
	ok = resume() && sampled(samples) && sampled(samples);
	perf_work(false);
	return suspend() && ok;
}

static uint32_t cores(uint64_t present)
{
	return __builtin_popcountll(present);
}

/* The PMU's directory */

TEST_F(pmu, directory)
{
	static const char *const layouts[] = {
		[10] = "mali-g710", "mali-g715", "mali-g720", "mali-g725", "mali-g1",
	};
	uint32_t arch = self->gpu.gpu_id >> 28;
	char text[256], address[32], device[512];

	ASSERT_EQ(0, perf_sysfs(device, sizeof(device)));
	snprintf(address, sizeof(address), "panthor_%llx",
		 strtoull(strrchr(device, '/') + 1, NULL, 16));
	EXPECT_STREQ(address, self->pmu.name);
	ASSERT_EQ(0, pmu_read_file(&self->pmu, "format/event", text, sizeof(text)));
	EXPECT_STREQ("config:0-15", text);
	ASSERT_EQ(0, pmu_read_file(&self->pmu, "format/block", text, sizeof(text)));
	EXPECT_STREQ("config:16-23", text);
	ASSERT_EQ(0, pmu_read_file(&self->pmu, "identifier", text, sizeof(text)));
	ASSERT_LE(10, arch);
	ASSERT_GT(ARRAY_SIZE(layouts), arch);
	EXPECT_STREQ(layouts[arch], text);
	/* One CPU of those that are there. */
	ASSERT_EQ(0, pmu_read_file(&self->pmu, "cpumask", text, sizeof(text)));
	EXPECT_EQ(strlen(text), strspn(text, "0123456789"));
}

/* Which of the events that the kernel makes a GPU has not, for want of a clock. */
static bool is_missing(const struct drm_panthor_perf_info *info, uint32_t made)
{
	static const uint8_t clocks[PMU_MADE_END] = {
		[PMU_GPU_CYCLES] = 1 << DRM_PANTHOR_PERF_CLOCK_TOPLEVEL,
		[PMU_COREGROUP_CYCLES] = 1 << DRM_PANTHOR_PERF_CLOCK_COREGROUP,
		[PMU_SHADER_CYCLES] = 1 << DRM_PANTHOR_PERF_CLOCK_SHADER,
		[PMU_CYCLES_TIMES_CORES] = 1 << DRM_PANTHOR_PERF_CLOCK_TOPLEVEL,
		[PMU_CYCLES_TIMES_SLICES] = 1 << DRM_PANTHOR_PERF_CLOCK_TOPLEVEL,
	};

	return clocks[made] & ~info->supported_clocks;
}

/* Each event that has a name can be opened by what the file says. */
TEST_F(pmu, named_events)
{
	uint32_t made = 0, others = 0;
	char dir[256], path[512], text[128];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/events", self->pmu.dir);
	d = opendir(dir);
	ASSERT_NE(NULL, d);
	while ((e = readdir(d))) {
		unsigned int event, block = 0;
		const char *dot;
		int fd, end = 0;

		if (e->d_name[0] == '.')
			continue;
		dot = strchr(e->d_name, '.');
		if (dot) {
			/* Of an event that is there. */
			EXPECT_TRUE(!strcmp(dot, ".unit") || !strcmp(dot, ".scale")) {
				TH_LOG("%s", e->d_name);
			}
			snprintf(path, sizeof(path), "%s/%.*s", dir, (int)(dot - e->d_name),
				 e->d_name);
			EXPECT_EQ(0, access(path, R_OK));
			continue;
		}
		EXPECT_EQ(strlen(e->d_name),
			  strspn(e->d_name, "abcdefghijklmnopqrstuvwxyz0123456789_")) {
			TH_LOG("%s", e->d_name);
		}
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		ASSERT_EQ(0, perf_read_file(path, text, sizeof(text)));
		if (sscanf(text, "event=0x%x%n,block=0x%x%n", &event, &end, &block, &end) < 1 ||
		    text[end]) {
			EXPECT_TRUE(false) {
				TH_LOG("%s is '%s'", e->d_name, text);
			}
			continue;
		}
		fd = pmu_open_disabled(&self->pmu, event | block << 16);
		EXPECT_LE(0, fd) {
			TH_LOG("%s, which is '%s': %s", e->d_name, text, strerror(-fd));
		}
		close(fd);
		if (event >> 8) {
			others++;
			continue;
		}
		made++;
		ASSERT_GT(PMU_MADE_END, event);
		EXPECT_STREQ(pmu_made_names[event], e->d_name);
		EXPECT_FALSE(is_missing(&self->info, event));
	}
	closedir(d);
	for (uint32_t i = PMU_GPU_TIME; i < PMU_MADE_END; i++)
		made += is_missing(&self->info, i);
	EXPECT_EQ(PMU_MADE_END - 1, made);
	EXPECT_LE(10, others);
}

/* What is refused */

static void refused(struct __test_metadata *_metadata, const char *what, int error,
		    struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd = pmu_open_attr(attr, pid, cpu, -1, flags);

	EXPECT_EQ(error, fd) {
		TH_LOG("%s: %s", what, fd < 0 ? strerror(-fd) : "opened");
	}
	if (fd >= 0)
		close(fd);
	/* What was refused is not left counting. */
	EXPECT_TRUE(perf_at_rest()) {
		TH_LOG("%s: the GPU counts", what);
	}
}

#define REFUSED_ON(what, error, pid, cpu, flags, ...) do {			\
	struct perf_event_attr attr = pmu_attr(&self->pmu, PMU_FIRMWARE_SAMPLES); \
										\
	__VA_ARGS__;								\
	refused(_metadata, what, error, &attr, pid, cpu, flags);		\
} while (0)
#define REFUSED(what, error, ...)						\
	REFUSED_ON(what, error, -1, self->pmu.cpu, 0, __VA_ARGS__)
#define REFUSED_CONFIG(error, value)						\
	REFUSED(#value, error, attr.config = (value))

TEST_F(pmu, refused_attributes)
{
	static const char mode[] = "/tmp/panthor-perf-cgroup";
	int cgroup;

	/* The GPU is up, so that what counts can be seen. */
	ASSERT_TRUE(resume());
	ASSERT_TRUE(perf_at_rest());
	REFUSED("sampling", -EOPNOTSUPP, attr.sample_period = 1000);
	REFUSED("sampling by frequency", -EOPNOTSUPP, attr.freq = 1, attr.sample_freq = 100);
	REFUSED("exclude_user", -EINVAL, attr.exclude_user = 1);
	REFUSED("exclude_kernel", -EINVAL, attr.exclude_kernel = 1);
	REFUSED("exclude_hv", -EINVAL, attr.exclude_hv = 1);
	REFUSED("exclude_idle", -EINVAL, attr.exclude_idle = 1);
	REFUSED("exclude_host", -EINVAL, attr.exclude_host = 1);
	REFUSED("exclude_guest", -EINVAL, attr.exclude_guest = 1);
	REFUSED("config1", -EINVAL, attr.config1 = 1);
	REFUSED("config2", -EINVAL, attr.config2 = 1ull << 63);
	REFUSED("config3", -EINVAL, attr.config3 = 1);
	REFUSED_ON("a task", -EINVAL, 0, -1, 0, (void)0);
	REFUSED_ON("a task on a CPU", -EINVAL, 0, self->pmu.cpu, 0, (void)0);
	REFUSED_ON("no CPU", -EINVAL, -1, -1, 0, (void)0);

	mkdir(mode, 0700);
	if (!mount("none", mode, "cgroup2", 0, NULL)) {
		cgroup = open(mode, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_LE(0, cgroup);
		REFUSED_ON("a cgroup", -EINVAL, cgroup, self->pmu.cpu, PERF_FLAG_PID_CGROUP,
			   (void)0);
		close(cgroup);
		EXPECT_EQ(0, umount(mode));
	}
	rmdir(mode);
}

TEST_F(pmu, refused_configs)
{
	const uint32_t values = self->info.counters_per_block;

	ASSERT_TRUE(resume());
	ASSERT_TRUE(perf_at_rest());
	for (uint32_t t = FW; t < PERF_TYPES; t++) {
		uint32_t n = perf_count(&self->info, t);

		/* Values 0 to 3 are no counters, and there is nothing behind the last. */
		for (uint32_t v = 0; v < PERF_RESERVED; v++)
			REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, v, 0));
		for (uint32_t v = values; v < 256; v += 1 + v / 2)
			REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, v, 0));
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, 255, 0));
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, PERF_RESERVED, n + 1));
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, PERF_RESERVED, 255));
		if (!n)
			REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, PERF_RESERVED, 0));
	}
	for (uint32_t t = PERF_TYPES; t < 256; t += 1 + t / 2)
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(t, PERF_RESERVED, 0));
	REFUSED_CONFIG(-EINVAL, PMU_CONFIG(255, PERF_RESERVED, 0));
	for (uint32_t bit = 24; bit < 64; bit++)
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(CSHW, GPU_ACTIVE, 0) | 1ull << bit);

	REFUSED_CONFIG(-EINVAL, 0);
	REFUSED_CONFIG(-EINVAL, PMU_MADE_END);
	REFUSED_CONFIG(-EINVAL, 255);
	for (uint32_t i = PMU_GPU_TIME; i < PMU_MADE_END; i++) {
		REFUSED_CONFIG(-EINVAL, PMU_CONFIG(0, i, 1));
		if (is_missing(&self->info, i))
			REFUSED_CONFIG(-EINVAL, i);
	}
}

/* The first and the last that there is of everything. */
TEST_F(pmu, accepted_configs)
{
	const uint32_t last = self->info.counters_per_block - 1;

	for (uint32_t t = FW; t < PERF_TYPES; t++) {
		uint32_t n = perf_count(&self->info, t);
		uint64_t configs[] = {
			PMU_CONFIG(t, PERF_RESERVED, 0), PMU_CONFIG(t, last, 0),
			PMU_CONFIG(t, PERF_RESERVED, 1), PMU_CONFIG(t, last, n),
		};

		for (size_t i = 0; n && i < ARRAY_SIZE(configs); i++) {
			int fd = pmu_open(&self->pmu, configs[i]);

			EXPECT_LE(0, fd) {
				TH_LOG("%#llx: %s", (unsigned long long)configs[i], strerror(-fd));
			}
			close(fd);
		}
	}
	for (uint32_t i = PMU_GPU_TIME; i < PMU_MADE_END; i++) {
		int fd = pmu_open(&self->pmu, i);

		EXPECT_EQ(is_missing(&self->info, i), fd < 0) {
			TH_LOG("%s: %s", pmu_made_names[i], strerror(-fd));
		}
		close(fd);
	}
	EXPECT_TRUE(perf_at_rest());
}

/* Events of this PMU and those of software may share a group, in any order. */
TEST_F(pmu, software_in_groups)
{
	struct perf_event_attr clock = pmu_clock_attr(0);
	struct perf_event_attr attr = pmu_attr(&self->pmu, PMU_FIRMWARE_SAMPLES);

	for (int i = 0; i < 2; i++) {
		int leader = pmu_open_attr(i ? &clock : &attr, -1, self->pmu.cpu, -1, 0);
		int sibling = pmu_open_attr(i ? &attr : &clock, -1, self->pmu.cpu, leader, 0);

		EXPECT_LE(0, leader);
		EXPECT_LE(0, sibling);
		close(sibling);
		close(leader);
	}
}

/* What is counted */

struct counter {
	uint32_t type;
	uint32_t counter;
	uint32_t block;		/* 0: the sum of all blocks, as in config */
};

/* The same counter of a session's sample. */
static uint64_t in_sample(FIXTURE_DATA(pmu) *self, const void *sample, const struct counter *c)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		uint32_t type = 0, index = 0;

		perf_block_name(&self->info, b, &type, &index);
		if (type == c->type && (!c->block || c->block == index + 1))
			sum += perf_values(&self->info, sample, b)[c->counter];
	}
	return sum;
}

/* A sample of the session, whose GPU is suspended. NULL if none comes. */
static const struct drm_panthor_perf_sample_header *take(struct perf_session *s)
{
	uint64_t n = perf_insert(s);

	if (perf_sample(s->fd, s->handle, 1) || !perf_wait(s, n + 1))
		return NULL;
	return perf_slot(s, n);
}

/* All that a GPU can count: every counter of a type, and some of each block. */
TEST_F_TIMEOUT(pmu, counts_exactly, 600)
{
	const uint32_t values = self->info.counters_per_block;
	const struct drm_panthor_perf_sample_header *h;
	struct counter *counters = calloc(MANY, sizeof(*counters));
	uint32_t n = 0, nonzero = 0;
	int samples;

	if (!perf_has_work())
		SKIP(return, "PERF_BUSY is no command that keeps the GPU busy");
	ASSERT_NE(NULL, counters);
	for (uint32_t t = FW; t < PERF_TYPES; t++) {
		uint32_t blocks = perf_count(&self->info, t);

		for (uint32_t v = PERF_RESERVED; blocks && v < values; v++)
			counters[n++] = (struct counter) { .type = t, .counter = v };
		for (uint32_t b = 1; b <= blocks; b++) {
			for (uint32_t i = 0; i < 4; i++)
				counters[n++] = (struct counter) {
					.type = t, .block = b, .counter = PERF_RESERVED +
						(7 * b + 17 * i) % (values - PERF_RESERVED),
				};
		}
		ASSERT_LE(n, MANY - values - 256);
	}
	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->all));
	samples = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
	ASSERT_LE(0, samples);
	/* What needs memory of the firmware's may have woken it. */
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	for (uint32_t i = 0; i < n; i++) {
		const struct counter *c = &counters[i];

		self->fds[i] = pmu_open(&self->pmu, PMU_CONFIG(c->type, c->counter, c->block));
		ASSERT_LE(0, self->fds[i]) {
			TH_LOG("%s %u %u: %s", perf_type_names[c->type], c->counter, c->block,
			       strerror(-self->fds[i]));
		}
	}
	ASSERT_TRUE(perf_pm_is("suspended"));
	for (uint32_t i = 0; i < n; i++)
		EXPECT_EQ(0, pmu_count(self->fds[i]));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));

	for (int round = 0; round < 2; round++)
		ASSERT_TRUE(count_for_a_while(samples));
	h = take(&self->s);
	ASSERT_NE(NULL, h);
	EXPECT_EQ(0, h->flags);
	for (uint32_t i = 0; i < n; i++) {
		const struct counter *c = &counters[i];
		uint64_t count = pmu_count(self->fds[i]);

		EXPECT_EQ(in_sample(self, h, c), count) {
			TH_LOG("%s %u %u, and the session's", perf_type_names[c->type], c->counter,
			       c->block);
		}
		nonzero += count != 0;
	}
	EXPECT_LT(PERF_BED ? n / 2 : 0, nonzero);
	close(samples);
	free(counters);
}

/* Events that the kernel makes of what samples say. */
TEST_F_TIMEOUT(pmu, made_events, 300)
{
	const struct drm_panthor_perf_sample_header *h;
	const struct counter reads = { .type = MEMSYS, .counter = READ_BEATS };
	const struct counter writes = { .type = MEMSYS, .counter = WRITE_BEATS };
	uint32_t bus = (1u << (self->gpu.l2_features >> 24 & 0x1f)) / 8;
	uint64_t got[PMU_MADE_END] = {}, before, after;

	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->all));
	before = perf_now();
	for (uint32_t i = PMU_GPU_TIME; i < PMU_MADE_END; i++) {
		if (is_missing(&self->info, i))
			continue;
		self->fds[i] = pmu_open(&self->pmu, i);
		ASSERT_LE(0, self->fds[i]);
	}
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	for (int round = 0; round < 2; round++)
		ASSERT_TRUE(count_for_a_while(self->fds[PMU_FIRMWARE_SAMPLES]));
	h = take(&self->s);
	ASSERT_NE(NULL, h);
	for (uint32_t i = PMU_GPU_TIME; i < PMU_MADE_END; i++)
		got[i] = is_missing(&self->info, i) ? 0 : pmu_count(self->fds[i]);
	after = perf_now();

	/* Clocks stand still while it is suspended: so the session had no others. */
	if (!is_missing(&self->info, PMU_GPU_CYCLES))
		EXPECT_EQ(h->toplevel_clock_cycles, got[PMU_GPU_CYCLES]);
	if (!is_missing(&self->info, PMU_COREGROUP_CYCLES))
		EXPECT_EQ(h->coregroup_clock_cycles, got[PMU_COREGROUP_CYCLES]);
	if (!is_missing(&self->info, PMU_SHADER_CYCLES))
		EXPECT_EQ(h->shader_clock_cycles, got[PMU_SHADER_CYCLES]);
	EXPECT_EQ(got[PMU_GPU_CYCLES] * cores(self->gpu.shader_present),
		  got[PMU_CYCLES_TIMES_CORES]);
	EXPECT_EQ(got[PMU_GPU_CYCLES] * self->info.memsys_blocks, got[PMU_CYCLES_TIMES_SLICES]);
	EXPECT_EQ(in_sample(self, h, &reads) * bus, got[PMU_EXTERNAL_READ_BYTES]);
	EXPECT_EQ(in_sample(self, h, &writes) * bus, got[PMU_EXTERNAL_WRITE_BYTES]);
	EXPECT_EQ(0, got[PMU_LOST]);
	if (PERF_BED) {
		EXPECT_LT(0, got[PMU_GPU_CYCLES]);
		EXPECT_LT(0, in_sample(self, h, &reads));
		EXPECT_LT(0, in_sample(self, h, &writes));
	}
	EXPECT_LT(0, got[PMU_GPU_ACTIVE_TIME]);
	EXPECT_LT(got[PMU_GPU_ACTIVE_TIME], got[PMU_GPU_TIME]);
	EXPECT_GE(after - before, got[PMU_GPU_TIME]);
	/* Two stretches of at least four samples each. */
	EXPECT_LE(8, got[PMU_FIRMWARE_SAMPLES]);
}

/* Disabled events stand still, and what two count by turns one counts in all. */
TEST_F_TIMEOUT(pmu, enable_and_disable, 300)
{
	const uint64_t config = PMU_CONFIG(CSHW, 5, 0);
	int samples, whole, odd, even;
	uint64_t last = 0;

	if (!perf_has_work())
		SKIP(return, "PERF_BUSY is no command that keeps the GPU busy");
	ASSERT_TRUE(suspend());
	samples = keep(self, 0, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	whole = keep(self, 1, pmu_open(&self->pmu, config));
	odd = keep(self, 2, pmu_open_disabled(&self->pmu, config));
	even = keep(self, 3, pmu_open(&self->pmu, config));
	for (int i = 0; i < 4; i++)
		ASSERT_LE(0, self->fds[i]);
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	for (int round = 0; round < 4; round++) {
		int counts = round & 1 ? odd : even, rests = round & 1 ? even : odd;
		uint64_t rested = pmu_count(rests);

		ASSERT_TRUE(count_for_a_while(samples));
		EXPECT_LT(last, pmu_count(counts) + pmu_count(rests));
		EXPECT_EQ(rested, pmu_count(rests));
		EXPECT_EQ(pmu_count(whole), pmu_count(odd) + pmu_count(even));
		last = pmu_count(whole);
		ASSERT_EQ(0, pmu_disable(counts));
		ASSERT_EQ(0, pmu_enable(rests));
		EXPECT_EQ(last, pmu_count(odd) + pmu_count(even));
	}
	/* What is set back begins at 0, and others do not see it. */
	ASSERT_EQ(0, ioctl(even, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, pmu_count(even));
	EXPECT_EQ(last, pmu_count(whole));
	ASSERT_TRUE(count_for_a_while(samples));
	EXPECT_EQ(pmu_count(whole) - last, pmu_count(even));
}

/* Groups */

#define GROUP_READS 400

/* Whoever reads a group reads one sample, however often samples come. */
TEST_F_TIMEOUT(pmu, group_is_one_sample, 300)
{
	uint64_t configs[8] = {
		PMU_FIRMWARE_SAMPLES, PMU_GPU_CYCLES, PMU_CYCLES_TIMES_CORES,
		PMU_CYCLES_TIMES_SLICES, PMU_CONFIG(TILER, 4, 0), PMU_CONFIG(TILER, 6, 0),
		PMU_CONFIG(TILER, 9, 1), PMU_CONFIG(TILER, 23, 0),
	};
	uint64_t got[8], last[8] = {};
	uint32_t different = 0;

	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "1"));
	ASSERT_EQ(0, pmu_group_open(&self->pmu, configs, 8, &self->group));
	perf_work(true);
	ASSERT_TRUE(resume());
	while (different < GROUP_READS) {
		ASSERT_EQ(0, pmu_group_read(&self->group, got));
		EXPECT_EQ(got[1] * cores(self->gpu.shader_present), got[2]);
		EXPECT_EQ(got[1] * self->info.memsys_blocks, got[3]);
		for (int i = 0; i < 8; i++) {
			EXPECT_LE(last[i], got[i]);
			/* No new sample, no new count. A resume also reads clocks. */
			if (got[0] == last[0] && i > 3)
				EXPECT_EQ(last[i], got[i]);
		}
		different += got[0] != last[0];
		memcpy(last, got, sizeof(last));
	}
	if (PERF_BED)
		EXPECT_LT(0, got[4]);
}

/* Readers */

struct reader {
	int fd;
	bool stop;
	bool went_back;
	uint64_t reads;
	pthread_t thread;
};

static void *read_on(void *data)
{
	struct reader *r = data;
	uint64_t last = 0;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		uint64_t count = pmu_count(r->fd);

		r->went_back |= count < last;
		r->reads++;
		last = count;
	}
	return NULL;
}

/* Two events of the same counter, each read by two threads. */
TEST_F_TIMEOUT(pmu, readers, 300)
{
	struct reader r[4] = {};
	int samples;

	if (!perf_has_work())
		SKIP(return, "PERF_BUSY is no command that keeps the GPU busy");
	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "1"));
	samples = keep(self, 2, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	for (int i = 0; i < 2; i++) {
		self->fds[i] = pmu_open(&self->pmu, PMU_CONFIG(CSHW, 5, 0));
		ASSERT_LE(0, self->fds[i]);
	}
	for (int i = 0; i < 4; i++) {
		r[i].fd = self->fds[i / 2];
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL, read_on, &r[i]));
	}
	for (int round = 0; round < 4; round++)
		EXPECT_TRUE(count_for_a_while(samples));
	for (int i = 0; i < 4; i++) {
		__atomic_store_n(&r[i].stop, true, __ATOMIC_RELEASE);
		EXPECT_EQ(0, pthread_join(r[i].thread, NULL));
		EXPECT_FALSE(r[i].went_back);
		EXPECT_LT(0, r[i].reads);
	}
	EXPECT_LT(0, pmu_count(self->fds[0]));
	EXPECT_EQ(pmu_count(self->fds[0]), pmu_count(self->fds[1]));
}

/* Whether perf has throttled an event, by its records, none of which is consumed. */
static bool throttled(const struct perf_event_mmap_page *ring)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)ring + ring->data_offset;

	for (uint64_t at = 0; at < head;) {
		const struct perf_event_header *record = (const void *)(data + at);

		if (record->type == PERF_RECORD_THROTTLE)
			return true;
		at += record->size;
	}
	return false;
}

/* A clock that interrupts too often is stopped, and all of its group with it. No count is lost. */
TEST_F_TIMEOUT(pmu, throttled_group, 300)
{
	struct perf_event_attr attr = pmu_attr(&self->pmu, PMU_CONFIG(CSHW, 5, 0));
	struct perf_event_attr clock = pmu_clock_attr(0);
	long page = sysconf(_SC_PAGESIZE);
	void *ring;
	int samples;

	if (!perf_has_work())
		SKIP(return, "PERF_BUSY is no command that keeps the GPU busy");
	ASSERT_TRUE(suspend());
	/* One interrupt a tick. */
	ASSERT_EQ(0, perf_write_file(MAX_SAMPLE_RATE, "1"));
	clock.sample_period = 10000;
	samples = keep(self, 0, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	self->fds[1] = pmu_open_attr(&clock, -1, self->pmu.cpu, -1, 0);
	ASSERT_LE(0, self->fds[1]);
	self->fds[2] = pmu_open_attr(&attr, -1, self->pmu.cpu, self->fds[1], 0);
	self->fds[3] = pmu_open_attr(&attr, -1, self->pmu.cpu, -1, 0);
	ASSERT_LE(0, self->fds[2]);
	ASSERT_LE(0, self->fds[3]);
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, self->fds[1], 0);
	ASSERT_NE(MAP_FAILED, ring);
	EXPECT_TRUE(perf_until(throttled(ring)));
	munmap(ring, 2 * page);
	EXPECT_TRUE(count_for_a_while(samples));
	EXPECT_LT(0, pmu_count(self->fds[3]));
	EXPECT_EQ(pmu_count(self->fds[3]), pmu_count(self->fds[2]));
}

static int set_online(int cpu, bool on)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return perf_write_file(path, on ? "1" : "0");
}

/* On another CPU, and after its own has gone. */
TEST_F_TIMEOUT(pmu, other_cpu, 300)
{
	const uint64_t config = PMU_CONFIG(CSHW, 5, 0);
	struct perf_event_attr attr = pmu_attr(&self->pmu, config);
	char path[128];
	int samples, home = self->pmu.cpu, other;
	uint64_t before;

	other = !home;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", other);
	if (access(path, F_OK) && access("/sys/devices/system/cpu/cpu1", F_OK))
		SKIP(return, "there is one CPU only");
	ASSERT_TRUE(suspend());
	samples = keep(self, 0, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	self->fds[1] = pmu_open_attr(&attr, -1, home, samples, 0);
	self->fds[2] = pmu_open_attr(&attr, -1, other, -1, 0);
	for (int i = 0; i < 3; i++)
		ASSERT_LE(0, self->fds[i]);
	ASSERT_TRUE(count_for_a_while(samples));
	before = pmu_count(self->fds[1]);
	EXPECT_LT(0, before);
	EXPECT_EQ(before, pmu_count(self->fds[2]));

	/* Nothing is sampled while it moves, so that nothing is lost by that. */
	if (set_online(home, false))
		SKIP(return, "its CPU cannot be taken offline");
	EXPECT_EQ(0, pmu_find_cpu(&self->pmu));
	EXPECT_NE(home, self->pmu.cpu);
	EXPECT_EQ(before, pmu_count(self->fds[1]));
	EXPECT_TRUE(count_for_a_while(samples));
	EXPECT_LT(before, pmu_count(self->fds[1]));
	EXPECT_EQ(0, set_online(home, true));
	/* It stays where it is. */
	before = pmu_count(self->fds[1]);
	EXPECT_TRUE(count_for_a_while(samples));
	EXPECT_LT(before, pmu_count(self->fds[1]));
	self->fds[3] = pmu_open(&self->pmu, config);
	EXPECT_LE(0, self->fds[3]);
}

/* How long perf has had an event enabled, which was opened for that. */
static uint64_t time_enabled(int fd)
{
	uint64_t value[2] = {};

	return read(fd, value, sizeof(value)) == sizeof(value) ? value[1] : 0;
}

/* perf moves one group after the other. */
TEST_F_TIMEOUT(pmu, other_cpu_groups, 300)
{
	const uint64_t config = PMU_CONFIG(CSHW, 5, 0);
	struct perf_event_attr timed = pmu_attr(&self->pmu, config);
	int samples, home = self->pmu.cpu;
	uint64_t before[2], enabled, still;

	ASSERT_TRUE(suspend());
	samples = keep(self, 0, pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES));
	self->fds[1] = pmu_open(&self->pmu, config);
	timed.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	self->fds[2] = pmu_open_attr(&timed, -1, home, -1, 0);
	for (int i = 0; i < 3; i++)
		ASSERT_LE(0, self->fds[i]);
	ASSERT_TRUE(count_for_a_while(samples));
	if (set_online(home, false))
		SKIP(return, "its CPU cannot be taken offline");
	for (int i = 0; i < 2; i++)
		before[i] = pmu_count(self->fds[i]);
	enabled = time_enabled(self->fds[2]);
	EXPECT_LT(0, enabled);
	EXPECT_TRUE(count_for_a_while(samples));
	still = time_enabled(self->fds[2]);
	EXPECT_EQ(0, set_online(home, true));
	/* Before 7.3 what perf leaves behind is off for it: no PMU is asked to count then. */
	EXPECT_LT(before[0], pmu_count(samples));
	if (still == enabled && pmu_count(self->fds[1]) == before[1])
		SKIP(return, "perf of this kernel moves the first group alone");
	EXPECT_LT(before[1], pmu_count(self->fds[1]));
	EXPECT_LT(enabled, still);
}

/* The GPU's power */

/* What is opened while it sleeps wakes nobody, and neither do reads. */
TEST_F_TIMEOUT(pmu, idle_stays_suspended, 300)
{
	char before[64], after[64];
	uint64_t times[2], up[2];

	ASSERT_TRUE(suspend());
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "1"));
	self->fds[0] = pmu_open(&self->pmu, PMU_GPU_TIME);
	ASSERT_LE(0, self->fds[0]);
	/* The first may have to wake it for memory of the firmware's. */
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_pm_read("runtime_active_time", before, sizeof(before)));
	self->fds[1] = pmu_open(&self->pmu, PMU_GPU_ACTIVE_TIME);
	for (uint32_t t = FW, n = 2; t < PERF_TYPES; t++, n++) {
		if (!perf_count(&self->info, t))
			continue;
		self->fds[n] = pmu_open(&self->pmu, PMU_CONFIG(t, 5, 0));
		ASSERT_LE(0, self->fds[n]);
	}
	times[0] = pmu_count(self->fds[0]);
	up[0] = pmu_count(self->fds[1]);
	/* Time passes for those who look at it. */
	ASSERT_TRUE(perf_until((times[1] = pmu_count(self->fds[0])) > times[0] + 50000000));
	up[1] = pmu_count(self->fds[1]);
	EXPECT_EQ(up[0], up[1]);
	for (uint32_t n = 2; n < 2 + SHADER; n++) {
		if (self->fds[n] >= 0)
			EXPECT_EQ(0, pmu_count(self->fds[n]));
	}
	EXPECT_TRUE(perf_pm_is("suspended"));
	ASSERT_EQ(0, perf_pm_read("runtime_active_time", after, sizeof(after)));
	EXPECT_STREQ(before, after);

	/* One that is up and has nothing to do goes to sleep, however often it is sampled. */
	ASSERT_TRUE(resume());
	ASSERT_TRUE(suspend());
}

/* Others */

static int open_and_close(const struct pmu *pmu)
{
	int fd = pmu_open(pmu, PMU_FIRMWARE_SAMPLES);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The hardware has one set of counters enabled at a time, and events have the primary one. */
TEST_F(pmu, sets)
{
	for (int up = 0; up < 2; up++) {
		ASSERT_TRUE(up ? resume() : suspend());
		for (uint8_t set = 0; set < 3; set++) {
			int want = set ? -EBUSY : 0;

			self->all.block_set = set;
			ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s,
						      &self->all));
			/* A session that does not count is in nobody's way. */
			EXPECT_EQ(0, open_and_close(&self->pmu));
			ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
			EXPECT_EQ(want, open_and_close(&self->pmu)) {
				TH_LOG("set %u, the GPU is %s", set, up ? "up" : "suspended");
			}
			ASSERT_EQ(0, perf_stop(self->fd, self->s.handle, 0));
			ASSERT_TRUE(perf_wait(&self->s, self->s.read + 1));
			perf_consume(&self->s, 1);
			EXPECT_EQ(0, open_and_close(&self->pmu));

			self->fds[0] = pmu_open_disabled(&self->pmu, PMU_GPU_TIME);
			ASSERT_LE(0, self->fds[0]);
			EXPECT_EQ(want, perf_start(self->fd, self->s.handle, 0)) {
				TH_LOG("set %u, the GPU is %s", set, up ? "up" : "suspended");
			}
			close(self->fds[0]);
			self->fds[0] = -1;
			EXPECT_EQ(0, perf_start(self->fd, self->s.handle, 0));
			perf_session_end(&self->s);
		}
	}
}

/* What somebody gets who is nobody, but may have a capability. Runs in a child. */
static int open_as_nobody(const struct pmu *pmu, int cap)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (cap < 0 ? setgid(PERF_NOBODY) || setuid(PERF_NOBODY) : perf_keep_one(cap))
			_exit(255);
		_exit(-open_and_close(pmu));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return -WEXITSTATUS(status);
}

/*
 * The permission is perf's for CPUs. A module on a kernel that does not export it
 * asks for CAP_PERFMON instead. The perf_paranoid parameter is for sessions only.
 */
TEST_F(pmu, permission)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3" };
	bool by_perf = perf_goes_by_perf();

	for (size_t i = 0; i < 2 * ARRAY_SIZE(levels); i++) {
		const char *level = levels[i / 2];
		bool paranoid = i % 2;
		int want = i / 2 < 2 && by_perf ? 0 : -EACCES;

		ASSERT_EQ(0, perf_write_file(PERF_EVENT_PARANOID, level));
		ASSERT_EQ(0, perf_set_paranoid(paranoid));
		EXPECT_EQ(want, open_as_nobody(&self->pmu, -1)) {
			TH_LOG("perf_event_paranoid %s, perf_paranoid %d", level, paranoid);
		}
		EXPECT_EQ(want, open_as_nobody(&self->pmu, CAP_SYS_NICE)) {
			TH_LOG("perf_event_paranoid %s, perf_paranoid %d", level, paranoid);
		}
		/* Some kernels have a level above 2, which the capability is not enough for. */
		if (i / 2 < 4) {
			EXPECT_EQ(0, open_as_nobody(&self->pmu, CAP_PERFMON)) {
				TH_LOG("perf_event_paranoid %s", level);
			}
		}
		EXPECT_EQ(0, open_as_nobody(&self->pmu, CAP_SYS_ADMIN)) {
			TH_LOG("perf_event_paranoid %s", level);
		}
	}
	EXPECT_TRUE(perf_at_rest());
}

/* How often samples are taken */

TEST_F(pmu, interval)
{
	static const char *const bad[] = {
		"0", "101", "-1", "1000000000000", "", " ", "ten", "5x",
	};
	static const char *const good[] = { "1", "100", "37", DEFAULT_MS };
	char path[256], text[16];
	struct stat st;
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/" INTERVAL, self->pmu.dir);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(0644, st.st_mode & 0777);
	EXPECT_EQ(0, st.st_uid);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, perf_write_file(path, good[i]));
		ASSERT_EQ(0, perf_read_file(path, text, sizeof(text)));
		EXPECT_STREQ(good[i], text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int ret = perf_write_file(path, bad[i]);

		/* Nothing is nothing to the kernel. */
		EXPECT_GE(bad[i][0] ? -1 : 0, ret) {
			TH_LOG("'%s' is accepted", bad[i]);
		}
		ASSERT_EQ(0, perf_read_file(path, text, sizeof(text)));
		EXPECT_STREQ(DEFAULT_MS, text);
	}
	EXPECT_EQ(-EINVAL, perf_write_file(path, "0"));
	EXPECT_EQ(-EINVAL, perf_write_file(path, "101"));
	pid = fork();
	if (!pid) {
		if (setgid(PERF_NOBODY) || setuid(PERF_NOBODY))
			_exit(255);
		_exit(-perf_write_file(path, "20"));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(EACCES, WEXITSTATUS(status));
	ASSERT_EQ(0, perf_read_file(path, text, sizeof(text)));
	EXPECT_STREQ(DEFAULT_MS, text);
}

/**
 * struct pace - how samples keep to an interval
 * @interval: the interval in nanoseconds
 * @least: the smallest lead so far, which is what all samples take with it, less what they took
 * @ahead: by how much the samples between any two reads were too many for it, at most
 */
struct pace {
	int64_t interval, least, ahead;
};

/* Of time and number of samples; answers @ahead. */
static int64_t pace_add(struct pace *p, const uint64_t counts[2])
{
	int64_t lead = counts[1] * p->interval - counts[0];

	p->least = lead < p->least ? lead : p->least;
	p->ahead = lead - p->least > p->ahead ? lead - p->least : p->ahead;
	return p->ahead;
}

/*
 * It is obeyed from then on, by events that count already. A machine that has
 * much else to do takes fewer samples than it should, and never more: how many
 * there are between two reads is never too many for the interval, and somewhere
 * too many for one that is twice as long. Four are allowed in any time: those that
 * are late may lie together with the next, and firmware may have taken one of its
 * own accord.
 */
TEST_F_TIMEOUT(pmu, interval_is_obeyed, 300)
{
	static const uint64_t configs[] = { PMU_GPU_TIME, PMU_FIRMWARE_SAMPLES };
	/* As long as a machine can keep to that is slow and busy. */
	struct pace one = { .interval = 20000000, .least = INT64_MAX };
	struct pace two = { .interval = 40000000, .least = INT64_MAX };
	/* Samples are taken anyway if there was none for a hundred milliseconds. */
	struct pace fifty = { .interval = 50000000, .least = INT64_MAX };
	uint64_t before[2], after[2];

	ASSERT_TRUE(resume());
	ASSERT_EQ(0, pmu_group_open(&self->pmu, configs, 2, &self->group));
	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "20"));
	ASSERT_EQ(0, pmu_group_read(&self->group, before));
	EXPECT_TRUE(perf_until(!pmu_group_read(&self->group, after) &&
			       pace_add(&one, after) >= 0 &&
			       pace_add(&two, after) > 4 * two.interval &&
			       after[1] > before[1] + 100));
	EXPECT_GE(4 * one.interval, one.ahead);
	TH_LOG("%llu samples in %llu us", (unsigned long long)(after[1] - before[1]),
	       (unsigned long long)(after[0] - before[0]) / 1000);

	ASSERT_EQ(0, pmu_write_file(&self->pmu, INTERVAL, "100"));
	/* One may have been on its way. */
	ASSERT_EQ(0, pmu_group_read(&self->group, before));
	ASSERT_TRUE(perf_until(!pmu_group_read(&self->group, after) &&
			       pace_add(&fifty, after) >= 0 &&
			       after[0] > before[0] + 1000000000));
	EXPECT_GE(4 * fifty.interval, fifty.ahead);
	TH_LOG("%llu samples in %llu us", (unsigned long long)(after[1] - before[1]),
	       (unsigned long long)(after[0] - before[0]) / 1000);
}

/* The device, and the driver, go */

FIXTURE(pmu_gone)
{
	struct drm_panthor_perf_info info;
	struct pmu pmu;
	char device[512];
	int fds[4];
	bool usable;
};

FIXTURE_SETUP(pmu_gone)
{
	int fd = perf_open_counters(&self->info);

	for (int i = 0; i < 4; i++)
		self->fds[i] = -1;
	if (fd < 0)
		SKIP(return, "no GPU with performance counters");
	close(fd);
	if (pmu_find(&self->pmu))
		SKIP(return, "the kernel has no PMU for it");
	ASSERT_EQ(0, perf_sysfs(self->device, sizeof(self->device)));
	/* Programs that work would keep the GPU from being suspended. */
	if (PERF_BED)
		perf_work(true);
	self->usable = true;
}

FIXTURE_TEARDOWN(pmu_gone)
{
	char driver[600];

	if (!self->usable)
		return;
	for (int i = 0; i < 4; i++) {
		if (self->fds[i] >= 0)
			close(self->fds[i]);
	}
	snprintf(driver, sizeof(driver), "%s/driver", self->device);
	if (access(driver, F_OK))
		perf_bind(self->device, "bind");
	perf_pm_write("control", "auto");
}

/* The PMU is still there, and the same one, whether there is a device or not. */
static bool stays(struct pmu *pmu)
{
	uint32_t type = pmu->type;

	return !pmu_find(pmu) && pmu->type == type;
}

/*
 * The PMU goes with its device, and ends its events and what is in a group with them. Not on
 * kernels whose perf forgets some of that: there the PMU, and the events, outlive the device.
 */
static bool has_gone(void)
{
	struct pmu pmu;

	return pmu_find(&pmu) == -ENOENT;
}

/* References to the module, by its own count. */
static int module_references(void)
{
	char text[32];

	if (perf_read_file("/sys/module/panthor/refcnt", text, sizeof(text)))
		return -1;
	return atoi(text);
}

/* The code that an event needs stays for as long as the event. */
TEST_F(pmu_gone, module_stays)
{
	int before = module_references();

	if (before < 0)
		SKIP(return, "panthor is no module");
	for (int i = 0; i < 4; i++) {
		self->fds[i] = pmu_open(&self->pmu, PMU_GPU_TIME + i % 2);
		ASSERT_LE(0, self->fds[i]);
		EXPECT_LT(before + i, module_references());
	}
	EXPECT_EQ(-1, syscall(SYS_delete_module, "panthor", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	for (int i = 0; i < 4; i++) {
		close(self->fds[i]);
		self->fds[i] = -1;
	}
	EXPECT_EQ(before, module_references());
}

/*
 * Counts can be read when the device has gone, and stay as they were. Whoever wants
 * to count on opens new events, of the device that comes back.
 */
TEST_F_TIMEOUT(pmu_gone, unbind, 300)
{
	const uint64_t configs[4] = {
		PMU_FIRMWARE_SAMPLES, PMU_GPU_TIME, PMU_CONFIG(CSHW, 5, 0), PMU_CONFIG(TILER, 4, 1),
	};

	for (int up = 0; up < 2; up++) {
		uint64_t counts[4];
		int fd, ret;
		bool gone;

		for (int i = 0; i < 4; i++) {
			struct perf_event_attr attr = pmu_attr(&self->pmu, configs[i]);

			/* The last two are a group. */
			self->fds[i] = pmu_open_attr(&attr, -1, self->pmu.cpu,
						     i == 3 ? self->fds[2] : -1, 0);
			ASSERT_LE(0, self->fds[i]);
		}
		ASSERT_TRUE(resume());
		ASSERT_TRUE(sampled(self->fds[0]));
		if (!up)
			ASSERT_TRUE(suspend());
		ASSERT_EQ(0, perf_bind(self->device, "unbind"));
		gone = has_gone();
		ASSERT_TRUE(gone || stays(&self->pmu));
		for (int i = 0; i < 4; i++) {
			counts[i] = 0;
			EXPECT_EQ(0, pmu_read(self->fds[i], &counts[i])) {
				TH_LOG("event %d", i);
			}
			if (i < 2 || PERF_BED) {
				EXPECT_LT(0, counts[i]) {
					TH_LOG("event %d, the GPU is %s", i,
					       up ? "up" : "suspended");
				}
			}
		}
		/* It has no device. */
		fd = pmu_open(&self->pmu, PMU_GPU_TIME);
		EXPECT_EQ(gone ? -ENOENT : -ENODEV, fd) {
			TH_LOG("%s", fd < 0 ? strerror(-fd) : "opened");
		}
		for (int i = 0; i < 4; i++) {
			uint64_t again = 0;

			EXPECT_EQ(0, pmu_read(self->fds[i], &again));
			EXPECT_EQ(counts[i], again);
			/* If the event has not ended, nothing counts. */
			EXPECT_EQ(gone ? -ENODEV : 0, pmu_disable(self->fds[i]));
			EXPECT_EQ(gone ? -ENODEV : 0, pmu_enable(self->fds[i]));
			EXPECT_EQ(0, pmu_read(self->fds[i], &again));
			EXPECT_EQ(counts[i], again);
		}

		ret = perf_bind(self->device, "bind");
		ASSERT_EQ(0, ret);
		ASSERT_TRUE(gone ? !pmu_find(&self->pmu) : stays(&self->pmu));
		fd = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
		ASSERT_LE(0, fd);
		ASSERT_TRUE(resume());
		EXPECT_TRUE(sampled(fd));
		close(fd);
		/* One goes before the others. */
		for (int i = 0; i < 4; i++) {
			close(self->fds[3 - i]);
			self->fds[3 - i] = -1;
		}
		fd = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
		ASSERT_LE(0, fd);
		EXPECT_TRUE(sampled(fd));
		close(fd);
		EXPECT_TRUE(perf_at_rest());
	}
}

/*
 * A clock in a group with an event of the GPU, or that has been in one. perf keeps it on
 * the GPU's PMU, as leader and as sibling, so that it ends with the PMU, or goes on.
 */
TEST_F_TIMEOUT(pmu_gone, clock_in_group, 300)
{
	for (int round = 0; round < 8; round++) {
		struct perf_event_attr gpu = pmu_attr(&self->pmu, PMU_GPU_TIME);
		/* Which of the two leads, if it interrupts, and if the event goes first. */
		struct perf_event_attr clock = pmu_clock_attr(round & 2 ? 1000 : 0);
		int leads = round & 1, mine = leads ? 0 : 1;
		uint64_t before, after;
		int *fds = self->fds;
		bool gone;

		fds[0] = pmu_open_attr(leads ? &clock : &gpu, -1, self->pmu.cpu, -1, 0);
		ASSERT_LE(0, fds[0]);
		fds[1] = pmu_open_attr(leads ? &gpu : &clock, -1, self->pmu.cpu, fds[0], 0);
		ASSERT_LE(0, fds[1]);
		if (round & 4) {
			close(fds[!mine]);
			fds[!mine] = -1;
		}
		ASSERT_EQ(0, perf_bind(self->device, "unbind"));
		gone = has_gone();
		ASSERT_TRUE(gone || stays(&self->pmu));
		ASSERT_EQ(0, pmu_read(fds[mine], &before));
		if (gone) {
			usleep(20000);
			EXPECT_EQ(0, pmu_read(fds[mine], &after));
			EXPECT_EQ(before, after);
		} else {
			/* It is of its CPU, not of the GPU. */
			EXPECT_TRUE(perf_until(!pmu_read(fds[mine], &after) &&
					       after > before + 20000000)) {
				TH_LOG("round %d: from %llu to %llu", round,
				       (unsigned long long)before, (unsigned long long)after);
			}
		}
		for (int i = 0; i < 2; i++) {
			if (fds[i] < 0)
				continue;
			EXPECT_EQ(gone ? -ENODEV : 0, pmu_disable(fds[i]));
			EXPECT_EQ(gone ? -ENODEV : 0, pmu_enable(fds[i]));
			EXPECT_EQ(0, pmu_read(fds[i], &after));
		}
		for (int i = 0; i < 2; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
			fds[i] = -1;
		}
		ASSERT_EQ(0, perf_bind(self->device, "bind"));
		ASSERT_TRUE(gone ? !pmu_find(&self->pmu) : stays(&self->pmu));
	}
}

/* BPF's map reads an event that is put into it, as its programs do. */
TEST_F_TIMEOUT(pmu_gone, in_bpf_map, 300)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint32_t),
		.max_entries = 1,
	};
	uint32_t key = 0;
	int map;

	map = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (map < 0 && errno == ENOSYS)
		SKIP(return, "a kernel without BPF");
	ASSERT_LE(0, map);
	for (int i = 0; i < 4; i++) {
		struct perf_event_attr gpu = pmu_attr(&self->pmu, PMU_GPU_TIME + i % 2);

		/* The last two are a group. */
		self->fds[i] = pmu_open_attr(&gpu, -1, self->pmu.cpu, i == 3 ? self->fds[2] : -1, 0);
		ASSERT_LE(0, self->fds[i]);
	}
	for (int gone = 0; gone < 2; gone++) {
		if (gone)
			ASSERT_EQ(0, perf_bind(self->device, "unbind"));
		for (int i = 0; i < 4; i++) {
			union bpf_attr update = {
				.map_fd = map,
				.key = (uintptr_t)&key,
				.value = (uintptr_t)&self->fds[i],
			};

			EXPECT_EQ(0, syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update))) {
				TH_LOG("event %d, %s: %m", i, gone ? "unbound" : "bound");
			}
		}
	}
	close(map);
	ASSERT_EQ(0, perf_bind(self->device, "bind"));
}

/* Events that are closed at the same time. */
#define CLOSERS		16

/**
 * struct closer - a thread that closes an event when its PMU takes no more, but has not gone
 * @thread: the thread
 * @gone: where all of them meet who waits for that
 * @pmu: the PMU, of who waits
 * @event: the event
 */
struct closer {
	pthread_t thread;
	pthread_barrier_t *gone;
	const struct pmu *pmu;
	int event;
};

static void *close_late(void *data)
{
	struct closer *c = data;
	int fd;

	while (c->pmu && (fd = pmu_open_disabled(c->pmu, PMU_GPU_TIME)) >= 0)
		close(fd);
	pthread_barrier_wait(c->gone);
	close(c->event);
	return NULL;
}

/*
 * What somebody else is closing cannot be ended. It is in the context of the PMU until it is closed, which perf looks
 * at whenever a task that has a pinned event gets that CPU. Tracepoints take a while to be closed, one behind another.
 */
TEST_F_TIMEOUT(pmu_gone, tracepoints_closed, 300)
{
	struct perf_event_attr pinned = pmu_clock_attr(0);
	pthread_barrier_t gone;
	cpu_set_t cpus;
	glob_t ids;

	if (glob("/sys/kernel/tracing/events/sched/*/id", 0, NULL, &ids) || ids.gl_pathc < CLOSERS)
		SKIP(return, "no tracepoints");
	pinned.pinned = 1;
	self->fds[0] = pmu_open_attr(&pinned, 0, -1, -1, 0);
	ASSERT_LE(0, self->fds[0]);
	CPU_ZERO(&cpus);
	CPU_SET(self->pmu.cpu, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, pthread_barrier_init(&gone, NULL, CLOSERS));
	for (int round = 0; round < 3; round++) {
		struct closer closers[CLOSERS];

		self->fds[1] = pmu_open(&self->pmu, PMU_GPU_TIME);
		ASSERT_LE(0, self->fds[1]);
		for (int i = 0; i < CLOSERS; i++) {
			struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
			struct closer *c = &closers[i];
			char id[16];

			ASSERT_EQ(0, perf_read_file(ids.gl_pathv[i], id, sizeof(id)));
			attr.config = strtoul(id, NULL, 10);
			c->gone = &gone;
			c->pmu = i ? NULL : &self->pmu;
			c->event = pmu_open_attr(&attr, -1, self->pmu.cpu, self->fds[1], 0);
			ASSERT_LE(0, c->event) {
				TH_LOG("%s: %s", ids.gl_pathv[i], strerror(-c->event));
			}
			ASSERT_EQ(0, pthread_create(&c->thread, NULL, close_late, c));
		}
		ASSERT_EQ(0, perf_bind(self->device, "unbind"));
		for (int i = 0; i < 100; i++)
			usleep(100);
		for (int i = 0; i < CLOSERS; i++)
			EXPECT_EQ(0, pthread_join(closers[i].thread, NULL));
		close(self->fds[1]);
		self->fds[1] = -1;
		ASSERT_EQ(0, perf_bind(self->device, "bind"));
		ASSERT_EQ(0, pmu_find(&self->pmu));
	}
	pthread_barrier_destroy(&gone);
	globfree(&ids);
}

/* perf's timer that shares the PMU among groups. Where the device takes the PMU along, nothing is left of it. */
TEST_F_TIMEOUT(pmu_gone, timer_is_armed, 300)
{
	char interval[16];

	ASSERT_EQ(0, pmu_read_file(&self->pmu, MUX_INTERVAL, interval, sizeof(interval)));
	/* That arms it, for a minute. */
	ASSERT_EQ(0, pmu_write_file(&self->pmu, MUX_INTERVAL, "60000"));
	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	ASSERT_EQ(0, perf_bind(self->device, "bind"));
	ASSERT_EQ(0, pmu_find(&self->pmu));
	/* The PMU may be the same one. */
	ASSERT_EQ(0, pmu_write_file(&self->pmu, MUX_INTERVAL, interval));
}

/* Events may go while there is no device, and there may be no device for a while. */
TEST_F_TIMEOUT(pmu_gone, closed_without_device, 300)
{
	for (int round = 0; round < 3; round++) {
		int fd;

		for (int i = 0; i < 4; i++) {
			self->fds[i] = pmu_open(&self->pmu, PMU_CONFIG(CSHW, 4 + i, 0));
			ASSERT_LE(0, self->fds[i]);
		}
		ASSERT_EQ(0, perf_bind(self->device, "unbind"));
		for (int i = 0; i < 4; i++) {
			close(self->fds[i]);
			self->fds[i] = -1;
		}
		ASSERT_EQ(0, perf_bind(self->device, "bind"));
		ASSERT_EQ(0, pmu_find(&self->pmu));
		fd = pmu_open(&self->pmu, PMU_FIRMWARE_SAMPLES);
		ASSERT_LE(0, fd);
		ASSERT_TRUE(resume());
		EXPECT_TRUE(sampled(fd));
		close(fd);
	}
	EXPECT_TRUE(perf_at_rest());
}

TEST_HARNESS_MAIN
