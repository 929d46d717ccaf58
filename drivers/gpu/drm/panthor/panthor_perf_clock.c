// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: conversion of GPU timestamps to time, and clock cycles. */

#ifdef CONFIG_ARM_ARCH_TIMER
#include <asm/arch_timer.h>
#endif

#include <linux/clk.h>
#include <linux/clocksource_ids.h>
#include <linux/devfreq.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

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
 * Cycles: GPU_CYCLE_COUNT counts cycles of the top-level clock while the GPU has power.
 * It is read with each pair, and also before the GPU loses power and when power has
 * returned, from when it counts anew. Cycles between the time that was reported last and
 * the pair are interpolated. They never go back, and their sum over a run is exact except
 * for the time between a sample and the pair that follows it.
 *
 * The other clocks cannot be read. They have the cycles of the top-level clock times the
 * ratio of the rates that the clock framework reports, if that ratio is 1 or what it was
 * at the probe. If it is not, or if GPU_CYCLE_COUNT stands still, cycles are the integral
 * of the rate from pair to pair. Rates are read at the probe, by START, and by a resume with
 * clients, because a power domain may set rates when it is switched on. While cycles are counted,
 * not during a reset, they are also read each time that devfreq sets a frequency, if the device
 * has a node and devfreq. The clock framework announces few changes that firmware makes.
 *
 * A device tree may name a bus clock coregroup. A clock of that name which has less than half
 * the rate of the top-level clock at the probe is ignored, and the core group counts as top
 * level.
 */

/* Number of reads of the GPU timestamp, of which the quickest is used. */
#define OFFSET_READS		2

/* Rates that are divisions of one rate may be off by 1/RATIO_ROUNDING_DIV. */
#define RATIO_ROUNDING_DIV	10000

/* GPU timestamps may be later than the present by 1/TIMESTAMP_SLACK_DIV seconds. */
#define TIMESTAMP_SLACK_DIV	100000

/* Cycles of a domain since the latest pair, by its rates. */
static u64 nominal_cycles(const struct panthor_perf_clock *clock,
			  const struct panthor_perf_domain *domain, u64 ns)
{
	u64 delta = ns > clock->changed_ns ? ns - clock->changed_ns : 0;

	return domain->nominal + mul_u64_u64_div_u64(delta, domain->rate, NSEC_PER_SEC);
}

/* Return true if both rates are equal, or in the same ratio as at the probe but for rounding. */
static bool rates_follow(const struct panthor_perf_domain *domain,
			 const struct panthor_perf_domain *toplevel)
{
	u64 a = (u64)domain->rate * toplevel->first_rate;
	u64 b = (u64)toplevel->rate * domain->first_rate;

	return domain == toplevel ||
	       (toplevel->rate && (domain->rate == toplevel->rate ||
				   abs_diff(a, b) <= div_u64(a, RATIO_ROUNDING_DIV)));
}

/* Change the rates of all clocks, in Hz, at @ns of CLOCK_MONOTONIC_RAW. */
void panthor_perf_clock_set_rates(struct panthor_perf_clock *clock, u64 ns,
				  const unsigned long rates[PANTHOR_PERF_CLOCKS])
{
	struct panthor_perf_domain *domain = clock->domains;
	u32 i;

	guard(spinlock)(&clock->lock);

	/* The first one is the top level. */
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++, domain++) {
		domain->nominal = nominal_cycles(clock, domain, ns);
		domain->rate = rates[i];
		domain->follows = rates_follow(domain, clock->domains);
	}
	clock->changed_ns = max(clock->changed_ns, ns);
}

/*
 * If cycles are counted, read the rates of all clocks. They apply from @ns of CLOCK_MONOTONIC_RAW
 * on, or from the latest pair if that is later. Called by devfreq, and after
 * panthor_perf_clock_up() as soon as panthor_perf_sampler::lock is released. A rate may take long
 * to read, so all are read before one is stored. One that reads as 0 is unknown, and kept.
 */
void panthor_perf_clock_read_rates(struct panthor_perf_clock *clock, u64 ns)
{
	unsigned long rates[PANTHOR_PERF_CLOCKS];
	u32 i;

	guard(mutex)(&clock->rates_lock);

	if (!READ_ONCE(clock->up))
		return;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		rates[i] = clk_get_rate(clock->domains[i].clk) ?: clock->domains[i].rate;
	panthor_perf_clock_set_rates(clock, ns, rates);
}

/* devfreq calls this with its lock held before and after it sets a frequency, even the same one. */
static int frequency_set(struct notifier_block *nb, unsigned long event, void *data)
{
	struct panthor_perf_clock *clock = container_of(nb, struct panthor_perf_clock, nb);

	if (event == DEVFREQ_POSTCHANGE)
		panthor_perf_clock_read_rates(clock, ktime_get_raw_ns());
	return NOTIFY_OK;
}

