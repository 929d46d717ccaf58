// SPDX-License-Identifier: GPL-2.0 or MIT
/* Tests of time and cycles. */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/clk-provider.h>
#include <linux/clk.h>
#include <linux/completion.h>
#include <linux/devfreq.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "../panthor_device.h"
#include "../panthor_gpu_regs.h"
#include "../panthor_perf_clock.h"

/* NSEC_PER_SEC is a long, which overflows on 32-bit machines. */
#define SEC_NS	((u64)NSEC_PER_SEC)

static struct panthor_perf_clock *new_clock(struct kunit *test)
{
	struct panthor_perf_clock *clock = kunit_kzalloc(test, sizeof(*clock), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, clock);
	panthor_perf_clock_init(clock, NULL);
	return clock;
}

/* GPU timestamps at the limits of the arithmetic of panthor_perf_clock_at(), which returns @ns. */
struct timestamp_case {
	const char *name;
	u64 freq;
	u64 pair_gpu, pair_ns;
	u64 gpu;
	u64 ns;
};

static const struct timestamp_case timestamp_cases[] = {
	{ "the pair itself", 24000000, 1000, 5000, 1000, 5000 },
	{ "one tick before", 24000000, 1000, 5000, 999, 4959 },
	{ "three ticks before, exact", 24000000, 1000, 5000, 997, 4875 },
	{ "62.5 MHz", 62500000, 1ull << 40, 1ull << 50, (1ull << 40) - 5, (1ull << 50) - 80 },
	{ "1 GHz", 1000000000, 1000000007, 1000000007, 7, 7 },
	{ "almost a minute at 1 GHz", 1000000000, 60 * SEC_NS, 60 * SEC_NS, 1, 1 },
	{ "ticks past 2^63", 24000000, (1ull << 63) + 12, 1100, (1ull << 63) - 12, 100 },
	{ "ticks that wrap", 24000000, 12, 1100, -12ull, 100 },
	{ "before the origin", 24000000, 48000000, 100, 0, 0 },
	{ "to the origin", 24000000, 24000000, SEC_NS, 0, 0 },
};

static void timestamp_desc(const struct timestamp_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(timestamp, timestamp_cases, timestamp_desc);

static void timestamp_converted(struct kunit *test)
{
	const struct timestamp_case *c = test->param_value;
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time time = {};

	clock->freq = c->freq;
	clock->pair.gpu = c->pair_gpu;
	clock->pair.ns = c->pair_ns;
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, c->gpu, &time), c->ns);
	KUNIT_EXPECT_EQ(test, time.ns, c->ns);
}

/* Converts a GPU timestamp to a time that is not before another one. */
static u64 time_of(struct panthor_perf_clock *clock, u64 gpu, struct panthor_perf_time *time)
{
	memset(time, 0, sizeof(*time));
	return panthor_perf_clock_at(clock, gpu, time);
}

/*
 * A timestamp is converted only if it is earlier than the pair, by less than a minute. One that
 * is not is replaced by the pair's, so that users never see it.
 */
static void time_of_samples(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time time;

	clock->freq = 24000000;
	clock->pair.gpu = 1ull << 40;
	clock->pair.ns = 1ull << 50;

	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) - 24, &time), (1ull << 50) - 1000);
	KUNIT_EXPECT_EQ(test, time.ns, (1ull << 50) - 1000);
	KUNIT_EXPECT_EQ(test, time.gpu, (1ull << 40) - 24);
	KUNIT_EXPECT_EQ(test, time_of(clock, 1ull << 40, &time), 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) + 24000000, &time), 0);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);
	KUNIT_EXPECT_EQ(test, time_of(clock, 0, &time), 0);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);

	/* Nothing older than a minute is believed: a minute has 1,440,000,000 ticks. */
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) - 1439999999, &time),
			(1ull << 50) - 1439999999 * 125ull / 3);
	KUNIT_EXPECT_EQ(test, time.ns, (1ull << 50) - 1439999999 * 125ull / 3);
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) - 1440000000, &time), 0);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) - 3600 * 24000000ull, &time), 0);

	/* Nor what is more than 10 us in the future. What is less than that has just been. */
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) + 240, &time), 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);
	KUNIT_EXPECT_EQ(test, time_of(clock, (1ull << 40) + 241, &time), 0);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);
	KUNIT_EXPECT_EQ(test, time_of(clock, U64_MAX, &time), 0);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);

	/* Time does not go back, and neither does its timestamp. */
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, (1ull << 40) - 24, &time),
			(1ull << 50) - 1000);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);

	/* Nothing is known of it where timestamps cannot be converted. */
	clock->pair.gpu = 0;
	KUNIT_EXPECT_EQ(test, time_of(clock, 1234, &time), 0);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1234);
	KUNIT_EXPECT_EQ(test, time_of(clock, 1, &time), 0);
	KUNIT_EXPECT_EQ(test, time.gpu, 1);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 2, &time), 0);
	KUNIT_EXPECT_EQ(test, time.gpu, 1);
}

