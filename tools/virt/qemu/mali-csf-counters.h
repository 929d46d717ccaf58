/*
 * Arm Mali CSF GPU: counters, what firmware does with them, the ledger
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_MISC_MALI_CSF_COUNTERS_H
#define HW_MISC_MALI_CSF_COUNTERS_H

#include "hw/misc/mali-csf.h"

#define MALI_MAX_COUNTERS   128
#define MALI_FIRST_COUNTER  4
#define MALI_HEADER_WORDS   4

/*
 * Bits of a ledger record's reason: the sample found no room in the ring (such
 * a record has no blocks, and the number of the record after it); it was of
 * firmware's own accord (it is lost then, and one that was requested is tried
 * again); it was requested, and the bench page withheld the acknowledgment.
 */
#define MALI_LEDGER_NO_ROOM     (1u << 31)
#define MALI_LEDGER_OWN_ACCORD  (1u << 30)
#define MALI_LEDGER_UNANSWERED  (1u << 29)

/* State of the counter block, as firmware has it. */
typedef struct MaliCountersInfo {
    bool enabled;
    uint32_t epoch;             /* enables since power-on */
    uint32_t insert;            /* of the current enable, without any skew */
    uint32_t extract;           /* as last read */
    uint32_t slots;             /* likewise */
    uint32_t sample_size;       /* likewise, in bytes */
    uint64_t samples;           /* written since power-on */
    uint64_t autos;             /* of these: of firmware's own accord */
    /* own accord, ring full or locked: not written */
    uint64_t lost_autos;
    uint64_t faults;            /* lost to an MMU fault */
    uint64_t rejected;          /* enables that were ignored */
    uint64_t dropped;           /* SAMPLE requests dropped by the bench page */
    uint64_t overflows;         /* OVERFLOW events raised */
    uint64_t thresholds;        /* THRESHOLD events raised */
    uint32_t last_reason;       /* of the last sample written */
    uint64_t last_timestamp;    /* likewise */
    uint64_t last_cycles[MALI_CLKS];    /* of the clocks, then */
} MaliCountersInfo;

const MaliCountersInfo *mali_csf_perfcnt_info(MaliCsfState *s);

/* One record of the ledger, as virtual-mali.rst describes it. */
typedef struct MaliLedgerRecord {
    uint64_t sequence;
    uint32_t epoch;
    uint32_t insert;
    uint64_t timestamp;
    uint32_t reason;
    uint32_t size;
    const uint8_t *blocks;      /* @size bytes */
} MaliLedgerRecord;

/* mali-csf-ledger.c */
bool mali_csf_ledger_init(MaliCsfState *s, Error **errp);
void mali_csf_ledger_exit(MaliCsfState *s);
void mali_csf_ledger_write(MaliCsfState *s, const MaliLedgerRecord *r);
void mali_csf_ledger_flush(MaliCsfState *s);
/* "start" of a ring, or "begin" or "end" of a job in it, by page table. */
void mali_csf_ledger_job(MaliCsfState *s, const char *what, uint64_t vm,
                         uint64_t ring);

/* mali-csf-counters.c */

/* Scalars of a block. Each type of block uses its own few. */
enum {
    A_NONE = 0,
    A_UNITS = 1,        /* background activity */
    /* CSHW */
    A_ACTIVE = 2,       /* core clock while the GPU has work */
    A_MCU, A_ITER, A_TILER_CY, A_COMP_CY, A_FRAG_CY,
    A_CEU, A_LSU, A_FLUSH_CY, A_FLUSH,
    A_TILER_JOB, A_COMP_JOB, A_FRAG_JOB, A_JOBS,
    A_VERTICES, A_THREADS, A_PIXELS,
    A_CSIF0, A_CSIF1, A_CSIF2, A_CSIF3, A_CSIF4, A_CSIF5,
    A_CSHW_END,
    /* TILER */
    A_T_CY = 2, A_T_PRIMS,
    /* MEMSYS: eighths of a beat, and cycles for which the bus is not ready */
    A_M_ANY = 2, A_M_RD, A_M_WR, A_M_RD_STALL, A_M_WR_STALL,
    /* SHADER: cycles with any work, with fragments, with others */
    A_S_ANY = 2, A_S_FRAG, A_S_COMP,
    A_S_PIXELS, A_S_THREADS,
    A_S_TILE_WR,        /* eighths of a beat written from the tile buffer */
    A_S_EXEC,           /* cycles with a warp */
    A_S_STARVE,         /* a cycle's four chances to issue that found none */
    /* and 16 cycles of a unit, or of threads, vertices, pixels, in a warp */
    A_S_ALU, A_S_LS, A_S_CQ, A_S_VQ, A_S_PQ,
    /* FW, CSG */
    A_F_CY = 2,
    SCALARS = A_CSHW_END
};

