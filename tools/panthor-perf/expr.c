// SPDX-License-Identifier: MIT
/* A recursive descent over the equation's text. */

#include "expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Deep enough for any equation, and an end to hostile ones. */
#define MAX_DEPTH 64

struct parser {
	const char *at;
	expr_lookup lookup;
	void *context;
	int depth;
	int failed;
};

static double sum(struct parser *p);

static double fail(struct parser *p)
{
	p->failed = 1;
	return 0;
}

static int accept(struct parser *p, char c)
{
	p->at += strspn(p->at, " \t");
	if (*p->at != c)
		return 0;
	p->at++;
	return 1;
}

/* min(a, b...) or max(a, b...); the name has been read. */
static double choose(struct parser *p, int greatest)
{
	double best = sum(p), x;

	while (!p->failed && accept(p, ',')) {
		x = sum(p);
		if (greatest ? x > best : x < best)
			best = x;
	}
	return accept(p, ')') ? best : fail(p);
}

static double name_or_call(struct parser *p)
{
	char name[64];
	size_t n;
	double x;

	for (n = 0; isalnum((unsigned char)p->at[n]) || p->at[n] == '_'; n++)
		if (n + 1 == sizeof(name))
			return fail(p);
	memcpy(name, p->at, n);
	name[n] = 0;
	p->at += n;

	if (accept(p, '(')) {
		if (!strcmp(name, "min") || !strcmp(name, "max"))
			return choose(p, !strcmp(name, "max"));
		return fail(p);
	}

	return p->lookup(p->context, name, &x) ? fail(p) : x;
}

static double term(struct parser *p)
{
	double x;
	char *end;

	if (p->failed)
		return 0;

	if (accept(p, '(')) {
		x = sum(p);
		return accept(p, ')') ? x : fail(p);
	}

	if (accept(p, '-'))
		return ++p->depth > MAX_DEPTH ? fail(p) : -term(p);

	if (isdigit((unsigned char)*p->at)) {
		x = strtod(p->at, &end);
		p->at = end;
		return x;
	}

	if (isalpha((unsigned char)*p->at))
		return name_or_call(p);

	return fail(p);
}

static double product(struct parser *p)
{
	double x = term(p), y;

	while (!p->failed) {
		if (accept(p, '*')) {
			x *= term(p);
		} else if (accept(p, '/')) {
			y = term(p);
			x = x == 0 && y == 0 ? 0 : x / y;
		} else {
			break;
		}
	}
	return x;
}

static double sum(struct parser *p)
{
	double x;

	if (++p->depth > MAX_DEPTH)
		return fail(p);

	x = product(p);
	while (!p->failed) {
		if (accept(p, '+'))
			x += product(p);
		else if (accept(p, '-'))
			x -= product(p);
		else
			break;
	}

	p->depth--;
	return x;
}

int expr_eval(const char *equation, expr_lookup lookup, void *context, double *value)
{
	struct parser p = { .at = equation, .lookup = lookup, .context = context };

	*value = sum(&p);
	if (p.failed || (accept(&p, ' '), *p.at))
		return -1;
	return 0;
}
