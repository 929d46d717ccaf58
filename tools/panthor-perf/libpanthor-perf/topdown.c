// SPDX-License-Identifier: MIT
/* Top-down: the tree of data/topdown.csv, evaluated a sample at a time. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct pperf_topdown {
	const struct pperf_db *db;
	struct pperf_gpu_info info;
	struct clock_rate rate;
	uint64_t samples;

	/* By node, added up; by row, of the samples that are evaluated. */
	double *cycles;
	double (*rows)[EXPR_MAX_VALUES];
};

const char *pperf_topdown_note(void)
{
	return "Top-down figures are an estimate from counters, not a measurement.";
}

enum pperf_error pperf_topdown_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				   struct pperf_topdown **out)
{
	struct pperf_topdown *t;
	enum pperf_error error;

	if (!db->num_nodes)
		return pperf_fail(PPERF_ERROR_UNKNOWN, "top-down is not available for this GPU");

	t = calloc(1, sizeof(*t));
	if (!t)
		return pperf_no_memory();
	t->db = db;
	error = pperf_info_take(&t->info, info);
	t->cycles = calloc(db->num_nodes, sizeof(*t->cycles));
	t->rows = calloc(db->num_rows, sizeof(*t->rows));
	if (!error && (!t->cycles || !t->rows))
		error = pperf_no_memory();
	if (error) {
		pperf_topdown_free(t);
		return error;
	}
	*out = t;
	return PPERF_OK;
}

void pperf_topdown_free(struct pperf_topdown *t)
{
	if (!t)
		return;
	free(t->cycles);
	free(t->rows);
	free(t);
}

void pperf_topdown_reset(struct pperf_topdown *t)
{
	memset(t->cycles, 0, t->db->num_nodes * sizeof(*t->cycles));
	t->samples = 0;
}

/* Sums over all blocks of a sample. */
struct totals {
	uint64_t value[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES];
};

static void load_total(const void *source, unsigned int type, unsigned int index, size_t count, double *values)
{
	const struct totals *totals = source;

	(void)count;
	*values = totals->value[type][index];
}

static void add_up(const struct pperf_sample *sample, const struct pperf_masks *needs,
		   struct totals *totals)
{
	unsigned int b, word, n;
	uint64_t bits;

	for (b = 0; b < sample->num_blocks; b++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, b);

		for (word = 0; word < PPERF_MAX_VALUES / 64; word++) {
			for (bits = needs->bits[block->type][word]; bits; bits &= bits - 1) {
				n = word * 64 + __builtin_ctzll(bits);
				totals->value[block->type][n] += block->values[n];
			}
		}
	}
}

/* Evaluates all rows, of as many samples as the evaluation is of, and adds them up. */
static enum pperf_error add_rows(struct pperf_topdown *t, struct evaluation *e)
{
	const struct row *row;
	size_t i, n;

	e->rows = t->rows;
	for (i = 0; i < t->db->num_rows; i++) {
		row = &t->db->rows[i];
		pperf_evaluate_row(e, i, t->rows[i]);
		for (n = 0; n < e->count && row->node >= 0; n++)
			if (!isfinite(t->rows[i][n]))
				return pperf_fail(PPERF_ERROR_NO_VALUE, "%s has no value for these counts", row->name);
	}

	for (i = 0; i < t->db->num_rows; i++)
		for (n = 0; n < e->count && t->db->rows[i].node >= 0; n++)
			t->cycles[t->db->rows[i].node] += t->rows[i][n];
	t->samples += e->count;
	return PPERF_OK;
}

static double clock_ratio(const struct pperf_topdown *t, uint64_t toplevel, uint64_t shader)
{
	bool known = (t->info.clocks & 1u << PPERF_CLOCK_SHADER) && toplevel && shader;

	return known ? (double)shader / toplevel : 1;
}

enum pperf_error pperf_topdown_add(struct pperf_topdown *t, const struct pperf_sample *sample)
{
	struct totals totals = {};
	struct evaluation e = { .db = t->db, .count = 1, .load = load_total, .source = &totals };
	enum pperf_error error = pperf_sample_check(sample, &t->info);
	const uint64_t *cycles = sample->cycles;
	struct pperf_masks masks;

	if (error)
		return error;
	pperf_sample_masks(sample, &masks);
	if (!pperf_masks_contain(&masks, &t->db->topdown_needs))
		return pperf_fail(PPERF_ERROR_NOT_COUNTED, "top-down needs counters that were not counted");

