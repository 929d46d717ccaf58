/* SPDX-License-Identifier: MIT */
/* When frames were shown: a line each in a file, the times before and after, CLOCK_MONOTONIC_RAW in nanoseconds. */
#ifndef SWAPS_H
#define SWAPS_H

#include <stdio.h>
#include <time.h>

#include "../die.h"

static FILE *swap_times;

static void open_swap_times(const char *path)
{
	swap_times = fopen(path, "w");
	if (!swap_times)
		die("%s: %m", path);
}

/* Before it with a space, after it with a newline. */
static void note_swap(char behind)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	if (swap_times)
		fprintf(swap_times, "%lld%c", t.tv_sec * 1000000000ll + t.tv_nsec, behind);
}

#endif
