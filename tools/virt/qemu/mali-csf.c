/*
 * Arm Mali CSF GPU: models, properties, registers, power, interrupts, time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/core/cpu.h"
#include "hw/registerfields.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "hw/misc/mali-csf-counters.h"
#include "trace.h"

/* The GPU's own registers; the blocks of the others are below. */
REG32(GPU_ID, 0x0)
    FIELD(GPU_ID, ARCH_MAJOR, 28, 4)
REG32(L2_FEATURES, 0x4)
REG32(CORE_FEATURES, 0x8)
REG32(TILER_FEATURES, 0xc)
REG32(MEM_FEATURES, 0x10)
    FIELD(MEM_FEATURES, COHERENT_CORE_GROUP, 0, 1)
    FIELD(MEM_FEATURES, L2_SLICES, 8, 4)
REG32(MMU_FEATURES, 0x14)
    FIELD(MMU_FEATURES, VA_BITS, 0, 8)
    FIELD(MMU_FEATURES, PA_BITS, 8, 8)
REG32(AS_PRESENT, 0x18)
REG32(CSF_ID, 0x1c)
REG32(GPU_IRQ, 0x20)
REG32(GPU_COMMAND, 0x30)
    FIELD(GPU_COMMAND, COMMAND, 0, 8)
REG32(GPU_STATUS, 0x34)
REG32(GPU_FAULTSTATUS, 0x3c)
REG32(GPU_FAULTADDRESS, 0x40)
REG32(GPU_FAULTADDRESS_HI, 0x44)
REG32(L2_CONFIG, 0x48)
REG32(PWR_KEY, 0x50)
REG32(PWR_OVERRIDE0, 0x54)
REG32(PWR_OVERRIDE1, 0x58)
REG32(GPU_FEATURES, 0x60)
REG32(GPU_FEATURES_HI, 0x64)
REG32(PRFCNT_FEATURES, 0x68)
REG32(TIMESTAMP_OFFSET, 0x88)
REG32(TIMESTAMP_OFFSET_HI, 0x8c)
REG32(CYCLE_COUNT, 0x90)
REG32(CYCLE_COUNT_HI, 0x94)
REG32(TIMESTAMP, 0x98)
REG32(TIMESTAMP_HI, 0x9c)
REG32(THREAD_MAX_THREADS, 0xa0)
REG32(THREAD_MAX_WORKGROUP_SIZE, 0xa4)
REG32(THREAD_MAX_BARRIER_SIZE, 0xa8)
REG32(THREAD_FEATURES, 0xac)
REG32(TEXTURE_FEATURES, 0xb0)
REG32(REVIDR, 0x280)
REG32(ASN_HASH0, 0x2c0)
REG32(COHERENCY_FEATURES, 0x300)
REG32(COHERENCY_PROTOCOL, 0x304)
REG32(MCU_CONTROL, 0x700)
REG32(MCU_STATUS, 0x704)

/* GPU_COMMAND.COMMAND */
enum {
    COMMAND_NOP = 0, COMMAND_RESET = 1, COMMAND_CLEAR_FAULT = 2,
    COMMAND_FLUSH_CACHES = 4, COMMAND_NONE = 0xff,
};

#define PWR_KEY_MAGIC       0x2968a819

/* Where blocks of registers are. */
#define REGS_GPU            0x0
#define REGS_JOB            0x1000
#define REGS_MMU            0x2000
#define REGS_AS             0x2400
#define REGS_AS_SIZE        (0x40 * MALI_MAX_AS)
#define REGS_LATEST_FLUSH   0x10000
#define REGS_DOORBELLS      0x80000
#define REGS_DOORBELL_SIZE  0x10000

#define UNSET32 UINT32_MAX
#define UNSET64 UINT64_MAX

#define IFACE(major, minor, patch) ((major) << 24 | (minor) << 16 | (patch))

/* GPU_FEATURES */
#define RAY_INTERSECTION    (1u << 2)
#define CROSS_STREAM_SYNC   (1u << 3)
#define RAY_TRAVERSAL       (1u << 5)

/*
 * GPU_ID is arch major 31:28, minor 27:24, revision 23:20, product 19:16. Major
 * and product are the product's, with the minors that there is firmware for;
 * the revisions of the G510, G615, G715 and G1 are not public and 0 here. The
 * G610 and the G710's core mask are those of boards in the field; the others
 * have gaps of our own choosing, so that no two masks are alike, and as many
 * cores as a product of that name has.
 *
 * CORE_FEATURES bits 7:0 are the variant of the shader core. User space knows
 * the variants of a product, and refuses others: of all that have any, 4 is
 * the largest one.
 */
