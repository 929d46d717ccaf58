/* SPDX-License-Identifier: MIT */
/*
 * Percentiles of any number of values in little memory: a histogram whose bins are 256 parts of each power of two. What it says
 * is one of the values, and that at the percentile or one above it by less than QUANTILES_ERROR.
 */
#ifndef PANTHOR_PERF_QUANTILES_H
#define PANTHOR_PERF_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

#define QUANTILES_BINS 256
#define QUANTILES_ERROR (1.0 / QUANTILES_BINS)

/* Values from a power of two on, positive or negative. */
struct quantiles_octave {
	/* Sign and exponent. */
	uint32_t key;

	/* A bit for each bin that has values. */
	uint64_t used[QUANTILES_BINS / 64];
	struct quantiles_bin {
		/* The largest value in it, and the weights of all. */
		double largest;
		double weight;
	} bins[QUANTILES_BINS];
};

/* Zero it to begin. */
struct quantiles {
	/* By value. */
	struct quantiles_octave **octaves;
	size_t count;
	double weight;
};

/* Adds values, but for those that are NAN. Returns -1 without memory. */
int quantiles_add(struct quantiles *quantiles, const double *values, const double *weights, size_t count);

/* The value below which so much of the weight is, in percent. 0 if there is none. */
double quantiles_percentile(const struct quantiles *quantiles, unsigned int percent);
void quantiles_free(struct quantiles *quantiles);

/* Of values that are all kept: the one that so many percent do not exceed, 0 if there is none. */
void quantiles_sort(uint64_t *values, size_t count);
uint64_t quantiles_of_sorted(const uint64_t *values, size_t count, unsigned int percent);

#endif
