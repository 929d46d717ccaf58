/* SPDX-License-Identifier: MIT */
/* Performance counters of Arm Mali CSF GPUs, an extension of the panthor uAPI. */
#ifndef _PANTHOR_PERF_DRM_H_
#define _PANTHOR_PERF_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Performance counters
 *
 * A Mali CSF GPU counts events in blocks (front end, tiler, L2 slices, shader
 * cores...), each of which holds a fixed number of counters. A client sets up
 * a session, naming the counters it wants, and receives samples: the counts of
 * one period of time, in a ring buffer shared with the kernel.
 *
 * - What exists is told by &struct drm_panthor_perf_info, which is obtained
 *   with DRM_IOCTL_PANTHOR_DEV_QUERY and the type
 *   DRM_PANTHOR_DEV_QUERY_PERF_INFO.
 * - Sessions are controlled with DRM_IOCTL_PANTHOR_PERF_CONTROL, by the
 *   commands of &enum drm_panthor_perf_command.
 * - A sample is a &struct drm_panthor_perf_sample_header, followed by every
 *   block of the device: a &struct drm_panthor_perf_block_header and
 *   drm_panthor_perf_info::counters_per_block 64-bit values. Blocks come in
 *   the order firmware, CSG, CSHW, tiler, memsys, shader, and by ascending
 *   index within a type. All blocks of the device are in every sample, so that
 *   a block is at the same place in all of them, whatever is enabled.
 * - Counts are differences: each sample holds what was counted since the
 *   session's previous sample, the first one since START. The sums over a
 *   session's samples are exact, except where a sample carries
 *   DRM_PANTHOR_PERF_SAMPLE_OVERFLOW or DRM_PANTHOR_PERF_SAMPLE_ERROR.
 * - Sessions do not influence each other.
 *
 * Values 0 to 3 of a block are not counters. They hold the GPU timestamp of
 * the period's end (low word in value 0, high word in value 1), the session's
 * enable mask with one bit per group of four counters (value 2), and 0
 * (value 3). They are always filled, whatever the enable mask says.
 *
 * A session watches the whole GPU, including the work of other processes. It
 * therefore takes the permission that perf asks of those who watch all processes
 * of a CPU: CAP_PERFMON, or the sysctl ``perf_event_paranoid`` at 0 or less, and
 * the consent of security modules. On kernels whose modules cannot ask for that,
 * it takes CAP_PERFMON. The administrator can open the primary counter set to
 * everybody with the ``perf_paranoid`` module parameter.
 *
 * Sessions of users who are allowed, but do not have CAP_PERFMON, are served
 * together, at most once a millisecond of the device. What they ask for is
 * accepted at once, and waits for that; START sleeps meanwhile. Their periodic
 * samples wait for it as well, and samples that firmware takes of its own accord
 * sooner than that are folded into the next one.
 */

/**
 * DOC: Sample ring
 *
 * The ring buffer object holds drm_panthor_perf_cmd_setup::sample_slots slots
 * of drm_panthor_perf_info::sample_size bytes each. The indices are in another
 * buffer object, as a &struct drm_panthor_perf_ringbuf_control. They run freely
 * and never wrap: the slot of an index is index & (sample_slots - 1), the ring
 * is empty when the indices are equal, and full when they are sample_slots
 * apart.
 *
 * The kernel writes a sample, and then insert_idx with release semantics. The
 * client reads insert_idx with acquire semantics, reads the samples before it,
 * and then writes extract_idx with release semantics, which hands the slots
 * back. The kernel reads nothing else from memory the client can write to.
 *
 * One slot is kept in reserve for the last sample of the session, so a ring
 * has room for sample_slots - 1 samples that have not been consumed.
 */

/**
 * define DRM_PANTHOR_PERF_CONTROL - Number of the performance counter ioctl
 *
 * Continues the numbers of enum drm_panthor_ioctl_id. It is the same on every
 * kernel that has performance counters. It is provisional until the interface
 * is merged: check the header sizes and the sample size of
 * &struct drm_panthor_perf_info before issuing this ioctl.
 */
#define DRM_PANTHOR_PERF_CONTROL 17

/**
 * define DRM_PANTHOR_DEV_QUERY_PERF_INFO - Query &struct drm_panthor_perf_info
 *
 * Continues the numbers of enum drm_panthor_dev_query_type.
 */
#define DRM_PANTHOR_DEV_QUERY_PERF_INFO 5

