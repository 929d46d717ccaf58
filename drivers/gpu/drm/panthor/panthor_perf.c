// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the ioctl, the query, and hooks into the rest of the driver. */

#include <linux/atomic.h>
#include <linux/build_bug.h>
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
#include "panthor_fw.h"
#include "panthor_gem.h"
#include "panthor_perf.h"
#include "panthor_perf_session.h"

/**
 * DOC: Performance counters
 *
 * The code has five layers. Each uses only those below it, but the PMU also calls
 * panthor_perf_make_ring():
 *
 * - panthor_perf.c: the ioctl, the query, handles of sessions, and hooks that the
 *   rest of the driver calls when the GPU is suspended, resumed, reset or removed
 * - panthor_perf_session.c: one session, and its access to user memory.
 *   panthor_perf_pmu.c: a PMU, through which perf counts
 * - panthor_perf_sampler*.c: all clients of a device, which are its sessions and the
 *   PMU: their requests, the sums of each, suspend, reset and recovery
 * - panthor_perf_fw.c: the firmware ring and the global interface
 * - panthor_perf_layout.c: offsets in firmware samples and in samples of sessions,
 *   and arithmetic on their contents
 *
 * panthor_perf_clock.c converts GPU timestamps to time, and counts clock cycles, for
 * the sampler.
 *
 * If counters cannot be initialized, the probe of the device goes on without them,
 * and ptdev->perf stays NULL.
 *
 * Terms are explained in Documentation/gpu/panthor-perf.rst.
 */

/* Limits of a session: shortest period, longest ring. */
#define PERF_MIN_PERIOD_NS		(100 * NSEC_PER_USEC)
#define PERF_MAX_SLOTS			4096

/* Sessions of a device, and of a file. */
#define PERF_MAX_SESSIONS		256
#define PERF_MAX_FILE_SESSIONS		64

/*
 * Without CAP_PERFMON: sessions of all such users (the rest is reserved for users that have it),
 * sessions of one user, and bytes of a ring.
 */
#define PERF_MAX_USERS_SESSIONS		(PERF_MAX_SESSIONS - PERF_MAX_FILE_SESSIONS)
#define PERF_MAX_USER_SESSIONS		16
#define PERF_MAX_USER_RING		SZ_16M

/* Slots of the firmware ring: a power of two up to 128. It is drained when it is half full. */
#define PERF_FW_SLOTS			32

static_assert(PANTHOR_PERF_MAX_CSGS == MAX_CSGS);

static bool perf_paranoid = true;
module_param(perf_paranoid, bool, 0644);
MODULE_PARM_DESC(perf_paranoid,
		 "Require permission to monitor CPUs with perf for counters; if false, the primary set is open to all users (default: true)");

/**
 * struct panthor_perf - Performance counters of a device
 * @ptdev: Device.
 * @layout: Sizes and offsets of samples.
 * @fw: Firmware ring and global interface.
 * @clock: Time and cycles.
 * @sampler: Sampler, which takes samples for all sessions.
 * @pmu: PMU. NULL until it is registered, and if that has failed. Stays after unplug.
 * @ring: Memory of the firmware ring, mapped into the MCU's address space. NULL until the first
 *	session or event of perf, and there until the MCU has stopped for good. Written with
 *	panthor_perf_sampler::lock held.
 * @setup_lock: TEARDOWN and close wait for it uninterruptibly, so don't allocate, free or map
 *	memory with it held. The sampler's locks nest in it.
 * @sessions: All sessions, linked by panthor_perf_session::node.
 */
struct panthor_perf {
	struct panthor_device *ptdev;
	struct panthor_perf_layout layout;
	struct panthor_perf_fw fw;
	struct panthor_perf_clock clock;
	struct panthor_perf_sampler sampler;
	struct panthor_perf_pmu *pmu;
	struct panthor_kernel_bo *ring;
	struct mutex setup_lock; /* Protects sessions. */
	struct list_head sessions;
};

/**
 * struct panthor_perf_file - Sessions of a file of the device
 * @sessions: Sessions by handle. NULL while SETUP has only reserved the handle. Its lock protects
 *	@next_handle, and is held from looking up a session to taking a reference to it.
 * @next_handle: Number from which the next free handle is searched.
 * @stats: Statistics for fdinfo.
 * @submitted: The file has submitted jobs. Several threads may set it at once.
 */
