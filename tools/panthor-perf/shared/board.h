/* SPDX-License-Identifier: MIT */
/* The board that the GPU is on, as device tree or firmware describe it. */
#ifndef PANTHOR_PERF_BOARD_H
#define PANTHOR_PERF_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include <panthor-perf.h>

/* Strings are empty if not known. */
struct board {
	/* Such as "Radxa ROCK 5B", and "radxa,rock-5b, rockchip,rk3588", which only a device tree has. */
	char name[128], compatible[256];

	/* Names of the GPU's clocks: "core, coregroup, stacks". */
	char clocks[128];

	/* Whether caches of the GPU and of the CPUs agree by themselves: "coherent" or "not coherent". */
	const char *memory;
};

/* The GPU's directory in sysfs may be NULL. */
void board_read(struct board *board, const char *sysfs);

/*
 * Whether the clock named coregroup is not the core group's. The kernel decides this by its rate, and counts the core
 * group as top level.
 */
bool board_has_bus_clock(const struct board *board, const struct pperf_gpu_info *gpu);

/* Numbers of the shader cores' positions: "0, 2, 16, 18". Empty if fuses hide some: which ones is not known then. */
void board_positions(const struct pperf_gpu_info *gpu, char *text, size_t size);

#endif
