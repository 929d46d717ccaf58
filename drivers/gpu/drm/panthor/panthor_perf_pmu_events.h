/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Copyright (c) 2020-2025 Arm Limited.
 * Facts from the counter specification of libGPUCounters, March 2026.
 */
/*
 * Performance counters: names of events for perf.
 *
 * Written by tools/perf/pmu-events/mali_events.py: change that, and run it.
 */

#ifndef __PANTHOR_PERF_PMU_EVENTS_H__
#define __PANTHOR_PERF_PMU_EVENTS_H__

#include <linux/types.h>

/** define PANTHOR_PERF_PMU_GPU_ACTIVE - Cycles that the GPU has work or firmware keeps it up */
#define PANTHOR_PERF_PMU_GPU_ACTIVE	0x304

/** define PANTHOR_PERF_PMU_EXTERNAL_READ - Beats of the external bus that carried data read */
#define PANTHOR_PERF_PMU_EXTERNAL_READ	0x520

/** define PANTHOR_PERF_PMU_EXTERNAL_WRITE - Beats of the external bus that carried data written */
#define PANTHOR_PERF_PMU_EXTERNAL_WRITE	0x52f

/**
 * enum panthor_perf_pmu_layout - Layouts of counters, one for each architecture
 */
enum panthor_perf_pmu_layout {
	/** @PANTHOR_PERF_PMU_LAYOUT_G710: As of the Mali-G710, architecture 10. */
	PANTHOR_PERF_PMU_LAYOUT_G710,
	/** @PANTHOR_PERF_PMU_LAYOUT_G715: As of the Mali-G715, architecture 11. */
	PANTHOR_PERF_PMU_LAYOUT_G715,
	/** @PANTHOR_PERF_PMU_LAYOUT_G720: As of the Mali-G720, architecture 12. */
	PANTHOR_PERF_PMU_LAYOUT_G720,
	/** @PANTHOR_PERF_PMU_LAYOUT_G725: As of the Mali-G725, architecture 13. */
	PANTHOR_PERF_PMU_LAYOUT_G725,
	/** @PANTHOR_PERF_PMU_LAYOUT_G1: As of the Mali G1, architecture 14. */
	PANTHOR_PERF_PMU_LAYOUT_G1,
};

/**
 * struct panthor_perf_pmu_event - An event that has a name in sysfs
 */
struct panthor_perf_pmu_event {
	/** @name: Name of the event, in lower case. */
	const char *name;

	/**
	 * @event: Block type << 8 | index of the counter in the block. The block type of
	 * events that the kernel makes is 0.
	 */
	u16 event;

	/** @unit: Unit of the count after it was multiplied by @scale, or NULL. */
	const char *unit;

	/** @scale: What perf multiplies the count by for people, or NULL for 1. */
	const char *scale;

	/**
	 * @layouts: Layouts on which the event has this number, a bit for each of
	 * &enum panthor_perf_pmu_layout.
	 */
	u8 layouts;
};

static const struct panthor_perf_pmu_event panthor_perf_pmu_events[] = {
	{ "gpu_time", 0x001, "ns", NULL, 0x1f },
	{ "gpu_active_time", 0x002, "ns", NULL, 0x1f },
	{ "gpu_cycles", 0x003, "cycles", NULL, 0x1f },
	{ "coregroup_cycles", 0x004, "cycles", NULL, 0x1f },
	{ "shader_cycles", 0x005, "cycles", NULL, 0x1f },
	{ "gpu_active_cores", 0x006, "cycles", NULL, 0x1f },
	{ "gpu_active_slices", 0x007, "cycles", NULL, 0x1f },
	{ "external_read_bytes", 0x008, "MiB", "9.5367431640625e-07", 0x1f },
	{ "external_write_bytes", 0x009, "MiB", "9.5367431640625e-07", 0x1f },
	{ "firmware_samples", 0x00a, NULL, NULL, 0x1f },
	{ "lost", 0x00b, NULL, NULL, 0x1f },
	{ "gpu_active", 0x304, "cycles", NULL, 0x1f },
	{ "gpu_iter_active", 0x306, "cycles", NULL, 0x1f },
	{ "gpu_irq_active", 0x30a, "cycles", NULL, 0x1f },
	{ "mcu_active", 0x305, "cycles", NULL, 0x1f },
	{ "iter_tiler_active", 0x310, "cycles", NULL, 0x07 },
	{ "iter_tiler_active", 0x340, "cycles", NULL, 0x18 },
	{ "iter_tiler_ready_blocked", 0x316, "cycles", NULL, 0x07 },
	{ "iter_tiler_ready_blocked", 0x346, "cycles", NULL, 0x18 },
	{ "iter_comp_active", 0x318, "cycles", NULL, 0x07 },
	{ "iter_comp_active", 0x320, "cycles", NULL, 0x18 },
	{ "iter_comp_ready_blocked", 0x31e, "cycles", NULL, 0x07 },
	{ "iter_comp_ready_blocked", 0x326, "cycles", NULL, 0x18 },
	{ "iter_frag_active", 0x320, "cycles", NULL, 0x07 },
	{ "iter_frag_active", 0x330, "cycles", NULL, 0x18 },
	{ "iter_frag_ready_blocked", 0x326, "cycles", NULL, 0x07 },
	{ "iter_frag_ready_blocked", 0x336, "cycles", NULL, 0x18 },
	{ "tiler_active", 0x404, "cycles", NULL, 0x1f },
	{ "prim_visible", 0x40b, "primitives", NULL, 0x1f },
	{ "l2_any_lookup", 0x519, "requests", NULL, 0x1f },
	{ "l2_read_lookup", 0x51a, "requests", NULL, 0x1f },
	{ "l2_write_lookup", 0x51b, "requests", NULL, 0x1f },
	{ "l2_ext_read", 0x51d, "transactions", NULL, 0x1f },
	{ "l2_ext_write", 0x52a, "transactions", NULL, 0x1f },
	{ "l2_ext_read_beats", 0x520, "beats", NULL, 0x1f },
	{ "l2_ext_write_beats", 0x52f, "beats", NULL, 0x1f },
	{ "l2_ext_ar_stall", 0x521, "cycles", NULL, 0x1f },
	{ "l2_ext_w_stall", 0x530, "cycles", NULL, 0x1f },
	{ "shader_core_active", 0x635, "cycles", NULL, 0x1f },
	{ "exec_core_active", 0x61a, "cycles", NULL, 0x1f },
	{ "frag_active", 0x604, "cycles", NULL, 0x1f },
	{ "compute_active", 0x616, "cycles", NULL, 0x1f },
	{ "frag_warps", 0x609, "warps", NULL, 0x1f },
	{ "compute_warps", 0x618, "warps", NULL, 0x1f },
};

#endif
