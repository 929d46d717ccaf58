// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: the firmware side. */

#include <linux/bitfield.h>
#include <linux/log2.h>

#include <drm/drm_print.h>

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
 * Firmware writes samples into a ring in the MCU's address space and counts
 * them in INSERT; the driver reads them and counts them in EXTRACT. Both run
 * freely and are cut to the ring only to address a slot.
 *
 * Requests go through REQ and ACK of the global interface. ENABLE is a level,
 * SAMPLE a toggle, and THRESHOLD and OVERFLOW are events which firmware raises
 * by making ACK differ from REQ, and which it does not raise again before they
 * are equal. Firmware reads REQ when a doorbell rings and when it boots, and at
 * no other time. At that doorbell it raises events again whose condition lasts.
 *
 * Firmware writes a sample, then INSERT, then ACK. Whoever wants to know which
 * samples a request has led to looks at ACK first, then at INSERT, and then at
 * the samples:
 *
 *	firmware		driver
 *
 *	sample			ACK	panthor_perf_fw_acked()
 *	  (A)			  (A)	dma_rmb()
 *	INSERT			INSERT	panthor_perf_fw_pending()
 *	  (B)			  (B)	dma_rmb()
 *	ACK			sample
 *				PRFCNT_EN = 0
 *				  (C)	dma_wmb() in panthor_perf_fw_consume()
 *	EXTRACT			EXTRACT
 *	  (C)
 *	sample
 *
 * The order of what is written before a doorbell and the doorbell is that of
 * writel().
 */

#define GLB_PERFCNT_EVENTS	(GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW)
#define GLB_PERFCNT_ALL		(GLB_PERFCNT_EN | GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS)

#define PERFCNT_CONFIG_SLOTS	GENMASK(7, 0)
#define PERFCNT_CONFIG_SET	GENMASK(9, 8)
#define PERFCNT_CONFIG_METADATA	BIT(10)

/* Not a part of panthor_fw_global_control_iface: the word behind instr_features. */
#define GLB_CONTROL_PERFCNT_FEATURES	0x20

/* Register of architecture 11 and later. */
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

/**
 * panthor_perf_fw_init() - Attach to the firmware of a device
 * @fw: Object to initialize, zeroed.
 * @ptdev: Device, whose firmware has booted.
 * @layout: Layout of samples.
 */
void panthor_perf_fw_init(struct panthor_perf_fw *fw, struct panthor_device *ptdev,
			  const struct panthor_perf_layout *layout)
{
	fw->ops = &hw_ops;
	fw->ptdev = ptdev;
	fw->layout = layout;
	fw->glb = panthor_fw_get_glb_iface(ptdev);
}

/**
 * panthor_perf_fw_params() - Read what the layout of samples follows from
 * @ptdev: Device, powered, whose firmware has booted.
 * @params: Where to put it; supported_clocks is left alone.
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

	/* What users are told may have been cut to what fuses have left of it. */
	if (panthor_hw_has_pwr_ctrl(ptdev))
		params->shader_present = gpu_read64(ptdev->iomem + PWR_CONTROL_BASE,
						    PWR_SHADER_PRESENT);
	else
		params->shader_present = gpu_read64(ptdev->iomem, GPU_SHADER_PRESENT);
}

/**
 * panthor_perf_fw_ring_alloc() - Allocate memory for a firmware ring
 * @fw: Firmware.
 * @slots: Number of slots, a power of two up to 128.
 * @bo: Where to put the memory. Free it with panthor_kernel_bo_destroy().
 *
 * Allocates, and so must be called without the lock of the sampler, which is
 * taken in the fence signalling path.
 *
 * Return: 0 on success, a negative error code otherwise.
 */
int panthor_perf_fw_ring_alloc(struct panthor_perf_fw *fw, u32 slots,
			       struct panthor_kernel_bo **bo)
{
	struct panthor_kernel_bo *mem;
	int ret;

