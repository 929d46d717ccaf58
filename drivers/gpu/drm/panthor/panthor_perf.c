// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the ioctl, the query, the hooks. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "panthor_device.h"
#include "panthor_gem.h"
#include "panthor_perf.h"
#include "panthor_perf_session.h"

/**
 * DOC: Performance counters
 *
 * Counters are in five rooms, each of which knows of those below it only:
 *
 * - panthor_perf.c: the ioctl, the query, files, hooks into the driver
 * - panthor_perf_session.c: one session, the user's memory
 * - panthor_perf_sampler.c: all sessions together, requests, states, recovery
 * - panthor_perf_fw.c: the firmware ring and the global interface
 * - panthor_perf_layout.c: where things are in samples
 *
 * and panthor_perf_clock.c, which knows the time.
 *
 * Failing to set counters up never fails the probe: a GPU without counters is
 * still a GPU, and ptdev->perf is NULL or without a layout.
 */

/** define PERF_MIN_PERIOD_NS - Shortest period of a session */
#define PERF_MIN_PERIOD_NS		(100 * NSEC_PER_USEC)

/** define PERF_MAX_SLOTS - Most slots of a user's ring */
#define PERF_MAX_SLOTS			4096

/** define PERF_SETS - Sets that exist; which of them a GPU has cannot be told */
#define PERF_SETS			0x7

/* Limits: of a device, of a file, of users without CAP_PERFMON. */
#define PERF_MAX_SESSIONS		256
#define PERF_MAX_FILE_SESSIONS		64
#define PERF_MAX_USER_SESSIONS		16
#define PERF_MIN_USER_PERIOD_NS		PANTHOR_PERF_LIMITED_NS
#define PERF_MAX_USER_RING		SZ_16M

/* Limits of the firmware ring; more than 128 slots cannot be told to firmware. */
#define PERF_MIN_FW_SLOTS		16
#define PERF_MAX_FW_SLOTS		128
#define PERF_DEFAULT_FW_SLOTS		32

static bool perf_paranoid = true;
module_param(perf_paranoid, bool, 0644);
MODULE_PARM_DESC(perf_paranoid,
		 "Performance counters take the permission to watch CPUs with perf; if false, the primary set takes none (true = default)");

static uint perf_ring_slots = PERF_DEFAULT_FW_SLOTS;
module_param(perf_ring_slots, uint, 0444);
MODULE_PARM_DESC(perf_ring_slots,
		 "Slots of the firmware's ring of counter samples, a power of two from 16 to 128 (32 = default)");

/**
 * struct perf_resources - What a device has as long as it has sessions
 */
struct perf_resources {
	/** @ring: Memory of the firmware ring. */
	struct panthor_kernel_bo *ring;

	/** @watch: Rates of the clocks. */
	struct panthor_perf_clock_watch watch;
};

/**
 * struct panthor_perf - Performance counters of a device
 */
struct panthor_perf {
	/** @ptdev: Device. */
	struct panthor_device *ptdev;

	/** @info: What the query returns. */
	struct drm_panthor_perf_info info;

	/** @supported: There are counters. Nothing below is initialized if there are none. */
	bool supported;

	/** @layout: Layout of samples. */
	struct panthor_perf_layout layout;

	/** @fw: Firmware. */
	struct panthor_perf_fw fw;

	/** @clock: Time and cycles. */
	struct panthor_perf_clock clock;

	/** @sampler: Sampler. */
	struct panthor_perf_sampler sampler;

	/** @fw_slots: Slots of the firmware ring. */
	u32 fw_slots;

	/**
	 * @setup_lock: Protects the fields below, panthor_perf_file::num_sessions,
	 * and that there are @resources as long as there are sessions.
	 *
	 * Taken in process context by SETUP, TEARDOWN, close, unplug and debugfs,
	 * some of which cannot be interrupted: nothing is allocated, freed or
	 * mapped with it held, and nothing is waited for but the sampler's locks,
	 * which nest in it. The clock framework allocates with its lock held, so
	 * that it is not called, either.
	 */
	struct mutex setup_lock;

