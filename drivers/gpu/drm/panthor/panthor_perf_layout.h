/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: layout of firmware samples and of samples of sessions. */

#ifndef __PANTHOR_PERF_LAYOUT_H__
#define __PANTHOR_PERF_LAYOUT_H__

#include <linux/bits.h>
#include <linux/types.h>

#include <uapi/drm/panthor_perf_drm.h>

/**
 * DOC: Counter layout
 *
 * Firmware writes samples of 32-bit counters, with a block for each position that a
 * shader core can have. Users read samples of 64-bit counters, with a block for each
 * shader core that exists. This file converts one into the other. It takes no lock,
 * allocates no memory, touches no register and reads no clock. Callers serialize
 * accesses to the memory that they pass, and all functions can be called in any
 * context.
 *
 * A firmware sample is processed in two steps. panthor_perf_fw_sample_read() copies
 * those blocks that some session needs from the firmware ring, whose memory may be
 * slow to read, into a &struct panthor_perf_fw_sample, and sets to 0 what was not
 * written. panthor_perf_accum_add() then adds the sample to the accumulator of a
 * session. Its cost depends on the number of counters that the session enabled.
 *
 * An accumulator holds a user sample in kernel memory, which is copied to the user's
 * ring when the few values that depend on the time of delivery have been filled in.
 *
 * Firmware supplies no block states, so they are derived. A sample shows all states
 * that a block was in during any part of the sample's period:
 *
 * - ON, OFF: A block that is not a shader core is ON while counters are enabled. A
 *   shader core is ON if it was written, because only a core with power is written,
 *   and OFF if it was not. In the first sample after protected mode a core may be
 *   written without having had power, so being written proves nothing then. All
 *   blocks are OFF while counters are disabled, while the MCU does not run, and if
 *   the MCU went to sleep.
 * - NORMAL, PROTECTED: The firmware sample that is taken before protected mode and
 *   the next one are both NORMAL and PROTECTED. A period that lies in protected mode
 *   altogether is PROTECTED. All others are NORMAL. Firmware without metadata takes the
 *   next one when protected mode ends, which tells nothing of power.
 * - AVAILABLE, UNAVAILABLE: A block is UNAVAILABLE if the GPU was given to another
 *   operating system, or if it is a shader core that had no power in all of the
 *   period. In a counter set other than the primary one a block that is not a shader
 *   core is also UNAVAILABLE if it was not written, because that means that it has no
 *   counters in the set. Otherwise it is AVAILABLE.
 *
 * A session that has enabled no counters in a block must not learn anything about
 * the block, even if it is read for another session. For this session the block has
 * only those states that follow from the state of the GPU as a whole. Power and
 * availability of a shader core are then unknown while counters are enabled, and so
 * is the availability of other blocks in sets other than the primary one.
 */

/* Number of values of a block that precede its counters. */
#define PANTHOR_PERF_VALUES_RESERVED	4

/* Highest number of values of a block. PRFCNT_EN has 32 bits, each of which stands for four. */
#define PANTHOR_PERF_MAX_VALUES		128

/* Highest number of CSG slots, MAX_CSGS of panthor_fw.h. */
#define PANTHOR_PERF_MAX_CSGS		31

/* Highest number of L2 slices MEM_FEATURES can name. */
#define PANTHOR_PERF_MAX_SLICES		16

/* Highest number of shader cores. */
#define PANTHOR_PERF_MAX_CORES		64

/* Highest number of blocks of a user sample. */
#define PANTHOR_PERF_MAX_BLOCKS \
	(1 + PANTHOR_PERF_MAX_CSGS + 1 + 1 + PANTHOR_PERF_MAX_SLICES + PANTHOR_PERF_MAX_CORES)

/* Size of an array indexed by block type. */
#define PANTHOR_PERF_BLOCK_TYPES	(DRM_PANTHOR_PERF_BLOCK_SHADER + 1)

/* Words of a bitmap with a bit for each block. */
#define PANTHOR_PERF_BLOCK_WORDS	((PANTHOR_PERF_MAX_BLOCKS + 63) / 64)

/* PRFCNT_EN bits: of a block's head, and that which is set in every block that was written. */
#define PANTHOR_PERF_EN_HEAD		BIT(0)
#define PANTHOR_PERF_EN_WRITTEN		BIT(1)

/*
 * Internal block state that users do not see: the shader core may have had power in a part of
 * the period, and is not UNAVAILABLE even if OFF is all else that is known of its power.
 */
#define PANTHOR_PERF_STATE_POWER_UNKNOWN	BIT(6)

/*
 * Why firmware took a sample: before what, but for the first, which is also that of a sample
 * before shader cores lose power, and the last. It is in the metadata block, if there is one.
 */
