// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: sharing the counters of the firmware between clients. */

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_print.h>

#include <kunit/visibility.h>

#include "panthor_perf_sampler.h"

#define CREATE_TRACE_POINTS
#include "panthor_perf_trace.h"

/**
 * DOC: Sampler
 *
 * The counters exist once, and firmware clears them when it samples them. The
 * sampler makes of this as many independent counts as there are clients: it adds
 * each firmware sample, whoever asked for it, to the sums of every client that
 * is counting. These sums are 64 bits wide and are the client's accumulator. A
 * sample for a client is its accumulator at the time of a firmware sample, and
 * the accumulator is then cleared. What one client does therefore has no effect
 * on the counts of another one.
 *
 * Two things are called a request. A client requests samples, by SAMPLE, by
 * STOP, by START, which needs a firmware sample as its baseline, and by its
 * period. The sampler makes firmware requests, one at a time. Their number is called
 * gen, and a request of a client has as its number the gen of the firmware request
 * that is made next: it is complete when that one is answered. All requests that
 * come while a firmware request is in flight share the next one. They cannot
 * share the one in flight, because its sample may have been taken already, and
 * would not have what was counted up to the client's call::
 *
 *	START, SAMPLE, STOP, period		interrupt
 *			|				|
 *	queue of the client, with	firmware samples are added to
 *	number next_gen			all accumulators
 *			|				|
 *	firmware request flight_gen,	requests up to flight_gen are
 *	if none is in flight		complete; next firmware request
 *
 * While the GPU is down nothing is counted, and the last counts were added when
 * the MCU was halted, since it takes a sample then. Requests are complete at once.
 *
 * A GPU that is suspended is not woken up, and no power reference is held. The
 * hooks of suspend, resume and reset, panthor_perf_pre_suspend() and so on, tell
 * the sampler when registers can be accessed.
 *
 * Samples are drained, which is to say read from the ring and added to accumulators,
 * by drain_work, or by the interrupt thread itself if that is soon done. Terms like
 * automatic sample, epoch or EXTRACT are explained in Documentation, section "Terms"
 * of gpu/panthor-perf.rst.
 *
 * Without clients, the sampler does no more than follow whether the GPU is up.
 */

/**
 * DOC: State of the sampler
 *
 * &enum panthor_perf_sampler_state, changed by set_state() alone, which knows the
 * transitions.
 *
 * The hooks of suspend and reset lead from any state to CLOSING, and to DOWN when the
 * MCU has stopped. When it boots, the state is IDLE without a client, COUNTING if
 * firmware acknowledges that counters are enabled, and FAILED if it does not. The first
 * START leads from IDLE to COUNTING, and the last client that stops or is removed leads
 * back.
 *
 * Firmware that does not answer a request for ACK_TIMEOUT_NS, or whose INSERT is out of
 * range, leads from COUNTING to FAILED, and from there back to COUNTING, see recover_firmware().
 * Where that does not help, the check and START try again. Firmware that fails makes the
 * sampler ask for a reset of the GPU, MAX_FAILURES times in a row, but not when the MCU
 * boots: the check does that then. Protected mode is no failure. Counters cannot be
 * enabled in it, so that the state is FAILED until it has ended, but START does not fail.
 *
 * A request is complete at once in the states DOWN and FAILED, and when the next
 * state has been reached in the state CLOSING; that of a limited client when its
 * millisecond is over, too. It is refused in the state GONE, and in the state IDLE
 * there is no client to make one. In the state FAILED its sample has the flag ERROR.
 * START waits until its baseline has been taken.
 */

/**
 * DOC: State of the firmware request
 *
 * What a client requests is wanted, and in flight as soon as the sampler is COUNTING and
 * the request before it has ended: because firmware has answered it, or because counters
 * were disabled or the MCU has stopped, where it is complete at once. Another one may be
 * wanted while one is in flight.
 *
 * A request that firmware acknowledges though there is no sample since it was made is
 * answered, and ends then: the sample before protected mode completes what is requested by
 * then, and may have been drained before the request was made. Nothing is counted after it.
 *
 * A request that firmware has no room for in its ring is tried again by firmware
 * when the doorbell rings. That happens when OVERFLOW is acknowledged, and each
 * time the check runs. If there is no answer for ACK_TIMEOUT_NS, counters are
 * disabled and enabled.
 */

/**
 * DOC: Samples that are lost
 *
 * Counts are lost when the GPU is reset and when firmware does not answer: the
 * next sample of every client that counts has the flag ERROR then. It has so, too, if
 * the CSHW block of a firmware sample is missing. A sample that firmware has written over
 * while it was read is not used at all: INSERT is out of range then.
 *
 * Counts are lost as well when firmware takes an automatic sample and its ring is
 * full. It raises the event OVERFLOW. The event does not say which sample there
 * was no room for, nor when, and it is not raised again before it has been
 * acknowledged and the doorbell has rung. Each sample that is delivered while a loss
 * is possible has the flag OVERFLOW: from the drain that finds the event raised to the
 * answer to a request that was made after the acknowledgment, if the event is not raised
 * again by then. Until firmware has looked at the doorbell it could lose another sample
 * and be unable to say so; that it has is known from its answer.
 */

/*
 * How long firmware may take to answer a request, other than in protected mode. It
 * usually answers within microseconds, and within milliseconds after it has slept. It
 * has up to twice that if samples have been drained shortly before the time is over,
 * which may have made room in a ring that was full.
 */
#define ACK_TIMEOUT_NS		(500 * NSEC_PER_MSEC)

/*
 * A counter has 32 bits and may count up to eight events a cycle: at 1 GHz it
 * saturates after half a second. The check runs each CHECK_INTERVAL, and asks for
 * a sample if none was taken for SATURATION_NS.
 */
#define CHECK_INTERVAL		msecs_to_jiffies(100)
#define SATURATION_NS		(100 * NSEC_PER_MSEC)

/*
 * How long suspend waits for a firmware request that is in flight. If it is not
 * answered by then, the sample that the MCU takes when it is halted completes it.
 */
#define CLOSE_TIMEOUT_MS	20

/* How many failures of firmware in a row lead to a reset of the GPU. */
#define MAX_FAILURES		3

/*
 * The interrupt thread drains the firmware ring itself if that is soon done. More
 * samples, clients or requests are left to a work, since the thread also handles the
 * events of the scheduler.
 */
#define IRQ_MAX_SAMPLES		2
#define IRQ_MAX_CLIENTS		2
#define IRQ_MAX_REQUESTS	4

/*
 * How many requests beyond each client's first a pass over the clients completes, since
 * hooks and the interrupt thread want the lock as well. It is enough for all that one
 * limited client may have waiting, with its STOP.
 */
#define MAX_MORE_REQUESTS	PANTHOR_PERF_LIMITED_REQUESTS

/* Checks if firmware request @gen is not later than @complete. Numbers wrap around. */
static bool gen_complete(u32 gen, u32 complete)
{
	return (s32)(gen - complete) <= 0;
}

/*
 * Checks if what is counted belongs to a client. STARTED and STOPPING both count,
 * so that it does not matter if STOP changes the one into the other meanwhile.
 */
static bool client_counts(const struct panthor_perf_client *client)
{
	enum panthor_perf_client_state state = READ_ONCE(client->state);

	return state == PANTHOR_PERF_CLIENT_STARTED || state == PANTHOR_PERF_CLIENT_STOPPING;
}

/* Pairs with the READ_ONCE() of those who look at the state without a lock. */
static void set_client_state(struct panthor_perf_sampler *sampler,
			     struct panthor_perf_client *client,
			     enum panthor_perf_client_state state)
{
	lockdep_assert_held(&sampler->req_lock);

	WRITE_ONCE(client->state, state);
}

/* Makes a firmware request if one is wanted and can be made. */
static void make_request(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING || !sampler->wanted ||
	    sampler->in_flight)
		return;

	WRITE_ONCE(sampler->wanted, false);
	WRITE_ONCE(sampler->in_flight, true);
	sampler->flight_gen = sampler->next_gen++;
	sampler->flight_ns = ktime_get_raw_ns();
	sampler->answer_ns = sampler->flight_ns;
	sampler->flight_since_ack = true;
	sampler->stats.requests++;
	trace_panthor_perf_request(sampler->fw->epoch, sampler->flight_gen);
	panthor_perf_fw_request(sampler->fw);
}

/*
 * Has requests with number next_gen completed. That is done by firmware if it
 * counts, by the next hook if the MCU is about to stop, and by drain_work() if
 * nothing is counted.
 */
static void want_request(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	WRITE_ONCE(sampler->wanted, true);

	switch (sampler->state) {
	case PANTHOR_PERF_SAMPLER_COUNTING:
		make_request(sampler);
		break;
	case PANTHOR_PERF_SAMPLER_CLOSING:
	case PANTHOR_PERF_SAMPLER_IDLE:
	case PANTHOR_PERF_SAMPLER_GONE:
		break;
	case PANTHOR_PERF_SAMPLER_DOWN:
	case PANTHOR_PERF_SAMPLER_FAILED:
		queue_work(sampler->wq, &sampler->drain_work);
		break;
	}
}

