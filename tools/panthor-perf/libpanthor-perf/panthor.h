/* SPDX-License-Identifier: MIT */
/*
 * The part of panthor's uAPI that the library uses, besides its counters. Kernel headers have it from Linux 6.10
 * on; declaring it here lets the library build with older ones. tests/uapi-test.c compares both.
 */
#ifndef PPERF_PANTHOR_H
#define PPERF_PANTHOR_H

#include <stdint.h>

#include <drm/panthor_perf_drm.h>

enum panthor_query_type {
	PANTHOR_QUERY_GPU,
	PANTHOR_QUERY_CSIF,

	/* Counters of Arm's series, and the sizes of the answer in its RFC v2 and its v6. */
	PANTHOR_QUERY_ARM_PERF = 5,
};

#define PANTHOR_ARM_PERF_SIZES(size) ((size) == 44 || (size) == 48)

struct panthor_query {
	/* An enum panthor_query_type, or one of panthor_perf_drm.h. */
	uint32_t type;

	/* Size of the buffer; the kernel stores the size of its structure if pointer is 0. */
	uint32_t size;
	uint64_t pointer;
};

/*
 * The beginning of the answer to PANTHOR_QUERY_GPU. The kernel's structure is longer, but the kernel rejects a
 * buffer that ends before this one.
 */
struct panthor_gpu {
	uint32_t gpu_id;
	uint32_t unused1[2];
	uint32_t l2_features;
	uint32_t unused2[14];
	uint64_t shader_present;
	uint64_t unused3[2];
};

/* Map a buffer with CPU caches enabled; Linux 7.3 and later. */
#define PANTHOR_BO_CACHED (1u << 1)

struct panthor_bo_create {
	/* The kernel rounds it up to whole pages. */
	uint64_t size;
	uint32_t flags;
	uint32_t exclusive_vm;

	/* The kernel's answer. */
	uint32_t handle;
	uint32_t pad;
};

struct panthor_bo_mmap_offset {
	uint32_t handle;
	uint32_t pad;

	/* The kernel's answer. */
	uint64_t offset;
};

#define PANTHOR_IOCTL_QUERY		DRM_IOWR(DRM_COMMAND_BASE + 0, struct panthor_query)
#define PANTHOR_IOCTL_BO_CREATE		DRM_IOWR(DRM_COMMAND_BASE + 5, struct panthor_bo_create)
#define PANTHOR_IOCTL_BO_MMAP_OFFSET	DRM_IOWR(DRM_COMMAND_BASE + 6, struct panthor_bo_mmap_offset)

_Static_assert(sizeof(struct panthor_query) == 16, "size of struct panthor_query");
_Static_assert(sizeof(struct panthor_gpu) == 96, "size of struct panthor_gpu");
_Static_assert(sizeof(struct panthor_bo_create) == 24, "size of struct panthor_bo_create");
_Static_assert(sizeof(struct panthor_bo_mmap_offset) == 16, "size of struct panthor_bo_mmap_offset");

#endif
