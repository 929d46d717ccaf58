// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: layout of firmware samples and of samples of sessions. */

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "panthor_perf_layout.h"

/* Hardware and firmware report sizes in units of this many bytes. */
#define SIZE_UNIT			256

/*
 * Number of bytes of a block that are read to find out if it was written. This is a
 * cache line: in write-combined memory a shorter read costs as much.
 */
#define PROBE_SIZE			64

/* Numbers of the values at the head of a block; the last one is used in metadata only. */
#define VALUE_TIMESTAMP_LO		0
#define VALUE_TIMESTAMP_HI		1
#define VALUE_EN			2
#define VALUE_REASON			3

#define GPU_ID_ARCH_MAJOR(id)		((id) >> 28)
#define MEM_FEATURES_SLICES(x)		((((x) >> 8) & 0xf) + 1)
#define PRFCNT_FEATURES_BLOCK_SIZE(x)	((x) & 0xff)
#define PERFCNT_SIZE_HW(x)		((x) & 0xffff)
#define PERFCNT_SIZE_FW(x)		((x) >> 16)
#define PERFCNT_FEATURES_METADATA(x)	((x) & 0xf)
#define GLB_VERSION_MAJOR(x)		((x) >> 24)

/*
 * First architecture that reports its block size in PRFCNT_FEATURES, and first one
 * whose firmware samples have no blocks for shader cores that do not exist.
 */
#define ARCH_BLOCK_SIZE			11
#define ARCH_COMPACT_CORES		14

/* First major interface version with PERFCNT_FEATURES in its control block (inferred). */
#define GLB_MAJOR_METADATA		2

#define RESERVED_MASK			((1ull << PANTHOR_PERF_VALUES_RESERVED) - 1)

static bool has_block(const u64 blocks[PANTHOR_PERF_BLOCK_WORDS], u32 b)
{
	return blocks[b / 64] & BIT_ULL(b % 64);
}

