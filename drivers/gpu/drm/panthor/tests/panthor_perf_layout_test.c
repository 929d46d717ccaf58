// SPDX-License-Identifier: GPL-2.0 or MIT
/* Tests of the counter layout. */

#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "../panthor_perf_layout.h"

/* Sizes and offsets of the uAPI are the same on 32-bit and 64-bit machines. */
#define CHECK_SIZE(type, size) \
	static_assert(sizeof(struct drm_panthor_perf_##type) == (size))
#define CHECK_OFFSET(type, member, offset) \
	static_assert(offsetof(struct drm_panthor_perf_##type, member) == (offset))

CHECK_SIZE(info, 64);
CHECK_OFFSET(info, counters_per_block, 0);
CHECK_OFFSET(info, sample_header_size, 4);
CHECK_OFFSET(info, block_header_size, 8);
CHECK_OFFSET(info, flags, 12);
CHECK_OFFSET(info, supported_clocks, 16);
CHECK_OFFSET(info, fw_blocks, 20);
CHECK_OFFSET(info, csg_blocks, 24);
CHECK_OFFSET(info, cshw_blocks, 28);
CHECK_OFFSET(info, tiler_blocks, 32);
CHECK_OFFSET(info, memsys_blocks, 36);
CHECK_OFFSET(info, shader_blocks, 40);
CHECK_OFFSET(info, sample_size, 44);
CHECK_OFFSET(info, min_sample_period_ns, 48);
CHECK_OFFSET(info, max_sample_slots, 56);
CHECK_OFFSET(info, supported_sets, 60);

CHECK_SIZE(sample_header, 56);
CHECK_OFFSET(sample_header, timestamp_start_ns, 0);
CHECK_OFFSET(sample_header, timestamp_end_ns, 8);
CHECK_OFFSET(sample_header, block_set, 16);
CHECK_OFFSET(sample_header, pad, 17);
CHECK_OFFSET(sample_header, flags, 20);
CHECK_OFFSET(sample_header, user_data, 24);
CHECK_OFFSET(sample_header, toplevel_clock_cycles, 32);
CHECK_OFFSET(sample_header, coregroup_clock_cycles, 40);
CHECK_OFFSET(sample_header, shader_clock_cycles, 48);

CHECK_SIZE(block_header, 24);
CHECK_OFFSET(block_header, block_type, 0);
CHECK_OFFSET(block_header, block_idx, 1);
CHECK_OFFSET(block_header, block_states, 2);
CHECK_OFFSET(block_header, clock, 3);
CHECK_OFFSET(block_header, pad, 4);
CHECK_OFFSET(block_header, enable_mask, 8);

CHECK_SIZE(ringbuf_control, 16);
CHECK_OFFSET(ringbuf_control, extract_idx, 0);
CHECK_OFFSET(ringbuf_control, insert_idx, 8);

CHECK_SIZE(control, 24);
CHECK_OFFSET(control, cmd, 0);
CHECK_OFFSET(control, handle, 4);
CHECK_OFFSET(control, size, 8);
CHECK_OFFSET(control, pointer, 16);

CHECK_SIZE(cmd_setup, 136);
CHECK_OFFSET(cmd_setup, block_set, 0);
CHECK_OFFSET(cmd_setup, setup_flags, 1);
CHECK_OFFSET(cmd_setup, pad, 2);
CHECK_OFFSET(cmd_setup, fd, 8);
CHECK_OFFSET(cmd_setup, ringbuf_handle, 12);
CHECK_OFFSET(cmd_setup, control_handle, 16);
CHECK_OFFSET(cmd_setup, sample_slots, 20);
CHECK_OFFSET(cmd_setup, control_offset, 24);
CHECK_OFFSET(cmd_setup, sample_freq_ns, 32);
CHECK_OFFSET(cmd_setup, fw_enable_mask, 40);
CHECK_OFFSET(cmd_setup, csg_enable_mask, 56);
CHECK_OFFSET(cmd_setup, cshw_enable_mask, 72);
CHECK_OFFSET(cmd_setup, tiler_enable_mask, 88);
CHECK_OFFSET(cmd_setup, memsys_enable_mask, 104);
CHECK_OFFSET(cmd_setup, shader_enable_mask, 120);

CHECK_SIZE(cmd_start, 8);
CHECK_SIZE(cmd_stop, 8);
CHECK_SIZE(cmd_sample, 8);

static_assert((u32)DRM_IOCTL_PANTHOR_PERF_CONTROL == 0xc018649c);
static_assert(DRM_PANTHOR_DEV_QUERY_PERF_INFO == 0x3ffffff0);

#define NONE			DRM_PANTHOR_PERF_BLOCK_METADATA
#define FW			DRM_PANTHOR_PERF_BLOCK_FW
#define CSG			DRM_PANTHOR_PERF_BLOCK_CSG
#define CSHW			DRM_PANTHOR_PERF_BLOCK_CSHW
#define TILER			DRM_PANTHOR_PERF_BLOCK_TILER
#define MEMSYS			DRM_PANTHOR_PERF_BLOCK_MEMSYS
#define SHADER			DRM_PANTHOR_PERF_BLOCK_SHADER

#define ALL_CLOCKS		0x7
#define MAKE_GPU_ID(major, product) ((u32)(major) << 28 | 8u << 24 | 6u << 20 | (product) << 16)
#define SLICES(n)		(((n) - 1) << 8)
#define SIZES(fw, hw)		((fw) << 16 | (hw))

/*
 * A GPU: the values of its registers and of its control block, and the layout that is
 * expected.
 */
struct gpu_case {
	const char *name;
	struct panthor_perf_layout_params params;
	u32 num_values;
	u32 metadata, fw, csg, memsys, shader;
};

static const struct gpu_case gpu_cases[] = {
	{
		.name = "G310",
		.params = {
			.gpu_id = MAKE_GPU_ID(10, 4), .mem_features = SLICES(1),
			.shader_present = 0x1, .user_shader_present = 0x1,
			.glb_version = 0x01010000, .group_num = 8,
			.perfcnt_size = SIZES(0, 4), .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .memsys = 1, .shader = 1,
	}, {
		.name = "G510",
		.params = {
			.gpu_id = MAKE_GPU_ID(10, 3), .mem_features = SLICES(2),
			.shader_present = 0x15, .user_shader_present = 0x15,
			.glb_version = 0x01010000, .group_num = 8,
			.perfcnt_size = SIZES(1, 9), .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .fw = 1, .memsys = 2, .shader = 3,
	}, {
		.name = "G610",
		.params = {
			.gpu_id = MAKE_GPU_ID(10, 7), .mem_features = SLICES(4) | 0xff,
			.shader_present = 0x50005, .user_shader_present = 0x50005,
			.glb_version = 0x01010000, .group_num = 8,
			.perfcnt_size = SIZES(0, 25), .supported_clocks = ALL_CLOCKS,
			/*
			 * Neither of the two exists on this GPU, so their values must be
			 * ignored.
			 */
			.perfcnt_features = 0xffffffff, .prfcnt_features = 0xffffffff,
		},
		.num_values = 64, .memsys = 4, .shader = 4,
	}, {
		.name = "G710",
		.params = {
			.gpu_id = MAKE_GPU_ID(10, 2), .mem_features = SLICES(4),
			.shader_present = 0x1110055, .user_shader_present = 0x1110055,
			.glb_version = 0x01050000, .group_num = 8,
			.perfcnt_size = SIZES(9, 31), .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .fw = 1, .csg = 8, .memsys = 4, .shader = 7,
	}, {
		.name = "G615",
		.params = {
			.gpu_id = MAKE_GPU_ID(11, 3), .mem_features = SLICES(2),
			.shader_present = 0x30003, .user_shader_present = 0x30003,
			.glb_version = 0x02000000, .group_num = 8,
			.perfcnt_size = SIZES(2, 44), .prfcnt_features = 2,
			.supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .fw = 1, .memsys = 2, .shader = 4,
	}, {
		.name = "G715",
		.params = {
			.gpu_id = MAKE_GPU_ID(11, 2), .mem_features = SLICES(4),
			.shader_present = 0x170077, .user_shader_present = 0x170077,
			.glb_version = 0x03000000, .group_num = 8,
			.perfcnt_size = SIZES(18, 54), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 8, .memsys = 4, .shader = 10,
	}, {
		.name = "G620",
		.params = {
			.gpu_id = MAKE_GPU_ID(12, 1), .mem_features = SLICES(3),
			.shader_present = 0x11, .user_shader_present = 0x11,
			.glb_version = 0x03020000, .group_num = 12,
			.perfcnt_size = SIZES(0, 20), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .memsys = 3, .shader = 2,
	}, {
		.name = "G720",
		.params = {
			.gpu_id = MAKE_GPU_ID(12, 0), .mem_features = SLICES(4),
			.shader_present = 0x373737, .user_shader_present = 0x373737,
			.glb_version = 0x03020000, .group_num = 8,
			.perfcnt_size = SIZES(18, 56), .perfcnt_features = 0xfffffff2,
			.prfcnt_features = 0xffffff02, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 8, .memsys = 4, .shader = 15,
	}, {
		.name = "G625",
		.params = {
			.gpu_id = MAKE_GPU_ID(13, 1), .mem_features = SLICES(2),
			.shader_present = 0xf, .user_shader_present = 0xf,
			.glb_version = 0x04000000, .group_num = 8,
			.perfcnt_size = SIZES(2, 16), .perfcnt_features = 0,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .fw = 1, .memsys = 2, .shader = 4,
	}, {
		.name = "G725",
		.params = {
			.gpu_id = MAKE_GPU_ID(13, 0), .mem_features = SLICES(8),
			.shader_present = 0x3ff03ff, .user_shader_present = 0x3ff03ff,
			.glb_version = 0x04010000, .group_num = 8,
			.perfcnt_size = SIZES(18, 72), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 8, .memsys = 8, .shader = 20,
	}, {
		.name = "G1-Pro",
		.params = {
			.gpu_id = MAKE_GPU_ID(14, 3), .mem_features = SLICES(2),
			.shader_present = 0x1010101, .user_shader_present = 0x1010101,
			.glb_version = 0x04010000, .group_num = 8,
			.perfcnt_size = SIZES(2, 16), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .memsys = 2, .shader = 4,
	}, {
		.name = "G1-Premium",
		.params = {
			.gpu_id = MAKE_GPU_ID(14, 1), .mem_features = SLICES(4),
			.shader_present = 0x70707, .user_shader_present = 0x70707,
			.glb_version = 0x04010000, .group_num = 8,
			.perfcnt_size = SIZES(18, 30), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 8, .memsys = 4, .shader = 9,
	}, {
		.name = "G1-Ultra",
		.params = {
			.gpu_id = MAKE_GPU_ID(14, 0), .mem_features = SLICES(8),
			.shader_present = 0xff0000000000000full,
			.user_shader_present = 0xff0000000000000full,
			.glb_version = 0x04010000, .group_num = 31,
			.perfcnt_size = SIZES(64, 44), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 31, .memsys = 8, .shader = 12,
	}, {
		.name = "one core at the last position",
		.params = {
			.gpu_id = MAKE_GPU_ID(10, 2), .mem_features = SLICES(1),
			.shader_present = 1ull << 63, .user_shader_present = 1ull << 63,
			.glb_version = 0x01000000, .group_num = 3,
			.perfcnt_size = SIZES(4, 67), .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .fw = 1, .csg = 3, .memsys = 1, .shader = 1,
	}, {
		.name = "everything there can be",
		.params = {
			.gpu_id = MAKE_GPU_ID(13, 9), .mem_features = SLICES(16),
			.shader_present = ~0ull, .user_shader_present = ~0ull,
			.glb_version = 0x04010000, .group_num = 31,
			.perfcnt_size = SIZES(64, 164), .perfcnt_features = 2,
			.prfcnt_features = 2, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .metadata = 1, .fw = 1, .csg = 31, .memsys = 16, .shader = 64,
	}, {
		.name = "64 values and metadata",
		.params = {
			.gpu_id = MAKE_GPU_ID(11, 2), .mem_features = SLICES(2),
			.shader_present = 0x9, .user_shader_present = 0x9,
			.glb_version = 0x02000000, .group_num = 5,
			.perfcnt_size = SIZES(6, 8), .perfcnt_features = 1,
			.prfcnt_features = 1, .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .metadata = 1, .fw = 1, .csg = 5, .memsys = 2, .shader = 2,
	}, {
		/* The register with the block size came later, and reads 0: 64 is the default. */
		.name = "architecture 11 without a block size",
		.params = {
			.gpu_id = MAKE_GPU_ID(11, 2), .mem_features = SLICES(2),
			.shader_present = 0x9, .user_shader_present = 0x9,
			.glb_version = 0x01010000, .group_num = 5,
			.perfcnt_size = SIZES(6, 8), .supported_clocks = ALL_CLOCKS,
		},
		.num_values = 64, .fw = 1, .csg = 5, .memsys = 2, .shader = 2,
	}, {
		.name = "cores withheld by fuses",
		.params = {
			.gpu_id = MAKE_GPU_ID(12, 0), .mem_features = SLICES(2),
			.shader_present = 0xf0f, .user_shader_present = 0xa0d,
			.glb_version = 0x03000000, .group_num = 8,
			.perfcnt_size = SIZES(0, 32), .prfcnt_features = 2,
			.supported_clocks = ALL_CLOCKS,
		},
		.num_values = 128, .memsys = 2, .shader = 5,
	}, {
		.name = "compact cores withheld by fuses",
		.params = {
			.gpu_id = MAKE_GPU_ID(14, 0), .mem_features = SLICES(2),
			.shader_present = 0xf0f, .user_shader_present = 0xffffffffffff0a0dull,
			.glb_version = 0x04010000, .group_num = 8,
			.perfcnt_size = SIZES(2, 24), .prfcnt_features = 2,
			.supported_clocks = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL),
		},
		.num_values = 128, .fw = 1, .memsys = 2, .shader = 5,
	},
};

static void gpu_case_desc(const struct gpu_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(gpu, gpu_cases, gpu_case_desc);

static const struct gpu_case *find_gpu(struct kunit *test, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(gpu_cases); i++)
		if (!strcmp(gpu_cases[i].name, name))
			return &gpu_cases[i];

	KUNIT_FAIL(test, "no such GPU: %s", name);
	return &gpu_cases[0];
}

static struct panthor_perf_layout *make_layout(struct kunit *test, const struct gpu_case *c)
{
	struct panthor_perf_layout *layout = kunit_kzalloc(test, sizeof(*layout), GFP_KERNEL);
	const char *why = "not set";
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, layout);
	ret = panthor_perf_layout_init(layout, &c->params, &why);
	KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s: %s", c->name, why);
	KUNIT_ASSERT_NULL(test, why);
	return layout;
}

/* Returns where the first position of a core is in a firmware sample, in bytes. */
static u32 shader_offset(const struct panthor_perf_layout *layout)
{
	return layout->blocks[layout->shader_block - 1].fw_offset + layout->fw_block_size;
}

/* Returns a bit for each position of a core that users do not know. */
static u64 hidden_cores(const struct panthor_perf_layout *layout)
{
	u64 cores = 0;
	u32 b;

	for (b = layout->num_blocks; b < layout->num_fw_blocks; b++)
		cores |= BIT_ULL((layout->blocks[b].fw_offset - shader_offset(layout)) /
				 layout->fw_block_size);
	return cores;
}

/* Compares the blocks of each GPU with those that the table says it has. */
static void layout_blocks(struct kunit *test)
{
	const struct gpu_case *c = test->param_value;
	const u32 order[] = { FW, CSG, CSHW, TILER, MEMSYS, SHADER };
	u32 count[] = { c->fw, c->csg, 1, 1, c->memsys, c->shader };
	struct panthor_perf_layout *layout = make_layout(test, c);
	struct drm_panthor_perf_info info = { .flags = 0xabcd };
	u32 fw_block = c->num_values * 4, user_block = 24 + c->num_values * 8;
	u64 cores = c->params.shader_present, user = c->params.user_shader_present;
	bool compact = c->params.gpu_id >> 28 >= 14;
	u32 fw_pos = c->metadata, b = 0, t, i, bit, slot;

	KUNIT_EXPECT_EQ(test, layout->num_values, c->num_values);
	KUNIT_EXPECT_EQ(test, layout->fw_block_size, fw_block);
	KUNIT_EXPECT_EQ(test, layout->user_block_size, user_block);
	KUNIT_EXPECT_EQ(test, layout->has_metadata, !!c->metadata);
	KUNIT_EXPECT_EQ(test, layout->num_blocks, c->fw + c->csg + 2 + c->memsys + c->shader);
	KUNIT_EXPECT_EQ(test, layout->user_sample_size, 56 + layout->num_blocks * user_block);
	KUNIT_EXPECT_EQ(test, layout->fw_sample_size,
			c->metadata * fw_block + (c->params.perfcnt_size & 0xffff) * 256 +
			(c->params.perfcnt_size >> 16) * 256);

	for (t = 0; t < ARRAY_SIZE(order); t++) {
		KUNIT_EXPECT_EQ(test, layout->type_count[order[t]], count[t]);

		for (i = 0, bit = 0, slot = 0; i < count[t]; i++, b++) {
			const struct panthor_perf_block *block = &layout->blocks[b];

			if (order[t] == SHADER) {
				for (; !(cores & user & BIT_ULL(bit)); bit++)
					slot += !!(cores & BIT_ULL(bit));
				KUNIT_EXPECT_EQ_MSG(test, block->fw_offset,
						    (fw_pos + (compact ? slot : bit)) * fw_block,
						    "core %u", i);
				slot++;
				bit++;
			} else {
				KUNIT_EXPECT_EQ(test, block->fw_offset, fw_pos++ * fw_block);
			}

			KUNIT_EXPECT_EQ(test, block->type, order[t]);
			KUNIT_EXPECT_EQ(test, block->idx, i);
			KUNIT_EXPECT_EQ(test, block->user_offset, 56 + b * user_block);
			KUNIT_EXPECT_LE(test, block->fw_offset + fw_block, layout->fw_sample_size);
		}
	}

	KUNIT_EXPECT_EQ(test, layout->blocks[layout->cshw_block].type, CSHW);
	KUNIT_EXPECT_EQ(test, layout->blocks[layout->shader_block].type, SHADER);
	KUNIT_EXPECT_EQ(test, layout->blocks[layout->shader_block].idx, 0);
	KUNIT_EXPECT_EQ(test, hweight64(hidden_cores(layout)), hweight64(cores & ~user));
	KUNIT_EXPECT_EQ(test, layout->type_count[NONE], 0);

	panthor_perf_layout_info(layout, &info);
	KUNIT_EXPECT_EQ(test, info.counters_per_block, c->num_values);
	KUNIT_EXPECT_EQ(test, info.sample_header_size, 56);
	KUNIT_EXPECT_EQ(test, info.block_header_size, 24);
	KUNIT_EXPECT_EQ(test, info.flags, 0xabcd);
	KUNIT_EXPECT_EQ(test, info.fw_blocks, c->fw);
	KUNIT_EXPECT_EQ(test, info.csg_blocks, c->csg);
	KUNIT_EXPECT_EQ(test, info.cshw_blocks, 1);
	KUNIT_EXPECT_EQ(test, info.tiler_blocks, 1);
	KUNIT_EXPECT_EQ(test, info.memsys_blocks, c->memsys);
	KUNIT_EXPECT_EQ(test, info.shader_blocks, c->shader);
	KUNIT_EXPECT_EQ(test, info.sample_size, layout->user_sample_size);
}

struct exact_block {
	u32 type, idx, clock, fw_offset, user_offset;
};

static void expect_blocks(struct kunit *test, const char *name, u32 fw_sample_size,
			  u32 user_sample_size, const struct exact_block *exact, u32 num)
{
	struct panthor_perf_layout *layout = make_layout(test, find_gpu(test, name));
	u32 b;

	KUNIT_EXPECT_EQ(test, layout->fw_sample_size, fw_sample_size);
	KUNIT_EXPECT_EQ(test, layout->user_sample_size, user_sample_size);
	KUNIT_ASSERT_EQ(test, layout->num_blocks, num);

	for (b = 0; b < num; b++) {
		const struct panthor_perf_block *block = &layout->blocks[b];

		KUNIT_EXPECT_EQ_MSG(test, block->type, exact[b].type, "block %u", b);
		KUNIT_EXPECT_EQ_MSG(test, block->idx, exact[b].idx, "block %u", b);
		KUNIT_EXPECT_EQ_MSG(test, block->clock, exact[b].clock, "block %u", b);
		KUNIT_EXPECT_EQ_MSG(test, block->fw_offset, exact[b].fw_offset, "block %u", b);
		KUNIT_EXPECT_EQ_MSG(test, block->user_offset, exact[b].user_offset, "block %u", b);
	}
}

/* Offsets computed by hand: 19 core positions for 4 cores. */
static void layout_exact_g610(struct kunit *test)
{
	static const struct exact_block exact[] = {
		{ CSHW, 0, 0, 0, 56 },
		{ TILER, 0, 1, 256, 592 },
		{ MEMSYS, 0, 1, 512, 1128 },
		{ MEMSYS, 1, 1, 768, 1664 },
		{ MEMSYS, 2, 1, 1024, 2200 },
		{ MEMSYS, 3, 1, 1280, 2736 },
		{ SHADER, 0, 2, 1536, 3272 },
		{ SHADER, 1, 2, 2048, 3808 },
		{ SHADER, 2, 2, 5632, 4344 },
		{ SHADER, 3, 2, 6144, 4880 },
	};

	expect_blocks(test, "G610", 6400, 5416, exact, ARRAY_SIZE(exact));
}

/* Offsets computed by hand: firmware and CSG blocks, 25 core positions for 7 cores. */
static void layout_exact_g710(struct kunit *test)
{
	static const struct exact_block exact[] = {
		{ FW, 0, 0, 0, 56 },
		{ CSG, 0, 0, 256, 592 },
		{ CSG, 1, 0, 512, 1128 },
		{ CSG, 2, 0, 768, 1664 },
		{ CSG, 3, 0, 1024, 2200 },
		{ CSG, 4, 0, 1280, 2736 },
		{ CSG, 5, 0, 1536, 3272 },
		{ CSG, 6, 0, 1792, 3808 },
		{ CSG, 7, 0, 2048, 4344 },
		{ CSHW, 0, 0, 2304, 4880 },
		{ TILER, 0, 1, 2560, 5416 },
		{ MEMSYS, 0, 1, 2816, 5952 },
		{ MEMSYS, 1, 1, 3072, 6488 },
		{ MEMSYS, 2, 1, 3328, 7024 },
		{ MEMSYS, 3, 1, 3584, 7560 },
		{ SHADER, 0, 2, 3840, 8096 },
		{ SHADER, 1, 2, 4352, 8632 },
		{ SHADER, 2, 2, 4864, 9168 },
		{ SHADER, 3, 2, 5376, 9704 },
		{ SHADER, 4, 2, 7936, 10240 },
		{ SHADER, 5, 2, 8960, 10776 },
		{ SHADER, 6, 2, 9984, 11312 },
	};

	expect_blocks(test, "G710", 10240, 11848, exact, ARRAY_SIZE(exact));
}

/* Offsets computed by hand: a metadata block, and 128 values a block. */
static void layout_exact_g620(struct kunit *test)
{
	static const struct exact_block exact[] = {
		{ CSHW, 0, 0, 512, 56 },
		{ TILER, 0, 1, 1024, 1104 },
		{ MEMSYS, 0, 1, 1536, 2152 },
		{ MEMSYS, 1, 1, 2048, 3200 },
		{ MEMSYS, 2, 1, 2560, 4248 },
		{ SHADER, 0, 2, 3072, 5296 },
		{ SHADER, 1, 2, 5120, 6344 },
	};

	expect_blocks(test, "G620", 5632, 7392, exact, ARRAY_SIZE(exact));
}

/*
 * Offsets computed by hand: compact core positions, some cores hidden, one clock for all
 * blocks.
 */
static void layout_exact_compact(struct kunit *test)
{
	static const struct exact_block exact[] = {
		{ FW, 0, 0, 0, 56 },
		{ CSHW, 0, 0, 512, 1104 },
		{ TILER, 0, 0, 1024, 2152 },
		{ MEMSYS, 0, 0, 1536, 3200 },
		{ MEMSYS, 1, 0, 2048, 4248 },
		{ SHADER, 0, 0, 2560, 5296 },
		{ SHADER, 1, 0, 3584, 6344 },
		{ SHADER, 2, 0, 4096, 7392 },
		{ SHADER, 3, 0, 5120, 8440 },
		{ SHADER, 4, 0, 6144, 9488 },
	};
	const struct gpu_case *c = find_gpu(test, "compact cores withheld by fuses");

	expect_blocks(test, c->name, 6656, 10536, exact, ARRAY_SIZE(exact));

	/*
	 * 0xf0f without 0xa0d is 0x502: the second, fifth and seventh of eight cores are
	 * hidden.
	 */
	KUNIT_EXPECT_EQ(test, hidden_cores(make_layout(test, c)), 0x52);
	c = find_gpu(test, "cores withheld by fuses");
	KUNIT_EXPECT_EQ(test, hidden_cores(make_layout(test, c)), 0x502);
}

struct bad_case {
	const char *name;
	const char *gpu;
	const char *why;
	struct panthor_perf_layout_params set;
	int ret;
};

#define SIZES_WHY_HW "the hardware part of a sample is not that of its blocks"
#define SIZES_WHY_FW "the firmware part of a sample is not that of its blocks"

/* A GPU with one wrong property: the members of @set that are not 0 replace those of the GPU. */
static const struct bad_case bad_cases[] = {
	{ "no counters", "G610", "firmware offers no counters", {}, -EOPNOTSUPP },
	{ "hardware part short", "G610", SIZES_WHY_HW, { .perfcnt_size = SIZES(0, 24) }, -EINVAL },
	{ "hardware part long", "G610", SIZES_WHY_HW, { .perfcnt_size = SIZES(0, 26) }, -EINVAL },
	{ "hardware part compact", "G610", SIZES_WHY_HW,
	  { .perfcnt_size = SIZES(0, 10) }, -EINVAL },
	{ "hardware part of nothing", "G610", SIZES_WHY_HW,
	  { .perfcnt_size = SIZES(1, 0) }, -EINVAL },
	{ "hardware part huge", "G610", SIZES_WHY_HW,
	  { .perfcnt_size = SIZES(0, 0xffff) }, -EINVAL },
	{ "hardware part in half blocks", "G715", SIZES_WHY_HW,
	  { .perfcnt_size = SIZES(18, 55) }, -EINVAL },
	{ "compact cores at positions", "G1-Pro", SIZES_WHY_HW,
	  { .perfcnt_size = SIZES(2, 58) }, -EINVAL },
	{ "firmware part of two blocks", "G610", SIZES_WHY_FW,
	  { .perfcnt_size = SIZES(2, 25) }, -EINVAL },
	{ "a CSG block less", "G710", SIZES_WHY_FW, { .perfcnt_size = SIZES(8, 31) }, -EINVAL },
	{ "a CSG block more", "G710", SIZES_WHY_FW, { .perfcnt_size = SIZES(10, 31) }, -EINVAL },
	{ "a CSG slot more", "G710", SIZES_WHY_FW, { .group_num = 9 }, -EINVAL },
	{ "half a firmware block", "G615", SIZES_WHY_FW,
	  { .perfcnt_size = SIZES(1, 44) }, -EINVAL },
	{ "firmware part huge", "G710", SIZES_WHY_FW,
	  { .perfcnt_size = SIZES(0xffff, 31) }, -EINVAL },
	{ "32 CSG slots", "G710", "the number of CSG slots is out of range",
	  { .group_num = 32 }, -EINVAL },
	{ "junk of CSG slots", "G710", "the number of CSG slots is out of range",
	  { .group_num = 0xffffffff }, -EINVAL },
	{ "no block size", "G715", "the block size is neither 64 nor 128 counters",
	  { .prfcnt_features = 0x200 }, -EINVAL },
	{ "192 values", "G715", "the block size is neither 64 nor 128 counters",
	  { .prfcnt_features = 3 }, -EINVAL },
	{ "blocks of 128 values, not told", "architecture 11 without a block size", SIZES_WHY_FW,
	  { .perfcnt_size = SIZES(12, 16) }, -EINVAL },
	{ "metadata of half a block", "G715", "the metadata size is not that of one block",
	  { .perfcnt_features = 1 }, -EINVAL },
	{ "metadata of two blocks", "G715", "the metadata size is not that of one block",
	  { .perfcnt_features = 4 }, -EINVAL },
	{ "a slice more", "G610", SIZES_WHY_HW, { .mem_features = SLICES(5) }, -EINVAL },
	{ "a position more", "G610", SIZES_WHY_HW, { .shader_present = 0x90005 }, -EINVAL },
	{ "no core left", "G610", "there are no shader cores",
	  { .user_shader_present = 0xa }, -EINVAL },
	{ "job manager GPU", "G610", "not a CSF architecture",
	  { .gpu_id = MAKE_GPU_ID(9, 2) }, -EINVAL },
	{ "newer architecture, no block size", "G610",
	  "the block size is neither 64 nor 128 counters",
	  { .gpu_id = MAKE_GPU_ID(11, 2), .prfcnt_features = 0xffffff00 }, -EINVAL },
};

static void bad_case_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_case_desc);

static void layout_refused(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct panthor_perf_layout_params params = find_gpu(test, c->gpu)->params;
	struct panthor_perf_layout *layout = kunit_kzalloc(test, sizeof(*layout), GFP_KERNEL);
	struct drm_panthor_perf_info info = {};
	const char *why = NULL;

	KUNIT_ASSERT_NOT_NULL(test, layout);

	params.gpu_id = c->set.gpu_id ?: params.gpu_id;
	params.mem_features = c->set.mem_features ?: params.mem_features;
	params.shader_present = c->set.shader_present ?: params.shader_present;
	params.user_shader_present = c->set.user_shader_present ?: params.user_shader_present;
	params.glb_version = c->set.glb_version ?: params.glb_version;
	params.group_num = c->set.group_num ?: params.group_num;
	params.perfcnt_size = c->set.perfcnt_size ?: params.perfcnt_size;
	params.perfcnt_features = c->set.perfcnt_features ?: params.perfcnt_features;
	params.prfcnt_features = c->set.prfcnt_features ?: params.prfcnt_features;
	if (c->ret == -EOPNOTSUPP)
		params.perfcnt_size = 0;

	memset(layout, 0xff, sizeof(*layout));
	KUNIT_EXPECT_EQ(test, panthor_perf_layout_init(layout, &params, &why), c->ret);
	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_STREQ(test, why, c->why);

	panthor_perf_layout_info(layout, &info);
	KUNIT_EXPECT_EQ(test, info.fw_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.csg_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.cshw_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.tiler_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.memsys_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.shader_blocks, 0);
	KUNIT_EXPECT_EQ(test, info.sample_size, 56);
}

/* The other way round: a bit for each value of the groups that have a bit in @en. */
static void widen(u32 en, u64 mask[2])
{
	u32 bit;

	mask[0] = 0;
	mask[1] = 0;
	for (bit = 0; bit < 128; bit++)
		if (en & BIT(bit / 4))
			mask[bit / 64] |= BIT_ULL(bit % 64);
}

static void mask_conversions(struct kunit *test)
{
	u64 mask[2];
	u32 en, bit, nibble;

	/* All masks of 64 values, in the lower and in the upper half. */
	for (en = 0; en <= 0xffff; en++) {
		widen(en, mask);
		KUNIT_ASSERT_EQ(test, panthor_perf_mask_narrow(mask), en);
		widen(en << 16 | (~en & 0xffff), mask);
		KUNIT_ASSERT_EQ(test, panthor_perf_mask_narrow(mask), en << 16 | (~en & 0xffff));
	}

	/* Each bit of a group enables that group, and no other group. */
	for (bit = 0; bit < 32; bit++) {
		for (nibble = 0; nibble < 16; nibble++) {
			mask[0] = bit < 16 ? (u64)nibble << 4 * bit : 0;
			mask[1] = bit < 16 ? 0 : (u64)nibble << 4 * (bit - 16);
			KUNIT_ASSERT_EQ_MSG(test, panthor_perf_mask_narrow(mask),
					    nibble ? (u32)BIT(bit) : 0,
					    "group %u, %#x", bit, nibble);
		}
	}
}

/* A slot of a firmware ring, memory to copy the sample to, and a slot of a user's ring. */
struct bench {
	struct panthor_perf_layout *layout;
	u32 num_slots;
	u32 *slot;
	u32 *expected;
	struct panthor_perf_fw_sample *sample;
	u8 *dst;
};

#define CANARY 0x5a

static void bench_init(struct kunit *test, struct bench *bench, const char *name)
{
	struct panthor_perf_layout *layout = make_layout(test, find_gpu(test, name));

	bench->layout = layout;
	bench->num_slots = layout->fw_sample_size / layout->fw_block_size;
	bench->slot = kunit_kzalloc(test, layout->fw_sample_size, GFP_KERNEL);
	bench->expected = kunit_kzalloc(test, layout->fw_sample_size, GFP_KERNEL);
	bench->sample = kunit_kzalloc(test, layout->fw_copy_size, GFP_KERNEL);
	bench->dst = kunit_kzalloc(test, layout->user_sample_size + 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->slot);
	KUNIT_ASSERT_NOT_NULL(test, bench->expected);
	KUNIT_ASSERT_NOT_NULL(test, bench->sample);
	KUNIT_ASSERT_NOT_NULL(test, bench->dst);
}

/* Counters that a session enables, by block type. */
struct masks {
	u64 mask[PANTHOR_PERF_BLOCK_TYPES][2];
};

static struct panthor_perf_accum *make_accum(struct kunit *test, struct bench *bench,
					     const struct masks *masks)
{
	struct panthor_perf_accum *accum =
		kunit_kzalloc(test, bench->layout->accum_size, GFP_KERNEL);
	u32 type;

	KUNIT_ASSERT_NOT_NULL(test, accum);
	panthor_perf_accum_init(bench->layout, accum);
	for (type = FW; type <= SHADER; type++)
		panthor_perf_accum_enable(bench->layout, type, masks->mask[type], accum);
	return accum;
}

/* Returns a number that is different for each value of each block of some thousand samples. */
static u32 distinct(u32 n, u32 position, u32 i)
{
	return (n * 256 + position) * 128 + i + 1;
}

/*
 * Fills a slot as firmware does if all blocks are enabled and written. Positions of
 * cores that do not exist are filled in the same way, so that code which reads them
 * by mistake finds counts.
 */
static void fill_slot(struct bench *bench, u32 n)
{
	u32 num_values = bench->layout->num_values, p, i;

	for (p = 0; p < bench->num_slots; p++) {
		u32 *values = &bench->slot[p * num_values];

		for (i = 0; i < num_values; i++)
			values[i] = distinct(n, p, i);
		values[0] = 0x1000 + n;
		values[1] = 0x77;
		values[2] = num_values == 64 ? 0xffff : 0xffffffff;
		values[3] = 0;
	}
}

static u32 *block_values(struct bench *bench, u32 b)
{
	return &bench->slot[bench->layout->blocks[b].fw_offset / 4];
}

static u32 block_position(struct bench *bench, u32 b)
{
	return bench->layout->blocks[b].fw_offset / bench->layout->fw_block_size;
}

static void read_slot(struct bench *bench)
{
	u64 all[PANTHOR_PERF_BLOCK_WORDS] = { ~0ull, ~0ull };

	panthor_perf_fw_sample_read(bench->layout, bench->slot, all, bench->sample);
}

static const struct masks everything = {
	.mask = {
		[FW] = { ~0ull, ~0ull }, [CSG] = { ~0ull, ~0ull }, [CSHW] = { ~0ull, ~0ull },
		[TILER] = { ~0ull, ~0ull }, [MEMSYS] = { ~0ull, ~0ull },
		[SHADER] = { ~0ull, ~0ull },
	},
};

static const struct masks everything64 = {
	.mask = {
		[FW] = { ~0ull }, [CSG] = { ~0ull }, [CSHW] = { ~0ull },
		[TILER] = { ~0ull }, [MEMSYS] = { ~0ull }, [SHADER] = { ~0ull },
	},
};

static const struct masks *all_of(struct bench *bench)
{
	return bench->layout->num_values == 64 ? &everything64 : &everything;
}

static void write_out(struct kunit *test, struct bench *bench, struct panthor_perf_accum *accum,
		      const struct panthor_perf_sample_info *info)
{
	u32 size = bench->layout->user_sample_size, i;

	memset(bench->dst, CANARY, size + 64);
	panthor_perf_accum_deliver(bench->layout, accum, NULL, info, bench->dst);
	for (i = size; i < size + 64; i++)
		KUNIT_ASSERT_EQ_MSG(test, bench->dst[i], CANARY, "byte %u", i);
}

static const struct drm_panthor_perf_sample_header *out_header(struct bench *bench)
{
	return (const void *)bench->dst;
}

static const struct drm_panthor_perf_block_header *out_block(struct bench *bench, u32 b)
{
	return (const void *)(bench->dst + 56 + b * (24 + 8 * bench->layout->num_values));
}

static const u64 *out_values(struct bench *bench, u32 b)
{
	return (const u64 *)(out_block(bench, b) + 1);
}

/* With all counters enabled and all blocks written, each value and header is in its place. */
static void sample_distinct(struct kunit *test)
{
	const struct gpu_case *c = test->param_value;
	const struct panthor_perf_sample_info info = {
		.start.ns = 0x1111111111111111ull, .end.ns = 0x2222222222222222ull,
		.end.gpu = 0x0123456789abcdefull, .user_data = 0x3333333333333333ull,
		.end.cycles = { 0x4444444444444444ull, 0x5555555555555555ull, 0x6666666666666666ull },
		.flags = DRM_PANTHOR_PERF_SAMPLE_STRETCHED, .block_set = 2,
	};
	const struct drm_panthor_perf_sample_header *header;
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 n, b, i;

	bench_init(test, &bench, c->name);
	accum = make_accum(test, &bench, all_of(&bench));

	for (n = 1; n <= 2; n++) {
		fill_slot(&bench, n);
		read_slot(&bench);
		KUNIT_EXPECT_TRUE(test, bench.sample->timestamp);
		KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0x7700001000ull + n);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);
	}

	write_out(test, &bench, accum, &info);

	header = out_header(&bench);
	KUNIT_EXPECT_EQ(test, header->timestamp_start_ns, info.start.ns);
	KUNIT_EXPECT_EQ(test, header->timestamp_end_ns, info.end.ns);
	KUNIT_EXPECT_EQ(test, header->block_set, 2);
	KUNIT_EXPECT_EQ(test, header->pad[0] | header->pad[1] | header->pad[2], 0);
	KUNIT_EXPECT_EQ(test, header->flags, DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
	KUNIT_EXPECT_EQ(test, header->user_data, info.user_data);
	KUNIT_EXPECT_EQ(test, header->toplevel_clock_cycles, info.end.cycles[0]);
	KUNIT_EXPECT_EQ(test, header->coregroup_clock_cycles, info.end.cycles[1]);
	KUNIT_EXPECT_EQ(test, header->shader_clock_cycles, info.end.cycles[2]);

	for (b = 0; b < bench.layout->num_blocks; b++) {
		const struct drm_panthor_perf_block_header *block = out_block(&bench, b);
		const u64 *values = out_values(&bench, b);
		u32 p = block_position(&bench, b);

		KUNIT_EXPECT_EQ(test, block->block_type, bench.layout->blocks[b].type);
		KUNIT_EXPECT_EQ(test, block->block_idx, bench.layout->blocks[b].idx);
		KUNIT_EXPECT_EQ(test, block->clock, bench.layout->blocks[b].clock);
		KUNIT_EXPECT_EQ(test, block->pad[0] | block->pad[1] | block->pad[2] | block->pad[3],
				0);
		KUNIT_EXPECT_EQ(test, block->enable_mask[0], ~0ull);
		KUNIT_EXPECT_EQ(test, block->enable_mask[1], c->num_values == 64 ? 0 : ~0ull);
		KUNIT_EXPECT_EQ(test, values[0], 0x89abcdef);
		KUNIT_EXPECT_EQ(test, values[1], 0x01234567);
		KUNIT_EXPECT_EQ(test, values[2], c->num_values == 64 ? 0xffff : 0xffffffff);
		KUNIT_EXPECT_EQ(test, values[3], 0);
		for (i = 4; i < c->num_values; i++)
			KUNIT_ASSERT_EQ_MSG(test, values[i],
					    (u64)distinct(1, p, i) + distinct(2, p, i),
					    "block %u value %u", b, i);
	}
}

/* Reading a sample clears PRFCNT_EN of all blocks that exist, and changes nothing else. */
static void sample_acknowledged(struct kunit *test)
{
	const struct gpu_case *c = test->param_value;
	u64 none[PANTHOR_PERF_BLOCK_WORDS] = {};
	struct bench bench;
	u32 how, b, core;

	bench_init(test, &bench, c->name);

	for (how = 0; how < 3; how++) {
		fill_slot(&bench, 1);
		if (c->metadata)
			bench.slot[3] = PANTHOR_PERF_REASON_HALT;

		/* Make the expected changes in a copy of the slot. */
		memcpy(bench.expected, bench.slot, bench.layout->fw_sample_size);
		if (c->metadata)
			memset(&bench.expected[2], 0, 2 * sizeof(u32));
		for (b = 0; b < bench.layout->num_blocks; b++)
			bench.expected[bench.layout->blocks[b].fw_offset / 4 + 2] = 0;
		for (core = 0; core < 64; core++)
			if (hidden_cores(bench.layout) & BIT_ULL(core))
				bench.expected[shader_offset(bench.layout) / 4 +
					     core * c->num_values + 2] = 0;

		if (how == 0) {
			read_slot(&bench);
		} else if (how == 1) {
			panthor_perf_fw_sample_read(bench.layout, bench.slot, none, bench.sample);
			KUNIT_EXPECT_TRUE(test, bench.sample->timestamp);
			KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0x7700001001ull);
			/* The CSHW block is read in any case. */
			b = bench.layout->cshw_block;
			KUNIT_EXPECT_EQ(test, bench.sample->written[0], BIT_ULL(b));
			KUNIT_EXPECT_EQ(test, bench.sample->written[1], 0);
		} else {
			panthor_perf_layout_clear_en(bench.layout, bench.slot);
		}

		for (b = 0; b < bench.layout->fw_sample_size / 4; b++)
			KUNIT_ASSERT_EQ_MSG(test, bench.slot[b], bench.expected[b],
					    "way %u, word %u", how, b);
	}
}

/* A block that was not written holds an old sample, which must not be added. */
static void sample_unwritten(struct kunit *test)
{
	static const u32 en[] = { 0, 1, 0xfffd, 0xfffffffd };
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 e, b, i;

	bench_init(test, &bench, "G710");
	accum = make_accum(test, &bench, all_of(&bench));

	for (e = 0; e < ARRAY_SIZE(en); e++) {
		fill_slot(&bench, 1);
		block_values(&bench, 3)[2] = en[e];
		block_values(&bench, 20)[2] = en[e];
		read_slot(&bench);
		KUNIT_EXPECT_EQ(test, bench.sample->written[0], 0x3ffffful & ~BIT(3) & ~BIT(20));
		KUNIT_EXPECT_EQ(test, bench.sample->written[0] & (BIT(3) | BIT(4)), BIT(4));
		KUNIT_EXPECT_EQ(test, block_values(&bench, 3)[2], 0);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);

		/* The second sample is added to the sums of the first one. */
		if (e & 1) {
			fill_slot(&bench, 2);
			read_slot(&bench);
			panthor_perf_accum_add(bench.layout, bench.sample, accum);
			fill_slot(&bench, 3);
			block_values(&bench, 20)[2] = en[e];
			read_slot(&bench);
			panthor_perf_accum_add(bench.layout, bench.sample, accum);
		}

		write_out(test, &bench, accum, &info);
		for (b = 0; b < bench.layout->num_blocks; b++) {
			u32 p = block_position(&bench, b);

			for (i = 4; i < 64; i++) {
				u64 expected = b == 3 || b == 20 ? 0 : distinct(1, p, i);

				if (e & 1) {
					expected += distinct(2, p, i);
					expected += b == 20 ? 0 : distinct(3, p, i);
				}
				KUNIT_ASSERT_EQ_MSG(test, out_values(&bench, b)[i], expected,
						    "en %#x block %u value %u", en[e], b, i);
			}
		}
	}
}

/* A group of values whose bit in PRFCNT_EN is clear holds an old sample, too. */
static void sample_partly_written(struct kunit *test)
{
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 n, b, i;

	bench_init(test, &bench, "G715");
	accum = make_accum(test, &bench, all_of(&bench));

	for (n = 1; n <= 2; n++) {
		fill_slot(&bench, n);
		for (b = 0; b < bench.layout->num_blocks; b++)
			block_values(&bench, b)[2] = 0x80010012 << (b % 3);
		read_slot(&bench);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);
	}

	write_out(test, &bench, accum, &info);
	for (b = 0; b < bench.layout->num_blocks; b++) {
		u32 p = block_position(&bench, b), mask = 0x80010012 << (b % 3);

		for (i = 4; i < 128; i++) {
			bool counted = (mask & 2) && (mask & BIT(i / 4));

			KUNIT_ASSERT_EQ_MSG(test, out_values(&bench, b)[i],
					    counted ? distinct(1, p, i) + distinct(2, p, i) : 0,
					    "block %u value %u", b, i);
		}
	}
}

/* A session gets the counters that it enabled, and no others that were sampled. */
static void accum_masked(struct kunit *test)
{
	const struct masks masks = {
		.mask = {
			/* The first four values are not counters, so these bits enable none. */
			[FW] = { 0xf, 0 },
			[CSHW] = { 0x8000000000000010ull, 0x8000000000000001ull },
			[TILER] = { ~0ull, 0 },
			[SHADER] = { ~0xfull, ~0ull },
		},
	};
	const struct panthor_perf_sample_info info = { .end.gpu = 5 };
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 n, b, i;

	bench_init(test, &bench, "G715");
	accum = make_accum(test, &bench, &masks);

	for (n = 1; n <= 3; n++) {
		fill_slot(&bench, n);
		read_slot(&bench);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);
	}

	for (n = 0; n < 2; n++) {
		write_out(test, &bench, accum, &info);

		for (b = 0; b < bench.layout->num_blocks; b++) {
			const u64 *mask = masks.mask[bench.layout->blocks[b].type];
			const u64 *values = out_values(&bench, b);
			u32 p = block_position(&bench, b);

			KUNIT_EXPECT_EQ(test, out_block(&bench, b)->enable_mask[0], mask[0]);
			KUNIT_EXPECT_EQ(test, out_block(&bench, b)->enable_mask[1], mask[1]);
			KUNIT_EXPECT_EQ(test, values[0], 5);
			KUNIT_EXPECT_EQ(test, values[1], 0);
			KUNIT_EXPECT_EQ(test, values[2], panthor_perf_mask_narrow(mask));
			KUNIT_EXPECT_EQ(test, values[3], 0);
			for (i = 4; i < 128; i++) {
				u64 expected = distinct(1, p, i) + distinct(2, p, i) +
					       distinct(3, p, i);

				/*
				 * What was delivered in the first sample is not in the second
				 * one.
				 */
				if (n || !(mask[i / 64] & BIT_ULL(i % 64)))
					expected = 0;
				KUNIT_ASSERT_EQ_MSG(test, values[i], expected,
						    "block %u value %u", b, i);
			}
		}
	}
}

/* Sums are not limited to 32 bits. */
static void accum_wide(struct kunit *test)
{
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 n, i;

	bench_init(test, &bench, "G310");
	accum = make_accum(test, &bench, all_of(&bench));

	for (n = 0; n < 5; n++) {
		fill_slot(&bench, 1);
		for (i = 4; i < 64; i++)
			block_values(&bench, 1)[i] = 0xfffffffe - i;
		read_slot(&bench);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);
	}

	write_out(test, &bench, accum, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);
	for (i = 4; i < 64; i++)
		KUNIT_ASSERT_EQ_MSG(test, out_values(&bench, 1)[i], 5 * (0xfffffffeull - i),
				    "value %u", i);
}

/* What was counted before a reset of the accumulator is not in the next sample. */
static void accum_dropped(struct kunit *test)
{
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *accum;
	struct bench bench;
	u32 b, i, n;

	bench_init(test, &bench, "G610");
	accum = make_accum(test, &bench, all_of(&bench));

	for (n = 0; n < 2; n++) {
		fill_slot(&bench, 1);
		block_values(&bench, 0)[4] = U32_MAX;
		read_slot(&bench);
		panthor_perf_accum_add(bench.layout, bench.sample, accum);
		panthor_perf_accum_add_states(bench.layout,
					      DRM_PANTHOR_PERF_BLOCK_STATE_OFF, accum);
		panthor_perf_accum_reset(accum);

		if (n) {
			fill_slot(&bench, 2);
			read_slot(&bench);
			panthor_perf_accum_add(bench.layout, bench.sample, accum);
		}

		write_out(test, &bench, accum, &info);
		KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);
		for (b = 0; b < bench.layout->num_blocks; b++) {
			KUNIT_EXPECT_EQ(test, out_block(&bench, b)->block_states, 0);
			for (i = 4; i < 64; i++)
				KUNIT_ASSERT_EQ(test, out_values(&bench, b)[i],
						n ? distinct(2, block_position(&bench, b), i) : 0);
		}
	}
}

/*
 * A counter that has saturated is reported once, to the sessions that have enabled counters in
 * its block.
 */
static void accum_saturated(struct kunit *test)
{
	struct masks with = {}, without = {}, apart = {};
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *a, *b, *c;
	struct bench bench;

	bench_init(test, &bench, "G610");
	with.mask[TILER][0] = BIT_ULL(63);
	without.mask[TILER][0] = ~BIT_ULL(63);
	without.mask[SHADER][0] = ~0ull;
	apart.mask[SHADER][0] = ~0ull;
	a = make_accum(test, &bench, &with);
	b = make_accum(test, &bench, &without);
	c = make_accum(test, &bench, &apart);

	/*
	 * Saturation is not reported for values that are no counters, or that were not
	 * written.
	 */
	fill_slot(&bench, 1);
	block_values(&bench, 1)[0] = U32_MAX;
	block_values(&bench, 1)[1] = U32_MAX;
	block_values(&bench, 1)[2] = 0x7fff;
	block_values(&bench, 1)[3] = U32_MAX;
	block_values(&bench, 1)[63] = U32_MAX;
	block_values(&bench, 2)[2] = 0;
	block_values(&bench, 2)[4] = U32_MAX;
	block_values(&bench, 7)[4] = 0x80000000;
	block_values(&bench, 7)[5] = 0x7fffffff;
	read_slot(&bench);
	panthor_perf_accum_add(bench.layout, bench.sample, a);
	panthor_perf_accum_add(bench.layout, bench.sample, b);
	write_out(test, &bench, a, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);
	write_out(test, &bench, b, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);

	fill_slot(&bench, 1);
	block_values(&bench, 1)[63] = U32_MAX;
	read_slot(&bench);
	panthor_perf_accum_add(bench.layout, bench.sample, a);
	panthor_perf_accum_add(bench.layout, bench.sample, b);
	panthor_perf_accum_add(bench.layout, bench.sample, c);

	/* The flag stays set until the sample is delivered. */
	fill_slot(&bench, 2);
	read_slot(&bench);
	panthor_perf_accum_add(bench.layout, bench.sample, a);
	panthor_perf_accum_add(bench.layout, bench.sample, b);
	panthor_perf_accum_add(bench.layout, bench.sample, c);

	write_out(test, &bench, a, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	KUNIT_EXPECT_EQ(test, out_values(&bench, 1)[63], 0xffffffffull + distinct(2, 1, 63));
	write_out(test, &bench, a, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);
	write_out(test, &bench, b, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	write_out(test, &bench, c, &info);
	KUNIT_EXPECT_EQ(test, out_header(&bench)->flags, 0);
}

/* The timestamp is that of the first block that was read and written. */
static void sample_timestamp(struct kunit *test)
{
	u64 needed[PANTHOR_PERF_BLOCK_WORDS] = { BIT(6) };
	struct bench bench;
	u32 b;

	bench_init(test, &bench, "G610");
	fill_slot(&bench, 1);
	block_values(&bench, 6)[0] = 0x600;
	block_values(&bench, 0)[2] = 0;
	panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
	KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0x7700000600ull);
	KUNIT_EXPECT_EQ(test, bench.sample->written[0], BIT(6));
	KUNIT_EXPECT_TRUE(test, bench.sample->missing);

	fill_slot(&bench, 2);
	block_values(&bench, 6)[2] = 0;
	block_values(&bench, 0)[0] = 0x700;
	panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
	KUNIT_EXPECT_EQ(test, bench.sample->written[0], BIT(0));
	KUNIT_EXPECT_FALSE(test, bench.sample->missing);
	KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0x7700000700ull);

	fill_slot(&bench, 3);
	for (b = 0; b < bench.layout->num_blocks; b++)
		block_values(&bench, b)[2] = 0;
	panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
	KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0);

	/* The metadata block has a timestamp, too. */
	bench_init(test, &bench, "G620");
	fill_slot(&bench, 4);
	for (b = 0; b < bench.layout->num_blocks; b++)
		block_values(&bench, b)[2] = 0;
	bench.slot[0] = 0x800;
	bench.slot[3] = PANTHOR_PERF_REASON_SUSPEND;
	panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
	KUNIT_EXPECT_TRUE(test, bench.sample->timestamp);
	KUNIT_EXPECT_EQ(test, bench.sample->timestamp, 0x7700000800ull);
	KUNIT_EXPECT_EQ(test, bench.sample->reason, PANTHOR_PERF_REASON_SUSPEND);

	/* The reason was cleared by the read, so the next sample has the reason of a request. */
	panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
	KUNIT_EXPECT_EQ(test, bench.sample->reason, PANTHOR_PERF_REASON_REQUEST);
}

#define ON		DRM_PANTHOR_PERF_BLOCK_STATE_ON
#define OFF		DRM_PANTHOR_PERF_BLOCK_STATE_OFF
#define AVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE
#define UNAVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE
#define NORMAL		DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL
#define PROTECTED	DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED

struct state_case {
	const char *name;
	u32 prev, reason;
	u8 tiler, powered, unpowered;
	/* States of a core in which the session has enabled no counters. */
	u8 unread;
};

static const struct state_case state_cases[] = {
	{ "request", 0, 0, ON | AVAILABLE | NORMAL,
	  ON | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, NORMAL },
	{ "before protected mode", 0, 1, ON | AVAILABLE | NORMAL | PROTECTED,
	  ON | AVAILABLE | NORMAL | PROTECTED, OFF | UNAVAILABLE | NORMAL | PROTECTED,
	  NORMAL | PROTECTED },
	/*
	 * After protected mode a core that was written may have had no power. One that was
	 * not had none.
	 */
	{ "after protected mode", 1, 0, ON | AVAILABLE | NORMAL | PROTECTED,
	  AVAILABLE | NORMAL | PROTECTED, OFF | UNAVAILABLE | NORMAL | PROTECTED,
	  NORMAL | PROTECTED },
	{ "between two protected modes", 1, 1, ON | AVAILABLE | NORMAL | PROTECTED,
	  AVAILABLE | NORMAL | PROTECTED, OFF | UNAVAILABLE | NORMAL | PROTECTED,
	  NORMAL | PROTECTED },
	{ "before halt", 0, 2, ON | AVAILABLE | NORMAL,
	  ON | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, NORMAL },
	{ "before sleep", 0, 3, ON | OFF | AVAILABLE | NORMAL,
	  ON | OFF | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, OFF | NORMAL },
	{ "before suspend", 0, 4, ON | AVAILABLE | NORMAL,
	  ON | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, NORMAL },
	{ "before yield", 0, 5, ON | UNAVAILABLE | NORMAL,
	  ON | UNAVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, UNAVAILABLE | NORMAL },
	{ "after warm boot", 3, 6, ON | AVAILABLE | NORMAL,
	  ON | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL, NORMAL },
};

static void state_case_desc(const struct state_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(state, state_cases, state_case_desc);

static void block_states(struct kunit *test)
{
	const struct state_case *c = test->param_value;
	const struct panthor_perf_sample_info info = {};
	struct masks tiler_only = {};
	struct panthor_perf_accum *all, *tiler;
	struct bench bench;

	/* Of the shader cores, block 5 has power and block 6 has none. */
	bench_init(test, &bench, "G620");
	tiler_only.mask[TILER][0] = ~0ull;
	all = make_accum(test, &bench, all_of(&bench));
	tiler = make_accum(test, &bench, &tiler_only);

	fill_slot(&bench, 1);
	bench.slot[3] = c->reason;
	block_values(&bench, 6)[2] = 0;
	read_slot(&bench);
	KUNIT_EXPECT_EQ(test, bench.sample->reason, c->reason);
	panthor_perf_fw_sample_states(bench.layout, 0, c->prev, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, all);
	panthor_perf_accum_add(bench.layout, bench.sample, tiler);

	write_out(test, &bench, all, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states, c->tiler);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 1)->block_states, c->tiler);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 4)->block_states, c->tiler);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 5)->block_states, c->powered);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states, c->unpowered);

	/* A session that has enabled counters in cores gets to know if a core has power. */
	write_out(test, &bench, tiler, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states, c->tiler);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 1)->block_states, c->tiler);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 5)->block_states, c->unread);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states, c->unread);
}

