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
 * the CSHW block and those that some session needs from the firmware ring, whose memory may be
 * slow to read, into a &struct panthor_perf_fw_sample, and sets to 0 what was not
 * written. panthor_perf_accum_add() then adds the sample to the accumulator of a
 * client. Its cost depends on the number of blocks in which the client has enabled counters.
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

#define PANTHOR_PERF_MAX_CORES		64

/* Highest number of blocks of a user sample. */
#define PANTHOR_PERF_MAX_BLOCKS \
	(1 + PANTHOR_PERF_MAX_CSGS + 1 + 1 + PANTHOR_PERF_MAX_SLICES + PANTHOR_PERF_MAX_CORES)

/* Size of an array indexed by block type. */
#define PANTHOR_PERF_BLOCK_TYPES	(DRM_PANTHOR_PERF_BLOCK_SHADER + 1)

/* Number of clock domains in enum drm_panthor_perf_clock. */
#define PANTHOR_PERF_CLOCKS	(DRM_PANTHOR_PERF_CLOCK_SHADER + 1)

/* Words of a bitmap with a bit for each block. */
#define PANTHOR_PERF_BLOCK_WORDS	((PANTHOR_PERF_MAX_BLOCKS + 63) / 64)

/* PRFCNT_EN bits: of a block's head, and that which is set in every block that was written. */
#define PANTHOR_PERF_EN_HEAD		BIT(0)
#define PANTHOR_PERF_EN_WRITTEN		BIT(1)

/*
 * Internal block state that users do not see: the power of the shader core is unknown for a part
 * of the period. It keeps a core that is OFF otherwise from being reported as UNAVAILABLE.
 */
#define PANTHOR_PERF_STATE_POWER_UNKNOWN	BIT(6)

/*
 * Why firmware took a sample. REQUEST: the driver asked for it, or shader cores are about to lose
 * power. All others: firmware is about to enter this state. It is in the metadata block, if there
 * is one.
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
 * @gpu_id: GPU_ID register.
 * @mem_features: MEM_FEATURES register.
 * @shader_present: Cores that have blocks in firmware samples: SHADER_PRESENT register, from
 *	architecture 14 on PWR_SHADER_PRESENT.
 * @user_shader_present: Cores in user samples, drm_panthor_gpu_info::shader_present.
 * @glb_version: Version of the global interface, as in its control block.
 * @group_num: Number of CSG slots, as in the control block.
 * @perfcnt_size: PERFCNT_SIZE of the control block.
 * @perfcnt_features: PERFCNT_FEATURES of the control block, from version 2.0 on.
 * @prfcnt_features: PRFCNT_FEATURES register, from architecture 11 on.
 * @supported_clocks: See drm_panthor_perf_info::supported_clocks.
 */
struct panthor_perf_layout_params {
	u32 gpu_id;
	u32 mem_features;
	u64 shader_present;
	u64 user_shader_present;
	u32 glb_version;
	u32 group_num;
	u32 perfcnt_size;
	u32 perfcnt_features;
	u32 prfcnt_features;
	u32 supported_clocks;
};

/**
 * struct panthor_perf_block - One block of a sample
 * @fw_offset: Offset in a firmware sample, in bytes.
 * @user_offset: Offset of the header in a user sample, in bytes.
 * @type: enum drm_panthor_perf_block_type.
 * @idx: Number among the blocks of its type, from 0.
 * @clock: Clock domain, enum drm_panthor_perf_clock.
 */
struct panthor_perf_block {
	u32 fw_offset;
	u32 user_offset;
	u8 type;
	u8 idx;
	u8 clock;
};

/**
 * struct panthor_perf_layout - Sizes and offsets in firmware samples and user samples
 * @num_values: Number of values of a block, including those before counters: 64 or 128.
 * @fw_block_size: Size of a block in a firmware sample, in bytes.
 * @fw_sample_size: Size of a firmware sample, and of a slot of its ring, in bytes.
 * @user_block_size: Size of a block in a user sample, header included, in bytes.
 * @user_sample_size: Size of a user sample, in bytes.
 * @fw_copy_size: Size of &struct panthor_perf_fw_sample, in bytes.
 * @accum_size: Size of &struct panthor_perf_accum, in bytes.
 * @has_metadata: Firmware samples start with a metadata block.
 * @num_blocks: Number of blocks of a user sample.
 * @num_fw_blocks: The same, and of blocks that firmware may write but that users do not know.
 * @cshw_block: Index of the CSHW block in @blocks.
 * @shader_block: Index of the first shader core in @blocks; no others follow in user samples.
 * @type_count: Number of blocks of each type.
 * @blocks: The blocks of a user sample, in their order, and then those that users do not know.
 *
 * Constant once initialized.
 */
