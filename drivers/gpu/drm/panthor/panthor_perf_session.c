// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: one session. */

#include <linux/eventfd.h>
#include <linux/overflow.h>
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
 * its own memory all that it has to know about the ring, but for extract_idx. That is
 * read once for each decision, and panthor_perf_ring_free() turns any value of it
 * into a number of free slots that the ring can have.
 *
 * Kernel and user access the ring without a lock, so the order of their accesses
 * matters in two places: (A) the user never reads a sample that is being overwritten,
 * (B) and never one that is not complete::
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
 * (B) is not smp_store_release(), which has no 64 bits on 32-bit machines.
 */

/* Largest size in bytes of a control object, all of which is mapped, but for the ring itself. */
#define MAX_CONTROL_SIZE	SZ_64K

static u32 session_free_slots(struct panthor_perf_client *client)
{
	struct panthor_perf_session *session = container_of(client, typeof(*session), client);
	/* (A) The branch on the result pairs with the user's release of extract_idx. */
	u64 extract = READ_ONCE(session->indices->extract_idx);

	return panthor_perf_ring_free(session->slots, session->insert, extract);
}

static u32 session_deliver(struct panthor_perf_client *client,
			   const struct panthor_perf_fw_sample *fw_sample,
			   const struct panthor_perf_sample_info *info)
{
	struct panthor_perf_session *session = container_of(client, typeof(*session), client);
	const struct panthor_perf_layout *layout = client->sampler->layout;
	size_t slot = session->insert & (session->slots - 1);
	u32 flags = panthor_perf_accum_deliver(layout, client->accum, fw_sample, info,
					       session->ring.map.vaddr +
					       slot * layout->user_sample_size);

	atomic64_inc(&session->stats->samples);
	if (flags & DRM_PANTHOR_PERF_SAMPLE_STRETCHED)
		atomic64_inc(&session->stats->stretched);

	spin_lock(&client->sampler->req_lock);
	session->insert++;
	client->reserved--;
	/* (B) Pairs with the user's acquire of insert_idx. */
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

/*
 * Map a buffer object of @min to @max bytes, or the ring itself, of whatever size. That allocates
 * memory for all of the object.
 */
static int map_object(struct panthor_perf_session *session, struct drm_file *file, u32 handle,
		      u64 min, u64 max, struct panthor_perf_mapping *mapping)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);
	int ret;

	if (!obj)
		return -ENOENT;

	/* An imported object has memory of another driver, and users cannot read a NO_MMAP one. */
	if (drm_gem_is_imported(obj) || (to_panthor_bo(obj)->flags & DRM_PANTHOR_BO_NO_MMAP) ||
	    obj->size < min || (obj->size > max && obj != session->ring.obj)) {
		drm_gem_object_put(obj);
		return -EINVAL;
	}

	mapping->obj = obj;
	ret = drm_gem_vmap(obj, &mapping->map);
	/* shmem returns -ENOSPC if out of memory, but SETUP uses it for too many sessions. */
	return ret == -ENOSPC ? -ENOMEM : ret;
}

static void unmap_object(struct panthor_perf_mapping *mapping)
{
	if (mapping->obj)
		drm_gem_vunmap(mapping->obj, &mapping->map);
	drm_gem_object_put(mapping->obj);
}

static void release_session(struct kref *ref)
{
	struct panthor_perf_session *session = container_of(ref, struct panthor_perf_session, ref);

	unmap_object(&session->control);
	unmap_object(&session->ring);
	if (session->eventfd)
		eventfd_ctx_put(session->eventfd);
	kvfree(session->client.queue);
	kvfree(session->client.accum);
	mutex_destroy(&session->command_lock);
	kfree(session);
}

/* Drop a reference to a session. Sleeps. */
void panthor_perf_session_put(struct panthor_perf_session *session)
{
	kref_put(&session->ref, release_session);
}

/* Look up the user's eventfd and objects, and allocate memory. */
static int init_session(struct panthor_perf_session *session, struct drm_file *file,
			const struct drm_panthor_perf_cmd_setup *setup)
{
	const struct panthor_perf_layout *layout = session->client.sampler->layout;
	u64 ring_size = PAGE_ALIGN((u64)setup->sample_slots * layout->user_sample_size);
	const u64 *masks[PANTHOR_PERF_BLOCK_TYPES] = {
		[DRM_PANTHOR_PERF_BLOCK_FW] = setup->fw_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_CSG] = setup->csg_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_CSHW] = setup->cshw_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_TILER] = setup->tiler_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = setup->memsys_enable_mask,
		[DRM_PANTHOR_PERF_BLOCK_SHADER] = setup->shader_enable_mask,
	};
	struct eventfd_ctx *eventfd;
	u64 indices_end;
	u32 type;
	int ret;

	eventfd = eventfd_ctx_fdget((int)setup->fd);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);

	session->eventfd = eventfd;
	ret = map_object(session, file, setup->ringbuf_handle, ring_size, ring_size,
			 &session->ring);
	if (ret)
		return ret;

	if (setup->control_offset % sizeof(u64) ||
	    check_add_overflow(setup->control_offset, sizeof(*session->indices), &indices_end))
		return -EINVAL;

	ret = map_object(session, file, setup->control_handle, indices_end, MAX_CONTROL_SIZE,
			 &session->control);
	if (ret)
		return ret;

	session->indices = session->control.map.vaddr + setup->control_offset;
	session->client.accum = kvzalloc(layout->accum_size, GFP_KERNEL_ACCOUNT);
	session->client.queue = kvcalloc(session->slots, sizeof(*session->client.queue),
					 GFP_KERNEL_ACCOUNT);
	if (!session->client.accum || !session->client.queue)
		return -ENOMEM;

	panthor_perf_accum_init(layout, session->client.accum);
	for (type = DRM_PANTHOR_PERF_BLOCK_FW; type < PANTHOR_PERF_BLOCK_TYPES; type++)
		panthor_perf_accum_enable(layout, type, masks[type], session->client.accum);
	return 0;
}

/*
 * Create a session with one reference, of a SETUP that setup_valid(). Writes nothing to the user's
 * objects. Returns an error pointer on failure: -EBADF or -EINVAL if there is no such eventfd,
 * -ENOENT or -EINVAL if an object does not exist or cannot be used, or -ENOMEM.
 */
struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup)
{
	struct panthor_perf_session *session = kzalloc_obj(*session, GFP_KERNEL_ACCOUNT);
	int ret;

	if (!session)
		return ERR_PTR(-ENOMEM);

	kref_init(&session->ref);
	mutex_init(&session->command_lock);
	session->stats = stats;
	session->slots = setup->sample_slots;
	session->uid = current_uid();
	session->tgid = current->tgid;
	get_task_comm(session->owner, current->group_leader);
	session->client.ops = &session_ops;
	session->client.period_ns = setup->sample_freq_ns;
	session->client.block_set = setup->block_set;
	session->client.emit_auto = setup->setup_flags & DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	session->client.queue_mask = setup->sample_slots - 1;
	panthor_perf_client_init(&session->client, sampler);

	ret = init_session(session, file, setup);
	if (!ret)
		return session;

	panthor_perf_session_put(session);
	return ERR_PTR(ret);
}

/* Separate from creation, so that a SETUP that fails never writes to user memory. */
void panthor_perf_session_clear(struct panthor_perf_session *session)
{
	WRITE_ONCE(session->indices->extract_idx, 0);
	WRITE_ONCE(session->indices->insert_idx, 0);
}
