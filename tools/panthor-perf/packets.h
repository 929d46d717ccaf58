/* SPDX-License-Identifier: MIT */
/*
 * Samples as packets of Perfetto's trace format (perfetto.proto), whoever writes them down.
 *
 * A value is a point at the sample's begin, which stands for the time from there on (FORWARDS), until there is
 * another; where nothing follows, zeros end it. Each sample has a packet, if only to say where it begins: rate
 * times length is the count. One of no time is a part of the next, or has a nanosecond where none follows.
 */
#ifndef PANTHOR_PERF_PACKETS_H
#define PANTHOR_PERF_PACKETS_H

#include "perfetto.pb-c.h"
#include "tracks.h"

/* enum ClockSnapshot.Clock.BuiltinClocks: the clock of samples. */
#define CLOCK_ID_MONOTONIC_RAW 5

struct packets;

/* Takes a packet, which is gone when it returns. An error is returned by who has made it. */
typedef enum pperf_error packets_write(void *context, Pftrace__TracePacket *packet);

/* The head has to outlive them. */
enum pperf_error packets_open(const struct recording_head *head, packets_write *write, void *context,
			      struct packets **packets);
void packets_close(struct packets *packets);

const struct tracks *packets_tracks(const struct packets *packets);

enum pperf_error packets_add_clocks(struct packets *packets, const struct recording_clocks *clocks);
enum pperf_error packets_add_sample(struct packets *packets, const struct pperf_sample *sample);

/* Ends all tracks. */
enum pperf_error packets_end(struct packets *packets);

#endif