/*
 * Asks for the batch that waits if the millisecond is over, or sets the timer. Timers do
 * not expire in CLOCK_MONOTONIC_RAW, whose rate differs from that of CLOCK_MONOTONIC by
 * what ntpd sets: the work compares the time, and sets the timer again if it is early.
 */
static void ask_for_batch(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_limited *limited = &sampler->limited;
	u64 now;

	lockdep_assert_held(&sampler->req_lock);

	if (!limited->waiting || limited->asked)
		return;

	now = ktime_get_raw_ns();
	if (now < limited->not_before_ns) {
		hrtimer_start(&limited->timer,
			      ktime_add_ns(ktime_get(), limited->not_before_ns - now),
			      HRTIMER_MODE_ABS);
		return;
	}

	limited->batch++;
	WRITE_ONCE(limited->asked, true);
	limited->waiting = false;
	limited->gen = sampler->next_gen;
	want_request(sampler);
}

/* The number that a request of a client has which is made now. */
static u32 next_number(const struct panthor_perf_sampler *sampler,
		       const struct panthor_perf_client *client)
{
	const struct panthor_perf_limited *limited = &sampler->limited;

	lockdep_assert_held(&sampler->req_lock);

	if (!client->limited)
		return sampler->next_gen;

	/* A batch can be joined until the firmware request for it is made. */
	if (limited->asked && limited->gen == sampler->next_gen)
		return limited->batch;

	return limited->batch + 1;
}

/* Has a request of a client completed, whose number is returned. */
static u32 ask_for_sample(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	/* Read first: the firmware request may be made at once. */
	u32 number = next_number(sampler, client);

	if (!client->limited) {
		want_request(sampler);
	} else if (number != sampler->limited.batch && !sampler->limited.waiting) {
		sampler->limited.waiting = true;
		ask_for_batch(sampler);
	}

	return number;
}

/*
 * Checks if firmware request @gen completes a client's request that has this number. That of
 * a limited client is completed together with a batch only. If the device has gone, all is
 * complete.
 */
static bool is_complete(const struct panthor_perf_sampler *sampler,
			const struct panthor_perf_client *client, u32 number, u32 gen)
{
	const struct panthor_perf_limited *limited = &sampler->limited;

	lockdep_assert_held(&sampler->req_lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return true;

	if (!client->limited)
		return gen_complete(number, gen);

	return limited->asked && gen_complete(limited->gen, gen) &&
	       gen_complete(number, limited->batch);
}

/* The same for the request at @index of a client's queue, if there is one. */
static bool request_complete(const struct panthor_perf_sampler *sampler,
			     const struct panthor_perf_client *client, u32 index, u32 gen)
{
	return index != client->tail &&
	       is_complete(sampler, client,
			   client->queue[index & client->queue_mask].number, gen);
}

/* The same for the sample that is due, if one is. */
static bool due_complete(const struct panthor_perf_sampler *sampler,
			 const struct panthor_perf_client *client, u32 gen)
{
	return client->due && is_complete(sampler, client, client->due_number, gen);
}

/* The same for the baseline, if a client waits for one. */
static bool baseline_complete(struct panthor_perf_sampler *sampler,
			      const struct panthor_perf_client *client, u32 gen)
{
	guard(spinlock)(&sampler->req_lock);

	return client->state == PANTHOR_PERF_CLIENT_STARTING &&
	       is_complete(sampler, client, client->start_number, gen);
}

/* The millisecond of limited clients may be over. */
static void limited_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, limited.work);

	guard(spinlock)(&sampler->req_lock);

	ask_for_batch(sampler);
}

/* Runs in hard interrupt context, where the locks of the sampler cannot be taken. */
static enum hrtimer_restart limited_expired(struct hrtimer *timer)
{
	struct panthor_perf_sampler *sampler =
		container_of(timer, struct panthor_perf_sampler, limited.timer);

	queue_work(sampler->wq, &sampler->limited.work);
	return HRTIMER_NORESTART;
}

/*
 * Firmware request @gen is complete. The millisecond starts now, and not at the time
 * of the sample, which is earlier and comes from firmware.
 */
static void complete_batch(struct panthor_perf_sampler *sampler, u32 gen)
{
	struct panthor_perf_limited *limited = &sampler->limited;

	/* One that is asked for meanwhile is for a later firmware request. */
	if (!READ_ONCE(limited->asked))
		return;

	guard(spinlock)(&sampler->req_lock);

	if (!gen_complete(limited->gen, gen))
		return;

	WRITE_ONCE(limited->asked, false);
	limited->not_before_ns = ktime_get_raw_ns() + PANTHOR_PERF_LIMITED_NS;
	ask_for_batch(sampler);
}

/* There is no limited client any more that waits for anything. */
static void forget_batches(struct panthor_perf_sampler *sampler)
{
	guard(spinlock)(&sampler->req_lock);

	WRITE_ONCE(sampler->limited.asked, false);
	sampler->limited.waiting = false;
}

/*
 * Checks if limited clients may see an automatic sample, taken at the sampler's
 * time. If they may, the millisecond starts again. If they may not, its counts stay
 * in their accumulators, and become a part of the next sample.
 */
static bool limited_may_see(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_limited *limited = &sampler->limited;

	guard(spinlock)(&sampler->req_lock);

	if (limited->asked || limited->waiting ||
	    sampler->time.ns < limited->not_before_ns)
		return false;

	limited->not_before_ns = ktime_get_raw_ns() + PANTHOR_PERF_LIMITED_NS;
	return true;
}

/*
 * Sets the timer to a client's next deadline after @now. Deadlines are multiples of the
 * period after START in CLOCK_MONOTONIC_RAW, which is the clock of samples; those that have
 * passed are skipped. There are no timers in that clock: see ask_for_batch().
 */
static void arm_period(struct panthor_perf_client *client, u64 now)
{
	u64 period_ns = READ_ONCE(client->period_ns);

	lockdep_assert_held(&client->sampler->req_lock);

	client->deadline_ns = panthor_perf_clock_deadline(client->begun_ns, period_ns, now);
	hrtimer_start(&client->timer, ktime_add_ns(ktime_get(), client->deadline_ns - now),
		      HRTIMER_MODE_ABS);
}

/* Checks if samples are due to a client now and then: to some not while the GPU is down. */
static bool has_deadlines(const struct panthor_perf_client *client)
{
	return READ_ONCE(client->period_ns) && client->state == PANTHOR_PERF_CLIENT_STARTED &&
	       (!client->power_samples || client->sampler->state != PANTHOR_PERF_SAMPLER_DOWN);
}

/*
 * A deadline of a client may have come. The sample is delivered if a slot of the client's
 * ring is free by then.
 */
static void due_work(struct work_struct *work)
{
	struct panthor_perf_client *client =
		container_of(work, struct panthor_perf_client, due_work);
	struct panthor_perf_sampler *sampler = client->sampler;
	u64 now;

	guard(spinlock)(&sampler->req_lock);

	/* The timer that comes after a STOP finds nothing to do, or is early for the next run. */
	if (!has_deadlines(client))
		return;

	now = ktime_get_raw_ns();
	if (now >= client->deadline_ns && !client->due) {
		WRITE_ONCE(client->due, true);
		client->due_number = ask_for_sample(sampler, client);
	}
	arm_period(client, now);
}

/* Runs in hard interrupt context, where the locks of the sampler cannot be taken. */
static enum hrtimer_restart period_expired(struct hrtimer *timer)
{
	struct panthor_perf_client *client =
		container_of(timer, struct panthor_perf_client, timer);

	queue_work(client->sampler->wq, &client->due_work);
	return HRTIMER_NORESTART;
}

/* Registers can be accessed, with the lock of the sampler held. */
static bool mcu_runs(enum panthor_perf_sampler_state state)
{
	return state != PANTHOR_PERF_SAMPLER_DOWN && state != PANTHOR_PERF_SAMPLER_GONE;
}

static bool in_protected_mode(struct panthor_perf_sampler *sampler)
{
	return sampler->fw->ops->protected_mode(sampler->fw);
}

/* Flags the next sample of all clients that count. */
static void mark_lost(struct panthor_perf_sampler *sampler, u32 flags)
{
	struct panthor_perf_client *client;

	lockdep_assert_held(&sampler->lock);

	if (list_empty(&sampler->clients))
		return;

	trace_panthor_perf_lost(sampler->fw->epoch, sampler->fw->extract, flags);
	list_for_each_entry(client, &sampler->clients, node)
		if (client_counts(client))
			client->flags |= flags;
}

/*
 * Changes the state of the sampler. The firmware request in flight, and what is known
 * of events, do not outlive the state COUNTING: they are of an epoch that ends. In the
 * state CLOSING they stay, since firmware may still answer.
 */
