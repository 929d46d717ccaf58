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
bool fifo_room(struct fifo *fifo, size_t size)
{
	uint64_t signals;
	bool room;

	pthread_mutex_lock(&fifo->lock);
	room = fifo->size - (fifo->in - fifo->out) >= size;
	fifo->wanted = !room;
	/* What was signalled before is answered by this look. */
	if (!room && read(fifo->eventfd, &signals, sizeof(signals)) < 0)
		signals = 0;
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

size_t fifo_used(struct fifo *fifo)
{
	size_t used;

	pthread_mutex_lock(&fifo->lock);
	used = fifo->in - fifo->out;
	pthread_mutex_unlock(&fifo->lock);
	return used;
}

void fifo_end(struct fifo *fifo)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->shown = fifo->in;
	fifo->closed = true;
	pthread_cond_signal(&fifo->filled);
	pthread_mutex_unlock(&fifo->lock);
}

bool fifo_has_failed(struct fifo *fifo)
{
	bool failed;

	pthread_mutex_lock(&fifo->lock);
	failed = fifo->failed;
	pthread_mutex_unlock(&fifo->lock);
	return failed;
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

/* A signal can fail only if it is the 2^64th that was not read. */
static void signal_writer(struct fifo *fifo)
{
	const uint64_t one = 1;

	if (write(fifo->eventfd, &one, sizeof(one)) < 0)
		return;
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

void fifo_fail(struct fifo *fifo)
{
	pthread_mutex_lock(&fifo->lock);
	fifo->failed = true;
	signal_writer(fifo);
	pthread_mutex_unlock(&fifo->lock);
}
