/* SPDX-License-Identifier: MIT */
/*
 * libpanthor-perf: performance counters of Arm Mali GPUs with the panthor driver.
 *
 * How the parts belong together:
 *
 *	struct pperf_gpu	an open GPU
 *	struct pperf_gpu_info	what is known of a GPU, be it open or in a file
 *	struct pperf_db		the counters of a GPU's layout, with their equations
 *	struct pperf_selection	counters that somebody wants, and what to enable for them
 *	struct pperf_session	counting; an iterator over samples in a ring shared with the kernel
 *	struct pperf_sample	what was counted in one period, from a session or from anywhere else
 *	struct pperf_sums	samples added up; values of counters, derived ones included; load
 *	struct pperf_topdown	samples attributed to what held the work up
 *	struct pperf_log	how many samples were flagged or stretched
 *	struct pperf_meter	load, frequency and bandwidth, and nothing else to do
 *	struct pperf_recording	what panthor-perf record has written: an iterator over samples, and columns
 *
 * Beside these, pperf_mark() and pperf_frame() put names and frames of a program into what others record.
 *
 * All that is below struct pperf_gpu needs no GPU: a program that reads samples
 * from a file fills in struct pperf_gpu_info and struct pperf_sample itself.
 *
 * Functions that can fail return enum pperf_error, PPERF_OK being 0. What
 * was wrong with the last call that failed in this thread, and what to do about
 * it, is in pperf_message(). The library prints nothing. A call that fails
 * changes nothing and stores nothing, unless it is said otherwise.
 *
 * A database is read-only and can be used by several threads. Everything else
 * may be used by one thread at a time.
 *
 * Structs grow at their end, in versions of the library with the same soname. A
 * program says how large those are that it fills in or that are filled in for
 * it, by their first member, size, or by an argument, and the library leaves
 * alone what is behind. Structs that the library alone makes are reached by
 * pointers only: a program neither copies them nor makes arrays of them. struct
 * pperf_masks, enumerators and constants stay as they are.
 */
#ifndef PANTHOR_PERF_H
#define PANTHOR_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Version of this header. The soname has the first number. */
#define PPERF_VERSION_MAJOR 0
#define PPERF_VERSION_MINOR 3
#define PPERF_VERSION "0.3"

/* Version of the library in use, such as "0.3". */
const char *pperf_version(void);

/* ---- Errors ---- */

enum pperf_error {
	PPERF_OK = 0,

	/* An argument is not valid: a period, a number of slots, a set. */
	PPERF_ERROR_INVALID = 1,

	/* A name stands for no counter, product or layout. */
	PPERF_ERROR_UNKNOWN = 2,

	/* There is no such device, it cannot be opened, or it is not panthor's. */
	PPERF_ERROR_NO_DEVICE = 3,

	/* The kernel has no counters, or has them with another interface. */
	PPERF_ERROR_NO_KERNEL_SUPPORT = 4,

	/* The GPU or its firmware has no counters that the kernel supports. */
	PPERF_ERROR_NO_COUNTERS = 5,

	/* The caller may not open the device, or may not count. */
	PPERF_ERROR_PERMISSION = 6,

	/* Another program counts another counter set. */
	PPERF_ERROR_SET_IN_USE = 7,

	/* There are too many sessions on the GPU, in the file or of the user. */
	PPERF_ERROR_TOO_MANY = 8,

	/* The ring has no room for another sample: read some first. */
	PPERF_ERROR_RING_FULL = 9,

	/* The GPU's firmware does not answer; the driver resets it. */
	PPERF_ERROR_FIRMWARE = 10,

	/* The GPU is gone: it was removed, or its driver unbound. */
	PPERF_ERROR_GONE = 11,

	/* A sample is not what the kernel promised, or a table is broken. */
	PPERF_ERROR_BROKEN = 12,

	/* A counter that the value is made of was not enabled in all samples. */
	PPERF_ERROR_NOT_COUNTED = 13,

	/* The equation has no value for what was counted, such as 1 / 0. */
	PPERF_ERROR_NO_VALUE = 14,

	/* The system refused something else; errno tells. */
	PPERF_ERROR_SYSTEM = 15,

	PPERF_ERROR_NO_MEMORY = 16,

	/* A signal came before it was done: nothing has changed, and it can be tried again. */
	PPERF_ERROR_INTERRUPTED = 17,

	/* The kernel has the counters of Arm's series for panthor, which this library cannot use. */
	PPERF_ERROR_OTHER_INTERFACE = 18,
};

/* What a code means, in general: "the GPU is gone". Never NULL. */
const char *pperf_strerror(enum pperf_error error);

/*
 * What was wrong with the last call that failed in this thread, and what to do:
 * a sentence without a full stop, valid until the next call that fails.
 */
const char *pperf_message(void);

/* ---- Blocks, flags, states, clocks: numbers are those of the kernel's interface ---- */