static void set_state(struct panthor_perf_sampler *sampler, enum panthor_perf_sampler_state state)
{
	static const u8 next[] = {
		[PANTHOR_PERF_SAMPLER_DOWN] = BIT(PANTHOR_PERF_SAMPLER_CLOSING) |
					      BIT(PANTHOR_PERF_SAMPLER_IDLE) |
					      BIT(PANTHOR_PERF_SAMPLER_COUNTING) |
					      BIT(PANTHOR_PERF_SAMPLER_FAILED) |
					      BIT(PANTHOR_PERF_SAMPLER_GONE),
		[PANTHOR_PERF_SAMPLER_CLOSING] = BIT(PANTHOR_PERF_SAMPLER_DOWN) |
						 BIT(PANTHOR_PERF_SAMPLER_GONE),
		[PANTHOR_PERF_SAMPLER_IDLE] = BIT(PANTHOR_PERF_SAMPLER_CLOSING) |
					      BIT(PANTHOR_PERF_SAMPLER_COUNTING) |
					      BIT(PANTHOR_PERF_SAMPLER_FAILED) |
					      BIT(PANTHOR_PERF_SAMPLER_GONE),
		[PANTHOR_PERF_SAMPLER_COUNTING] = BIT(PANTHOR_PERF_SAMPLER_CLOSING) |
						  BIT(PANTHOR_PERF_SAMPLER_IDLE) |
						  BIT(PANTHOR_PERF_SAMPLER_FAILED) |
						  BIT(PANTHOR_PERF_SAMPLER_GONE),
		[PANTHOR_PERF_SAMPLER_FAILED] = BIT(PANTHOR_PERF_SAMPLER_CLOSING) |
						BIT(PANTHOR_PERF_SAMPLER_IDLE) |
						BIT(PANTHOR_PERF_SAMPLER_COUNTING) |
						BIT(PANTHOR_PERF_SAMPLER_GONE),
		[PANTHOR_PERF_SAMPLER_GONE] = 0,
	};

	lockdep_assert_held(&sampler->lock);

	spin_lock(&sampler->req_lock);
	/* Transitions are checked where it does not matter what that costs. */
	if (IS_ENABLED(CONFIG_DRM_PANTHOR_PERF_KUNIT_TEST) || IS_ENABLED(CONFIG_PROVE_LOCKING))
		WARN(!(next[sampler->state] & BIT(state)),
		     "panthor_perf: no transition from %u to %u", sampler->state, state);
	WRITE_ONCE(sampler->state, state);
	if (state != PANTHOR_PERF_SAMPLER_CLOSING)
		WRITE_ONCE(sampler->in_flight, false);
	/* Counters stay enabled in the state CLOSING if they were. */
	trace_panthor_perf_state(mcu_runs(state),
				 state == PANTHOR_PERF_SAMPLER_COUNTING ||
				 (state == PANTHOR_PERF_SAMPLER_CLOSING && sampler->fw->enabled),
				 state);
	make_request(sampler);
	spin_unlock(&sampler->req_lock);

	if (state != PANTHOR_PERF_SAMPLER_CLOSING)
		sampler->loss_possible = false;
}

static void set_time_now(struct panthor_perf_sampler *sampler)
{
	panthor_perf_clock_now(sampler->clock, &sampler->time);
}

/* Called when a client has come or gone. */
static void update_needed(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;
	u32 w;

	memset(sampler->needed, 0, sizeof(sampler->needed));
	list_for_each_entry(client, &sampler->clients, node)
		for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++)
			sampler->needed[w] |= client->accum->enabled[w];
}

/* Adds block states to the next sample of all clients that count. */
static void mark_states(struct panthor_perf_sampler *sampler, u8 states)
{
	struct panthor_perf_client *client;

	list_for_each_entry(client, &sampler->clients, node)
		if (client_counts(client))
			panthor_perf_accum_add_states(sampler->layout, states, client->accum);
}

/*
 * States of all blocks while counters are disabled, or the MCU does not run. If it
 * runs, shader cores may have power, and no firmware sample tells of it.
 */
static u8 off_states(struct panthor_perf_sampler *sampler)
{
	u8 states = DRM_PANTHOR_PERF_BLOCK_STATE_OFF | DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;

	if (!mcu_runs(sampler->state))
		return states | DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL;

	states |= PANTHOR_PERF_STATE_POWER_UNKNOWN;
	if (in_protected_mode(sampler))
		return states | DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED;

	return states | DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL;
}

/*
 * Adds the states of a time in which counters were enabled, and of which no firmware
 * sample tells, since counters were disabled without one.
 */
static void mark_unsampled(struct panthor_perf_sampler *sampler, bool protected)
{
	mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON |
			     DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE |
			     PANTHOR_PERF_STATE_POWER_UNKNOWN |
			     (protected ? DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED :
					  DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL));
}

/*
 * Begins the period of the next sample. Where firmware does not count, its first
 * moment is one in which counters are disabled, even if they are enabled later on.
 */
