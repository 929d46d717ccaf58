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

	/* By block: states, and values_per_block values each. By type: the first block. */
	unsigned int num_blocks;
	unsigned int first[PPERF_BLOCK_TYPES];
	uint8_t *states;
	uint64_t *values;
};

enum pperf_error pperf_sums_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				struct pperf_sums **out)
{
	struct pperf_sums *s = calloc(1, sizeof(*s));
	enum pperf_error error;
	unsigned int type;

	if (!s)
		return pperf_no_memory();

	s->db = db;
	error = pperf_info_take(&s->info, info);
	if (error) {
		free(s);
		return error;
	}
	s->num_blocks = pperf_info_blocks(info);
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		s->first[type] = pperf_info_first_block(info, type);
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

static void sample_total(const void *source, unsigned int type, unsigned int index, size_t count, double *values)
{
	const struct pperf_counter at = { .type = type, .index = index };

	(void)count;
	*values = pperf_sample_total(source, &at);
}

/* What part of a sample's time the GPU was active, of which it has the cycles. */
static double active_part(struct pperf_sums *s, double seconds, double cycles, bool slept, double active)
{
	double elapsed = pperf_elapsed_cycles(&s->rate, &s->info, seconds, cycles, slept);

	/* While the rate is not known, it is taken for as low as it can have been. */
	if (!elapsed)
		elapsed = cycles;
	return active < elapsed ? active / elapsed : active > 0;
}

/* Corrects what was added by a nominal rate, once the real one is known. Far from it, the clock was set anew meanwhile. */
static void correct_active(struct pperf_sums *s)
{
	double nominal = s->info.toplevel_hz, active;

	if (!(s->early.seconds > 0))
		return;
	active = s->early.active / s->rate.hz;
	if (active > s->early.seconds)
		active = s->early.seconds;
	if (fabs(s->rate.hz - nominal) < 0.25 * nominal)
		s->active_seconds += active - s->early.active_seconds;
	memset(&s->early, 0, sizeof(s->early));
}

/* Adds the part of a sample's time in which the GPU was active. */
static void add_active(struct pperf_sums *s, double seconds, double cycles, bool slept, double active)
{
	double part = active_part(s, seconds, cycles, slept, active);

	s->active_seconds += seconds * part;
	if (s->rate.measured) {
		correct_active(s);
		return;
	}
	s->early.seconds += seconds;
	s->early.active_seconds += seconds * part;
	s->early.active += active;
}

/* Adds all but times, of a sample or of many that were added up. */
static void add_counts(struct pperf_sums *s, const struct pperf_sample *sample)
{
	struct pperf_masks masks;
	unsigned int b, word, n;
	uint64_t bits;

	pperf_sample_masks(sample, &masks);
	restrict_masks(s, &masks);
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
}

enum pperf_error pperf_sums_add(struct pperf_sums *s, const struct pperf_sample *sample)
{
	struct evaluation e = { .db = s->db, .count = 1, .load = sample_total, .source = sample };
	enum pperf_error error = pperf_sample_check(sample, &s->info);
	double active = 0;

	if (error)
		return error;