/**
 * enum drm_panthor_perf_feat_flags - Flags of drm_panthor_perf_info::flags
 */
enum drm_panthor_perf_feat_flags {
	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT:
	 * drm_panthor_perf_block_header::block_states is filled in.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT = 1 << 0,
};

/**
 * enum drm_panthor_perf_block_type - Type of a counter block
 */
enum drm_panthor_perf_block_type {
	/** @DRM_PANTHOR_PERF_BLOCK_METADATA: Used by firmware alone, never in a sample. */
	DRM_PANTHOR_PERF_BLOCK_METADATA = 0,

	/** @DRM_PANTHOR_PERF_BLOCK_FW: Firmware. */
	DRM_PANTHOR_PERF_BLOCK_FW = 1,

	/** @DRM_PANTHOR_PERF_BLOCK_CSG: Command stream group slot. */
	DRM_PANTHOR_PERF_BLOCK_CSG = 2,

	/** @DRM_PANTHOR_PERF_BLOCK_CSHW: Command stream hardware, the GPU's front end. */
	DRM_PANTHOR_PERF_BLOCK_CSHW = 3,

	/** @DRM_PANTHOR_PERF_BLOCK_TILER: Tiler. */
	DRM_PANTHOR_PERF_BLOCK_TILER = 4,

	/** @DRM_PANTHOR_PERF_BLOCK_MEMSYS: Memory system, one L2 cache slice. */
	DRM_PANTHOR_PERF_BLOCK_MEMSYS = 5,

	/** @DRM_PANTHOR_PERF_BLOCK_SHADER: Shader core. */
	DRM_PANTHOR_PERF_BLOCK_SHADER = 6,
};

/**
 * enum drm_panthor_perf_block_state - States a block was in during a period
 *
 * A period can see several states, so that both bits of a pair may be set. In a
 * block in which the session enabled no counters, states are those that are
 * known without looking at it: neither bit of a pair may be set, if what they
 * tell differs from block to block.
 */
enum drm_panthor_perf_block_state {
	/** @DRM_PANTHOR_PERF_BLOCK_STATE_UNKNOWN: Nothing is known. */
	DRM_PANTHOR_PERF_BLOCK_STATE_UNKNOWN = 0,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_ON: Powered, at least in part of the period. */
	DRM_PANTHOR_PERF_BLOCK_STATE_ON = 1 << 0,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_OFF: Not powered, at least in part of the period. */
	DRM_PANTHOR_PERF_BLOCK_STATE_OFF = 1 << 1,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE: The block could be used by this system. */
	DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE = 1 << 2,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE: The block could not be
	 * used, at least in part of the period: it was given to another
	 * system, was never powered, or has no counters in the set.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE = 1 << 3,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL: Outside of protected mode. */
	DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL = 1 << 4,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED: In protected mode, which counts nothing. */
	DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED = 1 << 5,
};

/**
 * enum drm_panthor_perf_clock - Clock domains of the GPU
 *
 * Used as a bit number in drm_panthor_perf_info::supported_clocks, and as it
 * is in drm_panthor_perf_block_header::clock.
 */
enum drm_panthor_perf_clock {
	/** @DRM_PANTHOR_PERF_CLOCK_TOPLEVEL: Top level, the front end's clock. */
	DRM_PANTHOR_PERF_CLOCK_TOPLEVEL = 0,

	/** @DRM_PANTHOR_PERF_CLOCK_COREGROUP: Core group: tiler and memory system. */
	DRM_PANTHOR_PERF_CLOCK_COREGROUP = 1,

	/** @DRM_PANTHOR_PERF_CLOCK_SHADER: Shader cores. */
	DRM_PANTHOR_PERF_CLOCK_SHADER = 2,
};

/**
 * enum drm_panthor_perf_counter_set - Counter sets
 *
 * The set in use decides which event is behind a counter. There is one set at
 * a time for the whole GPU. It is held by the sessions that are counting, from
 * DRM_PANTHOR_PERF_COMMAND_START to their last sample.
 */
enum drm_panthor_perf_counter_set {
	/** @DRM_PANTHOR_PERF_SET_PRIMARY: Primary set, defined for every block. */
	DRM_PANTHOR_PERF_SET_PRIMARY = 0,

	/** @DRM_PANTHOR_PERF_SET_SECONDARY: Secondary set. */
	DRM_PANTHOR_PERF_SET_SECONDARY = 1,

	/** @DRM_PANTHOR_PERF_SET_TERTIARY: Tertiary set. */
	DRM_PANTHOR_PERF_SET_TERTIARY = 2,
};