static void begin_period(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	client->start = sampler->time;
	client->flags = sampler->loss_possible ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : 0;
	if (sampler->state == PANTHOR_PERF_SAMPLER_DOWN ||
	    sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		panthor_perf_accum_add_states(sampler->layout, off_states(sampler), client->accum);
}

/* Checks if more than one multiple of its period, from START on, lies in a client's next sample. */
static bool is_stretched(const struct panthor_perf_client *client, u64 end_ns)
{
	u64 period_ns = READ_ONCE(client->period_ns), first;

	/* Two multiples are a period apart. */
	if (!period_ns || end_ns - client->start.ns <= period_ns)
		return false;

	first = panthor_perf_clock_deadline(client->begun_ns, period_ns, client->start.ns);
	return end_ns >= first + period_ns;
}

/*
 * Delivers the next sample of a client, to which a slot was promised, and begins a period.
 * @fw_sample is the firmware sample that is shared out, if it was not added to the client's
 * accumulator.
 */
static void deliver_sample(struct panthor_perf_sampler *sampler,
			   struct panthor_perf_client *client,
			   const struct panthor_perf_fw_sample *fw_sample, u64 user_data)
{
	const struct panthor_perf_time *start = &client->start, *end = &sampler->time;
	struct panthor_perf_sample_info info = {
		.start_ns = start->ns,
		.end_ns = end->ns,
		.gpu_timestamp = end->gpu,
		.user_data = user_data,
		.flags = client->flags,
		.block_set = client->block_set,
	};
	u32 flags, i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		info.cycles[i] = end->cycles[i] - start->cycles[i];

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_ERROR;
	if (is_stretched(client, end->ns))
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;

	flags = client->ops->deliver(client, fw_sample, &info);
	trace_panthor_perf_delivery(client->id, sampler->fw->epoch, sampler->fw->extract,
				    user_data, info.end_ns, flags);
	client->samples++;
	begin_period(sampler, client);
}

/* Promises a sample to a client that has a ring, if there is a slot for it. */
static bool promise_sample(struct panthor_perf_client *client)
{
	lockdep_assert_held(&client->sampler->req_lock);

	if (client->ops->free_slots(client) <= client->promised)
		return false;

	client->promised++;
	return true;
}

/*
 * Delivers a sample that no command asked for. If no slot is free, its counts become
 * a part of the next sample: @fw_sample has to be added to the accumulator, and false
 * is returned.
 */
static bool deliver_unasked(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_client *client,
			    const struct panthor_perf_fw_sample *fw_sample)
{
	bool promised = !client->ops->free_slots;

	if (!promised) {
		spin_lock(&sampler->req_lock);
		promised = promise_sample(client);
		spin_unlock(&sampler->req_lock);
	}
	if (promised)
		deliver_sample(sampler, client, fw_sample, client->start_data);
	return promised;
}

/* The GPU has come or gone: tells the clients that want to know, by a sample that ends now. */
static void deliver_power(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;

	list_for_each_entry(client, &sampler->clients, node)
		if (client->power_samples && client_counts(client)) {
			deliver_unasked(sampler, client, NULL);
			scoped_guard(spinlock, &sampler->req_lock)
				if (has_deadlines(client))
					arm_period(client, ktime_get_raw_ns());
		}
}

/* The client counts from now on: the sampler's time is that of its baseline. */
static void begin_client(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	panthor_perf_accum_reset(client->accum);
	begin_period(sampler, client);
	client->begun_ns = client->start.ns;
	client->samples = 0;
	trace_panthor_perf_baseline(client->id, sampler->fw->epoch, sampler->fw->extract,
				    client->start_data, client->start.ns);

	spin_lock(&sampler->req_lock);
	set_client_state(sampler, client, PANTHOR_PERF_CLIENT_STARTED);
	if (has_deadlines(client))
		arm_period(client, ktime_get_raw_ns());
	spin_unlock(&sampler->req_lock);
	if (client->power_samples)
		deliver_unasked(sampler, client, NULL);
	wake_up_all(&client->start_wait);
}

/* The client counts no longer, and what it has requested is forgotten. */
static void end_client(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		       enum panthor_perf_client_state state, int start_ret)
{
	client->start_ret = start_ret;

	spin_lock(&sampler->req_lock);
	set_client_state(sampler, client, state);
	client->head = client->tail;
	WRITE_ONCE(client->due, false);
	spin_unlock(&sampler->req_lock);
	list_del_init(&client->node);
	wake_up_all(&client->start_wait);
	update_needed(sampler);
}

/*
 * Returns how many of the requests that firmware request @gen completes are delivered in this
 * pass: the first, which has the counts, and more as far as the budget goes. The rest waits
 * for the next pass, or for the next batch of limited clients.
 */
static u32 take_portion(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
			u32 gen)
{
	u32 num = 0;

	lockdep_assert_held(&sampler->req_lock);

	while (request_complete(sampler, client, client->head + num, gen)) {
		if (num && !sampler->budget) {
			if (client->limited)
				sampler->limited.waiting = true;
			else
				sampler->rest = true;
			break;
		}
		if (num++)
			sampler->budget--;
	}

	return num;
}

/*
 * Delivers the samples of a client that firmware request @gen completes, as far as the budget
 * goes. Returns NULL if @fw_sample was delivered, and @fw_sample if it has to be added to the
 * accumulator. An @automatic sample was to be one of its own.
 */
static const struct panthor_perf_fw_sample *
complete_client(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		u32 gen, const struct panthor_perf_fw_sample *fw_sample, bool automatic)
{
	u32 mask = client->queue_mask, next, end;
	bool due;

	/* What it completes was asked for before it was made, under a lock that was held since. */
	if (client->head == READ_ONCE(client->tail) && !READ_ONCE(client->due))
		return fw_sample;

	spin_lock(&sampler->req_lock);
	due = due_complete(sampler, client, gen);
	if (due)
		WRITE_ONCE(client->due, false);
	next = client->head;
	end = next + take_portion(sampler, client, gen);
	/* Nothing is written over: what is promised, in the queue or not, has room in it. */
	client->head = end;
	spin_unlock(&sampler->req_lock);

	/* The sample of STOP ends the same period: the other one would be empty. */
	if (due && (next == end || !client->queue[next & mask].last)) {
		if (deliver_unasked(sampler, client, fw_sample))
			fw_sample = NULL;
		else if (automatic && client->emit_auto)
			client->flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
	}

	for (; next != end; next++) {
		struct panthor_perf_request req = client->queue[next & mask];

		/* Before a user who sees the sample of STOP may call START. */
		if (req.last)
			end_client(sampler, client, PANTHOR_PERF_CLIENT_STOPPED, 0);
		deliver_sample(sampler, client, fw_sample, req.user_data);
		fw_sample = NULL;
	}

	return fw_sample;
}

static void check_later(struct panthor_perf_sampler *sampler)
{
	queue_delayed_work(sampler->wq, &sampler->check_work, CHECK_INTERVAL);
}

/*
 * Takes note of what came of a call to firmware. Returns -EAGAIN if it failed in
 * protected mode, in which firmware does nothing: it will be tried again. That is so
 * if there was protected mode before the call as well, as @protected says: firmware
 * may have had hardly any time to answer since it has ended.
 */
static int note_result(struct panthor_perf_sampler *sampler, bool protected, int ret)
{
	if (!ret)
		return 0;

	if (protected || in_protected_mode(sampler))
		return -EAGAIN;

	sampler->failures++;
	return ret;
}

/*
 * Asks for a reset of the GPU if firmware has failed, as note_result() says. If the
 * last resets did not help, another one would not either: START can be called any
 * number of times, and a reset ends the work of everybody.
 */
static void reset_if_failed(struct panthor_perf_sampler *sampler, int ret, const char *why)
{
	if (ret && ret != -EAGAIN && sampler->failures <= MAX_FAILURES)
		sampler->reset_asked |= sampler->reset(sampler, why);
}

/* The check does not try any more what has failed so often: only boot and START do. */
static bool given_up(const struct panthor_perf_sampler *sampler)
{
	return sampler->failures >= MAX_FAILURES;
}

/*
 * Has firmware count. What it has counted before is not a part of any sample; what it
 * counts from here on is added to all clients that count.
 */
static int enable_counters(struct panthor_perf_sampler *sampler)
{
	bool protected = in_protected_mode(sampler);
	int ret = panthor_perf_fw_enable(sampler->fw, sampler->set);

	/* Protected mode has ended meanwhile, and may have left no time to answer. */
	if (ret && protected && !in_protected_mode(sampler)) {
		protected = false;
		ret = panthor_perf_fw_enable(sampler->fw, sampler->set);
	}

	ret = note_result(sampler, protected, ret);
	check_later(sampler);
	sampler->retry = ret == -EAGAIN;
	if (ret)
		return ret;

	/* This has set COUNTER_EN. */
	panthor_perf_clock_sync(sampler->clock);
	sampler->prev_reason = PANTHOR_PERF_REASON_REQUEST;
	set_state(sampler, PANTHOR_PERF_SAMPLER_COUNTING);
	return 0;
}

/* Has firmware count no longer. */
static int disable_counters(struct panthor_perf_sampler *sampler)
{
	bool protected = in_protected_mode(sampler);

	return note_result(sampler, protected, panthor_perf_fw_disable(sampler->fw));
}

/* Has firmware count no longer, and clocks neither, if there is no client any more. */
static void disable_if_unused(struct panthor_perf_sampler *sampler)
{
	if (!list_empty(&sampler->clients))
		return;

	forget_batches(sampler);
	panthor_perf_clock_down(sampler->clock);
	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
		reset_if_failed(sampler, disable_counters(sampler),
				"firmware does not disable them");
	} else if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
	}
}

/*
 * Checks if a client gets a sample of its own of an automatic one: not if that completes
 * what is delivered anyway, nor after STOP.
 */
static bool wants_automatic(struct panthor_perf_sampler *sampler,
			    const struct panthor_perf_client *client, bool answer, u32 gen)
{
	if (!client->emit_auto)
		return false;

	guard(spinlock)(&sampler->req_lock);

	return client->state == PANTHOR_PERF_CLIENT_STARTED &&
	       !(answer && (request_complete(sampler, client, client->head, gen) ||
			    due_complete(sampler, client, gen)));
}

/*
 * Checks if a client may see an automatic sample. All limited ones may, or none, so that
 * they cannot tell by each other when it was taken: @limited says so if it is not negative.
 */
static bool may_see_automatic(struct panthor_perf_sampler *sampler,
			      const struct panthor_perf_client *client, int *limited)
{
	if (!client->limited)
		return true;

	if (*limited < 0)
		*limited = limited_may_see(sampler);
	return *limited;
}

/*
 * Gives each client its part of a firmware sample, which may be NULL, and completes
 * what firmware request @gen completes if @fw_sample is its @answer. An @automatic
 * sample is delivered to those who want such samples.
 */
static void serve_clients(struct panthor_perf_sampler *sampler,
			  const struct panthor_perf_fw_sample *fw_sample,
			  bool answer, u32 gen, bool automatic)
{
	struct panthor_perf_client *client, *tmp;
	int limited = -1;

	lockdep_assert_held(&sampler->lock);

	if (answer) {
		sampler->complete_gen = gen;
		sampler->rest = false;
		sampler->budget = MAX_MORE_REQUESTS;
	}

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		const struct panthor_perf_fw_sample *mine = fw_sample;

		if (!client_counts(client)) {
			/* Its baseline: what is in the sample was counted before. */
			if (answer && baseline_complete(sampler, client, gen))
				begin_client(sampler, client);
			continue;
		}

		if (automatic && wants_automatic(sampler, client, answer, gen) &&
		    may_see_automatic(sampler, client, &limited)) {
			if (deliver_unasked(sampler, client, mine))
				mine = NULL;
			else
				client->flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
		}

		if (answer)
			mine = complete_client(sampler, client, gen, mine, automatic);
		if (mine)
			panthor_perf_accum_add(sampler->layout, mine, client->accum);
	}

	if (!answer)
		return;

	complete_batch(sampler, gen);
	if (sampler->rest)
		queue_work(sampler->wq, &sampler->drain_work);
}

/* While nothing is counted: completes all requests but those that limited clients wait for. */
static void complete_now(struct panthor_perf_sampler *sampler)
{
	u32 gen;

	lockdep_assert_held(&sampler->lock);

	/*
	 * The number is taken before the time: a request that comes in between
	 * has the next number, and so does not end before it was made.
	 */
	spin_lock(&sampler->req_lock);
	gen = sampler->next_gen++;
	WRITE_ONCE(sampler->wanted, false);
	spin_unlock(&sampler->req_lock);

	set_time_now(sampler);
	mark_states(sampler, off_states(sampler));
	serve_clients(sampler, NULL, true, gen, false);
	disable_if_unused(sampler);
}

/* What a drain of the firmware ring knows of the firmware request, from when it began. */
struct drain {
	/* Number of the firmware request, and when it was made, in CLOCK_MONOTONIC_RAW. */
	u32 gen;
	u64 made_ns;

	/* It was in flight. */
	bool made;

	/*
	 * Firmware had acknowledged it: its sample is in the ring, was drained, or there is
	 * none, since nothing is counted.
	 */
	bool acked;

	/* Its sample has been found. */
	bool told;

	/* OVERFLOW was raised. */
	bool overflowed;

	/* Number of samples in the firmware ring. */
	int pending;
};

/*
 * Looks at the firmware request and at the ring: the request's sample is in the ring if
 * ACK, read before INSERT, says so. No request is made in between, so that the sample of
 * a later one is not found without it. Returns false if INSERT makes no sense.
 */
