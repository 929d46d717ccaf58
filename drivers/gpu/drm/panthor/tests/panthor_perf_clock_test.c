// SPDX-License-Identifier: GPL-2.0 or MIT
/* Tests of time and cycles. */

#include <kunit/test.h>

#include <linux/clk.h>
#include <linux/clk-provider.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "../panthor_perf_clock.h"

/* NSEC_PER_SEC is a long, which overflows on 32-bit machines. */
#define SEC_NS	((u64)NSEC_PER_SEC)

/*
 * Arguments of panthor_perf_clock_ticks_to_ns() at the limits of its arithmetic, and the
 * result.
 */
struct ticks_case {
	const char *name;
	u64 freq;
	u64 pair_ticks, pair_ns;
	u64 ticks;
	u64 ns;
};

static const struct ticks_case ticks_cases[] = {
	{ "the pair itself", 24000000, 1000, 5000, 1000, 5000 },
	{ "one tick after, rounded down", 24000000, 1000, 5000, 1001, 5041 },
	{ "three ticks after, exact", 24000000, 1000, 5000, 1003, 5125 },
	{ "one tick before", 24000000, 1000, 5000, 999, 4959 },
	{ "three ticks before, exact", 24000000, 1000, 5000, 997, 4875 },
	{ "62.5 MHz", 62500000, 1ull << 40, 1ull << 50, (1ull << 40) + 5, (1ull << 50) + 80 },
	{ "1 GHz", 1000000000, 7, 7, 1000000007, 1000000007 },
	{ "a day at 24 MHz", 24000000, 0, 0, 24000000ull * 86400, SEC_NS * 86400 },
	{ "a year at 1 GHz", 1000000000, 0, 0, 1000000000ull * 31536000, SEC_NS * 31536000 },
	{ "ticks past 2^63", 24000000, (1ull << 63) - 12, 100, (1ull << 63) + 12, 1100 },
	{ "ticks that wrap", 24000000, -12ull, 100, 12, 1100 },
	{ "before the origin", 24000000, 48000000, 100, 0, 0 },
	{ "to the origin", 24000000, 24000000, SEC_NS, 0, 0 },
};

static void ticks_desc(const struct ticks_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ticks, ticks_cases, ticks_desc);

static void ticks_to_ns(struct kunit *test)
{
	const struct ticks_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, panthor_perf_clock_ticks_to_ns(c->freq, c->pair_ticks, c->pair_ns,
							     c->ticks), c->ns);
}

static struct panthor_perf_clock *new_clock(struct kunit *test)
{
	struct panthor_perf_clock *clock = kunit_kzalloc(test, sizeof(*clock), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, clock);
	panthor_perf_clock_init(clock, NULL);
	return clock;
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

	panthor_perf_clock_at(clock, (1ull << 40) - 24, &time);
	KUNIT_EXPECT_EQ(test, time.ns, (1ull << 50) - 1000);
	KUNIT_EXPECT_EQ(test, time.gpu, (1ull << 40) - 24);
	panthor_perf_clock_at(clock, 1ull << 40, &time);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	panthor_perf_clock_at(clock, (1ull << 40) + 24000000, &time);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);
	panthor_perf_clock_at(clock, 0, &time);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);

	/* Nothing older than a minute is believed: a minute has 1,440,000,000 ticks. */
	KUNIT_EXPECT_TRUE(test, panthor_perf_clock_at(clock, (1ull << 40) - 1439999999, &time));
	KUNIT_EXPECT_EQ(test, time.ns, (1ull << 50) - 1439999999 * 125ull / 3);
	KUNIT_EXPECT_FALSE(test, panthor_perf_clock_at(clock, (1ull << 40) - 1440000000, &time));
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_FALSE(test, panthor_perf_clock_at(clock, (1ull << 40) - 3600 * 24000000ull,
						       &time));

	/* Nor what is more than 10 us in the future. What is less than that has just been. */
	KUNIT_EXPECT_TRUE(test, panthor_perf_clock_at(clock, (1ull << 40) + 240, &time));
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, (1ull << 40) + 240);
	KUNIT_EXPECT_FALSE(test, panthor_perf_clock_at(clock, (1ull << 40) + 241, &time));
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);
	panthor_perf_clock_at(clock, U64_MAX, &time);
	KUNIT_EXPECT_EQ(test, time.ns, 1ull << 50);
	KUNIT_EXPECT_EQ(test, time.gpu, 1ull << 40);

	/* Nothing is known of it where timestamps cannot be converted. */
	clock->pair.gpu = 0;
	clock->pair.ns = 0;
	panthor_perf_clock_at(clock, 1234, &time);
	KUNIT_EXPECT_EQ(test, time.gpu, 1234);
}

/* No cycles have been reported of the times that tests set. */
static void set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns, unsigned long rate)
{
	guard(spinlock)(&clock->lock);

	panthor_perf_clock_set_rate(clock, id, ns, rate);
}