static const MaliModel mali_models[] = {
    {
        .name = "g310",
        .gpu_id = 0xac740000, .shader_present = 0x1, .l2_slices = 1,
        .counters = 64, .iface_version = IFACE(1, 5, 0), .csgs = 8,
        .core_features = 4,
    }, {
        .name = "g510",
        .gpu_id = 0xaa030000, .shader_present = 0x115, .l2_slices = 2,
        .counters = 64, .iface_version = IFACE(1, 5, 0), .csgs = 8,
        .core_features = 4,
    }, {
        .name = "g610", .compatible = "rockchip,rk3588-mali",
        .gpu_id = 0xa8670000, .shader_present = 0x50005, .l2_slices = 4,
        .counters = 64, .iface_version = IFACE(1, 5, 0), .csgs = 8,
    }, {
        .name = "g710",
        .gpu_id = 0xa8620000, .shader_present = 0x1110055, .l2_slices = 4,
        .counters = 64, .iface_version = IFACE(1, 0, 0), .csgs = 8,
    }, {
        .name = "g615",
        .gpu_id = 0xb8030000, .shader_present = 0x10115, .l2_slices = 2,
        .counters = 128, .metadata = true, .iface_version = IFACE(2, 2, 0),
        .csgs = 8, .core_features = 4, .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g715",
        .gpu_id = 0xb8020000, .shader_present = 0x550055, .l2_slices = 4,
        .counters = 128, .metadata = true, .iface_version = IFACE(2, 2, 0),
        .csgs = 8, .core_features = 4, .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g620",
        .gpu_id = 0xc8710000, .shader_present = 0x10151, .l2_slices = 1,
        .counters = 128, .metadata = true, .iface_version = IFACE(3, 0, 0),
        .csgs = 8, .fw_blocks = 1, .core_features = 4,
        .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g720",
        .gpu_id = 0xc8700000, .shader_present = 0x10555, .l2_slices = 2,
        .counters = 128, .metadata = true, .iface_version = IFACE(3, 0, 0),
        .csgs = 8, .fw_blocks = 1, .core_features = 4,
        .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g625",
        .gpu_id = 0xd8310000, .shader_present = 0x1111, .l2_slices = 2,
        .counters = 128, .metadata = true, .iface_version = IFACE(3, 3, 0),
        .csgs = 16, .fw_blocks = 1, .csg_blocks = 16, .core_features = 4,
        .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g725",
        .gpu_id = 0xd8300000, .shader_present = 0x111111, .l2_slices = 8,
        .counters = 128, .metadata = true, .iface_version = IFACE(3, 3, 0),
        .csgs = 16, .fw_blocks = 1, .csg_blocks = 16, .core_features = 4,
        .gpu_features = CROSS_STREAM_SYNC,
    }, {
        .name = "g1",
        .gpu_id = 0xe8000000, .shader_present = 0x5550055, .l2_slices = 4,
        .counters = 128, .metadata = true, .iface_version = IFACE(4, 1, 0),
        .csgs = 16, .fw_blocks = 1, .csg_blocks = 16, .core_features = 4,
        .gpu_features = RAY_INTERSECTION | CROSS_STREAM_SYNC | RAY_TRAVERSAL,
    },
};

/* Reset and cache maintenance */

/* All that a reset of the GPU does but for the lines of its interrupts. */
static void mali_reset_state(MaliCsfState *s)
{
    mali_csf_counters_advance(s);
    mali_csf_pwr_reset(s);
    timer_del(s->flush_timer);
    mali_csf_csg_reset(s);
    mali_csf_perfcnt_reset(s);
    mali_csf_publish_lost(s);
    mali_csf_mcu_reset(s);
    mali_csf_mmu_reset(s);
    mali_csf_bench_reset(s);
    mali_csf_clk_cycle_reset(s);
    s->gpu_status_protm = 0;
    s->gpu_fault_status = 0;
    s->gpu_fault_addr = 0;
    s->timestamp_offset = 0;
    s->coherency_protocol = MALI_COHERENCY_NONE;
    s->latest_flush_id = 1;
    s->l2_config = 0;
    memset(s->asn_hash, 0, sizeof(s->asn_hash));
    s->pwr_key = 0;
    memset(s->pwr_override, 0, sizeof(s->pwr_override));
    for (int i = 0; i < MALI_IRQS; i++) {
        s->irq[i].raw = 0;
        /* Masks of those stay by which the reset's end is heard of. */
        if (i != MALI_IRQ_GPU && i != MALI_IRQ_PWR) {
            s->irq[i].mask = 0;
        }
    }
}

static void mali_reset_lines(MaliCsfState *s)
{
    for (int i = 0; i < MALI_IRQS; i++) {
        mali_csf_irq_update(&s->irq[i]);
    }
}

