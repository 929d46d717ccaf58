// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: one firmware, many clients. */

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
 * Firmware has one set of counters, which it clears when it samples them. The
 * sampler makes of this as many independent sets of counters as there are
 * clients, by one rule: each firmware sample, whoever asked for it, is added to
 * the accumulators of all the clients that are counting, at once. A client's
 * sample is its accumulator as it is when the request is complete, so clients
 * can come, go and be late without any effect on each other.
 *
 * What a client asks for is numbered with the firmware request that is to be
 * made next. There is one request at a time: what comes while it is in flight
 * waits for the next one, and all that waits is served by it. A request that
 * has been made is never joined, since its sample may have been taken already.
 * A client begins to count when the request that is its baseline is complete.
 *
 *	     START, SAMPLE, STOP		interrupt
 *		    |				    |
 *	    requests, numbered		       drain_work
 *	    with next_gen   ---- req_lock ----	    |
 *		    |			    firmware samples, added
 *		 gate?	no: GPU is down,    to all accumulators
 *		    | yes   complete now	    |
 *	    firmware request		    requests up to flight_gen
 *	    flight_gen, doorbell	    complete, next request
 *
 * Without sessions there is no firmware ring, and nothing here does anything but
 * note whether the GPU is up.
 *
 * Nothing here holds a power reference. Suspend and resume tell when the GPU
 * goes and comes; between the two, no register is touched, and requests are
 * complete at once, because nothing is counted: the MCU takes a last sample
 * when it is halted.
 *
 * Clients of users without CAP_PERFMON are limited, see
 * &enum panthor_perf_limited_state: what they ask for is held, without a number,
 * until the time has come for all of them.
 *
 * Where counts are lost, which is when the GPU is reset and when firmware does
 * not answer, all clients that are counting flag their next sample. They do so
 * as well where a loss cannot be excluded. Firmware that finds the ring full
 * says so, but not what it had no room for: a request is tried again, and a
 * sample of its own accord is lost. It does not say when, either: the period in
 * progress is flagged, and if an answer is found at the same time, so that the
 * loss may be later than it, the period that begins with the answer too.
 */

/* How long a request may be in flight outside of protected mode. */
#define ACK_TIMEOUT_NS		(500 * NSEC_PER_MSEC)

/*
 * Counters saturate after half a second at the worst. They are sampled when
 * they have not been for this long, looked at this often.
 */
#define SATURATION_NS		(100 * NSEC_PER_MSEC)
#define CHECK_INTERVAL		msecs_to_jiffies(100)

/* How long suspend waits for a request. If it is not complete by then, the halt sample is. */
#define CLOSE_TIMEOUT_MS	20

/* How often in a row firmware may fail before it is left alone. */
#define MAX_FAILURES		3

static bool gen_complete(u32 gen, u32 complete)
{
	return (s32)(gen - complete) <= 0;
}

static bool client_counts(const struct panthor_perf_client *client)
{
	enum panthor_perf_client_state state = READ_ONCE(client->state);

	return state == PANTHOR_PERF_CLIENT_STARTED || state == PANTHOR_PERF_CLIENT_STOPPING;
}

static void set_state(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		      enum panthor_perf_client_state state)
{
	lockdep_assert_held(&sampler->req_lock);

	WRITE_ONCE(client->state, state);
}

/* Makes the next firmware request if it is wanted and can be made. */
static void kick(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	if (!sampler->gate || !sampler->want || sampler->in_flight)
		return;

	sampler->want = false;
	sampler->in_flight = true;
	sampler->flight_gen = sampler->next_gen++;
	sampler->flight_ns = ktime_get_raw_ns();
	sampler->stats.requests++;
	trace_panthor_perf_request(sampler->fw->epoch, sampler->flight_gen);
	panthor_perf_fw_request(sampler->fw);
}

/* A request has been queued: firmware, the worker or a hook has to complete it. */
static void requested(struct panthor_perf_sampler *sampler)
{
	lockdep_assert_held(&sampler->req_lock);

	sampler->want = true;
	if (sampler->gate)
		kick(sampler);
	else if (!sampler->closing)
		queue_work(sampler->wq, &sampler->drain_work);
}

/* Sets the timer to when limited clients may be served. */
static void arm_limited(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_limited *limited = &sampler->limited;
	u64 now = ktime_get_raw_ns();
	u64 delay = limited->not_before_ns > now ? limited->not_before_ns - now : 0;

	lockdep_assert_held(&sampler->req_lock);

	/* Timers expire in CLOCK_MONOTONIC, which may be slewed: the work looks again. */
	hrtimer_start(&limited->timer, ktime_add_ns(ktime_get(), delay), HRTIMER_MODE_ABS);
}

/*
 * Makes a request of a client a part of the next firmware request, whose number
 * goes to @gen. Returns false if the request has to be held, because the client
 * is limited and the time has not come.
 */
static bool ask(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client, u32 *gen)
{
	struct panthor_perf_limited *limited = &sampler->limited;

	lockdep_assert_held(&sampler->req_lock);

	/* Asking may make the request, after which there is another next one. */
	*gen = sampler->next_gen;
	if (!client->limited) {
		requested(sampler);
		return true;
	}

	switch (limited->state) {
	case PANTHOR_PERF_LIMITED_IDLE:
		if (ktime_get_raw_ns() >= limited->not_before_ns) {
			limited->state = PANTHOR_PERF_LIMITED_ASKED;
			limited->gen = sampler->next_gen;
			requested(sampler);
			return true;
		}
		limited->state = PANTHOR_PERF_LIMITED_WAITING;
		arm_limited(sampler);
		break;
	case PANTHOR_PERF_LIMITED_ASKED:
		if (limited->gen == sampler->next_gen)
			return true;
		limited->state = PANTHOR_PERF_LIMITED_ASKED_WAITING;
		break;
	case PANTHOR_PERF_LIMITED_WAITING:
	case PANTHOR_PERF_LIMITED_ASKED_WAITING:
		break;
	}

	return false;
}

