/*
 * Arm Mali CSF GPU: power controller, power of the shader cores
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * There are two kinds of power controller. Up to arch 13 a domain has registers
 * that switch it, and so has firmware. From arch 14 on PWR_CONTROL takes
 * commands. It has an interrupt block of its own, and a domain is either the
 * host's or delegated to firmware. Reset is a command of it, too.
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

/* PWR_CONTROL, from MALI_PWRCTL_REGS on: an interrupt block, then these */
REG32(PWR_STATUS, 0x20)
REG32(PWR_STATUS_HI, 0x24)
REG32(PWR_COMMAND, 0x28)
    FIELD(PWR_COMMAND, COMMAND, 0, 8)
    FIELD(PWR_COMMAND, DOMAIN, 8, 8)
    FIELD(PWR_COMMAND, SUBDOMAIN, 16, 16)
REG32(PWR_CMDARG, 0x30)
REG32(PWR_CMDARG_HI, 0x34)
/* A domain's PRESENT, READY, PWRTRANS, PWRACTIVE, of 64 bits each */
#define CONTROL_L2          0x100
#define CONTROL_TILER       0x140
#define CONTROL_SHADER      0x200
#define CONTROL_GROUP_MASK  0x1f

/* Interrupts of PWR_CONTROL */
#define IRQ_CHANGED_SINGLE      (1u << 0)
#define IRQ_CHANGED_ALL         (1u << 1)
#define IRQ_DELEGATION          (1u << 2)
#define IRQ_RESET_COMPLETED     (1u << 3)
#define IRQ_RETRACT_COMPLETED   (1u << 4)
#define IRQ_INSPECT_COMPLETED   (1u << 5)
#define IRQ_NOT_ALLOWED         (1u << 30)
#define IRQ_INVALID             (1u << 31)

/* PWR_STATUS: a bit a domain, by its number, then the whole GPU's */
#define STATUS_DELEGATED_SHIFT  16
#define STATUS_ALLOW_SOFT_RESET (1ull << 33)
#define STATUS_ALLOW_FAST_RESET (1ull << 34)
#define STATUS_POWER_PENDING    (1ull << 41)
#define STATUS_RESET_PENDING    (1ull << 42)
#define STATUS_RETRACT_PENDING  (1ull << 43)

/* PWR_COMMAND.COMMAND */
enum {
    CONTROL_POWER_UP = 0x10, CONTROL_POWER_DOWN = 0x11,
    CONTROL_DELEGATE = 0x20, CONTROL_RETRACT = 0x21,
    CONTROL_RESET_SOFT = 0x31, CONTROL_RESET_FAST = 0x32,
    CONTROL_INSPECT = 0xf0,
};

/* A core's ray tracing unit */
#define SUBDOMAIN_RTU           1
#define FEATURE_RAY_TRAVERSAL   (1u << 5)

/* PWR_COMMAND.DOMAIN; base and stack (14, 15) have nothing to be switched */
static const uint8_t control_number[MALI_PWRS] = {
    [MALI_PWR_L2] = 0, [MALI_PWR_TILER] = 1, [MALI_PWR_SHADER] = 8,
};

static bool has_control(MaliCsfState *s)
{
    return mali_arch(s) >= MALI_ARCH_PWR_CONTROL;
}

static bool pwr_moving(const MaliPwr *p)
{
    return p->trans_on || p->trans_off;
}

static bool pwr_busy(MaliCsfState *s)
{
    bool busy = false;

    for (int i = 0; i < MALI_PWRS; i++) {
        busy |= pwr_moving(&s->pwr[i]);
    }
    return busy;
}

static void pwr_changed(MaliCsfState *s)
{
    bool all = !pwr_busy(s);

    if (has_control(s)) {
        mali_csf_irq_raise(s, MALI_IRQ_PWR, IRQ_CHANGED_SINGLE |
                           (all ? IRQ_CHANGED_ALL : 0));
    } else {
        mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_POWER_CHANGED |
                           (all ? MALI_GPU_IRQ_POWER_CHANGED_ALL : 0));
    }
}

