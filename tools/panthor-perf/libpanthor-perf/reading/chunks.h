/* SPDX-License-Identifier: MIT */
/* The parts of a recording that can be read at the same time, or alone. */
#ifndef PANTHOR_PERF_CHUNKS_H
#define PANTHOR_PERF_CHUNKS_H

#include "recording.h"

struct chunk {
	struct recording_chunk range;

	/* Samples before it. */
	uint64_t number;

	/* The state that its first sample follows; NULL if it begins with a record of that, or is the first. */
	uint8_t *state;
	size_t state_size;
};

struct chunks {
	struct chunk *list;
	size_t count;

	/* All samples. */
	uint64_t samples;
};

/*
 * Finds all, by the index or, without one that fits, by reading the whole file, which has to be one that can be read at any
 * place. Returns RECORDING_END, with the end known, RECORDING_CUT, or what is wrong. pperf_chunks_free() must be called in any case.
 */
enum recording_item pperf_chunks_find(struct recording *recording, struct chunks *chunks);
void pperf_chunks_free(struct chunks *chunks);

/* Reads a chunk, to be freed by the caller. Returns NULL, errno being set: 0 if the file is shorter. */
uint8_t *pperf_chunk_read(const struct recording *recording, const struct chunk *chunk);

/*
 * Calls take() for each record of a chunk as long as it returns RECORDING_END. Returns that, or what is wrong. The recording
 * says so, unless it is a lack of memory.
 */
enum recording_item pperf_chunk_each(struct recording *recording, const struct chunk *chunk,
				     enum recording_item (*take)(void *context, const struct recording_record *record), void *context);

/* Returns RECORDING_BROKEN, which the recording says, too: what is in a chunk is not what was known of it. */
enum recording_item pperf_chunk_differs(struct recording *recording, const struct chunk *chunk);

/* Goes to the first sample of a chunk. Returns RECORDING_END, or what is wrong, which the recording has then. */
enum recording_item pperf_chunk_begin(struct recording *recording, const struct chunk *chunk);

#endif
