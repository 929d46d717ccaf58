/*
 * Arm Mali CSF GPU: groups: interfaces, requests, events, suspend, iterators
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One timer drives all. In a turn operations end, streams execute up to
 * TURN_BUDGET instructions together, SLICE at a time, and iterators take up
 * jobs. The next turn is when these instructions have taken their time, or
 * when something ends. A turn that used its budget up is followed by a pause
 * (TURN_NS), so that a stream in an endless loop leaves the machine alive. So
 * that one of empty jobs, or one that asks for the time, does, turns have a
 * budget as well: when they have cost COST_BUDGET within TURN_NS, the next one
 * is at its end. One stream starts a job each 6 us then, as a GPU may well.
 *
 * Iterators run a job in chunks of at most ITER_CHUNK_NS, and look after each
 * whether a job of a group or queue of higher priority has come. The counters
 * are told chunk by chunk, and at a sample what there is of one. The end of a
 * chunk may come late on a busy host; the job has gone on since, up to
 * LATE_NS, in its next one.
 *
 * Nothing here is done while firmware does not run, or while its address
 * space is locked; both ends come back to csg_run().
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "mali-csf-cs.h"
#include "trace.h"

#define TURN_BUDGET     256
#define SLICE           16
#define TURN_NS         (100 * SCALE_US)
#define ITER_CHUNK_NS   (100 * SCALE_US)
#define LATE_NS         (100 * SCALE_MS)
/* A turn costs a look at each stream, as often as it does, and so many more. */
#define COST_TURN       16
#define COST_BUDGET     256

/* Group control block, words */
enum {
    CSG_CTRL_FEATURES, CSG_CTRL_INPUT_VA, CSG_CTRL_OUTPUT_VA,
    CSG_CTRL_SUSPEND_SIZE, CSG_CTRL_PROTM_SUSPEND_SIZE, CSG_CTRL_STREAM_NUM,
    CSG_CTRL_STREAM_STRIDE, CSG_CTRL_WORDS
};

#define CSG_STATE_IS_IDLE       1u

/* Stream control block: registers - 1, scoreboards, what it can run */
#define CS_FEATURES(regs, sbs)  (((regs) - 1) | (sbs) << 8 | 7u << 16)

#define CS_WAIT_SB_SRC_WAIT     (8u << 16)
#define CS_WAIT_PROGRESS        (1u << 28)
#define CS_WAIT_PROTM           (1u << 29)

/* Requests of a stream that are answered by making ACK equal REQ */
#define CS_PLAIN_REQS           (CS_REQ_STATE | 1u << 4 | 0xfu << 8)
#define CS_IDLE_REQS            (0xfu << 8)

/*
 * If latencies are drawn, a group takes from 16 us to 4 ms to be suspended, as
 * its jobs have to come to where they can stop. It goes on meanwhile.
 */
#define SUSPEND_NS              (16 * SCALE_US)
#define SUSPEND_DOUBLINGS       8

enum { STATE_TERMINATE, STATE_START, STATE_SUSPEND, STATE_RESUME };

#define VERSION_EP_REQ2         (4u << 24)

#define SUSPEND_MAGIC           0x4753434d
#define SUSPEND_HEADER          16
/* Shared scoreboards, behind the streams */
#define SUSPEND_SHARED          (4 * CS_SHARED_SBS)
#define PROTM_SUSPEND_SIZE      4096

static void csg_schedule(MaliCsfState *s, int64_t when)
{
    QEMUTimer *t = s->cs->timer;
    int64_t now = mali_csf_clk_now();

    /*
     * What is late is done soon, but not now: timers that are due are run until
     * there are none.
     */
    when = MAX(when, s->cs->pause_ns);
    if (when < now) {
        when = now + 1;
    }
    if (!timer_pending(t) || when < timer_expire_time_ns(t)) {
        timer_mod(t, when);
    }
}

/* Events */

static void csg_interrupt(MaliCsfState *s, unsigned csg, uint32_t bits)
{
    if (bits & mali_csf_glb_ld32(s, mali_csg_in_va(csg) +
                                 CSG_IN_ACK_IRQ_MASK)) {
        mali_csf_irq_raise(s, MALI_IRQ_JOB, 1u << csg);
    }
}

static void csg_event(MaliCsfState *s, unsigned csg, uint32_t bit)
{
    uint32_t out = mali_csg_out_va(csg);
    uint32_t req = mali_csf_glb_ld32(s, mali_csg_in_va(csg) + CSG_IN_REQ);
    uint32_t ack = mali_csf_glb_ld32(s, out + CSG_OUT_ACK);

    /* Raised and not yet answered: the host is to look anyway. */
    if (!((req ^ ack) & bit)) {
        mali_csf_glb_st32(s, out + CSG_OUT_ACK, ack ^ bit);
        csg_interrupt(s, csg, bit);
    }
}

/*
 * A stream that hit a fault ends when the fault has been dealt with, that is,
 * when its address space takes a new configuration; the host may have
 * terminated the group by then.
 */
static void report_faults(MaliCsfState *s)
{
    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];

        for (unsigned c = 0; g->active && c < s->streams; c++) {
            MaliStream *st = &g->streams[c];

            if (st->fault_pending && !s->as[g->as].faulted) {
                mali_csf_cs_fatal(s, st, CS_BUS_FAULT, st->fault_addr);
            }
        }
    }
}

/* Iterators */

static int iter_clk(const CsOp *op)
{
    return op->work == MALI_WORK_TILER ? MALI_CLK_COREGROUP : MALI_CLK_STACKS;
}

static CsOp *iter_op(MaliCsfState *s, MaliIter *it)
{
    MaliStream *st = &s->cs->groups[it->csg].streams[it->cs];

    for (unsigned i = 0; i < st->n_ops; i++) {
        if (st->ops[i].seq == it->seq && st->ops[i].kind == OP_JOB) {
            return &st->ops[i];
        }
    }
    return NULL;
}