enum panthor_perf_reason {
	PANTHOR_PERF_REASON_REQUEST = 0,
	PANTHOR_PERF_REASON_PROTECTED = 1,
	PANTHOR_PERF_REASON_HALT = 2,
	PANTHOR_PERF_REASON_SLEEP = 3,
	PANTHOR_PERF_REASON_SUSPEND = 4,
	PANTHOR_PERF_REASON_YIELD = 5,
	PANTHOR_PERF_REASON_WARM_BOOT = 6,

	/* Protected mode has ended. Not in metadata: firmware that has none takes such a sample. */
	PANTHOR_PERF_REASON_PROTECTED_END = 0x100,
};

/**
 * struct panthor_perf_layout_params - Properties of a GPU that determine the layout
 */
struct panthor_perf_layout_params {
	/** @gpu_id: GPU_ID register. */
	u32 gpu_id;

	/** @mem_features: MEM_FEATURES register. */
	u32 mem_features;

	/**
	 * @shader_present: SHADER_PRESENT register, from architecture 14 on
	 * PWR_SHADER_PRESENT: the cores that have blocks in firmware samples.
	 */
	u64 shader_present;

	/** @user_shader_present: Those in user samples, drm_panthor_gpu_info::shader_present. */
	u64 user_shader_present;

	/** @glb_version: Version of the global interface, as in its control block. */
	u32 glb_version;

	/** @group_num: Number of CSG slots, as in the control block. */
	u32 group_num;

	/** @perfcnt_size: PERFCNT_SIZE of the control block. */
	u32 perfcnt_size;

	/** @perfcnt_features: PERFCNT_FEATURES of the control block, from version 2.0 on. */
	u32 perfcnt_features;

	/** @prfcnt_features: PRFCNT_FEATURES register, from architecture 11 on. */
	u32 prfcnt_features;

	/** @supported_clocks: See drm_panthor_perf_info::supported_clocks. */
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

	/** @type: Block type, enum drm_panthor_perf_block_type. */
	u8 type;

	/** @idx: Number of the block among those of its type, from 0. */
	u8 idx;

	/** @clock: Clock domain that the block runs in, enum drm_panthor_perf_clock. */
	u8 clock;
};

/**
 * struct panthor_perf_layout - Sizes and offsets in firmware samples and user samples
 *
 * Does not change once initialized, so it can be used without a lock.
 */
struct panthor_perf_layout {
	/** @num_values: Number of values of a block, including those before counters: 64 or 128. */
	u32 num_values;

	/** @fw_block_size: Size of a block in a firmware sample, in bytes. */
	u32 fw_block_size;

	/** @fw_sample_size: Size of a firmware sample, and of a slot of its ring, in bytes. */
	u32 fw_sample_size;

	/** @user_block_size: Size of a block in a user sample, header included, in bytes. */
	u32 user_block_size;

	/** @user_sample_size: Size of a user sample, in bytes. */
	u32 user_sample_size;

	/** @has_metadata: Firmware samples start with a metadata block. */
	bool has_metadata;

	/** @num_blocks: Number of valid entries of @blocks. */
	u32 num_blocks;

	/** @cshw_block: Index of the CSHW block in @blocks. */
	u32 cshw_block;

	/** @shader_block: Index of the first shader core in @blocks, where they come last. */
	u32 shader_block;

	/** @type_count: Number of blocks of each type, by block type. */
	u32 type_count[PANTHOR_PERF_BLOCK_TYPES];

	/** @shader_offset: Offset of the first core position in a firmware sample, in bytes. */
	u32 shader_offset;

	/**
	 * @hidden_cores: A bit for each position of a shader core that firmware may
	 * write, but that users do not know.
	 */
	u64 hidden_cores;

	/** @blocks: All blocks of a user sample, in their order. */
	struct panthor_perf_block blocks[PANTHOR_PERF_MAX_BLOCKS];
};

/**
 * struct panthor_perf_fw_sample - A firmware sample, copied from the firmware ring
 *
 * Has a size of panthor_perf_fw_sample_size() bytes. Must be zeroed when it is
 * allocated, and can then be used for one sample after the other.
 */
struct panthor_perf_fw_sample {
	/** @timestamp: GPU timestamp at which firmware took the sample, in ticks. */
	u64 timestamp;

	/** @has_timestamp: @timestamp is valid: some block that was looked at was written. */
	bool has_timestamp;

	/**
	 * @missing: The CSHW block was looked at, and was not written. In sets other than
	 * the primary one it may have no counters, so that this means nothing there.
	 */
	bool missing;

	/** @reason: enum panthor_perf_reason, REQUEST if there is no metadata block. */
	u32 reason;

	/** @needed: A bit for each block that some session has enabled counters in. */
	u64 needed[PANTHOR_PERF_BLOCK_WORDS];

	/** @written: A bit for each block in @needed that was written. */
	u64 written[PANTHOR_PERF_BLOCK_WORDS];

