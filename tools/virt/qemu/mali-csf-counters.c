/*
 * Arm Mali CSF GPU: performance counters and the ledger
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
#include "qapi/error.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/host-utils.h"
#include "qemu/notify.h"
#include "sysemu/sysemu.h"
#include "hw/misc/mali-csf-counters.h"

#define MAX_COUNTERS    128
#define FIRST_COUNTER   4
#define HEADER_WORDS    4
#define WRITTEN_BITS    3       /* PRFCNT_EN bits without which a block is not written */
#define SETS            3

/* FAULTSTATUS source id of the MCU's counter writes. */
#define SOURCE_ID       0

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

/* Scalars of a block. Each type of block uses its own few. */
enum {
    A_NONE = 0,
    A_UNITS = 1,        /* background activity */
    /* CSHW */
    A_ACTIVE = 2,       /* core clock while the GPU has work (also MEMSYS) */
    A_MCU, A_ITER, A_TILER_CY, A_COMP_CY, A_FRAG_CY,
    A_CEU, A_LSU, A_FLUSH_CY, A_FLUSH,
    A_TILER_JOB, A_COMP_JOB, A_FRAG_JOB, A_JOBS,
    A_VERTICES, A_THREADS, A_PIXELS,
    A_CSIF,             /* and the five that follow */
    A_CSHW_END = A_CSIF + 6,
    /* TILER */
    A_T_CY = 2, A_T_PRIMS,
    /* MEMSYS */
    A_M_BEATS = 3,
    /* SHADER */
    A_S_ANY = 2, A_S_FRAG, A_S_COMP, A_S_PIXELS, A_S_THREADS,
    /* FW, CSG */
    A_F_CY = 2,
    SCALARS = A_CSHW_END
};

/* Times which cannot add up to more than the GPU was active. */
enum {
    B_ITER, B_TILER, B_COMP, B_FRAG, B_SHADER, B_NONFRAG, B_CEU, B_LSU, B_FLUSH, B_MCU,
    B_CSIF, BUCKETS = B_CSIF + 6
};

/*
 * Work is reported at its end, in pieces. So that busy cycles never exceed
 * active cycles in any one sample, they are taken from the active cycles of
 * this sample's period, and what does not fit waits for later ones.
 */
typedef struct Bucket {
    uint64_t room;      /* active cycles of this period not taken yet */
    uint64_t pending;   /* busy cycles not accounted yet */
} Bucket;

/* How work moves a counter of the primary set. mul 0: by the general rule. */
typedef struct Rule {
    uint8_t src;
    uint8_t shift;
    uint16_t mul;
    bool no_units;
} Rule;

/* What makes up a counter's total, in the set that is counted. */
typedef struct Term {
    uint32_t weight;    /* of a unit */
    uint16_t mul;       /* of scalar @src */
    uint8_t src;
    uint8_t shift;
} Term;

typedef struct Block {
    uint8_t type;
    uint8_t inst;       /* cores: the physical position */
    uint8_t ord;
    bool present;       /* a hole in shader_present is not */
    bool moved;         /* since prev was taken */
    uint64_t a[SCALARS];
    Term terms[MAX_COUNTERS];
    uint64_t added[MAX_COUNTERS];
    uint64_t prev[MAX_COUNTERS];    /* totals at the last sample */
    uint64_t emitted[MAX_COUNTERS];
} Block;

struct MaliCounters {
    Block *blocks;      /* as in a sample, without metadata */
    unsigned nblocks;
    unsigned by_type[MALI_BLK_TYPES];   /* index of the first block of a type */
    unsigned n_type[MALI_BLK_TYPES];
    unsigned words;     /* a block */
    uint32_t valid_mask;
    Rule rules[MALI_BLK_TYPES][MAX_COUNTERS];   /* primary set */
    unsigned turn[2];   /* whose turn a thread is, and a pixel, of the cores */
    unsigned beat_turn; /* and a beat, of the L2 slices */

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

    /* activity */
    bool activity;
    uint32_t rate;
    uint64_t unit_frac; /* of a unit, in units/s * ns */
    bool busy;          /* the GPU had work when last looked at */
    int64_t last_ns;
    uint64_t last_cycles;
    Bucket buckets[BUCKETS];
    uint64_t iter_cores[2];     /* which other and fragment work runs on */

