/*
 * Arm Mali CSF GPU: what firmware does with performance counters
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Requests, samples, the ring, the events: the counters' part of the global
 * interface. What is in a sample comes from mali-csf-counters.c.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "hw/misc/mali-csf-counters.h"
#include "trace.h"

#define RETRY_NS        (10 * SCALE_US)

/* PRFCNT_EN bits without which a block is not written */
#define WRITTEN_BITS    3
#define SETS            3

/* FAULTSTATUS source id of the MCU's counter writes. */
#define SOURCE_ID       0

struct MaliPerfcnt {
    /* latched by an enable */
    MaliCountersInfo info;
    unsigned jasid;
    uint64_t base;
    bool metadata;
    uint32_t mask[MALI_BLK_TYPES];
    uint32_t csg_select;

    /* a request waits for this address space to be unlocked */
    bool waiting;
    unsigned waiting_for;
    /* a SAMPLE that the bench page had dropped, until REQ changes */
    bool dropping;
    bool dropping_req;
    /* a sample found no room, and there has been none since */
    bool no_room;
    /* OVERFLOW was raised, and no sample written since: at this EXTRACT */
    bool full_seen;
    uint32_t full_extract;
    /* EXTRACT at the last doorbell */
    uint32_t extract_latch;
    /* when an enable that takes long is done; 0: none does */
    int64_t enable_due;
    QEMUTimer *enable_timer;
    /* the first timestamp and the reason of the last sample, as written */
    uint64_t put_timestamp;
    uint32_t put_reason;

    uint8_t *buf;
    bool *written;      /* by position in the sample, metadata included */
};

static void perfcnt_record(MaliCsfState *s, uint64_t timestamp, uint32_t reason,
                           uint32_t size)
{
    MaliPerfcnt *f = s->perfcnt;

    mali_csf_ledger_write(s, &(MaliLedgerRecord) {
        .sequence = f->info.samples, .epoch = f->info.epoch,
        .insert = f->info.insert, .timestamp = timestamp, .reason = reason,
        .size = size, .blocks = f->buf,
    });
}

static uint64_t perfcnt_slot_va(MaliCsfState *s, uint32_t insert)
{
    MaliPerfcnt *f = s->perfcnt;

    return f->base + (uint64_t)(insert & (f->info.slots - 1)) *
                     f->info.sample_size;
}

static uint32_t perfcnt_latched_mask(MaliCsfState *s, const MaliBlock *b)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    uint32_t mask = f->mask[b->type];

    if (b->type == MALI_BLK_CSG && !extract32(f->csg_select, b->inst, 1)) {
        return 0;
    }
    /*
     * PRFCNT_EN is cut to the counters there are, which in some sets is none.
     */
    if (!mali_csf_counters_defined(c, b)) {
        return 0;
    }
    /* Without the header's bit and the next there is no sample of a block. */
    return (mask & WRITTEN_BITS) == WRITTEN_BITS ? mask & c->valid_mask : 0;
}

static void perfcnt_put_header(uint8_t *p, uint64_t timestamp, uint32_t en,
                               uint32_t last)
{
    stq_le_p(p, timestamp);
    stl_le_p(p + 8, en);
    stl_le_p(p + 12, last);
}

/*
 * Write the blocks of a sample that @written names, a run at a time. @staged: a
 * block at a time, each when it is to be seen.
 */
static MaliMmuResult perfcnt_put_runs(MaliCsfState *s, uint64_t va, unsigned n,
                                      bool staged)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    unsigned size = c->words * 4, first_core = n, i = 0, j;
    MaliMmuResult res;

    if (staged) {
        first_core = n - c->n_type[MALI_BLK_SHADER];
    }
    while (i < n) {
        if (!f->written[i]) {
            i++;
            continue;
        }
        for (j = i + 1; j < n && f->written[j] && !staged; j++) {
            ;
        }
        if (staged) {
            res = mali_csf_publish_block(s, f->jasid, va + i * size,
                                         f->buf + i * size, size,
                                         i >= first_core);
        } else {
            res = mali_csf_mmu_access(s, f->jasid, va + i * size,
                                      f->buf + i * size, (j - i) * size,
                                      MALI_ACCESS_WRITE, SOURCE_ID);
        }
        if (res != MALI_MMU_OK) {
            return res;
        }
        i = j;
    }
    return MALI_MMU_OK;
}