/* Type of a block, 1 to 6. */
enum pperf_block_type {
	PPERF_BLOCK_FW = 1,
	PPERF_BLOCK_CSG = 2,
	PPERF_BLOCK_CSHW = 3,
	PPERF_BLOCK_TILER = 4,
	PPERF_BLOCK_MEMSYS = 5,
	PPERF_BLOCK_SHADER = 6,
};

/* Arrays by block type have so many elements; element 0 is not used. */
#define PPERF_BLOCK_TYPES 7

/* Values of a block at most. Values 0 to PPERF_FIRST_COUNTER - 1 are no counters. */
#define PPERF_MAX_VALUES 128
#define PPERF_FIRST_COUNTER 4

enum pperf_clock {
	PPERF_CLOCK_TOPLEVEL = 0,
	PPERF_CLOCK_COREGROUP = 1,
	PPERF_CLOCK_SHADER = 2,
};

#define PPERF_CLOCKS 3

/* Flags of a sample. */
#define PPERF_SAMPLE_OVERFLOW	(1u << 0)	/* Counts may be missing. */
#define PPERF_SAMPLE_ERROR	(1u << 1)	/* Counts may be missing: the GPU failed. */
#define PPERF_SAMPLE_STRETCHED	(1u << 2)	/* Covers more than one period; no count is missing. */

/* States that a block was in during a period. */
#define PPERF_STATE_ON		(1u << 0)
#define PPERF_STATE_OFF		(1u << 1)
#define PPERF_STATE_AVAILABLE	(1u << 2)
#define PPERF_STATE_UNAVAILABLE	(1u << 3)
#define PPERF_STATE_NORMAL	(1u << 4)
#define PPERF_STATE_PROTECTED	(1u << 5)

/* "CSHW" and the like; NULL if there is no such type. */
const char *pperf_block_name(unsigned int type);

/* "toplevel" and the like; NULL if there is no such clock. */
const char *pperf_clock_name(unsigned int clock);

/* "primary" and the like, of counter sets; NULL if there is no such set. */
const char *pperf_set_name(unsigned int set);

/* Enable masks by block type: bit n % 64 of element n / 64 stands for value n. */
struct pperf_masks {
	uint64_t bits[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES / 64];
};

/* Number of bits that are set, of one block type. */
unsigned int pperf_masks_count(const struct pperf_masks *masks, unsigned int type);

/* ---- GPUs ---- */

/* What is known of a GPU. */
struct pperf_gpu_info {
	/*
	 * sizeof(struct pperf_gpu_info) of whoever filled it in. A program that is to run with a library
	 * older than its header looks here before it reads a member that the older one does not have.
	 */
	size_t size;

	/* Render node, and the sysfs directory of its device; NULL if there is none. */
	const char *node;
	const char *sysfs;

	/* Name of the product; "unknown Mali" if it is not known. */
	const char *name;

	/* Name of its counter layout; NULL if it is not known. */
	const char *layout;

	uint32_t gpu_id;
	int driver_major, driver_minor;

	/* Bit n: there is a shader core at position n. */
	uint64_t shader_present;

	/* What equations ask for. */
	unsigned int cores;
	unsigned int slices;
	unsigned int bus_bytes;

	/* Number of blocks in a sample, by type. */
	unsigned int blocks[PPERF_BLOCK_TYPES];

	/* Values of a block: 64 or 128, the first four being no counters. */
	unsigned int values_per_block;

	/* Sizes in the kernel's ring, in bytes. */
	uint32_t sample_header_size;
	uint32_t block_header_size;
	uint32_t sample_size;

	/* True if blocks tell their states. */
	bool has_states;

	/* Bit n: cycles of clock n are counted; others run with the top level clock. */
	uint32_t clocks;

	/* Bit n: counter set n can be selected. 0 if the kernel does not tell. */
	uint32_t sets;

	/* Shortest period, and longest ring. 0 if the kernel does not tell. */
	uint64_t min_period_ns;
	uint32_t max_slots;

	/*
	 * Nominal rate of the top level clock when the GPU was opened, in Hz; 0 if
	 * it is not known. It is used for the time before a sample tells better.
	 */
	uint64_t toplevel_hz;

	/* True if samples have the form that this library understands. */
	bool interface_known;
};

/* Number of blocks in a sample. */
unsigned int pperf_info_blocks(const struct pperf_gpu_info *info);

/* Position in a sample of the first block of a type. */
unsigned int pperf_info_first_block(const struct pperf_gpu_info *info, unsigned int type);

struct pperf_gpu;

/*
 * Lists the render nodes of all GPUs with panthor that the caller can open: an
 * array of *count names, to be freed with pperf_gpu_nodes_free(). Finding none
 * is no error.
 */
enum pperf_error pperf_gpu_nodes(char ***nodes, size_t *count);
void pperf_gpu_nodes_free(char **nodes, size_t count);

