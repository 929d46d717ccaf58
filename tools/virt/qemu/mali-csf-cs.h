/*
 * Arm Mali CSF GPU: streams, and groups of them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * mali-csf-csg.c has the groups: their interfaces, requests and events,
 * suspend and resume, the iterators which run jobs, and the loop which drives
 * it all. mali-csf-cs.c has one stream: instructions, scoreboard, tiler heap.
 */
#ifndef HW_MISC_MALI_CSF_CS_H
#define HW_MISC_MALI_CSF_CS_H

#include "hw/misc/mali-csf.h"

#define CS_MAX_REGS         128
/* Scoreboard entries: of arch 10, of later ones, and a group's shared ones */
#define CS_SCOREBOARDS_V10  8
#define CS_SCOREBOARDS_V11  16
#define CS_SHARED_SBS       16
/* Frames under the one that executes; an exception handler has as many. */
#define CS_CALL_DEPTH       7
#define CS_MAX_OPS          32
#define CS_NO_SB            0xff

/* Exception types */
#define CS_CONFIG_FAULT         0x40
#define CS_UNRECOVERABLE        0x41
#define CS_ENDPOINT_FAULT       0x44
#define CS_BUS_FAULT            0x48
#define CS_INSTR_INVALID        0x49
#define CS_CALL_STACK_OVERFLOW  0x4a
#define CS_INHERIT_FAULT        0x4b
#define CS_OOM                  0x60
#define CS_FW_INTERNAL_ERROR    0x68

/* Source ids of the accesses, as FAULTSTATUS reports them */
#define CS_SOURCE_ID(csg, cs)   (0x4000 | (csg) << 8 | (cs))

/* CS_STATUS_BLOCKED_REASON */
typedef enum {
    CS_UNBLOCKED, CS_BLOCKED_SB, CS_BLOCKED_PROGRESS, CS_BLOCKED_SYNC,
    CS_BLOCKED_DEFERRED, CS_BLOCKED_RESOURCE, CS_BLOCKED_FLUSH,
    /* Not of the interface: */
    CS_BLOCKED_PROTM,       /* waits for protected mode; reads as unblocked */
    CS_BLOCKED_AS,          /* the address space is locked */
} CsBlocked;

/* CS_REQ, CS_ACK */
#define CS_REQ_STATE            0x7
#define CS_REQ_STATE_START      1
#define CS_REQ_IDLE_SYNC_WAIT   (1u << 8)
#define CS_REQ_IDLE_PROTM       (1u << 9)
#define CS_REQ_IDLE_EMPTY       (1u << 10)
#define CS_REQ_IDLE_RESOURCE    (1u << 11)
#define CS_REQ_TILER_OOM        (1u << 26)
#define CS_REQ_PROTM_PENDING    (1u << 27)
#define CS_REQ_FATAL            (1u << 30)
#define CS_REQ_FAULT            (1u << 31)

/* CSG_REQ, CSG_ACK */
#define CSG_REQ_STATE               0x7
#define CSG_REQ_ENDPOINT_CONFIG     (1u << 4)
#define CSG_REQ_STATUS_UPDATE       (1u << 5)
#define CSG_REQ_SYNC_UPDATE         (1u << 28)
#define CSG_REQ_IDLE                (1u << 29)
#define CSG_REQ_PROGRESS_TIMER      (1u << 31)

/* Group input block */
#define CSG_IN_REQ              0x00
#define CSG_IN_ACK_IRQ_MASK     0x04
#define CSG_IN_DB_REQ           0x08
#define CSG_IN_CS_IRQ_ACK       0x0c
#define CSG_IN_ALLOW_COMPUTE    0x20
#define CSG_IN_ALLOW_FRAGMENT   0x28
#define CSG_IN_ALLOW_OTHER      0x30
#define CSG_IN_EP_REQ           0x34
#define CSG_IN_EP_REQ2          0x38
#define CSG_IN_SUSPEND_BUF      0x40
#define CSG_IN_CONFIG           0x50
/* Group output block */
#define CSG_OUT_ACK             0x00
#define CSG_OUT_DB_ACK          0x08
#define CSG_OUT_CS_IRQ_REQ      0x0c
#define CSG_OUT_EP_CURRENT      0x10
#define CSG_OUT_EP_REQ          0x14
#define CSG_OUT_STATE           0x18
#define CSG_OUT_RESOURCE_DEP    0x1c

