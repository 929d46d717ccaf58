/* SPDX-License-Identifier: MIT */
/* Who lets a recorder count and stop counting: lines on a pipe, as perf record --control has them. */
#ifndef PANTHOR_PERF_CONTROL_H
#define PANTHOR_PERF_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

enum control_command {
	CONTROL_NONE,
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_DUMP,
	CONTROL_UNKNOWN,
};

struct control {
	/* -1 if nobody controls; where commands are acknowledged, or -1. */
	int fd, ack;

	/* Whether they were opened here. */
	bool own;

	/* What was read of a line and those behind it. */
	char text[64];
	size_t size;
};

/* Whether it is fd:CTL[,ACK] or fifo:CTL[,ACK]. */
bool control_is_valid(const char *text);

/* Opens what a valid text says, NULL being nobody. Prints what is wrong. Returns a status. */
int control_open(struct control *control, const char *text);

/* The next command, if there is one. Does not wait. */
enum control_command control_next(struct control *control);

/* Says that a command was done. */
void control_ack(struct control *control);
void control_close(struct control *control);

#endif
