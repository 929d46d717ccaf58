// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the firmware ring and the global interface. */

#include <linux/bitfield.h>

#include "panthor_device.h"
#include "panthor_fw.h"
#include "panthor_fw_regs.h"
#include "panthor_gem.h"
#include "panthor_gpu_regs.h"
#include "panthor_hw.h"
#include "panthor_mmu.h"
#include "panthor_perf_fw.h"
#include "panthor_perf_layout.h"
#include "panthor_pwr_regs.h"

/**
 * DOC: Firmware ring
 *
 * The terms and the rules of the global interface are in
 * Documentation/gpu/panthor-perf.rst, "Terms" and "Hardware and firmware".
 *
 * Firmware and driver access the same memory without a lock. These are the accesses
 * whose order matters, with the barriers of the driver. They pair with those of
 * firmware, which are not visible here::
 *
 *	    firmware			driver
 *
 *	(A) write INSERT, ACK		read ACK, dma_rmb(), read INSERT
 *	(B) write sample, INSERT	read INSERT, dma_rmb(), read sample
 *	(C) read EXTRACT, write slot	access slot, dma_mb(), write EXTRACT
 *	(D) read REQ, input block	write input block, dma_wmb(), write REQ
 *	(E) write INSERT, next sample	read sample, dma_rmb(), read INSERT
 *
 * (A) A sample that is acknowledged is counted. (B) A sample that is counted is
 * complete. (C) The driver neither reads the next sample in a slot nor clears PRFCNT_EN
 * in it. (D) Firmware sees the configuration and the cleared ring before the enable bit.
 * The doorbell does not order this: another CPU may ring it earlier. (E) Detects that
 * firmware has overwritten the slot during the read: INSERT is out of range then.
 *
 * Two more orders need no barrier. panthor_perf_fw_disable() reads ACK before it releases
 * a lock in settle_reqs(), whose next owner reads INSERT. panthor_perf_fw_enable() clears
 * PRFCNT_EN after a branch on ACK, and writes are not done before such a branch.
 */

#define GLB_PERFCNT_EVENTS	(GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW)
#define GLB_PERFCNT_ALL		(GLB_PERFCNT_EN | GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS)

#define PERFCNT_CONFIG_SLOTS	GENMASK(7, 0)
#define PERFCNT_CONFIG_SET	GENMASK(9, 8)
#define PERFCNT_CONFIG_METADATA	BIT(10)

/* Offset in bytes of PERFCNT_FEATURES in the control block, after instr_features. */
#define GLB_CONTROL_PERFCNT_FEATURES	0x20

/* Register that exists from architecture 11 on. */
#define GPU_PRFCNT_FEATURES	0x68

static void hw_ring_doorbell(struct panthor_perf_fw *fw)
{
	panthor_fw_ring_doorbell(fw->ptdev, CSF_GLB_DOORBELL_ID);
}

static int hw_wait_acks(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms)
{
	u32 acked;

	return panthor_fw_glb_wait_acks(fw->ptdev, mask, &acked, timeout_ms);
}

static bool hw_protected_mode(struct panthor_perf_fw *fw)
{
	return gpu_read(fw->ptdev->iomem, GPU_STATUS) & GPU_STATUS_PROTM_ACTIVE;
}

static const struct panthor_perf_fw_ops hw_ops = {
	.ring_doorbell = hw_ring_doorbell,
	.wait_acks = hw_wait_acks,
	.protected_mode = hw_protected_mode,
};

/* Attach to firmware that has booted. @slots is a power of two up to 128. */
void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout, u32 slots)
{
	fw->ops = &hw_ops;
	fw->ptdev = ptdev;
	fw->layout = layout;
	fw->slots = slots;
	fw->glb = panthor_fw_get_glb_iface(ptdev);
}

/* Read the layout's parameters, all but supported_clocks, of a device that is powered. */
void panthor_perf_fw_params(struct panthor_device *ptdev, struct panthor_perf_layout_params *params)
{
	const struct panthor_fw_global_control_iface *control =
		panthor_fw_get_glb_iface(ptdev)->control;
	const void *features = (const void *)control + GLB_CONTROL_PERFCNT_FEATURES;
	u32 arch = GPU_ARCH_MAJOR(ptdev->gpu_info.gpu_id);

	params->gpu_id = ptdev->gpu_info.gpu_id;
	params->mem_features = ptdev->gpu_info.mem_features;
	params->user_shader_present = ptdev->gpu_info.shader_present;
	params->glb_version = control->version;
	params->group_num = control->group_num;
	params->perfcnt_size = control->perfcnt_size;
	params->perfcnt_features = READ_ONCE(*(const u32 *)features);
	params->prfcnt_features = arch >= 11 ? gpu_read(ptdev->iomem, GPU_PRFCNT_FEATURES) : 0;

	/* Cores that are disabled by fuses are in the register, and not in gpu_info. */
	if (panthor_hw_has_pwr_ctrl(ptdev))
		params->shader_present = gpu_read64(ptdev->iomem + PWR_CONTROL_BASE,
						    PWR_SHADER_PRESENT);
	else
		params->shader_present = gpu_read64(ptdev->iomem, GPU_SHADER_PRESENT);
}

