// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: conversion of GPU timestamps to time, and clock cycles. */

#ifdef CONFIG_ARM_ARCH_TIMER
#include <asm/arch_timer.h>
#endif

#include <linux/clk.h>
#include <linux/clocksource_ids.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include <kunit/visibility.h>

#include "panthor_device.h"
#include "panthor_gpu_regs.h"
#include "panthor_perf_clock.h"

/**
 * DOC: Time and cycles
 *
 * Time: A firmware sample contains the GPU timestamp at which it was taken. That is
 * the system counter, which is also the clocksource of the CPUs on all systems with
 * this GPU, plus a constant. Samples of sessions contain CLOCK_MONOTONIC_RAW, which
 * is the system counter multiplied by a rounded factor, and which stops while the
 * system is suspended. The two therefore drift apart. So both are read at the same
 * moment, as a pair, each time that samples are read from the firmware ring. The time
 * of a firmware sample is computed from its distance to the latest pair. That distance
 * is so short that the drift does not matter.
 *
 * Cycles: The cycles of a clock are the integral of its rate over time. Each change of
 * a rate begins a new segment, in which all rates are constant. A firmware sample is
 * read some time after it was taken, and rates may have changed in between, so the
 * latest segments are kept. The number of cycles up to a time never changes once it
 * has been reported: a new segment starts at a time that is read with the lock held,
 * and all times that cycles have been reported of before are earlier.
 *
 * Notifiers follow the rates from the first session or event of perf on. Cycles are
 * counted while the GPU has power and somebody counts: otherwise nothing has to be done
 * when the GPU is suspended and resumed, and a notifier only stores the rate.
 */

/*
 * The GPU timestamp is read between two reads of the system counter. If these are more than
 * 1/OFFSET_GAP_DIV seconds apart, something delayed them, and they are repeated.
 */
#define OFFSET_GAP_DIV		200000
#define OFFSET_TRIES		3

/* GPU timestamps may be this much later than the present, in 1/TIMESTAMP_SLACK_DIV seconds. */
#define TIMESTAMP_SLACK_DIV	100000

static struct panthor_perf_clock_segment *last_segment(struct panthor_perf_clock *clock)
{
	return &clock->segments[(clock->num_segments - 1) % PANTHOR_PERF_CLOCK_SEGMENTS];
}

/* Computes the cycles up to @ns, which is in the segment. */
static void segment_cycles(const struct panthor_perf_clock_segment *segment, u64 ns,
			   u64 cycles[PANTHOR_PERF_CLOCKS])
{
	u64 delta = ns > segment->ns ? ns - segment->ns : 0;
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		cycles[i] = segment->cycles[i] +
			    mul_u64_u64_div_u64(delta, segment->rate[i], NSEC_PER_SEC);
}

/* Ends the latest segment at @ns, and begins a new one with the present rates. */
static void new_segment(struct panthor_perf_clock *clock, u64 ns)
{
	struct panthor_perf_clock_segment *last = last_segment(clock), *segment;
	u64 cycles[PANTHOR_PERF_CLOCKS];
	u32 i;

	lockdep_assert_held(&clock->lock);

	ns = max(ns, last->ns);
	segment_cycles(last, ns, cycles);

	segment = &clock->segments[clock->num_segments++ % PANTHOR_PERF_CLOCK_SEGMENTS];
	segment->ns = ns;
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		segment->cycles[i] = cycles[i];
		segment->rate[i] = clock->up ? clock->rate[i] : 0;
	}

	/* It must not overflow to 0. Subtracting the size does not change which element is next. */
	if (clock->num_segments == 3 * PANTHOR_PERF_CLOCK_SEGMENTS)
		clock->num_segments -= PANTHOR_PERF_CLOCK_SEGMENTS;
}

/*
 * Changes a rate to @rate Hz at @ns of CLOCK_MONOTONIC_RAW, with the lock of the clocks held since
 * before @ns: cycles of later times have not been reported.
 */
void panthor_perf_clock_set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns,
				 unsigned long rate)
{
	lockdep_assert_held(&clock->lock);

	if (clock->rate[id] == rate)
		return;

	clock->rate[id] = rate;
	if (clock->up)
		new_segment(clock, ns);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_set_rate);

/*
 * Computes the cycles of each clock domain since the probe, up to @ns of
 * CLOCK_MONOTONIC_RAW, which is not in the future. Times before the oldest segment that is
 * kept count as its start.
 */
void panthor_perf_clock_cycles(struct panthor_perf_clock *clock, u64 ns,
			       u64 cycles[PANTHOR_PERF_CLOCKS])
{
	u32 kept, i;

	spin_lock(&clock->lock);
	kept = min_t(u32, clock->num_segments, PANTHOR_PERF_CLOCK_SEGMENTS);
	for (i = 1; i <= kept; i++) {
		const struct panthor_perf_clock_segment *segment =
			&clock->segments[(clock->num_segments - i) % PANTHOR_PERF_CLOCK_SEGMENTS];

		if (segment->ns <= ns || i == kept) {
			segment_cycles(segment, ns, cycles);
			break;
		}
	}
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_cycles);

