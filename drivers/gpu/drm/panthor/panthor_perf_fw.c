// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the firmware ring and the global interface. */

#include <linux/bitfield.h>

#include <kunit/visibility.h>

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
 * This file drives the firmware ring through the global interface. The terms and
 * the rules of the interface are in Documentation/gpu/panthor-perf.rst, sections
 * "Terms" and "Hardware and firmware".
 *
 * Firmware writes samples to a ring in the MCU's address space and counts them in
 * INSERT. The driver reads them and counts them in EXTRACT. Both indices are
 * free-running 32-bit numbers, of which the low bits are the number of a slot.
 *
 * Firmware and driver access the same memory without a common lock, so the order
 * of their accesses matters in five places:
 *
 * (A) Firmware writes INSERT before it acknowledges a request in ACK. The driver
 *     reads ACK before INSERT. If the driver sees the acknowledgment, the INSERT
 *     that it reads counts the requested sample.
 * (B) Firmware writes a sample before INSERT. The driver reads INSERT before the
 *     sample. If the driver sees that INSERT counts a sample, it reads all of it.
 * (C) The driver reads a sample, and clears PRFCNT_EN in it, before it writes
 *     EXTRACT. Firmware reads EXTRACT before it reuses the slot. The driver
 *     therefore never reads a part of the next sample in the slot, nor clears its
 *     PRFCNT_EN.
 * (D) The driver marks all blocks in the ring as not written, and writes the
 *     configuration, before it requests ENABLE in REQ. Firmware reads REQ before all
 *     of them. It therefore enables counters with this configuration, and the driver
 *     never clears PRFCNT_EN in a sample of the new epoch.
 * (E) Firmware must not write to a slot before EXTRACT gives it back. If it does, it
 *     writes INSERT before the next sample all the same. The driver reads INSERT
 *     again after it has read a sample, and before it writes EXTRACT. If INSERT then
 *     counts more samples than there are slots, the slot may hold parts of two
 *     samples, and what was read is not used. A sample that firmware is still
 *     writing, and that INSERT does not count yet, is not noticed.
 *
 * The driver's barriers pair with those of the firmware, which are not visible
 * here::
 *
 *	firmware		driver
 *
 *	write sample		read ACK	panthor_perf_fw_acked()
 *	  (B)			  (A)		dma_rmb()
 *	write INSERT		read INSERT	panthor_perf_fw_pending()
 *	  (A)			  (B)		dma_rmb()
 *	write ACK		read sample	panthor_perf_fw_sample_read()
 *				clear PRFCNT_EN
 *				  (E)		dma_rmb()
 *				read INSERT	panthor_perf_fw_overwritten()
 *				  (C)		dma_mb()
 *	read EXTRACT		write EXTRACT	panthor_perf_fw_consume()
 *	  (C)
 *	write next sample
 *				write input block	enable_once()
 *	read REQ		  (D)			dma_wmb()
 *	  (D)			write REQ		enable_once()
 *	read input block
 *	write INSERT
 *	  (A)
 *	write ACK		read ACK	wait_acks()
 *				  (A)			dma_rmb()
 *				read INSERT	panthor_perf_fw_pending()
 *
 * The doorbell is rung with writel(), which orders it after all earlier writes to
 * the input block. That is not sufficient for (D): all of panthor rings the same
 * doorbell, so firmware may look at REQ because of a doorbell that another CPU has
 * rung, before this one is.
 *
 * In two places no barrier is needed. panthor_perf_fw_disable() reads ACK, and then
 * releases a lock in settle_reqs(), so INSERT is not read before ACK by whoever takes a
 * lock after that, as the sampler does. And enable_once() clears PRFCNT_EN after a branch
 * on ACK, which a wait, or panthor_perf_fw_enable() itself, has found to say that firmware
 * does not count: writes are not done before a branch that they come after.
 */