/*
 * Read the system counter and CLOCK_MONOTONIC_RAW at the same moment. Returns the counter, or 0 if
 * it is not the CPUs' clocksource.
 */
static u64 pair_clocks(struct panthor_perf_clock *clock, u64 *ns)
{
	struct system_time_snapshot snap = {};

	ktime_get_snapshot_id(CLOCK_MONOTONIC_RAW, &snap);
	*ns = ktime_to_ns(snap.monoraw);
	return clock->freq && snap.cs_id == CSID_ARM_ARCH_COUNTER ? snap.cycles : 0;
}

/*
 * Measure the difference between the GPU timestamp and the system counter, of a GPU that is
 * powered. An earlier result that is still possible is kept, so that errors do not add up. The
 * timestamp may stand still unless COUNTER_EN is set.
 */
void panthor_perf_clock_sync(struct panthor_perf_clock *clock)
{
	u64 before, after, ns, gpu, most = 0, gap = U64_MAX;
	u32 i;

	if (!clock->ptdev)
		return;

	for (i = 0; i < OFFSET_READS; i++) {
		scoped_guard(irqsave) {
			before = pair_clocks(clock, &ns);
			if (!before)
				return;
			gpu = gpu_read64_counter(clock->ptdev->iomem, GPU_TIMESTAMP);
			after = pair_clocks(clock, &ns);
		}

		if (after - before < gap) {
			gap = after - before;
			most = gpu - before;
		}
	}

	if (most - clock->offset > gap)
		clock->offset = most - gap / 2;
}

/*
 * Initialize the clocks, zeroed, of a device that is powered, or of a test: @ptdev is NULL. If the
 * device has a node and devfreq, rates are followed until it is unbound. Returns 0 or the error of
 * devm_devfreq_register_notifier().
 */
int panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev)
{
	struct panthor_perf_domain *domain = clock->domains;
	struct devfreq *devfreq = NULL;
	u32 i;

	clock->ptdev = ptdev;
	mutex_init(&clock->rates_lock);
	spin_lock_init(&clock->lock);
	clock->nb.notifier_call = frequency_set;
	clock->supported = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL);

	if (ptdev) {
#ifdef CONFIG_ARM_ARCH_TIMER
		clock->freq = arch_timer_get_cntfrq();
#endif
		domain[DRM_PANTHOR_PERF_CLOCK_TOPLEVEL].clk = ptdev->clks.core;
		/* A clock of less than half the top level's rate is a bus clock. */
		if (clk_get_rate(ptdev->clks.coregroup) >= clk_get_rate(ptdev->clks.core) / 2)
			domain[DRM_PANTHOR_PERF_CLOCK_COREGROUP].clk = ptdev->clks.coregroup;
		domain[DRM_PANTHOR_PERF_CLOCK_SHADER].clk = ptdev->clks.stacks;
		devfreq = devfreq_get_devfreq_by_node(ptdev->base.dev->of_node);
	}

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++, domain++) {
		domain->first_rate = clk_get_rate(domain->clk);
		domain->rate = domain->first_rate;
		domain->follows = rates_follow(domain, clock->domains);
		if (domain->clk)
			clock->supported |= BIT(i);
	}

	/* The GPU may be suspended at the first START, and registers cannot be read then. */
	panthor_perf_clock_sync(clock);
	return IS_ERR_OR_NULL(devfreq) ? 0 :
	       devm_devfreq_register_notifier(ptdev->base.dev, devfreq, &clock->nb,
					      DEVFREQ_TRANSITION_NOTIFIER);
}

static u64 read_cycle_count(struct panthor_perf_clock *clock)
{
	return clock->ptdev ? gpu_read64_counter(clock->ptdev->iomem, GPU_CYCLE_COUNT) : 0;
}

/*
 * Cycles of a domain from the latest pair to @ns, in which the top-level clock had @counted, 0 if
 * that is not known. If rates have changed meanwhile, their integrals tell the ratio.
 */
static u64 domain_cycles(const struct panthor_perf_clock *clock,
			 const struct panthor_perf_domain *domain, u64 ns, u64 counted)
{
	const struct panthor_perf_domain *toplevel = clock->domains;
	u64 part = domain->rate, whole = toplevel->rate;

	if (!counted || !domain->follows)
		return nominal_cycles(clock, domain, ns);

	if (clock->changed_ns > clock->pair.ns) {
		part = nominal_cycles(clock, domain, ns);
		whole = nominal_cycles(clock, toplevel, ns);
	}
	if (part == whole)
		return counted;

	return whole ? mul_u64_u64_div_u64(counted, part, whole) : part;
}