/* Change the rate of one clock. */
static void set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns, unsigned long rate)
{
	unsigned long rates[PANTHOR_PERF_CLOCKS];
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		rates[i] = i == id ? rate : clock->domains[i].rate;
	panthor_perf_clock_set_rates(clock, ns, rates);
}

/* A clock that counts from the time 0, of domains that had these rates at the probe. */
static struct panthor_perf_clock *new_counting(struct kunit *test, unsigned long toplevel,
					       unsigned long coregroup, unsigned long shader)
{
	const unsigned long rates[PANTHOR_PERF_CLOCKS] = { toplevel, coregroup, shader };
	struct panthor_perf_clock *clock = new_clock(test);
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		clock->domains[i].first_rate = rates[i];
	panthor_perf_clock_set_rates(clock, 0, rates);
	clock->up = true;
	return clock;
}

/* Cycles from the time 0 to the next pair, which is at @ns with @count in the register. */
static void expect_cycles(struct kunit *test, struct panthor_perf_clock *clock, u64 ns, u64 count,
			  u64 toplevel, u64 coregroup, u64 shader)
{
	const u64 want[PANTHOR_PERF_CLOCKS] = { toplevel, coregroup, shader };
	u32 i;

	panthor_perf_clock_advance(clock, ns, count);
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		KUNIT_EXPECT_EQ_MSG(test, clock->pair.cycles[i], want[i], "clock %u at %llu", i,
				    ns);
}

/*
 * The top-level clock has what the register has counted, whatever the rates say, and clocks of
 * its rate, or of a fixed ratio to it, have the same or that part of it. One whose ratio changes
 * has its own rate as long as it is another one.
 */
static void counted(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 1000000000, 500000000);

	/* It runs at 0.85 of its rate, and at 1.12 of it. */
	expect_cycles(test, clock, SEC_NS, 850000000, 850000000, 850000000, 425000000);
	KUNIT_EXPECT_FALSE(test, clock->by_rates);
	expect_cycles(test, clock, 2 * SEC_NS, 1970000000, 1970000000, 1970000000, 985000000);

	/* All rates are halved: nothing else changes. */
	set_rate(clock, 0, 2 * SEC_NS, 500000000);
	set_rate(clock, 1, 2 * SEC_NS, 500000000);
	set_rate(clock, 2, 2 * SEC_NS, 250000000);
	expect_cycles(test, clock, 3 * SEC_NS, 2370000000, 2370000000, 2370000000, 1185000000);

	/* The core group's rate changes alone, in the middle of a period. */
	set_rate(clock, 1, 3 * SEC_NS + SEC_NS / 2, 100000000);
	expect_cycles(test, clock, 4 * SEC_NS, 2770000000, 2770000000,
		      2370000000 + 250000000 + 50000000, 1385000000);
	expect_cycles(test, clock, 5 * SEC_NS, 3170000000, 3170000000, 2770000000, 1585000000);

	/* The shader cores' rate becomes that of the top level, and the core group's does too. */
	set_rate(clock, 2, 5 * SEC_NS, 500000000);
	set_rate(clock, 1, 5 * SEC_NS, 500000000);
	expect_cycles(test, clock, 6 * SEC_NS, 3570000000, 3570000000, 3170000000, 1985000000);
}

