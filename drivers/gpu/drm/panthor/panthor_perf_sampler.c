// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: clients and their requests. */

#include <linux/timekeeping.h>

#include "panthor_perf_sampler_internal.h"

#define CREATE_TRACE_POINTS
#include "panthor_perf_trace.h"

/**
 * DOC: Sampler
 *
 * The counters exist once, and firmware clears them when it samples them. The sampler
 * makes of this as many independent counts as there are clients: it adds each firmware
 * sample, whoever requested it, to the accumulator of every client that is counting. A
 * sample of a client is its accumulator at the time of a firmware sample; the
 * accumulator is then cleared. What one client does has no effect on the counts of
 * another one.
 *
 * A client requests samples by SAMPLE, STOP, START (the baseline) and its period. The
 * sampler makes firmware requests, one at a time, and gives them sequence numbers. A
 * client's request has the number of the next firmware request, and is complete when
 * that one is answered. All requests that come while a firmware request is in
 * flight share the next one. They cannot share the one in flight, because its sample
 * may have been taken before the client's call::
 *
 *	START, SAMPLE, STOP, timer		interrupt, work, suspend
 *			|				|
 *	queue of the client, with	add firmware samples to all
 *	number next_seq			accumulators
 *			|				|
 *	firmware request flight_seq,	complete requests up to flight_seq,
 *	if none is in flight		make the next firmware request
 *
 * A request needs no firmware request while firmware does not count: drain_work completes
 * it at once while the GPU is suspended or firmware has failed, and the next hook while
 * the MCU is being halted or reset.
 *
 * A suspended GPU is not resumed, and no power reference is held: the hooks of suspend,
 * resume and reset tell the sampler when registers can be accessed.
 *
 * panthor_perf_sampler.c has clients and their requests, panthor_perf_sampler_drain.c the way of
 * samples from the firmware ring to the clients, panthor_perf_sampler_state.c the hooks, and what
 * is done about firmware that fails.
 */

/* Submit a firmware request if one is wanted, counters are enabled and none is in flight. */
void panthor_perf_submit_fw_request(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING || !sampler->wanted ||
	    sampler->in_flight)
		return;

	WRITE_ONCE(sampler->wanted, false);
	WRITE_ONCE(sampler->in_flight, true);
	sampler->limited_asked = sampler->limited_waiting;
	sampler->flight_seq = sampler->next_seq++;
	sampler->flight_ns = ktime_get_raw_ns();
	sampler->timeout_start_ns = sampler->flight_ns;
	sampler->flight_since_ack = true;
	trace_panthor_perf_request(sampler->fw->epoch, sampler->flight_seq);
	panthor_perf_fw_request(sampler->fw);
}

/*
 * Make sure that requests with number next_seq are completed: submit a firmware request, or queue
 * drain_work while counters are disabled. panthor_perf_sampler_down() completes those of CLOSING.
 */
