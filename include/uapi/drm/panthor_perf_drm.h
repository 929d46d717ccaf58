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
 * A Mali CSF GPU counts events in blocks. A block is one part of the GPU
 * (front end, tiler, L2 slice, shader core...) and has a fixed number of
 * counters. A client sets up a session, selects counters for it, and receives
 * samples in a ring buffer that it shares with the kernel. A sample holds what
 * was counted in one period of time.
 *
 * - &struct drm_panthor_perf_info describes what the GPU can count. It is
 *   returned by DRM_IOCTL_PANTHOR_DEV_QUERY for the type
 *   DRM_PANTHOR_DEV_QUERY_PERF_INFO.
 * - DRM_IOCTL_PANTHOR_PERF_CONTROL controls sessions, by the commands of
 *   &enum drm_panthor_perf_command.
 * - A sample is a &struct drm_panthor_perf_sample_header, followed by every
 *   block of the device: a &struct drm_panthor_perf_block_header and
 *   drm_panthor_perf_info::counters_per_block values of 64 bits. Blocks are
 *   ordered by type (firmware, CSG, CSHW, tiler, memsys, shader) and by
 *   ascending index within a type. A sample contains all blocks of the device,
 *   whichever counters are enabled, so that a block is at the same offset in
 *   all samples.
 * - Counts are differences: a sample holds what was counted since the previous
 *   sample of the session, and the first sample what was counted since START.
 *   The sums over a session's samples are exact, unless a sample is flagged
 *   DRM_PANTHOR_PERF_SAMPLE_OVERFLOW or DRM_PANTHOR_PERF_SAMPLE_ERROR. This
 *   depends on the assumptions about firmware in
 *   Documentation/gpu/panthor-perf.rst.
 * - Sessions do not influence each other's samples.
 *
 * Values 0 to 3 of a block are not counters. They are filled in regardless of the
 * enable mask:
 *
 * - Values 0 and 1 are the lower and the upper 32 bits of the GPU timestamp at
 *   the end of the period.
 * - Value 2 is the session's enable mask for the block, reduced to one bit for
 *   each group of four values.
 * - Value 3 is 0.
 *
 * Firmware takes an automatic sample whenever it is about to stop counting:
 * before shader cores lose power, before protected mode (in which the GPU works
 * on content that must not be observed, and counts nothing), and before the GPU
 * is suspended. Such an automatic sample becomes part of the session's next
 * sample. With DRM_PANTHOR_PERF_SETUP_EMIT_AUTO, it is delivered as a sample of
 * its own.
 *
 * A session counts the work of all processes on the GPU. SETUP therefore requires
 * the permission that perf requires for counting all processes on a CPU, and
 * fails with -EACCES without it: CAP_PERFMON, or the sysctl
 * ``perf_event_paranoid`` at 0 or less, and the consent of the security modules.
 * Where modules cannot ask perf, or the kernel has no perf, the caller needs
 * CAP_PERFMON. The administrator can open the primary counter set to everybody
 * with the module parameter ``perf_paranoid``.
 *
 * Sessions of users without CAP_PERFMON are limited, so that they cannot observe
 * the work of others closely. The kernel serves all limited sessions of a device
 * together, at most once a millisecond. It accepts their commands at once, and
 * executes them at the next such moment: START sleeps until then, and requested
 * and periodic samples are taken then. Automatic samples that firmware takes
 * earlier become part of the next sample.
 */

/**
 * DOC: Sample ring
 *
 * The ring buffer object holds drm_panthor_perf_cmd_setup::sample_slots slots
 * of drm_panthor_perf_info::sample_size bytes each. The indices of the ring are
 * in a &struct drm_panthor_perf_ringbuf_control, in another buffer object or in
 * the same one. They count samples and never wrap. The slot of an index is
 * index & (sample_slots - 1). The ring is empty if the indices are equal, and
 * full if they differ by sample_slots.
 *
 * The kernel writes a sample, and then insert_idx with release semantics. The
 * client reads insert_idx with acquire semantics, reads the samples before that
 * index, and then writes extract_idx with release semantics, which gives the
 * slots back to the kernel. extract_idx is all that the kernel reads from memory
 * that the client can write to. If it is out of range, the kernel treats the ring
 * as full.
 *
 * One slot is reserved for the last sample of the session, which STOP requests.
 * A ring can therefore hold sample_slots - 1 other samples that the client
 * has not consumed.
 */