/* In a period in which rates change, the ratio is that of their integrals. */
static void changes(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 1000000000, 500000000);

	/* All rates are halved after a quarter: 625, 625 and 312.5 million cycles, of which 0.8. */
	expect_cycles(test, clock, SEC_NS, 1000000000, 1000000000, 1000000000, 500000000);
	set_rate(clock, 0, SEC_NS + SEC_NS / 4, 500000000);
	set_rate(clock, 1, SEC_NS + SEC_NS / 4, 500000000);
	set_rate(clock, 2, SEC_NS + SEC_NS / 4, 250000000);
	expect_cycles(test, clock, 2 * SEC_NS, 1500000000, 1500000000, 1500000000, 750000000);

	/* The core group had another rate until it got that of the top level: 250 of 500. */
	set_rate(clock, 1, 2 * SEC_NS, 0);
	set_rate(clock, 1, 2 * SEC_NS + SEC_NS / 2, 500000000);
	expect_cycles(test, clock, 3 * SEC_NS, 2100000000, 2100000000, 1800000000, 1050000000);

	/* The top level has its rate for so short a time that no ratio is known. */
	set_rate(clock, 0, 3 * SEC_NS, 0);
	set_rate(clock, 0, 3 * SEC_NS + 999, 500000000);
	expect_cycles(test, clock, 3 * SEC_NS + 1000, 2100000001, 2100000001, 1800000499,
		      1050000249);
}

/*
 * Notifiers and pairs read the time before they take the lock, so that a change may come later
 * with an earlier time. The register stands still: all is computed from rates.
 */
static void late_changes(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 1000000000, 500000000);

	/* The pair has taken place before the change. */
	expect_cycles(test, clock, 2000, 0, 2000, 2000, 1000);
	set_rate(clock, 0, 1900, 0);
	expect_cycles(test, clock, 3000, 0, 2000, 3000, 1500);

	/* One change has taken place before another one. */
	set_rate(clock, 1, 3600, 2000000000);
	set_rate(clock, 2, 3500, 1000000000);
	expect_cycles(test, clock, 4000, 0, 2000, 3000 + 600 + 800, 1500 + 300 + 400);

	/* The change has taken place after the pair, and its cycles are known up to there. */
	set_rate(clock, 1, 5100, 0);
	expect_cycles(test, clock, 5000, 0, 2000, 4400 + 2200, 2200 + 1100);
}

/* A ratio is that of the probe if it differs by no more than rounding does. */
static void ratios(struct kunit *test)
{
	/* A third, whose rates are rounded, and one that is not off by a ten thousandth. */
	static const struct {
		unsigned long rate;
		bool follows;
	} cases[] = {
		{ 166666666, true }, { 166666667, true },
		{ 166683331, true }, { 166683500, false },
		{ 166650002, true }, { 166650000, false },
		{ 333333333, false }, { 0, false },
	};
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 333333333, 0);
	u32 i;

	set_rate(clock, 0, 0, 500000000);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_rate(clock, 1, 0, cases[i].rate);
		KUNIT_EXPECT_EQ_MSG(test, clock->domains[1].follows, cases[i].follows, "%lu Hz",
				    cases[i].rate);
	}

	/* Exactly a ten thousandth. */
	clock->domains[0].first_rate = 1;
	clock->domains[1].first_rate = 1;
	set_rate(clock, 0, 0, 10001);
	set_rate(clock, 1, 0, 10000);
	KUNIT_EXPECT_TRUE(test, clock->domains[1].follows);
	set_rate(clock, 0, 0, 10002);
	KUNIT_EXPECT_FALSE(test, clock->domains[1].follows);

	/* Nothing follows a clock whose rate is not known, and one that has none has no cycles. */
	set_rate(clock, 1, 0, 100000000);
	set_rate(clock, 0, 0, 0);
	expect_cycles(test, clock, SEC_NS, 850000000, 850000000, 100000000, 0);

	/* The highest rates, whose product has 64 bits. */
	clock = new_counting(test, 4000000000ul, 4000000000ul, 2000000000);
	expect_cycles(test, clock, SEC_NS, 4480000000, 4480000000, 4480000000, 2240000000);
	set_rate(clock, 0, SEC_NS, 2000000000);
	set_rate(clock, 2, SEC_NS, 1000000000);
	expect_cycles(test, clock, 2 * SEC_NS, 5480000000, 5480000000, 8480000000, 2740000000);
}

