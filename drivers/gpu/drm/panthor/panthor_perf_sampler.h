/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: sharing the counters of the firmware between clients. */

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

struct panthor_perf_client;
struct panthor_perf_sampler;

/**
 * enum panthor_perf_client_state - What a client is doing
 */
enum panthor_perf_client_state {
	/** @PANTHOR_PERF_CLIENT_STOPPED: It does not count, and can be started. */
	PANTHOR_PERF_CLIENT_STOPPED,

	/** @PANTHOR_PERF_CLIENT_STARTING: It waits for the firmware sample that is its baseline. */
	PANTHOR_PERF_CLIENT_STARTING,

	/** @PANTHOR_PERF_CLIENT_STARTED: It counts. */
	PANTHOR_PERF_CLIENT_STARTED,

	/** @PANTHOR_PERF_CLIENT_STOPPING: It counts until its last request is complete. */
	PANTHOR_PERF_CLIENT_STOPPING,

	/** @PANTHOR_PERF_CLIENT_REMOVED: It does not count, and cannot be started any more. */
	PANTHOR_PERF_CLIENT_REMOVED,
};

/**
 * struct panthor_perf_client_ops - What a client does for the sampler
 *
 * None of these functions sleeps.
 */
struct panthor_perf_client_ops {
	/**
	 * @free_slots: Return the number of free slots in the client's ring, with either lock of
	 * the sampler held. NULL if there is always room.
	 */
	u32 (*free_slots)(struct panthor_perf_client *client);

	/**
	 * @deliver: Write a sample to the next slot of the client's ring, let the user
	 * see it, signal it, and return its flags. It has what is in
	 * &panthor_perf_client.accum, and in @fw_sample, which may be NULL. The slot stops
	 * being free when it stops being &panthor_perf_client.promised, under
	 * panthor_perf_sampler::req_lock. Called with panthor_perf_sampler::lock held.
	 */
	u32 (*deliver)(struct panthor_perf_client *client,
		       const struct panthor_perf_fw_sample *fw_sample,
		       const struct panthor_perf_sample_info *info);
};

/**
 * struct panthor_perf_request - A sample that was promised to a client
 */
struct panthor_perf_request {
	/** @user_data: Tag that the user gave to the sample. */
	u64 user_data;

	/** @number: Number of the firmware request, or limited batch, that completes it. */
	u32 number;

	/** @last: The request is that of STOP: the client stops when it is complete. */
	bool last;
};

/**
 * struct panthor_perf_client - One client of the sampler
 *
 * A client is what the sampler knows of a session, or of the events of perf.
 */
struct panthor_perf_client {
	/* Constant once the client can be started, but for the period of the events of perf. */

	/** @ops: The client's functions. */
	const struct panthor_perf_client_ops *ops;

	/** @sampler: The sampler. */
	struct panthor_perf_sampler *sampler;

	/** @id: Number of the client, unique in the life of the device. */
	u32 id;

	/** @block_set: Counter set of the client's samples. */
	u8 block_set;

	/**
	 * @emit_auto: Automatic samples are delivered, each as a sample of its own.
	 * Otherwise their counts become a part of the client's next sample.
	 */
	bool emit_auto;

	/** @limited: Served with all such clients, see &struct panthor_perf_limited. */
	bool limited;

	/**
	 * @power_samples: A sample is delivered, too, when counting begins and each time
	 * that the GPU has been resumed or suspended. None is due while it is down.
	 */
	bool power_samples;

	/** @start_timeout: How long START waits for its baseline, in jiffies. */
	long start_timeout;

	/**
	 * @period_ns: Time between two samples in ns, 0 if each needs a request. That of
	 * the PMU's client can be set at any time.
	 */
	u64 period_ns;

	/** @queue: Requests, the oldest at @head. */
	struct panthor_perf_request *queue;

	/** @queue_mask: Size of @queue, a power of two, minus 1. */
	u32 queue_mask;

