/*
 * Arm Mali CSF GPU: firmware boot, global interface, doorbells
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What firmware does, without its instructions. Firmware reads the global REQ
 * when the global doorbell rings (mcu_latency_ns after it) and when it boots,
 * and at no other time: whatever happens in between, it knows REQ as it was
 * then (glb_req).
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hw/misc/mali-csf.h"
#include "hw/misc/mali-csf-fw.h"
#include "trace.h"

/* MCU_CONTROL */
#define MCU_DISABLE         0

/* Global control block, words */
enum {
    CTRL_VERSION, CTRL_FEATURES, CTRL_INPUT_VA, CTRL_OUTPUT_VA, CTRL_GROUP_NUM,
    CTRL_GROUP_STRIDE, CTRL_PERFCNT_SIZE, CTRL_INSTR_FEATURES,
    CTRL_PERFCNT_FEATURES, CTRL_WORDS
};

#define VERSION_PERFCNT_FEATURES    (2u << 24)
#define VERSION_GLB_STATE           (4u << 24 | 1u << 16)

/* GLB_STATE */
enum { STATE_ACTIVE, STATE_HALT, STATE_SLEEP, STATE_SUSPEND };

/* Requests which firmware answers by making ACK equal REQ, toggled or not. */
#define GLB_PLAIN_REQS \
    (MALI_GLB_CFG_PROGRESS_TIMER | MALI_GLB_CFG_ALLOC_EN | \
     MALI_GLB_CFG_POWEROFF_TIMER | MALI_GLB_COUNTER_EN | MALI_GLB_PING | \
     MALI_GLB_FWCFG_UPDATE | MALI_GLB_IDLE_EN)

/* Time from MCU_CONTROL to firmware's main loop. */
#define BOOT_NS             50000

/*
 * A timer field: units of 1024 ticks of the system counter or the core clock.
 */
static int64_t mcu_timer_ns(MaliCsfState *s, uint32_t field)
{
    uint64_t ticks = (uint64_t)(field & 0x7fffffff) << 10;

    if (field >> 31) {
        return mali_csf_clk_cycles_to_ns(s, MALI_CLK_CORE, ticks);
    }
    return ticks * s->count_period_ns;
}

static void mcu_power_cores_down(MaliCsfState *s)
{
    uint64_t on = s->pwr[MALI_PWR_SHADER].ready |
                  s->pwr[MALI_PWR_SHADER].trans_on;

    if (on) {
        /* The counts of these cores go with their power. */
        mali_csf_perfcnt_auto(s, MALI_REASON_REQUEST);
        mali_csf_pwr_set(s, MALI_PWR_SHADER, UINT64_MAX, false);
    }
    mali_csf_pwr_set(s, MALI_PWR_TILER, 1, false);
}

static void mcu_poweroff(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->poweroff_timer)) {
        return;
    }
    if (!mali_csf_glb_running(s) || !mali_csf_csg_idle(s) ||
        mali_csf_faults_cores_hold(s)) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0)) {
        timer_mod(s->poweroff_timer, mali_csf_clk_now() + 10 * SCALE_US);
        return;
    }
    mcu_power_cores_down(s);
}

/* GLB_IDLE: once each time the groups have gone idle, and stayed so. */

static void mcu_idle(void *opaque)
{
    MaliCsfState *s = opaque;
    uint32_t ack;

    if (mali_csf_clk_waits(s, s->idle_timer)) {
        return;
    }
    if (!mali_csf_glb_running(s) || !mali_csf_csg_idle(s)) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0)) {
        timer_mod(s->idle_timer, mali_csf_clk_now() + 10 * SCALE_US);
        return;
    }
    ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    s->idle_pending = false;
    if ((ack & MALI_GLB_IDLE_EN) && !((s->glb_req ^ ack) & MALI_GLB_IDLE)) {
        mali_csf_glb_ack(s, MALI_GLB_IDLE);
    }
}

void mali_csf_mcu_activity(MaliCsfState *s)
{
    mali_csf_counters_advance(s);
    if (!mali_csf_csg_idle(s)) {
        s->idle_pending = true;
        timer_del(s->idle_timer);
        timer_del(s->poweroff_timer);
        return;
    }
    if (!s->idle_pending) {
        return;
    }
    if (!timer_pending(s->idle_timer)) {
        timer_mod(s->idle_timer, mali_csf_clk_now() + s->idle_ns);
    }
    if (!timer_pending(s->poweroff_timer)) {
        timer_mod(s->poweroff_timer, mali_csf_clk_now() + s->poweroff_ns);
    }
}