/*
 * Move the latest pair on to @ns of CLOCK_MONOTONIC_RAW, at which GPU_CYCLE_COUNT is @count, and
 * add the cycles up to then if they are counted. A register that goes back was reset.
 */
void panthor_perf_clock_advance(struct panthor_perf_clock *clock, u64 ns, u64 count)
{
	u64 counted = count - clock->count;
	u32 i;

	guard(spinlock)(&clock->lock);

	if (clock->up) {
		if ((s64)counted < 0)
			counted = 0;
		for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
			clock->pair.cycles[i] += domain_cycles(clock, &clock->domains[i], ns,
							       counted);
		clock->count = count;
		clock->by_rates = !counted;
	}

	if (clock->changed_ns > clock->pair.ns)
		for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
			clock->domains[i].nominal = 0;
	clock->pair.ns = ns;
	/* A rate may have changed between the pair and the lock. */
	clock->changed_ns = max(clock->changed_ns, ns);
}

/*
 * Store the present time as the latest pair. The GPU need not be powered unless cycles are
 * counted: its timestamp is computed from the counter of the CPU.
 */
void panthor_perf_clock_pair(struct panthor_perf_clock *clock)
{
	u64 ticks, ns, count = 0;

	scoped_guard(irqsave) {
		ticks = pair_clocks(clock, &ns);
		if (clock->up)
			count = read_cycle_count(clock);
	}

	panthor_perf_clock_advance(clock, ns, count);
	clock->pair.gpu = ticks ? ticks + clock->offset : 0;
}

/* Stop counting cycles, if they are counted: the GPU is losing power, or nobody counts. */
void panthor_perf_clock_down(struct panthor_perf_clock *clock)
{
	if (clock->up)
		panthor_perf_clock_pair(clock);
	WRITE_ONCE(clock->up, false);
}

/* Move @time on to @ns, which is not later than the pair. Never moves it back. */
static void move_time(const struct panthor_perf_clock *clock, u64 ns, u64 gpu,
		      struct panthor_perf_time *time)
{
	const struct panthor_perf_time *pair = &clock->pair;
	u64 total = 0, part = 0;
	u32 i;

	if (ns <= time->ns)
		return;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++) {
		/* Most GPUs have one rate for all clocks. */
		if (pair->cycles[i] - time->cycles[i] != total) {
			total = pair->cycles[i] - time->cycles[i];
			part = mul_u64_u64_div_u64(total, ns - time->ns, pair->ns - time->ns);
		}
		time->cycles[i] += part;
	}
	time->ns = ns;
	time->gpu = gpu;
}

/* Move @time on to the present, and the latest pair as well. */
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *time)
{
	panthor_perf_clock_pair(clock);
	move_time(clock, clock->pair.ns, clock->pair.gpu, time);
}

/*
 * Starts counting cycles, of a GPU that is powered, and moves @time on to the present. If the GPU
 * was @resumed or reset, what it has counted since is included. That GPU_CYCLE_COUNT begins at 0
 * then is not documented, and believed only if the register is behind where it was last seen.
 */
void panthor_perf_clock_up(struct panthor_perf_clock *clock, bool resumed,
			   struct panthor_perf_time *time)
{
	u64 count;

	panthor_perf_clock_now(clock, time);
	count = read_cycle_count(clock);
	clock->count = resumed && count < clock->count ? 0 : count;
	WRITE_ONCE(clock->up, true);
}

/*
 * Move @time on to the moment of a GPU timestamp, and return it in ns of CLOCK_MONOTONIC_RAW.
 * The timestamp comes from firmware, and may have any value. If it is a minute or more before the
 * latest pair, or further after it than the clocks' difference may be off, moves to the pair and
 * returns 0.
 */
u64 panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu, struct panthor_perf_time *time)
{
	const struct panthor_perf_time *pair = &clock->pair;
	s64 age = pair->gpu - gpu;
	bool known = pair->gpu && age < (s64)clock->freq * 60 &&
		     (age >= 0 || -age <= div_u64(clock->freq, TIMESTAMP_SLACK_DIV));
	u64 ns = pair->ns;

	/* It was taken before now. */
	if (known && age > 0)
		ns -= min(ns, mul_u64_u64_div_u64(age, NSEC_PER_SEC, clock->freq));
	else if (pair->gpu)
		gpu = pair->gpu;

	move_time(clock, ns, gpu, time);
	return known ? ns : 0;
}

/* Return the first multiple of @period_ns, from @base_ns on, after @now_ns and @base_ns. */
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns)
{
	return base_ns + (div64_u64(max(now_ns, base_ns) - base_ns, period_ns) + 1) * period_ns;
}
