/*
 * Arm Mali CSF GPU: the bench page
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A page of registers which no GPU has: a test makes things happen to the
 * GPU, and looks behind the driver's back. mali-csf-bench-regs.h is the map.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/log.h"
#include "sysemu/cpu-timers.h"
#include "hw/misc/mali-csf-counters.h"

#define DEFAULT_RATE            10000
#define DEFAULT_STORM_PERIOD    5000
#define DEFAULT_STORM_KINDS     0x1f
/* What firmware cannot do while its address space is locked is tried again. */
#define RETRY_NS                (10 * SCALE_US)
#define STORM_ACK_DELAY_NS      (5 * SCALE_MS)

#define STORM_SOURCES           (MALI_STORM_KINDS + MALI_FAULTS)
/* So many times the period from one of a kind to the next. */
#define STORM_SPACING           8

/* What a storm has of one kind, or of one switch of faults. */
typedef struct StormSource {
    uint64_t random;
    int64_t next;       /* when it begins */
    int64_t until;      /* when it ends; 0: does not last now */
} StormSource;

struct MaliBench {
    uint32_t activity, rate;
    uint32_t type, index, counter;
    uint64_t amount;
    uint32_t latch[MALI_BENCH_SIZE / 8];     /* high halves, as read */

    /* Not done yet, for a locked address space. */
    bool want_protm, want_sleep, want_wake, want_power;
    uint32_t want_crash;    /* as written */
    uint64_t cores_off;     /* the low half is written before the high one */
    QEMUTimer *retry;

    bool storm;
    uint32_t seed, period_us, kinds, faults, events;
    StormSource sources[STORM_SOURCES];
    QEMUTimer *timer;
};

static void bench_cores_off_now(MaliCsfState *s)
{
    uint64_t off = s->bench->cores_off & s->shader_present;
    uint64_t down = off & (s->pwr[MALI_PWR_SHADER].ready |
                           s->pwr[MALI_PWR_SHADER].trans_on);
    uint64_t up = s->inj.cores_off & ~off;

    s->inj.cores_off = off;
    if (down) {
        /* Firmware samples before a core's counts go with its power. */
        mali_csf_perfcnt_auto(s, MALI_REASON_REQUEST);
        mali_csf_pwr_set(s, MALI_PWR_SHADER, down, false);
    }
    if (up && mali_csf_glb_running(s) &&
        (s->inj.cores_hold || !mali_csf_csg_idle(s))) {
        mali_csf_pwr_cores_needed(s);
    }
    mali_csf_csg_kick(s);
}

static void bench_settle(void *opaque)
{
    MaliCsfState *s = opaque;
    MaliBench *b = s->bench;

    if (!(b->want_protm || b->want_sleep || b->want_wake || b->want_power ||
          b->want_crash)) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0)) {
        timer_mod(b->retry, mali_csf_clk_now() + RETRY_NS);
        return;
    }
    if (b->want_power) {
        b->want_power = false;
        bench_cores_off_now(s);
    }
    if (b->want_protm) {
        b->want_protm = false;
        if (mali_csf_glb_running(s)) {
            s->inj.protm = true;
            mali_csf_mcu_set_protm(s, true);
        }
    }
    if (b->want_sleep) {
        b->want_sleep = false;
        /* Nothing of protected mode survives firmware's sleep: not both. */
        if (!s->gpu_status_protm) {
            mali_csf_mcu_sleep(s);
        }
    }
    if (b->want_wake) {
        b->want_wake = false;
        mali_csf_mcu_wake(s);
    }
    if (b->want_crash) {
        mali_csf_mcu_crash(s, b->want_crash);
        b->want_crash = 0;
    }
}

static void bench_set_protm(MaliCsfState *s, bool on)
{
    s->bench->want_protm = on;
    if (on) {
        bench_settle(s);
    } else {
        s->inj.protm = false;
        mali_csf_mcu_set_protm(s, false);
    }
}

static void bench_set_sleep(MaliCsfState *s, bool on)
{
    s->bench->want_sleep = on;
    s->bench->want_wake = !on;
    bench_settle(s);
}

static void bench_set_cores_off(MaliCsfState *s, uint64_t mask)
{
    s->bench->cores_off = mask;
    s->bench->want_power = true;
    bench_settle(s);
}