/* The register wraps around, as it may, and is not believed where it stands still or goes back. */
static void register_fails(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 1000000000, 500000000);

	clock->count = U64_MAX - 99;
	expect_cycles(test, clock, 1000, 900, 1000, 1000, 500);

	/* It stands still: rates take over, also one that changes to 0 and to 4 GHz. */
	set_rate(clock, 0, 1500, 0);
	set_rate(clock, 2, 1500, 4000000000ul);
	expect_cycles(test, clock, 2000, 900, 1500, 2000, 500 + 250 + 2000);
	KUNIT_EXPECT_TRUE(test, clock->by_rates);
	set_rate(clock, 0, 2000, 1000000000);
	set_rate(clock, 2, 2000, 500000000);

	/* A rate has changed between the pair and the lock: none of the time counts twice. */
	set_rate(clock, 1, 2200, 1000000000);
	expect_cycles(test, clock, 2100, 900, 1700, 2200, 2850);
	expect_cycles(test, clock, 2200, 900, 1700, 2200, 2850);

	/* One cycle is counted. */
	expect_cycles(test, clock, 3000, 901, 1701, 2201, 2850);
	KUNIT_EXPECT_FALSE(test, clock->by_rates);

	/* It has been reset, and goes on from there. */
	expect_cycles(test, clock, 4000, 850, 2701, 3201, 3350);
	KUNIT_EXPECT_TRUE(test, clock->by_rates);
	expect_cycles(test, clock, 5000, 1700, 3551, 4051, 3775);
	KUNIT_EXPECT_FALSE(test, clock->by_rates);

	/* What goes back by half of its range cannot be told from what goes on. */
	expect_cycles(test, clock, 6000, 1700 + (1ull << 63), 4551, 5051, 4275);
	KUNIT_EXPECT_TRUE(test, clock->by_rates);
}

/* Between the latest time that was reported and the pair, cycles are interpolated. */
static void interpolated(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_counting(test, 1000000000, 1000000000, 500000000);
	struct panthor_perf_time time = {};

	/* At 24 MHz, 24 ticks are 1000 ns. */
	clock->freq = 24000000;
	expect_cycles(test, clock, 4000, 4000, 4000, 4000, 2000);
	clock->pair.gpu = 1096;

	/* The first quarter, and of the rest a half. */
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 1024, &time), 1000);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 1000);
	KUNIT_EXPECT_EQ(test, time.cycles[2], 500);
	expect_cycles(test, clock, 4000, 7000, 7000, 7000, 3500);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 1060, &time), 2500);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 4000);
	KUNIT_EXPECT_EQ(test, time.cycles[1], 4000);
	KUNIT_EXPECT_EQ(test, time.cycles[2], 2000);

	/* An earlier time changes nothing, and at the pair's they are exact. */
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 1024, &time), 1000);
	KUNIT_EXPECT_EQ(test, time.ns, 2500);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 4000);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 1096, &time), 4000);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 7000);
	KUNIT_EXPECT_EQ(test, time.cycles[2], 3500);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_at(clock, 1096, &time), 4000);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 7000);
}