/*
 * Opens a GPU by its render node, or the first there is if node is NULL. Fails
 * if the kernel or the GPU has no counters. Opening needs no right to count.
 */
enum pperf_error pperf_gpu_open(const char *node, struct pperf_gpu **gpu);

/*
 * The same with a file that the program has opened, such as one that it renders with. The descriptor stays
 * the program's, and can be closed: the library makes one of its own for the same open file.
 */
enum pperf_error pperf_gpu_open_fd(int fd, struct pperf_gpu **gpu);

/* Closes a GPU, NULL included. All of its sessions have to be closed before. */
void pperf_gpu_close(struct pperf_gpu *gpu);

/* What is known of it; lives as long as the GPU is open. */
const struct pperf_gpu_info *pperf_gpu_info(const struct pperf_gpu *gpu);

/* The file descriptor, for ioctls of one's own and for fdinfo. */
int pperf_gpu_fd(const struct pperf_gpu *gpu);

/* PPERF_OK while the GPU is there, PPERF_ERROR_GONE after. */
enum pperf_error pperf_gpu_alive(const struct pperf_gpu *gpu);

/*
 * The nominal rate of the top level clock now, in Hz, as the kernel's clock framework says; the cycles of samples
 * tell how fast it runs. Fails if the kernel does not tell.
 */
enum pperf_error pperf_gpu_frequency(const struct pperf_gpu *gpu, uint64_t *hz);

/* ---- The counter database ---- */

/* Whether values of several periods can be added. */
enum pperf_kind {
	/* A number of things that happened: it adds up, and has a rate. */
	PPERF_KIND_COUNT,

	/* A ratio, average or rate: it does not add up. */
	PPERF_KIND_RATIO,

	/* A property of the GPU that no counter goes into. */
	PPERF_KIND_CONSTANT,
};

/* Made by the library alone; a counter of a database stays where it is, and is compared by its address. */
struct pperf_counter {
	/* Name in equations, such as MaliGPUActiveCy; the place of a counter without one: FW.5. */
	const char *name;

	/* Name in hardware documents; NULL if derived. */
	const char *source;

	/* Name, group and unit for people. The unit is "events" if it is not known. */
	const char *title;
	const char *group;
	const char *unit;

	/* Equation over names; NULL if counted by hardware. */
	const char *equation;

	enum pperf_kind kind;

	/* Place of a counter of hardware; type is 0 if derived. */
	unsigned int type;
	unsigned int index;

	/* True if the tables have it; places without a row have no description. */
	bool described;
};

struct pperf_db;

/*
 * Opens the database of a layout. NULL stands for an unknown one, in which
 * counters have places alone. All tables and equations are parsed here: an
 * equation that cannot be, or that has an unknown name, fails with
 * PPERF_ERROR_BROKEN.
 */
enum pperf_error pperf_db_open(const char *layout, struct pperf_db **db);
void pperf_db_close(struct pperf_db *db);

/* Names of all layouts, NULL at the end. */
const char *const *pperf_layouts(void);

/*
 * Finds a product, by its name with or without "Mali-" and in any case, or by
 * its GPU_ID. The strings are there for ever.
 */
enum pperf_error pperf_product_by_name(const char *name, const char **product, const char **layout);
enum pperf_error pperf_product_by_id(uint32_t gpu_id, const char **product, const char **layout);

/* The counters that the tables describe, those of hardware first: *count pointers. */
const struct pperf_counter *const *pperf_db_counters(const struct pperf_db *db, size_t *count);

/* Finds a counter by its name in equations or by its place (FW.5, in any case). NULL if there is none. */
const struct pperf_counter *pperf_db_find(const struct pperf_db *db, const char *name);

/* The counter at a place, described or not. NULL if there is no such place. */
const struct pperf_counter *pperf_db_at(const struct pperf_db *db, unsigned int type, unsigned int index);

/*
 * The next described counter after one (NULL: the first) that a pattern stands
 * for: its name, source name or title, in any case, or a pattern of * ? [] over
 * names. NULL if there is no more.
 */
const struct pperf_counter *pperf_db_match(const struct pperf_db *db, const char *pattern,
					   const struct pperf_counter *after);

/* Adds what has to be enabled for a counter. */
void pperf_counter_needs(const struct pperf_db *db, const struct pperf_counter *counter,
			 struct pperf_masks *masks);

/* True if everything that a counter is made of is in the masks. */
bool pperf_counter_in(const struct pperf_db *db, const struct pperf_counter *counter,
		      const struct pperf_masks *masks);

/* True if the GPU has the counter, or all that it is made of. */
bool pperf_counter_exists(const struct pperf_db *db, const struct pperf_counter *counter,
			  const struct pperf_gpu_info *info);

/*
 * The block type by whose blocks a counter has values of its own: its type, or
 * that of the counters it is derived from if they are all of one type beside
 * those of the front end (CSHW). 0 if there is none.
 */
unsigned int pperf_counter_block_type(const struct pperf_db *db, const struct pperf_counter *counter);