	/** @resources: Used by firmware, sampler and clock. NULL if there are none. */
	struct perf_resources *resources;

	/** @sessions: Sessions, by panthor_perf_session::node. */
	struct list_head sessions;

	/** @num_sessions: Number of sessions. */
	u32 num_sessions;

	/** @last_id: Number of the latest session. */
	u32 last_id;

	/**
	 * @release_work: Releases @resources that were still in use by firmware
	 * when the last session ended. Queued when the MCU has stopped.
	 */
	struct work_struct release_work;
};

/**
 * struct panthor_perf_file - Sessions of a file
 */
struct panthor_perf_file {
	/**
	 * @sessions: Sessions by handle; NULL for one that is being set up. Its
	 * lock protects the look-up.
	 */
	struct xarray sessions;

	/** @next_handle: Where to look for the next handle. Protected by the lock of @sessions. */
	u32 next_handle;

	/**
	 * @num_sessions: Number of sessions. Changed with
	 * panthor_perf::setup_lock held, read by fdinfo without it.
	 */
	atomic_t num_sessions;

	/** @stats: Statistics. */
	struct panthor_perf_stats stats;
};

static bool ask_for_reset(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf *perf = container_of(sampler, struct panthor_perf, sampler);

	/* Between resume and that, a reset is either forgotten or not even queued. */
	if (atomic_read(&perf->ptdev->pm.state) != PANTHOR_DEVICE_PM_STATE_ACTIVE)
		return false;

	/* One that others have asked for is theirs. */
	if (panthor_device_reset_is_pending(perf->ptdev))
		return false;

	panthor_device_schedule_reset(perf->ptdev);
	return true;
}

/* Like create_resources(), not to be called with setup_lock or the sampler's lock held. */
static void destroy_resources(struct perf_resources *res)
{
	if (!res)
		return;

	panthor_perf_clock_watch_fini(&res->watch);
	panthor_kernel_bo_destroy(res->ring);
	kfree(res);
}

static struct perf_resources *create_resources(struct panthor_perf *perf)
{
	struct perf_resources *res = kzalloc_obj(*res, GFP_KERNEL_ACCOUNT);
	int ret;

	if (!res)
		return ERR_PTR(-ENOMEM);

	ret = panthor_perf_fw_ring_alloc(&perf->fw, perf->fw_slots, &res->ring);
	if (ret)
		goto err_free;

	ret = panthor_perf_clock_watch_init(&res->watch, &perf->clock);
	if (ret)
		goto err_destroy_ring;

	return res;

err_destroy_ring:
	panthor_kernel_bo_destroy(res->ring);

err_free:
	kfree(res);
	return ERR_PTR(ret);
}

static void install_resources(struct panthor_perf *perf, struct perf_resources *res)
{
	lockdep_assert_held(&perf->setup_lock);

	guard(mutex)(&perf->sampler.lock);

	WRITE_ONCE(perf->resources, res);
	panthor_perf_fw_ring_set(&perf->fw, res->ring, perf->fw_slots);

	/* Registers may be read as long as the hooks have not said that it goes. */
	panthor_perf_clock_attach(&perf->clock, &res->watch,
				  panthor_perf_sampler_mcu_runs(&perf->sampler));
}

/* Nothing uses them afterwards. Counters are disabled, or the MCU has stopped. */
static struct perf_resources *take_resources(struct panthor_perf *perf)
{
	struct perf_resources *res = perf->resources;

	lockdep_assert_held(&perf->setup_lock);
	lockdep_assert_held(&perf->sampler.lock);

	if (!res)
		return NULL;

	panthor_perf_fw_ring_clear(&perf->fw);
	panthor_perf_clock_detach(&perf->clock);
	WRITE_ONCE(perf->resources, NULL);
	return res;
}

/*
 * Takes the resources if there are no sessions. Firmware may still write to the
 * ring: while the MCU is being halted, which has an end (-EAGAIN), and until it
 * has seen that counters are to be disabled, which protected mode keeps it from,
 * as does firmware that does not answer. The resources stay then, for the next
 * session, or until the MCU has been stopped.
 */