static void pwr_done(MaliCsfState *s, int domain)
{
    MaliPwr *p = &s->pwr[domain];
    uint64_t done = p->trans_on | p->trans_off;
    int64_t apart = 0;

    if (mali_csf_clk_waits(s, p->timer)) {
        return;
    }
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

static void pwr_switch(MaliCsfState *s, int domain, uint64_t mask, bool on)
{
    MaliPwr *p = &s->pwr[domain];

    mask &= p->present;
    if (domain == MALI_PWR_SHADER) {
        mask &= s->shader_fuses;    /* the others have none */
    }
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
    if (pwr_moving(p)) {
        timer_mod(p->timer, mali_csf_clk_now() + s->power_ns);
    } else {
        timer_del(p->timer);
    }
}

void mali_csf_pwr_set(MaliCsfState *s, int domain, uint64_t mask, bool on)
{
    MaliPwrOwner owner = s->pwr[domain].owner;

    /* What is being retracted can still be switched off. */
    if (owner != MALI_PWR_HOST && !(owner == MALI_PWR_RETRACTING && on)) {
        pwr_switch(s, domain, mask, on);
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
        pwr_switch(s, domain, mask, true);
        break;
    case A_PWROFF:
        pwr_switch(s, domain, mask, false);
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

/* PWR_CONTROL */

static uint64_t control_status(MaliCsfState *s)
{
    bool reset = timer_pending(s->reset_timer);
    uint64_t v = 0;

    for (int i = 0; i < MALI_PWRS; i++) {
        switch (s->pwr[i].owner) {
        case MALI_PWR_FIRMWARE:
            v |= 1ull << (control_number[i] + STATUS_DELEGATED_SHIFT);
            break;
        case MALI_PWR_RETRACTING:
            v |= 1ull << (control_number[i] + STATUS_DELEGATED_SHIFT) |
                 STATUS_RETRACT_PENDING;
            break;
        default:
            v |= reset ? 0 : 1ull << control_number[i];
        }
    }
    v |= reset ? STATUS_RESET_PENDING
               : STATUS_ALLOW_SOFT_RESET | STATUS_ALLOW_FAST_RESET;
    return pwr_busy(s) ? v | STATUS_POWER_PENDING : v;
}

/* Everything needs the L2: it comes first, and goes last. */
static bool control_switch(MaliCsfState *s, int domain, bool on)
{
    const MaliPwr *p = s->pwr;

    if (p[domain].owner != MALI_PWR_HOST) {
        return false;
    }
    if (domain != MALI_PWR_L2) {
        if (on && !p[MALI_PWR_L2].ready) {
            return false;
        }
    } else if (!on) {
        for (int i = 0; i < MALI_PWR_L2; i++) {
            if (p[i].ready || p[i].trans_on) {
                return false;
            }
        }
    }
    pwr_switch(s, domain, s->pwr_cmdarg, on);
    return true;
}

static bool control_delegate(MaliCsfState *s, int domain)
{
    MaliPwr *p = &s->pwr[domain];

    /* The L2 always is the host's. */
    if (domain == MALI_PWR_L2 || p->owner != MALI_PWR_HOST || pwr_moving(p)) {
        return false;
    }
    p->owner = MALI_PWR_FIRMWARE;
    mali_csf_irq_raise(s, MALI_IRQ_PWR, IRQ_DELEGATION);
    /* Work may have waited for the cores. */
    s->events->power_changed(s);
    return true;
}

static bool control_retract(MaliCsfState *s, int domain)
{
    if (s->pwr[domain].owner != MALI_PWR_FIRMWARE ||
        timer_pending(s->retract_timer)) {
        return false;
    }
    s->pwr[domain].owner = MALI_PWR_RETRACTING;
    timer_mod(s->retract_timer, mali_csf_clk_now() + MAX(s->power_ns, 1));
    return true;
}

static void control_retracted(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->retract_timer)) {
        return;
    }
    for (int i = 0; i < MALI_PWRS; i++) {
        MaliPwr *p = &s->pwr[i];

        if (p->owner != MALI_PWR_RETRACTING) {
            continue;
        }
        if (pwr_moving(p)) {
            timer_mod(s->retract_timer,
                      mali_csf_clk_now() + MAX(s->power_ns, 1));
        } else {
            p->owner = MALI_PWR_HOST;
            mali_csf_irq_raise(s, MALI_IRQ_PWR,
                               IRQ_RETRACT_COMPLETED | IRQ_DELEGATION);
        }
    }
}

static int control_domain(unsigned number)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        if (control_number[i] == number) {
            return i;
        }
    }
    return -1;
}

/* What came of it, as interrupts: nothing, not allowed, or invalid. */
static uint32_t control_command(MaliCsfState *s, uint32_t val)
{
    int domain = control_domain(FIELD_EX32(val, PWR_COMMAND, DOMAIN));
    unsigned command = FIELD_EX32(val, PWR_COMMAND, COMMAND);
    unsigned sub = FIELD_EX32(val, PWR_COMMAND, SUBDOMAIN);
    bool allowed;

    switch (command) {
    case CONTROL_RESET_SOFT:
    case CONTROL_RESET_FAST:
        if (timer_pending(s->reset_timer)) {
            return IRQ_NOT_ALLOWED;
        }
        s->events->reset_wanted(s);
        return 0;
    case CONTROL_INSPECT:
        return IRQ_INSPECT_COMPLETED;
    }
    if (domain < 0 || (sub & ~SUBDOMAIN_RTU) ||
        (sub && (domain != MALI_PWR_SHADER ||
                 !(s->gpu_features & FEATURE_RAY_TRAVERSAL)))) {
        return IRQ_INVALID;
    }
    if (timer_pending(s->reset_timer)) {
        return IRQ_NOT_ALLOWED;
    }
    switch (command) {
    case CONTROL_POWER_UP:
    case CONTROL_POWER_DOWN:
        allowed = control_switch(s, domain, command == CONTROL_POWER_UP);
        break;
    case CONTROL_DELEGATE:
        allowed = control_delegate(s, domain);
        break;
    case CONTROL_RETRACT:
        allowed = control_retract(s, domain);
        break;
    default:
        return IRQ_INVALID;
    }
    return allowed ? 0 : IRQ_NOT_ALLOWED;
}

