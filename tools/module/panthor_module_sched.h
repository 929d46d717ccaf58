/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * A function of another module that a module cannot mend in place, for the compat headers of Linux 6.12 and 6.18.
 */

#ifndef __PANTHOR_MODULE_SCHED_H__
#define __PANTHOR_MODULE_SCHED_H__

#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

/*
 * drm_sched_suspend_timeout() of these kernels puts the timeout off by
 * MAX_SCHEDULE_TIMEOUT. Timers can take that for a negative distance, and then the
 * timeout expires at once: panthor kills a group whose jobs have not run for a
 * second. The patches of both mend the function where it is, in gpu-sched.ko. A panthor that
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
