/*
 * Arm Mali CSF GPU: command streams: instructions, scoreboard, tiler heap
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * There are two instruction sets: that of arch 10, and that of arch 11 to 14,
 * which adds arithmetic, keeps what scoreboard entries are used for in a state
 * of the stream, and has 16 of them instead of 8. What is public of the second
 * is of arch 12 and 13: that it is also the one of 11 and 14 is assumed.
 * virtual-mali.rst has the model's choices.
 *
 * An instruction either does all it has to and the stream goes on, or does
 * nothing and is tried again when something has happened: a blocked stream has
 * no state but its program counter, which makes suspending it simple.
 *
 * What runs beside the stream is an operation (CsOp) on a scoreboard entry:
 * loads and stores (which have happened only when waited for, so that a
 * stream that forgets to wait finds out), deferred synchronisation, flushes,
 * and jobs. An operation waits for the entries in its mask as far as *earlier*
 * operations hold them.
 *
 * Work executes no shader. It takes
 *
 *   instruction         INSTR_CYCLES of the core clock
 *   load, store         LSU_CYCLES and LSU_WORD_CYCLES a word more
 *   FLUSH_CACHE2        MALI_FLUSH_CYCLES of the core clock; none if the flush
 *                       id says that a flush has happened since
 *   FINISH_TILING       FINISH_TILING_CYCLES of the core clock
 *   RUN_COMPUTE(_INDIRECT)
 *                       200 + 4 * threads / cores cycles of the stacks clock;
 *                       threads = workgroup size (r33, packed) * workgroups
 *                       (r37 * r38 * r39)
 *   RUN_IDVS            400 + 8 * vertices / cores cycles of the stacks clock;
 *                       vertices = indices (r33) * instances (r34); the draw
 *                       mode (bits 7:0 of r56, or the instruction's flags)
 *                       says how many primitives they make
 *   RUN_TILING          400 + 4 * primitives cycles of the coregroup clock;
 *                       primitives = r33 * r34
 *   RUN_FULLSCREEN      as RUN_TILING of one primitive
 *   RUN_FRAGMENT        300 + targets * pixels / cores cycles of the stacks
 *                       clock, the pixels of all tiles of 32x32 that the box
 *                       from r42 to r43 (x | y << 16, inclusive) touches, and
 *                       the render targets, less one, in bits 5:2 of the frame
 *                       buffer's pointer (r40), at most 8
 *
 * with cores those that the group may use, has asked for, and that are powered.
 *
 * Tiling uses heap memory: 64 bytes a primitive, 32 a vertex, from the chunk
 * that the tiler context (r40) leads to. When that is full come the next one
 * in its list, one of the heap context's free list, one that the host gives
 * (TILER_OOM), or, when it gives none, fragment jobs that are under way and
 * the exception handler: the stream's own, or else that of any stream of the
 * group with the same heap, and while none has one the job waits until one is
 * set. A stream without tiler context or heap uses no memory.
 *
 * The heap context, of which the host knows nothing but its size: words
 * vertex/tiler jobs started, ended, unused, fragment jobs ended; u64 head of
 * the list of free chunks. Chunks are named by address | size >> 12.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/host-utils.h"
#include "hw/misc/mali-csf-counters.h"
#include "mali-csf-cs.h"
#include "trace.h"

#define INSTR_CYCLES            8
#define LSU_CYCLES              32
#define LSU_WORD_CYCLES         2
#define FINISH_TILING_CYCLES    100
/* FLUSH_CACHE2: of its mode for the L2, that it is cleaned */
#define FLUSH_L2                1u

#define TILE_SHIFT              5
#define MAX_TARGETS             8
/* More work than this ends no sooner. */
/* Of cores, for a unit of any job */
#define MAX_COST                8
#define MAX_UNITS               (1ull << 40)

/* Heap context */
#define HEAP_VT_START           0
#define HEAP_VT_END             4
#define HEAP_FRAG_END           12
#define HEAP_FREE               16

/* Tiler context and tiler heap descriptors */
#define TILER_CTX_HEAP          24
#define TILER_CTX_TOP           40
#define TILER_CTX_BOTTOM        48
#define TILER_HEAP_BOTTOM       16
#define CHUNK_HEADER            64
#define CHUNK_VA(c)             ((c) & ~0xfffull)
#define CHUNK_SIZE(c)           (((c) & 0xfff) << 12)

#define EXCEPTION_TILER_OOM     2

enum {
    I_NOP = 0, I_MOVE = 1, I_MOVE32 = 2, I_WAIT = 3, I_RUN_COMPUTE = 4,
    I_RUN_TILING = 5, I_RUN_IDVS = 6, I_RUN_FRAGMENT = 7, I_RUN_FULLSCREEN = 8,
    I_FINISH_TILING = 9, I_FINISH_FRAGMENT = 11, I_ADD32 = 16, I_ADD64 = 17,
    I_UMIN32 = 18, I_LOAD_MULTIPLE = 20, I_STORE_MULTIPLE = 21, I_BRANCH = 22,
    I_SET_SB_ENTRY = 23, I_PROGRESS_WAIT = 24, I_SET_EXCEPTION_HANDLER = 25,
    I_CALL = 32, I_JUMP = 33, I_REQ_RESOURCE = 34, I_FLUSH_CACHE2 = 36,
    I_SYNC_ADD32 = 37, I_SYNC_SET32 = 38, I_SYNC_WAIT32 = 39,
    I_STORE_STATE = 40, I_PROT_REGION = 41, I_PROGRESS_STORE = 42,
    I_PROGRESS_LOAD = 43, I_RUN_COMPUTE_INDIRECT = 44, I_ERROR_BARRIER = 47,
    I_HEAP_SET = 48, I_HEAP_OPERATION = 49, I_TRACE_POINT = 50,
    I_SYNC_ADD64 = 51, I_SYNC_SET64 = 52, I_SYNC_WAIT64 = 53,
    /* From arch 11 on; 18 is arithmetic, of which UMIN32 is one operation */
    I_RUN_IDVS2 = 12, I_ARITH32 = 18, I_LOGIC_OP32 = 19, I_NEXT_SB_ENTRY = 26,
    I_SET_STATE = 27, I_SET_STATE_IMM32 = 28, I_SHARED_SB_INC = 30,
    I_SHARED_SB_DEC = 31, I_ARITH64 = 57,
};

/* What SET_STATE sets; from 0 on, the entries of the types below */
enum { STATE_SB_MASK = 8, STATE_WAIT_MASK = 9 };

/* Types of scoreboard entries, for NEXT_SB_ENTRY */
enum { SB_TYPE_ENDPOINT = 1, SB_TYPE_OTHER = 2, SB_TYPE_DEFERRED = 3 };

/* What became of an instruction. */
typedef enum {
    STEP_NEXT,      /* done, go on behind it */
    STEP_JUMPED,    /* done, and it has set the program counter */
    STEP_BLOCKED,   /* nothing done, try again */
    STEP_INVALID,
    STEP_NOT_HERE,  /* the other set has it */
} Step;

/* Register operands by instruction: all in range, or it is invalid. */
#define REGS(s, first, count) \
    do { \
        if ((first) + (count) > (s)->cs->n_regs) { \
            return STEP_INVALID; \
        } \
    } while (0)

MaliMmuResult mali_csf_cs_access(MaliCsfState *s, MaliStream *st, uint64_t va,
                                 void *buf, uint64_t len, MaliAccess access)
{
    MaliMmuResult res = mali_csf_mmu_access(s, mali_csf_cs_group(s, st)->as,
                                            va, buf, len, access,
                                            CS_SOURCE_ID(st->csg, st->cs));

    if (res == MALI_MMU_FAULT && !st->fault_pending) {
        st->fault_pending = true;
        st->fault_addr = va;
    }
    return res;
}