static void iter_job_done(MaliCsfState *s, MaliIter *it, CsOp *op)
{
    static const MaliWorkKind kinds[ITERS] = {
        [ITER_COMPUTE] = MALI_WORK_COMPUTE_JOB,
        [ITER_FRAGMENT] = MALI_WORK_FRAGMENT_JOB,
        [ITER_TILER] = MALI_WORK_TILER_JOB,
    };

    op->done = true;
    mali_csf_counters_work(s, kinds[op->arg], it->csg, it->cs, 1, 0, it->cores);
}

/* Units of a job that so many core cycles of its work complete. */
static uint64_t iter_units(const CsOp *op, uint64_t work)
{
    return DIV_ROUND_UP(op->work_left, op->cost) -
           DIV_ROUND_UP(op->work_left - work, op->cost);
}

/* Primitives that so many units of a job's work complete. */
static uint64_t iter_prims(const CsOp *op, uint64_t units)
{
    uint64_t left = DIV_ROUND_UP(op->work_left, op->cost);

    return units == left ? op->data :
           mali_csf_clk_muldiv(op->data, units, left);
}

/*
 * The counters hear of @units, @prims and @cycles of this chunk, but for what
 * they know.
 */
static void iter_tell(MaliCsfState *s, MaliIter *it, CsOp *op, uint64_t units,
                      uint64_t prims, uint64_t cycles)
{
    uint64_t more = units - it->told_units;

    if (op->work == MALI_WORK_FRAGMENT && op->cost > 1) {
        mali_csf_counters_work(s, MALI_WORK_MORE_TARGETS, it->csg, it->cs,
                               more * (op->cost - 1), 0, it->cores);
    }
    mali_csf_counters_work(s, op->work, it->csg, it->cs, more,
                           cycles - it->told_cycles, it->cores);
    mali_csf_counters_work(s, MALI_WORK_PRIMS, it->csg, it->cs,
                           prims - it->told_prims, 0, 0);
    it->told_units = units;
    it->told_prims = prims;
    it->told_cycles = cycles;
}

/* What jobs under way have done up to now, which goes on as if not asked. */
void mali_csf_csg_report_work(MaliCsfState *s)
{
    int64_t now = mali_csf_clk_now();

    for (int i = 0; i < ITERS; i++) {
        MaliIter *it = &s->cs->iter[i];
        CsOp *op = it->busy ? iter_op(s, it) : NULL;
        uint64_t cycles, units;

        if (!op) {
            continue;
        }
        cycles = mali_csf_clk_muldiv(it->cycles,
                                     MIN(now, it->end_ns) - it->start_ns,
                                     it->end_ns - it->start_ns);
        units = iter_units(op, MIN((cycles - MIN(cycles, op->setup_left)) *
                                   it->n_cores, it->work));
        iter_tell(s, it, op, units, iter_prims(op, units), cycles);
    }
    s->cs->told_ns = now;
}

/* Take a job off its iterator, with what it has done so far. */
static void iter_settle(MaliCsfState *s, MaliIter *it)
{
    int64_t ns = MIN(mali_csf_clk_now(), it->end_ns) - it->start_ns;
    bool all = mali_csf_clk_now() >= it->end_ns;
    uint64_t cycles = it->cycles, setup, work, units, prims;
    CsOp *op;

    if (!it->busy) {
        return;
    }
    it->busy = false;
    op = iter_op(s, it);
    if (!op) {
        return;
    }
    if (!all) {
        cycles = mali_csf_clk_muldiv(cycles, ns, it->end_ns - it->start_ns);
    }
    setup = MIN(cycles, op->setup_left);
    op->setup_left -= setup;
    work = all ? it->work : MIN((cycles - setup) * it->n_cores, it->work);
    units = iter_units(op, work);
    prims = iter_prims(op, units);
    op->work_left -= work;
    op->data -= prims;
    op->heap_credit -= MIN(units, op->heap_credit);
    iter_tell(s, it, op, units, prims, cycles);
    op->ran_cycles += mali_csf_clk_muldiv(mali_csf_clk_hz(s, MALI_CLK_CORE), ns,
                                          NANOSECONDS_PER_SECOND);
    if (all) {
        it->late_ns = mali_csf_clk_now() - MAX(it->end_ns, s->cs->told_ns);
        it->late_ns = MIN(it->late_ns, LATE_NS);
    }
    if (!op->setup_left && !op->work_left) {
        iter_job_done(s, it, op);
    } else if (s->progress_cycles && op->ran_cycles > s->progress_cycles) {
        op->ran_cycles = 0;
        s->cs->groups[it->csg].progress_event = true;
    }
}

static void iter_settle_all(MaliCsfState *s)
{
    for (int i = 0; i < ITERS; i++) {
        iter_settle(s, &s->cs->iter[i]);
    }
}

/* The first cores of those that may be used, as many as were asked for. */
static uint64_t iter_cores(MaliCsfState *s, MaliGroup *g, CsOp *op)
{
    unsigned kind = op->arg, n;
    uint64_t mask, cores = 0;

    if (op->work == MALI_WORK_IDVS) {
        kind = g->max_ep[ITER_COMPUTE] ? ITER_COMPUTE : ITER_FRAGMENT;
    }
    mask = g->allow[kind] & mali_csf_pwr_core_mask(s);
    for (n = g->max_ep[kind]; n && mask; n--) {
        cores |= mask & -mask;
        mask &= mask - 1;
    }
    return cores;
}

/* The next job of a kind in a stream; they start in order. */
static CsOp *stream_job(MaliStream *st, MaliIterKind kind)
{
    for (unsigned i = 0; i < st->n_ops; i++) {
        CsOp *op = &st->ops[i];

        if (op->kind == OP_JOB && op->arg == kind && !op->done) {
            return op;
        }
    }
    return NULL;
}