/* Requests */

static void mcu_config(MaliCsfState *s, uint32_t reqs)
{
    if (reqs & MALI_GLB_CFG_ALLOC_EN) {
        s->alloc_lo = mali_csf_glb_ld32(s, MALI_GLB_IN + MALI_GLB_IN_ALLOC_EN);
        s->alloc_hi = mali_csf_glb_ld32(s,
                                        MALI_GLB_IN + MALI_GLB_IN_ALLOC_EN + 4);
        if (((uint64_t)s->alloc_hi << 32 | s->alloc_lo) & s->shader_present &
            ~s->shader_fuses) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: firmware is given cores "
                          "that fuses have cut off\n");
        }
    }
    if (reqs & MALI_GLB_CFG_POWEROFF_TIMER) {
        s->poweroff_ns = mcu_timer_ns(s, mali_csf_glb_ld32(s, MALI_GLB_IN +
                                      MALI_GLB_IN_POWEROFF_TIMER));
    }
    if (reqs & MALI_GLB_CFG_PROGRESS_TIMER) {
        /* In units of 1024 core clock cycles. */
        s->progress_cycles = (uint64_t)mali_csf_glb_ld32(s,
                             MALI_GLB_IN + MALI_GLB_IN_PROGRESS_TIMER) << 10;
    }
    if (reqs & MALI_GLB_IDLE_EN) {
        s->idle_ns = mcu_timer_ns(s, mali_csf_glb_ld32(s,
                                  MALI_GLB_IN + MALI_GLB_IN_IDLE_TIMER));
    }
}

/* Firmware stops: by GLB_HALT, or GLB_STATE's halt and suspend. */
static void mcu_halt(MaliCsfState *s, uint32_t reason)
{
    mali_csf_perfcnt_auto(s, reason);
    mali_csf_publish_late(s);
    timer_del(s->idle_timer);
    timer_del(s->poweroff_timer);
    mali_csf_pwr_set(s, MALI_PWR_SHADER, UINT64_MAX, false);
    mali_csf_pwr_set(s, MALI_PWR_TILER, 1, false);
    mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_HALT_STATUS, 0);
    mali_csf_counters_advance(s);
    if (s->mcu_status == MALI_MCU_ENABLED) {
        s->mcu_status = MALI_MCU_HALT;
        trace_mali_csf_mcu_status(s->mcu_status);
        mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_MCU_STATUS);
    }
}

static void mcu_glb_state(MaliCsfState *s, uint32_t req, uint32_t ack)
{
    uint32_t diff = (req ^ ack) & MALI_GLB_STATE_MASK;

    if (!diff) {
        return;
    }
    switch (extract32(req, MALI_GLB_STATE_SHIFT, 3)) {
    case STATE_ACTIVE:
        mali_csf_glb_ack(s, diff);
        break;
    case STATE_HALT:
        mali_csf_glb_ack(s, diff);
        mcu_halt(s, MALI_REASON_HALT);
        break;
    case STATE_SLEEP:
        mali_csf_glb_ack(s, diff);
        mali_csf_mcu_sleep(s);
        break;
    case STATE_SUSPEND:
        mali_csf_glb_ack(s, diff);
        mcu_halt(s, MALI_REASON_SUSPEND);
        break;
    }
}

/* Firmware is asked to stop. */
static bool mcu_to_halt(MaliCsfState *s, uint32_t req, uint32_t ack)
{
    uint32_t state = extract32(req, MALI_GLB_STATE_SHIFT, 3);

    if (s->published_version >= VERSION_GLB_STATE) {
        return ((req ^ ack) & MALI_GLB_STATE_MASK) &&
               (state == STATE_HALT || state == STATE_SUSPEND);
    }
    return (req & MALI_GLB_HALT) && !s->mcu_halted_req;
}

