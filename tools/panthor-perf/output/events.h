/* SPDX-License-Identifier: MIT */
/* Tracks of slices in Perfetto's trace format. */
#ifndef PANTHOR_PERF_EVENTS_H
#define PANTHOR_PERF_EVENTS_H

#include "packets.h"

/* enum TrackEvent.Type */
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };

/* Who takes packets. */
struct events {
	packets_write *write;
	void *context;
};

/* All but the id of a track is the caller's, and all but the type, the track and the time of an event. */
enum pperf_error events_describe(const struct events *events, uint64_t track, Pftrace__TrackDescriptor *descriptor);
enum pperf_error events_write(const struct events *events, uint64_t track, uint64_t time_ns, enum event_type type,
			      Pftrace__TrackEvent *event);

#endif
