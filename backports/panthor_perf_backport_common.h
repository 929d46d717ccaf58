/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What Linux 6.12 and 6.18 both lack of later kernels, or have under other names: the header of each, which the
 * Makefile includes at the head of each source file of performance counters, has the rest.
 */

#ifndef __PANTHOR_PERF_BACKPORT_COMMON_H__
#define __PANTHOR_PERF_BACKPORT_COMMON_H__

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "panthor_device.h"
#include "panthor_regs.h"

/*
 * In later kernels these take the address of a block of registers, in 6.12 and 6.18 the device. They are macros in
 * 6.12.
 */
#undef gpu_read

static inline u32 panthor_perf_read(void __iomem *iomem, u32 reg)
{
	return readl(iomem + reg);
}

static inline u64 panthor_perf_read64(void __iomem *iomem, u32 reg)
{
	return panthor_perf_read(iomem, reg) | ((u64)panthor_perf_read(iomem, reg + 4) << 32);
}

static inline u64 panthor_perf_read64_counter(void __iomem *iomem, u32 reg)
{
	u32 lo, hi1, hi2;

	do {
		hi1 = panthor_perf_read(iomem, reg + 4);
		lo = panthor_perf_read(iomem, reg);
		hi2 = panthor_perf_read(iomem, reg + 4);
	} while (hi1 != hi2);

	return lo | ((u64)hi2 << 32);
}

#define gpu_read(iomem, reg)		panthor_perf_read(iomem, reg)
#define gpu_read64(iomem, reg)		panthor_perf_read64(iomem, reg)
#define gpu_read64_counter(iomem, reg)	panthor_perf_read64_counter(iomem, reg)

/*
 * They do not support architecture 14, the first one with a power controller, so
 * the following two are never used.
 */
#undef PWR_SHADER_PRESENT
#define PWR_CONTROL_BASE	0
#define PWR_SHADER_PRESENT	GPU_SHADER_PRESENT

static inline bool panthor_hw_has_pwr_ctrl(struct panthor_device *ptdev)
{
	return false;
}

static inline void panthor_fw_ring_doorbell(struct panthor_device *ptdev, u32 doorbell_id)
{
	writel(1, ptdev->iomem + CSF_DOORBELL(doorbell_id));
}

/*
 * There the member of the snapshot has another name. A snapshot always contains
 * CLOCK_MONOTONIC_RAW, so there is no argument that selects it.
 */
#define monoraw		raw

static inline void ktime_get_snapshot_id(clockid_t id, struct system_time_snapshot *snapshot)
{
	ktime_get_snapshot(snapshot);
}

/*
 * perf_allow_cpu() is inline there and calls security_perf_event_open(), which is
 * not exported to modules. It does not exist without CONFIG_PERF_EVENTS. Check
 * CAP_PERFMON instead.
 */
#define perf_allow_cpu()	(perfmon_capable() ? 0 : -EACCES)

/* Their perf_event_attr has three such members. What is checked of both is checked twice. */
#define config4		config3

#endif
