/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What panthor of Linux 7.3 calls and older kernels lack, or have under another name, for a module that
 * is built for one of them. The module's Kbuild includes it at the head of each source file. Where an
 * expression is right on all kernels, it is used on all of them, as nothing then has to be found out.
 */

#ifndef __PANTHOR_MODULE_COMPAT_H__
#define __PANTHOR_MODULE_COMPAT_H__

#include <linux/capability.h>
#include <linux/dma-fence.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_gem.h>

/* Ahead of the kernel's own, which may not have all that panthor has. */
#include "include/drm/drm_gpuvm.h"
#include "include/uapi/drm/panthor_drm.h"

/* vma_get_page_prot() of Linux 7.2 takes flags, later ones take the mapping. */
#define vma_get_page_prot(vma)	vm_get_page_prot((vma)->vm_flags)
#define vma_is_cow_mapping(vma)	(((vma)->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)

/* In older kernels the caller passes a variable for the index. */
#undef drm_exec_for_each_locked_object
#define drm_exec_for_each_locked_object(exec, obj) \
	for (unsigned long at = 0; ((obj) = drm_exec_obj(exec, at)); at++)

/* Where there is such a feature, objects of drivers that do not ask for it cannot be mapped. */
#ifdef PANTHOR_MODULE_HAS_GEM_GPUVA
#define DRIVER_SYNCOBJ_TIMELINE	(DRIVER_SYNCOBJ_TIMELINE | DRIVER_GEM_GPUVA)
#endif

/* Kernels without these functions do not back GEM objects by huge pages. */
#ifndef PANTHOR_MODULE_HAS_GEM_HUGE_MNT
#define drm_gem_huge_mnt_create(dev, value)	0
#define drm_gem_get_huge_mnt(dev)		false
#endif
#ifndef PANTHOR_MODULE_HAS_GEM_GET_UNMAPPED_AREA
#define drm_gem_get_unmapped_area		NULL
#endif

/*
 * In older kernels the driver passes the lock of these lists, and drm_gem_lru_scan() does not count what
 * remains, on which panthor's shrinker relies. Don't register the shrinker, as the panthor of those kernels
 * has none either: lists are maintained, and never scanned. Their lock is another one of the device, which
 * DRM holds for moments, without allocating memory or taking locks of objects.
 */
#ifndef PANTHOR_MODULE_HAS_GEM_LRU_MUTEX
#define gem_lru_mutex			filelist_mutex
#define drm_gem_lru_init(lru)		drm_gem_lru_init(lru, &ptdev->base.gem_lru_mutex)
#define drm_gem_lru_scan(...)		0
#define shrinker_register(shrinker)	((void)(shrinker))
#endif

/* Later releases of 6.18 may have these. Flags that callers pass include GFP_KERNEL. */
#ifndef kzalloc_obj
#define kmalloc_obj(what)		kmalloc(sizeof(what), GFP_KERNEL)
#define kzalloc_obj(what, ...)		kzalloc(sizeof(what), GFP_KERNEL | (__VA_ARGS__ + 0))
#define kzalloc_objs(what, n)		kcalloc(n, sizeof(what), GFP_KERNEL)
#define kvmalloc_objs(what, n, flags)	kvmalloc_array(n, sizeof(what), flags)
#endif

/* In older kernels a fence has operations from its initialization to its end. */
#ifndef PANTHOR_MODULE_HAS_FENCE_INITIALIZED
#define dma_fence_was_initialized(fence)	((fence) && (fence)->ops)
#endif

/* In older kernels a snapshot always contains CLOCK_MONOTONIC_RAW, under this name. */
#ifndef PANTHOR_MODULE_HAS_SNAPSHOT_ID
#define monoraw					raw
#define ktime_get_snapshot_id(id, snapshot)	ktime_get_snapshot(snapshot)
#endif

/* perf_event_attr has no config4 in older kernels. Check config3 once more instead. */
#ifndef PANTHOR_MODULE_HAS_CONFIG4
#define config4			config3
#endif

/*
 * Before it was a function that modules can call it was inline, and called what they cannot. It does not
 * go by perf_event_paranoid then, but asks for CAP_PERFMON.
 */
#ifndef PANTHOR_MODULE_HAS_PERF_ALLOW_CPU
#define perf_allow_cpu()	(perfmon_capable() ? 0 : -EACCES)
#endif

#endif
