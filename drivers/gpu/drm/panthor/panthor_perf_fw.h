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
 * struct panthor_perf_fw_ops - Access to firmware and registers
 * @ring_doorbell: Ring the doorbell, so that firmware looks at REQ.
 * @wait_acks: Wait until the bits of @mask are the same in ACK and REQ, at most @timeout_ms
 *	milliseconds. Returns 0 or -ETIMEDOUT. May sleep.
 * @protected_mode: Return true if the GPU is in protected mode.
 *
 * KUnit tests supply others, which stand in for firmware. Called while the GPU is powered.
 */
struct panthor_perf_fw_ops {
	void (*ring_doorbell)(struct panthor_perf_fw *fw);
	int (*wait_acks)(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms);
	bool (*protected_mode)(struct panthor_perf_fw *fw);
};

/**
 * struct panthor_perf_fw - Firmware ring, and the global interface as far as it drives the ring
 * @ops: Functions of the driver, or of a test.
 * @ptdev: Device, or NULL in a test.
 * @glb: Global interface, in memory shared with firmware.
 * @layout: Layout of firmware samples.
 * @slots: Number of slots of the firmware ring, a power of two.
 * @ring: Address of the firmware ring in the kernel, NULL until it is allocated.
 * @ring_va: Address of the firmware ring in the MCU's address space.
 * @enabled: Firmware has acknowledged that counters are enabled.
 * @extract: EXTRACT. The driver never reads back the one in the input block.
 * @epoch: Number of times that counters have been enabled.
 *
 * @ring and what follows is protected by panthor_perf_sampler::lock, which the callers of all
 * functions hold unless a function says otherwise. The rest is constant.
 */
struct panthor_perf_fw {
	const struct panthor_perf_fw_ops *ops;
	struct panthor_device *ptdev;
	struct panthor_fw_global_iface *glb;
	const struct panthor_perf_layout *layout;
	u32 slots;
	void *ring;
	u64 ring_va;
	bool enabled;
	u32 extract;
	u32 epoch;
};

void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout, u32 slots);
void panthor_perf_fw_params(struct panthor_device *ptdev,
			    struct panthor_perf_layout_params *params);

struct panthor_kernel_bo *panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw);

int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set);
int panthor_perf_fw_disable(struct panthor_perf_fw *fw);
void panthor_perf_fw_stopped(struct panthor_perf_fw *fw);

void panthor_perf_fw_request(struct panthor_perf_fw *fw);
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw);
void panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms);
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight);

int panthor_perf_fw_pending(struct panthor_perf_fw *fw);
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw, u32 index);
bool panthor_perf_fw_overwritten(struct panthor_perf_fw *fw);
void panthor_perf_fw_consume(struct panthor_perf_fw *fw);
bool panthor_perf_fw_rearm(struct panthor_perf_fw *fw, bool overflow);
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw);

#endif
