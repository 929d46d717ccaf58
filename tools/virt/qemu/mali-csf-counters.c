/*
 * Arm Mali CSF GPU: what performance counters count
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a counter counts. Every block keeps a few 64-bit scalars: units of
 * background activity (which the bench page turns on), cycles and amounts of
 * the work that command streams did. A counter's running total is a fixed
 * function of its block's scalars,
 *
 *   total = units * weight + (scalar * mul >> shift) + added
 *
 * with a weight unlike any other counter's, so that a swapped block or a
 * shifted index shows. The value in a sample is the difference of two totals,
 * cut to 32 bits. README has the tables; the driver-free test computes the
 * same independently.
 *
 * Nothing is counted a word at a time, so the cost of counting does not
 * depend on how many counters there are, and a sample costs two
 * multiplications a counter.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "hw/misc/mali-csf-counters.h"

/* Ordinals of blocks, for the weights: the same on every model. */
#define ORD_FW          0
#define ORD_CSG         1
#define ORD_CSHW        32
#define ORD_TILER       33
#define ORD_MEMSYS      34
#define ORD_SHADER      50
#define ORDS            (ORD_SHADER + MALI_MAX_CORES)

/* Assumed cost of a request served by firmware when none is given. */
#define MCU_REQUEST_CYCLES  500

static unsigned arch(MaliCsfState *s)
{
    return s->gpu_id >> 28;
}

/* Shader cores by their physical positions, wherever their blocks are. */
static MaliBlock *block_of(MaliCounters *c, unsigned type, unsigned inst)
{
    if (type == MALI_BLK_SHADER && c->compact_cores) {
        if (inst >= MALI_MAX_CORES || !extract64(c->compact_cores, inst, 1)) {
            return NULL;
        }
        inst = ctpop64(c->compact_cores & ((1ull << inst) - 1));
    }
    if (type <= MALI_BLK_META || type >= MALI_BLK_TYPES ||
        inst >= c->n_type[type]) {
        return NULL;
    }
    return &c->blocks[c->by_type[type] + inst];
}

/* ---- values ---- */

static unsigned general_source(unsigned type)
{
    /* A_ACTIVE, A_T_CY, A_S_ANY and A_F_CY are the same slot. */
    return type == MALI_BLK_MEMSYS ? A_M_BEATS : 2;
}

/* Terms for another set; nothing may be counting. */
void mali_csf_counters_select_set(MaliCounters *c, unsigned set)
{
    unsigned i, j;

    c->set = set;
    for (i = 0; i < c->nblocks; i++) {
        MaliBlock *b = &c->blocks[i];

        for (j = MALI_FIRST_COUNTER; j < c->words; j++) {
            const MaliRule *r = &c->rules[b->type][j];
            MaliTerm *term = &b->terms[j];

            term->weight = 1 + j + 128 * b->ord + 16384 * set;
            if (set == 0 && r->mul) {
                term->mul = r->mul;
                term->src = r->src;
                term->shift = r->shift;
                term->weight = r->no_units ? 0 : term->weight;
            } else {
                term->mul = 1 + j * 64 + b->inst;
                term->src = general_source(b->type);
                term->shift = 14 + set;
            }
        }
    }
}

static inline uint64_t total(const MaliBlock *b, unsigned idx)
{
    const MaliTerm *t = &b->terms[idx];

    return b->a[A_UNITS] * t->weight + (b->a[t->src] * t->mul >> t->shift) +
           b->added[idx];
}

static void rule(MaliCounters *c, unsigned type, unsigned idx, unsigned src,
                 unsigned mul, unsigned shift)
{
    c->rules[type][idx] = (MaliRule) { .src = src, .mul = mul, .shift = shift };
}

static void iter_rules(MaliCounters *c, unsigned at, unsigned cy, unsigned job,
                       unsigned task, unsigned task_shift)
{
    rule(c, MALI_BLK_CSHW, at, cy, 1, 0);               /* ITER_x_ACTIVE */
    rule(c, MALI_BLK_CSHW, at + 1, job, 1, 0);          /* _JOB_COMPLETED */
    rule(c, MALI_BLK_CSHW, at + 2, task, 1, task_shift);/* _TASK_COMPLETED */
    rule(c, MALI_BLK_CSHW, at + 4, cy, 1, 6);           /* _IRQ_ACTIVE */
    rule(c, MALI_BLK_CSHW, at + 6, cy, 1, 4);           /* _READY_BLOCKED */
    rule(c, MALI_BLK_CSHW, at + 7, cy, 1, 5);           /* _EP_DRAIN */
}