/* A block that is not written reads as 0. Except in the primary set, it is also UNAVAILABLE. */
static void block_states_set(struct kunit *test)
{
	const struct panthor_perf_sample_info info = {};
	struct masks tiler_only = {};
	struct panthor_perf_accum *all, *tiler;
	struct bench bench;
	u32 set, i;

	/*
	 * Block 0 is firmware, 1 to 8 are CSGs, 9 is CSHW, 10 is the tiler, 15 is the first
	 * core.
	 */
	bench_init(test, &bench, "G715");
	tiler_only.mask[TILER][0] = ~0ull;
	all = make_accum(test, &bench, all_of(&bench));
	tiler = make_accum(test, &bench, &tiler_only);

	for (set = 0; set <= 2; set++) {
		u8 unwritten = ON | NORMAL | (set ? UNAVAILABLE : AVAILABLE);
		u8 unread = ON | NORMAL | (set ? 0 : AVAILABLE);

		fill_slot(&bench, 1);
		bench.slot[3] = 0;
		block_values(&bench, 0)[2] = 0;
		block_values(&bench, 8)[2] = 0;
		read_slot(&bench);
		panthor_perf_fw_sample_states(bench.layout, set, 0, bench.sample);
		panthor_perf_accum_add(bench.layout, bench.sample, all);
		panthor_perf_accum_add(bench.layout, bench.sample, tiler);

		write_out(test, &bench, all, &info);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states, unwritten);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 1)->block_states, ON | AVAILABLE | NORMAL);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 8)->block_states, unwritten);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 9)->block_states, ON | AVAILABLE | NORMAL);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 15)->block_states, ON | AVAILABLE | NORMAL);
		for (i = 4; i < 128; i++) {
			KUNIT_ASSERT_EQ(test, out_values(&bench, 0)[i], 0);
			KUNIT_ASSERT_EQ(test, out_values(&bench, 8)[i], 0);
			KUNIT_ASSERT_EQ(test, out_values(&bench, 9)[i],
					distinct(1, block_position(&bench, 9), i));
		}

		/* A session does not get to know what was read for another session. */
		write_out(test, &bench, tiler, &info);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states, unread);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 9)->block_states, unread);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 10)->block_states, ON | AVAILABLE | NORMAL);
		KUNIT_EXPECT_EQ(test, out_block(&bench, 15)->block_states, NORMAL);
	}
}