/* Times which cannot add up to more than the GPU was active. */
enum {
    /* core clock */
    B_ITER, B_TILER, B_COMP, B_FRAG, B_CEU, B_LSU, B_FLUSH, B_MCU,
    B_CSIF, B_CORE_END = B_CSIF + 6,
    /* core group's */
    B_T_CY = B_CORE_END,
    /* stacks' */
    B_SHADE, BUCKETS = B_SHADE + 3
};

/* What is shaded. */
enum { SHADE_THREADS, SHADE_VERTICES, SHADE_PIXELS, SHADES };

/* What shading loads, a core each. */
enum {
    U_EXEC,             /* warps: A_S_EXEC */
    U_STARVE,
    U_ALU, U_LS, U_CQ, U_VQ, U_PQ,      /* in A_S_ALU's order, by 16 cycles */
    UNITS
};

/*
 * Work is reported at its end, in pieces, and at samples. So that busy cycles
 * never exceed active cycles in any one sample, they are taken from the active
 * cycles of this sample's period, and what does not fit waits for later ones.
 */
typedef struct MaliBucket {
    uint64_t room;      /* active cycles of this period not taken yet */
    uint64_t pending;   /* busy cycles not accounted yet */
} MaliBucket;

/*
 * Shading of one kind. It loads units by what is shaded, at the time when the
 * cycles of that show, and of all kinds together no more than the cores have.
 */
typedef struct MaliShading {
    uint64_t cores;             /* that it runs on */
    uint64_t load[UNITS];       /* to come, in 1/16 cycles of all cores */
    uint64_t room[UNITS];       /* cycles of a core not taken in this period */
} MaliShading;

/* The external bus: cycles for which it keeps a slice waiting. */
typedef struct MaliBus {
    uint64_t load;              /* to come, in 1/64 cycles of all slices */
    uint64_t room;              /* cycles of a slice not taken in this period */
} MaliBus;

/* What cycles of another clock come to, but for whole ones; times @den. */
typedef struct MaliRest {
    uint64_t rest, den;
} MaliRest;

enum { REST_COMP, REST_IDVS, REST_TILER, REST_FRAG, REST_TARGETS, RESTS };

/* How work moves a counter of the primary set. mul 0: by the general rule. */
typedef struct MaliRule {
    uint8_t src;
    uint8_t shift;
    uint16_t mul;
    bool round;
} MaliRule;

/* What makes up a counter's total, in the set that is counted. */
typedef struct MaliTerm {
    uint32_t weight;    /* of a unit */
    uint16_t mul;       /* of scalar @src */
    uint16_t half;      /* added before the shift: rounds */
    uint8_t src;
    uint8_t shift;
} MaliTerm;

typedef struct MaliBlock {
    uint8_t type;
    uint8_t inst;       /* cores: the physical position */
    uint8_t ord;
    bool present;       /* a hole in shader_present is not */
    bool moved;         /* since prev was taken */
    uint64_t a[SCALARS];
    /* SHADER, in this period */
    uint64_t any, other;        /* cycles taken of MaliCounters.shade_room */
    uint64_t room[UNITS];       /* cycles in which a unit could do more */
    MaliTerm terms[MALI_MAX_COUNTERS];
    uint64_t added[MALI_MAX_COUNTERS];
    uint64_t prev[MALI_MAX_COUNTERS];    /* totals at the last sample */
    uint64_t emitted[MALI_MAX_COUNTERS];
} MaliBlock;

