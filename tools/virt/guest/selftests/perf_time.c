// SPDX-License-Identifier: MIT
/* Cycles in samples while the frequency changes, compared with what the model counts. */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_time.c"

#define TRIES	50

/* The block of counters that has power whenever the GPU has, and its count of cycles in which there was work. */
#define CSHW_BLOCK(info)	((info)->fw_blocks + (info)->csg_blocks)
#define GPU_ACTIVE	4

/* How the real rate of the clocks changes, in thousandths of the nominal one, and how often. */
static const uint32_t real_rates[] = { 850, 1000, 1120 };
#define REAL_RATE_NS	50000000ull
#define LONG_NS		2000000000ull

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	return true;
}

FIXTURE(cycles)
{
	struct common c;
	struct watched a;
	char governor[32];
	unsigned long rates[16];
	unsigned int num_rates;
	uint32_t real_rate;
	pid_t load;
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
	self->real_rate = bench_reg_get(REAL_RATE);
	if (perf_devfreq_read("governor", self->governor, sizeof(self->governor)) ||
	    perf_devfreq_write("governor", "userspace"))
		SKIP(return, "needs devfreq with its userspace governor");
	ASSERT_EQ(0, perf_devfreq_read("available_frequencies", text, sizeof(text)));
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
	if (self->load > 0) {
		kill(self->load, SIGTERM);
		waitpid(self->load, NULL, 0);
	}
	if (self->real_rate)
		bench_reg_set(REAL_RATE, self->real_rate);
	if (self->governor[0])
		perf_devfreq_write("governor", self->governor);
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
 * The driver reads the register of cycles when it drains a firmware sample, between the time of
 * that sample and this moment, and may put what was counted meanwhile on either side of it. This
 * is the bound on that: the cycles of the highest rate, in Hz, in that time.
 */
static uint64_t drain_cycles(uint64_t end_ns, uint64_t hz)
{
	return (perf_now() - end_ns) * hz / 1000000000 + 1;
}

/* Whether a domain has a clock of its own. */
static bool has(FIXTURE_DATA(cycles) *self, unsigned int domain)
{
	return self->c.info.supported_clocks >> domain & 1;
}

static uint64_t real_hz(unsigned int domain)
{
	switch (domain) {
	case 0: return bench_reg_get64(CORE_REAL_HZ);
	case 1: return bench_reg_get64(COREGROUP_REAL_HZ);
	default: return bench_reg_get64(STACKS_REAL_HZ);
	}
}

/*
 * What samples say of cycles over a run in which the core clock changes is what the model has
 * counted between the two moments that the run begins and ends with, but for
 *
 * - one drain's latency at either end (drain_cycles()), and the resolution of timestamps, which
 *   is a tick of the system counter and a nanosecond;
 * - of the other two clocks, a cycle for each time that the driver or the model begins to count
 *   at a new rate. Their rate does not follow the core clock's, so that where clocks do not run at
 *   their nominal rate they may have the cycles of either. Where theirs happens to be that of the
 *   core clock, they have part in what the driver is told late of that one: in the write to sysfs.
 *   So has the core clock itself if the GPU does not count its cycles.
 *
 * Each period has the cycles of the rate that it ends with, but for the time from its start to
 * the end of the write to sysfs that has changed the rate, and for two drains. What follows a change
 * lasts for a hundred times as long as the write, or LONG_NS, so that none can go unseen.
 */
TEST_F_TIMEOUT(cycles, across_rates, 300)
{
	const unsigned int changes = 12;
	uint64_t before[3], after[3], rate[3], sum[3] = {}, most = 0, told = 0, late, first_late;
	char text[32];

	snprintf(text, sizeof(text), "%lu", self->rates[0]);
	ASSERT_EQ(0, perf_devfreq_write("userspace/set_freq", text));
	if (bench_reg_get(CORE_HZ) != self->rates[0])
		SKIP(return, "a clock of a fixed rate");
	for (int d = 0; d < 3; d++)
		rate[d] = real_hz(d);
	for (unsigned int i = 0; i < self->num_rates; i++)
		most = self->rates[i] > most ? self->rates[i] : most;
	most = most / 1000 * self->real_rate;
	ASSERT_TRUE(start_counted(self, before));
	late = drain_cycles(self->a.enter, most);
	first_late = late;

	for (unsigned int i = 1; i <= changes; i++) {
		/* One after the other, then in steps of two. */
		unsigned long next = self->rates[i * (i / self->num_rates % 2 + 1) %
						 self->num_rates];
		uint64_t from = perf_now(), to, step;
		const struct drm_panthor_perf_sample_header *h;
		uint64_t want, off, real;

		snprintf(text, sizeof(text), "%lu", next);
		ASSERT_EQ(0, perf_devfreq_write("userspace/set_freq", text));
		to = perf_now();
		ASSERT_EQ(next, bench_reg_get(CORE_HZ));
		real = real_hz(0);
		step = real > rate[0] ? real - rate[0] : rate[0] - real;
		rate[0] = real;
		told += (to - from) * step / 1000000000;
		/* On a busy machine the write may take long: that is in the bounds. */
		ASSERT_TRUE(perf_until(perf_now() - to > 100 * (to - from) ||
				       perf_now() - to > LONG_NS));
		sample(_metadata, &self->c, &self->a);
		h = perf_slot(&self->a.s, i - 1);
		want = (h->timestamp_end_ns - h->timestamp_start_ns) * real / 1000000000;
		off = (to - h->timestamp_start_ns) * step / 1000000000 + 4 + late;
		late = drain_cycles(h->timestamp_end_ns, most);
		off += late;
		EXPECT_LE(want, h->toplevel_clock_cycles + off);
		EXPECT_LE(h->toplevel_clock_cycles, want + off);
	}
	stop(_metadata, &self->c, &self->a);
	late = drain_cycles(self->a.end, most);
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
		uint64_t truth = after[d] - before[d], low = truth, high = truth;
		uint64_t bound = 2 * (rate[d] / self->c.hz + rate[d] / 1000000000 + 2) +
				 2 * changes + (first_late + late) * rate[d] / most +
				 (d ? told * rate[d] / self->rates[0] :
				  bench_reg_get64(CYCLE_TOTAL) ? 0 : told);

		if (!has(self, d)) {
			EXPECT_EQ(0, sum[d]);
			continue;
		}
		if (d && self->real_rate < 1000)
			high = truth * 1000 / self->real_rate;
		else if (d)
			low = truth * 1000 / self->real_rate;
		TH_LOG("clock %d: %llu cycles, %lld more than the model's, at most %llu", d,
		       (unsigned long long)sum[d], (long long)(sum[d] - truth),
		       (unsigned long long)bound);
		EXPECT_LE(low, sum[d] + bound);
		EXPECT_LE(sum[d], high + bound);
	}
}

