/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: a PMU, through which perf counts what the GPU does. */

#ifndef __PANTHOR_PERF_PMU_H__
#define __PANTHOR_PERF_PMU_H__

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "panthor_perf_sampler.h"

/*
 * Events of block type 0, which the kernel makes: values of the event field of perf's config, and
 * indices in panthor_perf_pmu_totals::values. See Documentation/admin-guide/perf/panthor-pmu.rst.
 */
enum panthor_perf_pmu_made {
	PANTHOR_PERF_PMU_TIME = 0x01,
	PANTHOR_PERF_PMU_ACTIVE_TIME = 0x02,
	PANTHOR_PERF_PMU_TOPLEVEL_CYCLES = 0x03,
	PANTHOR_PERF_PMU_COREGROUP_CYCLES = 0x04,
	PANTHOR_PERF_PMU_SHADER_CYCLES = 0x05,
	/* Multiples of other events, which have no total of their own. */
	PANTHOR_PERF_PMU_CYCLES_TIMES_CORES = 0x06,
	PANTHOR_PERF_PMU_CYCLES_TIMES_SLICES = 0x07,
	PANTHOR_PERF_PMU_EXTERNAL_READ_BYTES = 0x08,
	PANTHOR_PERF_PMU_EXTERNAL_WRITE_BYTES = 0x09,
	PANTHOR_PERF_PMU_FIRMWARE_SAMPLES = 0x0a,
	PANTHOR_PERF_PMU_LOST = 0x0b,
	PANTHOR_PERF_PMU_MADE,
};

/* perf_pmu_events_attr::id of a file in events/: the event, and a bit for each layout. */
#define PANTHOR_PERF_PMU_ID(event, layouts)	((layouts) << 16 | (event))
#define PANTHOR_PERF_PMU_ID_EVENT(id)		((id) & 0xffff)
#define PANTHOR_PERF_PMU_ID_LAYOUTS(id)		((id) >> 16)

/**
 * struct panthor_perf_pmu_source - Where the count of an event comes from
 * @type: Type of the blocks whose counter it is, 0 if it is no counter.
 * @first: Index of its first total in panthor_perf_pmu_totals::values.
 * @stride: Distance to the same total of the next block.
 * @blocks: Number of blocks whose totals are added up.
 * @factor: Factor of the sum.
 */
struct panthor_perf_pmu_source {
	u32 type;
	u32 first;
	u32 stride;
	u32 blocks;
	u32 factor;
};

/**
 * struct panthor_perf_pmu_totals - Totals since the run began, one of two copies
 * @pins: Number of readers, meanwhile this is not written.
 * @asleep: The GPU is suspended: only PANTHOR_PERF_PMU_TIME goes on.
 * @values: First the totals of enum panthor_perf_pmu_made; the time is CLOCK_MONOTONIC_RAW. Then
 *	those of all values of all blocks, which are valid for block types with events.
 */
struct panthor_perf_pmu_totals {
	atomic_t pins;
	bool asleep;
	u64 *values;
};

/**
 * struct panthor_perf_pmu_run - Client of the sampler from the first event to the last
 * @rcu: Frees the run. Events are read with interrupts off, which RCU waits for.
 * @client: Client of the sampler. Its start_wait is also woken when a request is answered.
 * @last: Memory of panthor_perf_client::queue, for the last sample.
 * @refs: Number of files that are being closed, and one until the run ends.
 * @answered: Number of the latest firmware request whose sample is in the totals.
 *	Protected by panthor_perf_sampler::req_lock.
 * @users: Number of events. Protected by panthor_perf_pmu::lock.
 * @type_users: Number of events by block type. Protected by panthor_perf_pmu::lock.
 * @current_totals: Which of @totals is read. Written with panthor_perf_sampler::lock held.
 * @totals: The two copies. Written with panthor_perf_sampler::lock held.
 */
struct panthor_perf_pmu_run {
	struct rcu_head rcu;
	struct panthor_perf_client client;
	struct panthor_perf_request last;
	refcount_t refs;
	u32 answered;
	u32 users;
	u32 type_users[PANTHOR_PERF_BLOCK_TYPES];
	u32 current_totals;
	struct panthor_perf_pmu_totals totals[2];
};

/**
 * struct panthor_perf_pmu_hold - Totals from which a CPU reads all events of a transaction
 * @depth: Number of nested transactions.
 * @run: Run of the totals, NULL without a transaction or a run.
 * @totals: The totals, which are pinned. Valid if @run is not NULL.
 *
 * Written by its CPU with interrupts off. An NMI of the CPU may read it.
 */
struct panthor_perf_pmu_hold {
	u32 depth;
	struct panthor_perf_pmu_run *run;
	struct panthor_perf_pmu_totals *totals;
};

/**
 * struct panthor_perf_pmu_gpu - What determines the events of a GPU
 * @phys_addr: Physical address of the GPU's registers.
 * @arch: Major number of the architecture.
 * @bus_bytes: Width of the external bus in bytes, 0 if it is unknown.
 * @clocks: See drm_panthor_perf_info::supported_clocks.
 * @layout: Copy of the sampler's.
 */
struct panthor_perf_pmu_gpu {
	u64 phys_addr;
	u32 arch;
	u32 bus_bytes;
	u32 clocks;
	struct panthor_perf_layout layout;
};

/**
 * struct panthor_perf_pmu - The PMU of a device
 * @base: PMU of perf.
 * @gpu: GPU. Constant.
 * @sampler: Sampler. Constant.
 * @holds: Totals that each CPU reads.
 * @lock: Held while @run changes; nothing waits for a sample meanwhile. Order: @lock, those of
 *	&struct panthor_perf, panthor_perf_sampler::lock.
 * @interval_ms: Interval in milliseconds. Written with @lock held.
 * @run: The run, NULL if there are no events. Written with @lock held.
 */
struct panthor_perf_pmu {
	struct pmu base;
	struct panthor_perf_pmu_gpu gpu;
	struct panthor_perf_sampler *sampler;
	struct panthor_perf_pmu_hold __percpu *holds;
	/* Protects @run, the numbers of its events, and writing @interval_ms. */
	struct mutex lock;
	u32 interval_ms;
	struct panthor_perf_pmu_run __rcu *run;
};

int panthor_perf_pmu_parse(const struct panthor_perf_pmu_gpu *gpu, u64 config,
			   struct panthor_perf_pmu_source *source);
struct panthor_perf_pmu_run *panthor_perf_pmu_run_create(struct panthor_perf_sampler *sampler);
void panthor_perf_pmu_run_free(struct panthor_perf_pmu_run *run);
struct panthor_perf_pmu_totals *panthor_perf_pmu_pin(struct panthor_perf_pmu_run *run);
void panthor_perf_pmu_unpin(struct panthor_perf_pmu_totals *totals);
u64 panthor_perf_pmu_advance(local64_t *prev, u64 now);
bool panthor_perf_pmu_has_event(const struct panthor_perf_pmu_gpu *gpu, u64 id);
u64 panthor_perf_pmu_count(const struct panthor_perf_pmu_totals *totals,
			   const struct panthor_perf_pmu_source *source, u64 now_ns);

#endif
