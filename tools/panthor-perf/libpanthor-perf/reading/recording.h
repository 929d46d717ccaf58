/* SPDX-License-Identifier: MIT */
/* Files of recorded samples: panthor-perf-data(5). This part knows the format and nothing else. For the program as well. */
#ifndef PPERF_RECORDING_H
#define PPERF_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "clocks.h"
#include "panthor-perf.h"

#define RECORDING_VERSION 1
#define RECORDING_MAX_BLOCKS 64

/* Bytes of a program's name. */
#define RECORDING_FRAME_NAME 32

/* Bytes of the names of a process, as the kernel has it, and of a queue. */
#define RECORDING_PROCESS_NAME 15
#define RECORDING_QUEUE_NAME 63

#define RECORDING_MAX_QUEUES 65536

/* Where samples come from and what they are made of. Strings are NULL where nothing is known. */
struct recording_head {
	/* Version of the program, and of what it ran on. */
	char *tool, *host, *kernel, *machine;

	/* The command, NULL at its end; NULL if there was none. */
	char **command;

	/* Period of the session. */
	uint64_t period_ns;

	/* Counter set. */
	uint32_t set;

	/* Clocks that blocks of each type run with are in the samples; this is all else of the GPU. */
	struct pperf_gpu_info gpu;

	/* The counters recorded. */
	struct pperf_masks masks;

	/* Whether jobs are recorded. */
	bool jobs;
};

/* A moment that a program has named, by the clock of samples: what has the name lasts until the next. */
struct recording_mark {
	uint64_t time_ns;

	/* UTF-8 that can be printed; empty: nothing has a name from here on. */
	char name[PPERF_MARK_LENGTH + 1];
};

/* The end of a frame of a process, by the clock of samples. */
struct recording_frame {
	uint64_t time_ns;

	/* 0: not known. */
	uint32_t pid;

	/* Frames of the process before this one that are not recorded. */
	uint32_t lost;

	/* The program: UTF-8 that can be printed. */
	char name[RECORDING_FRAME_NAME + 1];
};

/*
 * Processes that used the GPU at some time between two moments, by the clock of samples, or of which it is not known. There may
 * be others that are not known at all if a user is RECORDING_USER_UNKNOWN without a PID.
 */
#define RECORDING_USERS 16
#define RECORDING_USER_UNKNOWN 0x80000000u
struct recording_use {
	uint64_t start_ns, end_ns;

	/* PIDs, with RECORDING_USER_UNKNOWN if it is not known. */
	uint32_t users[RECORDING_USERS];
	size_t count;
};

/* A queue of a process, or whatever else has fences that jobs wait for. */
struct recording_queue {
	/* The recorder's number of it, below RECORDING_MAX_QUEUES. */
	uint32_t id;

	/* Of the process; 0 if there is none, or it is not known. */
	uint32_t pid;

	/* Of the process or, without one, of the driver; of the queue or timeline. UTF-8 that can be printed. */
	char process[RECORDING_PROCESS_NAME + 1], name[RECORDING_QUEUE_NAME + 1];
};

enum recording_outcome {
	JOB_DONE,

	/* It never ran, and will not: its process was killed. */
	JOB_DROPPED,

	/* The recording does not tell when it ended. */
	JOB_UNFINISHED,
};

/*
 * A job. Times are those of samples, in this order: it waited for fences until it was ready, and for its turn until it was
 * given to firmware. A time that is not known, or never came, is that of the next.
 */
struct recording_job {
	uint64_t queued_ns, ready_ns, run_ns;

	/* When it was done or given up; of JOB_UNFINISHED: it was not before. */
	uint64_t end_ns;

	/* Places among the queues of the record: its own, and behind that of the fence that it waited for last, or 0. */
	uint32_t queue, waited_for;

	/* The thread that queued it, 0 if it is not known. */
	uint32_t thread;

	enum recording_outcome outcome;

	/* Which times are not known. */
	bool no_queued, no_run;
};

/*
 * Events that a CPU lost between two times; their number, 0 if it is not known. Without a CPU: as events were lost before or behind
 * it, a job may have been there that was not seen.
 */
#define RECORDING_NO_CPU UINT32_MAX
struct recording_gap {
	uint64_t start_ns, end_ns;
	uint32_t cpu;
	uint64_t lost;
};

/* All jobs that ended between two times, apart from those that gaps hide. */
struct recording_jobs {
	uint64_t start_ns, end_ns;

	/* When the oldest job was queued that had not ended then: no later than the end. */
	uint64_t open_ns;
	struct recording_gap *gaps;
	struct recording_queue *queues;
	struct recording_job *list;
	size_t num_gaps, num_queues, count;
};

/* Why a recording ended. A file without such a record was cut short. */
enum recording_reason {
	RECORDING_COMMAND_ENDED,
	RECORDING_INTERRUPTED,
	RECORDING_GPU_GONE,
	RECORDING_FAILED,

	/* It went on in another file. */
	RECORDING_CONTINUED,
};

struct recording_end {
	enum recording_reason reason;

