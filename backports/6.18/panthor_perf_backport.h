/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * Kernels and their panthor, from Linux 6.18 on, may lack functions of later ones that
 * performance counters use, or have them under other names. This header supplies them. It is
 * included at the head of each source file of performance counters, by panthor_perf_backport.mk,
 * which defines PANTHOR_PERF_HAS_ what is there.
 */

#ifndef __PANTHOR_PERF_BACKPORT_H__
#define __PANTHOR_PERF_BACKPORT_H__

#include <linux/capability.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "panthor_device.h"
#include "panthor_fw.h"
#include "panthor_fw_regs.h"
#include "panthor_gpu_regs.h"

/*
 * Panthor with one header for all registers: functions that read them take the device, and not
 * the address of a block of registers. It does not support architecture 14, the first one with
 * a power controller, so the last three are never used.
 */
#ifdef __PANTHOR_REGS_H__
#define gpu_read(iomem, reg)		readl((iomem) + (reg))
#define gpu_read64(iomem, reg)		lo_hi_readq((iomem) + (reg))
#define gpu_read64_counter(iomem, reg)	panthor_perf_read_counter((iomem) + (reg))

static inline u64 panthor_perf_read_counter(void __iomem *reg)
{
	u32 lo, hi1, hi2;

	do {
		hi1 = readl(reg + 4);
		lo = readl(reg);
		hi2 = readl(reg + 4);
	} while (hi1 != hi2);

	return lo | ((u64)hi2 << 32);
}

#define PWR_CONTROL_BASE		0
#define PWR_SHADER_PRESENT		GPU_SHADER_PRESENT
#define panthor_hw_has_pwr_ctrl(ptdev)	false
#endif

#ifndef PANTHOR_PERF_HAS_RING_DOORBELL
#define panthor_fw_ring_doorbell(ptdev, id)	writel(1, (ptdev)->iomem + CSF_DOORBELL(id))
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(what, flags)	kzalloc(sizeof(what), flags)
#endif

/* A snapshot without an argument always contains CLOCK_MONOTONIC_RAW, under this name. */
#ifndef PANTHOR_PERF_HAS_SNAPSHOT_ID
#define monoraw				raw
#define ktime_get_snapshot_id(id, snapshot)	ktime_get_snapshot(snapshot)
#endif

/* perf_event_attr has no config4. Check config3 once more instead. */
#ifndef PANTHOR_PERF_HAS_CONFIG4
#define config4				config3
#endif

/* Inline, and calls what modules cannot. Ask for CAP_PERFMON instead of perf_event_paranoid. */
#ifndef PANTHOR_PERF_HAS_ALLOW_CPU
#define perf_allow_cpu()		(perfmon_capable() ? 0 : -EACCES)
#endif

#endif
