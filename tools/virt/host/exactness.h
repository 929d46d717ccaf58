/* SPDX-License-Identifier: MIT */
/*
 * What perf-exact (in the guest) has to say to exactness (on the host): a head,
 * then the runs, each from a START to the end of what it delivered. A run is a
 * struct exact_run, its samples, and a sum for each value of each block, in the
 * order of a sample. All in the byte order of both.
 */
#ifndef EXACTNESS_H
#define EXACTNESS_H

#include <stdint.h>

#define EXACT_MAGIC	0x54435845u
#define EXACT_TYPES	7

/* Slots of the firmware ring, at most: what was late by a lap has been found then. */
#define EXACT_LAP	128

/*
 * A line of the kernel's log, so that it has a time; and then a line with the CLOCK_MONOTONIC_RAW before
 * that one was written and after, in microseconds.
 */
#define EXACT_CLOCK	"perf-exact: CLOCK_MONOTONIC_RAW "

struct exact_head {
	uint32_t magic;
	uint32_t gpu_id;
	uint64_t shader_present;
	uint32_t values;		/* of a block */
	uint32_t count[EXACT_TYPES];	/* blocks by type */
	uint32_t sessions;
	uint32_t pad;
	uint64_t storm_from_ns;		/* before this and after that it was calm; */
	uint64_t storm_to_ns;		/* 0: it never was, or always */
};

struct exact_run {
	uint64_t start_data;		/* START's user_data, of no other command */
	uint64_t mask[EXACT_TYPES][2];
	uint32_t samples;
	uint32_t client;		/* which of the sessions, for people */
	uint64_t period_ns;
};

struct exact_sample {
	uint64_t user_data;
	uint64_t end_ns;
	uint64_t hash;
	uint32_t flags;
	uint32_t pad;
};

/*
 * A sample's hash is the sum of its values, each times a number of its own:
 * linear, so that it can be had from sums of firmware samples as well, and
 * different with near certainty if any value is.
 */
static inline uint64_t exact_factor(uint32_t value)
{
	uint64_t z = (value + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (z ^ (z >> 31)) | 1;
}

#endif
