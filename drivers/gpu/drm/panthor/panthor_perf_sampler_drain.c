// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: from the firmware ring to the clients. */

#include "panthor_perf_sampler_internal.h"
#include "panthor_perf_trace.h"

/**
 * DOC: Draining
 *
 * A drain reads the samples in the firmware ring, adds each of them to the accumulators
 * of all clients that are counting, and completes the requests that it answers. The
 * interrupt thread drains if that is soon done, drain_work otherwise, check_work every
 * 100 ms, and the hooks before and after the MCU stops.
 *
 * Firmware also takes samples of its own accord, and without metadata these look like the
 * answer to a request: classify_sample() tells which it is. Firmware takes no samples in
 * protected mode. It acknowledges requests made there without a new sample: the last
 * sample, which was drained before, has all counts.
 */

/**
 * DOC: Samples that are lost
 *
 * Counts are lost when the GPU is reset and when firmware does not answer: the next
 * sample of every client has the flag ERROR. So it is if the CSHW block of a firmware
 * sample is missing. A sample that firmware has written over while it was read is
 * dropped: INSERT is out of range then.
 *
 * Counts are also lost when firmware takes an automatic sample while its ring is full. It
 * raises OVERFLOW then, which does not tell the sample or the time, and which it does not
 * raise again before it was acknowledged and the doorbell has rung. Samples have the flag
 * OVERFLOW from the drain that finds the event to the answer to a request that was made
 * after its acknowledgment, if it is not raised again by then: until firmware has seen the
 * doorbell, it could lose another sample and not tell.
 */

/*
 * The interrupt thread also handles events of the scheduler. It leaves more samples, clients or
 * requests than these to drain_work.
 */
#define IRQ_MAX_SAMPLES		2
#define IRQ_MAX_CLIENTS		2
#define IRQ_MAX_REQUESTS	4

/*
 * Maximum number of requests beyond each client's first that serve_clients() completes, to bound
 * the time for which it holds the lock.
 */
#define MAX_MORE_REQUESTS	PANTHOR_PERF_LIMITED_REQUESTS

/* Set flags in the next sample of all clients that are counting. */
void panthor_perf_flag_next_sample(struct panthor_perf_sampler *sampler, u32 flags)
{
	struct panthor_perf_client *client;

	lockdep_assert_held(&sampler->lock);

	if (list_empty(&sampler->clients))
		return;

	trace_panthor_perf_lost(sampler->fw->epoch, sampler->fw->extract, flags);
	list_for_each_entry(client, &sampler->clients, node)
		if (panthor_perf_client_counts(client))
			client->flags |= flags;
}

/* Add block states to the next sample of all clients that are counting. */
void panthor_perf_mark_states(struct panthor_perf_sampler *sampler, u8 states)
{
	struct panthor_perf_client *client;

	list_for_each_entry(client, &sampler->clients, node)
		if (panthor_perf_client_counts(client))
			panthor_perf_accum_add_states(sampler->layout, states, client->accum);
}

/*
 * Return the states of all blocks while counters are disabled. While the MCU runs, shader cores may
 * have power, and no firmware sample tells.
 */
u8 panthor_perf_off_states(struct panthor_perf_sampler *sampler)
{
	u8 states = DRM_PANTHOR_PERF_BLOCK_STATE_OFF | DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;

	if (!panthor_perf_mcu_runs(sampler))
		return states | DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL;

	states |= PANTHOR_PERF_STATE_POWER_UNKNOWN;
	return states | (panthor_perf_in_protected_mode(sampler) ?
			 DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED :
			 DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL);
}