	mem = panthor_kernel_bo_create(fw->ptdev, panthor_fw_vm(fw->ptdev),
				       (size_t)slots * fw->layout->fw_sample_size,
				       DRM_PANTHOR_BO_NO_MMAP,
				       DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC |
				       DRM_PANTHOR_VM_BIND_OP_MAP_UNCACHED,
				       PANTHOR_VM_KERNEL_AUTO_VA,
				       "Performance counter ring");
	/* Also what shmem calls it when there is no memory. Users are told of sessions by it. */
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

/**
 * panthor_perf_fw_ring_set() - Use a ring
 * @fw: Firmware, which has no ring.
 * @bo: Memory from panthor_perf_fw_ring_alloc().
 * @slots: Number of slots @bo was allocated for.
 */
void panthor_perf_fw_ring_set(struct panthor_perf_fw *fw, struct panthor_kernel_bo *bo,
			      u32 slots)
{
	fw->ring = bo->kmap;
	fw->ring_va = panthor_kernel_bo_gpuva(bo);
	fw->slots = slots;
}

/**
 * panthor_perf_fw_ring_clear() - Use a ring no longer
 * @fw: Firmware, with counters disabled.
 */
void panthor_perf_fw_ring_clear(struct panthor_perf_fw *fw)
{
	fw->ring = NULL;
}

/*
 * Requests that firmware has not seen, and events it has raised, end where
 * they are. What is left of an event would keep firmware from raising it, and
 * a SAMPLE that is pending would become one of the next epoch.
 */
static void settle_reqs(struct panthor_perf_fw *fw)
{
	u32 ack = READ_ONCE(fw->glb->output->ack);

	panthor_fw_update_reqs(fw->glb, req, ack, GLB_PERFCNT_SAMPLE | GLB_PERFCNT_EVENTS);
}

static void request_enable(struct panthor_perf_fw *fw)
{
	/* Some kernels set it at boot, and leave it set. */
	if (!(READ_ONCE(fw->glb->input->req) & GLB_COUNTER_EN))
		fw->cycles_on = true;

	panthor_fw_update_reqs(fw->glb, req, GLB_PERFCNT_EN | GLB_COUNTER_EN,
			       GLB_PERFCNT_EN | GLB_COUNTER_EN);
}

/* Requests what was requested before request_enable(). */
static void request_disable(struct panthor_perf_fw *fw)
{
	panthor_fw_update_reqs(fw->glb, req, 0,
			       GLB_PERFCNT_EN | (fw->cycles_on ? GLB_COUNTER_EN : 0));
	fw->cycles_on = false;
}

static void *slot_address(struct panthor_perf_fw *fw, u32 index)
{
	return fw->ring + (size_t)(index & (fw->slots - 1)) * fw->layout->fw_sample_size;
}

/* Without a client, nothing of ours raises an interrupt. */
static void mask_events(struct panthor_perf_fw *fw)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;

	WRITE_ONCE(input->ack_irq_mask, READ_ONCE(input->ack_irq_mask) & ~GLB_PERFCNT_ALL);
}

/**
 * panthor_perf_fw_enable() - Have firmware count
 * @fw: Firmware, up, with a ring and with counters disabled.
 * @set: Counter set.
 *
 * All counters of the set are enabled: masks could not be changed without
 * disabling counters, which discards counts. The caller takes a sample and
 * discards it if something may have been counted before.
 *
 * Return: 0 on success, -ETIMEDOUT if firmware did not answer.
 */