/* Stream input block */
#define CS_IN_REQ               0x00
#define CS_IN_CONFIG            0x04
#define CS_IN_ACK_IRQ_MASK      0x0c
#define CS_IN_RING_BASE         0x10
#define CS_IN_RING_SIZE         0x18
#define CS_IN_HEAP_START        0x20
#define CS_IN_RING_INPUT        0x30
#define CS_IN_RING_OUTPUT       0x38
/* Stream output block */
#define CS_OUT_ACK              0x00
#define CS_OUT_CMD_PTR          0x40
#define CS_OUT_WAIT             0x48
#define CS_OUT_REQ_RESOURCE     0x4c
#define CS_OUT_SYNC_PTR         0x50
#define CS_OUT_SYNC_VALUE       0x58
#define CS_OUT_SCOREBOARDS      0x5c
#define CS_OUT_BLOCKED          0x60
#define CS_OUT_SYNC_VALUE_HI    0x64
#define CS_OUT_FAULT            0x80
#define CS_OUT_FATAL            0x84
#define CS_OUT_FAULT_INFO       0x88
#define CS_OUT_FATAL_INFO       0x90
#define CS_OUT_HEAP_VT_START    0xc0
#define CS_OUT_HEAP_VT_END      0xc4
#define CS_OUT_HEAP_FRAG_END    0xcc
#define CS_OUT_HEAP_ADDRESS     0xd0

/* Ring buffer interface blocks */
#define RING_IN_INSERT          0x00
#define RING_IN_EXTRACT         0x08
#define RING_OUT_EXTRACT        0x00
#define RING_OUT_ACTIVE         0x08

/* Iterators: what runs jobs, one job at a time each. */
typedef enum {
    ITER_COMPUTE, ITER_FRAGMENT, ITER_TILER, ITERS
} MaliIterKind;

/* What an operation on the scoreboard is. */
typedef enum {
    OP_LOAD, OP_STORE, OP_SYNC, OP_STATE, OP_FLUSH, OP_HEAP, OP_FINISH_FRAG,
    OP_FINISH_TILING, OP_TRACE, OP_SHARED, OP_JOB,
} CsOpKind;

/* Flags of CsOp; bits 31:16 are a register mask. */
#define OPF_PROGRESS    (1u << 0)   /* completion counts as progress */
#define OPF_WIDE        (1u << 1)   /* 64 bits */
#define OPF_ADD         (1u << 2)   /* add, not set */
#define OPF_PROPAGATE   (1u << 3)   /* the stream's error goes to the object */
#define OPF_CSG_SCOPE   (1u << 4)   /* no interrupt */
#define OPF_COUNT_FRAG  (1u << 5)   /* counts a fragment pass */
#define OPF_JOB_END     (1u << 6)   /* the host's, behind a job */
#define OPF_MASK_SHIFT  16

/*
 * One operation which a stream started and which has not ended. Operations of
 * a stream are kept in program order, and wait only for earlier ones.
 */
typedef struct CsOp {
    uint32_t kind;          /* CsOpKind */
    uint32_t flags;         /* OPF_* */
    uint32_t sb;            /* scoreboard entry it holds, or CS_NO_SB */
    uint32_t wait_mask;     /* entries of earlier operations it waits for */
    /*
     * LOAD, STORE: first register; STATE, HEAP, SHARED: which; JOB:
     * MaliIterKind
     */
    uint32_t arg;
    uint32_t work;          /* JOB: MaliWorkKind */
    uint64_t addr;          /* memory; JOB: tiler context or 0 */
    /* SYNC: value; FINISH_FRAG: last chunk; JOB: primitives to go */
    uint64_t data;
    uint64_t setup_left;    /* JOB: cycles before the first unit */
    uint64_t work_left;     /* JOB: core cycles to go */
    uint64_t cost;          /* JOB: core cycles a unit */
    uint64_t heap_credit;   /* JOB: units which have heap memory already */
    uint64_t ran_cycles;    /* JOB: core clock cycles it has been running */

    /* Not kept over a suspension */
    uint64_t seq;           /* order over all streams */
    int64_t end_ns;         /* of a FLUSH or FINISH_TILING under way; 0: none */
    bool done;
} CsOp;

typedef struct CsFrame {
    uint64_t pc, end;
} CsFrame;

