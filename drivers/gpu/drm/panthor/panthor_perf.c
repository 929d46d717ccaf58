// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the ioctl, the query, and hooks into the rest of the driver. */

#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
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
 * The code is divided into five layers. Each of them uses only those below it, but
 * for panthor_perf_add_client(), which the PMU calls:
 *
 * - panthor_perf.c: the ioctl, the query, handles of sessions, and hooks that the
 *   rest of the driver calls when the GPU is suspended, resumed, reset or removed
 * - panthor_perf_session.c: one session, and its access to user memory.
 *   panthor_perf_pmu.c: a PMU, through which perf counts
 * - panthor_perf_sampler.c: all clients of a device together, which are its sessions
 *   and the PMU. It requests samples from firmware, adds them to the sums of each
 *   client, and recovers from errors
 * - panthor_perf_fw.c: the firmware ring and the global interface
 * - panthor_perf_layout.c: offsets in firmware samples and in samples of sessions,
 *   and arithmetic on their contents
 *
 * panthor_perf_clock.c converts GPU timestamps to time, and counts clock cycles.
 * The sampler and this file use it.
 *
 * If counters cannot be initialized, the probe of the device goes on without them.
 * ptdev->perf is then NULL, or panthor_perf::supported is false.
 *
 * Terms are explained in Documentation/gpu/panthor-perf.rst.
 */

/* Shortest period and longest ring of a session; sessions of a device and of a file. */
#define PERF_MIN_PERIOD_NS		(100 * NSEC_PER_USEC)
#define PERF_MAX_SLOTS			4096
#define PERF_MAX_SESSIONS		256
#define PERF_MAX_FILE_SESSIONS		64

/* A bit for each counter set: all of them, since the GPU does not tell which it has. */
#define PERF_SETS			0x7

/*
 * What users without CAP_PERFMON may have: a session if the device has fewer than so many,
 * which leaves some to others; sessions of one user; a period; and bytes of a ring.
 */
#define PERF_MAX_USERS_SESSIONS		(PERF_MAX_SESSIONS - PERF_MAX_FILE_SESSIONS)
#define PERF_MAX_USER_SESSIONS		16
#define PERF_MIN_USER_PERIOD_NS		PANTHOR_PERF_LIMITED_NS
#define PERF_MAX_USER_RING		SZ_16M

/* Slots of the firmware ring: a power of two, for which firmware has a field of 8 bits. */
#define PERF_MIN_FW_SLOTS		16
#define PERF_MAX_FW_SLOTS		128
#define PERF_DEFAULT_FW_SLOTS		32

static_assert(PANTHOR_PERF_MAX_CSGS == MAX_CSGS);

static bool perf_paranoid = true;
module_param(perf_paranoid, bool, 0644);
MODULE_PARM_DESC(perf_paranoid,
		 "Performance counters take the permission to watch CPUs with perf; if false, the primary set takes none (true = default)");

static uint perf_ring_slots = PERF_DEFAULT_FW_SLOTS;
module_param(perf_ring_slots, uint, 0444);
MODULE_PARM_DESC(perf_ring_slots,
		 "Slots of the firmware's ring of counter samples, a power of two from 16 to 128 (32 = default)");

/**
 * struct panthor_perf - Performance counters of a device
 */
struct panthor_perf {
	/* Not changed after the probe, or with locks of their own. */

	/** @ptdev: Device. */
	struct panthor_device *ptdev;

	/** @info: Answer of the query DRM_PANTHOR_DEV_QUERY_PERF_INFO. */
	struct drm_panthor_perf_info info;

	/** @supported: Counters are initialized. If not, no member below may be used. */
	bool supported;

	/** @layout: Layout of samples. */
	struct panthor_perf_layout layout;

	/** @fw: Firmware ring and global interface. */
	struct panthor_perf_fw fw;

	/** @clock: Time and cycles. */
	struct panthor_perf_clock clock;

	/** @sampler: Sampler, which takes samples for all sessions. */
	struct panthor_perf_sampler sampler;

	/**
	 * @pmu: PMU, NULL until it is registered, and if that has failed. Stays when the
	 * device is unplugged.
	 */
	struct panthor_perf_pmu *pmu;