/* Makes what is held of a client a part of firmware request @gen. */
static void release_held(struct panthor_perf_client *client, u32 gen)
{
	if (client->start_held) {
		client->start_held = false;
		client->start_gen = gen;
	}

	if (client->due_held) {
		client->due_held = false;
		client->due_gen = gen;
	}

	if (client->held) {
		client->held = 0;
		client->batch_gen = gen;
	}
}

/* Checks if the oldest request of a client is complete once request @gen is. */
static bool head_complete(const struct panthor_perf_client *client, u32 gen)
{
	if (client->tail - client->head == client->held)
		return false;

	return gen_complete(client->limited ? client->batch_gen :
			    client->queue[client->head & client->queue_mask].gen, gen);
}

static void limited_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, limited.work);
	struct panthor_perf_limited *limited = &sampler->limited;
	struct panthor_perf_client *client;

	guard(mutex)(&sampler->lock);

	spin_lock(&sampler->req_lock);
	if (limited->state != PANTHOR_PERF_LIMITED_WAITING || sampler->unplugged)
		goto out_unlock;

	if (ktime_get_raw_ns() < limited->not_before_ns) {
		arm_limited(sampler);
		goto out_unlock;
	}

	limited->state = PANTHOR_PERF_LIMITED_ASKED;
	limited->gen = sampler->next_gen;
	list_for_each_entry(client, &sampler->clients, node)
		release_held(client, limited->gen);
	requested(sampler);

out_unlock:
	spin_unlock(&sampler->req_lock);
}

static enum hrtimer_restart limited_expired(struct hrtimer *timer)
{
	struct panthor_perf_sampler *sampler =
		container_of(timer, struct panthor_perf_sampler, limited.timer);

	queue_work(sampler->wq, &sampler->limited.work);
	return HRTIMER_NORESTART;
}

/*
 * Request @gen is complete. What limited clients have been given was counted up
 * to some time before now, whatever firmware says of that time.
 */
static void limited_complete(struct panthor_perf_sampler *sampler, u32 gen)
{
	struct panthor_perf_limited *limited = &sampler->limited;

	spin_lock(&sampler->req_lock);
	switch (limited->state) {
	case PANTHOR_PERF_LIMITED_IDLE:
	case PANTHOR_PERF_LIMITED_WAITING:
		break;
	case PANTHOR_PERF_LIMITED_ASKED:
	case PANTHOR_PERF_LIMITED_ASKED_WAITING:
		if (!gen_complete(limited->gen, gen))
			break;
		limited->not_before_ns = ktime_get_raw_ns() + PANTHOR_PERF_LIMITED_NS;
		if (limited->state == PANTHOR_PERF_LIMITED_ASKED) {
			limited->state = PANTHOR_PERF_LIMITED_IDLE;
		} else {
			limited->state = PANTHOR_PERF_LIMITED_WAITING;
			arm_limited(sampler);
		}
		break;
	}
	spin_unlock(&sampler->req_lock);
}

/*
 * Checks if limited clients may see a sample of firmware's own accord, at the
 * sampler's time. If they may, the next millisecond begins. If anybody waits,
 * the sample goes into what they wait for.
 */
static bool limited_may_see(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_limited *limited = &sampler->limited;
	bool may;

	spin_lock(&sampler->req_lock);
	may = limited->state == PANTHOR_PERF_LIMITED_IDLE &&
	      sampler->time.ns >= limited->not_before_ns;
	if (may)
		limited->not_before_ns = ktime_get_raw_ns() + PANTHOR_PERF_LIMITED_NS;
	spin_unlock(&sampler->req_lock);
	return may;
}

static void set_gate(struct panthor_perf_sampler *sampler, bool gate)
{
	lockdep_assert_held(&sampler->lock);

	spin_lock(&sampler->req_lock);
	sampler->gate = gate;
	sampler->in_flight = false;
	sampler->idle_rearm = false;
	sampler->muted = false;
	trace_panthor_perf_state(sampler->up, gate);
	kick(sampler);
	spin_unlock(&sampler->req_lock);
}

/* Time does not go back, whatever firmware says. */
static void set_time(struct panthor_perf_sampler *sampler, const struct panthor_perf_time *time)
{
	if (time->ns > sampler->time.ns)
		sampler->time = *time;
}

static void set_time_now(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_time now;

	panthor_perf_clock_now(sampler->clock, &now);
	set_time(sampler, &now);
}

static void update_asked(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client;
	u32 w;

	memset(sampler->asked, 0, sizeof(sampler->asked));
	list_for_each_entry(client, &sampler->clients, node)
		for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++)
			sampler->asked[w] |= client->accum->enabled[w];
}

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

static void mark_states(struct panthor_perf_sampler *sampler, u8 states)
{
	struct panthor_perf_client *client;

	list_for_each_entry(client, &sampler->clients, node)
		if (client_counts(client))
			panthor_perf_accum_add_states(sampler->layout, states, client->accum);
}

/* States of all blocks while counters are disabled, or the MCU does not run. */
static u8 off_states(struct panthor_perf_sampler *sampler)
{
	u8 states = DRM_PANTHOR_PERF_BLOCK_STATE_OFF | DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;

	if (!sampler->up)
		return states | DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL;

	states |= PANTHOR_PERF_STATE_POWER_UNKNOWN;
	if (sampler->fw->ops->protected_mode(sampler->fw))
		return states | DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED;

	return states | DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL;
}

static void mark_off(struct panthor_perf_sampler *sampler)
{
	mark_states(sampler, off_states(sampler));
}

/* Counters were enabled up to now, and no sample tells of the last moments. */
static void mark_unsampled(struct panthor_perf_sampler *sampler, bool protected)
{
	mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON |
			     DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE |
			     PANTHOR_PERF_STATE_POWER_UNKNOWN |
			     (protected ? DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED :
					  DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL));
}

/* What is known of a period when it begins. */
static void begin_period(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	client->start = sampler->time;
	client->flags = sampler->drain_flags;
	if (!sampler->gate && !sampler->closing)
		panthor_perf_accum_add_states(sampler->layout, off_states(sampler), client->accum);
}