static bool look_at_ring(struct panthor_perf_sampler *sampler, struct drain *drain)
{
	spin_lock(&sampler->req_lock);
	drain->gen = sampler->flight_gen;
	drain->made_ns = sampler->flight_ns;
	drain->made = sampler->in_flight;
	drain->acked = drain->made && panthor_perf_fw_acked(sampler->fw);
	drain->pending = panthor_perf_fw_pending(sampler->fw);
	spin_unlock(&sampler->req_lock);
	return drain->pending >= 0;
}

/*
 * Checks if the GPU is in protected mode, for samples that have no metadata to tell. The end of
 * protected mode has a sample of its own.
 */
static bool sees_protected(struct panthor_perf_sampler *sampler, int pending)
{
	if (sampler->layout->has_metadata || !mcu_runs(sampler->state))
		return false;

	/* The last drain has found it, and no sample has ended it: no register need be read. */
	if (!pending && sampler->prev_reason == PANTHOR_PERF_REASON_PROTECTED)
		return false;

	return in_protected_mode(sampler);
}

/*
 * Looks at OVERFLOW. Called after INSERT was read, see (B) in panthor_perf_fw.c: what
 * firmware had no room for before one of these samples, it has told of by now.
 */
static void look_at_overflow(struct panthor_perf_sampler *sampler, struct drain *drain)
{
	drain->overflowed = panthor_perf_fw_overflowed(sampler->fw);
	sampler->loss_possible |= drain->overflowed;
	if (sampler->loss_possible)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
}

/* When a firmware sample was taken, seen from the firmware request. */
enum sample_age {
	/* It does not tell: its time is that of the drain. */
	SAMPLE_AGE_UNKNOWN,
	SAMPLE_AGE_BEFORE,
	SAMPLE_AGE_SINCE,
};

/* Moves the sampler's time on to that of the firmware sample. */
static enum sample_age take_time(struct panthor_perf_sampler *sampler, const struct drain *drain)
{
	const struct panthor_perf_fw_sample *sample = sampler->sample;
	u64 ns;

	if (!sample->has_timestamp) {
		set_time_now(sampler);
		return SAMPLE_AGE_UNKNOWN;
	}

	ns = panthor_perf_clock_at(sampler->clock, sample->timestamp, &sampler->time);
	if (!ns)
		return SAMPLE_AGE_UNKNOWN;

	return ns < drain->made_ns ? SAMPLE_AGE_BEFORE : SAMPLE_AGE_SINCE;
}

/* Firmware has answered the request: it works, and has seen what was rung for before. */
static void note_answer(struct panthor_perf_sampler *sampler, struct drain *drain)
{
	drain->told = true;
	sampler->failures = 0;

	spin_lock(&sampler->req_lock);
	if (sampler->flight_since_ack && !drain->overflowed)
		sampler->loss_possible = false;
	WRITE_ONCE(sampler->in_flight, false);
	spin_unlock(&sampler->req_lock);
}

/* What a firmware sample is. */
enum sample_kind {
	/* Its counts become a part of the answer to a request that is not acknowledged so far. */
	SAMPLE_PART,

	/* The answer to the request. */
	SAMPLE_ANSWER,

	/* One that firmware took of its own accord. */
	SAMPLE_AUTOMATIC,

	/* The same, but it completes the request all the same. */
	SAMPLE_AUTOMATIC_ANSWER,
};

/*
 * If firmware has acknowledged the request, its answer is
 *
 * - with metadata, the first sample since the request was made that was requested, or that
 *   was taken because of protected mode, which also completes what was requested;
 * - in any case the last one in the ring, if there was none before it. Automatic
 *   samples without metadata cannot be told from the answer.
 *
 * The sample that is taken before shader cores lose power has the reason of a request, so
 * that it may look like an answer.
 */
static enum sample_kind classify_sample(const struct panthor_perf_sampler *sampler,
					const struct drain *drain, enum sample_age age, bool last)
{
	bool requested = sampler->sample->reason == PANTHOR_PERF_REASON_REQUEST;
	bool completes = requested || sampler->sample->reason == PANTHOR_PERF_REASON_PROTECTED;
	bool has_metadata = sampler->layout->has_metadata;

	if (!drain->made || drain->told)
		return SAMPLE_AUTOMATIC;

	if (drain->acked &&
	    (last || (has_metadata && completes && age == SAMPLE_AGE_SINCE)))
		return requested ? SAMPLE_ANSWER : SAMPLE_AUTOMATIC_ANSWER;

	if (requested && age != SAMPLE_AGE_BEFORE && (has_metadata || last))
		return SAMPLE_PART;

	return SAMPLE_AUTOMATIC;
}

/*
 * Takes the oldest sample out of the firmware ring, and gives each client its part. Returns
 * false, and leaves the sample in the ring, if INSERT makes no sense any more.
 */
static bool take_sample(struct panthor_perf_sampler *sampler, struct drain *drain, bool last,
			bool protected)
{
	struct panthor_perf_fw_sample *sample = sampler->sample;
	enum sample_kind kind;
	enum sample_age age;
	bool answer;

	panthor_perf_fw_sample_read(sampler->layout, panthor_perf_fw_slot(sampler->fw),
				    sampler->needed, sample);
	if (panthor_perf_fw_overwritten(sampler->fw)) {
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		return false;
	}
	panthor_perf_fw_consume(sampler->fw);
	sampler->stats.samples++;

	/* The CSHW block always has power: without it, the sample was not complete. */
	if (sample->missing && sampler->set == DRM_PANTHOR_PERF_SET_PRIMARY)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	if (protected && last && sample->reason != PANTHOR_PERF_REASON_PROTECTED_END)
		sample->reason = PANTHOR_PERF_REASON_PROTECTED;

	age = take_time(sampler, drain);
	kind = classify_sample(sampler, drain, age, last);
	answer = kind == SAMPLE_ANSWER || kind == SAMPLE_AUTOMATIC_ANSWER;

	/* No sample of a client ends before it was requested. Nothing was counted since. */
	if (answer && age == SAMPLE_AGE_BEFORE)
		set_time_now(sampler);

	panthor_perf_fw_sample_states(sampler->layout, sampler->set, sampler->prev_reason, sample);
	sampler->prev_reason = sample->reason;
	trace_panthor_perf_fw_sample(sampler->fw->epoch, sampler->fw->extract,
				     sample->timestamp, sample->reason);

	if (answer)
		note_answer(sampler, drain);
	serve_clients(sampler, sample, answer, drain->gen,
		      kind == SAMPLE_AUTOMATIC || kind == SAMPLE_AUTOMATIC_ANSWER);
	return true;
}

/*
 * Acknowledges events. Firmware raises an event again, at the doorbell that tells of the
 * acknowledgment, if what it is about lasts. So that this comes to an end, events are
 * acknowledged only if this drain has taken samples, or is @patient: one of the check, which
 * comes each 100 ms, or the one before the MCU is halted.
 */
static void rearm_events(struct panthor_perf_sampler *sampler, const struct drain *drain,
			 bool patient)
{
	struct panthor_perf_fw *fw = sampler->fw;

	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING)
		return;

	if ((patient || drain->pending) && panthor_perf_fw_rearm(fw, drain->overflowed)) {
		if (!drain->overflowed)
			return;

		sampler->stats.overflows++;
		scoped_guard(spinlock, &sampler->req_lock)
			sampler->flight_since_ack = false;
		return;
	}

	/*
	 * A request that has found the ring full is tried again at a doorbell.
	 * Firmware may not have raised OVERFLOW for it, if it had done so before
	 * and nothing was drained since. No acknowledgment has rung then.
	 */
	if (patient && drain->made && !drain->acked)
		fw->ops->ring_doorbell(fw);
}

/*
 * Drains the firmware ring, and completes the requests that are answered. Returns
 * false if INSERT makes no sense, where it stops at the sample of which that is found,
 * and false without doing anything if there are more samples than @limit.
 */
static bool drain_ring(struct panthor_perf_sampler *sampler, bool patient, u32 limit)
{
	struct drain drain = {};
	bool protected;
	int i;

	lockdep_assert_held(&sampler->lock);

	if (!look_at_ring(sampler, &drain))
		return false;

	/* Firmware takes a sample before protected mode begins: it is there by now. */
	protected = sees_protected(sampler, drain.pending);
	if (protected && !look_at_ring(sampler, &drain))
		return false;
	if (drain.pending > limit)
		return false;

	look_at_overflow(sampler, &drain);
	sampler->stats.max_pending = max_t(u32, sampler->stats.max_pending, drain.pending);

	/* The time of each sample is told from this one, which is later. */
	if (drain.pending)
		panthor_perf_clock_pair(sampler->clock);

	for (i = 0; i < drain.pending; i++)
		if (!take_sample(sampler, &drain, i == drain.pending - 1, protected))
			return false;

	/* The sample before protected mode was drained before the mode could be seen. */
	if (protected && !drain.pending) {
		sampler->prev_reason = PANTHOR_PERF_REASON_PROTECTED;
		mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED);
	}

	/* So was the answer: before it was acknowledged, or even before the request was made. */
	if (drain.acked && !drain.told) {
		if (sampler->time.ns < drain.made_ns)
			set_time_now(sampler);
		note_answer(sampler, &drain);
		serve_clients(sampler, NULL, true, drain.gen, false);
	}

	rearm_events(sampler, &drain, patient);

	/* What is wanted from now on is made by who wants it. */
	if (READ_ONCE(sampler->wanted)) {
		spin_lock(&sampler->req_lock);
		make_request(sampler);
		spin_unlock(&sampler->req_lock);
	}
	return true;
}