/* The clock framework calls this with its prepare lock held. */
static int rate_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct panthor_perf_clock_nb *cnb = container_of(nb, struct panthor_perf_clock_nb, nb);
	struct panthor_perf_clock *clock = cnb->clock;
	struct clk_notifier_data *ndata = data;

	if (event != POST_RATE_CHANGE)
		return NOTIFY_OK;

	spin_lock(&clock->lock);
	cnb->told = true;
	panthor_perf_clock_set_rate(clock, cnb - clock->nb, ktime_get_raw_ns(), ndata->new_rate);
	spin_unlock(&clock->lock);
	return NOTIFY_OK;
}

/*
 * Reads the system counter (in ticks) and CLOCK_MONOTONIC_RAW (in nanoseconds) at the
 * same moment. Returns false if the CPUs' clocksource is not the system counter; @ticks
 * is 0 then.
 */
static bool pair_clocks(struct panthor_perf_clock *clock, u64 *ticks, u64 *ns)
{
	struct system_time_snapshot snap = {};

	if (clock->freq) {
		ktime_get_snapshot_id(CLOCK_MONOTONIC_RAW, &snap);
		if (snap.cs_id == CSID_ARM_ARCH_COUNTER) {
			*ticks = snap.cycles;
			*ns = ktime_to_ns(snap.monoraw);
			return true;
		}
	}

	*ticks = 0;
	*ns = ktime_get_raw_ns();
	return false;
}

/*
 * Measures the difference between the GPU timestamp and the system counter. One that was measured
 * before is kept if it is still possible, so that errors of measurement do not add up. Registers
 * are read, so the GPU must be powered. Firmware may let the timestamp stand still unless
 * COUNTER_EN is set. The caller holds panthor_perf_sampler::lock.
 */
void panthor_perf_clock_sync(struct panthor_perf_clock *clock)
{
	u64 before, after, ns, gpu, most = 0, gap = U64_MAX;
	u32 i;

	if (!clock->ptdev)
		return;

	for (i = 0; i < OFFSET_TRIES && gap > div_u64(clock->freq, OFFSET_GAP_DIV); i++) {
		scoped_guard(irqsave) {
			if (!pair_clocks(clock, &before, &ns))
				return;
			gpu = gpu_read64_counter(clock->ptdev->iomem, GPU_TIMESTAMP);
			pair_clocks(clock, &after, &ns);
		}

		if (after - before < gap) {
			gap = after - before;
			most = gpu - before;
		}
	}

	if (most - clock->offset > gap)
		clock->offset = most - gap / 2;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_sync);

/* Initializes the clocks, zeroed, of a device that is powered, or of a test: @ptdev is NULL. */
void panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev)
{
	u32 i;

	clock->ptdev = ptdev;
	spin_lock_init(&clock->lock);

	/* The first segment starts now. All its rates are 0. */
	clock->num_segments = 1;
	clock->segments[0].ns = ktime_get_raw_ns();
	clock->supported = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL);

#ifdef CONFIG_ARM_ARCH_TIMER
	if (ptdev)
		clock->freq = arch_timer_get_cntfrq();
#endif

	if (ptdev) {
		clock->nb[DRM_PANTHOR_PERF_CLOCK_TOPLEVEL].clk = ptdev->clks.core;
		clock->nb[DRM_PANTHOR_PERF_CLOCK_COREGROUP].clk = ptdev->clks.coregroup;
		clock->nb[DRM_PANTHOR_PERF_CLOCK_SHADER].clk = ptdev->clks.stacks;
	}

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		clock->nb[i].clock = clock;
		clock->nb[i].nb.notifier_call = rate_changed;
		if (clock->nb[i].clk)
			clock->supported |= BIT(i);
	}

	/* The GPU may be suspended at the first START, and registers cannot be read then. */
	panthor_perf_clock_sync(clock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_init);

/*
 * Has notifiers follow the rates of the clocks that they do not follow so far. Calls must
 * come one after the other, and without panthor_perf_sampler::lock: this allocates memory,
 * and takes the prepare lock of the clock framework, under which others allocate. Returns
 * 0, or the error of clk_notifier_register(); what has been done until then stays.
 */