int panthor_perf_fw_enable(struct panthor_perf_fw *fw, u8 set)
{
	struct panthor_fw_global_input_iface *input = fw->glb->input;
	u32 config, i;

	/* A disable may have been given up on: firmware has to have seen it. */
	if (READ_ONCE(fw->glb->output->ack) & GLB_PERFCNT_EN) {
		int ret = panthor_perf_fw_disable(fw);

		if (ret)
			return ret;
	}

	config = FIELD_PREP(PERFCNT_CONFIG_SLOTS, fw->slots) | FIELD_PREP(PERFCNT_CONFIG_SET, set);
	if (fw->layout->has_metadata)
		config |= PERFCNT_CONFIG_METADATA;

	/*
	 * A block with PRFCNT_EN 0 is one that was not written. What was taken
	 * and not consumed before counters were disabled would be found again.
	 * All of the ring is much to write, and resume waits for it: the marks
	 * are enough.
	 */
	for (i = 0; i < fw->slots; i++)
		panthor_perf_layout_ack(fw->layout, slot_address(fw, i));

	settle_reqs(fw);
	WRITE_ONCE(input->perfcnt_as, fw->ops->address_space(fw));
	input->perfcnt_base = fw->ring_va;
	WRITE_ONCE(input->perfcnt_extract, 0);
	WRITE_ONCE(input->perfcnt_config, config);
	WRITE_ONCE(input->perfcnt_csg_select, U32_MAX);
	WRITE_ONCE(input->perfcnt_fw_enable, U32_MAX);
	WRITE_ONCE(input->perfcnt_csg_enable, U32_MAX);
	WRITE_ONCE(input->perfcnt_csf_enable, U32_MAX);
	WRITE_ONCE(input->perfcnt_shader_enable, U32_MAX);
	WRITE_ONCE(input->perfcnt_tiler_enable, U32_MAX);
	WRITE_ONCE(input->perfcnt_mmu_l2_enable, U32_MAX);

	/* Only boot writes the mask beside us, and hooks are called around it. */
	WRITE_ONCE(input->ack_irq_mask, READ_ONCE(input->ack_irq_mask) | GLB_PERFCNT_ALL);
	request_enable(fw);
	fw->ops->ring_doorbell(fw);

	/* Without a doorbell, firmware would not see that it is not to count any more. */
	if (fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS)) {
		fw->uncertain = true;
		request_disable(fw);
		mask_events(fw);
		fw->ops->ring_doorbell(fw);
		return -ETIMEDOUT;
	}

	/* Pairs with (B): INSERT has been set to 0 before the request was acknowledged. */
	dma_rmb();
	fw->extract = 0;
	fw->epoch++;
	fw->enabled = true;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_enable);

/**
 * panthor_perf_fw_disable() - Have firmware count no more
 * @fw: Firmware, up.
 *
 * Counts since the last sample are discarded.
 *
 * Return: 0 on success, -ETIMEDOUT if firmware did not answer.
 */
int panthor_perf_fw_disable(struct panthor_perf_fw *fw)
{
	bool counted = READ_ONCE(fw->glb->output->ack) & GLB_PERFCNT_EN;

	fw->enabled = false;
	request_disable(fw);
	fw->ops->ring_doorbell(fw);
	if (fw->ops->wait_acks(fw, GLB_PERFCNT_EN, PANTHOR_PERF_FW_ACK_MS)) {
		mask_events(fw);
		settle_reqs(fw);
		return -ETIMEDOUT;
	}

	/* Firmware was seen to count and to stop, so that it has seen all that came before. */
	if (counted)
		fw->uncertain = false;
	mask_events(fw);
	settle_reqs(fw);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_disable);

/**
 * panthor_perf_fw_enabled() - Check if firmware may write to the ring
 * @fw: Firmware, up.
 *
 * Return: False if it has seen that counters are disabled, and cannot have missed
 * that they were to be enabled before.
 */
bool panthor_perf_fw_enabled(struct panthor_perf_fw *fw)
{
	return fw->uncertain || (READ_ONCE(fw->glb->output->ack) & GLB_PERFCNT_EN);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_enabled);

/**
 * panthor_perf_fw_dead() - Note that the MCU has stopped
 * @fw: Firmware, whose MCU has stopped, and whose ring is drained.
 *
 * Leaves the interface as the next boot wants it. It may or may not be loaded
 * again before that.
 */
void panthor_perf_fw_dead(struct panthor_perf_fw *fw)
{
	fw->enabled = false;
	fw->uncertain = false;
	request_disable(fw);
	settle_reqs(fw);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_dead);

/**
 * panthor_perf_fw_request() - Request a sample
 * @fw: Firmware, counting, with no request in flight.
 *
 * May be called without the lock of the sampler: callers hold the lock that
 * protects its requests.
 */
void panthor_perf_fw_request(struct panthor_perf_fw *fw)
{
	panthor_fw_toggle_reqs(fw->glb, req, ack, GLB_PERFCNT_SAMPLE);
	fw->ops->ring_doorbell(fw);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_request);

/**
 * panthor_perf_fw_acked() - Check if the sample requested last is in the ring
 * @fw: Firmware.
 *
 * Return: True if it is, in which case INSERT, read after this, counts it.
 */
