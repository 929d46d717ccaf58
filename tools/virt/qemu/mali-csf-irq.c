/*
 * Arm Mali CSF GPU: interrupt blocks
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hw/irq.h"
#include "hw/registerfields.h"
#include "hw/misc/mali-csf.h"

REG32(RAWSTAT, 0x0)
REG32(CLEAR, 0x4)
REG32(MASK, 0x8)
REG32(STAT, 0xc)

void mali_csf_irq_update(MaliIrq *irq)
{
    qemu_irq line = irq->line;
    uint32_t active = irq->raw & irq->mask;

    if (irq->sharer) {
        line = line ?: irq->sharer->line;
        active |= irq->sharer->raw & irq->sharer->mask;
    }
    qemu_set_irq(line, active != 0);
}

void mali_csf_irq_raise(MaliCsfState *s, int irq, uint32_t bits)
{
    s->irq[irq].raw |= bits;
    mali_csf_irq_update(&s->irq[irq]);
}

uint32_t mali_csf_irq_read(MaliIrq *irq, hwaddr reg)
{
    switch (reg) {
    case A_RAWSTAT:
        return irq->raw;
    case A_MASK:
        return irq->mask;
    case A_STAT:
        return irq->raw & irq->mask;
    }
    return 0;
}

void mali_csf_irq_write(MaliIrq *irq, hwaddr reg, uint32_t val)
{
    switch (reg) {
    case A_RAWSTAT:     /* raises, for tests of the line */
        irq->raw |= val;
        break;
    case A_CLEAR:
        irq->raw &= ~val;
        break;
    case A_MASK:
        irq->mask = val;
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: write of 0x%x to an "
                      "interrupt's status ignored\n", val);
    }
    mali_csf_irq_update(irq);
}
