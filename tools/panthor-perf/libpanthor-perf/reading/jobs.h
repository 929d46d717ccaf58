/* SPDX-License-Identifier: MIT */
/* Jobs of a recording, and what the GPU did as far as they tell. */
#ifndef PPERF_JOBS_H
#define PPERF_JOBS_H

#include "chunks.h"

/* A process that has jobs. */
struct job_process {
	uint32_t pid;
	char name[RECORDING_PROCESS_NAME + 1];
	size_t jobs;
};

/* A queue of a process, or another timeline of fences. */
struct job_queue {
	/* Its process. Of a timeline of another driver: one without a PID that has the driver's name, and no jobs. */
	uint32_t process;
	char name[RECORDING_QUEUE_NAME + 1];
	size_t jobs;
};

/* What the GPU had to do: the first of these that is true. */
enum job_state {
	/* Nothing was recorded, or events were lost. */
	JOBS_UNKNOWN,

	/* Firmware had a job. */
	JOBS_RUNNING,

	/* A job was ready, and had not been given to firmware. */
	JOBS_READY,

	/* Jobs waited for fences. */
	JOBS_WAITING,

	/* No job was queued. */
	JOBS_NONE,
};

#define JOBS_SEVERAL UINT32_MAX
#define JOBS_NOBODY (UINT32_MAX - 1)

/* The longest time in which the state and the owner are the same. */
struct job_span {
	uint64_t start_ns, end_ns;
	enum job_state state;

	/*
	 * JOBS_RUNNING: the process whose jobs ran. JOBS_READY: the queue that had a job ready. JOBS_WAITING: the queue or timeline
	 * of the fences that were waited for. JOBS_NONE: the queue that was the last to have a job. JOBS_SEVERAL, or JOBS_NOBODY if
	 * it is not known.
	 */
	uint32_t owner;
};

struct jobs {
	struct job_process *processes;
	struct job_queue *queues;
	size_t num_processes, num_queues, process_room, queue_room;

	/* Queues by the recorder's number: places in the list from 1 on. */
	uint32_t *by_id;
	size_t num_ids;

	/* By the time at which they were queued. Their queues, and those waited for less one, are those of the list here. */
	struct recording_job *list;
	size_t count, room;

	/* Times of which jobs are known, without those that touch each other; and gaps in them, as recorded. */
	struct recording_range {
		uint64_t start_ns, end_ns;
	} *known;
	struct recording_gap *gaps;
	size_t num_known, known_room, num_gaps, gap_room;

	/* When the oldest job was queued that had not ended at the end, or the end. */
	uint64_t open_ns;

	/* From the first of the times to the end of the last: each begins where the one before it ends. */
	struct job_span *spans;
	size_t num_spans, span_room;
};

/*
 * Zero them to begin. Finds all jobs of a recording, of which the head tells whether there are any. Returns RECORDING_END, or what
 * is wrong, which the recording has then. pperf_jobs_free() must be called in any case.
 */
enum recording_item pperf_jobs_read(struct jobs *jobs, struct recording *recording, const struct chunks *chunks);

/*
 * The same of records that are in no recording: adds one, whose queues become those of the list; and finds the spans, behind the
 * last. They return RECORDING_END, RECORDING_NO_MEMORY, or RECORDING_BROKEN if a record contradicts those before it.
 */
enum recording_item pperf_jobs_add(struct jobs *jobs, const struct recording_jobs *record);
enum recording_item pperf_jobs_end(struct jobs *jobs);
void pperf_jobs_free(struct jobs *jobs);

/* The number of the first span that ends after a time: num_spans if there is none. */
size_t pperf_jobs_span_at(const struct jobs *jobs, uint64_t time_ns);

#endif