/* Keeps the GPU busy without a pause until the fixture is torn down. */
static bool begin_load(FIXTURE_DATA(cycles) *self)
{
	const char *started = "/tmp/cycles-started";

	unlink(started);
	self->load = fork();
	if (!self->load) {
		freopen("/dev/null", "w", stdout);
		execlp("gpu-load", "gpu-load", "-k", "compute", "-s", "65536", "-j", "0", "-t", "600",
		       "--started", started, NULL);
		_exit(127);
	}
	return self->load > 0 && perf_until(!access(started, F_OK));
}

/*
 * The cycles of a run are those that the GPU has counted, whatever rate it really runs at and
 * however often that changes, while the clock framework tells of no change. They are as many as the
 * cycles that a GPU counts in which it is active, if it always is.
 */
TEST_F_TIMEOUT(cycles, real_rates, 300)
{
	const unsigned int changes = 36;
	uint64_t before[3], after[3], sum = 0, active = 0, truth, late, most;
	char text[32];

	snprintf(text, sizeof(text), "%lu", self->rates[self->num_rates - 1]);
	ASSERT_EQ(0, perf_devfreq_write("userspace/set_freq", text));
	most = self->rates[self->num_rates - 1] / 1000 * 1120;
	bench_reg_set(REAL_RATE, 1120);
	ASSERT_EQ(bench_reg_get(CORE_HZ), bench_reg_get(COREGROUP_HZ));
	ASSERT_EQ(bench_reg_get(CORE_HZ), bench_reg_get(STACKS_HZ));
	ASSERT_TRUE(begin_load(self));
	ASSERT_TRUE(start_counted(self, before));
	late = drain_cycles(self->a.enter, most);

	for (unsigned int i = 0; i < changes; i++) {
		uint64_t from = perf_now();

		bench_reg_set(REAL_RATE, real_rates[i % ARRAY_SIZE(real_rates)]);
		ASSERT_EQ(self->rates[self->num_rates - 1], bench_reg_get(CORE_HZ));
		ASSERT_TRUE(perf_until(perf_now() - from >= REAL_RATE_NS));
		/* Not at each change, so that periods have one in the middle, too. */
		if (i % 5)
			sample(_metadata, &self->c, &self->a);
	}
	stop(_metadata, &self->c, &self->a);
	late += drain_cycles(self->a.end, most);
	ASSERT_TRUE(perf_until(bench_reg_get(ENABLED) == 0));
	last_cycles(after);

	for (uint64_t i = 0; i < self->a.taken; i++) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&self->a.s, i);

		/* The others, where there are any, have the same rate. */
		EXPECT_EQ(has(self, 1) ? h->toplevel_clock_cycles : 0, h->coregroup_clock_cycles);
		EXPECT_EQ(has(self, 2) ? h->toplevel_clock_cycles : 0, h->shader_clock_cycles);
		sum += h->toplevel_clock_cycles;
		active += perf_values(&self->c.info, h, CSHW_BLOCK(&self->c.info))[GPU_ACTIVE];
	}
	truth = after[0] - before[0];
	TH_LOG("%llu cycles, %lld more than the model's, at most %llu; active in %.3f %%",
	       (unsigned long long)sum, (long long)(sum - truth), (unsigned long long)late,
	       100.0 * active / sum);
	EXPECT_LE(truth, sum + late);
	EXPECT_LE(sum, truth + late);
	/* On a busy machine jobs may not come in time, unless time stands still meanwhile. */
	if (bench_reg_get64(INSTRUCTIONS))
		EXPECT_LE(99 * sum, 100 * (active + late));
	EXPECT_LE(1000 * active, 1005 * (sum + late));
}