	/**
	 * @state: What the client is doing. STARTED becomes STOPPING with just
	 * panthor_perf_sampler::req_lock held, all other changes are made with
	 * panthor_perf_sampler::lock held as well. Either is enough to read it.
	 */
	enum panthor_perf_client_state state;

	/* Protected by panthor_perf_sampler::lock. */

	/** @node: Link of panthor_perf_sampler::clients, unless stopped or removed. */
	struct list_head node;

	/** @start_wait: Woken when the state STARTING ends. */
	wait_queue_head_t start_wait;

	/** @start_ret: What START returns, valid when the state is STARTING no longer. */
	int start_ret;

	/** @flags: Flags that the next sample will have. */
	u32 flags;

	/** @start_data: Tag of samples that no command asked for. */
	u64 start_data;

	/** @accum: Sums of what was counted since the last sample. */
	struct panthor_perf_accum *accum;

	/** @start: Time and cycles at the end of the last sample. */
	struct panthor_perf_time start;

	/** @begun_ns: Time of the baseline, in CLOCK_MONOTONIC_RAW. */
	u64 begun_ns;

	/** @samples: Number of samples delivered since the baseline. */
	u64 samples;

	/* Protected by panthor_perf_sampler::req_lock. */

	/** @start_number: &panthor_perf_request.number of the baseline, if STARTING. */
	u32 start_number;

	/** @head: Index of the oldest request, never reset. */
	u32 head;

	/** @tail: Index of the next request, never reset. */
	u32 tail;

	/**
	 * @promised: Number of slots of the client's ring that are free and kept: for
	 * each SAMPLE that was accepted and not delivered, for the sample of STOP from
	 * START on, and for one that no command asked for while it is delivered.
	 */
	u32 promised;

	/** @shared: Number of requests by panthor_perf_sampler_share(). */
	u64 shared;

	/** @due: A deadline has passed. */
	bool due;

	/** @due_number: &panthor_perf_request.number of the sample that is @due. */
	u32 due_number;

	/** @deadline_ns: Next time at which a sample is due, in CLOCK_MONOTONIC_RAW. */
	u64 deadline_ns;

	/** @timer: Expires at @deadline_ns, and queues @due_work. */
	struct hrtimer timer;

	/** @due_work: Asks for the sample that is due, and sets @timer again. */
	struct work_struct due_work;
};

/**
 * struct panthor_perf_sampler_stats - What a sampler has done so far
 *
 * For debugfs. Protected by panthor_perf_sampler::lock, but for @requests.
 */
struct panthor_perf_sampler_stats {
	/** @samples: Number of firmware samples read. */
	u64 samples;

	/** @requests: Number of firmware requests. Protected by panthor_perf_sampler::req_lock. */
	u64 requests;

	/** @overflows: How often firmware has said that its ring was full. */
	u64 overflows;

	/** @restarts: How often counters were disabled and enabled because firmware had failed. */
	u64 restarts;

	/** @max_pending: Highest number of samples found in the firmware ring. */
	u32 max_pending;
};

/** define PANTHOR_PERF_LIMITED_NS - Shortest time between two samples of limited clients */
#define PANTHOR_PERF_LIMITED_NS		NSEC_PER_MSEC

/** define PANTHOR_PERF_LIMITED_REQUESTS - How many requests a limited client may have waiting */
#define PANTHOR_PERF_LIMITED_REQUESTS	64

/**
 * struct panthor_perf_limited - What serves the limited clients of a device
 *
 * Clients of users who lack CAP_PERFMON, or may, are limited: baselines and samples
 * of all of them are taken by the same firmware requests, which are at least a
 * millisecond apart, for the reason that Documentation gives.
 *
 * What they request comes in numbered batches, each of which one firmware request
 * completes. A batch can be joined until that firmware request is made. What is
 * requested later waits for the next one, until the one before is complete and the
 * millisecond that starts then is over. So does what was requested of a batch that has
 * too many requests to complete them in one go.
 *
 * An automatic sample starts the millisecond again. If one comes too early, or while
 * any batch is asked for or waits, it becomes a part of the next sample of each
 * limited client. The samples of a client that wants
 * &panthor_perf_client.power_samples are delivered when they are due: how often
 * the GPU is suspended is not up to users.
 *
 * Protected by panthor_perf_sampler::req_lock.
 */