static int take_unused(struct panthor_perf *perf, struct perf_resources **res)
{
	struct panthor_perf_sampler *sampler = &perf->sampler;

	guard(mutex)(&perf->setup_lock);

	if (perf->num_sessions)
		return 0;

	guard(mutex)(&sampler->lock);

	if (panthor_perf_sampler_mcu_runs(sampler) && panthor_perf_fw_enabled(&perf->fw))
		return sampler->state == PANTHOR_PERF_SAMPLER_CLOSING ? -EAGAIN : 0;

	*res = take_resources(perf);
	return 0;
}

/* After the last session. */
static void release_resources(struct panthor_perf *perf)
{
	struct perf_resources *res = NULL;
	int cookie;

	/* Once the device is unplugged, unplug has freed them or is about to. */
	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return;

	while (take_unused(perf, &res) == -EAGAIN)
		panthor_perf_sampler_wait_open(&perf->sampler);

	destroy_resources(res);
	drm_dev_exit(cookie);
}

static void release_work(struct work_struct *work)
{
	release_resources(container_of(work, struct panthor_perf, release_work));
}

/* The MCU has stopped, so that nothing is in use without a session. */
static void release_later(struct panthor_perf *perf)
{
	/* Looked at without the lock: the work looks again. */
	if (READ_ONCE(perf->resources) && !READ_ONCE(perf->num_sessions))
		queue_work(perf->sampler.wq, &perf->release_work);
}

static int check_setup(const struct drm_panthor_perf_cmd_setup *setup)
{
	if (memchr_inv(setup->pad, 0, sizeof(setup->pad)) ||
	    (setup->setup_flags & ~DRM_PANTHOR_PERF_SETUP_EMIT_AUTO) ||
	    setup->block_set > DRM_PANTHOR_PERF_SET_TERTIARY ||
	    setup->sample_slots < 2 || setup->sample_slots > PERF_MAX_SLOTS ||
	    !is_power_of_2(setup->sample_slots) ||
	    setup->sample_freq_ns > KTIME_MAX / 2)
		return -EINVAL;

	return 0;
}

/*
 * Counters tell of the work of all programs on the GPU, as a CPU's counters tell
 * of all programs on that CPU: whoever perf allows to see the latter may see the
 * former. Kernels whose modules cannot ask perf ask for CAP_PERFMON instead.
 *
 * Limits are about what a session costs the others, and how closely it can watch
 * them. They depend on CAP_PERFMON alone.
 */
static int check_permission(struct panthor_perf *perf,
			    const struct drm_panthor_perf_cmd_setup *setup, bool unprivileged)
{
	u64 ring_size = (u64)setup->sample_slots * perf->layout.user_sample_size;

	if (READ_ONCE(perf_paranoid) || setup->block_set != DRM_PANTHOR_PERF_SET_PRIMARY) {
		int ret = perf_allow_cpu();

		/* A security module may refuse with either of the two. */
		if (ret)
			return ret == -EPERM ? -EACCES : ret;
	}

	if (!unprivileged)
		return 0;

	if (setup->sample_freq_ns && setup->sample_freq_ns < PERF_MIN_USER_PERIOD_NS)
		return -EACCES;

	return ring_size > PERF_MAX_USER_RING ? -EACCES : 0;
}

static int check_limits(struct panthor_perf *perf, struct panthor_perf_file *pf,
			bool unprivileged)
{
	struct panthor_perf_session *session;
	u32 count = 0;

	lockdep_assert_held(&perf->setup_lock);

	if (perf->num_sessions >= PERF_MAX_SESSIONS ||
	    atomic_read(&pf->num_sessions) >= PERF_MAX_FILE_SESSIONS)
		return -ENOSPC;

	if (!unprivileged)
		return 0;

	list_for_each_entry(session, &perf->sessions, node)
		count += session->unprivileged && uid_eq(session->uid, current_uid());

	return count >= PERF_MAX_USER_SESSIONS ? -ENOSPC : 0;
}

/*
 * Makes a session one of the device's, with resources that are there or, if
 * none are, with those that the caller has made. -EAGAIN asks for some.
 */
