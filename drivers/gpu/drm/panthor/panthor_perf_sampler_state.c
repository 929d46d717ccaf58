// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: state of the sampler, suspend, reset, and firmware that fails. */

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "panthor_perf_sampler_internal.h"
#include "panthor_perf_trace.h"

/**
 * DOC: State of the sampler
 *
 * The transitions of &enum panthor_perf_sampler_state, made by set_state()::
 *
 *	any but GONE	 -> CLOSING	suspend or reset begins
 *	CLOSING		 -> DOWN	the MCU has stopped
 *	DOWN		 -> IDLE	the MCU has booted, and there is no client
 *	DOWN, IDLE	 -> COUNTING	it has booted, or a client starts: counters enabled
 *	DOWN		 -> FAILED	it has booted, but counters could not be enabled
 *	IDLE		 -> FAILED	a client starts in protected mode
 *	COUNTING	 -> FAILED	no answer for ACK_TIMEOUT_NS, or INSERT is out of range
 *	FAILED		 -> COUNTING	counters enabled again
 *	COUNTING, FAILED -> IDLE	the last client has stopped or was removed
 *	any		 -> GONE	unplug
 *
 * If firmware cannot be recovered, the sampler asks for a reset of the GPU, MAX_FAILURES times
 * in a row, but not when the MCU boots: the check does that then. Protected mode is no failure.
 * Counters cannot be enabled in it, so the state is FAILED until it has ended, but START does
 * not fail.
 *
 * Requests are completed at once in the states DOWN and FAILED, and when the next state has
 * been reached in the state CLOSING. In the state GONE they are refused. Samples of the
 * state FAILED have the flag ERROR.
 */

/*
 * How long firmware may take to answer a request, other than in protected mode. It usually answers
 * within microseconds, and within milliseconds after it has slept. It may take twice as long if
 * samples were drained since the last check, which may have made room in a ring that was full.
 */
#define ACK_TIMEOUT_NS		(500 * NSEC_PER_MSEC)

/*
 * A counter has 32 bits and counts up to eight events a cycle: at 1 GHz it saturates after half a
 * second. The check runs each CHECK_INTERVAL, and requests a sample if none was taken for
 * SATURATION_NS.
 */
#define CHECK_INTERVAL		msecs_to_jiffies(100)
#define SATURATION_NS		(100 * NSEC_PER_MSEC)

/*
 * How long suspend waits for the firmware request in flight. The sample of the halt completes a
 * request that is not answered by then.
 */
#define CLOSE_TIMEOUT_MS	20

/* How many failures of firmware in a row lead to a reset of the GPU. */
#define MAX_FAILURES		3

/* Names of states, for debugfs and tracepoints. */
const char * const panthor_perf_sampler_states[] = {
	[PANTHOR_PERF_SAMPLER_DOWN] = "down",
	[PANTHOR_PERF_SAMPLER_CLOSING] = "closing",
	[PANTHOR_PERF_SAMPLER_IDLE] = "idle",
	[PANTHOR_PERF_SAMPLER_COUNTING] = "counting",
	[PANTHOR_PERF_SAMPLER_FAILED] = "failed",
	[PANTHOR_PERF_SAMPLER_GONE] = "gone",
};

/*
 * Change the state. Drop the firmware request in flight and the pending loss, except in CLOSING, in
 * which firmware may still answer. Submit a firmware request if one is wanted in the new state.
 */
static void set_state(struct panthor_perf_sampler *sampler, enum panthor_perf_sampler_state state)
{
	lockdep_assert_held(&sampler->lock);

	guard(spinlock)(&sampler->req_lock);

	WRITE_ONCE(sampler->state, state);
	if (state != PANTHOR_PERF_SAMPLER_CLOSING) {
		WRITE_ONCE(sampler->in_flight, false);
		sampler->loss_possible = false;
	}
	trace_panthor_perf_state(panthor_perf_sampler_states[state]);
	panthor_perf_submit_fw_request(sampler);
}

/*
 * Add the states of a time in which counters were enabled, and of which no firmware sample tells,
 * since counters were disabled without one.
 */
static void mark_unsampled(struct panthor_perf_sampler *sampler, bool protected)
{
	panthor_perf_mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON |
				 DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE |
				 PANTHOR_PERF_STATE_POWER_UNKNOWN |
				 (protected ? DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED :
					      DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL));
}

static void schedule_check(struct panthor_perf_sampler *sampler)
{
	queue_delayed_work(sampler->wq, &sampler->check_work, CHECK_INTERVAL);
}