void mali_csf_cs_interrupt(MaliCsfState *s, unsigned csg, unsigned cs,
                           uint32_t bits)
{
    uint32_t va = mali_csg_out_va(csg) + CSG_OUT_CS_IRQ_REQ;
    uint32_t ack, req;

    if (!(bits & mali_csf_glb_ld32(s, mali_cs_in_va(csg, cs) +
                                   CS_IN_ACK_IRQ_MASK))) {
        return;
    }
    ack = mali_csf_glb_ld32(s, mali_csg_in_va(csg) + CSG_IN_CS_IRQ_ACK);
    req = mali_csf_glb_ld32(s, va);
    mali_csf_glb_st32(s, va, (req & ~(1u << cs)) | (~ack & 1u << cs));
    mali_csf_irq_raise(s, MALI_IRQ_JOB, 1u << csg);
}

void mali_csf_cs_event(MaliCsfState *s, unsigned csg, unsigned cs, uint32_t bit)
{
    uint32_t out = mali_cs_out_va(csg, cs);
    uint32_t req = mali_csf_glb_ld32(s, mali_cs_in_va(csg, cs) + CS_IN_REQ);
    uint32_t ack = mali_csf_glb_ld32(s, out + CS_OUT_ACK);

    if (!((req ^ ack) & bit)) {
        mali_csf_glb_st32(s, out + CS_OUT_ACK, ack ^ bit);
        mali_csf_cs_interrupt(s, csg, cs, bit);
    }
}

void mali_csf_cs_stream_publish(MaliCsfState *s, MaliStream *st)
{
    bool active = st->state == CS_STARTED && !mali_csf_cs_stream_empty(st);

    if (st->published != st->extract) {
        mali_csf_glb_st64(s, st->ring_out + RING_OUT_EXTRACT, st->extract);
        st->published = st->extract;
    }
    if (st->published_active != active) {
        mali_csf_glb_st32(s, st->ring_out + RING_OUT_ACTIVE, active);
        st->published_active = active;
    }
}

void mali_csf_cs_fatal(MaliCsfState *s, MaliStream *st, uint32_t type,
                       uint64_t info)
{
    uint32_t out = mali_cs_out_va(st->csg, st->cs);

    trace_mali_csf_stream_fault(st->csg, st->cs, type, info);
    st->state = CS_DEAD;
    st->n_ops = 0;
    st->fault_pending = false;
    mali_csf_cs_stream_publish(s, st);
    mali_csf_glb_st32(s, out + CS_OUT_FATAL, type);
    mali_csf_glb_st64(s, out + CS_OUT_FATAL_INFO, info);
    mali_csf_cs_event(s, st->csg, st->cs, CS_REQ_FATAL);
}

void mali_csf_cs_fault(MaliCsfState *s, MaliStream *st, uint32_t type,
                       uint64_t info)
{
    uint32_t out = mali_cs_out_va(st->csg, st->cs);

    trace_mali_csf_stream_fault(st->csg, st->cs, type, info);
    st->error = type;
    /*
     * The host finds the job by EXTRACT, which therefore stays where it is
     * until the host has answered, and rung.
     */
    mali_csf_cs_stream_publish(s, st);
    st->fault_held = mali_csf_glb_ld32(s, mali_cs_in_va(st->csg, st->cs) +
                                       CS_IN_ACK_IRQ_MASK) & CS_REQ_FAULT;
    mali_csf_glb_st32(s, out + CS_OUT_FAULT, type);
    mali_csf_glb_st64(s, out + CS_OUT_FAULT_INFO, info);
    mali_csf_cs_event(s, st->csg, st->cs, CS_REQ_FAULT);
}

static uint64_t get64(MaliStream *st, unsigned r)
{
    return (uint64_t)st->regs[r + 1] << 32 | st->regs[r];
}

static void set64(MaliStream *st, unsigned r, uint64_t v)
{
    st->regs[r] = v;
    st->regs[r + 1] = v >> 32;
}

static MaliMmuResult load32(MaliCsfState *s, MaliStream *st, uint64_t va,
                            uint32_t *v)
{
    MaliMmuResult res = mali_csf_cs_access(s, st, va, v, 4, MALI_ACCESS_READ);

    *v = le32_to_cpu(*v);
    return res;
}

static MaliMmuResult load64(MaliCsfState *s, MaliStream *st, uint64_t va,
                            uint64_t *v)
{
    MaliMmuResult res = mali_csf_cs_access(s, st, va, v, 8, MALI_ACCESS_READ);

    *v = le64_to_cpu(*v);
    return res;
}

static MaliMmuResult store32(MaliCsfState *s, MaliStream *st, uint64_t va,
                             uint32_t v)
{
    v = cpu_to_le32(v);
    return mali_csf_cs_access(s, st, va, &v, 4, MALI_ACCESS_WRITE);
}

static MaliMmuResult store64(MaliCsfState *s, MaliStream *st, uint64_t va,
                             uint64_t v)
{
    v = cpu_to_le64(v);
    return mali_csf_cs_access(s, st, va, &v, 8, MALI_ACCESS_WRITE);
}

static void charge(MaliCsfState *s, MaliStream *st, unsigned cycles)
{
    st->cycles += cycles;
    s->cs->turn_cycles += cycles;
}

void mali_csf_cs_note_job(MaliCsfState *s, MaliStream *st, const char *what)
{
    MaliAs *as = &s->as[mali_csf_cs_group(s, st)->as];

    mali_csf_ledger_job(s, what, as->cur_transtab, st->ring_base);
}

void mali_csf_cs_stream_start(MaliCsfState *s, MaliStream *st, uint64_t extract)
{
    unsigned csg = st->csg, cs = st->cs;

    memset(st, 0, sizeof(*st));
    st->csg = csg;
    st->cs = cs;
    st->state = CS_STARTED;
    st->extract = extract;
    st->published = extract;
}

uint32_t mali_csf_cs_stream_sbs(MaliStream *st)
{
    uint32_t sbs = 0;

    for (unsigned i = 0; i < st->n_ops; i++) {
        if (st->ops[i].sb != CS_NO_SB) {
            sbs |= 1u << st->ops[i].sb;
        }
    }
    return sbs;
}

uint64_t mali_csf_cs_stream_pc(MaliStream *st)
{
    return st->depth ? st->pc : st->ring_base + (st->extract &
                                                 (st->ring_size - 1));
}

bool mali_csf_cs_stream_empty(MaliStream *st)
{
    return !st->depth && st->extract == st->insert && !st->n_ops;
}

/* Operations */

static MaliMmuResult op_lsu(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    uint32_t mask = op->flags >> OPF_MASK_SHIFT, words[16];
    unsigned count = 32 - clz32(mask), bytes = ctpop32(mask) * 4;
    bool load = op->kind == OP_LOAD;
    MaliMmuResult res = MALI_MMU_OK;

    if (load) {
        res = mali_csf_cs_access(s, st, op->addr, words, count * 4,
                                 MALI_ACCESS_READ);
    } else {
        for (unsigned i = 0; i < count; i++) {
            words[i] = cpu_to_le32(st->regs[op->arg + i]);
        }
    }
    /* Registers that are not in the mask leave a gap in memory. */
    for (unsigned i = 0, n; i < count && res == MALI_MMU_OK; i += n) {
        n = 1;
        if (!(mask >> i & 1)) {
            continue;
        }
        if (load) {
            st->regs[op->arg + i] = le32_to_cpu(words[i]);
            continue;
        }
        while (mask >> (i + n) & 1) {
            n++;
        }
        res = mali_csf_cs_access(s, st, op->addr + 4 * i, &words[i], 4 * n,
                                 MALI_ACCESS_WRITE);
    }
    if (res == MALI_MMU_OK) {
        st->lsu_bytes += bytes;
    }
    return res;
}

