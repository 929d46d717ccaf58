// SPDX-License-Identifier: GPL-2.0 or MIT
/*
 * Devices that wait for a fence when the system suspends or resumes, like displays do
 *
 * Two platform devices, for tests only. One is suspended after the GPU, and resumed
 * before it, as if it had been registered before it; the other the other way round.
 * The .suspend of the one, or the .resume of the other, waits for the fence of a sync
 * file that was given to it. A driver that waits so hangs for ever if nobody signals
 * the fence; these give up in the end, and tell.
 *
 * There also is a fence for jobs to wait for, which the .suspend of the first signals:
 * the turn of a job that waits for it comes when the GPU is suspended.
 *
 * The GPU also gets a power domain, which can refuse to be switched off once.
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
#include <linux/pm_runtime.h>
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
 * struct wait - what is asked of the next suspend and resume, and what came of the last ones
 * @fence: what is waited for, or NULL
 * @limit_ms: for how long
 * @resume: by the .resume behind the GPU's, not by the .suspend behind it
 * @state: what came of it
 * @gpu_suspended: whether the GPU was suspended when the one behind it was
 */
struct wait {
	struct dma_fence *fence;
	u32 limit_ms;
	bool resume;
	u32 state;
	bool gpu_suspended;
};

/* The one that is suspended behind the GPU, and the one that is suspended before it. */
static struct platform_device *behind, *before;
static struct platform_device *gpu;
static struct wait wait;
static struct dma_fence *gate;
/* The next suspend of the system fails to suspend the GPU once. */
static bool refuse;
/* Protects wait, gate and refuse. Not held while anything is waited for. */
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

static void wait_for_fence(bool resume)
{
	struct dma_fence *fence = NULL;
	u32 limit_ms, state;

	mutex_lock(&lock);
	if (wait.resume == resume)
		swap(fence, wait.fence);
	limit_ms = wait.limit_ms;
	mutex_unlock(&lock);
	if (!fence)
		return;

	if (dma_fence_is_signaled(fence))
		state = SUSPEND_FENCE_WAS_SIGNALED;
	else if (dma_fence_wait_timeout(fence, false, msecs_to_jiffies(limit_ms)) > 0)
		state = SUSPEND_FENCE_SIGNALED;
	else
		state = SUSPEND_FENCE_GAVE_UP;
	dma_fence_put(fence);

	mutex_lock(&lock);
	wait.state = state;
	mutex_unlock(&lock);
}

static int fence_suspend(struct device *dev)
{
	if (dev != &behind->dev)
		return 0;

	mutex_lock(&lock);
	gate_open();
	wait.gpu_suspended = gpu->dev.power.is_suspended;
	mutex_unlock(&lock);
	wait_for_fence(false);
	return 0;
}

static int fence_resume(struct device *dev)
{
	if (dev == &before->dev)
		wait_for_fence(true);
	return 0;
}

static const struct dev_pm_ops fence_pm_ops = {
	.suspend = fence_suspend,
	.resume = fence_resume,
};

static struct platform_driver fence_driver = {
	.driver = {
		.name = "suspend-fence",
		.pm = &fence_pm_ops,
	},
};

/* Runtime PM of the GPU is off while the system suspends it. */
static int domain_runtime_suspend(struct device *dev)
{
	bool refused = false;

	if (!pm_runtime_enabled(dev)) {
		mutex_lock(&lock);
		swap(refused, refuse);
		mutex_unlock(&lock);
	}
	return refused ? -EAGAIN : pm_generic_runtime_suspend(dev);
}

/* Other callbacks are those of the GPU's driver. */
static struct dev_pm_domain domain = {
	.ops.runtime_suspend = domain_runtime_suspend,
};