static int add_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
		       struct panthor_perf_session *session, struct perf_resources **res)
{
	int ret = mutex_lock_interruptible(&perf->setup_lock);

	if (ret)
		return ret;

	ret = check_limits(perf, pf, session->unprivileged);
	if (ret)
		goto out_unlock;

	if (!perf->resources) {
		if (!*res) {
			ret = -EAGAIN;
			goto out_unlock;
		}

		install_resources(perf, *res);
		*res = NULL;
	}

	session->client.id = ++perf->last_id;
	list_add_tail(&session->node, &perf->sessions);
	WRITE_ONCE(perf->num_sessions, perf->num_sessions + 1);
	atomic_inc(&pf->num_sessions);

out_unlock:
	mutex_unlock(&perf->setup_lock);
	return ret;
}

static int add_session_and_resources(struct panthor_perf *perf, struct panthor_perf_file *pf,
				     struct panthor_perf_session *session)
{
	struct perf_resources *res = NULL;
	int ret = add_session(perf, pf, session, &res);

	if (ret != -EAGAIN)
		return ret;

	res = create_resources(perf);
	if (IS_ERR(res)) {
		int err = PTR_ERR(res);

		/* Others may have had more luck meanwhile. */
		res = NULL;
		ret = add_session(perf, pf, session, &res);
		return ret == -EAGAIN ? err : ret;
	}

	/*
	 * By now others may have installed theirs, and may even have taken them
	 * away again: in either case this finds some, or installs these.
	 */
	ret = add_session(perf, pf, session, &res);
	destroy_resources(res);
	return ret;
}

/* Ends a session that others can no longer find. */
static void end_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
			struct panthor_perf_session *session)
{
	bool last;

	/* The list refers to it for a moment longer than the sampler does. */
	kref_get(&session->ref);
	panthor_perf_session_destroy(session);

	scoped_guard(mutex, &perf->setup_lock) {
		list_del(&session->node);
		WRITE_ONCE(perf->num_sessions, perf->num_sessions - 1);
		last = !perf->num_sessions;
		atomic_dec(&pf->num_sessions);
	}

	panthor_perf_session_put(session);
	if (last)
		release_resources(perf);
}

static int setup_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
			 struct drm_file *file, const struct drm_panthor_perf_cmd_setup *setup,
			 bool unprivileged, u32 *handle)
{
	struct panthor_perf_session *session;
	int ret;

	/* Nothing is pinned for who is over a limit. Adding the session looks again. */
	ret = mutex_lock_interruptible(&perf->setup_lock);
	if (ret)
		return ret;

	ret = check_limits(perf, pf, unprivileged);
	mutex_unlock(&perf->setup_lock);
	if (ret)
		return ret;

	session = panthor_perf_session_create(&perf->sampler, &pf->stats, file, setup);
	if (IS_ERR(session))
		return PTR_ERR(session);

	session->uid = current_uid();
	session->unprivileged = unprivileged;
	session->client.limited = unprivileged;

	ret = add_session_and_resources(perf, pf, session);
	if (ret) {
		panthor_perf_session_put(session);
		return ret;
	}

	/* The last thing that can fail: a SETUP that fails takes no handle. */
	ret = xa_alloc_cyclic(&pf->sessions, handle, NULL, XA_LIMIT(1, U32_MAX),
			      &pf->next_handle, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		end_session(perf, pf, session);
		return ret;
	}

	/*
	 * Nothing fails any more: the handle is reserved, so that storing needs no
	 * memory. Others can find the session, and end it, from then on.
	 */
	panthor_perf_session_clear(session);
	xa_store(&pf->sessions, *handle, session, 0);
	return 0;
}

static int cmd_setup(struct panthor_perf *perf, struct drm_file *file,
		     struct drm_panthor_perf_control *args, void *cmd)
{
	struct panthor_file *pfile = file->driver_priv;
	struct drm_panthor_perf_cmd_setup *setup = cmd;
	bool unprivileged;
	int ret, cookie;
	u32 handle;

