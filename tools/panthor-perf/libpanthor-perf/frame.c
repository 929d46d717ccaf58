// SPDX-License-Identifier: MIT
/*
 * The ends of a program's frames, for all recorders. A recorder without room gets them with a later frame: up to
 * FRAMES_PENDING are kept in static memory. One thread at a time adds to these; a thread that finds another one there,
 * or that is a signal handler above it, sends its frame alone. Nothing waits, and nothing is allocated.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "mark.h"

/* How long a program that ends waits for recorders that had no room for its last frames. */
#define LAST_TIMEOUT_MS 1000

/* The process that a thread is adding a frame of, or 0. A child that was forked meanwhile has no such thread. */
static pid_t adding;

/* Of the process: what it sends, how many frames of that recorders had no room for, and where recorders are. */
static pid_t owner;
static struct frame_message message = { .head.magic = FRAME_MAGIC };
static size_t pending;
static struct mark_places places;

/* Frames that were sent alone, and that no recorder had room for. */
static uint32_t missed_alone;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void begin_process(pid_t self, uint64_t time_ns)
{
	message.head.program = time_ns;
	message.head.number = 1;
	message.head.missed = 0;
	memcpy(message.head.name, program_invocation_short_name,
	       strnlen(program_invocation_short_name, sizeof(message.head.name)));
	pending = 0;
	pperf_mark_find_places(&places);
	__atomic_store_n(&owner, self, __ATOMIC_RELEASE);
}

static bool begin_to_add(pid_t self)
{
	pid_t who = __atomic_load_n(&adding, __ATOMIC_RELAXED);

	return who != self && __atomic_compare_exchange_n(&adding, &who, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void end_adding(void)
{
	__atomic_store_n(&adding, 0, __ATOMIC_RELEASE);
}

/* Sends all that is pending. */
static void send_pending(unsigned int timeout_ms)
{
	struct mark_sender s = {
		.fd = -1, .timeout_ms = timeout_ms, .message = &message,
		.size = sizeof(message.head) + pending * sizeof(*message.times_ns),
	};

	if (missed_alone)
		message.head.missed += __atomic_exchange_n(&missed_alone, 0, __ATOMIC_RELAXED);
	pperf_mark_send_to_all(&s, &places);
	if (s.sent || !s.missed)
		message.head.missed = 0;
	if (s.missed)
		return;
	/* Frames that nobody wants have no numbers. */
	if (s.sent)
		message.head.number += pending;
	pending = 0;
}

static void add(uint64_t time_ns)
{
	if (pending == FRAMES_PENDING) {
		memmove(message.times_ns, message.times_ns + 1, (FRAMES_PENDING - 1) * sizeof(*message.times_ns));
		message.head.number++;
		pending--;
	}
	message.times_ns[pending++] = time_ns;
	send_pending(0);
}

static void send_alone(pid_t self, uint64_t time_ns)
{
	struct {
		struct frame_head head;
		uint64_t time_ns;
	} alone = { .head.magic = FRAME_MAGIC, .time_ns = time_ns };
	struct mark_sender s = { .fd = -1, .message = &alone, .size = sizeof(alone) };

	/* The other thread may not have begun the process yet. */
	if (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) == self) {
		alone.head.program = message.head.program;
		memcpy(alone.head.name, message.head.name, sizeof(alone.head.name));
		pperf_mark_send_to_all(&s, &places);
	}
	if (s.missed || !alone.head.program)
		__atomic_fetch_add(&missed_alone, 1, __ATOMIC_RELAXED);
}

void pperf_frame(void)
{
	pid_t self = getpid();
	int before = errno;
	uint64_t time_ns;

	/* Where recorders are is known once the process has begun, and stays so. */
	if (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) == self && !pperf_mark_is_heard(&places)) {
		errno = before;
		return;
	}
	time_ns = now_ns();
	if (begin_to_add(self)) {
		if (owner != self)
			begin_process(self, time_ns);
		add(time_ns);
		end_adding();
	} else {
		send_alone(self, time_ns);
	}
	errno = before;
}

/* A program that ends, or a library that is closed. */
static void __attribute__((destructor)) send_last(void)
{
	pid_t self = getpid();

	if (owner != self || !begin_to_add(self))
		return;
	/* Without a frame it tells of those that were missed. */
	if (pending || missed_alone)
		send_pending(LAST_TIMEOUT_MS);
	end_adding();
}