/*
 * Ends with @ret those STARTs that wait for a firmware request up to @gen, or @all of them.
 * Returns true if there was one.
 */
static bool fail_starting(struct panthor_perf_sampler *sampler, bool all, u32 gen, int ret)
{
	struct panthor_perf_client *client, *tmp;
	bool any = false;

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		if (all ? client->state != PANTHOR_PERF_CLIENT_STARTING :
			  !baseline_complete(sampler, client, gen))
			continue;
		end_client(sampler, client, PANTHOR_PERF_CLIENT_STOPPED, ret);
		any = true;
	}

	return any;
}

/*
 * Disables and enables counters, after which firmware begins anew. What is in the ring is
 * not lost, but what was counted since is. All requests are complete. The period in which
 * counters are disabled is flagged, and the one after it as well, since it begins before
 * they are enabled. If firmware does not disable them, samples have the flag ERROR whatever
 * @flags is, and all STARTs fail. If it does, and then does not enable them, STARTs succeed:
 * their samples have @flags.
 *
 * The GPU is reset if that does not help, or if firmware has @failed whether it does or
 * not. If it has failed so too often, counters stay disabled.
 */
static void recover_firmware(struct panthor_perf_sampler *sampler, u32 flags, bool failed,
			     const char *why)
{
	bool again = !failed || !given_up(sampler), loss_possible = sampler->loss_possible;
	int ret;

	sampler->stats.restarts++;
	set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);
	ret = disable_counters(sampler);
	if (ret && ret != -EAGAIN) {
		flags |= DRM_PANTHOR_PERF_SAMPLE_ERROR;
		fail_starting(sampler, true, 0, ret);
	}
	/* The ring's samples were counted before. They know of a loss, who starts next does not. */
	sampler->loss_possible = loss_possible;
	sampler->stats.overflows += panthor_perf_fw_overflowed(sampler->fw);
	drain_ring(sampler, false, sampler->fw->slots);
	sampler->loss_possible = false;
	mark_lost(sampler, flags);
	mark_unsampled(sampler, in_protected_mode(sampler));
	complete_now(sampler);

	if (!ret && again && !list_empty(&sampler->clients)) {
		ret = enable_counters(sampler);
		mark_lost(sampler, flags);
	}
	if (!ret && failed) {
		sampler->failures++;
		ret = -EIO;
	}
	reset_if_failed(sampler, ret, why);
}

/*
 * Drains while firmware counts. INSERT that makes no sense is 0 when counters are enabled
 * again. If it makes none once more before firmware has answered a request, firmware has
 * failed. Not called by the interrupt thread, since it may wait for firmware.
 */
static void drain_counting(struct panthor_perf_sampler *sampler, bool patient)
{
	if (!drain_ring(sampler, patient, sampler->fw->slots)) {
		recover_firmware(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR, sampler->failures > 0,
				 "INSERT of firmware is out of range");
		sampler->failures = max(sampler->failures, 1u);
	}

	disable_if_unused(sampler);
}

static void drain_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, drain_work);
	u32 gen;

	guard(mutex)(&sampler->lock);

	switch (sampler->state) {
	case PANTHOR_PERF_SAMPLER_COUNTING:
		gen = sampler->complete_gen;
		drain_counting(sampler, false);
		/* An answer that was found has been a pass of its own. */
		if (sampler->rest && sampler->complete_gen == gen) {
			serve_clients(sampler, NULL, true, gen, false);
			disable_if_unused(sampler);
		}
		break;
	case PANTHOR_PERF_SAMPLER_FAILED:
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		complete_now(sampler);
		break;
	case PANTHOR_PERF_SAMPLER_DOWN:
		complete_now(sampler);
		break;
	case PANTHOR_PERF_SAMPLER_CLOSING:
	case PANTHOR_PERF_SAMPLER_IDLE:
	case PANTHOR_PERF_SAMPLER_GONE:
		break;
	}
}

/* The firmware request has not been answered in time. */
static void request_timed_out(struct panthor_perf_sampler *sampler)
{
	bool full = sampler->loss_possible || panthor_perf_fw_overflowed(sampler->fw);
	u32 flags = full ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : DRM_PANTHOR_PERF_SAMPLE_ERROR;
	/*
	 * START fails if this request was to be its baseline, but not if a later
	 * one is. A full ring is no failure of firmware, and neither are counters
	 * that can be enabled again, but a START that fails is one: programs may
	 * repeat it without end.
	 */
	bool failed = !full && fail_starting(sampler, false, sampler->flight_gen, -ETIMEDOUT);

	recover_firmware(sampler, flags, failed, "firmware does not answer");
}

/* Has firmware count that should and does not. */
static void check_failed(struct panthor_perf_sampler *sampler)
{
	if (given_up(sampler) && !sampler->retry)
		return;

	/* Counters cannot be enabled in protected mode. */
	if (in_protected_mode(sampler)) {
		check_later(sampler);
		return;
	}

	mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	reset_if_failed(sampler, enable_counters(sampler), "firmware does not enable them");
}

/* Looks for answers that are late or that nobody has told of, and for counters near their top. */
static void check_counting(struct panthor_perf_sampler *sampler)
{
	u32 extract = sampler->check_extract;
	bool late = false, protected;
	u64 now;

	/*
	 * These are read before the ring is drained: a request is not late if its
	 * answer is found then, however long the drain takes.
	 */
	now = ktime_get_raw_ns();
	protected = in_protected_mode(sampler);
	drain_counting(sampler, true);
	sampler->check_extract = sampler->fw->extract;
	if (!list_empty(&sampler->clients))
		check_later(sampler);
	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING)
		return;

	/* The drain may have found a sample, and made a request, later than @now. */
	scoped_guard(spinlock, &sampler->req_lock) {
		if (!sampler->in_flight) {
			/* Only the answer to a request tells that nothing is lost any more. */
			if ((s64)(now - sampler->time.ns) >= SATURATION_NS ||
			    (sampler->loss_possible &&
			     (s64)(now - sampler->flight_ns) >= SATURATION_NS))
				want_request(sampler);
		} else if (protected) {
			sampler->answer_ns = now;
		} else if ((s64)(now - sampler->answer_ns) >= ACK_TIMEOUT_NS) {
			/*
			 * If samples have been drained since the last check, that may
			 * have made room in a ring that was full: firmware can answer
			 * now, if it did not have all of that time twice over.
			 */
			late = extract == sampler->check_extract ||
			       (s64)(now - sampler->flight_ns) >= 2 * ACK_TIMEOUT_NS;
		}
	}

	if (late)
		request_timed_out(sampler);
}

static void check_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(to_delayed_work(work), struct panthor_perf_sampler, check_work);

	guard(mutex)(&sampler->lock);

	if (list_empty(&sampler->clients))
		return;

	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING)
		check_counting(sampler);
	else if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		check_failed(sampler);
}

/*
 * Initializes a sampler, zeroed but for the pointers to firmware, layout, clock and reset. Its
 * state is DOWN. Returns -ENOMEM if there is no memory.
 */
