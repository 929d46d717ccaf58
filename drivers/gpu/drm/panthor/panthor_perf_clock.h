/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: conversion of GPU timestamps to time, and clock cycles. */

#ifndef __PANTHOR_PERF_CLOCK_H__
#define __PANTHOR_PERF_CLOCK_H__

#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

struct panthor_device;

/* Number of clock domains in enum drm_panthor_perf_clock. */
#define PANTHOR_PERF_CLOCKS	(DRM_PANTHOR_PERF_CLOCK_SHADER + 1)

/**
 * struct panthor_perf_time - A point in time
 */
struct panthor_perf_time {
	/** @ns: CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 ns;

	/** @gpu: GPU timestamp in ticks, 0 if it is not known. */
	u64 gpu;

	/**
	 * @cycles: Cycles of each clock domain, by enum drm_panthor_perf_clock. Only
	 * differences have a meaning, because nothing is counted while nobody counts.
	 */
	u64 cycles[PANTHOR_PERF_CLOCKS];
};

/**
 * enum panthor_perf_cycles_source - Where cycles of the top-level clock come from
 */
enum panthor_perf_cycles_source {
	/** @PANTHOR_PERF_CYCLES_NONE: None were counted so far. */
	PANTHOR_PERF_CYCLES_NONE,

	/** @PANTHOR_PERF_CYCLES_GPU: GPU_CYCLE_COUNT. */
	PANTHOR_PERF_CYCLES_GPU,

	/** @PANTHOR_PERF_CYCLES_RATES: The clock framework: GPU_CYCLE_COUNT stands still. */
	PANTHOR_PERF_CYCLES_RATES,
};

/**
 * struct panthor_perf_domain - A clock domain of a GPU
 *
 * Protected by panthor_perf_clock::lock, but for @clock, @nb and @first_rate, which are constant
 * after the probe.
 */
struct panthor_perf_domain {
	/** @clock: Clocks of the device, whose array of domains this one is in. */
	struct panthor_perf_clock *clock;

	/** @nb: Notifier of the clock, if the domain has one of its own. */
	struct notifier_block nb;

	/** @rate: Present rate in Hz, as the clock framework tells, 0 if there is no clock. */
	unsigned long rate;

	/** @first_rate: The same at the probe. */
	unsigned long first_rate;

	/**
	 * @follows: The rate is that of the top-level clock, or in the same ratio to it as
	 * at the probe: both have one source. Always so of the top-level clock.
	 */
	bool follows;

	/** @nominal: Cycles from the latest pair to the latest change of a rate, by the rates. */
	u64 nominal;
};

/**
 * struct panthor_perf_clock - Time and cycles of a GPU
 */
struct panthor_perf_clock {
	/** @ptdev: Device, or NULL in a test. This and the next two are constant. */
	struct panthor_device *ptdev;

	/** @supported: A bit for each clock domain that has a clock of its own. */
	u32 supported;

	/** @freq: Frequency of the GPU timestamp in Hz, 0 if it cannot be converted to time. */
	u64 freq;

	/* Protected by panthor_perf_sampler::lock. */

	/** @offset: Ticks by which the GPU timestamp is ahead of the CPUs' system counter. */
	u64 offset;

	/**
	 * @pair: The latest moment at which clocks and cycles were read. Its gpu is 0 if GPU
	 * timestamps cannot be converted.
	 */
	struct panthor_perf_time pair;

	/** @up: Cycles are counted: the GPU is powered, and somebody counts. */
	bool up;

	/** @count: What GPU_CYCLE_COUNT has to be compared with at the next pair. */
	u64 count;

	/** @source: Where the cycles of @pair come from. */
	enum panthor_perf_cycles_source source;

	/**
	 * @lock: Protects all that follows.
	 *
	 * Taken in process context by rate change notifiers, which hold the prepare
	 * lock of the clock framework, and by code that holds
	 * panthor_perf_sampler::lock. No other lock is taken with it held.
	 */
	spinlock_t lock;

	/**
	 * @changed_ns: Time of the latest change of a rate, CLOCK_MONOTONIC_RAW, or that of
	 * @pair if that is later.
	 */
	u64 changed_ns;

	/** @domains: Clock domains, by enum drm_panthor_perf_clock. */
	struct panthor_perf_domain domains[PANTHOR_PERF_CLOCKS];
};

int panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev);

void panthor_perf_clock_sync(struct panthor_perf_clock *clock);
void panthor_perf_clock_up(struct panthor_perf_clock *clock, bool resumed,
			   struct panthor_perf_time *time);
void panthor_perf_clock_down(struct panthor_perf_clock *clock);

void panthor_perf_clock_set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns,
				 unsigned long rate);
void panthor_perf_clock_advance(struct panthor_perf_clock *clock, u64 ns, u64 count);
void panthor_perf_clock_pair(struct panthor_perf_clock *clock);
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *time);
u64 panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu,
			  struct panthor_perf_time *time);
u64 panthor_perf_clock_ticks_to_ns(u64 freq, u64 pair_ticks, u64 pair_ns, u64 ticks);
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns);

#endif
