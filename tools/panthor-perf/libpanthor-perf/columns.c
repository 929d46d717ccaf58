// SPDX-License-Identifier: MIT
#include <string.h>

#include "internal.h"

_Static_assert(COLUMNS_MAX_VALUES == EXPR_MAX_VALUES, "as many values as equations are evaluated for");

static void load_column(const void *source, unsigned int type, unsigned int index, size_t count, double *values)
{
	const struct columns_part *part = source;
	const double *column = part->columns->totals[type][index];

	if (column)
		memcpy(values, column + part->first, count * sizeof(*values));
	else
		memset(values, 0, count * sizeof(*values));
}

void pperf_columns_evaluation(struct evaluation *e, const struct columns_part *part, const struct pperf_gpu_info *info)
{
	const struct pperf_columns *c = part->columns;

	pperf_evaluation_config(e, info);
	e->count = c->count - part->first < EXPR_MAX_VALUES ? c->count - part->first : EXPR_MAX_VALUES;
	e->load = load_column;
	e->source = part;
	e->configs[CONFIG_SECONDS] = c->seconds + part->first;
}

size_t pperf_columns_values(const struct pperf_columns *c, const struct pperf_db *db, const struct pperf_gpu_info *info,
			    const struct pperf_counter *counter, size_t first, double *values)
{
	return pperf_columns_block_values(c, db, info, counter, 0, first, values);
}

size_t pperf_columns_block_values(const struct pperf_columns *c, const struct pperf_db *db,
				  const struct pperf_gpu_info *info, const struct pperf_counter *counter, unsigned int type,
				  size_t first, double *values)
{
	struct evaluation e = { .db = db };
	struct columns_part part = { c, first };

	pperf_columns_evaluation(&e, &part, info);
	pperf_evaluation_of_block(&e, type);
	if (counter)
		pperf_evaluate(&e, counter, values);
	return e.count;
}
