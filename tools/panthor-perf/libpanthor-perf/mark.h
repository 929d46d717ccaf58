/* SPDX-License-Identifier: MIT */
/*
 * How marks come to recorders: datagrams on sockets in directories that both sides know. Whoever sends one
 * says when it was, so that it does not matter when it is read.
 */
#ifndef PPERF_MARK_H
#define PPERF_MARK_H

#include <sys/un.h>

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

#define FRAME_MAGIC 0x31465050u

/* Frames of a process in one message, at most: as many as it keeps while a recorder has no room. */
#define FRAMES_PENDING 512

/* Bytes of a program's name. */
#define FRAME_NAME 32

/* Frames of a process, which have numbers in a row. A recorder that has some of them already knows these by their numbers. */
struct frame_head {
	uint32_t magic;

	/* Frames without a number, before this message, that no recorder had room for. */
	uint32_t missed;

	/* Differs between programs that have the same PID one after the other: the time of the first frame. */
	uint64_t program;

	/* The number of the first frame here, from 1 on; 0: one frame that has none. */
	uint64_t number;

	/* Of the program, with zeros at its end. */
	char name[FRAME_NAME];
};

struct frame_message {
	struct frame_head head;

	/* To the end of the message, CLOCK_MONOTONIC_RAW. */
	uint64_t times_ns[FRAMES_PENDING];
};

/* A message on its way, and how many recorders got it or had no room. */
struct mark_sender {
	/* -1 as long as there is nobody to send to. */
	int fd;
	unsigned int timeout_ms, sent, missed;
	const void *message;
	size_t size;
};

/* Where recorders are beside root's: empty for none. */
struct mark_places {
	char user[sizeof(((struct sockaddr_un *)0)->sun_path)], own[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

void pperf_mark_find_places(struct mark_places *places);

/* Whether there may be a recorder. It takes few instructions if there is none. */
bool pperf_mark_is_heard(const struct mark_places *places);
void pperf_mark_send_to_all(struct mark_sender *sender, const struct mark_places *places);

/* What is in the environment, unless the program runs as somebody else than who has started it. */
const char *pperf_mark_environment(const char *name);

/*
 * Sends a mark to one socket or, with NULL, to all that there are, and waits so long, in milliseconds, for
 * each that has no room. *missed, unless it is NULL, is how many had none.
 */
enum pperf_error pperf_mark_send(const char *path, const char *name, unsigned int timeout_ms, unsigned int *missed);

#endif