/**
 * struct drm_panthor_perf_info - What the GPU can count
 *
 * Returned by DRM_IOCTL_PANTHOR_DEV_QUERY with
 * DRM_PANTHOR_DEV_QUERY_PERF_INFO. On a GPU that offers no counters, and in a
 * kernel that is built without them, all the block counts are 0. Fields from
 * @sample_size on are additions: a kernel that does not have them returns a
 * smaller size.
 */
struct drm_panthor_perf_info {
	/** @counters_per_block: Values in one block, the four that are no counters included. */
	__u32 counters_per_block;

	/** @sample_header_size: sizeof(struct drm_panthor_perf_sample_header). */
	__u32 sample_header_size;

	/** @block_header_size: sizeof(struct drm_panthor_perf_block_header). */
	__u32 block_header_size;

	/** @flags: Combination of enum drm_panthor_perf_feat_flags. */
	__u32 flags;

	/** @supported_clocks: Bit n: cycles of enum drm_panthor_perf_clock n are counted. */
	__u32 supported_clocks;

	/** @fw_blocks: Number of firmware blocks. */
	__u32 fw_blocks;

	/** @csg_blocks: Number of command stream group blocks. */
	__u32 csg_blocks;

	/** @cshw_blocks: Number of command stream hardware blocks. */
	__u32 cshw_blocks;

	/** @tiler_blocks: Number of tiler blocks. */
	__u32 tiler_blocks;

	/** @memsys_blocks: Number of memory system blocks. */
	__u32 memsys_blocks;

	/** @shader_blocks: Number of shader core blocks. */
	__u32 shader_blocks;

	/**
	 * @sample_size: Size of one sample, in bytes.
	 *
	 * Always @sample_header_size plus, for each block,
	 * @block_header_size + 8 * @counters_per_block.
	 */
	__u32 sample_size;

	/** @min_sample_period_ns: Shortest period of a periodic session. */
	__u64 min_sample_period_ns;

	/** @max_sample_slots: Largest number of slots a ring can have. */
	__u32 max_sample_slots;

	/** @supported_sets: Bit n is set if the GPU has enum drm_panthor_perf_counter_set n. */
	__u32 supported_sets;
};

/**
 * enum drm_panthor_perf_sample_flags - Flags of drm_panthor_perf_sample_header::flags
 */
enum drm_panthor_perf_sample_flags {
	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_OVERFLOW: Counts may be missing, because a
	 * counter reached its highest value or firmware had no room for a
	 * sample. Set whenever a loss cannot be excluded.
	 */
	DRM_PANTHOR_PERF_SAMPLE_OVERFLOW = 1 << 0,

	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_ERROR: Counts may be missing, because the
	 * GPU was reset, failed or went away in the period.
	 */
	DRM_PANTHOR_PERF_SAMPLE_ERROR = 1 << 1,

	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_STRETCHED: The ring was full when a sample
	 * was due, so this one covers more than its period. No count is
	 * missing.
	 */
	DRM_PANTHOR_PERF_SAMPLE_STRETCHED = 1 << 2,
};

/**
 * struct drm_panthor_perf_sample_header - Head of a sample
 */
struct drm_panthor_perf_sample_header {
	/** @timestamp_start_ns: Start of the period, in CLOCK_MONOTONIC_RAW. */
	__u64 timestamp_start_ns;

	/** @timestamp_end_ns: End of the period, in CLOCK_MONOTONIC_RAW. */
	__u64 timestamp_end_ns;

	/** @block_set: Counter set of the session, enum drm_panthor_perf_counter_set. */
	__u8 block_set;

	/** @pad: Zero. */
	__u8 pad[3];

	/** @flags: Combination of enum drm_panthor_perf_sample_flags. */
	__u32 flags;

	/**
	 * @user_data: The user_data of the command this sample answers, START's
	 * for one that no command asked for.
	 */
	__u64 user_data;

	/** @toplevel_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_TOPLEVEL in the period. */
	__u64 toplevel_clock_cycles;

	/** @coregroup_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_COREGROUP in the period. */
	__u64 coregroup_clock_cycles;

	/** @shader_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_SHADER in the period. */
	__u64 shader_clock_cycles;
};

/**
 * struct drm_panthor_perf_block_header - Head of a block in a sample
 *
 * Followed by drm_panthor_perf_info::counters_per_block values of 64 bits.
 * Counters that the session did not enable are 0.
 */
