/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What panthor of Linux 7.3 calls and older kernels lack, or have under another name, for a module that
 * is built for one of them. The module's Kbuild includes it at the head of each source file. Where an
 * expression is right on all kernels, it is used on all of them, as nothing then has to be found out.
 */

#ifndef __PANTHOR_MODULE_COMPAT_H__
#define __PANTHOR_MODULE_COMPAT_H__

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/perf_event.h>

#include <drm/drm_drv.h>

/* Ahead of the kernel's own, which may not have all that panthor has. */
#include "include/uapi/drm/panthor_drm.h"

/* vma_get_page_prot() of Linux 7.2 takes flags, later ones take the mapping. */
#define vma_get_page_prot(vma)	vm_get_page_prot((vma)->vm_flags)
#define vma_is_cow_mapping(vma)	(((vma)->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)

/* Where there is such a feature, objects of drivers that do not ask for it cannot be mapped. */
#ifdef PANTHOR_MODULE_HAS_GEM_GPUVA
#define DRIVER_SYNCOBJ_TIMELINE	(DRIVER_SYNCOBJ_TIMELINE | DRIVER_GEM_GPUVA)
#endif

/*
 * Before it was a function that modules can call it was inline, and called what they cannot. It does not
 * go by perf_event_paranoid then, but asks for CAP_PERFMON.
 */
#ifndef PANTHOR_MODULE_HAS_PERF_ALLOW_CPU
#define perf_allow_cpu()	(perfmon_capable() ? 0 : -EACCES)
#endif

#endif