/* States that follow from no sample: of counters and an MCU that are enabled or disabled. */
static void block_states_marked(struct kunit *test)
{
	static const struct {
		u8 add[2];
		u8 tiler, core, unread;
	} cases[] = {
		/* The GPU has no power. */
		{ { OFF | AVAILABLE | NORMAL }, OFF | AVAILABLE | NORMAL,
		  OFF | UNAVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL },
		/* Counters are disabled, and cores may have power. */
		{ { OFF | AVAILABLE | NORMAL | PANTHOR_PERF_STATE_POWER_UNKNOWN },
		  OFF | AVAILABLE | NORMAL, OFF | AVAILABLE | NORMAL, OFF | NORMAL },
		/* The same for a period that lies in protected mode altogether. */
		{ { OFF | AVAILABLE | PROTECTED | PANTHOR_PERF_STATE_POWER_UNKNOWN },
		  OFF | AVAILABLE | PROTECTED, OFF | AVAILABLE | PROTECTED, OFF | PROTECTED },
		/* The MCU boots, which does not mean that cores have power. */
		{ { OFF | AVAILABLE | NORMAL, ON }, ON | OFF | AVAILABLE | NORMAL,
		  OFF | UNAVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL },
		/* The MCU is stopped without a sample. */
		{ { ON | AVAILABLE | NORMAL | PANTHOR_PERF_STATE_POWER_UNKNOWN,
		    OFF | AVAILABLE | NORMAL }, ON | OFF | AVAILABLE | NORMAL,
		  OFF | AVAILABLE | NORMAL, OFF | NORMAL },
	};
	const struct panthor_perf_sample_info info = {};
	struct masks tiler_only = {};
	struct panthor_perf_accum *all, *tiler;
	struct bench bench;
	u32 i, j;

	bench_init(test, &bench, "G610");
	tiler_only.mask[TILER][0] = ~0ull;
	all = make_accum(test, &bench, all_of(&bench));
	tiler = make_accum(test, &bench, &tiler_only);

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (j = 0; j < ARRAY_SIZE(cases[i].add); j++) {
			panthor_perf_accum_add_states(bench.layout, cases[i].add[j], all);
			panthor_perf_accum_add_states(bench.layout, cases[i].add[j], tiler);
		}
		write_out(test, &bench, all, &info);
		KUNIT_EXPECT_EQ_MSG(test, out_block(&bench, 0)->block_states, cases[i].tiler,
				    "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out_block(&bench, 1)->block_states, cases[i].tiler,
				    "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out_block(&bench, 6)->block_states, cases[i].core,
				    "case %u", i);
		write_out(test, &bench, tiler, &info);
		KUNIT_EXPECT_EQ_MSG(test, out_block(&bench, 0)->block_states, cases[i].tiler,
				    "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out_block(&bench, 6)->block_states, cases[i].unread,
				    "case %u", i);
	}
}

