// SPDX-License-Identifier: MIT
/*
 * raw-clock: the system counter, which GPU timestamps are of, its rate in Hz, and CLOCK_MONOTONIC_RAW in nanoseconds, at one
 * moment, the best of many.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TRIES 1000

static uint64_t counter(void)
{
	uint64_t value;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(value) : : "memory");
	return value;
}

static uint64_t raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(void)
{
	uint64_t before, ns, after, best = UINT64_MAX, best_counter = 0, best_ns = 0, hz;
	int i;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	for (i = 0; i < TRIES; i++) {
		before = counter();
		ns = raw_ns();
		after = counter();
		if (after - before >= best)
			continue;
		best = after - before;
		best_counter = before + best / 2;
		best_ns = ns;
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", best_counter, hz, best_ns);
	return 0;
}
