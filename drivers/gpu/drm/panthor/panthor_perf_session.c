// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: one session. */

#include <linux/eventfd.h>
#include <linux/iosys-map.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "panthor_device.h"
#include "panthor_gem.h"
#include "panthor_perf_session.h"

/**
 * DOC: Session
 *
 * A session is what a user sees of a client of the sampler: a ring of samples
 * in a buffer object of the user's, its two indices in another one, an eventfd,
 * and for a periodic session a timer.
 *
 * All that is known about the ring is known from kernel memory. The user can
 * write to both objects at any time; the one thing that is read from there is
 * extract_idx, once a decision, and panthor_perf_ring_free() takes whatever it
 * is for a number of free slots between 0 and all of them.
 *
 *	kernel				user
 *
 *	extract_idx = READ_ONCE		insert_idx, acquire
 *	  (A) smp_mb()			  (B)
 *	sample, written			sample, read
 *	  (B) smp_wmb()			  (A)
 *	insert_idx = WRITE_ONCE		extract_idx, release
 *
 * (A) A slot is written after it was found free. (B) A sample is found written
 * by who has found it published. There is no store-release, since 32-bit
 * machines have none for 64 bits.
 */

/*
 * Mapping an object gives all of it memory, so only what is needed anyway may be
 * large: the ring.
 */
#define MAX_CONTROL_SIZE	SZ_64K

static struct panthor_perf_session *to_session(struct panthor_perf_client *client)
{
	return container_of(client, struct panthor_perf_session, client);
}

static u32 ring_free(struct panthor_perf_session *session)
{
	u64 extract = READ_ONCE(session->indices->extract_idx);

	/* (A) */
	smp_mb();
	return panthor_perf_ring_free(session->slots, session->insert, extract);
}

static u32 session_available(struct panthor_perf_client *client, u32 promised)
{
	struct panthor_perf_session *session = to_session(client);
	u64 extract = READ_ONCE(session->indices->extract_idx);

	/* (A) */
	smp_mb();
	return panthor_perf_ring_available(session->slots, session->insert, extract, promised);
}

static u32 session_write(struct panthor_perf_client *client,
			 const struct panthor_perf_fw_sample *fw_sample,
			 const struct panthor_perf_sample_info *info)
{
	struct panthor_perf_session *session = to_session(client);
	const struct panthor_perf_layout *layout = session->sampler->layout;
	size_t slot = session->insert & (session->slots - 1);

	return panthor_perf_accum_deliver(layout, client->accum, fw_sample, info,
					  session->ring.vaddr + slot * layout->user_sample_size);
}

static void session_publish(struct panthor_perf_client *client)
{
	struct panthor_perf_session *session = to_session(client);

	session->insert++;

	/* (B) */
	smp_wmb();
	WRITE_ONCE(session->indices->insert_idx, session->insert);
	atomic64_inc(&session->stats->samples);
}

static void session_signal(struct panthor_perf_client *client)
{
	eventfd_signal(to_session(client)->eventfd);
}

static void session_stretched(struct panthor_perf_client *client)
{
	struct panthor_perf_session *session = to_session(client);

	session->stretched++;
	atomic64_inc(&session->stats->stretched);
}

static const struct panthor_perf_client_ops session_ops = {
	.available = session_available,
	.write = session_write,
	.publish = session_publish,
	.signal = session_signal,
	.stretched = session_stretched,
};

static void due_work(struct work_struct *work)
{
	struct panthor_perf_session *session =
		container_of(work, struct panthor_perf_session, due_work);

	panthor_perf_sampler_due(session->sampler, &session->client);
}

/*
 * Deadlines are multiples of the period from the baseline, in the clock that
 * users are told; those that are over are skipped. Timers expire in another
 * clock, which may be slewed against it, so each is set anew.
 */