	/**
	 * @ring_lock: Held while the ring is made: memory is allocated with it held. Taken
	 * before panthor_perf_sampler::lock.
	 */
	struct mutex ring_lock;

	/**
	 * @ring: Memory of the firmware ring, mapped into the MCU's address space; NULL
	 * until the first session or event of perf, and there until the MCU has stopped for
	 * good. Written with @ring_lock held.
	 */
	struct panthor_kernel_bo *ring;

	/**
	 * @setup_lock: Protects all below, and panthor_perf_file::num_sessions.
	 *
	 * TEARDOWN and close cannot be interrupted by a signal, so they must never wait
	 * long for it: no memory is allocated, freed or mapped with it held, and no lock
	 * is taken but those of the sampler, after it.
	 */
	struct mutex setup_lock;

	/** @sessions: List of all sessions, linked by panthor_perf_session::node. */
	struct list_head sessions;

	/** @num_sessions: Number of sessions in @sessions. */
	u32 num_sessions;

	/** @last_id: Number given to the latest client. */
	u32 last_id;
};

/**
 * struct panthor_perf_file - Sessions of a file of the device
 */
struct panthor_perf_file {
	/**
	 * @sessions: Sessions by handle. The entry of a handle is NULL while SETUP has only
	 * reserved it.
	 *
	 * Its lock protects @next_handle, and is held from looking up a session to taking a
	 * reference to it.
	 */
	struct xarray sessions;

	/** @next_handle: Number from which the next free handle is searched. */
	u32 next_handle;

	/* Without a lock, but that num_sessions changes under panthor_perf::setup_lock. */

	/** @num_sessions: Number of sessions. */
	atomic_t num_sessions;

	/** @stats: Statistics that fdinfo shows. */
	struct panthor_perf_stats stats;

	/** @submitted: The file has submitted jobs. Several threads may set it at once. */
	bool submitted;
};

/* Implements panthor_perf_sampler::reset. */
static bool ask_for_reset(struct panthor_perf_sampler *sampler, const char *why)
{
	struct panthor_perf *perf = container_of(sampler, struct panthor_perf, sampler);

	/* Firmware that does not answer in a resume has just been booted, as by a reset. */
	if (atomic_read(&perf->ptdev->pm.state) != PANTHOR_DEVICE_PM_STATE_ACTIVE)
		return false;

	/* Somebody else's, which the sampler must not take for its own. */
	if (panthor_device_reset_is_pending(perf->ptdev))
		return false;

	drm_err(&perf->ptdev->base, "Performance counters: %s, resetting the GPU\n", why);
	panthor_device_schedule_reset(perf->ptdev);
	return true;
}

/*
 * Makes the firmware ring, for the first session or event of perf. The caller must hold neither
 * setup_lock nor the sampler's lock.
 */
static int make_ring(struct panthor_perf *perf)
{
	struct panthor_kernel_bo *ring;

	guard(mutex)(&perf->ring_lock);

	if (perf->ring)
		return 0;

	ring = panthor_perf_fw_ring_alloc(&perf->fw);
	if (IS_ERR(ring))
		return PTR_ERR(ring);

	perf->ring = ring;
	guard(mutex)(&perf->sampler.lock);
	perf->fw.ring = ring->kmap;
	perf->fw.ring_va = panthor_kernel_bo_gpuva(ring);
	return 0;
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
 * Checks if the caller may watch the GPU, which shows the work of all programs on it. So the
 * permission is that for watching CPUs. An error of a security module is returned as it is.
 * perf_paranoid can be written at any time.
 */
static int may_watch(u8 set)
{
	if (READ_ONCE(perf_paranoid) || set != DRM_PANTHOR_PERF_SET_PRIMARY)
		return perf_allow_cpu();

	return 0;
}

/*
 * Limits of a session whose user has no CAP_PERFMON, whatever the permission was granted for: they
 * bound what it costs other users of the GPU, and how closely it can observe them.
 */
static int check_user_limits(struct panthor_perf *perf,
			     const struct drm_panthor_perf_cmd_setup *setup)
{
	u64 ring_size = (u64)setup->sample_slots * perf->layout.user_sample_size;

	if (setup->sample_freq_ns && setup->sample_freq_ns < PERF_MIN_USER_PERIOD_NS)
		return -EACCES;

	return ring_size > PERF_MAX_USER_RING ? -EACCES : 0;
}

/* Checks if the caller may have one more session. */
static int check_num_sessions(struct panthor_perf *perf, struct panthor_perf_file *pf,
			      bool unprivileged)
{
	u32 max = unprivileged ? PERF_MAX_USERS_SESSIONS : PERF_MAX_SESSIONS, count = 0;
	struct panthor_perf_session *session;

	lockdep_assert_held(&perf->setup_lock);

	if (perf->num_sessions >= max ||
	    atomic_read(&pf->num_sessions) >= PERF_MAX_FILE_SESSIONS)
		return -ENOSPC;

	if (!unprivileged)
		return 0;

	list_for_each_entry(session, &perf->sessions, node)
		count += session->unprivileged && uid_eq(session->uid, current_uid());

	return count >= PERF_MAX_USER_SESSIONS ? -ENOSPC : 0;
}

/* Adds a session to the device. Returns -ENOSPC if a limit is exceeded, or -EINTR. */
static int add_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
		       struct panthor_perf_session *session)
{
	int ret = mutex_lock_interruptible(&perf->setup_lock);