/* A GPU that loses power forgets more than one that is reset. */
static void mali_forget(MaliCsfState *s)
{
    mali_reset_state(s);
    timer_del(s->reset_timer);
    s->irq[MALI_IRQ_GPU].mask = 0;
    s->irq[MALI_IRQ_PWR].mask = 0;
}

static void mali_clocks_stopped(MaliCsfState *s)
{
    mali_forget(s);
    mali_reset_lines(s);
}

static void mali_reset_done(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->reset_timer)) {
        return;
    }
    if (mali_arch(s) >= MALI_ARCH_PWR_CONTROL) {
        mali_csf_pwr_control_reset_done(s);
    } else {
        mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_RESET_COMPLETED);
    }
}

static void mali_reset_start(MaliCsfState *s)
{
    mali_reset_state(s);
    mali_reset_lines(s);
    if (!mali_csf_faults_reset_stuck(s)) {
        timer_mod(s->reset_timer, mali_csf_clk_now() + 20 * SCALE_US);
    }
}

static void mali_flush_done(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->flush_timer)) {
        return;
    }
    mali_csf_publish_flushed(s);
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_CLEAN_COMPLETED);
}

static void mali_gpu_command(MaliCsfState *s, uint32_t val)
{
    unsigned command = FIELD_EX32(val, GPU_COMMAND, COMMAND);

    trace_mali_csf_command(val);
    if (command == COMMAND_RESET && mali_arch(s) >= MALI_ARCH_PWR_CONTROL) {
        command = COMMAND_NONE;     /* PWR_CONTROL has it */
    }
    switch (command) {
    case COMMAND_NOP:
        break;
    case COMMAND_RESET:
        mali_reset_start(s);
        break;
    case COMMAND_CLEAR_FAULT:
        s->gpu_fault_status = 0;
        s->gpu_fault_addr = 0;
        break;
    case COMMAND_FLUSH_CACHES:
        mali_csf_counters_work(s, MALI_WORK_FLUSH, 0, 0, 1,
                               MALI_FLUSH_CYCLES, 0);
        mali_csf_mmu_flush_started(s);
        if (mali_csf_faults_flush_stuck(s)) {
            break;
        }
        timer_mod(s->flush_timer, mali_csf_clk_now() +
                  mali_csf_clk_cycles_to_ns(s, MALI_CLK_CORE,
                                            MALI_FLUSH_CYCLES));
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: unknown GPU_COMMAND 0x%x\n",
                      val);
    }
}

/* Registers */

static uint32_t mali_gpu_status(MaliCsfState *s)
{
    uint32_t v = s->gpu_status_protm;

    if (s->pwr[MALI_PWR_L2].ready) {
        v |= MALI_STATUS_PWR_ACTIVE;
    }
    if (!mali_csf_csg_idle(s)) {
        v |= MALI_STATUS_ACTIVE;
    }
    for (int i = 0; i < MALI_MAX_AS; i++) {
        if (s->as[i].faulted) {
            v |= MALI_STATUS_PAGE_FAULT;
        }
    }
    return v;
}