/*
 * Record a failure of firmware, and ask for a reset of the GPU, which is not possible while the MCU
 * boots. If the last resets did not help, another one would not either: START can be called any
 * number of times, and a reset ends the work of everybody.
 */
static void firmware_failed(struct panthor_perf_sampler *sampler, const char *why)
{
	sampler->failures++;
	if (sampler->state != PANTHOR_PERF_SAMPLER_DOWN && sampler->failures <= MAX_FAILURES)
		sampler->reset_asked |= sampler->reset(sampler, why);
}

/*
 * Handle the result of enabling or disabling counters. Returns 0, -ETIMEDOUT, or -EAGAIN if the GPU
 * was in protected mode before or after, because firmware cannot answer there.
 */
static int check_result(struct panthor_perf_sampler *sampler, bool protected, int ret)
{
	if (!ret)
		return 0;

	if (protected || panthor_perf_in_protected_mode(sampler))
		return -EAGAIN;

	firmware_failed(sampler, "firmware does not answer");
	return ret;
}

/*
 * Enable counters in firmware. What was counted before is in no sample; what is counted from here
 * on is added to all clients that are counting. Returns 0, -EAGAIN in protected mode, or
 * -ETIMEDOUT.
 */
static int enable_counters(struct panthor_perf_sampler *sampler)
{
	bool protected = panthor_perf_in_protected_mode(sampler);
	int ret = panthor_perf_fw_enable(sampler->fw, sampler->set);

	schedule_check(sampler);
	ret = check_result(sampler, protected, ret);
	sampler->retry = ret == -EAGAIN;
	if (ret)
		return ret;

	/* Firmware may let the GPU timestamp stand still until COUNTER_EN is set, as it is now. */
	panthor_perf_clock_sync(sampler->clock);
	sampler->prev_reason = PANTHOR_PERF_REASON_REQUEST;
	set_state(sampler, PANTHOR_PERF_SAMPLER_COUNTING);
	return 0;
}

static int disable_counters(struct panthor_perf_sampler *sampler)
{
	bool protected = panthor_perf_in_protected_mode(sampler);

	return check_result(sampler, protected, panthor_perf_fw_disable(sampler->fw));
}

/* Disable counters and clock tracking when the last client is gone, and drop its requests. */
void panthor_perf_disable_if_unused(struct panthor_perf_sampler *sampler)
{
	bool counting = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING;

	if (!list_empty(&sampler->clients))
		return;

	scoped_guard(spinlock, &sampler->req_lock) {
		WRITE_ONCE(sampler->wanted, false);
		WRITE_ONCE(sampler->limited_waiting, false);
	}
	panthor_perf_clock_down(sampler->clock);
	if (counting || sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
	if (counting)
		disable_counters(sampler);
}

/*
 * Enable counters for a START in the state IDLE or FAILED. Other clients have not counted up to
 * now: that is flagged in the period that ends here, and in the one that begins here and has the
 * time until counters are enabled. In protected mode the check enables them later. Returns 0 or
 * -ETIMEDOUT.
 */
int panthor_perf_enable_for_start(struct panthor_perf_sampler *sampler)
{
	int ret;

	lockdep_assert_held(&sampler->lock);

	if (!list_empty(&sampler->clients)) {
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		panthor_perf_complete_now(sampler);
	}

	ret = enable_counters(sampler);
	panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	if (ret != -EAGAIN)
		return ret;

	if (sampler->state == PANTHOR_PERF_SAMPLER_IDLE)
		set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);
	return 0;
}

/* Fail all STARTs that wait for firmware requests up to @done_seq. Returns true if any do. */
static bool fail_starting(struct panthor_perf_sampler *sampler, u32 done_seq, int ret)
{
	struct panthor_perf_client *client, *tmp;
	bool any = false;

	list_for_each_entry_safe(client, tmp, &sampler->clients, node) {
		if (client->state != PANTHOR_PERF_CLIENT_STARTING ||
		    !panthor_perf_seq_complete(client->due_seq, done_seq))
			continue;

		panthor_perf_end_client(client, PANTHOR_PERF_CLIENT_STOPPED, ret);
		any = true;
	}

	return any;
}

/*
 * Recover from a loss or a failure of firmware. What was counted since the last sample is lost, and
 * flagged with @flags in the sample that ends now and in the next one.
 *
 * 1. Disable counters. If that times out, flag ERROR, fail waiting STARTs, and ask for a reset.
 * 2. Drain the ring.
 * 3. Complete all requests.
 * 4. Enable counters, unless firmware has @failed too often. STARTs succeed even if that times out.
 * 5. Ask for a reset in any case if firmware has @failed.
 */
