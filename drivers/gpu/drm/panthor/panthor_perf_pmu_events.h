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

/*
 * Files in events/. _layouts has a bit for each architecture that has the event, from 10 on; _i and
 * _next are indices in the array.
 */
#define PMU_FILE(_name, _text, _event, _layouts)				\
	(&((struct perf_pmu_events_attr[]) { {					\
		.attr = __ATTR(_name, 0444, perf_event_sysfs_show, NULL),	\
		.id = PANTHOR_PERF_PMU_ID(_event, _layouts),			\
		.event_str = _text,						\
	} })[0].attr.attr)

#define PMU_EVENT(_name, _event, _layouts)					\
	PMU_FILE(_name, "event=" #_event, _event, _layouts)

#define PMU_UNIT(_unit, _name, _event, _layouts)				\
	PMU_FILE(_name.unit, _unit, _event, _layouts)

#define PMU_EVENT_UNIT(_i, _next, _unit, args...)				\
	[_i] = PMU_EVENT(args), [_next] = PMU_UNIT(_unit, args)

static struct attribute *panthor_perf_pmu_events[] = {
	PMU_EVENT_UNIT(0, 1, "ns", gpu_time, 0x001, 0x1f),
	PMU_EVENT_UNIT(2, 3, "ns", gpu_active_time, 0x002, 0x1f),
	PMU_EVENT_UNIT(4, 5, "cycles", gpu_cycles, 0x003, 0x1f),
	PMU_EVENT_UNIT(6, 7, "cycles", coregroup_cycles, 0x004, 0x1f),
	PMU_EVENT_UNIT(8, 9, "cycles", shader_cycles, 0x005, 0x1f),
	PMU_EVENT_UNIT(10, 11, "cycles", gpu_cycles_times_cores, 0x006, 0x1f),
	PMU_EVENT_UNIT(12, 13, "cycles", gpu_cycles_times_slices, 0x007, 0x1f),
	PMU_EVENT_UNIT(14, 15, "MiB", external_read_bytes, 0x008, 0x1f),
	[16] = PMU_FILE(external_read_bytes.scale, "9.5367431640625e-07", 0x008, 0x1f),
	PMU_EVENT_UNIT(17, 18, "MiB", external_write_bytes, 0x009, 0x1f),
	[19] = PMU_FILE(external_write_bytes.scale, "9.5367431640625e-07", 0x009, 0x1f),
	[20] = PMU_EVENT(firmware_samples, 0x00a, 0x1f),
	[21] = PMU_EVENT(lost, 0x00b, 0x1f),
	PMU_EVENT_UNIT(22, 23, "cycles", gpu_active, 0x304, 0x1f),
	PMU_EVENT_UNIT(24, 25, "cycles", gpu_iter_active, 0x306, 0x1f),
	PMU_EVENT_UNIT(26, 27, "cycles", gpu_irq_active, 0x30a, 0x1f),
	PMU_EVENT_UNIT(28, 29, "cycles", mcu_active, 0x305, 0x1f),
	PMU_EVENT_UNIT(30, 31, "cycles", iter_tiler_active, 0x310, 0x07),
	PMU_EVENT_UNIT(32, 33, "cycles", iter_tiler_active, 0x340, 0x18),
	PMU_EVENT_UNIT(34, 35, "cycles", iter_tiler_ready_blocked, 0x316, 0x07),
	PMU_EVENT_UNIT(36, 37, "cycles", iter_tiler_ready_blocked, 0x346, 0x18),
	PMU_EVENT_UNIT(38, 39, "cycles", iter_comp_active, 0x318, 0x07),
	PMU_EVENT_UNIT(40, 41, "cycles", iter_comp_active, 0x320, 0x18),
	PMU_EVENT_UNIT(42, 43, "cycles", iter_comp_ready_blocked, 0x31e, 0x07),
	PMU_EVENT_UNIT(44, 45, "cycles", iter_comp_ready_blocked, 0x326, 0x18),
	PMU_EVENT_UNIT(46, 47, "cycles", iter_frag_active, 0x320, 0x07),
	PMU_EVENT_UNIT(48, 49, "cycles", iter_frag_active, 0x330, 0x18),
	PMU_EVENT_UNIT(50, 51, "cycles", iter_frag_ready_blocked, 0x326, 0x07),
	PMU_EVENT_UNIT(52, 53, "cycles", iter_frag_ready_blocked, 0x336, 0x18),
	PMU_EVENT_UNIT(54, 55, "cycles", tiler_active, 0x404, 0x1f),
	PMU_EVENT_UNIT(56, 57, "primitives", prim_visible, 0x40b, 0x1f),
	PMU_EVENT_UNIT(58, 59, "requests", l2_any_lookup, 0x519, 0x1f),
	PMU_EVENT_UNIT(60, 61, "requests", l2_read_lookup, 0x51a, 0x1f),
	PMU_EVENT_UNIT(62, 63, "requests", l2_write_lookup, 0x51b, 0x1f),
	PMU_EVENT_UNIT(64, 65, "transactions", l2_ext_read, 0x51d, 0x1f),
	PMU_EVENT_UNIT(66, 67, "transactions", l2_ext_write, 0x52a, 0x1f),
	PMU_EVENT_UNIT(68, 69, "beats", l2_ext_read_beats, 0x520, 0x1f),
	PMU_EVENT_UNIT(70, 71, "beats", l2_ext_write_beats, 0x52f, 0x1f),
	PMU_EVENT_UNIT(72, 73, "cycles", l2_ext_ar_stall, 0x521, 0x1f),
	PMU_EVENT_UNIT(74, 75, "cycles", l2_ext_w_stall, 0x530, 0x1f),
	PMU_EVENT_UNIT(76, 77, "cycles", shader_core_active, 0x635, 0x1f),
	PMU_EVENT_UNIT(78, 79, "cycles", exec_core_active, 0x61a, 0x1f),
	PMU_EVENT_UNIT(80, 81, "cycles", frag_active, 0x604, 0x1f),
	PMU_EVENT_UNIT(82, 83, "cycles", compute_active, 0x616, 0x1f),
	PMU_EVENT_UNIT(84, 85, "warps", frag_warps, 0x609, 0x1f),
	PMU_EVENT_UNIT(86, 87, "warps", compute_warps, 0x618, 0x1f),
	[88] = NULL
};

#endif