static ktime_t next_deadline(struct panthor_perf_session *session, u64 now)
{
	session->deadline_ns = panthor_perf_clock_deadline(session->client.begun_ns,
							   session->period_ns, now);
	return ktime_add_ns(ktime_get(), session->deadline_ns - now);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct panthor_perf_session *session =
		container_of(timer, struct panthor_perf_session, timer);
	u64 now = ktime_get_raw_ns();

	if (READ_ONCE(session->client.state) != PANTHOR_PERF_CLIENT_STARTED)
		return HRTIMER_NORESTART;

	if (now >= session->deadline_ns)
		queue_work(session->sampler->wq, &session->due_work);

	hrtimer_set_expires(timer, next_deadline(session, now));
	return HRTIMER_RESTART;
}

static int get_object(struct drm_file *file, u32 handle, struct panthor_perf_mapping *mapping)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	if (!obj)
		return -ENOENT;

	/* Memory of somebody else's, or memory that the user cannot read. */
	if (drm_gem_is_imported(obj) || (to_panthor_bo(obj)->flags & DRM_PANTHOR_BO_NO_MMAP)) {
		drm_gem_object_put(obj);
		return -EINVAL;
	}

	mapping->obj = obj;
	return 0;
}

/* Gives all of it memory: its size has been checked. */
static int map_object(struct panthor_perf_mapping *mapping)
{
	struct iosys_map map;
	int ret = drm_gem_vmap(mapping->obj, &map);

	if (!ret)
		mapping->vaddr = map.vaddr;
	return ret;
}

static void unmap_object(struct panthor_perf_mapping *mapping)
{
	struct iosys_map map = IOSYS_MAP_INIT_VADDR(mapping->vaddr);

	if (!mapping->obj)
		return;

	if (mapping->vaddr)
		drm_gem_vunmap(mapping->obj, &map);
	drm_gem_object_put(mapping->obj);
}

static bool sizes_fit(const struct panthor_perf_session *session, u64 ring_size, u64 offset)
{
	u64 size = session->control.obj->size;

	return session->ring.obj->size == PAGE_ALIGN(ring_size) &&
	       (size <= MAX_CONTROL_SIZE || session->control.obj == session->ring.obj) &&
	       offset % sizeof(u64) == 0 &&
	       offset < size && size - offset >= sizeof(*session->indices);
}

static void free_session(struct panthor_perf_session *session)
{
	unmap_object(&session->control);
	unmap_object(&session->ring);
	if (session->eventfd)
		eventfd_ctx_put(session->eventfd);
	kvfree(session->client.queue);
	kvfree(session->client.accum);
	mutex_destroy(&session->command_lock);
	kfree(session);
}

/**
 * panthor_perf_session_create() - Create a session
 * @sampler: Sampler.
 * @stats: Statistics of the file.
 * @file: File that handles are of.
 * @setup: The user's wishes. Slots and padding have been checked.
 *
 * Context: Process context. Allocates and maps, and so may take long: called
 * without any lock.
 *
 * Return: The session, with one reference, or an error pointer.
 */
struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup)
{
	const struct panthor_perf_layout *layout = sampler->layout;
	u64 ring_size = (u64)setup->sample_slots * layout->user_sample_size;
	struct panthor_perf_session *session;
	struct panthor_perf_masks masks;
	struct eventfd_ctx *eventfd;
	int ret;

	session = kzalloc_obj(*session, GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);

	kref_init(&session->ref);
	mutex_init(&session->command_lock);
	INIT_LIST_HEAD(&session->node);
	session->sampler = sampler;
	session->stats = stats;
	session->slots = setup->sample_slots;
	session->period_ns = setup->sample_freq_ns;
	session->creator.tgid = current->tgid;
	get_task_comm(session->creator.process_name, current->group_leader);
	session->client.ops = &session_ops;
	session->client.block_set = setup->block_set;
	session->client.emit_auto = setup->setup_flags & DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	session->client.queue_mask = setup->sample_slots - 1;
	panthor_perf_client_init(&session->client);
	INIT_WORK(&session->due_work, due_work);
	hrtimer_setup(&session->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);

	eventfd = eventfd_ctx_fdget((int)setup->fd);
	if (IS_ERR(eventfd)) {
		ret = PTR_ERR(eventfd);
		goto err_free;
	}
	session->eventfd = eventfd;

	ret = get_object(file, setup->ringbuf_handle, &session->ring);
	if (ret)
		goto err_free;

	ret = get_object(file, setup->control_handle, &session->control);
	if (ret)
		goto err_free;

	if (!sizes_fit(session, ring_size, setup->control_offset)) {
		ret = -EINVAL;
		goto err_free;
	}

	ret = map_object(&session->ring);
	if (ret)
		goto err_free;

	ret = map_object(&session->control);
	if (ret)
		goto err_free;

	ret = -ENOMEM;
	session->client.accum = kvzalloc(panthor_perf_accum_size(layout), GFP_KERNEL_ACCOUNT);
	if (!session->client.accum)
		goto err_free;

	session->client.queue = kvcalloc(session->slots, sizeof(*session->client.queue),
					 GFP_KERNEL_ACCOUNT);
	if (!session->client.queue)
		goto err_free;

	panthor_perf_masks_from_setup(layout, setup, &masks);
	panthor_perf_accum_init(layout, &masks, session->client.accum);

	session->indices = session->control.vaddr + setup->control_offset;
	return session;

err_free:
	free_session(session);
	return ERR_PTR(ret);
}

