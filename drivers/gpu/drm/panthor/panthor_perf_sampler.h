/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: sharing the counters of the firmware between clients. */

#ifndef __PANTHOR_PERF_SAMPLER_H__
#define __PANTHOR_PERF_SAMPLER_H__

#include <linux/atomic.h>
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
 * enum panthor_perf_client_state - State of a client
 * @PANTHOR_PERF_CLIENT_STOPPED: Not counting; START is possible.
 * @PANTHOR_PERF_CLIENT_STARTING: Waiting for the firmware sample that is the baseline.
 * @PANTHOR_PERF_CLIENT_STARTED: Counting.
 * @PANTHOR_PERF_CLIENT_STOPPING: Counting until the request of STOP is complete.
 * @PANTHOR_PERF_CLIENT_REMOVED: Not counting; START fails.
 */
enum panthor_perf_client_state {
	PANTHOR_PERF_CLIENT_STOPPED,
	PANTHOR_PERF_CLIENT_STARTING,
	PANTHOR_PERF_CLIENT_STARTED,
	PANTHOR_PERF_CLIENT_STOPPING,
	PANTHOR_PERF_CLIENT_REMOVED,
};

/**
 * struct panthor_perf_client_ops - Functions of a client, none of which sleeps
 * @free_slots: Return the number of free slots in the client's ring. Called with
 *	panthor_perf_sampler::lock or req_lock held. NULL for the PMU client, which has no ring.
 *	It gets a sample at its baseline, for each answered firmware request that is the turn of
 *	limited clients, and at suspend and resume. Its period is ignored during suspend.
 * @deliver: Write panthor_perf_client::accum plus @fw_sample, which may be NULL, to the next slot
 *	of the client's ring, signal the user, and return the sample's flags. Decrement
 *	panthor_perf_client::reserved when the slot is in use, with req_lock held. Called with
 *	panthor_perf_sampler::lock held.
 */
struct panthor_perf_client_ops {
	u32 (*free_slots)(struct panthor_perf_client *client);
	u32 (*deliver)(struct panthor_perf_client *client,
		       const struct panthor_perf_fw_sample *fw_sample,
		       const struct panthor_perf_sample_info *info);
};

/**
 * struct panthor_perf_request - A request of a client for a sample
 * @user_data: Tag of the sample.
 * @seq: Sequence number of the firmware request that completes it.
 * @last: It is the request of STOP.
 */
struct panthor_perf_request {
	u64 user_data;
	u32 seq;
	bool last;
};

/**
 * struct panthor_perf_client - A client of the sampler: a session, or the PMU
 *
 * Constant once the client can be started, except for @period_ns of the PMU:
 *
 * @ops: Functions of the client.
 * @id: Number of the client, unique for the device.
 * @block_set: Counter set.
 * @emit_auto: Deliver automatic samples, each as a sample of its own. Otherwise their counts are
 *	in the next sample.
 * @limited: The rate of the client's samples is limited, see &struct panthor_perf_sampler.
 * @period_ns: Period in ns, 0 if there is none.
 * @queue: Ring of requests.
 * @queue_mask: Size of @queue, a power of two, minus 1.
 *
 * @state: Changed with panthor_perf_sampler::lock and req_lock held, but from STARTED to STOPPING
 *	with req_lock alone. Either lock is enough to read it.
 *
 * Protected by panthor_perf_sampler::lock:
 *
 * @node: Entry in panthor_perf_sampler::clients while STARTING, STARTED or STOPPING.
 * @start_wait: Woken when STARTING ends.
 * @start_ret: What START returns when STARTING has ended.
 * @flags: Flags of the next sample.
 * @start_data: user_data of START, for periodic and automatic samples.
 * @accum: Sums since the last sample.
 * @start: End of the last sample.
 * @begun_ns: Time of the baseline, CLOCK_MONOTONIC_RAW.
 *
 * Protected by panthor_perf_sampler::req_lock:
 *
 * @head: Index of the oldest request in @queue, never reset.
 * @tail: Index behind the latest request, never reset.
 * @reserved: Number of reserved slots of the ring: one for each queued request, one for STOP, and
 *	one for a periodic or automatic sample while it is delivered.
 * @due: A deadline has passed, the baseline is missing, or panthor_perf_sampler_sync() was called.
 * @due_seq: Sequence number of the firmware request that completes what is @due.
 * @deadline_ns: Next deadline, CLOCK_MONOTONIC_RAW.
 */
