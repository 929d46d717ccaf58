/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: one firmware, many clients. */

#ifndef __PANTHOR_PERF_SAMPLER_H__
#define __PANTHOR_PERF_SAMPLER_H__

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "panthor_perf_clock.h"
#include "panthor_perf_fw.h"
#include "panthor_perf_layout.h"

struct drm_printer;
struct panthor_perf_client;
struct panthor_perf_sampler;

/**
 * enum panthor_perf_client_state - What a client is doing
 */
enum panthor_perf_client_state {
	/** @PANTHOR_PERF_CLIENT_STOPPED: Nothing. */
	PANTHOR_PERF_CLIENT_STOPPED,

	/** @PANTHOR_PERF_CLIENT_STARTING: Waiting for its baseline. */
	PANTHOR_PERF_CLIENT_STARTING,

	/** @PANTHOR_PERF_CLIENT_STARTED: Counting. */
	PANTHOR_PERF_CLIENT_STARTED,

	/** @PANTHOR_PERF_CLIENT_STOPPING: Counting, until its last request is complete. */
	PANTHOR_PERF_CLIENT_STOPPING,

	/** @PANTHOR_PERF_CLIENT_REMOVED: Nothing, and nothing ever again. */
	PANTHOR_PERF_CLIENT_REMOVED,
};

/**
 * struct panthor_perf_client_ops - What the sampler wants from a client
 *
 * None of these sleep.
 */
struct panthor_perf_client_ops {
	/**
	 * @available: How many samples there is room for, not counting one that
	 * is kept for the last one nor those that are promised already. Called
	 * with panthor_perf_sampler::req_lock held.
	 */
	u32 (*available)(struct panthor_perf_client *client, u32 promised);

	/**
	 * @write: Write a sample where it will be found once it is published.
	 * There is room. Called with panthor_perf_sampler::lock held.
	 */
	void (*write)(struct panthor_perf_client *client,
		      const struct panthor_perf_sample_info *info);

	/**
	 * @publish: Publish the sample written last. Called with both of the
	 * sampler's locks held, so that room and promises change together.
	 */
	void (*publish)(struct panthor_perf_client *client);

	/**
	 * @signal: Tell that a sample was published. Called with
	 * panthor_perf_sampler::lock held.
	 */
	void (*signal)(struct panthor_perf_client *client);

	/**
	 * @stretched: Take note that a sample was due without room for it.
	 * Called with panthor_perf_sampler::lock held.
	 */
	void (*stretched)(struct panthor_perf_client *client);
};

/**
 * struct panthor_perf_request - A sample that a client was promised
 */
struct panthor_perf_request {
	/** @user_data: Tag of the sample. */
	u64 user_data;

	/**
	 * @gen: The firmware request that completes it, or any later one. Of a
	 * limited client, panthor_perf_client::batch_gen is in its place.
	 */
	u32 gen;

	/** @last: The client stops with it. */
	bool last;
};

/**
 * struct panthor_perf_client - One client of the sampler
 *
 * Fields are protected by panthor_perf_sampler::lock, or where they say so by
 * panthor_perf_sampler::req_lock.
 */
struct panthor_perf_client {
	/** @ops: The client's functions. */
	const struct panthor_perf_client_ops *ops;

	/** @id: Number of the client, unique in the life of the device. */
	u32 id;

	/** @block_set: Counter set of the samples. */
	u8 block_set;

	/** @emit_auto: Deliver samples that firmware takes of its own accord. */
	bool emit_auto;

	/**
	 * @limited: The client may see what was counted only when all limited
	 * clients may, see &enum panthor_perf_limited_state. Does not change.
	 */
	bool limited;

	/** @node: In panthor_perf_sampler::clients unless stopped or removed. */
	struct list_head node;

	/**
	 * @state: What it is doing.
	 *
	 * STARTED becomes STOPPING with just req_lock held; all other changes
	 * are made with both locks held.
	 */
	enum panthor_perf_client_state state;

	/** @start_gen: The firmware request that is the baseline, unless @start_held. */
	u32 start_gen;

	/**
	 * @start_held: The baseline is not a part of any firmware request yet,
	 * since limited clients have to wait.
	 */
	bool start_held;

	/** @start_ret: What became of START, once no longer STARTING. */
	int start_ret;

	/** @start_data: START's user data. */
	u64 start_data;

	/** @start_wait: Where START waits for its baseline. */
	wait_queue_head_t start_wait;

	/** @accum: Counts since the last sample. */
	struct panthor_perf_accum *accum;

	/** @start: Where the sample in progress started. */
	struct panthor_perf_time start;

	/** @flags: Flags of the sample in progress. */
	u32 flags;

	/** @begun_ns: When it began to count. */
	u64 begun_ns;

	/** @samples: Number of samples written since then. */
	u64 samples;

	/** @queue: Requests, oldest at @head. Protected by req_lock. */
	struct panthor_perf_request *queue;

	/** @queue_mask: Size of @queue, a power of two, minus 1. */
	u32 queue_mask;

	/** @head: Index of the oldest request. Runs freely. Protected by req_lock. */
	u32 head;