    uint8_t *buf;
    bool *written;      /* by position in the sample, metadata included */
    FILE *ledger;
    char *ledger_name;
    Notifier exit;
};

static unsigned arch(MaliCsfState *s)
{
    return s->gpu_id >> 28;
}

static Block *block_of(MaliCounters *c, unsigned type, unsigned inst)
{
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
static void select_set(MaliCounters *c, unsigned set)
{
    unsigned i, j;

    c->info.set = set;
    for (i = 0; i < c->nblocks; i++) {
        Block *b = &c->blocks[i];

        for (j = FIRST_COUNTER; j < c->words; j++) {
            const Rule *r = &c->rules[b->type][j];
            Term *term = &b->terms[j];

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

static inline uint64_t total(const Block *b, unsigned idx)
{
    const Term *t = &b->terms[idx];

    return b->a[A_UNITS] * t->weight + (b->a[t->src] * t->mul >> t->shift) +
           b->added[idx];
}

static bool defined(MaliCounters *c, const Block *b)
{
    return c->info.set == 0 ||
           (b->type != MALI_BLK_FW && b->type != MALI_BLK_CSG);
}

static void rule(MaliCounters *c, unsigned type, unsigned idx, unsigned src,
                 unsigned mul, unsigned shift)
{
    c->rules[type][idx] = (Rule) { .src = src, .mul = mul, .shift = shift };
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

/* A core that is on its way down counts no more: it has been sampled. */
static uint64_t powered_cores(MaliCsfState *s)
{
    return s->pwr[MALI_PWR_SHADER].ready & ~s->pwr[MALI_PWR_SHADER].trans_off;
}

static void bump(MaliCounters *c, unsigned type, unsigned inst, unsigned src,
                 uint64_t n)
{
    Block *b = block_of(c, type, inst);

    if (b && n) {
        b->a[src] += n;
        b->moved = true;
    }
}

static void bump_cores(MaliCsfState *s, uint64_t cores, unsigned src,
                       uint64_t n)
{
    cores &= s->shader_present & powered_cores(s);
    for (; n && cores; cores &= cores - 1) {
        bump(s->ctr, MALI_BLK_SHADER, ctz64(cores), src, n);
    }
}

/* Cycles of one clock, in those of another. */
static uint64_t convert(MaliCsfState *s, uint64_t n, int from, int to)
{
    uint64_t hz = mali_csf_clk_hz(s, from);

    return hz ? mali_csf_muldiv(n, mali_csf_clk_hz(s, to), hz) : 0;
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
    Bucket *b = &s->ctr->buckets[bucket];
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
    uint64_t powered = powered_cores(s);
    uint64_t units = ns / NANOSECONDS_PER_SECOND * c->rate;
    unsigned i;

    c->unit_frac += ns % NANOSECONDS_PER_SECOND * c->rate;
    units += c->unit_frac / NANOSECONDS_PER_SECOND;
    c->unit_frac %= NANOSECONDS_PER_SECOND;
    if (!units) {
        return;
    }
    for (i = 0; i < c->nblocks; i++) {
        Block *b = &c->blocks[i];

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
        Block *b = block_of(c, MALI_BLK_SHADER, i);

        if (b->moved && !extract64(ready, i, 1)) {
            for (j = FIRST_COUNTER; j < c->words; j++) {
                b->prev[j] = total(b, j);
            }
            b->moved = false;
        }
    }
}

void mali_csf_counters_advance(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    int64_t now = mali_csf_now();
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
    c->busy = !mali_csf_cs_idle(s);
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

    cores &= s->shader_present & powered_cores(s);
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
        bump(c, MALI_BLK_MEMSYS, i, A_M_BEATS, share(beats, n, i, c->beat_turn));
    }
    c->beat_turn = (c->beat_turn + beats) % n;
}

/* Work on an iterator, which is shared between the streams. */
static void iterator(MaliCsfState *s, unsigned bucket, unsigned csg,
                     unsigned cs, uint64_t cycles)
{
    Bucket *any = &s->ctr->buckets[B_ITER];
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
    Bucket *b = s->ctr->buckets;

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
        bump(c, MALI_BLK_TILER, 0, A_T_PRIMS, amount);
        memory_beats(s, amount * 2);
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

static unsigned blocks_hw(MaliCsfState *s)
{
    return 2 + s->l2_slices + 64 - clz64(s->shader_present);
}

uint32_t mali_csf_counters_perfcnt_size(MaliCsfState *s)
{
    unsigned unit = s->counters * 4 / 256;

    return blocks_hw(s) * unit | (s->fw_blocks + s->csg_blocks) * unit << 16;
}

uint32_t mali_csf_counters_perfcnt_features(MaliCsfState *s)
{
    return s->metadata == ON_OFF_AUTO_ON ? s->counters * 4 / 256 : 0;
}

static void add_block(MaliCsfState *s, unsigned type, unsigned ord,
                      unsigned inst, bool present)
{
    MaliCounters *c = s->ctr;

    if (inst == 0) {
        c->by_type[type] = c->nblocks;
    }
    c->n_type[type]++;
    c->blocks[c->nblocks++] = (Block) {
        .type = type, .inst = inst, .ord = ord + inst, .present = present,
    };
}

static void layout(MaliCsfState *s)
{
    unsigned i, positions = 64 - clz64(s->shader_present);

    s->ctr->blocks = g_new0(Block, blocks_hw(s) + s->fw_blocks + s->csg_blocks);
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
    for (i = 0; i < positions; i++) {
        add_block(s, MALI_BLK_SHADER, ORD_SHADER, i,
                  extract64(s->shader_present, i, 1));
    }
}

/* ---- ledger ---- */

static void ledger_failed(MaliCounters *c)
{
    error_report("mali-csf: cannot write to ledger '%s': %s; it ends here",
                 c->ledger_name, strerror(errno));
    /* A ledger with a hole would make a right driver look wrong. */
    fclose(c->ledger);
    c->ledger = NULL;
}

void mali_csf_counters_flush_ledger(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    if (c->ledger && fflush(c->ledger)) {
        ledger_failed(c);
    }
}

static void ledger_close(Notifier *n, void *data)
{
    MaliCounters *c = container_of(n, MaliCounters, exit);

    if (c->ledger && fclose(c->ledger)) {
        error_report("mali-csf: cannot write to ledger '%s': %s",
                     c->ledger_name, strerror(errno));
    }
    c->ledger = NULL;
}

static void ledger_write(MaliCounters *c, uint64_t timestamp, uint32_t reason,
                         uint32_t size)
{
    uint8_t head[32];

    if (!c->ledger) {
        return;
    }
    stq_le_p(head, c->info.samples);
    stl_le_p(head + 8, c->info.epoch);
    stl_le_p(head + 12, c->info.insert);
    stq_le_p(head + 16, timestamp);
    stl_le_p(head + 24, reason);
    stl_le_p(head + 28, size);
    if (fwrite(head, sizeof(head), 1, c->ledger) != 1 ||
        (size && fwrite(c->buf, size, 1, c->ledger) != 1)) {
        ledger_failed(c);
    }
}

/* Blocks that were not written are zero in the ledger. */
static void ledger_record(MaliCounters *c, uint64_t timestamp, uint32_t reason)
{
    ledger_write(c, timestamp, reason, c->info.sample_size);
}

/* ---- firmware: samples ---- */

static uint64_t slot_va(MaliCounters *c, uint32_t insert)
{
    return c->base + (uint64_t)(insert & (c->info.slots - 1)) *
                     c->info.sample_size;
}

static uint32_t latched_mask(MaliCounters *c, const Block *b)
{
    uint32_t mask = c->mask[b->type];

    if (b->type == MALI_BLK_CSG && !extract32(c->csg_select, b->inst, 1)) {
        return 0;
    }
    /* PRFCNT_EN is cut to the counters there are, which in some sets is none. */
    if (!defined(c, b)) {
        return 0;
    }
    /* Without the header's bit and the next there is no sample of a block. */
    return (mask & WRITTEN_BITS) == WRITTEN_BITS ? mask & c->valid_mask : 0;
}

static void put_header(uint8_t *p, uint64_t timestamp, uint32_t en,
                       uint32_t last)
{
    stq_le_p(p, timestamp);
    stl_le_p(p + 8, en);
    stl_le_p(p + 12, last);
}

static void put_block(MaliCounters *c, Block *b, uint8_t *p, uint32_t mask)
{
    unsigned i;

    memset(p + HEADER_WORDS * 4, 0, (c->words - HEADER_WORDS) * 4);
    if (!b->moved) {
        return;
    }
    b->moved = false;
    for (i = FIRST_COUNTER; i < c->words; i++) {
        uint64_t now = total(b, i);
        uint64_t delta = now - b->prev[i];

        b->prev[i] = now;
        if (!extract32(mask, i / 4, 1)) {
            continue;
        }
        if (unlikely(delta > UINT32_MAX)) {
            delta = UINT32_MAX;
            c->info.saturated++;
        }
        b->emitted[i] += delta;
        stl_le_p(p + i * 4, delta);
    }
}

/* Write the blocks of a sample that @written names, a run at a time. */
static MaliMmuResult put_runs(MaliCsfState *s, uint64_t va, unsigned n)
{
    MaliCounters *c = s->ctr;
    unsigned size = c->words * 4, i = 0, j;

    while (i < n) {
        if (!c->written[i]) {
            i++;
            continue;
        }
        for (j = i; j < n && c->written[j]; j++) {
            ;
        }
        MaliMmuResult res = mali_csf_mmu_access(s, c->jasid, va + i * size,
                                                c->buf + i * size,
                                                (j - i) * size,
                                                MALI_ACCESS_WRITE, SOURCE_ID);
        if (res != MALI_MMU_OK) {
            return res;
        }
        i = j;
    }
    return MALI_MMU_OK;
}

static bool ring_full(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    c->info.extract = mali_csf_mcu_ld32(s, MALI_GLB_IN +
                                        MALI_GLB_IN_PRFCNT_EXTRACT);
    /*
     * EXTRACT before the stores to the slot which it freed. Pairs with the
     * driver's barrier between its reads of the slot and its store of EXTRACT.
     */
    smp_mb();
    return s->inj.ring_full ||
           c->info.insert - c->info.extract >= c->info.slots;
}

/*
 * OVERFLOW, THRESHOLD: firmware makes ACK differ from REQ, and not again
 * before it has seen, at a doorbell, that the driver has made them equal. True
 * if it was raised.
 */
static bool raise_event(MaliCsfState *s, uint32_t bit)
{
    uint32_t ack = mali_csf_mcu_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);

    if ((s->glb_req ^ ack) & bit) {
        return false;
    }
    mali_csf_mcu_ack(s, bit);
    return true;
}

/*
 * There is no room. With events_once an overflow is told once for an EXTRACT:
 * a driver which acknowledges it and frees nothing is not told again.
 */
static void overflow(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    if (s->events_once && c->full_seen &&
        c->full_extract == c->info.extract) {
        return;
    }
    if (raise_event(s, MALI_GLB_PRFCNT_OVERFLOW)) {
        c->full_seen = true;
        c->full_extract = c->info.extract;
        c->info.overflows++;
    }
}

/*
 * The ring is full: a sample of firmware's own accord is lost, one that was
 * requested is tried again. Or firmware just sees that it still is.
 */
static void no_room(MaliCsfState *s, uint32_t reason, bool own_accord)
{
    MaliCounters *c = s->ctr;

    if (own_accord) {
        c->info.lost_autos++;
        reason |= MALI_LEDGER_OWN_ACCORD;
    }
    ledger_write(c, mali_csf_timestamp(s), reason | MALI_LEDGER_NO_ROOM, 0);
    c->no_room = true;
    overflow(s);
}

static void publish_insert(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    mali_csf_mcu_st32(s, MALI_GLB_OUT + MALI_GLB_OUT_PRFCNT_INSERT,
                      c->info.insert +
                      (s->inj.insert_skew_on ? s->inj.insert_skew : 0));
}

/* A sample that could not be written carried nothing anywhere. */
static void take_back(MaliCounters *c, unsigned n)
{
    unsigned i, j, first = n - c->nblocks;

    for (i = first; i < n; i++) {
        for (j = FIRST_COUNTER; c->written[i] && j < c->words; j++) {
            c->blocks[i - first].emitted[j] -=
                ldl_le_p(c->buf + (i * c->words + j) * 4);
        }
    }
}

/* Write one sample into the slot at INSERT. The caller has seen that it is free. */
static MaliMmuResult sample(MaliCsfState *s, uint32_t reason)
{
    MaliCounters *c = s->ctr;
    unsigned size = c->words * 4, n = 0, i;
    int64_t now = mali_csf_now();
    uint64_t timestamp = mali_csf_timestamp_at(s, now);
    uint64_t powered = powered_cores(s);
    MaliMmuResult res;

    mali_csf_counters_advance(s);
    for (i = 0; i < BUCKETS; i++) {
        c->buckets[i].room = 0;
    }
    if (c->metadata) {
        memset(c->buf, 0, size);
        put_header(c->buf, timestamp, WRITTEN_BITS, reason);
        c->written[n++] = true;
    }
    for (i = 0; i < c->nblocks; i++, n++) {
        Block *b = &c->blocks[i];
        uint32_t mask = latched_mask(c, b);
        uint8_t *p = c->buf + n * size;

        if (b->type == MALI_BLK_SHADER && !extract64(powered, b->inst, 1)) {
            mask = 0;
        }
        c->written[n] = mask && b->present;
        if (c->written[n]) {
            put_header(p, timestamp, mask, 0);
            put_block(c, b, p, mask);
        } else {
            memset(p, 0, size);
        }
    }

    res = put_runs(s, slot_va(c, c->info.insert), n);
    if (res != MALI_MMU_OK) {
        c->info.faults++;
        take_back(c, n);
        return res;
    }
    ledger_record(c, timestamp, reason);
    c->info.insert++;
    c->info.samples++;
    c->info.last_reason = reason;
    c->info.last_timestamp = timestamp;
    for (i = 0; i < MALI_CLKS; i++) {
        c->info.last_cycles[i] = mali_csf_clk_cycles_at(s, i, now);
    }
    c->no_room = false;
    c->full_seen = false;
    /* The sample before INSERT. Pairs with the driver's after it reads INSERT. */
    smp_wmb();
    publish_insert(s);
    /* INSERT before ACK. Pairs with the driver's after it has seen ACK. */
    smp_wmb();
    return MALI_MMU_OK;
}

static void threshold(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    c->info.extract = mali_csf_mcu_ld32(s, MALI_GLB_IN +
                                        MALI_GLB_IN_PRFCNT_EXTRACT);
    if (c->info.insert - c->info.extract >= MAX(c->info.slots / 2, 1) &&
        raise_event(s, MALI_GLB_PRFCNT_THRESHOLD)) {
        c->info.thresholds++;
    }
}

/*
 * At a doorbell, events which have been acknowledged are raised again while
 * what they tell of lasts. @told: there, a request has found the ring full.
 */
static void events_again(MaliCsfState *s, bool told)
{
    MaliCounters *c = s->ctr;

    if (s->events_once) {
        return;
    }
    threshold(s);
    if (!c->no_room || told) {
        return;
    }
    if (ring_full(s)) {
        no_room(s, MALI_REASON_REQUEST, false);
    } else {
        c->no_room = false;
    }
}

void mali_csf_counters_auto(MaliCsfState *s, uint32_t reason)
{
    MaliCounters *c = s->ctr;

    /* What follows may well be the end of counting, sample or not. */
    mali_csf_counters_advance(s);
    if (!c->info.enabled || !mali_csf_mcu_running(s) || s->gpu_status_protm) {
        return;
    }
    if (mali_csf_mmu_locked(s, 0) || mali_csf_mmu_locked(s, c->jasid)) {
        c->info.lost_autos++;
        return;
    }
    if (ring_full(s)) {
        no_room(s, reason, true);
        return;
    }
    if (sample(s, reason) != MALI_MMU_OK) {
        return;
    }
    c->info.autos++;
    threshold(s);
    if (reason == MALI_REASON_PROTM) {
        /* Completes a request which is outstanding. */
        uint32_t req = mali_csf_mcu_req(s);
        uint32_t ack = mali_csf_mcu_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);

        if (((req ^ ack) & MALI_GLB_PRFCNT_SAMPLE) && !c->dropping) {
            mali_csf_mcu_ack(s, MALI_GLB_PRFCNT_SAMPLE);
        }
    }
}

/* ---- firmware: requests ---- */

/* What an earlier, different user of the memory might have left there. */
static uint32_t junk(unsigned slot, unsigned word, unsigned words)
{
    uint32_t v = 0x5a000000 | slot << 16 | word;

    /* A header that looks like one: whoever trusts it adds junk. */
    return word % words == 2 ? v | WRITTEN_BITS : v;
}

/* Positions without a core are never written by firmware: never clean. */
static bool fill_holes(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    unsigned slot, i, j, n = 0;

    if (c->metadata) {
        c->written[n++] = false;
    }
    for (i = 0; i < c->nblocks; i++, n++) {
        c->written[n] = !c->blocks[i].present;
    }
    for (slot = 0; slot < c->info.slots; slot++) {
        for (i = 0; i < n; i++) {
            for (j = i * c->words; c->written[i] && j < (i + 1) * c->words;
                 j++) {
                stl_le_p(c->buf + j * 4, junk(slot, j, c->words));
            }
        }
        if (put_runs(s, slot_va(c, slot), n) != MALI_MMU_OK) {
            return false;
        }
    }
    return true;
}

/* A request whose ring is locked is looked at again when it is unlocked. */
static bool waits_for(MaliCsfState *s, unsigned as)
{
    s->ctr->waiting = mali_csf_mmu_locked(s, as);
    s->ctr->waiting_for = as;
    return s->ctr->waiting;
}

bool mali_csf_counters_wait_for(MaliCsfState *s, unsigned as)
{
    return s->ctr->waiting && s->ctr->waiting_for == as;
}

/*
 * Latch the configuration and start counting. False leaves counters disabled
 * and the request without an answer, as firmware does with what it cannot use.
 */
static bool enable(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;
    uint32_t config = mali_csf_mcu_ld32(s, MALI_GLB_IN +
                                        MALI_GLB_IN_PRFCNT_CONFIG);
    uint32_t jasid = extract32(mali_csf_mcu_ld32(s, MALI_GLB_IN +
                                   MALI_GLB_IN_PRFCNT_JASID), 0, 4);
    uint64_t base = mali_csf_mcu_ld64(s, MALI_GLB_IN + MALI_GLB_IN_PRFCNT_BASE);
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
    unsigned i, j;

    if (waits_for(s, jasid)) {
        return false;
    }
    /* The field has room for 128, and for no larger power of two. */
    if (!is_power_of_2(slots) || set >= SETS ||
        jasid > 7 || base % 2048) {
        c->info.rejected++;
        return false;
    }

    mali_csf_counters_advance(s);
    c->jasid = jasid;
    c->base = base;
    c->metadata = s->metadata == ON_OFF_AUTO_ON && extract32(config, 10, 1) &&
                  s->published_version >> 24 >= 2;
    c->csg_select = mali_csf_mcu_ld32(s, MALI_GLB_IN +
                                      MALI_GLB_IN_PRFCNT_CSG_SELECT);
    for (i = MALI_BLK_FW; i < MALI_BLK_TYPES; i++) {
        c->mask[i] = mali_csf_mcu_ld32(s, MALI_GLB_IN + mask_reg[i]);
    }
    c->info.slots = slots;
    select_set(c, set);
    c->info.sample_size = (c->nblocks + c->metadata) * c->words * 4;
    c->info.insert = 0;
    if (!fill_holes(s)) {
        c->info.rejected++;
        return false;
    }
    for (i = 0; i < c->nblocks; i++) {
        for (j = FIRST_COUNTER; j < c->words; j++) {
            c->blocks[i].prev[j] = total(&c->blocks[i], j);
        }
        c->blocks[i].moved = false;
    }
    for (i = 0; i < BUCKETS; i++) {
        c->buckets[i].room = 0;
    }
    c->dropping = false;
    c->no_room = false;
    c->full_seen = false;
    c->info.enabled = true;
    c->info.epoch++;
    publish_insert(s);
    smp_wmb();  /* INSERT before ACK, as in sample() */
    return true;
}

/* False if there is no room for the sample, and that has been said. */
static bool sample_request(MaliCsfState *s, uint32_t req)
{
    MaliCounters *c = s->ctr;
    bool want = req & MALI_GLB_PRFCNT_SAMPLE;

    if (c->dropping) {
        if (c->dropping_req == want) {
            return true;
        }
        c->dropping = false;
    }
    if (s->inj.drop_samples) {
        s->inj.drop_samples--;
        c->dropping = true;
        c->dropping_req = want;
        c->info.dropped++;
        return true;
    }
    if (waits_for(s, c->jasid)) {
        return true;
    }
    if (ring_full(s)) {
        no_room(s, MALI_REASON_REQUEST, false);
        return false;
    }
    if (sample(s, MALI_REASON_REQUEST) != MALI_MMU_OK) {
        return true;
    }
    if (s->inj.drop_sample_acks) {
        s->inj.drop_sample_acks--;
        /* Taken for answered: only a new request gets a new sample. */
        c->dropping = true;
        c->dropping_req = want;
    } else {
        mali_csf_mcu_ack(s, MALI_GLB_PRFCNT_SAMPLE);
    }
    threshold(s);
    return true;
}

void mali_csf_counters_eval(MaliCsfState *s, uint32_t req)
{
    MaliCounters *c = s->ctr;
    uint32_t ack = mali_csf_mcu_ld32(s, MALI_GLB_OUT + MALI_GLB_OUT_ACK);
    bool want = req & MALI_GLB_PRFCNT_ENABLE, told = false;

    c->waiting = false;
    if (want && !c->info.enabled) {
        if (!enable(s)) {
            return;
        }
    } else if (!want && c->info.enabled) {
        /* No sample: what was counted since the last one is discarded. */
        mali_csf_counters_advance(s);
        c->info.enabled = false;
    }
    if ((req ^ ack) & MALI_GLB_PRFCNT_ENABLE) {
        mali_csf_mcu_ack(s, MALI_GLB_PRFCNT_ENABLE);
    }
    if (!((req ^ ack) & MALI_GLB_PRFCNT_SAMPLE)) {
        c->dropping = false;
    } else if (c->info.enabled) {
        told = !sample_request(s, req);
    }
    if (c->info.enabled) {
        events_again(s, told);
    }
}

void mali_csf_counters_boot(MaliCsfState *s, bool warm)
{
    MaliCounters *c = s->ctr;

    mali_csf_counters_advance(s);
    if (warm) {
        mali_csf_counters_auto(s, MALI_REASON_WARM_BOOT);
    } else {
        c->info.enabled = false;
    }
    if (s->inj.cores_hold) {
        mali_csf_mcu_cores_needed(s);
    }
}

void mali_csf_counters_reset(MaliCsfState *s)
{
    MaliCounters *c = s->ctr;

    mali_csf_counters_advance(s);
    c->info.enabled = false;
    c->waiting = false;
    c->dropping = false;
    c->no_room = false;
    c->full_seen = false;
    c->busy = false;
    memset(c->buckets, 0, sizeof(c->buckets));
}

/* ---- for the bench page ---- */

const MaliCountersInfo *mali_csf_counters_info(MaliCsfState *s)
{
    return &s->ctr->info;
}

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
    Block *b = block_of(s->ctr, type, inst);

    return b && b->present && idx >= FIRST_COUNTER && idx < s->ctr->words;
}

bool mali_csf_counters_add(MaliCsfState *s, unsigned type, unsigned inst,
                           unsigned idx, uint64_t amount)
{
    Block *b = block_of(s->ctr, type, inst);

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

void mali_csf_counters_init(MaliCsfState *s, Error **errp)
{
    MaliCounters *c = g_new0(MaliCounters, 1);

    s->ctr = c;
    c->words = s->counters;
    c->valid_mask = c->words == 128 ? UINT32_MAX : 0xffff;
    layout(s);
    init_rules(s);
    select_set(c, 0);
    c->buf = g_malloc0((c->nblocks + 1) * c->words * 4);
    c->written = g_new0(bool, c->nblocks + 1);
    if (!s->ledger) {
        return;
    }
    c->ledger_name = s->ledger;
    c->ledger = fopen(s->ledger, "wb");
    if (!c->ledger) {
        error_setg_errno(errp, errno, "mali-csf: cannot create ledger '%s'",
                         s->ledger);
        return;
    }
    setvbuf(c->ledger, NULL, _IOFBF, 1 << 20);
    c->exit.notify = ledger_close;
    qemu_add_exit_notifier(&c->exit);
}
