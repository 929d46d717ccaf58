/* SPDX-License-Identifier: MIT */
/* One manual counter session. */
#ifndef PANTHOR_PERF_SESSION_H
#define PANTHOR_PERF_SESSION_H

#include "gpu.h"

struct session {
	const struct gpu *gpu;

	/* Handle, 0 if there is no session. */
	uint32_t handle;

	/* Becomes readable when there are samples. */
	int eventfd;

	uint32_t slots;
	uint32_t bos[2];
	void *ring;
	size_t ring_size;
	struct drm_panthor_perf_ringbuf_control *control;
	size_t control_size;

	/* Index of the next sample to read. */
	uint64_t extract;
};

/* All of these print what is wrong and return -1. */
int session_open(struct session *session, const struct gpu *gpu,
		 const uint64_t masks[BLOCK_TYPES][2], uint32_t slots);
int session_start(struct session *session, uint64_t user_data);
int session_sample(struct session *session, uint64_t user_data);
int session_stop(struct session *session, uint64_t user_data);

/* The next sample, or NULL if there is none. Its memory is the ring's until session_release(). */
const struct drm_panthor_perf_sample_header *session_next(struct session *session);
void session_release(struct session *session);

void session_close(struct session *session);

#endif
