// SPDX-License-Identifier: MIT
/* Samples added up: counts of every block and of all, derived values, load. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct pperf_sums {
	const struct pperf_db *db;
	struct pperf_gpu_info info;

	uint64_t samples;
	uint64_t start_ns, end_ns, covered_ns;
	uint32_t flags;
	uint64_t cycles[PPERF_CLOCKS];

	/* What is enabled in all samples, and what is in any. */
	struct pperf_masks masks;

	uint64_t totals[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES];

	/* Time in which the GPU was active, in seconds; what is known of the clock. */
	double active_seconds;
	struct clock_rate rate;

	/* Samples from before the rate was measured: time, active time by the nominal rate, active cycles. */
	struct {
		double seconds, active_seconds, active;
	} early;

	/* By block: states, and values_per_block values each. */
	unsigned int num_blocks;
	uint8_t *states;
	uint64_t *values;
};

enum pperf_error pperf_sums_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				struct pperf_sums **out)
{
	struct pperf_sums *s = calloc(1, sizeof(*s));
	enum pperf_error error;

	if (!s)
		return pperf_no_memory();

	s->db = db;
	error = pperf_info_take(&s->info, info);
	if (error) {
		free(s);
		return error;
	}
	s->num_blocks = pperf_info_blocks(info);
	s->states = calloc(s->num_blocks, sizeof(*s->states));
	s->values = calloc((size_t)s->num_blocks * info->values_per_block, sizeof(*s->values));
	if (!s->states || !s->values) {
		pperf_sums_free(s);
		return pperf_no_memory();
	}
	*out = s;
	return PPERF_OK;
}

void pperf_sums_free(struct pperf_sums *s)
{
	if (!s)
		return;
	free(s->states);
	free(s->values);
	free(s);
}

void pperf_sums_reset(struct pperf_sums *s)
{
	memset(s->states, 0, s->num_blocks * sizeof(*s->states));
	memset(s->values, 0, (size_t)s->num_blocks * s->info.values_per_block * sizeof(*s->values));
	memset(s->totals, 0, sizeof(s->totals));
	memset(&s->masks, 0, sizeof(s->masks));
	memset(s->cycles, 0, sizeof(s->cycles));
	s->samples = 0;
	s->start_ns = 0;
	s->end_ns = 0;
	s->covered_ns = 0;
	s->flags = 0;
	s->active_seconds = 0;
	memset(&s->early, 0, sizeof(s->early));
}

static void restrict_masks(struct pperf_sums *s, const struct pperf_masks *masks)
{
	unsigned int type;

	if (!s->samples) {
		s->masks = *masks;
		return;
	}
	for (type = 0; type < PPERF_BLOCK_TYPES; type++) {
		s->masks.bits[type][0] &= masks->bits[type][0];
		s->masks.bits[type][1] &= masks->bits[type][1];
	}
}

static uint64_t sample_value(const void *source, unsigned int type, unsigned int index)
{
	const struct pperf_counter at = { .type = type, .index = index };

	return pperf_sample_total(source, &at);
}

/* Adds the part of a sample's time in which the GPU was active. */
static void add_active(struct pperf_sums *s, const struct pperf_sample *sample)
{
	struct evaluation e = { .db = s->db, .value = sample_value, .source = sample };
	double elapsed = pperf_elapsed_cycles(&s->rate, &s->info, sample), active;
	double seconds = (sample->end_ns - sample->start_ns) / 1e9, part;

	if (!s->db->active)
		return;

	pperf_evaluation_config(&e, &s->info);
	active = pperf_evaluate(&e, s->db->active);
	/* While the rate is not known, it is taken for as low as it can have been. */
	if (!elapsed)
		elapsed = sample->cycles[PPERF_CLOCK_TOPLEVEL];
	part = active < elapsed ? active / elapsed : active > 0;
	s->active_seconds += seconds * part;
	if (!s->rate.measured) {
		s->early.seconds += seconds;
		s->early.active_seconds += seconds * part;
		s->early.active += active;
	}
}

/* Corrects what was added by a nominal rate, once the real one is known. Far from it, the clock was set anew meanwhile. */
static void correct_active(struct pperf_sums *s)
{
	double nominal = s->info.toplevel_hz, active;

	if (!s->rate.measured || !(s->early.seconds > 0))
		return;
	active = s->early.active / s->rate.hz;
	if (active > s->early.seconds)
		active = s->early.seconds;
	if (fabs(s->rate.hz - nominal) < 0.25 * nominal)
		s->active_seconds += active - s->early.active_seconds;
	memset(&s->early, 0, sizeof(s->early));
}

