/* SPDX-License-Identifier: MIT */
/* Frames of the processes of a recording: each lasts from the end of the one before it to its own. */
#ifndef PPERF_FRAMES_H
#define PPERF_FRAMES_H

#include "chunks.h"

/* A process that has frames: they are the recorder's to tell apart, by PID and name. */
struct frame_process {
	uint32_t pid;
	char name[RECORDING_FRAME_NAME + 1];

	/* Its frames, in the order of their ends, are these of the list. */
	size_t first, count;
};

/* Whether another process than that of a frame used the GPU while the frame lasted. */
enum frame_others {
	OTHERS_UNKNOWN,
	OTHERS_NONE,
	OTHERS_SOME,
};

struct frame {
	uint64_t start_ns, end_ns;
	uint32_t process;
	uint32_t lost;
	enum frame_others others;
};

struct frames {
	struct frame_process *processes;
	size_t num_processes;

	/* By process. */
	struct frame *list;
	size_t count, room;

	/* Who used the GPU, in the order in which the recorder looked. */
	struct recording_use *uses;
	size_t num_uses, use_room;
};

/*
 * Zero them to begin. Finds all frames of a recording. Returns RECORDING_END, or what is wrong, which the recording has then.
 * pperf_frames_free() must be called in any case.
 */
enum recording_item pperf_frames_read(struct frames *frames, struct recording *recording, const struct chunks *chunks);
void pperf_frames_free(struct frames *frames);

#endif
