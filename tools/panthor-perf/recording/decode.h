/* SPDX-License-Identifier: MIT */
/* Samples of a chunk, out of its bytes. */
#ifndef PANTHOR_PERF_DECODE_H
#define PANTHOR_PERF_DECODE_H

#include "chunks.h"

struct decoder {
	const struct recording *recording;
	const struct chunks *chunks;

	/*
	 * Called for each sample, whose fields are there; before is the one before it, NULL if there is none. Returns
	 * RECORDING_SAMPLE, or what is wrong, with which decoding ends.
	 */
	enum recording_item (*sample)(void *context, const struct recording_times *times, const struct recording_times *before);
	void *context;

	/* The fields of the sample that is decoded. */
	uint64_t *fields;

	/* Of the states at the begin and at the end of the chunk. */
	uint64_t begins, ends;

	/* What is wrong, in a sentence without a full stop. */
	char error[sizeof(((struct recording *)0)->error)];
};

/* Returns -1 without memory. decoder_free() must be called in any case. */
int decoder_new(struct decoder *decoder, const struct recording *recording, const struct chunks *chunks);
void decoder_free(struct decoder *decoder);

/* Decodes a chunk. Returns RECORDING_SAMPLE, or what is wrong. */
enum recording_item decode_chunk(struct decoder *decoder, const struct chunk *chunk);

/*
 * Returns RECORDING_SAMPLE if a chunk that was decoded begins with the state with which the one before it ended, or what is
 * wrong.
 */
enum recording_item decode_follows(struct decoder *decoder, const struct chunk *chunk, uint64_t ends);

#endif