/**
 * define DRM_PANTHOR_PERF_CONTROL - Number of the performance counter ioctl
 *
 * Far above the numbers of enum drm_panthor_ioctl_id, so that it does not collide
 * with ioctls that panthor adds later. It is the same on every kernel that has
 * performance counters, and provisional until the interface is merged. The
 * driver's version is independent of it. Issue this ioctl only if the query
 * DRM_PANTHOR_DEV_QUERY_PERF_INFO succeeds and returns the header sizes and the
 * sample size that &struct drm_panthor_perf_info describes.
 */
#define DRM_PANTHOR_PERF_CONTROL 0x5c

/**
 * define DRM_PANTHOR_DEV_QUERY_PERF_INFO - Query &struct drm_panthor_perf_info
 *
 * Far above the numbers of enum drm_panthor_dev_query_type, for the same reason.
 */
#define DRM_PANTHOR_DEV_QUERY_PERF_INFO 0x3ffffff0

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
	/**
	 * @DRM_PANTHOR_PERF_BLOCK_METADATA: Metadata of a firmware sample. The
	 * kernel consumes it: no block of a session's sample has this type.
	 */
	DRM_PANTHOR_PERF_BLOCK_METADATA = 0,

	/** @DRM_PANTHOR_PERF_BLOCK_FW: Firmware of the GPU's microcontroller. */
	DRM_PANTHOR_PERF_BLOCK_FW = 1,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_CSG: Command stream group slot. Firmware runs
	 * one group of command queues in each slot.
	 */
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
 * There are three pairs of states: ON and OFF, AVAILABLE and UNAVAILABLE, NORMAL
 * and PROTECTED. Both states of a pair are set if the block changed from one to
 * the other in the period. Neither is set if the kernel does not know.
 *
 * A session gets no information about a block in which it has not enabled a
 * counter. Such a block only has the states that follow from the state of the GPU
 * as a whole, for example OFF while the GPU is suspended.
 */
enum drm_panthor_perf_block_state {
	/** @DRM_PANTHOR_PERF_BLOCK_STATE_UNKNOWN: Nothing is known. */
	DRM_PANTHOR_PERF_BLOCK_STATE_UNKNOWN = 0,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_ON: Powered, at least in part of the period. */
	DRM_PANTHOR_PERF_BLOCK_STATE_ON = 1 << 0,

	/** @DRM_PANTHOR_PERF_BLOCK_STATE_OFF: Not powered, at least in part of the period. */
	DRM_PANTHOR_PERF_BLOCK_STATE_OFF = 1 << 1,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE: The block could be used by
	 * this operating system, at least in part of the period.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE = 1 << 2,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE: The block could not be
	 * used, at least in part of the period: the GPU was given to another
	 * operating system, the block is a shader core that had no power in all of
	 * the period, or the block has no counters in the counter set.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE = 1 << 3,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL: Outside of protected mode, at least
	 * in part of the period.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL = 1 << 4,

	/**
	 * @DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED: In protected mode, in which
	 * nothing is counted, at least in part of the period.
	 */
	DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED = 1 << 5,
};

/**
 * enum drm_panthor_perf_clock - Clock domains of the GPU
 *
 * The value is a bit number in drm_panthor_perf_info::supported_clocks, and is
 * stored as it is in drm_panthor_perf_block_header::clock.
 */
enum drm_panthor_perf_clock {
	/** @DRM_PANTHOR_PERF_CLOCK_TOPLEVEL: Top level, the clock of the front end. */
	DRM_PANTHOR_PERF_CLOCK_TOPLEVEL = 0,