/* @fw_offset is in bytes. */
static void add_block(struct panthor_perf_layout *layout, u32 type, u32 fw_offset,
		      u32 supported_clocks)
{
	static const u8 clocks[PANTHOR_PERF_BLOCK_TYPES] = {
		[DRM_PANTHOR_PERF_BLOCK_TILER] = DRM_PANTHOR_PERF_CLOCK_COREGROUP,
		[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = DRM_PANTHOR_PERF_CLOCK_COREGROUP,
		[DRM_PANTHOR_PERF_BLOCK_SHADER] = DRM_PANTHOR_PERF_CLOCK_SHADER,
	};
	u32 b = layout->num_fw_blocks++;

	layout->blocks[b] = (struct panthor_perf_block) {
		.type = type,
		.idx = layout->type_count[type]++,
		/* A domain without a clock of its own runs with the top-level clock. */
		.clock = supported_clocks & BIT(clocks[type]) ? clocks[type] :
							       DRM_PANTHOR_PERF_CLOCK_TOPLEVEL,
		.fw_offset = fw_offset,
		.user_offset = sizeof(struct drm_panthor_perf_sample_header) +
			       b * layout->user_block_size,
	};
}

static void add_blocks(struct panthor_perf_layout *layout, u32 type, u32 count, u32 *fw_offset,
		       u32 supported_clocks)
{
	for (; count; count--, *fw_offset += layout->fw_block_size)
		add_block(layout, type, *fw_offset, supported_clocks);
}

static bool is_compact(const struct panthor_perf_layout_params *params)
{
	return GPU_ID_ARCH_MAJOR(params->gpu_id) >= ARCH_COMPACT_CORES;
}

/*
 * Append those shader cores that users know, or do not know. The blocks of all of them in a
 * firmware sample are those from @fw_offset on.
 */
static void add_cores(struct panthor_perf_layout *layout,
		      const struct panthor_perf_layout_params *params, u32 fw_offset, bool known)
{
	u32 rank = 0, i;

	for (i = 0; i < PANTHOR_PERF_MAX_CORES; i++) {
		if (!(params->shader_present & BIT_ULL(i)))
			continue;

		if (known == !!(params->user_shader_present & BIT_ULL(i)))
			add_block(layout, known ? DRM_PANTHOR_PERF_BLOCK_SHADER : 0,
				  fw_offset + layout->fw_block_size *
					      (is_compact(params) ? rank : i),
				  params->supported_clocks);
		rank++;
	}
}

/*
 * Return why the sizes that firmware reports, in bytes, don't match the GPU's blocks, or NULL if
 * they do.
 */
static const char *find_mismatch(const struct panthor_perf_layout_params *params, u32 size,
				 u32 metadata, u32 fw_size, u32 hw_size)
{
	u32 slices = MEM_FEATURES_SLICES(params->mem_features);
	u64 cores = params->shader_present;
	u32 slots = is_compact(params) ? hweight64(cores) : fls64(cores);

	if (GPU_ID_ARCH_MAJOR(params->gpu_id) < 10)
		return "not a CSF architecture";

	if (size != SIZE_UNIT && size != 2 * SIZE_UNIT)
		return "the block size is neither 64 nor 128 counters";

	if (metadata && metadata != size)
		return "the metadata size is not that of one block";

	if (params->group_num > PANTHOR_PERF_MAX_CSGS)
		return "the number of CSG slots is out of range";

	/*
	 * The firmware part of a sample is empty, or it is the firmware block, or the
	 * firmware block and a block for each CSG slot.
	 */
	if (fw_size && fw_size != size && fw_size != (1 + params->group_num) * size)
		return "the firmware part of a sample is not that of its blocks";

	if (!(cores & params->user_shader_present))
		return "there are no shader cores";

	if (hw_size != (1 + 1 + slices + slots) * size)
		return "the hardware part of a sample is not that of its blocks";

	return NULL;
}

/*
 * Compute the layout of samples. The blocks of the GPU are known from its registers, and the
 * sizes that firmware reports must be the sum of their sizes: if they are not, nothing is
 * guessed. Returns -EOPNOTSUPP if firmware offers no counters, -EINVAL if @params is
 * inconsistent, and the reason in @why; @layout has no block then.
 */
int panthor_perf_layout_init(struct panthor_perf_layout *layout,
			     const struct panthor_perf_layout_params *params, const char **why)
{
	u32 fw_size = PERFCNT_SIZE_FW(params->perfcnt_size) * SIZE_UNIT;
	u32 hw_size = PERFCNT_SIZE_HW(params->perfcnt_size) * SIZE_UNIT;
	u32 clocks = params->supported_clocks;
	u32 size = SIZE_UNIT, offset = 0;

	/* copy_rest() relies on this. PRFCNT_EN must be able to describe the largest block. */
	BUILD_BUG_ON(PROBE_SIZE != 64);
	BUILD_BUG_ON(PANTHOR_PERF_MAX_VALUES * sizeof(u32) != 2 * SIZE_UNIT);
	BUILD_BUG_ON(sizeof(struct drm_panthor_perf_sample_header) != 56);
	BUILD_BUG_ON(sizeof(struct drm_panthor_perf_block_header) != 24);

	memset(layout, 0, sizeof(*layout));
	layout->user_sample_size = sizeof(struct drm_panthor_perf_sample_header);

	if (!params->perfcnt_size) {
		*why = "firmware offers no counters";
		return -EOPNOTSUPP;
	}

	/* The register came with a later revision of the architecture, and reads 0 before. */
	if (GPU_ID_ARCH_MAJOR(params->gpu_id) >= ARCH_BLOCK_SIZE && params->prfcnt_features)
		size = PRFCNT_FEATURES_BLOCK_SIZE(params->prfcnt_features) * SIZE_UNIT;
	if (GLB_VERSION_MAJOR(params->glb_version) >= GLB_MAJOR_METADATA)
		offset = PERFCNT_FEATURES_METADATA(params->perfcnt_features) * SIZE_UNIT;

	*why = find_mismatch(params, size, offset, fw_size, hw_size);
	if (*why)
		return -EINVAL;

	layout->num_values = size / sizeof(u32);
	layout->fw_block_size = size;
	layout->fw_sample_size = offset + fw_size + hw_size;
	layout->has_metadata = offset;
	layout->user_block_size = sizeof(struct drm_panthor_perf_block_header) +
				  layout->num_values * sizeof(u64);

	add_blocks(layout, DRM_PANTHOR_PERF_BLOCK_FW, fw_size ? 1 : 0, &offset, clocks);
	add_blocks(layout, DRM_PANTHOR_PERF_BLOCK_CSG, fw_size > size ? params->group_num : 0,
		   &offset, clocks);
	layout->cshw_block = layout->num_fw_blocks;
	add_blocks(layout, DRM_PANTHOR_PERF_BLOCK_CSHW, 1, &offset, clocks);
	add_blocks(layout, DRM_PANTHOR_PERF_BLOCK_TILER, 1, &offset, clocks);
	add_blocks(layout, DRM_PANTHOR_PERF_BLOCK_MEMSYS,
		   MEM_FEATURES_SLICES(params->mem_features), &offset, clocks);
	layout->shader_block = layout->num_fw_blocks;
	add_cores(layout, params, offset, true);
	layout->num_blocks = layout->num_fw_blocks;
	add_cores(layout, params, offset, false);
	/* Blocks that users do not know have no type. */
	layout->type_count[0] = 0;

	layout->user_sample_size += layout->num_blocks * layout->user_block_size;
	layout->fw_copy_size = sizeof(struct panthor_perf_fw_sample) + layout->num_blocks * size;
	layout->accum_size = sizeof(struct panthor_perf_accum) + layout->user_sample_size;
	return 0;
}

/* Fill in the block counts and sizes of the query's answer, and no other member. */
void panthor_perf_layout_info(const struct panthor_perf_layout *layout,
			      struct drm_panthor_perf_info *info)
{
	info->counters_per_block = layout->num_values;
	info->sample_header_size = sizeof(struct drm_panthor_perf_sample_header);
	info->block_header_size = sizeof(struct drm_panthor_perf_block_header);
	info->fw_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_FW];
	info->csg_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_CSG];
	info->cshw_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_CSHW];
	info->tiler_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_TILER];
	info->memsys_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_MEMSYS];
	info->shader_blocks = layout->type_count[DRM_PANTHOR_PERF_BLOCK_SHADER];
	info->sample_size = layout->user_sample_size;
}