static uint32_t perfcnt_extract(MaliCsfState *s)
{
    uint32_t now = mali_csf_glb_ld32(s, MALI_GLB_IN +
                                     MALI_GLB_IN_PRFCNT_EXTRACT);

    return mali_csf_faults_extract(s, now, s->perfcnt->extract_latch);
}

static bool perfcnt_ring_full(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    f->info.extract = perfcnt_extract(s);
    /*
     * EXTRACT before the stores to the slot which it freed. Pairs with the
     * driver's barrier between its reads of the slot and its store of EXTRACT.
     */
    smp_mb();
    if (mali_csf_faults_ring_full(s)) {
        return true;
    }
    if (f->info.insert - f->info.extract < f->info.slots) {
        return false;
    }
    if (!mali_csf_faults_overwrite(s)) {
        return true;
    }
    mali_csf_faults_overwritten(s);
    return false;
}

/*
 * OVERFLOW, THRESHOLD: firmware makes ACK differ from REQ, and not again
 * before it has seen, at a doorbell, that the driver has made them equal. True
 * if it was raised.
 */
static bool perfcnt_event_open(MaliCsfState *s, uint32_t bit)
{
    uint32_t ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);

    return (s->glb_req ^ ack) & bit;
}

static bool perfcnt_raise_event(MaliCsfState *s, uint32_t bit)
{
    if (perfcnt_event_open(s, bit)) {
        return false;
    }
    mali_csf_publish_ack(s, bit);
    return true;
}

static bool perfcnt_events_once(MaliCsfState *s)
{
    return s->events_once || mali_csf_faults_events_few(s);
}

/*
 * There is no room. With events_once an overflow is told once for an EXTRACT:
 * a driver which acknowledges it and frees nothing is not told again.
 */
static void perfcnt_overflow(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    if (f->full_seen && perfcnt_events_once(s) &&
        f->full_extract == f->info.extract) {
        mali_csf_faults_event_was_withheld(s);
        return;
    }
    if (perfcnt_raise_event(s, MALI_GLB_PRFCNT_OVERFLOW)) {
        f->full_seen = true;
        f->full_extract = f->info.extract;
        f->info.overflows++;
    }
}

/*
 * The ring is full: a sample of firmware's own accord is lost, one that was
 * requested is tried again. Or firmware just sees that it still is.
 */
static void perfcnt_no_room(MaliCsfState *s, uint32_t reason, bool own_accord)
{
    MaliPerfcnt *f = s->perfcnt;

    if (own_accord) {
        f->info.lost_autos++;
        reason |= MALI_LEDGER_OWN_ACCORD;
    }
    perfcnt_record(s, mali_csf_clk_timestamp(s), reason | MALI_LEDGER_NO_ROOM,
                   0);
    trace_mali_csf_perfcnt_no_room(f->info.insert, f->info.extract);
    f->no_room = true;
    perfcnt_overflow(s);
}

static void perfcnt_publish_insert(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    mali_csf_publish_insert(s, f->info.insert + mali_csf_faults_insert_skew(s));
}

/* A sample that could not be written carried nothing anywhere. */
static void perfcnt_take_back(MaliCsfState *s, unsigned n)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    unsigned i, first = n - c->nblocks;

    for (i = first; i < n; i++) {
        if (f->written[i]) {
            mali_csf_counters_take_back(c, &c->blocks[i - first],
                                        f->buf + i * c->words * 4);
        }
    }
}

static void perfcnt_put_metadata(MaliCsfState *s, uint64_t timestamp,
                                 uint32_t reason)
{
    MaliPerfcnt *f = s->perfcnt;
    uint32_t stale = mali_csf_faults_meta_stale(s);
    uint32_t en = stale & 2 ? 0 : stale & 4 ? 1 : WRITTEN_BITS;

    memset(f->buf, 0, s->ctr->words * 4);
    if (stale & 1) {
        perfcnt_put_header(f->buf, f->put_timestamp, en, f->put_reason);
    } else {
        perfcnt_put_header(f->buf, timestamp, en, reason);
    }
    f->put_reason = reason;
}