static void init_rules(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    bool v13 = arch(s) >= 13;
    unsigned i;

    rule(c, MALI_BLK_CSHW, 4, A_ACTIVE, 1, 0);          /* GPU_ACTIVE */
    c->rules[MALI_BLK_CSHW][4].no_units = true;
    rule(c, MALI_BLK_CSHW, 5, A_MCU, 1, 0);             /* MCU_ACTIVE */
    rule(c, MALI_BLK_CSHW, 6, A_ITER, 1, 0);            /* GPU_ITER_ACTIVE */
    rule(c, MALI_BLK_CSHW, 10, A_ITER, 1, 6);           /* GPU_IRQ_ACTIVE */
    rule(c, MALI_BLK_CSHW, 11, A_JOBS, 1, 0);           /* GPU_IRQ_COUNT */
    rule(c, MALI_BLK_CSHW, 12, A_FLUSH_CY, 1, 0);       /* CACHE_FLUSH_CYCLES */
    rule(c, MALI_BLK_CSHW, 13, A_FLUSH, 1, 0);          /* CACHE_FLUSH */
    iter_rules(c, v13 ? 64 : 16, A_TILER_CY, A_TILER_JOB, A_VERTICES, 2);
    iter_rules(c, v13 ? 32 : 24, A_COMP_CY, A_COMP_JOB, A_THREADS, 6);
    iter_rules(c, v13 ? 48 : 32, A_FRAG_CY, A_FRAG_JOB, A_PIXELS, 10);
    rule(c, MALI_BLK_CSHW, v13 ? 16 : 40, A_CEU, 1, 0); /* CEU_ACTIVE */
    rule(c, MALI_BLK_CSHW, v13 ? 21 : 45, A_LSU, 1, 0); /* LSU_ACTIVE */
    for (i = 0; i < (v13 ? 6 : 4); i++) {
        unsigned at = v13 ? 80 + 6 * i : 48 + 4 * i;

        rule(c, MALI_BLK_CSHW, at, A_CSIF + i, 1, 0);   /* CSHWIFi_ENABLED */
        rule(c, MALI_BLK_CSHW, at + (v13 ? 4 : 3), A_CSIF + i, 1, 4);
                                                        /* _WAIT_BLOCKED */
    }

    rule(c, MALI_BLK_TILER, 4, A_T_CY, 1, 0);           /* TILER_ACTIVE */
    rule(c, MALI_BLK_TILER, 6, A_T_PRIMS, 1, 0);        /* TRIANGLES */
    rule(c, MALI_BLK_TILER, 11, A_T_PRIMS, 9, 4);       /* PRIM_VISIBLE */
    rule(c, MALI_BLK_TILER, 12, A_T_PRIMS, 4, 4);       /* PRIM_*CULLED */
    rule(c, MALI_BLK_TILER, 13, A_T_PRIMS, 2, 4);
    rule(c, MALI_BLK_TILER, 14, A_T_PRIMS, 1, 4);
    rule(c, MALI_BLK_TILER, 21, A_T_PRIMS, 1, 2);       /* position shading */
    rule(c, MALI_BLK_TILER, 37, A_T_PRIMS, 1, 3);       /* varying shading */

    rule(c, MALI_BLK_MEMSYS, 4, A_M_BEATS, 1, 0);       /* MMU_REQUESTS */
    rule(c, MALI_BLK_MEMSYS, 5, A_M_BEATS, 1, 8);       /* MMU_TABLE_READS_L3 */
    rule(c, MALI_BLK_MEMSYS, 6, A_M_BEATS, 1, 10);      /* MMU_TABLE_READS_L2 */
    rule(c, MALI_BLK_MEMSYS, 25, A_M_BEATS, 8, 3);      /* L2_ANY_LOOKUP */
    rule(c, MALI_BLK_MEMSYS, 26, A_M_BEATS, 5, 3);      /* L2_READ_LOOKUP */
    rule(c, MALI_BLK_MEMSYS, 27, A_M_BEATS, 3, 3);      /* L2_WRITE_LOOKUP */
    rule(c, MALI_BLK_MEMSYS, 29, A_M_BEATS, 1, 3);      /* L2_EXT_READ */
    rule(c, MALI_BLK_MEMSYS, 32, A_M_BEATS, 1, 1);      /* L2_EXT_READ_BEATS */
    rule(c, MALI_BLK_MEMSYS, 33, A_ACTIVE, 1, 5);       /* L2_EXT_AR_STALL */
    for (i = 34; i <= 36; i++) {
        rule(c, MALI_BLK_MEMSYS, i, A_M_BEATS, 1, i - 28);
    }                                                   /* L2_EXT_AR_CNT_Qn */
    for (i = 37; i <= 41; i++) {
        rule(c, MALI_BLK_MEMSYS, i, A_M_BEATS, 1, i - 33);
    }                                                   /* L2_EXT_RRESP_* */
    rule(c, MALI_BLK_MEMSYS, 42, A_M_BEATS, 1, 4);      /* L2_EXT_WRITE */
    rule(c, MALI_BLK_MEMSYS, 47, A_M_BEATS, 1, 2);      /* L2_EXT_WRITE_BEATS */
    rule(c, MALI_BLK_MEMSYS, 48, A_ACTIVE, 1, 6);       /* L2_EXT_W_STALL */
    for (i = 49; i <= 51; i++) {
        rule(c, MALI_BLK_MEMSYS, i, A_M_BEATS, 1, i - 42);
    }                                                   /* L2_EXT_AW_CNT_Qn */

    rule(c, MALI_BLK_SHADER, 4, A_S_FRAG, 1, 0);        /* FRAG_ACTIVE */
    rule(c, MALI_BLK_SHADER, 9, A_S_PIXELS, 1, 4);      /* FRAG_WARPS */
    rule(c, MALI_BLK_SHADER, 11, A_S_PIXELS, 1, 2);     /* FRAG_QUADS_RAST */
    rule(c, MALI_BLK_SHADER, 18, A_S_PIXELS, 1, 8);     /* FRAG_PTILES */
    rule(c, MALI_BLK_SHADER, 22, A_S_COMP, 1, 0);       /* COMPUTE_ACTIVE */
    rule(c, MALI_BLK_SHADER, 23, A_S_THREADS, 1, 6);    /* COMPUTE_TASKS */
    rule(c, MALI_BLK_SHADER, 24, A_S_THREADS, 1, 4);    /* COMPUTE_WARPS */
    rule(c, MALI_BLK_SHADER, 26, A_S_ANY, 7, 3);        /* EXEC_CORE_ACTIVE */
    rule(c, MALI_BLK_SHADER, 53, A_S_ANY, 1, 0);        /* SHADER_CORE_ACTIVE */
}

