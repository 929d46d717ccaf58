/* SPDX-License-Identifier: MIT */
/* Equations of derived counters. */
#ifndef PANTHOR_PERF_EXPR_H
#define PANTHOR_PERF_EXPR_H

/* Finds the value of a name. Returns -1 if there is none. */
typedef int (*expr_lookup)(void *context, const char *name, double *value);

/*
 * Evaluates an equation: + - * / with the usual precedence, parentheses,
 * numbers, names, min() and max(). 0/0 is 0. Every name is looked up, whatever
 * its value does to the result. Returns -1 if the equation is not understood or
 * a lookup fails.
 */
int expr_eval(const char *equation, expr_lookup lookup, void *context, double *value);

#endif