	if (!perf || !perf->supported)
		return -EOPNOTSUPP;

	ret = check_setup(setup);
	if (ret)
		return ret;

	unprivileged = !perfmon_capable();
	ret = check_permission(perf, setup, unprivileged);
	if (ret)
		return ret;

	if (setup->sample_freq_ns)
		setup->sample_freq_ns = max_t(u64, setup->sample_freq_ns, PERF_MIN_PERIOD_NS);

	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return -ENODEV;

	ret = setup_session(perf, pfile->perf, file, setup, unprivileged, &handle);
	drm_dev_exit(cookie);

	if (!ret)
		args->handle = handle;
	return ret;
}

static struct panthor_perf_session *get_session(struct panthor_perf_file *pf, u32 handle)
{
	struct panthor_perf_session *session;

	xa_lock(&pf->sessions);
	session = xa_load(&pf->sessions, handle);
	if (session)
		kref_get(&session->ref);
	xa_unlock(&pf->sessions);
	return session;
}

/* Takes a session off the file. A handle that is being set up is left alone. */
static struct panthor_perf_session *take_session(struct panthor_perf_file *pf, u32 handle)
{
	struct panthor_perf_session *session;

	xa_lock(&pf->sessions);
	session = xa_load(&pf->sessions, handle);
	if (session)
		__xa_erase(&pf->sessions, handle);
	xa_unlock(&pf->sessions);
	return session;
}

static int cmd_teardown(struct panthor_perf *perf, struct drm_file *file,
			struct drm_panthor_perf_control *args, void *cmd)
{
	struct panthor_file *pfile = file->driver_priv;
	struct panthor_perf_session *session = take_session(pfile->perf, args->handle);

	if (!session)
		return -ENOENT;

	end_session(perf, pfile->perf, session);
	return 0;
}

static int cmd_start(struct panthor_perf *perf, struct drm_file *file,
		     struct drm_panthor_perf_control *args, void *cmd)
{
	struct panthor_file *pfile = file->driver_priv;
	struct panthor_perf_session *session = get_session(pfile->perf, args->handle);
	const struct drm_panthor_perf_cmd_start *start = cmd;
	int ret;

	if (!session)
		return -ENOENT;

	ret = panthor_perf_session_start(session, start->user_data);
	panthor_perf_session_put(session);
	return ret;
}

static int cmd_stop(struct panthor_perf *perf, struct drm_file *file,
		    struct drm_panthor_perf_control *args, void *cmd)
{
	struct panthor_file *pfile = file->driver_priv;
	struct panthor_perf_session *session = get_session(pfile->perf, args->handle);
	const struct drm_panthor_perf_cmd_stop *stop = cmd;
	int ret;

	if (!session)
		return -ENOENT;

	ret = panthor_perf_session_stop(session, stop->user_data);
	panthor_perf_session_put(session);
	return ret;
}

static int cmd_sample(struct panthor_perf *perf, struct drm_file *file,
		      struct drm_panthor_perf_control *args, void *cmd)
{
	struct panthor_file *pfile = file->driver_priv;
	struct panthor_perf_session *session = get_session(pfile->perf, args->handle);
	const struct drm_panthor_perf_cmd_sample *sample = cmd;
	int ret;

	if (!session)
		return -ENOENT;

	ret = panthor_perf_session_sample(session, sample->user_data);
	panthor_perf_session_put(session);
	return ret;
}

union perf_cmd {
	struct drm_panthor_perf_cmd_setup setup;
	struct drm_panthor_perf_cmd_start start;
	struct drm_panthor_perf_cmd_stop stop;
	struct drm_panthor_perf_cmd_sample sample;
};

/**
 * struct perf_cmd_desc - One command of the ioctl
 */
struct perf_cmd_desc {
	/** @size: Size of its struct, 0 if it has none. */
	u32 size;

	/** @min_size: Size its struct had first. */
	u32 min_size;

	/** @func: Its function. */
	int (*func)(struct panthor_perf *perf, struct drm_file *file,
		    struct drm_panthor_perf_control *args, void *cmd);
};

