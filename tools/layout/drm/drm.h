/* SPDX-License-Identifier: MIT */
/* What panthor_perf_drm.h takes from drm.h, so that the layout builds without libdrm. */
#ifndef LAYOUT_DRM_H
#define LAYOUT_DRM_H

#include <linux/types.h>

#define DRM_COMMAND_BASE 0x40
#define DRM_IOWR(nr, type) (3u << 30 | sizeof(type) << 16 | 'd' << 8 | (nr))

#endif
