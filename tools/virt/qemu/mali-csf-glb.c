/*
 * Arm Mali CSF GPU: firmware's memory and its global interface
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What firmware does needs a few things of everybody's: its memory, through
 * address space 0, whether it runs at all, the global REQ as it knows it, and
 * the global ACK.
 */
#include "qemu/osdep.h"
#include "hw/misc/mali-csf.h"
#include "trace.h"

#define GLB_SOURCE_ID       0x0

/* Why firmware stops, if that can still be said. */
void mali_csf_glb_last_words(MaliCsfState *s, uint32_t status)
{
    status = cpu_to_le32(status);
    if (s->mcu_booted) {
        mali_csf_mmu_access(s, 0, MALI_GLB_OUT + MALI_GLB_OUT_HALT_STATUS,
                            &status, sizeof(status), MALI_ACCESS_WRITE,
                            GLB_SOURCE_ID);
    }
}

void mali_csf_glb_fatal(MaliCsfState *s)
{
    if (s->mcu_status == MALI_MCU_FATAL) {
        return;
    }
    s->mcu_status = MALI_MCU_FATAL;
    trace_mali_csf_mcu_status(s->mcu_status);
    mali_csf_glb_last_words(s, MALI_HALT_ON_PANIC);
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_MCU_STATUS);
}

bool mali_csf_glb_access(MaliCsfState *s, uint32_t va, void *buf, uint64_t len,
                       MaliAccess access)
{
    /*
     * Callers have checked that address space 0 is not locked; anything else
     * that goes wrong is firmware's end.
     */
    if (mali_csf_mmu_access(s, 0, va, buf, len, access, GLB_SOURCE_ID) ==
        MALI_MMU_OK) {
        return true;
    }
    mali_csf_glb_fatal(s);
    return false;
}

uint32_t mali_csf_glb_ld32(MaliCsfState *s, uint32_t va)
{
    uint32_t v = 0;

    return mali_csf_glb_access(s, va, &v, 4, MALI_ACCESS_READ) ?
           le32_to_cpu(v) : 0;
}

uint64_t mali_csf_glb_ld64(MaliCsfState *s, uint32_t va)
{
    uint64_t v = 0;

    return mali_csf_glb_access(s, va, &v, 8, MALI_ACCESS_READ) ?
           le64_to_cpu(v) : 0;
}

void mali_csf_glb_st32(MaliCsfState *s, uint32_t va, uint32_t val)
{
    val = cpu_to_le32(val);
    mali_csf_glb_access(s, va, &val, 4, MALI_ACCESS_WRITE);
}

void mali_csf_glb_st64(MaliCsfState *s, uint32_t va, uint64_t val)
{
    val = cpu_to_le64(val);
    mali_csf_glb_access(s, va, &val, 8, MALI_ACCESS_WRITE);
}

bool mali_csf_glb_running(MaliCsfState *s)
{
    /* Its memory is behind the L2. */
    return s->mcu_booted && s->mcu_status == MALI_MCU_ENABLED &&
           mali_csf_clk_running(s) && s->pwr[MALI_PWR_L2].ready &&
           !s->mcu_asleep && !mali_csf_faults_hang(s);
}

/* Firmware looks at REQ: at a doorbell or at boot. */
void mali_csf_glb_latch(MaliCsfState *s)
{
    s->glb_req = mali_csf_glb_ld32(s, MALI_GLB_IN + MALI_GLB_IN_REQ);
}

uint32_t mali_csf_glb_req(MaliCsfState *s)
{
    if (s->mcu_doorbell) {
        mali_csf_glb_latch(s);
    }
    return s->glb_req;
}

void mali_csf_glb_flip(MaliCsfState *s, uint32_t bits)
{
    uint32_t ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);

    mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK, ack ^ bits);
}

void mali_csf_glb_interrupt(MaliCsfState *s, uint32_t bits)
{
    if (bits & mali_csf_glb_ld32(s, MALI_GLB_IN + MALI_GLB_IN_ACK_IRQ_MASK)) {
        mali_csf_irq_raise(s, MALI_IRQ_JOB, MALI_JOB_IRQ_GLOBAL);
    }
}

void mali_csf_glb_ack(MaliCsfState *s, uint32_t bits)
{
    mali_csf_glb_flip(s, bits);
    mali_csf_glb_interrupt(s, bits);
}