/* Cycles are counted from up to down. Without the register they are those of the rates. */
static void up_and_down(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time time = {}, up;
	u64 ns;

	/* Nobody counts so far: the rate is stored, and no more is done. */
	set_rate(clock, 0, ktime_get_raw_ns(), 1000000000);
	panthor_perf_clock_down(clock);
	KUNIT_EXPECT_EQ(test, clock->pair.ns, 0);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 0);
	KUNIT_EXPECT_FALSE(test, clock->by_rates);

	/* Somebody does. One cycle takes a nanosecond. */
	panthor_perf_clock_up(clock, false, &time);
	up = clock->pair;
	KUNIT_EXPECT_EQ(test, up.cycles[0], 0);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], time.ns - up.ns);
	KUNIT_EXPECT_TRUE(test, clock->by_rates);

	/* Nobody counts any more: cycles stay as they are, whatever the rate. */
	panthor_perf_clock_down(clock);
	ns = clock->pair.ns;
	KUNIT_EXPECT_EQ(test, clock->pair.cycles[0], ns - up.ns);
	set_rate(clock, 0, ktime_get_raw_ns(), 2000000000);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], ns - up.ns);

	/* Once more, and not what was before. The rate has changed meanwhile. */
	ns = ktime_get_raw_ns();
	panthor_perf_clock_up(clock, false, &time);
	KUNIT_EXPECT_GE(test, time.ns, ns);
	up = clock->pair;
	KUNIT_EXPECT_EQ(test, up.cycles[0], time.cycles[0]);
	panthor_perf_clock_down(clock);
	KUNIT_EXPECT_EQ(test, clock->pair.cycles[0],
			up.cycles[0] + 2 * (clock->pair.ns - up.ns));
}

/* What the register of cycles reads. */
static void set_count(struct panthor_perf_clock *clock, u64 count)
{
	writel(lower_32_bits(count), clock->ptdev->iomem + GPU_CYCLE_COUNT);
	writel(upper_32_bits(count), clock->ptdev->iomem + GPU_CYCLE_COUNT + 4);
}

/* A device with registers, which are memory here. */
static struct panthor_device *new_device(struct kunit *test)
{
	struct panthor_device *ptdev = kunit_kzalloc(test, sizeof(*ptdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptdev);
	ptdev->iomem = (void __iomem __force *)kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)ptdev->iomem);
	return ptdev;
}

/* The register is read from up to down. When power returns it counts anew. */
static void register_read(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time time = {};

	clock->ptdev = new_device(test);

	/* What it has counted before is not a part of anything. */
	set_count(clock, 1ull << 40);
	panthor_perf_clock_now(clock, &time);
	panthor_perf_clock_up(clock, false, &time);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 0);
	set_count(clock, (1ull << 40) + 100);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 100);
	KUNIT_EXPECT_FALSE(test, clock->by_rates);

	/* The last pair is that of the suspend. */
	set_count(clock, (1ull << 40) + 150);
	panthor_perf_clock_down(clock);
	set_count(clock, (1ull << 40) + 1000);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 150);

	/* It has counted 30 since power has returned. */
	set_count(clock, 30);
	panthor_perf_clock_up(clock, true, &time);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 180);
	set_count(clock, 40);
	panthor_perf_clock_down(clock);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 190);

	/* It cannot be told if it has begun anew, and that may have been long ago. */
	set_count(clock, 40);
	panthor_perf_clock_up(clock, true, &time);
	set_count(clock, 45);
	panthor_perf_clock_down(clock);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 195);
	set_count(clock, 44);
	panthor_perf_clock_up(clock, true, &time);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 239);

	/* Who counts again counts from now on, though it has begun anew. */
	panthor_perf_clock_down(clock);
	set_count(clock, 7);
	panthor_perf_clock_up(clock, false, &time);
	set_count(clock, 8);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[0], 240);
}

/* A thread reports the rate of a clock while the test counts its cycles. */
#define RATE_REPORTS	10000

struct reporter {
	struct panthor_perf_clock *clock;
	struct completion start;
	bool done;
};

