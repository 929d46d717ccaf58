/* SPDX-License-Identifier: MIT */
/* How programs of the virtual machine end when something is wrong. */

#ifndef PANTHOR_GUEST_DIE_H
#define PANTHOR_GUEST_DIE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the program's name and a message to stderr, and ends with status 1. */
static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

#endif
