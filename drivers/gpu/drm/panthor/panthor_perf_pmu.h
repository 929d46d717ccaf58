/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: a PMU, through which perf counts what the GPU does. */

#ifndef __PANTHOR_PERF_PMU_H__
#define __PANTHOR_PERF_PMU_H__

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "panthor_perf_sampler.h"

struct panthor_perf_pmu;

/*
 * Size of the queue of requests, a power of two. There are three at most, since they are shared:
 * one that is being completed, one that firmware is to answer, and one for the time after that.
 */
#define PANTHOR_PERF_PMU_QUEUE		4

/*
 * What an event counts: a counter, or what Documentation/admin-guide/perf/panthor-pmu.rst says.
 * All but the first are values of the event field of perf's config, for block type 0.
 */
enum panthor_perf_pmu_kind {
	PANTHOR_PERF_PMU_COUNTER = 0x00,
	PANTHOR_PERF_PMU_TIME = 0x01,
	PANTHOR_PERF_PMU_ACTIVE_TIME = 0x02,
	PANTHOR_PERF_PMU_TOPLEVEL_CYCLES = 0x03,
	PANTHOR_PERF_PMU_COREGROUP_CYCLES = 0x04,
	PANTHOR_PERF_PMU_SHADER_CYCLES = 0x05,
	/* Top-level cycles times cores, or slices. GPU_ACTIVE may read 0 on the G615 and G715. */
	PANTHOR_PERF_PMU_CYCLES_TIMES_CORES = 0x06,
	PANTHOR_PERF_PMU_CYCLES_TIMES_SLICES = 0x07,
	PANTHOR_PERF_PMU_EXTERNAL_READ_BYTES = 0x08,
	PANTHOR_PERF_PMU_EXTERNAL_WRITE_BYTES = 0x09,
	PANTHOR_PERF_PMU_FIRMWARE_SAMPLES = 0x0a,
	/* Samples of which counts may be missing. */
	PANTHOR_PERF_PMU_LOST = 0x0b,
};

/**
 * struct panthor_perf_pmu_source - Where the count of an event comes from
 */
struct panthor_perf_pmu_source {
	/** @kind: What is counted; PANTHOR_PERF_PMU_COUNTER for all that counters tell. */
	enum panthor_perf_pmu_kind kind;

	/** @type: Type of the blocks whose counter it is, 0 if it is no counter. */
	u32 type;

	/** @first: Index of the counter's total in &struct panthor_perf_pmu_totals. */
	u32 first;

	/** @blocks: Number of blocks whose totals are added up. */
	u32 blocks;

	/** @factor: What the sum, or the cycles of a clock, are multiplied by. */
	u32 factor;
};

/**
 * struct panthor_perf_pmu_totals - What was counted since the first event was opened
 *
 * There are two of them: events read one while the other is written.
 */
struct panthor_perf_pmu_totals {
	/** @pins: Number of readers who rely on that this is not written. */
	atomic_t pins;

	/** @asleep: The GPU is down: until it is up again, these are the totals of any time. */
	bool asleep;

	/** @time_ns: Up to when was counted, CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 time_ns;

	/** @active_ns: Nanoseconds in which the GPU was up. */
	u64 active_ns;

	/** @cycles: Cycles of each clock domain, by enum drm_panthor_perf_clock. */
	u64 cycles[PANTHOR_PERF_CLOCKS];

	/** @fw_samples: Firmware samples that the sampler had read. */
	u64 fw_samples;

	/** @lost: Samples with the flag OVERFLOW or ERROR. */
	u64 lost;

	/**
	 * @values: Totals of all values of all blocks, panthor_perf_layout::num_values for
	 * each block. Only those of types in use are kept up to date.
	 */
	u64 *values;
};

/**
 * struct panthor_perf_pmu_name - A file in the directory events/
 */
struct panthor_perf_pmu_name {
	/** @attr: Attribute. */
	struct device_attribute attr;

	/** @text: What is read from it. */
	const char *text;

	/** @event: The event whose number, unit or scale it has, as in perf's config. */
	u16 event;

	/** @layouts: A bit for each &enum panthor_perf_pmu_layout that has it there. */
	u8 layouts;
};

/**
 * struct panthor_perf_pmu_run - Counting, from the first event to the last
 *
 * A client of the sampler. It is created when an event is opened and there is no other,
 * and ends when the last one is closed.
 */
struct panthor_perf_pmu_run {
	/** @rcu: Frees the run. Events are read with interrupts off, which RCU waits for. */
	struct rcu_head rcu;

	/** @client: What the sampler knows of the run. */
	struct panthor_perf_client client;

	/** @sampler: The device's sampler. */
	struct panthor_perf_sampler *sampler;

	/** @queue: Memory of panthor_perf_client::queue. */
	struct panthor_perf_request queue[PANTHOR_PERF_PMU_QUEUE];

	/** @refs: Number of files that are being closed, and one more until the run ends. */
	refcount_t refs;