int panthor_perf_clock_watch(struct panthor_perf_clock *clock)
{
	unsigned long rate;
	int ret;
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		struct panthor_perf_clock_nb *cnb = &clock->nb[i];

		if (!cnb->clk || cnb->registered)
			continue;

		ret = clk_notifier_register(cnb->clk, &cnb->nb);
		if (ret)
			return ret;
		cnb->registered = true;

		/*
		 * If the notifier has been called meanwhile, it has stored a rate
		 * that may be newer than this one.
		 */
		rate = clk_get_rate(cnb->clk);
		spin_lock(&clock->lock);
		if (!cnb->told)
			panthor_perf_clock_set_rate(clock, i, ktime_get_raw_ns(), rate);
		spin_unlock(&clock->lock);
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_watch);

/* Unregisters all notifiers. None of them runs any more when this has returned. */
void panthor_perf_clock_unwatch(struct panthor_perf_clock *clock)
{
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		if (clock->nb[i].registered)
			clk_notifier_unregister(clock->nb[i].clk, &clock->nb[i].nb);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_unwatch);

/*
 * Begins to count cycles, of a GPU that is powered. The caller holds
 * panthor_perf_sampler::lock. Rates are not read: notifiers follow them while the GPU has
 * no power, too.
 */
void panthor_perf_clock_up(struct panthor_perf_clock *clock)
{
	spin_lock(&clock->lock);
	clock->up = true;
	new_segment(clock, ktime_get_raw_ns());
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_up);

/*
 * Ceases to count cycles, if they are counted: the GPU is losing power, or nobody counts.
 * The caller holds panthor_perf_sampler::lock.
 */
void panthor_perf_clock_down(struct panthor_perf_clock *clock)
{
	if (!clock->up)
		return;

	spin_lock(&clock->lock);
	clock->up = false;
	new_segment(clock, ktime_get_raw_ns());
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_down);

/*
 * Stores the present time as the latest pair, which is what panthor_perf_clock_at() needs,
 * and returns it, in nanoseconds of CLOCK_MONOTONIC_RAW. The caller holds
 * panthor_perf_sampler::lock.
 */
u64 panthor_perf_clock_pair(struct panthor_perf_clock *clock)
{
	u64 ticks, ns;

	if (pair_clocks(clock, &ticks, &ns)) {
		clock->pair.gpu = ticks + clock->offset;
		clock->pair.ns = ns;
	} else {
		clock->pair.gpu = 0;
		clock->pair.ns = 0;
	}
	return ns;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_pair);

/*
 * Gets the present time, and stores it as the latest pair. The GPU need not be powered: its
 * timestamp is computed from the counter of the CPU, and is 0 if it cannot be. The caller
 * holds panthor_perf_sampler::lock.
 */
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *now)
{
	now->ns = panthor_perf_clock_pair(clock);
	now->gpu = clock->pair.gpu;
	panthor_perf_clock_cycles(clock, now->ns, now->cycles);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_now);

/*
 * Converts ticks of a clock of @freq Hz to nanoseconds, given the ticks and nanoseconds of
 * some moment, earlier or later. Returns 0 if the result would be negative.
 */
u64 panthor_perf_clock_ticks_to_ns(u64 freq, u64 pair_ticks, u64 pair_ns, u64 ticks)
{
	s64 delta = ticks - pair_ticks;
	u64 ns;

	if (delta >= 0)
		return pair_ns + mul_u64_u64_div_u64(delta, NSEC_PER_SEC, freq);

	ns = mul_u64_u64_div_u64(-delta, NSEC_PER_SEC, freq);
	return ns < pair_ns ? pair_ns - ns : 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_ticks_to_ns);

/*
 * Converts the GPU timestamp of a moment shortly before the latest pair to time. It comes
 * from firmware, so that it may have any value. If it is a minute or more before the pair, or
 * further after it than the clocks' difference may be off, it is not believed: @time is that
 * of the pair, and false is returned. The caller holds panthor_perf_sampler::lock.
 */
bool panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu,
			   struct panthor_perf_time *time)
{
	const struct panthor_perf_time *pair = &clock->pair;
	s64 age = pair->gpu - gpu, slack = div_u64(clock->freq, TIMESTAMP_SLACK_DIV);
	bool known = pair->ns && age >= -slack && age < (s64)clock->freq * 60;

	/* Without a pair there is nothing to doubt it by. */
	time->gpu = known || !pair->ns ? gpu : pair->gpu;
	/* It was taken before now. */
	if (known && age > 0)
		time->ns = panthor_perf_clock_ticks_to_ns(clock->freq, pair->gpu, pair->ns, gpu);
	else
		time->ns = pair->ns ?: ktime_get_raw_ns();
	panthor_perf_clock_cycles(clock, time->ns, time->cycles);
	return known;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_at);

/*
 * Returns the earliest time after @now_ns that is a multiple of @period_ns after @base_ns.
 * A present time before @base_ns counts as @base_ns.
 */
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns)
{
	if (now_ns < base_ns)
		now_ns = base_ns;

	return base_ns + (div64_u64(now_ns - base_ns, period_ns) + 1) * period_ns;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_deadline);