/* What there is in the ledger and the bench page to say of a sample. */
static void perfcnt_written(MaliCsfState *s, uint64_t timestamp, int64_t now,
                            uint32_t reason, uint32_t ledger_bits)
{
    MaliPerfcnt *f = s->perfcnt;
    unsigned i;

    perfcnt_record(s, timestamp, reason | ledger_bits, f->info.sample_size);
    trace_mali_csf_perfcnt_sample(f->info.insert, reason);
    f->info.insert++;
    f->info.samples++;
    f->info.last_reason = reason;
    f->info.last_timestamp = timestamp;
    for (i = 0; i < MALI_CLKS; i++) {
        f->info.last_cycles[i] = mali_csf_clk_cycles_at(s, i, now);
    }
    f->no_room = false;
    f->full_seen = false;
}

/* The sample that was just written once more: nothing was counted for it. */
static void perfcnt_double(MaliCsfState *s, uint64_t timestamp, int64_t now,
                           uint32_t reason, uint32_t ledger_bits, unsigned n)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    unsigned i, size = c->words * 4;

    if (f->info.insert - f->info.extract >= f->info.slots ||
        perfcnt_put_runs(s, perfcnt_slot_va(s, f->info.insert), n, true) !=
        MALI_MMU_OK) {
        return;
    }
    for (i = f->metadata; i < n; i++) {
        memset(f->buf + i * size + MALI_HEADER_WORDS * 4, 0,
               size - MALI_HEADER_WORDS * 4);
    }
    perfcnt_written(s, timestamp, now, reason, ledger_bits);
}

/*
 * Write one sample into the slot at INSERT. The caller has seen that it is
 * free, and knows what the ledger is to say of it besides the reason.
 */
static MaliMmuResult perfcnt_sample(MaliCsfState *s, uint32_t reason,
                                    uint32_t ledger_bits)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    unsigned size = c->words * 4, n = 0, i;
    int64_t now = mali_csf_clk_now();
    uint64_t timestamp = mali_csf_clk_timestamp_at(s, now), put;
    uint64_t powered = mali_csf_counters_powered(s);
    MaliMmuResult res;

    s->events->sample_due(s);
    mali_csf_counters_advance(s);
    /* Of no cycles none can be ahead. */
    if (mali_csf_counters_active(c)) {
        mali_csf_counters_ahead(s, mali_csf_faults_busy_skew(s));
    }
    mali_csf_counters_period(c);
    mali_csf_faults_sample_begins(s);
    put = mali_csf_faults_timestamp(s, timestamp, f->put_timestamp, 0);
    if (f->metadata) {
        perfcnt_put_metadata(s, put, reason);
        f->written[n++] = true;
    }
    for (i = 0; i < c->nblocks; i++, n++) {
        MaliBlock *b = &c->blocks[i];
        uint32_t mask = perfcnt_latched_mask(s, b);
        uint8_t *p = f->buf + n * size;

        if (b->type == MALI_BLK_SHADER && !extract64(powered, b->inst, 1)) {
            mask = 0;
        }
        f->written[n] = mask && b->present;
        if (f->written[n]) {
            perfcnt_put_header(p, mali_csf_faults_timestamp(s, timestamp,
                                                            f->put_timestamp,
                                                            i),
                               mali_csf_faults_en(s, mask), 0);
            mali_csf_counters_take(c, b, p, mask);
        } else {
            memset(p, 0, size);
        }
    }
    f->put_timestamp = put;

    res = perfcnt_put_runs(s, perfcnt_slot_va(s, f->info.insert), n, true);
    if (res != MALI_MMU_OK) {
        f->info.faults++;
        perfcnt_take_back(s, n);
        return res;
    }
    perfcnt_written(s, timestamp, now, reason, ledger_bits);
    if (mali_csf_faults_double_sample(s)) {
        perfcnt_double(s, timestamp, now, reason, ledger_bits, n);
    }
    /*
     * The sample before INSERT. Pairs with the driver's after it reads INSERT.
     */
    smp_wmb();
    perfcnt_publish_insert(s);
    /* INSERT before ACK. Pairs with the driver's after it has seen ACK. */
    smp_wmb();
    return MALI_MMU_OK;
}

static bool perfcnt_over_threshold(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    f->info.extract = perfcnt_extract(s);
    return f->info.insert - f->info.extract >= MAX(f->info.slots / 2, 1);
}

static void perfcnt_threshold(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    if (perfcnt_over_threshold(s) &&
        perfcnt_raise_event(s, MALI_GLB_PRFCNT_THRESHOLD)) {
        f->info.thresholds++;
    }
}

