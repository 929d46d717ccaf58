// SPDX-License-Identifier: MIT
/*
 * Any registers, any firmware words, any content of the ring: the layout is
 * refused or it holds, no access leaves its buffer, and nothing is counted that
 * was not written. A libFuzzer target (make fuzz, with clang); by itself it runs
 * a number of inputs from a generator, the same every time.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "panthor_perf_layout.h"

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
			abort();							\
		}									\
	} while (0)

struct input {
	const uint8_t *at;
	size_t left;
};

/* Zeros after the end. */
static u64 take(struct input *in, size_t bytes)
{
	u64 value = 0;

	while (bytes--) {
		value <<= 8;
		if (in->left) {
			value |= *in->at++;
			in->left--;
		}
	}
	return value;
}

static void *zalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	CHECK(p);
	return p;
}

static void take_params(struct input *in, struct panthor_perf_layout_params *p)
{
	u32 how = take(in, 1), arch, block, slots, fw;

	memset(p, 0, sizeof(*p));
	p->gpu_id = take(in, 4);
	p->mem_features = take(in, 4);
	p->shader_present = take(in, 8);
	p->user_shader_present = take(in, 8);
	p->glb_version = take(in, 4);
	p->group_num = take(in, 4);
	p->perfcnt_size = take(in, 4);
	p->perfcnt_features = take(in, 4);
	p->prfcnt_features = take(in, 4);
	p->supported_clocks = take(in, 4);

	/* Few inputs are consistent by chance: make most of them so, a word at a time. */
	arch = 10 + (p->gpu_id >> 28) % 5;
	if (how & 1)
		p->gpu_id = arch << 28 | (p->gpu_id & 0xfffffff);
	if (how & 2)
		p->prfcnt_features = (p->prfcnt_features & ~0xffu) | (1 + (p->prfcnt_features & 1));
	block = p->gpu_id >> 28 < 11 ? 1 : p->prfcnt_features & 0xff;
	if (how & 4)
		p->perfcnt_features = (p->perfcnt_features & 1) * block;
	if (how & 8)
		p->group_num %= 32;
	if (how & 16) {
		slots = p->gpu_id >> 28 < 14 ? fls64(p->shader_present) : hweight64(p->shader_present);
		fw = (p->perfcnt_size >> 16) % 3;
		fw = fw == 2 ? 1 + p->group_num : fw;
		p->perfcnt_size = (fw * block) << 16 |
				  ((3 + ((p->mem_features >> 8) & 0xf) + slots) * block & 0xffff);
	}
}

