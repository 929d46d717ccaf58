/*
 * Arm Mali CSF GPU: address spaces, page-table walk, faults
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Page tables are AArch64 stage 1 with a 4 KiB granule. Translations are kept
 * as a TLB would, until UPDATE, or until LOCK, UNLOCK or a flush concerns the
 * region that they lie in; while a region of an address space is locked,
 * accesses to it wait. A driver may be preempted with
 * a region locked, for longer than it gives firmware to answer, so that no more
 * must wait than what is locked.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "exec/address-spaces.h"
#include "hw/registerfields.h"
#include "hw/misc/mali-csf.h"
#include "trace.h"

/* Of each address space */
REG32(TRANSTAB, 0x00)
REG32(TRANSTAB_HI, 0x04)
REG32(MEMATTR, 0x08)
REG32(MEMATTR_HI, 0x0c)
REG32(LOCKADDR, 0x10)
    FIELD(LOCKADDR, SIZE, 0, 6)
REG32(LOCKADDR_HI, 0x14)
REG32(COMMAND, 0x18)
REG32(FAULTSTATUS, 0x1c)
    FIELD(FAULTSTATUS, EXCEPTION_TYPE, 0, 8)
    FIELD(FAULTSTATUS, ACCESS_TYPE, 8, 2)
    FIELD(FAULTSTATUS, SOURCE_ID, 16, 16)
REG32(FAULTADDRESS, 0x20)
REG32(STATUS, 0x28)
    FIELD(STATUS, ACTIVE, 0, 1)
REG32(TRANSCFG, 0x30)
    FIELD(TRANSCFG, ADRMODE, 0, 4)
    FIELD(TRANSCFG, INA_BITS, 6, 5)
REG32(TRANSCFG_HI, 0x34)
REG32(FAULTEXTRA, 0x38)
#define AS_REGS             0x40

/* COMMAND */
enum { CMD_NOP, CMD_UPDATE, CMD_LOCK, CMD_UNLOCK, CMD_FLUSH_PT, CMD_FLUSH_MEM };

/* TRANSCFG.ADRMODE */
#define ADRMODE(cfg)        FIELD_EX32(cfg, TRANSCFG, ADRMODE)
#define ADRMODE_IDENTITY    2
#define ADRMODE_AARCH64_4K  6
/* No more than MMU_FEATURES has. */
#define INA_BITS(cfg)       MIN(55 - FIELD_EX32(cfg, TRANSCFG, INA_BITS), 48)

/* FAULTSTATUS.EXCEPTION_TYPE, a level each */
#define FAULT_TRANSLATION   0xc0
#define FAULT_PERMISSION    0xc8
#define FAULT_ACCESS_FLAG   0xd8
#define FAULT_ADDRESS_IN    0xe0
#define FAULT_ADDRESS_OUT   0xe4
#define FAULT_ATTRIBUTES    0xe8

#define PA_BITS             40
#define PTE_VALID           (1ull << 0)
#define PTE_TABLE           (1ull << 1)
#define PTE_ATTR_SHIFT      2
#define PTE_ATTR_BITS       3
#define PTE_RDONLY          (1ull << 7)
#define PTE_AF              (1ull << 10)
#define PTE_PXN             (1ull << 53)
#define PTE_UXN             (1ull << 54)
#define PTE_ADDR            MAKE_64BIT_MASK(12, PA_BITS - 12)
/* Address bits 47:40, which this GPU cannot drive */
#define PTE_ADDR_HIGH       MAKE_64BIT_MASK(PA_BITS, 48 - PA_BITS)

/* Bits 7:6 of each of the eight attributes in MEMATTR */
enum { ATTR_SHARED, ATTR_NOT_CACHED, ATTR_WRITE_BACK, ATTR_FAULT };
/* Bits 5:4: with whom a write-back page is coherent, if the GPU is coherent */
enum { ATTR_SH_GPU, ATTR_SH_CPU, ATTR_SH_CPU_SHADERS };

#define AS_COMMAND_NS       1000

/*
 * Only memory may be the target of an access: a GPU that reached registers,
 * its own among them, would be entered again while it is at work.
 */
static const MemTxAttrs mmu_attrs = { .unspecified = 1, .memory = 1 };

