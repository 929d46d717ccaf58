/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: the firmware side. */

#ifndef __PANTHOR_PERF_FW_H__
#define __PANTHOR_PERF_FW_H__

#include <linux/types.h>

struct drm_printer;
struct panthor_device;
struct panthor_fw_global_iface;
struct panthor_kernel_bo;
struct panthor_perf_fw;
struct panthor_perf_layout;
struct panthor_perf_layout_params;

/** define PANTHOR_PERF_FW_ACK_MS - How long firmware may take to enable or disable counters */
#define PANTHOR_PERF_FW_ACK_MS		100

/**
 * struct panthor_perf_fw_ops - What the firmware room needs of the driver around it
 *
 * One set drives the hardware, another one a firmware that is faked by a test.
 * Everything but @wait_acks is called in atomic context. All of it is called
 * while the GPU is up only.
 */
struct panthor_perf_fw_ops {
	/** @ring_doorbell: Make firmware look at REQ. */
	void (*ring_doorbell)(struct panthor_perf_fw *fw);

	/**
	 * @wait_acks: Wait, no longer than a number of milliseconds, for the
	 * bits of a mask to be the same in ACK and REQ. Returns 0 or -ETIMEDOUT.
	 */
	int (*wait_acks)(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms);

	/** @protected_mode: True if the GPU is in protected mode, where nothing is answered. */
	bool (*protected_mode)(struct panthor_perf_fw *fw);

	/** @address_space: Number of the MCU's address space. */
	u32 (*address_space)(struct panthor_perf_fw *fw);
};

/**
 * struct panthor_perf_fw - Firmware ring and the part of the global interface that drives it
 *
 * Unless a field says otherwise, everything is protected by the lock of the
 * sampler (&struct panthor_perf_sampler), which the callers of all functions
 * hold, and which is not taken here.
 */
struct panthor_perf_fw {
	/** @ops: The driver around. */
	const struct panthor_perf_fw_ops *ops;

	/** @ptdev: Device. NULL if the firmware is faked. */
	struct panthor_device *ptdev;

	/** @glb: Global interface. */
	struct panthor_fw_global_iface *glb;

	/**
	 * @ring: CPU address of the ring. NULL if there is no ring, because there
	 * are no sessions: nothing is done with firmware then.
	 */
	void *ring;

	/** @ring_va: Address of the ring in the MCU's address space. */
	u64 ring_va;

	/** @slots: Number of slots of the ring, a power of two. */
	u32 slots;

	/** @layout: Layout of samples. */
	const struct panthor_perf_layout *layout;

	/** @enabled: Firmware has acknowledged that it counts. */
	bool enabled;

	/**
	 * @uncertain: Firmware was told to count, has not answered in time, and
	 * may still do it, with the ring as it was then.
	 */
	bool uncertain;

	/**
	 * @cycles_on: COUNTER_EN was set for counting, and is to be cleared
	 * after it, since the driver has not set it at boot.
	 */
	bool cycles_on;

	/**
	 * @extract: Number of samples consumed since counters were enabled.
	 *
	 * The kernel's own: what is in the input block is only ever written.
	 */
	u32 extract;

	/**
	 * @epoch: Number of times counters have been enabled.
	 *
	 * Together with @extract it names a firmware sample, in tracepoints.
	 */
	u32 epoch;
};

void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout);
void panthor_perf_fw_params(struct panthor_device *ptdev,
			    struct panthor_perf_layout_params *params);

int panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw, u32 slots,
			       struct panthor_kernel_bo **bo);
void panthor_perf_fw_ring_set(struct panthor_perf_fw *fw, struct panthor_kernel_bo *bo,
			      u32 slots);
void panthor_perf_fw_ring_clear(struct panthor_perf_fw *fw);

int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set);
int panthor_perf_fw_disable(struct panthor_perf_fw *fw);
bool panthor_perf_fw_enabled(struct panthor_perf_fw *fw);
void panthor_perf_fw_dead(struct panthor_perf_fw *fw);

void panthor_perf_fw_request(struct panthor_perf_fw *fw);
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw);
int panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms);
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight);

int panthor_perf_fw_pending(struct panthor_perf_fw *fw);
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw);
void panthor_perf_fw_consume(struct panthor_perf_fw *fw);
bool panthor_perf_fw_rearm(struct panthor_perf_fw *fw, bool overflow);
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw);
void panthor_perf_fw_show(struct panthor_perf_fw *fw, struct drm_printer *p);

#endif