/* Cycles of a clock whose rate changes, and of a GPU that has no power for a while. */
static void cycles(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	u64 t = clock->segments[0].ns + SEC_NS, c[PANTHOR_PERF_CLOCKS];
	u32 i;

	clock->up = true;
	set_rate(clock, 0, t, 500000000);
	set_rate(clock, 2, t, 1000000000);
	set_rate(clock, 0, t + SEC_NS, 250000000);
	set_rate(clock, 0, t + 2 * SEC_NS, 0);
	set_rate(clock, 0, t + 3 * SEC_NS, 100000000);

	panthor_perf_clock_cycles(clock, t - 1, c);
	KUNIT_EXPECT_EQ(test, c[0], 0);
	panthor_perf_clock_cycles(clock, t + SEC_NS / 2, c);
	KUNIT_EXPECT_EQ(test, c[0], 250000000);
	KUNIT_EXPECT_EQ(test, c[1], 0);
	KUNIT_EXPECT_EQ(test, c[2], 500000000);
	panthor_perf_clock_cycles(clock, t + SEC_NS + SEC_NS / 2, c);
	KUNIT_EXPECT_EQ(test, c[0], 625000000);
	panthor_perf_clock_cycles(clock, t + 2 * SEC_NS + 1, c);
	KUNIT_EXPECT_EQ(test, c[0], 750000000);
	panthor_perf_clock_cycles(clock, t + 3 * SEC_NS - 1, c);
	KUNIT_EXPECT_EQ(test, c[0], 750000000);
	panthor_perf_clock_cycles(clock, t + 4 * SEC_NS, c);
	KUNIT_EXPECT_EQ(test, c[0], 850000000);
	KUNIT_EXPECT_EQ(test, c[2], 4000000000ull);

	/*
	 * After more changes than are kept, cycles at the time of the latest change are still
	 * right.
	 */
	t += 4 * SEC_NS;
	for (i = 0; i < 5 * PANTHOR_PERF_CLOCK_SEGMENTS; i++)
		set_rate(clock, 0, t + i * NSEC_PER_MSEC, i % 2 ? 100000000 : 200000000);
	panthor_perf_clock_cycles(clock, t + i * NSEC_PER_MSEC, c);
	KUNIT_EXPECT_EQ(test, c[0], 850000000 + i * 150000ull);
}

/* While the GPU has no power, rates are remembered, but no cycles are counted. */
static void cycles_down(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	u64 before[PANTHOR_PERF_CLOCKS], after[PANTHOR_PERF_CLOCKS];
	u64 t;

	clock->up = true;
	set_rate(clock, 0, ktime_get_raw_ns(), 1000000000);
	panthor_perf_clock_down(clock);
	t = ktime_get_raw_ns();
	panthor_perf_clock_cycles(clock, t, before);
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0]);
	set_rate(clock, 0, t + SEC_NS, 2000000000);
	panthor_perf_clock_cycles(clock, t + 2 * SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0]);
}

/* Calls the notifier as the clock framework does before or after it changes a rate. */
static void notify(struct panthor_perf_clock *clock, u32 id, unsigned long event,
		   unsigned long rate)
{
	struct clk_notifier_data data = { .new_rate = rate };
	struct notifier_block *nb = &clock->nb[id].nb;

	nb->notifier_call(nb, event, &data);
}

/* A clock is followed once, from the rate that it has, until it is not to be any more. */
static void watched(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct clk_hw *hw = clk_hw_register_fixed_rate(NULL, "panthor-perf-test", NULL, 0,
						       1000000000);
	u64 t, after[PANTHOR_PERF_CLOCKS];

	KUNIT_ASSERT_FALSE(test, IS_ERR(hw));
	clock->nb[1].clk = clk_hw_get_clk(hw, "panthor-perf-test");
	if (IS_ERR(clock->nb[1].clk)) {
		clk_hw_unregister_fixed_rate(hw);
		KUNIT_FAIL_AND_ABORT(test, "no clk");
	}

	KUNIT_EXPECT_EQ(test, panthor_perf_clock_watch(clock), 0);
	KUNIT_EXPECT_EQ(test, panthor_perf_clock_watch(clock), 0);
	panthor_perf_clock_up(clock);
	t = clock->segments[clock->num_segments - 1].ns;
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], 0);
	KUNIT_EXPECT_EQ(test, after[1], 1000000000);
	panthor_perf_clock_unwatch(clock);
	KUNIT_EXPECT_EQ(test, clk_notifier_unregister(clock->nb[1].clk, &clock->nb[1].nb),
			-ENOENT);

	clk_put(clock->nb[1].clk);
	clk_hw_unregister_fixed_rate(hw);
}