static void mmu_tlb_drop(MaliAs *as)
{
    for (int i = 0; i < MALI_TLB_SIZE; i++) {
        as->tlb[i].va_page = UINT64_MAX;
    }
}

/* No more than the region is dropped: a driver locks all that it changes. */
static void mmu_tlb_drop_region(MaliAs *as)
{
    for (int i = 0; i < MALI_TLB_SIZE; i++) {
        MaliTlbEntry *e = &as->tlb[i];

        if (e->va_page >= as->lock_first >> 12 &&
            e->va_page <= as->lock_last >> 12) {
            e->va_page = UINT64_MAX;
        }
    }
}

static void mmu_raise_fault(MaliCsfState *s, unsigned n, uint64_t va,
                            uint32_t type, MaliAccess access, uint32_t source)
{
    MaliAs *as = &s->as[n];

    /* The registers hold the first fault; later ones wait behind it. */
    if (as->faulted) {
        return;
    }
    as->faulted = true;
    as->faultstatus = FIELD_DP32(0, FAULTSTATUS, EXCEPTION_TYPE, type);
    as->faultstatus = FIELD_DP32(as->faultstatus, FAULTSTATUS, ACCESS_TYPE,
                                 access);
    as->faultstatus = FIELD_DP32(as->faultstatus, FAULTSTATUS, SOURCE_ID,
                                 source);
    as->faultaddress = va;
    trace_mali_csf_fault(n, va, as->faultstatus);
    as->faultextra = 0;
    mali_csf_irq_raise(s, MALI_IRQ_MMU, 1u << n);
}

static uint8_t mmu_attribute(const MaliAs *as, uint64_t pte)
{
    unsigned index = extract64(pte, PTE_ATTR_SHIFT, PTE_ATTR_BITS);

    return extract64(as->cur_memattr, 8 * index, 8);
}

/* What is written there stays in the GPU's caches until they are flushed. */
static bool mmu_stays_cached(MaliCsfState *s, uint8_t attribute)
{
    unsigned sh = extract32(attribute, 4, 2);

    return extract32(attribute, 6, 2) == ATTR_WRITE_BACK &&
           !(s->coherent && s->coherency_protocol == MALI_COHERENCY_ACE_LITE &&
             (sh == ATTR_SH_CPU || sh == ATTR_SH_CPU_SHADERS));
}

/* Walk the tables: 0, or the exception type of a fault. */
static uint32_t mmu_walk(MaliCsfState *s, MaliAs *as, uint64_t va,
                         MaliTlbEntry *e)
{
    unsigned bits = INA_BITS(as->cur_transcfg);
    unsigned level = 4 - DIV_ROUND_UP(bits - 12, 9);
    uint64_t table = as->cur_transtab & PTE_ADDR;

    s->mmu_walks++;
    if (bits < 64 && va >> bits) {
        return FAULT_ADDRESS_IN;
    }
    for (;; level++) {
        unsigned shift = 12 + 9 * (3 - level);
        uint64_t index = va >> shift & 0x1ff;
        uint64_t pte;

        if (address_space_read(&address_space_memory, table + index * 8,
                               mmu_attrs, &pte, sizeof(pte)) != MEMTX_OK) {
            return FAULT_ADDRESS_OUT + level;
        }
        pte = le64_to_cpu(pte);
        if (!(pte & PTE_VALID) || (level == 3 && !(pte & PTE_TABLE)) ||
            (level == 0 && !(pte & PTE_TABLE))) {
            return FAULT_TRANSLATION + level;
        }
        if (pte & PTE_ADDR_HIGH) {
            return FAULT_ADDRESS_OUT + level;
        }
        if (level < 3 && (pte & PTE_TABLE)) {
            table = pte & PTE_ADDR;
            continue;
        }
        if (!(pte & PTE_AF)) {
            return FAULT_ACCESS_FLAG + level;
        }
        e->attribute = mmu_attribute(as, pte);
        if (extract32(e->attribute, 6, 2) == ATTR_FAULT) {
            return FAULT_ATTRIBUTES + level;
        }
        e->va_page = va >> 12;
        e->pa_page = ((pte & PTE_ADDR & ~MAKE_64BIT_MASK(0, shift)) |
                      (va & MAKE_64BIT_MASK(0, shift))) >> 12;
        e->writable = !(pte & PTE_RDONLY);
        e->executable = !(pte & (PTE_UXN | PTE_PXN));
        return 0;
    }
}

