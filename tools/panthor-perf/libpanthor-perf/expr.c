// SPDX-License-Identifier: MIT
/* Equations: a recursive descent over the text makes operations on a stack. */
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Deep enough for any equation, and an end to hostile ones. */
#define MAX_DEPTH 64

struct parser {
	const char *start, *at;
	expr_resolver resolve;
	void *context;
	struct expr *expr;
	int depth;

	/* Operands on the stack. */
	size_t operands;

	/* C: the decimal comma of a program's locale would take an argument of max() for a fraction. */
	locale_t locale;

	/* PPERF_OK as long as all is understood. */
	enum pperf_error error;
};

static void sum(struct parser *p);

static void fail(struct parser *p)
{
	if (!p->error)
		p->error = pperf_fail(PPERF_ERROR_BROKEN, "syntax error in the equation \"%s\" at "
				      "character %zu", p->start, (size_t)(p->at - p->start) + 1);
}

static void emit(struct parser *p, enum expr_code code, unsigned int symbol, double number)
{
	struct expr_op *ops;

	if (p->error)
		return;

	ops = reallocarray(p->expr->ops, p->expr->count + 1, sizeof(*ops));
	if (!ops) {
		p->error = pperf_no_memory();
		return;
	}
	p->expr->ops = ops;
	ops[p->expr->count++] = (struct expr_op){ .code = code, .symbol = symbol, .number = number };
	if (code == EXPR_NUMBER || code == EXPR_SYMBOL)
		p->operands++;
	else if (code != EXPR_NEGATE)
		p->operands--;
	if (p->operands > EXPR_MAX_OPERANDS)
		fail(p);
	else if (p->operands > p->expr->operands)
		p->expr->operands = p->operands;
}

static bool accept(struct parser *p, char c)
{
	p->at += strspn(p->at, " \t");
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* min(a, b...) or max(a, b...); the name has been read. */
static void choose(struct parser *p, enum expr_code code)
{
	sum(p);
	while (!p->error && accept(p, ',')) {
		sum(p);
		emit(p, code, 0, 0);
	}
	if (!accept(p, ')'))
		fail(p);
}

static void name_or_call(struct parser *p)
{
	unsigned int symbol;
	char name[64];
	size_t n;

	for (n = 0; isalnum((unsigned char)p->at[n]) || p->at[n] == '_'; n++) {
		if (n + 1 == sizeof(name)) {
			fail(p);
			return;
		}
	}
	memcpy(name, p->at, n);
	name[n] = 0;
	p->at += n;

	if (accept(p, '(')) {
		if (!strcmp(name, "min"))
			choose(p, EXPR_MIN);
		else if (!strcmp(name, "max"))
			choose(p, EXPR_MAX);
		else
			fail(p);
		return;
	}

	if (p->resolve(p->context, name, &symbol))
		emit(p, EXPR_SYMBOL, symbol, 0);
	else if (!p->error)
		p->error = pperf_fail(PPERF_ERROR_BROKEN, "unknown name in the equation \"%s\": %s",
				      p->start, name);
}

static void term(struct parser *p)
{
	double number;
	char *end;

	if (p->error)
		return;

	if (accept(p, '(')) {
		sum(p);
		if (!accept(p, ')'))
			fail(p);
	} else if (accept(p, '-')) {
		if (++p->depth > MAX_DEPTH) {
			fail(p);
			return;
		}
		term(p);
		p->depth--;
		emit(p, EXPR_NEGATE, 0, 0);
	} else if (isdigit((unsigned char)*p->at)) {
		number = strtod_l(p->at, &end, p->locale);
		p->at = end;
		emit(p, EXPR_NUMBER, 0, number);
	} else if (isalpha((unsigned char)*p->at)) {
		name_or_call(p);
	} else {
		fail(p);
	}
}

static void product(struct parser *p)
{
	enum expr_code code;

	term(p);
	while (!p->error) {
		if (accept(p, '*'))
			code = EXPR_MULTIPLY;
		else if (accept(p, '/'))
			code = EXPR_DIVIDE;
		else
			break;
		term(p);
		emit(p, code, 0, 0);
	}
}

static void sum(struct parser *p)
{
	enum expr_code code;

	if (++p->depth > MAX_DEPTH) {
		fail(p);
		return;
	}

	product(p);
	while (!p->error) {
		if (accept(p, '+'))
			code = EXPR_ADD;
		else if (accept(p, '-'))
			code = EXPR_SUBTRACT;
		else
			break;
		product(p);
		emit(p, code, 0, 0);
	}

	p->depth--;
}

enum pperf_error pperf_expr_compile(const char *equation, expr_resolver resolve, void *context,
				    struct expr *expr)
{
	struct parser p = {
		.start = equation, .at = equation, .resolve = resolve, .context = context, .expr = expr,
	};

	*expr = (struct expr){};
	p.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!p.locale)
		return pperf_no_memory();
	sum(&p);
	freelocale(p.locale);
	if (!p.error && (accept(&p, ' '), *p.at))
		fail(&p);
	if (p.error)
		pperf_expr_free(expr);
	return p.error;
}

/* An operation on pairs of values: each of the first becomes the result. */
static void operate(enum expr_code code, double *restrict a, const double *restrict b, size_t count)
{
	size_t i;

	switch (code) {
	case EXPR_ADD:
		for (i = 0; i < count; i++)
			a[i] += b[i];
		break;
	case EXPR_SUBTRACT:
		for (i = 0; i < count; i++)
			a[i] -= b[i];
		break;
	case EXPR_MULTIPLY:
		for (i = 0; i < count; i++)
			a[i] *= b[i];
		break;
	case EXPR_DIVIDE:
		for (i = 0; i < count; i++)
			a[i] = a[i] == 0 && b[i] == 0 ? 0 : a[i] / b[i];
		break;
	case EXPR_MIN:
		for (i = 0; i < count; i++)
			a[i] = b[i] < a[i] ? b[i] : a[i];
		break;
	case EXPR_MAX:
		for (i = 0; i < count; i++)
			a[i] = b[i] > a[i] ? b[i] : a[i];
		break;
	default:
		break;
	}
}

void pperf_expr_run(const struct expr *expr, expr_loader load, void *context, size_t count, double *values)
{
	double stack[expr->operands][count], (*top)[count] = stack;
	size_t i, n;

	for (i = 0; i < expr->count; i++) {
		const struct expr_op *op = &expr->ops[i];

		switch (op->code) {
		case EXPR_NUMBER:
			for (n = 0; n < count; n++)
				(*top)[n] = op->number;
			top++;
			break;
		case EXPR_SYMBOL:
			load(context, op->symbol, *top++);
			break;
		case EXPR_NEGATE:
			for (n = 0; n < count; n++)
				top[-1][n] = -top[-1][n];
			break;
		default:
			top--;
			operate(op->code, top[-1], top[0], count);
			break;
		}
	}
	memcpy(values, stack[0], count * sizeof(*values));
}

void pperf_expr_free(struct expr *expr)
{
	free(expr->ops);
	*expr = (struct expr){};
}