enum pperf_error pperf_sums_add(struct pperf_sums *s, const struct pperf_sample *sample)
{
	enum pperf_error error = pperf_sample_check(sample, &s->info);
	struct pperf_masks masks;
	unsigned int b, word, n;
	uint64_t bits;

	if (error)
		return error;

	pperf_sample_masks(sample, &masks);
	restrict_masks(s, &masks);
	add_active(s, sample);
	correct_active(s);

	if (!s->samples)
		s->start_ns = sample->start_ns;
	s->end_ns = sample->end_ns;
	s->covered_ns += sample->end_ns - sample->start_ns;
	s->samples++;
	s->flags |= sample->flags;
	for (n = 0; n < PPERF_CLOCKS; n++)
		s->cycles[n] += sample->cycles[n];

	for (b = 0; b < sample->num_blocks; b++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, b);
		uint64_t *values = s->values + (size_t)b * s->info.values_per_block;

		s->states[b] |= block->states;
		for (word = 0; word < PPERF_MAX_VALUES / 64; word++) {
			for (bits = block->enabled[word]; bits; bits &= bits - 1) {
				n = word * 64 + __builtin_ctzll(bits);
				if (n < PPERF_FIRST_COUNTER)
					continue;
				values[n] += block->values[n];
				s->totals[block->type][n] += block->values[n];
			}
		}
	}
	return PPERF_OK;
}

void pperf_sums_merge(struct pperf_sums *s, const struct pperf_sums *other)
{
	size_t i, n = (size_t)s->num_blocks * s->info.values_per_block;
	unsigned int type;

	if (!other->samples)
		return;

	restrict_masks(s, &other->masks);
	if (!s->samples || other->start_ns < s->start_ns)
		s->start_ns = other->start_ns;
	if (other->end_ns > s->end_ns)
		s->end_ns = other->end_ns;
	s->covered_ns += other->covered_ns;
	s->samples += other->samples;
	s->flags |= other->flags;
	s->active_seconds += other->active_seconds;
	for (i = 0; i < PPERF_CLOCKS; i++)
		s->cycles[i] += other->cycles[i];
	for (i = 0; i < s->num_blocks; i++)
		s->states[i] |= other->states[i];
	for (i = 0; i < n; i++)
		s->values[i] += other->values[i];
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES; i++)
			s->totals[type][i] += other->totals[type][i];
}

uint64_t pperf_sums_samples(const struct pperf_sums *s)
{
	return s->samples;
}

uint64_t pperf_sums_start_ns(const struct pperf_sums *s)
{
	return s->start_ns;
}

uint64_t pperf_sums_end_ns(const struct pperf_sums *s)
{
	return s->end_ns;
}

double pperf_sums_seconds(const struct pperf_sums *s)
{
	return s->covered_ns / 1e9;
}

uint32_t pperf_sums_flags(const struct pperf_sums *s)
{
	return s->flags;
}

uint64_t pperf_sums_cycles(const struct pperf_sums *s, enum pperf_clock clock)
{
	return (unsigned int)clock < PPERF_CLOCKS ? s->cycles[clock] : 0;
}

uint32_t pperf_sums_states(const struct pperf_sums *s, unsigned int type, unsigned int block)
{
	if (type >= PPERF_BLOCK_TYPES || block >= s->info.blocks[type])
		return 0;
	return s->states[pperf_info_first_block(&s->info, type) + block];
}

const struct pperf_masks *pperf_sums_masks(const struct pperf_sums *s)
{
	return &s->masks;
}

uint64_t pperf_sums_total(const struct pperf_sums *s, const struct pperf_counter *counter)
{
	return s->totals[counter->type][counter->index];
}

static uint64_t block_value(const struct pperf_sums *s, unsigned int type, unsigned int block,
			    unsigned int index)
{
	size_t b;

	if (block >= s->info.blocks[type] || index >= s->info.values_per_block)
		return 0;
	b = pperf_info_first_block(&s->info, type) + block;
	return s->values[b * s->info.values_per_block + index];
}

