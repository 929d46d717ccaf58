// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: time and cycles. */

#ifdef CONFIG_ARM_ARCH_TIMER
#include <asm/arch_timer.h>
#endif

#include <linux/clk.h>
#include <linux/clocksource_ids.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include <kunit/visibility.h>

#include "panthor_device.h"
#include "panthor_gpu_regs.h"
#include "panthor_perf_clock.h"

/**
 * DOC: Time and cycles
 *
 * A firmware sample says when it was taken in ticks of the GPU timestamp. That
 * is the system counter, which is also the CPUs' clocksource on all systems
 * that have this GPU, plus a constant. Users are told CLOCK_MONOTONIC_RAW,
 * which advances with a rounded multiple of that counter and not at all while
 * the system is suspended. A fixed offset between the two would drift, so they
 * are paired each time that samples are drained, and a sample's time is
 * interpolated from the pair, over no more than the time between two drains.
 *
 * Cycles are the integral of each clock's rate, based anew at each change of
 * a rate. Samples are looked at some time after they were taken, when the rate
 * may have changed, so a number of changes is remembered. What was once said of
 * the cycles up to some time stays true: a rate changes at the time that is
 * read with the lock held, which is later than any time that cycles were told
 * of before.
 *
 * Rates are followed by notifiers while somebody may count, and are otherwise
 * not known: nothing is done then when the GPU comes up or goes down.
 */

/* How far the GPU timestamp may be from where it is thought to be: this part of a second. */
#define OFFSET_SLACK_DIV	1000

static struct panthor_perf_clock_segment *last_segment(struct panthor_perf_clock *clock)
{
	return &clock->segments[(clock->num_segments - 1) % PANTHOR_PERF_CLOCK_SEGMENTS];
}

static void segment_cycles(const struct panthor_perf_clock_segment *segment, u64 ns,
			   u64 cycles[PANTHOR_PERF_CLOCKS])
{
	u64 delta = ns > segment->ns ? ns - segment->ns : 0;
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		cycles[i] = segment->cycles[i] +
			    mul_u64_u64_div_u64(delta, segment->rate[i], NSEC_PER_SEC);
}

/* A new segment starts, with the current rates. */
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

	/* The number of segments may wrap, the number of those remembered must not. */
	if (clock->num_segments == 3 * PANTHOR_PERF_CLOCK_SEGMENTS)
		clock->num_segments -= PANTHOR_PERF_CLOCK_SEGMENTS;
}

/* @ns is not before any time that cycles were told of. */
static void set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns, unsigned long rate)
{
	lockdep_assert_held(&clock->lock);

	if (clock->rate[id] == rate)
		return;

	clock->rate[id] = rate;
	new_segment(clock, ns);
}

/**
 * panthor_perf_clock_set_rate() - Change a rate at any time
 * @clock: Clocks.
 * @id: Clock domain.
 * @ns: When it changes, in CLOCK_MONOTONIC_RAW.
 * @rate: New rate in Hz.
 *
 * For tests of what comes of it. Nobody else can know that cycles have not been
 * told already of a time after @ns.
 */
void panthor_perf_clock_set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns,
				 unsigned long rate)
{
	spin_lock(&clock->lock);
	set_rate(clock, id, ns, rate);
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_set_rate);

/**
 * panthor_perf_clock_cycles() - Count the cycles up to some time
 * @clock: Clocks.
 * @ns: Time, in CLOCK_MONOTONIC_RAW.
 * @cycles: Where to put the cycles, by clock domain.
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

static int rate_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct panthor_perf_clock_nb *cnb = container_of(nb, struct panthor_perf_clock_nb, nb);
	struct panthor_perf_clock_watch *watch = cnb->watch;
	struct panthor_perf_clock *clock = watch->clock;
	struct clk_notifier_data *ndata = data;

	if (event != POST_RATE_CHANGE)
		return NOTIFY_OK;

	spin_lock(&clock->lock);
	watch->rate[cnb->id] = ndata->new_rate;
	watch->told |= BIT(cnb->id);
	if (clock->watch == watch)
		set_rate(clock, cnb->id, ktime_get_raw_ns(), ndata->new_rate);
	spin_unlock(&clock->lock);
	return NOTIFY_OK;
}

static void get_clks(struct panthor_device *ptdev, struct clk *clks[PANTHOR_PERF_CLOCKS])
{
	memset(clks, 0, PANTHOR_PERF_CLOCKS * sizeof(*clks));
	if (!ptdev)
		return;

	clks[DRM_PANTHOR_PERF_CLOCK_TOPLEVEL] = ptdev->clks.core;
	clks[DRM_PANTHOR_PERF_CLOCK_COREGROUP] = ptdev->clks.coregroup;
	clks[DRM_PANTHOR_PERF_CLOCK_SHADER] = ptdev->clks.stacks;
}

/* Pairs the clocks. Returns false if they have nothing in common. */
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
 * GPU_TIMESTAMP_OFFSET says how the GPU timestamp differs from the system
 * counter, exactly but for the sign, on which implementations are not agreed;
 * reading the clocks one after the other says it only roughly.
 */