static uint32_t mali_gpu_read(MaliCsfState *s, hwaddr off)
{
    switch (off) {
    case A_GPU_ID:
        return s->gpu_id;
    case A_L2_FEATURES:    /* 64-byte lines, 256 KiB a slice */
        return 0x07120306;
    case A_CORE_FEATURES:
        return s->model->core_features;
    case A_TILER_FEATURES:
        return 0x809;
    case A_MEM_FEATURES:
        return FIELD_DP32(R_MEM_FEATURES_COHERENT_CORE_GROUP_MASK,
                          MEM_FEATURES, L2_SLICES, s->l2_slices - 1);
    case A_MMU_FEATURES:
        return FIELD_DP32(FIELD_DP32(0, MMU_FEATURES, VA_BITS, 48),
                          MMU_FEATURES, PA_BITS, 40);
    case A_AS_PRESENT:
        return s->as_present;
    case A_CSF_ID:
        return 0x40a0412;
    case A_GPU_IRQ ... A_GPU_IRQ + 0xf:
        return mali_csf_irq_read(&s->irq[MALI_IRQ_GPU], off - A_GPU_IRQ);
    case A_GPU_STATUS:
        return mali_gpu_status(s);
    case A_GPU_FAULTSTATUS:
        return s->gpu_fault_status;
    case A_GPU_FAULTADDRESS:
        return s->gpu_fault_addr;
    case A_GPU_FAULTADDRESS_HI:
        return s->gpu_fault_addr >> 32;
    case A_L2_CONFIG:
        return s->l2_config;
    case A_PWR_KEY:
        return s->pwr_key;
    case A_PWR_OVERRIDE0:
    case A_PWR_OVERRIDE1:
        return s->pwr_override[(off - A_PWR_OVERRIDE0) / 4];
    case A_GPU_FEATURES:
        return s->gpu_features;
    case A_GPU_FEATURES_HI:
        return s->gpu_features >> 32;
    case A_PRFCNT_FEATURES: /* block size in units of 256 bytes, arch 11 */
        return FIELD_EX32(s->gpu_id, GPU_ID, ARCH_MAJOR) >= 11 ?
               s->counters * 4 / 256 : 0;
    case A_TIMESTAMP_OFFSET:
        return s->timestamp_offset;
    case A_TIMESTAMP_OFFSET_HI:
        return s->timestamp_offset >> 32;
    case A_CYCLE_COUNT:
        return mali_csf_clk_cycle_count(s);
    case A_CYCLE_COUNT_HI:
        return mali_csf_clk_cycle_count(s) >> 32;
    case A_TIMESTAMP:
        return mali_csf_clk_timestamp_reg(s);
    case A_TIMESTAMP_HI:
        return mali_csf_clk_timestamp_reg(s) >> 32;
    case A_THREAD_MAX_THREADS:
        return 2048;
    case A_THREAD_MAX_WORKGROUP_SIZE:
    case A_THREAD_MAX_BARRIER_SIZE:
        return 1024;
    case A_THREAD_FEATURES:
        return 0x04010000;
    case A_TEXTURE_FEATURES:
        return 0xc1ffff9e;
    case MALI_PWR_REGS ... MALI_PWR_REGS_LAST:
        return mali_arch(s) < MALI_ARCH_PWR_CONTROL ?
               mali_csf_pwr_read(s, off) : 0;
    case MALI_PWRCTL_REGS ... MALI_PWRCTL_REGS_LAST:
        return mali_arch(s) >= MALI_ARCH_PWR_CONTROL ?
               mali_csf_pwr_control_read(s, off) : 0;
    case A_REVIDR:
        return s->gpu_id;
    case A_ASN_HASH0 ... A_ASN_HASH0 + 0xb:
        return s->asn_hash[(off - A_ASN_HASH0) / 4];
    case A_COHERENCY_FEATURES: /* ACE-lite or none */
        return s->coherent ? 1 : 0;
    case A_COHERENCY_PROTOCOL:
        return s->coherency_protocol;
    case A_MCU_CONTROL:
        return s->mcu_control;
    case A_MCU_STATUS:
        return s->mcu_status;
    }
    return 0;
}

/* Nothing is there, or it can only be read. */
static void mali_write_ignored(hwaddr off, uint32_t val)
{
    qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: write of 0x%x to register "
                  "0x%" HWADDR_PRIx " ignored\n", val, off);
}

static void mali_gpu_write(MaliCsfState *s, hwaddr off, uint32_t val)
{
    switch (off) {
    case A_GPU_IRQ ... A_GPU_IRQ + 0xf:
        mali_csf_irq_write(&s->irq[MALI_IRQ_GPU], off - A_GPU_IRQ, val);
        break;
    case A_GPU_COMMAND:
        mali_gpu_command(s, val);
        break;
    case A_L2_CONFIG:
        s->l2_config = val;
        break;
    case A_PWR_KEY:
        s->pwr_key = val;
        break;
    case A_PWR_OVERRIDE0:
    case A_PWR_OVERRIDE1:
        if (s->pwr_key == PWR_KEY_MAGIC) {
            s->pwr_override[(off - A_PWR_OVERRIDE0) / 4] = val;
            s->pwr_key = 0;
        } else {
            mali_write_ignored(off, val);
        }
        break;
    case A_TIMESTAMP_OFFSET:
        s->timestamp_offset = deposit64(s->timestamp_offset, 0, 32, val);
        break;
    case A_TIMESTAMP_OFFSET_HI:
        s->timestamp_offset = deposit64(s->timestamp_offset, 32, 32, val);
        break;
    case MALI_PWR_REGS ... MALI_PWR_REGS_LAST:
        if (mali_arch(s) < MALI_ARCH_PWR_CONTROL) {
            mali_csf_pwr_write(s, off, val);
        } else {
            mali_write_ignored(off, val);
        }
        break;
    case MALI_PWRCTL_REGS ... MALI_PWRCTL_REGS_LAST:
        if (mali_arch(s) >= MALI_ARCH_PWR_CONTROL) {
            mali_csf_pwr_control_write(s, off, val);
        } else {
            mali_write_ignored(off, val);
        }
        break;
    case A_ASN_HASH0 ... A_ASN_HASH0 + 0xb:
        s->asn_hash[(off - A_ASN_HASH0) / 4] = val;
        break;
    case A_COHERENCY_PROTOCOL:
        s->coherency_protocol = val;
        break;
    case A_MCU_CONTROL:
        mali_csf_mcu_control(s, val);
        break;
    default:
        mali_write_ignored(off, val);
    }
}