	if (ret)
		return ret;

	ret = check_num_sessions(perf, pf, session->unprivileged);
	if (!ret) {
		session->client.id = ++perf->last_id;
		list_add_tail(&session->node, &perf->sessions);
		perf->num_sessions++;
		atomic_inc(&pf->num_sessions);
	}

	mutex_unlock(&perf->setup_lock);
	return ret;
}

/* Ends a session whose handle is not valid any more, and drops the file's reference. */
static void end_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
			struct panthor_perf_session *session)
{
	/* Nothing is written to the user's objects, nor signalled, when this has returned. */
	panthor_perf_sampler_remove(&perf->sampler, &session->client);

	scoped_guard(mutex, &perf->setup_lock) {
		list_del(&session->node);
		perf->num_sessions--;
		atomic_dec(&pf->num_sessions);
	}

	panthor_perf_session_put(session);
}

/*
 * Makes sure that there is a firmware ring, and gets a number for a client that is no session.
 * Sleeps, allocates. Returns 0 or a negative error code.
 */
int panthor_perf_add_client(struct panthor_perf_sampler *sampler, u32 *id)
{
	struct panthor_perf *perf = container_of(sampler, struct panthor_perf, sampler);
	int ret, cookie;

	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return -ENODEV;

	ret = make_ring(perf);
	drm_dev_exit(cookie);
	if (ret)
		return ret;

	guard(mutex)(&perf->setup_lock);
	*id = ++perf->last_id;
	return 0;
}

static int setup_session(struct panthor_perf *perf, struct panthor_perf_file *pf,
			 struct drm_file *file, const struct drm_panthor_perf_cmd_setup *setup,
			 bool unprivileged, u32 *handle)
{
	struct panthor_perf_session *session;
	u32 new_handle;
	int ret;

	/* Creating a session pins memory. add_session() checks again, with the lock held. */
	ret = mutex_lock_interruptible(&perf->setup_lock);
	if (ret)
		return ret;

	ret = check_num_sessions(perf, pf, unprivileged);
	mutex_unlock(&perf->setup_lock);
	if (ret)
		return ret;

	ret = make_ring(perf);
	if (ret)
		return ret;

	session = panthor_perf_session_create(&perf->sampler, &pf->stats, file, setup);
	if (IS_ERR(session))
		return PTR_ERR(session);

	session->uid = current_uid();
	session->unprivileged = unprivileged;
	session->client.limited = unprivileged;

	ret = add_session(perf, pf, session);
	if (ret) {
		panthor_perf_session_put(session);
		return ret;
	}

	/* The last step that can fail, because a SETUP that fails takes no handle. */
	ret = xa_alloc_cyclic(&pf->sessions, &new_handle, NULL, XA_LIMIT(1, U32_MAX),
			      &pf->next_handle, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		end_session(perf, pf, session);
		return ret;
	}

	/*
	 * The handle is reserved, so this does not fail. Another thread may end the session
	 * as soon as it is stored.
	 */
	panthor_perf_session_clear(session);
	xa_store(&pf->sessions, new_handle, session, 0);
	*handle = new_handle;
	return 0;
}

