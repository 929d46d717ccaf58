/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What suspend-fence.ko and the programs that use it agree on.
 */
#ifndef SUSPEND_FENCE_H
#define SUSPEND_FENCE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct suspend_fence_wait - what a device waits for the next time
 * @fd: a sync file with the fence
 * @limit_ms: when to give up; a driver would not
 * @resume: 1: in the .resume right behind the GPU's; 0: in the .suspend right behind it
 */
struct suspend_fence_wait {
	__s32 fd;
	__u32 limit_ms;
	__u32 resume;
};

/* What became of a wait. */
#define SUSPEND_FENCE_NOT_CALLED	0
#define SUSPEND_FENCE_WAS_SIGNALED	1
#define SUSPEND_FENCE_SIGNALED		2
#define SUSPEND_FENCE_GAVE_UP		3

/**
 * struct suspend_fence_result - what the last suspend led to
 * @state: SUSPEND_FENCE_NOT_CALLED etc.
 * @gpu_suspended: 1 if the GPU was suspended when the device behind it was
 */
struct suspend_fence_result {
	__u32 state;
	__u32 gpu_suspended;
};

/* A sync file with a fence that is signaled in the next .suspend right behind the GPU's. */
#define SUSPEND_FENCE_IOC_GATE		_IOR('F', 1, __s32)
#define SUSPEND_FENCE_IOC_WAIT		_IOW('F', 2, struct suspend_fence_wait)
#define SUSPEND_FENCE_IOC_RESULT	_IOR('F', 3, struct suspend_fence_result)
/* The next suspend of the system fails to suspend the GPU once, with -EAGAIN. */
#define SUSPEND_FENCE_IOC_REFUSE	_IO('F', 4)
/* Signals the fence now. */
#define SUSPEND_FENCE_IOC_OPEN		_IO('F', 5)

#endif /* SUSPEND_FENCE_H */