static MaliMmuResult op_sync(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    bool wide = op->flags & OPF_WIDE;
    uint64_t v = 0;
    uint32_t v32 = 0;
    MaliMmuResult res;

    res = wide ? load64(s, st, op->addr, &v) : load32(s, st, op->addr, &v32);
    if (res != MALI_MMU_OK) {
        return res;
    }
    if ((op->flags & OPF_PROPAGATE) && st->error) {
        res = store32(s, st, op->addr + (wide ? 8 : 4), st->error);
        if (res != MALI_MMU_OK) {
            return res;
        }
    }
    v = op->flags & OPF_ADD ? (wide ? v : v32) + op->data : op->data;
    res = wide ? store64(s, st, op->addr, v) : store32(s, st, op->addr, v);
    if (res == MALI_MMU_OK && !(op->flags & OPF_CSG_SCOPE)) {
        mali_csf_cs_group(s, st)->sync_update = true;
    }
    if (res == MALI_MMU_OK && op->flags & OPF_JOB_END) {
        mali_csf_cs_note_job(s, st, "end");
    }
    return res;
}

static MaliMmuResult op_state(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    switch (op->arg) {
    case 0:
        return store64(s, st, op->addr, mali_csf_clk_timestamp(s));
    case 1:
        return store64(s, st, op->addr, mali_csf_clk_cycle_count(s));
    case 2:
        return store64(s, st, op->addr, 0);
    default:
        return store64(s, st, op->addr, st->error);
    }
}

static MaliMmuResult heap_count(MaliCsfState *s, MaliStream *st, unsigned off)
{
    uint32_t n;
    MaliMmuResult res = load32(s, st, st->heap + off, &n);

    return res == MALI_MMU_OK ? store32(s, st, st->heap + off, n + 1) : res;
}

/* Put a list of chunks in front of the heap's free ones. */
static MaliMmuResult heap_free(MaliCsfState *s, MaliStream *st, uint64_t first,
                               uint64_t last)
{
    uint64_t head;
    MaliMmuResult res = load64(s, st, st->heap + HEAP_FREE, &head);

    if (res == MALI_MMU_OK) {
        res = store64(s, st, CHUNK_VA(last), head);
    }
    if (res == MALI_MMU_OK) {
        res = store64(s, st, st->heap + HEAP_FREE, first);
    }
    return res;
}

static MaliMmuResult op_deferred(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    MaliMmuResult res = MALI_MMU_OK;

    switch (op->kind) {
    case OP_SYNC:
        return op_sync(s, st, op);
    case OP_STATE:
        return op_state(s, st, op);
    case OP_HEAP:
        return heap_count(s, st, op->arg);
    case OP_SHARED:
        mali_csf_cs_group(s, st)->shared[op->arg]++;
        return MALI_MMU_OK;
    case OP_FINISH_FRAG:
        if (mali_csf_mmu_locked(s, mali_csf_cs_group(s, st)->as)) {
            return MALI_MMU_LOCKED;     /* all of it, or nothing yet */
        }
        if (st->heap && op->addr && op->data) {
            res = heap_free(s, st, op->addr, op->data);
        }
        if (res == MALI_MMU_OK && st->heap && (op->flags & OPF_COUNT_FRAG)) {
            res = heap_count(s, st, HEAP_FRAG_END);
        }
        return res;
    }
    return MALI_MMU_OK;     /* OP_TRACE */
}

/* The host's id is of when it built the stream. 0: flush in any case. */
static bool flush_needed(MaliCsfState *s, CsOp *op)
{
    uint32_t since = (s->latest_flush_id - op->arg) & 0x0fffffff;

    return op->data && (!op->arg || !since || since >= 0x08000000);
}

static bool op_timed(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    if (!op->end_ns) {
        uint64_t cycles = FINISH_TILING_CYCLES;

        if (op->kind == OP_FLUSH) {
            if (!flush_needed(s, op)) {
                return true;
            }
            cycles = MALI_FLUSH_CYCLES;
            mali_csf_mmu_flush_started(s);
            mali_csf_counters_work(s, MALI_WORK_FLUSH, st->csg, st->cs, 1,
                                   cycles, 0);
        }
        op->end_ns = mali_csf_clk_now() +
                     mali_csf_clk_cycles_to_ns(s, MALI_CLK_CORE, cycles);
    }
    if (mali_csf_clk_now() < op->end_ns) {
        return false;
    }
    if (op->kind == OP_FLUSH && (op->data & FLUSH_L2)) {
        s->events->caches_flushed(s);
    }
    return true;
}

bool mali_csf_cs_stream_ops(MaliCsfState *s, MaliStream *st, bool memory)
{
    uint32_t earlier = 0;
    bool progress = false, lsu_wait = !memory, tiling = false;
    unsigned i = 0;

    while (i < st->n_ops && !st->fault_pending && st->state == CS_STARTED) {
        CsOp *op = &st->ops[i];
        bool ready = !(op->wait_mask & earlier), end = false;

        switch ((CsOpKind)op->kind) {
        case OP_LOAD:
        case OP_STORE:
            end = !lsu_wait && op_lsu(s, st, op) == MALI_MMU_OK;
            lsu_wait |= !end;
            break;
        case OP_FLUSH:
            end = ready && op_timed(s, st, op);
            break;
        case OP_FINISH_TILING:
            end = !tiling && op_timed(s, st, op);
            break;
        case OP_JOB:
            end = op->done;
            tiling |= !end && op->arg == ITER_TILER;
            break;
        default:
            end = ready && op_deferred(s, st, op) == MALI_MMU_OK;
            break;
        }
        if (end) {
            st->progress += op->flags & OPF_PROGRESS;
            memmove(op, op + 1, (--st->n_ops - i) * sizeof(*op));
            progress = true;
        } else {
            if (op->sb != CS_NO_SB) {
                earlier |= 1u << op->sb;
            }
            i++;
        }
    }
    return progress;
}

int64_t mali_csf_cs_stream_next(MaliStream *st)
{
    int64_t next = INT64_MAX;

    for (unsigned i = 0; i < st->n_ops; i++) {
        if (st->ops[i].done) {
            next = 0;           /* it ended without running: no heap */
        } else if (st->ops[i].end_ns) {
            next = MIN(next, st->ops[i].end_ns);
        }
    }
    return next;
}

/* Bit 52 of the instructions that may be deferred. */
static bool op_defers_indirect(MaliCsfState *s, uint64_t insn)
{
    if (!s->cs->v11) {
        return false;
    }
    switch (insn >> 56) {
    case I_FINISH_FRAGMENT:
    case I_FLUSH_CACHE2:
    case I_HEAP_OPERATION:
    case I_SHARED_SB_INC:
    case I_STORE_STATE:
    case I_SYNC_ADD32:
    case I_SYNC_SET32:
    case I_SYNC_ADD64:
    case I_SYNC_SET64:
    case I_TRACE_POINT:
        return extract64(insn, 52, 1);
    default:
        return false;
    }
}

static Step op_push(MaliCsfState *s, MaliStream *st, CsOp op)
{
    if (st->n_ops == CS_MAX_OPS) {
        st->blocked = CS_BLOCKED_DEFERRED;
        return STEP_BLOCKED;
    }
    op.seq = s->cs->seq++;
    st->ops[st->n_ops++] = op;
    return STEP_NEXT;
}

/* A mask without the entries that this instruction set does not have. */
static uint32_t sbs_of(MaliCsfState *s, uint32_t mask)
{
    return mask & MAKE_64BIT_MASK(0, s->cs->n_sbs);
}

/*
 * The entries which an operation waits for and the one which it holds: the
 * instruction names them or, with "defer indirect", the stream's state does.
 */
static uint32_t op_wait_mask(MaliCsfState *s, MaliStream *st, uint64_t insn)
{
    return op_defers_indirect(s, insn) ? st->wait_mask
                                       : extract64(insn, 16, 16);
}

static bool op_defer(MaliCsfState *s, MaliStream *st, uint64_t insn, CsOp *op)
{
    op->wait_mask = op_wait_mask(s, st, insn);
    if (op_defers_indirect(s, insn)) {
        op->sb = st->sb_deferred;
    } else if (op->kind == OP_SHARED) {
        op->sb = CS_NO_SB;      /* there is the shared one's number */
        return true;
    } else {
        op->sb = extract64(insn, 48, 4);
    }
    return op->sb < s->cs->n_sbs;
}

