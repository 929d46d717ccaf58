/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: a PMU that outlives its device, for kernels that need it. */

#ifndef __PANTHOR_PERF_PMU_KEEP_H__
#define __PANTHOR_PERF_PMU_KEEP_H__

#ifdef CONFIG_DRM_PANTHOR_PERF_PMU
void panthor_perf_pmu_exit(void);
#else
static inline void panthor_perf_pmu_exit(void) {}
#endif

#endif