	add_up(sample, &t->db->topdown_needs, &totals);
	pperf_evaluation_config(&e, &t->info);
	e.config[CONFIG_SECONDS] = (sample->end_ns - sample->start_ns) / 1e9;
	e.config[CONFIG_ELAPSED_CYCLES] = pperf_elapsed_cycles(&t->rate, &t->info, e.config[CONFIG_SECONDS],
							       cycles[PPERF_CLOCK_TOPLEVEL], pperf_sample_slept(sample));
	e.config[CONFIG_SHADER_CLOCK_RATIO] = clock_ratio(t, cycles[PPERF_CLOCK_TOPLEVEL], cycles[PPERF_CLOCK_SHADER]);
	return add_rows(t, &e);
}

static const struct pperf_topdown_node *root_of(const struct pperf_topdown_node *node)
{
	while (node->parent)
		node = node->parent;
	return node;
}

/* Fills in the part that each node is, of samples that were evaluated. */
static void fill_shares(const struct pperf_topdown *t, size_t first, size_t count, double *const *shares)
{
	const double *row_of[t->db->num_nodes], *root;
	size_t i, n;

	for (i = 0; i < t->db->num_rows; i++)
		if (t->db->rows[i].node >= 0)
			row_of[t->db->rows[i].node] = t->rows[i];
	for (i = 0; i < t->db->num_nodes; i++) {
		root = row_of[root_of(&t->db->nodes[i]) - t->db->nodes];
		for (n = 0; n < count; n++)
			shares[i][first + n] = !(root[n] > 0) ? NAN : row_of[0][n] > 0 ? row_of[i][n] / row_of[0][n] : 0;
	}
}

enum pperf_error pperf_topdown_add_columns(struct pperf_topdown *t, const struct pperf_columns *c, double *const *shares)
{
	double elapsed[EXPR_MAX_VALUES], ratio[EXPR_MAX_VALUES];
	struct columns_part part = { .columns = c };
	struct evaluation e = { .db = t->db };
	enum pperf_error error = PPERF_OK;
	size_t i, n;

	e.configs[CONFIG_ELAPSED_CYCLES] = elapsed;
	e.configs[CONFIG_SHADER_CLOCK_RATIO] = ratio;
	for (part.first = 0; part.first < c->count && !error; part.first += e.count) {
		pperf_columns_evaluation(&e, &part, &t->info);
		for (i = 0; i < e.count; i++) {
			n = part.first + i;
			elapsed[i] = pperf_elapsed_cycles(&t->rate, &t->info, c->seconds[n],
							  c->cycles[PPERF_CLOCK_TOPLEVEL][n], c->slept[n]);
			ratio[i] = clock_ratio(t, c->cycles[PPERF_CLOCK_TOPLEVEL][n], c->cycles[PPERF_CLOCK_SHADER][n]);
		}
		error = add_rows(t, &e);
		if (!error && shares)
			fill_shares(t, part.first, e.count, shares);
	}
	return error;
}

void pperf_topdown_merge(struct pperf_topdown *t, const struct pperf_topdown *other)
{
	size_t i;

	for (i = 0; i < t->db->num_nodes; i++)
		t->cycles[i] += other->cycles[i];
	t->samples += other->samples;
}

uint64_t pperf_topdown_samples(const struct pperf_topdown *t)
{
	return t->samples;
}

double pperf_topdown_cycles(const struct pperf_topdown *t, const struct pperf_topdown_node *node)
{
	return t->cycles[node - t->db->nodes];
}

double pperf_topdown_share(const struct pperf_topdown *t, const struct pperf_topdown_node *node)
{
	return t->cycles[0] > 0 ? pperf_topdown_cycles(t, node) / t->cycles[0] : 0;
}

const struct pperf_topdown_node *pperf_topdown_largest(const struct pperf_topdown *t,
						       unsigned int level)
{
	const struct pperf_topdown_node *nodes[t->db->num_nodes], *largest = NULL;
	size_t i, n = pperf_db_topdown_level(t->db, level, nodes, t->db->num_nodes);

	for (i = 0; i < n; i++)
		if (pperf_topdown_cycles(t, nodes[i]) > 0 &&
		    (!largest || pperf_topdown_cycles(t, nodes[i]) > pperf_topdown_cycles(t, largest)))
			largest = nodes[i];
	return largest;
}
