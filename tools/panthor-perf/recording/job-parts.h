/* SPDX-License-Identifier: MIT */
/* Parts of the time, and for how long jobs ran in them. */
#ifndef PANTHOR_PERF_JOB_PARTS_H
#define PANTHOR_PERF_JOB_PARTS_H

#include "jobs.h"

/*
 * In order, without those that touch each other, and how long all before each are together. Zero it to begin; the list is to be
 * freed.
 */
struct job_parts {
	struct job_part {
		uint64_t from_ns, until_ns, before_ns;
	} *list;
	size_t count, room;
};

/* Adds one that begins no earlier than the last ends. Returns -1 without memory. */
int job_parts_add(struct job_parts *parts, uint64_t from_ns, uint64_t until_ns);

/* How long they are together, up to a time and between two. */
uint64_t job_parts_until(const struct job_parts *parts, uint64_t time_ns);
uint64_t job_parts_between(const struct job_parts *parts, uint64_t from_ns, uint64_t until_ns);

/* For how long any job of each process ran in them. Returns -1 without memory. */
int job_parts_busy(const struct job_parts *parts, const struct jobs *jobs, uint64_t *busy_ns);

/* Whether the times of a job are known: those of one that was dropped, or has not ended, are none. */
bool job_has_times(const struct recording_job *job);

#endif