static bool iter_start(MaliCsfState *s, MaliStream *st, CsOp *op)
{
    MaliIter *it = &s->cs->iter[op->arg];
    MaliGroup *g = mali_csf_cs_group(s, st);
    bool shading = op->work != MALI_WORK_TILER;
    /* A busy host is late. The job has gone on since. */
    int64_t late = it->seq == op->seq ? MAX(it->late_ns, 0) : 0;
    uint64_t chunk, work;

    it->cores = shading ? iter_cores(s, g, op) : 0;
    if (shading && !it->cores) {
        return false;
    }
    it->n_cores = shading ? ctpop64(it->cores) : 1;
    chunk = MAX(mali_csf_clk_muldiv(mali_csf_clk_hz(s, iter_clk(op)),
                                    ITER_CHUNK_NS + late,
                                    NANOSECONDS_PER_SECOND), 1);
    it->cycles = MIN(chunk, op->setup_left);
    work = MIN((chunk - it->cycles) * it->n_cores, op->work_left);
    if (work && op->arg == ITER_TILER) {
        uint64_t units = mali_csf_cs_heap_reserve(s, st, op,
                                                  DIV_ROUND_UP(work, op->cost));

        if (!units || op->done) {
            return false;
        }
        /* What is left of the first unit may be less than its cost. */
        work = MIN(work, op->work_left - (DIV_ROUND_UP(op->work_left, op->cost)
                                          - units) * op->cost);
    }
    it->cycles += DIV_ROUND_UP(work, it->n_cores);
    it->work = work;
    it->csg = st->csg;
    it->cs = st->cs;
    it->seq = op->seq;
    it->start_ns = mali_csf_clk_now() - late;
    it->end_ns = it->start_ns + MAX(mali_csf_clk_cycles_to_ns(s, iter_clk(op),
                                                              it->cycles), 1);
    it->told_units = it->told_prims = it->told_cycles = 0;
    it->busy = true;
    return true;
}

static bool iter_before(MaliCsfState *s, MaliStream *a, CsOp *a_op,
                        MaliStream *b, CsOp *b_op)
{
    unsigned a_prio = mali_csf_cs_group(s, a)->priority;
    unsigned b_prio = mali_csf_cs_group(s, b)->priority;

    if (a_prio != b_prio) {
        return a_prio > b_prio;
    }
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return a_op->seq < b_op->seq;
}

/* Give an idle iterator the most important job. True if there is one. */
static bool iter_pick(MaliCsfState *s, MaliIterKind kind)
{
    uint32_t tried[MALI_MAX_CSGS] = { 0 };
    bool any = false;

    if (s->cs->iter[kind].busy) {
        return false;
    }
    for (;;) {
        MaliStream *best = NULL;
        CsOp *best_op = NULL;

        for (unsigned i = 0; i < s->csgs; i++) {
            MaliGroup *g = &s->cs->groups[i];

            for (unsigned c = 0; g->active && c < s->streams; c++) {
                MaliStream *st = &g->streams[c];
                CsOp *op;

                if (st->state != CS_STARTED || st->fault_pending ||
                    (tried[i] >> c & 1)) {
                    continue;
                }
                op = stream_job(st, kind);
                if (op && (!best || iter_before(s, st, op, best, best_op))) {
                    best = st;
                    best_op = op;
                }
            }
        }
        if (!best) {
            return any;
        }
        any = true;
        if (!mali_csf_pwr_cores_ready(s) || iter_start(s, best, best_op)) {
            return true;
        }
        tried[best->csg] |= 1u << best->cs;
    }
}

/* Ask for the cores, once: asking again would only put off their power-up. */
static void need_cores(MaliCsfState *s)
{
    uint64_t want = mali_csf_pwr_core_mask(s);
    MaliPwr *cores = &s->pwr[MALI_PWR_SHADER], *tiler = &s->pwr[MALI_PWR_TILER];

    if ((want & (~(cores->ready | cores->trans_on) | cores->trans_off)) ||
        !(tiler->ready | tiler->trans_on) || tiler->trans_off) {
        mali_csf_pwr_cores_needed(s);
    }
}

/* Idleness */

static bool stream_idle(MaliStream *st)
{
    if (st->state != CS_STARTED) {
        return true;
    }
    if (st->n_ops || st->fault_pending || st->fault_held || st->look ||
        st->in_handler) {
        return false;
    }
    if (mali_csf_cs_stream_empty(st)) {
        return st->idle_mask & CS_REQ_IDLE_EMPTY;
    }
    switch (st->blocked) {
    case CS_BLOCKED_SYNC:
        return st->idle_mask & CS_REQ_IDLE_SYNC_WAIT;
    case CS_BLOCKED_PROTM:
        return st->idle_mask & CS_REQ_IDLE_PROTM;
    case CS_BLOCKED_RESOURCE:
        return st->idle_mask & CS_REQ_IDLE_RESOURCE;
    default:
        return false;
    }
}

static bool group_idle(MaliCsfState *s, MaliGroup *g)
{
    for (unsigned c = 0; c < s->streams; c++) {
        if (!stream_idle(&g->streams[c])) {
            return false;
        }
    }
    return true;
}

bool mali_csf_csg_idle(MaliCsfState *s)
{
    for (unsigned i = 0; i < s->csgs; i++) {
        if (s->cs->groups[i].active && !s->cs->groups[i].idle) {
            return false;
        }
    }
    return true;
}

static void update_idle(MaliCsfState *s)
{
    bool changed = false;

    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];
        bool idle;

        if (!g->active) {
            continue;
        }
        idle = group_idle(s, g);
        if (idle == g->idle) {
            continue;
        }
        g->idle = idle;
        changed = true;
        mali_csf_glb_st32(s, mali_csg_out_va(i) + CSG_OUT_STATE,
                          idle ? CSG_STATE_IS_IDLE : 0);
        if (idle) {
            csg_event(s, i, CSG_REQ_IDLE);
        }
    }
    if (changed) {
        s->events->groups_changed(s);
    }
}

/* The loop */

static void stream_look(MaliCsfState *s, MaliStream *st)
{
    uint64_t insert;

    st->look = false;
    if (st->state != CS_STARTED) {
        return;
    }
    insert = mali_csf_glb_ld64(s, st->ring_in + RING_IN_INSERT);
    if (insert - st->extract > st->ring_size) {
        mali_csf_cs_fatal(s, st, CS_CONFIG_FAULT, insert);
        return;
    }
    st->insert = insert;
}

