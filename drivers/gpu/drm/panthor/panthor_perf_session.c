// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: one session. */

#include <linux/eventfd.h>
#include <linux/iosys-map.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "panthor_device.h"
#include "panthor_gem.h"
#include "panthor_perf_session.h"

/**
 * DOC: Session
 *
 * A session connects a client of the sampler to a user. It has a ring of samples
 * in a buffer object of the user, the two indices of the ring in another one, and an
 * eventfd, which session_deliver() signals once for each sample.
 *
 * The user can write to both buffer objects at any time, so the kernel keeps in
 * its own memory all that it has to know about the ring. The only exception is
 * extract_idx. It is read once for each decision, and panthor_perf_ring_free()
 * turns any value of it into a number of free slots that the ring can have.
 *
 * Kernel and user access the ring without a lock, so the order of their accesses
 * matters in two places:
 *
 * (A) The user reads a sample before writing the extract_idx that gives its slot
 *     back. The kernel reads extract_idx before it writes the next sample to the
 *     slot. The user never reads a sample that is being overwritten.
 * (B) The kernel writes a sample before the insert_idx that counts it. The user
 *     reads insert_idx before the sample. The user never reads a sample that is
 *     not complete.
 *
 * These are the accesses, with the functions that contain those of the kernel::
 *
 *	kernel						user
 *
 *	read extract_idx	session_free_slots()	read insert_idx, acquire
 *	  (A) branch					  (B)
 *	write sample		session_deliver()	read sample
 *	  (B) smp_wmb()					  (A)
 *	write insert_idx	session_deliver()	write extract_idx, release
 *
 * (A) needs no barrier in the kernel: a sample is written only if a slot was found
 * free, by the same thread or by one that has released panthor_perf_sampler::req_lock
 * since. Writes are not done before the branch that they depend on, nor before a lock
 * is taken. The ring of perf relies on the same, see kernel/events/ring_buffer.c.
 *
 * The kernel uses smp_wmb() and WRITE_ONCE() instead of smp_store_release(), which
 * does not support 64-bit values on 32-bit machines.
 */

/*
 * Largest size of a control object that is not the ring itself, in bytes. Mapping
 * an object allocates memory for all of it, although the session needs only the
 * 16 bytes of the indices.
 */
#define MAX_CONTROL_SIZE	SZ_64K

static struct panthor_perf_session *to_session(struct panthor_perf_client *client)
{
	return container_of(client, struct panthor_perf_session, client);
}

static u32 session_free_slots(struct panthor_perf_client *client)
{
	struct panthor_perf_session *session = to_session(client);
	/*
	 * (A) A slot is written only if it was free. That branch pairs with the user's
	 * release of extract_idx.
	 */
	u64 extract = READ_ONCE(session->indices->extract_idx);

	return panthor_perf_ring_free(session->slots, session->insert, extract);
}

static u32 session_deliver(struct panthor_perf_client *client,
			   const struct panthor_perf_fw_sample *fw_sample,
			   const struct panthor_perf_sample_info *info)
{
	struct panthor_perf_session *session = to_session(client);
	const struct panthor_perf_layout *layout = client->sampler->layout;
	size_t slot = session->insert & (session->slots - 1);
	u32 flags = panthor_perf_accum_deliver(layout, client->accum, fw_sample, info,
					       session->ring.vaddr +
					       slot * layout->user_sample_size);

	atomic64_inc(&session->stats->samples);
	if (flags & DRM_PANTHOR_PERF_SAMPLE_STRETCHED) {
		session->stretched++;
		atomic64_inc(&session->stats->stretched);
	}

	spin_lock(&client->sampler->req_lock);
	session->insert++;
	client->promised--;
	/*
	 * (B) Write the sample before the insert_idx that counts it. Pairs with the
	 * user's acquire of insert_idx.
	 */
	smp_wmb();
	WRITE_ONCE(session->indices->insert_idx, session->insert);
	spin_unlock(&client->sampler->req_lock);

	eventfd_signal(session->eventfd);
	return flags;
}

static const struct panthor_perf_client_ops session_ops = {
	.free_slots = session_free_slots,
	.deliver = session_deliver,
};

static int get_object(struct drm_file *file, u32 handle, struct panthor_perf_mapping *mapping)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	if (!obj)
		return -ENOENT;

	/* An imported object has memory of another driver, and users cannot read a NO_MMAP one. */
	if (drm_gem_is_imported(obj) || (to_panthor_bo(obj)->flags & DRM_PANTHOR_BO_NO_MMAP)) {
		drm_gem_object_put(obj);
		return -EINVAL;
	}

	mapping->obj = obj;
	return 0;
}

