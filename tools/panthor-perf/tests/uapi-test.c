// SPDX-License-Identifier: MIT
/* Compiles if libpanthor-perf/panthor.h matches the kernel's panthor_drm.h. */
#include <stddef.h>

#include <drm/panthor_drm.h>

#include "panthor.h"

#define SAME_VALUE(ours, kernels) _Static_assert((ours) == (kernels), #ours " is " #kernels)
#define SAME_MEMBER(ours, kernels, our_member, member) \
	SAME_VALUE(offsetof(struct ours, our_member), offsetof(struct kernels, member)); \
	SAME_VALUE(sizeof(((struct ours *)0)->our_member), sizeof(((struct kernels *)0)->member))

SAME_VALUE(PANTHOR_IOCTL_QUERY, DRM_IOCTL_PANTHOR_DEV_QUERY);
SAME_VALUE(PANTHOR_IOCTL_BO_CREATE, DRM_IOCTL_PANTHOR_BO_CREATE);
SAME_VALUE(PANTHOR_IOCTL_BO_MMAP_OFFSET, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET);
SAME_VALUE((int)PANTHOR_QUERY_GPU, (int)DRM_PANTHOR_DEV_QUERY_GPU_INFO);
SAME_VALUE((int)PANTHOR_QUERY_CSIF, (int)DRM_PANTHOR_DEV_QUERY_CSIF_INFO);
SAME_VALUE(PANTHOR_BO_CACHED, DRM_PANTHOR_BO_WB_MMAP);

SAME_MEMBER(panthor_query, drm_panthor_dev_query, type, type);
SAME_MEMBER(panthor_query, drm_panthor_dev_query, size, size);
SAME_MEMBER(panthor_query, drm_panthor_dev_query, pointer, pointer);

SAME_MEMBER(panthor_gpu, drm_panthor_gpu_info, gpu_id, gpu_id);
SAME_MEMBER(panthor_gpu, drm_panthor_gpu_info, l2_features, l2_features);
SAME_MEMBER(panthor_gpu, drm_panthor_gpu_info, shader_present, shader_present);
/* The kernel wants a buffer that reaches to the end of tiler_present. */
SAME_VALUE(sizeof(struct panthor_gpu), offsetof(struct drm_panthor_gpu_info, core_features));

SAME_MEMBER(panthor_bo_create, drm_panthor_bo_create, size, size);
SAME_MEMBER(panthor_bo_create, drm_panthor_bo_create, flags, flags);
SAME_MEMBER(panthor_bo_create, drm_panthor_bo_create, exclusive_vm, exclusive_vm_id);
SAME_MEMBER(panthor_bo_create, drm_panthor_bo_create, handle, handle);

SAME_MEMBER(panthor_bo_mmap_offset, drm_panthor_bo_mmap_offset, handle, handle);
SAME_MEMBER(panthor_bo_mmap_offset, drm_panthor_bo_mmap_offset, offset, offset);
