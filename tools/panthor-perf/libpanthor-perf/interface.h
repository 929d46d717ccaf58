/* SPDX-License-Identifier: MIT */
/* What the kernel says of its counter interface. */
#ifndef PPERF_INTERFACE_H
#define PPERF_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>

#include <drm/panthor_perf_drm.h>

/* Number of blocks of a type. */
unsigned int pperf_interface_blocks(const struct drm_panthor_perf_info *info, unsigned int type);

/*
 * True if samples are what the headers say they are; size is that of the
 * kernel's answer. The interface's numbers are provisional, and another kernel
 * may use them for something else: nothing may be asked of it before this.
 */
bool pperf_interface_is_known(const struct drm_panthor_perf_info *info, size_t size);

#endif