/* ---- Selections ---- */

struct pperf_selection;

/*
 * Makes an empty selection. The database, and info, have to outlive it. With info, counters that
 * the GPU does not have are errors or, for patterns, left out.
 */
enum pperf_error pperf_selection_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				     struct pperf_selection **selection);
void pperf_selection_free(struct pperf_selection *selection);

/*
 * Adds the counters that a name, source name, title, pattern or place stands
 * for; counters that are there already stay where they are. PPERF_ERROR_UNKNOWN
 * if there are none.
 */
enum pperf_error pperf_selection_add(struct pperf_selection *selection, const char *pattern);

/* Adds a list, separated by commas. An empty element is PPERF_ERROR_INVALID. */
enum pperf_error pperf_selection_add_list(struct pperf_selection *selection, const char *list);

/* Adds one counter of the database. */
enum pperf_error pperf_selection_add_counter(struct pperf_selection *selection,
					     const struct pperf_counter *counter);

/* Adds what most people want to see; all that has a name. */
enum pperf_error pperf_selection_add_default(struct pperf_selection *selection);
enum pperf_error pperf_selection_add_all(struct pperf_selection *selection);

/* Adds to the masks what pperf_sums_load() and struct pperf_topdown need; the list stays as it is. */
void pperf_selection_need_load(struct pperf_selection *selection);
void pperf_selection_need_topdown(struct pperf_selection *selection);

/* The counters in the order in which they were added. */
const struct pperf_counter *const *pperf_selection_counters(const struct pperf_selection *selection,
							    size_t *count);

/* What has to be enabled for all of them. */
const struct pperf_masks *pperf_selection_masks(const struct pperf_selection *selection);

/* ---- Samples ---- */

/* One block of a sample, which has the size of it. */
struct pperf_block {
	uint8_t type;		/* enum pperf_block_type */
	uint8_t index;		/* Number among the blocks of its type. */
	uint8_t states;		/* PPERF_STATE_* */
	uint8_t clock;		/* enum pperf_clock */

	/* What is enabled, and the values; NULL will do if nothing is. Sums are of those that are enabled. */
	uint64_t enabled[PPERF_MAX_VALUES / 64];
	const uint64_t *values;
};

/* What was counted in one period. */
struct pperf_sample {
	/* sizeof(struct pperf_sample) and sizeof(struct pperf_block) of whoever filled it in. */
	size_t size;
	size_t block_size;

	/* CLOCK_MONOTONIC_RAW. */
	uint64_t start_ns, end_ns;

	uint8_t set;
	uint32_t flags;		/* PPERF_SAMPLE_* */
	uint64_t user_data;

	/* By clock, over the time in which the GPU had power; 0 for clocks that are not counted. */
	uint64_t cycles[PPERF_CLOCKS];

	/*
	 * All blocks of the GPU, in the order of pperf_gpu_info::blocks: num_blocks times struct pperf_block,
	 * block_size bytes each, which pperf_sample_block_at() reads. Each has num_values values.
	 */
	unsigned int num_blocks;
	unsigned int num_values;
	const void *blocks;

	/* Of a session: the one that pperf_session_stop() has asked for, behind which there is none. */
	bool last;
};

/* A block by its position, from 0 to num_blocks - 1. */
const struct pperf_block *pperf_sample_block_at(const struct pperf_sample *sample, unsigned int position);

/* A block by its type and number. NULL if there is none. */
const struct pperf_block *pperf_sample_block(const struct pperf_sample *sample, unsigned int type,
					     unsigned int index);

/* Sum over all blocks of a counter of hardware. */
uint64_t pperf_sample_total(const struct pperf_sample *sample, const struct pperf_counter *counter);

/* Makes a copy with blocks and values of its own, to be kept for as long as it is wanted. */
enum pperf_error pperf_sample_copy(const struct pperf_sample *sample, struct pperf_sample **copy);

/* Frees a copy, NULL included. */
void pperf_sample_free(struct pperf_sample *copy);

/* ---- What happened to samples ---- */

/* Zero it, and set size, to begin. */
struct pperf_log {
	/* sizeof(struct pperf_log) of whoever has made it. */
	size_t size;

	/* Samples, and how many of them had each flag. */
	uint64_t samples;
	uint64_t overflowed;
	uint64_t failed;
	uint64_t stretched;

	/* Samples in which a block was in protected mode, which counts nothing and looks idle. */
	uint64_t in_protected;

	/* Samples that did not begin where the one before ended, and the time between. */
	uint64_t gaps;
	uint64_t gap_ns;

	/* Begin of the first sample, end of the last; length of the longest. */
	uint64_t start_ns, end_ns;
	uint64_t longest_ns;
};

/* Room for any sentence of a log. */
#define PPERF_LOG_TEXT 320

/* Fails if size is not set. */
enum pperf_error pperf_log_add(struct pperf_log *log, const struct pperf_sample *sample);