	/** @DRM_PANTHOR_PERF_CLOCK_COREGROUP: Core group, the clock of tiler and memory system. */
	DRM_PANTHOR_PERF_CLOCK_COREGROUP = 1,

	/** @DRM_PANTHOR_PERF_CLOCK_SHADER: Shader cores. */
	DRM_PANTHOR_PERF_CLOCK_SHADER = 2,
};

/**
 * enum drm_panthor_perf_counter_set - Counter sets
 *
 * Hardware can count more events than it has counters. The counter set selects
 * the event that each counter counts. All blocks use the same set at a time. The
 * set is in use by the sessions that are counting, from
 * DRM_PANTHOR_PERF_COMMAND_START to their last sample. A session with another set
 * cannot be started meanwhile.
 */
enum drm_panthor_perf_counter_set {
	/** @DRM_PANTHOR_PERF_SET_PRIMARY: Primary set. Every block has counters in it. */
	DRM_PANTHOR_PERF_SET_PRIMARY = 0,

	/** @DRM_PANTHOR_PERF_SET_SECONDARY: Secondary set. Not every block has counters in it. */
	DRM_PANTHOR_PERF_SET_SECONDARY = 1,

	/** @DRM_PANTHOR_PERF_SET_TERTIARY: Tertiary set. Not every block has counters in it. */
	DRM_PANTHOR_PERF_SET_TERTIARY = 2,
};

/**
 * struct drm_panthor_perf_info - What the GPU can count
 *
 * 64 bytes, returned by DRM_IOCTL_PANTHOR_DEV_QUERY for the type
 * DRM_PANTHOR_DEV_QUERY_PERF_INFO. The query fails with -EINVAL if the caller's
 * size does not reach to the end of @shader_blocks (44 bytes), and with -EFAULT
 * if the caller's pointer cannot be written to. A caller that passes less than 64
 * bytes gets the fields that fit.
 *
 * All block counts are 0 if the GPU has no counters that the kernel supports, or
 * if the kernel is built without performance counters.
 */
struct drm_panthor_perf_info {
	/**
	 * @counters_per_block: Number of values in one block, including values
	 * 0 to 3, which are not counters: 64 or 128, or 0 without counters.
	 */
	__u32 counters_per_block;

	/**
	 * @sample_header_size: Size of &struct drm_panthor_perf_sample_header in
	 * bytes.
	 */
	__u32 sample_header_size;

	/**
	 * @block_header_size: Size of &struct drm_panthor_perf_block_header in
	 * bytes.
	 */
	__u32 block_header_size;

	/** @flags: Combination of enum drm_panthor_perf_feat_flags. */
	__u32 flags;

	/**
	 * @supported_clocks: Clock domains whose cycles are in samples. Bit n stands
	 * for the clock domain n of enum drm_panthor_perf_clock. A domain whose bit
	 * is 0 has no clock of its own, and runs with the top level clock.
	 */
	__u32 supported_clocks;

	/** @fw_blocks: Number of firmware blocks in a sample. */
	__u32 fw_blocks;

	/** @csg_blocks: Number of command stream group blocks in a sample. */
	__u32 csg_blocks;

	/** @cshw_blocks: Number of command stream hardware blocks in a sample. */
	__u32 cshw_blocks;

	/** @tiler_blocks: Number of tiler blocks in a sample. */
	__u32 tiler_blocks;

	/** @memsys_blocks: Number of memory system blocks in a sample. */
	__u32 memsys_blocks;

	/** @shader_blocks: Number of shader core blocks in a sample. */
	__u32 shader_blocks;

	/**
	 * @sample_size: Size of one sample in bytes.
	 *
	 * Always @sample_header_size plus, for each block,
	 * @block_header_size + 8 * @counters_per_block.
	 */
	__u32 sample_size;

	/**
	 * @min_sample_period_ns: Shortest period of a periodic session in
	 * nanoseconds. 0 without counters.
	 */
	__u64 min_sample_period_ns;

