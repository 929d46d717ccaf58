/* SPDX-License-Identifier: MIT */
/* Bytes on their way from one thread, which never waits, to another, which may. */
#ifndef PANTHOR_PERF_FIFO_H
#define PANTHOR_PERF_FIFO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FIFO_READING -> FIFO_DONE: it has taken all there is; FIFO_READING -> FIFO_FAILED: it has given up. */
enum fifo_reader { FIFO_READING, FIFO_DONE, FIFO_FAILED };

struct fifo {
	pthread_mutex_t lock;
	pthread_cond_t filled;

	/* Bytes ever put in and taken out. Each is written by one thread alone. */
	uint64_t in, out;
	uint8_t *bytes;
	size_t size;

	/* What was put in that the reader has been woken for. */
	uint64_t shown;

	/* Nothing more comes. */
	bool closed;

	enum fifo_reader reader;

	/* What the reader has done that the writer waits for. */
	uint64_t answers;

	/* The writer has found no room. */
	bool wanted;

	/* Becomes readable when there is room that was wanted or an answer, and when the reader reads no more. */
	int eventfd;
	bool signalled;
};

/* Size is a power of two. Returns -1, errno being set. */
int fifo_open(struct fifo *fifo, size_t size);
void fifo_close(struct fifo *fifo);

/*
 * For the writer, none of which waits. Room: for so many bytes; without it, the
 * eventfd tells when there is. Put: bytes there is room for. Show: wakes the reader.
 */
bool fifo_room(struct fifo *fifo, size_t size);
void fifo_put(struct fifo *fifo, const void *bytes, size_t size);
void fifo_show(struct fifo *fifo);

/* Bytes that were not shown yet. */
size_t fifo_hidden(const struct fifo *fifo);

/* Nothing more comes. */
void fifo_end(struct fifo *fifo);

/* What the reader does. The eventfd tells when that changes. */
enum fifo_reader fifo_reader(struct fifo *fifo);
uint64_t fifo_answers(struct fifo *fifo);

/* For the reader. Waits for bytes that lie in a row; 0 at the end. They stay until they are released. */
size_t fifo_get(struct fifo *fifo, const uint8_t **bytes);
void fifo_release(struct fifo *fifo, size_t size);

void fifo_answer(struct fifo *fifo);

/* Reads no more, for it has taken all there is, or gives up. */
void fifo_leave(struct fifo *fifo, enum fifo_reader why);

#endif