/* Cycles are counted from up to down, with the rates that notifiers reported last. */
static void notified(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	u64 before[PANTHOR_PERF_CLOCKS], after[PANTHOR_PERF_CLOCKS], t;

	/* Nobody counts so far: the rate is stored, and no more is done. */
	notify(clock, 0, POST_RATE_CHANGE, 1000000000);
	notify(clock, 0, PRE_RATE_CHANGE, 2000000000);
	notify(clock, 0, ABORT_RATE_CHANGE, 2000000000);
	panthor_perf_clock_down(clock);
	KUNIT_EXPECT_EQ(test, clock->num_segments, 1);
	panthor_perf_clock_cycles(clock, ktime_get_raw_ns() + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], 0);

	/* Somebody does. The rate is known from the notifier. */
	panthor_perf_clock_up(clock);
	KUNIT_ASSERT_EQ(test, clock->num_segments, 2);
	t = clock->segments[1].ns;
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], 1000000000);

	notify(clock, 0, PRE_RATE_CHANGE, 2000000000);
	KUNIT_EXPECT_EQ(test, clock->num_segments, 2);
	notify(clock, 0, POST_RATE_CHANGE, 500000000);
	KUNIT_ASSERT_EQ(test, clock->num_segments, 3);
	t = clock->segments[2].ns;
	panthor_perf_clock_cycles(clock, t, before);
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0] + 500000000);

	/* Nobody counts any more: cycles stay as they are. */
	panthor_perf_clock_down(clock);
	KUNIT_ASSERT_EQ(test, clock->num_segments, 4);
	notify(clock, 0, POST_RATE_CHANGE, 250000000);
	KUNIT_EXPECT_EQ(test, clock->num_segments, 4);
	t = clock->segments[3].ns;
	panthor_perf_clock_cycles(clock, t, before);
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0]);

	/* Once more. The rate has changed meanwhile. */
	panthor_perf_clock_up(clock);
	KUNIT_ASSERT_EQ(test, clock->num_segments, 5);
	t = clock->segments[4].ns;
	panthor_perf_clock_cycles(clock, t, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0]);
	panthor_perf_clock_cycles(clock, t + SEC_NS, after);
	KUNIT_EXPECT_EQ(test, after[0], before[0] + 250000000);
}

/* A thread changes the rate of a clock while the test counts its cycles. */
#define RATE_CHANGES	10000

struct changer {
	struct panthor_perf_clock *clock;
	struct completion start;
	bool done;
};

static int change_rates(void *data)
{
	struct changer *c = data;
	u32 i;

	wait_for_completion(&c->start);
	for (i = 0; i < RATE_CHANGES; i++) {
		notify(c->clock, 0, POST_RATE_CHANGE, i % 2 ? 0 : 4000000000ul);
		cond_resched();
	}
	WRITE_ONCE(c->done, true);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* The number of cycles never decreases, even if a rate changes at the same time. */
static void cycles_monotonic(struct kunit *test)
{
	struct panthor_perf_time last = {}, now;
	struct task_struct *thread;
	struct panthor_perf_clock *clock = new_clock(test);
	struct changer c = { .clock = clock, .start = COMPLETION_INITIALIZER_ONSTACK(c.start) };
	u64 reads = 0, back = 0, most = 0;
	bool done;

	panthor_perf_clock_up(clock);
	thread = kthread_run(change_rates, &c, "perf-clock-test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	complete(&c.start);
	do {
		done = READ_ONCE(c.done);
		panthor_perf_clock_now(clock, &now);
		if (now.cycles[0] < last.cycles[0]) {
			back++;
			most = max(most, last.cycles[0] - now.cycles[0]);
		}
		last = now;
		reads++;
		cond_resched();
	} while (!done);
	kthread_stop(thread);
	KUNIT_EXPECT_EQ_MSG(test, back, 0, "of %llu times, by up to %llu cycles", reads, most);
}

/* Time never goes back, and has no GPU timestamp if that cannot be computed. */
static void now(struct kunit *test)
{
	struct panthor_perf_clock *clock = new_clock(test);
	struct panthor_perf_time a, b;
	u64 before = ktime_get_raw_ns();

	/* A pair of a time when it could be. */
	clock->pair.gpu = 1;
	clock->pair.ns = 1;
	panthor_perf_clock_now(clock, &a);
	panthor_perf_clock_now(clock, &b);
	KUNIT_EXPECT_GE(test, a.ns, before);
	KUNIT_EXPECT_GE(test, b.ns, a.ns);
	KUNIT_EXPECT_LE(test, b.ns, ktime_get_raw_ns());
	KUNIT_EXPECT_EQ(test, a.gpu, 0);
	KUNIT_EXPECT_EQ(test, clock->pair.ns, 0);
}

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
	KUNIT_CASE_PARAM(ticks_to_ns, ticks_gen_params),
	KUNIT_CASE(time_of_samples),
	KUNIT_CASE(cycles),
	KUNIT_CASE(cycles_down),
	KUNIT_CASE(watched),
	KUNIT_CASE(notified),
	KUNIT_CASE_SLOW(cycles_monotonic),
	KUNIT_CASE(now),
	KUNIT_CASE(deadlines),
	{}
};

static struct kunit_suite panthor_perf_clock_suite = {
	.name = "panthor_perf_clock",
	.test_cases = panthor_perf_clock_cases,
};

kunit_test_suite(panthor_perf_clock_suite);