static void bench_set_cores_hold(MaliCsfState *s, bool on)
{
    s->inj.cores_hold = on;
    if (!mali_csf_glb_running(s)) {
        return;     /* as the next boot finds it */
    }
    if (on) {
        mali_csf_pwr_cores_needed(s);
    } else if (mali_csf_csg_idle(s)) {
        timer_mod(s->poweroff_timer, mali_csf_clk_now() + s->poweroff_ns);
    }
}

/* ---- storm ---- */

/* xorshift64*: the series depends on the seed and on the source alone. */
static uint32_t bench_storm_random(StormSource *source)
{
    source->random ^= source->random >> 12;
    source->random ^= source->random << 25;
    source->random ^= source->random >> 27;
    return (source->random * 0x2545f4914f6cdd1dull) >> 32;
}

static void bench_storm_begin(MaliCsfState *s, unsigned kind, uint32_t arg)
{
    if (kind >= MALI_STORM_KINDS) {
        unsigned fault = kind - MALI_STORM_KINDS;

        s->inj.fault[fault] = mali_csf_faults_storm_value(fault, arg);
        mali_csf_publish_faults_changed(s);
        return;
    }
    switch (kind) {
    case MALI_STORM_SLEEP:
        bench_set_sleep(s, true);
        break;
    case MALI_STORM_PROTM:
        bench_set_protm(s, true);
        break;
    case MALI_STORM_POWER:
        bench_set_cores_off(s, arg | (uint64_t)~arg << 32);
        break;
    case MALI_STORM_SLOW_ACK:
        s->inj.ack_delay_ns = arg % STORM_ACK_DELAY_NS;
        break;
    case MALI_STORM_RING_FULL:
        s->inj.ring_full = true;
        break;
    case MALI_STORM_DROP_SAMPLE:
        s->inj.drop_samples++;
        break;
    case MALI_STORM_DROP_ACK:
        s->inj.drop_sample_acks++;
        break;
    case MALI_STORM_HANG:
        /* At boot it would be another thing: a GPU that panthor gives up. */
        s->inj.hang |= mali_csf_glb_running(s);
        break;
    }
}

static void bench_storm_end(MaliCsfState *s, unsigned kind)
{
    s->bench->sources[kind].until = 0;
    if (kind >= MALI_STORM_KINDS) {
        s->inj.fault[kind - MALI_STORM_KINDS] = 0;
        mali_csf_publish_faults_changed(s);
        return;
    }
    switch (kind) {
    case MALI_STORM_SLEEP:
        bench_set_sleep(s, false);
        break;
    case MALI_STORM_PROTM:
        bench_set_protm(s, false);
        break;
    case MALI_STORM_POWER:
        bench_set_cores_off(s, 0);
        break;
    case MALI_STORM_SLOW_ACK:
        s->inj.ack_delay_ns = 0;
        break;
    case MALI_STORM_RING_FULL:
        s->inj.ring_full = false;
        break;
    case MALI_STORM_DROP_SAMPLE:
        s->inj.drop_samples = 0;
        break;
    case MALI_STORM_DROP_ACK:
        s->inj.drop_sample_acks = 0;
        break;
    }
}

static bool bench_storm_has(MaliBench *b, unsigned kind)
{
    return kind < MALI_STORM_KINDS ? b->kinds >> kind & 1 :
           b->faults >> (kind - MALI_STORM_KINDS) & 1;
}

static int64_t bench_storm_gap(MaliBench *b, StormSource *source)
{
    uint64_t mean = (uint64_t)b->period_us * SCALE_US * STORM_SPACING;

    return mean / 2 + bench_storm_random(source) % mean;
}

static void bench_storm_step(MaliCsfState *s)
{
    MaliBench *b = s->bench;
    uint64_t period = (uint64_t)b->period_us * SCALE_US;
    int64_t now = mali_csf_clk_now(), wake = now + SCALE_MS * 1000;
    unsigned i;

    for (i = 0; i < STORM_SOURCES; i++) {
        StormSource *source = &b->sources[i];

        if (source->until && source->until <= now) {
            bench_storm_end(s, i);
        }
        while (source->next <= now) {
            /*
             * Always three numbers an event, and none left out for what the
             * guest has done meanwhile: the series stays the seed's.
             */
            uint64_t length = period / 4 + bench_storm_random(source) % period;
            uint32_t arg = bench_storm_random(source);

            source->next += bench_storm_gap(b, source);
            if (bench_storm_has(b, i) && !source->until) {
                source->until = now + length;
                b->events++;
                bench_storm_begin(s, i, arg);
            }
        }
        if (bench_storm_has(b, i)) {
            wake = MIN(wake, source->next);
        }
        if (source->until) {
            wake = MIN(wake, source->until);
        }
    }
    timer_mod(b->timer, wake);
}