/* A period has the states of all its firmware samples. */
static void block_states_folded(struct kunit *test)
{
	const struct panthor_perf_sample_info info = {};
	struct panthor_perf_accum *accum;
	struct bench bench;

	bench_init(test, &bench, "G620");
	accum = make_accum(test, &bench, all_of(&bench));

	/* The core has power in one of two samples. */
	fill_slot(&bench, 1);
	block_values(&bench, 6)[2] = 0;
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, 0, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	fill_slot(&bench, 2);
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, 0, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	write_out(test, &bench, accum, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 5)->block_states, ON | AVAILABLE | NORMAL);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states, ON | OFF | AVAILABLE | NORMAL);

	/* The core was written after protected mode, so it may have had power. */
	fill_slot(&bench, 1);
	bench.slot[3] = PANTHOR_PERF_REASON_PROTECTED;
	block_values(&bench, 5)[2] = 0;
	block_values(&bench, 6)[2] = 0;
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, 0, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	fill_slot(&bench, 2);
	bench.slot[3] = 0;
	block_values(&bench, 6)[2] = 0;
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, PANTHOR_PERF_REASON_PROTECTED, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	write_out(test, &bench, accum, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states,
			ON | AVAILABLE | NORMAL | PROTECTED);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 5)->block_states,
			OFF | AVAILABLE | NORMAL | PROTECTED);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states,
			OFF | UNAVAILABLE | NORMAL | PROTECTED);

	/* The GPU was given to another operating system in one of two samples. */
	fill_slot(&bench, 1);
	bench.slot[3] = PANTHOR_PERF_REASON_YIELD;
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, 0, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	fill_slot(&bench, 2);
	bench.slot[3] = 0;
	read_slot(&bench);
	panthor_perf_fw_sample_states(bench.layout, 0, PANTHOR_PERF_REASON_YIELD, bench.sample);
	panthor_perf_accum_add(bench.layout, bench.sample, accum);
	write_out(test, &bench, accum, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states,
			ON | AVAILABLE | UNAVAILABLE | NORMAL);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states,
			ON | AVAILABLE | UNAVAILABLE | NORMAL);

	/* The period lies in protected mode altogether, and has no firmware sample. */
	panthor_perf_accum_add_states(bench.layout, PROTECTED, accum);
	write_out(test, &bench, accum, &info);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 0)->block_states, PROTECTED);
	KUNIT_EXPECT_EQ(test, out_block(&bench, 6)->block_states, PROTECTED);
}