static void find_offset(struct panthor_perf_clock *clock)
{
	u64 before, after, ns, gpu, offset, slack;
	u64 candidates[3];
	u32 i;

	if (!clock->ptdev || !pair_clocks(clock, &before, &ns))
		return;

	gpu = gpu_read64_counter(clock->ptdev->iomem, GPU_TIMESTAMP);
	offset = gpu_read64(clock->ptdev->iomem, GPU_TIMESTAMP_OFFSET);
	pair_clocks(clock, &after, &ns);

	slack = div_u64(clock->freq, OFFSET_SLACK_DIV);
	candidates[0] = offset;
	candidates[1] = -offset;
	candidates[2] = 0;
	for (i = 0; i < ARRAY_SIZE(candidates); i++) {
		u64 ticks = gpu - candidates[i];

		if (ticks + slack - before <= after - before + 2 * slack) {
			clock->offset = candidates[i];
			return;
		}
	}
	clock->offset = gpu - after;
}

/**
 * panthor_perf_clock_init() - Initialize the clocks of a GPU
 * @clock: Object to initialize, zeroed.
 * @ptdev: Device, or NULL in a test.
 *
 * No clock is followed before panthor_perf_clock_attach().
 */
void panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev)
{
	struct clk *clks[PANTHOR_PERF_CLOCKS];
	u32 i;

	clock->ptdev = ptdev;
	spin_lock_init(&clock->lock);

	/* Something to start from. */
	clock->num_segments = 1;
	clock->segments[0].ns = ktime_get_raw_ns();
	clock->supported = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL);

#ifdef CONFIG_ARM_ARCH_TIMER
	if (ptdev)
		clock->freq = arch_timer_get_cntfrq();
#endif

	get_clks(ptdev, clks);
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		if (clks[i])
			clock->supported |= BIT(i);

	/* The first session may find the GPU suspended, and samples have times all the same. */
	find_offset(clock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_init);

/**
 * panthor_perf_clock_watch_init() - Register notifiers, and read rates
 * @watch: Object to initialize, zeroed.
 * @clock: Clocks. Without a device there is nothing to register for, and nobody
 * but a test calls the notifiers.
 *
 * Any number of them can exist at a time; panthor_perf_clock_attach() says
 * which one counts.
 *
 * Context: Process context. Allocates, and takes the prepare lock of the clock
 * framework, with which held others allocate: neither is possible with a lock
 * held that is taken in reclaim.
 *
 * Return: 0 on success, the error of clk_notifier_register() otherwise.
 */
int panthor_perf_clock_watch_init(struct panthor_perf_clock_watch *watch,
				  struct panthor_perf_clock *clock)
{
	struct clk *clks[PANTHOR_PERF_CLOCKS];
	unsigned long rate;
	int ret;
	u32 i;

	watch->clock = clock;
	get_clks(clock->ptdev, clks);
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		struct panthor_perf_clock_nb *nb = &watch->nb[i];

		nb->watch = watch;
		nb->id = i;
		nb->nb.notifier_call = rate_changed;
		if (!clks[i])
			continue;

		ret = clk_notifier_register(clks[i], &nb->nb);
		if (ret) {
			panthor_perf_clock_watch_fini(watch);
			return ret;
		}
		nb->clk = clks[i];

		/* If a notifier has been called since, it knows the rate better. */
		rate = clk_get_rate(clks[i]);
		spin_lock(&clock->lock);
		if (!(watch->told & BIT(i)))
			watch->rate[i] = rate;
		spin_unlock(&clock->lock);
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_watch_init);

/**
 * panthor_perf_clock_watch_fini() - Unregister notifiers
 * @watch: Rates, not attached.
 *
 * Context: Process context. Takes the prepare lock of the clock framework.
 */
void panthor_perf_clock_watch_fini(struct panthor_perf_clock_watch *watch)
{
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		if (watch->nb[i].clk)
			clk_notifier_unregister(watch->nb[i].clk, &watch->nb[i].nb);
		watch->nb[i].clk = NULL;
	}
}