/* What the host says to it; true if another stream may go on with that. */
static bool stream_host(MaliCsfState *s, MaliStream *st)
{
    CsOom oom = st->oom;
    uint32_t open;

    if (st->look) {
        stream_look(s, st);
    }
    if (st->oom == OOM_RAISED || st->fault_held) {
        open = mali_csf_glb_ld32(s, mali_cs_in_va(st->csg, st->cs) +
                                 CS_IN_REQ) ^
               mali_csf_glb_ld32(s, mali_cs_out_va(st->csg, st->cs) +
                                 CS_OUT_ACK);
        if (st->oom == OOM_RAISED && !(open & CS_REQ_TILER_OOM)) {
            mali_csf_cs_heap_answer(s, st);
        }
        st->fault_held &= (open & CS_REQ_FAULT) != 0;
    }
    mali_csf_cs_heap_orphan(s, st);
    return st->oom != oom;
}

static bool stream_runs(const MaliStream *st)
{
    return st->state == CS_STARTED && !st->fault_pending;
}

/* Every stream that runs, beginning with another one each turn. */
static unsigned turn_streams(MaliCsfState *s, MaliStream **list)
{
    unsigned total = s->csgs * s->streams, i = s->cs->turn % total, count = 0;
    unsigned csg = i % s->csgs, c = i / s->csgs;

    for (unsigned n = 0; n < total; n++) {
        MaliGroup *g = &s->cs->groups[csg];

        if (g->active && stream_runs(&g->streams[c])) {
            list[count++] = &g->streams[c];
        }
        if (++csg == s->csgs) {
            csg = 0;
            c = c + 1 == s->streams ? 0 : c + 1;
        }
    }
    return count;
}

static bool can_go_on(MaliCsfState *s)
{
    return mali_csf_glb_running(s) && !mali_csf_mmu_locked(s, 0);
}

/* What a turn has cost, and whether the machine needs a pause now. */
static void csg_run_cost(MaliCsfState *s, unsigned looks)
{
    MaliCs *cs = s->cs;
    int64_t now = mali_csf_clk_now();

    s->csg_turns++;
    if (now - cs->cost_ns >= TURN_NS) {
        cs->cost_ns = now;
        cs->cost = 0;
    }
    cs->cost += COST_TURN + looks;
    if (cs->cost >= COST_BUDGET) {
        cs->pause_ns = cs->cost_ns + TURN_NS;
    }
}

static void csg_run_streams(MaliCsfState *s)
{
    MaliCs *cs = s->cs;
    MaliStream *list[MALI_MAX_CSGS * MALI_MAX_CS];
    unsigned budget = TURN_BUDGET, streams = turn_streams(s, list), looks = 0;
    bool ready = mali_csf_clk_now() >= cs->ceu_free_ns, progress;

    cs->turn_cycles = 0;
    cs->time_stop = false;
    do {
        progress = false;
        for (unsigned n = 0; n < streams && can_go_on(s); n++) {
            MaliStream *st = list[n];
            unsigned ran;

            if (!stream_runs(st)) {
                continue;
            }
            looks++;
            progress |= stream_host(s, st);
            progress |= mali_csf_cs_stream_ops(s, st, true);
            if (ready && budget && !cs->time_stop) {
                ran = mali_csf_cs_stream_exec(s, st, MIN(budget, SLICE));
                budget -= ran;
                progress |= ran > 0;
            }
        }
    } while (progress && budget && !cs->time_stop);

    cs->turn++;
    csg_run_cost(s, looks);
    if (cs->turn_cycles) {
        int64_t ns = mali_csf_clk_cycles_to_ns(s, MALI_CLK_CORE,
                                               cs->turn_cycles);

        if (!budget) {
            ns = MAX(ns, TURN_NS);
        }
        cs->ceu_free_ns = mali_csf_clk_now() + ns;
    }
    if (!ready || !budget || cs->time_stop) {
        csg_schedule(s, cs->ceu_free_ns);
    }
}

static void csg_run_report(MaliCsfState *s)
{
    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];

        for (unsigned c = 0; g->active && c < s->streams; c++) {
            MaliStream *st = &g->streams[c];

            if (st->retired || st->cycles) {
                mali_csf_counters_work(s, MALI_WORK_CEU, i, c, st->retired,
                                       st->cycles, 0);
                st->retired = st->cycles = 0;
            }
            if (st->lsu_bytes) {
                mali_csf_counters_work(s, MALI_WORK_LSU, i, c, st->lsu_bytes,
                                       0, 0);
                st->lsu_bytes = 0;
            }
            if (st->state != CS_STOPPED) {
                mali_csf_cs_stream_publish(s, st);
            }
        }
        if (g->sync_update) {
            g->sync_update = false;
            csg_event(s, i, CSG_REQ_SYNC_UPDATE);
        }
        if (g->progress_event) {
            g->progress_event = false;
            csg_event(s, i, CSG_REQ_PROGRESS_TIMER);
        }
    }
}

/*
 * A job that has no memory makes no progress either, though no iterator runs
 * it. Looks after the time, too, at which that is too long.
 */
static void csg_run_progress(MaliCsfState *s)
{
    int64_t limit;

    if (!s->progress_cycles) {
        return;
    }
    limit = mali_csf_clk_cycles_to_ns(s, MALI_CLK_CORE, s->progress_cycles);
    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];

        for (unsigned c = 0; g->active && c < s->streams; c++) {
            MaliStream *st = &g->streams[c];

            if (st->state != CS_STARTED || !st->oom_ns) {
                continue;
            }
            if (mali_csf_clk_now() - st->oom_ns > limit) {
                st->oom_ns = mali_csf_clk_now();
                g->progress_event = true;
            }
            csg_schedule(s, st->oom_ns + limit + 1);
        }
    }
}

static void csg_run_suspends(MaliCsfState *s);