static int cmd_setup(struct panthor_perf *perf, struct drm_file *file,
		     struct drm_panthor_perf_cmd_setup *setup, u32 *handle)
{
	struct panthor_file *pfile = file->driver_priv;
	bool unprivileged;
	int ret, cookie;

	if (!perf || !perf->supported)
		return -EOPNOTSUPP;

	ret = check_setup(setup);
	if (ret)
		return ret;

	ret = may_watch(setup->block_set);
	if (ret)
		return ret;

	/* This only selects limits: don't audit a denial. */
	unprivileged = !ns_capable_noaudit(&init_user_ns, CAP_PERFMON) &&
		       !ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	if (unprivileged) {
		ret = check_user_limits(perf, setup);
		if (ret)
			return ret;
	}

	if (setup->sample_freq_ns)
		setup->sample_freq_ns = max_t(u64, setup->sample_freq_ns, PERF_MIN_PERIOD_NS);

	if (!drm_dev_enter(&perf->ptdev->base, &cookie))
		return -ENODEV;

	ret = setup_session(perf, pfile->perf, file, setup, unprivileged, handle);
	drm_dev_exit(cookie);
	return ret;
}

/* Looks up a session, and takes a reference to it. */
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

static int cmd_teardown(struct panthor_perf *perf, struct panthor_perf_file *pf, u32 handle)
{
	struct panthor_perf_session *session;

	/* A handle that is only reserved stays so. */
	xa_lock(&pf->sessions);
	session = xa_load(&pf->sessions, handle);
	if (session)
		__xa_erase(&pf->sessions, handle);
	xa_unlock(&pf->sessions);
	if (!session)
		return -ENOENT;

	end_session(perf, pf, session);
	return 0;
}

/* Executes START, STOP or SAMPLE, whose structs have nothing but a tag for samples. */
static int cmd_session(struct panthor_perf_file *pf, u32 handle, u32 command, u64 user_data)
{
	struct panthor_perf_session *session = get_session(pf, handle);
	int ret;

	if (!session)
		return -ENOENT;

	switch (command) {
	case DRM_PANTHOR_PERF_COMMAND_START:
		ret = panthor_perf_session_start(session, user_data);
		break;

	case DRM_PANTHOR_PERF_COMMAND_STOP:
		ret = panthor_perf_session_stop(session, user_data);
		break;

	default:
		ret = panthor_perf_session_sample(session, user_data);
		break;
	}

	panthor_perf_session_put(session);
	return ret;
}