static int report_rates(void *data)
{
	struct reporter *r = data;
	u32 i;

	wait_for_completion(&r->start);
	for (i = 0; i < RATE_REPORTS; i++) {
		set_rate(r->clock, 0, ktime_get_raw_ns(), 1000000000);
		cond_resched();
	}
	WRITE_ONCE(r->done, true);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* No time counts twice, and none is left out, while rates change: a cycle takes a nanosecond. */
static void concurrent_changes(struct kunit *test)
{
	struct panthor_perf_time time = {};
	struct task_struct *thread;
	struct panthor_perf_clock *clock = new_clock(test);
	struct reporter r = { .clock = clock, .start = COMPLETION_INITIALIZER_ONSTACK(r.start) };
	u64 reads = 0, up_ns;
	bool done;

	set_rate(clock, 0, ktime_get_raw_ns(), 1000000000);
	panthor_perf_clock_up(clock, false, &time);
	up_ns = time.ns;
	thread = kthread_run(report_rates, &r, "perf-clock-test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	complete(&r.start);
	do {
		done = READ_ONCE(r.done);
		panthor_perf_clock_now(clock, &time);
		reads++;
		cond_resched();
	} while (!done);
	kthread_stop(thread);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ_MSG(test, time.cycles[0], time.ns - up_ns, "after %llu pairs", reads);
}

/* Time never goes back, and has no GPU timestamp if that cannot be computed. */
static void now(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time a = {}, b;
	u64 before = ktime_get_raw_ns();

	/* A pair of a time when it could be. */
	clock->offset = 1ull << 63;
	clock->pair.gpu = 1;
	clock->pair.ns = 1;
	panthor_perf_clock_now(clock, &a);
	b = a;
	panthor_perf_clock_now(clock, &b);
	KUNIT_EXPECT_GE(test, a.ns, before);
	KUNIT_EXPECT_GE(test, b.ns, a.ns);
	KUNIT_EXPECT_LE(test, b.ns, ktime_get_raw_ns());
	KUNIT_EXPECT_EQ(test, a.gpu, 0);
	KUNIT_EXPECT_EQ(test, clock->pair.gpu, 0);

	/* Where it can be, it is ahead of the system counter, which does not reach this soon. */
	clock->freq = 1;
	panthor_perf_clock_pair(clock);
	if (clock->pair.gpu)
		KUNIT_EXPECT_GE(test, clock->pair.gpu, 1ull << 63);
}

#ifdef CONFIG_COMMON_CLK
/* A clock of a device, whose rate firmware sets. */
struct fake_clk {
	struct clk_hw hw;
	struct clk *clk;
	unsigned long rate;

	/* A rate, if any, and what it was when that of this clock was read. */
	const unsigned long *other;
	unsigned long seen;
};

static unsigned long fake_recalc_rate(struct clk_hw *hw, unsigned long parent_rate)
{
	struct fake_clk *fake = container_of(hw, struct fake_clk, hw);

	if (fake->other)
		fake->seen = *fake->other;
	return fake->rate;
}

static const struct clk_ops fake_clk_ops = {
	.recalc_rate = fake_recalc_rate,
};

static void put_fake_clk(void *data)
{
	struct fake_clk *fake = data;

	if (!IS_ERR(fake->clk))
		clk_put(fake->clk);
	clk_hw_unregister(&fake->hw);
}

static struct fake_clk *new_fake_clk(struct kunit *test, const char *name, unsigned long rate)
{
	const struct clk_init_data init = {
		.name = name,
		.ops = &fake_clk_ops,
		.flags = CLK_GET_RATE_NOCACHE,
	};
	struct fake_clk *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->rate = rate;
	fake->hw.init = &init;
	KUNIT_ASSERT_EQ(test, clk_hw_register(NULL, &fake->hw), 0);
	fake->clk = clk_hw_get_clk(&fake->hw, name);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_fake_clk, fake), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->clk));
	return fake;
}

/*
 * The rates of a device's clocks, of which there may be none, are read when devfreq has set one and
 * cycles are counted.
 */