#define GLB_PERFCNT_EVENTS	(GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW)
#define GLB_PERFCNT_ALL		(GLB_PERFCNT_EN | GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS)

#define PERFCNT_CONFIG_SLOTS	GENMASK(7, 0)
#define PERFCNT_CONFIG_SET	GENMASK(9, 8)
#define PERFCNT_CONFIG_METADATA	BIT(10)

/*
 * Offset in bytes of PERFCNT_FEATURES in the control block. It follows
 * instr_features, the last member of struct panthor_fw_global_control_iface.
 */
#define GLB_CONTROL_PERFCNT_FEATURES	0x20

/* Offset of the register PRFCNT_FEATURES, which exists from architecture 11 on. */
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

static u32 hw_address_space(struct panthor_perf_fw *fw)
{
	return panthor_vm_as(panthor_fw_vm(fw->ptdev));
}

static const struct panthor_perf_fw_ops hw_ops = {
	.ring_doorbell = hw_ring_doorbell,
	.wait_acks = hw_wait_acks,
	.protected_mode = hw_protected_mode,
	.address_space = hw_address_space,
};

/*
 * Attaches to the firmware of a device, which has booted, for a ring of @slots slots, a power
 * of two up to 128. @fw is zeroed, and has no ring afterwards.
 */
void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout, u32 slots)
{
	fw->ops = &hw_ops;
	fw->ptdev = ptdev;
	fw->layout = layout;
	fw->slots = slots;
	fw->glb = panthor_fw_get_glb_iface(ptdev);
}

/*
 * Reads the properties that determine the layout of samples, all but supported_clocks, from
 * a device that is powered.
 */
void panthor_perf_fw_params(struct panthor_device *ptdev,
			    struct panthor_perf_layout_params *params)
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

	/*
	 * The layout follows the cores in the register. panthor may have removed
	 * cores from gpu_info.shader_present that are disabled by fuses.
	 */
	if (panthor_hw_has_pwr_ctrl(ptdev))
		params->shader_present = gpu_read64(ptdev->iomem + PWR_CONTROL_BASE,
						    PWR_SHADER_PRESENT);
	else
		params->shader_present = gpu_read64(ptdev->iomem, GPU_SHADER_PRESENT);
}

/*
 * Acknowledges the events of @mask that firmware has raised, and withdraws a request for
 * a sample that it has not answered, by making REQ equal to ACK. An event that
 * stayed unacknowledged would not be raised in the next epoch, and a request that
 * stayed would be answered in it. No doorbell is rung.
 */
static void settle_reqs(struct panthor_perf_fw *fw, u32 mask)
{
	u32 ack = READ_ONCE(fw->glb->output->ack);

	panthor_fw_update_reqs(fw->glb, req, ack, mask);
}

/*
 * Allocates memory for the ring. It is freed by panthor_kernel_bo_destroy(). The caller does
 * not hold the lock of the sampler, which is taken in the fence signalling path. Returns 0,
 * -ENOMEM, or another error of those who allocate and map it.
 */
int panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw, struct panthor_kernel_bo **bo)
{
	struct panthor_kernel_bo *mem;
	int ret;

	mem = panthor_kernel_bo_create(fw->ptdev, panthor_fw_vm(fw->ptdev),
				       (size_t)fw->slots * fw->layout->fw_sample_size,
				       DRM_PANTHOR_BO_NO_MMAP,
				       DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC |
				       DRM_PANTHOR_VM_BIND_OP_MAP_UNCACHED,
				       PANTHOR_VM_KERNEL_AUTO_VA,
				       "Performance counter ring");
	/*
	 * shmem returns -ENOSPC if it cannot get memory. SETUP returns -ENOSPC to
	 * users if there are too many sessions, so report the lack of memory
	 * differently.
	 */
	if (IS_ERR(mem))
		return PTR_ERR(mem) == -ENOSPC ? -ENOMEM : PTR_ERR(mem);

	ret = panthor_kernel_bo_vmap(mem);
	if (ret) {
		panthor_kernel_bo_destroy(mem);
		return ret;
	}

	*bo = mem;
	return 0;
}

