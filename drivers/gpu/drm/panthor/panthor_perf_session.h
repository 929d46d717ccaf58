/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: one session. */

#ifndef __PANTHOR_PERF_SESSION_H__
#define __PANTHOR_PERF_SESSION_H__

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "panthor_perf_sampler.h"

struct drm_file;
struct drm_gem_object;
struct drm_printer;
struct eventfd_ctx;

/**
 * struct panthor_perf_stats - What a file's sessions have done
 */
struct panthor_perf_stats {
	/** @samples: Samples delivered. */
	atomic64_t samples;

	/** @stretched: Samples that were due when there was no room. */
	atomic64_t stretched;
};

/**
 * struct panthor_perf_mapping - A user's buffer object, mapped for the kernel
 */
struct panthor_perf_mapping {
	/** @obj: Object, with a reference. NULL if there is none. */
	struct drm_gem_object *obj;

	/** @vaddr: Its address, NULL before it is mapped. Pinned: it may be reclaimed otherwise. */
	void *vaddr;
};

/**
 * struct panthor_perf_session - One session
 */
struct panthor_perf_session {
	/** @ref: References: one of the file's, and one of each ioctl that uses it. */
	struct kref ref;

	/** @sampler: Sampler. */
	struct panthor_perf_sampler *sampler;

	/** @stats: Statistics of the file, which outlives the session. */
	struct panthor_perf_stats *stats;

	/** @client: What the sampler knows. */
	struct panthor_perf_client client;

	/**
	 * @command_lock: Held by START and STOP, which so come one after the
	 * other.
	 *
	 * START sleeps with it held until counting has begun, which may last,
	 * so that it is only ever taken interruptibly. All other locks nest in
	 * it. SAMPLE, TEARDOWN and close do without it.
	 */
	struct mutex command_lock;

	/** @node: In the device's list of sessions. The list's lock protects it. */
	struct list_head node;

	/** @uid: User, if counted against the limit of users without privileges. */
	kuid_t uid;

	/** @unprivileged: Set up without CAP_PERFMON. */
	bool unprivileged;

	/** @creator: Who set it up, for debugfs. */
	struct {
		/** @creator.process_name: Name of the process. */
		char process_name[TASK_COMM_LEN];

		/** @creator.tgid: Number of the process. */
		pid_t tgid;
	} creator;

	/** @eventfd: What is signalled for each sample. */
	struct eventfd_ctx *eventfd;

	/** @ring: Ring. */
	struct panthor_perf_mapping ring;

	/** @control: Object with the ring's indices. */
	struct panthor_perf_mapping control;

	/** @indices: The indices. Written only, but for extract_idx. */
	struct drm_panthor_perf_ringbuf_control *indices;

	/** @slots: Number of slots, a power of two. */
	u32 slots;

	/**
	 * @insert: Number of samples published. The kernel's own: the user's
	 * copy is only ever written. Changed with both locks of the sampler
	 * held, so that either is enough to read it.
	 */
	u64 insert;

	/** @stretched: How often a sample was due when there was no room. */
	u64 stretched;

	/** @period_ns: Time between two samples, 0 if they are requested one by one. */
	u64 period_ns;

	/**
	 * @deadline_ns: When the next sample is due, in CLOCK_MONOTONIC_RAW.
	 *
	 * Belongs to @timer while the session is started, and to START before.
	 */
	u64 deadline_ns;

	/**
	 * @timer: Expires when a sample is due.
	 *
	 * Started by START once counting has begun, and set anew each time by
	 * its own function. STOP ends it. TEARDOWN and unplug do not: the
	 * function finds that the session is not started any more.
	 */
	struct hrtimer timer;

	/** @due_work: Does what @timer cannot do in its context. */
	struct work_struct due_work;
};

struct panthor_perf_session *
panthor_perf_session_create(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_stats *stats, struct drm_file *file,
			    const struct drm_panthor_perf_cmd_setup *setup);
void panthor_perf_session_destroy(struct panthor_perf_session *session);
void panthor_perf_session_clear(struct panthor_perf_session *session);
void panthor_perf_session_put(struct panthor_perf_session *session);

int panthor_perf_session_start(struct panthor_perf_session *session, u64 user_data);
int panthor_perf_session_sample(struct panthor_perf_session *session, u64 user_data);
int panthor_perf_session_stop(struct panthor_perf_session *session, u64 user_data);
void panthor_perf_session_show(struct panthor_perf_session *session, struct drm_printer *p);

#endif
