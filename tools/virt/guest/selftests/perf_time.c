// SPDX-License-Identifier: MIT
/* Cycles in samples while the frequency changes, compared with what the model counts. */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_time.c"

#define TRIES	50

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	return true;
}

static int devfreq_path(const char *file, char *path, size_t len)
{
	char gpu[512], dir[540];
	struct dirent *e;
	int ret = perf_sysfs(gpu, sizeof(gpu));
	DIR *d;

	if (ret)
		return ret;
	snprintf(dir, sizeof(dir), "%s/devfreq", gpu);
	d = opendir(dir);
	if (!d)
		return -errno;
	ret = -ENOENT;
	while (ret && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, len, "%s/%s/%s", dir, e->d_name, file);
		ret = 0;
	}
	closedir(d);
	return ret;
}

static int devfreq_write(const char *file, const char *text)
{
	char path[900];

	return devfreq_path(file, path, sizeof(path)) ?: perf_write_file(path, text);
}

static int devfreq_read(const char *file, char *text, size_t len)
{
	char path[900];

	return devfreq_path(file, path, sizeof(path)) ?: perf_read_file(path, text, len);
}

FIXTURE(cycles)
{
	struct common c;
	struct watched a;
	char governor[32];
	unsigned long rates[16];
	unsigned int num_rates;
};

FIXTURE_SETUP(cycles)
{
	char text[256], *p = text, *end;

	self->a.s.efd = -1;
	if (common_open(&self->c))
		SKIP(return, "no GPU with performance counters");
	if (!self->c.hz)
		SKIP(return, "the system counter's rate is not known");
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	if (devfreq_read("governor", self->governor, sizeof(self->governor)) ||
	    devfreq_write("governor", "userspace"))
		SKIP(return, "needs devfreq with its userspace governor");
	ASSERT_EQ(0, devfreq_read("available_frequencies", text, sizeof(text)));
	while (self->num_rates < ARRAY_SIZE(self->rates)) {
		self->rates[self->num_rates] = strtoul(p, &end, 10);
		if (end == p)
			break;
		p = end;
		self->num_rates++;
	}
	ASSERT_LT(1, self->num_rates);
}

FIXTURE_TEARDOWN(cycles)
{
	perf_session_end(&self->a.s);
	if (self->governor[0])
		devfreq_write("governor", self->governor);
	close(self->c.fd);
	perf_pm_write("control", "auto");
}

static void last_cycles(uint64_t cycles[3])
{
	cycles[0] = bench_reg_get64(LAST_CORE_CYCLES);
	cycles[1] = bench_reg_get64(LAST_COREGROUP_CYCLES);
	cycles[2] = bench_reg_get64(LAST_STACKS_CYCLES);
}

/* Starts the only session, and tells what the model had counted at its baseline. */
static bool start_counted(FIXTURE_DATA(cycles) *self, uint64_t cycles[3])
{
	for (int i = 0; i < TRIES; i++) {
		if (watched_new(&self->c, &self->a, 0, SLOTS) || watched_start(&self->a, 0))
			return false;
		last_cycles(cycles);
		/* The first sample since counters were enabled, and there is no other yet. */
		if (bench_reg_get(INSERT) == 1)
			return true;
		perf_session_end(&self->a.s);
	}
	return false;
}

/*
 * What samples say of cycles over a run in which the core clock changes is what
 * the model has counted between the two moments that the run begins and ends
 * with, but for
 *
 * - the resolution of timestamps, which is a tick of the system counter and a
 *   nanosecond at either end;
 * - a cycle for each time that the driver, which does so for all clocks when
 *   one changes, or the model begins to count at a new rate;
 * - of the clock that changes, the cycles by which two rates differ in the time
 *   from the register's being written to the driver's being told. Both are
 *   somewhere in the write to sysfs that has made the change, so this is at
 *   most the difference of the rates for as long as that took. It is a bound on
 *   each change that does not know how fast this machine is, and small: what
 *   follows a change lasts for a hundred times as long, so that none can go
 *   unseen, however many there are.
 *
 * Cycles of the other clocks are not measured, and their rates in no fixed ratio
 * to the core clock's: the driver counts them by the nominal rate, or by the real
 * one while it can know that.
 *
 * In the same way each period has the cycles of the rate that it ends with, but
 * for the time from its start to the end of the write.
 */