/*
 * Sets the firmware ring, once. Firmware is told of it when counters are enabled, and @bo
 * must stay until the MCU has stopped for good.
 */
void panthor_perf_fw_ring_set(struct panthor_perf_fw *fw, struct panthor_kernel_bo *bo)
{
	fw->ring = bo->kmap;
	fw->ring_va = panthor_kernel_bo_gpuva(bo);
}

static void request_disable(struct panthor_perf_fw *fw)
{
	panthor_fw_update_reqs(fw->glb, req, 0, GLB_PERFCNT_EN);
}

static void *slot_address(struct panthor_perf_fw *fw, u32 index)
{
	return fw->ring + (size_t)(index & (fw->slots - 1)) * fw->layout->fw_sample_size;
}

/*
 * Keeps acknowledgments and events of counters from raising an interrupt. Called
 * when counters are disabled, since they must cost nothing while nobody uses them.
 */
static void mask_events(struct panthor_perf_fw *fw)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;

	WRITE_ONCE(input->ack_irq_mask, READ_ONCE(input->ack_irq_mask) & ~GLB_PERFCNT_ALL);
}

/*
 * Requests ENABLE once. ACK says that counters are disabled, and firmware has seen
 * that they are to be.
 */
static int enable_once(struct panthor_perf_fw *fw, u8 set)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;
	/* A bit for four counters. */
	u32 all = GENMASK(fw->layout->num_values / 4 - 1, 0);
	u32 config, i;

	config = FIELD_PREP(PERFCNT_CONFIG_SLOTS, fw->slots) | FIELD_PREP(PERFCNT_CONFIG_SET, set);
	if (fw->layout->has_metadata)
		config |= PERFCNT_CONFIG_METADATA;

	/*
	 * Mark all blocks in the ring as not written, by clearing PRFCNT_EN in
	 * them. Otherwise a block of an old sample that was never consumed would be
	 * taken for a block of a new sample in the same slot. It is not necessary
	 * to clear the values, too, and it would delay resume.
	 */
	for (i = 0; i < fw->slots; i++)
		panthor_perf_layout_clear_en(fw->layout, slot_address(fw, i));

	settle_reqs(fw, GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS);
	WRITE_ONCE(input->perfcnt_as, fw->ops->address_space(fw));
	input->perfcnt_base = fw->ring_va;
	WRITE_ONCE(input->perfcnt_extract, 0);
	WRITE_ONCE(input->perfcnt_config, config);
	WRITE_ONCE(input->perfcnt_csg_select, U32_MAX);
	WRITE_ONCE(input->perfcnt_fw_enable, all);
	WRITE_ONCE(input->perfcnt_csg_enable, all);
	WRITE_ONCE(input->perfcnt_csf_enable, all);
	WRITE_ONCE(input->perfcnt_shader_enable, all);
	WRITE_ONCE(input->perfcnt_tiler_enable, all);
	WRITE_ONCE(input->perfcnt_mmu_l2_enable, all);

	/*
	 * This read-modify-write needs no lock. Besides this file only the boot of
	 * the MCU writes ack_irq_mask, and it does so between the suspend or reset
	 * hook and the resume hook, when this function is not called.
	 */
	WRITE_ONCE(input->ack_irq_mask, READ_ONCE(input->ack_irq_mask) | GLB_PERFCNT_ALL);

	/*
	 * (D) Write all of this, and clear PRFCNT_EN, before the request. Another
	 * doorbell may make firmware look at REQ before this one is rung.
	 */
	dma_wmb();
	/* Newer versions of panthor set COUNTER_EN at boot, and it stays in all of them. */
	panthor_fw_update_reqs(fw->glb, req, GLB_PERFCNT_EN | GLB_COUNTER_EN,
			       GLB_PERFCNT_EN | GLB_COUNTER_EN);
	fw->ops->ring_doorbell(fw);

	/*
	 * Firmware may see the request late. Withdraw it, and ring the doorbell so
	 * that firmware looks at REQ again after that.
	 */
	if (fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS)) {
		request_disable(fw);
		mask_events(fw);
		fw->ops->ring_doorbell(fw);
		return -ETIMEDOUT;
	}

	/*
	 * (A) Firmware set INSERT to 0 before it acknowledged the request, which
	 * wait_acks() has seen. Do not read an older INSERT from here on.
	 */
	dma_rmb();

	fw->extract = 0;
	fw->epoch++;
	fw->enabled = true;
	return 0;
}