struct panthor_perf_limited {
	/** @batch: Number of the latest batch that firmware was asked for. */
	u32 batch;

	/**
	 * @asked: That batch is not complete. Also read with panthor_perf_sampler::lock held
	 * alone, with which it is cleared.
	 */
	bool asked;

	/** @waiting: Something was requested of the batch after @batch. */
	bool waiting;

	/** @gen: Number of the firmware request that completes @batch. */
	u32 gen;

	/** @not_before_ns: When it may be asked for, in CLOCK_MONOTONIC_RAW. */
	u64 not_before_ns;

	/** @timer: Expires at @not_before_ns if a batch waits, and queues @work. */
	struct hrtimer timer;

	/** @work: Asks for the batch that waits. */
	struct work_struct work;
};

/**
 * enum panthor_perf_sampler_state - What the sampler can do with firmware
 */
enum panthor_perf_sampler_state {
	/** @PANTHOR_PERF_SAMPLER_DOWN: The MCU does not run. */
	PANTHOR_PERF_SAMPLER_DOWN,

	/** @PANTHOR_PERF_SAMPLER_CLOSING: The MCU is about to be halted or reset. */
	PANTHOR_PERF_SAMPLER_CLOSING,

	/** @PANTHOR_PERF_SAMPLER_IDLE: The MCU runs, and there is no client. */
	PANTHOR_PERF_SAMPLER_IDLE,

	/** @PANTHOR_PERF_SAMPLER_COUNTING: Firmware counts, and can be asked for samples. */
	PANTHOR_PERF_SAMPLER_COUNTING,

	/** @PANTHOR_PERF_SAMPLER_FAILED: Firmware does not count though there are clients. */
	PANTHOR_PERF_SAMPLER_FAILED,

	/** @PANTHOR_PERF_SAMPLER_GONE: The device was unplugged. */
	PANTHOR_PERF_SAMPLER_GONE,
};

/**
 * struct panthor_perf_sampler - All the clients of a device together
 */
struct panthor_perf_sampler {
	/* Constant. */

	/** @fw: Firmware. @lock protects what it points to. */
	struct panthor_perf_fw *fw;

	/** @layout: Layout of samples. */
	const struct panthor_perf_layout *layout;

	/** @clock: Time and cycles. Has a lock of its own. */
	struct panthor_perf_clock *clock;

	/** @wq: Where @drain_work, @check_work, @limited.work and the work of clients run. */
	struct workqueue_struct *wq;

	/**
	 * @reset: Ask for a reset of the GPU, and tell the log @why. Called with @lock
	 * held. Returns true if there will be one that would not have been otherwise.
	 */
	bool (*reset)(struct panthor_perf_sampler *sampler, const char *why);

	/**
	 * @start_lock: Held by START while it has firmware count, for up to 400 ms and with
	 * @lock held if firmware does not answer. Others who START wait for it before they
	 * take @lock, so that a hook gets @lock before all but one of them.
	 *
	 * Taken in process context, interruptibly. @lock nests in it.
	 */
	struct mutex start_lock;

	/**
	 * @lock: Protects the firmware ring and what clients have counted.
	 *
	 * Taken in process context, also by the hooks of suspend, resume, reset and
	 * unplug. Resume happens in the fence signalling path: nothing may allocate,
	 * take a reservation lock, wait for a fence or get a power reference with it
	 * held. Firmware is waited for with it held. Such a wait is ended by the
	 * interrupt thread, which therefore only tries to take it.
	 *
	 * Order: @lock, @req_lock, panthor_fw_global_iface::lock.
	 */
	struct mutex lock;