/*
 * So are the cycles of a run in which the GPU loses power again and again: all that the register
 * has advanced while it had some. What is counted from the sample of the halt until clocks are off is
 * in no sample. The model tells how much that is. Nor is what was counted in a boot that has
 * counted more than the driver had seen before it: it cannot tell that the register began anew.
 */
TEST_F_TIMEOUT(cycles, over_suspends, 300)
{
	uint64_t begin, from, to, sum = 0, truth, missed = 0, start_late, resume_late = 0, most;
	uint64_t powered = 0;
	const struct drm_panthor_perf_sample_header *h;

	most = self->rates[self->num_rates - 1] / 1000 * 1120;
	bench_reg_set(REAL_RATE, 1120);
	ASSERT_EQ(0, watched_new(&self->c, &self->a, 0, SLOTS));
	begin = perf_now();
	from = bench_reg_get64(CYCLE_TOTAL);
	ASSERT_EQ(0, watched_start(&self->a, 0));
	start_late = drain_cycles(begin, most);

	for (int turn = 0; turn < 9; turn++) {
		uint64_t resume, off, lost, total, boot;

		bench_reg_set(REAL_RATE, real_rates[turn % ARRAY_SIZE(real_rates)]);
		sample(_metadata, &self->c, &self->a);
		ASSERT_EQ(0, perf_pm_write("control", "auto"));
		ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
		off = bench_reg_get64(CORE_CYCLES);
		lost = off - bench_reg_get64(LAST_CORE_CYCLES);
		missed += lost;
		total = bench_reg_get64(CYCLE_TOTAL);
		sample(_metadata, &self->c, &self->a);
		resume = perf_now();
		ASSERT_EQ(0, perf_pm_write("control", "on"));
		/* Where the register stands still until counters are enabled, rates take over. */
		resume_late += drain_cycles(resume, most);
		boot = bench_reg_get64(CYCLE_TOTAL) - total;
		if (boot + lost >= total - powered)
			missed += boot;
		powered = total;
		/* No cycle of the boot counts twice, though some may have the nominal rate. */
		sample(_metadata, &self->c, &self->a);
		h = perf_slot(&self->a.s, self->a.s.read - 1);
		EXPECT_LE(h->toplevel_clock_cycles,
			  (bench_reg_get64(CORE_CYCLES) - off) * 1000 / real_rates[0]);
	}
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	missed += bench_reg_get64(CORE_CYCLES) - bench_reg_get64(LAST_CORE_CYCLES);
	stop(_metadata, &self->c, &self->a);
	to = bench_reg_get64(CYCLE_TOTAL);
	truth = to - from;

	for (uint64_t i = 0; i < self->a.taken; i++) {
		h = perf_slot(&self->a.s, i);
		sum += h->toplevel_clock_cycles;
	}
	TH_LOG("%llu cycles, %lld more than the model's, at most %llu more, or %llu less",
	       (unsigned long long)sum, (long long)(sum - truth),
	       (unsigned long long)(resume_late + start_late),
	       (unsigned long long)(missed + start_late));
	EXPECT_LE(truth, sum + missed + start_late);
	EXPECT_LE(sum, truth + resume_late + start_late);

	/* Without power there are none. */
	ASSERT_EQ(0, watched_start(&self->a, 0));
	sample(_metadata, &self->c, &self->a);
	h = perf_slot(&self->a.s, self->a.s.read - 1);
	EXPECT_LT(h->timestamp_start_ns, h->timestamp_end_ns);
	EXPECT_EQ(0, h->toplevel_clock_cycles);
}