int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler)
{
	mutex_init(&sampler->start_lock);
	mutex_init(&sampler->lock);
	spin_lock_init(&sampler->req_lock);
	INIT_LIST_HEAD(&sampler->clients);
	INIT_WORK(&sampler->drain_work, drain_work);
	INIT_DELAYED_WORK(&sampler->check_work, check_work);
	INIT_WORK(&sampler->limited.work, limited_work);
	hrtimer_setup(&sampler->limited.timer, limited_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);

	sampler->sample = kvzalloc(panthor_perf_fw_sample_size(sampler->layout), GFP_KERNEL);
	if (!sampler->sample)
		return -ENOMEM;

	sampler->wq = alloc_workqueue("panthor-perf", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!sampler->wq) {
		kvfree(sampler->sample);
		return -ENOMEM;
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_init);

/* Frees what a sampler holds, which has no clients and is unplugged. */
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler)
{
	destroy_workqueue(sampler->wq);
	kvfree(sampler->sample);
	mutex_destroy(&sampler->lock);
	mutex_destroy(&sampler->start_lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_fini);

/* Initializes a client of @sampler, zeroed but for its constant members, accumulator and queue. */
void panthor_perf_client_init(struct panthor_perf_client *client,
			      struct panthor_perf_sampler *sampler)
{
	client->sampler = sampler;
	INIT_LIST_HEAD(&client->node);
	init_waitqueue_head(&client->start_wait);
	INIT_WORK(&client->due_work, due_work);
	hrtimer_setup(&client->timer, period_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	if (!client->start_timeout)
		client->start_timeout = MAX_SCHEDULE_TIMEOUT;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_client_init);

/* Ends what a client that is not started any more may have under way. Sleeps. */
void panthor_perf_client_fini(struct panthor_perf_client *client)
{
	/* The timer queues the work, which does not set the timer again. */
	hrtimer_cancel(&client->timer);
	cancel_work_sync(&client->due_work);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_client_fini);

/* Checks if a client can be started. Returns 0 or what START returns. */
static int check_start(const struct panthor_perf_sampler *sampler,
		       struct panthor_perf_client *client)
{
	lockdep_assert_held(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return -ENODEV;

	if (client->state == PANTHOR_PERF_CLIENT_REMOVED)
		return -ENOENT;

	/* A slot is promised to the sample of STOP. */
	if (client->state != PANTHOR_PERF_CLIENT_STOPPED ||
	    (client->ops->free_slots && !client->ops->free_slots(client)))
		return -EBUSY;

	/* The first client chooses the set, which stays until the last one has stopped. */
	if (!list_empty(&sampler->clients) && sampler->set != client->block_set)
		return -EBUSY;

	return 0;
}

/*
 * Has firmware count that does not, because there was no client, or because it has failed.
 * Other clients have not counted up to now. That is said in the period that ends here, and
 * in the one that begins here, which has the rest of that time until counters are enabled.
 * They are enabled later if there is protected mode. Returns 0 or what START returns.
 */
static int start_counting(struct panthor_perf_sampler *sampler)
{
	int ret;

	lockdep_assert_held(&sampler->lock);

	if (!list_empty(&sampler->clients)) {
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		complete_now(sampler);
	}

	ret = enable_counters(sampler);
	mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	reset_if_failed(sampler, ret, "firmware does not enable them");
	if (ret == -EAGAIN && sampler->state == PANTHOR_PERF_SAMPLER_IDLE)
		set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);

	return ret == -EAGAIN ? 0 : ret;
}

/* Puts a client on the list, and takes its baseline or asks for it. */
static int start_client(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
			u64 user_data)
{
	int ret;

	lockdep_assert_held(&sampler->lock);

	/* The work that does this after the last client has stopped may not have run so far. */
	disable_if_unused(sampler);

	ret = check_start(sampler, client);
	if (ret)
		return ret;

	if (list_empty(&sampler->clients))
		sampler->set = client->block_set;

	if (sampler->state == PANTHOR_PERF_SAMPLER_IDLE ||
	    sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		ret = start_counting(sampler);
	if (ret)
		return ret;

	/* Its cycles are counted from now on, or from when the MCU boots. */
	if (list_empty(&sampler->clients) && mcu_runs(sampler->state) &&
	    sampler->state != PANTHOR_PERF_SAMPLER_CLOSING)
		panthor_perf_clock_up(sampler->clock, false, &sampler->time);

	client->start_data = user_data;
	client->start_ret = 0;
	client->promised = 1;
	list_add_tail(&client->node, &sampler->clients);
	update_needed(sampler);

	/* No sample is needed as a baseline: nothing is counted before the GPU is up. */
	if (sampler->state == PANTHOR_PERF_SAMPLER_DOWN && !client->limited) {
		set_time_now(sampler);
		begin_client(sampler, client);
		return 0;
	}

	spin_lock(&sampler->req_lock);
	set_client_state(sampler, client, PANTHOR_PERF_CLIENT_STARTING);
	client->start_number = ask_for_sample(sampler, client);
	spin_unlock(&sampler->req_lock);
	return 0;
}

/* Waits for the baseline of a client that was started. Returns what START returns. */
static int wait_for_baseline(struct panthor_perf_sampler *sampler,
			     struct panthor_perf_client *client)
{
	long left = wait_event_interruptible_timeout(client->start_wait,
						     READ_ONCE(client->state) !=
						     PANTHOR_PERF_CLIENT_STARTING,
						     client->start_timeout);

	guard(mutex)(&sampler->lock);

	if (client->state == PANTHOR_PERF_CLIENT_STARTING) {
		end_client(sampler, client, PANTHOR_PERF_CLIENT_STOPPED,
			   left < 0 ? left : -ETIMEDOUT);
		disable_if_unused(sampler);
	}

	return client->start_ret;
}

/*
 * Begins to count, and returns when counting has begun; @user_data is the tag of samples that
 * no command asks for. Sleeps interruptibly until a firmware request is answered, which may
 * last as long as protected mode, or for panthor_perf_client::start_timeout, and
 * uninterruptibly for up to 400 ms if firmware does not enable counters. START and STOP of a
 * client must come one after the other; it may be removed meanwhile.
 *
 * Returns 0, also if it had begun before, -EBUSY if the client is starting or stopping, if no
 * slot of its ring is free or if others count another set, -ETIMEDOUT if firmware did not
 * answer, -ENOENT or -ENODEV if client or device have gone, or -ERESTARTSYS if the caller has
 * a signal pending, and the client is as it was before.
 */
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	int ret = 0;

	if (mutex_lock_interruptible(&sampler->start_lock))
		return -ERESTARTSYS;

	scoped_guard(mutex, &sampler->lock)
		if (client->state != PANTHOR_PERF_CLIENT_STARTED)
			ret = start_client(sampler, client, user_data);
	mutex_unlock(&sampler->start_lock);

	return ret ?: wait_for_baseline(sampler, client);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_start);

/* Puts a request at the end of a client's queue, where there is room for it. */
static void queue_request(struct panthor_perf_sampler *sampler,
			  struct panthor_perf_client *client, u64 user_data, bool last)
{
	struct panthor_perf_request *req = &client->queue[client->tail & client->queue_mask];

	req->user_data = user_data;
	req->last = last;
	req->number = ask_for_sample(sampler, client);
	WRITE_ONCE(client->tail, client->tail + 1);
}

/* Checks if a client can request samples. Returns 0, -ENODEV or -EINVAL. */
static int check_request(const struct panthor_perf_sampler *sampler,
			 const struct panthor_perf_client *client)
{
	lockdep_assert_held(&sampler->req_lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return -ENODEV;

	return client->state == PANTHOR_PERF_CLIENT_STARTED ? 0 : -EINVAL;
}

/*
 * Requests a sample. Returns 0 if it is going to be delivered, -EINVAL if the client is not
 * counting, -EBUSY if no slot of its ring is free for it, or if the client is limited and
 * PANTHOR_PERF_LIMITED_REQUESTS are waiting, -ENODEV if the device has gone.
 */
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data)
{
	int ret;

	spin_lock(&sampler->req_lock);
	ret = check_request(sampler, client);
	if (!ret && ((client->limited &&
		      client->tail - client->head >= PANTHOR_PERF_LIMITED_REQUESTS) ||
		     !promise_sample(client)))
		ret = -EBUSY;
	if (!ret)
		queue_request(sampler, client, user_data, false);
	spin_unlock(&sampler->req_lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_request);

/* Checks if a request that is made now is complete with the client's latest one. */
static bool can_share(const struct panthor_perf_sampler *sampler,
		      const struct panthor_perf_client *client)
{
	return client->head != client->tail &&
	       client->queue[(client->tail - 1) & client->queue_mask].number ==
	       next_number(sampler, client);
}

/*
 * Requests a sample that has all that was counted up to this call, unless the client's latest
 * request is as good. All its requests are made by this function: it has no ring, and a queue
 * for four. @number receives the sample's user_data, which grows and is not 0. Returns 0,
 * -EINVAL if the client is not counting, or -ENODEV if the device has gone.
 */
int panthor_perf_sampler_share(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 *number)
{
	int ret;

	spin_lock(&sampler->req_lock);
	ret = check_request(sampler, client);
	if (!ret && !can_share(sampler, client))
		queue_request(sampler, client, ++client->shared, false);
	*number = client->shared;
	spin_unlock(&sampler->req_lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_share);

/*
 * Requests a last sample, with which the client stops. Returns false if the client was not
 * counting, so that nothing is going to be delivered.
 */
bool panthor_perf_sampler_stop(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	bool started;

	spin_lock(&sampler->req_lock);
	/* Unplug has given the client its last sample, or is about to. */
	started = client->state == PANTHOR_PERF_CLIENT_STARTED &&
		  sampler->state != PANTHOR_PERF_SAMPLER_GONE;
	if (started) {
		set_client_state(sampler, client, PANTHOR_PERF_CLIENT_STOPPING);
		queue_request(sampler, client, user_data, true);
	}
	spin_unlock(&sampler->req_lock);
	return started;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_stop);

/*
 * Forgets a client, in any state. None of its functions are called afterwards. Sleeps for up
 * to 100 ms if firmware does not disable counters when the last client is removed.
 */
void panthor_perf_sampler_remove(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client)
{
	guard(mutex)(&sampler->lock);

	end_client(sampler, client, PANTHOR_PERF_CLIENT_REMOVED, -ENOENT);
	disable_if_unused(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_remove);

/*
 * Enables or disables all counters of the blocks of a type, for a client that is not a session,
 * since users are told of enable masks. If it counts, the firmware sample that is taken next may
 * have what these blocks have counted before this call.
 */
void panthor_perf_sampler_enable(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u32 type, bool enable)
{
	guard(mutex)(&sampler->lock);

	panthor_perf_accum_enable(sampler->layout, type, enable, client->accum);
	update_needed(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_enable);

/*
 * Checks if there are few clients to give samples to, with few requests, and none that is about
 * to stop. What is requested from now on has the number of a later firmware request.
 */
static bool soon_served(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;
	u32 clients = 0, requests = 0;

	list_for_each_entry(client, &sampler->clients, node) {
		if (++clients > IRQ_MAX_CLIENTS ||
		    READ_ONCE(client->state) == PANTHOR_PERF_CLIENT_STOPPING)
			return false;
		requests += READ_ONCE(client->tail) - client->head;
	}

	return requests <= IRQ_MAX_REQUESTS && !sampler->rest;
}

/*
 * Drains in the interrupt thread, which saves the way to a work. Returns false if a
 * work has to do it, or the rest of it: because it takes long, because the last client
 * has stopped, so that counters are to be disabled, which waits for firmware, or because
 * the lock is held by somebody who may be waiting for firmware. Such a wait is ended by
 * this thread.
 */
static bool drain_in_irq(struct panthor_perf_sampler *sampler)
{
	bool done;

	if (!mutex_trylock(&sampler->lock))
		return false;

	/* A client may stop while its samples are drained: its STOP may be answered at once. */
	done = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING && soon_served(sampler) &&
	       drain_ring(sampler, false, IRQ_MAX_SAMPLES) && !list_empty(&sampler->clients);
	mutex_unlock(&sampler->lock);
	return done;
}

/*
 * Handles an interrupt of the global interface, in the interrupt thread. If the state changes
 * while it is read without a lock, it is read again with the lock held, here or in the work.
 */
void panthor_perf_sampler_irq(struct panthor_perf_sampler *sampler)
{
	if (READ_ONCE(sampler->state) == PANTHOR_PERF_SAMPLER_COUNTING &&
	    panthor_perf_fw_irq_pending(sampler->fw, READ_ONCE(sampler->in_flight)) &&
	    !drain_in_irq(sampler))
		queue_work(sampler->wq, &sampler->drain_work);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_irq);

/*
 * Makes no more firmware requests, since the MCU is about to be halted or reset. Requests that
 * come from now on are completed by panthor_perf_sampler_down(). If it is to @wait, which must not
 * be so if firmware is known not to answer, this sleeps up to 20 ms for the one in flight, or up
 * to 100 ms to disable counters if the last client has just stopped.
 */
void panthor_perf_sampler_close(struct panthor_perf_sampler *sampler, bool wait)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool counting, flying;

	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE ||
	    sampler->state == PANTHOR_PERF_SAMPLER_CLOSING)
		return;

	/* Acknowledges OVERFLOW, so that firmware can raise it for the sample it is to take. */
	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING && wait) {
		drain_ring(sampler, true, fw->slots);
		disable_if_unused(sampler);
	}

	/* Clients should have counted up to now. */
	if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);

	counting = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING;
	set_state(sampler, PANTHOR_PERF_SAMPLER_CLOSING);
	if (!counting)
		return;

	if (!wait) {
		sampler->halt_protected = in_protected_mode(sampler);
		return;
	}

	scoped_guard(spinlock, &sampler->req_lock)
		flying = sampler->in_flight;
	if (flying && !in_protected_mode(sampler))
		panthor_perf_fw_wait_sample(fw, CLOSE_TIMEOUT_MS);

	/* The sample that is taken when the MCU is halted finds a free slot after this. */
	drain_ring(sampler, false, fw->slots);
	sampler->halt_extract = fw->extract;

	/*
	 * No such sample is taken in protected mode. If protected mode begins
	 * after this look, a sample is taken then, which is as good.
	 */
	sampler->halt_protected = in_protected_mode(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_close);

/* Checks if nothing is counted after the last sample. */
static bool ends_counting(const struct panthor_perf_sampler *sampler)
{
	if (!sampler->layout->has_metadata)
		return sampler->prev_reason != PANTHOR_PERF_REASON_PROTECTED_END;

	switch (sampler->prev_reason) {
	case PANTHOR_PERF_REASON_PROTECTED:
	case PANTHOR_PERF_REASON_HALT:
	case PANTHOR_PERF_REASON_SLEEP:
	case PANTHOR_PERF_REASON_SUSPEND:
		return true;
	default:
		return false;
	}
}

/*
 * Drains what the MCU has left in the ring when it stopped, and finds out if counts
 * have been lost.
 */
static void drain_stopped(struct panthor_perf_sampler *sampler, bool forced)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool valid = drain_ring(sampler, false, fw->slots);
	bool sampled = fw->extract != sampler->halt_extract && ends_counting(sampler);
	bool overflowed = panthor_perf_fw_overflowed(fw);

	sampler->stats.overflows += overflowed;

	/*
	 * There should be a sample, of the halt or of protected mode before it.
	 * If there is none, it found no slot, and OVERFLOW says so or cannot say
	 * so; or there was protected mode all the time, which counts nothing.
	 */
	if (!forced && valid && sampled && !overflowed)
		return;

	if (forced || !valid)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	else if (sampler->loss_possible)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	else if (!sampler->halt_protected ||
		 sampler->prev_reason == PANTHOR_PERF_REASON_PROTECTED_END)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);

	mark_unsampled(sampler, sampler->halt_protected);
}

/*
 * The MCU has stopped, in good order, or @forced by a reset. Completes all requests with what
 * firmware has left in the ring.
 */
void panthor_perf_sampler_down(struct panthor_perf_sampler *sampler, bool forced)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool used;

	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return;

	/* A reset for another reason may have mended firmware: failures count anew. */
	if (forced && !sampler->reset_asked)
		sampler->failures = 0;
	sampler->reset_asked = false;

	used = !list_empty(&sampler->clients);
	if (fw->enabled)
		drain_stopped(sampler, forced);

	/* Also if nobody counts any more: firmware may have answered after it was given up on. */
	if (fw->ring)
		panthor_perf_fw_dead(fw);

	panthor_perf_clock_down(sampler->clock);
	set_state(sampler, PANTHOR_PERF_SAMPLER_DOWN);
	if (used) {
		complete_now(sampler);
		deliver_power(sampler);
	}
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_down);

