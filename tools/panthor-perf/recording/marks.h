/* SPDX-License-Identifier: MIT */
/* Marks that other programs set, as they come to a recorder. They may come from anybody who may open the GPU. */
#ifndef PANTHOR_PERF_MARKS_H
#define PANTHOR_PERF_MARKS_H

#include <sys/un.h>

#include "recording.h"

/* As many in a second are taken. */
#define MARKS_MAX_RATE 10000

struct marks {
	/* -1 if none can come. */
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	/* That of the latest, or when the first could come. */
	uint64_t time_ns;

	/* Marks that were taken; those that were not, as there was no room for them, or they made no sense. */
	uint64_t taken, dropped;

	/* The second that lasts, and how many it has had. */
	uint64_t second_ns;
	unsigned int in_second;
};

/*
 * Begins to listen: at a path, of which programs that are started from here are told, or where all are looked
 * for, if that can be. Who may open the node may mark. Prints what is wrong with a path. Returns a status.
 */
int marks_open(struct marks *marks, const char *path, const char *node);

/* What is readable when there may be one, or -1. */
int marks_fd(const struct marks *marks);

/* The next. False if there is none now. */
bool marks_next(struct marks *marks, struct recording_mark *mark);
void marks_close(struct marks *marks);

#endif
