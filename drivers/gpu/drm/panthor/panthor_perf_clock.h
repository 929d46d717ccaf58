/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: time and cycles. */

#ifndef __PANTHOR_PERF_CLOCK_H__
#define __PANTHOR_PERF_CLOCK_H__

#include <linux/clk.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

struct panthor_device;

/** define PANTHOR_PERF_CLOCKS - Number of clock domains */
#define PANTHOR_PERF_CLOCKS	(DRM_PANTHOR_PERF_CLOCK_SHADER + 1)

/** define PANTHOR_PERF_CLOCK_SEGMENTS - Number of rate changes that are remembered */
#define PANTHOR_PERF_CLOCK_SEGMENTS	32

/**
 * struct panthor_perf_time - A point in time
 */
struct panthor_perf_time {
	/** @ns: CLOCK_MONOTONIC_RAW. */
	u64 ns;

	/** @gpu: GPU timestamp. */
	u64 gpu;

	/** @cycles: Cycles so far, by enum drm_panthor_perf_clock. */
	u64 cycles[PANTHOR_PERF_CLOCKS];
};

/**
 * struct panthor_perf_clock_segment - A time in which no clock changed its rate
 */
struct panthor_perf_clock_segment {
	/** @ns: Start, in CLOCK_MONOTONIC_RAW. */
	u64 ns;

	/** @cycles: Cycles up to the start, by enum drm_panthor_perf_clock. */
	u64 cycles[PANTHOR_PERF_CLOCKS];

	/** @rate: Rate of each clock in Hz, 0 while the GPU is down. */
	unsigned long rate[PANTHOR_PERF_CLOCKS];
};

/**
 * struct panthor_perf_clock_watch - Rates of the clocks, followed by notifiers
 *
 * Exists apart from &struct panthor_perf_clock, since neither registering
 * notifiers nor reading rates is possible with the locks held that decide
 * whether clocks are to be followed.
 */
struct panthor_perf_clock_watch {
	/** @clock: Clocks that are followed. */
	struct panthor_perf_clock *clock;

	/** @rate: Rate of each clock in Hz. Protected by panthor_perf_clock::lock. */
	unsigned long rate[PANTHOR_PERF_CLOCKS];

	/**
	 * @told: Domains whose rate a notifier has told, a bit each. Protected
	 * like @rate.
	 */
	u32 told;

	/** @nb: Rate change notifiers. */
	struct panthor_perf_clock_nb {
		/** @nb.nb: Notifier. */
		struct notifier_block nb;

		/** @nb.watch: Back pointer. */
		struct panthor_perf_clock_watch *watch;

		/** @nb.id: Clock domain. */
		u32 id;

		/** @nb.clk: Clock it is registered for, NULL if it is not. */
		struct clk *clk;
	} nb[PANTHOR_PERF_CLOCKS];
};

/**
 * struct panthor_perf_clock - Time and cycles of a GPU
 */
struct panthor_perf_clock {
	/** @ptdev: Device. NULL in a test. */
	struct panthor_device *ptdev;

	/** @supported: Clock domains with a clock of their own, a bit each. */
	u32 supported;

	/**
	 * @lock: Protects @watch, @rate, @up, @segments and @num_segments.
	 *
	 * Taken by rate change notifiers, which hold the prepare lock of the
	 * clock framework, and with the lock of the sampler held. Process
	 * context. Nothing is called with it held.
	 */
	spinlock_t lock;

	/** @watch: Where rates come from. NULL while clocks are not followed. */
	struct panthor_perf_clock_watch *watch;

	/** @rate: Rate of each clock in Hz, whether the GPU is up or not. */
	unsigned long rate[PANTHOR_PERF_CLOCKS];

	/** @up: The GPU is powered, and cycles of its clocks are counted. */
	bool up;

	/**
	 * @segments: Latest segments; that of index n is followed by that of
	 * index n + 1, modulo the size of the array.
	 */
	struct panthor_perf_clock_segment segments[PANTHOR_PERF_CLOCK_SEGMENTS];

	/** @num_segments: Number of segments there have been so far. */
	u32 num_segments;

	/**
	 * @freq: Frequency of the GPU timestamp in Hz, 0 if it cannot be told
	 * from the CPU's clock. Protected by the lock of the sampler, as are
	 * the fields below.
	 */
	u64 freq;

	/** @offset: GPU timestamp at CPU counter value 0. */
	u64 offset;

	/** @pair: The latest time at which all of the clocks were read, cycles excepted. */
	struct panthor_perf_time pair;
};

void panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev);

int panthor_perf_clock_watch_init(struct panthor_perf_clock_watch *watch,
				  struct panthor_perf_clock *clock);
void panthor_perf_clock_watch_fini(struct panthor_perf_clock_watch *watch);
void panthor_perf_clock_attach(struct panthor_perf_clock *clock,
			       struct panthor_perf_clock_watch *watch, bool up);
void panthor_perf_clock_detach(struct panthor_perf_clock *clock);

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
