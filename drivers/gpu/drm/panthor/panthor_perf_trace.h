/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: tracepoints. */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM panthor

#if !defined(__PANTHOR_PERF_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __PANTHOR_PERF_TRACE_H__

#include <linux/tracepoint.h>
#include <linux/types.h>

/*
 * A firmware sample is named by (epoch, insert): the number of times counters
 * have been enabled, and the number of samples taken since, the sample itself
 * included. What is not followed by a sample of the same epoch was lost.
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
 * panthor_perf_fw_sample - called when a firmware sample has been added to all sessions
 * @epoch: number of times counters have been enabled
 * @insert: number of samples since then, this one included
 * @timestamp: GPU timestamp of the sample
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
 * @insert: the last firmware sample that is not the session's
 * @user_data: START's
 * @ns: start of the session's first sample
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
 * @insert: the last firmware sample that is in it
 * @user_data: the sample's
 * @ns: end of the sample
 * @flags: the sample's
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
 * panthor_perf_stretch - called when a sample was due and the ring was full
 * @session: number of the session
 */
TRACE_EVENT(panthor_perf_stretch,
	    TP_PROTO(u32 session),
	    TP_ARGS(session),
	    TP_STRUCT__entry(__field(u32, session)),
	    TP_fast_assign(__entry->session = session;),
	    TP_printk("session=%u",
		      __entry->session)
);

/**
 * panthor_perf_lost - called when counts may have been lost
 * @epoch: number of times counters have been enabled
 * @insert: number of samples consumed since then
 * @flags: what started sessions will flag their next sample with
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

/**
 * panthor_perf_state - called when the GPU comes up or goes down, or counters with it
 * @up: the GPU is up
 * @counting: counters are enabled
 */
TRACE_EVENT(panthor_perf_state,
	    TP_PROTO(bool up, bool counting),
	    TP_ARGS(up, counting),
	    TP_STRUCT__entry(__field(bool, up)
			     __field(bool, counting)),
	    TP_fast_assign(__entry->up = up;
			   __entry->counting = counting;),
	    TP_printk("up=%d counting=%d",
		      __entry->up, __entry->counting)
);

#endif /* __PANTHOR_PERF_TRACE_H__ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE panthor_perf_trace

#include <trace/define_trace.h>