/* When rates are set, and when the session starts. */
enum set_when {
	SET_WHILE_SUSPENDED,	/* START, suspend, set, resume */
	SET_BEFORE_RESUME,	/* suspend, set, resume, START */
	SET_BEFORE_START,	/* set, START: the GPU has power all along */
	SET_WHENS,
};

/*
 * The clocks of the latest sample have cycles in the ratio of their real rates, which have not
 * changed in its period, but for @late, by which its ends may be off. Those whose ratio is not that
 * of the probe may have the nominal rate.
 */
static void check_ratio(struct __test_metadata *_metadata, FIXTURE_DATA(cycles) *self,
			uint64_t late, const char *what)
{
	const struct drm_panthor_perf_sample_header *h =
		perf_slot(&self->a.s, self->a.s.read - 1);
	const uint64_t cycles[3] = {
		h->toplevel_clock_cycles, h->coregroup_clock_cycles, h->shader_clock_cycles,
	};

	EXPECT_LT(0, cycles[0]);
	for (int d = 1; d < 3; d++) {
		double want = (double)cycles[0] * real_hz(d) / real_hz(0);
		double nominal = want * 1000 / self->real_rate;
		double low = (want < nominal ? want : nominal) - late;
		double high = (want < nominal ? nominal : want) + late;

		if (!has(self, d))
			continue;
		EXPECT_TRUE(low <= cycles[d] && cycles[d] <= high)
			TH_LOG("%s: clock %d has %llu cycles, and not %.0f to %.0f", what, d,
			       (unsigned long long)cycles[d], low, high);
	}
}

/*
 * Rates that were set while the GPU was suspended, or while nobody counted, are those by which
 * cycles are counted from when they are counted again. A power domain that is off may only remember
 * such rates, and nobody is told when it applies them.
 */
TEST_F_TIMEOUT(cycles, set_while_not_counting, 300)
{
	uint64_t most = self->rates[self->num_rates - 1] / 1000 *
			(self->real_rate > 1000 ? self->real_rate : 1000);
	char text[32], what[64];

	for (unsigned int i = 0; i < self->num_rates * SET_WHENS; i++) {
		unsigned long rate = self->rates[i % self->num_rates];
		enum set_when when = i / self->num_rates;
		uint64_t from, late;

		snprintf(what, sizeof(what), "%lu Hz, set in way %d", rate, when);
		snprintf(text, sizeof(text), "%lu", rate);
		ASSERT_EQ(0, watched_new(&self->c, &self->a, 0, SLOTS));
		if (when == SET_WHILE_SUSPENDED)
			ASSERT_EQ(0, watched_start(&self->a, 0));
		if (when != SET_BEFORE_START) {
			ASSERT_EQ(0, perf_pm_write("control", "auto"));
			ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
		}
		/* The next period begins without power. */
		if (when == SET_WHILE_SUSPENDED)
			sample(_metadata, &self->c, &self->a);
		ASSERT_EQ(0, perf_devfreq_write("userspace/set_freq", text));
		from = perf_now();
		ASSERT_EQ(0, perf_pm_write("control", "on"));
		if (when != SET_WHILE_SUSPENDED)
			ASSERT_EQ(0, watched_start(&self->a, 0));

		/* The first period has the resume, or START. */
		for (int period = 0; period < 2; period++) {
			late = drain_cycles(from, most);
			from = perf_now();
			ASSERT_TRUE(perf_until(perf_now() - from >= REAL_RATE_NS));
			sample(_metadata, &self->c, &self->a);
			from = perf_slot(&self->a.s, self->a.s.read - 1)->timestamp_end_ns;
			check_ratio(_metadata, self, late + drain_cycles(from, most), what);
		}
		stop(_metadata, &self->c, &self->a);
		perf_session_end(&self->a.s);
	}
}