static void write_sample(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
			 u64 user_data)
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
	u32 i;

	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		info.cycles[i] = end->cycles[i] - start->cycles[i];

	if (client->accum->overflow)
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_OVERFLOW;
	if (sampler->unplugged)
		info.flags |= DRM_PANTHOR_PERF_SAMPLE_ERROR;

	client->ops->write(client, &info);
	trace_panthor_perf_delivery(client->id, sampler->fw->epoch, sampler->fw->extract,
				    user_data, info.end_ns, info.flags);
	client->samples++;
	begin_period(sampler, client);
}

static u32 promised(const struct panthor_perf_client *client)
{
	u32 count = client->tail - client->head;

	/* The last one has a slot of its own. */
	if (count && client->queue[(client->tail - 1) & client->queue_mask].last)
		count--;

	return count + client->unasked;
}

/* Delivers a sample that was not promised, if there is room, and folds it otherwise. */
static void deliver_unasked(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_client *client)
{
	u32 available;

	spin_lock(&sampler->req_lock);
	available = client->ops->available(client, promised(client));
	client->unasked = available;
	spin_unlock(&sampler->req_lock);

	if (!available) {
		client->flags |= DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
		client->ops->stretched(client);
		trace_panthor_perf_stretch(client->id);
		return;
	}

	write_sample(sampler, client, client->start_data);
	spin_lock(&sampler->req_lock);
	client->ops->publish(client);
	client->unasked = false;
	spin_unlock(&sampler->req_lock);
	client->ops->signal(client);
}

static void begin(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client)
{
	panthor_perf_accum_reset(client->accum);
	begin_period(sampler, client);
	client->begun_ns = client->start.ns;
	client->samples = 0;
	client->start_ret = 0;
	trace_panthor_perf_baseline(client->id, sampler->fw->epoch, sampler->fw->extract,
				    client->start_data, client->start.ns);

	spin_lock(&sampler->req_lock);
	set_state(sampler, client, PANTHOR_PERF_CLIENT_STARTED);
	spin_unlock(&sampler->req_lock);
	wake_up_all(&client->start_wait);
}

static void end(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		enum panthor_perf_client_state state, int ret)
{
	client->start_ret = ret;

	spin_lock(&sampler->req_lock);
	set_state(sampler, client, state);
	client->head = client->tail;
	client->held = 0;
	client->due = false;
	client->due_held = false;
	client->start_held = false;
	spin_unlock(&sampler->req_lock);
	list_del_init(&client->node);
	wake_up_all(&client->start_wait);
	update_asked(sampler);
}

/* Completes the requests of a client. Returns true if it has stopped. */
static bool complete_client(struct panthor_perf_sampler *sampler,
			    struct panthor_perf_client *client, u32 gen)
{
	struct panthor_perf_request req = {};
	bool due = false, more;

	for (;;) {
		spin_lock(&sampler->req_lock);
		more = head_complete(client, gen);
		if (more)
			req = client->queue[client->head & client->queue_mask];
		if (client->due && !client->due_held && gen_complete(client->due_gen, gen)) {
			/* The last sample is due as well, and has what would be in this one. */
			due = !(more && req.last);
			client->due = false;
		}
		spin_unlock(&sampler->req_lock);

		if (due) {
			deliver_unasked(sampler, client);
			due = false;
			continue;
		}

		if (!more)
			return false;

		write_sample(sampler, client, req.user_data);
		spin_lock(&sampler->req_lock);
		client->ops->publish(client);
		client->head++;
		spin_unlock(&sampler->req_lock);

		/* Whoever is told that it was the last sample may start again at once. */
		if (req.last)
			end(sampler, client, PANTHOR_PERF_CLIENT_STOPPED, 0);
		client->ops->signal(client);
		if (req.last)
			return true;
	}
}

/*
 * Has firmware do something that must not fail. In protected mode it answers
 * nothing, which may last, and is not to blame for it: -EAGAIN.
 */
static int try_fw(struct panthor_perf_sampler *sampler, int ret)
{
	if (!ret)
		return 0;

	if (sampler->fw->ops->protected_mode(sampler->fw))
		return -EAGAIN;

	sampler->failures++;
	return ret;
}

/*
 * Resets the GPU after what try_fw() could not do, unless that will be done
 * later. If resets have not helped, neither will another one: all who use the
 * GPU would suffer from it, and START can be called any number of times.
 */
static void failed(struct panthor_perf_sampler *sampler, int ret)
{
	if (ret && ret != -EAGAIN && sampler->failures <= MAX_FAILURES)
		sampler->reset_asked |= sampler->reset(sampler);
}

/* Firmware does not do what it is told to, and is not told to do it any more but by START. */
static bool left_alone(const struct panthor_perf_sampler *sampler)
{
	return sampler->failures >= MAX_FAILURES;
}

static void check_later(struct panthor_perf_sampler *sampler)
{
	queue_delayed_work(sampler->wq, &sampler->check_work, CHECK_INTERVAL);
}

/* Counts are those of nobody before this, and of all clients afterwards. */
static int enable(struct panthor_perf_sampler *sampler)
{
	int ret = try_fw(sampler, panthor_perf_fw_enable(sampler->fw, sampler->set));

	check_later(sampler);
	if (ret)
		return ret;

	sampler->prev_reason = PANTHOR_PERF_REASON_REQUEST;
	set_gate(sampler, true);
	return 0;
}

/* The last client has gone. */
static void disable_if_unused(struct panthor_perf_sampler *sampler)
{
	if (!list_empty(&sampler->clients))
		return;

	/* What was asked for by those who have gone may never be complete. */
	scoped_guard(spinlock, &sampler->req_lock)
		sampler->limited.state = PANTHOR_PERF_LIMITED_IDLE;
	if (!sampler->gate)
		return;

	set_gate(sampler, false);
	failed(sampler, try_fw(sampler, panthor_perf_fw_disable(sampler->fw)));
}

