/* SPDX-License-Identifier: MIT */
/* The files of the library that talk to the kernel. */
#ifndef PPERF_DEVICE_H
#define PPERF_DEVICE_H

#include <drm/panthor_drm.h>
#include <drm/panthor_perf_drm.h>

#include "internal.h"

struct pperf_gpu {
	int fd;
	struct pperf_gpu_info info;

	/* What info's strings point to. */
	char *node, *sysfs;
};

/* interface.c */

/* Number of blocks of a type. */
unsigned int pperf_interface_blocks(const struct drm_panthor_perf_info *info, unsigned int type);

/*
 * True if samples are what the headers say they are; size is that of the
 * kernel's answer. The interface's numbers are provisional, and another kernel
 * may use them for something else: nothing may be asked of it before this.
 */
bool pperf_interface_is_known(const struct drm_panthor_perf_info *info, size_t size);

#endif