/* Begin the period of a client's next sample, in which counters may be disabled at first. */
static void begin_period(struct panthor_perf_client *client)
{
	struct panthor_perf_sampler *sampler = client->sampler;

	client->start = sampler->time;
	client->flags = sampler->loss_possible ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : 0;
	if (sampler->state == PANTHOR_PERF_SAMPLER_DOWN ||
	    sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		panthor_perf_accum_add_states(sampler->layout, panthor_perf_off_states(sampler),
					      client->accum);

	if (client->limited) {
		guard(spinlock)(&sampler->req_lock);
		sampler->limited_not_before_ns = client->start.ns + PANTHOR_PERF_LIMITED_NS;
	}
}

/* Return true if a client's next sample, which ends at @end_ns, covers more than one deadline. */
static bool is_stretched(const struct panthor_perf_client *client, u64 end_ns)
{
	u64 period_ns = READ_ONCE(client->period_ns);

	/* Two multiples are a period apart. */
	if (!period_ns || end_ns - client->start.ns <= period_ns)
		return false;

	return end_ns - period_ns >= panthor_perf_clock_deadline(client->begun_ns, period_ns,
								  client->start.ns);
}

/*
 * Deliver the next sample of a client, for which a slot is reserved. @fw_sample is the firmware
 * sample being processed, or NULL if it is in the client's accumulator.
 */
static void deliver_sample(struct panthor_perf_client *client,
			   const struct panthor_perf_fw_sample *fw_sample, u64 user_data)
{
	struct panthor_perf_sampler *sampler = client->sampler;
	struct panthor_perf_sample_info info = {
		.start = client->start,
		.end = sampler->time,
		.user_data = user_data,
		.flags = client->flags,
		.block_set = client->block_set,
	};
	u32 flags;

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_ERROR;
	if (is_stretched(client, info.end.ns))
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;

	flags = client->ops->deliver(client, fw_sample, &info);
	trace_panthor_perf_delivery(client->id, sampler->fw->epoch, sampler->fw->extract,
				    user_data, info.end.ns, flags);
	begin_period(client);
}

/*
 * Deliver a periodic or automatic sample. Return false if there is no free slot: the caller has to
 * add @fw_sample to the accumulator, and the counts are a part of the next sample.
 */
static bool deliver_unrequested(struct panthor_perf_client *client,
				const struct panthor_perf_fw_sample *fw_sample)
{
	scoped_guard(spinlock, &client->sampler->req_lock)
		if (!panthor_perf_reserve_slot(client))
			return false;

	deliver_sample(client, fw_sample, client->start_data);
	return true;
}

/* Deliver a sample that ends now to the PMU: the GPU is suspended or resumed. */
void panthor_perf_deliver_power(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;

	list_for_each_entry(client, &sampler->clients, node) {
		if (panthor_perf_has_ring(client) || !panthor_perf_client_counts(client))
			continue;

		deliver_unrequested(client, NULL);
		scoped_guard(spinlock, &sampler->req_lock)
			panthor_perf_set_deadline(client);
	}
}

/* Begin to count for a client: the sampler's time is that of its baseline. */
static void reach_baseline(struct panthor_perf_client *client)
{
	struct panthor_perf_sampler *sampler = client->sampler;

	panthor_perf_accum_reset(client->accum);
	begin_period(client);
	client->begun_ns = client->start.ns;
	trace_panthor_perf_baseline(client->id, sampler->fw->epoch, sampler->fw->extract,
				    client->start_data, client->start.ns, client->flags);

	scoped_guard(spinlock, &sampler->req_lock) {
		WRITE_ONCE(client->state, PANTHOR_PERF_CLIENT_STARTED);
		panthor_perf_set_deadline(client);
	}
	if (!panthor_perf_has_ring(client))
		deliver_unrequested(client, NULL);
	wake_up_all(&client->start_wait);
}

/* Return true if firmware request @done_seq completes a client's request @seq. */
static bool is_complete(const struct panthor_perf_client *client, u32 seq, u32 done_seq)
{
	const struct panthor_perf_sampler *sampler = client->sampler;

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return true;

	return panthor_perf_seq_complete(seq, done_seq) &&
	       (!client->limited || sampler->limited_turn);
}

/* Request a sample for an open request of a client that this pass does not complete. */
static void defer_request(struct panthor_perf_client *client)
{
	if (client->limited)
		WRITE_ONCE(client->sampler->limited_waiting, true);
	else
		panthor_perf_want_fw_request(client->sampler);
}

/*
 * Dequeue the requests that firmware request @done_seq completes. The first gets the counts;
 * further ones get empty samples, as far as the budget goes. Returns their number, and in @due if
 * a periodic sample or the baseline is complete.
 */
static u32 pop_complete(struct panthor_perf_client *client, u32 done_seq, bool *due)
{
	struct panthor_perf_sampler *sampler = client->sampler;
	u32 num, seq;

	guard(spinlock)(&sampler->req_lock);

	*due = client->due && is_complete(client, client->due_seq, done_seq);
	if (*due)
		WRITE_ONCE(client->due, false);
	else if (client->due && client->limited)
		defer_request(client);

	for (num = 0; client->head != client->tail; num++) {
		seq = client->queue[client->head & client->queue_mask].seq;
		if (!is_complete(client, seq, done_seq)) {
			if (client->limited)
				defer_request(client);
			break;
		}
		if (num && !sampler->budget) {
			defer_request(client);
			break;
		}
		if (num)
			sampler->budget--;
		/* Nothing is written over: the queue has room for all reserved slots. */
		client->head++;
	}

	return num;
}

/*
 * Deliver the samples of a client that firmware request @done_seq completes, as far as the budget
 * goes. Returns true if there was one: the first has @fw_sample, which may be NULL.
 */
static bool complete_client(struct panthor_perf_client *client, u32 done_seq,
			    const struct panthor_perf_fw_sample *fw_sample)
{
	u32 mask = client->queue_mask, next = client->head, end;
	bool has_ring = panthor_perf_has_ring(client), due, delivered = false;

	/* Needs no req_lock: it was held after any request that @done_seq completes was queued. */
	if (has_ring && next == READ_ONCE(client->tail) && !READ_ONCE(client->due))
		return false;

	end = next + pop_complete(client, done_seq, &due);
	if (!has_ring && next == end) {
		if (client->limited && !client->sampler->limited_turn)
			return false;
		deliver_sample(client, fw_sample, done_seq);
		return true;
	}

	/* The sample of STOP ends the same period: the other one would be empty. */
	if (due && (next == end || !client->queue[next & mask].last))
		delivered = deliver_unrequested(client, fw_sample);

	for (; next != end; next++) {
		struct panthor_perf_request req = client->queue[next & mask];

		/* Before a user who sees the sample of STOP may call START. */
		if (req.last)
			panthor_perf_end_client(client, PANTHOR_PERF_CLIENT_STOPPED, 0);
		deliver_sample(client, delivered ? NULL : fw_sample, req.user_data);
		delivered = true;
	}

	return delivered;
}

/*
 * Deliver the last samples of a client, because the device has gone: those it has requested, or one
 * if it has requested none, for which a slot is reserved.
 */
void panthor_perf_unplug_client(struct panthor_perf_client *client)
{
	struct panthor_perf_sampler *sampler = client->sampler;

	scoped_guard(spinlock, &sampler->req_lock) {
		WRITE_ONCE(client->due, false);
		if (client->head == client->tail)
			panthor_perf_queue_request(client, client->start_data, true);
		else
			client->queue[(client->tail - 1) & client->queue_mask].last = true;
	}

	/* The last one takes the client off the list. */
	sampler->budget = U32_MAX;
	complete_client(client, sampler->next_seq, NULL);
}

/*
 * Return true if limited clients get the firmware sample being processed: the @answer to a request
 * of one of them, or an @automatic sample if none has a request, but not sooner than a millisecond
 * after the last one. All get it or none, so they cannot combine their samples into a finer
 * resolution. An answer counts even if it is not delivered: it has cost a firmware request.
 */
static bool is_limited_turn(struct panthor_perf_sampler *sampler, bool answer, bool automatic)
{
	if (!READ_ONCE(sampler->limited_waiting) && !automatic)
		return false;

	guard(spinlock)(&sampler->req_lock);

	if (!(sampler->limited_waiting ? answer && sampler->limited_asked : automatic) ||
	    sampler->time.ns < sampler->limited_not_before_ns)
		return false;

	if (sampler->limited_waiting)
		sampler->limited_not_before_ns = sampler->time.ns + PANTHOR_PERF_LIMITED_NS;
	/* A request that is not completed now sets it again. */
	WRITE_ONCE(sampler->limited_waiting, false);
	return true;
}

/*
 * Distribute a firmware sample, which may be NULL, to all clients. If it is an @answer, complete
 * the requests up to @done_seq. If it is @automatic, deliver it to clients with emit_auto that did
 * not just get it as an answer.
 */
static void serve_clients(struct panthor_perf_sampler *sampler,
			  const struct panthor_perf_fw_sample *fw_sample,
			  bool answer, u32 done_seq, bool automatic)
{
	struct panthor_perf_client *client, *tmp;
	bool due;

	lockdep_assert_held(&sampler->lock);

	sampler->limited_turn = is_limited_turn(sampler, answer, automatic);
	sampler->budget = MAX_MORE_REQUESTS;

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		if (!panthor_perf_client_counts(client)) {
			/* The counts of the sample precede the baseline. */
			if (answer) {
				pop_complete(client, done_seq, &due);
				if (due)
					reach_baseline(client);
			}
			continue;
		}

		if (answer && complete_client(client, done_seq, fw_sample))
			continue;

		if (automatic && client->emit_auto &&
		    READ_ONCE(client->state) == PANTHOR_PERF_CLIENT_STARTED &&
		    (!client->limited || sampler->limited_turn)) {
			if (deliver_unrequested(client, fw_sample))
				continue;
			client->flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
		}

		if (fw_sample)
			panthor_perf_accum_add(sampler->layout, fw_sample, client->accum);
	}

	/* What limited clients requested while the firmware request was in flight. */
	if (answer && READ_ONCE(sampler->limited_waiting)) {
		guard(spinlock)(&sampler->req_lock);
		panthor_perf_want_limited(sampler);
	}
}