struct panthor_perf_file {
	struct xarray sessions;
	u32 next_handle;
	struct panthor_perf_stats stats;
	bool submitted;
};

/* Implements panthor_perf_sampler::reset. */
static bool request_reset(struct panthor_perf_sampler *sampler, const char *why)
{
	struct panthor_perf *perf = container_of(sampler, struct panthor_perf, sampler);

	/*
	 * Don't reset during resume: it would only boot firmware again, which has just booted.
	 * Don't claim a reset that somebody else has scheduled.
	 */
	if (atomic_read(&perf->ptdev->pm.state) != PANTHOR_DEVICE_PM_STATE_ACTIVE ||
	    panthor_device_reset_is_pending(perf->ptdev))
		return false;

	drm_err(&perf->ptdev->base, "Performance counters: %s, resetting the GPU\n", why);
	panthor_device_schedule_reset(perf->ptdev);
	return true;
}

static int alloc_ring(struct panthor_perf *perf)
{
	struct panthor_kernel_bo *ring = panthor_perf_fw_ring_alloc(&perf->fw);

	if (IS_ERR(ring))
		return PTR_ERR(ring);

	scoped_guard(mutex, &perf->sampler.lock) {
		if (!perf->ring) {
			perf->fw.ring = ring->kmap;
			perf->fw.ring_va = panthor_kernel_bo_gpuva(ring);
			WRITE_ONCE(perf->ring, ring);
			return 0;
		}
	}

	/* Another thread was faster. */
	panthor_kernel_bo_destroy(ring);
	return 0;
}

/*
 * Allocate the firmware ring, for the first session or event of perf. Sleeps. Returns 0, -ENODEV if
 * the device has gone, or -ENOMEM.
 */
int panthor_perf_make_ring(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf *perf = container_of(sampler, struct panthor_perf, sampler);
	int ret = 0, cookie;

	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return -ENODEV;

	if (!READ_ONCE(perf->ring))
		ret = alloc_ring(perf);
	drm_dev_exit(cookie);
	return ret;
}

static bool setup_valid(const struct drm_panthor_perf_cmd_setup *setup)
{
	return !memchr_inv(setup->pad, 0, sizeof(setup->pad)) &&
	       !(setup->setup_flags & ~DRM_PANTHOR_PERF_SETUP_EMIT_AUTO) &&
	       setup->block_set <= DRM_PANTHOR_PERF_SET_TERTIARY &&
	       setup->sample_slots >= 2 && setup->sample_slots <= PERF_MAX_SLOTS &&
	       is_power_of_2(setup->sample_slots) && setup->sample_freq_ns <= KTIME_MAX / 2;
}

/* Add a session to the device. Returns -ENOSPC if there are too many, or -EINTR. */
static int add_session(struct panthor_perf *perf, struct panthor_perf_session *session)
{
	u32 max = session->client.limited ? PERF_MAX_USERS_SESSIONS : PERF_MAX_SESSIONS;
	u32 all = 0, of_file = 0, of_user = 0;
	const struct panthor_perf_session *other;
	int ret = mutex_lock_interruptible(&perf->setup_lock);

	if (ret)
		return ret;

	list_for_each_entry(other, &perf->sessions, node) {
		all++;
		of_file += other->stats == session->stats;
		of_user += other->client.limited && uid_eq(other->uid, session->uid);
	}

	if (all >= max || of_file >= PERF_MAX_FILE_SESSIONS ||
	    (session->client.limited && of_user >= PERF_MAX_USER_SESSIONS))
		ret = -ENOSPC;
	else
		list_add_tail(&session->node, &perf->sessions);
	mutex_unlock(&perf->setup_lock);
	return ret;
}

/* End a session whose handle is not valid any more, and drop the file's reference. */
static void end_session(struct panthor_perf *perf, struct panthor_perf_session *session)
{
	/* Nothing is written to the user's objects, nor signalled, when this has returned. */
	panthor_perf_sampler_remove(&perf->sampler, &session->client);
	scoped_guard(mutex, &perf->setup_lock)
		list_del(&session->node);
	panthor_perf_session_put(session);
}