/* Allocate memory for the ring. Called without any lock. Returns an error pointer on failure. */
struct panthor_kernel_bo *panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw)
{
	struct panthor_kernel_bo *bo;
	int ret;

	bo = panthor_kernel_bo_create(fw->ptdev, panthor_fw_vm(fw->ptdev),
				      (size_t)fw->slots * fw->layout->fw_sample_size,
				      DRM_PANTHOR_BO_NO_MMAP,
				      DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC |
				      DRM_PANTHOR_VM_BIND_OP_MAP_UNCACHED,
				      PANTHOR_VM_KERNEL_AUTO_VA, "Performance counter ring");
	/* shmem says so if it has no memory. Of SETUP it means too many sessions. */
	if (IS_ERR(bo))
		return PTR_ERR(bo) == -ENOSPC ? ERR_PTR(-ENOMEM) : bo;

	ret = panthor_kernel_bo_vmap(bo);
	if (ret) {
		panthor_kernel_bo_destroy(bo);
		return ERR_PTR(ret);
	}

	return bo;
}

/* Bits of REQ that differ from ACK: requests without an answer, and events. */
static u32 unequal_reqs(struct panthor_perf_fw *fw)
{
	return READ_ONCE(fw->glb->input->req) ^ READ_ONCE(fw->glb->output->ack);
}

/* Acknowledge events and withdraw requests, without a doorbell. */
static void settle_reqs(struct panthor_perf_fw *fw, u32 mask)
{
	u32 ack = READ_ONCE(fw->glb->output->ack);

	panthor_fw_update_reqs(fw->glb, req, ack, mask);
}

/*
 * Set which bits of counters raise an interrupt. No lock is needed: only the boot of the MCU
 * writes the mask as well, and no function here is called then.
 */
static void unmask_irqs(struct panthor_perf_fw *fw, u32 mask)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;

	WRITE_ONCE(input->ack_irq_mask, (READ_ONCE(input->ack_irq_mask) & ~GLB_PERFCNT_ALL) | mask);
}

/* Return a slot of the ring, in memory that may be write-combined: reads are slow. */
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw, u32 index)
{
	return fw->ring + (size_t)(index & (fw->slots - 1)) * fw->layout->fw_sample_size;
}

/*
 * Disable counters. Samples stay in the ring, counts since the last one are discarded. Sleeps up
 * to PANTHOR_PERF_FW_ACK_MS ms. Returns 0, or -ETIMEDOUT: firmware may still write to the ring.
 */
int panthor_perf_fw_disable(struct panthor_perf_fw *fw)
{
	int ret;

	fw->enabled = false;
	unmask_irqs(fw, GLB_PERFCNT_ALL);
	panthor_fw_update_reqs(fw->glb, req, 0, GLB_PERFCNT_EN);
	fw->ops->ring_doorbell(fw);
	ret = fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS);
	unmask_irqs(fw, 0);
	/* Keep OVERFLOW: it still applies to the samples in the ring. */
	settle_reqs(fw, GLB_PERFCNT_SAMPLE);
	return ret;
}

/*
 * Begin an epoch: enable all counters of a set, since masks cannot be changed later. Sleeps up to
 * PANTHOR_PERF_FW_ACK_MS ms, and twice that if an earlier request has timed out. Returns 0, or
 * -ETIMEDOUT: the request is withdrawn then, though firmware may have seen it.
 */
int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;
	/* A bit for four counters. */
	u32 all = GENMASK(fw->layout->num_values / 4 - 1, 0);
	u32 i;

	/* ENABLE is a level: firmware has to see it clear, or it does not reset INSERT. */
	if ((READ_ONCE(fw->glb->output->ack) & GLB_PERFCNT_EN) && panthor_perf_fw_disable(fw))
		return -ETIMEDOUT;

	/* Blocks of samples that were not consumed must not be taken for new ones. */
	for (i = 0; i < fw->slots; i++)
		panthor_perf_layout_clear_en(fw->layout, panthor_perf_fw_slot(fw, i));

	settle_reqs(fw, GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS);
	/* The MCU's own address space. */
	WRITE_ONCE(input->perfcnt_as, 0);
	input->perfcnt_base = fw->ring_va;
	WRITE_ONCE(input->perfcnt_extract, 0);
	WRITE_ONCE(input->perfcnt_config,
		   FIELD_PREP(PERFCNT_CONFIG_SLOTS, fw->slots) |
		   FIELD_PREP(PERFCNT_CONFIG_SET, set) |
		   (fw->layout->has_metadata ? PERFCNT_CONFIG_METADATA : 0));
	WRITE_ONCE(input->perfcnt_csg_select, U32_MAX);
	WRITE_ONCE(input->perfcnt_fw_enable, all);
	WRITE_ONCE(input->perfcnt_csg_enable, all);
	WRITE_ONCE(input->perfcnt_csf_enable, all);
	WRITE_ONCE(input->perfcnt_shader_enable, all);
	WRITE_ONCE(input->perfcnt_tiler_enable, all);
	WRITE_ONCE(input->perfcnt_mmu_l2_enable, all);
	unmask_irqs(fw, GLB_PERFCNT_ALL);

	/* (D) Pairs with firmware, which reads REQ before the input block. */
	dma_wmb();
	/* Newer versions of panthor set COUNTER_EN at boot, and it stays in all of them. */
	panthor_fw_update_reqs(fw->glb, req, GLB_PERFCNT_EN | GLB_COUNTER_EN,
			       GLB_PERFCNT_EN | GLB_COUNTER_EN);
	fw->ops->ring_doorbell(fw);

	/* Firmware may see the request late: it looks again after it was withdrawn. */
	if (fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS)) {
		panthor_fw_update_reqs(fw->glb, req, 0, GLB_PERFCNT_EN);
		unmask_irqs(fw, 0);
		fw->ops->ring_doorbell(fw);
		return -ETIMEDOUT;
	}

	/* (A) Pairs with firmware, which sets INSERT to 0 before it writes ACK. */
	dma_rmb();

	fw->extract = 0;
	fw->epoch++;
	fw->enabled = true;
	return 0;
}

