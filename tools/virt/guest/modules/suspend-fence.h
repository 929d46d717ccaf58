/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * What suspend-fence.ko and the programs that use it agree on.
 */
#ifndef SUSPEND_FENCE_H
#define SUSPEND_FENCE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The device that is suspended after the GPU, as if registered before it, and the other one. */
#define SUSPEND_FENCE_LATE	0
#define SUSPEND_FENCE_EARLY	1
#define SUSPEND_FENCE_DEVICES	2

/**
 * struct suspend_fence_gate - a fence that is signalled on demand
 * @auto_open: 1: signal it in the late device's .prepare, which comes before the GPU's
 * @fd: answer: a sync file with the fence
 */
struct suspend_fence_gate {
	__u32 auto_open;
	__s32 fd;
};

/**
 * struct suspend_fence_wait - what a device's next .suspend waits for
 * @device: which device
 * @fd: a sync file with the fence
 * @limit_ms: when to give up; a driver would not
 */
struct suspend_fence_wait {
	__u32 device;
	__s32 fd;
	__u32 limit_ms;
};

/* What became of a wait. */
#define SUSPEND_FENCE_NOT_CALLED	0
#define SUSPEND_FENCE_WAS_SIGNALED	1
#define SUSPEND_FENCE_SIGNALED		2
#define SUSPEND_FENCE_GAVE_UP		3

/**
 * struct suspend_fence_result - what the last SUSPEND_FENCE_WAIT led to
 * @device: which device
 * @state: answer: SUSPEND_FENCE_NOT_CALLED etc.
 * @gpu_suspended: answer: 1 if the GPU was suspended when the device was
 */
struct suspend_fence_result {
	__u32 device;
	__u32 state;
	__u32 gpu_suspended;
};

#define SUSPEND_FENCE_IOC_GATE		_IOWR('F', 1, struct suspend_fence_gate)
#define SUSPEND_FENCE_IOC_OPEN_GATE	_IO('F', 2)
#define SUSPEND_FENCE_IOC_WAIT		_IOW('F', 3, struct suspend_fence_wait)
#define SUSPEND_FENCE_IOC_RESULT	_IOWR('F', 4, struct suspend_fence_result)

#endif /* SUSPEND_FENCE_H */