/* Clear PRFCNT_EN of a block in the firmware ring, to mark it as not written. */
static void clear_en(void *slot, u32 fw_offset)
{
	u32 *values = slot + fw_offset;

	WRITE_ONCE(values[VALUE_EN], 0);
}

/* The same for the metadata block, whose reason is that of the sample. */
static void clear_metadata(void *slot)
{
	u32 *values = slot;

	WRITE_ONCE(values[VALUE_EN], 0);
	WRITE_ONCE(values[VALUE_REASON], 0);
}

/* Mark all blocks in a slot of the firmware ring as not written, and read nothing from it. */
void panthor_perf_layout_clear_en(const struct panthor_perf_layout *layout, void *slot)
{
	u32 b;

	if (layout->has_metadata)
		clear_metadata(slot);

	for (b = 0; b < layout->num_fw_blocks; b++)
		clear_en(slot, layout->blocks[b].fw_offset);
}

/* Convert a mask with a bit for each value into one with a bit for each four, as in PRFCNT_EN. */
u32 panthor_perf_mask_narrow(const u64 mask[2])
{
	u32 en = 0, i;

	for (i = 0; i < 32; i++)
		if (mask[i / 16] >> (i % 16 * 4) & 0xf)
			en |= BIT(i);

	return en;
}

/*
 * Copy the rest of a block, behind PROBE_SIZE. Returns the OR of all counters: unless it is
 * U32_MAX, none has saturated.
 */
static u32 copy_rest(u64 *dst, const void *src, u32 size)
{
	u64 bits = (dst[2] | dst[3]) | (dst[4] | dst[5]) | (dst[6] | dst[7]), part[4];
	const void *end = src + size;

	for (src += PROBE_SIZE, dst += 8; src != end; src += sizeof(part), dst += 4) {
		memcpy(part, src, sizeof(part));
		memcpy(dst, part, sizeof(part));
		bits |= (part[0] | part[1]) | (part[2] | part[3]);
	}

	return bits | bits >> 32;
}