/* Do it now without a wait mask; with one, when the entries are clear. */
static Step op_issue(MaliCsfState *s, MaliStream *st, uint64_t insn, CsOp op)
{
    bool valid = op_defer(s, st, insn, &op);

    if (op.wait_mask) {
        return valid ? op_push(s, st, op) : STEP_INVALID;
    }
    op.sb = CS_NO_SB;
    switch (op_deferred(s, st, &op)) {
    case MALI_MMU_OK:
        st->progress += op.flags & OPF_PROGRESS;
        return STEP_NEXT;
    case MALI_MMU_LOCKED:
        st->blocked = CS_BLOCKED_AS;
        /* fall through */
    default:
        return STEP_BLOCKED;
    }
}

/* The tiler heap */

/*
 * A chunk that is taken has room: the second turn finds it, unless it is taken
 * away.
 */
#define HEAP_TURNS  4

uint64_t mali_csf_cs_heap_reserve(MaliCsfState *s, MaliStream *st, CsOp *op,
                                  uint64_t units)
{
    unsigned bytes = op->work == MALI_WORK_IDVS ? 32 : 64;
    uint64_t heap, d[4], next, top, bottom;

    if (!op->addr || !st->heap) {
        return units;
    }
    if (op->heap_credit) {
        return MIN(units, op->heap_credit);
    }
    if (st->oom == OOM_RAISED || st->oom == OOM_HANDLER) {
        return 0;
    }
    /* The lists are changed as a whole, or not yet. */
    if (mali_csf_mmu_locked(s, mali_csf_cs_group(s, st)->as)) {
        return 0;
    }
    if (load64(s, st, op->addr + TILER_CTX_HEAP, &heap) != MALI_MMU_OK) {
        return 0;
    }
    if (!heap) {
        return units;
    }
    for (int turn = 0; turn < HEAP_TURNS; turn++) {
        uint64_t size, base;
        uint32_t count[4];

        if (mali_csf_cs_access(s, st, heap, d, sizeof(d), MALI_ACCESS_READ) !=
            MALI_MMU_OK) {
            return 0;
        }
        size = le64_to_cpu(d[0]) >> 32;
        base = le64_to_cpu(d[1]);
        bottom = le64_to_cpu(d[2]);
        top = le64_to_cpu(d[3]);
        if (top > bottom && (top - bottom) / bytes) {
            units = MIN(units, (top - bottom) / bytes);
            if (store64(s, st, heap + TILER_HEAP_BOTTOM,
                        bottom + units * bytes) != MALI_MMU_OK) {
                return 0;
            }
            op->heap_credit = units;
            st->oom = OOM_NONE;
            st->oom_ns = 0;
            return units;
        }

        /* The next chunk of the list, or one of the free ones. */
        next = 0;
        if (base && load64(s, st, base, &next) != MALI_MMU_OK) {
            return 0;
        }
        if (!CHUNK_SIZE(next)) {
            uint64_t rest;

            if (load64(s, st, st->heap + HEAP_FREE, &next) != MALI_MMU_OK) {
                return 0;
            }
            if (CHUNK_SIZE(next) &&
                (load64(s, st, CHUNK_VA(next), &rest) != MALI_MMU_OK ||
                 store64(s, st, CHUNK_VA(next), 0) != MALI_MMU_OK ||
                 store64(s, st, st->heap + HEAP_FREE, rest) != MALI_MMU_OK)) {
                return 0;
            }
        }
        if (!CHUNK_SIZE(next)) {
            if (st->oom == OOM_RETRY) {
                /* Not even the handler has freed anything. */
                st->oom = OOM_NONE;
                st->oom_ns = 0;
                op->done = true;
                mali_csf_cs_fault(s, st, CS_OOM, st->heap);
                return 0;
            }
            if (st->oom == OOM_HANDLER_DUE) {
                return 0;
            }
            if (mali_csf_cs_access(s, st, st->heap, count, sizeof(count),
                                   MALI_ACCESS_READ) != MALI_MMU_OK) {
                return 0;
            }
            if (st->oom == OOM_FRAGMENT &&
                count[HEAP_VT_END / 4] != count[HEAP_FRAG_END / 4]) {
                return 0;
            }
            next = mali_cs_out_va(st->csg, st->cs);
            mali_csf_glb_st32(s, next + CS_OUT_HEAP_VT_START,
                              le32_to_cpu(count[HEAP_VT_START / 4]));
            mali_csf_glb_st32(s, next + CS_OUT_HEAP_VT_END,
                              le32_to_cpu(count[HEAP_VT_END / 4]));
            mali_csf_glb_st32(s, next + CS_OUT_HEAP_FRAG_END,
                              le32_to_cpu(count[HEAP_FRAG_END / 4]));
            mali_csf_glb_st64(s, next + CS_OUT_HEAP_ADDRESS, st->heap);
            st->oom = OOM_RAISED;
            if (!st->oom_ns) {
                st->oom_ns = mali_csf_clk_now();
            }
            mali_csf_cs_event(s, st->csg, st->cs, CS_REQ_TILER_OOM);
            return 0;
        }

        /* The full one joins those that this render pass is done with. */
        if (base) {
            uint64_t full = base | size >> 12, first;

            if (load64(s, st, op->addr + TILER_CTX_TOP, &first) !=
                MALI_MMU_OK ||
                store64(s, st, base, first) != MALI_MMU_OK ||
                store64(s, st, op->addr + TILER_CTX_TOP, full) != MALI_MMU_OK ||
                (!first && store64(s, st, op->addr + TILER_CTX_BOTTOM, full) !=
                 MALI_MMU_OK)) {
                return 0;
            }
        }
        d[0] = cpu_to_le64((le64_to_cpu(d[0]) & UINT32_MAX) |
                           CHUNK_SIZE(next) << 32);
        d[1] = cpu_to_le64(CHUNK_VA(next));
        d[2] = cpu_to_le64(CHUNK_VA(next) + CHUNK_HEADER);
        d[3] = cpu_to_le64(CHUNK_VA(next) + CHUNK_SIZE(next));
        if (mali_csf_cs_access(s, st, heap, d, sizeof(d), MALI_ACCESS_WRITE) !=
            MALI_MMU_OK) {
            return 0;
        }
    }
    return 0;
}

void mali_csf_cs_heap_answer(MaliCsfState *s, MaliStream *st)
{
    uint64_t chunk = mali_csf_glb_ld64(s, mali_cs_in_va(st->csg, st->cs) +
                                       CS_IN_HEAP_START);
    uint32_t count[4];

    if (mali_csf_mmu_locked(s, mali_csf_cs_group(s, st)->as)) {
        return;
    }
    if (CHUNK_SIZE(chunk)) {
        if (heap_free(s, st, chunk, chunk) == MALI_MMU_OK) {
            st->oom = OOM_NONE;
        }
        return;
    }
    if (mali_csf_cs_access(s, st, st->heap, count, sizeof(count),
                           MALI_ACCESS_READ) != MALI_MMU_OK) {
        return;
    }
    st->oom = count[HEAP_VT_END / 4] != count[HEAP_FRAG_END / 4] ?
              OOM_FRAGMENT : OOM_HANDLER_DUE;
}

void mali_csf_cs_heap_orphan(MaliCsfState *s, MaliStream *st)
{
    MaliStream *by = &mali_csf_cs_group(s, st)->streams[st->oom_by];

    if (st->oom == OOM_HANDLER &&
        (by->state != CS_STARTED || !by->in_handler)) {
        st->oom = OOM_HANDLER_DUE;
    }
}

static bool has_handler(MaliStream *st)
{
    return st->handler && st->handler_len;
}

