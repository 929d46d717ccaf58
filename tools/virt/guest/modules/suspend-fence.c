// SPDX-License-Identifier: GPL-2.0 or MIT
/*
 * Devices that wait for a fence when the system suspends, like a display does
 *
 * Two platform devices, for tests only: one is suspended after the GPU, as if it
 * had been registered before it, one is suspended before the GPU. The .suspend of
 * either waits for the fence of a sync file that was given to it. A driver that
 * waits so hangs for ever if nobody signals the fence; this one gives up in the
 * end, and tells.
 *
 * It also makes a fence for jobs to wait for, which is signalled when user space
 * is frozen and no device's .prepare has been called but the first ones: a job
 * that waits for it runs when the devices are suspended, not earlier.
 */
#include <linux/dma-fence.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "suspend-fence.h"

#define GPU_COMPATIBLE "arm,mali-valhall-csf"

/**
 * struct gate - the fence for jobs
 * @base: the fence; first, as its memory is freed by its address
 * @lock: its lock
 */
struct gate {
	struct dma_fence base;
	/* Protects the fence's state, as the fence's framework wants it. */
	spinlock_t lock;
};

/**
 * struct waiter - one of the devices
 * @pdev: its device
 * @fence: what its next .suspend waits for, or NULL
 * @limit_ms: for how long
 * @state: what came of the last wait
 * @gpu_suspended: whether the GPU was suspended then
 */
struct waiter {
	struct platform_device *pdev;
	struct dma_fence *fence;
	u32 limit_ms;
	u32 state;
	bool gpu_suspended;
};

static struct waiter waiters[SUSPEND_FENCE_DEVICES];
static struct platform_device *gpu;
static struct dma_fence *gate;
static bool gate_auto_open;
/* Protects waiters, gate and gate_auto_open. Not held while a .suspend waits. */
static DEFINE_MUTEX(lock);

static const char *gate_name(struct dma_fence *fence)
{
	return "suspend-fence";
}

static const struct dma_fence_ops gate_ops = {
	.get_driver_name = gate_name,
	.get_timeline_name = gate_name,
};

static void gate_open(void)
{
	lockdep_assert_held(&lock);

	if (!gate)
		return;
	dma_fence_signal(gate);
	dma_fence_put(gate);
	gate = NULL;
}

static int waiter_prepare(struct device *dev)
{
	mutex_lock(&lock);
	if (dev == &waiters[SUSPEND_FENCE_LATE].pdev->dev && gate_auto_open)
		gate_open();
	mutex_unlock(&lock);
	return 0;
}

static int waiter_suspend(struct device *dev)
{
	struct waiter *w = &waiters[to_platform_device(dev)->id];
	struct dma_fence *fence;
	u32 limit_ms, state;

	mutex_lock(&lock);
	fence = w->fence;
	w->fence = NULL;
	limit_ms = w->limit_ms;
	w->gpu_suspended = gpu->dev.power.is_suspended;
	mutex_unlock(&lock);
	if (!fence)
		return 0;

	if (dma_fence_is_signaled(fence))
		state = SUSPEND_FENCE_WAS_SIGNALED;
	else if (dma_fence_wait_timeout(fence, false, msecs_to_jiffies(limit_ms)) > 0)
		state = SUSPEND_FENCE_SIGNALED;
	else
		state = SUSPEND_FENCE_GAVE_UP;
	dma_fence_put(fence);

	mutex_lock(&lock);
	w->state = state;
	mutex_unlock(&lock);
	return 0;
}

static const struct dev_pm_ops waiter_pm_ops = {
	.prepare = waiter_prepare,
	.suspend = waiter_suspend,
};

static struct platform_driver waiter_driver = {
	.driver = {
		.name = "suspend-fence",
		.pm = &waiter_pm_ops,
	},
};

static long make_gate(struct suspend_fence_gate *arg)
{
	struct sync_file *file;
	struct gate *g;
	int fd;

	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	spin_lock_init(&g->lock);
	dma_fence_init(&g->base, &gate_ops, &g->lock, dma_fence_context_alloc(1), 1);

	file = sync_file_create(&g->base);
	fd = file ? get_unused_fd_flags(O_CLOEXEC) : -ENOMEM;
	if (fd < 0) {
		if (file)
			fput(file->file);
		dma_fence_put(&g->base);
		return fd;
	}
	fd_install(fd, file->file);
	arg->fd = fd;

	mutex_lock(&lock);
	gate_open();
	gate = &g->base;
	gate_auto_open = arg->auto_open;
	mutex_unlock(&lock);
	return 0;
}