	/**
	 * @max_sample_slots: Highest number of slots of a session's ring. 0
	 * without counters.
	 */
	__u32 max_sample_slots;

	/**
	 * @supported_sets: Counter sets that can be selected. Bit n stands for the
	 * set n of enum drm_panthor_perf_counter_set. The GPU does not report which
	 * sets it has: a block that has no counters in a set is flagged
	 * DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE in samples.
	 */
	__u32 supported_sets;
};

/**
 * enum drm_panthor_perf_sample_flags - Flags of drm_panthor_perf_sample_header::flags
 */
enum drm_panthor_perf_sample_flags {
	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_OVERFLOW: Counts may be missing: a counter
	 * saturated in a block in which the session has enabled counters, or
	 * the ring of firmware was full when firmware had to write a sample. The
	 * flag is set whenever such a loss cannot be excluded.
	 */
	DRM_PANTHOR_PERF_SAMPLE_OVERFLOW = 1 << 0,

	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_ERROR: Counts may be missing: the GPU was
	 * reset, its firmware failed, or the device was removed in the period.
	 */
	DRM_PANTHOR_PERF_SAMPLE_ERROR = 1 << 1,

	/**
	 * @DRM_PANTHOR_PERF_SAMPLE_STRETCHED: The sample covers more than one
	 * deadline. No count is missing.
	 *
	 * More than one multiple of the session's period, counted from START, is
	 * later than drm_panthor_perf_sample_header::timestamp_start_ns and at most
	 * drm_panthor_perf_sample_header::timestamp_end_ns, for whatever reason: the
	 * ring was full, a timer was late, or a session without CAP_PERFMON had to
	 * wait. The flag is also set, with or without a period, if the ring was full
	 * when an automatic sample was to be delivered, see
	 * %DRM_PANTHOR_PERF_SETUP_EMIT_AUTO.
	 */
	DRM_PANTHOR_PERF_SAMPLE_STRETCHED = 1 << 2,
};

/**
 * struct drm_panthor_perf_sample_header - Head of a sample
 *
 * 56 bytes, followed by the blocks.
 */
struct drm_panthor_perf_sample_header {
	/** @timestamp_start_ns: Start of the period, CLOCK_MONOTONIC_RAW in nanoseconds. */
	__u64 timestamp_start_ns;

	/** @timestamp_end_ns: End of the period, CLOCK_MONOTONIC_RAW in nanoseconds. */
	__u64 timestamp_end_ns;

	/** @block_set: Counter set of the session, enum drm_panthor_perf_counter_set. */
	__u8 block_set;

	/** @pad: Zero. */
	__u8 pad[3];

	/** @flags: Combination of enum drm_panthor_perf_sample_flags. */
	__u32 flags;

	/**
	 * @user_data: The user_data of the command that requested this sample, or
	 * that of START for a periodic or automatic sample.
	 */
	__u64 user_data;

	/**
	 * @toplevel_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_TOPLEVEL in the
	 * period, as counted by the GPU, at whatever rate it really ran. They never
	 * go back, and stand still while the GPU is not powered. Sums over many
	 * samples are exact. The cycles of one sample are interpolated, and may be
	 * off by those of the time that the kernel took to read it.
	 *
	 * If the GPU does not count cycles, they are the rate that the clock
	 * framework reports, integrated over the time in which the GPU was powered.
	 */
	__u64 toplevel_clock_cycles;

	/**
	 * @coregroup_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_COREGROUP in
	 * the period, which the GPU does not count. They are @toplevel_clock_cycles
	 * times the ratio of the rates that the clock framework reports, if that
	 * ratio is 1 or what it was when the driver was bound. Otherwise they are the
	 * clock's own rate, integrated over the time in which the GPU was powered.
	 * 0 if the clock is not in drm_panthor_perf_info::supported_clocks.
	 */
	__u64 coregroup_clock_cycles;