/*
 * At a doorbell, events which have been acknowledged are raised again while
 * what they tell of lasts. @told: there, a request has found the ring full.
 */
static void perfcnt_events_again(MaliCsfState *s, bool told)
{
    MaliPerfcnt *f = s->perfcnt;
    uint32_t always = mali_csf_faults_events_always(s);

    if ((always & 1) && perfcnt_raise_event(s, MALI_GLB_PRFCNT_THRESHOLD)) {
        f->info.thresholds++;
        mali_csf_faults_event_was_raised(s);
    }
    if ((always & 2) && perfcnt_raise_event(s, MALI_GLB_PRFCNT_OVERFLOW)) {
        f->info.overflows++;
        mali_csf_faults_event_was_raised(s);
    }
    if (perfcnt_events_once(s)) {
        if ((f->no_room && !told &&
             !perfcnt_event_open(s, MALI_GLB_PRFCNT_OVERFLOW)) ||
            (perfcnt_over_threshold(s) &&
             !perfcnt_event_open(s, MALI_GLB_PRFCNT_THRESHOLD))) {
            mali_csf_faults_event_was_withheld(s);
        }
        return;
    }
    perfcnt_threshold(s);
    if (!f->no_room || told) {
        return;
    }
    if (perfcnt_ring_full(s)) {
        perfcnt_no_room(s, MALI_REASON_REQUEST, false);
    } else {
        f->no_room = false;
    }
}

/* A request was answered. Until that is seen, it is not looked at again. */
static void perfcnt_acknowledge(MaliCsfState *s, uint32_t req)
{
    MaliPerfcnt *f = s->perfcnt;

    f->dropping = true;
    f->dropping_req = req & MALI_GLB_PRFCNT_SAMPLE;
    mali_csf_publish_ack(s, MALI_GLB_PRFCNT_SAMPLE);
}

void mali_csf_perfcnt_auto(MaliCsfState *s, uint32_t reason)
{
    MaliPerfcnt *f = s->perfcnt;

    /* What follows may well be the end of counting, perfcnt_sample or not. */
    mali_csf_counters_advance(s);
    if (!f->info.enabled || !mali_csf_glb_running(s) || s->gpu_status_protm) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0) || mali_csf_mmu_locked(s, f->jasid)) {
        f->info.lost_autos++;
        return;
    }
    /* Of one's own accord, for this reason: before cores lose their power. */
    if (reason == MALI_REASON_REQUEST && mali_csf_faults_power_loses(s)) {
        f->info.lost_autos++;
        perfcnt_record(s, mali_csf_clk_timestamp(s), reason |
                       MALI_LEDGER_OWN_ACCORD | MALI_LEDGER_NO_ROOM, 0);
        return;
    }
    if (perfcnt_ring_full(s)) {
        perfcnt_no_room(s, reason, true);
        return;
    }
    if (perfcnt_sample(s, reason, MALI_LEDGER_OWN_ACCORD) != MALI_MMU_OK) {
        return;
    }
    f->info.autos++;
    perfcnt_threshold(s);
    if (reason == MALI_REASON_PROTM) {
        /* Completes a request which is outstanding. */
        uint32_t req = mali_csf_glb_req(s);
        uint32_t ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);

        if (((req ^ ack) & MALI_GLB_PRFCNT_SAMPLE) && !f->dropping) {
            perfcnt_acknowledge(s, req);
        }
    }
}

/* What an earlier, different user of the memory might have left there. */
static uint32_t perfcnt_junk(unsigned slot, unsigned word, unsigned words)
{
    uint32_t v = 0x5a000000 | slot << 16 | word;

    /* A header that looks like one: whoever trusts it adds junk. */
    return word % words == 2 ? v | WRITTEN_BITS : v;
}

/*
 * Protected mode has ended. Firmware without metadata writes a sample that says
 * so: PRFCNT_EN of its CSHW block has the header's bit alone, and the values
 * mean nothing. What has been counted stays for the next sample.
 */
