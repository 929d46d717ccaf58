/* SPDX-License-Identifier: MIT */
/* Marks and frames of other programs, as they come to a recorder. They may come from anybody who may open the GPU. */
#ifndef PANTHOR_PERF_MARKS_H
#define PANTHOR_PERF_MARKS_H

#include <sys/un.h>

#include <mark.h>

#include "recording.h"

/* As many of either in a second are taken. */
#define MARKS_MAX_RATE 10000

/* As many programs are known by the numbers of their frames. */
#define MARKS_PROGRAMS 64

/* A second, and how many it has had. */
struct marks_rate {
	uint64_t second_ns;
	unsigned int in_second;
};

/* A program that has frames. */
struct marks_program {
	uint32_t pid;
	uint64_t program;

	/* The number of its latest frame, 0 if none had one; and frames since the last that was taken that were not. */
	uint64_t number;
	uint64_t lost;

	/* When its latest frame ended. */
	uint64_t time_ns;

	/* Messages before its latest one. */
	uint64_t used;
};

struct marks {
	/* -1 if none can come. */
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	/* That of the latest, or when the first could come. */
	uint64_t time_ns;

	/* Marks that were taken; those that were not, as there was no room for them, or they made no sense. */
	uint64_t taken, dropped;

	struct marks_rate rate, frame_rate;

	/* When listening began: frames before that are of other recorders. */
	uint64_t start_ns;

	/* Frames that were taken; those that were not. */
	uint64_t frames, lost_frames;

	/* The period of samples, to be set; and frames that are shorter. */
	uint64_t period_ns, short_frames;

	/* The message whose frames are being taken, of which so many were, and who sent it. */
	struct frame_message message;
	size_t count, at;
	struct marks_program *sender;

	struct marks_program programs[MARKS_PROGRAMS];
	uint64_t messages;
};

enum marks_item { MARKS_NONE, MARKS_MARK, MARKS_FRAME };

/*
 * Begins to listen: at a path, of which programs that are started from here are told, or where all are looked
 * for, if that can be. Who may open the node may mark. Prints what is wrong with a path. Returns a status.
 */
int marks_open(struct marks *marks, const char *path, const char *node);

/* What is readable when there may be one, or -1. */
int marks_fd(const struct marks *marks);

/* The next: which it is, MARKS_NONE if there is none now. */
enum marks_item marks_next(struct marks *marks, struct recording_mark *mark, struct recording_frame *frame);
void marks_close(struct marks *marks);

#endif
