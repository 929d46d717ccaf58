/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Performance counters: the firmware ring and the global interface. */

#ifndef __PANTHOR_PERF_FW_H__
#define __PANTHOR_PERF_FW_H__

#include <linux/types.h>

struct panthor_device;
struct panthor_fw_global_iface;
struct panthor_kernel_bo;
struct panthor_perf_fw;
struct panthor_perf_layout;
struct panthor_perf_layout_params;

/* How long firmware may take to enable or disable counters, in milliseconds. */
#define PANTHOR_PERF_FW_ACK_MS		100

/**
 * struct panthor_perf_fw_ops - Functions of the driver that panthor_perf_fw.c calls
 *
 * KUnit tests supply others, which stand in for firmware. They are called only while
 * the GPU is powered, and only @wait_acks may sleep.
 */
struct panthor_perf_fw_ops {
	/** @ring_doorbell: Ring the doorbell, so that firmware looks at REQ. */
	void (*ring_doorbell)(struct panthor_perf_fw *fw);

	/**
	 * @wait_acks: Wait until the bits of @mask are the same in ACK and REQ, at
	 * most @timeout_ms milliseconds. Returns 0 or -ETIMEDOUT. May sleep.
	 */
	int (*wait_acks)(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms);

	/** @protected_mode: Return true if the GPU is in protected mode. */
	bool (*protected_mode)(struct panthor_perf_fw *fw);

	/** @address_space: Return the number of the MCU's address space. */
	u32 (*address_space)(struct panthor_perf_fw *fw);
};

/**
 * struct panthor_perf_fw - Firmware ring, and the global interface as far as it drives the ring
 *
 * The callers of all functions hold panthor_perf_sampler::lock, unless a function says
 * otherwise.
 */
struct panthor_perf_fw {
	/** @ops: Functions of the driver, or of a test. This and the next four are constant. */
	const struct panthor_perf_fw_ops *ops;

	/** @ptdev: Device, or NULL in a test. */
	struct panthor_device *ptdev;

	/** @glb: Global interface, in memory shared with firmware. */
	struct panthor_fw_global_iface *glb;

	/** @layout: Layout of firmware samples. */
	const struct panthor_perf_layout *layout;

	/** @slots: Number of slots of the firmware ring, a power of two. */
	u32 slots;

	/* Protected by panthor_perf_sampler::lock. */

	/** @ring: Address of the firmware ring in the kernel, NULL until it is made. */
	void *ring;

	/** @ring_va: Address of the firmware ring in the MCU's address space. */
	u64 ring_va;

	/** @enabled: Firmware has acknowledged that counters are enabled. */
	bool enabled;


	/** @extract: EXTRACT. The copy in the input block is only written. */
	u32 extract;

	/** @epoch: Number of times that counters have been enabled. */
	u32 epoch;
};

void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout, u32 slots);
void panthor_perf_fw_params(struct panthor_device *ptdev,
			    struct panthor_perf_layout_params *params);

int panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw, struct panthor_kernel_bo **bo);
void panthor_perf_fw_ring_set(struct panthor_perf_fw *fw, struct panthor_kernel_bo *bo);

int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set);
int panthor_perf_fw_disable(struct panthor_perf_fw *fw);
void panthor_perf_fw_dead(struct panthor_perf_fw *fw);

void panthor_perf_fw_request(struct panthor_perf_fw *fw);
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw);
void panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms);
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight);

int panthor_perf_fw_pending(struct panthor_perf_fw *fw);
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw);
bool panthor_perf_fw_overwritten(struct panthor_perf_fw *fw);
void panthor_perf_fw_consume(struct panthor_perf_fw *fw);
bool panthor_perf_fw_rearm(struct panthor_perf_fw *fw, bool overflow);
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw);

#endif