/* The stream of the group that waits for this one's handler, or NULL. */
static MaliStream *handler_due(MaliCsfState *s, MaliStream *st)
{
    MaliGroup *g = mali_csf_cs_group(s, st);

    if (!has_handler(st) || st->in_handler) {
        return NULL;
    }
    if (st->oom == OOM_HANDLER_DUE) {
        return st;
    }
    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *other = &g->streams[c];

        if (other->state == CS_STARTED && other->oom == OOM_HANDLER_DUE &&
            other->heap == st->heap && !has_handler(other)) {
            return other;
        }
    }
    return NULL;
}

/* A handler has returned: those that waited for memory look for it again. */
static void handler_done(MaliCsfState *s, MaliStream *st)
{
    MaliGroup *g = mali_csf_cs_group(s, st);

    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *other = &g->streams[c];

        if (other->oom == OOM_HANDLER && other->oom_by == st->cs) {
            other->oom = OOM_RETRY;
        } else if (other->oom == OOM_HANDLER_DUE && other->heap == st->heap) {
            other->oom = OOM_NONE;
        }
    }
}

/* Jobs */

static uint64_t units_mul(uint64_t a, uint64_t b)
{
    return b && a > MAX_UNITS / b ? MAX_UNITS : a * b;
}

static Step run_job(MaliCsfState *s, MaliStream *st, MaliWorkKind work,
                    bool progress, uint64_t units, uint64_t prims)
{
    MaliGroup *g = mali_csf_cs_group(s, st);
    CsOp op = {
        .kind = OP_JOB, .work = work, .sb = st->sb_endpoint,
        .flags = progress ? OPF_PROGRESS : 0, .data = prims,
    };

    /* Until the error has been dealt with there is nothing to run. */
    if (st->error) {
        return STEP_NEXT;
    }
    switch (work) {
    case MALI_WORK_COMPUTE:
        op.arg = ITER_COMPUTE;
        op.setup_left = 200;
        op.cost = 4;
        break;
    case MALI_WORK_FRAGMENT:
        op.arg = ITER_FRAGMENT;
        op.setup_left = 300;
        op.cost = MIN(extract32(st->regs[40], 2, 4) + 1, MAX_TARGETS);
        break;
    case MALI_WORK_IDVS:
        op.arg = ITER_TILER;
        op.setup_left = 400;
        op.cost = 8;
        op.addr = get64(st, 40);
        break;
    default:
        op.arg = ITER_TILER;
        op.setup_left = 400;
        op.cost = 4;
        op.addr = get64(st, 40);
        break;
    }
    if (!g->max_ep[op.arg] || (work == MALI_WORK_IDVS &&
                               !g->max_ep[ITER_COMPUTE] &&
                               !g->max_ep[ITER_FRAGMENT])) {
        mali_csf_cs_fatal(s, st, CS_ENDPOINT_FAULT, mali_csf_cs_stream_pc(st));
        return STEP_BLOCKED;
    }
    op.work_left = units * op.cost;
    return op_push(s, st, op);
}

/*
 * Primitives that @n indices make, by the draw mode in the flags of a RUN_IDVS.
 * Without a mode each index is one. Restarts are in the indices, which the
 * model does not read.
 */
static uint64_t primitives(uint32_t flags, uint64_t n)
{
    switch (extract32(flags, 0, 8)) {
    case 2:                         /* lines */
        return n / 2;
    case 4:                         /* a strip of lines */
        return n ? n - 1 : 0;
    case 6:                         /* a loop of lines */
        return n > 1 ? n : 0;
    case 8:                         /* triangles */
        return n / 3;
    case 10:                        /* a strip of triangles */
    case 12:                        /* a fan of triangles */
        return n > 2 ? n - 2 : 0;
    case 13:                        /* a polygon */
        return n > 2;
    case 14:                        /* quads */
        return n / 4;
    default:                        /* points */
        return n;
    }
}

static Step run_idvs(MaliCsfState *s, MaliStream *st, uint64_t insn)
{
    uint32_t indices = st->regs[33], instances = st->regs[34];
    uint64_t prims = primitives(st->regs[56] | (uint32_t)insn, indices);

    return run_job(s, st, MALI_WORK_IDVS, extract64(insn, 32, 1),
                   units_mul(indices, instances), units_mul(prims, instances));
}

static uint64_t compute_threads(MaliStream *st)
{
    uint32_t wg = st->regs[33];
    uint64_t n = extract32(wg, 0, 10) + 1;

    n = units_mul(n, extract32(wg, 10, 10) + 1);
    n = units_mul(n, extract32(wg, 20, 10) + 1);
    n = units_mul(n, st->regs[37]);
    n = units_mul(n, st->regs[38]);
    return units_mul(n, st->regs[39]);
}

static uint64_t fragment_pixels(MaliStream *st)
{
    uint32_t lo = st->regs[42], hi = st->regs[43];
    int x = ((hi & 0xffff) >> TILE_SHIFT) - ((lo & 0xffff) >> TILE_SHIFT) + 1;
    int y = (hi >> 16 >> TILE_SHIFT) - (lo >> 16 >> TILE_SHIFT) + 1;

    if (x <= 0 || y <= 0) {
        return 0;
    }
    return (uint64_t)x * y << (2 * TILE_SHIFT);
}

/* Instructions */

static bool condition(unsigned cond, int32_t v)
{
    switch (cond) {
    case 0:
        return v <= 0;
    case 1:
        return v > 0;
    case 2:
        return v == 0;
    case 3:
        return v != 0;
    case 4:
        return v < 0;
    case 5:
        return v >= 0;
    default:
        return true;
    }
}

static Step do_branch(MaliStream *st, int16_t offset)
{
    int64_t by = 8 * ((int64_t)offset + 1);

    if (!st->depth) {
        uint64_t to = st->extract + by;

        if (st->insert - to > st->ring_size) {
            return STEP_INVALID;
        }
        st->extract = to;
    } else {
        if (st->pc + by > st->end) {
            return STEP_INVALID;
        }
        st->pc += by;
    }
    return STEP_JUMPED;
}

static Step do_call(MaliCsfState *s, MaliStream *st, uint64_t va, uint32_t len,
                    bool call)
{
    if ((va | len) & 7) {
        return STEP_INVALID;
    }
    if (call) {
        if (st->depth - st->in_handler >= CS_CALL_DEPTH) {
            mali_csf_cs_fatal(s, st, CS_CALL_STACK_OVERFLOW,
                              mali_csf_cs_stream_pc(st));
            return STEP_BLOCKED;
        }
        if (st->depth) {
            st->stack[st->depth] = (CsFrame) { st->pc + 8, st->end };
        } else {
            st->extract += 8;
            mali_csf_cs_note_job(s, st, "begin");
        }
        st->depth++;
    } else if (!st->depth) {
        return STEP_INVALID;
    }
    st->pc = va;
    st->end = va + len;
    return STEP_JUMPED;
}

/* At the end of a frame the one below goes on. */
static void do_returns(MaliCsfState *s, MaliStream *st)
{
    while (st->depth && st->pc == st->end) {
        st->depth--;
        if (st->depth) {
            st->pc = st->stack[st->depth].pc;
            st->end = st->stack[st->depth].end;
        }
        if (st->in_handler && st->depth < st->in_handler) {
            st->in_handler = 0;
            handler_done(s, st);
        }
    }
}

/* It interrupts the stream between two instructions. */
static void enter_handler(MaliStream *st, MaliStream *due)
{
    if (st->depth) {
        st->stack[st->depth] = (CsFrame) { st->pc, st->end };
    }
    st->depth++;
    st->in_handler = st->depth;
    st->pc = st->handler;
    st->end = st->handler + st->handler_len;
    due->oom = OOM_HANDLER;
    due->oom_by = st->cs;
}

