/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: conversion of GPU timestamps to time, and clock cycles. */

#ifndef __PANTHOR_PERF_CLOCK_H__
#define __PANTHOR_PERF_CLOCK_H__

#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "panthor_perf_layout.h"

struct panthor_device;

/**
 * struct panthor_perf_domain - A clock domain of a GPU
 * @clk: Clock of the domain, NULL if it has none of its own.
 * @first_rate: @rate at the probe.
 * @rate: Present rate in Hz, 0 if there is no clock.
 * @follows: @rate is that of the top-level clock, or in the same ratio to it as at the probe.
 * @nominal: Estimated cycles from panthor_perf_clock::pair to @changed_ns there, by clock rates.
 *
 * @rate, @follows and @nominal are protected by panthor_perf_clock::lock, the rest is constant.
 * After the probe, @rate is written with panthor_perf_clock::rates_lock held.
 */
struct panthor_perf_domain {
	struct clk *clk;
	unsigned long first_rate;
	unsigned long rate;
	bool follows;
	u64 nominal;
};

/**
 * struct panthor_perf_clock - Time and cycles of a GPU
 * @ptdev: Device, or NULL in a test.
 * @nb: Notifier of devfreq.
 * @supported: A bit for each clock domain that has a clock of its own.
 * @freq: Frequency of the GPU timestamp in Hz, 0 if it cannot be converted to time.
 * @offset: Ticks by which the GPU timestamp is ahead of the CPUs' system counter.
 * @pair: When the system counter, the GPU timestamp and cycles were last read together. @gpu is 0
 *	if the timestamp cannot be converted.
 * @up: Cycles are counted: the GPU is powered, and there are clients.
 * @count: GPU_CYCLE_COUNT at @pair.
 * @by_rates: The latest cycles of @pair come from rates: GPU_CYCLE_COUNT stands still.
 * @rates_lock: Held from reading @up and rates to storing rates, so that the last to read is the
 *	last to store. Not taken in panthor_perf_sampler::lock: the clock framework's lock nests in
 *	it, in which memory is allocated. The notifier takes it in devfreq's lock.
 * @lock: Taken in process context, in panthor_perf_sampler::lock or @rates_lock. Innermost.
 * @changed_ns: Time of the latest change of a rate, or that of @pair if that is later.
 * @domains: Clock domains, by enum drm_panthor_perf_clock.
 *
 * panthor_perf_sampler::lock protects @offset to @by_rates. Callers hold it, except for init,
 * read_rates, which only reads @up, set_rates and deadline.
 */
struct panthor_perf_clock {
	struct panthor_device *ptdev;
	struct notifier_block nb;
	u32 supported;
	u64 freq;
	u64 offset;
	struct panthor_perf_time pair;
	bool up;
	u64 count;
	bool by_rates;
	struct mutex rates_lock; /* Orders reads of rates. */
	spinlock_t lock; /* Protects changed_ns and domains. */
	u64 changed_ns;
	struct panthor_perf_domain domains[PANTHOR_PERF_CLOCKS];
};

int panthor_perf_clock_init(struct panthor_perf_clock *clock, struct panthor_device *ptdev);

void panthor_perf_clock_sync(struct panthor_perf_clock *clock);
void panthor_perf_clock_up(struct panthor_perf_clock *clock, bool resumed,
			   struct panthor_perf_time *time);
void panthor_perf_clock_down(struct panthor_perf_clock *clock);

void panthor_perf_clock_read_rates(struct panthor_perf_clock *clock, u64 ns);
void panthor_perf_clock_set_rates(struct panthor_perf_clock *clock, u64 ns,
				  const unsigned long rates[PANTHOR_PERF_CLOCKS]);
void panthor_perf_clock_advance(struct panthor_perf_clock *clock, u64 ns, u64 count);
void panthor_perf_clock_pair(struct panthor_perf_clock *clock);
void panthor_perf_clock_now(struct panthor_perf_clock *clock, struct panthor_perf_time *time);
u64 panthor_perf_clock_at(struct panthor_perf_clock *clock, u64 gpu,
			  struct panthor_perf_time *time);
u64 panthor_perf_clock_deadline(u64 base_ns, u64 period_ns, u64 now_ns);

#endif