struct panthor_perf_layout {
	u32 num_values;
	u32 fw_block_size;
	u32 fw_sample_size;
	u32 user_block_size;
	u32 user_sample_size;
	u32 fw_copy_size;
	u32 accum_size;
	bool has_metadata;
	u32 num_blocks;
	u32 num_fw_blocks;
	u32 cshw_block;
	u32 shader_block;
	u32 type_count[PANTHOR_PERF_BLOCK_TYPES];
	struct panthor_perf_block blocks[PANTHOR_PERF_MAX_BLOCKS];
};

/**
 * struct panthor_perf_fw_sample - A firmware sample, copied from the firmware ring
 * @timestamp: GPU timestamp at which firmware took the sample, in ticks, 0 if it is not known.
 * @missing: The CSHW block was not written. In sets other than the primary one it may have no
 *	counters, so that this means nothing there.
 * @reason: enum panthor_perf_reason, REQUEST if there is no metadata block.
 * @written: A bit for each block that was read and written.
 * @saturated: A bit for each block in @written with a counter that may have saturated.
 * @states: States of each block, for sessions that have enabled counters in it. Padded, so that
 *	eight of them can be combined at a time.
 * @unread: States of blocks for sessions that have not: [0] other blocks, [1] shader cores.
 * @values: Values of all blocks. Those that firmware did not write are 0 in a block in @written,
 *	and undefined in all other blocks.
 *
 * Has a size of panthor_perf_layout::fw_copy_size bytes. Zeroed when it is allocated, and reused
 * for every sample.
 */
struct panthor_perf_fw_sample {
	u64 timestamp;
	bool missing;
	u32 reason;
	u64 written[PANTHOR_PERF_BLOCK_WORDS];
	u64 saturated[PANTHOR_PERF_BLOCK_WORDS];
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);
	u8 unread[2];
	u32 values[] __aligned(8);
};

/**
 * struct panthor_perf_accum - Sums of what a session has counted since its last sample
 * @enabled: A bit for each block in which the session has enabled counters.
 * @overflow: A counter of a block in @enabled has saturated since the last sample.
 * @zero: No firmware sample was added since the last sample: all sums are 0, although @image has
 *	the old ones, which the first firmware sample overwrites.
 * @states: States of each block in @enabled since the last sample.
 * @unread: States of blocks not in @enabled: [0] other blocks, [1] shader cores.
 * @image: The user sample, with headers and sums.
 *
 * Has a size of panthor_perf_layout::accum_size bytes.
 */
struct panthor_perf_accum {
	u64 enabled[PANTHOR_PERF_BLOCK_WORDS];
	bool overflow;
	bool zero;
	u8 states[PANTHOR_PERF_BLOCK_WORDS * 64] __aligned(8);
	u8 unread[2];
	u64 image[];
};

/**
 * struct panthor_perf_time - A point in time
 * @ns: CLOCK_MONOTONIC_RAW in nanoseconds.
 * @gpu: GPU timestamp in ticks, 0 if it is not known.
 * @cycles: Cycles of each clock domain, by enum drm_panthor_perf_clock. Only differences have a
 *	meaning, because nothing is counted while nobody counts.
 */
struct panthor_perf_time {
	u64 ns;
	u64 gpu;
	u64 cycles[PANTHOR_PERF_CLOCKS];
};

/**
 * struct panthor_perf_sample_info - Values of a user sample that are set when it is delivered
 * @start: Start of the period.
 * @end: End of the period.
 * @user_data: Tag of the sample.
 * @flags: enum drm_panthor_perf_sample_flags, but for a counter that saturated.
 * @block_set: Counter set, enum drm_panthor_perf_counter_set.
 */
struct panthor_perf_sample_info {
	struct panthor_perf_time start;
	struct panthor_perf_time end;
	u64 user_data;
	u32 flags;
	u8 block_set;
};

int panthor_perf_layout_init(struct panthor_perf_layout *layout,
			     const struct panthor_perf_layout_params *params, const char **why);
void panthor_perf_layout_info(const struct panthor_perf_layout *layout,
			      struct drm_panthor_perf_info *info);
void panthor_perf_layout_clear_en(const struct panthor_perf_layout *layout, void *slot);

u32 panthor_perf_mask_narrow(const u64 mask[2]);

void panthor_perf_fw_sample_read(const struct panthor_perf_layout *layout, void *slot,
				 const u64 needed[PANTHOR_PERF_BLOCK_WORDS],
				 struct panthor_perf_fw_sample *sample);
void panthor_perf_fw_sample_states(const struct panthor_perf_layout *layout, u8 set,
				   u32 prev_reason, struct panthor_perf_fw_sample *sample);

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

#endif
