/*
 * Arm Mali CSF GPU: power controller, power of the shader cores
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "hw/registerfields.h"
#include "hw/misc/mali-csf.h"
#include "trace.h"

/* The first of each group: SHADER_x; 16 bytes on TILER_x, then L2_x. */
REG32(PRESENT, 0x100)
REG32(READY, 0x140)
REG32(PWRON, 0x180)
REG32(PWROFF, 0x1c0)
REG32(PWRTRANS, 0x200)
REG32(PWRACTIVE, 0x240)
#define PWR_GROUP_MASK  0x3f

static void pwr_changed(MaliCsfState *s)
{
    uint32_t bits = MALI_GPU_IRQ_POWER_CHANGED;
    bool busy = false;

    for (int i = 0; i < MALI_PWRS; i++) {
        busy |= s->pwr[i].trans_on || s->pwr[i].trans_off;
    }
    if (!busy) {
        bits |= MALI_GPU_IRQ_POWER_CHANGED_ALL;
    }
    mali_csf_irq_raise(s, MALI_IRQ_GPU, bits);
}

static void pwr_done(MaliCsfState *s, int domain)
{
    MaliPwr *p = &s->pwr[domain];
    uint64_t done = p->trans_on | p->trans_off;
    int64_t apart = 0;

    if (domain == MALI_PWR_SHADER && !is_power_of_2(done)) {
        apart = mali_csf_faults_cores_apart(s);
    }
    if (apart) {
        done &= -done;
        timer_mod(p->timer, mali_csf_clk_now() + apart);
    }
    mali_csf_counters_advance(s);
    p->ready = (p->ready | (p->trans_on & done)) & ~(p->trans_off & done);
    p->trans_on &= ~done;
    p->trans_off &= ~done;
    trace_mali_csf_power(domain, p->ready);
    if (domain == MALI_PWR_L2 && !p->ready) {
        /* Nothing works without the L2. */
        for (int i = 0; i < MALI_PWR_L2; i++) {
            timer_del(s->pwr[i].timer);
            s->pwr[i].ready = s->pwr[i].trans_on = s->pwr[i].trans_off = 0;
        }
    }
    pwr_changed(s);
    s->events->power_changed(s);
}

static void pwr_shader_done(void *opaque)
{
    pwr_done(opaque, MALI_PWR_SHADER);
}

static void pwr_tiler_done(void *opaque)
{
    pwr_done(opaque, MALI_PWR_TILER);
}

static void pwr_l2_done(void *opaque)
{
    pwr_done(opaque, MALI_PWR_L2);
}

void mali_csf_pwr_set(MaliCsfState *s, int domain, uint64_t mask, bool on)
{
    MaliPwr *p = &s->pwr[domain];

    mask &= p->present;
    if (domain != MALI_PWR_L2 && on && !s->pwr[MALI_PWR_L2].ready) {
        return;
    }
    if (on) {
        p->trans_off &= ~mask;
        p->trans_on |= mask & ~p->ready;
    } else {
        p->trans_on &= ~mask;
        p->trans_off |= mask & p->ready;
    }
    if (domain == MALI_PWR_L2 && p->trans_on && mali_csf_faults_l2_stuck(s)) {
        return;
    }
    if (p->trans_on || p->trans_off) {
        timer_mod(p->timer, mali_csf_clk_now() + s->power_ns);
    } else {
        timer_del(p->timer);
    }
}

/* Each has 16 bytes in a group of registers, of which the last are unused. */
static int pwr_domain(hwaddr off)
{
    static const int domain[] = {
        MALI_PWR_SHADER, MALI_PWR_TILER, MALI_PWR_L2
    };
    unsigned i = (off >> 4) & 3;

    return i < ARRAY_SIZE(domain) && !(off & 8) ? domain[i] : -1;
}

void mali_csf_pwr_write(MaliCsfState *s, hwaddr off, uint32_t val)
{
    uint64_t mask = (uint64_t)val << (off & 4 ? 32 : 0);
    int domain = pwr_domain(off);

    if (domain < 0) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: no power domain at register "
                      "0x%" HWADDR_PRIx "\n", off);
        return;
    }
    switch (off & ~PWR_GROUP_MASK) {
    case A_PWRON:
        mali_csf_pwr_set(s, domain, mask, true);
        break;
    case A_PWROFF:
        mali_csf_pwr_set(s, domain, mask, false);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: power register 0x%"
                      HWADDR_PRIx " cannot be written\n", off);
    }
}

uint32_t mali_csf_pwr_read(MaliCsfState *s, hwaddr off)
{
    int domain = pwr_domain(off);
    MaliPwr *p;
    uint64_t v;

    if (domain < 0) {
        return 0;
    }
    p = &s->pwr[domain];
    switch (off & ~PWR_GROUP_MASK) {
    case A_PRESENT:
        v = p->present;
        break;
    case A_READY:
        v = p->ready;
        break;
    case A_PWRTRANS:
        v = p->trans_on | p->trans_off;
        break;
    case A_PWRACTIVE:
        v = s->events->groups_idle(s) ? 0 : p->ready;
        break;
    default:
        return 0;
    }
    return v >> (off & 4 ? 32 : 0);
}

/* Power of the cores: firmware's, on demand, with a hysteresis. */

uint64_t mali_csf_pwr_core_mask(MaliCsfState *s)
{
    uint64_t alloc = (uint64_t)s->alloc_hi << 32 | s->alloc_lo;

    return s->shader_present & alloc & ~mali_csf_faults_cores_off(s);
}

bool mali_csf_pwr_cores_ready(MaliCsfState *s)
{
    uint64_t want = mali_csf_pwr_core_mask(s);

    return want && !(want & ~s->pwr[MALI_PWR_SHADER].ready) &&
           !s->pwr[MALI_PWR_SHADER].trans_off &&
           s->pwr[MALI_PWR_TILER].ready && !s->pwr[MALI_PWR_TILER].trans_off;
}

void mali_csf_pwr_cores_needed(MaliCsfState *s)
{
    timer_del(s->poweroff_timer);
    if (!mali_csf_pwr_cores_ready(s)) {
        mali_csf_pwr_set(s, MALI_PWR_SHADER, mali_csf_pwr_core_mask(s), true);
        mali_csf_pwr_set(s, MALI_PWR_TILER, 1, true);
    }
}

void mali_csf_pwr_init(MaliCsfState *s)
{
    s->pwr[MALI_PWR_SHADER].present = s->shader_present;
    s->pwr[MALI_PWR_TILER].present = 1;
    s->pwr[MALI_PWR_L2].present = 1;
    s->pwr[MALI_PWR_SHADER].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL,
                                                 pwr_shader_done, s);
    s->pwr[MALI_PWR_TILER].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL,
                                                pwr_tiler_done, s);
    s->pwr[MALI_PWR_L2].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL,
                                             pwr_l2_done, s);
}

void mali_csf_pwr_exit(MaliCsfState *s)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        timer_free(s->pwr[i].timer);
    }
}

void mali_csf_pwr_reset(MaliCsfState *s)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        timer_del(s->pwr[i].timer);
        s->pwr[i].ready = s->pwr[i].trans_on = s->pwr[i].trans_off = 0;
    }
}