static Step do_sync_wait(MaliCsfState *s, MaliStream *st, uint64_t insn,
                         bool wide)
{
    uint64_t va = get64(st, extract64(insn, 40, 8));
    unsigned data = extract64(insn, 32, 8), cond = extract64(insn, 28, 4);
    uint64_t ref = wide ? get64(st, data) : st->regs[data], v = 0;
    uint32_t v32 = 0, status;
    MaliMmuResult res;
    bool met;

    res = wide ? load64(s, st, va, &v) : load32(s, st, va, &v32);
    if (res == MALI_MMU_OK) {
        res = load32(s, st, va + (wide ? 8 : 4), &status);
    }
    if (res != MALI_MMU_OK) {
        st->blocked = res == MALI_MMU_LOCKED ? CS_BLOCKED_AS : CS_UNBLOCKED;
        return STEP_BLOCKED;
    }
    v = wide ? v : v32;
    switch (cond) {
    case 0:
        met = v <= ref;
        break;
    case 1:
        met = v > ref;
        break;
    case 2:
        met = v == ref;
        break;
    case 3:
        met = v != ref;
        break;
    case 4:
        met = v < ref;
        break;
    case 5:
        met = v >= ref;
        break;
    default:
        return STEP_INVALID;
    }
    if (!met) {
        st->blocked = CS_BLOCKED_SYNC;
        st->wait_addr = va;
        st->wait_value = ref;
        st->wait_status = cond << 24 | (wide ? 1u << 30 : 0) | 1u << 31;
        return STEP_BLOCKED;
    }
    if (status && !(insn & 1)) {
        mali_csf_cs_fault(s, st, CS_INHERIT_FAULT, va);
    }
    return STEP_NEXT;
}

/* Loads and stores, and all that memory has to say before a wait is judged. */
static bool sbs_clear(MaliCsfState *s, MaliStream *st, uint32_t mask)
{
    if (mali_csf_cs_stream_sbs(st) & mask) {
        mali_csf_cs_stream_ops(s, st, true);
    }
    return !(mali_csf_cs_stream_sbs(st) & mask);
}

static Step do_wait(MaliCsfState *s, MaliStream *st, uint32_t mask,
                    bool progress)
{
    if (!sbs_clear(s, st, mask)) {
        st->blocked = CS_BLOCKED_SB;
        st->wait_sbs = mask;
        return STEP_BLOCKED;
    }
    st->progress += progress;
    return STEP_NEXT;
}

/* The instructions of arch 11 and later. */

/* The entry that a type of operations holds, or NULL: there is no such type. */
static uint32_t *sb_entry(MaliStream *st, unsigned type)
{
    switch (type) {
    case SB_TYPE_ENDPOINT:
        return &st->sb_endpoint;
    case SB_TYPE_OTHER:
        return &st->sb_other;
    case SB_TYPE_DEFERRED:
        return &st->sb_deferred;
    default:
        return NULL;
    }
}

static bool set_state(MaliCsfState *s, MaliStream *st, unsigned what,
                      uint32_t value)
{
    uint32_t *entry;

    switch (what) {
    case STATE_SB_MASK:
        st->sb_mask = sbs_of(s, value);
        return true;
    case STATE_WAIT_MASK:
        st->wait_mask = sbs_of(s, value);
        return true;
    default:
        entry = sb_entry(st, what + 1);
        if (!entry || value >= s->cs->n_sbs) {
            return false;
        }
        *entry = value;
        return true;
    }
}

/*
 * From the entry that a type of operations has, go to the next one of the
 * stream's mask, round and round; it has to be free.
 */
static Step next_sb_entry(MaliCsfState *s, MaliStream *st, unsigned dst,
                          unsigned type, bool as_mask)
{
    uint32_t *entry = sb_entry(st, type), later, sb;

    if (!entry || !st->sb_mask) {
        return STEP_INVALID;
    }
    later = st->sb_mask & ~MAKE_64BIT_MASK(0, *entry + 1);
    sb = ctz32(later ?: st->sb_mask);
    if (do_wait(s, st, 1u << sb, false) == STEP_BLOCKED) {
        return STEP_BLOCKED;
    }
    *entry = sb;
    st->regs[dst] = as_mask ? 1u << sb : sb;
    return STEP_NEXT;
}

/*
 * Shared entries are counters of the group, which SHARED_SB_INC counts up. What
 * has not been counted up yet, some stream will.
 */
static Step shared_sb_dec(MaliCsfState *s, MaliStream *st, unsigned entry,
                          bool progress)
{
    uint32_t *shared = &mali_csf_cs_group(s, st)->shared[entry];

    if (!*shared) {
        st->blocked = CS_BLOCKED_DEFERRED;
        return STEP_BLOCKED;
    }
    (*shared)--;
    st->progress += progress;
    return STEP_NEXT;
}

/* STEP_NOT_HERE: encoded as on arch 10, and that is done with it, too. */
static Step execute_v11(MaliCsfState *s, MaliStream *st, uint64_t insn)
{
    unsigned dst = extract64(insn, 48, 8), src = extract64(insn, 40, 8);
    unsigned low = extract64(insn, 32, 8), op = insn >> 56;
    bool wide = op == I_ADD64 || op == I_ARITH64;
    uint32_t imm = insn;
    uint64_t result;
    bool valid;

    switch (op) {
    case I_ADD32:
    case I_ADD64:
        REGS(s, dst, wide ? 2 : 1);
        REGS(s, src, wide ? 2 : 1);
        valid = wide ?
                mali_csf_alu_immediate64(low, get64(st, dst), get64(st, src),
                                         imm, &result) :
                mali_csf_alu_immediate32(low, st->regs[dst], st->regs[src],
                                         imm, &result);
        break;
    case I_ARITH32:
    case I_ARITH64:
        REGS(s, dst, wide ? 2 : 1);
        REGS(s, src, wide ? 2 : 1);
        REGS(s, low, wide ? 2 : 1);
        valid = wide ?
                mali_csf_alu_registers64(imm, get64(st, src), get64(st, low),
                                         &result) :
                mali_csf_alu_registers32(imm, st->regs[src], st->regs[low],
                                         &result);
        break;
    case I_LOGIC_OP32:
        REGS(s, dst, 1);
        REGS(s, src, 1);
        REGS(s, low, 1);
        result = mali_csf_alu_logic32(imm, st->regs[src], st->regs[low]);
        valid = true;
        break;

    case I_WAIT:
        return do_wait(s, st, extract64(insn, 33, 1) ? st->wait_mask :
                                                       extract64(insn, 16, 16),
                       extract64(insn, 32, 1));
    case I_NEXT_SB_ENTRY:
        REGS(s, dst, 1);
        return next_sb_entry(s, st, dst, extract64(insn, 32, 4),
                             extract64(insn, 36, 1));
    case I_SET_STATE:
        REGS(s, src, 1);
        return set_state(s, st, low, st->regs[src]) ? STEP_NEXT : STEP_INVALID;
    case I_SET_STATE_IMM32:
        return set_state(s, st, low, imm) ? STEP_NEXT : STEP_INVALID;
    case I_SHARED_SB_INC:
        return op_issue(s, st, insn, (CsOp) {
            .kind = OP_SHARED, .arg = extract64(insn, 48, 4),
            .flags = extract64(insn, 32, 1) ? OPF_PROGRESS : 0,
        });
    case I_SHARED_SB_DEC:
        return shared_sb_dec(s, st, extract64(insn, 48, 4),
                             extract64(insn, 32, 1));

    case I_RUN_IDVS2:
        return run_idvs(s, st, insn);

    case I_RUN_IDVS:
    case I_SET_SB_ENTRY:
        return STEP_INVALID;
    default:
        return STEP_NOT_HERE;
    }

    if (!valid) {
        return STEP_INVALID;
    }
    if (wide) {
        set64(st, dst, result);
    } else {
        st->regs[dst] = result;
    }
    return STEP_NEXT;
}