static void probed(struct kunit *test)
{
	struct fake_clk *core = new_fake_clk(test, "panthor-perf-test-core", 1000000000);
	struct fake_clk *stacks = new_fake_clk(test, "panthor-perf-test-stacks", 500000000);
	struct device *dev = kunit_device_register(test, "panthor-perf-test");
	struct panthor_perf_time time = {}, up;
	struct panthor_perf_domain *domains;
	struct panthor_perf_clock *clock;
	struct panthor_device *ptdev;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	clock = kunit_kzalloc(test, sizeof(*clock), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clock);
	ptdev = new_device(test);
	ptdev->base.dev = dev;
	ptdev->clks.core = core->clk;
	ptdev->clks.stacks = stacks->clk;

	KUNIT_EXPECT_EQ(test, panthor_perf_clock_init(clock, ptdev), 0);
	domains = clock->domains;
	KUNIT_EXPECT_EQ(test, clock->supported, BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL) |
			BIT(DRM_PANTHOR_PERF_CLOCK_SHADER));
	KUNIT_EXPECT_EQ(test, domains[0].rate, 1000000000);
	KUNIT_EXPECT_EQ(test, domains[0].first_rate, 1000000000);
	KUNIT_EXPECT_EQ(test, domains[1].rate, 0);
	KUNIT_EXPECT_EQ(test, domains[1].first_rate, 0);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 500000000);
	KUNIT_EXPECT_EQ(test, domains[2].first_rate, 500000000);
	KUNIT_EXPECT_TRUE(test, domains[2].follows);

	/* No clock is read while nobody counts. */
	stacks->rate = 250000000;
	stacks->other = &domains[0].rate;
	clock->nb.notifier_call(&clock->nb, DEVFREQ_POSTCHANGE, NULL);
	panthor_perf_clock_read_rates(clock, 0);
	KUNIT_EXPECT_EQ(test, stacks->seen, 0);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 500000000);

	/* What is read when counting has begun applies from then on: a cycle takes 4 ns. */
	panthor_perf_clock_up(clock, true, &time);
	up = time;
	panthor_perf_clock_read_rates(clock, 0);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 250000000);
	KUNIT_EXPECT_FALSE(test, domains[2].follows);
	panthor_perf_clock_now(clock, &time);
	KUNIT_EXPECT_EQ(test, time.cycles[2] - up.cycles[2], (time.ns - up.ns) / 4);

	/* What is read later applies from the time of the call on, here 1 ms after the pair. */
	up = time;
	stacks->rate = 500000000;
	panthor_perf_clock_read_rates(clock, up.ns + NSEC_PER_MSEC);
	panthor_perf_clock_advance(clock, up.ns + 3 * NSEC_PER_MSEC, 0);
	KUNIT_EXPECT_EQ(test, clock->pair.cycles[2] - up.cycles[2], 250000 + 1000000);

	/* One changes, and then the other one. */
	stacks->rate = 400000000;
	stacks->other = NULL;
	clock->nb.notifier_call(&clock->nb, DEVFREQ_PRECHANGE, NULL);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 500000000);
	clock->nb.notifier_call(&clock->nb, DEVFREQ_POSTCHANGE, NULL);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 400000000);
	KUNIT_EXPECT_EQ(test, domains[2].first_rate, 500000000);
	KUNIT_EXPECT_FALSE(test, domains[2].follows);
	core->rate = 800000000;
	clock->nb.notifier_call(&clock->nb, DEVFREQ_POSTCHANGE, NULL);
	KUNIT_EXPECT_EQ(test, domains[0].rate, 800000000);
	KUNIT_EXPECT_TRUE(test, domains[2].follows);

	/* Both change. While one is read, the other one is not stored. */
	core->rate = 600000000;
	core->other = &domains[2].rate;
	stacks->rate = 300000000;
	stacks->other = &domains[0].rate;
	clock->nb.notifier_call(&clock->nb, DEVFREQ_POSTCHANGE, NULL);
	KUNIT_EXPECT_EQ(test, core->seen, 400000000);
	KUNIT_EXPECT_EQ(test, stacks->seen, 800000000);
	KUNIT_EXPECT_EQ(test, domains[0].rate, 600000000);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 300000000);
	KUNIT_EXPECT_TRUE(test, domains[2].follows);

	/* Neither can be read. */
	core->rate = 0;
	stacks->rate = 0;
	clock->nb.notifier_call(&clock->nb, DEVFREQ_POSTCHANGE, NULL);
	KUNIT_EXPECT_EQ(test, domains[0].rate, 600000000);
	KUNIT_EXPECT_EQ(test, domains[2].rate, 300000000);
	kunit_device_unregister(test, dev);
}