/*
 * Enables all counters of a set, whatever sessions want, since masks cannot be changed
 * without a disable, which would discard counts of others. Begins an epoch. Takes up to
 * PANTHOR_PERF_FW_ACK_MS milliseconds, and twice that if an earlier request was not
 * answered in time. Returns 0, or -ETIMEDOUT if firmware did not answer: the request is
 * withdrawn then, though firmware may have seen it.
 */
int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set)
{
	/*
	 * An earlier panthor_perf_fw_disable() may have returned -ETIMEDOUT, or firmware
	 * have enabled counters after it was given up on. ENABLE is a level: firmware
	 * would not notice that counters were disabled and enabled again, and would not
	 * reset INSERT, if it had not seen the request to disable them first.
	 */
	if (READ_ONCE(fw->glb->output->ack) & GLB_PERFCNT_EN) {
		int ret = panthor_perf_fw_disable(fw);

		if (ret)
			return ret;
	}

	return enable_once(fw, set);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_enable);

/*
 * Disables counters. Samples in the ring stay there, and what was counted since the last
 * one is discarded. Takes up to PANTHOR_PERF_FW_ACK_MS milliseconds. Returns 0, or
 * -ETIMEDOUT if firmware did not answer, which may still write to the ring then.
 */
int panthor_perf_fw_disable(struct panthor_perf_fw *fw)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;
	int ret;

	fw->enabled = false;
	/* An earlier call that failed has masked the acknowledgment that is waited for here. */
	WRITE_ONCE(input->ack_irq_mask, READ_ONCE(input->ack_irq_mask) | GLB_PERFCNT_EN);
	request_disable(fw);
	fw->ops->ring_doorbell(fw);
	ret = fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS);
	mask_events(fw);
	/* OVERFLOW tells of what is in the ring, until counters are enabled again. */
	settle_reqs(fw, GLB_PERFCNT_SAMPLE);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_disable);

/*
 * The MCU has stopped, and its samples have been consumed. Prepares the input block for the
 * next boot, which has to find counters disabled and no request pending: after a fast
 * reset this memory is as it was, where a slow one loads it anew.
 */
void panthor_perf_fw_dead(struct panthor_perf_fw *fw)
{
	fw->enabled = false;
	request_disable(fw);
	settle_reqs(fw, GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_dead);

/*
 * Requests a sample from firmware that counts and has no request in flight. The caller holds
 * panthor_perf_sampler::req_lock, and nothing that it uses changes while the sampler is COUNTING.
 */
void panthor_perf_fw_request(struct panthor_perf_fw *fw)
{
	panthor_fw_toggle_reqs(fw->glb, req, ack, GLB_PERFCNT_SAMPLE);
	fw->ops->ring_doorbell(fw);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_request);

/*
 * Checks if firmware has answered the last request: panthor_perf_fw_pending() counts its
 * sample if it is called after this. Callers hold panthor_perf_sampler::req_lock, so that
 * no other request is made.
 */
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw)
{
	u32 req = READ_ONCE(fw->glb->input->req);
	u32 ack = READ_ONCE(fw->glb->output->ack);

	/* (A) Read ACK before INSERT. Firmware writes INSERT before ACK. */
	dma_rmb();
	return !((req ^ ack) & GLB_PERFCNT_SAMPLE);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_acked);