void panthor_perf_want_fw_request(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	WRITE_ONCE(sampler->wanted, true);

	if (sampler->state == PANTHOR_PERF_SAMPLER_DOWN ||
	    sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		queue_work(sampler->wq, &sampler->drain_work);
	else
		panthor_perf_submit_fw_request(sampler);
}

/*
 * Set the timer if it would expire later than @ns. There are no timers in CLOCK_MONOTONIC_RAW, and
 * ntpd changes the rate of CLOCK_MONOTONIC: the work sets the timer again if it is early.
 */
static void set_timer(struct panthor_perf_sampler *sampler, u64 ns, u64 now)
{
	if (ns >= sampler->timer_ns)
		return;

	sampler->timer_ns = ns;
	hrtimer_start(&sampler->timer, ktime_add_ns(ktime_get(), ns - now), HRTIMER_MODE_ABS);
}

/*
 * Get the requests of limited clients completed, now or when the timer expires. What they request
 * while a firmware request is in flight waits until that is answered.
 */
void panthor_perf_want_limited(struct panthor_perf_sampler *sampler)
{
	u64 now;

	lockdep_assert_held(&sampler->req_lock);

	if (!sampler->limited_waiting || sampler->in_flight)
		return;

	now = ktime_get_raw_ns();
	if (now < sampler->limited_not_before_ns)
		set_timer(sampler, sampler->limited_not_before_ns, now);
	else
		panthor_perf_want_fw_request(sampler);
}

/* Request a sample. Returns the sequence number of the firmware request that completes it. */
static u32 request_sample(struct panthor_perf_client *client)
{
	struct panthor_perf_sampler *sampler = client->sampler;
	/* Read first: the firmware request may be made at once. */
	u32 seq = sampler->next_seq;

	if (!client->limited) {
		panthor_perf_want_fw_request(sampler);
		return seq;
	}

	WRITE_ONCE(sampler->limited_waiting, true);
	panthor_perf_want_limited(sampler);
	return seq;
}

/* Return true if samples are due periodically. The PMU wants none while the GPU is suspended. */
static bool has_deadlines(const struct panthor_perf_client *client)
{
	return READ_ONCE(client->period_ns) && client->state == PANTHOR_PERF_CLIENT_STARTED &&
	       (panthor_perf_has_ring(client) ||
		client->sampler->state != PANTHOR_PERF_SAMPLER_DOWN);
}

/* Set the timer to the first deadline of a client, if it has any. */
void panthor_perf_set_deadline(struct panthor_perf_client *client)
{
	u64 now = ktime_get_raw_ns();

	lockdep_assert_held(&client->sampler->req_lock);

	if (!has_deadlines(client))
		return;

	client->deadline_ns = panthor_perf_clock_deadline(client->begun_ns,
							  READ_ONCE(client->period_ns), now);
	set_timer(client->sampler, client->deadline_ns, now);
}

/*
 * Request the samples whose deadlines have passed, and set the timer to the next one. Deadlines are
 * multiples of the period after START in CLOCK_MONOTONIC_RAW; those that have passed are skipped.
 */
static void timer_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, timer_work);
	struct panthor_perf_client *client;
	u64 now, next = U64_MAX;

	guard(mutex)(&sampler->lock);
	guard(spinlock)(&sampler->req_lock);

	now = ktime_get_raw_ns();
	sampler->timer_ns = U64_MAX;
	list_for_each_entry(client, &sampler->clients, node) {
		if (!has_deadlines(client))
			continue;

		if (now >= client->deadline_ns) {
			if (!client->due) {
				WRITE_ONCE(client->due, true);
				client->due_seq = request_sample(client);
			}
			client->deadline_ns =
				panthor_perf_clock_deadline(client->begun_ns,
							    READ_ONCE(client->period_ns), now);
		}
		next = min(next, client->deadline_ns);
	}

	set_timer(sampler, next, now);
	panthor_perf_want_limited(sampler);
}

/* Runs in hard interrupt context, where the locks of the sampler cannot be taken. */
static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct panthor_perf_sampler *sampler =
		container_of(timer, struct panthor_perf_sampler, timer);

	queue_work(sampler->wq, &sampler->timer_work);
	return HRTIMER_NORESTART;
}

void panthor_perf_init_timer(struct panthor_perf_sampler *sampler)
{
	INIT_WORK(&sampler->timer_work, timer_work);
	hrtimer_setup(&sampler->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	sampler->timer_ns = U64_MAX;
}

/* Queue a request for which a slot is reserved: there is room in the queue then. */
void panthor_perf_queue_request(struct panthor_perf_client *client, u64 user_data, bool last)
{
	struct panthor_perf_request *req = &client->queue[client->tail & client->queue_mask];

	lockdep_assert_held(&client->sampler->req_lock);

	req->user_data = user_data;
	req->last = last;
	req->seq = request_sample(client);
	WRITE_ONCE(client->tail, client->tail + 1);
}

/* Reserve a slot of a client's ring, and return true if there is one. */
bool panthor_perf_reserve_slot(struct panthor_perf_client *client)
{
	lockdep_assert_held(&client->sampler->req_lock);

	if (!panthor_perf_has_ring(client))
		return true;

	if (client->ops->free_slots(client) <= client->reserved)
		return false;

	client->reserved++;
	return true;
}

/* Recompute which blocks any client needs. */
static void update_needed(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;
	u32 w;

	memset(sampler->needed, 0, sizeof(sampler->needed));
	list_for_each_entry(client, &sampler->clients, node)
		for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++)
			sampler->needed[w] |= client->accum->enabled[w];
}