void mali_csf_perfcnt_protm_left(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    uint64_t timestamp = mali_csf_clk_timestamp(s);
    unsigned i, j, size = c->words * 4;

    if (!s->protm_end || f->metadata || !f->info.enabled ||
        !mali_csf_glb_running(s)) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0) || mali_csf_mmu_locked(s, f->jasid)) {
        return;
    }
    if (perfcnt_ring_full(s)) {
        perfcnt_no_room(s, MALI_REASON_REQUEST, true);
        return;
    }
    memset(f->buf, 0, c->nblocks * size);
    for (i = 0; i < c->nblocks; i++) {
        f->written[i] = c->blocks[i].type == MALI_BLK_CSHW;
        if (!f->written[i]) {
            continue;
        }
        for (j = MALI_HEADER_WORDS; j < c->words; j++) {
            stl_le_p(f->buf + i * size + j * 4, perfcnt_junk(0, j, c->words));
        }
        perfcnt_put_header(f->buf + i * size, timestamp, 1, 0);
    }
    if (perfcnt_put_runs(s, perfcnt_slot_va(s, f->info.insert), c->nblocks,
                         true) != MALI_MMU_OK) {
        f->info.faults++;
        return;
    }
    /* The ledger has counts only: 0, since these values mean nothing. */
    for (i = 0; i < c->nblocks; i++) {
        memset(f->buf + i * size + MALI_HEADER_WORDS * 4, 0,
               size - MALI_HEADER_WORDS * 4);
    }
    perfcnt_written(s, timestamp, mali_csf_clk_now(), MALI_REASON_REQUEST,
                    MALI_LEDGER_OWN_ACCORD);
    smp_wmb();  /* the sample before INSERT, as in perfcnt_sample() */
    perfcnt_publish_insert(s);
    smp_wmb();  /* INSERT before ACK, as in perfcnt_sample() */
    f->info.autos++;
    perfcnt_threshold(s);
}

/* Requests */

/* Positions without a core are never written by firmware: never clean. */
static bool perfcnt_fill_holes(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    unsigned slot, i, j, n = 0;

    if (f->metadata) {
        f->written[n++] = false;
    }
    for (i = 0; i < c->nblocks; i++, n++) {
        f->written[n] = !c->blocks[i].present;
    }
    for (slot = 0; slot < f->info.slots; slot++) {
        for (i = 0; i < n; i++) {
            for (j = i * c->words; f->written[i] && j < (i + 1) * c->words;
                 j++) {
                stl_le_p(f->buf + j * 4, perfcnt_junk(slot, j, c->words));
            }
        }
        if (perfcnt_put_runs(s, perfcnt_slot_va(s, slot), n, false) !=
            MALI_MMU_OK) {
            return false;
        }
    }
    return true;
}

/* A request whose ring is locked is looked at again when it is unlocked. */
static bool perfcnt_waits_for(MaliCsfState *s, unsigned as)
{
    s->perfcnt->waiting = mali_csf_mmu_locked(s, as);
    s->perfcnt->waiting_for = as;
    return s->perfcnt->waiting;
}

bool mali_csf_perfcnt_wait_for(MaliCsfState *s, unsigned as)
{
    return s->perfcnt->waiting && s->perfcnt->waiting_for == as;
}

/*
 * Latch the configuration and start counting. False leaves counters disabled
 * and the request without an answer, as firmware does with what it cannot use.
 */