/*
 * Complete all requests without firmware, while counters are disabled. Those of limited clients
 * stay queued until their rate limit allows them.
 */
void panthor_perf_complete_now(struct panthor_perf_sampler *sampler)
{
	u32 done_seq;

	lockdep_assert_held(&sampler->lock);

	/*
	 * Read the number before the clock: a request made in between gets the next number, and a
	 * later end time.
	 */
	scoped_guard(spinlock, &sampler->req_lock) {
		done_seq = sampler->next_seq++;
		sampler->limited_asked = true;
		WRITE_ONCE(sampler->wanted, false);
	}

	panthor_perf_clock_now(sampler->clock, &sampler->time);
	panthor_perf_mark_states(sampler, panthor_perf_off_states(sampler));
	serve_clients(sampler, NULL, true, done_seq, false);
	panthor_perf_disable_if_unused(sampler);
}

/**
 * struct drain - What a drain knows of the firmware request and the firmware ring
 * @seq: Sequence number of the latest firmware request.
 * @made_ns: When it was made, CLOCK_MONOTONIC_RAW.
 * @in_flight: It was not answered when the drain began.
 * @acked: Firmware had acknowledged it: its sample is in the ring, was drained, or there is none.
 * @answered: It was completed by this drain.
 * @overflowed: OVERFLOW was raised.
 * @protected: The GPU was in protected mode.
 * @pending: Number of samples in the ring.
 */
