/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: conversion of GPU timestamps to time, and clock cycles. */

#ifndef __PANTHOR_PERF_CLOCK_H__
#define __PANTHOR_PERF_CLOCK_H__

#include <linux/clk.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

struct panthor_device;

/* Number of clock domains in enum drm_panthor_perf_clock. */
#define PANTHOR_PERF_CLOCKS	(DRM_PANTHOR_PERF_CLOCK_SHADER + 1)

/* Number of rate changes that are remembered. */
#define PANTHOR_PERF_CLOCK_SEGMENTS	32

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
 * struct panthor_perf_clock_segment - Time from one change of a clock's rate to the next
 */
struct panthor_perf_clock_segment {
	/** @ns: Start of the segment, CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 ns;

	/** @cycles: Cycles up to the start of the segment. */
	u64 cycles[PANTHOR_PERF_CLOCKS];

	/** @rate: Rate of each clock in Hz, 0 if cycles are not counted in the segment. */
	unsigned long rate[PANTHOR_PERF_CLOCKS];
};

/**
 * struct panthor_perf_clock_nb - Notifier that follows the rate of a clock
 */
struct panthor_perf_clock_nb {
	/** @nb: Notifier. */
	struct notifier_block nb;

	/** @clock: Clocks of the device, whose array of notifiers this one is in. */
	struct panthor_perf_clock *clock;

	/** @clk: Clock to follow, NULL if the domain has none of its own. */
	struct clk *clk;

	/** @registered: @nb is registered. Used by panthor_perf_clock_watch() alone. */
	bool registered;

	/** @told: @nb has been called. Protected by panthor_perf_clock::lock. */
	bool told;
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

	/** @nb: Notifier of each clock domain. */
	struct panthor_perf_clock_nb nb[PANTHOR_PERF_CLOCKS];

	/* Protected by panthor_perf_sampler::lock. */

	/** @offset: Ticks by which the GPU timestamp is ahead of the CPUs' system counter. */
	u64 offset;

	/**
	 * @pair: The latest moment of which both clocks are known. Its cycles are not
	 * used, and its ns is 0 if GPU timestamps cannot be converted.
	 */
	struct panthor_perf_time pair;

	/**
	 * @lock: Protects all that follows, and @up together with
	 * panthor_perf_sampler::lock: both are held to write it.
	 *
	 * Taken in process context by rate change notifiers, which hold the prepare
	 * lock of the clock framework, and by code that holds
	 * panthor_perf_sampler::lock. No other lock is taken with it held.
	 */
	spinlock_t lock;

	/** @up: Cycles are counted: the GPU is powered, and somebody counts. */
	bool up;

	/** @rate: Present rate of each clock in Hz, even if cycles are not counted. */
	unsigned long rate[PANTHOR_PERF_CLOCKS];

	/** @segments: The latest segments; segment n is element n % PANTHOR_PERF_CLOCK_SEGMENTS. */
	struct panthor_perf_clock_segment segments[PANTHOR_PERF_CLOCK_SEGMENTS];

	/**
	 * @num_segments: Number of segments so far. The size of @segments is subtracted
	 * from it now and then, so that it does not overflow.
	 */
	u32 num_segments;
};

void panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev);

int panthor_perf_clock_watch(struct panthor_perf_clock *clock);
void panthor_perf_clock_unwatch(struct panthor_perf_clock *clock);

void panthor_perf_clock_sync(struct panthor_perf_clock *clock);
void panthor_perf_clock_up(struct panthor_perf_clock *clock);
void panthor_perf_clock_down(struct panthor_perf_clock *clock);

u64 panthor_perf_clock_pair(struct panthor_perf_clock *clock);
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *now);
bool panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu,
			   struct panthor_perf_time *time);
u64 panthor_perf_clock_ticks_to_ns(u64 freq, u64 pair_ticks, u64 pair_ns, u64 ticks);
void panthor_perf_clock_set_rate(struct panthor_perf_clock *clock, u32 id, u64 ns,
				 unsigned long rate);
void panthor_perf_clock_cycles(struct panthor_perf_clock *clock, u64 ns,
			       u64 cycles[PANTHOR_PERF_CLOCKS]);
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns);

#endif
