// SPDX-License-Identifier: MIT
#include "quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sign, exponent and the first eight bits of the fraction of a double. */
#define FRACTION_BITS 52
#define BIN_SHIFT (FRACTION_BITS - 8)

static uint64_t bits_of(double value)
{
	uint64_t bits;

	/* There are two zeros. */
	value += 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Numbers that are ordered as values are: those of negative ones turn around. */
static uint32_t key_of(uint64_t bits)
{
	uint32_t key = bits >> FRACTION_BITS;

	return key & 0x800 ? 0x7ff - (key & 0x7ff) : key | 0x800;
}

static struct quantiles_octave *octave_of(struct quantiles *q, uint32_t key)
{
	struct quantiles_octave **more, *octave;
	size_t at;

	for (at = q->count; at && q->octaves[at - 1]->key >= key; at--)
		if (q->octaves[at - 1]->key == key)
			return q->octaves[at - 1];
	octave = calloc(1, sizeof(*octave));
	if (!octave)
		return NULL;
	more = reallocarray(q->octaves, q->count + 1, sizeof(*more));
	if (!more) {
		free(octave);
		return NULL;
	}
	q->octaves = more;
	octave->key = key;
	memmove(&more[at + 1], &more[at], (q->count++ - at) * sizeof(*more));
	more[at] = octave;
	return octave;
}

int quantiles_add(struct quantiles *q, const double *values, const double *weights, size_t count)
{
	struct quantiles_octave *octave = NULL;
	struct quantiles_bin *bin;
	uint64_t bits;
	uint32_t key;
	size_t i, n;

	for (i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		bits = bits_of(values[i]);
		key = key_of(bits);
		if (!octave || octave->key != key) {
			octave = octave_of(q, key);
			if (!octave)
				return -1;
		}
		n = bits >> BIN_SHIFT & (QUANTILES_BINS - 1);
		if (bits >> 63)
			n = QUANTILES_BINS - 1 - n;
		bin = &octave->bins[n];
		if (!(octave->used[n / 64] >> (n % 64) & 1) || values[i] > bin->largest)
			bin->largest = values[i];
		octave->used[n / 64] |= 1ull << (n % 64);
		bin->weight += weights[i];
		q->weight += weights[i];
	}
	return 0;
}

double quantiles_percentile(const struct quantiles *q, unsigned int percent)
{
	double wanted = q->weight * percent / 100, seen = 0, last = 0;
	const struct quantiles_octave *octave;
	size_t i, n;

	for (i = 0; i < q->count; i++) {
		octave = q->octaves[i];
		for (n = 0; n < QUANTILES_BINS; n++) {
			if (!(octave->used[n / 64] >> (n % 64) & 1))
				continue;
			last = octave->bins[n].largest;
			seen += octave->bins[n].weight;
			if (seen >= wanted)
				return last;
		}
	}
	return last;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void quantiles_sort(uint64_t *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), compare);
}

uint64_t quantiles_of_sorted(const uint64_t *values, size_t count, unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;

	return count ? values[rank ? rank - 1 : 0] : 0;
}

void quantiles_free(struct quantiles *q)
{
	size_t i;

	for (i = 0; i < q->count; i++)
		free(q->octaves[i]);
	free(q->octaves);
	memset(q, 0, sizeof(*q));
}