struct MaliCounters {
    MaliBlock *blocks;      /* as in a sample, without metadata */
    unsigned nblocks;
    unsigned by_type[MALI_BLK_TYPES];   /* index of the first block of a type */
    unsigned n_type[MALI_BLK_TYPES];
    unsigned words;     /* a block */
    uint64_t compact_cores; /* cores whose blocks have no gaps, or 0 */
    uint32_t valid_mask;
    uint32_t set;       /* that is counted */
    uint64_t saturated; /* values cut to 32 bits */
    MaliRule rules[MALI_BLK_TYPES][MALI_MAX_COUNTERS];   /* primary set */
    unsigned core_turn[SCALARS];    /* whose turn a unit of a scalar is, */
    unsigned slice_turn[SCALARS];   /* of the cores, or the L2 slices */

    /* activity */
    bool activity;
    uint32_t rate;
    uint64_t unit_frac; /* of a unit, in units/s * ns */
    bool busy;          /* the GPU had work when last looked at */
    int64_t last_ns;
    uint64_t last_cycles[MALI_CLKS];
    MaliBucket buckets[BUCKETS];
    MaliShading shading[SHADES];
    uint64_t shade_room;        /* active cycles of this period, stacks' */
    MaliBus bus[2];             /* reads, writes */
    MaliRest rests[RESTS];
};

/* A core that is on its way down counts no more: it has been sampled. */
static inline uint64_t mali_csf_counters_powered(MaliCsfState *s)
{
    return s->pwr[MALI_PWR_SHADER].ready & ~s->pwr[MALI_PWR_SHADER].trans_off;
}

/* Blocks that are not firmware's. */
unsigned mali_csf_counters_blocks_hw(MaliCsfState *s);
/* Whether the set that is counted has counters for a block. */
bool mali_csf_counters_defined(MaliCounters *c, const MaliBlock *b);
void mali_csf_counters_select_set(MaliCounters *c, unsigned set);
/* What a block has counted since the last time goes to @p, as @mask says. */
void mali_csf_counters_take(MaliCounters *c, MaliBlock *b, uint8_t *p,
                            uint32_t mask);
void mali_csf_counters_take_back(MaliCounters *c, MaliBlock *b,
                                 const uint8_t *p);
/* What was counted up to here is in no sample. */
void mali_csf_counters_rebase(MaliCounters *c);
/* The GPU was active in the period of the sample that is to be taken. */
bool mali_csf_counters_active(MaliCounters *c);
/* GPU_ITER_ACTIVE counts @cycles more than there were. */
void mali_csf_counters_ahead(MaliCsfState *s, uint32_t cycles);
/* A sample's period begins: see MaliBucket. */
void mali_csf_counters_period(MaliCounters *c);

/* Background activity: so many units a second while on. */
void mali_csf_counters_set_activity(MaliCsfState *s, bool on, uint32_t rate);
bool mali_csf_counters_exists(MaliCsfState *s, unsigned type, unsigned inst,
                              unsigned idx);
/* Count @amount more in one counter; false if there is no such counter. */
bool mali_csf_counters_add(MaliCsfState *s, unsigned type, unsigned inst,
                           unsigned idx, uint64_t amount);
/*
 * 64-bit totals since power-on: what samples carried, and what the block
 * counted (by the set latched last), sampled or not. 0 if there is no such
 * counter.
 */
uint64_t mali_csf_counters_emitted(MaliCsfState *s, unsigned type,
                                   unsigned inst, unsigned idx);
uint64_t mali_csf_counters_generated(MaliCsfState *s, unsigned type,
                                     unsigned inst, unsigned idx);

#endif