static u64 prng_state;

static u32 prng(void)
{
	/* Knuth's MMIX generator yields the same sequence on every machine. */
	prng_state = prng_state * 6364136223846793005ull + 1442695040888963407ull;
	return prng_state >> 32;
}

static u64 random_mask(void)
{
	switch (prng() % 5) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return BIT_ULL(prng() % 64);
	default:
		return (u64)prng() << 32 | prng();
	}
}

#define NUM_SESSIONS 4

/*
 * Sessions with random masks get firmware samples with random contents, and are
 * delivered at random. The result is compared with sums that the test computes one
 * value at a time.
 */
static void random_sessions(struct kunit *test)
{
	const struct gpu_case *c = test->param_value;
	struct panthor_perf_accum *accums[NUM_SESSIONS];
	u64 needed[PANTHOR_PERF_BLOCK_WORDS] = {}, *sums[NUM_SESSIONS];
	bool overflow[NUM_SESSIONS] = {};
	struct masks sent[NUM_SESSIONS];
	struct bench bench;
	u32 s, b, i, n, values_total;
	bool alone, ends;

	prng_state = c->params.shader_present + c->num_values;
	bench_init(test, &bench, c->name);
	values_total = bench.layout->num_blocks * c->num_values;

	for (s = 0; s < NUM_SESSIONS; s++) {
		for (i = 0; i < 2 * SHADER; i++)
			sent[s].mask[FW + i / 2][i % 2] = random_mask();
		accums[s] = make_accum(test, &bench, &sent[s]);
		for (i = 0; i < PANTHOR_PERF_BLOCK_WORDS; i++)
			needed[i] |= accums[s]->enabled[i];
		sums[s] = kunit_kzalloc(test, values_total * sizeof(u64), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, sums[s]);
	}

	for (n = 0; n < 100; n++) {
		for (i = 0; i < bench.layout->fw_sample_size / 4; i++) {
			bench.slot[i] = prng();
			if (!(bench.slot[i] & 0xfff))
				bench.slot[i] = U32_MAX;
		}

		/* Without metadata, the head of CSHW alone tells the end of protected mode. */
		alone = !(prng() % 8);
		ends = !c->metadata;
		for (b = 0; b < bench.layout->num_blocks; b++) {
			static const u32 usual[] = { 0, 1, 0xffffffff, 0xffff, 3 };
			u32 *values = block_values(&bench, b), pick = prng() % (alone ? 2 : 8);

			if (alone && b == bench.layout->cshw_block)
				pick = 1;
			values[2] = pick < ARRAY_SIZE(usual) ? usual[pick] : prng() | 3;
			ends &= b == bench.layout->cshw_block ? values[2] == 1 :
				!(values[2] & 2) || !(needed[b / 64] & BIT_ULL(b % 64));
		}

		for (b = 0; b < bench.layout->num_blocks; b++) {
			const u32 *values = block_values(&bench, b);

			if (!(values[2] & 2))
				continue;

			for (s = 0; s < NUM_SESSIONS; s++) {
				const u64 *mask =
					sent[s].mask[bench.layout->blocks[b].type];

				for (i = 4; i < c->num_values; i++) {
					if (!(values[2] & BIT(i / 4)))
						continue;
					overflow[s] |= values[i] == U32_MAX &&
						       (mask[0] & ~0xfull ||
							(c->num_values > 64 && mask[1]));
					if (mask[i / 64] & BIT_ULL(i % 64))
						sums[s][b * c->num_values + i] += values[i];
				}
			}
		}

		panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
		if (!c->metadata)
			KUNIT_ASSERT_EQ(test, bench.sample->reason,
					ends ? PANTHOR_PERF_REASON_PROTECTED_END :
					       PANTHOR_PERF_REASON_REQUEST);
		for (s = 0; s < NUM_SESSIONS; s++)
			panthor_perf_accum_add(bench.layout, bench.sample, accums[s]);

		for (s = 0; s < NUM_SESSIONS; s++) {
			const struct panthor_perf_sample_info info = { .user_data = n };

			if (prng() % 4)
				continue;

			write_out(test, &bench, accums[s], &info);
			KUNIT_ASSERT_EQ(test, out_header(&bench)->user_data, n);
			KUNIT_ASSERT_EQ(test, out_header(&bench)->flags,
					overflow[s] ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : 0);
			for (b = 0; b < bench.layout->num_blocks; b++)
				for (i = 4; i < c->num_values; i++)
					KUNIT_ASSERT_EQ_MSG(test, out_values(&bench, b)[i],
							    sums[s][b * c->num_values + i],
							    "sample %u session %u block %u value %u",
							    n, s, b, i);
			memset(sums[s], 0, values_total * sizeof(u64));
			overflow[s] = false;
		}
	}
}