	/** @tail: Index of the next request. Runs freely. Protected by req_lock. */
	u32 tail;

	/**
	 * @held: How many of the latest requests of a limited client are not a
	 * part of any firmware request yet. Protected by req_lock.
	 */
	u32 held;

	/**
	 * @batch_gen: The firmware request that completes all others of a limited
	 * client, which are complete before it has another one. Protected by
	 * req_lock.
	 */
	u32 batch_gen;

	/** @due: A sample is due that no request asked for. Protected by req_lock. */
	bool due;

	/** @due_gen: The request that completes it, unless @due_held. Protected by req_lock. */
	u32 due_gen;

	/** @due_held: It is not a part of any firmware request yet. Protected by req_lock. */
	bool due_held;

	/**
	 * @unasked: A sample that was not requested is being written, and has
	 * its room. Protected by req_lock.
	 */
	bool unasked;
};

/**
 * struct panthor_perf_sampler_stats - What a sampler has done so far
 */
struct panthor_perf_sampler_stats {
	/** @samples: Firmware samples shared out. */
	u64 samples;

	/** @requests: Requests made. Protected by panthor_perf_sampler::req_lock. */
	u64 requests;

	/** @overflows: How often firmware was seen to have no room in its ring. */
	u64 overflows;

	/** @restarts: How often counters were disabled and enabled to set firmware right. */
	u64 restarts;

	/** @max_pending: Most samples that have been in the firmware ring at a time. */
	u32 max_pending;
};

/** define PANTHOR_PERF_LIMITED_NS - Shortest time between two looks of limited clients */
#define PANTHOR_PERF_LIMITED_NS		NSEC_PER_MSEC

/**
 * enum panthor_perf_limited_state - How the limited clients of a device are served
 *
 * Clients of users without CAP_PERFMON are limited: baselines and samples of all
 * of them are taken together, at least a millisecond after the previous ones. A
 * user could watch the work of others more closely otherwise, by many requests,
 * or by many sessions whose periods start one shortly after the other.
 *
 *	state		event				next state
 *
 *	IDLE		request, in time		ASKED
 *			request, too early		WAITING
 *			own accord, in time		IDLE, the millisecond begins anew
 *	WAITING		request				WAITING
 *			the time has come		ASKED
 *	ASKED		request, still to be made	ASKED
 *			request, made already		ASKED_WAITING
 *			complete			IDLE, the millisecond begins
 *	ASKED_WAITING	request				ASKED_WAITING
 *			complete			WAITING, the millisecond begins
 *	any		there is no client left		IDLE
 *			unplug				IDLE, nobody waits any longer
 *
 * A sample of firmware's own accord that comes too early, or in another state
 * than IDLE, is folded into the next sample of each limited client.
 */
enum panthor_perf_limited_state {
	/** @PANTHOR_PERF_LIMITED_IDLE: No limited client waits for anything. */
	PANTHOR_PERF_LIMITED_IDLE,

	/** @PANTHOR_PERF_LIMITED_WAITING: Requests are held until the time has come. */
	PANTHOR_PERF_LIMITED_WAITING,

	/** @PANTHOR_PERF_LIMITED_ASKED: Requests are a part of a firmware request. */
	PANTHOR_PERF_LIMITED_ASKED,

	/** @PANTHOR_PERF_LIMITED_ASKED_WAITING: The same, and later requests are held. */
	PANTHOR_PERF_LIMITED_ASKED_WAITING,
};

/**
 * struct panthor_perf_limited - What serves the limited clients of a device
 *
 * Protected by panthor_perf_sampler::req_lock.
 */
struct panthor_perf_limited {
	/** @state: What is being done for them. */
	enum panthor_perf_limited_state state;

	/** @gen: The firmware request that they are a part of, in the states ASKED. */
	u32 gen;

	/** @not_before_ns: When the next one may be made, in CLOCK_MONOTONIC_RAW. */
	u64 not_before_ns;

	/** @timer: Expires at @not_before_ns in the state WAITING, and queues @work. */
	struct hrtimer timer;

	/** @work: Makes what is held a part of the next firmware request. */
	struct work_struct work;
};

/**
 * struct panthor_perf_sampler - All the clients of a device together
 */
struct panthor_perf_sampler {
	/** @fw: Firmware. */
	struct panthor_perf_fw *fw;

	/** @layout: Layout of samples. */
	const struct panthor_perf_layout *layout;

	/** @clock: Time and cycles. */
	struct panthor_perf_clock *clock;

	/** @wq: Where @drain_work, @check_work, @limited.work and the work of clients run. */
	struct workqueue_struct *wq;

	/**
	 * @reset: Ask for a reset of the GPU. Called with @lock held, must not
	 * wait for it. Returns true if there is going to be one.
	 */
	bool (*reset)(struct panthor_perf_sampler *sampler);

	/**
	 * @start_lock: Held by START while it has firmware count.
	 *
	 * If firmware does not answer, that takes a tenth of a second with @lock
	 * held. Those who wait for their turn to try wait for this lock, and so
	 * are not in the way of hooks, which want @lock. Process context, taken
	 * interruptibly. @lock nests in it.
	 */
	struct mutex start_lock;