/*
 * Writes what is to be told of a log, a whole sentence: number 0 first, and so
 * on. Returns false, with an empty text, if there is no such number.
 */
bool pperf_log_text(const struct pperf_log *log, unsigned int number, char *text, size_t size);

/* ---- Sessions ---- */

/* A sample of its own when hardware stops counting by itself (power, protected mode). */
#define PPERF_SESSION_EMIT_AUTO (1u << 0)

/* Zero it, set size, and then what is wanted. */
struct pperf_session_options {
	/* sizeof(struct pperf_session_options) of the program. What the library does not know has to be 0. */
	size_t size;

	/* What to enable. */
	struct pperf_masks masks;

	/* Period, less than 2^62; 0: a sample is taken when it is asked for. */
	uint64_t period_ns;

	/* Samples in the ring, a power of two; 0: a size that bridges a busy moment. */
	uint32_t slots;

	/* Counter set, 0 being the primary one. */
	uint8_t set;

	/* PPERF_SESSION_* */
	uint32_t flags;
};

struct pperf_session;

/*
 * Sets up a session, which does not count yet. The period is raised to the
 * shortest the kernel has: see pperf_session_period().
 */
enum pperf_error pperf_session_open(struct pperf_gpu *gpu, const struct pperf_session_options *options,
				    struct pperf_session **session);

/* Ends a session in any state, NULL included. What was not read is dropped. */
void pperf_session_close(struct pperf_session *session);

/*
 * Counting begins; periodic samples are tagged with user_data. It may have to wait, for a millisecond or as
 * long as firmware takes: a signal ends that with PPERF_ERROR_INTERRUPTED, unless its handler was installed
 * with SA_RESTART.
 */
enum pperf_error pperf_session_start(struct pperf_session *session, uint64_t user_data);

/* Asks for one sample, of a session without a period. It comes later: see pperf_session_wait(). */
enum pperf_error pperf_session_sample(struct pperf_session *session, uint64_t user_data);

/* Asks for the last sample, behind all others; pperf_sample::last tells it, whatever the tags are. */
enum pperf_error pperf_session_stop(struct pperf_session *session, uint64_t user_data);

/*
 * The next sample, or NULL if there is none yet. It stays until the next call,
 * which gives its memory back to the kernel. PPERF_ERROR_GONE if there is none
 * and the GPU is gone; PPERF_ERROR_BROKEN for a sample that is not what the
 * kernel promised.
 */
enum pperf_error pperf_session_next(struct pperf_session *session, const struct pperf_sample **sample);

/* Gives the memory of the last sample back before the next call of pperf_session_next(). */
void pperf_session_release(struct pperf_session *session);

/*
 * Becomes readable when there is a sample. It need not be read:
 * pperf_session_next() clears it when it has found nothing.
 */
int pperf_session_fd(const struct pperf_session *session);

/*
 * Waits until there is a sample, for so many milliseconds or without end (-1).
 * Sets *ready to whether there is one. A signal ends it with *ready false.
 */
enum pperf_error pperf_session_wait(struct pperf_session *session, int timeout_ms, bool *ready);

/* Samples that are in the ring and were not returned yet. */
uint64_t pperf_session_pending(const struct pperf_session *session);

uint64_t pperf_session_period(const struct pperf_session *session);
uint32_t pperf_session_slots(const struct pperf_session *session);

/* What happened to the samples that pperf_session_next() has returned. */
const struct pperf_log *pperf_session_log(const struct pperf_session *session);

/* ---- Sums ---- */

struct pperf_sums;

/* Makes sums of nothing. The database and the info have to outlive them. */
enum pperf_error pperf_sums_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				struct pperf_sums **sums);
void pperf_sums_free(struct pperf_sums *sums);

/* Back to nothing; what is known of the clock's rate stays. */
void pperf_sums_reset(struct pperf_sums *sums);

/*
 * Adds a sample. PPERF_ERROR_BROKEN if its blocks are not the GPU's, PPERF_ERROR_INVALID if sizes or numbers of
 * values are none.
 */
enum pperf_error pperf_sums_add(struct pperf_sums *sums, const struct pperf_sample *sample);

/* Adds other sums of the same database and GPU. */
void pperf_sums_merge(struct pperf_sums *sums, const struct pperf_sums *other);

/* Number of samples, begin of the first, end of the last. */
uint64_t pperf_sums_samples(const struct pperf_sums *sums);
uint64_t pperf_sums_start_ns(const struct pperf_sums *sums);
uint64_t pperf_sums_end_ns(const struct pperf_sums *sums);

/* The time that samples cover, in seconds; gaps between them are left out. */
double pperf_sums_seconds(const struct pperf_sums *sums);

/* Flags of any sample; cycles of a clock; states of a block in any sample. */
uint32_t pperf_sums_flags(const struct pperf_sums *sums);
uint64_t pperf_sums_cycles(const struct pperf_sums *sums, enum pperf_clock clock);
uint32_t pperf_sums_states(const struct pperf_sums *sums, unsigned int type, unsigned int block);