static void bench_storm_timer(void *opaque)
{
    bench_storm_step(opaque);
}

static void bench_set_storm(MaliCsfState *s, bool on)
{
    MaliBench *b = s->bench;
    unsigned i;

    if (on == b->storm) {
        return;
    }
    b->storm = on;
    if (!on) {
        timer_del(b->timer);
        for (i = 0; i < STORM_SOURCES; i++) {
            if (b->sources[i].until) {
                bench_storm_end(s, i);
            }
        }
        return;
    }
    b->events = 0;
    for (i = 0; i < STORM_SOURCES; i++) {
        StormSource *source = &b->sources[i];

        source->random = 0x9e3779b97f4a7c15ull * (i + 1) ^ b->seed;
        /* Of the first, all sources and seeds would have too much in common. */
        bench_storm_random(source);
        source->next = mali_csf_clk_now() + bench_storm_gap(b, source);
    }
    bench_storm_step(s);
}

/* ---- registers ---- */

static uint32_t bench_mcu_flags(MaliCsfState *s)
{
    return s->mcu_booted | s->mcu_asleep << 1 |
           mali_csf_glb_running(s) << 2 | s->mcu_doorbell << 3;
}

/* Of @count sources from the one of number @first on, those that last. */
static uint32_t bench_storm_now(MaliBench *b, unsigned first, unsigned count)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < count; i++) {
        v |= (uint32_t)(b->sources[first + i].until != 0) << i;
    }
    return v;
}