/*
 * The MCU has booted. Returns when counters are enabled again, if some client is counting, so
 * that no work which is started afterwards goes uncounted; that takes up to 400 ms if firmware
 * does not answer. Without a client no register is touched, and no clock is looked at.
 */
void panthor_perf_sampler_up(struct panthor_perf_sampler *sampler)
{
	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return;

	if (list_empty(&sampler->clients)) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
		return;
	}

	panthor_perf_clock_up(sampler->clock, true, &sampler->time);

	/* Completes what was requested while nothing was counted. */
	complete_now(sampler);
	if (list_empty(&sampler->clients)) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
		return;
	}

	mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON);

	/* A reset cannot be asked for in a resume or a reset: check_failed() will do it. */
	if (enable_counters(sampler)) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	}

	/* The sampler's time is still that of before counters were enabled. */
	deliver_power(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_up);

/* Gives a client its last samples: those it was promised, or one if it was promised none. */
static void unplug_client(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	spin_lock(&sampler->req_lock);
	WRITE_ONCE(client->due, false);
	/* A slot of the client's ring is kept for the sample of STOP. */
	if (client->head == client->tail)
		queue_request(sampler, client, client->start_data, true);
	else
		client->queue[(client->tail - 1) & client->queue_mask].last = true;
	spin_unlock(&sampler->req_lock);

	/* The client is taken off the list with the last one. */
	sampler->budget = U32_MAX;
	complete_client(sampler, client, sampler->next_gen, NULL, false);
}

/*
 * The device has gone: all clients get what they were promised, or else one sample, and stop.
 * No work or timer of the sampler's own runs when this returns. Registers can be accessed if
 * the MCU runs.
 */
void panthor_perf_sampler_unplug(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client, *tmp;
	struct panthor_perf_fw *fw = sampler->fw;
	bool counting, running;

	mutex_lock(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING)
		drain_ring(sampler, false, fw->slots);

	counting = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING;
	running = mcu_runs(sampler->state) && sampler->state != PANTHOR_PERF_SAMPLER_CLOSING;
	set_state(sampler, PANTHOR_PERF_SAMPLER_GONE);
	if (counting)
		mark_unsampled(sampler, in_protected_mode(sampler));

	/* If firmware does not do that, the ring is there until the MCU has stopped. */
	if (running && fw->ring)
		panthor_perf_fw_disable(fw);

	fail_starting(sampler, true, 0, -ENODEV);
	mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	panthor_perf_clock_down(sampler->clock);
	set_time_now(sampler);
	mark_states(sampler, off_states(sampler));
	list_for_each_entry_safe(client, tmp, &sampler->clients, node)
		unplug_client(sampler, client);

	forget_batches(sampler);
	mutex_unlock(&sampler->lock);

	/* The interrupt thread may have read the state before, and queue the work after this. */
	disable_work_sync(&sampler->drain_work);
	disable_delayed_work_sync(&sampler->check_work);
	hrtimer_cancel(&sampler->limited.timer);
	cancel_work_sync(&sampler->limited.work);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_unplug);