struct panthor_perf_client {
	const struct panthor_perf_client_ops *ops;
	struct panthor_perf_sampler *sampler;
	u32 id;
	u8 block_set;
	bool emit_auto;
	bool limited;
	u64 period_ns;
	struct panthor_perf_request *queue;
	u32 queue_mask;

	enum panthor_perf_client_state state;

	struct list_head node;
	wait_queue_head_t start_wait;
	int start_ret;
	u32 flags;
	u64 start_data;
	struct panthor_perf_accum *accum;
	struct panthor_perf_time start;
	u64 begun_ns;

	u32 head;
	u32 tail;
	u32 reserved;
	bool due;
	u32 due_seq;
	u64 deadline_ns;
};

/** define PANTHOR_PERF_LIMITED_NS - Shortest time between two samples of limited clients */
#define PANTHOR_PERF_LIMITED_NS		NSEC_PER_MSEC

/** define PANTHOR_PERF_LIMITED_REQUESTS - How many requests of a limited client may wait */
#define PANTHOR_PERF_LIMITED_REQUESTS	64

/**
 * enum panthor_perf_sampler_state - What the sampler can do with firmware
 * @PANTHOR_PERF_SAMPLER_DOWN: The MCU does not run.
 * @PANTHOR_PERF_SAMPLER_CLOSING: The MCU is about to be halted or reset.
 * @PANTHOR_PERF_SAMPLER_IDLE: The MCU runs, and there is no client.
 * @PANTHOR_PERF_SAMPLER_COUNTING: Firmware counts, and answers requests.
 * @PANTHOR_PERF_SAMPLER_FAILED: The MCU runs and there are clients, but counters are disabled.
 * @PANTHOR_PERF_SAMPLER_GONE: The device was unplugged.
 */
enum panthor_perf_sampler_state {
	PANTHOR_PERF_SAMPLER_DOWN,
	PANTHOR_PERF_SAMPLER_CLOSING,
	PANTHOR_PERF_SAMPLER_IDLE,
	PANTHOR_PERF_SAMPLER_COUNTING,
	PANTHOR_PERF_SAMPLER_FAILED,
	PANTHOR_PERF_SAMPLER_GONE,
};

extern const char * const panthor_perf_sampler_states[];