static void recover_firmware(struct panthor_perf_sampler *sampler, u32 flags, bool failed,
			     const char *why)
{
	bool enable = !failed || sampler->failures < MAX_FAILURES;
	bool loss_possible = sampler->loss_possible;
	int ret;

	set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);
	ret = disable_counters(sampler);
	if (ret && ret != -EAGAIN) {
		flags |= DRM_PANTHOR_PERF_SAMPLE_ERROR;
		fail_starting(sampler, sampler->next_seq, ret);
	}

	/* A loss is flagged in the samples in the ring, but not for those who start next. */
	sampler->loss_possible = loss_possible;
	panthor_perf_drain(sampler, false, sampler->fw->slots);
	sampler->loss_possible = false;
	panthor_perf_flag_next_sample(sampler, flags);
	mark_unsampled(sampler, panthor_perf_in_protected_mode(sampler));
	panthor_perf_complete_now(sampler);

	if (!ret && enable && !list_empty(&sampler->clients)) {
		ret = enable_counters(sampler);
		panthor_perf_flag_next_sample(sampler, flags);
	}
	if (!ret && failed)
		firmware_failed(sampler, why);
}

/*
 * Drain in the state COUNTING. INSERT that is out of range is 0 when counters are enabled again. If
 * it is out of range once more before firmware has answered a request, firmware has failed.
 */
static void drain_counting(struct panthor_perf_sampler *sampler, bool force_ack)
{
	if (!panthor_perf_drain(sampler, force_ack, sampler->fw->slots)) {
		recover_firmware(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR, sampler->failures > 0,
				 "INSERT of firmware is out of range");
		sampler->failures = max(sampler->failures, 1u);
	}

	panthor_perf_disable_if_unused(sampler);
}

static void drain_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(work, struct panthor_perf_sampler, drain_work);

	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING) {
		drain_counting(sampler, false);
		return;
	}

	if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED ||
	    sampler->state == PANTHOR_PERF_SAMPLER_DOWN)
		panthor_perf_complete_now(sampler);
}

/*
 * Recover from a firmware request that was not answered in time. A full ring is no failure, nor is
 * it one if enabling counters again helps. A failed START is: programs may repeat it without end.
 */
static void fw_request_timed_out(struct panthor_perf_sampler *sampler)
{
	if (sampler->loss_possible || panthor_perf_fw_overflowed(sampler->fw))
		recover_firmware(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW, false, NULL);
	else
		recover_firmware(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR,
				 fail_starting(sampler, sampler->flight_seq, -ETIMEDOUT),
				 "firmware does not answer");
}

/* Find answers that are late or that no interrupt told of, and counters that may saturate. */
static void check_counting(struct panthor_perf_sampler *sampler)
{
	u32 extract = sampler->check_extract;
	bool late = false, protected;
	u64 now;

	/* Read before the drain, so that no request is late whose answer the drain finds. */
	now = ktime_get_raw_ns();
	protected = panthor_perf_in_protected_mode(sampler);
	drain_counting(sampler, true);
	sampler->check_extract = sampler->fw->extract;
	if (!list_empty(&sampler->clients))
		schedule_check(sampler);
	if (sampler->state != PANTHOR_PERF_SAMPLER_COUNTING)
		return;

	/* The drain may have found a sample, and made a request, later than @now. */
	scoped_guard(spinlock, &sampler->req_lock) {
		if (protected)
			sampler->timeout_start_ns = now;
		if (sampler->in_flight)
			late = (s64)(now - sampler->timeout_start_ns) >= ACK_TIMEOUT_NS &&
			       (extract == sampler->check_extract ||
				(s64)(now - sampler->flight_ns) >= 2 * ACK_TIMEOUT_NS);
		/* Only the answer to a request tells that nothing is lost any more. */
		else if ((s64)(now - sampler->time.ns) >= SATURATION_NS ||
			 (sampler->loss_possible &&
			  (s64)(now - sampler->flight_ns) >= SATURATION_NS))
			panthor_perf_want_fw_request(sampler);
	}

	if (late)
		fw_request_timed_out(sampler);
}

