/* SPDX-License-Identifier: MIT */
/* The writing thread of a recorder: it takes records out of a queue, and may wait for the disk as long as it takes. */
#ifndef PANTHOR_PERF_SINK_H
#define PANTHOR_PERF_SINK_H

#include <pthread.h>

#include "fifo.h"
#include "perfetto.h"
#include "recording-write.h"

enum sink_kind {
	/* One recording, or one Perfetto trace. */
	SINK_FILE,
	SINK_TRACE,

	/* A recording up to each end that is RECORDING_CONTINUED, to PATH-000001 and so on. */
	SINK_SPLIT,

	/* Memory: the last samples are written at each end, to PATH, PATH.1 and so on. */
	SINK_LAST,
};

/* Where bytes of a recording stand between and in records. */
struct sink_walk {
	uint8_t start[4];
	unsigned int have;
	uint64_t left;
};

/* A recording that is made of records of another one. */
struct sink_part {
	FILE *file;
	struct recording_writer writer;
	struct pperf_log log;
	uint64_t marks, frames;

	/* Clocks and a mark at its begin, from before it. */
	unsigned int repeated;
};

struct sink {
	/* To be set before sink_open(). The path is NULL for standard output. */
	enum sink_kind kind;
	const char *path;
	struct fifo *queue;

	/* SINK_TRACE */
	enum perfetto_compression compression;

	/* SINK_SPLIT: how many files to keep; 0: all. */
	unsigned long keep;

	/* SINK_LAST: the time to keep, and the bytes of memory for it. */
	uint64_t last_ns;
	size_t memory_size;

	/* The file being written; whether it is new, and still empty. */
	char *name;
	int fd;
	bool made;

	/* For the thread. */
	pthread_t thread;
	unsigned int number;
	struct sink_walk walk;
	struct sink_part part;
	struct sink_memory *memory;

	/* Results, valid when the thread has ended: an errno, another error, or one that was reported already. */
	int error;
	enum pperf_error trace_error;
	bool failed;

	uint64_t bytes, samples;
	unsigned int files;

	/* SINK_LAST: the time that fitted into memory, if it was less than last_ns; else 0. */
	uint64_t short_ns;
};

/* Open the output without changing its content. Print an error. Return a status. */
int sink_open(struct sink *sink, const struct recording_head *head);

/* Truncate the output and start the thread. Print an error. Return a status. */
int sink_start(struct sink *sink);

/* To be called when the thread has ended or was not started. Print an error. Return a status. */
int sink_close(struct sink *sink);

#endif
