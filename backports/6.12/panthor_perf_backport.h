/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Linux 6.12 lacks functions of later kernels that performance counters use, or
 * has them under other names. This header supplies them. The Makefile includes it
 * at the head of each source file of performance counters.
 */

#ifndef __PANTHOR_PERF_BACKPORT_H__
#define __PANTHOR_PERF_BACKPORT_H__

#include <linux/capability.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_gem.h>

#include "panthor_device.h"
#include "panthor_fw.h"
#include "panthor_gem.h"
#include "panthor_regs.h"

#define GPU_TIMESTAMP		GPU_TIMESTAMP_LO
#define GPU_CYCLE_COUNT		GPU_CYCLE_COUNT_LO
#define GPU_SHADER_PRESENT	GPU_SHADER_PRESENT_LO

/* Kernel objects have no name in 6.12. */
static inline struct panthor_kernel_bo *
panthor_kernel_bo_create_labelled(struct panthor_device *ptdev, struct panthor_vm *vm,
				  size_t size, u32 bo_flags, u32 vm_map_flags, u64 gpu_va,
				  const char *name)
{
	return panthor_kernel_bo_create(ptdev, vm, size, bo_flags, vm_map_flags, gpu_va);
}

#define panthor_kernel_bo_create	panthor_kernel_bo_create_labelled

#define drm_gem_vmap(obj, map)		drm_gem_vmap_unlocked(obj, map)
#define drm_gem_vunmap(obj, map)	drm_gem_vunmap_unlocked(obj, map)

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}

/*
 * In later kernels these take the address of a block of registers, in 6.12 the
 * device. gpu_read() is a macro in 6.12.
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
 * 6.12 does not support architecture 14, the first one with a power controller, so
 * the following two are never used.
 */
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
 * This member of the snapshot has another name in 6.12. A snapshot always contains
 * CLOCK_MONOTONIC_RAW, so there is no argument that selects it.
 */
#define monoraw		raw

static inline void ktime_get_snapshot_id(clockid_t id, struct system_time_snapshot *snapshot)
{
	ktime_get_snapshot(snapshot);
}

/*
 * perf_allow_cpu() is inline in 6.12 and calls security_perf_event_open(), which is
 * not exported to modules. It does not exist without CONFIG_PERF_EVENTS. Check
 * CAP_PERFMON instead.
 */
#define perf_allow_cpu()	(perfmon_capable() ? 0 : -EACCES)

/* perf_event_attr has no config4 in 6.12. Check config3 once more instead. */
#define config4		config3

#endif
