// SPDX-License-Identifier: MIT
#include "fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int fifo_open(struct fifo *fifo, size_t size)
{
	memset(fifo, 0, sizeof(*fifo));
	fifo->size = size;
	fifo->bytes = malloc(size);
	if (!fifo->bytes) {
		errno = ENOMEM;
		return -1;
	}
	/* Its pages are given now, while nothing has to be quick; not zeros, for which no page need be touched. */
	memset(fifo->bytes, 0xff, size);

	fifo->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fifo->eventfd < 0) {
		free(fifo->bytes);
		return -1;
	}
	pthread_mutex_init(&fifo->lock, NULL);
	pthread_cond_init(&fifo->filled, NULL);
	return 0;
}

void fifo_close(struct fifo *fifo)
{
	pthread_cond_destroy(&fifo->filled);
	pthread_mutex_destroy(&fifo->lock);
	close(fifo->eventfd);
	free(fifo->bytes);
}

/* The lock is held for a few instructions at a time, by either side: taking it is no wait. */
/* What was signalled before is answered by the look that is taken now. */
static void clear_signal(struct fifo *fifo)
{
	uint64_t signals;

	if (fifo->signalled && read(fifo->eventfd, &signals, sizeof(signals)) == sizeof(signals))
		fifo->signalled = false;
}

bool fifo_room(struct fifo *fifo, size_t size)
{
	bool room;

	pthread_mutex_lock(&fifo->lock);
	room = fifo->size - (fifo->in - fifo->out) >= size;
	fifo->wanted = !room;
	clear_signal(fifo);
	pthread_mutex_unlock(&fifo->lock);
	return room;
}

void fifo_put(struct fifo *fifo, const void *bytes, size_t size)
{
	size_t at = fifo->in & (fifo->size - 1), first = fifo->size - at;

	if (first > size)
		first = size;
	memcpy(fifo->bytes + at, bytes, first);
	memcpy(fifo->bytes, (const char *)bytes + first, size - first);
	fifo->in += size;
}

void fifo_show(struct fifo *fifo)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->shown = fifo->in;
	pthread_cond_signal(&fifo->filled);
	pthread_mutex_unlock(&fifo->lock);
}

size_t fifo_hidden(const struct fifo *fifo)
{
	return fifo->in - fifo->shown;
}

void fifo_end(struct fifo *fifo)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->shown = fifo->in;
	fifo->closed = true;
	pthread_cond_signal(&fifo->filled);
	pthread_mutex_unlock(&fifo->lock);
}

enum fifo_reader fifo_reader(struct fifo *fifo)
{
	enum fifo_reader reader;

	pthread_mutex_lock(&fifo->lock);
	reader = fifo->reader;
	clear_signal(fifo);
	pthread_mutex_unlock(&fifo->lock);
	return reader;
}

uint64_t fifo_answers(struct fifo *fifo)
{
	uint64_t answers;

	pthread_mutex_lock(&fifo->lock);
	answers = fifo->answers;
	clear_signal(fifo);
	pthread_mutex_unlock(&fifo->lock);
	return answers;
}

size_t fifo_get(struct fifo *fifo, const uint8_t **bytes)
{
	size_t at = fifo->out & (fifo->size - 1), size;

	pthread_mutex_lock(&fifo->lock);
	while (fifo->shown == fifo->out && !fifo->closed)
		pthread_cond_wait(&fifo->filled, &fifo->lock);
	size = fifo->shown - fifo->out;
	pthread_mutex_unlock(&fifo->lock);

	*bytes = fifo->bytes + at;
	return size < fifo->size - at ? size : fifo->size - at;
}

static void signal_writer(struct fifo *fifo)
{
	const uint64_t one = 1;

	if (!fifo->signalled && write(fifo->eventfd, &one, sizeof(one)) == sizeof(one))
		fifo->signalled = true;
}

void fifo_release(struct fifo *fifo, size_t size)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->out += size;
	if (fifo->wanted) {
		fifo->wanted = false;
		signal_writer(fifo);
	}
	pthread_mutex_unlock(&fifo->lock);
}

void fifo_answer(struct fifo *fifo)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->answers++;
	signal_writer(fifo);
	pthread_mutex_unlock(&fifo->lock);
}

void fifo_leave(struct fifo *fifo, enum fifo_reader why)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->reader = why;
	signal_writer(fifo);
	pthread_mutex_unlock(&fifo->lock);
}