/* Translate one page; returns an exception type or 0. */
static uint32_t mmu_translate(MaliCsfState *s, MaliAs *as, uint64_t va,
                              MaliAccess access, MaliPlace *place)
{
    MaliTlbEntry *e = &as->tlb[(va >> 12) % MALI_TLB_SIZE];
    uint32_t fault;

    if (ADRMODE(as->cur_transcfg) == ADRMODE_IDENTITY) {
        *place = (MaliPlace) { .pa = va };
        return 0;
    }
    if (e->va_page != va >> 12) {
        MaliTlbEntry new;

        fault = mmu_walk(s, as, va, &new);
        if (fault) {
            return fault;
        }
        *e = new;
    } else {
        s->mmu_hits++;
    }
    if ((access == MALI_ACCESS_WRITE && !e->writable) ||
        (access == MALI_ACCESS_EXEC && !e->executable)) {
        return FAULT_PERMISSION + 3;
    }
    place->pa = e->pa_page << 12 | (va & 0xfff);
    place->cached = mmu_stays_cached(s, e->attribute);
    return 0;
}

/*
 * Firmware waits as a whole or not at all, and before it has begun something:
 * for the section without which it can do nothing. Its other pages are the
 * host's to change only when firmware does not use them.
 */
static bool mmu_waits(MaliAs *as, bool firmware, uint64_t first, uint64_t last)
{
    if (!as->locked) {
        return false;
    }
    if (firmware) {
        first = MALI_SHARED_VA;
        last = first + MALI_SHARED_SIZE - 1;
    }
    return first <= as->lock_last && last >= as->lock_first;
}

/* All of an access but the transfer; where it begins goes to @place. */
static MaliMmuResult mmu_check(MaliCsfState *s, unsigned n, uint64_t va,
                               uint64_t len, MaliAccess access,
                               uint32_t source, MaliPlace *place)
{
    MaliAs *as;
    uint64_t first, last;

    if (n >= MALI_MAX_AS || !(s->as_present >> n & 1)) {
        return MALI_MMU_FAULT;
    }
    as = &s->as[n];
    if (mmu_waits(as, n == 0, va, va + len - !!len)) {
        return MALI_MMU_LOCKED;
    }
    if (as->faulted) {
        return MALI_MMU_FAULT;
    }
    /*
     * An unmapped address space ends every access, and (inf.) raises no
     * fault: drivers set this mode to kill what still runs on it.
     */
    if (ADRMODE(as->cur_transcfg) != ADRMODE_AARCH64_4K &&
        ADRMODE(as->cur_transcfg) != ADRMODE_IDENTITY) {
        return MALI_MMU_FAULT;
    }
    if (!len) {
        return MALI_MMU_OK;
    }
    if (va + len - 1 < va) {
        mmu_raise_fault(s, n, va, FAULT_ADDRESS_IN, access, source);
        return MALI_MMU_FAULT;
    }

    /* All pages first, so that an access which faults changes nothing. */
    first = va & ~0xfffull;
    last = (va + len - 1) & ~0xfffull;
    for (uint64_t page = first; ; page += 0x1000) {
        uint64_t at = page < va ? va : page;
        MaliPlace here;
        uint32_t fault = mmu_translate(s, as, at, access, &here);

        if (fault) {
            mmu_raise_fault(s, n, at, fault, access, source);
            return MALI_MMU_FAULT;
        }
        if (page == first) {
            *place = here;
        }
        if (page == last) {
            break;
        }
    }
    return MALI_MMU_OK;
}

static MaliMmuResult mmu_transfer(MaliCsfState *s, uint64_t pa, void *buf,
                                  uint64_t len, bool write)
{
    if (address_space_rw(&address_space_memory, pa, mmu_attrs, buf, len,
                         write) == MEMTX_OK) {
        return MALI_MMU_OK;
    }
    s->gpu_fault_status = 0x80;     /* GPU_BUS_FAULT */
    s->gpu_fault_addr = pa;
    mali_csf_irq_raise(s, MALI_IRQ_GPU, MALI_GPU_IRQ_FAULT);
    return MALI_MMU_FAULT;
}

