/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: where things are in a firmware sample and in a user sample. */

#ifndef __PANTHOR_PERF_LAYOUT_H__
#define __PANTHOR_PERF_LAYOUT_H__

#include <linux/bits.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

/**
 * DOC: Counter layout
 *
 * Firmware writes samples of 32-bit counters at physical positions, holes
 * included; users read samples of 64-bit counters of the blocks that exist.
 * This file knows both, and nothing else: it takes no lock, allocates nothing,
 * touches no register and asks no clock, so that it can be built and tested
 * outside of the kernel. Callers serialize accesses to what they pass in.
 *
 * A firmware sample takes two steps. panthor_perf_fw_sample_read() brings the
 * blocks that somebody asks for from the ring, whose memory may be slow to
 * read, into a &struct panthor_perf_fw_sample, where everything that was not
 * written is 0. panthor_perf_accum_add() then adds that to the accumulator of
 * each session, at a price that depends on the counters the session enabled.
 *
 * An accumulator is a user sample in kernel memory, complete but for the values
 * that are known when it is delivered: delivering is one copy.
 *
 * Firmware supplies no block states: they are derived. Those of a sample are
 * the ones that applied in any part of its period.
 *
 * - A block that is not a shader core is ON while counters are enabled. A
 *   shader core is ON if it was written, which takes power; after protected
 *   mode that proves nothing. If it was not written, it is OFF.
 * - All blocks are OFF while counters are disabled, while the MCU does not run,
 *   and when it sleeps.
 * - The firmware samples before and after protected mode are both NORMAL and
 *   PROTECTED. A period in protected mode in which nothing else happened is
 *   PROTECTED alone. All others are NORMAL.
 * - Blocks are AVAILABLE, except that they are UNAVAILABLE if the GPU is given
 *   to another system, if a shader core had no power in all of the period, and
 *   if another block is not written though counters of a set other than the
 *   primary one are enabled, which means that it has none in that set. The
 *   primary set is defined for every block.
 *
 * A block in which a session has enabled no counters is not read for it, and
 * whether somebody else had it read must not show. Its states are those that
 * follow from what happens to the GPU as a whole: of a shader core neither its
 * power nor, hence, its availability is known while counters are enabled, and
 * of other blocks no availability in sets that need not have all blocks.
 */

/** define PANTHOR_PERF_VALUES_RESERVED - Values of a block that are no counters */
#define PANTHOR_PERF_VALUES_RESERVED	4

/** define PANTHOR_PERF_MAX_VALUES - Highest number of values of a block, limited by PRFCNT_EN */
#define PANTHOR_PERF_MAX_VALUES		128

/** define PANTHOR_PERF_MAX_CSGS - Highest number of CSG slots, MAX_CSGS of panthor_fw.h */
#define PANTHOR_PERF_MAX_CSGS		31

/** define PANTHOR_PERF_MAX_SLICES - Highest number of L2 slices MEM_FEATURES can name */
#define PANTHOR_PERF_MAX_SLICES		16

/** define PANTHOR_PERF_MAX_CORES - Highest number of shader cores */
#define PANTHOR_PERF_MAX_CORES		64

/** define PANTHOR_PERF_MAX_BLOCKS - Highest number of blocks of a user sample */
#define PANTHOR_PERF_MAX_BLOCKS \
	(1 + PANTHOR_PERF_MAX_CSGS + 1 + 1 + PANTHOR_PERF_MAX_SLICES + PANTHOR_PERF_MAX_CORES)

/** define PANTHOR_PERF_BLOCK_TYPES - Size of an array indexed by block type */
#define PANTHOR_PERF_BLOCK_TYPES	(DRM_PANTHOR_PERF_BLOCK_SHADER + 1)

/** define PANTHOR_PERF_BLOCK_WORDS - Words of a bitmap with a bit for each block */
#define PANTHOR_PERF_BLOCK_WORDS	((PANTHOR_PERF_MAX_BLOCKS + 63) / 64)