/* Programs may pass any version of a command's struct: @last is the last member of the first. */
#define PERF_CMD(id, name, last) \
	[DRM_PANTHOR_PERF_COMMAND_##id] = { \
		.size = sizeof(struct drm_panthor_perf_cmd_##name), \
		.min_size = offsetofend(struct drm_panthor_perf_cmd_##name, last), \
	}

/* Sizes of the structs of commands in bytes; TEARDOWN has none. */
static const struct perf_cmd {
	u32 size;
	u32 min_size;
} perf_cmds[] = {
	PERF_CMD(SETUP, setup, shader_enable_mask),
	[DRM_PANTHOR_PERF_COMMAND_TEARDOWN] = {},
	PERF_CMD(START, start, user_data),
	PERF_CMD(STOP, stop, user_data),
	PERF_CMD(SAMPLE, sample, user_data),
};

/* Executes DRM_IOCTL_PANTHOR_PERF_CONTROL. Its errors are listed in panthor_perf_drm.h. */
int panthor_ioctl_perf_control(struct drm_device *ddev, void *data, struct drm_file *file)
{
	struct panthor_device *ptdev = container_of(ddev, struct panthor_device, base);
	struct panthor_file *pfile = file->driver_priv;
	struct drm_panthor_perf_control *args = data;
	union {
		struct drm_panthor_perf_cmd_setup setup;
		struct drm_panthor_perf_cmd_start start;
	} cmd;
	const struct perf_cmd *desc;
	int ret;

	if (args->cmd >= ARRAY_SIZE(perf_cmds))
		return -EINVAL;

	if (args->cmd == DRM_PANTHOR_PERF_COMMAND_TEARDOWN)
		return cmd_teardown(ptdev->perf, pfile->perf, args->handle);

	desc = &perf_cmds[array_index_nospec(args->cmd, ARRAY_SIZE(perf_cmds))];
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

	if (args->cmd == DRM_PANTHOR_PERF_COMMAND_SETUP)
		ret = cmd_setup(ptdev->perf, file, &cmd.setup, &args->handle);
	else
		ret = cmd_session(pfile->perf, args->handle, args->cmd, cmd.start.user_data);

	if (!ret)
		args->size = desc->size;
	return ret;
}

/* Answers DRM_PANTHOR_DEV_QUERY_PERF_INFO. */
void panthor_perf_info(struct panthor_device *ptdev, struct drm_panthor_perf_info *info)
{
	if (ptdev->perf) {
		*info = ptdev->perf->info;
		return;
	}

	*info = (struct drm_panthor_perf_info) {
		.sample_header_size = sizeof(struct drm_panthor_perf_sample_header),
		.block_header_size = sizeof(struct drm_panthor_perf_block_header),
		.sample_size = sizeof(struct drm_panthor_perf_sample_header),
	};
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

/* Notes that a file has submitted jobs. */
void panthor_perf_submit(struct panthor_file *pfile)
{
	WRITE_ONCE(pfile->perf->submitted, true);
}

/*
 * Ends all sessions of a file, also after the device has been unplugged. If the file has submitted
 * jobs, which still have their groups, and perf counts, this waits for a sample before, for up to
 * 20 ms: what those jobs did that are done is in perf's counts.
 */
void panthor_perf_close(struct panthor_file *pfile)
{
	struct panthor_perf *perf = pfile->ptdev->perf;
	struct panthor_perf_file *pf = pfile->perf;
	struct panthor_perf_session *session;
	unsigned long handle;

	if (pf->submitted && perf && perf->supported &&
	    !panthor_device_reset_is_pending(pfile->ptdev))
		panthor_perf_pmu_flush(READ_ONCE(perf->pmu));

	xa_for_each(&pf->sessions, handle, session)
		end_session(perf, pf, session);

	xa_destroy(&pf->sessions);
	kfree(pf);
	pfile->perf = NULL;
}

void panthor_perf_show_fdinfo(struct panthor_file *pfile, struct drm_printer *p)
{
	struct panthor_perf_file *pf = pfile->perf;

	drm_printf(p, "panthor-perf-sessions:\t%d\n", atomic_read(&pf->num_sessions));
	drm_printf(p, "panthor-perf-samples:\t%lld\n", (s64)atomic64_read(&pf->stats.samples));
	drm_printf(p, "panthor-perf-stretched:\t%lld\n",
		   (s64)atomic64_read(&pf->stats.stretched));
}

#ifdef CONFIG_DEBUG_FS
static void show_sampler(struct panthor_perf_sampler *sampler, struct drm_printer *p)
{
	static const char * const states[] = {
		[PANTHOR_PERF_SAMPLER_DOWN] = "down",
		[PANTHOR_PERF_SAMPLER_CLOSING] = "closing",
		[PANTHOR_PERF_SAMPLER_IDLE] = "idle",
		[PANTHOR_PERF_SAMPLER_COUNTING] = "counting",
		[PANTHOR_PERF_SAMPLER_FAILED] = "failed",
		[PANTHOR_PERF_SAMPLER_GONE] = "gone",
	};
	static const char * const sources[] = {
		[PANTHOR_PERF_CYCLES_NONE] = "not counted so far",
		[PANTHOR_PERF_CYCLES_GPU] = "counted by the GPU",
		[PANTHOR_PERF_CYCLES_RATES] = "from the rates of the clock framework",
	};
	const struct panthor_perf_fw *fw = sampler->fw;

	guard(spinlock)(&sampler->req_lock);

	drm_printf(p, "state: %s\n", states[sampler->state]);
	drm_printf(p, "failures: %u\n", sampler->failures);
	drm_printf(p, "slots: %u\n", fw->ring ? fw->slots : 0);
	drm_printf(p, "insert: %u\n", READ_ONCE(fw->glb->output->perfcnt_insert));
	drm_printf(p, "extract: %u\n", fw->extract);
	drm_printf(p, "cycles: %s\n", sources[sampler->clock->source]);
	drm_printf(p, "samples: %llu\n", sampler->stats.samples);
	drm_printf(p, "requests: %llu\n", sampler->stats.requests);
	drm_printf(p, "overflows: %llu\n", sampler->stats.overflows);
	drm_printf(p, "restarts: %llu\n", sampler->stats.restarts);
}

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
	u64 extract = READ_ONCE(session->indices->extract_idx);

	guard(spinlock)(&client->sampler->req_lock);

	drm_printf(p, "session: %u state=%s set=%u period_ns=%llu", client->id,
		   states[client->state], client->block_set, client->period_ns);
	drm_printf(p, " slots=%u used=%u pending=%u samples=%llu", session->slots,
		   session->slots - panthor_perf_ring_free(session->slots, session->insert, extract),
		   client->tail - client->head, session->insert);
	/* A process name may contain spaces. */
	drm_printf(p, " owner=%s/%d\n", session->creator.process_name,
		   session->creator.tgid);
}

/* Reads memory only, and no register, so that it does not matter if the GPU is powered. */
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
			show_sampler(&perf->sampler, &p);
			drm_printf(&p, "sessions: %u\n", perf->num_sessions);
			list_for_each_entry(session, &perf->sessions, node)
				show_session(session, &p);
		}
		mutex_unlock(&perf->setup_lock);
		panthor_perf_pmu_show(READ_ONCE(perf->pmu), &p);
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

/*
 * Returns NULL if the device has no counters, and for hooks that are called before
 * panthor_perf_init().
 */
static struct panthor_perf_sampler *sampler_of(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = READ_ONCE(ptdev->perf);

	return perf && perf->supported ? &perf->sampler : NULL;
}

/* Handles an interrupt of the global firmware interface. Does not sleep. */
void panthor_perf_irq(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_irq(sampler);
}

/*
 * Prepares for the MCU to be halted, or stopped by a reset. Requests of sessions are not passed on
 * to firmware after this. Those that firmware does not answer now, for which this sleeps up to
 * 20 ms unless a reset is pending, are answered by panthor_perf_post_suspend().
 */
void panthor_perf_pre_suspend(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_close(sampler, !panthor_device_reset_is_pending(ptdev));
}

/*
 * Reads the samples that the MCU has written until it stopped. The device is still powered, and its
 * firmware has not been loaded again, which clears INSERT.
 */
void panthor_perf_post_suspend(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	/* An MCU that was stopped by force has not taken the sample of the halt. */
	if (sampler)
		panthor_perf_sampler_down(sampler, panthor_device_reset_is_pending(ptdev) ||
					  !panthor_fw_halted(ptdev));
}

/*
 * Enables counters again if some client counts: the MCU has booted, in a resume or a reset, and no
 * group has been resumed, so that all their work is counted. This is the fence signalling path:
 * no memory is allocated. Sleeps until firmware has enabled counters, up to 400 ms.
 */
void panthor_perf_resume(struct panthor_device *ptdev)
{
	struct panthor_perf_sampler *sampler = sampler_of(ptdev);

	if (sampler)
		panthor_perf_sampler_up(sampler);
}

static void perf_fini(struct drm_device *ddev, void *data)
{
	struct panthor_perf *perf = data;

	panthor_perf_sampler_fini(&perf->sampler);
	mutex_destroy(&perf->setup_lock);
	mutex_destroy(&perf->ring_lock);
}

static u32 fw_slots(struct panthor_device *ptdev)
{
	if (is_power_of_2(perf_ring_slots) && perf_ring_slots >= PERF_MIN_FW_SLOTS &&
	    perf_ring_slots <= PERF_MAX_FW_SLOTS)
		return perf_ring_slots;

	drm_warn(&ptdev->base, "perf_ring_slots=%u is not a power of two from %u to %u, using %u\n",
		 perf_ring_slots, PERF_MIN_FW_SLOTS, PERF_MAX_FW_SLOTS, PERF_DEFAULT_FW_SLOTS);
	return PERF_DEFAULT_FW_SLOTS;
}

/* Has lockdep complain of code that allocates memory with the lock held, or waits for such code. */
static void taken_in_reclaim(struct mutex *lock)
{
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;

	fs_reclaim_acquire(GFP_KERNEL);
	mutex_lock(lock);
	mutex_unlock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

/*
 * Initializes counters: firmware has booted, and the device is not registered. Without counters the
 * device goes on, and the reason is printed. Until this returns, hooks find no ptdev->perf.
 */
void panthor_perf_init(struct panthor_device *ptdev)
{
	struct panthor_perf_layout_params params = {};
	struct panthor_perf *perf;
	const char *why = NULL;
	int ret;

	perf = drmm_kzalloc(&ptdev->base, sizeof(*perf), GFP_KERNEL);
	if (!perf)
		return;

	panthor_perf_info(ptdev, &perf->info);
	perf->ptdev = ptdev;
	ret = panthor_perf_clock_init(&perf->clock, ptdev);
	if (ret) {
		drm_err(&ptdev->base, "No performance counters: %pe\n", ERR_PTR(ret));
		goto err_none;
	}
	panthor_perf_fw_params(ptdev, &params);
	params.supported_clocks = perf->clock.supported;
	if (panthor_perf_layout_init(&perf->layout, &params, &why)) {
		drm_info(&ptdev->base, "No performance counters: %s\n", why);
		goto err_none;
	}

	panthor_perf_fw_init(&perf->fw, ptdev, &perf->layout, fw_slots(ptdev));
	perf->sampler.fw = &perf->fw;
	perf->sampler.layout = &perf->layout;
	perf->sampler.clock = &perf->clock;
	perf->sampler.reset = ask_for_reset;
	mutex_init(&perf->ring_lock);
	mutex_init(&perf->setup_lock);
	INIT_LIST_HEAD(&perf->sessions);
	if (panthor_perf_sampler_init(&perf->sampler)) {
		drm_err(&ptdev->base, "No performance counters: no memory\n");
		mutex_destroy(&perf->setup_lock);
		mutex_destroy(&perf->ring_lock);
		goto err_none;
	}

	/* Reclaim may wait for the fence of a job, the job for a resume, which takes this lock. */
	taken_in_reclaim(&perf->sampler.lock);
	if (drmm_add_action_or_reset(&ptdev->base, perf_fini, perf)) {
		drm_err(&ptdev->base, "No performance counters: no memory\n");
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
	/* Pairs with the READ_ONCE() of the interrupt thread, which may run by now. */
	smp_store_release(&ptdev->perf, perf);
	return;

err_none:
	ptdev->perf = perf;
}

/*
 * Registers the PMU of a registered device. That there is none is no error, and is printed. Events
 * may be opened before this returns, and the device be unplugged.
 */
void panthor_perf_register(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;
	struct panthor_perf_pmu *pmu;
	int cookie;

	if (!perf || !perf->supported)
		return;

	/* panthor_perf_unplug() is called after drm_dev_unplug(), which waits for this. */
	if (!drm_dev_enter(&ptdev->base, &cookie))
		return;

	pmu = panthor_perf_pmu_add(ptdev, &perf->sampler);
	if (IS_ERR(pmu))
		drm_info(&ptdev->base, "No PMU for perf: %pe\n", pmu);
	else
		/* Pairs with the READ_ONCE() of files that are closed, and of debugfs. */
		smp_store_release(&perf->pmu, pmu);
	drm_dev_exit(cookie);
}

/*
 * Stops all sessions: each that is started gets a last sample, and all do nothing until their files
 * are closed. Firmware is still there. The reset work may call this.
 */
void panthor_perf_unplug(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;

	if (!perf || !perf->supported)
		return;

	panthor_perf_sampler_unplug(&perf->sampler);
	panthor_perf_pmu_unplug(perf->pmu);
}

/**
 * panthor_perf_free_ring() - Free the firmware ring, because the device is being removed
 * @ptdev: Device, after panthor_perf_unplug(), or when its probe has failed.
 *
 * Called when the MCU has stopped, because firmware that does not answer may not have
 * disabled counters, and before its address space is freed.
 */
void panthor_perf_free_ring(struct panthor_device *ptdev)
{
	struct panthor_perf *perf = ptdev->perf;

	if (!perf)
		return;

	panthor_kernel_bo_destroy(perf->ring);
	perf->ring = NULL;
}
