/* SPDX-License-Identifier: MIT */
/*
 * Who uses a GPU: the clients' usage as the kernel tells it in /proc/PID/fdinfo/FD, in the format of
 * the kernel's document "DRM client usage stats". What is read there is not trusted: lines that are
 * none are left out, and numbers without bounds are cut.
 */
#ifndef PANTHOR_PERF_FDINFO_H
#define PANTHOR_PERF_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FDINFO_NAME 32
#define FDINFO_ENGINES 8
#define FDINFO_REGIONS 4

/* Values of an engine. */
enum fdinfo_engine_value {
	/* Busy time; busy cycles; cycles of the engine's clock, busy or not. These only grow. */
	FDINFO_TIME_NS,
	FDINFO_CYCLES,
	FDINFO_TOTAL_CYCLES,

	/* Frequencies, and how many engines of this name there are. */
	FDINFO_MAX_HZ,
	FDINFO_CURRENT_HZ,
	FDINFO_CAPACITY,

	FDINFO_ENGINE_VALUES,
};

/* Values of a memory region, in bytes. */
enum fdinfo_memory_value {
	FDINFO_TOTAL,
	FDINFO_SHARED,
	FDINFO_RESIDENT,
	FDINFO_PURGEABLE,
	FDINFO_ACTIVE,

	FDINFO_MEMORY_VALUES,
};

/* Names of the values in keys: "cycles", "resident". */
extern const char *const fdinfo_engine_names[FDINFO_ENGINE_VALUES];
extern const char *const fdinfo_memory_names[FDINFO_MEMORY_VALUES];

struct fdinfo_item {
	char name[FDINFO_NAME];

	/* Bit n: value n was told. */
	uint32_t known;
	uint64_t value[FDINFO_ENGINE_VALUES];
};

/* What one file tells. */
struct fdinfo {
	char driver[FDINFO_NAME];
	char client_name[FDINFO_NAME];

	bool has_id;
	uint64_t id;

	/* Counting sessions, a key of panthor with counters. */
	bool has_sessions;
	uint64_t sessions;

	/* Engines have an enum fdinfo_engine_value, regions an enum fdinfo_memory_value. */
	struct fdinfo_item engines[FDINFO_ENGINES];
	unsigned int num_engines;
	struct fdinfo_item regions[FDINFO_REGIONS];
	unsigned int num_regions;
};

static inline bool fdinfo_knows(const struct fdinfo_item *item, unsigned int value)
{
	return item->known & 1u << value;
}

/* Reads a text. Returns false if it is none of a DRM driver. */
bool fdinfo_parse(const char *text, struct fdinfo *info);

/* A client: an open file of the GPU, however many descriptors refer to it. */
struct client {
	/* The process with the lowest number that has it open. */
	pid_t pid;
	char command[FDINFO_NAME];

	/*
	 * The last that was read. Values that only grow are held at the largest that was read, since
	 * the kernel may tell less for a while.
	 */
	struct fdinfo info;
	uint64_t read_ns;

	/* Since the read before: seconds, and growth of the sums over all engines. */
	bool has_time, has_cycles;
	double seconds;
	double busy_seconds;
	double cycles;

	/* Cycles that there could have been; 0 if that is not known. */
	double possible_cycles;

	/* Of the scan that has seen it last. */
	unsigned int scan;
};

/* Zero it to begin. */
struct clients {
	struct client *list;
	size_t count;

	/* Number of the scan. */
	unsigned int scan;

	/* Processes of which the last scan could not see the files. */
	unsigned int hidden;
};

void clients_free(struct clients *clients);

/* A scan: begin, add each descriptor that there is, end. Clients that were not added are gone. */
void clients_begin(struct clients *clients);

/* Returns false if memory is out. Without an id, it cannot be told from others, and is left out. */
bool clients_add(struct clients *clients, pid_t pid, const char *command, const struct fdinfo *info,
		 uint64_t now_ns);
void clients_end(struct clients *clients);

/*
 * A scan of all processes below a directory, /proc. is_gpu() says whether a descriptor, by its name in
 * an open directory (as of /proc/PID/fd), is of the GPU. Returns false if memory is out or there is no
 * such directory.
 */
bool clients_scan(struct clients *clients, const char *proc,
		  bool (*is_gpu)(void *context, int directory, const char *name), void *context);

/* An is_gpu() of clients_scan(), whose context is a struct pperf_gpu_info. */
bool client_is_of(void *gpu, int directory, const char *name);

/* Parts of 1, NAN if not known: of the time; of the cycles that there could have been. */
double client_busy(const struct client *client);
double client_load(const struct client *client);

/* Mean frequency while the client's work ran, NAN if not known. */
double client_hz(const struct client *client);

/* Sum over regions of a value. Returns false if none tells it. */
bool client_memory(const struct client *client, enum fdinfo_memory_value value, uint64_t *bytes);

enum client_order {
	CLIENTS_BY_TIME,
	CLIENTS_BY_MEMORY,
	CLIENTS_BY_PID,
	CLIENTS_BY_NAME,

	CLIENT_ORDERS,
};

/* What is compared: busy is NAN if it is not known. */
struct client_key {
	double busy;
	uint64_t bytes;
	const char *command;
	pid_t pid;
};

/* Like strcmp(): the largest first, or in the order of numbers and names. */
int client_keys_compare(enum client_order order, const struct client_key *a, const struct client_key *b);

/* Those that are equal by their ids. */
void clients_sort(struct clients *clients, enum client_order order, bool reverse);

#endif
