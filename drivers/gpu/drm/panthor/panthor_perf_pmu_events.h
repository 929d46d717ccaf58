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

#include "panthor_perf_pmu.h"

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

/* A file in events/, with the members of struct panthor_perf_pmu_name. */
#define PMU_NAME(_file, _text, _event, _layouts)					\
	(&((struct panthor_perf_pmu_name[]) { {						\
		.attr = {								\
			.attr = { .name = _file, .mode = 0444 },			\
			.show = panthor_perf_pmu_name_show,				\
		},									\
		.text = _text,								\
		.event = _event,							\
		.layouts = _layouts,							\
	} })[0].attr.attr)

static struct attribute *panthor_perf_pmu_names[] = {
	PMU_NAME("gpu_time", "event=0x001", 0x001, 0x1f),
	PMU_NAME("gpu_time.unit", "ns", 0x001, 0x1f),
	PMU_NAME("gpu_active_time", "event=0x002", 0x002, 0x1f),
	PMU_NAME("gpu_active_time.unit", "ns", 0x002, 0x1f),
	PMU_NAME("gpu_cycles", "event=0x003", 0x003, 0x1f),
	PMU_NAME("gpu_cycles.unit", "cycles", 0x003, 0x1f),
	PMU_NAME("coregroup_cycles", "event=0x004", 0x004, 0x1f),
	PMU_NAME("coregroup_cycles.unit", "cycles", 0x004, 0x1f),
	PMU_NAME("shader_cycles", "event=0x005", 0x005, 0x1f),
	PMU_NAME("shader_cycles.unit", "cycles", 0x005, 0x1f),
	PMU_NAME("gpu_cycles_times_cores", "event=0x006", 0x006, 0x1f),
	PMU_NAME("gpu_cycles_times_cores.unit", "cycles", 0x006, 0x1f),
	PMU_NAME("gpu_cycles_times_slices", "event=0x007", 0x007, 0x1f),
	PMU_NAME("gpu_cycles_times_slices.unit", "cycles", 0x007, 0x1f),
	PMU_NAME("external_read_bytes", "event=0x008", 0x008, 0x1f),
	PMU_NAME("external_read_bytes.unit", "MiB", 0x008, 0x1f),
	PMU_NAME("external_read_bytes.scale", "9.5367431640625e-07", 0x008, 0x1f),
	PMU_NAME("external_write_bytes", "event=0x009", 0x009, 0x1f),
	PMU_NAME("external_write_bytes.unit", "MiB", 0x009, 0x1f),
	PMU_NAME("external_write_bytes.scale", "9.5367431640625e-07", 0x009, 0x1f),
	PMU_NAME("firmware_samples", "event=0x00a", 0x00a, 0x1f),
	PMU_NAME("lost", "event=0x00b", 0x00b, 0x1f),
	PMU_NAME("gpu_active", "event=0x304", 0x304, 0x1f),
	PMU_NAME("gpu_active.unit", "cycles", 0x304, 0x1f),
	PMU_NAME("gpu_iter_active", "event=0x306", 0x306, 0x1f),
	PMU_NAME("gpu_iter_active.unit", "cycles", 0x306, 0x1f),
	PMU_NAME("gpu_irq_active", "event=0x30a", 0x30a, 0x1f),
	PMU_NAME("gpu_irq_active.unit", "cycles", 0x30a, 0x1f),
	PMU_NAME("mcu_active", "event=0x305", 0x305, 0x1f),
	PMU_NAME("mcu_active.unit", "cycles", 0x305, 0x1f),
	PMU_NAME("iter_tiler_active", "event=0x310", 0x310, 0x07),
	PMU_NAME("iter_tiler_active.unit", "cycles", 0x310, 0x07),
	PMU_NAME("iter_tiler_active", "event=0x340", 0x340, 0x18),
	PMU_NAME("iter_tiler_active.unit", "cycles", 0x340, 0x18),
	PMU_NAME("iter_tiler_ready_blocked", "event=0x316", 0x316, 0x07),
	PMU_NAME("iter_tiler_ready_blocked.unit", "cycles", 0x316, 0x07),
	PMU_NAME("iter_tiler_ready_blocked", "event=0x346", 0x346, 0x18),
	PMU_NAME("iter_tiler_ready_blocked.unit", "cycles", 0x346, 0x18),
	PMU_NAME("iter_comp_active", "event=0x318", 0x318, 0x07),
	PMU_NAME("iter_comp_active.unit", "cycles", 0x318, 0x07),
	PMU_NAME("iter_comp_active", "event=0x320", 0x320, 0x18),
	PMU_NAME("iter_comp_active.unit", "cycles", 0x320, 0x18),
	PMU_NAME("iter_comp_ready_blocked", "event=0x31e", 0x31e, 0x07),
	PMU_NAME("iter_comp_ready_blocked.unit", "cycles", 0x31e, 0x07),
	PMU_NAME("iter_comp_ready_blocked", "event=0x326", 0x326, 0x18),
	PMU_NAME("iter_comp_ready_blocked.unit", "cycles", 0x326, 0x18),
	PMU_NAME("iter_frag_active", "event=0x320", 0x320, 0x07),
	PMU_NAME("iter_frag_active.unit", "cycles", 0x320, 0x07),
	PMU_NAME("iter_frag_active", "event=0x330", 0x330, 0x18),
	PMU_NAME("iter_frag_active.unit", "cycles", 0x330, 0x18),
	PMU_NAME("iter_frag_ready_blocked", "event=0x326", 0x326, 0x07),
	PMU_NAME("iter_frag_ready_blocked.unit", "cycles", 0x326, 0x07),
	PMU_NAME("iter_frag_ready_blocked", "event=0x336", 0x336, 0x18),
	PMU_NAME("iter_frag_ready_blocked.unit", "cycles", 0x336, 0x18),
	PMU_NAME("tiler_active", "event=0x404", 0x404, 0x1f),
	PMU_NAME("tiler_active.unit", "cycles", 0x404, 0x1f),
	PMU_NAME("prim_visible", "event=0x40b", 0x40b, 0x1f),
	PMU_NAME("prim_visible.unit", "primitives", 0x40b, 0x1f),
	PMU_NAME("l2_any_lookup", "event=0x519", 0x519, 0x1f),
	PMU_NAME("l2_any_lookup.unit", "requests", 0x519, 0x1f),
	PMU_NAME("l2_read_lookup", "event=0x51a", 0x51a, 0x1f),
	PMU_NAME("l2_read_lookup.unit", "requests", 0x51a, 0x1f),
	PMU_NAME("l2_write_lookup", "event=0x51b", 0x51b, 0x1f),
	PMU_NAME("l2_write_lookup.unit", "requests", 0x51b, 0x1f),
	PMU_NAME("l2_ext_read", "event=0x51d", 0x51d, 0x1f),
	PMU_NAME("l2_ext_read.unit", "transactions", 0x51d, 0x1f),
	PMU_NAME("l2_ext_write", "event=0x52a", 0x52a, 0x1f),
	PMU_NAME("l2_ext_write.unit", "transactions", 0x52a, 0x1f),
	PMU_NAME("l2_ext_read_beats", "event=0x520", 0x520, 0x1f),
	PMU_NAME("l2_ext_read_beats.unit", "beats", 0x520, 0x1f),
	PMU_NAME("l2_ext_write_beats", "event=0x52f", 0x52f, 0x1f),
	PMU_NAME("l2_ext_write_beats.unit", "beats", 0x52f, 0x1f),
	PMU_NAME("l2_ext_ar_stall", "event=0x521", 0x521, 0x1f),
	PMU_NAME("l2_ext_ar_stall.unit", "cycles", 0x521, 0x1f),
	PMU_NAME("l2_ext_w_stall", "event=0x530", 0x530, 0x1f),
	PMU_NAME("l2_ext_w_stall.unit", "cycles", 0x530, 0x1f),
	PMU_NAME("shader_core_active", "event=0x635", 0x635, 0x1f),
	PMU_NAME("shader_core_active.unit", "cycles", 0x635, 0x1f),
	PMU_NAME("exec_core_active", "event=0x61a", 0x61a, 0x1f),
	PMU_NAME("exec_core_active.unit", "cycles", 0x61a, 0x1f),
	PMU_NAME("frag_active", "event=0x604", 0x604, 0x1f),
	PMU_NAME("frag_active.unit", "cycles", 0x604, 0x1f),
	PMU_NAME("compute_active", "event=0x616", 0x616, 0x1f),
	PMU_NAME("compute_active.unit", "cycles", 0x616, 0x1f),
	PMU_NAME("frag_warps", "event=0x609", 0x609, 0x1f),
	PMU_NAME("frag_warps.unit", "warps", 0x609, 0x1f),
	PMU_NAME("compute_warps", "event=0x618", 0x618, 0x1f),
	PMU_NAME("compute_warps.unit", "warps", 0x618, 0x1f),
	NULL
};

#endif