static void mcu_process(MaliCsfState *s)
{
    uint32_t req, ack, db_req, db_ack, plain;

    s->mcu_doorbell = false;
    mali_csf_glb_latch(s);
    req = s->glb_req;
    ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    if (!mali_csf_glb_running(s)) {
        return;
    }
    trace_mali_csf_requests(req, ack);
    plain = (req ^ ack) & GLB_PLAIN_REQS;
    if (plain && mali_csf_faults_drop_request(s)) {
        return;
    }
    mali_csf_counters_work(s, MALI_WORK_MCU, 0, 0, 1, 0, 0);
    mcu_config(s, plain);
    if (plain & MALI_GLB_COUNTER_EN) {
        mali_csf_counters_advance(s);
        mali_csf_clk_cycle_enable(s, req & MALI_GLB_COUNTER_EN);
    }
    if (plain) {
        mali_csf_glb_ack(s, plain);
    }
    if ((req ^ ack) & MALI_GLB_PROTM_ENTER) {
        mali_csf_glb_ack(s, MALI_GLB_PROTM_ENTER);
        mali_csf_mcu_set_protm(s, true);
    }

    /* Counters before what might end them; nothing counts in protected mode. */
    if (!s->gpu_status_protm &&
        !(mcu_to_halt(s, req, ack) && ((req ^ ack) & MALI_GLB_PRFCNT_SAMPLE) &&
          mali_csf_faults_halt_first(s))) {
        s->mcu_counters_due = false;
        mali_csf_perfcnt_eval(s, req);
    }

    db_req = mali_csf_glb_ld32(s, MALI_GLB_IN + MALI_GLB_IN_DB_REQ);
    db_ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_DB_ACK);
    if (db_req != db_ack) {
        mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_DB_ACK, db_req);
        mali_csf_csg_doorbell(s, db_req ^ db_ack);
    } else {
        mali_csf_csg_look(s);
    }

    if (s->published_version >= VERSION_GLB_STATE) {
        mcu_glb_state(s, req, ack);
    } else if (mcu_to_halt(s, req, ack)) {
        mcu_halt(s, MALI_REASON_HALT);
    } else if ((req & ~ack) & MALI_GLB_SLEEP) {
        mali_csf_glb_ack(s, MALI_GLB_SLEEP);
        mali_csf_mcu_sleep(s);
    }
    s->mcu_halted_req = req & MALI_GLB_HALT;
}

/* Counter requests have waited for the end of protected mode, or of a lock. */
static void mcu_counters_again(MaliCsfState *s)
{
    s->mcu_counters_due = false;
    if (s->gpu_status_protm) {
        return;
    }
    mali_csf_counters_work(s, MALI_WORK_MCU, 0, 0, 1, 0, 0);
    mali_csf_perfcnt_eval(s, s->glb_req);
}

/* Boot */

static bool mcu_image_good(MaliCsfState *s, uint32_t *version)
{
    struct mali_fw_image hdr;
    g_autofree uint8_t *body = NULL;
    uint32_t size;

    if (!mali_csf_glb_access(s, MALI_FW_CODE_VA, &hdr, sizeof(hdr),
                             MALI_ACCESS_EXEC)) {
        return false;
    }
    size = le32_to_cpu(hdr.size);
    if (le32_to_cpu(hdr.magic) != MALI_FW_MAGIC ||
        le32_to_cpu(hdr.version) != MALI_FW_VERSION ||
        size < sizeof(hdr) || size > MALI_FW_CODE_SIZE) {
        return false;
    }
    size -= sizeof(hdr);
    body = g_malloc(size);
    if (!mali_csf_glb_access(s, MALI_FW_CODE_VA + sizeof(hdr), body, size,
                    MALI_ACCESS_EXEC) ||
        mali_fw_crc32(body, size) != le32_to_cpu(hdr.crc)) {
        return false;
    }
    *version = le32_to_cpu(hdr.iface_version);
    return true;
}