	/* Exit status of the command, 0 without one. */
	int status;

	/* Samples recorded, those of them with each flag, and those that were read and are not recorded. */
	uint64_t samples, overflow, error, stretched, lost;

	/* Marks recorded, and those that came and are not. */
	uint64_t marks, dropped;

	/* The same of frames. */
	uint64_t frames, lost_frames;

	/* Of the clock. */
	struct rates clock;
};

/* What the fields of a sample are, in the order in which they are written. */
struct recording_layout {
	/* All blocks, and the type of each. */
	unsigned int blocks;
	uint8_t types[(PPERF_BLOCK_TYPES - 1) * RECORDING_MAX_BLOCKS];

	/* The values of each block that are recorded, by type. */
	unsigned int counters[PPERF_BLOCK_TYPES];
	uint8_t indices[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES];

	/* All fields. */
	size_t fields;
};

/* A part of a recording that can be read without what is before it. */
struct recording_chunk {
	uint64_t offset, bytes;

	/* Where its first sample begins and its last one ends: 0 if there are none. */
	uint64_t samples, start_ns, end_ns;

	uint64_t marks;

	/* And records of who used the GPU. RECORDING_UNCOUNTED: an index does not tell. */
	uint64_t frames;
};

#define RECORDING_UNCOUNTED UINT64_MAX

/* What pperf_records_next() has found. */
enum recording_item {
	RECORDING_SAMPLE,
	RECORDING_MARK,
	RECORDING_FRAME_END,
	RECORDING_USE,
	RECORDING_JOBS,
	RECORDING_CLOCKS,

	/* Nothing comes any more: the recording was ended, or cut short. */
	RECORDING_END,
	RECORDING_CUT,

	/* The file is damaged, or there is no memory, or it cannot be read: see error. */
	RECORDING_BROKEN,
	RECORDING_NO_MEMORY,
	RECORDING_UNREADABLE,
};

/* What a record holds. */
struct recording_record {
	char kind;
	const uint8_t *at;
	size_t length;
};

struct recording {
	struct recording_head head;
	struct recording_layout layout;

	/* What was found last. */
	struct pperf_sample sample;
	struct clocks clocks;
	struct recording_mark mark;
	struct recording_frame frame;
	struct recording_use use;
	struct recording_end end;

	/* The record of jobs, for pperf_records_get_jobs(), up to the next call. */
	struct recording_record jobs;

	/* What is wrong, in a sentence without a full stop; errno of RECORDING_UNREADABLE, 0 if the file changed. */
	char error[160];
	int error_number;

	FILE *file;

	/* The file, if it can be read at any place, or -1. */
	int fd;

	/* Where the first and the next record are, and that which was found last. */
	uint64_t first, offset, found;

	/* The end and the fields of the previous sample. */
	uint64_t end_ns;
	uint64_t *previous;

	/* Room for as many fields. */
	uint64_t *state;

	struct pperf_block *blocks;
	uint64_t *values;

	/* Whether fields alone are wanted of samples: blocks stay as they are. */
	bool fields_only;

	/* Bytes from the next record on. */
	uint8_t *bytes;
	size_t at, filled, room;
};

/*
 * Reads the head from a stream, which is closed with the recording. Returns RECORDING_END if there is a
 * recording, RECORDING_BROKEN, RECORDING_NO_MEMORY or RECORDING_UNREADABLE.
 * pperf_records_close() must be called in any case.
 */
enum recording_item pperf_records_open_stream(struct recording *recording, FILE *file);

/* The same of a file that can be read at any place, from its begin on. The descriptor stays the caller's. */
enum recording_item pperf_records_open_fd(struct recording *recording, int fd);

/* The next item. Records of kinds that this program does not know are skipped. */
enum recording_item pperf_records_next(struct recording *recording);

/* Notes what errno says of a read that failed, 0 if the file was too short. Returns what was found. */
enum recording_item pperf_records_read_failed(struct recording *recording);

/* Goes back to the first item. Returns -1 if the file does not allow it, and says so in error. */
int pperf_records_rewind(struct recording *recording);

/* Goes to another record, of a file that can be read at any place: no sample is there but at the begin of a chunk. */
void pperf_records_seek(struct recording *recording, uint64_t offset);

void pperf_records_close(struct recording *recording);

/* Adds all counters that have values in a recording. */
enum pperf_error pperf_records_select(const struct recording_head *head, const struct pperf_db *db,
				      struct pperf_selection *selection);

/* For those who read and write. */
int pperf_records_layout_make(struct recording_layout *layout, const struct recording_head *head);

/* Encodes where the previous sample ended and its fields, into as many bytes as pperf_records_state_room() says at the most. */
uint8_t *pperf_records_put_state(const struct recording_layout *layout, uint64_t end_ns, const uint64_t *fields, uint8_t *to);
size_t pperf_records_state_room(const struct recording_layout *layout);
int pperf_records_get_state(const struct recording_layout *layout, const uint8_t *at, const uint8_t *end, uint64_t *end_ns,
			uint64_t *fields);

