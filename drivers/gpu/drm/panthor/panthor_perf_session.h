/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: one session. */

#ifndef __PANTHOR_PERF_SESSION_H__
#define __PANTHOR_PERF_SESSION_H__

#include <linux/atomic.h>
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
 */
struct panthor_perf_stats {
	/** @samples: Number of samples delivered. */
	atomic64_t samples;

	/** @stretched: Number of them with the flag STRETCHED. */
	atomic64_t stretched;
};

/**
 * struct panthor_perf_mapping - A user's buffer object, mapped into the kernel
 *
 * Does not change once SETUP has created the session.
 */
struct panthor_perf_mapping {
	/** @obj: Object, which the session has a reference to. NULL if there is none. */
	struct drm_gem_object *obj;

	/** @vaddr: Its address in the kernel, NULL before it is mapped, which pins it. */
	void *vaddr;
};

/**
 * struct panthor_perf_session - One session
 */
struct panthor_perf_session {
	/** @ref: Those of the file, until TEARDOWN or close, and of ioctls that use it. */
	struct kref ref;

	/**
	 * @command_lock: Serializes START and STOP of the session.
	 *
	 * START sleeps with it held, so the lock is taken interruptibly, and not by SAMPLE,
	 * TEARDOWN and close. Process context. It is taken before the sampler's locks.
	 */
	struct mutex command_lock;

	/** @client: The part of the session that the sampler works with. */
	struct panthor_perf_client client;

	/* Constant once SETUP has returned. */

	/** @stats: Statistics of the file. The file outlives the session. */
	struct panthor_perf_stats *stats;

	/** @uid: User who set up the session. The number of sessions of a user is limited. */
	kuid_t uid;

	/** @unprivileged: The user had no CAP_PERFMON at SETUP, so that limits apply. */
	bool unprivileged;

	/** @creator: The process that set up the session, shown in debugfs. */
	struct {
		/** @creator.process_name: Name of the process. */
		char process_name[TASK_COMM_LEN];

		/** @creator.tgid: ID of the process. */
		pid_t tgid;
	} creator;

	/** @eventfd: Eventfd that is signalled for each delivered sample. */
	struct eventfd_ctx *eventfd;

	/** @ring: Buffer object of the ring. */
	struct panthor_perf_mapping ring;

	/** @control: Buffer object that holds the indices of the ring. */
	struct panthor_perf_mapping control;

	/** @indices: The indices of the ring, of which the kernel reads extract_idx alone. */
	struct drm_panthor_perf_ringbuf_control *indices;

	/** @slots: Number of slots of the ring, a power of two. */
	u32 slots;

	/* Protected by panthor_perf::setup_lock. */

	/** @node: Entry in panthor_perf::sessions. */
	struct list_head node;

	/* Protected by panthor_perf_sampler::lock; @insert changes with req_lock held as well. */

	/** @insert: Number of samples delivered: insert_idx, which the user cannot change here. */
	u64 insert;

	/** @stretched: Number of samples delivered with the flag STRETCHED. */
	u64 stretched;
};

struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup);
void panthor_perf_session_clear(struct panthor_perf_session *session);
void panthor_perf_session_put(struct panthor_perf_session *session);

int panthor_perf_session_start(struct panthor_perf_session *session, u64 user_data);
int panthor_perf_session_sample(struct panthor_perf_session *session, u64 user_data);
int panthor_perf_session_stop(struct panthor_perf_session *session, u64 user_data);

#endif
