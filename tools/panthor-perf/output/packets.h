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

struct tracks *packets_tracks(struct packets *packets);

enum pperf_error packets_add_clocks(struct packets *packets, const struct clocks *clocks);
enum pperf_error packets_add_sample(struct packets *packets, const struct pperf_sample *sample);

/* Ends all tracks. */
enum pperf_error packets_end(struct packets *packets);

/* ---- For data sources, which announce their counters before there is a trace ---- */

/*
 * For a trace that others write to as well: counters have the same ids in each trace, and mean something in the
 * packets of this source alone. packets_add_clocks() has to come before samples.
 */
void packets_go_live(struct packets *packets);

/*
 * Wants what is selected where nobody chooses, or a counter more: false if there is none. All are wanted at first,
 * see tracks_want().
 */
void packets_want_default(struct packets *packets);
bool packets_want_id(struct packets *packets, uint32_t id);
bool packets_want_name(struct packets *packets, const char *pattern);

/* What was told before may be lost: the next sample is written as if it were the first. */
void packets_tell_again(struct packets *packets);

/*
 * Makes a DataSourceDescriptor of all that is wanted, to be freed with free(). PPERF_ERROR_TOO_MANY if it has
 * more bytes than max.
 */
enum pperf_error packets_announce(struct packets *packets, const char *name, size_t max, uint8_t **bytes, size_t *size);

#endif
