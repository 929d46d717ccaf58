/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Linux 6.18 lacks functions of later kernels that performance counters use, or
 * has them under other names. This header supplies them. The Makefile includes it
 * at the head of each source file of performance counters.
 */

#ifndef __PANTHOR_PERF_BACKPORT_H__
#define __PANTHOR_PERF_BACKPORT_H__

#include "panthor_perf_backport_common.h"

/* Later releases of 6.18 may have it, as those of 6.12 do. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, flags)	kzalloc(sizeof(object), flags)
#endif

#endif