/* What was enabled in all samples. */
const struct pperf_masks *pperf_sums_masks(const struct pperf_sums *sums);

/* A counter of hardware: the sum over all blocks, and that of one. 0 for what was not counted. */
uint64_t pperf_sums_total(const struct pperf_sums *sums, const struct pperf_counter *counter);
uint64_t pperf_sums_block(const struct pperf_sums *sums, const struct pperf_counter *counter,
			  unsigned int block);

/* The value of any counter, of the whole GPU. */
enum pperf_error pperf_sums_value(const struct pperf_sums *sums, const struct pperf_counter *counter,
				  double *value);

/*
 * The same of one block: of a block's own counter, or of one derived from such
 * (pperf_counter_block_type() tells which). Shader core 2's utilization, say.
 */
enum pperf_error pperf_sums_block_value(const struct pperf_sums *sums,
					const struct pperf_counter *counter, unsigned int block,
					double *value);

/* ---- GPU load: what people ask for first ---- */

struct pperf_load {
	/* Time that samples cover, and the part of it in which the GPU was active, in seconds. */
	double seconds;
	double active_seconds;

	/* Cycles of the top level clock while the GPU had power, and those in which it was active. */
	uint64_t cycles;
	uint64_t active_cycles;

	/*
	 * Parts, 0 to 1: of the time, with sleep counted as idle; and of the
	 * cycles, with sleep left out, as a GPU that sleeps has no cycles.
	 */
	double of_time;
	double of_cycles;
};

/*
 * Fills in a load; size is sizeof(struct pperf_load). PPERF_ERROR_NOT_COUNTED if a sample had no count of active
 * cycles. All is 0 if there was no time.
 */
enum pperf_error pperf_sums_load(const struct pperf_sums *sums, struct pperf_load *load, size_t size);

/* ---- A meter: the same without anything else, for programs that show any GPU ---- */

struct pperf_meter;

/* What was counted from a reading to the next. */
struct pperf_reading {
	/* Time that it stands for, in seconds; 0 before there was a sample. */
	double seconds;

	/* Part of the time in which the GPU was active, 0 to 1. NAN if it is not known, as all below. */
	double load;

	/* Mean frequency while the GPU was active, in Hz; NAN if it was not. */
	double active_hz;

	/* Bytes a second that were read from external memory, and written to it. */
	double read, written;

	/* PPERF_SAMPLE_* of any sample. */
	uint32_t flags;
};

/*
 * Counts what a reading needs on the GPU of an open render node, until the meter is closed; the descriptor can be
 * closed before. Fails as pperf_gpu_open() and pperf_session_open() do.
 */
enum pperf_error pperf_meter_open(int fd, struct pperf_meter **meter);
void pperf_meter_close(struct pperf_meter *meter);

/*
 * Fills in what was counted since the last reading, or that one again if there was no sample since; size is
 * sizeof(struct pperf_reading). It does not wait: samples come twenty times a second. Of more than six seconds, the rest
 * is in the next reading. PPERF_ERROR_GONE if the GPU is gone; after any error it is to be closed.
 */
enum pperf_error pperf_meter_read(struct pperf_meter *meter, struct pperf_reading *reading, size_t size);

/* ---- Top-down: an estimate of what held the work up ---- */

/* To be shown with every top-down figure: that it is an estimate, and why. */
const char *pperf_topdown_note(void);

/* Made by the library alone; a node of a database stays where it is, and is compared by its address. */
struct pperf_topdown_node {
	/* Such as td_core_tex. */
	const char *name;

	/* For people. */
	const char *title;

	/* What to look at next if this is a large part: sentences. */
	const char *next;

	const char *equation;

	/* 0: the whole; 1: its parts, and so on. */
	unsigned int level;

	/* NULL for the whole. */
	const struct pperf_topdown_node *parent;

	/* Number of nodes that have this one as their parent. */
	unsigned int children;
};

/*
 * The nodes of a layout's tree, *count pointers: every node is followed by its
 * parts, so that they can be printed as they come. The first is the whole. NULL
 * and 0 if nothing is known of the layout.
 */
const struct pperf_topdown_node *const *pperf_db_topdown(const struct pperf_db *db, size_t *count);

/* The deepest level of the tree. */
unsigned int pperf_db_topdown_levels(const struct pperf_db *db);

/*
 * The nodes that make up the whole at a level: those of the level, and those
 * above that have no parts. Stores up to max of them and returns how many there are.
 */
size_t pperf_db_topdown_level(const struct pperf_db *db, unsigned int level,
			      const struct pperf_topdown_node **nodes, size_t max);

struct pperf_topdown;

/* Makes one of nothing. PPERF_ERROR_UNKNOWN if the layout has no tree. */
enum pperf_error pperf_topdown_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				   struct pperf_topdown **topdown);
void pperf_topdown_free(struct pperf_topdown *topdown);