static uint64_t bench_get(MaliCsfState *s, hwaddr off)
{
    MaliBench *b = s->bench;
    const MaliCountersInfo *c = mali_csf_perfcnt_info(s);

    switch (off) {
    case MALI_BENCH_ID:
        return MALI_BENCH_ID_VALUE;
    case MALI_BENCH_VERSION:
        return MALI_BENCH_VERSION_VALUE;
    case MALI_BENCH_ACTIVITY:
        return b->activity;
    case MALI_BENCH_RATE:
        return b->rate;
    case MALI_BENCH_CORES_HOLD:
        return s->inj.cores_hold;
    case MALI_BENCH_TYPE:
        return b->type;
    case MALI_BENCH_INDEX:
        return b->index;
    case MALI_BENCH_COUNTER:
        return b->counter;
    case MALI_BENCH_EXISTS:
        return mali_csf_counters_exists(s, b->type, b->index, b->counter);
    case MALI_BENCH_EMITTED:
        return mali_csf_counters_emitted(s, b->type, b->index, b->counter);
    case MALI_BENCH_GENERATED:
        return mali_csf_counters_generated(s, b->type, b->index, b->counter);
    case MALI_BENCH_AMOUNT:
        return b->amount;
    case MALI_BENCH_PROTM:
        return b->want_protm || s->gpu_status_protm;
    case MALI_BENCH_SLEEP:
        return b->want_sleep || s->mcu_asleep;
    case MALI_BENCH_CORES_OFF:
        return b->cores_off;
    case MALI_BENCH_ACK_DELAY:
        return s->inj.ack_delay_ns;
    case MALI_BENCH_DROP_SAMPLES:
        return s->inj.drop_samples;
    case MALI_BENCH_DROP_ACKS:
        return s->inj.drop_acks;
    case MALI_BENCH_DROP_SAMPLE_ACKS:
        return s->inj.drop_sample_acks;
    case MALI_BENCH_RING_FULL:
        return s->inj.ring_full;
    case MALI_BENCH_HANG:
        return s->inj.hang;
    case MALI_BENCH_BOOT_FAIL:
        return s->inj.boot_fail;
    case MALI_BENCH_CS_UNRECOVERABLE:
        return s->inj.cs_unrecoverable;
    case MALI_BENCH_IFACE:
        return s->inj.iface_version;
    case MALI_BENCH_INSERT_SKEW:
        return s->inj.insert_skew;
    case MALI_BENCH_INSERT_SKEW_ON:
        return s->inj.insert_skew_on;
    case MALI_BENCH_MCU_STATUS:
        return s->mcu_status;
    case MALI_BENCH_MCU_FLAGS:
        return bench_mcu_flags(s);
    case MALI_BENCH_GPU_STATUS:
        return s->gpu_status_protm |
               (mali_csf_csg_idle(s) ? 0 : MALI_STATUS_ACTIVE);
    case MALI_BENCH_IFACE_NOW:
        return s->published_version;
    case MALI_BENCH_SHADER_READY:
        return s->pwr[MALI_PWR_SHADER].ready;
    case MALI_BENCH_TILER_READY:
        return s->pwr[MALI_PWR_TILER].ready;
    case MALI_BENCH_L2_READY:
        return s->pwr[MALI_PWR_L2].ready;
    case MALI_BENCH_ENABLED:
        return c->enabled;
    case MALI_BENCH_EPOCH:
        return c->epoch;
    case MALI_BENCH_INSERT:
        return c->insert;
    case MALI_BENCH_EXTRACT:
        return c->extract;
    case MALI_BENCH_SET:
        return s->ctr->set;
    case MALI_BENCH_SLOTS:
        return c->slots;
    case MALI_BENCH_SAMPLE_SIZE:
        return c->sample_size;
    case MALI_BENCH_SAMPLES:
        return c->samples;
    case MALI_BENCH_AUTOS:
        return c->autos;
    case MALI_BENCH_LOST_AUTOS:
        return c->lost_autos;
    case MALI_BENCH_FAULTS:
        return c->faults;
    case MALI_BENCH_REJECTED:
        return c->rejected;
    case MALI_BENCH_DROPPED:
        return c->dropped;
    case MALI_BENCH_OVERFLOWS:
        return c->overflows;
    case MALI_BENCH_THRESHOLDS:
        return c->thresholds;
    case MALI_BENCH_SATURATED:
        return s->ctr->saturated;
    case MALI_BENCH_LAST_REASON:
        return c->last_reason;
    case MALI_BENCH_LAST_TIMESTAMP:
        return c->last_timestamp;
    case MALI_BENCH_TIMESTAMP:
        return mali_csf_clk_timestamp(s);
    case MALI_BENCH_CORE_CYCLES:
        return mali_csf_clk_cycles(s, MALI_CLK_CORE);
    case MALI_BENCH_COREGROUP_CYCLES:
        return mali_csf_clk_cycles(s, MALI_CLK_COREGROUP);
    case MALI_BENCH_STACKS_CYCLES:
        return mali_csf_clk_cycles(s, MALI_CLK_STACKS);
    case MALI_BENCH_CORE_HZ:
        return mali_csf_clk_nominal_hz(s, MALI_CLK_CORE);
    case MALI_BENCH_COREGROUP_HZ:
        return mali_csf_clk_nominal_hz(s, MALI_CLK_COREGROUP);
    case MALI_BENCH_STACKS_HZ:
        return mali_csf_clk_nominal_hz(s, MALI_CLK_STACKS);
    case MALI_BENCH_CORE_REAL_HZ:
        return mali_csf_clk_hz(s, MALI_CLK_CORE);
    case MALI_BENCH_COREGROUP_REAL_HZ:
        return mali_csf_clk_hz(s, MALI_CLK_COREGROUP);
    case MALI_BENCH_STACKS_REAL_HZ:
        return mali_csf_clk_hz(s, MALI_CLK_STACKS);
    case MALI_BENCH_REAL_RATE:
        return s->real_rate_now;
    case MALI_BENCH_CYCLE_TOTAL:
        return mali_csf_clk_cycle_total(s);
    case MALI_BENCH_WALKS:
        return s->mmu_walks;
    case MALI_BENCH_TLB_HITS:
        return s->mmu_hits;
    case MALI_BENCH_TURNS:
        return s->csg_turns;
    case MALI_BENCH_LAST_CORE_CYCLES:
        return c->last_cycles[MALI_CLK_CORE];
    case MALI_BENCH_LAST_COREGROUP_CYCLES:
        return c->last_cycles[MALI_CLK_COREGROUP];
    case MALI_BENCH_LAST_STACKS_CYCLES:
        return c->last_cycles[MALI_CLK_STACKS];
    case MALI_BENCH_REQ:
        return s->glb_req;
    case MALI_BENCH_INSTRUCTIONS:
        return icount_enabled() ? icount_get_raw() : 0;
    case MALI_BENCH_STORM:
        return b->storm;
    case MALI_BENCH_STORM_SEED:
        return b->seed;
    case MALI_BENCH_STORM_PERIOD:
        return b->period_us;
    case MALI_BENCH_STORM_KINDS:
        return b->kinds;
    case MALI_BENCH_STORM_EVENTS:
        return b->events;
    case MALI_BENCH_STORM_NOW:
        return bench_storm_now(b, 0, MALI_STORM_KINDS);
    case MALI_BENCH_STORM_FAULTS:
        return b->faults;
    case MALI_BENCH_STORM_FAULTS_NOW:
        return bench_storm_now(b, MALI_STORM_KINDS, MALI_FAULTS);
    case MALI_BENCH_FAULT_HITS:
        return s->inj.fault_hits;
    }
    /* The rest are the switches of faults. */
    return s->inj.fault[MALI_FAULT_NUMBER(off)];
}