/* Return true if a counter has its highest value, so that it may have saturated. */
static bool any_saturated(const u32 *values, u32 num_values)
{
	u32 i;

	for (i = PANTHOR_PERF_VALUES_RESERVED; i < num_values; i++)
		if (values[i] == U32_MAX)
			return true;

	return false;
}

/* Read the timestamp of the first block that was written: all have the same. */
static void read_timestamp(struct panthor_perf_fw_sample *sample, const u32 *values)
{
	if (!sample->timestamp)
		sample->timestamp = values[VALUE_TIMESTAMP_LO] |
				    (u64)values[VALUE_TIMESTAMP_HI] << 32;
}

/* Copy block @b if it was written, reading it only once, and mark it as not written. */
static void read_block(const struct panthor_perf_layout *layout, void *slot, u32 b,
		       struct panthor_perf_fw_sample *sample)
{
	u32 *values = &sample->values[b * layout->num_values];
	u32 groups = layout->num_values / 4, bits, en;
	u32 offset = layout->blocks[b].fw_offset;
	const void *src = slot + offset;

	memcpy(values, src, PROBE_SIZE);
	en = values[VALUE_EN];
	if (!en)
		return;

	/* Firmware may write the head of a core that has no power. */
	if (!(en & PANTHOR_PERF_EN_WRITTEN)) {
		clear_en(slot, offset);
		return;
	}

	bits = copy_rest((u64 *)values, src, layout->fw_block_size);
	clear_en(slot, offset);

	/* What firmware did not write, four values each, was copied from an old sample. */
	for (en = ~en & GENMASK(groups - 1, 1); en; en &= en - 1)
		memset(&values[__ffs64(en) * 4], 0, 4 * sizeof(*values));

	sample->written[b / 64] |= BIT_ULL(b % 64);
	if (bits == U32_MAX && any_saturated(values, layout->num_values))
		sample->saturated[b / 64] |= BIT_ULL(b % 64);
	read_timestamp(sample, values);
}

/*
 * Copy a sample from the firmware ring: the CSHW block and those in @needed, if they were written.
 * Clears PRFCNT_EN in all blocks, so that they are not found written when the slot is used again.
 * The memory of cores that do not exist is not touched, and the states of @sample are not set.
 *
 * The caller must have read INSERT before, with barrier (B) of panthor_perf_fw.c in between, and
 * must write EXTRACT after this, with barrier (C) in between.
 */
void panthor_perf_fw_sample_read(const struct panthor_perf_layout *layout, void *slot,
				 const u64 needed[PANTHOR_PERF_BLOCK_WORDS],
				 struct panthor_perf_fw_sample *sample)
{
	const u32 *cshw = &sample->values[layout->cshw_block * layout->num_values];
	u32 metadata[PANTHOR_PERF_VALUES_RESERVED], b;

	BUILD_BUG_ON(PANTHOR_PERF_BLOCK_WORDS != 2);

	sample->timestamp = 0;
	sample->reason = PANTHOR_PERF_REASON_REQUEST;
	memset(sample->written, 0, sizeof(sample->written));
	memset(sample->saturated, 0, sizeof(sample->saturated));

	for (b = 0; b < layout->num_fw_blocks; b++) {
		if (b == layout->cshw_block || (b < layout->num_blocks && has_block(needed, b)))
			read_block(layout, slot, b, sample);
		else
			clear_en(slot, layout->blocks[b].fw_offset);
	}

	sample->missing = !has_block(sample->written, layout->cshw_block);
	if (layout->has_metadata) {
		memcpy(metadata, slot, sizeof(metadata));
		sample->reason = metadata[VALUE_REASON] & (PANTHOR_PERF_REASON_PROTECTED_END - 1);
		read_timestamp(sample, metadata);
		clear_metadata(slot);
	} else if (cshw[VALUE_EN] == PANTHOR_PERF_EN_HEAD &&
		   !(sample->written[0] | sample->written[1])) {
		/* When protected mode has ended, firmware writes nothing but this head. */
		sample->reason = PANTHOR_PERF_REASON_PROTECTED_END;
		sample->missing = false;
		read_timestamp(sample, cshw);
	}
}

