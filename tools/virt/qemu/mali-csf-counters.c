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
 * cut to 32 bits. Which scalar, with which multiplier, is in mali-csf-rules.h
 * for counters that are described, and of the general rule for all others:
 *
 *   general * (1 + 64 * counter + index) >> (14 + set)
 *
 * with the scalar of the block that grows with any of its work.
 * virtual-mali.rst has the tables; the driver-free test computes the same
 * independently.
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
                term->half = r->round ? 1 << r->shift >> 1 : 0;
                if (b->type == MALI_BLK_CSHW && r->src == A_ACTIVE) {
                    term->weight = 0;
                }
            } else {
                term->mul = 1 + j * 64 + b->inst;
                term->half = 0;
                /* Also A_T_CY, A_M_ANY, A_S_ANY, A_F_CY: the same slot. */
                term->src = A_ACTIVE;
                term->shift = 14 + set;
            }
        }
    }
}

static inline uint64_t total(const MaliBlock *b, unsigned idx)
{
    const MaliTerm *t = &b->terms[idx];

    return b->a[A_UNITS] * t->weight +
           ((b->a[t->src] * t->mul + t->half) >> t->shift) + b->added[idx];
}

static void init_rules(MaliCsfState *s)
{
    static const struct {
        uint8_t type, counter, first, last, src, shift;
        uint16_t mul;
        bool round;
    } rules[] = {
#define RULE(type, counter, first, last, src, mul, shift, name) \
        { MALI_BLK_##type, counter, first, last, A_##src, shift, mul, false },
#define ROUNDED(type, counter, first, last, src, mul, shift, name) \
        { MALI_BLK_##type, counter, first, last, A_##src, shift, mul, true },
#include "hw/misc/mali-csf-rules.h"
#undef RULE
#undef ROUNDED
    };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(rules); i++) {
        if (arch(s) >= rules[i].first && arch(s) <= rules[i].last) {
            s->ctr->rules[rules[i].type][rules[i].counter] = (MaliRule) {
                .src = rules[i].src, .mul = rules[i].mul,
                .shift = rules[i].shift, .round = rules[i].round,
            };
        }
    }
}

/* ---- activity ---- */

/*
 * Hardware counts now: it has clocks and the L2, without which nothing works,
 * firmware is up, and not in a region which it skips.
 */
static bool counting(MaliCsfState *s)
{
    return mali_csf_clk_running(s) && s->pwr[MALI_PWR_L2].ready &&
           s->mcu_booted && s->mcu_status == MALI_MCU_ENABLED &&
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

/*
 * @n * @num / @den; what is left over of it goes to the next piece, so that
 * however work is cut into pieces it ends up the same.
 */
static uint64_t carry(MaliRest *r, uint64_t n, uint64_t num, uint64_t den)
{
    __uint128_t sum;

    if (!den) {
        return 0;
    }
    if (r->den != den) {
        r->rest = r->den ? mali_csf_clk_muldiv(r->rest, den, r->den) : 0;
        r->den = den;
    }
    sum = (__uint128_t)n * num + r->rest;
    r->rest = sum % den;
    return sum / den;
}

/* Cycles of one clock, in those of another. */
static uint64_t convert(MaliCsfState *s, unsigned rest, uint64_t n, int from,
                        int to)
{
    return carry(&s->ctr->rests[rest], n, mali_csf_clk_hz(s, to),
                 mali_csf_clk_hz(s, from));
}

/* As many units of @load as there is room for, each of @size. */
static uint64_t take(uint64_t *load, uint64_t size, uint64_t room)
{
    uint64_t n = MIN(*load / size, room);

    *load -= n * size;
    return n;
}

/* @n cycles of shading on one core, and what they have loaded. */
static void shade_core(MaliCounters *c, MaliBlock *b, unsigned kind, uint64_t n,
                       const uint64_t *used)
{
    uint64_t any = MIN(n, c->shade_room - b->any);
    unsigned i;

    b->moved = true;
    b->any += any;
    b->a[A_S_ANY] += any;
    if (kind == SHADE_PIXELS) {
        b->a[A_S_FRAG] += n;
    } else {
        uint64_t other = MIN(n, c->shade_room - b->other);

        b->other += other;
        b->a[A_S_COMP] += other;
    }
    /* Kinds that run at once share the core: no unit does more than it can. */
    b->room[U_EXEC] += any;
    any = MIN(used[U_EXEC], b->room[U_EXEC]);
    b->room[U_EXEC] -= any;
    b->a[A_S_EXEC] += any;
    b->room[U_STARVE] += 4 * any;
    n = MIN(used[U_STARVE], b->room[U_STARVE]);
    b->room[U_STARVE] -= n;
    b->a[A_S_STARVE] += n;
    for (i = U_ALU; i < UNITS; i++) {
        b->room[i] += any;
        n = MIN(used[i], b->room[i] / 16);
        b->room[i] -= 16 * n;
        b->a[A_S_ALU + i - U_ALU] += n;
    }
}

/* @n cycles of shading on each core that it runs on. */
static void shade(MaliCsfState *s, unsigned kind, uint64_t n)
{
    MaliCounters *c = s->ctr;
    MaliShading *sh = &c->shading[kind];
    uint64_t cores = sh->cores & s->shader_present &
                     mali_csf_counters_powered(s);
    unsigned i, count = ctpop64(cores);
    uint64_t used[UNITS];

    if (!count) {
        memset(sh->load, 0, sizeof(sh->load));
        return;
    }
    used[U_EXEC] = take(&sh->load[U_EXEC], 16 * count, n);
    sh->room[U_STARVE] += 4 * used[U_EXEC];
    used[U_STARVE] = take(&sh->load[U_STARVE], 16 * count, sh->room[U_STARVE]);
    sh->room[U_STARVE] -= used[U_STARVE];
    for (i = U_ALU; i < UNITS; i++) {
        sh->room[i] += used[U_EXEC];
        used[i] = take(&sh->load[i], 256 * count, sh->room[i] / 16);
        sh->room[i] -= 16 * used[i];
    }
    for (; cores; cores &= cores - 1) {
        shade_core(c, block_of(c, MALI_BLK_SHADER, ctz64(cores)), kind, n,
                   used);
    }
}

/* While iterators are busy for @n cycles, the bus may keep slices waiting. */
static void stall(MaliCsfState *s, uint64_t n)
{
    MaliCounters *c = s->ctr;
    unsigned i, j, slices = c->n_type[MALI_BLK_MEMSYS];

    for (i = 0; i < ARRAY_SIZE(c->bus); i++) {
        uint64_t stalled;

        c->bus[i].room += n;
        stalled = take(&c->bus[i].load, 64 * slices, c->bus[i].room);
        c->bus[i].room -= stalled;
        for (j = 0; j < slices; j++) {
            bump(c, MALI_BLK_MEMSYS, j, A_M_RD_STALL + i, stalled);
        }
    }
}

/* Where a bucket's cycles show. */
static void spend(MaliCsfState *s, unsigned bucket, uint64_t n)
{
    MaliCounters *c = s->ctr;
    static const uint8_t cshw[BUCKETS] = {
        [B_ITER] = A_ITER, [B_TILER] = A_TILER_CY, [B_COMP] = A_COMP_CY,
        [B_FRAG] = A_FRAG_CY, [B_CEU] = A_CEU, [B_LSU] = A_LSU,
        [B_FLUSH] = A_FLUSH_CY, [B_MCU] = A_MCU,
        [B_CSIF] = A_CSIF0, A_CSIF1, A_CSIF2, A_CSIF3, A_CSIF4, A_CSIF5,
    };

    if (cshw[bucket]) {
        bump(c, MALI_BLK_CSHW, 0, cshw[bucket], n);
    }
    switch (bucket) {
    case B_ITER:
        stall(s, n);
        break;
    case B_MCU:
        bump(c, MALI_BLK_FW, 0, A_F_CY, n);
        break;
    case B_T_CY:
        bump(c, MALI_BLK_TILER, 0, A_T_CY, n);
        break;
    case B_SHADE ... B_SHADE + SHADES - 1:
        shade(s, bucket - B_SHADE, n);
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

/* Which clock a bucket is filled by. */
static unsigned bucket_clk(unsigned bucket)
{
    return bucket < B_CORE_END ? MALI_CLK_CORE :
           bucket == B_T_CY ? MALI_CLK_COREGROUP : MALI_CLK_STACKS;
}

/* What was there to take of the period before. */
static void forget_room(MaliCounters *c)
{
    unsigned i;

    for (i = 0; i < BUCKETS; i++) {
        c->buckets[i].room = 0;
    }
    for (i = 0; i < SHADES; i++) {
        memset(c->shading[i].room, 0, sizeof(c->shading[i].room));
    }
    c->bus[0].room = c->bus[1].room = 0;
    c->shade_room = 0;
    for (i = 0; i < c->n_type[MALI_BLK_SHADER]; i++) {
        MaliBlock *b = &c->blocks[c->by_type[MALI_BLK_SHADER] + i];

        b->any = b->other = 0;
        memset(b->room, 0, sizeof(b->room));
    }
}

/* What was to be counted later never will be. */
static void forget_work(MaliCounters *c)
{
    memset(c->buckets, 0, sizeof(c->buckets));
    memset(c->shading, 0, sizeof(c->shading));
    memset(c->bus, 0, sizeof(c->bus));
    memset(c->rests, 0, sizeof(c->rests));
    forget_room(c);
    c->busy = false;
}

void mali_csf_counters_advance(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    int64_t now = mali_csf_clk_now();
    uint64_t ns = now - c->last_ns, dt[MALI_CLKS];
    unsigned i;

    for (i = 0; i < MALI_CLKS; i++) {
        uint64_t cycles = mali_csf_clk_cycles(s, i);

        dt[i] = cycles - c->last_cycles[i];
        c->last_cycles[i] = cycles;
    }
    c->last_ns = now;
    forget_unpowered(s);
    if (!counting(s)) {
        forget_work(c);
        return;
    }
    if (c->activity && ns) {
        add_units(s, ns);
    }
    if ((c->activity || c->busy) && ns) {
        bump(c, MALI_BLK_CSHW, 0, A_ACTIVE, dt[MALI_CLK_CORE]);
        c->shade_room += dt[MALI_CLK_STACKS];
        for (i = 0; i < BUCKETS; i++) {
            c->buckets[i].room += dt[bucket_clk(i)];
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
    unsigned *turn = &s->ctr->core_turn[src];
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

/*
 * @reads and @writes eighths of a beat, split over the slices. A beat keeps
 * its slice waiting for an eighth of a cycle.
 */
static void memory(MaliCsfState *s, uint64_t reads, uint64_t writes)
{
    MaliCounters *c = s->ctr;
    unsigned i, n = c->n_type[MALI_BLK_MEMSYS];

    for (i = 0; i < n; i++) {
        uint64_t rd = share(reads, n, i, c->slice_turn[A_M_RD]);
        uint64_t wr = share(writes, n, i, c->slice_turn[A_M_WR]);

        bump(c, MALI_BLK_MEMSYS, i, A_M_RD, rd);
        bump(c, MALI_BLK_MEMSYS, i, A_M_WR, wr);
        bump(c, MALI_BLK_MEMSYS, i, A_M_ANY, rd + wr);
    }
    c->slice_turn[A_M_RD] = (c->slice_turn[A_M_RD] + reads) % n;
    c->slice_turn[A_M_WR] = (c->slice_turn[A_M_WR] + writes) % n;
    c->bus[0].load += reads;
    c->bus[1].load += writes;
}

/* Work on an iterator, which is shared between the streams. */
static void iterator(MaliCsfState *s, unsigned bucket, unsigned csg,
                     unsigned cs, uint64_t cycles)
{
    MaliCounters *c = s->ctr;
    MaliBucket *any = &c->buckets[B_ITER];
    uint64_t limit;
    unsigned i;

    occupy(s, bucket, cycles);
    occupy(s, B_ITER, cycles);
    /* Iterators overlap: no more than the longest of them can be pending. */
    limit = MAX(c->buckets[B_TILER].pending,
                MAX(c->buckets[B_COMP].pending, c->buckets[B_FRAG].pending));
    any->pending = MIN(any->pending, limit);
    /* Nor can the bus keep waiting who does not run. */
    for (i = 0; i < ARRAY_SIZE(c->bus); i++) {
        c->bus[i].load = MIN(c->bus[i].load, (any->pending + 16) * 64 *
                                             c->n_type[MALI_BLK_MEMSYS]);
    }
    if (cs < B_CORE_END - B_CSIF) {
        occupy(s, B_CSIF + cs, cycles);
    }
    bump(c, MALI_BLK_CSG, csg, A_F_CY, cycles);
}

/*
 * @amount threads, vertices or pixels, shaded on the cores in @cycles of their
 * clock. What each loads is in sixteenths of a core's cycle; of the cycles it
 * takes (4, 8 and 1) it is in a warp for most.
 */
static void shading(MaliCsfState *s, unsigned kind, uint64_t amount,
                    uint64_t cycles, uint64_t cores)
{
    static const uint8_t loads[SHADES][UNITS] = {
        [SHADE_THREADS] = {
            [U_EXEC] = 60, [U_STARVE] = 8, [U_ALU] = 56, [U_LS] = 8,
            [U_CQ] = 56,
        },
        [SHADE_VERTICES] = {
            [U_EXEC] = 112, [U_STARVE] = 64, [U_ALU] = 64, [U_LS] = 24,
            [U_VQ] = 96,
        },
        [SHADE_PIXELS] = {
            [U_EXEC] = 14, [U_STARVE] = 7, [U_ALU] = 6, [U_LS] = 1,
            [U_PQ] = 12,
        },
    };
    MaliShading *sh = &s->ctr->shading[kind];
    unsigned i;

    sh->cores = cores;
    for (i = 0; i < UNITS; i++) {
        sh->load[i] += amount * loads[kind][i];
    }
    occupy(s, B_SHADE + kind, cycles);
}

/*
 * @amount times a pixel was written to one more render target: a core waits a
 * cycle for that, because the bus does.
 */
static void more_targets(MaliCsfState *s, uint64_t amount, uint64_t cores)
{
    MaliCounters *c = s->ctr;
    unsigned count = MAX(ctpop64(cores), 1);

    memory(s, 0, amount);
    share_out(s, cores, A_S_TILE_WR, amount);
    c->bus[1].load += carry(&c->rests[REST_TARGETS],
                            amount * 64 * c->n_type[MALI_BLK_MEMSYS],
                            mali_csf_clk_hz(s, MALI_CLK_CORE),
                            mali_csf_clk_hz(s, MALI_CLK_STACKS) * count);
}

/* @cycles are the core group's. */
static void tiling(MaliCsfState *s, unsigned csg, unsigned cs, uint64_t amount,
                   uint64_t cycles)
{
    memory(s, amount * 10, amount * 6);
    iterator(s, B_TILER, csg, cs,
             convert(s, REST_TILER, cycles, MALI_CLK_COREGROUP,
                     MALI_CLK_CORE));
    occupy(s, B_T_CY, cycles);
    bump(s->ctr, MALI_BLK_CSHW, 0, A_VERTICES, amount);
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
    switch (kind) {
    case MALI_WORK_COMPUTE:
        memory(s, amount * 5, amount * 3);
        iterator(s, B_COMP, csg, cs,
                 convert(s, REST_COMP, cycles, MALI_CLK_STACKS,
                         MALI_CLK_CORE));
        shading(s, SHADE_THREADS, amount, cycles, cores);
        bump(c, MALI_BLK_CSHW, 0, A_THREADS, amount);
        share_out(s, cores, A_S_THREADS, amount);
        break;
    case MALI_WORK_IDVS:
        tiling(s, csg, cs, amount,
               convert(s, REST_IDVS, cycles, MALI_CLK_STACKS,
                       MALI_CLK_COREGROUP));
        /* Vertices are shaded on the cores, a thread each. */
        shading(s, SHADE_VERTICES, amount, cycles, cores);
        share_out(s, cores, A_S_THREADS, amount);
        break;
    case MALI_WORK_TILER:
        tiling(s, csg, cs, amount, cycles);
        break;
    case MALI_WORK_PRIMS:
        bump(c, MALI_BLK_TILER, 0, A_T_PRIMS, amount);
        break;
    case MALI_WORK_FRAGMENT:
        memory(s, amount, amount);
        iterator(s, B_FRAG, csg, cs,
                 convert(s, REST_FRAG, cycles, MALI_CLK_STACKS,
                         MALI_CLK_CORE));
        shading(s, SHADE_PIXELS, amount, cycles, cores);
        bump(c, MALI_BLK_CSHW, 0, A_PIXELS, amount);
        share_out(s, cores, A_S_PIXELS, amount);
        share_out(s, cores, A_S_TILE_WR, amount);
        break;
    case MALI_WORK_MORE_TARGETS:
        more_targets(s, amount, cores);
        break;
    case MALI_WORK_CEU:
        occupy(s, B_CEU, cycles ? cycles : amount);
        if (cs < B_CORE_END - B_CSIF) {
            occupy(s, B_CSIF + cs, cycles ? cycles : amount);
        }
        bump(c, MALI_BLK_CSG, csg, A_F_CY, cycles ? cycles : amount);
        break;
    case MALI_WORK_LSU:
        occupy(s, B_LSU, cycles ? cycles : DIV_ROUND_UP(amount, 16));
        memory(s, DIV_ROUND_UP(amount, 16) * 5, DIV_ROUND_UP(amount, 16) * 3);
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
            add_block(s, MALI_BLK_SHADER, ORD_SHADER, i,
                      present && extract64(s->shader_fuses, i, 1));
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

bool mali_csf_counters_active(MaliCounters *c)
{
    return c->shade_room;
}

void mali_csf_counters_ahead(MaliCsfState *s, uint32_t cycles)
{
    if (cycles) {
        bump(s->ctr, MALI_BLK_CSHW, 0, A_ITER, cycles);
    }
}

void mali_csf_counters_period(MaliCounters *c)
{
    forget_room(c);
}

void mali_csf_counters_reset(MaliCsfState *s)
{
    mali_csf_counters_advance(s);
    forget_work(s->ctr);
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
