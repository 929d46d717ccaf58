/* SPDX-License-Identifier: MIT */
/* What is known of clocks, in recordings and in the program. */
#ifndef PPERF_CLOCKS_H
#define PPERF_CLOCKS_H

#include <stdint.h>

/* The same moment on several clocks, in nanoseconds. */
struct clocks {
	uint64_t monotonic_raw, boottime, realtime, monotonic;
};

/* Means over the same time, in Hz, of the GPU's clock and of its nominal rate. Both are 0 if they are not known. */
struct rates {
	uint64_t measured_hz, nominal_hz;
};

#endif