static void mali_run_if_due(QEMUTimer *timer)
{
    if (timer_pending(timer) && timer_expired(timer, mali_csf_clk_now())) {
        timer_del(timer);
        timer->cb(timer->opaque);
    }
}

/*
 * A driver which polls may wait in vain for a timer that is due, if the host
 * does not get round to it: who reads a register sees the state it is time for.
 */
static void mali_catch_up(MaliCsfState *s)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        mali_run_if_due(s->pwr[i].timer);
    }
    for (int i = 0; i < MALI_MAX_AS; i++) {
        if (s->as[i].active) {
            mali_run_if_due(s->as[i].timer);
        }
    }
    mali_run_if_due(s->retract_timer);
    mali_run_if_due(s->mcu_timer);
}

static uint32_t mali_reg_read(MaliCsfState *s, hwaddr off)
{
    mali_catch_up(s);
    switch (off) {
    case REGS_GPU ... REGS_JOB - 1:
        return mali_gpu_read(s, off);
    case REGS_JOB ... REGS_JOB + 0xf:
        return mali_csf_irq_read(&s->irq[MALI_IRQ_JOB], off - REGS_JOB);
    case REGS_MMU ... REGS_MMU + 0xf:
        return mali_csf_irq_read(&s->irq[MALI_IRQ_MMU], off - REGS_MMU);
    case REGS_AS ... REGS_AS + REGS_AS_SIZE - 1:
        return mali_csf_mmu_read(s, off - REGS_AS);
    case REGS_LATEST_FLUSH:
        return s->latest_flush_id;
    }
    return 0;
}

static void mali_reg_write(MaliCsfState *s, hwaddr off, uint32_t val)
{
    switch (off) {
    case REGS_GPU ... REGS_JOB - 1:
        mali_gpu_write(s, off, val);
        break;
    case REGS_JOB ... REGS_JOB + 0xf:
        mali_csf_irq_write(&s->irq[MALI_IRQ_JOB], off - REGS_JOB, val);
        break;
    case REGS_MMU ... REGS_MMU + 0xf:
        mali_csf_irq_write(&s->irq[MALI_IRQ_MMU], off - REGS_MMU, val);
        break;
    case REGS_AS ... REGS_AS + REGS_AS_SIZE - 1:
        mali_csf_mmu_write(s, off - REGS_AS, val);
        break;
    case REGS_DOORBELLS ... MALI_REGS_SIZE - 1:
        if (!(off % REGS_DOORBELL_SIZE)) {
            unsigned id = (off - REGS_DOORBELLS) / REGS_DOORBELL_SIZE;

            trace_mali_csf_doorbell(id);
            if (id == 0) {
                mali_csf_mcu_doorbell(s);
            } else {
                mali_csf_mcu_user_doorbell(s);
                mali_csf_csg_user_doorbell(s, id);
            }
        } else {
            mali_write_ignored(off, val);
        }
        break;
    default:
        mali_write_ignored(off, val);
    }
}

/* Without a clock nothing answers: an external abort of the CPU. */
static bool mali_answers(MaliCsfState *s, hwaddr off)
{
    if (!mali_csf_clk_running(s)) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: access to register 0x%"
                      HWADDR_PRIx " without clocks\n", off);
        return false;
    }
    return true;
}

static MemTxResult mali_regs_read(void *opaque, hwaddr off, uint64_t *val,
                                  unsigned size, MemTxAttrs attrs)
{
    MaliCsfState *s = opaque;

    if (!mali_answers(s, off)) {
        return MEMTX_ERROR;
    }
    *val = mali_reg_read(s, off);
    return MEMTX_OK;
}

static MemTxResult mali_regs_write(void *opaque, hwaddr off, uint64_t val,
                                   unsigned size, MemTxAttrs attrs)
{
    MaliCsfState *s = opaque;

    if (!mali_answers(s, off)) {
        return MEMTX_ERROR;
    }
    mali_reg_write(s, off, val);
    return MEMTX_OK;
}