typedef enum { CS_STOPPED, CS_STARTED, CS_DEAD } CsState;

/*
 * A stream whose tiler job has no heap memory. NONE -> RAISED -> NONE if the
 * host has a chunk, FRAGMENT if fragment jobs are under way, else HANDLER_DUE;
 * FRAGMENT -> RAISED when they have ended; HANDLER_DUE -> HANDLER -> RETRY ->
 * NONE, with an error if there still is no memory. HANDLER -> HANDLER_DUE if
 * the stream of the handler dies. A chunk that is free leads to NONE from
 * FRAGMENT, HANDLER_DUE and RETRY.
 */
typedef enum {
    OOM_NONE,
    OOM_RAISED,         /* the host has been asked for a chunk */
    OOM_HANDLER_DUE,    /* it had none: waits until a handler is entered */
    OOM_HANDLER,        /* which it has been, by stream oom_by of the group */
    OOM_RETRY,          /* it has returned */
    OOM_FRAGMENT,       /* fragment jobs under way will free some */
} CsOom;

/* One stream. */
typedef struct MaliStream {
    unsigned csg, cs;

    /* State that a suspend buffer keeps */
    uint32_t state;             /* CsState */
    uint32_t regs[CS_MAX_REGS];
    uint64_t extract;           /* position in the ring: frame 0 */
    uint64_t pc, end;           /* frames above it */
    uint32_t depth;
    uint32_t in_handler;        /* depth of the interrupted frame, plus one */
    CsFrame stack[2 * CS_CALL_DEPTH + 1];
    uint32_t sb_endpoint, sb_other, sb_deferred;
    uint32_t sb_mask;           /* entries that NEXT_SB_ENTRY gives out */
    uint32_t wait_mask;         /* what WAIT and "defer indirect" wait for */
    uint32_t error;             /* exception word; until ERROR_BARRIER */
    uint32_t resources;
    uint64_t heap;
    uint64_t handler, handler_len;
    uint64_t progress;
    CsOom oom;                  /* RAISED as NONE: the host is asked again */
    uint32_t oom_by;
    int64_t oom_ns;             /* a job has had no memory since; 0: it has */
    uint32_t n_ops;
    CsOp ops[CS_MAX_OPS];

    /* As programmed */
    uint32_t ring_in, ring_out;
    uint64_t ring_base;
    uint32_t ring_size;
    uint32_t doorbell, priority;
    uint32_t idle_mask;         /* CS_REQ_IDLE_* */

    /* Volatile */
    uint64_t insert;
    bool look;                  /* a doorbell rang: look at INSERT */
    bool fault_pending;         /* a fault of the address space was hit */
    bool fault_held;            /* stays put until the host answers CS_FAULT */
    uint64_t fault_addr;
    CsBlocked blocked;
    uint32_t wait_sbs;          /* what it is blocked on, for the host */
    uint32_t wait_status;
    uint64_t wait_addr, wait_value;
    uint64_t published;         /* EXTRACT as the host sees it */
    bool published_active;
    uint32_t retired, lsu_bytes, cycles;    /* not yet told to the counters */
} MaliStream;

/* One group slot. */
typedef struct MaliGroup {
    bool active;
    bool idle;
    bool sync_update;           /* events to raise */
    bool progress_event;
    int64_t suspend_ns;         /* when it is suspended; 0: is not to be */
    unsigned as;
    uint64_t allow[ITERS];      /* endpoints a kind may use */
    unsigned max_ep[ITERS];     /* and how many of them */
    unsigned priority;
    uint32_t shared[CS_SHARED_SBS];     /* a suspend buffer keeps these */
    MaliStream streams[MALI_MAX_CS];
} MaliGroup;

/* A job's time on an iterator: at most ITER_CHUNK_NS. */
typedef struct MaliIter {
    bool busy;
    unsigned csg, cs;
    uint64_t seq;               /* of the operation */
    uint64_t cores;
    unsigned n_cores;
    uint64_t work;              /* core cycles it may do in this chunk */
    uint64_t cycles;
    uint64_t told_units, told_prims, told_cycles;   /* of this chunk */
    int64_t start_ns, end_ns;
    int64_t late_ns;            /* since its end, if the job goes on */
} MaliIter;

