// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A number that is no integer to SQL. */
static char *number_sql(double number)
{
	char digits[32], *text;

	snprintf(digits, sizeof(digits), "%.17g", number);
	return asprintf(&text, strpbrk(digits, ".e") ? "%s" : "%s.0", digits) < 0 ? NULL : text;
}

static char *expr_sql(const struct pperf_db *db, const struct evaluation *config, const struct expr *expr);

static char *symbol_sql(const struct pperf_db *db, const struct evaluation *config, unsigned int symbol)
{
	unsigned int n = SYMBOL_NUMBER(symbol);
	const struct pperf_counter *counter;
	char *text;

	if (SYMBOL_KIND(symbol) == SYMBOL_CONFIG)
		return n == CONFIG_SECONDS ? strdup("\"seconds\"") : number_sql(config->config[n]);
	counter = &db->counters[n];
	if (!counter->type)
		return expr_sql(db, config, &db->exprs[n]);
	return asprintf(&text, "CAST(\"%s\" AS REAL)", counter->name) < 0 ? NULL : text;
}

/* Frees both, and returns what the operation makes of them. Divided by a number of the equation, all is well. */
static char *operation_sql(enum expr_code code, char *a, char *b, bool by_number)
{
	static const char *const forms[] = {
		[EXPR_ADD] = "(%1$s + %2$s)", [EXPR_SUBTRACT] = "(%1$s - %2$s)", [EXPR_MULTIPLY] = "(%1$s * %2$s)",
		/* SQL knows no division by 0: 0 / 0 is 0, and all else infinite. */
		[EXPR_DIVIDE] = "coalesce(%1$s / %2$s, nullif(%1$s, 0.0) * 9e999, 0.0)",
		[EXPR_MIN] = "min(%1$s, %2$s)", [EXPR_MAX] = "max(%1$s, %2$s)",
	};
	char *text;

	if (!a || !b || asprintf(&text, by_number ? "(%s / %s)" : forms[code], a, b) < 0)
		text = NULL;
	free(a);
	free(b);
	return text;
}

static char *negated_sql(char *a)
{
	char *text;

	if (!a || asprintf(&text, "(- %s)", a) < 0)
		text = NULL;
	free(a);
	return text;
}

static char *expr_sql(const struct pperf_db *db, const struct evaluation *config, const struct expr *expr)
{
	char **stack = calloc(expr->count, sizeof(*stack)), *text;
	size_t top = 0, i;

	if (!stack)
		return NULL;
	for (i = 0; i < expr->count; i++) {
		const struct expr_op *op = &expr->ops[i];

		switch (op->code) {
		case EXPR_NUMBER:
			stack[top++] = number_sql(op->number);
			break;
		case EXPR_SYMBOL:
			stack[top++] = symbol_sql(db, config, op->symbol);
			break;
		case EXPR_NEGATE:
			stack[top - 1] = negated_sql(stack[top - 1]);
			break;
		default:
			top--;
			stack[top - 1] = operation_sql(op->code, stack[top - 1], stack[top], op->code == EXPR_DIVIDE &&
						       op[-1].code == EXPR_NUMBER && op[-1].number != 0);
			break;
		}
	}
	text = stack[0];
	free(stack);
	return text;
}

char *pperf_counter_sql(const struct pperf_db *db, const struct pperf_gpu_info *info, const struct pperf_counter *counter)
{
	struct evaluation config = {};
	char *text, *all;

	pperf_evaluation_config(&config, info);
	text = expr_sql(db, &config, &db->exprs[counter - db->counters]);
	if (!text || !strstr(text, "9e999"))
		return text;
	/* What is infinite is no value. */
	if (asprintf(&all, "nullif(nullif(%s, 9e999), -9e999)", text) < 0)
		all = NULL;
	free(text);
	return all;
}
