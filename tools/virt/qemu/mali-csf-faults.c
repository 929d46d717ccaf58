/*
 * Arm Mali CSF GPU: injected faults
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the bench page makes go wrong, behind a few questions that the files
 * concerned ask at the place where it would go wrong. Without injections the
 * answers are those of a GPU.
 */
#include "qemu/osdep.h"
#include "hw/misc/mali-csf.h"
#include "hw/misc/mali-csf-bench-regs.h"

static bool faults_one_less(uint32_t *n)
{
    if (!*n) {
        return false;
    }
    --*n;
    return true;
}

bool mali_csf_faults_drop_request(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_acks);
}

bool mali_csf_faults_drop_sample(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_samples);
}

bool mali_csf_faults_drop_sample_ack(MaliCsfState *s)
{
    return faults_one_less(&s->inj.drop_sample_acks);
}

bool mali_csf_faults_boot_fails(MaliCsfState *s)
{
    return faults_one_less(&s->inj.boot_fail);
}

bool mali_csf_faults_stream_ends(MaliCsfState *s)
{
    if (!faults_one_less(&s->inj.cs_unrecoverable)) {
        return false;
    }
    s->inj.unrecoverable = true;
    return true;
}

bool mali_csf_faults_unrecoverable(MaliCsfState *s)
{
    return s->inj.unrecoverable;
}

bool mali_csf_faults_hang(MaliCsfState *s)
{
    return s->inj.hang;
}

bool mali_csf_faults_ring_full(MaliCsfState *s)
{
    return s->inj.ring_full;
}

uint64_t mali_csf_faults_delay_ns(MaliCsfState *s)
{
    return s->inj.ack_delay_ns;
}

uint32_t mali_csf_faults_insert_skew(MaliCsfState *s)
{
    return s->inj.insert_skew_on ? s->inj.insert_skew : 0;
}

uint32_t mali_csf_faults_iface(MaliCsfState *s, uint32_t version)
{
    return s->inj.iface_version ? s->inj.iface_version : version;
}

uint64_t mali_csf_faults_cores_off(MaliCsfState *s)
{
    return s->inj.cores_off;
}

bool mali_csf_faults_cores_hold(MaliCsfState *s)
{
    return s->inj.cores_hold;
}

void mali_csf_faults_reset(MaliCsfState *s)
{
    s->inj.hang = false;
    s->inj.unrecoverable = false;
}

/* ---- switches from 0x300 of the bench page on ---- */

/*
 * The largest value that a storm gives each, of which it draws one from 1 on.
 * Delays stay well below what panthor and the driver give firmware to answer,
 * and those of samples below the time in which requests without a pause fill
 * the ring.
 */
static const uint32_t faults_storm_max[MALI_FAULTS] = {
#define STORM_MAX(reg, max) [MALI_FAULT_NUMBER(MALI_BENCH_##reg)] = (max)
    STORM_MAX(DATA_LATE, SCALE_MS / 5),
    STORM_MAX(CORES_LATE, SCALE_MS / 2),
    STORM_MAX(VALUES_LATE, SCALE_MS / 2),
    STORM_MAX(MEMORY_LATE, 1),
    STORM_MAX(INSERT_LATE, 2 * SCALE_MS),
    STORM_MAX(ACK_LATE, 2 * SCALE_MS),
    STORM_MAX(EMPTY_ACKS, 1),
    STORM_MAX(DOUBLE_SAMPLES, 3),
    STORM_MAX(IRQS_LOST, 3),
    STORM_MAX(IRQ_LATE, 5 * SCALE_MS),
    STORM_MAX(IRQ_APART, 20 * SCALE_MS),
    STORM_MAX(IRQ_SPURIOUS, SCALE_MS),
    STORM_MAX(EN_CUT, 2),
    STORM_MAX(META_STALE, 7),
    STORM_MAX(EXTRACT_LATCHED, 1),
    STORM_MAX(OVERWRITE, 1),
    STORM_MAX(HALT_FIRST, 1),
    STORM_MAX(ENABLES_LOST, 2),
    STORM_MAX(ENABLE_SLOW, 50 * SCALE_MS),
    STORM_MAX(EVENTS_ALWAYS, 3),
    STORM_MAX(EVENTS_FEW, 1),
    STORM_MAX(TS_OFFSET, 1000000),
    STORM_MAX(TS_DRIFT, 500),
    STORM_MAX(TS_SKEW, 10000),
    STORM_MAX(TS_BACK, 3),
    STORM_MAX(CORES_APART, SCALE_MS / 2),
    STORM_MAX(POWER_LOSES, 1),
    STORM_MAX(BUSY_SKEW, 1000),
    STORM_MAX(AS_STUCK, 1),
    STORM_MAX(FLUSH_STUCK, 1),
    STORM_MAX(L2_STUCK, 1),
    STORM_MAX(RESET_STUCK, 1),
#undef STORM_MAX
};

uint32_t mali_csf_faults_storm_value(unsigned number, uint32_t random)
{
    return 1 + random % faults_storm_max[number];
}

static uint32_t faults_value(MaliCsfState *s, unsigned reg)
{
    return s->inj.fault[MALI_FAULT_NUMBER(reg)];
}

/* The value of a switch, where it makes a difference now. */
static uint32_t faults_hit(MaliCsfState *s, unsigned reg)
{
    uint32_t value = faults_value(s, reg);

    s->inj.fault_hits += value != 0;
    return value;
}