/* To the last byte, a sample is the same whether it is delivered in one step or in two. */
static void random_delivery(struct kunit *test)
{
	const struct gpu_case *c = test->param_value;
	struct panthor_perf_accum *twins[NUM_SESSIONS][2];
	u64 needed[PANTHOR_PERF_BLOCK_WORDS] = {};
	struct bench bench;
	u32 size, flags, s, t, b, i, n, prev = PANTHOR_PERF_REASON_REQUEST, delivered = 0;
	u8 *expected;

	prng_state = c->params.shader_present + 2 * c->num_values;
	bench_init(test, &bench, c->name);
	size = bench.layout->user_sample_size;
	expected = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, expected);

	for (s = 0; s < NUM_SESSIONS; s++) {
		struct masks masks;

		for (i = 0; i < 2 * SHADER; i++)
			masks.mask[FW + i / 2][i % 2] = s ? random_mask() : ~0ull;
		for (t = 0; t < 2; t++)
			twins[s][t] = make_accum(test, &bench, &masks);
		for (i = 0; i < PANTHOR_PERF_BLOCK_WORDS; i++)
			needed[i] |= twins[s][0]->enabled[i];
	}

	for (n = 0; n < 100; n++) {
		for (i = 0; i < bench.layout->fw_sample_size / 4; i++) {
			bench.slot[i] = prng();
			if (!(bench.slot[i] & 0xfff))
				bench.slot[i] = U32_MAX;
		}
		for (b = 0; b < bench.layout->num_blocks; b++)
			block_values(&bench, b)[2] = prng() % 4 ? U32_MAX : prng();

		panthor_perf_fw_sample_read(bench.layout, bench.slot, needed, bench.sample);
		bench.sample->reason = prng() % 7;
		panthor_perf_fw_sample_states(bench.layout, prng() % 3, prev, bench.sample);
		prev = bench.sample->reason;

		for (s = 0; s < NUM_SESSIONS; s++) {
			const struct panthor_perf_sample_info info = {
				.start.ns = prng(), .end.ns = prng(), .end.gpu = prng(),
				.user_data = prng(), .end.cycles = { prng(), prng(), prng() },
				.flags = prng() % 4 & ~DRM_PANTHOR_PERF_SAMPLE_OVERFLOW,
				.block_set = prng() % 3,
			};

			if (prng() % 2) {
				for (t = 0; t < 2; t++)
					panthor_perf_accum_add(bench.layout, bench.sample,
							       twins[s][t]);
				continue;
			}

			panthor_perf_accum_add(bench.layout, bench.sample, twins[s][0]);
			flags = panthor_perf_accum_deliver(bench.layout, twins[s][0], NULL, &info,
							   expected);
			memset(bench.dst, CANARY, size + 64);
			KUNIT_ASSERT_EQ(test, flags,
					panthor_perf_accum_deliver(bench.layout, twins[s][1],
								   bench.sample, &info,
								   bench.dst));
			KUNIT_ASSERT_EQ(test, flags, out_header(&bench)->flags);
			for (i = 0; i < size; i++)
				KUNIT_ASSERT_EQ_MSG(test, bench.dst[i], expected[i],
						    "sample %u session %u byte %u", n, s, i);
			for (i = size; i < size + 64; i++)
				KUNIT_ASSERT_EQ_MSG(test, bench.dst[i], CANARY, "byte %u", i);
			delivered++;

			/* Nothing is left of it. */
			if (prng() % 4 == 0) {
				panthor_perf_accum_deliver(bench.layout, twins[s][0], NULL, &info,
							   expected);
				panthor_perf_accum_deliver(bench.layout, twins[s][1], NULL, &info,
							   bench.dst);
				KUNIT_ASSERT_EQ(test, memcmp(bench.dst, expected, size), 0);
			}
		}
	}
	KUNIT_EXPECT_TRUE(test, delivered > 100);
}