	/**
	 * @lock: Protects whatever is not said to be protected otherwise: the
	 * firmware ring, the clients and what they have counted.
	 *
	 * Taken in process context by START and TEARDOWN, by the works, and by
	 * the hooks of suspend, resume, reset and unplug. Resume happens in the
	 * fence signalling path, so that nothing may allocate, take a
	 * reservation lock, wait for a fence or get a power reference with it
	 * held. Firmware is waited for with it held; the interrupt handler,
	 * which ends such a wait, does not take it.
	 *
	 * Order: @lock, @req_lock, panthor_fw_global_iface::lock.
	 */
	struct mutex lock;

	/**
	 * @req_lock: Protects requests: the queues of clients, @gate, @next_gen,
	 * @in_flight and what comes with it, and @limited.
	 *
	 * The only lock of SAMPLE and STOP, which so do not wait for samples
	 * being drained. Process context only, since the lock of the global
	 * interface nests in it. Registers may be accessed with it held while
	 * @gate is true: hooks set it to false before power goes.
	 */
	spinlock_t req_lock;

	/** @clients: Clients that are neither stopped nor removed. */
	struct list_head clients;

	/** @set: Counter set of @clients, or of those that there were last. */
	u8 set;

	/** @up: The MCU runs, and is expected to answer. */
	bool up;

	/**
	 * @closing: The GPU is on its way down. Requests wait for the hook
	 * that will complete them. Protected by @req_lock, changed with @lock
	 * held as well.
	 */
	bool closing;

	/** @closing_wait: Woken when @closing has become false, or @unplugged true. */
	wait_queue_head_t closing_wait;

	/** @unplugged: The device is gone. Protected like @closing. */
	bool unplugged;

	/**
	 * @gate: Firmware counts and may be asked for samples. Protected like
	 * @closing.
	 */
	bool gate;

	/**
	 * @failures: How often firmware did not do what it was told to since it
	 * has last answered a request for a sample, or the GPU has been reset
	 * for another reason. The GPU is reset for the first few of them only.
	 */
	u32 failures;

	/** @reset_asked: A reset was asked for, which has not begun yet. */
	bool reset_asked;

	/** @halt_extract: Samples consumed when the MCU was about to be halted. */
	u32 halt_extract;

	/** @halt_protected: The GPU was in protected mode then, or when a reset began. */
	bool halt_protected;

	/** @next_gen: Number of the next firmware request. Protected by @req_lock. */
	u32 next_gen;

	/** @want: Somebody waits for request @next_gen. Protected by @req_lock. */
	bool want;

	/** @in_flight: Request @flight_gen was made. Protected by @req_lock. */
	bool in_flight;

	/** @flight_gen: Number of the latest request made. Protected by @req_lock. */
	u32 flight_gen;

	/**
	 * @flight_ns: When it was made, or last excused. No answer is older.
	 * Protected by @req_lock.
	 */
	u64 flight_ns;

	/**
	 * @idle_rearm: Events have been acknowledged, with no sample in the
	 * firmware ring. Firmware may raise them again at once, so that the next
	 * time is when a sample has come, or when @check_work runs.
	 */
	bool idle_rearm;

	/**
	 * @muted: Firmware may lose samples and be unable to say so: OVERFLOW was
	 * acknowledged, it has not been seen that firmware knows, which it does
	 * when request @rearm_gen is complete, and it is not by what the ring
	 * holds that firmware finds it full.
	 */
	bool muted;

	/** @rearm_gen: Number of the first request made after OVERFLOW was acknowledged. */
	u32 rearm_gen;

	/** @drain_flags: Flags of all periods that the drain which is under way begins. */
	u32 drain_flags;

	/** @limited: What serves limited clients. Protected by @req_lock. */
	struct panthor_perf_limited limited;

	/** @asked: Blocks that some client has enabled counters in. */
	u64 asked[PANTHOR_PERF_BLOCK_WORDS];

	/** @sample: The firmware sample being shared out. */
	struct panthor_perf_fw_sample *sample;

	/** @prev_reason: Reason of the firmware sample before it. */
	u32 prev_reason;

	/** @stats: What was done so far. */
	struct panthor_perf_sampler_stats stats;

	/** @time: When the latest firmware sample was taken, or now when there are none. */
	struct panthor_perf_time time;

	/** @drain_work: Drains the firmware ring and completes requests. */
	struct work_struct drain_work;

	/** @check_work: Looks after firmware, and for counters that might saturate. */
	struct delayed_work check_work;
};

int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler);

void panthor_perf_client_init(struct panthor_perf_client *client);
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data);
void panthor_perf_sampler_due(struct panthor_perf_sampler *sampler,
			      struct panthor_perf_client *client);
bool panthor_perf_sampler_stop(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
void panthor_perf_sampler_remove(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client);

void panthor_perf_sampler_wait_open(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_irq(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_close(struct panthor_perf_sampler *sampler, bool wait);
void panthor_perf_sampler_down(struct panthor_perf_sampler *sampler, bool reset);
void panthor_perf_sampler_up(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_unplug(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_show(struct panthor_perf_sampler *sampler, struct drm_printer *p);

#endif