/* Allocates memory for all of an object: sizes_fit() must have checked its size. */
static int map_object(struct panthor_perf_mapping *mapping)
{
	struct iosys_map map;
	int ret = drm_gem_vmap(mapping->obj, &map);

	/* That is how shmem says that it has no memory. Of SETUP it means too many sessions. */
	if (ret == -ENOSPC)
		return -ENOMEM;

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

/*
 * Creates a session for the SETUP of a file, with one reference; writes nothing to the user's
 * objects. The caller has checked the number of slots, the flags, the counter set, the period
 * and the padding. Returns an error pointer on failure: -EBADF or -EINVAL if there is no such
 * eventfd, -ENOENT if there is no such object, -EINVAL if an object cannot be used, -ENOMEM if
 * there is no memory.
 */
struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup)
{
	const struct panthor_perf_layout *layout = sampler->layout;
	u64 ring_size = (u64)setup->sample_slots * layout->user_sample_size;
	const u64 *masks[PANTHOR_PERF_BLOCK_TYPES] = {
		[DRM_PANTHOR_PERF_BLOCK_FW] = setup->fw_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_CSG] = setup->csg_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_CSHW] = setup->cshw_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_TILER] = setup->tiler_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = setup->memsys_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_SHADER] = setup->shader_enable_mask,
	};
	struct panthor_perf_session *session;
	struct eventfd_ctx *eventfd;
	u32 type;
	int ret;

	session = kzalloc_obj(*session, GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);

	kref_init(&session->ref);
	mutex_init(&session->command_lock);
	INIT_LIST_HEAD(&session->node);
	session->stats = stats;
	session->slots = setup->sample_slots;
	session->client.period_ns = setup->sample_freq_ns;
	session->creator.tgid = current->tgid;
	get_task_comm(session->creator.process_name, current->group_leader);
	session->client.ops = &session_ops;
	session->client.block_set = setup->block_set;
	session->client.emit_auto = setup->setup_flags & DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	session->client.queue_mask = setup->sample_slots - 1;
	panthor_perf_client_init(&session->client, sampler);

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

	panthor_perf_accum_init(layout, session->client.accum);
	for (type = DRM_PANTHOR_PERF_BLOCK_FW; type < PANTHOR_PERF_BLOCK_TYPES; type++)
		panthor_perf_accum_enable(layout, type, masks[type], session->client.accum);

	session->indices = session->control.vaddr + setup->control_offset;
	return session;

err_free:
	free_session(session);
	return ERR_PTR(ret);
}

/* Apart from creation: a SETUP that fails later must not have changed the user's memory. */
void panthor_perf_session_clear(struct panthor_perf_session *session)
{
	WRITE_ONCE(session->indices->extract_idx, 0);
	WRITE_ONCE(session->indices->insert_idx, 0);
}

static void release_session(struct kref *ref)
{
	struct panthor_perf_session *session =
		container_of(ref, struct panthor_perf_session, ref);

	free_session(session);
}

/* Drops a reference to a session. Sleeps. */
void panthor_perf_session_put(struct panthor_perf_session *session)
{
	kref_put(&session->ref, release_session);
}

/*
 * Begins to count, and returns when counting has begun. Sleeps interruptibly. Returns 0, also
 * if the session was started before, -ERESTARTSYS if the caller has a signal pending, or what
 * panthor_perf_sampler_start() returns.
 */
int panthor_perf_session_start(struct panthor_perf_session *session, u64 user_data)
{
	int ret;

	if (mutex_lock_interruptible(&session->command_lock))
		return -ERESTARTSYS;

	ret = panthor_perf_sampler_start(session->client.sampler, &session->client, user_data);
	mutex_unlock(&session->command_lock);
	return ret;
}

/*
 * Requests a sample, and does not wait for it. Returns 0, -EINVAL if the session is periodic,
 * or what panthor_perf_sampler_request() returns.
 */
int panthor_perf_session_sample(struct panthor_perf_session *session, u64 user_data)
{
	if (session->client.period_ns)
		return -EINVAL;

	return panthor_perf_sampler_request(session->client.sampler, &session->client, user_data);
}

/*
 * Requests the last sample, with which the session stops, and does not wait for it. Sleeps
 * interruptibly while another thread starts the session. Returns 0, also if the session was
 * not started, or -ERESTARTSYS if the caller has a signal pending.
 */
int panthor_perf_session_stop(struct panthor_perf_session *session, u64 user_data)
{
	if (mutex_lock_interruptible(&session->command_lock))
		return -ERESTARTSYS;

	panthor_perf_sampler_stop(session->client.sampler, &session->client, user_data);
	mutex_unlock(&session->command_lock);
	return 0;
}