static bool perfcnt_enable(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;
    MaliCounters *c = s->ctr;
    uint32_t config = mali_csf_glb_ld32(s, MALI_GLB_IN +
                                        MALI_GLB_IN_PRFCNT_CONFIG);
    uint32_t jasid = extract32(mali_csf_glb_ld32(s, MALI_GLB_IN +
                                   MALI_GLB_IN_PRFCNT_JASID), 0, 4);
    uint64_t base = mali_csf_glb_ld64(s, MALI_GLB_IN + MALI_GLB_IN_PRFCNT_BASE);
    uint32_t slots = extract32(config, 0, 8);
    uint32_t set = extract32(config, 8, 2);
    static const uint16_t mask_reg[MALI_BLK_TYPES] = {
        [MALI_BLK_FW] = MALI_GLB_IN_PRFCNT_FW_EN,
        [MALI_BLK_CSG] = MALI_GLB_IN_PRFCNT_CSG_EN,
        [MALI_BLK_CSHW] = MALI_GLB_IN_PRFCNT_CSHW_EN,
        [MALI_BLK_TILER] = MALI_GLB_IN_PRFCNT_TILER_EN,
        [MALI_BLK_MEMSYS] = MALI_GLB_IN_PRFCNT_MEMSYS_EN,
        [MALI_BLK_SHADER] = MALI_GLB_IN_PRFCNT_SHADER_EN,
    };
    unsigned i;

    if (perfcnt_waits_for(s, jasid)) {
        return false;
    }
    /* The field has room for 128, and for no larger power of two. */
    if (!is_power_of_2(slots) || set >= SETS ||
        jasid > 7 || base % 2048) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: counters not enabled: "
                      "PRFCNT_CONFIG 0x%x, JASID %u, BASE 0x%" PRIx64 "\n",
                      config, jasid, base);
        f->info.rejected++;
        return false;
    }

    if (mali_csf_faults_enable_lost(s)) {
        return false;
    }
    if (!f->enable_due) {
        int64_t slow = mali_csf_faults_enable_slow(s);

        if (slow) {
            f->enable_due = mali_csf_clk_now() + slow;
        }
    }
    if (f->enable_due > mali_csf_clk_now()) {
        timer_mod(f->enable_timer, f->enable_due);
        return false;
    }
    f->enable_due = 0;
    if (f->extract_latch) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: counters enabled with "
                      "EXTRACT %u instead of 0\n", f->extract_latch);
    }

    s->events->sample_due(s);
    mali_csf_counters_advance(s);
    f->jasid = jasid;
    f->base = base;
    f->metadata = s->metadata == ON_OFF_AUTO_ON && extract32(config, 10, 1) &&
                  s->published_version >> 24 >= 2;
    f->csg_select = mali_csf_glb_ld32(s, MALI_GLB_IN +
                                      MALI_GLB_IN_PRFCNT_CSG_SELECT);
    for (i = MALI_BLK_FW; i < MALI_BLK_TYPES; i++) {
        f->mask[i] = mali_csf_glb_ld32(s, MALI_GLB_IN + mask_reg[i]);
        if (f->mask[i] & ~MAKE_64BIT_MASK(0, c->words / 4)) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: 0x%x enables counters "
                          "of a block that has %u\n", f->mask[i], c->words);
        }
    }
    f->info.slots = slots;
    mali_csf_counters_select_set(c, set);
    f->info.sample_size = (c->nblocks + f->metadata) * c->words * 4;
    f->info.insert = 0;
    if (!perfcnt_fill_holes(s)) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: counters not enabled: no "
                      "ring at 0x%" PRIx64 " of AS%u\n", base, jasid);
        f->info.rejected++;
        return false;
    }
    mali_csf_counters_rebase(c);
    mali_csf_counters_period(c);
    f->dropping = false;
    f->no_room = false;
    f->full_seen = false;
    f->put_timestamp = mali_csf_clk_timestamp(s);
    f->info.enabled = true;
    f->info.epoch++;
    trace_mali_csf_perfcnt_enable(f->info.epoch, slots, set);
    perfcnt_publish_insert(s);
    smp_wmb();  /* INSERT before ACK, as in perfcnt_sample() */
    return true;
}

/* False if there is no room for the sample, and that has been said. */
static bool perfcnt_sample_request(MaliCsfState *s, uint32_t req)
{
    MaliPerfcnt *f = s->perfcnt;
    bool want = req & MALI_GLB_PRFCNT_SAMPLE, unanswered;

    if (f->dropping) {
        if (f->dropping_req == want) {
            return true;
        }
        f->dropping = false;
    }
    if (mali_csf_faults_drop_sample(s)) {
        f->dropping = true;
        f->dropping_req = want;
        f->info.dropped++;
        return true;
    }
    if (perfcnt_waits_for(s, f->jasid)) {
        return true;
    }
    if (mali_csf_faults_empty_ack(s)) {
        perfcnt_acknowledge(s, req);
        return true;
    }
    if (perfcnt_ring_full(s)) {
        perfcnt_no_room(s, MALI_REASON_REQUEST, false);
        return false;
    }
    unanswered = mali_csf_faults_drop_sample_ack(s);
    if (perfcnt_sample(s, MALI_REASON_REQUEST, unanswered ?
                       MALI_LEDGER_UNANSWERED : 0) != MALI_MMU_OK) {
        return true;
    }
    if (unanswered) {
        /* Taken for answered: only a new request gets a new sample. */
        f->dropping = true;
        f->dropping_req = want;
    } else {
        perfcnt_acknowledge(s, req);
    }
    perfcnt_threshold(s);
    return true;
}

