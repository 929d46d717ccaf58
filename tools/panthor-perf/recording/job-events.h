/* SPDX-License-Identifier: MIT */
/* Events of the kernel's GPU scheduler and of fences, out of tracefs. Units are nanoseconds of CLOCK_MONOTONIC_RAW. */
#ifndef PANTHOR_PERF_JOB_EVENTS_H
#define PANTHOR_PERF_JOB_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum job_event_kind {
	/* A thread has queued a job. */
	JOB_EVENT_QUEUED,

	/* A job waits for a fence; before Linux 6.16: or will find it signalled. */
	JOB_EVENT_BLOCKED,

	/* A job is given to the driver, and is done. */
	JOB_EVENT_RUN,
	JOB_EVENT_DONE,

	/* A fence of another driver is signalled. */
	JOB_EVENT_SIGNALED,

	/* From this time on events of a CPU were lost, until the time until_ns. */
	JOB_EVENT_LOST,
};

/* What the kernel knows a fence by: its context and number or, before Linux 6.16, where it is in memory and 0. */
struct job_fence {
	uint64_t context, number;
};

struct job_event {
	uint64_t time_ns;
	enum job_event_kind kind;
	uint32_t cpu;

	/* Events of one CPU and one time follow each other so. */
	uint64_t order;

	/* QUEUED, BLOCKED, RUN, DONE: the fence of the job. That of BLOCKED is not known before Linux 6.16, but its id is. */
	struct job_fence job;
	uint64_t id;

	/* QUEUED, RUN: its queue, as the kernel knows it, and whether it is one of our GPU. */
	uint64_t queue;
	bool ours;

	/* QUEUED: who has queued it. */
	uint32_t thread;

	/* BLOCKED: the fence. And for SIGNALED, which has no more than these: low halves of context and number. */
	struct job_fence fence;
	uint32_t context, number;

	/* QUEUED, RUN, BLOCKED before Linux 6.16: the queue's name; SIGNALED: the driver and the timeline. */
	char driver[16];
	char name[64];

	/* LOST: how many, 0 if it is not known. */
	uint64_t lost, until_ns;
};

struct job_events;

/*
 * Begins to trace, for the GPU of a node. NULL with errno if that cannot be: EACCES or EPERM if this user may not, ENOENT if
 * the kernel has no such events. Before threads are started.
 */
struct job_events *job_events_open(const char *node);

/* When tracing began. */
uint64_t job_events_start(const struct job_events *events);

/*
 * Reads what there is, in the order of time, up to the time that it returns: a little less than now, as events can be late, but for
 * the last call. Events stay until the next call. What there is no memory for is lost, and told.
 */
uint64_t job_events_read(struct job_events *events, bool last, const struct job_event **list, size_t *count);

/* The name of a thread that has ended. */
const char *job_events_thread_name(struct job_events *events, pid_t thread);

/* Whether the kernel tells of fences by context and number. */
bool job_events_have_contexts(const struct job_events *events);

/* NULL is nothing. */
void job_events_close(struct job_events *events);

#endif