static void csg_run(MaliCsfState *s)
{
    MaliCs *cs = s->cs;
    int64_t now = mali_csf_clk_now();
    bool jobs = false;

    if (!can_go_on(s)) {
        if (!mali_csf_glb_running(s)) {
            iter_settle_all(s);
            for (int i = 0; i < ITERS; i++) {
                cs->iter[i].late_ns = 0;
            }
        }
        return;
    }
    timer_del(cs->timer);
    for (int i = 0; i < ITERS; i++) {
        if (cs->iter[i].busy && now >= cs->iter[i].end_ns) {
            iter_settle(s, &cs->iter[i]);
        }
    }
    report_faults(s);
    csg_run_suspends(s);
    csg_run_streams(s);
    for (int i = 0; i < ITERS && can_go_on(s); i++) {
        jobs |= iter_pick(s, i);
        cs->iter[i].late_ns = 0;
    }
    report_faults(s);
    if (!can_go_on(s)) {
        return;
    }
    csg_run_progress(s);
    csg_run_report(s);
    update_idle(s);
    if (jobs && !mali_csf_pwr_cores_ready(s)) {
        need_cores(s);
    }

    for (int i = 0; i < ITERS; i++) {
        if (cs->iter[i].busy) {
            csg_schedule(s, cs->iter[i].end_ns);
        }
    }
    for (unsigned i = 0; i < s->csgs; i++) {
        for (unsigned c = 0; cs->groups[i].active && c < s->streams; c++) {
            MaliStream *st = &cs->groups[i].streams[c];
            int64_t next = mali_csf_cs_stream_next(st);

            if (next != INT64_MAX && st->state == CS_STARTED &&
                !st->fault_pending) {
                csg_schedule(s, next);
            }
        }
    }
}

/* Groups */

static void group_config(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];
    uint32_t in = mali_csg_in_va(csg), out = mali_csg_out_va(csg);
    uint32_t ep = s->published_version >= VERSION_EP_REQ2 ?
                  mali_csf_glb_ld64(s, in + CSG_IN_EP_REQ2) :
                  mali_csf_glb_ld32(s, in + CSG_IN_EP_REQ);

    g->allow[ITER_COMPUTE] = mali_csf_glb_ld64(s, in + CSG_IN_ALLOW_COMPUTE);
    g->allow[ITER_FRAGMENT] = mali_csf_glb_ld64(s, in + CSG_IN_ALLOW_FRAGMENT);
    g->allow[ITER_TILER] = mali_csf_glb_ld32(s, in + CSG_IN_ALLOW_OTHER);
    g->max_ep[ITER_COMPUTE] = g->allow[ITER_COMPUTE] ? extract32(ep, 0, 8) : 0;
    g->max_ep[ITER_FRAGMENT] = g->allow[ITER_FRAGMENT] ? extract32(ep, 8, 8) :
                               0;
    g->max_ep[ITER_TILER] = g->allow[ITER_TILER] ? extract32(ep, 16, 4) : 0;
    g->priority = extract32(ep, 28, 4);
    mali_csf_glb_st32(s, out + CSG_OUT_EP_CURRENT, ep);
    mali_csf_glb_st32(s, out + CSG_OUT_EP_REQ, ep);
}

static void stream_program(MaliCsfState *s, MaliStream *st, uint32_t req)
{
    uint32_t in = mali_cs_in_va(st->csg, st->cs), config;

    config = mali_csf_glb_ld32(s, in + CS_IN_CONFIG);
    st->priority = extract32(config, 0, 4);
    st->doorbell = extract32(config, 8, 8);
    st->ring_base = mali_csf_glb_ld64(s, in + CS_IN_RING_BASE);
    st->ring_size = mali_csf_glb_ld32(s, in + CS_IN_RING_SIZE);
    st->ring_in = mali_csf_glb_ld64(s, in + CS_IN_RING_INPUT);
    st->ring_out = mali_csf_glb_ld64(s, in + CS_IN_RING_OUTPUT);
    st->idle_mask = req & CS_IDLE_REQS;
    st->look = true;
    st->published = st->extract;
    st->published_active = false;
    if (!is_power_of_2(st->ring_size) || st->ring_size < 4096) {
        mali_csf_cs_fatal(s, st, CS_CONFIG_FAULT, st->ring_size);
    }
}

static void stream_start(MaliCsfState *s, MaliStream *st, uint32_t req)
{
    uint32_t in = mali_cs_in_va(st->csg, st->cs);
    uint32_t ring_in = mali_csf_glb_ld64(s, in + CS_IN_RING_INPUT);
    uint64_t extract = mali_csf_glb_ld64(s, ring_in + RING_IN_EXTRACT);

    mali_csf_cs_stream_start(s, st, extract);
    stream_program(s, st, req);
    if (!extract) {
        mali_csf_cs_note_job(s, st, "start");
    }
}

/* Requests of a stream of an active group, at its doorbell. */
static void stream_requests(MaliCsfState *s, MaliStream *st)
{
    uint32_t out = mali_cs_out_va(st->csg, st->cs);
    uint32_t req = mali_csf_glb_ld32(s, mali_cs_in_va(st->csg, st->cs) +
                                     CS_IN_REQ);
    uint32_t ack = mali_csf_glb_ld32(s, out + CS_OUT_ACK), diff;
    bool start = (req & CS_REQ_STATE) == CS_REQ_STATE_START;

    st->look = true;
    st->idle_mask = req & CS_IDLE_REQS;
    diff = (req ^ ack) & CS_PLAIN_REQS;
    if (!diff) {
        return;
    }
    if ((diff & CS_REQ_STATE) && start && mali_csf_faults_unrecoverable(s)) {
        diff &= ~CS_REQ_STATE;
    } else if ((diff & CS_REQ_STATE) && start && st->state == CS_STOPPED) {
        stream_start(s, st, req);
        ack = mali_csf_glb_ld32(s, out + CS_OUT_ACK);
    } else if ((diff & CS_REQ_STATE) && !start) {
        st->state = CS_STOPPED;
        st->n_ops = 0;
    }
    mali_csf_glb_st32(s, out + CS_OUT_ACK, ack ^ diff);
    mali_csf_cs_interrupt(s, st->csg, st->cs, diff);
}