static void perfcnt_disable(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    f->enable_due = 0;
    timer_del(f->enable_timer);
    if (!f->info.enabled) {
        return;
    }
    mali_csf_publish_late(s);
    /* No sample: what was counted since the last one is discarded. */
    mali_csf_counters_advance(s);
    f->info.enabled = false;
}

/* An enable that took long is done. */
static void perfcnt_enable_timer(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->perfcnt->enable_timer)) {
        return;
    }
    if (!mali_csf_glb_running(s) || s->gpu_status_protm) {
        return;     /* looked at again at the next doorbell, or after it */
    }
    if (mali_csf_mmu_locked(s, 0)) {
        timer_mod(s->perfcnt->enable_timer, mali_csf_clk_now() + RETRY_NS);
        return;
    }
    mali_csf_perfcnt_eval(s, s->glb_req);
}

void mali_csf_perfcnt_eval(MaliCsfState *s, uint32_t req)
{
    MaliPerfcnt *f = s->perfcnt;
    uint32_t ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    bool want = req & MALI_GLB_PRFCNT_ENABLE, told = false;

    f->waiting = false;
    f->extract_latch = mali_csf_glb_ld32(s, MALI_GLB_IN +
                                         MALI_GLB_IN_PRFCNT_EXTRACT);
    if (want && !f->info.enabled) {
        if (!perfcnt_enable(s)) {
            return;
        }
    } else if (!want) {
        perfcnt_disable(s);
        ack = mali_csf_glb_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    }
    if ((req ^ ack) & MALI_GLB_PRFCNT_ENABLE) {
        mali_csf_publish_ack(s, MALI_GLB_PRFCNT_ENABLE);
    }
    if (!((req ^ ack) & MALI_GLB_PRFCNT_SAMPLE)) {
        f->dropping = false;
    } else if (f->info.enabled) {
        told = !perfcnt_sample_request(s, req);
    }
    if (f->info.enabled) {
        perfcnt_events_again(s, told);
    }
}

void mali_csf_perfcnt_boot(MaliCsfState *s, bool warm)
{
    MaliPerfcnt *f = s->perfcnt;

    mali_csf_counters_advance(s);
    if (warm) {
        mali_csf_perfcnt_auto(s, MALI_REASON_WARM_BOOT);
    } else {
        f->info.enabled = false;
    }
    if (mali_csf_faults_cores_hold(s)) {
        mali_csf_pwr_cores_needed(s);
    }
}

uint32_t mali_csf_perfcnt_size(MaliCsfState *s)
{
    unsigned unit = s->counters * 4 / 256;

    return mali_csf_counters_blocks_hw(s) * unit |
           (s->fw_blocks + s->csg_blocks) * unit << 16;
}

uint32_t mali_csf_perfcnt_features(MaliCsfState *s)
{
    return s->metadata == ON_OFF_AUTO_ON ? s->counters * 4 / 256 : 0;
}

void mali_csf_perfcnt_reset(MaliCsfState *s)
{
    MaliPerfcnt *f = s->perfcnt;

    f->info.enabled = false;
    f->enable_due = 0;
    timer_del(f->enable_timer);
    mali_csf_publish_reset(s);
    f->waiting = false;
    f->dropping = false;
    f->no_room = false;
    f->full_seen = false;
    mali_csf_counters_reset(s);
}

const MaliCountersInfo *mali_csf_perfcnt_info(MaliCsfState *s)
{
    return &s->perfcnt->info;
}

void mali_csf_perfcnt_init(MaliCsfState *s)
{
    MaliPerfcnt *f = g_new0(MaliPerfcnt, 1);

    s->perfcnt = f;
    f->buf = g_malloc0((s->ctr->nblocks + 1) * s->ctr->words * 4);
    f->written = g_new0(bool, s->ctr->nblocks + 1);
    f->enable_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, perfcnt_enable_timer, s);
    mali_csf_publish_init(s);
}

void mali_csf_perfcnt_exit(MaliCsfState *s)
{
    mali_csf_publish_exit(s);
    timer_free(s->perfcnt->enable_timer);
    g_free(s->perfcnt->buf);
    g_free(s->perfcnt->written);
    g_free(s->perfcnt);
    s->perfcnt = NULL;
}