/** define PANTHOR_PERF_EN_ALWAYS - PRFCNT_EN bits that are programmed in any case */
#define PANTHOR_PERF_EN_ALWAYS		(BIT(0) | BIT(1))

/** define PANTHOR_PERF_EN_WRITTEN - PRFCNT_EN bit without which a block was not written */
#define PANTHOR_PERF_EN_WRITTEN		BIT(1)

/**
 * define PANTHOR_PERF_STATE_POWER_UNKNOWN - A block state of our own, which users do not see
 *
 * A shader core may have had power though nothing tells of it.
 */
#define PANTHOR_PERF_STATE_POWER_UNKNOWN	BIT(6)

/**
 * enum panthor_perf_reason - Why firmware took a sample
 *
 * Found in the metadata block, if the firmware has one.
 */
enum panthor_perf_reason {
	/** @PANTHOR_PERF_REASON_REQUEST: Requested by the host. */
	PANTHOR_PERF_REASON_REQUEST = 0,

	/** @PANTHOR_PERF_REASON_PROTECTED: Protected mode is about to be entered. */
	PANTHOR_PERF_REASON_PROTECTED = 1,

	/** @PANTHOR_PERF_REASON_HALT: The MCU is about to halt. */
	PANTHOR_PERF_REASON_HALT = 2,

	/** @PANTHOR_PERF_REASON_SLEEP: The MCU is about to sleep. */
	PANTHOR_PERF_REASON_SLEEP = 3,

	/** @PANTHOR_PERF_REASON_SUSPEND: The MCU is about to be suspended. */
	PANTHOR_PERF_REASON_SUSPEND = 4,

	/** @PANTHOR_PERF_REASON_YIELD: The GPU is about to be given to another system. */
	PANTHOR_PERF_REASON_YIELD = 5,

	/** @PANTHOR_PERF_REASON_WARM_BOOT: The MCU has booted and kept its counter state. */
	PANTHOR_PERF_REASON_WARM_BOOT = 6,
};

/**
 * struct panthor_perf_layout_params - What a layout follows from
 */
struct panthor_perf_layout_params {
	/** @gpu_id: GPU_ID register. */
	u32 gpu_id;

	/** @mem_features: MEM_FEATURES register. */
	u32 mem_features;

	/**
	 * @shader_present: SHADER_PRESENT register, from architecture 14 on
	 * PWR_SHADER_PRESENT. Firmware samples follow it.
	 */
	u64 shader_present;

	/**
	 * @user_shader_present: Cores that users know of, as in
	 * drm_panthor_gpu_info::shader_present. User samples follow it.
	 */
	u64 user_shader_present;

	/** @glb_version: Version of the global firmware interface. */
	u32 glb_version;

	/** @group_num: Number of CSG slots in the global control interface. */
	u32 group_num;

	/** @perfcnt_size: perfcnt_size of the global control interface. */
	u32 perfcnt_size;

	/**
	 * @perfcnt_features: perfcnt_features of the global control interface.
	 * Ignored below interface version 2.0, where the word has no meaning.
	 */
	u32 perfcnt_features;

	/** @prfcnt_features: PRFCNT_FEATURES register. Ignored below architecture 11. */
	u32 prfcnt_features;

	/** @supported_clocks: Clock domains whose cycles are counted, as in the query. */
	u32 supported_clocks;
};

/**
 * struct panthor_perf_block - One block of a user sample
 */
struct panthor_perf_block {
	/** @fw_offset: Offset of the block in a firmware sample, in bytes. */
	u32 fw_offset;

	/** @user_offset: Offset of the block's header in a user sample, in bytes. */
	u32 user_offset;

	/** @type: Block type. */
	u8 type;

	/** @idx: Number of the block among those of its type. */
	u8 idx;

	/** @clock: Clock that drives the block. */
	u8 clock;
};

/**
 * struct panthor_perf_layout - Place of everything in firmware and user samples
 *
 * Does not change once initialized.
 */