/* Adds changes to fields. Returns -1 if they are none of so many. */
int pperf_records_get_changes(const uint8_t *at, const uint8_t *end, uint64_t *fields, size_t count);

/* A number, and where it ends: NULL if it does not. */
const uint8_t *pperf_records_get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value);
static inline uint8_t *pperf_records_put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	return at;
}

/* Encodes the change of a field. Those that do not change are counted in same, which is 0 at first. */
static inline uint8_t *pperf_records_put_change(uint8_t *at, uint64_t change, uint64_t *same)
{
	if (!change) {
		++*same;
		return at;
	}
	if (*same) {
		*at++ = 0;
		at = pperf_records_put_varint(at, *same - 1);
		*same = 0;
	}
	/* Small changes in either direction become small numbers. */
	return pperf_records_put_varint(at, change << 1 ^ (0 - (change >> 63)));
}

/* Reads times, flags and block headers out of fields. Returns -1 if no kernel could have given them. */
struct recording_times {
	uint64_t start_ns, end_ns;
	uint32_t flags;
};
int pperf_records_get_times(const struct recording_layout *layout, const uint64_t *fields, uint64_t previous_end_ns,
			struct recording_times *times);

/* Puts fields, from those of blocks on, into blocks and their values. */
void pperf_records_spread(const struct recording_layout *layout, const uint64_t *fields, struct pperf_block *blocks,
		      uint64_t *values, unsigned int values_per_block);

/* Fields that are added up for a value: so many, each so far behind the one before it. */
struct recording_column {
	size_t first, stride;
	unsigned int count;
};

static inline uint64_t recording_total(const uint64_t *fields, const struct recording_column *column)
{
	const uint64_t *field = fields + column->first;
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < column->count; i++, field += column->stride)
		total += *field;
	return total;
}

/* The sum over all blocks of a counter that is recorded: by its place among those of its type. */
struct recording_column pperf_records_column(const struct recording *recording, unsigned int type, unsigned int place);

/* The field with the states of the first block of a type, 0 if there is none. */
size_t pperf_records_states(const struct recording *recording, unsigned int type);

/*
 * The content of the record at some bytes. Returns RECORDING_SAMPLE for a whole one of any kind, RECORDING_CUT if there are
 * not as many bytes, or RECORDING_BROKEN if its checksum is wrong.
 */
enum recording_item pperf_records_get_record(const uint8_t *bytes, size_t size, struct recording_record *record);

/* Makes a mark of the one before it. Returns -1 if the record has none, or an earlier one. */
int pperf_records_get_mark(const struct recording_record *record, struct recording_mark *mark);

/* Returns -1 if the record is no end of a frame. */
int pperf_records_get_frame(const struct recording_record *record, struct recording_frame *frame);

/* Returns -1 if the record does not tell who used the GPU. */
int pperf_records_get_use(const struct recording_record *record, struct recording_use *use);

/* Makes the lists, which pperf_records_free_jobs() frees in any case. Returns RECORDING_JOBS, or what is wrong. */
enum recording_item pperf_records_get_jobs(const struct recording_record *record, struct recording_jobs *jobs);
void pperf_records_free_jobs(struct recording_jobs *jobs);
extern const char pperf_records_magic[8];
extern const char *const pperf_records_reasons[5];
extern const char *const pperf_records_outcomes[3];

/* Fields before those of the blocks: gap, duration, flags, cycles. */
#define RECORDING_FIELDS 6

/* A chunk has up to so many samples. */
#define RECORDING_CHUNK_SAMPLES 1024

/* A record is kind and length in four bytes, what it holds, and a check sum of both in four. */
#define RECORDING_FRAME 8
#define RECORDING_MAX_LENGTH 0xffffff

/* The whole record of clocks, and that of a mark at the most: those of frames and of users are shorter. */
#define RECORDING_CLOCKS_SIZE (RECORDING_FRAME + 4 * 8)
#define RECORDING_MARK_SIZE (RECORDING_FRAME + 8 + PPERF_MARK_LENGTH)

#define RECORDING_FRAME_END_SIZE (RECORDING_FRAME + 16 + RECORDING_FRAME_NAME)

/* A record of jobs that a writer makes has up to so many of each, and takes less than so many bytes. */
#define RECORDING_JOBS_GAPS 16
#define RECORDING_JOBS_QUEUES 64
#define RECORDING_JOBS_JOBS 400
#define RECORDING_JOBS_SIZE (32u << 10)

#define RECORDING_KIND_HEAD 'H'
#define RECORDING_KIND_CLOCKS 'C'
#define RECORDING_KIND_SAMPLE 'S'
#define RECORDING_KIND_MARK 'M'
#define RECORDING_KIND_FRAME 'F'
#define RECORDING_KIND_USE 'U'
#define RECORDING_KIND_JOBS 'J'
#define RECORDING_KIND_END 'E'
#define RECORDING_KIND_STATE 'K'
#define RECORDING_KIND_INDEX 'I'

/* Bytes of the longest number of variable length. */
#define RECORDING_MAX_VARINT 10

#endif