static void complete_requests(struct panthor_perf_sampler *sampler, u32 gen)
{
	struct panthor_perf_client *client, *tmp;

	lockdep_assert_held(&sampler->lock);

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		if (client->state == PANTHOR_PERF_CLIENT_STARTING && !client->start_held &&
		    gen_complete(client->start_gen, gen))
			begin(sampler, client);
		if (client_counts(client))
			complete_client(sampler, client, gen);
	}

	limited_complete(sampler, gen);
}

/* Completes all requests, while nothing is being counted. */
static void complete_now(struct panthor_perf_sampler *sampler)
{
	u32 gen;

	lockdep_assert_held(&sampler->lock);

	/* What is requested from here on may be later than the time. */
	spin_lock(&sampler->req_lock);
	gen = sampler->next_gen++;
	sampler->want = false;
	spin_unlock(&sampler->req_lock);

	set_time_now(sampler);
	mark_off(sampler);
	complete_requests(sampler, gen);
	disable_if_unused(sampler);
}

/*
 * Without metadata, it is the GPU's status that tells of protected mode, as
 * long as it lasts: that which is over when samples are drained is not seen.
 */
static bool sees_protected(struct panthor_perf_sampler *sampler, int pending)
{
	if (sampler->layout->has_metadata || !sampler->up)
		return false;

	/* What is known need not be asked for. */
	if (!pending && sampler->prev_reason == PANTHOR_PERF_REASON_PROTECTED)
		return false;

	return sampler->fw->ops->protected_mode(sampler->fw);
}

/* A client has a sample to come that request @gen completes. */
static bool is_served(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		      u32 gen)
{
	bool served;

	spin_lock(&sampler->req_lock);
	served = head_complete(client, gen) ||
		 (client->due && !client->due_held && gen_complete(client->due_gen, gen));
	spin_unlock(&sampler->req_lock);
	return served;
}

/*
 * Sets the sampler's time to that of the firmware sample. Returns true, and the
 * time in @ns, if the sample tells when it was taken.
 */
static bool sample_time(struct panthor_perf_sampler *sampler, u64 *ns)
{
	const struct panthor_perf_fw_sample *sample = sampler->sample;
	struct panthor_perf_time time;
	bool known;

	if (!sample->has_timestamp) {
		set_time_now(sampler);
		return false;
	}

	known = panthor_perf_clock_at(sampler->clock, sample->timestamp, &time);
	set_time(sampler, &time);
	*ns = time.ns;
	return known;
}

/*
 * Shares a firmware sample out, which request @gen was answered with if it is
 * the @answer. If it is not, it may still be one that was not acknowledged yet.
 */
static void account(struct panthor_perf_sampler *sampler, bool answer, bool may_be_answer, u32 gen)
{
	const struct panthor_perf_layout *layout = sampler->layout;
	struct panthor_perf_fw_sample *sample = sampler->sample;
	bool own_accord, limited_asked = false, limited_see = false;
	struct panthor_perf_client *client;

	panthor_perf_fw_sample_states(layout, sampler->set, sampler->prev_reason, sample);
	sampler->prev_reason = sample->reason;

	trace_panthor_perf_fw_sample(sampler->fw->epoch, sampler->fw->extract,
				     sample->timestamp, sample->reason);

	/*
	 * One that was to be taken anyway may answer a request as well. One
	 * before cores lose power has no reason of its own.
	 */
	own_accord = sample->reason != PANTHOR_PERF_REASON_REQUEST ||
		     (!answer && (!layout->has_metadata || !may_be_answer));

	list_for_each_entry(client, &sampler->clients, node) {
		if (!client_counts(client))
			continue;

		panthor_perf_accum_add(layout, sample, client->accum);
		if (!own_accord || !client->emit_auto ||
		    READ_ONCE(client->state) != PANTHOR_PERF_CLIENT_STARTED ||
		    (answer && is_served(sampler, client, gen)))
			continue;

		/* All limited clients see the sample, or none. */
		if (client->limited && !limited_asked) {
			limited_asked = true;
			limited_see = limited_may_see(sampler);
		}
		if (!client->limited || limited_see)
			deliver_unasked(sampler, client);
	}
}

/* Checks if metadata says that the firmware sample may be the answer to a request. */
static bool can_answer(struct panthor_perf_sampler *sampler)
{
	u32 reason = sampler->sample->reason;

	return sampler->layout->has_metadata &&
	       (reason == PANTHOR_PERF_REASON_REQUEST || reason == PANTHOR_PERF_REASON_PROTECTED);
}

/*
 * Firmware has answered request @gen, with the last sample that was accounted.
 * When that was found, it said that the ring was full if there was @overflow.
 */
static void answered(struct panthor_perf_sampler *sampler, u32 gen, bool overflow)
{
	sampler->failures = 0;
	if (gen_complete(sampler->rearm_gen, gen))
		sampler->muted = false;
	/* From the answer on, firmware would have said so. */
	if (!overflow && !sampler->muted)
		sampler->drain_flags = 0;
	spin_lock(&sampler->req_lock);
	sampler->in_flight = false;
	spin_unlock(&sampler->req_lock);
	complete_requests(sampler, gen);
}

/*
 * Drains the firmware ring and completes what that completes. Returns false if
 * the ring makes no sense.
 */