static uint32_t suspend_size(MaliCsfState *s)
{
    MaliStream st;

    return SUSPEND_HEADER + SUSPEND_SHARED +
           s->streams * mali_csf_cs_stream_transfer(s->cs, &st, NULL, false);
}

static bool group_save(MaliCsfState *s, unsigned csg)
{
    uint64_t va = mali_csf_glb_ld64(s, mali_csg_in_va(csg) +
                                    CSG_IN_SUSPEND_BUF);
    uint32_t size = suspend_size(s);
    g_autofree uint8_t *buf = g_malloc0(size);
    uint8_t *p = buf + SUSPEND_HEADER;

    stl_le_p(buf, SUSPEND_MAGIC);
    stl_le_p(buf + 4, size);
    stl_le_p(buf + 8, s->streams);
    stl_le_p(buf + 12, s->cs->n_regs);
    for (unsigned c = 0; c < s->streams; c++) {
        p += mali_csf_cs_stream_transfer(s->cs, &s->cs->groups[csg].streams[c],
                                         p, false);
    }
    for (unsigned i = 0; i < CS_SHARED_SBS; i++) {
        stl_le_p(p + 4 * i, s->cs->groups[csg].shared[i]);
    }
    return va && mali_csf_mmu_access(s, 0, va, buf, size, MALI_ACCESS_WRITE,
                                     CS_SOURCE_ID(csg, 0)) == MALI_MMU_OK;
}

static bool group_load(MaliCsfState *s, unsigned csg)
{
    uint64_t va = mali_csf_glb_ld64(s, mali_csg_in_va(csg) +
                                    CSG_IN_SUSPEND_BUF);
    uint32_t size = suspend_size(s);
    g_autofree uint8_t *buf = g_malloc0(size);
    uint8_t *p = buf + SUSPEND_HEADER;

    if (!va || mali_csf_mmu_access(s, 0, va, buf, size, MALI_ACCESS_READ,
                                   CS_SOURCE_ID(csg, 0)) != MALI_MMU_OK ||
        ldl_le_p(buf) != SUSPEND_MAGIC || ldl_le_p(buf + 4) != size ||
        ldl_le_p(buf + 8) != s->streams ||
        ldl_le_p(buf + 12) != s->cs->n_regs) {
        return false;
    }
    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *st = &s->cs->groups[csg].streams[c];
        size_t n = mali_csf_cs_stream_transfer(s->cs, st, p, true);

        if (!n) {
            return false;
        }
        p += n;
        for (unsigned i = 0; i < st->n_ops; i++) {
            st->ops[i].seq = s->cs->seq++;
        }
    }
    for (unsigned i = 0; i < CS_SHARED_SBS; i++) {
        s->cs->groups[csg].shared[i] = ldl_le_p(p + 4 * i);
    }
    return true;
}

static void group_clear(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];

    memset(g, 0, sizeof(*g));
    for (unsigned c = 0; c < MALI_MAX_CS; c++) {
        g->streams[c].csg = csg;
        g->streams[c].cs = c;
    }
}

/* Jobs of this group leave the iterators. */
static void group_settle(MaliCsfState *s, unsigned csg)
{
    for (int i = 0; i < ITERS; i++) {
        if (s->cs->iter[i].csg == csg) {
            iter_settle(s, &s->cs->iter[i]);
        }
    }
}

static void group_start(MaliCsfState *s, unsigned csg, bool resume)
{
    MaliGroup *g = &s->cs->groups[csg];
    bool good = true;

    group_clear(s, csg);
    g->as = mali_csf_glb_ld32(s, mali_csg_in_va(csg) + CSG_IN_CONFIG) & 0xf;
    if (resume && !group_load(s, csg)) {
        group_clear(s, csg);
        g->as = mali_csf_glb_ld32(s, mali_csg_in_va(csg) + CSG_IN_CONFIG) & 0xf;
        good = false;
    }
    g->active = true;
    group_config(s, csg);
    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *st = &g->streams[c];
        uint32_t out = mali_cs_out_va(csg, c);
        uint32_t req = mali_csf_glb_ld32(s, mali_cs_in_va(csg, c) + CS_IN_REQ);
        uint32_t diff = req ^ mali_csf_glb_ld32(s, out + CS_OUT_ACK);

        /* No event of the slot's last user is left over. */
        mali_csf_glb_st32(s, out + CS_OUT_ACK, req);
        if ((req & CS_REQ_STATE) != CS_REQ_STATE_START) {
            st->state = CS_STOPPED;
            st->n_ops = 0;
        } else if (st->state == CS_STOPPED) {
            stream_start(s, st, req);
        } else {
            stream_program(s, st, req);
        }
        if (st->state != CS_STOPPED && !good) {
            mali_csf_cs_fatal(s, st, CS_FW_INTERNAL_ERROR, 0);
        }
        if (diff & CS_PLAIN_REQS) {
            mali_csf_cs_interrupt(s, csg, c, diff & CS_PLAIN_REQS);
        }
    }
    mali_csf_glb_st32(s, mali_csg_out_va(csg) + CSG_OUT_STATE, 0);
    mali_csf_glb_st32(s, mali_csg_out_va(csg) + CSG_OUT_RESOURCE_DEP, 0);
    s->events->groups_changed(s);
}

