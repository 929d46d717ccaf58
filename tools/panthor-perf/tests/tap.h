/* SPDX-License-Identifier: MIT */
/* Results of a test program as TAP: begin(), any number of expect(), end() with the name of the result. */
#ifndef PANTHOR_PERF_TAP_H
#define PANTHOR_PERF_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tests;
static bool good, failed;

static inline void begin(void)
{
	good = true;
}

/* What was seen is printed if the condition is false. */
static inline void __attribute__((format(printf, 2, 3))) expect(bool condition, const char *format, ...)
{
	va_list args;

	if (condition)
		return;
	good = false;
	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static inline void end(const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
}

#endif