static Step execute(MaliCsfState *s, MaliStream *st, uint64_t insn)
{
    MaliGroup *g = mali_csf_cs_group(s, st);
    unsigned dst = extract64(insn, 48, 8), src = extract64(insn, 40, 8);
    unsigned low = extract64(insn, 32, 8), op = insn >> 56;
    uint32_t imm = insn, mask = extract64(insn, 16, 16);
    bool progress = extract64(insn, 32, 1);
    CsOp o;

    if (s->cs->v11) {
        Step step = execute_v11(s, st, insn);

        if (step != STEP_NOT_HERE) {
            return step;
        }
    }
    switch (op) {
    case I_NOP:
        return STEP_NEXT;
    case I_MOVE:
        REGS(s, dst, 2);
        set64(st, dst, extract64(insn, 0, 48));
        return STEP_NEXT;
    case I_MOVE32:
        REGS(s, dst, 1);
        st->regs[dst] = imm;
        return STEP_NEXT;
    case I_ADD32:
        REGS(s, dst, 1);
        REGS(s, src, 1);
        st->regs[dst] = st->regs[src] + imm;
        return STEP_NEXT;
    case I_ADD64:
        REGS(s, dst, 2);
        REGS(s, src, 2);
        set64(st, dst, get64(st, src) + (int64_t)(int32_t)imm);
        return STEP_NEXT;
    case I_UMIN32:
        REGS(s, dst, 1);
        REGS(s, src, 1);
        REGS(s, low, 1);
        st->regs[dst] = MIN(st->regs[src], st->regs[low]);
        return STEP_NEXT;

    case I_WAIT:
        return do_wait(s, st, mask & 0xff, progress);
    case I_SET_SB_ENTRY:
        if (extract64(insn, 0, 4) >= s->cs->n_sbs ||
            extract64(insn, 4, 4) >= s->cs->n_sbs) {
            return STEP_INVALID;
        }
        st->sb_endpoint = extract64(insn, 0, 4);
        st->sb_other = extract64(insn, 4, 4);
        return STEP_NEXT;

    case I_LOAD_MULTIPLE:
    case I_STORE_MULTIPLE:
        REGS(s, src, 2);
        REGS(s, dst, 32 - clz32(mask));
        if (!mask) {
            return STEP_NEXT;
        }
        charge(s, st, LSU_CYCLES + LSU_WORD_CYCLES * ctpop32(mask));
        return op_push(s, st, (CsOp) {
            .kind = op == I_LOAD_MULTIPLE ? OP_LOAD : OP_STORE,
            .sb = st->sb_other, .arg = dst, .flags = mask << OPF_MASK_SHIFT,
            .addr = get64(st, src) + (int64_t)(int16_t)imm,
        });

    case I_BRANCH:
        REGS(s, src, 1);
        if (extract64(insn, 28, 3) > 6) {
            return STEP_INVALID;
        }
        if (!condition(extract64(insn, 28, 3), st->regs[src])) {
            return STEP_NEXT;
        }
        return do_branch(st, imm);
    case I_CALL:
    case I_JUMP:
        REGS(s, src, 2);
        REGS(s, low, 1);
        return do_call(s, st, get64(st, src), st->regs[low], op == I_CALL);
    case I_SET_EXCEPTION_HANDLER:
        REGS(s, src, 2);
        REGS(s, low, 1);
        if (extract64(insn, 0, 8) != EXCEPTION_TILER_OOM ||
            ((st->regs[low] | st->regs[src]) & 7)) {
            return STEP_INVALID;
        }
        st->handler = get64(st, src);
        st->handler_len = st->regs[low];
        return STEP_NEXT;

    case I_RUN_COMPUTE:
    case I_RUN_COMPUTE_INDIRECT:
        return run_job(s, st, MALI_WORK_COMPUTE, progress, compute_threads(st),
                       0);
    case I_RUN_TILING:
        o.data = units_mul(st->regs[33], st->regs[34]);
        return run_job(s, st, MALI_WORK_TILER, progress, o.data, o.data);
    case I_RUN_IDVS:
        return run_idvs(s, st, insn);
    case I_RUN_FRAGMENT:
        return run_job(s, st, MALI_WORK_FRAGMENT, progress,
                       fragment_pixels(st), 0);
    case I_RUN_FULLSCREEN:
        REGS(s, src, 2);
        return run_job(s, st, MALI_WORK_TILER, progress, 1, 1);
    case I_FINISH_TILING:
        return op_push(s, st, (CsOp) {
            .kind = OP_FINISH_TILING, .sb = st->sb_endpoint,
            .flags = progress ? OPF_PROGRESS : 0,
        });
    case I_FINISH_FRAGMENT:
        REGS(s, src, 2);
        REGS(s, low, 2);
        return op_issue(s, st, insn, (CsOp) {
            .kind = OP_FINISH_FRAG, .addr = get64(st, src),
            .data = get64(st, low), .flags = insn & 1 ? OPF_COUNT_FRAG : 0,
        });

    case I_REQ_RESOURCE:
        if (((insn & 1) && !g->max_ep[ITER_COMPUTE]) ||
            ((insn & 2) && !g->max_ep[ITER_FRAGMENT]) ||
            ((insn & 0xc) && !g->max_ep[ITER_TILER])) {
            st->resources = insn & 0xf;
            st->blocked = CS_BLOCKED_RESOURCE;
            return STEP_BLOCKED;
        }
        st->resources = insn & 0xf;
        return STEP_NEXT;

    case I_FLUSH_CACHE2:
        REGS(s, src, 1);
        o = (CsOp) {
            .kind = OP_FLUSH, .arg = st->regs[src] & 0x0fffffff,
            .data = insn & 0x2ff,
        };
        return op_defer(s, st, insn, &o) ? op_push(s, st, o) : STEP_INVALID;

    case I_SYNC_ADD32:
    case I_SYNC_SET32:
    case I_SYNC_ADD64:
    case I_SYNC_SET64:
        o = (CsOp) { .kind = OP_SYNC };
        if (op == I_SYNC_ADD64 || op == I_SYNC_SET64) {
            o.flags |= OPF_WIDE;
        }
        if (op == I_SYNC_ADD32 || op == I_SYNC_ADD64) {
            o.flags |= OPF_ADD;
        }
        if (!st->depth) {
            o.flags |= OPF_JOB_END;
        }
        if (insn & 1) {
            o.flags |= OPF_PROPAGATE;
        }
        if (extract64(insn, 1, 2) == 2) {
            o.flags |= OPF_CSG_SCOPE;
        }
        REGS(s, src, 2);
        REGS(s, low, o.flags & OPF_WIDE ? 2 : 1);
        o.addr = get64(st, src);
        o.data = o.flags & OPF_WIDE ? get64(st, low) : st->regs[low];
        return op_issue(s, st, insn, o);
    case I_SYNC_WAIT32:
    case I_SYNC_WAIT64:
        REGS(s, src, 2);
        REGS(s, low, op == I_SYNC_WAIT64 ? 2 : 1);
        return do_sync_wait(s, st, insn, op == I_SYNC_WAIT64);

    case I_STORE_STATE:
        REGS(s, src, 2);
        if (!op_wait_mask(s, st, insn) && s->cs->turn_cycles) {
            /* What came before it in this turn takes its time first. */
            s->cs->time_stop = true;
            return STEP_BLOCKED;
        }
        return op_issue(s, st, insn, (CsOp) {
            .kind = OP_STATE, .arg = extract64(insn, 32, 2),
            .addr = get64(st, src) + (int64_t)(int16_t)imm,
        });

    case I_PROT_REGION:
        if (s->gpu_status_protm) {
            return STEP_NEXT;
        }
        st->blocked = CS_BLOCKED_PROTM;
        mali_csf_cs_event(s, st->csg, st->cs, CS_REQ_PROTM_PENDING);
        return STEP_BLOCKED;

    case I_PROGRESS_WAIT:
        REGS(s, src, 2);
        if (extract64(insn, 0, 5) >= s->streams) {
            return STEP_INVALID;
        }
        if (g->streams[extract64(insn, 0, 5)].progress < get64(st, src)) {
            st->blocked = CS_BLOCKED_PROGRESS;
            return STEP_BLOCKED;
        }
        return STEP_NEXT;
    case I_PROGRESS_STORE:
        REGS(s, src, 2);
        st->progress = get64(st, src);
        return STEP_NEXT;
    case I_PROGRESS_LOAD:
        REGS(s, dst, 2);
        set64(st, dst, st->progress);
        return STEP_NEXT;

    case I_ERROR_BARRIER:
        st->error = 0;
        return STEP_NEXT;

    case I_HEAP_SET:
        REGS(s, src, 2);
        st->heap = get64(st, src);
        return STEP_NEXT;
    case I_HEAP_OPERATION:
        if (low == 2 || low > 3 || !st->heap) {
            return STEP_INVALID;
        }
        return op_issue(s, st, insn, (CsOp) {
            .kind = OP_HEAP, .arg = low == 0 ? HEAP_VT_START :
                                    low == 1 ? HEAP_VT_END : HEAP_FRAG_END,
        });

    case I_TRACE_POINT:
        REGS(s, low, src);
        return op_issue(s, st, insn, (CsOp) { .kind = OP_TRACE });
    }
    return STEP_INVALID;
}