static void group_status(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];

    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *st = &g->streams[c];
        uint32_t out = mali_cs_out_va(csg, c), wait = 0, reason = st->blocked;

        switch (st->blocked) {
        case CS_BLOCKED_SB:
            wait = st->wait_sbs | CS_WAIT_SB_SRC_WAIT;
            break;
        case CS_BLOCKED_SYNC:
            wait = st->wait_status;
            break;
        case CS_BLOCKED_PROGRESS:
            wait = CS_WAIT_PROGRESS;
            break;
        case CS_BLOCKED_PROTM:
            wait = CS_WAIT_PROTM;
            reason = CS_UNBLOCKED;
            break;
        case CS_BLOCKED_AS:
            reason = CS_UNBLOCKED;
            break;
        default:
            break;
        }
        if (st->state == CS_STOPPED) {
            continue;
        }
        mali_csf_cs_stream_publish(s, st);
        mali_csf_glb_st64(s, out + CS_OUT_CMD_PTR, mali_csf_cs_stream_pc(st));
        mali_csf_glb_st32(s, out + CS_OUT_WAIT, wait);
        mali_csf_glb_st32(s, out + CS_OUT_REQ_RESOURCE, st->resources);
        mali_csf_glb_st64(s, out + CS_OUT_SYNC_PTR, st->wait_addr);
        mali_csf_glb_st32(s, out + CS_OUT_SYNC_VALUE, st->wait_value);
        mali_csf_glb_st32(s, out + CS_OUT_SYNC_VALUE_HI, st->wait_value >> 32);
        mali_csf_glb_st32(s, out + CS_OUT_SCOREBOARDS,
                          mali_csf_cs_stream_sbs(st));
        mali_csf_glb_st32(s, out + CS_OUT_BLOCKED, reason);
    }
    mali_csf_glb_st32(s, mali_csg_out_va(csg) + CSG_OUT_STATE,
                      group_idle(s, g) ? CSG_STATE_IS_IDLE : 0);
}

static void group_suspend(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];

    group_settle(s, csg);
    for (unsigned c = 0; c < s->streams; c++) {
        MaliStream *st = &g->streams[c];

        if (st->fault_pending) {
            mali_csf_cs_fatal(s, st, CS_BUS_FAULT, st->fault_addr);
        }
        mali_csf_cs_stream_ops(s, st, true);
    }
    csg_run_report(s);
    group_status(s, csg);
    if (!group_save(s, csg)) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: group %u: no suspend buffer "
                      "to write to; its state is lost\n", csg);
    }
    group_clear(s, csg);
}

/* A group that has been asked to: true if it is done now. */
static bool group_suspend_begin(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];

    if (!s->latency_seed) {
        group_suspend(s, csg);
        return true;
    }
    if (!g->suspend_ns) {
        g->suspend_ns = mali_csf_clk_now() +
            mali_csf_clk_latency(s, SUSPEND_NS, SUSPEND_DOUBLINGS);
    }
    return false;
}

/* Groups whose suspension takes its time: those whose has passed. */
static void csg_run_suspends(MaliCsfState *s)
{
    int64_t now = mali_csf_clk_now();

    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];
        uint32_t out = mali_csg_out_va(i), ack;

        if (!g->active || !g->suspend_ns) {
            continue;
        }
        if (now < g->suspend_ns) {
            csg_schedule(s, g->suspend_ns);
            continue;
        }
        group_suspend(s, i);
        s->events->groups_changed(s);
        ack = mali_csf_glb_ld32(s, out + CSG_OUT_ACK);
        mali_csf_glb_st32(s, out + CSG_OUT_ACK,
                          (ack & ~CSG_REQ_STATE) | STATE_SUSPEND);
        csg_interrupt(s, i, CSG_REQ_STATE);
    }
}

static void group_requests(MaliCsfState *s, unsigned csg)
{
    MaliGroup *g = &s->cs->groups[csg];
    uint32_t in = mali_csg_in_va(csg), out = mali_csg_out_va(csg);
    uint32_t req = mali_csf_glb_ld32(s, in + CSG_IN_REQ);
    uint32_t ack = mali_csf_glb_ld32(s, out + CSG_OUT_ACK);
    uint32_t db_req = mali_csf_glb_ld32(s, in + CSG_IN_DB_REQ);
    uint32_t db = db_req ^ mali_csf_glb_ld32(s, out + CSG_OUT_DB_ACK);
    uint32_t diff = (req ^ ack) & (CSG_REQ_STATE | CSG_REQ_ENDPOINT_CONFIG |
                                   CSG_REQ_STATUS_UPDATE);

    trace_mali_csf_group_request(csg, req, ack);
    if (db) {
        mali_csf_glb_st32(s, out + CSG_OUT_DB_ACK, db_req);
    }
    for (unsigned c = 0; g->active && c < s->streams; c++) {
        MaliStream *st = &g->streams[c];

        if (db >> c & 1) {
            stream_requests(s, st);
        }
        stream_host(s, st);
    }

    if ((req & CSG_REQ_STATE) != STATE_SUSPEND) {
        g->suspend_ns = 0;      /* nor any more */
    }
    if (diff & CSG_REQ_STATE) {
        bool was_active = g->active;

        switch (req & CSG_REQ_STATE) {
        case STATE_START:
        case STATE_RESUME:
            if (mali_csf_faults_unrecoverable(s)) {
                diff &= ~CSG_REQ_STATE;
            } else if (!was_active) {
                group_start(s, csg, (req & CSG_REQ_STATE) == STATE_RESUME);
            }
            break;
        case STATE_SUSPEND:
            if (was_active && !group_suspend_begin(s, csg)) {
                diff &= ~CSG_REQ_STATE;
            }
            break;
        case STATE_TERMINATE:
            group_settle(s, csg);
            group_clear(s, csg);
            break;
        default:
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: group %u: unknown state "
                          "%u asked for\n", csg, req & CSG_REQ_STATE);
            diff &= ~CSG_REQ_STATE;
        }
        if (was_active && !g->active) {
            s->events->groups_changed(s);
        }
    }
    if (g->active && (diff & CSG_REQ_ENDPOINT_CONFIG)) {
        group_config(s, csg);
    }
    if (g->active && (diff & CSG_REQ_STATUS_UPDATE)) {
        group_status(s, csg);
    }
    if (diff) {
        /* Events may have been raised meanwhile. */
        ack = mali_csf_glb_ld32(s, out + CSG_OUT_ACK);
        mali_csf_glb_st32(s, out + CSG_OUT_ACK, ack ^ diff);
        csg_interrupt(s, csg, diff);
    }
}

