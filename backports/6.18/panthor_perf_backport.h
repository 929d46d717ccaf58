/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Linux 6.18 lacks functions of later kernels that performance counters use, or
 * has them under other names. This header supplies them. The Makefile includes it
 * at the head of each source file of performance counters.
 */

#ifndef __PANTHOR_PERF_BACKPORT_H__
#define __PANTHOR_PERF_BACKPORT_H__

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "panthor_device.h"
#include "panthor_regs.h"

/* In later kernels these take the address of a block of registers, here the device. */
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
 * 6.18 does not support architecture 14, the first one with a power controller, so
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
 * In 6.18 the member of the snapshot has another name. A snapshot always contains
 * CLOCK_MONOTONIC_RAW, so there is no argument that selects it.
 */
#define monoraw		raw

static inline void ktime_get_snapshot_id(clockid_t id, struct system_time_snapshot *snapshot)
{
	ktime_get_snapshot(snapshot);
}

/*
 * perf_allow_cpu() of 6.18 is inline and calls security_perf_event_open(), which is
 * not exported to modules. It does not exist without CONFIG_PERF_EVENTS. Check
 * CAP_PERFMON instead.
 */
#define perf_allow_cpu()	(perfmon_capable() ? 0 : -EACCES)

/* perf_event_attr of 6.18 has three such members. What is checked of both is checked twice. */
#define config4		config3

/* Later releases of 6.18 may have it, as those of 6.12 do. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, flags)	kzalloc(sizeof(object), flags)
#endif

#endif