static bool drain(struct panthor_perf_sampler *sampler, bool patient)
{
	struct panthor_perf_fw *fw = sampler->fw;
	struct panthor_perf_time now;
	bool in_flight, acked, protected, overflow, told = false;
	int pending, i;
	u64 flight_ns;
	u32 gen;

	lockdep_assert_held(&sampler->lock);

	spin_lock(&sampler->req_lock);
	in_flight = sampler->in_flight;
	gen = sampler->flight_gen;
	flight_ns = sampler->flight_ns;
	acked = in_flight && panthor_perf_fw_acked(fw);
	spin_unlock(&sampler->req_lock);

	pending = panthor_perf_fw_pending(fw);
	if (pending < 0)
		return false;

	protected = sees_protected(sampler, pending);
	if (protected) {
		/* The sample before it, the last there can be, is counted by now. */
		pending = panthor_perf_fw_pending(fw);
		if (pending < 0)
			return false;
	}

	/* After INSERT: what was lost before one of these samples has been told by now. */
	overflow = panthor_perf_fw_overflowed(fw);
	if (overflow || sampler->muted) {
		sampler->drain_flags = DRM_PANTHOR_PERF_SAMPLE_OVERFLOW;
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	}

	sampler->stats.samples += pending;
	sampler->stats.max_pending = max_t(u32, sampler->stats.max_pending, pending);

	/* Samples are no later than this. */
	if (pending)
		panthor_perf_clock_now(sampler->clock, &now);

	for (i = 0; i < pending; i++) {
		bool last = i == pending - 1, known, may_be_answer, answer;
		u64 ns = 0;

		panthor_perf_fw_sample_read(sampler->layout, panthor_perf_fw_slot(fw),
					    sampler->asked, sampler->sample);
		panthor_perf_fw_consume(fw);
		if (protected && last)
			sampler->sample->reason = PANTHOR_PERF_REASON_PROTECTED;

		/*
		 * The answer is the last one, unless firmware has taken another
		 * one since. Metadata tells of that: the answer is one that was
		 * requested, or the one before protected mode, which completes
		 * what was requested. But some samples of firmware's own accord
		 * look like one that was requested, and one from before the
		 * request would end a sample too early, or begin one in what
		 * was counted before START.
		 */
		known = sample_time(sampler, &ns);
		may_be_answer = in_flight && !told && !(known && ns < flight_ns);
		answer = acked && !told &&
			 (last || (known && may_be_answer && can_answer(sampler)));
		account(sampler, answer, may_be_answer, gen);
		if (answer && !last) {
			answered(sampler, gen, overflow);
			told = true;
		}
	}

	/* That sample was drained when it could not be told from others. */
	if (protected && !pending) {
		sampler->prev_reason = PANTHOR_PERF_REASON_PROTECTED;
		mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED);
	}

	/*
	 * An event that is raised again at the doorbell of its acknowledgment
	 * must not be acknowledged for ever: only when there is room again, or
	 * once, or when some time has gone by.
	 */
	if (pending)
		sampler->idle_rearm = false;
	if (sampler->gate && (patient || !sampler->idle_rearm) &&
	    panthor_perf_fw_rearm(fw, overflow)) {
		sampler->idle_rearm = !pending;
		if (overflow) {
			sampler->stats.overflows++;
			/*
			 * If all slots were in use the ring is empty now, and
			 * firmware looks at the doorbell before it has filled
			 * it again.
			 */
			sampler->muted |= pending < (int)fw->slots;
			spin_lock(&sampler->req_lock);
			sampler->rearm_gen = sampler->next_gen;
			spin_unlock(&sampler->req_lock);
		}
	} else if (patient && in_flight && !acked && sampler->gate) {
		/*
		 * That the ring is full may be said once for an EXTRACT, and
		 * have been said of an earlier sample: a request that found it
		 * full afterwards is retried at a doorbell, but nobody rings.
		 */
		fw->ops->ring_doorbell(fw);
	}

	if (acked && !told)
		answered(sampler, gen, overflow);
	if (acked)
		disable_if_unused(sampler);
	sampler->drain_flags = 0;

	spin_lock(&sampler->req_lock);
	kick(sampler);
	spin_unlock(&sampler->req_lock);
	return true;
}

/* Firmware has lost the thread: start it anew, and flag what went lost. */
static int restart(struct panthor_perf_sampler *sampler, u32 flags)
{
	int ret;

	sampler->stats.restarts++;
	set_gate(sampler, false);
	ret = try_fw(sampler, panthor_perf_fw_disable(sampler->fw));

	/* What is in the ring by now is not lost, what was counted since is. */
	drain(sampler, false);
	mark_lost(sampler, flags);
	mark_unsampled(sampler, sampler->fw->ops->protected_mode(sampler->fw));
	complete_now(sampler);
	if (ret || list_empty(&sampler->clients))
		return ret;

	ret = enable(sampler);

	/* Nothing was counted meanwhile: a part of the period that follows. */
	mark_lost(sampler, flags);
	return ret;
}

/* Drains while firmware runs, and sets it right if it does not make sense. */
static void drain_running(struct panthor_perf_sampler *sampler, bool patient)
{
	if (!drain(sampler, patient))
		failed(sampler, restart(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR));
}

static void drain_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, drain_work);

	guard(mutex)(&sampler->lock);

	if (sampler->closing || sampler->unplugged)
		return;

	if (sampler->gate) {
		drain_running(sampler, false);
		return;
	}

	/* Firmware should count, and does not. */
	if (sampler->up)
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	complete_now(sampler);
}

/* Ends those STARTs that wait for requests up to @gen, which firmware does not answer. */
static bool fail_starting(struct panthor_perf_sampler *sampler, u32 gen, int ret)
{
	struct panthor_perf_client *client, *tmp;
	bool any = false;

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		if (client->state != PANTHOR_PERF_CLIENT_STARTING || client->start_held ||
		    !gen_complete(client->start_gen, gen))
			continue;
		end(sampler, client, PANTHOR_PERF_CLIENT_STOPPED, ret);
		any = true;
	}

	return any;
}

static void timed_out(struct panthor_perf_sampler *sampler)
{
	bool full = sampler->muted || panthor_perf_fw_overflowed(sampler->fw);
	u32 flags = full ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : DRM_PANTHOR_PERF_SAMPLE_ERROR;
	bool starting;
	int ret;

	/* A baseline that firmware has not been asked for is none that it owes. */
	starting = fail_starting(sampler, sampler->flight_gen, -ETIMEDOUT);
	ret = restart(sampler, flags);

	/* START may be called again and again, so that this has to have an end, too. */
	if (!ret && starting) {
		sampler->failures++;
		ret = -ETIMEDOUT;
	}
	failed(sampler, ret);
}