/**
 * panthor_perf_session_clear() - Write the indices as a session begins with
 * @session: Session that nobody has found yet.
 *
 * Not a part of creating it, since a SETUP that fails changes nothing.
 */
void panthor_perf_session_clear(struct panthor_perf_session *session)
{
	WRITE_ONCE(session->indices->extract_idx, 0);
	WRITE_ONCE(session->indices->insert_idx, 0);
}

static void release_session(struct kref *ref)
{
	struct panthor_perf_session *session =
		container_of(ref, struct panthor_perf_session, ref);

	/* Nobody else has. A START under way when TEARDOWN came may even have started it. */
	hrtimer_cancel(&session->timer);
	cancel_work_sync(&session->due_work);
	free_session(session);
}

/**
 * panthor_perf_session_put() - Drop a reference to a session
 * @session: Session, destroyed if the reference is the last one.
 */
void panthor_perf_session_put(struct panthor_perf_session *session)
{
	kref_put(&session->ref, release_session);
}

/**
 * panthor_perf_session_destroy() - End a session
 * @session: Session, in any state. The caller's reference is dropped.
 *
 * Nothing is written or signalled when this has returned.
 */
void panthor_perf_session_destroy(struct panthor_perf_session *session)
{
	panthor_perf_sampler_remove(session->sampler, &session->client);
	panthor_perf_session_put(session);
}

static int start_locked(struct panthor_perf_session *session, u64 user_data)
{
	enum panthor_perf_client_state state = READ_ONCE(session->client.state);
	int ret;

	lockdep_assert_held(&session->command_lock);

	/* It may stop at any moment now, and nobody would have looked for a free slot. */
	if (state == PANTHOR_PERF_CLIENT_STOPPING)
		return -EBUSY;

	/* The last sample will need a slot. Starting what is started is no error. */
	if (state == PANTHOR_PERF_CLIENT_STOPPED) {
		u32 free;

		spin_lock(&session->sampler->req_lock);
		free = ring_free(session);
		spin_unlock(&session->sampler->req_lock);
		if (!free)
			return -EBUSY;

		/* STOP has ended the timer: what was due before it is not due after this. */
		cancel_work_sync(&session->due_work);
	}

	ret = panthor_perf_sampler_start(session->sampler, &session->client, user_data);
	if (ret || !session->period_ns || state != PANTHOR_PERF_CLIENT_STOPPED)
		return ret;

	hrtimer_start(&session->timer, next_deadline(session, ktime_get_raw_ns()),
		      HRTIMER_MODE_ABS);
	return 0;
}

/**
 * panthor_perf_session_start() - Begin to count
 * @session: Session.
 * @user_data: Tag of samples that are not requested.
 *
 * Returns when counting has begun. Nothing happens if it had.
 *
 * Context: Process context, without locks. Sleeps, interruptibly.
 *
 * Return: 0 on success, -EBUSY if the last sample has not been delivered or has
 * no free slot, -ERESTARTSYS if the caller has a signal pending, otherwise what
 * panthor_perf_sampler_start() returns.
 */
int panthor_perf_session_start(struct panthor_perf_session *session, u64 user_data)
{
	int ret;

	if (mutex_lock_interruptible(&session->command_lock))
		return -ERESTARTSYS;

	ret = start_locked(session, user_data);
	mutex_unlock(&session->command_lock);
	return ret;
}