struct panthor_perf_layout {
	/** @num_values: Values of a block, reserved ones included: 64 or 128. */
	u32 num_values;

	/** @fw_block_size: Size of a block in a firmware sample, in bytes. */
	u32 fw_block_size;

	/** @fw_sample_size: Size of a firmware sample and so of a slot of its ring, in bytes. */
	u32 fw_sample_size;

	/** @user_block_size: Size of a block in a user sample, header included, in bytes. */
	u32 user_block_size;

	/** @user_sample_size: Size of a user sample, in bytes. */
	u32 user_sample_size;

	/** @has_metadata: Firmware samples start with a metadata block. */
	bool has_metadata;

	/** @num_blocks: Number of valid entries of @blocks. */
	u32 num_blocks;

	/** @cshw_block: Index in @blocks of the CSHW block. */
	u32 cshw_block;

	/** @shader_block: Index in @blocks of the first shader core. */
	u32 shader_block;

	/** @type_count: Number of blocks of each type, by block type. */
	u32 type_count[PANTHOR_PERF_BLOCK_TYPES];

	/**
	 * @shader_offset: Offset of the first position of a shader core in a
	 * firmware sample, in bytes.
	 */
	u32 shader_offset;

	/**
	 * @hidden_cores: Positions of shader cores that firmware may write and
	 * users do not know of. They are acknowledged and not read.
	 */
	u64 hidden_cores;

	/** @blocks: Blocks in the order of a user sample. */
	struct panthor_perf_block blocks[PANTHOR_PERF_MAX_BLOCKS];
};

/**
 * struct panthor_perf_masks - A session's enabled counters
 */
struct panthor_perf_masks {
	/** @mask: A bit for each value of a block, by block type. */
	u64 mask[PANTHOR_PERF_BLOCK_TYPES][2];
};

/**
 * struct panthor_perf_hw_masks - Enabled counters as hardware takes them
 */
struct panthor_perf_hw_masks {
	/** @en: A bit for each group of four values of a block, by block type. */
	u32 en[PANTHOR_PERF_BLOCK_TYPES];
};

/**
 * struct panthor_perf_fw_sample - A firmware sample, brought in from the ring
 *
 * panthor_perf_fw_sample_size() bytes, zeroed once when allocated.
 */
struct panthor_perf_fw_sample {
	/** @timestamp: GPU timestamp at which firmware took the sample. */
	u64 timestamp;

	/** @has_timestamp: @timestamp is valid: some block was written. */
	bool has_timestamp;

	/** @reason: enum panthor_perf_reason; a request if there is no metadata. */
	u32 reason;

	/** @asked: A bit for each block that was asked for. */
	u64 asked[PANTHOR_PERF_BLOCK_WORDS];

	/** @written: A bit for each block that was read and found written. */
	u64 written[PANTHOR_PERF_BLOCK_WORDS];

	/** @en: PRFCNT_EN of each block, 0 for those that were not read. */
	u32 en[PANTHOR_PERF_MAX_BLOCKS];

	/**
	 * @states: Block states, by panthor_perf_fw_sample_states(); padded so
	 * that they can be combined by the word.
	 */
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/** @unread: The states for those who did not ask for the block, likewise. */
	u8 unread[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/**
	 * @values: The values of all blocks, block after block. Those of a
	 * block in @written are 0 where PRFCNT_EN does not cover them, those of
	 * other blocks are left over from earlier samples.
	 */
	u32 values[] __aligned(8);
};

/**
 * struct panthor_perf_accum - What a session has counted since its last sample
 *
 * panthor_perf_accum_size() bytes.
 */
struct panthor_perf_accum {
	/** @enabled: A bit for each block the session has enabled counters in. */
	u64 enabled[PANTHOR_PERF_BLOCK_WORDS];

	/** @masks: Enabled counters, cut to those that exist. */
	struct panthor_perf_masks masks;