static bool faults_hit_once(MaliCsfState *s, unsigned reg)
{
    if (!faults_one_less(&s->inj.fault[MALI_FAULT_NUMBER(reg)])) {
        return false;
    }
    s->inj.fault_hits++;
    return true;
}

int64_t mali_csf_faults_data_late(MaliCsfState *s, bool core)
{
    int64_t late = faults_hit(s, MALI_BENCH_DATA_LATE);

    return core ? late + faults_hit(s, MALI_BENCH_CORES_LATE) : late;
}

int64_t mali_csf_faults_values_late(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_VALUES_LATE);
}

bool mali_csf_faults_memory_late(MaliCsfState *s)
{
    return !s->coherent && faults_hit(s, MALI_BENCH_MEMORY_LATE);
}

int64_t mali_csf_faults_insert_late(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_INSERT_LATE);
}

int64_t mali_csf_faults_ack_late(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_ACK_LATE);
}

bool mali_csf_faults_empty_ack(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_EMPTY_ACKS);
}

bool mali_csf_faults_double_sample(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_DOUBLE_SAMPLES);
}

bool mali_csf_faults_irq_lost(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_IRQS_LOST);
}

int64_t mali_csf_faults_irq_late(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_IRQ_LATE);
}

bool mali_csf_faults_irqs_are_apart(MaliCsfState *s)
{
    return faults_value(s, MALI_BENCH_IRQ_APART);
}

void mali_csf_faults_irq_was_apart(MaliCsfState *s)
{
    faults_hit(s, MALI_BENCH_IRQ_APART);
}

int64_t mali_csf_faults_irq_apart(MaliCsfState *s, int64_t now, int64_t last)
{
    int64_t due = last + faults_value(s, MALI_BENCH_IRQ_APART);

    if (!last || due <= now) {
        return now;
    }
    faults_hit(s, MALI_BENCH_IRQ_APART);
    return due;
}

int64_t mali_csf_faults_irq_spurious(MaliCsfState *s)
{
    uint32_t period = faults_value(s, MALI_BENCH_IRQ_SPURIOUS);

    /* More often would be all that the machine does. */
    return period ? MAX(period, 100 * SCALE_US) : 0;
}

void mali_csf_faults_irq_was_spurious(MaliCsfState *s)
{
    faults_hit(s, MALI_BENCH_IRQ_SPURIOUS);
}

uint32_t mali_csf_faults_en(MaliCsfState *s, uint32_t en)
{
    return s->inj.en_cut ? en & ~2u : en;
}

void mali_csf_faults_sample_begins(MaliCsfState *s)
{
    s->inj.en_cut = faults_hit_once(s, MALI_BENCH_EN_CUT);
    s->inj.ts_back = faults_hit_once(s, MALI_BENCH_TS_BACK);
}

uint32_t mali_csf_faults_meta_stale(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_META_STALE);
}

uint32_t mali_csf_faults_extract(MaliCsfState *s, uint32_t now,
                                 uint32_t latched)
{
    return now != latched && faults_hit(s, MALI_BENCH_EXTRACT_LATCHED) ?
           latched : now;
}

bool mali_csf_faults_overwrite(MaliCsfState *s)
{
    return faults_value(s, MALI_BENCH_OVERWRITE);
}

void mali_csf_faults_overwritten(MaliCsfState *s)
{
    faults_hit(s, MALI_BENCH_OVERWRITE);
}

bool mali_csf_faults_halt_first(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_HALT_FIRST);
}

bool mali_csf_faults_enable_lost(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_ENABLES_LOST);
}

int64_t mali_csf_faults_enable_slow(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_ENABLE_SLOW);
}

uint32_t mali_csf_faults_events_always(MaliCsfState *s)
{
    return faults_value(s, MALI_BENCH_EVENTS_ALWAYS);
}

void mali_csf_faults_event_was_raised(MaliCsfState *s)
{
    faults_hit(s, MALI_BENCH_EVENTS_ALWAYS);
}

bool mali_csf_faults_events_few(MaliCsfState *s)
{
    return faults_value(s, MALI_BENCH_EVENTS_FEW);
}

void mali_csf_faults_event_was_withheld(MaliCsfState *s)
{
    faults_hit(s, MALI_BENCH_EVENTS_FEW);
}

uint64_t mali_csf_faults_timestamp(MaliCsfState *s, uint64_t timestamp,
                                   uint64_t last, unsigned block)
{
    int32_t offset = faults_hit(s, MALI_BENCH_TS_OFFSET);
    int32_t drift = faults_hit(s, MALI_BENCH_TS_DRIFT);
    uint64_t skew = block ? faults_hit(s, MALI_BENCH_TS_SKEW) : 0;
    __int128 part = (__int128)timestamp * drift / 1000000;

    if (s->inj.ts_back) {
        return last - SCALE_MS / s->count_period_ns - skew * block;
    }
    return timestamp + offset + (int64_t)part - skew * block;
}

int64_t mali_csf_faults_cores_apart(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_CORES_APART);
}

bool mali_csf_faults_power_loses(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_POWER_LOSES);
}

uint32_t mali_csf_faults_busy_skew(MaliCsfState *s)
{
    return faults_hit(s, MALI_BENCH_BUSY_SKEW);
}

bool mali_csf_faults_as_stuck(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_AS_STUCK);
}

bool mali_csf_faults_flush_stuck(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_FLUSH_STUCK);
}

bool mali_csf_faults_l2_stuck(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_L2_STUCK);
}

bool mali_csf_faults_reset_stuck(MaliCsfState *s)
{
    return faults_hit_once(s, MALI_BENCH_RESET_STUCK);
}
