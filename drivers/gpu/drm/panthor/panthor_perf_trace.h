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
 * Fields that several events have:
 *
 * epoch, insert: name a firmware sample. The number of times counters have been enabled, and the
 *	number of samples read since then, this one included. Counts after the last sample of an
 *	epoch are lost, in no sample.
 * session: number of a client of the sampler, as in debugfs
 * user_data: tag that START, SAMPLE or STOP gave
 * ns: CLOCK_MONOTONIC_RAW in nanoseconds
 * flags: enum drm_panthor_perf_sample_flags
 */

/* Firmware is asked for a sample: the request with the number seq. */
TRACE_EVENT(panthor_perf_request,
	    TP_PROTO(u32 epoch, u32 seq),
	    TP_ARGS(epoch, seq),
	    TP_STRUCT__entry(__field(u32, epoch)
			     __field(u32, seq)),
	    TP_fast_assign(__entry->epoch = epoch;
			   __entry->seq = seq;),
	    TP_printk("epoch=%u seq=%u", __entry->epoch, __entry->seq)
);

/*
 * A firmware sample was read, before it is added to sessions. It was taken at the GPU timestamp,
 * in ticks, for a reason, enum panthor_perf_reason.
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

DECLARE_EVENT_CLASS(panthor_perf_session,
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
			      __entry->session, __entry->epoch, __entry->insert,
			      __entry->user_data, __entry->ns, __entry->flags)
);

/* A session begins to count, after a firmware sample and at a time. flags are 0 or OVERFLOW. */
DEFINE_EVENT(panthor_perf_session, panthor_perf_baseline,
	     TP_PROTO(u32 session, u32 epoch, u32 insert, u64 user_data, u64 ns, u32 flags),
	     TP_ARGS(session, epoch, insert, user_data, ns, flags)
);

/* A sample was delivered that ends with a firmware sample, and at a time. */
DEFINE_EVENT(panthor_perf_session, panthor_perf_delivery,
	     TP_PROTO(u32 session, u32 epoch, u32 insert, u64 user_data, u64 ns, u32 flags),
	     TP_ARGS(session, epoch, insert, user_data, ns, flags)
);

/* Counts may have been lost: the next sample of each session that counts has the flags. */
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

/* The state of the sampler changes. */
TRACE_EVENT(panthor_perf_state,
	    TP_PROTO(const char *state),
	    TP_ARGS(state),
	    TP_STRUCT__entry(__string(state, state)),
	    TP_fast_assign(__assign_str(state);),
	    TP_printk("state=%s", __get_str(state))
);

#endif /* __PANTHOR_PERF_TRACE_H__ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE panthor_perf_trace

#include <trace/define_trace.h>
