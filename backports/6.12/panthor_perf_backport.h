/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Linux 6.12 lacks functions of later kernels that performance counters use, or
 * has them under other names. This header supplies them. The Makefile includes it
 * at the head of each source file of performance counters.
 */

#ifndef __PANTHOR_PERF_BACKPORT_H__
#define __PANTHOR_PERF_BACKPORT_H__

#include <linux/hrtimer.h>
#include <linux/module.h>

#include <drm/drm_gem.h>

#include "panthor_fw.h"
#include "panthor_gem.h"
#include "panthor_perf_backport_common.h"

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

#endif