/*
 * Derive the block states of a sample that was read, by the rules of "Counter layout" in
 * panthor_perf_layout.h. The previous sample had @prev_reason, or
 * PANTHOR_PERF_REASON_REQUEST if this is the first of an epoch.
 */
void panthor_perf_fw_sample_states(const struct panthor_perf_layout *layout, u8 set,
				   u32 prev_reason, struct panthor_perf_fw_sample *sample)
{
	bool after_protected = prev_reason == PANTHOR_PERF_REASON_PROTECTED;
	u8 available = DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;
	u8 common = DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL, on, off;
	u32 b;

	if (after_protected || sample->reason == PANTHOR_PERF_REASON_PROTECTED ||
	    sample->reason == PANTHOR_PERF_REASON_PROTECTED_END)
		common |= DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED;

	if (sample->reason == PANTHOR_PERF_REASON_PROTECTED_END) {
		common |= PANTHOR_PERF_STATE_POWER_UNKNOWN;
		memset(sample->states, common, layout->num_blocks);
		memset(sample->unread, common, sizeof(sample->unread));
		return;
	}

	if (sample->reason == PANTHOR_PERF_REASON_SLEEP)
		common |= DRM_PANTHOR_PERF_BLOCK_STATE_OFF;

	if (sample->reason == PANTHOR_PERF_REASON_YIELD) {
		common |= DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE;
		available = 0;
	}

	on = common | DRM_PANTHOR_PERF_BLOCK_STATE_ON;
	sample->unread[0] = on | available;
	memset(sample->states, sample->unread[0], layout->shader_block);

	/* In sets other than the primary one, a block that was not written has no counters. */
	if (set != DRM_PANTHOR_PERF_SET_PRIMARY) {
		sample->unread[0] = on;
		for (b = 0; b < layout->shader_block; b++)
			if (!has_block(sample->written, b))
				sample->states[b] = on | DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE;
	}

	/* A shader core that was not written had no power. */
	on = common | available;
	off = on | DRM_PANTHOR_PERF_BLOCK_STATE_OFF;
	on |= after_protected ? PANTHOR_PERF_STATE_POWER_UNKNOWN : DRM_PANTHOR_PERF_BLOCK_STATE_ON;
	sample->unread[1] = common | PANTHOR_PERF_STATE_POWER_UNKNOWN;
	for (b = layout->shader_block; b < layout->num_blocks; b++)
		sample->states[b] = has_block(sample->written, b) ? on : off;
}

/* Return the header of block @b in an accumulator, which its values follow. */
static struct drm_panthor_perf_block_header *
accum_block(const struct panthor_perf_layout *layout, struct panthor_perf_accum *accum, u32 b)
{
	return (void *)accum->image + layout->blocks[b].user_offset;
}

/* Clear the sums of all counters of a block. Those of disabled ones are always 0. */
static void clear_values(const struct panthor_perf_layout *layout, u64 *dst)
{
	memset(dst + PANTHOR_PERF_VALUES_RESERVED, 0,
	       (layout->num_values - PANTHOR_PERF_VALUES_RESERVED) * sizeof(*dst));
}

/* Initialize an accumulator, in which no counter is enabled. */
void panthor_perf_accum_init(const struct panthor_perf_layout *layout,
			     struct panthor_perf_accum *accum)
{
	u32 b;

	memset(accum, 0, layout->accum_size);
	accum->zero = true;

	for (b = 0; b < layout->num_blocks; b++) {
		const struct panthor_perf_block *block = &layout->blocks[b];
		struct drm_panthor_perf_block_header *header = accum_block(layout, accum, b);

		header->block_type = block->type;
		header->block_idx = block->idx;
		header->clock = block->clock;
	}
}