typedef struct BenchReg {
    uint16_t off;
    uint8_t bits;
    bool readable, writable;
} BenchReg;

static const BenchReg *bench_reg(hwaddr off)
{
    static const BenchReg regs[] = {
#define MALI_BENCH_REG(sym, name, bits, r, w, help) \
    { MALI_BENCH_##sym, bits, r, w },
        MALI_BENCH_REGS(MALI_BENCH_REG)
#undef MALI_BENCH_REG
    };

    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        if (off >= regs[i].off && off < regs[i].off + regs[i].bits / 8) {
            return &regs[i];
        }
    }
    return NULL;
}

uint64_t mali_csf_bench_read(MaliCsfState *s, hwaddr off, unsigned size)
{
    const BenchReg *r = bench_reg(off);
    uint64_t v;

    if (!r || !r->readable || size != 4) {
        return 0;
    }
    if (off != r->off) {
        return s->bench->latch[off / 8];
    }
    v = bench_get(s, off);
    if (r->bits == 64) {
        s->bench->latch[off / 8] = v >> 32;
    }
    return (uint32_t)v;
}

void mali_csf_bench_write(MaliCsfState *s, hwaddr off, uint64_t val,
                          unsigned size)
{
    MaliBench *b = s->bench;
    const BenchReg *r = bench_reg(off);

    if (!r || !r->writable || size != 4) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: bench page: nothing to "
                      "write at 0x%" HWADDR_PRIx "\n", off);
        return;
    }
    switch (off) {
    case MALI_BENCH_ACTIVITY:
        b->activity = val != 0;
        mali_csf_counters_set_activity(s, b->activity, b->rate);
        break;
    case MALI_BENCH_RATE:
        b->rate = val;
        mali_csf_counters_set_activity(s, b->activity, b->rate);
        break;
    case MALI_BENCH_CORES_HOLD:
        bench_set_cores_hold(s, val);
        break;
    case MALI_BENCH_TYPE:
        b->type = val;
        break;
    case MALI_BENCH_INDEX:
        b->index = val;
        break;
    case MALI_BENCH_COUNTER:
        b->counter = val;
        break;
    case MALI_BENCH_AMOUNT:
        b->amount = deposit64(b->amount, 0, 32, val);
        break;
    case MALI_BENCH_AMOUNT + 4:
        b->amount = deposit64(b->amount, 32, 32, val);
        break;
    case MALI_BENCH_ADD:
        if (val) {
            mali_csf_counters_add(s, b->type, b->index, b->counter, b->amount);
        }
        break;
    case MALI_BENCH_PROTM:
        bench_set_protm(s, val);
        break;
    case MALI_BENCH_SLEEP:
        bench_set_sleep(s, val);
        break;
    case MALI_BENCH_CORES_OFF:
        b->cores_off = deposit64(b->cores_off, 0, 32, val);
        break;
    case MALI_BENCH_CORES_OFF + 4:
        bench_set_cores_off(s, deposit64(b->cores_off, 32, 32, val));
        break;
    case MALI_BENCH_ACK_DELAY:
        s->inj.ack_delay_ns = val;
        break;
    case MALI_BENCH_DROP_SAMPLES:
        s->inj.drop_samples = val;
        break;
    case MALI_BENCH_DROP_ACKS:
        s->inj.drop_acks = val;
        break;
    case MALI_BENCH_DROP_SAMPLE_ACKS:
        s->inj.drop_sample_acks = val;
        break;
    case MALI_BENCH_RING_FULL:
        s->inj.ring_full = val;
        break;
    case MALI_BENCH_HANG:
        s->inj.hang = val;
        break;
    case MALI_BENCH_BOOT_FAIL:
        s->inj.boot_fail = val;
        break;
    case MALI_BENCH_CS_UNRECOVERABLE:
        s->inj.cs_unrecoverable = val;
        break;
    case MALI_BENCH_PROTM_FAULT:
        if (val && s->gpu_status_protm) {
            mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_PROTM_FAULT);
        }
        break;
    case MALI_BENCH_IFACE:
        s->inj.iface_version = val;
        break;
    case MALI_BENCH_INSERT_SKEW:
        s->inj.insert_skew = val;
        break;
    case MALI_BENCH_INSERT_SKEW_ON:
        s->inj.insert_skew_on = val != 0;
        break;
    case MALI_BENCH_LEDGER_FLUSH:
        mali_csf_ledger_flush(s);
        break;
    case MALI_BENCH_CRASH:
        b->want_crash = val <= MALI_CRASH_FATAL ? val : MALI_CRASH_NONE;
        bench_settle(s);
        break;
    case MALI_BENCH_REAL_RATE:
        if (val < 1 || val > MALI_MAX_REAL_RATE) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: bench page: real_rate "
                          "must be 1 to %d, not %" PRIu64 "\n",
                          MALI_MAX_REAL_RATE, val);
            break;
        }
        mali_csf_csg_settle(s);
        mali_csf_clk_set_real_rate(s, val);
        break;
    case MALI_BENCH_STORM:
        bench_set_storm(s, val);
        break;
    case MALI_BENCH_STORM_SEED:
        b->seed = val;
        break;
    case MALI_BENCH_STORM_PERIOD:
        /* Shorter would be all that the machine does. */
        b->period_us = MAX(val, 10);
        break;
    case MALI_BENCH_STORM_KINDS:
        b->kinds = val;
        break;
    case MALI_BENCH_STORM_FAULTS:
        b->faults = val;
        break;
    default:
        /* The rest are the switches of faults. */
        s->inj.fault[MALI_FAULT_NUMBER(off)] = val;
        mali_csf_publish_faults_changed(s);
    }
}