/* ---- activity ---- */

/* Hardware counts now: firmware is up, and not in a region which it skips. */
static bool counting(MaliCsfState *s)
{
    return s->mcu_booted && s->mcu_status == MALI_MCU_ENABLED &&
           !s->mcu_asleep && !s->gpu_status_protm;
}

static void bump(MaliCounters *c, unsigned type, unsigned inst, unsigned src,
                 uint64_t n)
{
    MaliBlock *b = block_of(c, type, inst);

    if (b && n) {
        b->a[src] += n;
        b->moved = true;
    }
}

static void bump_cores(MaliCsfState *s, uint64_t cores, unsigned src,
                       uint64_t n)
{
    cores &= s->shader_present & mali_csf_counters_powered(s);
    for (; n && cores; cores &= cores - 1) {
        bump(s->ctr, MALI_BLK_SHADER, ctz64(cores), src, n);
    }
}

/* Cycles of one clock, in those of another. */
static uint64_t convert(MaliCsfState *s, uint64_t n, int from, int to)
{
    uint64_t hz = mali_csf_clk_hz(s, from);

    return hz ? mali_csf_clk_muldiv(n, mali_csf_clk_hz(s, to), hz) : 0;
}

/*
 * Where a bucket's cycles show: buckets are in cycles of the core clock, the
 * tiler counts the core group's and shader cores their own.
 */
