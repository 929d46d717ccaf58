// SPDX-License-Identifier: MIT

#include "interface.h"

#include <stdint.h>

unsigned int pperf_interface_blocks(const struct drm_panthor_perf_info *info, unsigned int type)
{
	switch (type) {
	case DRM_PANTHOR_PERF_BLOCK_FW:
		return info->fw_blocks;
	case DRM_PANTHOR_PERF_BLOCK_CSG:
		return info->csg_blocks;
	case DRM_PANTHOR_PERF_BLOCK_CSHW:
		return info->cshw_blocks;
	case DRM_PANTHOR_PERF_BLOCK_TILER:
		return info->tiler_blocks;
	case DRM_PANTHOR_PERF_BLOCK_MEMSYS:
		return info->memsys_blocks;
	case DRM_PANTHOR_PERF_BLOCK_SHADER:
		return info->shader_blocks;
	}
	return 0;
}

bool pperf_interface_is_known(const struct drm_panthor_perf_info *info, size_t size)
{
	uint64_t blocks = 0, sample;
	unsigned int type;

	/* The size of a sample is the last thing that is checked. */
	if (size < offsetof(struct drm_panthor_perf_info, sample_size) + sizeof(info->sample_size))
		return false;

	for (type = DRM_PANTHOR_PERF_BLOCK_FW; type <= DRM_PANTHOR_PERF_BLOCK_SHADER; type++)
		blocks += pperf_interface_blocks(info, type);

	sample = sizeof(struct drm_panthor_perf_sample_header) +
		 blocks * (sizeof(struct drm_panthor_perf_block_header) +
			   8ull * info->counters_per_block);

	return info->sample_header_size == sizeof(struct drm_panthor_perf_sample_header) &&
	       info->block_header_size == sizeof(struct drm_panthor_perf_block_header) &&
	       (info->counters_per_block == 64 || info->counters_per_block == 128) &&
	       info->sample_size == sample;
}