static void check_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(to_delayed_work(work), struct panthor_perf_sampler, check_work);
	bool late = false, protected;
	u64 now;

	guard(mutex)(&sampler->lock);

	if (!sampler->up || sampler->closing || sampler->unplugged ||
	    list_empty(&sampler->clients))
		return;

	if (!sampler->gate) {
		/* Left alone until the next boot or START. */
		if (left_alone(sampler))
			return;

		/* Nothing counts until that ends. */
		if (sampler->fw->ops->protected_mode(sampler->fw)) {
			check_later(sampler);
			return;
		}

		/* Resume could not ask for a reset, this can. */
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		failed(sampler, enable(sampler));
		return;
	}

	/* Looked at before the answer: one that is there by then is not late, nor are we. */
	now = ktime_get_raw_ns();
	protected = sampler->fw->ops->protected_mode(sampler->fw);
	drain_running(sampler, true);
	if (!list_empty(&sampler->clients))
		check_later(sampler);
	if (!sampler->gate)
		return;

	/* Draining may have taken samples and made a request that are later than now. */
	scoped_guard(spinlock, &sampler->req_lock) {
		if (!sampler->in_flight) {
			sampler->want |= (s64)(now - sampler->time.ns) >= SATURATION_NS;
			kick(sampler);
		} else if ((s64)(now - sampler->flight_ns) >= ACK_TIMEOUT_NS) {
			/* Its end will be seen in time. */
			if (protected)
				sampler->flight_ns = now;
			else
				late = true;
		}
	}

	if (late)
		timed_out(sampler);
}

/**
 * panthor_perf_sampler_init() - Initialize a sampler
 * @sampler: Sampler, zeroed but for the pointers to firmware, layout, clock and
 * reset. The GPU is taken to be down.
 *
 * Return: 0 on success, a negative error code otherwise.
 */