	if (s->db->active) {
		pperf_evaluation_config(&e, &s->info);
		pperf_evaluate(&e, s->db->active, &active);
		add_active(s, (sample->end_ns - sample->start_ns) / 1e9, sample->cycles[PPERF_CLOCK_TOPLEVEL],
			   pperf_sample_slept(sample), active);
	}
	add_counts(s, sample);
	if (!s->samples)
		s->start_ns = sample->start_ns;
	s->end_ns = sample->end_ns;
	s->covered_ns += sample->end_ns - sample->start_ns;
	s->samples++;
	return PPERF_OK;
}

void pperf_sums_add_columns(struct pperf_sums *s, const struct pperf_columns *c, const struct pperf_sample *sum)
{
	double active[EXPR_MAX_VALUES];
	size_t first, count, i;

	for (first = 0; first < c->count; first += count) {
		count = pperf_columns_values(c, s->db, &s->info, s->db->active, first, active);
		for (i = 0; i < count; i++) {
			if (s->db->active)
				add_active(s, c->seconds[first + i], c->cycles[PPERF_CLOCK_TOPLEVEL][first + i],
					   c->slept[first + i], active[i]);
			s->covered_ns += c->end_ns[first + i] - c->start_ns[first + i];
		}
	}
	add_counts(s, sum);
	if (!s->samples)
		s->start_ns = c->start_ns[0];
	s->end_ns = c->end_ns[c->count - 1];
	s->samples += c->count;
}

/* A double may be 2^64 or more, for which there is no conversion. */
static uint64_t to_count(double number)
{
	if (!(number > 0))
		return 0;
	return number < 0x1p64 ? (uint64_t)number : UINT64_MAX;
}

static void fill_load(struct pperf_load *load, double seconds, double active_seconds, uint64_t cycles, uint64_t active)
{
	*load = (struct pperf_load){
		.seconds = seconds, .active_seconds = active_seconds, .cycles = cycles, .active_cycles = active,
	};
	if (seconds > 0)
		load->of_time = active_seconds < seconds ? active_seconds / seconds : 1;
	if (cycles)
		load->of_cycles = active < cycles ? (double)active / cycles : 1;
}

static bool has_column_of_each(const struct pperf_columns *c, const struct pperf_masks *needs)
{
	unsigned int type, word;
	uint64_t bits;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (word = 0; word < PPERF_MAX_VALUES / 64; word++)
			for (bits = needs->bits[type][word]; bits; bits &= bits - 1)
				if (!c->totals[type][word * 64 + __builtin_ctzll(bits)])
					return false;
	return true;
}

bool pperf_sums_loads(struct pperf_sums *s, const struct pperf_columns *c, struct pperf_load *loads)
{
	double active[EXPR_MAX_VALUES], part;
	struct pperf_masks needs = {};
	size_t first, count, i;

	if (s->db->active)
		pperf_counter_needs(s->db, s->db->active, &needs);
	if (!s->db->active || !has_column_of_each(c, &needs))
		return false;
	for (first = 0; first < c->count; first += count) {
		count = pperf_columns_values(c, s->db, &s->info, s->db->active, first, active);
		for (i = 0; i < count; i++) {
			part = active_part(s, c->seconds[first + i], c->cycles[PPERF_CLOCK_TOPLEVEL][first + i],
					   c->slept[first + i], active[i]);
			fill_load(&loads[first + i], c->seconds[first + i], c->seconds[first + i] * part,
				  c->cycles[PPERF_CLOCK_TOPLEVEL][first + i], to_count(active[i]));
		}
	}
	return true;
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
	return s->states[s->first[type] + block];
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
	if (block >= s->info.blocks[type] || index >= s->info.values_per_block)
		return 0;
	return s->values[(size_t)(s->first[type] + block) * s->info.values_per_block + index];
}

uint64_t pperf_sums_block(const struct pperf_sums *s, const struct pperf_counter *counter,
			  unsigned int block)
{
	return counter->type ? block_value(s, counter->type, block, counter->index) : 0;
}

static void load_total(const void *source, unsigned int type, unsigned int index, size_t count, double *values)
{
	const struct pperf_sums *s = source;

	(void)count;
	*values = s->totals[type][index];
}

static enum pperf_error evaluate(const struct evaluation *e, const struct pperf_sums *s,
				 const struct pperf_counter *counter, double *value)
{
	double result;

	if (!pperf_counter_in(s->db, counter, &s->masks))
		return pperf_fail(PPERF_ERROR_NOT_COUNTED, "%s, or a counter that it needs, was not counted",
				  counter->name);
	pperf_evaluate(e, counter, &result);
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
	struct evaluation e = { .db = s->db, .count = 1, .load = load_total, .source = s };

	fill_config(&e, s);
	return evaluate(&e, s, counter, value);
}

/* One block of a type instead of all. */
struct block_source {
	const struct pperf_sums *sums;
	unsigned int type, block;
};

static void load_of_block(const void *source, unsigned int type, unsigned int index, size_t count, double *values)
{
	const struct block_source *b = source;

	(void)count;
	*values = type == b->type ? block_value(b->sums, type, b->block, index) : b->sums->totals[type][index];
}

enum pperf_error pperf_sums_block_value(const struct pperf_sums *s,
					const struct pperf_counter *counter, unsigned int block,
					double *value)
{
	struct block_source source = {
		.sums = s, .type = pperf_counter_block_type(s->db, counter), .block = block,
	};
	struct evaluation e = { .db = s->db, .count = 1, .load = load_of_block, .source = &source };

	if (!source.type || block >= s->info.blocks[source.type])
		return pperf_fail(PPERF_ERROR_INVALID, "%s has no separate value for block %u",
				  counter->name, block);

	fill_config(&e, s);
	pperf_evaluation_of_block(&e, source.type);
	return evaluate(&e, s, counter, value);
}

enum pperf_error pperf_sums_load(const struct pperf_sums *s, struct pperf_load *load, size_t size)
{
	struct pperf_load l = {};
	enum pperf_error error;
	uint64_t cycles;
	double active;

	if (size < SIZE_0_3(struct pperf_load, of_cycles))
		return pperf_fail(PPERF_ERROR_INVALID, "the size of a load is %zu, but must be sizeof(struct pperf_load)", size);
	if (!s->db->active)
		return pperf_fail(PPERF_ERROR_NOT_COUNTED, "the counter of active cycles is not known "
				  "for this GPU");
	if (s->samples) {
		error = pperf_sums_value(s, s->db->active, &active);
		if (error)
			return error;
		/* A count has more bits than a double. */
		cycles = s->db->active->equation ? to_count(active) : pperf_sums_total(s, s->db->active);
		fill_load(&l, pperf_sums_seconds(s), s->active_seconds, s->cycles[PPERF_CLOCK_TOPLEVEL], cycles);
	}
	pperf_struct_copy(load, size, &l, sizeof(l));
	return PPERF_OK;
}