/* A clock named coregroup is the core group's unless it has less than half the rate of core. */
static void bus_clock(struct kunit *test)
{
	static const struct {
		unsigned long core, coregroup;
		bool ignored;
	} cases[] = {
		{ 1000000000, 1000000000, false },
		{ 1000000000, 500000000, false },
		{ 1000000000, 499999999, true },
		/* i.MX95: the lowest operating point, and the clock of the APB bus. */
		{ 500000000, 133333333, true },
		/* Rates that are not known. */
		{ 1000000000, 0, true },
		{ 0, 133333333, false },
		{ 0, 0, false },
	};
	struct fake_clk *core = new_fake_clk(test, "panthor-perf-test-core", 0);
	struct fake_clk *coregroup = new_fake_clk(test, "panthor-perf-test-coregroup", 0);
	struct device *dev = kunit_device_register(test, "panthor-perf-test");
	struct panthor_device *ptdev = new_device(test);
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	ptdev->base.dev = dev;
	ptdev->clks.core = core->clk;
	ptdev->clks.coregroup = coregroup->clk;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct panthor_perf_clock *clock = kunit_kzalloc(test, sizeof(*clock), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, clock);
		core->rate = cases[i].core;
		coregroup->rate = cases[i].coregroup;
		KUNIT_ASSERT_EQ(test, panthor_perf_clock_init(clock, ptdev), 0);
		KUNIT_EXPECT_EQ_MSG(test, clock->supported, cases[i].ignored ?
				    BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL) :
				    BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL) |
				    BIT(DRM_PANTHOR_PERF_CLOCK_COREGROUP),
				    "core %lu Hz, coregroup %lu Hz", cases[i].core,
				    cases[i].coregroup);
		KUNIT_EXPECT_EQ(test, clock->domains[1].rate,
				cases[i].ignored ? 0 : cases[i].coregroup);
	}
	kunit_device_unregister(test, dev);
}
#else
static void probed(struct kunit *test)
{
	kunit_skip(test, "this kernel has no framework of clocks that are fake");
}

static void bus_clock(struct kunit *test)
{
	kunit_skip(test, "this kernel has no framework of clocks that are fake");
}
#endif

/*
 * A deadline is always later than the present time, and deadlines that have passed are
 * skipped.
 */
static void deadlines(struct kunit *test)
{
	const u64 base = 1ull << 62, ms = NSEC_PER_MSEC, day = 86400 * SEC_NS;

	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base), base + ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base + ms - 1), base + ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base + ms), base + 2 * ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base + 5 * ms / 2),
			base + 3 * ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base + 365 * day + 1),
			base + 365 * day + ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, 7, base + 365 * day),
			base + 365 * day + 7 - 365 * day % 7);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ~0u, base + 1), base + ~0u);
	/* The present time is before the base. */
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base - 1), base + ms);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_deadline(base, ms, base - day), base + ms);
}

static struct kunit_case panthor_perf_clock_cases[] = {
	KUNIT_CASE_PARAM(timestamp_converted, timestamp_gen_params),
	KUNIT_CASE(time_of_samples),
	KUNIT_CASE(counted),
	KUNIT_CASE(changes),
	KUNIT_CASE(late_changes),
	KUNIT_CASE(ratios),
	KUNIT_CASE(register_fails),
	KUNIT_CASE(interpolated),
	KUNIT_CASE(up_and_down),
	KUNIT_CASE(register_read),
	KUNIT_CASE_SLOW(concurrent_changes),
	KUNIT_CASE(now),
	KUNIT_CASE(probed),
	KUNIT_CASE(bus_clock),
	KUNIT_CASE(deadlines),
	{}
};

static struct kunit_suite panthor_perf_clock_suite = {
	.name = "panthor_perf_clock",
	.test_cases = panthor_perf_clock_cases,
};

kunit_test_suite(panthor_perf_clock_suite);