#define PERF_CMD(id, name, last) \
	[DRM_PANTHOR_PERF_COMMAND_##id] = { \
		.size = sizeof(struct drm_panthor_perf_cmd_##name), \
		.min_size = offsetofend(struct drm_panthor_perf_cmd_##name, last), \
		.func = cmd_##name, \
	}

static const struct perf_cmd_desc perf_cmds[] = {
	PERF_CMD(SETUP, setup, shader_enable_mask),
	[DRM_PANTHOR_PERF_COMMAND_TEARDOWN] = { .func = cmd_teardown },
	PERF_CMD(START, start, user_data),
	PERF_CMD(STOP, stop, user_data),
	PERF_CMD(SAMPLE, sample, user_data),
};

/**
 * panthor_ioctl_perf_control() - DRM_IOCTL_PANTHOR_PERF_CONTROL
 * @ddev: Device.
 * @data: &struct drm_panthor_perf_control, in kernel memory.
 * @file: File.
 *
 * Return: 0 on success, a negative error code otherwise, in which case nothing
 * has changed.
 */
int panthor_ioctl_perf_control(struct drm_device *ddev, void *data, struct drm_file *file)
{
	struct panthor_device *ptdev = container_of(ddev, struct panthor_device, base);
	struct drm_panthor_perf_control *args = data;
	const struct perf_cmd_desc *desc;
	union perf_cmd cmd;
	int ret;

	if (args->cmd >= ARRAY_SIZE(perf_cmds))
		return -EINVAL;

	desc = &perf_cmds[args->cmd];
	if (!desc->size)
		return desc->func(ptdev->perf, file, args, NULL);

	if (!args->pointer) {
		args->size = desc->size;
		return 0;
	}

	if (args->size < desc->min_size)
		return -EINVAL;

	if (args->size > PAGE_SIZE)
		return -E2BIG;

	ret = copy_struct_from_user(&cmd, desc->size, u64_to_user_ptr(args->pointer), args->size);
	if (ret)
		return ret;

	ret = desc->func(ptdev->perf, file, args, &cmd);
	if (ret)
		return ret;

	args->size = desc->size;
	return 0;
}

/**
 * panthor_perf_info() - DRM_PANTHOR_DEV_QUERY_PERF_INFO
 * @ptdev: Device.
 * @info: Where to put what the device can count.
 */
void panthor_perf_info(struct panthor_device *ptdev, struct drm_panthor_perf_info *info)
{
	if (ptdev->perf) {
		*info = ptdev->perf->info;
		return;
	}

	memset(info, 0, sizeof(*info));
	info->sample_header_size = sizeof(struct drm_panthor_perf_sample_header);
	info->block_header_size = sizeof(struct drm_panthor_perf_block_header);
	info->sample_size = info->sample_header_size;
}

/**
 * panthor_perf_open() - Prepare a file for sessions
 * @pfile: File.
 *
 * Return: 0 on success, -ENOMEM otherwise.
 */
int panthor_perf_open(struct panthor_file *pfile)
{
	struct panthor_perf_file *pf = kzalloc_obj(*pf, GFP_KERNEL_ACCOUNT);

	if (!pf)
		return -ENOMEM;

	xa_init_flags(&pf->sessions, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	pfile->perf = pf;
	return 0;
}

/**
 * panthor_perf_close() - End all sessions of a file
 * @pfile: File, which nobody uses any longer.
 */
void panthor_perf_close(struct panthor_file *pfile)
{
	struct panthor_perf_file *pf = pfile->perf;
	struct panthor_perf_session *session;
	unsigned long handle;

	xa_for_each(&pf->sessions, handle, session)
		end_session(pfile->ptdev->perf, pf, session);

	xa_destroy(&pf->sessions);
	kfree(pf);
	pfile->perf = NULL;
}

/**
 * panthor_perf_show_fdinfo() - Show what the sessions of a file have done
 * @pfile: File.
 * @p: Where to.
 */
void panthor_perf_show_fdinfo(struct panthor_file *pfile, struct drm_printer *p)
{
	struct panthor_perf_file *pf = pfile->perf;

	drm_printf(p, "panthor-perf-sessions:\t%d\n", atomic_read(&pf->num_sessions));
	drm_printf(p, "panthor-perf-samples:\t%lld\n", (s64)atomic64_read(&pf->stats.samples));
	drm_printf(p, "panthor-perf-stretched:\t%lld\n",
		   (s64)atomic64_read(&pf->stats.stretched));
}

#ifdef CONFIG_DEBUG_FS
static int panthor_perf_debugfs_show(struct seq_file *m, void *unused)
{
	struct panthor_device *ptdev = m->private;
	struct panthor_perf *perf = ptdev->perf;
	struct drm_printer p = drm_seq_file_printer(m);
	struct panthor_perf_session *session;
	int ret, cookie;

	if (!perf || !perf->supported)
		return -EOPNOTSUPP;

	if (!drm_dev_enter(&ptdev->base, &cookie))
		return -ENODEV;

	ret = mutex_lock_interruptible(&perf->setup_lock);
	if (!ret) {
		scoped_guard(mutex, &perf->sampler.lock) {
			panthor_perf_sampler_show(&perf->sampler, &p);
			drm_printf(&p, "sessions: %u\n", perf->num_sessions);
			list_for_each_entry(session, &perf->sessions, node)
				panthor_perf_session_show(session, &p);
		}
		mutex_unlock(&perf->setup_lock);
	}
	drm_dev_exit(cookie);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(panthor_perf_debugfs);

/**
 * panthor_perf_debugfs_init() - Add the debugfs file of performance counters
 * @minor: Minor.
 */
void panthor_perf_debugfs_init(struct drm_minor *minor)
{
	struct panthor_device *ptdev = container_of(minor->dev, struct panthor_device, base);

	debugfs_create_file("perf", 0400, minor->debugfs_root, ptdev, &panthor_perf_debugfs_fops);
}
#endif

static struct panthor_perf_sampler *sampler_of(struct panthor_device *ptdev)
{
	return ptdev->perf && ptdev->perf->supported ? &ptdev->perf->sampler : NULL;
}

/**
 * panthor_perf_irq() - Handle an interrupt of the global firmware interface
 * @ptdev: Device.
 */
void panthor_perf_irq(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_irq(sampler);
}

/**
 * panthor_perf_pre_suspend() - Prepare for the MCU to be halted
 * @ptdev: Device, whose groups have been suspended.
 */
void panthor_perf_pre_suspend(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_close(sampler, !panthor_device_reset_is_pending(ptdev));
}

/**
 * panthor_perf_post_suspend() - Collect what the MCU has left when it was halted
 * @ptdev: Device.
 */
void panthor_perf_post_suspend(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (!sampler)
		return;

	panthor_perf_sampler_down(sampler, panthor_device_reset_is_pending(ptdev));
	release_later(ptdev->perf);
}

/**
 * panthor_perf_resume() - Count again
 * @ptdev: Device, whose MCU has booted and whose groups have not been resumed.
 */
void panthor_perf_resume(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_up(sampler);
}

/**
 * panthor_perf_pre_reset() - Prepare for a reset
 * @ptdev: Device, whose MCU may be dead.
 */
void panthor_perf_pre_reset(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_close(sampler, false);
}

/**
 * panthor_perf_reset() - Collect what the MCU has left before a reset
 * @ptdev: Device, whose MCU has been stopped.
 */
void panthor_perf_reset(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (!sampler)
		return;

	panthor_perf_sampler_down(sampler, true);
	release_later(ptdev->perf);
}

/**
 * panthor_perf_post_reset() - Count again
 * @ptdev: Device, whose MCU has booted after a reset.
 */
void panthor_perf_post_reset(struct panthor_device *ptdev)
{
	panthor_perf_resume(ptdev);
}

static void perf_release(struct drm_device *ddev, void *data)
{
	struct panthor_perf *perf = data;

	panthor_perf_sampler_fini(&perf->sampler);
	mutex_destroy(&perf->setup_lock);
}

static u32 fw_slots(struct panthor_device *ptdev)
{
	if (is_power_of_2(perf_ring_slots) && perf_ring_slots >= PERF_MIN_FW_SLOTS &&
	    perf_ring_slots <= PERF_MAX_FW_SLOTS)
		return perf_ring_slots;

	drm_warn(&ptdev->base, "perf_ring_slots=%u is not a power of two from %u to %u, using %u",
		 perf_ring_slots, PERF_MIN_FW_SLOTS, PERF_MAX_FW_SLOTS, PERF_DEFAULT_FW_SLOTS);
	return PERF_DEFAULT_FW_SLOTS;
}

/*
 * Tells lockdep that a lock is taken in reclaim, as if it were. Whatever allocates
 * with the lock held, or waits for something that allocates, is then reported.
 */
static void taken_in_reclaim(struct mutex *lock)
{
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;

	fs_reclaim_acquire(GFP_KERNEL);
	mutex_lock(lock);
	mutex_unlock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

/**
 * panthor_perf_init() - Initialize performance counters
 * @ptdev: Device, up. Does without counters if anything is in their way.
 */
void panthor_perf_init(struct panthor_device *ptdev)
{
	struct panthor_perf_layout_params params = {};
	struct panthor_perf *perf;
	const char *why = NULL;

	perf = drmm_kzalloc(&ptdev->base, sizeof(*perf), GFP_KERNEL);
	if (!perf)
		return;

	panthor_perf_info(ptdev, &perf->info);
	perf->ptdev = ptdev;
	panthor_perf_clock_init(&perf->clock, ptdev);
	panthor_perf_fw_params(ptdev, &params);
	params.supported_clocks = perf->clock.supported;
	if (panthor_perf_layout_init(&perf->layout, &params, &why)) {
		drm_info(&ptdev->base, "No performance counters: %s", why);
		goto err_none;
	}

	panthor_perf_fw_init(&perf->fw, ptdev, &perf->layout);
	perf->fw_slots = fw_slots(ptdev);
	perf->sampler.fw = &perf->fw;
	perf->sampler.layout = &perf->layout;
	perf->sampler.clock = &perf->clock;
	perf->sampler.reset = ask_for_reset;
	mutex_init(&perf->setup_lock);
	taken_in_reclaim(&perf->setup_lock);
	INIT_LIST_HEAD(&perf->sessions);
	INIT_WORK(&perf->release_work, release_work);
	if (panthor_perf_sampler_init(&perf->sampler)) {
		drm_err(&ptdev->base, "No performance counters: no memory");
		mutex_destroy(&perf->setup_lock);
		goto err_none;
	}

	/* Resume takes this one, and jobs that reclaim may wait for need a resume. */
	taken_in_reclaim(&perf->sampler.lock);
	if (drmm_add_action_or_reset(&ptdev->base, perf_release, perf)) {
		drm_err(&ptdev->base, "No performance counters: no memory");
		goto err_none;
	}

	panthor_perf_layout_info(&perf->layout, &perf->info);
	perf->info.min_sample_period_ns = PERF_MIN_PERIOD_NS;
	perf->info.max_sample_slots = PERF_MAX_SLOTS;
	perf->info.supported_sets = PERF_SETS;
	perf->info.flags = DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT;
	perf->info.supported_clocks = perf->clock.supported;
	perf->supported = true;
	panthor_perf_sampler_up(&perf->sampler);
	ptdev->perf = perf;
	return;

err_none:
	ptdev->perf = perf;
}

/**
 * panthor_perf_unplug() - End all sessions, since the device goes
 * @ptdev: Device. Its files may stay, and end their sessions later.
 */
void panthor_perf_unplug(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;
	struct perf_resources *res = NULL;

	if (!perf || !perf->supported)
		return;

	panthor_perf_sampler_unplug(&perf->sampler);
	cancel_work_sync(&perf->release_work);

	/* No SETUP is under way any more, and no other one will be. */
	scoped_guard(mutex, &perf->setup_lock)
		scoped_guard(mutex, &perf->sampler.lock)
			res = take_resources(perf);

	destroy_resources(res);
}