/* End a client's counting, and drop its requests. @start_ret is for a START that waits. */
void panthor_perf_end_client(struct panthor_perf_client *client,
			     enum panthor_perf_client_state state, int start_ret)
{
	struct panthor_perf_sampler *sampler = client->sampler;

	lockdep_assert_held(&sampler->lock);

	client->start_ret = start_ret;

	spin_lock(&sampler->req_lock);
	WRITE_ONCE(client->state, state);
	client->head = client->tail;
	WRITE_ONCE(client->due, false);
	spin_unlock(&sampler->req_lock);
	list_del_init(&client->node);
	wake_up_all(&client->start_wait);
	update_needed(sampler);
}

/* Initialize a client of @sampler, zeroed but for its constant members, accumulator and queue. */
void panthor_perf_client_init(struct panthor_perf_client *client,
			      struct panthor_perf_sampler *sampler)
{
	client->sampler = sampler;
	client->id = atomic_inc_return(&sampler->last_id);
	INIT_LIST_HEAD(&client->node);
	init_waitqueue_head(&client->start_wait);
}

/* Add a client to the list, and request its baseline. Returns 0 or what START returns. */
static int add_client(struct panthor_perf_client *client, u64 user_data)
{
	struct panthor_perf_sampler *sampler = client->sampler;
	int ret = 0;

	lockdep_assert_held(&sampler->lock);

	/* The last client may have stopped, and drain_work not have disabled counters yet. */
	panthor_perf_disable_if_unused(sampler);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return -ENODEV;

	if (client->state == PANTHOR_PERF_CLIENT_REMOVED)
		return -ENOENT;

	/* A slot is reserved for the sample of STOP. */
	if (client->state != PANTHOR_PERF_CLIENT_STOPPED ||
	    (panthor_perf_has_ring(client) && !client->ops->free_slots(client)))
		return -EBUSY;

	/* The first client chooses the set. */
	if (list_empty(&sampler->clients))
		sampler->set = client->block_set;
	else if (sampler->set != client->block_set)
		return -EBUSY;

	if (sampler->state == PANTHOR_PERF_SAMPLER_IDLE ||
	    sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		ret = panthor_perf_enable_for_start(sampler);
	if (ret)
		return ret;

	/* Count cycles from now on, or from when the MCU boots. */
	if (list_empty(&sampler->clients) && panthor_perf_mcu_runs(sampler) &&
	    sampler->state != PANTHOR_PERF_SAMPLER_CLOSING)
		panthor_perf_clock_up(sampler->clock, false, &sampler->time);

	client->start_data = user_data;
	client->start_ret = 0;
	list_add_tail(&client->node, &sampler->clients);
	update_needed(sampler);

	spin_lock(&sampler->req_lock);
	WRITE_ONCE(client->state, PANTHOR_PERF_CLIENT_STARTING);
	client->reserved = 1;
	client->due = true;
	client->due_seq = request_sample(client);
	spin_unlock(&sampler->req_lock);
	return 0;
}

/*
 * Start a client that is stopped. Don't wait for its baseline: panthor_perf_client::start_wait is
 * woken when it arrives. @user_data is that of periodic and automatic samples. Sleeps
 * uninterruptibly for up to 400 ms if firmware does not enable counters.
 *
 * Returns 0; -EBUSY if the client is stopping, if no slot of its ring is free or if others count
 * another set; -ETIMEDOUT if firmware did not answer; -ENOENT or -ENODEV if client or device have
 * gone; -ERESTARTSYS if a signal is pending.
 */
int panthor_perf_sampler_start_async(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	u64 ns = ktime_get_raw_ns();
	bool begins;
	int ret = 0;

	if (mutex_lock_interruptible(&sampler->start_lock))
		return -ERESTARTSYS;

	scoped_guard(mutex, &sampler->lock) {
		begins = client->state != PANTHOR_PERF_CLIENT_STARTING &&
			 client->state != PANTHOR_PERF_CLIENT_STARTED;
		if (begins)
			ret = add_client(client, user_data);
	}
	mutex_unlock(&sampler->start_lock);
	/* perf starts its client for each event. */
	if (begins)
		panthor_perf_clock_read_rates(sampler->clock, ns);
	return ret;
}

/*
 * Begin to count, and return when counting has begun. Sleeps interruptibly until a firmware request
 * is answered, which may last as long as protected mode. START and STOP of a client must come one
 * after the other; it may be removed meanwhile. Returns 0, or an error like
 * panthor_perf_sampler_start_async().
 */
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	int ret = panthor_perf_sampler_start_async(sampler, client, user_data);

	if (ret)
		return ret;

	ret = wait_event_interruptible(client->start_wait,
				       READ_ONCE(client->state) != PANTHOR_PERF_CLIENT_STARTING);

	guard(mutex)(&sampler->lock);

	if (client->state == PANTHOR_PERF_CLIENT_STARTING) {
		panthor_perf_end_client(client, PANTHOR_PERF_CLIENT_STOPPED, ret);
		panthor_perf_disable_if_unused(sampler);
	}

	return client->start_ret;
}