static void check_work(struct work_struct *work)
{
	struct panthor_perf_sampler *sampler =
		container_of(to_delayed_work(work), struct panthor_perf_sampler, check_work);

	guard(mutex)(&sampler->lock);

	if (list_empty(&sampler->clients))
		return;

	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING) {
		check_counting(sampler);
	} else if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED &&
		   (sampler->failures < MAX_FAILURES || sampler->retry)) {
		/* Counters cannot be enabled in protected mode. */
		if (panthor_perf_in_protected_mode(sampler)) {
			schedule_check(sampler);
			return;
		}

		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		enable_counters(sampler);
	}
}

/*
 * Initialize a sampler, zeroed but for the pointers to firmware, layout, clock and reset. Its state
 * is DOWN. Returns 0 or -ENOMEM.
 */
int panthor_perf_sampler_init(struct panthor_perf_sampler *sampler)
{
	mutex_init(&sampler->start_lock);
	mutex_init(&sampler->lock);
	spin_lock_init(&sampler->req_lock);
	INIT_LIST_HEAD(&sampler->clients);
	INIT_WORK(&sampler->drain_work, drain_work);
	INIT_DELAYED_WORK(&sampler->check_work, check_work);
	panthor_perf_init_timer(sampler);

	sampler->sample = kvzalloc(sampler->layout->fw_copy_size, GFP_KERNEL);
	if (!sampler->sample)
		return -ENOMEM;

	sampler->wq = alloc_workqueue("panthor-perf", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!sampler->wq) {
		kvfree(sampler->sample);
		return -ENOMEM;
	}

	return 0;
}

/* Free what a sampler holds that has no clients and is unplugged. */
void panthor_perf_sampler_fini(struct panthor_perf_sampler *sampler)
{
	destroy_workqueue(sampler->wq);
	kvfree(sampler->sample);
	mutex_destroy(&sampler->lock);
	mutex_destroy(&sampler->start_lock);
}

/*
 * Make no more firmware requests: the MCU is about to be halted or reset. Later requests are
 * completed by panthor_perf_sampler_down(). With @wait, for firmware that is alive, sleep up to
 * 20 ms for the request in flight, or up to 100 ms to disable counters if the last client has just
 * stopped.
 */
void panthor_perf_sampler_close(struct panthor_perf_sampler *sampler, bool wait)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool counting;

	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE ||
	    sampler->state == PANTHOR_PERF_SAMPLER_CLOSING)
		return;

	/* Acknowledges OVERFLOW, so that firmware can raise it for the sample of the halt. */
	if (sampler->state == PANTHOR_PERF_SAMPLER_COUNTING && wait) {
		panthor_perf_drain(sampler, true, fw->slots);
		panthor_perf_disable_if_unused(sampler);
	}

	/* Clients have missed counts until now. */
	if (sampler->state == PANTHOR_PERF_SAMPLER_FAILED)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);

	counting = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING;
	set_state(sampler, PANTHOR_PERF_SAMPLER_CLOSING);
	if (!counting)
		return;

	if (wait) {
		if (READ_ONCE(sampler->in_flight) && !panthor_perf_in_protected_mode(sampler))
			panthor_perf_fw_wait_sample(fw, CLOSE_TIMEOUT_MS);

		/* The sample of the halt finds a free slot after this. */
		panthor_perf_drain(sampler, false, fw->slots);
		sampler->halt_extract = fw->extract;
	}

	/*
	 * In protected mode the halt takes no sample. Entering it later takes one, so it does not
	 * matter if this value is stale then.
	 */
	sampler->halt_protected = panthor_perf_in_protected_mode(sampler);
}

/* Return true if nothing was counted after the last sample, by its reason. */
static bool ends_counting(const struct panthor_perf_sampler *sampler)
{
	if (!sampler->layout->has_metadata)
		return sampler->prev_reason != PANTHOR_PERF_REASON_PROTECTED_END;

	return sampler->prev_reason >= PANTHOR_PERF_REASON_PROTECTED &&
	       sampler->prev_reason <= PANTHOR_PERF_REASON_SUSPEND;
}

/* Drain what the MCU has left in the ring when it stopped, and find out if counts were lost. */
static void drain_stopped(struct panthor_perf_sampler *sampler, bool forced)
{
	struct panthor_perf_fw *fw = sampler->fw;
	bool valid = panthor_perf_drain(sampler, false, fw->slots);
	bool sampled = fw->extract != sampler->halt_extract && ends_counting(sampler);

	/*
	 * Firmware should have taken a last sample, at the halt or when protected mode began. There
	 * is none if the ring was full, which OVERFLOW may not show, or if the GPU was in protected
	 * mode all along, in which nothing is counted.
	 */
	if (!forced && valid && sampled && !panthor_perf_fw_overflowed(fw))
		return;

	if (forced || !valid)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	else if (sampler->loss_possible)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	else if (!sampler->halt_protected ||
		 sampler->prev_reason == PANTHOR_PERF_REASON_PROTECTED_END)
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);

	mark_unsampled(sampler, sampler->halt_protected);
}