static void spend(MaliCsfState *s, unsigned bucket, uint64_t n)
{
    MaliCounters *c = s->ctr;
    static const uint8_t cshw[BUCKETS] = {
        [B_ITER] = A_ITER, [B_TILER] = A_TILER_CY, [B_COMP] = A_COMP_CY,
        [B_FRAG] = A_FRAG_CY, [B_CEU] = A_CEU, [B_LSU] = A_LSU,
        [B_FLUSH] = A_FLUSH_CY, [B_MCU] = A_MCU,
        [B_CSIF] = A_CSIF, A_CSIF + 1, A_CSIF + 2, A_CSIF + 3, A_CSIF + 4,
        A_CSIF + 5,
    };

    uint64_t stacks = convert(s, n, MALI_CLK_CORE, MALI_CLK_STACKS);

    if (cshw[bucket]) {
        bump(c, MALI_BLK_CSHW, 0, cshw[bucket], n);
    }
    switch (bucket) {
    case B_TILER:
        bump(c, MALI_BLK_TILER, 0, A_T_CY,
             convert(s, n, MALI_CLK_CORE, MALI_CLK_COREGROUP));
        break;
    case B_NONFRAG:
        bump_cores(s, c->iter_cores[0], A_S_COMP, stacks);
        break;
    case B_FRAG:
        bump_cores(s, c->iter_cores[1], A_S_FRAG, stacks);
        break;
    case B_SHADER:
        bump_cores(s, c->iter_cores[0] | c->iter_cores[1], A_S_ANY, stacks);
        break;
    case B_MCU:
        bump(c, MALI_BLK_FW, 0, A_F_CY, n);
        break;
    }
}

static void settle(MaliCsfState *s, unsigned bucket)
{
    MaliBucket *b = &s->ctr->buckets[bucket];
    uint64_t n = MIN(b->pending, b->room);

    if (n) {
        b->pending -= n;
        b->room -= n;
        spend(s, bucket, n);
    }
}

static void occupy(MaliCsfState *s, unsigned bucket, uint64_t cycles)
{
    s->ctr->buckets[bucket].pending += cycles;
    settle(s, bucket);
}

static void add_units(MaliCsfState *s, uint64_t ns)
{
    MaliCounters *c = s->ctr;
    uint64_t powered = mali_csf_counters_powered(s);
    uint64_t units = ns / NANOSECONDS_PER_SECOND * c->rate;
    unsigned i;

    c->unit_frac += ns % NANOSECONDS_PER_SECOND * c->rate;
    units += c->unit_frac / NANOSECONDS_PER_SECOND;
    c->unit_frac %= NANOSECONDS_PER_SECOND;
    if (!units) {
        return;
    }
    for (i = 0; i < c->nblocks; i++) {
        MaliBlock *b = &c->blocks[i];

        if (b->type == MALI_BLK_SHADER && !extract64(powered, b->inst, 1)) {
            continue;
        }
        b->a[A_UNITS] += units;
        b->moved = true;
    }
}

/* A core without power forgets what it counted and nobody sampled. */
static void forget_unpowered(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    uint64_t ready = s->pwr[MALI_PWR_SHADER].ready;
    unsigned i, j;

    for (i = 0; i < c->n_type[MALI_BLK_SHADER]; i++) {
        MaliBlock *b = &c->blocks[c->by_type[MALI_BLK_SHADER] + i];

        if (b->moved && !extract64(ready, b->inst, 1)) {
            for (j = MALI_FIRST_COUNTER; j < c->words; j++) {
                b->prev[j] = total(b, j);
            }
            b->moved = false;
        }
    }
}

void mali_csf_counters_advance(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    int64_t now = mali_csf_clk_now();
    uint64_t cycles = mali_csf_clk_cycles(s, MALI_CLK_CORE);
    uint64_t dt = cycles - c->last_cycles;
    uint64_t ns = now - c->last_ns;
    unsigned i;

    c->last_ns = now;
    c->last_cycles = cycles;
    forget_unpowered(s);
    if (!counting(s)) {
        memset(c->buckets, 0, sizeof(c->buckets));
        c->busy = false;
        return;
    }
    if (c->activity && ns) {
        add_units(s, ns);
    }
    if ((c->activity || c->busy) && dt) {
        bump(c, MALI_BLK_CSHW, 0, A_ACTIVE, dt);
        for (i = 0; i < c->n_type[MALI_BLK_MEMSYS]; i++) {
            bump(c, MALI_BLK_MEMSYS, i, A_ACTIVE, dt);
        }
        for (i = 0; i < BUCKETS; i++) {
            c->buckets[i].room += dt;
            settle(s, i);
        }
    }
    c->busy = !s->events->groups_idle(s);
}