MaliMmuResult mali_csf_mmu_locate(MaliCsfState *s, unsigned n, uint64_t va,
                                  uint64_t len, uint32_t source,
                                  MaliPlace *place)
{
    return mmu_check(s, n, va, len, MALI_ACCESS_WRITE, source, place);
}

MaliMmuResult mali_csf_mmu_put(MaliCsfState *s, uint64_t pa, const void *buf,
                               uint64_t len)
{
    return mmu_transfer(s, pa, (void *)buf, len, true);
}

MaliMmuResult mali_csf_mmu_access(MaliCsfState *s, unsigned n, uint64_t va,
                                  void *buf, uint64_t len, MaliAccess access,
                                  uint32_t source)
{
    MaliPlace place;
    MaliMmuResult res = mmu_check(s, n, va, len, access, source, &place);
    uint8_t *p = buf;

    while (res == MALI_MMU_OK && len) {
        uint64_t chunk = MIN(len, 0x1000 - (va & 0xfff));

        res = mmu_transfer(s, place.pa, p, chunk, access == MALI_ACCESS_WRITE);
        p += chunk;
        va += chunk;
        len -= chunk;
        /* Walked above; a TLB conflict merely walks again. */
        if (res == MALI_MMU_OK && len &&
            mmu_translate(s, &s->as[n], va, access, &place)) {
            res = MALI_MMU_FAULT;
        }
    }
    return res;
}

bool mali_csf_mmu_locked(MaliCsfState *s, unsigned n)
{
    return n < MALI_MAX_AS && mmu_waits(&s->as[n], n == 0, 0, UINT64_MAX);
}

static void mmu_command_done(MaliCsfState *s, unsigned n)
{
    MaliAs *as = &s->as[n];
    bool event = false;

    as->active = false;
    switch (as->command) {
    case CMD_UPDATE:
        as->cur_transtab = as->transtab;
        as->cur_memattr = as->memattr;
        as->cur_transcfg = as->transcfg;
        as->faulted = false;
        /*
         * (inf.) No lock outlives the tables it was about. Linux 7.3 leaves
         * one behind when a reset comes between its LOCK and its UNLOCK, and
         * gives the address space to another process next.
         */
        as->locked = false;
        mmu_tlb_drop(as);
        event = true;
        break;
    case CMD_LOCK:
        /* LOCKADDR: the start, and in bits 5:0 the size's order less one. */
        as->lock_last = MAKE_64BIT_MASK(0, FIELD_EX32(as->lockaddr, LOCKADDR,
                                                      SIZE) + 1);
        as->lock_first = as->lockaddr & ~as->lock_last;
        as->lock_last |= as->lock_first;
        as->locked = true;
        mmu_tlb_drop_region(as);
        break;
    case CMD_UNLOCK:
    case CMD_FLUSH_PT:
    case CMD_FLUSH_MEM:
        /* The flushes end with the region unlocked. */
        if (as->locked) {
            mmu_tlb_drop_region(as);
        }
        as->locked = false;
        event = true;
        /* Both flush the L2, which has all that waits for that. */
        if (as->command != CMD_UNLOCK) {
            s->events->caches_flushed(s);
        }
        break;
    }
    mali_csf_irq_raise(s, MALI_IRQ_MMU, 1u << (16 + n % 16));
    if (event) {
        s->events->space_changed(s, n);
    }
}

typedef struct MmuTimerArg {
    MaliCsfState *s;
    unsigned n;
} MmuTimerArg;

static void mmu_timer(void *opaque)
{
    MmuTimerArg *arg = opaque;

    if (!mali_csf_clk_waits(arg->s, arg->s->as[arg->n].timer)) {
        mmu_command_done(arg->s, arg->n);
    }
}

void mali_csf_mmu_init(MaliCsfState *s)
{
    for (unsigned i = 0; i < MALI_MAX_AS; i++) {
        MmuTimerArg *arg = g_new(MmuTimerArg, 1);

        arg->s = s;
        arg->n = i;
        s->as[i].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mmu_timer, arg);
    }
    mali_csf_mmu_reset(s);
}