int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler)
{
	mutex_init(&sampler->start_lock);
	mutex_init(&sampler->lock);
	spin_lock_init(&sampler->req_lock);
	init_waitqueue_head(&sampler->closing_wait);
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

/**
 * panthor_perf_sampler_fini() - Free what a sampler holds
 * @sampler: Sampler, without clients, and unplugged.
 */
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler)
{
	destroy_workqueue(sampler->wq);
	kvfree(sampler->sample);
	mutex_destroy(&sampler->lock);
	mutex_destroy(&sampler->start_lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_fini);

/**
 * panthor_perf_client_init() - Initialize a client
 * @client: Client, zeroed but for its operations, accumulator and queue.
 */
void panthor_perf_client_init(struct panthor_perf_client *client)
{
	INIT_LIST_HEAD(&client->node);
	init_waitqueue_head(&client->start_wait);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_client_init);

/* Puts a client on the list, and takes its baseline or asks for it. */
static int start_locked(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
			u64 user_data)
{
	int ret;

	lockdep_assert_held(&sampler->lock);

	if (sampler->unplugged)
		return -ENODEV;

	switch (client->state) {
	case PANTHOR_PERF_CLIENT_STOPPED:
		break;
	case PANTHOR_PERF_CLIENT_STARTED:
		return 0;
	case PANTHOR_PERF_CLIENT_REMOVED:
		return -ENOENT;
	default:
		return -EBUSY;
	}

	/* Whoever starts first chooses the set, which is kept until the last one has stopped. */
	if (list_empty(&sampler->clients))
		sampler->set = client->block_set;
	else if (sampler->set != client->block_set)
		return -EBUSY;

	/* Samples of others, if there are any, go on. */
	if (sampler->up && !sampler->closing && !sampler->gate) {
		if (!list_empty(&sampler->clients)) {
			mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
			complete_now(sampler);
		}
		ret = enable(sampler);
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		failed(sampler, ret);
		if (ret && ret != -EAGAIN)
			return ret;
	}

	client->start_data = user_data;
	client->start_ret = 0;
	list_add_tail(&client->node, &sampler->clients);
	update_asked(sampler);

	if (!sampler->up && !sampler->closing && !client->limited) {
		/* Nothing counts, so that all that will is after this. */
		set_time_now(sampler);
		begin(sampler, client);
		return 0;
	}

	spin_lock(&sampler->req_lock);
	set_state(sampler, client, PANTHOR_PERF_CLIENT_STARTING);
	client->start_held = !ask(sampler, client, &client->start_gen);
	spin_unlock(&sampler->req_lock);
	return 0;
}

/**
 * panthor_perf_sampler_start() - Begin to count
 * @sampler: Sampler.
 * @client: Client.
 * @user_data: Tag of samples that are not requested.
 *
 * Returns when counting has begun. Does nothing if it had. Calls for one client
 * must come one after the other, and none of panthor_perf_sampler_stop() in
 * between. The client may be removed meanwhile.
 *
 * Return: 0 on success, -EBUSY if the client is not done yet with starting or
 * stopping, or if others count another set, -ETIMEDOUT if firmware did not
 * answer, -ENOENT or -ENODEV if client or device have gone, -ERESTARTSYS if the
 * caller has a signal pending, and the client is as it was before.
 */
int panthor_perf_sampler_start(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	int ret, intr;

	if (mutex_lock_interruptible(&sampler->start_lock))
		return -ERESTARTSYS;

	scoped_guard(mutex, &sampler->lock)
		ret = start_locked(sampler, client, user_data);
	mutex_unlock(&sampler->start_lock);
	if (ret)
		return ret;

	intr = wait_event_interruptible(client->start_wait, READ_ONCE(client->state) !=
					PANTHOR_PERF_CLIENT_STARTING);

	guard(mutex)(&sampler->lock);

	if (client->state == PANTHOR_PERF_CLIENT_STARTING) {
		end(sampler, client, PANTHOR_PERF_CLIENT_STOPPED, intr);
		disable_if_unused(sampler);
	}

	return client->start_ret;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_start);

static void push(struct panthor_perf_sampler *sampler, struct panthor_perf_client *client,
		 u64 user_data, bool last)
{
	struct panthor_perf_request *req = &client->queue[client->tail & client->queue_mask];

	req->user_data = user_data;
	req->last = last;
	client->tail++;
	if (ask(sampler, client, &req->gen))
		client->batch_gen = req->gen;
	else
		client->held++;
}

/**
 * panthor_perf_sampler_request() - Request a sample
 * @sampler: Sampler.
 * @client: Client.
 * @user_data: Tag of the sample.
 *
 * Return: 0 if the sample is going to be delivered, -EINVAL if the client is
 * not counting, -EBUSY if there is no room, -ENODEV if the device has gone.
 */
int panthor_perf_sampler_request(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client, u64 user_data)
{
	int ret = 0;

	spin_lock(&sampler->req_lock);
	if (sampler->unplugged)
		ret = -ENODEV;
	else if (client->state != PANTHOR_PERF_CLIENT_STARTED)
		ret = -EINVAL;
	else if (!client->ops->available(client, promised(client)))
		ret = -EBUSY;
	else
		push(sampler, client, user_data, false);
	spin_unlock(&sampler->req_lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_request);

/**
 * panthor_perf_sampler_due() - Note that a sample is due which was not requested
 * @sampler: Sampler.
 * @client: Client. Nothing happens if it is not counting.
 */
void panthor_perf_sampler_due(struct panthor_perf_sampler *sampler,
			      struct panthor_perf_client *client)
{
	spin_lock(&sampler->req_lock);
	if (client->state == PANTHOR_PERF_CLIENT_STARTED && !client->due) {
		client->due = true;
		client->due_held = !ask(sampler, client, &client->due_gen);
	}
	spin_unlock(&sampler->req_lock);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_due);

/**
 * panthor_perf_sampler_stop() - Request a last sample
 * @sampler: Sampler.
 * @client: Client.
 * @user_data: Tag of the sample.
 *
 * Return: True if the sample is going to be delivered, false if the client was
 * not counting, in which case nothing is.
 */
bool panthor_perf_sampler_stop(struct panthor_perf_sampler *sampler,
			       struct panthor_perf_client *client, u64 user_data)
{
	bool started;

	spin_lock(&sampler->req_lock);
	started = client->state == PANTHOR_PERF_CLIENT_STARTED;
	if (started) {
		set_state(sampler, client, PANTHOR_PERF_CLIENT_STOPPING);
		push(sampler, client, user_data, true);
	}
	spin_unlock(&sampler->req_lock);
	return started;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_stop);

/**
 * panthor_perf_sampler_remove() - Forget a client
 * @sampler: Sampler.
 * @client: Client, in any state. None of its functions are called afterwards.
 */
void panthor_perf_sampler_remove(struct panthor_perf_sampler *sampler,
				 struct panthor_perf_client *client)
{
	guard(mutex)(&sampler->lock);

	end(sampler, client, PANTHOR_PERF_CLIENT_REMOVED, -ENOENT);
	disable_if_unused(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_remove);

/**
 * panthor_perf_sampler_wait_open() - Wait until the MCU either counts or has stopped
 * @sampler: Sampler.
 *
 * While it is being halted it writes to the firmware ring, and cannot be told
 * not to. Hooks always come to the end of that.
 */
void panthor_perf_sampler_wait_open(struct panthor_perf_sampler *sampler)
{
	wait_event(sampler->closing_wait,
		   !READ_ONCE(sampler->closing) || READ_ONCE(sampler->unplugged));
}

/**
 * panthor_perf_sampler_irq() - Handle an interrupt of the global interface
 * @sampler: Sampler.
 *
 * Context: Threaded interrupt handler. Takes no lock.
 */
void panthor_perf_sampler_irq(struct panthor_perf_sampler *sampler)
{
	if (READ_ONCE(sampler->gate) &&
	    panthor_perf_fw_irq_pending(sampler->fw, READ_ONCE(sampler->in_flight)))
		queue_work(sampler->wq, &sampler->drain_work);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_irq);

/**
 * panthor_perf_sampler_close() - Make no more requests
 * @sampler: Sampler.
 * @wait: Wait a moment for the one that is in flight. Must not be set if
 * firmware is known not to answer.
 *
 * To be followed by panthor_perf_sampler_down() or panthor_perf_sampler_up().
 * Until then, requests are accepted but not completed.
 */
void panthor_perf_sampler_close(struct panthor_perf_sampler *sampler, bool wait)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool in_flight, gate;

	guard(mutex)(&sampler->lock);

	/* Acknowledges that the ring was full, if it was, while that can be done. */
	if (sampler->gate && wait)
		drain(sampler, true);

	scoped_guard(spinlock, &sampler->req_lock) {
		gate = sampler->gate;
		in_flight = sampler->in_flight;
		sampler->closing = true;
		sampler->gate = false;
	}

	if (!gate)
		return;

	if (!wait) {
		sampler->halt_protected = fw->ops->protected_mode(fw);
		return;
	}

	if (in_flight && !fw->ops->protected_mode(fw))
		panthor_perf_fw_wait_sample(fw, CLOSE_TIMEOUT_MS);

	/* Leaves room for the sample firmware takes when it is halted. */
	drain(sampler, false);
	sampler->halt_extract = fw->extract;

	/*
	 * None is taken in protected mode. If that begins after this, the
	 * sample before it is one that was not there yet.
	 */
	sampler->halt_protected = fw->ops->protected_mode(fw);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_close);

/* The GPU is no longer on its way down. */
static void set_open(struct panthor_perf_sampler *sampler)
{
	scoped_guard(spinlock, &sampler->req_lock)
		sampler->closing = sampler->unplugged;
	wake_up_all(&sampler->closing_wait);
}

/**
 * panthor_perf_sampler_down() - Note that the MCU has stopped
 * @sampler: Sampler, closed.
 * @reset: The MCU was not halted in good order, since the GPU is being reset.
 *
 * Completes all requests, with what firmware has left in the ring. Without a
 * ring nothing is done.
 */
void panthor_perf_sampler_down(struct panthor_perf_sampler *sampler, bool reset)
{
	struct panthor_perf_fw *fw = sampler->fw;

	guard(mutex)(&sampler->lock);

	/* A reset that others have asked for may have helped. */
	if (reset && !sampler->reset_asked)
		sampler->failures = 0;
	if (reset)
		sampler->reset_asked = false;

	if (!fw->ring) {
		sampler->up = false;
		set_open(sampler);
		return;
	}

	if (fw->enabled) {
		bool sense = drain(sampler, false), sampled = false;
		bool moved = fw->extract != sampler->halt_extract;

		sampler->stats.overflows += panthor_perf_fw_overflowed(fw);
		/* One that found no room was to be before protected mode, if not the halt. */
		if (reset || !sense)
			mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		else if (panthor_perf_fw_overflowed(fw) || (!moved && sampler->muted))
			mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
		else if (moved)
			sampled = true;
		else if (!sampler->halt_protected)
			mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);

		if (!sampled)
			mark_unsampled(sampler, sampler->halt_protected);
	} else if (sampler->up) {
		/* It should have counted, for those clients that there are. */
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	}

	panthor_perf_fw_dead(fw);
	panthor_perf_clock_down(sampler->clock);

	sampler->up = false;
	set_open(sampler);
	set_gate(sampler, false);
	complete_now(sampler);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_down);

/**
 * panthor_perf_sampler_up() - Note that the MCU has booted
 * @sampler: Sampler.
 *
 * Returns when counters are enabled again, if some client is counting, so that
 * no work that is started afterwards goes uncounted. Without a ring nothing is
 * done: no register is touched, and no clock is looked at.
 */
void panthor_perf_sampler_up(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_fw *fw = sampler->fw;

	guard(mutex)(&sampler->lock);

	if (sampler->unplugged)
		return;

	if (!fw->ring) {
		set_open(sampler);
		sampler->up = true;
		return;
	}

	panthor_perf_clock_up(sampler->clock);
	set_open(sampler);

	/* Up to here, nothing was counted. */
	complete_now(sampler);
	sampler->up = true;
	if (list_empty(&sampler->clients))
		return;

	mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON);

	/* A reset must not be asked for here: the check will. */
	if (enable(sampler))
		mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_up);

