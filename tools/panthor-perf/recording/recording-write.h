/* SPDX-License-Identifier: MIT */
/* Writes files of recorded samples: panthor-perf-data(5). */
#ifndef PANTHOR_PERF_RECORDING_WRITE_H
#define PANTHOR_PERF_RECORDING_WRITE_H

#include "recording.h"

/* Encodes records. Each call gives bytes that stay until the next. */
struct recording_writer {
	struct recording_layout layout;
	uint64_t end_ns;

	/* The fields of the previous sample. */
	uint64_t *previous;
	uint8_t *bytes;
	size_t size;

	/* As many bytes as a sample with the state that may come before it, or jobs, have at the most. */
	size_t longest;

	/* The chunk that is being written, and where the next record is. */
	struct recording_chunk chunk;
	uint64_t offset;

	/* The index of those before it. Its size is SIZE_MAX if there is no memory for it: the file is without one. */
	uint8_t *index;
	size_t index_size, index_room;
};

/*
 * Returns -1 without memory, or for a GPU with more blocks than the format has
 * room for. The bytes are the head of the file.
 */
int recording_writer_open(struct recording_writer *writer, const struct recording_head *head);
void recording_writer_close(struct recording_writer *writer);

/* The sample has the blocks that the head tells of. */
void recording_write_sample(struct recording_writer *writer, const struct pperf_sample *sample);
void recording_write_clocks(struct recording_writer *writer, const struct clocks *clocks);
/* The time is none before that of the mark before. */
void recording_write_mark(struct recording_writer *writer, const struct recording_mark *mark);
void recording_write_frame(struct recording_writer *writer, const struct recording_frame *end);
void recording_write_use(struct recording_writer *writer, const struct recording_use *use);
/* Of no more of each than a record has; times are in it, or before. For a head that has jobs. */
void recording_write_jobs(struct recording_writer *writer, const struct recording_jobs *jobs);
/* A record of another recording, which has no state. */
void recording_write_record(struct recording_writer *writer, const struct recording_record *record);
/* Returns -1 without memory. */
int recording_write_end(struct recording_writer *writer, const struct recording_end *end);

/* What the head of a file and its end say, as JSON. */
struct json_object *recording_head_json(const struct recording_head *head);
struct json_object *recording_end_json(const struct recording_end *end);

#endif