struct drain {
	u32 seq;
	u64 made_ns;
	bool in_flight;
	bool acked;
	bool answered;
	bool overflowed;
	bool protected;
	int pending;
};

/*
 * Read the state of the firmware request and of the ring. ACK is read before INSERT, so that the
 * request's sample is in the ring if ACK says so; no other request is made in between. Returns
 * false if INSERT is out of range.
 */
static bool read_ring(struct panthor_perf_sampler *sampler, struct drain *drain)
{
	guard(spinlock)(&sampler->req_lock);

	drain->seq = sampler->flight_seq;
	drain->made_ns = sampler->flight_ns;
	drain->in_flight = sampler->in_flight;
	drain->acked = drain->in_flight && panthor_perf_fw_acked(sampler->fw);
	drain->pending = panthor_perf_fw_pending(sampler->fw);
	return drain->pending >= 0;
}

/*
 * Return true if the GPU is in protected mode and samples have no metadata to tell. No register is
 * read if an earlier drain has found the mode, and no sample has ended it.
 */
static bool detect_protected(struct panthor_perf_sampler *sampler, int pending)
{
	if (sampler->layout->has_metadata || !panthor_perf_mcu_runs(sampler) ||
	    (!pending && sampler->prev_reason == PANTHOR_PERF_REASON_PROTECTED))
		return false;

	return panthor_perf_in_protected_mode(sampler);
}