unsigned mali_csf_cs_stream_exec(MaliCsfState *s, MaliStream *st,
                                 unsigned budget)
{
    unsigned n = 0;

    st->blocked = CS_UNBLOCKED;
    while (n < budget && st->state == CS_STARTED && !st->fault_pending &&
           !st->fault_held) {
        MaliStream *due = handler_due(s, st);
        MaliMmuResult res;
        uint64_t insn;

        if (due) {
            enter_handler(st, due);
        }
        if (!st->depth && st->extract == st->insert) {
            break;
        }
        res = load64(s, st, mali_csf_cs_stream_pc(st), &insn);
        if (res != MALI_MMU_OK) {
            st->blocked = res == MALI_MMU_LOCKED ? CS_BLOCKED_AS : CS_UNBLOCKED;
            break;
        }
        if (mali_csf_faults_stream_ends(s)) {
            mali_csf_cs_fatal(s, st, CS_UNRECOVERABLE,
                              mali_csf_cs_stream_pc(st));
            break;
        }
        switch (execute(s, st, insn)) {
        case STEP_BLOCKED:
            return n;
        case STEP_INVALID:
        case STEP_NOT_HERE:
            mali_csf_cs_fatal(s, st, CS_INSTR_INVALID,
                              mali_csf_cs_stream_pc(st));
            return n;
        case STEP_NEXT:
            if (st->depth) {
                st->pc += 8;
            } else {
                st->extract += 8;
            }
            break;
        case STEP_JUMPED:
            break;
        }
        do_returns(s, st);
        charge(s, st, INSTR_CYCLES);
        st->retired++;
        n++;
    }
    return n;
}

/* Suspend buffers */

typedef struct Transfer {
    uint8_t *p;
    size_t n;
    bool load;
} Transfer;

static void x64(Transfer *t, uint64_t *v)
{
    if (t->p && t->load) {
        *v = ldq_le_p(t->p + t->n);
    } else if (t->p) {
        stq_le_p(t->p + t->n, *v);
    }
    t->n += 8;
}

static void x32(Transfer *t, uint32_t *v)
{
    if (t->p && t->load) {
        *v = ldl_le_p(t->p + t->n);
    } else if (t->p) {
        stl_le_p(t->p + t->n, *v);
    }
    t->n += 4;
}

/*
 * What there is to know of a job without memory. The time for which it has had
 * none does not go on meanwhile; one more than that is kept, and 0 if it has
 * some.
 */
static void transfer_oom(Transfer *t, MaliStream *st)
{
    uint64_t now = mali_csf_clk_now(), waited = 0;
    uint32_t oom = OOM_NONE;

    if (t->p && !t->load) {
        oom = st->oom == OOM_RAISED ? OOM_NONE : st->oom;
        waited = st->oom_ns ? now - st->oom_ns + 1 : 0;
    }
    x32(t, &oom);
    x32(t, &st->oom_by);
    x64(t, &waited);
    if (t->p && t->load) {
        st->oom = oom;
        st->oom_ns = waited ? MAX(now - MIN(waited - 1, now), 1) : 0;
    }
}

/* A suspend buffer is the guest's: nothing in it may lead out of an array. */
static bool stream_sane(MaliCs *cs, MaliStream *st)
{
    uint32_t n_regs = cs->n_regs;

    if (st->state > CS_DEAD || st->oom > OOM_FRAGMENT ||
        st->oom_by >= MALI_MAX_CS || st->depth > ARRAY_SIZE(st->stack) ||
        st->in_handler > st->depth ||
        st->depth - st->in_handler > CS_CALL_DEPTH ||
        st->in_handler > CS_CALL_DEPTH + 1 ||
        st->sb_endpoint >= cs->n_sbs || st->sb_other >= cs->n_sbs ||
        st->sb_deferred >= cs->n_sbs || st->sb_mask >> cs->n_sbs ||
        st->wait_mask >> cs->n_sbs || st->n_ops > CS_MAX_OPS) {
        return false;
    }
    for (unsigned i = 0; i < st->n_ops; i++) {
        CsOp *op = &st->ops[i];

        if (op->kind > OP_JOB ||
            (op->sb >= cs->n_sbs && op->sb != CS_NO_SB)) {
            return false;
        }
        if (op->kind == OP_SHARED && op->arg >= CS_SHARED_SBS) {
            return false;
        }
        if (op->kind == OP_JOB &&
            (op->arg >= ITERS || !op->cost || op->cost > MAX_COST ||
             op->work_left > MAX_UNITS * op->cost || op->data > MAX_UNITS ||
             op->work > MALI_WORK_FRAGMENT)) {
            return false;
        }
        if ((op->kind == OP_LOAD || op->kind == OP_STORE) &&
            (op->arg > n_regs || !(op->flags >> OPF_MASK_SHIFT) ||
             op->arg + 32 - clz32(op->flags >> OPF_MASK_SHIFT) > n_regs)) {
            return false;
        }
    }
    return true;
}

size_t mali_csf_cs_stream_transfer(MaliCs *cs, MaliStream *st, uint8_t *buf,
                                   bool load)
{
    Transfer t = { .p = buf, .load = load };

    x32(&t, &st->state);
    for (int i = 0; i < CS_MAX_REGS; i++) {
        x32(&t, &st->regs[i]);
    }
    x64(&t, &st->extract);
    x64(&t, &st->pc);
    x64(&t, &st->end);
    x32(&t, &st->depth);
    x32(&t, &st->in_handler);
    for (int i = 0; i < ARRAY_SIZE(st->stack); i++) {
        x64(&t, &st->stack[i].pc);
        x64(&t, &st->stack[i].end);
    }
    x32(&t, &st->sb_endpoint);
    x32(&t, &st->sb_other);
    x32(&t, &st->sb_deferred);
    x32(&t, &st->sb_mask);
    x32(&t, &st->wait_mask);
    x32(&t, &st->error);
    x32(&t, &st->resources);
    x64(&t, &st->heap);
    x64(&t, &st->handler);
    x64(&t, &st->handler_len);
    x64(&t, &st->progress);
    transfer_oom(&t, st);
    x32(&t, &st->n_ops);
    for (int i = 0; i < CS_MAX_OPS; i++) {
        CsOp *op = &st->ops[i];

        x32(&t, &op->kind);
        x32(&t, &op->flags);
        x32(&t, &op->sb);
        x32(&t, &op->wait_mask);
        x32(&t, &op->arg);
        x32(&t, &op->work);
        x64(&t, &op->addr);
        x64(&t, &op->data);
        x64(&t, &op->setup_left);
        x64(&t, &op->work_left);
        x64(&t, &op->cost);
        x64(&t, &op->heap_credit);
        x64(&t, &op->ran_cycles);
    }
    return buf && load && !stream_sane(cs, st) ? 0 : t.n;
}