static void check_layout(const struct panthor_perf_layout *layout)
{
	struct drm_panthor_perf_info info = {};
	u8 *used = zalloc(layout->fw_sample_size);
	u32 b, i, sum;

	CHECK(layout->num_values == 64 || layout->num_values == 128);
	CHECK(layout->num_blocks <= PANTHOR_PERF_MAX_BLOCKS);
	CHECK(layout->user_sample_size == 56 + layout->num_blocks * (24 + 8 * layout->num_values));

	panthor_perf_layout_info(layout, &info);
	sum = info.fw_blocks + info.csg_blocks + info.cshw_blocks + info.tiler_blocks +
	      info.memsys_blocks + info.shader_blocks;
	CHECK(sum == layout->num_blocks);
	CHECK(info.cshw_blocks == 1 && info.tiler_blocks == 1);
	CHECK(info.memsys_blocks >= 1 && info.shader_blocks >= 1);
	CHECK(info.sample_size == layout->user_sample_size);

	/* Blocks are inside the sample, in order, and apart. */
	for (b = 0; b < layout->num_blocks; b++) {
		const struct panthor_perf_block *block = &layout->blocks[b];

		CHECK(block->fw_offset % layout->fw_block_size == 0);
		CHECK(block->fw_offset + layout->fw_block_size <= layout->fw_sample_size);
		CHECK(block->user_offset == 56 + b * (24 + 8 * layout->num_values));
		CHECK(!b || block->fw_offset > block[-1].fw_offset);
		CHECK(!b || block->type >= block[-1].type);
		for (i = 0; i < layout->fw_block_size; i++)
			CHECK(!used[block->fw_offset + i]++);
	}
	free(used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct panthor_perf_layout layout;
	struct input in = { data, size };
	struct panthor_perf_layout_params params;
	struct panthor_perf_sample_info info = {};
	struct panthor_perf_fw_sample *sample;
	u64 masks[PANTHOR_PERF_BLOCK_TYPES][2] = {};
	struct panthor_perf_accum *accum;
	u64 asked[PANTHOR_PERF_BLOCK_WORDS];
	u64 *sums, *out;
	u32 *slot, *mask_words, n, b, i, set;
	const char *why;
	bool saturated = false;
	int ret;

	take_params(&in, &params);
	ret = panthor_perf_layout_init(&layout, &params, &why);
	CHECK(ret == 0 || ret == -EINVAL || ret == -EOPNOTSUPP);
	CHECK(!ret == !why);
	if (ret) {
		CHECK(!layout.num_blocks);
		return 0;
	}
	check_layout(&layout);

	mask_words = (u32 *)masks[DRM_PANTHOR_PERF_BLOCK_FW];
	for (i = 0; i < 24; i++)
		mask_words[i] = take(&in, 1) & 1 ? ~0u : take(&in, 4);

	slot = zalloc(layout.fw_sample_size);
	sample = zalloc(layout.fw_copy_size);
	accum = zalloc(layout.accum_size);
	sums = zalloc(layout.num_blocks * layout.num_values * sizeof(u64));
	out = zalloc(layout.user_sample_size);
	panthor_perf_accum_init(&layout, accum);
	for (i = DRM_PANTHOR_PERF_BLOCK_FW; i < PANTHOR_PERF_BLOCK_TYPES; i++)
		panthor_perf_accum_enable(&layout, i, masks[i], accum);
	memcpy(asked, accum->enabled, sizeof(asked));

	for (n = take(&in, 1) % 4; n; n--) {
		u32 seed = take(&in, 4);

		for (i = 0; i < layout.fw_sample_size / 4; i++) {
			seed = seed * 1664525 + 1013904223;
			slot[i] = seed ^ seed >> 16;
		}

		for (b = 0; b < layout.num_blocks; b++) {
			const u64 *mask = masks[layout.blocks[b].type];
			u32 *values = slot + layout.blocks[b].fw_offset / 4;

			values[2] = take(&in, 1) & 1 ? take(&in, 4) : ~0u;
			for (i = 4; i < layout.num_values; i++) {
				if (!(values[2] & 2) || !(values[2] & BIT(i / 4)))
					continue;
				saturated |= values[i] == U32_MAX &&
					     (mask[0] & ~0xfull ||
					      (layout.num_values > 64 && mask[1]));
				if (mask[i / 64] & BIT_ULL(i % 64))
					sums[b * layout.num_values + i] += values[i];
			}
		}

		panthor_perf_fw_sample_read(&layout, slot, asked, sample);
		set = take(&in, 1);
		panthor_perf_fw_sample_states(&layout, set, take(&in, 4), sample);
		panthor_perf_accum_add(&layout, sample, accum);
		for (b = 0; b < layout.num_blocks; b++)
			CHECK(!(slot[layout.blocks[b].fw_offset / 4 + 2]));
	}

	panthor_perf_accum_deliver(&layout, accum, NULL, &info, out);
	CHECK(((struct drm_panthor_perf_sample_header *)out)->flags ==
	      (saturated ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : 0));
	for (b = 0; b < layout.num_blocks; b++) {
		struct drm_panthor_perf_block_header *block =
			(void *)out + layout.blocks[b].user_offset;

		CHECK(!(block->block_states & ~(2 * DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED - 1)));
		for (i = 4; i < layout.num_values; i++)
			CHECK(out[(layout.blocks[b].user_offset + 24) / 8 + i] ==
			      sums[b * layout.num_values + i]);
	}

	free(slot);
	free(sample);
	free(accum);
	free(sums);
	free(out);
	return 0;
}

#ifndef LIBFUZZER
#define INPUTS 20000

int main(void)
{
	static uint8_t data[1024];
	u64 state = 1;
	u32 n, i;

	printf("1..1\n");
	fflush(stdout);
	for (n = 0; n < INPUTS; n++) {
		for (i = 0; i < sizeof(data); i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			data[i] = state >> 56;
		}
		/* Half of them with everything made consistent. */
		if (n & 1)
			data[0] |= 31;
		LLVMFuzzerTestOneInput(data, sizeof(data));
	}

	printf("ok 1 - %u inputs from a generator\n", INPUTS);
	return 0;
}
#endif