	/**
	 * @req_lock: Protects the queues of clients.
	 *
	 * SAMPLE and STOP take no other lock of the sampler, and so do not wait while
	 * samples are drained. Taken in process context only, since the lock of the
	 * global interface nests in it. In the state COUNTING, which hooks change before
	 * power goes, the doorbell may be rung with it held.
	 */
	spinlock_t req_lock;

	/**
	 * @state: What can be done with firmware. Changed with both locks held, so that
	 * either is enough to read it; the interrupt thread looks at it before it tries.
	 */
	enum panthor_perf_sampler_state state;

	/* Protected by @lock. */

	/** @clients: Clients that are neither stopped nor removed. */
	struct list_head clients;

	/** @set: Counter set of @clients, or of those that there were last. */
	u8 set;

	/** @needed: A bit for each block that some client has enabled counters in. */
	u64 needed[PANTHOR_PERF_BLOCK_WORDS];

	/** @sample: The firmware sample that is shared out. */
	struct panthor_perf_fw_sample *sample;

	/** @prev_reason: Reason of the firmware sample before it. */
	u32 prev_reason;

	/** @time: When the latest firmware sample was taken, or requests completed without. */
	struct panthor_perf_time time;

	/** @complete_gen: Number of the firmware request that was last found complete. */
	u32 complete_gen;

	/** @rest: It completes requests that are left to @drain_work. */
	bool rest;

	/** @budget: Number of requests, beyond each client's first, that this pass may complete. */
	u32 budget;

	/** @loss_possible: Firmware may have had no room for a sample. */
	bool loss_possible;

	/**
	 * @failures: How often firmware did not do what it was told to, since it last
	 * answered a request, or since the GPU was last reset for another reason.
	 */
	u32 failures;

	/** @retry: Enabling counters failed because of protected mode: the check tries again. */
	bool retry;

	/** @reset_asked: A reset was asked for, and the MCU has not stopped since. */
	bool reset_asked;

	/** @halt_extract: EXTRACT when the MCU was about to be halted. */
	u32 halt_extract;

	/** @halt_protected: There was protected mode when it was about to be halted or reset. */
	bool halt_protected;

	/** @check_extract: EXTRACT at the last check. */
	u32 check_extract;

	/** @stats: What was done so far. */
	struct panthor_perf_sampler_stats stats;

	/* Protected by @req_lock. */

	/** @next_gen: Number of the next firmware request. */
	u32 next_gen;

	/**
	 * @wanted: A firmware request is wanted, after that in flight if there is one. This
	 * and the next one are also read without @req_lock.
	 */
	bool wanted;

	/** @in_flight: The latest firmware request was made, and no answer has been seen. */
	bool in_flight;

	/** @flight_gen: Number of the latest firmware request. */
	u32 flight_gen;

	/** @flight_ns: When it was made, in CLOCK_MONOTONIC_RAW. */
	u64 flight_ns;

	/** @answer_ns: The same, or when protected mode was last seen since. */
	u64 answer_ns;

	/** @flight_since_ack: It was made since OVERFLOW was last acknowledged. */
	bool flight_since_ack;

	/** @limited: What serves limited clients. */
	struct panthor_perf_limited limited;

	/* Works, which take the locks. */

	/** @drain_work: Drains the firmware ring and completes requests. */
	struct work_struct drain_work;

	/** @check_work: Looks after firmware, and samples counters before they saturate. */
	struct delayed_work check_work;
};

int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler);

void panthor_perf_client_init(struct panthor_perf_client *client,
			      struct panthor_perf_sampler *sampler);
void panthor_perf_client_fini(struct panthor_perf_client *client);
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_share(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 *number);
bool panthor_perf_sampler_stop(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
void panthor_perf_sampler_remove(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client);

void panthor_perf_sampler_enable(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u32 type, bool enable);

void panthor_perf_sampler_irq(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_close(struct panthor_perf_sampler *sampler, bool wait);
void panthor_perf_sampler_down(struct panthor_perf_sampler *sampler, bool forced);
void panthor_perf_sampler_up(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_unplug(struct panthor_perf_sampler *sampler);

#endif
