/*
 * Arm Mali CSF GPU: how firmware publishes a sample
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A sample, INSERT, ACK and the interrupt are seen in this order, and all of
 * them at once. With switches of the bench page (mali-csf-faults.c) each of
 * them comes as late as that says: what is not seen yet waits here. All of it
 * is seen before firmware does anything that ends its counting, so that no
 * ring is written to which it has been told to leave.
 *
 * But for samples in the GPU's caches, because their ring is mapped so or a
 * switch has it so: they are seen when the caches are flushed, or never, if the
 * L2 loses its power before that.
 */
#include "qemu/osdep.h"
#include "qemu/queue.h"
#include "hw/misc/mali-csf.h"

#define RETRY_NS        (10 * SCALE_US)
#define WHEN_FLUSHED    INT64_MAX
#define HEADER_BYTES    16
/* As FAULTSTATUS has it for the MCU's counter writes. */
#define SOURCE_ID       0
/* No cache is larger: what has waited for the longest is written back then. */
#define MAX_STAGES      1024

typedef enum { STAGE_DATA, STAGE_INSERT, STAGE_ACK, STAGE_IRQ } StageKind;

/* Something that is not seen yet. */
typedef struct Stage {
    QTAILQ_ENTRY(Stage) next;
    StageKind kind;
    int64_t due;
    uint32_t value;     /* INSERT, or bits of ACK */
    bool injected;      /* data that is in a cache by a switch alone */
    uint64_t pa;
    uint64_t len;
    uint8_t data[];
} Stage;

struct MaliPublish {
    /* by when they are due; of those due at the same time, the first first */
    QTAILQ_HEAD(, Stage) stages;
    unsigned count;
    QEMUTimer *timer;
    int64_t last_irq;       /* when the last interrupt was; 0: there was none */
    int64_t last_insert;    /* when INSERT was, or will be, seen to change */
    QEMUTimer *spurious;
};

static void publish_arm(MaliCsfState *s)
{
    Stage *first = QTAILQ_FIRST(&s->publish->stages);

    if (first && first->due != WHEN_FLUSHED) {
        timer_mod(s->publish->timer, first->due);
    } else {
        timer_del(s->publish->timer);
    }
}

static void publish_write_back(MaliCsfState *s);

static void publish_later(MaliCsfState *s, Stage *new)
{
    Stage *at;

    if (s->publish->count == MAX_STAGES) {
        publish_write_back(s);
    }
    s->publish->count++;

    QTAILQ_FOREACH_REVERSE(at, &s->publish->stages, next) {
        if (at->due <= new->due) {
            break;
        }
    }
    if (at) {
        QTAILQ_INSERT_AFTER(&s->publish->stages, at, new, next);
    } else {
        QTAILQ_INSERT_HEAD(&s->publish->stages, new, next);
    }
    publish_arm(s);
}

static void publish_value_later(MaliCsfState *s, StageKind kind, uint32_t value,
                                int64_t due)
{
    Stage *stage = g_new0(Stage, 1);

    stage->kind = kind;
    stage->value = value;
    stage->due = due;
    publish_later(s, stage);
}

static void publish_insert_now(MaliCsfState *s, uint32_t insert)
{
    mali_csf_glb_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_PRFCNT_INSERT, insert);
}

/* It is seen now, whatever it waits for. */
static void publish_stage(MaliCsfState *s, Stage *stage)
{
    switch (stage->kind) {
    case STAGE_DATA:
        mali_csf_mmu_put(s, stage->pa, stage->data, stage->len);
        break;
    case STAGE_INSERT:
        publish_insert_now(s, stage->value);
        break;
    case STAGE_ACK:
        mali_csf_glb_flip(s, stage->value);
        break;
    case STAGE_IRQ:
        mali_csf_glb_interrupt(s, stage->value);
        break;
    }
}

static void publish_forget(MaliCsfState *s, Stage *stage)
{
    QTAILQ_REMOVE(&s->publish->stages, stage, next);
    s->publish->count--;
    g_free(stage);
}

static void publish_first(MaliCsfState *s)
{
    Stage *stage = QTAILQ_FIRST(&s->publish->stages);

    publish_stage(s, stage);
    publish_forget(s, stage);
}