/* The GPU was reset: what lasts inside it is over. Requests stay. */
void mali_csf_bench_reset(MaliCsfState *s)
{
    MaliBench *b = s->bench;

    b->want_protm = b->want_sleep = b->want_wake = false;
    b->want_crash = 0;
    s->inj.protm = false;
    b->sources[MALI_STORM_PROTM].until = 0;
    b->sources[MALI_STORM_SLEEP].until = 0;
    b->sources[MALI_STORM_HANG].until = 0;
}

void mali_csf_bench_forget(MaliCsfState *s)
{
    MaliBench *b = s->bench;

    timer_del(b->retry);
    timer_del(b->timer);
    *b = (MaliBench) {
        .rate = DEFAULT_RATE,
        .type = MALI_BLK_CSHW,
        .counter = 4,
        .seed = 1,
        .period_us = DEFAULT_STORM_PERIOD,
        .kinds = DEFAULT_STORM_KINDS,
        .retry = b->retry,
        .timer = b->timer,
    };
    memset(&s->inj, 0, sizeof(s->inj));
    mali_csf_clk_set_real_rate(s, s->real_rate);
    mali_csf_publish_faults_changed(s);
    mali_csf_counters_set_activity(s, false, b->rate);
}

void mali_csf_bench_init(MaliCsfState *s)
{
    MaliBench *b = g_new0(MaliBench, 1);

    s->bench = b;
    b->retry = timer_new_ns(QEMU_CLOCK_VIRTUAL, bench_settle, s);
    b->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, bench_storm_timer, s);
    mali_csf_bench_forget(s);
}

void mali_csf_bench_exit(MaliCsfState *s)
{
    timer_free(s->bench->retry);
    timer_free(s->bench->timer);
    g_free(s->bench);
    s->bench = NULL;
}