/* Complete the firmware request in flight: firmware works, and has seen earlier doorbells. */
static void complete_fw_request(struct panthor_perf_sampler *sampler, struct drain *drain)
{
	drain->answered = true;
	sampler->failures = 0;

	guard(spinlock)(&sampler->req_lock);

	if (sampler->flight_since_ack && !drain->overflowed)
		sampler->loss_possible = false;
	WRITE_ONCE(sampler->in_flight, false);
}

/*
 * Return true if a sample answers the firmware request in flight. Set @automatic if firmware took
 * it of its own accord; an answer can be automatic, too. A sample that is neither has counts of
 * the request, whose answer is a later one. @ns is its time, or 0 if that is unknown.
 *
 * Once firmware has acknowledged the request, the answer is
 *
 * - with metadata: the first sample taken after the request with the reason REQUEST or PROTECTED,
 *   or else the last one in the ring;
 * - without metadata: the last one in the ring, since all of them look like the answer.
 *
 * A sample that is taken before shader cores lose power has the reason REQUEST, too.
 */
static bool classify_sample(const struct panthor_perf_sampler *sampler, const struct drain *drain,
			    u64 ns, bool last, bool *automatic)
{
	bool requested = sampler->sample->reason == PANTHOR_PERF_REASON_REQUEST;
	bool completes = requested || sampler->sample->reason == PANTHOR_PERF_REASON_PROTECTED;
	bool has_metadata = sampler->layout->has_metadata;

	*automatic = true;
	if (!drain->in_flight || drain->answered)
		return false;

	if (drain->acked && (last || (has_metadata && completes && ns >= drain->made_ns))) {
		*automatic = !requested;
		return true;
	}

	*automatic = !requested || (ns && ns < drain->made_ns) || !(has_metadata || last);
	return false;
}

/*
 * Consume the oldest sample in the firmware ring, and distribute it. Returns false, and leaves it
 * in the ring, if INSERT is out of range.
 */
static bool consume_sample(struct panthor_perf_sampler *sampler, struct drain *drain, bool last)
{
	struct panthor_perf_fw_sample *sample = sampler->sample;
	bool answer, automatic;
	u64 ns = 0;

	panthor_perf_fw_sample_read(sampler->layout,
				    panthor_perf_fw_slot(sampler->fw, sampler->fw->extract),
				    sampler->needed, sample);
	if (panthor_perf_fw_overwritten(sampler->fw)) {
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		return false;
	}
	panthor_perf_fw_consume(sampler->fw);
	sampler->num_samples++;

	/* The CSHW block always has power: without it, the sample was not complete. */
	if (sample->missing && sampler->set == DRM_PANTHOR_PERF_SET_PRIMARY)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	if (drain->protected && last && sample->reason != PANTHOR_PERF_REASON_PROTECTED_END)
		sample->reason = PANTHOR_PERF_REASON_PROTECTED;

	if (sample->timestamp)
		ns = panthor_perf_clock_at(sampler->clock, sample->timestamp, &sampler->time);
	else
		panthor_perf_clock_now(sampler->clock, &sampler->time);
	answer = classify_sample(sampler, drain, ns, last, &automatic);

	/* No sample of a client ends before it was requested. Nothing was counted since. */
	if (answer && ns && ns < drain->made_ns)
		panthor_perf_clock_now(sampler->clock, &sampler->time);

	panthor_perf_fw_sample_states(sampler->layout, sampler->set, sampler->prev_reason, sample);
	sampler->prev_reason = sample->reason;
	trace_panthor_perf_fw_sample(sampler->fw->epoch, sampler->fw->extract,
				     sample->timestamp, sample->reason);

	if (answer)
		complete_fw_request(sampler, drain);
	serve_clients(sampler, sample, answer, drain->seq, automatic);
	return true;
}

/*
 * Acknowledge events. Firmware raises an event again at the next doorbell if its condition still
 * holds. To avoid an endless loop, acknowledge only after consuming samples, or with @force_ack, as
 * the check does every 100 ms and a suspend does once.
 */