static int setup_session(struct panthor_perf *perf, struct drm_file *file,
			 const struct drm_panthor_perf_cmd_setup *setup, bool limited, u32 *handle)
{
	struct panthor_perf_file *pf = ((struct panthor_file *)file->driver_priv)->perf;
	struct panthor_perf_session *session;
	u32 new_handle;
	int ret;

	ret = panthor_perf_make_ring(&perf->sampler);
	if (ret)
		return ret;

	session = panthor_perf_session_create(&perf->sampler, &pf->stats, file, setup);
	if (IS_ERR(session))
		return PTR_ERR(session);

	session->client.limited = limited;
	ret = add_session(perf, session);
	if (ret) {
		panthor_perf_session_put(session);
		return ret;
	}

	/* The last step that can fail, because a SETUP that fails takes no handle. */
	ret = xa_alloc_cyclic(&pf->sessions, &new_handle, NULL, XA_LIMIT(1, U32_MAX),
			      &pf->next_handle, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		end_session(perf, session);
		return ret;
	}

	/* Another thread may end the session as soon as it is stored. */
	panthor_perf_session_clear(session);
	xa_store(&pf->sessions, new_handle, session, 0);
	*handle = new_handle;
	return 0;
}

static int cmd_setup(struct panthor_perf *perf, struct drm_file *file,
		     struct drm_panthor_perf_cmd_setup *setup, u32 *handle)
{
	int ret, cookie;
	bool limited;

	if (!perf)
		return -EOPNOTSUPP;

	if (!setup_valid(setup))
		return -EINVAL;

	/*
	 * Counters show the work of all programs on the GPU, so the permission is that for
	 * watching CPUs. perf_paranoid can be written at any time.
	 */
	if (READ_ONCE(perf_paranoid) || setup->block_set != DRM_PANTHOR_PERF_SET_PRIMARY) {
		ret = perf_allow_cpu();
		if (ret)
			return ret;
	}

	/*
	 * Limits apply whatever the permission was granted for. They bound what a session costs
	 * other users, and how closely it can observe them. This is no check: don't audit a denial.
	 */
	limited = !ns_capable_noaudit(&init_user_ns, CAP_PERFMON) &&
		  !ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	if (limited &&
	    ((setup->sample_freq_ns && setup->sample_freq_ns < PANTHOR_PERF_LIMITED_NS) ||
	     (u64)setup->sample_slots * perf->layout.user_sample_size > PERF_MAX_USER_RING))
		return -EACCES;

	if (setup->sample_freq_ns)
		setup->sample_freq_ns = max_t(u64, setup->sample_freq_ns, PERF_MIN_PERIOD_NS);

	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return -ENODEV;

	ret = setup_session(perf, file, setup, limited, handle);
	drm_dev_exit(cookie);
	return ret;
}

static int cmd_teardown(struct panthor_perf *perf, struct panthor_perf_file *pf, u32 handle)
{
	struct panthor_perf_session *session;

	/* A handle that is only reserved stays so. */
	scoped_guard(spinlock, &pf->sessions.xa_lock) {
		session = xa_load(&pf->sessions, handle);
		if (!session)
			return -ENOENT;
		__xa_erase(&pf->sessions, handle);
	}

	end_session(perf, session);
	return 0;
}

/* Execute START or STOP. STOP waits while another thread starts the session. */
static int switch_session(struct panthor_perf_session *session, bool on, u64 user_data)
{
	struct panthor_perf_client *client = &session->client;
	int ret = 0;

	if (mutex_lock_interruptible(&session->command_lock))
		return -ERESTARTSYS;

	if (on)
		ret = panthor_perf_sampler_start(client->sampler, client, user_data);
	else
		panthor_perf_sampler_stop(client->sampler, client, user_data);
	mutex_unlock(&session->command_lock);
	return ret;
}

/* Execute START, STOP or SAMPLE, whose structs have nothing but a tag for samples. */
static int cmd_session(struct panthor_perf_file *pf, u32 handle, u32 command, u64 user_data)
{
	struct panthor_perf_session *session;
	int ret;

	scoped_guard(spinlock, &pf->sessions.xa_lock) {
		session = xa_load(&pf->sessions, handle);
		if (!session)
			return -ENOENT;
		kref_get(&session->ref);
	}

	if (command != DRM_PANTHOR_PERF_COMMAND_SAMPLE)
		ret = switch_session(session, command == DRM_PANTHOR_PERF_COMMAND_START, user_data);
	else if (session->client.period_ns)
		ret = -EINVAL;
	else
		ret = panthor_perf_sampler_request(session->client.sampler, &session->client,
						   user_data);

	panthor_perf_session_put(session);
	return ret;
}