static const MemoryRegionOps mali_regs_ops = {
    .read_with_attrs = mali_regs_read,
    .write_with_attrs = mali_regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    /* 64-bit accesses are two of 32 bits, low half first. */
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static uint64_t mali_bench_read(void *opaque, hwaddr off, unsigned size)
{
    return mali_csf_bench_read(opaque, off, size);
}

static void mali_bench_write(void *opaque, hwaddr off, uint64_t val,
                             unsigned size)
{
    mali_csf_bench_write(opaque, off, val, size);
}

static const MemoryRegionOps mali_bench_ops = {
    .read = mali_bench_read,
    .write = mali_bench_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* Device */

static void mali_space_changed(MaliCsfState *s, unsigned as)
{
    mali_csf_mcu_as_event(s, as);
    mali_csf_csg_as_event(s, as);
}

/*
 * (inf.) The L2 loses what was not flushed: a driver is to flush it before it
 * takes its power, as Linux does whenever it turns an address space off.
 */
static void mali_power_changed(MaliCsfState *s)
{
    if (!s->pwr[MALI_PWR_L2].ready) {
        mali_csf_publish_lost(s);
    }
    mali_csf_csg_kick(s);
}

/* What the files below tell those above. */
static const MaliCsfEvents mali_events = {
    .space_changed = mali_space_changed,
    .power_changed = mali_power_changed,
    .groups_changed = mali_csf_mcu_activity,
    .groups_idle = mali_csf_csg_idle,
    .sample_due = mali_csf_csg_report_work,
    .caches_flushed = mali_csf_publish_flushed,
    .clocks_stopped = mali_clocks_stopped,
    .reset_wanted = mali_reset_start,
};

static bool mali_parse_iface(MaliCsfState *s, Error **errp)
{
    unsigned major, minor, patch;
    char end;

    if (!s->iface_str) {
        s->iface_version = s->model->iface_version;
        return true;
    }
    if (sscanf(s->iface_str, "%u.%u.%u%c", &major, &minor, &patch, &end) != 3 ||
        major < 1 || major > 255 || minor > 255 || patch > 65535) {
        error_setg(errp, "mali-csf: iface=%s: an interface version is X.Y.Z, "
                   "e.g. 1.5.0", s->iface_str);
        return false;
    }
    s->iface_version = IFACE(major, minor, patch);
    return true;
}

static bool mali_check(MaliCsfState *s, Error **errp)
{
    const MaliModel *m = s->model;
    bool metadata = m->metadata;

    if (s->gpu_id == UNSET32) {
        s->gpu_id = m->gpu_id;
    }
    if (s->shader_present == UNSET64) {
        s->shader_present = m->shader_present;
    }
    if (s->l2_slices == UNSET32) {
        s->l2_slices = m->l2_slices;
    }
    if (s->csgs == UNSET32) {
        s->csgs = m->csgs;
    }
    if (s->counters == UNSET32) {
        s->counters = m->counters;
    }
    if (s->fw_blocks == UNSET32) {
        s->fw_blocks = m->fw_blocks;
    }
    if (s->gpu_features == UNSET64) {
        s->gpu_features = m->gpu_features;
    }
    if (s->csg_blocks == UNSET32) {
        s->csg_blocks = m->csg_blocks ? s->csgs : 0;
    }
    if (s->metadata != ON_OFF_AUTO_AUTO) {
        metadata = s->metadata == ON_OFF_AUTO_ON;
    }
    if (metadata && s->metadata == ON_OFF_AUTO_AUTO &&
        s->iface_version < IFACE(2, 0, 0)) {
        metadata = false;
    }
    s->metadata = metadata ? ON_OFF_AUTO_ON : ON_OFF_AUTO_OFF;

    if (!(s->shader_present & s->shader_fuses)) {
        error_setg(errp, "mali-csf: shader_present must name a core, which "
                   "shader_fuses have left");
    } else if (s->gpu_id >> 28 < 10 || s->gpu_id >> 28 > 14) {
        error_setg(errp, "mali-csf: gpu_id 0x%x: the architecture (bits 31:28) "
                   "must be 10 to 14", s->gpu_id);
    } else if (s->l2_slices < 1 || s->l2_slices > MALI_MAX_L2) {
        error_setg(errp, "mali-csf: l2_slices must be 1 to %d", MALI_MAX_L2);
    } else if (s->csgs < 3 || s->csgs > MALI_MAX_CSGS) {
        error_setg(errp, "mali-csf: csgs must be 3 to %d", MALI_MAX_CSGS);
    } else if (s->streams < 8 || s->streams > MALI_MAX_CS) {
        error_setg(errp, "mali-csf: streams must be 8 to %d", MALI_MAX_CS);
    } else if (s->counters != 64 && s->counters != 128) {
        error_setg(errp, "mali-csf: counters must be 64 or 128");
    } else if (s->counters != 64 && s->gpu_id >> 28 == 10) {
        error_setg(errp, "mali-csf: arch 10 has 64 counters a block");
    } else if (s->fw_blocks > 1) {
        error_setg(errp, "mali-csf: fw_blocks must be 0 or 1");
    } else if (s->csg_blocks && s->csg_blocks != s->csgs) {
        error_setg(errp, "mali-csf: csg_blocks must be 0 or the number of "
                   "csgs (%u)", s->csgs);
    } else if (s->csg_blocks && !s->fw_blocks) {
        error_setg(errp, "mali-csf: CSG blocks come with the firmware block: "
                   "set fw_blocks=1");
    } else if (s->real_rate < 1 || s->real_rate > MALI_MAX_REAL_RATE) {
        error_setg(errp, "mali-csf: real_rate must be 1 to %d, in thousandths "
                   "of the rate set", MALI_MAX_REAL_RATE);
    } else if (metadata && s->iface_version < IFACE(2, 0, 0)) {
        error_setg(errp, "mali-csf: metadata needs interface 2.0 or newer");
    } else {
        return true;
    }
    return false;
}

static void mali_no_model(MaliCsfState *s, Error **errp)
{
    g_autoptr(GString) names = g_string_new(NULL);

    for (int i = 0; i < ARRAY_SIZE(mali_models); i++) {
        g_string_append_printf(names, "%s%s", i ? ", " : "",
                               mali_models[i].name);
    }
    error_setg(errp, "mali-csf: no model '%s': choose one of %s",
               s->model_name, names->str);
}

static void mali_csf_realize(DeviceState *dev, Error **errp)
{
    MaliCsfState *s = MALI_CSF(dev);
    SysBusDevice *sbd = SYS_BUS_DEVICE(dev);
    uint64_t cntfrq = s->cntfrq;

    for (int i = 0; i < ARRAY_SIZE(mali_models); i++) {
        if (!g_strcmp0(s->model_name ?: "g610", mali_models[i].name)) {
            s->model = &mali_models[i];
        }
    }
    if (!s->model) {
        mali_no_model(s, errp);
        return;
    }
    /* All that can fail comes before all that would have to be undone. */
    if (!mali_parse_iface(s, errp) || !mali_check(s, errp) ||
        !mali_csf_board_init(s, errp) ||
        !mali_csf_ledger_init(s, errp)) {
        return;
    }

    if (!cntfrq && first_cpu &&
        object_property_find(OBJECT(first_cpu), "cntfrq")) {
        cntfrq = object_property_get_uint(OBJECT(first_cpu), "cntfrq",
                                          &error_abort);
    }
    if (!cntfrq) {
        cntfrq = 62500000;
    }
    /* As the CPUs' counter rounds it: the two must be the same counter. */
    s->count_period_ns = cntfrq < NANOSECONDS_PER_SECOND ?
                         NANOSECONDS_PER_SECOND / cntfrq : 1;
    s->second_ns = s->count_period_ns * cntfrq;
    s->cntfrq = cntfrq;

    /* Seeds that are near each other give series that are not; 0 stays 0. */
    s->latency_random = s->latency_seed * 0x9e3779b1u;
    s->n_cores = ctpop64(s->shader_present);
    s->as_present = 0xff;
    mali_csf_pwr_init(s);
    s->reset_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mali_reset_done, s);
    s->flush_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mali_flush_done, s);

    s->events = &mali_events;
    mali_csf_counters_init(s);
    mali_csf_perfcnt_init(s);
    mali_csf_mmu_init(s);
    mali_csf_mcu_init(s);
    mali_csf_csg_init(s);
    mali_csf_bench_init(s);

    memory_region_init_io(&s->regs, OBJECT(s), &mali_regs_ops, s,
                          "mali-csf.regs", MALI_REGS_SIZE);
    memory_region_init_io(&s->bench_regs, OBJECT(s), &mali_bench_ops, s,
                          "mali-csf.bench", MALI_BENCH_SIZE);
    memory_region_init_io(&s->sysreg, OBJECT(s), &mali_csf_board_ops, s,
                          "mali-csf.sysreg", MALI_SYSREG_SIZE);
    memory_region_init_io(&s->fuses, OBJECT(s), &mali_csf_fuses_ops, s,
                          "mali-csf.fuses", MALI_FUSES_SIZE);
    /* As MALI_MMIO_... */
    sysbus_init_mmio(sbd, &s->regs);
    sysbus_init_mmio(sbd, &s->bench_regs);
    sysbus_init_mmio(sbd, &s->sysreg);
    sysbus_init_mmio(sbd, &s->fuses);
    for (int i = 0; i < MALI_IRQ_LINES; i++) {
        sysbus_init_irq(sbd, &s->irq[i].line);
    }
}