struct drm_panthor_perf_block_header {
	/** @block_type: Type of the block, enum drm_panthor_perf_block_type. */
	__u8 block_type;

	/**
	 * @block_idx: Number of the block among those of its type, from 0.
	 * Shader cores are numbered in the order of their bits in
	 * drm_panthor_gpu_info::shader_present.
	 */
	__u8 block_idx;

	/** @block_states: Combination of enum drm_panthor_perf_block_state. */
	__u8 block_states;

	/** @clock: The clock that drives the block, enum drm_panthor_perf_clock. */
	__u8 clock;

	/** @pad: Zero. */
	__u8 pad[4];

	/**
	 * @enable_mask: Counters the session enabled in this block: bit n of
	 * the 128 stands for value n. Bits of values that do not exist are 0.
	 */
	__u64 enable_mask[2];
};

/**
 * struct drm_panthor_perf_ringbuf_control - Indices of a sample ring
 *
 * Lives in the control buffer object, at drm_panthor_perf_cmd_setup::control_offset.
 */
struct drm_panthor_perf_ringbuf_control {
	/** @extract_idx: Index of the next sample to read. Written by the client. */
	__u64 extract_idx;

	/** @insert_idx: Index of the next sample to write. Written by the kernel. */
	__u64 insert_idx;
};

/**
 * enum drm_panthor_perf_command - Commands of DRM_IOCTL_PANTHOR_PERF_CONTROL
 */
enum drm_panthor_perf_command {
	/**
	 * @DRM_PANTHOR_PERF_COMMAND_SETUP: Create a session, see
	 * &struct drm_panthor_perf_cmd_setup. Its handle is returned in
	 * drm_panthor_perf_control::handle.
	 */
	DRM_PANTHOR_PERF_COMMAND_SETUP = 0,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_TEARDOWN: Destroy a session, whatever it is
	 * doing. Samples not delivered yet are dropped. There is no argument
	 * struct; size and pointer are ignored.
	 */
	DRM_PANTHOR_PERF_COMMAND_TEARDOWN = 1,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_START: Start counting, see
	 * &struct drm_panthor_perf_cmd_start.
	 */
	DRM_PANTHOR_PERF_COMMAND_START = 2,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_STOP: Stop counting and deliver a last
	 * sample, see &struct drm_panthor_perf_cmd_stop.
	 */
	DRM_PANTHOR_PERF_COMMAND_STOP = 3,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_SAMPLE: Ask a manual session for one
	 * sample, see &struct drm_panthor_perf_cmd_sample.
	 */
	DRM_PANTHOR_PERF_COMMAND_SAMPLE = 4,
};

/**
 * struct drm_panthor_perf_control - Argument of DRM_IOCTL_PANTHOR_PERF_CONTROL
 */
struct drm_panthor_perf_control {
	/** @cmd: One of enum drm_panthor_perf_command. */
	__u32 cmd;

	/**
	 * @handle: Handle of the session.
	 *
	 * Returned by DRM_PANTHOR_PERF_COMMAND_SETUP, passed to all the other
	 * commands. Handles belong to a file, start at 1, and are not reused at
	 * once.
	 */
	__u32 handle;

	/**
	 * @size: Size of the command's struct, in bytes.
	 *
	 * Set by the kernel to the size it knows.
	 */
	__u64 size;

	/**
	 * @pointer: Address of the command's struct.
	 *
	 * If 0, the command is not executed: the kernel returns the size of its
	 * struct in @size.
	 */
	__u64 pointer;
};

/**
 * enum drm_panthor_perf_setup_flags - Flags of drm_panthor_perf_cmd_setup::setup_flags
 */
enum drm_panthor_perf_setup_flags {
	/**
	 * @DRM_PANTHOR_PERF_SETUP_EMIT_AUTO: Deliver the samples that the GPU
	 * takes by itself (before it loses power or enters protected mode) as
	 * samples of their own, instead of adding them to the next one.
	 */
	DRM_PANTHOR_PERF_SETUP_EMIT_AUTO = 1 << 0,
};

/**
 * struct drm_panthor_perf_cmd_setup - Argument of DRM_PANTHOR_PERF_COMMAND_SETUP
 *
 * The session keeps its own references to the eventfd and the buffer objects,
 * so they can be closed at any time. In the enable masks, bit n of the 128
 * stands for value n of each block of the type; bits of values that do not
 * exist are ignored.
 *
 * -EACCES is returned to whoever is not allowed to see the counters, and -ENOSPC
 * if there are too many sessions: 64 in a file, 256 on a device.
 */