/*
 * Complete all requests with what firmware has left in the ring: the MCU has stopped, in good
 * order, or @forced by a reset.
 */
void panthor_perf_sampler_down(struct panthor_perf_sampler *sampler, bool forced)
{
	bool used;

	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return;

	/* A reset for another reason may have mended firmware: failures count anew. */
	if (forced && !sampler->reset_asked)
		sampler->failures = 0;
	sampler->reset_asked = false;

	used = !list_empty(&sampler->clients);
	if (sampler->fw->enabled)
		drain_stopped(sampler, forced);

	/* Also without clients: firmware may have answered after it was given up on. */
	if (sampler->fw->ring)
		panthor_perf_fw_stopped(sampler->fw);

	panthor_perf_clock_down(sampler->clock);
	set_state(sampler, PANTHOR_PERF_SAMPLER_DOWN);
	if (used) {
		panthor_perf_complete_now(sampler);
		panthor_perf_deliver_power(sampler);
	}
}

/*
 * Enable counters again if there are clients: the MCU has booted. No work that is started after
 * this returns goes uncounted. Sleeps for up to 400 ms if firmware does not answer. Without a
 * client no register is read, and no clock.
 */
void panthor_perf_sampler_up(struct panthor_perf_sampler *sampler)
{
	guard(mutex)(&sampler->lock);

	if (sampler->state == PANTHOR_PERF_SAMPLER_GONE)
		return;

	/* Complete what was requested while nothing was counted, which may have been a STOP. */
	if (!list_empty(&sampler->clients)) {
		panthor_perf_clock_up(sampler->clock, true, &sampler->time);
		panthor_perf_complete_now(sampler);
	}
	if (list_empty(&sampler->clients)) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_IDLE);
		return;
	}

	panthor_perf_mark_states(sampler, DRM_PANTHOR_PERF_BLOCK_STATE_ON);

	if (enable_counters(sampler)) {
		set_state(sampler, PANTHOR_PERF_SAMPLER_FAILED);
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	}

	/* The sampler's time is still that of before counters were enabled. */
	panthor_perf_deliver_power(sampler);
}

/*
 * End all clients with the samples that they have requested, or else one: the device has gone. No
 * work or timer of the sampler runs when this returns. Registers can be accessed if the MCU runs.
 */
void panthor_perf_sampler_unplug(struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_client *client, *tmp;
	struct panthor_perf_fw *fw = sampler->fw;

	scoped_guard(mutex, &sampler->lock) {
		bool counting = sampler->state == PANTHOR_PERF_SAMPLER_COUNTING;
		bool running = panthor_perf_mcu_runs(sampler) &&
			       sampler->state != PANTHOR_PERF_SAMPLER_CLOSING;

		if (counting)
			panthor_perf_drain(sampler, false, fw->slots);
		set_state(sampler, PANTHOR_PERF_SAMPLER_GONE);
		if (counting)
			mark_unsampled(sampler, panthor_perf_in_protected_mode(sampler));

		/* If firmware does not do that, the ring stays until the MCU has stopped. */
		if (running && fw->ring)
			panthor_perf_fw_disable(fw);

		fail_starting(sampler, sampler->next_seq, -ENODEV);
		panthor_perf_flag_next_sample(sampler, DRM_PANTHOR_PERF_SAMPLE_ERROR);
		panthor_perf_clock_down(sampler->clock);
		panthor_perf_clock_now(sampler->clock, &sampler->time);
		panthor_perf_mark_states(sampler, panthor_perf_off_states(sampler));
		list_for_each_entry_safe(client, tmp, &sampler->clients, node)
			panthor_perf_unplug_client(client);
	}

	/* START may be reading rates. The clocks are freed after this. */
	mutex_lock(&sampler->clock->rates_lock);
	mutex_unlock(&sampler->clock->rates_lock);
	/* The interrupt thread may have read the state before, and queue the work after this. */
	disable_work_sync(&sampler->drain_work);
	disable_delayed_work_sync(&sampler->check_work);
	/* The work sets the timer, and the timer cannot queue the work any more. */
	disable_work_sync(&sampler->timer_work);
	hrtimer_cancel(&sampler->timer);
}