/* There is no room for more: of what is in caches, the oldest makes some. */
static void publish_write_back(MaliCsfState *s)
{
    Stage *stage;

    QTAILQ_FOREACH(stage, &s->publish->stages, next) {
        if (stage->due == WHEN_FLUSHED) {
            publish_stage(s, stage);
            publish_forget(s, stage);
            return;
        }
    }
    publish_first(s);
}

/* Where data goes is settled; firmware's memory may be locked. */
static bool publish_is_locked(MaliCsfState *s, Stage *stage)
{
    return stage->kind != STAGE_DATA && mali_csf_mmu_locked(s, 0);
}

/* Firmware that has stopped says nothing more; what it has written is there. */
static void publish_due(MaliCsfState *s, Stage *stage)
{
    if (stage->kind == STAGE_DATA || mali_csf_glb_running(s)) {
        publish_first(s);
    } else {
        publish_forget(s, stage);
    }
}

static void publish_timer(void *opaque)
{
    MaliCsfState *s = opaque;
    int64_t now = mali_csf_clk_now();
    Stage *stage;

    if (mali_csf_clk_waits(s, s->publish->timer)) {
        return;
    }
    while ((stage = QTAILQ_FIRST(&s->publish->stages)) && stage->due <= now) {
        if (publish_is_locked(s, stage)) {
            timer_mod(s->publish->timer, now + RETRY_NS);
            return;
        }
        publish_due(s, stage);
    }
    publish_arm(s);
}

void mali_csf_publish_late(MaliCsfState *s)
{
    Stage *stage;

    while ((stage = QTAILQ_FIRST(&s->publish->stages)) &&
           stage->due != WHEN_FLUSHED) {
        publish_first(s);
    }
    s->publish->last_insert = 0;
    s->publish->last_irq = MIN(s->publish->last_irq, mali_csf_clk_now());
    publish_arm(s);
}

/* Caches are flushed, of all that is in them or of what a switch has there. */
static void publish_flush(MaliCsfState *s, bool all)
{
    Stage *stage, *next;

    QTAILQ_FOREACH_SAFE(stage, &s->publish->stages, next, next) {
        if (stage->due == WHEN_FLUSHED && (all || stage->injected)) {
            publish_stage(s, stage);
            publish_forget(s, stage);
        }
    }
}

void mali_csf_publish_flushed(MaliCsfState *s)
{
    publish_flush(s, true);
}

void mali_csf_publish_lost(MaliCsfState *s)
{
    Stage *stage, *next;

    QTAILQ_FOREACH_SAFE(stage, &s->publish->stages, next, next) {
        if (stage->due == WHEN_FLUSHED) {
            publish_forget(s, stage);
        }
    }
}

void mali_csf_publish_reset(MaliCsfState *s)
{
    Stage *stage;

    while ((stage = QTAILQ_FIRST(&s->publish->stages)) &&
           stage->due != WHEN_FLUSHED) {
        publish_forget(s, stage);
    }
    timer_del(s->publish->timer);
    s->publish->last_irq = 0;
    s->publish->last_insert = 0;
}

static MaliMmuResult publish_data(MaliCsfState *s, uint64_t pa,
                                  const uint8_t *data, uint64_t len,
                                  int64_t due, int64_t now, bool injected)
{
    Stage *stage;

    if (due == now) {
        return mali_csf_mmu_put(s, pa, data, len);
    }
    stage = g_malloc0(sizeof(*stage) + len);
    stage->kind = STAGE_DATA;
    stage->due = due;
    stage->injected = injected;
    stage->pa = pa;
    stage->len = len;
    memcpy(stage->data, data, len);
    publish_later(s, stage);
    return MALI_MMU_OK;
}