struct drm_panthor_perf_cmd_setup {
	/** @block_set: Counter set, enum drm_panthor_perf_counter_set. */
	__u8 block_set;

	/** @setup_flags: Combination of enum drm_panthor_perf_setup_flags. */
	__u8 setup_flags;

	/** @pad: Must be zero. */
	__u8 pad[6];

	/** @fd: Eventfd that is signalled after each delivered sample. */
	__u32 fd;

	/** @ringbuf_handle: GEM handle of the ring, @sample_slots samples rounded up to a page. */
	__u32 ringbuf_handle;

	/**
	 * @control_handle: GEM handle of the object that holds the ring's
	 * indices: the ring itself, or an object of at most 64 KiB.
	 */
	__u32 control_handle;

	/**
	 * @sample_slots: Number of slots of the ring: a power of two, from 2 to
	 * drm_panthor_perf_info::max_sample_slots.
	 */
	__u32 sample_slots;

	/**
	 * @control_offset: Offset of the &struct drm_panthor_perf_ringbuf_control
	 * in the control object, a multiple of 8. Both indices are set to 0.
	 */
	__u64 control_offset;

	/**
	 * @sample_freq_ns: Time between two samples, in nanoseconds, or 0 for a
	 * manual session, which delivers a sample when it is asked to. Raised to
	 * drm_panthor_perf_info::min_sample_period_ns if it is shorter. Samples
	 * are due at multiples of it, counted from where the first one starts.
	 */
	__u64 sample_freq_ns;

	/** @fw_enable_mask: Counters to enable in firmware blocks. */
	__u64 fw_enable_mask[2];

	/** @csg_enable_mask: Counters to enable in command stream group blocks. */
	__u64 csg_enable_mask[2];

	/** @cshw_enable_mask: Counters to enable in command stream hardware blocks. */
	__u64 cshw_enable_mask[2];

	/** @tiler_enable_mask: Counters to enable in tiler blocks. */
	__u64 tiler_enable_mask[2];

	/** @memsys_enable_mask: Counters to enable in memory system blocks. */
	__u64 memsys_enable_mask[2];

	/** @shader_enable_mask: Counters to enable in shader core blocks. */
	__u64 shader_enable_mask[2];
};

/**
 * struct drm_panthor_perf_cmd_start - Argument of DRM_PANTHOR_PERF_COMMAND_START
 *
 * When the command returns, counting has begun: nothing that happened before
 * it is ever in a sample. No sample is delivered. Starting a session that is
 * started changes nothing. -EBUSY is returned while the last sample of the
 * previous run is on its way, no slot of the ring is free, or another counter
 * set is counting. -ETIMEDOUT is returned if firmware does not answer. The GPU
 * is reset then, but no more after three such failures in a row, until firmware
 * has answered or the GPU was reset for another reason.
 *
 * A signal interrupts the command, and the session is as it was before. START
 * and STOP of one session come one after the other, whatever threads they are
 * called by.
 */
struct drm_panthor_perf_cmd_start {
	/** @user_data: Tags the samples that no command asks for. */
	__u64 user_data;
};

/**
 * struct drm_panthor_perf_cmd_stop - Argument of DRM_PANTHOR_PERF_COMMAND_STOP
 *
 * Returns at once, unless another thread is starting the session: then it waits
 * for that to end, or for a signal, which makes it return -EINTR. The last
 * sample is delivered after all those that were asked for before it. Stopping a
 * session that is not started changes nothing, and delivers nothing.
 */
struct drm_panthor_perf_cmd_stop {
	/** @user_data: Tags the last sample. */
	__u64 user_data;
};

/**
 * struct drm_panthor_perf_cmd_sample - Argument of DRM_PANTHOR_PERF_COMMAND_SAMPLE
 *
 * Returns at once. Each request yields exactly one sample, in the order of the
 * requests. -EBUSY is returned if the ring has no slot for it.
 */
struct drm_panthor_perf_cmd_sample {
	/** @user_data: Tags the sample. */
	__u64 user_data;
};

/** define DRM_IOCTL_PANTHOR_PERF_CONTROL - Control a performance counter session */
#define DRM_IOCTL_PANTHOR_PERF_CONTROL \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PANTHOR_PERF_CONTROL, struct drm_panthor_perf_control)

#if defined(__cplusplus)
}
#endif

#endif /* _PANTHOR_PERF_DRM_H_ */