/* Back to nothing; what is known of the clock's rate stays. */
void pperf_topdown_reset(struct pperf_topdown *topdown);

/*
 * Evaluates the tree over one sample and adds the cycles of every node, so that
 * phases of the work do not mix. PPERF_ERROR_NOT_COUNTED if the sample lacks a
 * counter.
 */
enum pperf_error pperf_topdown_add(struct pperf_topdown *topdown, const struct pperf_sample *sample);

/* Adds another of the same database and GPU. */
void pperf_topdown_merge(struct pperf_topdown *topdown, const struct pperf_topdown *other);

/* Number of samples; cycles of a node; its part of the whole, 0 to 1. */
uint64_t pperf_topdown_samples(const struct pperf_topdown *topdown);
double pperf_topdown_cycles(const struct pperf_topdown *topdown, const struct pperf_topdown_node *node);
double pperf_topdown_share(const struct pperf_topdown *topdown, const struct pperf_topdown_node *node);

/* The largest of pperf_db_topdown_level(). NULL if there are no cycles. */
const struct pperf_topdown_node *pperf_topdown_largest(const struct pperf_topdown *topdown,
						       unsigned int level);

/* ---- Recordings: what panthor-perf record has written ---- */

struct pperf_recording;

/* Why a recording ended. */
enum pperf_recording_end {
	/* It was cut short: what was behind its last whole sample is missing. */
	PPERF_RECORDING_CUT = 0,

	PPERF_RECORDING_COMMAND_ENDED = 1,
	PPERF_RECORDING_INTERRUPTED = 2,
	PPERF_RECORDING_GPU_GONE = 3,
	PPERF_RECORDING_FAILED = 4,

	/* It went on in another file. */
	PPERF_RECORDING_CONTINUED = 5,
};

/* What was recorded, and on what. Made by the library alone. Strings are NULL, and numbers 0, where nothing is known. */
struct pperf_recording_info {
	/* sizeof(struct pperf_recording_info) of the library. */
	size_t size;

	/* Version of panthor-perf, name of the machine, version of its kernel and its kind (aarch64). */
	const char *tool, *host, *kernel, *machine;

	/* The command and its arguments, NULL at the end; NULL if there was none. */
	const char *const *command;

	const struct pperf_gpu_info *gpu;

	/* The counters of hardware that were recorded, and their set. */
	struct pperf_masks masks;
	uint8_t set;

	/* The period, which samples may exceed. */
	uint64_t period_ns;

	/* How many samples can be read, where the first begins and the last ends: CLOCK_MONOTONIC_RAW. If the file grows, they stay. */
	uint64_t samples;
	uint64_t start_ns, end_ns;

	/* start_ns as CLOCK_REALTIME: nanoseconds since 1970. */
	uint64_t start_realtime_ns;

	enum pperf_recording_end end;

	/* Exit status of the command. */
	int status;

	/* Of a recording that was not cut short: samples with each flag, and samples and marks that came and were not recorded. */
	uint64_t overflowed, failed, stretched;
	uint64_t lost_samples, lost_marks;

	/* Mean rate of the top level clock while the GPU had power, and the kernel's nominal rate meanwhile, in Hz. */
	uint64_t measured_hz, nominal_hz;

	/* Of a recording that was not cut short: frames that ended and were not recorded. */
	uint64_t lost_frames;
};

/* Made by the library alone. Marks of one name make up a region, each lasting until the next mark of any name. */
struct pperf_region {
	/* UTF-8 without control characters. Empty: the time in no other region. "(others)": names beyond 198. */
	const char *name;

	/* How many marks begin it, and how long it lasts between the begin of the first sample and the end of the last. */
	uint64_t times;
	uint64_t lasts_ns;
};

/* Made by the library alone. */
struct pperf_recording_mark {
	/* CLOCK_MONOTONIC_RAW. */
	uint64_t time_ns;

	/* The region that begins: an index in pperf_recording_regions(). */
	uint32_t region;
};

/* Made by the library alone. A frame lasts from one call of pperf_frame() to the next of the same process. */
struct pperf_recording_frame {
	/* CLOCK_MONOTONIC_RAW. */
	uint64_t start_ns, end_ns;

	/* Name of the program, "" if it is not known, and its PID as the recorder saw it, 0 if it did not. */
	const char *program;
	uint32_t pid;

	/* So many more frames ended in between, but were lost: this is all of them together. */
	uint32_t lost;
};

/*
 * Opens a recording, which has to be a file that can be read at any place. PPERF_ERROR_SYSTEM if it cannot be read,
 * PPERF_ERROR_BROKEN if it is none or is damaged. One that was cut short, or is still being written, has the samples that
 * are whole. Of a recording without an index all is read here.
 */
enum pperf_error pperf_recording_open(const char *path, struct pperf_recording **recording);