/*
 * Enable the counters of @mask, a bit for each value, in all blocks of a type, and disable all
 * others. Their sums are 0 afterwards. Bits of values that do not exist have no meaning.
 */
void panthor_perf_accum_enable(const struct panthor_perf_layout *layout, u32 type,
			       const u64 mask[2], struct panthor_perf_accum *accum)
{
	const u64 cut[2] = { mask[0], layout->num_values > 64 ? mask[1] : 0 };
	u32 b;

	for (b = 0; b < layout->num_blocks; b++) {
		struct drm_panthor_perf_block_header *header = accum_block(layout, accum, b);
		u64 *values = (u64 *)(header + 1);

		if (layout->blocks[b].type != type)
			continue;

		memcpy(header->enable_mask, cut, sizeof(header->enable_mask));
		values[VALUE_EN] = panthor_perf_mask_narrow(cut);
		clear_values(layout, values);
		if ((cut[0] & ~RESERVED_MASK) || cut[1])
			accum->enabled[b / 64] |= BIT_ULL(b % 64);
		else
			accum->enabled[b / 64] &= ~BIT_ULL(b % 64);
	}
}

/* Set all sums of an accumulator to 0, and forget all states. */
void panthor_perf_accum_reset(struct panthor_perf_accum *accum)
{
	accum->zero = true;
	accum->overflow = false;
	memset(accum->states, 0, sizeof(accum->states));
	memset(accum->unread, 0, sizeof(accum->unread));
}

static __always_inline void sum_four(u64 *dst, const u64 *base, const u32 *src, bool add)
{
	u64 v0 = src[0], v1 = src[1], v2 = src[2], v3 = src[3];

	/* Read all of them before the first is written, which may be in the same memory. */
	if (add) {
		v0 += base[0];
		v1 += base[1];
		v2 += base[2];
		v3 += base[3];
	}
	dst[0] = v0;
	dst[1] = v1;
	dst[2] = v2;
	dst[3] = v3;
}

/*
 * Set all counters of a block to those at @src, and @add those at @base: the first four, then eight
 * at a time.
 */
static __always_inline void sum_counters(u64 *dst, const u64 *base, const u32 *src,
					 u32 num_values, bool add)
{
	const u32 *end = src + num_values;

	sum_four(dst + 4, base + 4, src + 4, add);
	for (src += 8, base += 8, dst += 8; src != end; src += 8, base += 8, dst += 8) {
		sum_four(dst, base, src, add);
		sum_four(dst + 4, base + 4, src + 4, add);
	}
}

/*
 * Set the counters of a block at @dst to the sums at @base, which may be @dst, plus those of block
 * @b in a firmware sample. Both may be NULL.
 */
static __always_inline void sum_block(const struct panthor_perf_layout *layout, u64 *dst,
				      const u64 *base,
				      const struct panthor_perf_fw_sample *sample, u32 b)
{
	u32 n = layout->num_values;
	const u32 *src = sample && has_block(sample->written, b) ? &sample->values[b * n] : NULL;

	if (src && base)
		sum_counters(dst, base, src, n, true);
	else if (src)
		sum_counters(dst, NULL, src, n, false);
	else if (!base)
		clear_values(layout, dst);
	else if (base != dst)
		memcpy(dst + PANTHOR_PERF_VALUES_RESERVED, base + PANTHOR_PERF_VALUES_RESERVED,
		       (n - PANTHOR_PERF_VALUES_RESERVED) * sizeof(*dst));
}

/* Add what a firmware sample says of blocks, but for the counters, to an accumulator. */
static void add_states(const struct panthor_perf_layout *layout,
		       const struct panthor_perf_fw_sample *sample,
		       struct panthor_perf_accum *accum)
{
	const u64 *now = (const u64 *)sample->states;
	u64 *states = (u64 *)accum->states;
	u32 w;

	for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++)
		if (sample->saturated[w] & accum->enabled[w])
			accum->overflow = true;

	/* Eight states at a time. */
	for (w = 0; 8 * w < layout->num_blocks; w++)
		states[w] |= now[w];
	accum->unread[0] |= sample->unread[0];
	accum->unread[1] |= sample->unread[1];
}