	/** @saturated: A bit for each block in @written with a counter that may have saturated. */
	u64 saturated[PANTHOR_PERF_BLOCK_WORDS];

	/**
	 * @states: States of each block, for sessions that have enabled counters in it.
	 * Padded, so that eight of them can be combined at a time.
	 */
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/** @unread: For sessions that have not: of shader cores in element 1, else in 0. */
	u8 unread[2];

	/**
	 * @values: Values of all blocks, block after block. In a block that is in
	 * @written, values that firmware did not write are 0. The values of all other
	 * blocks are those of an earlier sample, and must not be used.
	 */
	u32 values[] __aligned(8);
};

/**
 * struct panthor_perf_accum - Sums of what a session has counted since its last sample
 *
 * Has a size of panthor_perf_accum_size() bytes.
 */
struct panthor_perf_accum {
	/** @enabled: A bit for each block the session has enabled counters in. */
	u64 enabled[PANTHOR_PERF_BLOCK_WORDS];

	/** @mask: Mask of the blocks of each type. Bits of values that do not exist are clear. */
	u64 mask[PANTHOR_PERF_BLOCK_TYPES][2];

	/** @overflow: A counter of a block in @enabled has saturated since the last sample. */
	bool overflow;

	/**
	 * @zero: No firmware sample was added since the last sample: all sums are 0,
	 * although @image has the old ones, which the first firmware sample overwrites.
	 */
	bool zero;

	/** @states: States that each block in @enabled was in since the last sample. */
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);

	/** @unread: Those of blocks not in @enabled: of shader cores in element 1, else in 0. */
	u8 unread[2];

	/** @image: The user sample, with headers and sums. */
	u64 image[];
};

/**
 * struct panthor_perf_sample_info - Values of a user sample that are set when it is delivered
 */
struct panthor_perf_sample_info {
	/** @start_ns: Start of the period, CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 start_ns;

	/** @end_ns: End of the period, CLOCK_MONOTONIC_RAW in nanoseconds. */
	u64 end_ns;

	/** @gpu_timestamp: GPU timestamp at the end of the period, in ticks. */
	u64 gpu_timestamp;

	/** @user_data: Tag of the sample. */
	u64 user_data;

	/** @cycles: Cycles of each clock domain in the period. */
	u64 cycles[DRM_PANTHOR_PERF_CLOCK_SHADER + 1];

	/** @flags: enum drm_panthor_perf_sample_flags, but for a counter that saturated. */
	u32 flags;

	/** @block_set: Counter set, enum drm_panthor_perf_counter_set. */
	u8 block_set;
};

int panthor_perf_layout_init(struct panthor_perf_layout *layout,
			     const struct panthor_perf_layout_params *params, const char **why);
void panthor_perf_layout_info(const struct panthor_perf_layout *layout,
			      struct drm_panthor_perf_info *info);
void panthor_perf_layout_clear_en(const struct panthor_perf_layout *layout, void *slot);

u32 panthor_perf_mask_narrow(const u64 mask[2]);

size_t panthor_perf_fw_sample_size(const struct panthor_perf_layout *layout);
void panthor_perf_fw_sample_read(const struct panthor_perf_layout *layout, void *slot,
				 const u64 needed[PANTHOR_PERF_BLOCK_WORDS],
				 struct panthor_perf_fw_sample *sample);
void panthor_perf_fw_sample_states(const struct panthor_perf_layout *layout, u8 set,
				   u32 prev_reason, struct panthor_perf_fw_sample *sample);

size_t panthor_perf_accum_size(const struct panthor_perf_layout *layout);
void panthor_perf_accum_init(const struct panthor_perf_layout *layout,
			     struct panthor_perf_accum *accum);
void panthor_perf_accum_enable(const struct panthor_perf_layout *layout, u32 type,
			       const u64 mask[2], struct panthor_perf_accum *accum);
void panthor_perf_accum_reset(struct panthor_perf_accum *accum);
void panthor_perf_accum_add(const struct panthor_perf_layout *layout,
			    const struct panthor_perf_fw_sample *sample,
			    struct panthor_perf_accum *accum);
void panthor_perf_accum_add_states(const struct panthor_perf_layout *layout, u8 states,
				   struct panthor_perf_accum *accum);
u32 panthor_perf_accum_deliver(const struct panthor_perf_layout *layout,
			       struct panthor_perf_accum *accum,
			       const struct panthor_perf_fw_sample *sample,
			       const struct panthor_perf_sample_info *info, void *dst);

bool panthor_perf_accum_total(const struct panthor_perf_layout *layout,
			      struct panthor_perf_accum *accum,
			      const struct panthor_perf_fw_sample *sample,
			      const u64 *before, u64 *after);

u32 panthor_perf_ring_free(u32 slots, u64 insert, u64 extract);
int panthor_perf_fw_ring_pending(u32 slots, u32 insert, u32 extract);

#endif
