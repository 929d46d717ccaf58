/* SPDX-License-Identifier: MIT */
/* Who uses the GPU while something is recorded, as far as the kernel tells. */
#ifndef PANTHOR_PERF_USES_H
#define PANTHOR_PERF_USES_H

#include <fdinfo.h>

#include "recording.h"

/* Zero it to begin, but for the GPU. */
struct uses {
	const struct pperf_gpu_info *gpu;
	struct clients clients;

	/* When the last look began, CLOCK_MONOTONIC_RAW; 0: there was none. */
	uint64_t looked_ns;
};

/*
 * Looks at all processes. Returns whether there was a look before, and finds who used the GPU since then. A process that began
 * and ended in between is missed.
 */
bool uses_look(struct uses *uses, struct recording_use *use);
void uses_free(struct uses *uses);

#endif