/**
 * panthor_perf_session_sample() - Request a sample
 * @session: Session.
 * @user_data: Tag of the sample.
 *
 * Return: 0 on success, a negative error code otherwise.
 */
int panthor_perf_session_sample(struct panthor_perf_session *session, u64 user_data)
{
	if (session->period_ns)
		return -EINVAL;

	return panthor_perf_sampler_request(session->sampler, &session->client, user_data);
}

/**
 * panthor_perf_session_stop() - Request a last sample, and count no more after it
 * @session: Session.
 * @user_data: Tag of the sample.
 *
 * Context: Process context, without locks. Sleeps, interruptibly, while the
 * session is being started by another thread.
 *
 * Return: 0 on success, also if the session was not counting, -ERESTARTSYS if
 * the caller has a signal pending.
 */
int panthor_perf_session_stop(struct panthor_perf_session *session, u64 user_data)
{
	if (mutex_lock_interruptible(&session->command_lock))
		return -ERESTARTSYS;

	/* Not after it: by then the session may be started again. */
	if (READ_ONCE(session->client.state) == PANTHOR_PERF_CLIENT_STARTED)
		hrtimer_cancel(&session->timer);

	panthor_perf_sampler_stop(session->sampler, &session->client, user_data);
	mutex_unlock(&session->command_lock);
	return 0;
}

#ifdef CONFIG_DEBUG_FS
/* From START to the latest sample. */
static u64 samples_per_second(const struct panthor_perf_client *client)
{
	u64 ns = client->start.ns - client->begun_ns;

	return ns ? mul_u64_u64_div_u64(client->samples, NSEC_PER_SEC, ns) : 0;
}

/**
 * panthor_perf_session_show() - Show what a session is doing
 * @session: Session. The caller holds the lock of the sampler.
 * @p: Where to.
 */
void panthor_perf_session_show(struct panthor_perf_session *session, struct drm_printer *p)
{
	static const char * const states[] = {
		[PANTHOR_PERF_CLIENT_STOPPED] = "stopped",
		[PANTHOR_PERF_CLIENT_STARTING] = "starting",
		[PANTHOR_PERF_CLIENT_STARTED] = "started",
		[PANTHOR_PERF_CLIENT_STOPPING] = "stopping",
		[PANTHOR_PERF_CLIENT_REMOVED] = "removed",
	};
	static const char * const types[] = {
		[DRM_PANTHOR_PERF_BLOCK_FW] = "fw",
		[DRM_PANTHOR_PERF_BLOCK_CSG] = "csg",
		[DRM_PANTHOR_PERF_BLOCK_CSHW] = "cshw",
		[DRM_PANTHOR_PERF_BLOCK_TILER] = "tiler",
		[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = "memsys",
		[DRM_PANTHOR_PERF_BLOCK_SHADER] = "shader",
	};
	const struct panthor_perf_client *client = &session->client;
	enum panthor_perf_client_state state;
	u32 used, pending, type;

	lockdep_assert_held(&session->sampler->lock);

	scoped_guard(spinlock, &session->sampler->req_lock) {
		state = client->state;
		pending = client->tail - client->head;
		used = session->slots - ring_free(session);
	}

	drm_printf(p, "session: %u state=%s set=%u period_ns=%llu emit_auto=%d slots=%u used=%u",
		   client->id, states[state], client->block_set, session->period_ns,
		   client->emit_auto, session->slots, used);
	drm_printf(p, " pending=%u samples=%llu stretched=%llu rate=%llu", pending,
		   session->insert, session->stretched, samples_per_second(client));

	for (type = DRM_PANTHOR_PERF_BLOCK_FW; type < PANTHOR_PERF_BLOCK_TYPES; type++) {
		const u64 *mask = client->accum->masks.mask[type];

		drm_printf(p, " %s=%016llx%016llx", types[type], mask[1], mask[0]);
	}

	/* Last, since a name can hold anything. */
	drm_printf(p, " owner=%s/%d\n", session->creator.process_name, session->creator.tgid);
}
#endif
