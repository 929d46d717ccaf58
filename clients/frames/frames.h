/* SPDX-License-Identifier: MIT */
/* What the parts of libpanthor-perf-frames.so share: see README. */
#ifndef PANTHOR_PERF_FRAMES_H
#define PANTHOR_PERF_FRAMES_H

#include <stdbool.h>

#include <panthor-perf.h>

#define EXPORT __attribute__((visibility("default")))

/* Whether frames are wanted, PANTHOR_PERF_FRAMES=1, and whether they are submissions, PANTHOR_PERF_FRAMES_OF=submit. */
extern bool frames_wanted, frames_of_submits;

#endif