static void mali_csf_unrealize(DeviceState *dev)
{
    MaliCsfState *s = MALI_CSF(dev);

    mali_csf_bench_exit(s);
    mali_csf_csg_exit(s);
    mali_csf_mcu_exit(s);
    mali_csf_mmu_exit(s);
    mali_csf_perfcnt_exit(s);
    mali_csf_counters_exit(s);
    mali_csf_pwr_exit(s);
    mali_csf_ledger_exit(s);
    timer_free(s->reset_timer);
    timer_free(s->flush_timer);
}

static void mali_csf_reset_enter(Object *obj, ResetType type)
{
    MaliCsfState *s = MALI_CSF(obj);

    mali_forget(s);
    mali_csf_board_reset(s);
    mali_csf_bench_forget(s);
}

static void mali_csf_reset_hold(Object *obj)
{
    mali_reset_lines(MALI_CSF(obj));
}

static Property mali_csf_properties[] = {
    DEFINE_PROP_STRING("model", MaliCsfState, model_name),
    DEFINE_PROP_STRING("ledger", MaliCsfState, ledger_name),
    DEFINE_PROP_STRING("jobs", MaliCsfState, job_ledger_name),
    DEFINE_PROP_UINT64("ledger_max", MaliCsfState, ledger_max, 16 * GiB),
    DEFINE_PROP_STRING("iface", MaliCsfState, iface_str),
    DEFINE_PROP_UINT32("gpu_id", MaliCsfState, gpu_id, UNSET32),
    DEFINE_PROP_UINT64("shader_present", MaliCsfState, shader_present, UNSET64),
    DEFINE_PROP_UINT64("shader_fuses", MaliCsfState, shader_fuses, UNSET64),
    DEFINE_PROP_UINT32("l2_slices", MaliCsfState, l2_slices, UNSET32),
    DEFINE_PROP_UINT32("csgs", MaliCsfState, csgs, UNSET32),
    DEFINE_PROP_UINT32("streams", MaliCsfState, streams, 8),
    DEFINE_PROP_UINT32("counters", MaliCsfState, counters, UNSET32),
    DEFINE_PROP_UINT32("fw_blocks", MaliCsfState, fw_blocks, UNSET32),
    DEFINE_PROP_UINT32("csg_blocks", MaliCsfState, csg_blocks, UNSET32),
    DEFINE_PROP_ON_OFF_AUTO("metadata", MaliCsfState, metadata,
                            ON_OFF_AUTO_AUTO),
    DEFINE_PROP_UINT64("gpu_features", MaliCsfState, gpu_features, UNSET64),
    DEFINE_PROP_BOOL("coherent", MaliCsfState, coherent, false),
    DEFINE_PROP_STRING("board", MaliCsfState, board),
    DEFINE_PROP_STRING("compatible", MaliCsfState, compatible),
    DEFINE_PROP_STRING("clocks", MaliCsfState, clocks),
    DEFINE_PROP_STRING("opps", MaliCsfState, opps),
    DEFINE_PROP_BOOL("gpufreq", MaliCsfState, gpufreq, false),
    DEFINE_PROP_BOOL("features_junk", MaliCsfState, features_junk, false),
    DEFINE_PROP_BOOL("events_once", MaliCsfState, events_once, false),
    DEFINE_PROP_UINT32("cntfrq", MaliCsfState, cntfrq, 0),
    DEFINE_PROP_UINT64("timestamp_ahead", MaliCsfState, timestamp_ahead, 0),
    DEFINE_PROP_BOOL("timestamp_gated", MaliCsfState, timestamp_gated, false),
    DEFINE_PROP_BOOL("cycle_count", MaliCsfState, cycle_count, true),
    DEFINE_PROP_UINT32("real_rate", MaliCsfState, real_rate, 1000),
    DEFINE_PROP_BOOL("protm_end", MaliCsfState, protm_end, true),
    DEFINE_PROP_UINT32("mcu_latency_ns", MaliCsfState, mcu_latency_ns, 2000),
    DEFINE_PROP_UINT32("latency_seed", MaliCsfState, latency_seed, 0),
    DEFINE_PROP_UINT32("power_ns", MaliCsfState, power_ns, 20000),
    DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription vmstate_mali_csf = {
    .name = TYPE_MALI_CSF,
    .unmigratable = 1,
};

static void mali_csf_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Arm Mali CSF GPU";
    dc->realize = mali_csf_realize;
    dc->unrealize = mali_csf_unrealize;
    rc->phases.enter = mali_csf_reset_enter;
    rc->phases.hold = mali_csf_reset_hold;
    dc->vmsd = &vmstate_mali_csf;
    dc->user_creatable = true;
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
    device_class_set_props(dc, mali_csf_properties);
}

static const TypeInfo mali_csf_info = {
    .name = TYPE_MALI_CSF,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(MaliCsfState),
    .class_init = mali_csf_class_init,
};

static void mali_csf_register(void)
{
    type_register_static(&mali_csf_info);
}

type_init(mali_csf_register)
