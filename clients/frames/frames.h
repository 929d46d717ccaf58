/* SPDX-License-Identifier: MIT */
/* What the parts of libpanthor-perf-frames.so share: see README. */
#ifndef PANTHOR_PERF_FRAMES_H
#define PANTHOR_PERF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <panthor-perf.h>

#define EXPORT __attribute__((visibility("default")))

/* Whether frames are wanted, PANTHOR_PERF_FRAMES=1, and whether they are submissions, PANTHOR_PERF_FRAMES_OF=submit. */
extern bool frames_wanted, frames_of_submits;

/* Whether labels are regions, PANTHOR_PERF_FRAMES_LABELS=1. */
extern bool labels_wanted;

/* A frame that is shown ends, and all labels with it. */
void end_frame(void);
void labels_end_frame(void);

/* A label begins or ends. Its owner is a thread or a queue. The name has up to size bytes, or ends with a zero. */
void labels_begin(const void *owner, const char *name, size_t size);
void labels_end(const void *owner);

#endif