	/**
	 * @shader_clock_cycles: Cycles of DRM_PANTHOR_PERF_CLOCK_SHADER in the
	 * period, computed like @coregroup_clock_cycles. 0 if the clock is not in
	 * drm_panthor_perf_info::supported_clocks.
	 */
	__u64 shader_clock_cycles;
};

/**
 * struct drm_panthor_perf_block_header - Head of a block in a sample
 *
 * 24 bytes, followed by drm_panthor_perf_info::counters_per_block values of 64
 * bits. Counters that the session did not enable are 0.
 */
struct drm_panthor_perf_block_header {
	/** @block_type: Type of the block, enum drm_panthor_perf_block_type. */
	__u8 block_type;

	/**
	 * @block_idx: Number of the block among the blocks of its type, from 0.
	 * Shader cores are numbered in the order of their bits in
	 * drm_panthor_gpu_info::shader_present.
	 */
	__u8 block_idx;

	/** @block_states: Combination of enum drm_panthor_perf_block_state. */
	__u8 block_states;

	/**
	 * @clock: Clock domain that the block runs in, enum drm_panthor_perf_clock.
	 * Always one of drm_panthor_perf_info::supported_clocks.
	 */
	__u8 clock;

	/** @pad: Zero. */
	__u8 pad[4];

	/**
	 * @enable_mask: Counters that the session enabled in this block. Value n has
	 * bit n % 64 of element n / 64. Bits of values that do not exist are 0.
	 */
	__u64 enable_mask[2];
};

/**
 * struct drm_panthor_perf_ringbuf_control - Indices of a sample ring
 *
 * 16 bytes in the control buffer object, at
 * drm_panthor_perf_cmd_setup::control_offset.
 */
struct drm_panthor_perf_ringbuf_control {
	/**
	 * @extract_idx: Number of samples that the client has consumed, which is the
	 * index of the next one to read. Written by the client.
	 */
	__u64 extract_idx;

	/**
	 * @insert_idx: Number of samples that the kernel has delivered, which is the
	 * index of the next one to write. Written by the kernel.
	 */
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
	 * @DRM_PANTHOR_PERF_COMMAND_TEARDOWN: Destroy a session in any state.
	 * Pending samples are dropped, and nothing is written to the ring or
	 * signalled once the command has returned. The command has no struct;
	 * size and pointer are ignored. Fails with -ENOENT if there is no session
	 * of this handle.
	 */
	DRM_PANTHOR_PERF_COMMAND_TEARDOWN = 1,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_START: Start counting, see
	 * &struct drm_panthor_perf_cmd_start.
	 */
	DRM_PANTHOR_PERF_COMMAND_START = 2,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_STOP: Deliver a last sample and stop counting,
	 * see &struct drm_panthor_perf_cmd_stop.
	 */
	DRM_PANTHOR_PERF_COMMAND_STOP = 3,

	/**
	 * @DRM_PANTHOR_PERF_COMMAND_SAMPLE: Request one sample of a manual session,
	 * see &struct drm_panthor_perf_cmd_sample.
	 */
	DRM_PANTHOR_PERF_COMMAND_SAMPLE = 4,
};

/**
 * struct drm_panthor_perf_control - Argument of DRM_IOCTL_PANTHOR_PERF_CONTROL
 *
 * 24 bytes.
 */
struct drm_panthor_perf_control {
	/** @cmd: One of enum drm_panthor_perf_command. */
	__u32 cmd;

	/**
	 * @handle: Handle of the session.
	 *
	 * Returned by DRM_PANTHOR_PERF_COMMAND_SETUP, passed to all the other
	 * commands. Handles belong to a file and start at 1. They are assigned in
	 * ascending order, so that the handle of a destroyed session is not reused
	 * soon.
	 */
	__u32 handle;

	/**
	 * @size: Size of the command's struct in bytes.
	 *
	 * Passed by the caller. When the command succeeds, the kernel sets it to
	 * the size of its own version of the struct.
	 */
	__u64 size;

	/**
	 * @pointer: Address of the command's struct.
	 *
	 * If it is 0 and the command has a struct, the kernel only returns the size
	 * of the struct in @size, and does not execute the command.
	 */
	__u64 pointer;
};