static void mcu_boot(MaliCsfState *s)
{
    uint32_t ctrl[CTRL_WORDS], version = 0, ack, features = 0;

    if (mali_csf_faults_hang(s) || s->mcu_stuck) {
        return;
    }
    if (mali_csf_faults_boot_fails(s)) {
        s->mcu_stuck = true;
        return;
    }
    if (!s->pwr[MALI_PWR_L2].ready || !mcu_image_good(s, &version)) {
        mali_csf_glb_fatal(s);
        return;
    }
    if (!version) {
        version = s->iface_version;
    }
    version = mali_csf_faults_iface(s, version);
    s->published_version = version;

    ctrl[CTRL_VERSION] = version;
    ctrl[CTRL_FEATURES] = 0;
    ctrl[CTRL_INPUT_VA] = MALI_GLB_IN;
    ctrl[CTRL_OUTPUT_VA] = MALI_GLB_OUT;
    ctrl[CTRL_GROUP_NUM] = s->csgs;
    ctrl[CTRL_GROUP_STRIDE] = MALI_GROUP_STRIDE;
    ctrl[CTRL_PERFCNT_SIZE] = mali_csf_perfcnt_size(s);
    ctrl[CTRL_INSTR_FEATURES] = 0x71;
    /* The word means nothing to interfaces before 2.0. */
    if (version >= VERSION_PERFCNT_FEATURES) {
        features = mali_csf_perfcnt_features(s);
    } else if (s->features_junk) {
        features = 0xdeadbeef;
    }
    ctrl[CTRL_PERFCNT_FEATURES] = features;
    for (int i = 0; i < CTRL_WORDS; i++) {
        mali_csf_glb_st32(s, MALI_SHARED_VA + 4 * i, ctrl[i]);
    }

    /* The section's contents may be those of before: only ENABLE is cleared. */
    ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    ack &= ~(MALI_GLB_PRFCNT_ENABLE | MALI_GLB_COUNTER_EN | MALI_GLB_IDLE_EN);
    if (version >= VERSION_GLB_STATE) {
        ack &= ~MALI_GLB_STATE_MASK;
    }
    mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK, ack);
    mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_HALT_STATUS, 0);
    mali_csf_glb_latch(s);
    /* A HALT that stands since before halts it at once. */
    s->mcu_halted_req = false;
    s->alloc_lo = s->alloc_hi = UINT32_MAX;
    s->poweroff_ns = 10 * SCALE_MS;
    s->idle_ns = SCALE_MS;
    s->progress_cycles = 0;
    mali_csf_clk_cycle_enable(s, false);
    mali_csf_csg_boot(s);
    if (s->mcu_status == MALI_MCU_FATAL) {
        return;
    }
    mali_csf_counters_advance(s);
    s->mcu_booted = true;
    mali_csf_perfcnt_boot(s, false);
    mali_csf_irq_raise(s, MALI_IRQ_JOB, MALI_JOB_IRQ_GLOBAL);
    mcu_process(s);
}

static void mcu_tick(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->mcu_timer)) {
        return;
    }
    if (s->mcu_status != MALI_MCU_ENABLED || mali_csf_mmu_locked(s, 0)) {
        return;     /* mali_csf_mcu_as_event() comes back to it */
    }
    if (!s->mcu_booted) {
        mcu_boot(s);
        return;
    }
    if (s->mcu_asleep) {
        mali_csf_mcu_wake(s);
        return;
    }
    if (s->mcu_doorbell && mali_csf_glb_running(s)) {
        mcu_process(s);
    }
    if (s->mcu_counters_due && mali_csf_glb_running(s)) {
        mcu_counters_again(s);
    }
}

/* Firmware may be at something else: 1 to 64 times what it takes at least. */
static int64_t mcu_latency(MaliCsfState *s)
{
    return mali_csf_clk_latency(s, s->mcu_latency_ns, 6);
}

static void mcu_schedule(MaliCsfState *s)
{
    if (!timer_pending(s->mcu_timer)) {
        timer_mod(s->mcu_timer, mali_csf_clk_now() + mcu_latency(s) +
                  mali_csf_faults_delay_ns(s));
    }
}

void mali_csf_mcu_doorbell(MaliCsfState *s)
{
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_DOORBELL_MIRROR);
    if (!s->mcu_booted) {
        return;
    }
    s->mcu_doorbell = true;
    mcu_schedule(s);
}

static void mcu_protm_left(MaliCsfState *s)
{
    if (s->mcu_booted) {
        s->mcu_counters_due = true;
        mcu_schedule(s);
    }
}

void mali_csf_mcu_set_protm(MaliCsfState *s, bool on)
{
    if (on == (s->gpu_status_protm != 0)) {
        return;
    }
    trace_mali_csf_protm(on);
    /* What jobs have done up to here counts, or does not, as it did so far. */
    mali_csf_csg_kick(s);
    if (on) {
        /* What has been counted is sampled before counting stops. */
        mali_csf_perfcnt_auto(s, MALI_REASON_PROTM);
        mali_csf_counters_advance(s);
        s->gpu_status_protm = MALI_STATUS_PROTM;
    } else {
        mali_csf_counters_advance(s);
        s->gpu_status_protm = 0;
        mali_csf_perfcnt_protm_left(s);
        /* Counter requests waited for this. */
        mcu_protm_left(s);
    }
}

void mali_csf_mcu_as_event(MaliCsfState *s, unsigned as)
{
    bool again = mali_csf_perfcnt_wait_for(s, as);

    s->mcu_counters_due |= again;
    if ((as == 0 || again) && s->mcu_status == MALI_MCU_ENABLED &&
        (!s->mcu_booted || s->mcu_doorbell || s->mcu_counters_due ||
         s->mcu_wake_due) && !timer_pending(s->mcu_timer)) {
        timer_mod(s->mcu_timer, mali_csf_clk_now() + mcu_latency(s));
    }
}