struct MaliCs {
    QEMUTimer *timer;
    uint32_t n_regs;
    uint32_t n_sbs;             /* scoreboard entries */
    bool v11;                   /* the instruction set of arch 11 and later */
    uint32_t doorbells;         /* groups to be looked at when possible */
    uint64_t seq;
    int64_t ceu_free_ns;        /* the execution unit is busy until then */
    unsigned turn;              /* whose turn it is first */
    bool time_stop;             /* an instruction wants to see the time */
    unsigned cost;              /* of turns from here on, in looks: */
    int64_t cost_ns;
    int64_t pause_ns;           /* no turn before, if the host does not ask */
    uint64_t turn_cycles;
    int64_t told_ns;            /* when counters last asked for work so far */
    MaliIter iter[ITERS];
    MaliGroup groups[MALI_MAX_CSGS];
};

/* mali-csf-cs.c */
void mali_csf_cs_stream_start(MaliCsfState *s, MaliStream *st,
                              uint64_t extract);
/*
 * Execute up to @budget instructions; returns how many, and sets @st->blocked
 * if that is why there were not more.
 */
unsigned mali_csf_cs_stream_exec(MaliCsfState *s, MaliStream *st,
                                 unsigned budget);
/* Let operations go on; true if one ended or started. */
bool mali_csf_cs_stream_ops(MaliCsfState *s, MaliStream *st, bool memory);
/* When the next operation ends by time; INT64_MAX: none does. */
int64_t mali_csf_cs_stream_next(MaliStream *st);
uint32_t mali_csf_cs_stream_sbs(MaliStream *st);
/* An address a debugger would call the program counter. */
uint64_t mali_csf_cs_stream_pc(MaliStream *st);
bool mali_csf_cs_stream_empty(MaliStream *st);
/*
 * Memory for units of a tiler job: how many of @units there is memory for,
 * which are then paid for. 0: wait (for the host, a handler, or a lock).
 */
uint64_t mali_csf_cs_heap_reserve(MaliCsfState *s, MaliStream *st, CsOp *op,
                                  uint64_t units);
/* What the ledger of jobs is to have of the stream's ring. */
void mali_csf_cs_note_job(MaliCsfState *s, MaliStream *st, const char *what);
/* The host has answered TILER_OOM. */
void mali_csf_cs_heap_answer(MaliCsfState *s, MaliStream *st);
/* The stream whose handler was to free memory may do so no longer. */
void mali_csf_cs_heap_orphan(MaliCsfState *s, MaliStream *st);
/* Write to a suspend buffer, or read from it; NULL: count bytes. */
size_t mali_csf_cs_stream_transfer(MaliCs *cs, MaliStream *st, uint8_t *buf,
                                   bool load);

/*
 * mali-csf-alu.c: arithmetic from arch 11 on. False: there is no such
 * operation. @dst is what the destination holds, @imm the low half of the
 * instruction.
 */
bool mali_csf_alu_immediate32(unsigned op, uint32_t dst, uint32_t src,
                              uint32_t imm, uint64_t *result);
bool mali_csf_alu_immediate64(unsigned op, uint64_t dst, uint64_t src,
                              uint32_t imm, uint64_t *result);
bool mali_csf_alu_registers32(uint32_t imm, uint32_t a, uint32_t b,
                              uint64_t *result);
bool mali_csf_alu_registers64(uint32_t imm, uint64_t a, uint64_t b,
                              uint64_t *result);
uint32_t mali_csf_alu_logic32(uint32_t imm, uint32_t a, uint32_t b);

static inline MaliGroup *mali_csf_cs_group(MaliCsfState *s, MaliStream *st)
{
    return &s->cs->groups[st->csg];
}

MaliMmuResult mali_csf_cs_access(MaliCsfState *s, MaliStream *st, uint64_t va,
                                 void *buf, uint64_t len, MaliAccess access);
void mali_csf_cs_fatal(MaliCsfState *s, MaliStream *st, uint32_t type,
                       uint64_t info);
void mali_csf_cs_fault(MaliCsfState *s, MaliStream *st, uint32_t type,
                       uint64_t info);
void mali_csf_cs_event(MaliCsfState *s, unsigned csg, unsigned cs,
                       uint32_t bit);
void mali_csf_cs_interrupt(MaliCsfState *s, unsigned csg, unsigned cs,
                           uint32_t bits);
/* Tell the host how far the stream is. */
void mali_csf_cs_stream_publish(MaliCsfState *s, MaliStream *st);

#endif
