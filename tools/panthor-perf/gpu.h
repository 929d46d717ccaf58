/* SPDX-License-Identifier: MIT */
/* A GPU that panthor drives, and what it can count. */
#ifndef PANTHOR_PERF_GPU_H
#define PANTHOR_PERF_GPU_H

#include <stdbool.h>

#include <drm/panthor_drm.h>
#include <drm/panthor_perf_drm.h>

#include "data.h"
#include "select.h"

struct gpu {
	int fd;
	char *path;

	/* Version of the driver. */
	int major, minor;

	struct drm_panthor_gpu_info info;

	/* Fields past perf_size are 0. */
	struct drm_panthor_perf_info perf;
	size_t perf_size;

	/* Empty if the product is unknown. */
	struct product product;
};

/*
 * Opens a GPU: that of a device node, or the first there is if path is NULL.
 * Prints what is wrong and returns -1 if there is none, or its kernel or GPU
 * has no counters.
 */
int gpu_open(struct gpu *gpu, const char *path);

void gpu_close(struct gpu *gpu);

/* Prints what is wrong and returns -1 if the kernel's interface is not the one in the headers. */
int gpu_check(const struct gpu *gpu);

/* Number of blocks of a type. */
unsigned int gpu_blocks(const struct gpu *gpu, unsigned int type);

struct config gpu_config(const struct gpu *gpu);

const char *gpu_name(const struct gpu *gpu);

/* Prints "panthor-perf: ..." on the standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