/* Waits up to @timeout_ms milliseconds until firmware has answered the last request. */
void panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms)
{
	fw->ops->wait_acks(fw, GLB_PERFCNT_SAMPLE, timeout_ms);
}

/*
 * Checks if an interrupt, which all users of the global interface share, is about counters:
 * there is an event, or the answer to the request @in_flight. Called without a lock: what
 * is missed is found at the next interrupt, or by the sampler's check.
 */
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight)
{
	u32 diff = READ_ONCE(fw->glb->input->req) ^ READ_ONCE(fw->glb->output->ack);

	return (diff & GLB_PERFCNT_EVENTS) || (in_flight && !(diff & GLB_PERFCNT_SAMPLE));
}

/*
 * Returns the number of samples in the ring, of firmware whose counters have been enabled
 * since it booted, or -EIO if INSERT is more than the number of slots ahead of EXTRACT, or
 * behind it.
 */
int panthor_perf_fw_pending(struct panthor_perf_fw *fw)
{
	u32 insert = READ_ONCE(fw->glb->output->perfcnt_insert);

	/* (B) Read INSERT before the samples. Firmware writes a sample before INSERT. */
	dma_rmb();
	return panthor_perf_fw_ring_pending(fw->slots, insert, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_pending);

/* Returns the oldest sample, whose memory may be write-combined, so that reads are slow. */
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw)
{
	return slot_address(fw, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_slot);

/*
 * Checks if firmware has reused the slot of the oldest sample, which has been read, without
 * having got it back: INSERT is out of range then.
 */
bool panthor_perf_fw_overwritten(struct panthor_perf_fw *fw)
{
	/* (E) Read the sample before INSERT. Firmware writes INSERT before the next sample. */
	dma_rmb();
	return panthor_perf_fw_ring_pending(fw->slots, READ_ONCE(fw->glb->output->perfcnt_insert),
					    fw->extract) < 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_overwritten);

/*
 * Gives the slot of the oldest sample back to firmware. panthor_perf_fw_sample_read() has
 * read it, and cleared PRFCNT_EN in its blocks.
 */
void panthor_perf_fw_consume(struct panthor_perf_fw *fw)
{
	fw->extract++;

	/*
	 * (C) Read the sample, and clear PRFCNT_EN, before writing EXTRACT. Firmware
	 * reads EXTRACT before it reuses the slot. A write barrier would leave the
	 * reads where they may be.
	 */
	dma_mb();
	WRITE_ONCE(fw->glb->input->perfcnt_extract, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_consume);

/*
 * Acknowledges events, OVERFLOW only if @overflow is set, and rings the doorbell if there
 * were any, which it returns. At the doorbell firmware retries a request that had found the
 * ring full, and raises each event again whose condition still holds: a caller that does
 * not consume samples in between would have it do so without end.
 */
bool panthor_perf_fw_rearm(struct panthor_perf_fw *fw, bool overflow)
{
	u32 ack = READ_ONCE(fw->glb->output->ack);
	u32 events = (READ_ONCE(fw->glb->input->req) ^ ack) & GLB_PERFCNT_EVENTS;

	if (!overflow)
		events &= ~GLB_PERFCNT_OVERFLOW;
	if (!events)
		return false;

	panthor_fw_update_reqs(fw->glb, req, ack, events);
	fw->ops->ring_doorbell(fw);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_rearm);

/*
 * Checks if firmware has found the ring full, and panthor_perf_fw_rearm() has not
 * acknowledged that so far.
 */
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw)
{
	return (READ_ONCE(fw->glb->input->req) ^ READ_ONCE(fw->glb->output->ack)) &
	       GLB_PERFCNT_OVERFLOW;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_overflowed);
