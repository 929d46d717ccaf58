/* SPDX-License-Identifier: MIT */
/*
 * The rate at which the GPU's clock ran, and the nominal one: that of the kernel's clock framework. They differ where
 * firmware makes the clock.
 */
#ifndef PANTHOR_PERF_RATES_H
#define PANTHOR_PERF_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clocks.h>
#include <panthor-perf.h>

/* Zero it to begin. */
struct rates_meter {
	/* Of samples that count: time, cycles, and what the cycles would be at the nominal rate. */
	double seconds, cycles, nominal_cycles;

	/* Of samples since the nominal rate was read last: they count if it has not changed meanwhile. */
	double new_seconds, new_cycles;

	/* When it was read, the rate (0 if not known), and the number of its changes. */
	uint64_t read_ns, hz, changes;

	/* No sample that begins before this counts: the rate changed. */
	uint64_t valid_ns;
};

/*
 * Reads the nominal rate. To be called before counting starts and after the last sample, with now set, and after
 * samples were added, when it does nothing unless the last time was a while ago.
 */
void rates_read(struct rates_meter *meter, const struct pperf_gpu *gpu, bool now);

void rates_add(struct rates_meter *meter, const struct pperf_sample *sample);

/* The rates so far, if the GPU was powered for long enough. */
struct rates rates_of(const struct rates_meter *meter);

#define RATES_TEXT 96

/* "the GPU runs at 851 MHz, the clock framework says 1000 MHz". Returns false unless they differ by more than 2 %. */
bool rates_text(const struct rates *rates, char text[RATES_TEXT]);

#endif