/**
 * struct panthor_perf_sampler - All clients of a device
 *
 * The PMU and sessions without CAP_PERFMON are limited: all of them see the same firmware samples,
 * which are at least PANTHOR_PERF_LIMITED_NS apart. No firmware request is made for them before
 * that, nor while another one is in flight. Requests that are answered too early by the request of
 * another client wait for a later firmware sample. An automatic sample that comes too early, or
 * while a request waits, is a part of the next one.
 *
 * @last_id: Number of the latest client.
 * @fw: Firmware. What it points to is protected by @lock.
 * @layout: Sizes and offsets of samples.
 * @clock: Time and cycles.
 * @wq: Workqueue of @drain_work, @check_work and @timer_work.
 * @reset: Schedule a reset of the GPU, and log the reason. Called with @lock held. Returns true if
 *	this call has scheduled it.
 *
 * @start_lock: Serializes START, which holds @lock for up to 400 ms if firmware does not answer.
 *	A suspend hook waits for one of them at most. Taken interruptibly, in process context;
 *	@lock nests in it.
 * @lock: Protects the firmware ring and the sums of clients. Taken in process context, by the
 *	hooks of resume in the fence signalling path: nothing may allocate, take a reservation
 *	lock, wait for a fence or get a power reference with it held. Whoever holds it may wait
 *	for firmware, and the interrupt thread, which ends that wait, therefore only tries to
 *	take it. Order: @lock, @req_lock, panthor_fw_global_iface::lock.
 * @req_lock: Protects the queues of clients, so that SAMPLE and STOP don't wait for a drain.
 *	Taken in process context. In the state COUNTING the doorbell may be rung with it held.
 * @state: Changed with both locks held: either is enough to read it. The interrupt thread reads
 *	it before it tries to take @lock.
 *
 * Protected by @lock:
 *
 * @clients: Clients that are neither stopped nor removed.
 * @set: Counter set of @clients, or of the last one that there was.
 * @needed: A bit for each block in which a client has enabled counters.
 * @sample: The firmware sample being processed.
 * @prev_reason: Reason of the firmware sample before it.
 * @time: End time of the samples that serve_clients() delivers: that of the firmware sample being
 *	processed, or when requests were last completed without one.
 * @budget: Number of requests beyond each client's first that serve_clients() may complete.
 * @limited_turn: Limited clients get the firmware sample being processed.
 * @loss_possible: Firmware may have had no room for a sample.
 * @failures: How often firmware failed since it last answered a request, or since the GPU was
 *	reset for another reason.
 * @retry: Enabling counters has failed because of protected mode: the check tries again.
 * @reset_asked: The sampler has asked for a reset, and the MCU has not stopped since.
 * @halt_extract: EXTRACT when the MCU was about to be halted.
 * @halt_protected: The GPU was in protected mode when the MCU was about to be halted or reset.
 * @check_extract: EXTRACT at the last check.
 * @num_samples: Number of firmware samples read.
 *
 * Protected by @req_lock:
 *
 * @next_seq: Sequence number of the next firmware request.
 * @wanted: A firmware request is wanted. Also read without the lock.
 * @in_flight: The latest firmware request is not answered. Also read without the lock.
 * @flight_seq: Sequence number of the latest firmware request.
 * @flight_ns: When it was made, CLOCK_MONOTONIC_RAW.
 * @timeout_start_ns: The same, or when protected mode was last seen after that.
 * @flight_since_ack: It was made after the last acknowledgment of an OVERFLOW event.
 * @limited_waiting: A limited client has a queued request.
 * @limited_asked: One had when the latest firmware request was made, which completes it.
 * @limited_not_before_ns: Earliest time of the next sample of limited clients, CLOCK_MONOTONIC_RAW.
 * @timer_ns: When @timer expires, CLOCK_MONOTONIC_RAW, or U64_MAX.
 *
 * @timer: Expires at the next deadline of a client or at @limited_not_before_ns, and queues
 *	@timer_work.
 * @timer_work: Requests the samples that are due.
 * @drain_work: Drains the firmware ring and completes requests.
 * @check_work: Finds firmware that has failed, and samples counters before they saturate.
 */
struct panthor_perf_sampler {
	atomic_t last_id;
	struct panthor_perf_fw *fw;
	const struct panthor_perf_layout *layout;
	struct panthor_perf_clock *clock;
	struct workqueue_struct *wq;
	bool (*reset)(struct panthor_perf_sampler *sampler, const char *why);

	struct mutex start_lock; /* START, one at a time. */
	struct mutex lock; /* See above. */
	spinlock_t req_lock; /* Queues of clients. */
	enum panthor_perf_sampler_state state;

	struct list_head clients;
	u8 set;
	u64 needed[PANTHOR_PERF_BLOCK_WORDS];
	struct panthor_perf_fw_sample *sample;
	u32 prev_reason;
	struct panthor_perf_time time;
	u32 budget;
	bool limited_turn;
	bool loss_possible;
	u32 failures;
	bool retry;
	bool reset_asked;
	u32 halt_extract;
	bool halt_protected;
	u32 check_extract;
	u64 num_samples;

	u32 next_seq;
	bool wanted;
	bool in_flight;
	u32 flight_seq;
	u64 flight_ns;
	u64 timeout_start_ns;
	bool flight_since_ack;
	bool limited_waiting;
	bool limited_asked;
	u64 limited_not_before_ns;
	u64 timer_ns;

	struct hrtimer timer;
	struct work_struct timer_work;
	struct work_struct drain_work;
	struct delayed_work check_work;
};

int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler);
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler);

void panthor_perf_client_init(struct panthor_perf_client *client,
			      struct panthor_perf_sampler *sampler);
int panthor_perf_sampler_start_async(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data);
int panthor_perf_sampler_sync(struct panthor_perf_sampler *sampler,
			      struct panthor_perf_client *client, u32 *seq);
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