/*
 * The part of @n units that goes to taker @i of @takers, who take turns. @turn
 * units went before: however work is cut into pieces, it ends up the same.
 */
static uint64_t share(uint64_t n, unsigned takers, unsigned i, unsigned turn)
{
    uint64_t later = takers - 1 - i;

    return (turn + n + later) / takers - (turn + later) / takers;
}

/* @n split over the cores of @cores, exactly. */
static void share_out(MaliCsfState *s, uint64_t cores, unsigned src,
                      uint64_t n)
{
    unsigned *turn = &s->ctr->turn[src == A_S_PIXELS];
    unsigned i, takers;

    cores &= s->shader_present & mali_csf_counters_powered(s);
    takers = ctpop64(cores);
    for (i = 0; cores; i++, cores &= cores - 1) {
        bump(s->ctr, MALI_BLK_SHADER, ctz64(cores), src,
             share(n, takers, i, *turn));
    }
    if (takers) {
        *turn = (*turn + n) % takers;
    }
}

static void memory_beats(MaliCsfState *s, uint64_t beats)
{
    MaliCounters *c = s->ctr;
    unsigned i, n = c->n_type[MALI_BLK_MEMSYS];

    for (i = 0; i < n; i++) {
        bump(c, MALI_BLK_MEMSYS, i, A_M_BEATS,
             share(beats, n, i, c->beat_turn));
    }
    c->beat_turn = (c->beat_turn + beats) % n;
}

/* Work on an iterator, which is shared between the streams. */
static void iterator(MaliCsfState *s, unsigned bucket, unsigned csg,
                     unsigned cs, uint64_t cycles)
{
    MaliBucket *any = &s->ctr->buckets[B_ITER];
    /* Iterators overlap: no more than the longest of them can be pending. */
    uint64_t limit;

    occupy(s, bucket, cycles);
    occupy(s, B_ITER, cycles);
    limit = MAX(s->ctr->buckets[B_TILER].pending,
                MAX(s->ctr->buckets[B_COMP].pending,
                    s->ctr->buckets[B_FRAG].pending));
    any->pending = MIN(any->pending, limit);
    if (cs < BUCKETS - B_CSIF) {
        occupy(s, B_CSIF + cs, cycles);
    }
    bump(s->ctr, MALI_BLK_CSG, csg, A_F_CY, cycles);
}

/* Work on the cores; vertices are not fragments either. */
static void shader_work(MaliCsfState *s, bool fragment, uint64_t cycles,
                        uint64_t cores)
{
    MaliBucket *b = s->ctr->buckets;

    s->ctr->iter_cores[fragment] = cores;
    if (!fragment) {
        occupy(s, B_NONFRAG, cycles);
    }
    occupy(s, B_SHADER, cycles);
    b[B_SHADER].pending = MIN(b[B_SHADER].pending,
                              MAX(b[B_NONFRAG].pending, b[B_FRAG].pending));
}