uint64_t pperf_sums_block(const struct pperf_sums *s, const struct pperf_counter *counter,
			  unsigned int block)
{
	return counter->type ? block_value(s, counter->type, block, counter->index) : 0;
}

static uint64_t total_value(const void *source, unsigned int type, unsigned int index)
{
	const struct pperf_sums *s = source;

	return s->totals[type][index];
}

static enum pperf_error evaluate(const struct evaluation *e, const struct pperf_sums *s,
				 const struct pperf_counter *counter, double *value)
{
	double result;

	if (!pperf_counter_in(s->db, counter, &s->masks))
		return pperf_fail(PPERF_ERROR_NOT_COUNTED, "%s, or a counter that it needs, was not counted",
				  counter->name);
	result = pperf_evaluate(e, counter);
	if (!isfinite(result))
		return pperf_fail(PPERF_ERROR_NO_VALUE, "%s has no value for these counts",
				  counter->name);
	*value = result;
	return PPERF_OK;
}

static void fill_config(struct evaluation *e, const struct pperf_sums *s)
{
	pperf_evaluation_config(e, &s->info);
	e->config[CONFIG_SECONDS] = pperf_sums_seconds(s);
}

enum pperf_error pperf_sums_value(const struct pperf_sums *s, const struct pperf_counter *counter,
				  double *value)
{
	struct evaluation e = { .db = s->db, .value = total_value, .source = s };

	fill_config(&e, s);
	return evaluate(&e, s, counter, value);
}

/* One block of a type instead of all. */
struct block_source {
	const struct pperf_sums *sums;
	unsigned int type, block;
};

static uint64_t one_block_value(const void *source, unsigned int type, unsigned int index)
{
	const struct block_source *b = source;

	return type == b->type ? block_value(b->sums, type, b->block, index) :
				 b->sums->totals[type][index];
}

enum pperf_error pperf_sums_block_value(const struct pperf_sums *s,
					const struct pperf_counter *counter, unsigned int block,
					double *value)
{
	struct block_source source = {
		.sums = s, .type = pperf_counter_block_type(s->db, counter), .block = block,
	};
	struct evaluation e = { .db = s->db, .value = one_block_value, .source = &source };

	if (!source.type || block >= s->info.blocks[source.type])
		return pperf_fail(PPERF_ERROR_INVALID, "%s has no separate value for block %u",
				  counter->name, block);

	/* Averages over cores or slices are over this one. */
	fill_config(&e, s);
	if (source.type == PPERF_BLOCK_SHADER)
		e.config[CONFIG_CORES] = 1;
	if (source.type == PPERF_BLOCK_MEMSYS)
		e.config[CONFIG_SLICES] = 1;
	return evaluate(&e, s, counter, value);
}

enum pperf_error pperf_sums_load(const struct pperf_sums *s, struct pperf_load *load, size_t size)
{
	struct pperf_load l = {
		.seconds = pperf_sums_seconds(s),
		.active_seconds = s->active_seconds,
		.cycles = s->cycles[PPERF_CLOCK_TOPLEVEL],
	};
	enum pperf_error error;
	double active;

	if (size < SIZE_0_3(struct pperf_load, of_cycles))
		return pperf_fail(PPERF_ERROR_INVALID, "the size of a load is %zu, but must be sizeof(struct pperf_load)", size);
	if (!s->db->active)
		return pperf_fail(PPERF_ERROR_NOT_COUNTED, "the counter of active cycles is not known "
				  "for this GPU");
	if (!s->samples) {
		pperf_struct_copy(load, size, &l, sizeof(l));
		return PPERF_OK;
	}

	error = pperf_sums_value(s, s->db->active, &active);
	if (error)
		return error;
	/* A count is no double, which has 53 bits of it and may be 2^64, for which there is no conversion. */
	if (!s->db->active->equation)
		l.active_cycles = pperf_sums_total(s, s->db->active);
	else if (active > 0)
		l.active_cycles = active < 0x1p64 ? (uint64_t)active : UINT64_MAX;
	if (l.seconds > 0)
		l.of_time = l.active_seconds < l.seconds ? l.active_seconds / l.seconds : 1;
	if (l.cycles)
		l.of_cycles = l.active_cycles < l.cycles ? (double)l.active_cycles / l.cycles : 1;
	pperf_struct_copy(load, size, &l, sizeof(l));
	return PPERF_OK;
}