	/** @overflow: A counter of the session has saturated. */
	bool overflow;

	/**
	 * @zero: All counters are 0, whatever @image holds. Saves clearing
	 * counters that will be overwritten.
	 */
	bool zero;

	/** @read: All bits are set for a block in @enabled, none for others. */
	u8 read[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/** @states: States of each block so far. */
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/** @image: The user sample. */
	u64 image[];
};

/**
 * struct panthor_perf_sample_info - What is known of a sample when it is delivered
 */
struct panthor_perf_sample_info {
	/** @start_ns: Start of the period, in CLOCK_MONOTONIC_RAW. */
	u64 start_ns;

	/** @end_ns: End of the period, in CLOCK_MONOTONIC_RAW. */
	u64 end_ns;

	/** @gpu_timestamp: End of the period, in GPU timestamp ticks. */
	u64 gpu_timestamp;

	/** @user_data: Tag of the sample. */
	u64 user_data;

	/** @cycles: Cycles of the period, by enum drm_panthor_perf_clock. */
	u64 cycles[DRM_PANTHOR_PERF_CLOCK_SHADER + 1];

	/** @flags: Sample flags, to which OVERFLOW is added if a counter saturated. */
	u32 flags;

	/** @block_set: Counter set. */
	u8 block_set;
};

int panthor_perf_layout_init(struct panthor_perf_layout *layout,
			     const struct panthor_perf_layout_params *params, const char **why);
void panthor_perf_layout_info(const struct panthor_perf_layout *layout,
			      struct drm_panthor_perf_info *info);
void panthor_perf_layout_ack(const struct panthor_perf_layout *layout, void *slot);

void panthor_perf_mask_widen(u32 en, u64 mask[2]);
u32 panthor_perf_mask_narrow(const u64 mask[2]);
void panthor_perf_masks_from_setup(const struct panthor_perf_layout *layout,
				   const struct drm_panthor_perf_cmd_setup *setup,
				   struct panthor_perf_masks *masks);
void panthor_perf_hw_masks_add(struct panthor_perf_hw_masks *hw,
			       const struct panthor_perf_masks *masks);

size_t panthor_perf_fw_sample_size(const struct panthor_perf_layout *layout);
void panthor_perf_fw_sample_read(const struct panthor_perf_layout *layout, void *slot,
				 const u64 asked[PANTHOR_PERF_BLOCK_WORDS],
				 struct panthor_perf_fw_sample *sample);
void panthor_perf_fw_sample_states(const struct panthor_perf_layout *layout, u8 set,
				   u32 prev_reason, struct panthor_perf_fw_sample *sample);

size_t panthor_perf_accum_size(const struct panthor_perf_layout *layout);
void panthor_perf_accum_init(const struct panthor_perf_layout *layout,
			     const struct panthor_perf_masks *masks,
			     struct panthor_perf_accum *accum);
void panthor_perf_accum_reset(struct panthor_perf_accum *accum);
void panthor_perf_accum_add(const struct panthor_perf_layout *layout,
			    const struct panthor_perf_fw_sample *sample,
			    struct panthor_perf_accum *accum);
void panthor_perf_accum_add_states(const struct panthor_perf_layout *layout, u8 states,
				   struct panthor_perf_accum *accum);
u32 panthor_perf_accum_write(const struct panthor_perf_layout *layout,
			     struct panthor_perf_accum *accum,
			     const struct panthor_perf_sample_info *info, void *dst);
u32 panthor_perf_accum_deliver(const struct panthor_perf_layout *layout,
			       struct panthor_perf_accum *accum,
			       const struct panthor_perf_fw_sample *sample,
			       const struct panthor_perf_sample_info *info, void *dst);

u32 panthor_perf_ring_free(u32 slots, u64 insert, u64 extract);
u32 panthor_perf_ring_available(u32 slots, u64 insert, u64 extract, u32 reserved);
int panthor_perf_fw_ring_pending(u32 slots, u32 insert, u32 extract);

#endif