/*
 * The same with a file that the program has opened. It is read from its begin on; where it stands is left as it is. The
 * descriptor stays the program's, and can be closed: the library makes one of its own for the same open file.
 * PPERF_ERROR_INVALID if it is no descriptor.
 */
enum pperf_error pperf_recording_open_fd(int fd, struct pperf_recording **recording);

/* Closes a recording, NULL included. What the functions below return lives until then. */
void pperf_recording_close(struct pperf_recording *recording);

const struct pperf_recording_info *pperf_recording_info(const struct pperf_recording *recording);

/*
 * The database of its counters: that of pperf_gpu_info::layout, or of an unknown one if this library does not know it or
 * the set is not the primary one.
 */
const struct pperf_db *pperf_recording_db(const struct pperf_recording *recording);

/* The counters that have values in it, *count pointers: those of hardware, by place, then those derived from them. */
const struct pperf_counter *const *pperf_recording_counters(const struct pperf_recording *recording, size_t *count);

/*
 * Its regions, *count pointers: that without a name first, then in the order of their first marks. Region 0 always exists: without
 * marks it begins 0 times and lasts as long as the recording.
 */
const struct pperf_region *const *pperf_recording_regions(const struct pperf_recording *recording, size_t *count);

/* Its marks, in order, *count pointers. */
const struct pperf_recording_mark *const *pperf_recording_marks(const struct pperf_recording *recording, size_t *count);

/*
 * Its frames, *count pointers, in the order of their ends. The time before the first end of a process, and behind its last one, is
 * in no frame of it.
 */
const struct pperf_recording_frame *const *pperf_recording_frames(const struct pperf_recording *recording, size_t *count);

/* The region of a time: an index in pperf_recording_regions(). A sample belongs where its middle is. */
uint32_t pperf_recording_region(const struct pperf_recording *recording, uint64_t time_ns);

/* Goes to the first sample whose middle is at a time or behind it; 0: to the first sample. */
enum pperf_error pperf_recording_seek(struct pperf_recording *recording, uint64_t time_ns);

/*
 * The next sample, or NULL behind the last. It stays until the next call of any function for the recording. Where it does
 * not begin at the end of the one before there is a gap, in which nothing was counted. PPERF_ERROR_BROKEN and
 * PPERF_ERROR_SYSTEM if the file is damaged, is not what its index says or cannot be read; the same comes again until the program
 * seeks.
 */
enum pperf_error pperf_recording_next(struct pperf_recording *recording, const struct pperf_sample **sample);

/* Zero it, set size, and then what is wanted: arrays of the program, with room for as many samples each; NULL: not wanted. */
struct pperf_column_arrays {
	/* sizeof(struct pperf_column_arrays) of the program. What the library does not know has to be 0. */
	size_t size;

	/* Samples that arrays have room for. A few thousand are as fast as more. */
	size_t room;

	/* CLOCK_MONOTONIC_RAW. */
	uint64_t *start_ns, *end_ns;

	/* PPERF_SAMPLE_*. */
	uint32_t *flags;

	/* Indices in pperf_recording_regions(). */
	uint32_t *regions;

	/* By clock. */
	uint64_t *cycles[PPERF_CLOCKS];

	/*
	 * For each counter of the selection an array: its value over the sample, in its unit, of all blocks together. NAN where an
	 * equation has no value. Counts are exact up to 2^53.
	 */
	double *const *values;
};

/*
 * Fills in the next samples, up to the first whose middle is at until_ns or behind it, and goes behind them; UINT64_MAX: up to
 * the last. *count is how many, 0 at the end. Selection is one of the recording's database, NULL for none. The memory that it
 * takes does not depend on the recording's length. PPERF_ERROR_NOT_COUNTED if a counter was not recorded,
 * PPERF_ERROR_INVALID for another database; errors of pperf_recording_next(), when all samples before it were filled in.
 */
enum pperf_error pperf_recording_columns(struct pperf_recording *recording, const struct pperf_selection *selection,
					 uint64_t until_ns, const struct pperf_column_arrays *arrays, size_t *count);

/* ---- Marks and frames: moments in what others record ---- */

/* Bytes of a name, at most. */
#define PPERF_MARK_LENGTH 96

/*
 * Tells all who record, panthor-perf record among them, that a part of the program's work begins now, which
 * lasts until the next mark of any program; NULL ends it. The name is UTF-8 without control characters:
 * PPERF_ERROR_INVALID. Otherwise it is PPERF_OK, whether or not somebody records. It waits for nothing,
 * allocates nothing, and can be called from any thread and, with NULL or a valid name, from a signal's handler.
 */
enum pperf_error pperf_mark(const char *name);

/*
 * Tells all who record that a frame of this process ends now, and its next one begins. It waits for nothing, allocates
 * nothing, and can be called from any thread and from a signal's handler. If nobody records it does nothing. A recorder
 * that has no room gets the frame with a later one of the process, or is told how many it did not get.
 */
void pperf_frame(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