/**
 * panthor_perf_clock_up() - Note that the GPU is powered
 * @clock: Clocks.
 *
 * Reads registers, so that the GPU has to be powered already. Does not look at
 * rates: those are followed while the GPU is down, too.
 */
void panthor_perf_clock_up(struct panthor_perf_clock *clock)
{
	find_offset(clock);

	spin_lock(&clock->lock);
	clock->up = true;
	new_segment(clock, ktime_get_raw_ns());
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_up);

/**
 * panthor_perf_clock_down() - Note that the GPU is powered no longer
 * @clock: Clocks.
 */
void panthor_perf_clock_down(struct panthor_perf_clock *clock)
{
	spin_lock(&clock->lock);
	clock->up = false;
	new_segment(clock, ktime_get_raw_ns());
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_down);

/**
 * panthor_perf_clock_attach() - Begin to follow the clocks
 * @clock: Clocks that are not followed.
 * @watch: Where rates come from. Must stay until panthor_perf_clock_detach().
 * @up: The GPU is powered.
 */
void panthor_perf_clock_attach(struct panthor_perf_clock *clock,
			       struct panthor_perf_clock_watch *watch, bool up)
{
	spin_lock(&clock->lock);
	clock->watch = watch;
	memcpy(clock->rate, watch->rate, sizeof(clock->rate));
	spin_unlock(&clock->lock);

	if (up)
		panthor_perf_clock_up(clock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_attach);

/**
 * panthor_perf_clock_detach() - Follow the clocks no longer
 * @clock: Clocks.
 *
 * No cycles are counted from now on. Notifiers stay registered, without effect.
 */
void panthor_perf_clock_detach(struct panthor_perf_clock *clock)
{
	spin_lock(&clock->lock);
	clock->watch = NULL;
	clock->up = false;
	new_segment(clock, ktime_get_raw_ns());
	spin_unlock(&clock->lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_detach);

/**
 * panthor_perf_clock_pair() - Read the clocks that timestamps are told by, and pair them
 * @clock: Clocks.
 *
 * What panthor_perf_clock_at() needs, and no more: cycles are not looked at.
 *
 * Context: Any. The caller holds the lock of the sampler. Does not touch the GPU.
 *
 * Return: The time, in nanoseconds of CLOCK_MONOTONIC_RAW.
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

/**
 * panthor_perf_clock_now() - Read all the clocks, and pair them
 * @clock: Clocks.
 * @now: Where to put the time.
 *
 * Does not touch the GPU, which may be down.
 */
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *now)
{
	now->ns = panthor_perf_clock_pair(clock);
	now->gpu = clock->pair.gpu;
	panthor_perf_clock_cycles(clock, now->ns, now->cycles);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_now);

/**
 * panthor_perf_clock_ticks_to_ns() - Interpolate from a pair of clocks
 * @freq: Frequency of the ticks in Hz.
 * @pair_ticks: Ticks of the pair.
 * @pair_ns: Nanoseconds of the pair.
 * @ticks: Ticks, before or after those of the pair.
 *
 * Return: Nanoseconds at @ticks, 0 if that is before the origin.
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

/**
 * panthor_perf_clock_at() - Tell the time of a GPU timestamp
 * @clock: Clocks.
 * @gpu: GPU timestamp, of a time before panthor_perf_clock_pair() was last called.
 * @time: Where to put the time.
 *
 * Timestamps that make no sense become the time of the last pair.
 *
 * Return: True if the time is that of the timestamp, false if there was no
 * telling it.
 */
bool panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu,
			   struct panthor_perf_time *time)
{
	const struct panthor_perf_time *pair = &clock->pair;
	bool known = pair->ns && gpu <= pair->gpu && pair->gpu - gpu < clock->freq * 60;

	time->gpu = gpu;
	if (known)
		time->ns = panthor_perf_clock_ticks_to_ns(clock->freq, pair->gpu, pair->ns, gpu);
	else
		time->ns = pair->ns ?: ktime_get_raw_ns();
	panthor_perf_clock_cycles(clock, time->ns, time->cycles);
	return known;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_at);

/**
 * panthor_perf_clock_deadline() - Find the next multiple of a period
 * @base_ns: What it is a multiple from.
 * @period_ns: Period in nanoseconds, not 0.
 * @now_ns: Time, normally not before @base_ns.
 *
 * Return: The first multiple after @now_ns, and at least one period after
 * @base_ns; all in nanoseconds.
 */
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns)
{
	if (now_ns < base_ns)
		now_ns = base_ns;

	return base_ns + (div64_u64(now_ns - base_ns, period_ns) + 1) * period_ns;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_clock_deadline);