void mali_csf_mmu_exit(MaliCsfState *s)
{
    for (unsigned i = 0; i < MALI_MAX_AS; i++) {
        g_free(s->as[i].timer->opaque);
        timer_free(s->as[i].timer);
    }
}

void mali_csf_mmu_reset(MaliCsfState *s)
{
    for (int i = 0; i < MALI_MAX_AS; i++) {
        MaliAs *as = &s->as[i];
        QEMUTimer *timer = as->timer;

        timer_del(timer);
        memset(as, 0, sizeof(*as));
        as->timer = timer;
        mmu_tlb_drop(as);
    }
}

uint32_t mali_csf_mmu_read(MaliCsfState *s, hwaddr off)
{
    unsigned n = off / AS_REGS;
    MaliAs *as = &s->as[n];
    uint64_t v;

    if (!(s->as_present >> n & 1)) {
        return 0;
    }
    switch (off % AS_REGS & ~4) {
    case A_TRANSTAB:
        v = as->transtab;
        break;
    case A_MEMATTR:
        v = as->memattr;
        break;
    case A_LOCKADDR:
        v = as->lockaddr;
        break;
    case A_COMMAND:  /* COMMAND reads as zero, FAULTSTATUS above it */
        v = (uint64_t)as->faultstatus << 32;
        break;
    case A_FAULTADDRESS:
        v = as->faultaddress;
        break;
    case A_STATUS:
        v = as->active ? R_STATUS_ACTIVE_MASK : 0;
        break;
    case A_TRANSCFG:
        v = as->transcfg;
        break;
    case A_FAULTEXTRA:
        v = as->faultextra;
        break;
    default:
        v = 0;
    }
    return v >> (off & 4 ? 32 : 0);
}

void mali_csf_mmu_write(MaliCsfState *s, hwaddr off, uint32_t val)
{
    unsigned n = off / AS_REGS, half = off & 4 ? 32 : 0;
    MaliAs *as = &s->as[n];

    if (!(s->as_present >> n & 1)) {
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: AS%u, which there is not: "
                      "write of 0x%x ignored\n", n, val);
        return;
    }
    switch (off % AS_REGS) {
    case A_TRANSTAB:
    case A_TRANSTAB_HI:
        as->transtab = deposit64(as->transtab, half, 32, val);
        break;
    case A_MEMATTR:
    case A_MEMATTR_HI:
        as->memattr = deposit64(as->memattr, half, 32, val);
        break;
    case A_LOCKADDR:
    case A_LOCKADDR_HI:
        as->lockaddr = deposit64(as->lockaddr, half, 32, val);
        break;
    case A_COMMAND:
        if (as->active) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: AS%u: command %u while "
                          "%u is in progress\n", n, val, as->command);
            if (as->stuck) {
                break;
            }
            timer_del(as->timer);
            mmu_command_done(s, n);
        }
        if (val > CMD_FLUSH_MEM) {
            qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: AS%u: unknown command "
                          "%u\n", n, val);
            break;
        }
        if (val == CMD_NOP) {
            break;
        }
        trace_mali_csf_as_command(n, val);
        as->active = true;
        as->command = val;
        as->stuck = mali_csf_faults_as_stuck(s);
        if (as->stuck) {
            break;
        }
        timer_mod(as->timer, mali_csf_clk_now() + AS_COMMAND_NS);
        break;
    case A_TRANSCFG:
    case A_TRANSCFG_HI:
        as->transcfg = deposit64(as->transcfg, half, 32, val);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "mali-csf: AS%u: write of 0x%x to "
                      "register 0x%" HWADDR_PRIx " ignored\n", n, val,
                      off % AS_REGS);
    }
}

void mali_csf_mmu_flush_started(MaliCsfState *s)
{
    /* FLUSH_ID counts in steps, modulo 2^28; zero is skipped. */
    s->latest_flush_id = (s->latest_flush_id + 1) & 0x0fffffff;
    if (!s->latest_flush_id) {
        s->latest_flush_id = 1;
    }
}