void mali_csf_pwr_control_reset_done(MaliCsfState *s)
{
    mali_csf_irq_raise(s, MALI_IRQ_PWR, IRQ_RESET_COMPLETED);
}

void mali_csf_pwr_control_write(MaliCsfState *s, hwaddr off, uint32_t val)
{
    uint32_t irqs;

    off -= MALI_PWRCTL_REGS;
    switch (off) {
    case 0 ... 0xf:
        mali_csf_irq_write(&s->irq[MALI_IRQ_PWR], off, val);
        break;
    case A_PWR_COMMAND:
        irqs = control_command(s, val);
        if (irqs & (IRQ_NOT_ALLOWED | IRQ_INVALID)) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: PWR_COMMAND 0x%x: %s\n",
                          val, irqs & IRQ_INVALID ? "invalid" : "not allowed");
        }
        if (irqs) {
            mali_csf_irq_raise(s, MALI_IRQ_PWR, irqs);
        }
        break;
    case A_PWR_CMDARG:
        s->pwr_cmdarg = deposit64(s->pwr_cmdarg, 0, 32, val);
        break;
    case A_PWR_CMDARG_HI:
        s->pwr_cmdarg = deposit64(s->pwr_cmdarg, 32, 32, val);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: write of 0x%x to PWR_CONTROL "
                      "register 0x%" HWADDR_PRIx " ignored\n", val, off);
    }
}

static uint64_t control_domain_read(MaliCsfState *s, hwaddr off)
{
    const MaliPwr *p;

    switch (off & ~CONTROL_GROUP_MASK) {
    case CONTROL_L2:
        p = &s->pwr[MALI_PWR_L2];
        break;
    case CONTROL_TILER:
        p = &s->pwr[MALI_PWR_TILER];
        break;
    case CONTROL_SHADER:
        p = &s->pwr[MALI_PWR_SHADER];
        break;
    default:
        return 0;
    }
    switch (off & CONTROL_GROUP_MASK & ~7) {
    case 0x0:
        return p->present;
    case 0x8:
        return p->ready;
    case 0x10:
        return p->trans_on | p->trans_off;
    default:
        return s->events->groups_idle(s) ? 0 : p->ready;
    }
}

uint32_t mali_csf_pwr_control_read(MaliCsfState *s, hwaddr off)
{
    off -= MALI_PWRCTL_REGS;
    switch (off) {
    case 0 ... 0xf:
        return mali_csf_irq_read(&s->irq[MALI_IRQ_PWR], off);
    case A_PWR_STATUS:
        return control_status(s);
    case A_PWR_STATUS_HI:
        return control_status(s) >> 32;
    case A_PWR_CMDARG:
        return s->pwr_cmdarg;
    case A_PWR_CMDARG_HI:
        return s->pwr_cmdarg >> 32;
    default:
        return control_domain_read(s, off) >> (off & 4 ? 32 : 0);
    }
}

/* Power of the cores: firmware's, on demand, with a hysteresis. */

uint64_t mali_csf_pwr_core_mask(MaliCsfState *s)
{
    uint64_t alloc = (uint64_t)s->alloc_hi << 32 | s->alloc_lo;

    return s->shader_present & s->shader_fuses & alloc &
           ~mali_csf_faults_cores_off(s);
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
    s->retract_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, control_retracted, s);
    if (has_control(s)) {
        s->irq[MALI_IRQ_PWR].sharer = &s->irq[MALI_IRQ_GPU];
        s->irq[MALI_IRQ_GPU].sharer = &s->irq[MALI_IRQ_PWR];
    }
}

void mali_csf_pwr_exit(MaliCsfState *s)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        timer_free(s->pwr[i].timer);
    }
    timer_free(s->retract_timer);
}

void mali_csf_pwr_reset(MaliCsfState *s)
{
    for (int i = 0; i < MALI_PWRS; i++) {
        timer_del(s->pwr[i].timer);
        s->pwr[i].ready = s->pwr[i].trans_on = s->pwr[i].trans_off = 0;
        s->pwr[i].owner = has_control(s) ? MALI_PWR_HOST : MALI_PWR_BOTH;
    }
    timer_del(s->retract_timer);
    s->pwr_cmdarg = 0;
}
