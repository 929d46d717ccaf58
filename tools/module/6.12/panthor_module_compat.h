/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What panthor of the newest Linux 6.12 calls and earlier releases of 6.12 lack. The module's Kbuild
 * includes this at the head of each source file.
 */

#ifndef __PANTHOR_MODULE_COMPAT_H__
#define __PANTHOR_MODULE_COMPAT_H__

#include <linux/overflow.h>

#include "panthor_module_sched.h"

/* Before 6.12.115 each of these is an argument of its own. */
#ifndef PANTHOR_MODULE_HAS_SCHED_INIT_ARGS
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};

static inline int panthor_module_sched_init(struct drm_gpu_scheduler *sched,
					    const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs, args->credit_limit,
			      args->hang_limit, args->timeout, args->timeout_wq, args->score,
			      args->name, args->dev);
}

#define drm_sched_init(sched, args)	panthor_module_sched_init(sched, args)
#endif

#ifndef range_overflows
#define range_overflows(start, size, max) ({ \
	typeof(start) from = (start); \
	typeof(size) more = (size); \
	typeof(max) end = (max); \
	from >= end || more > end - from; \
})
#endif

#endif