/* Return 0 if a client can request samples, or -ENODEV or -EINVAL. */
static int check_request(const struct panthor_perf_client *client)
{
	lockdep_assert_held(&client->sampler->req_lock);

	if (client->sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return -ENODEV;

	return client->state == PANTHOR_PERF_CLIENT_STARTED ? 0 : -EINVAL;
}

/*
 * Request a sample. Returns 0 if it is going to be delivered, -EINVAL if the client is not
 * counting, -EBUSY if no slot of its ring is free for it, or if the client is limited and
 * PANTHOR_PERF_LIMITED_REQUESTS are waiting, -ENODEV if the device has gone.
 */
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data)
{
	int ret;

	guard(spinlock)(&sampler->req_lock);

	ret = check_request(client);
	if (ret)
		return ret;

	if ((client->limited && client->tail - client->head >= PANTHOR_PERF_LIMITED_REQUESTS) ||
	    !panthor_perf_reserve_slot(client))
		return -EBUSY;

	panthor_perf_queue_request(client, user_data, false);
	return 0;
}

/*
 * Request a sample that has all that was counted up to this call, for a client without a ring:
 * @seq receives the sequence number of the firmware request. The sample that answers it has that
 * number or a later one as user_data. Returns 0, -EINVAL if the client is not counting, or -ENODEV
 * if the device has gone.
 */
int panthor_perf_sampler_sync(struct panthor_perf_sampler *sampler,
			      struct panthor_perf_client *client, u32 *seq)
{
	int ret;

	guard(spinlock)(&sampler->req_lock);

	ret = check_request(client);
	if (ret)
		return ret;

	WRITE_ONCE(client->due, true);
	client->due_seq = request_sample(client);
	*seq = client->due_seq;
	return 0;
}

/*
 * Request a last sample, with which the client stops. Returns false if the client was not counting,
 * so that nothing is going to be delivered.
 */
bool panthor_perf_sampler_stop(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	guard(spinlock)(&sampler->req_lock);

	/* It is not counting, or unplug delivers its last sample. */
	if (check_request(client))
		return false;

	WRITE_ONCE(client->state, PANTHOR_PERF_CLIENT_STOPPING);
	panthor_perf_queue_request(client, user_data, true);
	return true;
}

/*
 * Remove a client, in any state. None of its functions are called afterwards. Sleeps for up to
 * 100 ms if firmware does not disable counters when the last client is removed.
 */
void panthor_perf_sampler_remove(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client)
{
	guard(mutex)(&sampler->lock);

	panthor_perf_end_client(client, PANTHOR_PERF_CLIENT_REMOVED, -ENOENT);
	panthor_perf_disable_if_unused(sampler);
}

/*
 * Enable or disable all counters of the blocks of a type, for the PMU client. If it
 * is counting, its next firmware sample may have what these blocks counted before this call.
 */
void panthor_perf_sampler_enable(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u32 type, bool enable)
{
	static const u64 masks[2][2] = { { 0, 0 }, { U64_MAX, U64_MAX } };

	guard(mutex)(&sampler->lock);

	panthor_perf_accum_enable(sampler->layout, type, masks[enable], client->accum);
	update_needed(sampler);
}
