/* SPDX-License-Identifier: MIT */
/* Samples of a chunk, out of its bytes: the same for the library and for the program, which has threads for it. */
#ifndef PPERF_DECODE_H
#define PPERF_DECODE_H

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

/* Returns -1 without memory. pperf_decoder_free() must be called in any case. */
int pperf_decoder_new(struct decoder *decoder, const struct recording *recording, const struct chunks *chunks);
void pperf_decoder_free(struct decoder *decoder);

/* Decodes a chunk. Returns RECORDING_SAMPLE, or what is wrong. */
enum recording_item pperf_decode(struct decoder *decoder, const struct chunk *chunk);

/*
 * Returns RECORDING_SAMPLE if a chunk that was decoded begins with the state with which the one before it ended, or what is
 * wrong.
 */
enum recording_item pperf_decode_follows(struct decoder *decoder, const struct chunk *chunk, uint64_t ends);

/* Fields that are added up for a value: so many, each so far behind the one before it. */
struct decode_column {
	size_t first, stride;
	unsigned int count;
};

static inline double decode_total(const uint64_t *fields, const struct decode_column *column)
{
	const uint64_t *field = fields + column->first;
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < column->count; i++, field += column->stride)
		total += *field;
	return total;
}

/* The sum over all blocks of a counter that is recorded: by its place among those of its type. */
struct decode_column pperf_decode_column(const struct recording *recording, unsigned int type, unsigned int place);

/* The field with the states of the first block of a type, 0 if there is none. */
size_t pperf_decode_states(const struct recording *recording, unsigned int type);

#endif
