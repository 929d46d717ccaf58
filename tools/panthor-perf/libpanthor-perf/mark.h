/* SPDX-License-Identifier: MIT */
/*
 * How marks come to recorders: datagrams on sockets in directories that both sides know. Whoever sends one
 * says when it was, so that it does not matter when it is read.
 */
#ifndef PPERF_MARK_H
#define PPERF_MARK_H

#include "panthor-perf.h"

/*
 * Of root's recorders, and of those of a user behind what XDG_RUNTIME_DIR says; a socket has its recorder's PID
 * as its name.
 */
#define MARK_ROOT_DIRECTORY "/run/panthor-perf"
#define MARK_USER_DIRECTORY "/panthor-perf"

/* In the environment of a recorder's command: the path of its socket, if that is in none of these. */
#define MARK_SOCKET "PANTHOR_PERF_SOCKET"

#define MARK_MAGIC 0x314b4d50u

struct mark_message {
	uint32_t magic;

	/* Marks of the same program before this one that no recorder had room for. */
	uint32_t missed;

	/* CLOCK_MONOTONIC_RAW. */
	uint64_t time_ns;

	/* To the end of the message, without a zero; nothing ends the region that there is. */
	char name[PPERF_MARK_LENGTH];
};

/* What is in the environment, unless the program runs as somebody else than who has started it. */
const char *pperf_mark_environment(const char *name);

/*
 * Sends a mark to one socket or, with NULL, to all that there are, and waits so long, in milliseconds, for
 * each that has no room. *missed, unless it is NULL, is how many had none.
 */
enum pperf_error pperf_mark_send(const char *path, const char *name, unsigned int timeout_ms, unsigned int *missed);

#endif