/**
 * enum drm_panthor_perf_setup_flags - Flags of drm_panthor_perf_cmd_setup::setup_flags
 */
enum drm_panthor_perf_setup_flags {
	/**
	 * @DRM_PANTHOR_PERF_SETUP_EMIT_AUTO: Deliver an automatic sample (one that
	 * firmware takes before power is lost or protected mode is entered) as a
	 * sample of its own, instead of adding it to the next one. If the ring is
	 * full, it is added to the next one, which is flagged
	 * DRM_PANTHOR_PERF_SAMPLE_STRETCHED.
	 */
	DRM_PANTHOR_PERF_SETUP_EMIT_AUTO = 1 << 0,
};

/**
 * struct drm_panthor_perf_cmd_setup - Argument of DRM_PANTHOR_PERF_COMMAND_SETUP
 *
 * 136 bytes. The session keeps its own references to the eventfd and the buffer
 * objects, so they can be closed at any time. In the enable masks, value n of
 * each block of the type has bit n % 64 of element n / 64; bits of values that do
 * not exist are ignored. If the command fails, nothing has changed and no handle
 * is taken. The exception is -EFAULT: the session may exist then, until the file
 * is closed.
 *
 * Errors besides those of DRM_IOCTL_PANTHOR_PERF_CONTROL:
 *
 * - -EOPNOTSUPP: the GPU has no counters that the kernel supports.
 * - -EINVAL: a field is out of range, padding is not zero, @fd is not an eventfd,
 *   a buffer object has the wrong size, was imported, or cannot be mapped by the
 *   client (DRM_PANTHOR_BO_NO_MMAP).
 * - -EBADF: @fd is not open. The permission is checked first: a client can pass
 *   an @fd of -1 to find out if it may count, without setting up a session.
 * - -ENOENT: there is no buffer object of one of the handles.
 * - -EACCES: the caller may not count, or has no CAP_PERFMON and the period is
 *   shorter than 1 ms or the ring is larger than 16 MiB.
 * - -ENOSPC: there are too many sessions: 64 in a file, 256 on a device, or, for a
 *   caller without CAP_PERFMON, 192 on the device or 16 of the same user.
 * - -ENOMEM: there is not enough memory.
 * - -EINTR: a signal arrived.
 */
struct drm_panthor_perf_cmd_setup {
	/** @block_set: Counter set, enum drm_panthor_perf_counter_set. */
	__u8 block_set;

	/** @setup_flags: Combination of enum drm_panthor_perf_setup_flags. */
	__u8 setup_flags;

	/** @pad: Must be zero. */
	__u8 pad[6];

	/** @fd: File descriptor of an eventfd. 1 is added to it for each delivered sample. */
	__u32 fd;

	/**
	 * @ringbuf_handle: GEM handle of the ring. The size of the object must be
	 * @sample_slots * drm_panthor_perf_info::sample_size bytes, rounded up to
	 * a page.
	 */
	__u32 ringbuf_handle;

	/**
	 * @control_handle: GEM handle of the object that holds the indices of the
	 * ring: the ring itself, or an object of at most 64 KiB.
	 */
	__u32 control_handle;

	/**
	 * @sample_slots: Number of slots of the ring: a power of two, from 2 to
	 * drm_panthor_perf_info::max_sample_slots.
	 */
	__u32 sample_slots;

	/**
	 * @control_offset: Offset of the &struct drm_panthor_perf_ringbuf_control
	 * in the control object in bytes, a multiple of 8. SETUP sets both indices
	 * to 0. They go on counting when a session is stopped and started again.
	 */
	__u64 control_offset;