static long set_wait(const struct suspend_fence_wait *arg)
{
	struct waiter *w = &waiters[arg->device];
	struct dma_fence *fence = sync_file_get_fence(arg->fd);

	if (!fence)
		return -EINVAL;
	mutex_lock(&lock);
	dma_fence_put(w->fence);
	w->fence = fence;
	w->limit_ms = arg->limit_ms;
	w->state = SUSPEND_FENCE_NOT_CALLED;
	mutex_unlock(&lock);
	return 0;
}

static long suspend_fence_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	void __user *uarg = (void __user *)user;
	union {
		struct suspend_fence_gate gate;
		struct suspend_fence_wait wait;
		struct suspend_fence_result result;
	} arg = {};
	long ret;

	if (_IOC_SIZE(cmd) > sizeof(arg))
		return -ENOTTY;
	if ((_IOC_DIR(cmd) & _IOC_WRITE) && copy_from_user(&arg, uarg, _IOC_SIZE(cmd)))
		return -EFAULT;

	switch (cmd) {
	case SUSPEND_FENCE_IOC_GATE:
		ret = make_gate(&arg.gate);
		break;
	case SUSPEND_FENCE_IOC_OPEN_GATE:
		mutex_lock(&lock);
		gate_open();
		mutex_unlock(&lock);
		ret = 0;
		break;
	case SUSPEND_FENCE_IOC_WAIT:
		ret = arg.wait.device < SUSPEND_FENCE_DEVICES ? set_wait(&arg.wait) : -EINVAL;
		break;
	case SUSPEND_FENCE_IOC_RESULT:
		if (arg.result.device >= SUSPEND_FENCE_DEVICES)
			return -EINVAL;
		mutex_lock(&lock);
		arg.result.state = waiters[arg.result.device].state;
		arg.result.gpu_suspended = waiters[arg.result.device].gpu_suspended;
		mutex_unlock(&lock);
		ret = 0;
		break;
	default:
		return -ENOTTY;
	}
	if (!ret && (_IOC_DIR(cmd) & _IOC_READ) && copy_to_user(uarg, &arg, _IOC_SIZE(cmd)))
		return -EFAULT;
	return ret;
}

/* Nothing outlives the program that asked for it. */
static int suspend_fence_release(struct inode *inode, struct file *file)
{
	mutex_lock(&lock);
	gate_open();
	for (unsigned int i = 0; i < SUSPEND_FENCE_DEVICES; i++) {
		dma_fence_put(waiters[i].fence);
		waiters[i].fence = NULL;
	}
	mutex_unlock(&lock);
	return 0;
}

static const struct file_operations suspend_fence_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = suspend_fence_ioctl,
	.release = suspend_fence_release,
};

static struct miscdevice suspend_fence_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "suspend-fence",
	.fops = &suspend_fence_fops,
};

/*
 * Devices are suspended in the reverse of the order in which they were registered.
 * To be the consumer of a link moves the GPU behind the new device, as if it had
 * been registered later; this lasts when the link is gone.
 */
static int gpu_is_behind(struct device *dev)
{
	struct device_link *link = device_link_add(&gpu->dev, dev, DL_FLAG_STATELESS);

	if (!link)
		return -EINVAL;
	device_link_del(link);
	return 0;
}

static void unregister_waiters(void)
{
	for (unsigned int i = 0; i < SUSPEND_FENCE_DEVICES; i++)
		platform_device_unregister(waiters[i].pdev);
}

static int __init suspend_fence_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, GPU_COMPATIBLE);
	int ret;

	gpu = node ? of_find_device_by_node(node) : NULL;
	of_node_put(node);
	if (!gpu)
		return -ENODEV;

	for (unsigned int i = 0; i < SUSPEND_FENCE_DEVICES; i++) {
		struct platform_device *pdev;

		pdev = platform_device_register_simple("suspend-fence", i, NULL, 0);
		ret = PTR_ERR_OR_ZERO(pdev);
		if (ret)
			goto err_unregister;
		waiters[i].pdev = pdev;
		if (i == SUSPEND_FENCE_LATE) {
			ret = gpu_is_behind(&pdev->dev);
			if (ret)
				goto err_unregister;
		}
	}

	ret = platform_driver_register(&waiter_driver);
	if (ret)
		goto err_unregister;
	ret = misc_register(&suspend_fence_misc);
	if (ret)
		goto err_driver;
	return 0;

err_driver:
	platform_driver_unregister(&waiter_driver);
err_unregister:
	unregister_waiters();
	put_device(&gpu->dev);
	return ret;
}

static void __exit suspend_fence_exit(void)
{
	misc_deregister(&suspend_fence_misc);
	platform_driver_unregister(&waiter_driver);
	unregister_waiters();
	put_device(&gpu->dev);
}

module_init(suspend_fence_init);
module_exit(suspend_fence_exit);
MODULE_DESCRIPTION("Devices that wait for a fence in .suspend, for tests");
MODULE_LICENSE("Dual MIT/GPL");