/*
 * Add a firmware sample whose states are set to an accumulator. All blocks in which the session
 * has enabled counters must have been in @needed when the sample was read.
 */
void panthor_perf_accum_add(const struct panthor_perf_layout *layout,
			    const struct panthor_perf_fw_sample *sample,
			    struct panthor_perf_accum *accum)
{
	u32 b, w;

	for (w = 0; w < PANTHOR_PERF_BLOCK_WORDS; w++) {
		u64 todo = accum->enabled[w];

		/* The first firmware sample clears the sums of a block that was not written. */
		if (!accum->zero)
			todo &= sample->written[w];

		for (; todo; todo &= todo - 1) {
			u64 *sums;

			b = 64 * w + __ffs64(todo);
			sums = (u64 *)(accum_block(layout, accum, b) + 1);
			if (accum->zero)
				sum_block(layout, sums, NULL, sample, b);
			else
				sum_counters(sums, sums, &sample->values[b * layout->num_values],
					     layout->num_values, true);
		}
	}

	accum->zero = false;
	add_states(layout, sample, accum);
}

/*
 * Add states of the GPU as a whole to all blocks of an accumulator, such as OFF while the GPU is
 * suspended. ON is not added to shader cores, because a core can be without power while the GPU
 * has power, and AVAILABLE not to those in which the session has not enabled counters.
 */
void panthor_perf_accum_add_states(const struct panthor_perf_layout *layout, u8 states,
				   struct panthor_perf_accum *accum)
{
	u8 core = states & ~DRM_PANTHOR_PERF_BLOCK_STATE_ON;
	u32 b;

	for (b = 0; b < layout->num_blocks; b++)
		accum->states[b] |= b < layout->shader_block ? states : core;

	accum->unread[0] |= states;
	accum->unread[1] |= core & ~DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;
}

/* Return the states that users are shown of a block. */
static u8 final_states(u8 states, bool shader)
{
	u8 power = DRM_PANTHOR_PERF_BLOCK_STATE_ON | DRM_PANTHOR_PERF_BLOCK_STATE_OFF |
		   PANTHOR_PERF_STATE_POWER_UNKNOWN;

	/* A shader core that was OFF in all of the period could not be used. */
	if (shader && (states & power) == DRM_PANTHOR_PERF_BLOCK_STATE_OFF) {
		states &= ~DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE;
		states |= DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE;
	}

	return states & ~PANTHOR_PERF_STATE_POWER_UNKNOWN;
}

/* Return true if a session has enabled all counters of a block. */
static bool all_enabled(const u64 mask[2], u32 num_values)
{
	return !~(mask[0] | RESERVED_MASK) && (num_values <= 64 || !~mask[1]);
}

/* Set all counters of a block to 0 that @mask does not have. */
static void clear_disabled(const u64 mask[2], u32 num_values, u64 *values)
{
	u32 w;

	for (w = 0; w < num_values / 64; w++) {
		u64 todo = ~(w ? mask[w] : mask[w] | RESERVED_MASK);

		for (; todo; todo &= todo - 1)
			values[64 * w + __ffs64(todo)] = 0;
	}
}

/* Write a block of an accumulator, and of a firmware sample, to a user's ring. */
static void deliver_block(const struct panthor_perf_layout *layout,
			  struct drm_panthor_perf_block_header *header, bool enabled, bool zero,
			  const struct panthor_perf_fw_sample *sample, u32 b, void *dst)
{
	u64 *sums = (u64 *)(header + 1), *base = zero ? NULL : sums;

	if (enabled && all_enabled(header->enable_mask, layout->num_values)) {
		memcpy(dst, header, sizeof(*header) + PANTHOR_PERF_VALUES_RESERVED * sizeof(*sums));
		sum_block(layout, dst + sizeof(*header), base, sample, b);
		return;
	}

	/* Users must not see other counters, not even for a moment. */
	if (enabled) {
		sum_block(layout, sums, base, sample, b);
		clear_disabled(header->enable_mask, layout->num_values, sums);
	}
	memcpy(dst, header, layout->user_block_size);
}

