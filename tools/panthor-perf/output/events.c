// SPDX-License-Identifier: MIT
#include "events.h"

enum pperf_error events_describe(const struct events *e, uint64_t track, Pftrace__TrackDescriptor *descriptor)
{
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;

	descriptor->has_uuid = true;
	descriptor->uuid = track;
	packet.track_descriptor = descriptor;
	return e->write(e->context, &packet);
}

enum pperf_error events_write(const struct events *e, uint64_t track, uint64_t time_ns, enum event_type type,
			      Pftrace__TrackEvent *event)
{
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;

	event->has_type = true;
	event->type = type;
	event->has_track_uuid = true;
	event->track_uuid = track;
	packet.track_event = event;
	packet.has_timestamp = true;
	packet.timestamp = time_ns;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = CLOCK_ID_MONOTONIC_RAW;
	return e->write(e->context, &packet);
}