void mali_csf_csg_doorbell(MaliCsfState *s, uint32_t groups)
{
    MaliCs *cs = s->cs;

    cs->doorbells |= groups & MAKE_64BIT_MASK(0, s->csgs);
    if (!can_go_on(s)) {
        return;
    }
    /* What has happened up to now comes first: the host is about to ask. */
    csg_run(s);
    for (unsigned i = 0; i < s->csgs && can_go_on(s); i++) {
        if (cs->doorbells >> i & 1) {
            cs->doorbells &= ~(1u << i);
            group_requests(s, i);
        }
    }
    csg_schedule(s, mali_csf_clk_now());
}

static void csg_timer(void *opaque)
{
    MaliCsfState *s = opaque;

    if (mali_csf_clk_waits(s, s->cs->timer)) {
        return;
    }
    if (s->cs->doorbells) {
        mali_csf_csg_doorbell(s, 0);
    } else {
        csg_run(s);
    }
}

void mali_csf_csg_user_doorbell(MaliCsfState *s, unsigned id)
{
    for (unsigned i = 0; i < s->csgs; i++) {
        MaliGroup *g = &s->cs->groups[i];

        for (unsigned c = 0; g->active && c < s->streams; c++) {
            if (g->streams[c].doorbell == id) {
                g->streams[c].look = true;
            }
        }
    }
    csg_schedule(s, mali_csf_clk_now());
}

void mali_csf_csg_as_event(MaliCsfState *s, unsigned as)
{
    /* At once, not in the next turn: the host asks as soon as it is done. */
    if (can_go_on(s)) {
        report_faults(s);
    }
    csg_schedule(s, mali_csf_clk_now());
}

void mali_csf_csg_look(MaliCsfState *s)
{
    for (unsigned i = 0; i < s->csgs; i++) {
        if (s->cs->groups[i].active) {
            csg_schedule(s, mali_csf_clk_now());
            return;
        }
    }
}

void mali_csf_csg_kick(MaliCsfState *s)
{
    /* Jobs go on with the cores that there are now. */
    iter_settle_all(s);
    csg_schedule(s, mali_csf_clk_now());
}

void mali_csf_csg_settle(MaliCsfState *s)
{
    mali_csf_csg_kick(s);
    mali_csf_counters_advance(s);
}

void mali_csf_csg_reset(MaliCsfState *s)
{
    MaliCs *cs = s->cs;

    timer_del(cs->timer);
    cs->doorbells = 0;
    cs->ceu_free_ns = 0;
    cs->cost = 0;
    cs->pause_ns = 0;
    memset(cs->iter, 0, sizeof(cs->iter));
    for (unsigned i = 0; i < MALI_MAX_CSGS; i++) {
        group_clear(s, i);
    }
}

void mali_csf_csg_boot(MaliCsfState *s)
{
    MaliCs *cs = s->cs;

    mali_csf_csg_reset(s);
    for (unsigned i = 0; i < s->csgs; i++) {
        uint32_t ctrl[CSG_CTRL_WORDS] = {
            [CSG_CTRL_INPUT_VA] = mali_csg_in_va(i),
            [CSG_CTRL_OUTPUT_VA] = mali_csg_out_va(i),
            [CSG_CTRL_SUSPEND_SIZE] = suspend_size(s),
            [CSG_CTRL_PROTM_SUSPEND_SIZE] = PROTM_SUSPEND_SIZE,
            [CSG_CTRL_STREAM_NUM] = s->streams,
            [CSG_CTRL_STREAM_STRIDE] = MALI_STREAM_STRIDE,
        };
        uint32_t in = mali_csg_in_va(i), out = mali_csg_out_va(i), ack;

        for (int w = 0; w < CSG_CTRL_WORDS; w++) {
            mali_csf_glb_st32(s, mali_csg_ctrl_va(i) + 4 * w, ctrl[w]);
        }
        /*
         * The section may have its contents of before: no event, and no
         * request, is left over, and no slot has a group.
         */
        ack = mali_csf_glb_ld32(s, in + CSG_IN_REQ);
        if ((ack & CSG_REQ_STATE) == STATE_START ||
            (ack & CSG_REQ_STATE) == STATE_RESUME) {
            ack &= ~CSG_REQ_STATE;
        }
        mali_csf_glb_st32(s, out + CSG_OUT_ACK, ack);
        mali_csf_glb_st32(s, out + CSG_OUT_DB_ACK,
                          mali_csf_glb_ld32(s, in + CSG_IN_DB_REQ));
        mali_csf_glb_st32(s, out + CSG_OUT_CS_IRQ_REQ,
                          mali_csf_glb_ld32(s, in + CSG_IN_CS_IRQ_ACK));
        mali_csf_glb_st32(s, out + CSG_OUT_STATE, 0);
        for (unsigned c = 0; c < s->streams; c++) {
            uint32_t va = mali_cs_ctrl_va(i, c);

            mali_csf_glb_st32(s, va, CS_FEATURES(cs->n_regs, cs->n_sbs));
            mali_csf_glb_st32(s, va + 4, mali_cs_in_va(i, c));
            mali_csf_glb_st32(s, va + 8, mali_cs_out_va(i, c));
            ack = mali_csf_glb_ld32(s, mali_cs_in_va(i, c) + CS_IN_REQ);
            mali_csf_glb_st32(s, mali_cs_out_va(i, c) + CS_OUT_ACK,
                              ack & ~CS_REQ_STATE);
        }
    }
}

void mali_csf_csg_init(MaliCsfState *s)
{
    s->cs = g_new0(MaliCs, 1);
    s->cs->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, csg_timer, s);
    s->cs->v11 = s->gpu_id >> 28 >= 11;
    s->cs->n_sbs = s->cs->v11 ? CS_SCOREBOARDS_V11 : CS_SCOREBOARDS_V10;
    /* Known of arch 10; later ones have more (inf.). */
    s->cs->n_regs = s->gpu_id >> 28 >= 12 ? 128 : 96;
    mali_csf_csg_reset(s);
}

void mali_csf_csg_exit(MaliCsfState *s)
{
    timer_free(s->cs->timer);
    g_free(s->cs);
    s->cs = NULL;
}
