/* SPDX-License-Identifier: MIT */
/* Recordings as traces that Perfetto shows. */
#ifndef PANTHOR_PERF_PERFETTO_H
#define PANTHOR_PERF_PERFETTO_H

#include <stdio.h>

#include "recording.h"

/* Perfetto reads zstd from version 58 on; deflate takes twice the room and five times the time. */
enum perfetto_compression { PERFETTO_ZSTD, PERFETTO_DEFLATE };

#define PERFETTO_HELP "Write a Perfetto trace, compressed with zstd (the default) or with deflate, which versions of Perfetto " \
	"before 58 need"

/* By its name; NULL is the default. Returns false if there is none of this name. */
bool perfetto_parse_compression(const char *name, enum perfetto_compression *compression);

/*
 * Makes a trace of all that a recording holds from where it stands. Returns
 * what ended it, RECORDING_END or another enum recording_item, if *error is PPERF_OK.
 * *written is how many samples the file has taken whole, unless it is NULL.
 */
enum recording_item perfetto_convert(struct recording *recording, FILE *file, enum perfetto_compression compression,
				     enum pperf_error *error, uint64_t *written);

#endif