	/** @sampled: Woken when a sample is in the totals, and when the client stops. */
	wait_queue_head_t sampled;

	/**
	 * @answered: The latest request by panthor_perf_sampler_share() whose sample is in
	 * the totals. Protected by panthor_perf_sampler::req_lock.
	 */
	u64 answered;

	/* Protected by panthor_perf_pmu::lock. */

	/** @users: Number of events. The run ends when it becomes 0. */
	u32 users;

	/** @type_users: Number of events by block type, 0 for those that are no counters. */
	u32 type_users[PANTHOR_PERF_BLOCK_TYPES];

	/* Written with panthor_perf_sampler::lock held. See "Totals" in panthor_perf_pmu.c. */

	/** @current_totals: Which of @totals is read. */
	u32 current_totals;

	/** @totals: Totals to be read, and to be written. */
	struct panthor_perf_pmu_totals totals[2];
};

/**
 * struct panthor_perf_pmu_hold - What all events that a CPU reads at a time are read from
 *
 * Used by its CPU alone, with interrupts off. A non-maskable interrupt may come in between,
 * and only reads it.
 */
struct panthor_perf_pmu_hold {
	/** @depth: Number of holds that have not been released. */
	u32 depth;

	/** @run: Run that is held, NULL if there is none. */
	struct panthor_perf_pmu_run *run;

	/** @totals: The totals of @run that are pinned. Valid if @run is not NULL. */
	struct panthor_perf_pmu_totals *totals;

	/** @now_ns: When they were pinned, CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 now_ns;
};

/**
 * struct panthor_perf_pmu_gpu - What the PMU knows of the GPU
 *
 * Two GPUs for which these are equal have the same events.
 */
struct panthor_perf_pmu_gpu {
	/** @phys_addr: Physical address of the GPU's registers. */
	u64 phys_addr;

	/** @arch: Major number of the architecture. */
	u32 arch;

	/** @bus_bytes: Width of the external bus in bytes. */
	u32 bus_bytes;

	/** @clocks: See drm_panthor_perf_info::supported_clocks. */
	u32 clocks;

	/** @num_values: panthor_perf_layout::num_values. */
	u32 num_values;

	/** @num_blocks: panthor_perf_layout::num_blocks. */
	u32 num_blocks;

	/** @type_count: panthor_perf_layout::type_count. */
	u32 type_count[PANTHOR_PERF_BLOCK_TYPES];

	/** @type_first: Number of the first block of each type, by block type. */
	u32 type_first[PANTHOR_PERF_BLOCK_TYPES];
};

/**
 * struct panthor_perf_pmu - The PMU of a device
 */
struct panthor_perf_pmu {
	/** @base: What perf knows of it. */
	struct pmu base;

	/** @gpu: The GPU. Constant. */
	struct panthor_perf_pmu_gpu gpu;

	/** @sampler: The device's sampler. Constant. */
	struct panthor_perf_sampler *sampler;

	/** @holds: What the events of each CPU are read from. */
	struct panthor_perf_pmu_hold __percpu *holds;

	/**
	 * @interval_ms: Time between two samples in milliseconds, which root can set. sysfs
	 * reads it without @lock.
	 */
	u32 interval_ms;

	/**
	 * @start_lock: Serializes the opening of events. Held while an event that is opened
	 * waits for a sample; perf may hold its lock of the context.
	 */
	struct mutex start_lock;

	/**
	 * @lock: Protects @run and numbers of events. Nothing waits for a sample with it held.
	 *
	 * Order: @start_lock, @lock, panthor_perf::setup_lock, panthor_perf_sampler::lock.
	 */
	struct mutex lock;

	/** @run: The run, NULL if there are no events. Written with @lock held. */
	struct panthor_perf_pmu_run __rcu *run;
};

void panthor_perf_pmu_describe(struct panthor_perf_pmu_gpu *gpu,
			       const struct panthor_perf_layout *layout);
int panthor_perf_pmu_parse(const struct panthor_perf_pmu_gpu *gpu, u64 config,
			   struct panthor_perf_pmu_source *source);
struct panthor_perf_pmu_run *panthor_perf_pmu_run_create(struct panthor_perf_sampler *sampler);
void panthor_perf_pmu_run_free(struct panthor_perf_pmu_run *run);
struct panthor_perf_pmu_totals *panthor_perf_pmu_pin(struct panthor_perf_pmu_run *run);
void panthor_perf_pmu_unpin(struct panthor_perf_pmu_totals *totals);
u64 panthor_perf_pmu_advance(local64_t *prev, u64 now);
bool panthor_perf_pmu_has_name(const struct panthor_perf_pmu_gpu *gpu,
			       const struct panthor_perf_pmu_name *name);
ssize_t panthor_perf_pmu_name_show(struct device *dev, struct device_attribute *attr, char *buf);
u64 panthor_perf_pmu_count(const struct panthor_perf_pmu_totals *totals, u32 num_values,
			   const struct panthor_perf_pmu_source *source, u64 now_ns);

#endif
