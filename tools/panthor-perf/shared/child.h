/* SPDX-License-Identifier: MIT */
/* A program that runs while something is counted. */
#ifndef PANTHOR_PERF_CHILD_H
#define PANTHOR_PERF_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum child_event {
	/* Nothing that matters. */
	CHILD_NOTHING,

	/*
	 * The program has ended, or has ignored one Ctrl-C and there was another; or, without one, the user wants
	 * to end: Ctrl-C, SIGTERM, SIGHUP.
	 */
	CHILD_ENDED,

	/* The user wants to end although the program has ended. */
	CHILD_INTERRUPTED,

	/* child::request has come. */
	CHILD_REQUESTED,
};

/* Zero it to begin. */
struct child {
	/* 0 if there is none, or it has ended, or is left to itself. */
	pid_t pid;
	unsigned int interrupts;
	bool left;

	/* Another signal that is caught; 0: none. */
	unsigned int request;

	/* Becomes readable at SIGCHLD, SIGINT, SIGTERM, SIGHUP and the request, which are blocked meanwhile. */
	int signals;

	/* Standard output has the data: what the program prints there goes to standard error. */
	bool no_output;

	/* True once the end has been told of; SIGHUP has come. */
	bool ended, hung_up;

	sigset_t before;
	struct sigaction before_child;
	int wait_status;
};

/* Blocks signals and opens child::signals. Prints what is wrong. Returns a status. */
int child_prepare(struct child *child);

/* Runs a program. Prints what is wrong. Returns a status. */
int child_start(struct child *child, char **command);

/* Lets a program run for so long. Returns false if it has ended before, or the user wants to end. */
bool child_delay(struct child *child, uint64_t ns);

/* To be called when child::signals is readable. */
enum child_event child_event(struct child *child);

/* The program's exit status, 128 + the signal if one ended it or it was left for one, 0 if there was none. */
int child_status(const struct child *child);

/* Undoes child_prepare(). */
void child_finish(struct child *child);

#endif