static long make_gate(__s32 __user *user)
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
	if (fd < 0 || put_user(fd, user)) {
		if (file)
			fput(file->file);
		if (fd >= 0)
			put_unused_fd(fd);
		dma_fence_put(&g->base);
		return fd < 0 ? fd : -EFAULT;
	}
	fd_install(fd, file->file);

	mutex_lock(&lock);
	gate_open();
	gate = &g->base;
	mutex_unlock(&lock);
	return 0;
}

static long set_wait(const struct suspend_fence_wait *arg)
{
	struct dma_fence *fence = sync_file_get_fence(arg->fd);

	if (!fence)
		return -EINVAL;
	mutex_lock(&lock);
	dma_fence_put(wait.fence);
	wait.fence = fence;
	wait.limit_ms = arg->limit_ms;
	wait.resume = arg->resume;
	wait.state = SUSPEND_FENCE_NOT_CALLED;
	mutex_unlock(&lock);
	return 0;
}

static long suspend_fence_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	void __user *uarg = (void __user *)user;
	struct suspend_fence_result result;
	struct suspend_fence_wait arg;

	switch (cmd) {
	case SUSPEND_FENCE_IOC_GATE:
		return make_gate(uarg);
	case SUSPEND_FENCE_IOC_WAIT:
		if (copy_from_user(&arg, uarg, sizeof(arg)))
			return -EFAULT;
		return set_wait(&arg);
	case SUSPEND_FENCE_IOC_RESULT:
		mutex_lock(&lock);
		result.state = wait.state;
		result.gpu_suspended = wait.gpu_suspended;
		mutex_unlock(&lock);
		return copy_to_user(uarg, &result, sizeof(result)) ? -EFAULT : 0;
	case SUSPEND_FENCE_IOC_REFUSE:
		mutex_lock(&lock);
		refuse = true;
		mutex_unlock(&lock);
		return 0;
	case SUSPEND_FENCE_IOC_OPEN:
		mutex_lock(&lock);
		gate_open();
		mutex_unlock(&lock);
		return 0;
	default:
		return -ENOTTY;
	}
}

/* Nothing outlives the program that asked for it. */
static int suspend_fence_release(struct inode *inode, struct file *file)
{
	mutex_lock(&lock);
	gate_open();
	dma_fence_put(wait.fence);
	memset(&wait, 0, sizeof(wait));
	refuse = false;
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

static int __init suspend_fence_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, GPU_COMPATIBLE);
	int ret;

	gpu = node ? of_find_device_by_node(node) : NULL;
	of_node_put(node);
	if (!gpu)
		return -ENODEV;

	behind = platform_device_register_simple("suspend-fence", 0, NULL, 0);
	ret = PTR_ERR_OR_ZERO(behind);
	if (ret)
		goto err_gpu;
	ret = gpu_is_behind(&behind->dev);
	if (ret)
		goto err_behind;
	before = platform_device_register_simple("suspend-fence", 1, NULL, 0);
	ret = PTR_ERR_OR_ZERO(before);
	if (ret)
		goto err_behind;
	ret = platform_driver_register(&fence_driver);
	if (ret)
		goto err_before;
	ret = misc_register(&suspend_fence_misc);
	if (ret)
		goto err_driver;
	/* dev_pm_domain_set() refuses a device that has a driver. */
	gpu->dev.pm_domain = &domain;
	return 0;

err_driver:
	platform_driver_unregister(&fence_driver);
err_before:
	platform_device_unregister(before);
err_behind:
	platform_device_unregister(behind);
err_gpu:
	put_device(&gpu->dev);
	return ret;
}

static void __exit suspend_fence_exit(void)
{
	gpu->dev.pm_domain = NULL;
	misc_deregister(&suspend_fence_misc);
	platform_driver_unregister(&fence_driver);
	platform_device_unregister(before);
	platform_device_unregister(behind);
	put_device(&gpu->dev);
}

module_init(suspend_fence_init);
module_exit(suspend_fence_exit);
MODULE_DESCRIPTION("Devices that wait for a fence in .suspend or .resume, for tests");
MODULE_LICENSE("Dual MIT/GPL");
