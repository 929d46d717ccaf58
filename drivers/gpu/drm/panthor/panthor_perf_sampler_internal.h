/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: what the three files of the sampler share. */

#ifndef __PANTHOR_PERF_SAMPLER_INTERNAL_H__
#define __PANTHOR_PERF_SAMPLER_INTERNAL_H__

#include "panthor_perf_sampler.h"

/* Return true if @seq is not later than @done_seq. Sequence numbers wrap around. */
static inline bool panthor_perf_seq_complete(u32 seq, u32 done_seq)
{
	return (s32)(seq - done_seq) <= 0;
}

static inline bool panthor_perf_has_ring(const struct panthor_perf_client *client)
{
	return client->ops->free_slots;
}

/*
 * Return true if the client is counting. STARTED and STOPPING both count, so that it does not
 * matter if STOP changes the one into the other meanwhile.
 */
static inline bool panthor_perf_client_counts(const struct panthor_perf_client *client)
{
	enum panthor_perf_client_state state = READ_ONCE(client->state);

	return state == PANTHOR_PERF_CLIENT_STARTED || state == PANTHOR_PERF_CLIENT_STOPPING;
}

/* Return true if registers can be accessed, with panthor_perf_sampler::lock held. */
static inline bool panthor_perf_mcu_runs(const struct panthor_perf_sampler *sampler)
{
	return sampler->state != PANTHOR_PERF_SAMPLER_DOWN &&
	       sampler->state != PANTHOR_PERF_SAMPLER_GONE;
}

static inline bool panthor_perf_in_protected_mode(struct panthor_perf_sampler *sampler)
{
	return sampler->fw->ops->protected_mode(sampler->fw);
}

/* panthor_perf_sampler.c: clients and their requests. req_lock held: */
void panthor_perf_submit_fw_request(struct panthor_perf_sampler *sampler);
void panthor_perf_want_fw_request(struct panthor_perf_sampler *sampler);
void panthor_perf_want_limited(struct panthor_perf_sampler *sampler);
void panthor_perf_queue_request(struct panthor_perf_client *client, u64 user_data, bool last);
bool panthor_perf_reserve_slot(struct panthor_perf_client *client);
void panthor_perf_set_deadline(struct panthor_perf_client *client);

/* lock held: */
void panthor_perf_end_client(struct panthor_perf_client *client,
			     enum panthor_perf_client_state state, int start_ret);

/* no lock held: */
void panthor_perf_init_timer(struct panthor_perf_sampler *sampler);

/* panthor_perf_sampler_drain.c: from the firmware ring to the clients. lock held: */
void panthor_perf_flag_next_sample(struct panthor_perf_sampler *sampler, u32 flags);
void panthor_perf_mark_states(struct panthor_perf_sampler *sampler, u8 states);
u8 panthor_perf_off_states(struct panthor_perf_sampler *sampler);
void panthor_perf_unplug_client(struct panthor_perf_client *client);
void panthor_perf_complete_now(struct panthor_perf_sampler *sampler);
void panthor_perf_deliver_power(struct panthor_perf_sampler *sampler);
bool panthor_perf_drain(struct panthor_perf_sampler *sampler, bool force_ack, u32 limit);

/* panthor_perf_sampler_state.c: state, suspend, reset and recovery. lock held: */
int panthor_perf_enable_for_start(struct panthor_perf_sampler *sampler);
void panthor_perf_disable_if_unused(struct panthor_perf_sampler *sampler);

#endif