/*
 * Prepare the input block for the next boot, when the MCU has stopped and its samples have been
 * consumed: a fast reset leaves this memory as it is.
 */
void panthor_perf_fw_stopped(struct panthor_perf_fw *fw)
{
	fw->enabled = false;
	panthor_fw_update_reqs(fw->glb, req, 0, GLB_PERFCNT_EN);
	settle_reqs(fw, GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS);
}

/* Request a sample, in the state COUNTING. Called with panthor_perf_sampler::req_lock held. */
void panthor_perf_fw_request(struct panthor_perf_fw *fw)
{
	panthor_fw_toggle_reqs(fw->glb, req, ack, GLB_PERFCNT_SAMPLE);
	fw->ops->ring_doorbell(fw);
}

/*
 * Return true if firmware has answered the last request: panthor_perf_fw_pending() counts its
 * sample after this. Called with panthor_perf_sampler::req_lock held.
 */
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw)
{
	u32 diff = unequal_reqs(fw);

	/* (A) Pairs with firmware, which writes INSERT before ACK. */
	dma_rmb();
	return !(diff & GLB_PERFCNT_SAMPLE);
}

/* Wait up to @timeout_ms milliseconds until firmware has answered the last request. */
void panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms)
{
	fw->ops->wait_acks(fw, GLB_PERFCNT_SAMPLE, timeout_ms);
}

/*
 * Return true if there is an event, or the answer to the request @in_flight. Called without a
 * lock: what is missed is found at the next interrupt, or by the sampler's check.
 */
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight)
{
	u32 diff = unequal_reqs(fw);

	return (diff & GLB_PERFCNT_EVENTS) || (in_flight && !(diff & GLB_PERFCNT_SAMPLE));
}

/* Return the number of samples in the ring, or -EIO if INSERT is out of range. */
int panthor_perf_fw_pending(struct panthor_perf_fw *fw)
{
	u32 insert = READ_ONCE(fw->glb->output->perfcnt_insert);

	/* (B) Pairs with firmware, which writes a sample before INSERT. */
	dma_rmb();
	return insert - fw->extract > fw->slots ? -EIO : (int)(insert - fw->extract);
}

/* Return true if the oldest sample, which has been read, may have been overwritten meanwhile. */
bool panthor_perf_fw_overwritten(struct panthor_perf_fw *fw)
{
	/* (E) Pairs with firmware, which writes INSERT before the next sample. */
	dma_rmb();
	return panthor_perf_fw_pending(fw) < 0;
}

/* Give the slot of the oldest sample back, which panthor_perf_fw_sample_read() has read. */
void panthor_perf_fw_consume(struct panthor_perf_fw *fw)
{
	fw->extract++;

	/* (C) Pairs with firmware, which reads EXTRACT before it writes to the slot. */
	dma_mb();
	WRITE_ONCE(fw->glb->input->perfcnt_extract, fw->extract);
}

/*
 * Acknowledge events (OVERFLOW only if @overflow is set), and ring the doorbell. Return true if
 * there were any. Firmware then retries a request that had found the ring full, and raises events
 * again whose condition still holds: without end if no samples are consumed in between.
 */
bool panthor_perf_fw_rearm(struct panthor_perf_fw *fw, bool overflow)
{
	u32 events = unequal_reqs(fw) & GLB_PERFCNT_EVENTS;

	if (!overflow)
		events &= ~GLB_PERFCNT_OVERFLOW;
	if (!events)
		return false;

	settle_reqs(fw, events);
	fw->ops->ring_doorbell(fw);
	return true;
}

/* Return true if firmware has found the ring full, and that is not acknowledged yet. */
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw)
{
	return unequal_reqs(fw) & GLB_PERFCNT_OVERFLOW;
}