	/**
	 * @sample_freq_ns: Period, the time between two samples, in nanoseconds. 0
	 * sets up a manual session, which delivers samples on request.
	 * A period shorter than drm_panthor_perf_info::min_sample_period_ns is
	 * raised to that. The samples of a session are due at multiples of the
	 * period, counted from the start of its first sample.
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
 * 8 bytes. When the command returns, counting has begun: nothing that happened
 * before the command is ever in a sample. The command delivers no sample. It
 * waits for firmware, usually for less than a millisecond. In protected mode, in
 * which nothing can be counted, it waits until the mode ends or a signal arrives.
 * Starting a session that is started changes nothing. A START and a STOP of one
 * session wait for each other if they are called by several threads.
 *
 * Errors besides those of DRM_IOCTL_PANTHOR_PERF_CONTROL. They leave the session
 * as it was before; after -EFAULT it may be started:
 *
 * - -ENOENT: there is no session of this handle, or it was destroyed meanwhile.
 * - -EBUSY: the last sample of the previous run has not been delivered yet, no
 *   slot of the ring is free, or sessions with another counter set are counting.
 * - -ETIMEDOUT: firmware does not answer. The kernel then resets the GPU. After
 *   three such failures in a row it does not reset the GPU again, until firmware
 *   has answered or the GPU was reset for another reason.
 * - -EINTR: a signal arrived. The command is restarted instead if the signal's
 *   handler was installed with SA_RESTART.
 */
struct drm_panthor_perf_cmd_start {
	/** @user_data: Tag of periodic and automatic samples. */
	__u64 user_data;
};

/**
 * struct drm_panthor_perf_cmd_stop - Argument of DRM_PANTHOR_PERF_COMMAND_STOP
 *
 * 8 bytes. The command requests a last sample and returns without waiting for
 * it. The sample is delivered after all samples that were requested before it,
 * into a slot that is reserved for it. Stopping a session that is not started
 * changes nothing and delivers nothing.
 *
 * Errors besides those of DRM_IOCTL_PANTHOR_PERF_CONTROL:
 *
 * - -ENOENT: there is no session of this handle.
 * - -EINTR: a signal arrived while the command waited for a START of the same
 *   session in another thread. The command is restarted instead if the signal's
 *   handler was installed with SA_RESTART.
 */
struct drm_panthor_perf_cmd_stop {
	/** @user_data: Tag of the last sample. */
	__u64 user_data;
};

/**
 * struct drm_panthor_perf_cmd_sample - Argument of DRM_PANTHOR_PERF_COMMAND_SAMPLE
 *
 * 8 bytes. The command requests a sample and returns without waiting for it.
 * Each request yields exactly one sample, in the order of the requests.
 *
 * Errors besides those of DRM_IOCTL_PANTHOR_PERF_CONTROL:
 *
 * - -ENOENT: there is no session of this handle.
 * - -EINVAL: the session is periodic, or is not started.
 * - -EBUSY: no slot of the ring is free for the sample, or the session is limited
 *   and has 64 pending requests.
 */
struct drm_panthor_perf_cmd_sample {
	/** @user_data: Tag of the sample. */
	__u64 user_data;
};

/**
 * define DRM_IOCTL_PANTHOR_PERF_CONTROL - Control a performance counter session
 *
 * Returns 0 on success. A command that fails changes nothing, except for -EFAULT
 * (see below). Any command may fail with these errors; each command's struct
 * lists more:
 *
 * - -EOPNOTSUPP: the kernel is built without performance counters.
 * - -EINVAL: there is no such command, or drm_panthor_perf_control::size is
 *   smaller than the first version of the command's struct.
 * - -E2BIG: drm_panthor_perf_control::size is larger than a page, or the struct
 *   has non-zero bytes beyond the size that the kernel knows.
 * - -EFAULT: &struct drm_panthor_perf_control or the command's struct cannot be
 *   read, and nothing has changed; or the former cannot be written back, after the
 *   command has taken effect.
 * - -ENODEV: the device has been removed.
 */
#define DRM_IOCTL_PANTHOR_PERF_CONTROL \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PANTHOR_PERF_CONTROL, struct drm_panthor_perf_control)

#if defined(__cplusplus)
}
#endif

#endif /* _PANTHOR_PERF_DRM_H_ */