void mali_csf_mcu_sleep(MaliCsfState *s)
{
    if (!mali_csf_glb_running(s)) {
        return;
    }
    /* What jobs have done is counted before the sample. */
    mali_csf_csg_kick(s);
    mali_csf_perfcnt_auto(s, MALI_REASON_SLEEP);
    mali_csf_publish_late(s);
    mali_csf_counters_advance(s);
    mali_csf_pwr_set(s, MALI_PWR_SHADER, UINT64_MAX, false);
    mali_csf_pwr_set(s, MALI_PWR_TILER, 1, false);
    timer_del(s->idle_timer);
    timer_del(s->poweroff_timer);
    trace_mali_csf_sleep(true);
    s->mcu_asleep = true;
    s->mcu_wake_due = false;
}

void mali_csf_mcu_wake(MaliCsfState *s)
{
    if (!s->mcu_asleep) {
        return;
    }
    mali_csf_counters_advance(s);
    trace_mali_csf_sleep(false);
    s->mcu_wake_due = false;
    s->mcu_asleep = false;
    if (!mali_csf_glb_running(s)) {
        return;
    }
    mali_csf_glb_latch(s);
    mali_csf_perfcnt_boot(s, true);
    mcu_process(s);
    mali_csf_csg_kick(s);
}

void mali_csf_mcu_user_doorbell(MaliCsfState *s)
{
    if (s->mcu_asleep && mali_csf_mmu_locked(s, 0)) {
        /* mali_csf_mcu_as_event() comes back to it */
        s->mcu_wake_due = true;
    } else {
        mali_csf_mcu_wake(s);
    }
}

void mali_csf_mcu_crash(MaliCsfState *s, MaliCrash how)
{
    if (!s->mcu_booted || s->mcu_status != MALI_MCU_ENABLED) {
        return;
    }
    /* What jobs have done is counted, and nobody samples it. */
    mali_csf_csg_kick(s);
    mali_csf_counters_advance(s);
    timer_del(s->idle_timer);
    timer_del(s->poweroff_timer);
    if (how == MALI_CRASH_FATAL) {
        mali_csf_glb_fatal(s);
        return;
    }
    mali_csf_glb_last_words(s, how == MALI_CRASH_WATCHDOG ?
                               MALI_HALT_ON_WATCHDOG : MALI_HALT_ON_PANIC);
    s->mcu_status = MALI_MCU_HALT;
    trace_mali_csf_mcu_status(s->mcu_status);
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_MCU_STATUS);
}

static void mcu_stop(MaliCsfState *s)
{
    mali_csf_counters_advance(s);
    timer_del(s->mcu_timer);
    timer_del(s->idle_timer);
    timer_del(s->poweroff_timer);
    s->mcu_booted = false;
    s->mcu_stuck = false;
    s->mcu_doorbell = false;
    s->mcu_counters_due = false;
    s->mcu_wake_due = false;
    s->mcu_asleep = false;
    s->idle_pending = false;
    mali_csf_csg_reset(s);
    mali_csf_perfcnt_reset(s);
}

void mali_csf_mcu_control(MaliCsfState *s, uint32_t val)
{
    s->mcu_control = val & 3;
    if (s->mcu_control == MCU_DISABLE) {
        mcu_stop(s);
        s->mcu_status = MALI_MCU_DISABLED;
    } else if (s->mcu_status == MALI_MCU_DISABLED) {
        s->mcu_status = MALI_MCU_ENABLED;
        timer_mod(s->mcu_timer, mali_csf_clk_now() + BOOT_NS);
    } else {
        return;
    }
    trace_mali_csf_mcu_status(s->mcu_status);
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_MCU_STATUS);
}

void mali_csf_mcu_reset(MaliCsfState *s)
{
    mcu_stop(s);
    s->mcu_control = MCU_DISABLE;
    s->mcu_status = MALI_MCU_DISABLED;
    mali_csf_faults_reset(s);
}

void mali_csf_mcu_init(MaliCsfState *s)
{
    s->mcu_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mcu_tick, s);
    s->idle_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mcu_idle, s);
    s->poweroff_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mcu_poweroff, s);
}

void mali_csf_mcu_exit(MaliCsfState *s)
{
    timer_free(s->mcu_timer);
    timer_free(s->idle_timer);
    timer_free(s->poweroff_timer);
}
