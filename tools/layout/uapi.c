// SPDX-License-Identifier: MIT
/*
 * The uAPI header stands alone in C and C++, and its structs are the same on 32
 * and 64 bits. Offsets are asserted by the layout's tests. Compiled, never run.
 */

/* In place of linux/types.h, whose 32-bit version may not be installed. */
#define _LINUX_TYPES_H
typedef unsigned char __u8;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#include <panthor_perf_drm.h>

#ifdef __cplusplus
#define SAME(type, size) static_assert(sizeof(struct drm_panthor_perf_##type) == (size), #type)
#else
#define SAME(type, size) _Static_assert(sizeof(struct drm_panthor_perf_##type) == (size), #type)
#endif

SAME(info, 64);
SAME(sample_header, 56);
SAME(block_header, 24);
SAME(ringbuf_control, 16);
SAME(control, 24);
SAME(cmd_setup, 136);
SAME(cmd_start, 8);
SAME(cmd_stop, 8);
SAME(cmd_sample, 8);