/**
 * panthor_perf_sampler_unplug() - Note that the device has gone
 * @sampler: Sampler.
 *
 * All clients get what they were promised, or else one sample, and stop.
 */
void panthor_perf_sampler_unplug(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client, *tmp;

	mutex_lock(&sampler->lock);

	if (sampler->gate) {
		drain(sampler, false);
		if (sampler->gate) {
			set_gate(sampler, false);
			mark_unsampled(sampler, sampler->fw->ops->protected_mode(sampler->fw));
			panthor_perf_fw_disable(sampler->fw);
		}
	}

	sampler->up = false;
	spin_lock(&sampler->req_lock);
	sampler->unplugged = true;
	sampler->closing = true;
	spin_unlock(&sampler->req_lock);
	wake_up_all(&sampler->closing_wait);

	spin_lock(&sampler->req_lock);
	list_for_each_entry(client, &sampler->clients, node)
		release_held(client, sampler->next_gen);
	spin_unlock(&sampler->req_lock);
	fail_starting(sampler, sampler->next_gen, -ENODEV);
	mark_lost(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	set_time_now(sampler);
	mark_off(sampler);
	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		/* The slot that is kept for the last sample is there. */
		spin_lock(&sampler->req_lock);
		client->due = false;
		if (client->head == client->tail)
			push(sampler, client, client->start_data, true);
		else
			client->queue[(client->tail - 1) & client->queue_mask].last = true;
		release_held(client, sampler->next_gen);
		spin_unlock(&sampler->req_lock);
		complete_client(sampler, client, sampler->next_gen);
	}

	scoped_guard(spinlock, &sampler->req_lock)
		sampler->limited.state = PANTHOR_PERF_LIMITED_IDLE;

	mutex_unlock(&sampler->lock);

	hrtimer_cancel(&sampler->limited.timer);
	cancel_work_sync(&sampler->limited.work);
	cancel_delayed_work_sync(&sampler->check_work);
	cancel_work_sync(&sampler->drain_work);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_sampler_unplug);

#ifdef CONFIG_DEBUG_FS
/**
 * panthor_perf_sampler_show() - Show the state of firmware and sampler
 * @sampler: Sampler, whose lock the caller holds, of a device that is there.
 * @p: Where to.
 *
 * Looks at memory only, whatever the GPU does.
 */
void panthor_perf_sampler_show(struct panthor_perf_sampler *sampler, struct drm_printer *p)
{
	static const char * const limited_states[] = {
		[PANTHOR_PERF_LIMITED_IDLE] = "idle",
		[PANTHOR_PERF_LIMITED_WAITING] = "waiting",
		[PANTHOR_PERF_LIMITED_ASKED] = "asked",
		[PANTHOR_PERF_LIMITED_ASKED_WAITING] = "asked-waiting",
	};
	enum panthor_perf_limited_state limited;
	bool closing, gate, in_flight;
	u64 requests;

	lockdep_assert_held(&sampler->lock);

	scoped_guard(spinlock, &sampler->req_lock) {
		closing = sampler->closing;
		gate = sampler->gate;
		in_flight = sampler->in_flight;
		limited = sampler->limited.state;
		requests = sampler->stats.requests;
	}

	drm_printf(p, "up: %d\n", sampler->up);
	drm_printf(p, "closing: %d\n", closing);
	drm_printf(p, "gate: %d\n", gate);
	drm_printf(p, "in-flight: %d\n", in_flight);
	drm_printf(p, "limited: %s\n", limited_states[limited]);
	drm_printf(p, "broken: %d\n", left_alone(sampler));
	drm_printf(p, "failures: %u\n", sampler->failures);
	drm_printf(p, "set: %u\n", sampler->set);
	panthor_perf_fw_show(sampler->fw, p);
	drm_printf(p, "max-pending: %u\n", sampler->stats.max_pending);
	drm_printf(p, "samples: %llu\n", sampler->stats.samples);
	drm_printf(p, "requests: %llu\n", requests);
	drm_printf(p, "overflows: %llu\n", sampler->stats.overflows);
	drm_printf(p, "restarts: %llu\n", sampler->stats.restarts);
}
#endif
