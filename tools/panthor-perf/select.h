/* SPDX-License-Identifier: MIT */
/* Which counters somebody wants, what to enable for them, and their values. */
#ifndef PANTHOR_PERF_SELECT_H
#define PANTHOR_PERF_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data.h"

#define BLOCK_TYPES 7
#define MAX_VALUES 128

/* What equations ask of a GPU. */
struct config {
	unsigned int cores;
	unsigned int slices;
	unsigned int bus_bytes;
};

/* Counters, in the order they were asked for. */
struct selection {
	const struct counters *counters;
	const struct counter **chosen;
	size_t count;

	/* Counters that are not in the tables, chosen by their place. */
	struct counter **raw;
	size_t raw_count;

	/* What has to be counted, by block type. */
	uint64_t masks[BLOCK_TYPES][2];
};

/* Sums over all blocks of a type. */
struct sums {
	uint64_t value[BLOCK_TYPES][MAX_VALUES];
	double seconds;
};

/*
 * Adds the counters that match: one by name, source name or title, in any case;
 * several by a pattern of * ? []; any by its place, as BLOCK.INDEX.
 * Returns the number of counters that match, or -1 without memory.
 */
int select_add(struct selection *s, const char *pattern);

/* Adds what most people want to see. Returns like select_add(). */
int select_default(struct selection *s);

/* Finds a counter by its name in equations. */
const struct counter *select_find(const struct counters *counters, const char *name);

void select_free(struct selection *s);

/* The value of any counter. Returns -1 if its equation has no value. */
int select_value(const struct counters *counters, const struct counter *counter,
		 const struct config *config, const struct sums *sums, double *value);

/* True if the counter's value divided by a time makes sense. */
bool select_has_rate(const struct counter *counter);

#endif