static void ring_indices(struct kunit *test)
{
	static const u64 starts[] = {
		0, 1, 0xfffffffe, 0xffffffff, 0x100000000ull, ~0ull - 2, ~0ull
	};
	const u64 far = 0x100000000ull;
	u32 i, used;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u64 extract = starts[i];

		for (used = 0; used <= 8; used++) {
			u64 insert = extract + used;

			KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, insert, extract), 8 - used);
		}

		/* The user's index is ahead of the kernel's, or too far behind it. */
		KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, extract, extract + 1), 0);
		KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, extract + 9, extract), 0);
		KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, extract + far, extract), 0);
		KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, extract + far + 1, extract), 0);
		KUNIT_EXPECT_EQ(test, panthor_perf_ring_free(8, extract + BIT_ULL(63), extract), 0);
	}
}

static struct kunit_case panthor_perf_layout_cases[] = {
	KUNIT_CASE_PARAM(layout_blocks, gpu_gen_params),
	KUNIT_CASE(layout_exact_g610),
	KUNIT_CASE(layout_exact_g710),
	KUNIT_CASE(layout_exact_g620),
	KUNIT_CASE(layout_exact_compact),
	KUNIT_CASE_PARAM(layout_refused, bad_gen_params),
	KUNIT_CASE(mask_conversions),
	KUNIT_CASE_PARAM(sample_distinct, gpu_gen_params),
	KUNIT_CASE_PARAM(sample_acknowledged, gpu_gen_params),
	KUNIT_CASE(sample_unwritten),
	KUNIT_CASE(sample_partly_written),
	KUNIT_CASE(sample_timestamp),
	KUNIT_CASE(accum_masked),
	KUNIT_CASE(accum_wide),
	KUNIT_CASE(accum_dropped),
	KUNIT_CASE(accum_saturated),
	KUNIT_CASE_PARAM(block_states, state_gen_params),
	KUNIT_CASE(block_states_set),
	KUNIT_CASE(block_states_marked),
	KUNIT_CASE(block_states_folded),
	KUNIT_CASE_PARAM(random_delivery, gpu_gen_params),
	KUNIT_CASE_PARAM(random_sessions, gpu_gen_params),
	KUNIT_CASE(ring_indices),
	{}
};

static struct kunit_suite panthor_perf_layout_suite = {
	.name = "panthor_perf_layout",
	.test_cases = panthor_perf_layout_cases,
};

kunit_test_suite(panthor_perf_layout_suite);