TEST_F_TIMEOUT(cycles, across_rates, 300)
{
	const unsigned int changes = 12;
	uint64_t before[3], after[3], rate[3], sum[3] = {}, slack = 0, most = 0;
	char text[32];

	snprintf(text, sizeof(text), "%lu", self->rates[0]);
	ASSERT_EQ(0, devfreq_write("userspace/set_freq", text));
	rate[0] = bench_reg_get64(CORE_REAL_HZ);
	rate[1] = bench_reg_get64(COREGROUP_REAL_HZ);
	rate[2] = bench_reg_get64(STACKS_REAL_HZ);
	ASSERT_TRUE(start_counted(self, before));

	for (unsigned int i = 1; i <= changes; i++) {
		/* One after the other, then in steps of two. */
		unsigned long next = self->rates[i * (i / self->num_rates % 2 + 1) %
						 self->num_rates];
		uint64_t from = perf_now(), to, step;
		const struct drm_panthor_perf_sample_header *h;
		uint64_t want, off, real;

		snprintf(text, sizeof(text), "%lu", next);
		ASSERT_EQ(0, devfreq_write("userspace/set_freq", text));
		to = perf_now();
		ASSERT_EQ(next, bench_reg_get(CORE_HZ));
		real = bench_reg_get64(CORE_REAL_HZ);
		step = real > rate[0] ? real - rate[0] : rate[0] - real;
		slack += (to - from) * step / 1000000000 + 1;
		rate[0] = real;
		most = real > most ? real : most;
		ASSERT_TRUE(perf_until(perf_now() - to > 100 * (to - from)));
		sample(_metadata, &self->c, &self->a);
		h = perf_slot(&self->a.s, i - 1);
		want = (h->timestamp_end_ns - h->timestamp_start_ns) * real / 1000000000;
		off = (to - h->timestamp_start_ns) * step / 1000000000 + 4;
		EXPECT_LE(want, h->toplevel_clock_cycles + off);
		EXPECT_LE(h->toplevel_clock_cycles, want + off);
	}
	stop(_metadata, &self->c, &self->a);
	ASSERT_TRUE(perf_until(bench_reg_get(ENABLED) == 0));
	last_cycles(after);
	ASSERT_EQ(changes + 1, self->a.taken);

	for (uint64_t i = 0; i < self->a.taken; i++) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->a.s, i);

		sum[0] += h->toplevel_clock_cycles;
		sum[1] += h->coregroup_clock_cycles;
		sum[2] += h->shader_clock_cycles;
	}

	rate[0] = most;
	for (int d = 0; d < 3; d++) {
		uint64_t bound = 2 * (rate[d] / self->c.hz + rate[d] / 1000000000 + 2) +
				 2 * changes + (d ? 0 : slack);
		uint64_t least = after[d] - before[d], max = least;

		if (d) {
			uint64_t nominal = least * 1000 / bench_reg_get(REAL_RATE);

			least = nominal < least ? nominal : least;
			max = nominal > max ? nominal : max;
		}
		if (!(self->c.info.supported_clocks >> d & 1)) {
			EXPECT_EQ(0, sum[d]);
			continue;
		}
		TH_LOG("clock %d: %llu cycles, %lld more than the model's, at most %llu", d,
		       (unsigned long long)sum[d], (long long)(sum[d] - (after[d] - before[d])),
		       (unsigned long long)bound);
		EXPECT_LE(least, sum[d] + bound);
		EXPECT_LE(sum[d], max + bound);
	}
}