/*
 * Write an accumulator and a firmware sample, as for panthor_perf_accum_add() or NULL, to the
 * slot @dst of a user's ring, which is only written, since the user can change it at any time.
 * All sums are 0 afterwards. Most periods are those of one firmware sample, whose values are not
 * copied to the accumulator. Returns the flags of the user's sample.
 */
u32 panthor_perf_accum_deliver(const struct panthor_perf_layout *layout,
			       struct panthor_perf_accum *accum,
			       const struct panthor_perf_fw_sample *sample,
			       const struct panthor_perf_sample_info *info, void *dst)
{
	u64 low = lower_32_bits(info->end.gpu), high = upper_32_bits(info->end.gpu);
	const u64 *from = info->start.cycles, *to = info->end.cycles;
	struct drm_panthor_perf_sample_header *header = (void *)accum->image;
	u32 b;

	if (sample)
		add_states(layout, sample, accum);

	header->timestamp_start_ns = info->start.ns;
	header->timestamp_end_ns = info->end.ns;
	header->block_set = info->block_set;
	header->flags = info->flags | (accum->overflow ? DRM_PANTHOR_PERF_SAMPLE_OVERFLOW : 0);
	header->user_data = info->user_data;
	header->toplevel_clock_cycles = to[DRM_PANTHOR_PERF_CLOCK_TOPLEVEL] -
					from[DRM_PANTHOR_PERF_CLOCK_TOPLEVEL];
	header->coregroup_clock_cycles = to[DRM_PANTHOR_PERF_CLOCK_COREGROUP] -
					 from[DRM_PANTHOR_PERF_CLOCK_COREGROUP];
	header->shader_clock_cycles = to[DRM_PANTHOR_PERF_CLOCK_SHADER] -
				      from[DRM_PANTHOR_PERF_CLOCK_SHADER];
	memcpy(dst, header, sizeof(*header));

	for (b = 0; b < layout->num_blocks; b++) {
		struct drm_panthor_perf_block_header *block = accum_block(layout, accum, b);
		u64 *values = (u64 *)(block + 1);
		bool enabled = has_block(accum->enabled, b), shader = b >= layout->shader_block;

		block->block_states = final_states(enabled ? accum->states[b] :
							     accum->unread[shader], shader);
		values[VALUE_TIMESTAMP_LO] = low;
		values[VALUE_TIMESTAMP_HI] = high;
		deliver_block(layout, block, enabled, accum->zero, sample, b,
			      dst + layout->blocks[b].user_offset);
	}

	panthor_perf_accum_reset(accum);
	return header->flags;
}

/*
 * Add an accumulator and a firmware sample, as for panthor_perf_accum_add() or NULL, to totals.
 * All sums are 0 afterwards. @before has the totals so far of all values of all blocks; @after,
 * which may not be the same, receives those of the blocks in which counters are enabled. What
 * precedes the counters of a block has no meaning. Returns true if a counter has saturated, so
 * that the totals may be too low.
 */
bool panthor_perf_accum_total(const struct panthor_perf_layout *layout,
			      struct panthor_perf_accum *accum,
			      const struct panthor_perf_fw_sample *sample,
			      const u64 *before, u64 *after)
{
	u32 n = layout->num_values, b, i;
	bool saturated;

	if (sample)
		add_states(layout, sample, accum);

	for (b = 0; b < layout->num_blocks; b++, before += n, after += n) {
		const u64 *sums = (u64 *)(accum_block(layout, accum, b) + 1);

		if (!has_block(accum->enabled, b))
			continue;

		sum_block(layout, after, before, sample, b);
		for (i = PANTHOR_PERF_VALUES_RESERVED; i < n && !accum->zero; i++)
			after[i] += sums[i];
	}

	saturated = accum->overflow;
	panthor_perf_accum_reset(accum);
	return saturated;
}

/* Return the number of free slots of a user's ring, or 0 if the user's @extract is out of range. */
u32 panthor_perf_ring_free(u32 slots, u64 insert, u64 extract)
{
	u64 used = insert - extract;

	return used > slots ? 0 : slots - used;
}