bool panthor_perf_fw_acked(struct panthor_perf_fw *fw)
{
	u32 req = READ_ONCE(fw->glb->input->req);
	u32 ack = READ_ONCE(fw->glb->output->ack);

	/* (A) */
	dma_rmb();
	return !((req ^ ack) & GLB_PERFCNT_SAMPLE);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_acked);

/**
 * panthor_perf_fw_wait_sample() - Wait for the sample requested last
 * @fw: Firmware, up.
 * @timeout_ms: How long to wait at most.
 *
 * Return: 0 if it is in the ring, -ETIMEDOUT if it is not.
 */
int panthor_perf_fw_wait_sample(struct panthor_perf_fw *fw, u32 timeout_ms)
{
	return fw->ops->wait_acks(fw, GLB_PERFCNT_SAMPLE, timeout_ms) ? -ETIMEDOUT : 0;
}

/**
 * panthor_perf_fw_irq_pending() - Check if an interrupt is for us
 * @fw: Firmware.
 * @in_flight: A sample has been requested.
 *
 * Called without any lock: a wrong answer is put right by the next interrupt or
 * by the watchdog.
 *
 * Return: True if there is something to drain or to acknowledge.
 */
bool panthor_perf_fw_irq_pending(struct panthor_perf_fw *fw, bool in_flight)
{
	u32 diff = READ_ONCE(fw->glb->input->req) ^ READ_ONCE(fw->glb->output->ack);

	return (diff & GLB_PERFCNT_EVENTS) || (in_flight && !(diff & GLB_PERFCNT_SAMPLE));
}

/**
 * panthor_perf_fw_pending() - Count the samples that wait in the ring
 * @fw: Firmware, counting or stopped while it counted.
 *
 * Return: Number of samples, or -EIO if the firmware's index makes no sense.
 */
int panthor_perf_fw_pending(struct panthor_perf_fw *fw)
{
	u32 insert = READ_ONCE(fw->glb->output->perfcnt_insert);

	/* (B) */
	dma_rmb();
	return panthor_perf_fw_ring_pending(fw->slots, insert, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_pending);

/**
 * panthor_perf_fw_slot() - Get the oldest sample
 * @fw: Firmware, with a sample pending.
 *
 * Return: Its address.
 */
void *panthor_perf_fw_slot(struct panthor_perf_fw *fw)
{
	return slot_address(fw, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_slot);

/**
 * panthor_perf_fw_consume() - Give the slot of the oldest sample back
 * @fw: Firmware, with a sample pending, which has been read and marked so.
 */
void panthor_perf_fw_consume(struct panthor_perf_fw *fw)
{
	fw->extract++;

	/* (C) */
	dma_wmb();
	WRITE_ONCE(fw->glb->input->perfcnt_extract, fw->extract);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_consume);

/**
 * panthor_perf_fw_rearm() - Acknowledge events, after samples have been consumed
 * @fw: Firmware, up and counting.
 * @overflow: Acknowledge OVERFLOW as well.
 *
 * Rings the doorbell, without which firmware would not know, and not raise them
 * again. There it does so at once if their condition lasts, and it retries a
 * request that has found the ring full: only who has made room, or has waited,
 * should call this more than once.
 *
 * Return: True if there was an event to acknowledge.
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

/**
 * panthor_perf_fw_overflowed() - Check if the ring was full
 * @fw: Firmware.
 *
 * Return: True if firmware has found the ring full and that was not acknowledged.
 */
bool panthor_perf_fw_overflowed(struct panthor_perf_fw *fw)
{
	return (READ_ONCE(fw->glb->input->req) ^ READ_ONCE(fw->glb->output->ack)) &
	       GLB_PERFCNT_OVERFLOW;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_fw_overflowed);

#ifdef CONFIG_DEBUG_FS
/**
 * panthor_perf_fw_show() - Show the state of the ring
 * @fw: Firmware, up or down.
 * @p: Where to.
 */
void panthor_perf_fw_show(struct panthor_perf_fw *fw, struct drm_printer *p)
{
	drm_printf(p, "epoch: %u\n", fw->epoch);
	drm_printf(p, "slots: %u\n", fw->ring ? fw->slots : 0);
	drm_printf(p, "insert: %u\n", READ_ONCE(fw->glb->output->perfcnt_insert));
	drm_printf(p, "extract: %u\n", fw->extract);
}
#endif