static void acknowledge_events(struct panthor_perf_sampler *sampler, const struct drain *drain,
			       bool force_ack)
{
	struct panthor_perf_fw *fw = sampler->fw;

	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING)
		return;

	if ((force_ack || drain->pending) && panthor_perf_fw_rearm(fw, drain->overflowed)) {
		guard(spinlock)(&sampler->req_lock);
		sampler->flight_since_ack &= !drain->overflowed;
		return;
	}

	/*
	 * Firmware retries a request that found the ring full at a doorbell. It may not have raised
	 * OVERFLOW for it, if it had done so before and nothing was drained since.
	 */
	if (force_ack && drain->in_flight && !drain->acked)
		fw->ops->ring_doorbell(fw);
}

/*
 * Drain the firmware ring, and complete the requests that are answered. Returns false if INSERT is
 * out of range, and false without doing anything if there are more samples than @limit. For
 * @force_ack see acknowledge_events().
 */
bool panthor_perf_drain(struct panthor_perf_sampler *sampler, bool force_ack, u32 limit)
{
	struct drain drain = {};
	int i;

	lockdep_assert_held(&sampler->lock);

	if (!read_ring(sampler, &drain))
		return false;

	/* Firmware takes a sample before protected mode begins: it is there by now. */
	drain.protected = detect_protected(sampler, drain.pending);
	if (drain.protected && !read_ring(sampler, &drain))
		return false;
	if (drain.pending > limit)
		return false;

	/* Read OVERFLOW after INSERT, see (B) in panthor_perf_fw.c: it precedes later samples. */
	drain.overflowed = panthor_perf_fw_overflowed(sampler->fw);
	sampler->loss_possible |= drain.overflowed;
	if (sampler->loss_possible)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);

	/* The times of samples are computed from this one, which is later. */
	if (drain.pending)
		panthor_perf_clock_pair(sampler->clock);

	for (i = 0; i < drain.pending; i++)
		if (!consume_sample(sampler, &drain, i == drain.pending - 1))
			return false;

	/* The sample before protected mode was drained before the mode could be seen. */
	if (drain.protected && !drain.pending) {
		sampler->prev_reason = PANTHOR_PERF_REASON_PROTECTED;
		panthor_perf_mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED);
	}

	/* The request was acknowledged, and its sample drained before. */
	if (drain.acked && !drain.answered) {
		if (sampler->time.ns < drain.made_ns)
			panthor_perf_clock_now(sampler->clock, &sampler->time);
		complete_fw_request(sampler, &drain);
		serve_clients(sampler, NULL, true, drain.seq, false);
	}

	acknowledge_events(sampler, &drain, force_ack);

	/* Requests that come after this are submitted by their caller. */
	if (READ_ONCE(sampler->wanted)) {
		guard(spinlock)(&sampler->req_lock);
		panthor_perf_submit_fw_request(sampler);
	}
	return true;
}

/* Return true if few clients have few requests. A drain does not complete later ones. */
static bool soon_served(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;
	u32 clients = 0, requests = 0;

	list_for_each_entry(client, &sampler->clients, node) {
		if (++clients > IRQ_MAX_CLIENTS)
			return false;
		requests += READ_ONCE(client->tail) - client->head;
	}

	return requests <= IRQ_MAX_REQUESTS;
}

/*
 * Handle an interrupt of the global interface, in the interrupt thread: drain now, or leave it to
 * drain_work if it takes long, if the last client has stopped so that counters are to be disabled,
 * or if somebody holds the lock, who may wait for firmware and so for this thread. If the state
 * changes while it is read without the lock, it is read again with the lock held.
 */
void panthor_perf_sampler_irq(struct panthor_perf_sampler *sampler)
{
	bool done;

	if (READ_ONCE(sampler->state) != PANTHOR_PERF_SAMPLER_COUNTING ||
	    !panthor_perf_fw_irq_pending(sampler->fw, READ_ONCE(sampler->in_flight)))
		return;

	if (mutex_trylock(&sampler->lock)) {
		/* A client may stop during the drain, and its STOP be answered at once. */
		done = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING && soon_served(sampler) &&
		       panthor_perf_drain(sampler, false, IRQ_MAX_SAMPLES) &&
		       !list_empty(&sampler->clients);
		mutex_unlock(&sampler->lock);
		if (done)
			return;
	}

	queue_work(sampler->wq, &sampler->drain_work);
}