/* Execute DRM_IOCTL_PANTHOR_PERF_CONTROL. Its errors are listed in panthor_perf_drm.h. */
int panthor_ioctl_perf_control(struct drm_device *ddev, void *data, struct drm_file *file)
{
	struct panthor_device *ptdev = container_of(ddev, struct panthor_device, base);
	struct panthor_perf_file *pf = ((struct panthor_file *)file->driver_priv)->perf;
	struct drm_panthor_perf_control *args = data;
	union {
		struct drm_panthor_perf_cmd_setup setup;
		struct drm_panthor_perf_cmd_start start;
	} cmd;
	u32 size;
	int ret;

	static_assert(sizeof(cmd.start) == sizeof(struct drm_panthor_perf_cmd_stop) &&
		      sizeof(cmd.start) == sizeof(struct drm_panthor_perf_cmd_sample));

	switch (args->cmd) {
	case DRM_PANTHOR_PERF_COMMAND_SETUP:
		size = sizeof(cmd.setup);
		break;

	case DRM_PANTHOR_PERF_COMMAND_START:
	case DRM_PANTHOR_PERF_COMMAND_STOP:
	case DRM_PANTHOR_PERF_COMMAND_SAMPLE:
		size = sizeof(cmd.start);
		break;

	case DRM_PANTHOR_PERF_COMMAND_TEARDOWN:
		return cmd_teardown(ptdev->perf, pf, args->handle);

	default:
		return -EINVAL;
	}

	if (!args->pointer) {
		args->size = size;
		return 0;
	}

	if (args->size < size)
		return -EINVAL;

	if (args->size > PAGE_SIZE)
		return -E2BIG;

	ret = copy_struct_from_user(&cmd, size, u64_to_user_ptr(args->pointer), args->size);
	if (ret)
		return ret;

	if (args->cmd == DRM_PANTHOR_PERF_COMMAND_SETUP)
		ret = cmd_setup(ptdev->perf, file, &cmd.setup, &args->handle);
	else
		ret = cmd_session(pf, args->handle, args->cmd, cmd.start.user_data);

	if (!ret)
		args->size = size;
	return ret;
}

/* Answer DRM_PANTHOR_DEV_QUERY_PERF_INFO. */
void panthor_perf_info(struct panthor_device *ptdev, struct drm_panthor_perf_info *info)
{
	const struct panthor_perf *perf = ptdev->perf;

	panthor_perf_no_info(info);
	if (!perf)
		return;

	panthor_perf_layout_info(&perf->layout, info);
	info->flags = DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT;
	info->supported_clocks = perf->clock.supported;
	info->min_sample_period_ns = PERF_MIN_PERIOD_NS;
	info->max_sample_slots = PERF_MAX_SLOTS;
	/* The GPU does not tell which sets it has. */
	info->supported_sets = BIT(DRM_PANTHOR_PERF_SET_TERTIARY + 1) - 1;
}