MaliMmuResult mali_csf_publish_block(MaliCsfState *s, unsigned as, uint64_t va,
                                     const void *buf, uint64_t len, bool core)
{
    const uint8_t *data = buf;
    int64_t now = mali_csf_clk_now(), due, values;
    MaliPlace at;
    MaliMmuResult res = mali_csf_mmu_locate(s, as, va, len, SOURCE_ID, &at);
    bool injected = false;

    if (res != MALI_MMU_OK) {
        return res;
    }
    if (!at.cached) {
        injected = mali_csf_faults_memory_late(s);
    }
    if (at.cached || injected) {
        due = values = WHEN_FLUSHED;
    } else {
        due = now + mali_csf_faults_data_late(s, core);
        values = due + mali_csf_faults_values_late(s);
    }
    if (values == due) {
        return publish_data(s, at.pa, data, len, due, now, injected);
    }
    res = publish_data(s, at.pa, data, HEADER_BYTES, due, now, false);
    return res != MALI_MMU_OK ? res :
           publish_data(s, at.pa + HEADER_BYTES, data + HEADER_BYTES,
                        len - HEADER_BYTES, values, now, false);
}

void mali_csf_publish_insert(MaliCsfState *s, uint32_t insert)
{
    int64_t now = mali_csf_clk_now();
    int64_t due = now + mali_csf_faults_insert_late(s);

    /* It never goes back, even if the switch has become less meanwhile. */
    due = MAX(due, s->publish->last_insert);
    s->publish->last_insert = due;
    if (due > now) {
        publish_value_later(s, STAGE_INSERT, insert, due);
    } else {
        publish_insert_now(s, insert);
    }
}

static Stage *publish_irq_on_its_way(MaliCsfState *s)
{
    Stage *stage;

    QTAILQ_FOREACH(stage, &s->publish->stages, next) {
        if (stage->kind == STAGE_IRQ) {
            return stage;
        }
    }
    return NULL;
}

static void publish_interrupt(MaliCsfState *s, uint32_t bits)
{
    int64_t now = mali_csf_clk_now(), due = now;
    Stage *other;

    if (mali_csf_faults_irq_lost(s)) {
        return;
    }
    if (mali_csf_faults_irqs_are_apart(s)) {
        other = publish_irq_on_its_way(s);
        if (other) {
            /* It is for both. */
            other->value |= bits;
            mali_csf_faults_irq_was_apart(s);
            return;
        }
        due = mali_csf_faults_irq_apart(s, now, s->publish->last_irq);
    }
    due = MAX(due, now + mali_csf_faults_irq_late(s));
    s->publish->last_irq = due;
    if (due > now) {
        publish_value_later(s, STAGE_IRQ, bits, due);
    } else {
        mali_csf_glb_interrupt(s, bits);
    }
}

void mali_csf_publish_ack(MaliCsfState *s, uint32_t bits)
{
    int64_t late = 0;

    /* Events are raised at once, since firmware asks first if they are. */
    if (bits & MALI_GLB_PRFCNT_SAMPLE) {
        late = mali_csf_faults_ack_late(s);
    }
    if (late) {
        publish_value_later(s, STAGE_ACK, bits, mali_csf_clk_now() + late);
    } else {
        mali_csf_glb_flip(s, bits);
    }
    publish_interrupt(s, bits);
}

static void publish_spurious(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_glb_running(s) && !mali_csf_mmu_locked(s, 0)) {
        mali_csf_faults_irq_was_spurious(s);
        mali_csf_glb_interrupt(s, MALI_GLB_PRFCNT_MASK);
    }
    mali_csf_publish_faults_changed(s);
}

void mali_csf_publish_faults_changed(MaliCsfState *s)
{
    int64_t period = mali_csf_faults_irq_spurious(s);

    if (!s->inj.fault[MALI_FAULT_NUMBER(MALI_BENCH_MEMORY_LATE)]) {
        publish_flush(s, false);
    }
    if (period) {
        timer_mod(s->publish->spurious, mali_csf_clk_now() + period);
    } else {
        timer_del(s->publish->spurious);
    }
}

void mali_csf_publish_init(MaliCsfState *s)
{
    MaliPublish *p = g_new0(MaliPublish, 1);

    s->publish = p;
    QTAILQ_INIT(&p->stages);
    p->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, publish_timer, s);
    p->spurious = timer_new_ns(QEMU_CLOCK_VIRTUAL, publish_spurious, s);
}

void mali_csf_publish_exit(MaliCsfState *s)
{
    mali_csf_publish_reset(s);
    mali_csf_publish_lost(s);
    timer_free(s->publish->timer);
    timer_free(s->publish->spurious);
    g_free(s->publish);
    s->publish = NULL;
}