void mali_csf_counters_work(MaliCsfState *s, MaliWorkKind kind, unsigned csg,
                            unsigned cs, uint64_t amount, uint64_t cycles,
                            uint64_t cores)
{
    MaliCounters *c = s->ctr;

    mali_csf_counters_advance(s);
    if (!counting(s)) {
        return;
    }
    if (kind == MALI_WORK_TILER) {
        cycles = convert(s, cycles, MALI_CLK_COREGROUP, MALI_CLK_CORE);
    } else if (kind == MALI_WORK_COMPUTE || kind == MALI_WORK_IDVS ||
               kind == MALI_WORK_FRAGMENT) {
        cycles = convert(s, cycles, MALI_CLK_STACKS, MALI_CLK_CORE);
    }
    switch (kind) {
    case MALI_WORK_COMPUTE:
        iterator(s, B_COMP, csg, cs, cycles);
        shader_work(s, false, cycles, cores);
        bump(c, MALI_BLK_CSHW, 0, A_THREADS, amount);
        share_out(s, cores, A_S_THREADS, amount);
        memory_beats(s, amount);
        break;
    case MALI_WORK_IDVS:
        /* Vertices are shaded on the cores, a thread each. */
        shader_work(s, false, cycles, cores);
        share_out(s, cores, A_S_THREADS, amount);
        /* fall through */
    case MALI_WORK_TILER:
        iterator(s, B_TILER, csg, cs, cycles);
        bump(c, MALI_BLK_CSHW, 0, A_VERTICES, amount);
        memory_beats(s, amount * 2);
        break;
    case MALI_WORK_PRIMS:
        bump(c, MALI_BLK_TILER, 0, A_T_PRIMS, amount);
        break;
    case MALI_WORK_FRAGMENT:
        s->ctr->iter_cores[1] = cores;
        iterator(s, B_FRAG, csg, cs, cycles);
        shader_work(s, true, cycles, cores);
        bump(c, MALI_BLK_CSHW, 0, A_PIXELS, amount);
        share_out(s, cores, A_S_PIXELS, amount);
        memory_beats(s, amount / 4);
        break;
    case MALI_WORK_CEU:
        occupy(s, B_CEU, cycles ? cycles : amount);
        if (cs < BUCKETS - B_CSIF) {
            occupy(s, B_CSIF + cs, cycles ? cycles : amount);
        }
        bump(c, MALI_BLK_CSG, csg, A_F_CY, cycles ? cycles : amount);
        break;
    case MALI_WORK_LSU:
        occupy(s, B_LSU, cycles ? cycles : DIV_ROUND_UP(amount, 16));
        memory_beats(s, DIV_ROUND_UP(amount, 16));
        break;
    case MALI_WORK_FLUSH:
        occupy(s, B_FLUSH, cycles);
        bump(c, MALI_BLK_CSHW, 0, A_FLUSH, amount);
        break;
    case MALI_WORK_MCU:
        occupy(s, B_MCU, cycles ? cycles : amount * MCU_REQUEST_CYCLES);
        break;
    case MALI_WORK_COMPUTE_JOB:
        bump(c, MALI_BLK_CSHW, 0, A_COMP_JOB, amount);
        bump(c, MALI_BLK_CSHW, 0, A_JOBS, amount);
        break;
    case MALI_WORK_TILER_JOB:
        bump(c, MALI_BLK_CSHW, 0, A_TILER_JOB, amount);
        bump(c, MALI_BLK_CSHW, 0, A_JOBS, amount);
        break;
    case MALI_WORK_FRAGMENT_JOB:
        bump(c, MALI_BLK_CSHW, 0, A_FRAG_JOB, amount);
        bump(c, MALI_BLK_CSHW, 0, A_JOBS, amount);
        break;
    default:
        g_assert_not_reached();
    }
}

/* ---- layout ---- */

unsigned mali_csf_counters_blocks_hw(MaliCsfState *s)
{
    return 2 + s->l2_slices +
           (arch(s) >= MALI_ARCH_COMPACT_CORES ? s->n_cores :
            64 - clz64(s->shader_present));
}

static void add_block(MaliCsfState *s, unsigned type, unsigned ord,
                      unsigned inst, bool present)
{
    MaliCounters *c = s->ctr;

    if (!c->n_type[type]) {
        c->by_type[type] = c->nblocks;
    }
    c->n_type[type]++;
    c->blocks[c->nblocks++] = (MaliBlock) {
        .type = type, .inst = inst, .ord = ord + inst, .present = present,
    };
}

static void layout(MaliCsfState *s)
{
    unsigned i, positions = 64 - clz64(s->shader_present);

    s->ctr->blocks = g_new0(MaliBlock,
                            mali_csf_counters_blocks_hw(s) + s->fw_blocks +
                            s->csg_blocks);
    for (i = 0; i < s->fw_blocks; i++) {
        add_block(s, MALI_BLK_FW, ORD_FW, i, true);
    }
    for (i = 0; i < s->csg_blocks; i++) {
        add_block(s, MALI_BLK_CSG, ORD_CSG, i, true);
    }
    add_block(s, MALI_BLK_CSHW, ORD_CSHW, 0, true);
    add_block(s, MALI_BLK_TILER, ORD_TILER, 0, true);
    for (i = 0; i < s->l2_slices; i++) {
        add_block(s, MALI_BLK_MEMSYS, ORD_MEMSYS, i, true);
    }
    if (arch(s) >= MALI_ARCH_COMPACT_CORES) {
        s->ctr->compact_cores = s->shader_present;
    }
    for (i = 0; i < positions; i++) {
        bool present = extract64(s->shader_present, i, 1);

        if (present || !s->ctr->compact_cores) {
            add_block(s, MALI_BLK_SHADER, ORD_SHADER, i, present);
        }
    }
}

