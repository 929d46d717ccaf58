/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: one session. */

#ifndef __PANTHOR_PERF_SESSION_H__
#define __PANTHOR_PERF_SESSION_H__

#include <linux/atomic.h>
#include <linux/iosys-map.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/uidgid.h>

#include "panthor_perf_sampler.h"

struct drm_file;
struct drm_gem_object;
struct eventfd_ctx;

/**
 * struct panthor_perf_stats - Statistics of a file's sessions, for fdinfo
 * @samples: Number of samples delivered.
 * @stretched: Number of them with the flag STRETCHED.
 */
struct panthor_perf_stats {
	atomic64_t samples;
	atomic64_t stretched;
};

/**
 * struct panthor_perf_mapping - A user's buffer object, mapped into the kernel
 * @obj: Object, which the session has a reference to. NULL if there is none.
 * @map: Its address in the kernel, null before it is mapped, which pins it.
 */
struct panthor_perf_mapping {
	struct drm_gem_object *obj;
	struct iosys_map map;
};

/**
 * struct panthor_perf_session - One session
 * @ref: References of the file, until TEARDOWN or close, and of ioctls that use the session.
 * @command_lock: START sleeps with it held, so it is taken interruptibly, and not by SAMPLE,
 *	TEARDOWN and close. The sampler's locks nest in it.
 * @client: The sampler's part of the session.
 * @stats: Statistics of the file, which outlives the session.
 * @uid: User who set up the session. The number of sessions of a user is limited.
 * @owner: Name of the process that set up the session, for debugfs.
 * @tgid: ID of that process.
 * @eventfd: Signalled for each delivered sample.
 * @ring: Buffer object of the ring.
 * @control: Buffer object that holds @indices.
 * @indices: Indices of the ring, of which the kernel reads extract_idx alone.
 * @slots: Number of slots of the ring, a power of two.
 * @node: Link of panthor_perf::sessions, protected by panthor_perf::setup_lock.
 * @insert: Number of samples delivered: insert_idx, which the user cannot change here. Changed
 *	with both locks of the sampler held.
 */
struct panthor_perf_session {
	struct kref ref;
	struct mutex command_lock; /* Serializes START and STOP. */
	struct panthor_perf_client client;
	struct panthor_perf_stats *stats;
	kuid_t uid;
	char owner[TASK_COMM_LEN];
	pid_t tgid;
	struct eventfd_ctx *eventfd;
	struct panthor_perf_mapping ring;
	struct panthor_perf_mapping control;
	struct drm_panthor_perf_ringbuf_control *indices;
	u32 slots;
	struct list_head node;
	u64 insert;
};

struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup);
void panthor_perf_session_clear(struct panthor_perf_session *session);
void panthor_perf_session_put(struct panthor_perf_session *session);

#endif