int panthor_perf_open(struct panthor_file *pfile)
{
	struct panthor_perf_file *pf = kzalloc_obj(*pf, GFP_KERNEL_ACCOUNT);

	if (!pf)
		return -ENOMEM;

	xa_init_flags(&pf->sessions, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	pfile->perf = pf;
	return 0;
}

/* Record that a file has submitted jobs. */
void panthor_perf_submit(struct panthor_file *pfile)
{
	WRITE_ONCE(pfile->perf->submitted, true);
}

/*
 * End all sessions of a file, also after the device has been unplugged. If the file has submitted
 * jobs and perf is counting, first wait up to 20 ms for a sample, so that perf's counts include the
 * jobs that are done.
 */
void panthor_perf_close(struct panthor_file *pfile)
{
	struct panthor_perf *perf = pfile->ptdev->perf;
	struct panthor_perf_file *pf = pfile->perf;
	struct panthor_perf_session *session;
	unsigned long handle;

	if (pf->submitted && perf && !panthor_device_reset_is_pending(pfile->ptdev))
		panthor_perf_pmu_flush(READ_ONCE(perf->pmu));

	xa_for_each(&pf->sessions, handle, session)
		end_session(perf, session);

	xa_destroy(&pf->sessions);
	kfree(pf);
}

void panthor_perf_show_fdinfo(struct panthor_file *pfile, struct drm_printer *p)
{
	struct panthor_perf_file *pf = pfile->perf;
	struct panthor_perf_session *session;
	unsigned long handle, sessions = 0;

	xa_for_each(&pf->sessions, handle, session)
		sessions++;

	drm_printf(p, "panthor-perf-sessions:\t%lu\n", sessions);
	drm_printf(p, "panthor-perf-samples:\t%lld\n", (s64)atomic64_read(&pf->stats.samples));
	drm_printf(p, "panthor-perf-stretched:\t%lld\n", (s64)atomic64_read(&pf->stats.stretched));
}

#ifdef CONFIG_DEBUG_FS
static void show_session(struct panthor_perf_session *session, struct drm_printer *p)
{
	static const char * const states[] = {
		[PANTHOR_PERF_CLIENT_STOPPED] = "stopped",
		[PANTHOR_PERF_CLIENT_STARTING] = "starting",
		[PANTHOR_PERF_CLIENT_STARTED] = "started",
		[PANTHOR_PERF_CLIENT_STOPPING] = "stopping",
		[PANTHOR_PERF_CLIENT_REMOVED] = "removed",
	};
	const struct panthor_perf_client *client = &session->client;
	u32 slots = session->slots, used;

	used = slots - panthor_perf_ring_free(slots, session->insert,
					      READ_ONCE(session->indices->extract_idx));

	guard(spinlock)(&client->sampler->req_lock);

	drm_printf(p, "session: %u state=%s set=%u period_ns=%llu", client->id,
		   states[client->state], client->block_set, client->period_ns);
	drm_printf(p, " slots=%u used=%u pending=%u samples=%llu", slots, used,
		   client->tail - client->head, session->insert);
	/* A process name may contain spaces. */
	drm_printf(p, " owner=%s/%d\n", session->owner, session->tgid);
}

/* Reads memory only, and no register, so that it does not matter if the GPU is powered. */
static int panthor_perf_debugfs_show(struct seq_file *m, void *unused)
{
	struct panthor_device *ptdev = m->private;
	struct panthor_perf *perf = ptdev->perf;
	struct drm_printer p = drm_seq_file_printer(m);
	struct panthor_perf_session *session;
	int ret, cookie;

	if (!perf)
		return -EOPNOTSUPP;

	if (!drm_dev_enter(&ptdev->base, &cookie))
		return -ENODEV;

	ret = mutex_lock_interruptible(&perf->setup_lock);
	if (!ret) {
		scoped_guard(mutex, &perf->sampler.lock) {
			drm_printf(&p, "state: %s\n",
				   panthor_perf_sampler_states[perf->sampler.state]);
			drm_printf(&p, "failures: %u\n", perf->sampler.failures);
			drm_printf(&p, "cycles: %s\n", perf->clock.by_rates ?
				   "from the rates of the clock framework" : "counted by the GPU");
			drm_printf(&p, "coregroup: %s clock\n", perf->clock.supported &
				   BIT(DRM_PANTHOR_PERF_CLOCK_COREGROUP) ? "own" : "top-level");
			drm_printf(&p, "sessions: %zu\n", list_count_nodes(&perf->sessions));
			list_for_each_entry(session, &perf->sessions, node)
				show_session(session, &p);
		}
		mutex_unlock(&perf->setup_lock);
	}
	drm_dev_exit(cookie);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(panthor_perf_debugfs);

void panthor_perf_debugfs_init(struct drm_minor *minor)
{
	struct panthor_device *ptdev = container_of(minor->dev, struct panthor_device, base);

	debugfs_create_file("perf", 0400, minor->debugfs_root, ptdev, &panthor_perf_debugfs_fops);
}
#endif

/* Handle an interrupt of the global firmware interface. Does not sleep. */
void panthor_perf_irq(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = READ_ONCE(ptdev->perf);

	if (perf)
		panthor_perf_sampler_irq(&perf->sampler);
}

/*
 * Prepare for the MCU to be halted, or stopped by a reset: stop sending requests to firmware.
 * Sleeps up to 20 ms for the one in flight, unless a reset is pending. panthor_perf_post_suspend()
 * completes all others.
 */
void panthor_perf_pre_suspend(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = READ_ONCE(ptdev->perf);

	if (perf)
		panthor_perf_sampler_close(&perf->sampler, !panthor_device_reset_is_pending(ptdev));
}

/*
 * Read the samples that the MCU has written until it stopped. If it was @halted in good order, and
 * not stopped by force, it has taken a last sample. Called while the device is powered, and before
 * firmware is loaded again, which clears INSERT.
 */
void panthor_perf_post_suspend(struct panthor_device *ptdev, bool halted)
{
	struct panthor_perf *perf = READ_ONCE(ptdev->perf);

	if (perf)
		panthor_perf_sampler_down(&perf->sampler,
					  panthor_device_reset_is_pending(ptdev) || !halted);
}

/*
 * Enable counters again if some client counts: the MCU has booted, in a resume or a reset, and no
 * group has been resumed, so that all their work is counted. This is the fence signalling path:
 * no memory is allocated. Sleeps until firmware has enabled counters, up to 400 ms.
 */
void panthor_perf_resume(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = READ_ONCE(ptdev->perf);

	if (perf) {
		panthor_perf_sampler_up(&perf->sampler);
		/* A reset keeps the power domain, and must not wait for the clock framework. */
		if (atomic_read(&ptdev->pm.state) != PANTHOR_DEVICE_PM_STATE_ACTIVE)
			panthor_perf_clock_read_rates(&perf->clock, 0);
	}
}

static void perf_fini(struct drm_device *ddev, void *data)
{
	panthor_perf_sampler_fini(data);
}

/*
 * Initialize counters: firmware has booted, and the device is not registered. Without counters the
 * device goes on, and the reason is printed. Until this returns, hooks find no ptdev->perf.
 */
void panthor_perf_init(struct panthor_device *ptdev)
{
	struct panthor_perf_layout_params params = {};
	const char *why = "no memory";
	struct panthor_perf *perf;

	perf = drmm_kzalloc(&ptdev->base, sizeof(*perf), GFP_KERNEL);
	if (!perf || panthor_perf_clock_init(&perf->clock, ptdev))
		goto err;

	panthor_perf_fw_params(ptdev, &params);
	params.supported_clocks = perf->clock.supported;
	if (panthor_perf_layout_init(&perf->layout, &params, &why))
		goto err;

	perf->ptdev = ptdev;
	panthor_perf_fw_init(&perf->fw, ptdev, &perf->layout, PERF_FW_SLOTS);
	perf->sampler.fw = &perf->fw;
	perf->sampler.layout = &perf->layout;
	perf->sampler.clock = &perf->clock;
	perf->sampler.reset = request_reset;
	INIT_LIST_HEAD(&perf->sessions);
	why = "no memory";
	if (drmm_mutex_init(&ptdev->base, &perf->setup_lock) ||
	    panthor_perf_sampler_init(&perf->sampler) ||
	    drmm_add_action_or_reset(&ptdev->base, perf_fini, &perf->sampler))
		goto err;

	/* Reclaim may wait for the fence of a job, the job for a resume, which takes this lock. */
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&perf->sampler.lock);
	fs_reclaim_release(GFP_KERNEL);

	panthor_perf_sampler_up(&perf->sampler);
	/* Pairs with the READ_ONCE() of hooks, which may be called by now. */
	smp_store_release(&ptdev->perf, perf);
	return;

err:
	drm_info(&ptdev->base, "No performance counters: %s\n", why);
}

/*
 * Register the PMU of a registered device. A failure is logged, not returned. Events can be opened,
 * and the device unplugged, before this returns.
 */
void panthor_perf_register(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;
	struct panthor_perf_pmu *pmu;
	int cookie;

	if (!perf)
		return;

	/* panthor_perf_unplug() is called after drm_dev_unplug(), which waits for this. */
	if (!drm_dev_enter(&ptdev->base, &cookie))
		return;

	pmu = panthor_perf_pmu_add(ptdev, &perf->sampler);
	if (IS_ERR(pmu))
		drm_info(&ptdev->base, "No PMU for perf: %pe\n", pmu);
	else
		/* Pairs with the READ_ONCE() of files that are closed. */
		smp_store_release(&perf->pmu, pmu);
	drm_dev_exit(cookie);
}

/*
 * Stop all sessions: each that is started gets a last sample, and all do nothing until their files
 * are closed. Firmware is still there. The reset work may call this.
 */
void panthor_perf_unplug(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;

	if (!perf)
		return;

	panthor_perf_sampler_unplug(&perf->sampler);
	panthor_perf_pmu_unplug(perf->pmu);
}

/*
 * Free the firmware ring, after panthor_perf_unplug() or a failed probe. The MCU must have stopped,
 * since hung firmware may still write to the ring, and its address space must still exist.
 */
void panthor_perf_free_ring(struct panthor_device *ptdev)
{
	if (ptdev->perf)
		panthor_kernel_bo_destroy(ptdev->perf->ring);
}
