/* SPDX-License-Identifier: MIT */
/* A GPU that is not there, and samples of it, for the library's tests. */
#ifndef PANTHOR_PERF_TESTS_H
#define PANTHOR_PERF_TESTS_H

#include <string.h>

#include <panthor-perf.h>

#define FAKE_MAX_BLOCKS 32

struct fake {
	struct pperf_gpu_info info;
	struct pperf_sample sample;
	struct pperf_block blocks[FAKE_MAX_BLOCKS];
	uint64_t values[FAKE_MAX_BLOCKS][PPERF_MAX_VALUES];
};

/* One front end, one tiler, and so many slices and cores; everything enabled and on, nothing counted. */
static inline void fake_init(struct fake *fake, const char *layout, unsigned int slices,
			     unsigned int cores, unsigned int bus_bytes)
{
	unsigned int type, i, n = 0;

	memset(fake, 0, sizeof(*fake));
	fake->info.size = sizeof(fake->info);
	fake->info.name = "a fake";
	fake->info.layout = layout;
	fake->info.cores = cores;
	fake->info.slices = slices;
	fake->info.bus_bytes = bus_bytes;
	fake->info.blocks[PPERF_BLOCK_CSHW] = 1;
	fake->info.blocks[PPERF_BLOCK_TILER] = 1;
	fake->info.blocks[PPERF_BLOCK_MEMSYS] = slices;
	fake->info.blocks[PPERF_BLOCK_SHADER] = cores;
	fake->info.values_per_block = layout && !strcmp(layout, "Mali-G710") ? 64 : 128;
	fake->info.has_states = true;
	fake->info.clocks = 1u << PPERF_CLOCK_TOPLEVEL | 1u << PPERF_CLOCK_SHADER;
	fake->info.interface_known = true;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (i = 0; i < fake->info.blocks[type]; i++, n++) {
			struct pperf_block *block = &fake->blocks[n];

			block->type = type;
			block->index = i;
			block->states = PPERF_STATE_ON | PPERF_STATE_AVAILABLE | PPERF_STATE_NORMAL;
			block->enabled[0] = ~0ull;
			block->enabled[1] = fake->info.values_per_block > 64 ? ~0ull : 0;
			block->values = fake->values[n];
		}
	}
	fake->sample.size = sizeof(fake->sample);
	fake->sample.block_size = sizeof(fake->blocks[0]);
	fake->sample.num_values = fake->info.values_per_block;
	fake->sample.num_blocks = n;
	fake->sample.blocks = fake->blocks;
}

/* The value of a block. */
static inline uint64_t *fake_value(struct fake *fake, unsigned int type, unsigned int block,
				   unsigned int index)
{
	return &fake->values[pperf_info_first_block(&fake->info, type) + block][index];
}

#endif
