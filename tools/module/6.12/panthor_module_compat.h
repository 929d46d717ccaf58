/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What panthor of the newest Linux 6.12 calls and earlier releases of 6.12 lack. The module's Kbuild
 * includes this at the head of each source file.
 */

#ifndef __PANTHOR_MODULE_COMPAT_H__
#define __PANTHOR_MODULE_COMPAT_H__

#include <linux/jiffies.h>
#include <linux/overflow.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

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

/*
 * drm_sched_suspend_timeout() of 6.12 puts the timeout off by
 * MAX_SCHEDULE_TIMEOUT. Timers can take that for a negative distance, and then the
 * timeout expires at once: panthor kills a group whose jobs have not run for a
 * second. A patch of ours mends the function where it is, in gpu-sched.ko. A panthor that
 * is built for a kernel without that patch brings its own function instead, which puts
 * the timeout off by the longest distance that timers know.
 */
static inline unsigned long panthor_module_suspend_timeout(struct drm_gpu_scheduler *sched)
{
	unsigned long expires = READ_ONCE(sched->work_tdr.timer.expires);
	unsigned long now = jiffies;
	bool pending;

	pending = mod_delayed_work(sched->timeout_wq, &sched->work_tdr, MAX_JIFFY_OFFSET);

	return pending && time_after(expires, now) ? expires - now : sched->timeout;
}

#define drm_sched_suspend_timeout(sched)	panthor_module_suspend_timeout(sched)

#endif
