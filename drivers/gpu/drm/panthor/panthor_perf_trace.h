/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: tracepoints. */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM panthor

#if !defined(__PANTHOR_PERF_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __PANTHOR_PERF_TRACE_H__

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "panthor_perf_sampler.h"

/*
 * A firmware sample is named by (epoch, insert): the number of times counters
 * have been enabled, and the number of samples taken since then, this one
 * included. Counts after the last sample of an epoch are in no sample: they are
 * lost when counters are disabled.
 *
 * "Session" is the number of a client of the sampler, which is what the sampler
 * knows of a session. Times are in nanoseconds of CLOCK_MONOTONIC_RAW.
 */

/**
 * panthor_perf_request - called when firmware is asked for a sample
 * @epoch: number of times counters have been enabled
 * @gen: number of the request
 */
TRACE_EVENT(panthor_perf_request,
	    TP_PROTO(u32 epoch, u32 gen),
	    TP_ARGS(epoch, gen),
	    TP_STRUCT__entry(__field(u32, epoch)
			     __field(u32, gen)),
	    TP_fast_assign(__entry->epoch = epoch;
			   __entry->gen = gen;),
	    TP_printk("epoch=%u gen=%u",
		      __entry->epoch, __entry->gen)
);

/**
 * panthor_perf_fw_sample - called when a firmware sample was read, before it is added to sessions
 * @epoch: number of times counters have been enabled
 * @insert: number of samples in this epoch, this one included
 * @timestamp: GPU timestamp at which firmware took the sample, in its ticks
 * @reason: why firmware took it, enum panthor_perf_reason
 */
TRACE_EVENT(panthor_perf_fw_sample,
	    TP_PROTO(u32 epoch, u32 insert, u64 timestamp, u32 reason),
	    TP_ARGS(epoch, insert, timestamp, reason),
	    TP_STRUCT__entry(__field(u32, epoch)
			     __field(u32, insert)
			     __field(u64, timestamp)
			     __field(u32, reason)),
	    TP_fast_assign(__entry->epoch = epoch;
			   __entry->insert = insert;
			   __entry->timestamp = timestamp;
			   __entry->reason = reason;),
	    TP_printk("epoch=%u insert=%u timestamp=%llu reason=%u",
		      __entry->epoch, __entry->insert, __entry->timestamp, __entry->reason)
);

/**
 * panthor_perf_baseline - called when a session begins to count
 * @session: number of the session
 * @epoch: number of times counters have been enabled
 * @insert: the firmware sample after which the session counts
 * @user_data: tag that START gave
 * @ns: time at which the session's first sample starts
 */
TRACE_EVENT(panthor_perf_baseline,
	    TP_PROTO(u32 session, u32 epoch, u32 insert, u64 user_data, u64 ns),
	    TP_ARGS(session, epoch, insert, user_data, ns),
	    TP_STRUCT__entry(__field(u32, session)
			     __field(u32, epoch)
			     __field(u32, insert)
			     __field(u64, user_data)
			     __field(u64, ns)),
	    TP_fast_assign(__entry->session = session;
			   __entry->epoch = epoch;
			   __entry->insert = insert;
			   __entry->user_data = user_data;
			   __entry->ns = ns;),
	    TP_printk("session=%u epoch=%u insert=%u user_data=0x%llx ns=%llu",
		      __entry->session, __entry->epoch, __entry->insert, __entry->user_data,
		      __entry->ns)
);

/**
 * panthor_perf_delivery - called when a sample has been written to a session's ring
 * @session: number of the session
 * @epoch: number of times counters have been enabled
 * @insert: the last firmware sample that is a part of it
 * @user_data: tag of the sample
 * @ns: time at which the sample ends
 * @flags: flags of the sample, enum drm_panthor_perf_sample_flags
 */
TRACE_EVENT(panthor_perf_delivery,
	    TP_PROTO(u32 session, u32 epoch, u32 insert, u64 user_data, u64 ns, u32 flags),
	    TP_ARGS(session, epoch, insert, user_data, ns, flags),
	    TP_STRUCT__entry(__field(u32, session)
			     __field(u32, epoch)
			     __field(u32, insert)
			     __field(u64, user_data)
			     __field(u64, ns)
			     __field(u32, flags)),
	    TP_fast_assign(__entry->session = session;
			   __entry->epoch = epoch;
			   __entry->insert = insert;
			   __entry->user_data = user_data;
			   __entry->ns = ns;
			   __entry->flags = flags;),
	    TP_printk("session=%u epoch=%u insert=%u user_data=0x%llx ns=%llu flags=0x%x",
		      __entry->session, __entry->epoch, __entry->insert, __entry->user_data,
		      __entry->ns, __entry->flags)
);

/**
 * panthor_perf_lost - called when counts may have been lost
 * @epoch: number of times counters have been enabled
 * @insert: number of samples consumed since then
 * @flags: flags that the next sample of each session that counts will have
 */
TRACE_EVENT(panthor_perf_lost,
	    TP_PROTO(u32 epoch, u32 insert, u32 flags),
	    TP_ARGS(epoch, insert, flags),
	    TP_STRUCT__entry(__field(u32, epoch)
			     __field(u32, insert)
			     __field(u32, flags)),
	    TP_fast_assign(__entry->epoch = epoch;
			   __entry->insert = insert;
			   __entry->flags = flags;),
	    TP_printk("epoch=%u insert=%u flags=0x%x",
		      __entry->epoch, __entry->insert, __entry->flags)
);

/* Programs that read traces are told what the names in the formats below stand for. */
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_DOWN);
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_CLOSING);
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_IDLE);
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_COUNTING);
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_FAILED);
TRACE_DEFINE_ENUM(PANTHOR_PERF_SAMPLER_GONE);

#define panthor_perf_show_state(state)						\
	__print_symbolic(state,								\
			 { PANTHOR_PERF_SAMPLER_DOWN, "down" },				\
			 { PANTHOR_PERF_SAMPLER_CLOSING, "closing" },			\
			 { PANTHOR_PERF_SAMPLER_IDLE, "idle" },				\
			 { PANTHOR_PERF_SAMPLER_COUNTING, "counting" },			\
			 { PANTHOR_PERF_SAMPLER_FAILED, "failed" },			\
			 { PANTHOR_PERF_SAMPLER_GONE, "gone" })

/**
 * panthor_perf_state - called when the state of the sampler changes
 * @up: the MCU runs, or is about to be stopped
 * @counting: counters are enabled
 * @state: new state, enum panthor_perf_sampler_state
 */
TRACE_EVENT(panthor_perf_state,
	    TP_PROTO(bool up, bool counting, u32 state),
	    TP_ARGS(up, counting, state),
	    TP_STRUCT__entry(__field(bool, up)
			     __field(bool, counting)
			     __field(u32, state)),
	    TP_fast_assign(__entry->up = up;
			   __entry->counting = counting;
			   __entry->state = state;),
	    TP_printk("up=%d counting=%d state=%s",
		      __entry->up, __entry->counting,
		      panthor_perf_show_state(__entry->state))
);

#endif /* __PANTHOR_PERF_TRACE_H__ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE panthor_perf_trace

#include <trace/define_trace.h>
