/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: functions that the rest of the driver calls. */

#ifndef __PANTHOR_PERF_H__
#define __PANTHOR_PERF_H__

#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

struct drm_device;
struct drm_file;
struct drm_minor;
struct drm_printer;
struct panthor_device;
struct panthor_file;
struct panthor_perf_pmu;
struct panthor_perf_sampler;

/* Answers the query for a GPU without counters: all block counts are 0. */
static inline void panthor_perf_no_info(struct drm_panthor_perf_info *info)
{
	*info = (struct drm_panthor_perf_info) {
		.sample_header_size = sizeof(struct drm_panthor_perf_sample_header),
		.block_header_size = sizeof(struct drm_panthor_perf_block_header),
		.sample_size = sizeof(struct drm_panthor_perf_sample_header),
	};
}

#ifdef CONFIG_DRM_PANTHOR_PERF
void panthor_perf_init(struct panthor_device *ptdev);
void panthor_perf_register(struct panthor_device *ptdev);
void panthor_perf_unplug(struct panthor_device *ptdev);
void panthor_perf_free_ring(struct panthor_device *ptdev);

void panthor_perf_pre_suspend(struct panthor_device *ptdev);
void panthor_perf_post_suspend(struct panthor_device *ptdev, bool halted);
void panthor_perf_resume(struct panthor_device *ptdev);

void panthor_perf_irq(struct panthor_device *ptdev);

int panthor_perf_open(struct panthor_file *pfile);
void panthor_perf_submit(struct panthor_file *pfile);
void panthor_perf_close(struct panthor_file *pfile);
void panthor_perf_show_fdinfo(struct panthor_file *pfile, struct drm_printer *p);
void panthor_perf_debugfs_init(struct drm_minor *minor);

void panthor_perf_info(struct panthor_device *ptdev, struct drm_panthor_perf_info *info);
int panthor_ioctl_perf_control(struct drm_device *ddev, void *data, struct drm_file *file);
#else
static inline void panthor_perf_init(struct panthor_device *ptdev) {}
static inline void panthor_perf_register(struct panthor_device *ptdev) {}
static inline void panthor_perf_unplug(struct panthor_device *ptdev) {}
static inline void panthor_perf_free_ring(struct panthor_device *ptdev) {}

static inline void panthor_perf_pre_suspend(struct panthor_device *ptdev) {}
static inline void panthor_perf_post_suspend(struct panthor_device *ptdev, bool halted) {}
static inline void panthor_perf_resume(struct panthor_device *ptdev) {}

static inline void panthor_perf_irq(struct panthor_device *ptdev) {}

static inline int panthor_perf_open(struct panthor_file *pfile)
{
	return 0;
}

static inline void panthor_perf_submit(struct panthor_file *pfile) {}
static inline void panthor_perf_close(struct panthor_file *pfile) {}
static inline void panthor_perf_show_fdinfo(struct panthor_file *pfile, struct drm_printer *p) {}
static inline void panthor_perf_debugfs_init(struct drm_minor *minor) {}

static inline void panthor_perf_info(struct panthor_device *ptdev,
				     struct drm_panthor_perf_info *info)
{
	panthor_perf_no_info(info);
}

static inline int panthor_ioctl_perf_control(struct drm_device *ddev, void *data,
					     struct drm_file *file)
{
	return -EOPNOTSUPP;
}
#endif

int panthor_perf_make_ring(struct panthor_perf_sampler *sampler);

#ifdef CONFIG_DRM_PANTHOR_PERF_PMU
struct panthor_perf_pmu *panthor_perf_pmu_add(struct panthor_device *ptdev,
					      struct panthor_perf_sampler *sampler);
void panthor_perf_pmu_unplug(struct panthor_perf_pmu *pmu);
void panthor_perf_pmu_flush(struct panthor_perf_pmu *pmu);
#else
static inline struct panthor_perf_pmu *
panthor_perf_pmu_add(struct panthor_device *ptdev, struct panthor_perf_sampler *sampler)
{
	return NULL;
}

static inline void panthor_perf_pmu_unplug(struct panthor_perf_pmu *pmu) {}
static inline void panthor_perf_pmu_flush(struct panthor_perf_pmu *pmu) {}
#endif

#endif