bool mali_csf_counters_defined(MaliCounters *c, const MaliBlock *b)
{
    return c->set == 0 ||
           (b->type != MALI_BLK_FW && b->type != MALI_BLK_CSG);
}

void mali_csf_counters_take(MaliCounters *c, MaliBlock *b, uint8_t *p,
                            uint32_t mask)
{
    unsigned i;

    memset(p + MALI_HEADER_WORDS * 4, 0, (c->words - MALI_HEADER_WORDS) * 4);
    if (!b->moved) {
        return;
    }
    b->moved = false;
    for (i = MALI_FIRST_COUNTER; i < c->words; i++) {
        uint64_t now = total(b, i);
        uint64_t delta = now - b->prev[i];

        b->prev[i] = now;
        if (!extract32(mask, i / 4, 1)) {
            continue;
        }
        if (unlikely(delta > UINT32_MAX)) {
            delta = UINT32_MAX;
            c->saturated++;
        }
        b->emitted[i] += delta;
        stl_le_p(p + i * 4, delta);
    }
}

/* A sample that could not be written carried nothing anywhere. */
void mali_csf_counters_take_back(MaliCounters *c, MaliBlock *b,
                                 const uint8_t *p)
{
    unsigned i;

    for (i = MALI_FIRST_COUNTER; i < c->words; i++) {
        b->emitted[i] -= ldl_le_p(p + i * 4);
    }
}

void mali_csf_counters_rebase(MaliCounters *c)
{
    unsigned i, j;

    for (i = 0; i < c->nblocks; i++) {
        for (j = MALI_FIRST_COUNTER; j < c->words; j++) {
            c->blocks[i].prev[j] = total(&c->blocks[i], j);
        }
        c->blocks[i].moved = false;
    }
}

void mali_csf_counters_period(MaliCounters *c)
{
    unsigned i;

    for (i = 0; i < BUCKETS; i++) {
        c->buckets[i].room = 0;
    }
}

void mali_csf_counters_reset(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    mali_csf_counters_advance(s);
    c->busy = false;
    memset(c->buckets, 0, sizeof(c->buckets));
}

/* ---- for the bench page ---- */

void mali_csf_counters_set_activity(MaliCsfState *s, bool on, uint32_t rate)
{
    MaliCounters *c = s->ctr;

    mali_csf_counters_advance(s);
    if (on && !c->activity) {
        c->unit_frac = 0;
    }
    c->activity = on;
    c->rate = rate;
}

bool mali_csf_counters_exists(MaliCsfState *s, unsigned type, unsigned inst,
                              unsigned idx)
{
    MaliBlock *b = block_of(s->ctr, type, inst);

    return b && b->present && idx >= MALI_FIRST_COUNTER && idx < s->ctr->words;
}

bool mali_csf_counters_add(MaliCsfState *s, unsigned type, unsigned inst,
                           unsigned idx, uint64_t amount)
{
    MaliBlock *b = block_of(s->ctr, type, inst);

    if (!mali_csf_counters_exists(s, type, inst, idx)) {
        return false;
    }
    mali_csf_counters_advance(s);
    b->added[idx] += amount;
    b->moved = true;
    return true;
}

uint64_t mali_csf_counters_emitted(MaliCsfState *s, unsigned type,
                                   unsigned inst, unsigned idx)
{
    if (!mali_csf_counters_exists(s, type, inst, idx)) {
        return 0;
    }
    return block_of(s->ctr, type, inst)->emitted[idx];
}

uint64_t mali_csf_counters_generated(MaliCsfState *s, unsigned type,
                                     unsigned inst, unsigned idx)
{
    if (!mali_csf_counters_exists(s, type, inst, idx)) {
        return 0;
    }
    mali_csf_counters_advance(s);
    return total(block_of(s->ctr, type, inst), idx);
}

void mali_csf_counters_init(MaliCsfState *s)
{
    MaliCounters *c = g_new0(MaliCounters, 1);

    s->ctr = c;
    c->words = s->counters;
    c->valid_mask = c->words == 128 ? UINT32_MAX : 0xffff;
    layout(s);
    init_rules(s);
    mali_csf_counters_select_set(c, 0);
}

void mali_csf_counters_exit(MaliCsfState *s)
{
    g_free(s->ctr->blocks);
    g_free(s->ctr);
    s->ctr = NULL;
}
