/*
 * Arm Mali CSF GPU: a model for the arm64 "virt" machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Documentation/virtual-mali.rst has who calls whom.
 *
 * Everything runs under the big QEMU lock, on QEMU_CLOCK_VIRTUAL. GPU memory
 * is reached through mali_csf_mmu_access() alone: the MCU through address
 * space 0, a queue through its group's.
 */
#ifndef HW_MISC_MALI_CSF_H
#define HW_MISC_MALI_CSF_H

#include "qapi/qapi-types-common.h"
#include "hw/sysbus.h"
#include "hw/misc/mali-csf-bench-regs.h"
#include "qemu/timer.h"
#include "qom/object.h"

#define TYPE_MALI_CSF "mali-csf"
OBJECT_DECLARE_SIMPLE_TYPE(MaliCsfState, MALI_CSF)

#define MALI_REGS_SIZE          0x200000
/* Registers of the power controller */
#define MALI_PWR_REGS           0x100
#define MALI_PWR_REGS_LAST      0x27f
/* From arch 14 on there are these instead: PWR_CONTROL */
#define MALI_PWRCTL_REGS        0x800
#define MALI_PWRCTL_REGS_LAST   0xbff
#define MALI_BENCH_SIZE         0x10000
#define MALI_SYSREG_SIZE        0x1000
#define MALI_FUSES_SIZE         0x1000

#define MALI_MAX_AS             32
#define MALI_MAX_CS             32
#define MALI_MAX_CORES          64
#define MALI_MAX_L2             16
#define MALI_DOORBELLS          ((MALI_REGS_SIZE - 0x80000) / 0x10000)
/*
 * A doorbell is the global one; a driver gives each group slot one of the
 * others.
 */
#define MALI_MAX_CSGS           (MALI_DOORBELLS - 1)
/* Core clock cycles that a cache flush by GPU_COMMAND or a stream takes. */
#define MALI_FLUSH_CYCLES       200
/* Operating points of the board */
#define MALI_MAX_OPPS           16
/* Thousandths of the rate set at which clocks can be made to run. */
#define MALI_MAX_REAL_RATE      4000

/* Block order in a firmware sample; also the index of the enable masks. */
enum {
    MALI_BLK_META, MALI_BLK_FW, MALI_BLK_CSG, MALI_BLK_CSHW, MALI_BLK_TILER,
    MALI_BLK_MEMSYS, MALI_BLK_SHADER, MALI_BLK_TYPES
};

/* Sample reasons: value 3 of the metadata block. */
enum {
    MALI_REASON_REQUEST, MALI_REASON_PROTM, MALI_REASON_HALT,
    MALI_REASON_SLEEP, MALI_REASON_SUSPEND, MALI_REASON_YIELD,
    MALI_REASON_WARM_BOOT
};

enum { MALI_CLK_CORE, MALI_CLK_COREGROUP, MALI_CLK_STACKS, MALI_CLKS };

/* Regions of registers, as the board maps them */
enum {
    MALI_MMIO_REGS, MALI_MMIO_BENCH, MALI_MMIO_SYSREG, MALI_MMIO_FUSES,
    MALI_MMIOS
};

/* Interrupt blocks with a line each; arch 14's PWR_CONTROL shares the GPU's. */
enum {
    MALI_IRQ_JOB, MALI_IRQ_MMU, MALI_IRQ_GPU, MALI_IRQ_LINES,
    MALI_IRQ_PWR = MALI_IRQ_LINES, MALI_IRQS
};

/* Domains of the power controller. */
enum { MALI_PWR_SHADER, MALI_PWR_TILER, MALI_PWR_L2, MALI_PWRS };

enum { MALI_MCU_DISABLED, MALI_MCU_ENABLED, MALI_MCU_HALT, MALI_MCU_FATAL };

/* GPU_STATUS */
#define MALI_STATUS_ACTIVE      (1u << 0)
#define MALI_STATUS_PWR_ACTIVE  (1u << 1)
#define MALI_STATUS_PAGE_FAULT  (1u << 4)
#define MALI_STATUS_PROTM       (1u << 7)

/* GPU interrupt bits */
#define MALI_GPU_IRQ_FAULT              (1u << 0)
#define MALI_GPU_IRQ_PROTM_FAULT        (1u << 1)
#define MALI_GPU_IRQ_RESET_COMPLETED    (1u << 8)
#define MALI_GPU_IRQ_POWER_CHANGED      (1u << 9)
#define MALI_GPU_IRQ_POWER_CHANGED_ALL  (1u << 10)
#define MALI_GPU_IRQ_CLEAN_COMPLETED    (1u << 17)
#define MALI_GPU_IRQ_DOORBELL_MIRROR    (1u << 18)
#define MALI_GPU_IRQ_MCU_STATUS         (1u << 19)

/* COHERENCY_PROTOCOL */
#define MALI_COHERENCY_ACE_LITE         0
#define MALI_COHERENCY_NONE             31

/* HALT_STATUS */
#define MALI_HALT_ON_PANIC              0x4e
#define MALI_HALT_ON_WATCHDOG           0x4f

#define MALI_JOB_IRQ_GLOBAL             (1u << 31)

/* Global interface: REQ and ACK */
#define MALI_GLB_HALT                   (1u << 0)
#define MALI_GLB_CFG_PROGRESS_TIMER     (1u << 1)
#define MALI_GLB_CFG_ALLOC_EN           (1u << 2)
#define MALI_GLB_CFG_POWEROFF_TIMER     (1u << 3)
#define MALI_GLB_PROTM_ENTER            (1u << 4)
#define MALI_GLB_PRFCNT_ENABLE          (1u << 5)
#define MALI_GLB_PRFCNT_SAMPLE          (1u << 6)
#define MALI_GLB_COUNTER_EN             (1u << 7)
#define MALI_GLB_PING                   (1u << 8)
#define MALI_GLB_FWCFG_UPDATE           (1u << 9)
#define MALI_GLB_IDLE_EN                (1u << 10)
#define MALI_GLB_SLEEP                  (1u << 12)
#define MALI_GLB_STATE_SHIFT            12
#define MALI_GLB_STATE_MASK             (7u << 12)
#define MALI_GLB_PROTM_EXIT             (1u << 23)
#define MALI_GLB_PRFCNT_THRESHOLD       (1u << 24)
#define MALI_GLB_PRFCNT_OVERFLOW        (1u << 25)
#define MALI_GLB_IDLE                   (1u << 26)

#define MALI_GLB_PRFCNT_MASK \
    (MALI_GLB_PRFCNT_ENABLE | MALI_GLB_PRFCNT_SAMPLE | \
     MALI_GLB_PRFCNT_THRESHOLD | MALI_GLB_PRFCNT_OVERFLOW)

/*
 * The shared section, in the MCU's address space. The places of the group and
 * stream control blocks are the interface's; where input and output blocks
 * are is the firmware's choice, published through the control blocks.
 */
#define MALI_SHARED_VA          0x04000000u
#define MALI_SHARED_SIZE        0x00090000u
#define MALI_GROUP_STRIDE       0x400u
#define MALI_STREAM_STRIDE      0x10u
#define MALI_GLB_IN             (MALI_SHARED_VA + 0x9000)
#define MALI_GLB_OUT            (MALI_SHARED_VA + 0xa000)

/* Global input block */
#define MALI_GLB_IN_REQ                 0x00
#define MALI_GLB_IN_ACK_IRQ_MASK        0x04
#define MALI_GLB_IN_DB_REQ              0x08
#define MALI_GLB_IN_PROGRESS_TIMER      0x10
#define MALI_GLB_IN_POWEROFF_TIMER      0x14
#define MALI_GLB_IN_ALLOC_EN            0x18
#define MALI_GLB_IN_PRFCNT_JASID        0x24
#define MALI_GLB_IN_PRFCNT_BASE         0x28
#define MALI_GLB_IN_PRFCNT_EXTRACT      0x30
#define MALI_GLB_IN_PRFCNT_CONFIG       0x40
#define MALI_GLB_IN_PRFCNT_CSG_SELECT   0x44
#define MALI_GLB_IN_PRFCNT_FW_EN        0x48
#define MALI_GLB_IN_PRFCNT_CSG_EN       0x4c
#define MALI_GLB_IN_PRFCNT_CSHW_EN      0x50
#define MALI_GLB_IN_PRFCNT_SHADER_EN    0x54
#define MALI_GLB_IN_PRFCNT_TILER_EN     0x58
#define MALI_GLB_IN_PRFCNT_MEMSYS_EN    0x5c
#define MALI_GLB_IN_IDLE_TIMER          0x80
/* Global output block */
#define MALI_GLB_OUT_ACK                0x00
#define MALI_GLB_OUT_DB_ACK             0x08
#define MALI_GLB_OUT_HALT_STATUS        0x10
#define MALI_GLB_OUT_PRFCNT_STATUS      0x14
#define MALI_GLB_OUT_PRFCNT_INSERT      0x18

static inline uint32_t mali_csg_ctrl_va(unsigned g)
{
    return MALI_SHARED_VA + 0x1000 + g * MALI_GROUP_STRIDE;
}

static inline uint32_t mali_cs_ctrl_va(unsigned g, unsigned c)
{
    return mali_csg_ctrl_va(g) + 0x40 + c * MALI_STREAM_STRIDE;
}

static inline uint32_t mali_csg_in_va(unsigned g)
{
    return MALI_SHARED_VA + 0x10000 + g * 0x4000;
}

static inline uint32_t mali_csg_out_va(unsigned g)
{
    return mali_csg_in_va(g) + 0x100;
}

static inline uint32_t mali_cs_in_va(unsigned g, unsigned c)
{
    return mali_csg_in_va(g) + 0x200 + c * 0x80;
}

static inline uint32_t mali_cs_out_va(unsigned g, unsigned c)
{
    return mali_csg_in_va(g) + 0x1200 + c * 0x100;
}

/* What a memory access came to. */
typedef enum {
    MALI_MMU_OK,
    /* The region is locked: try again when told. */
    MALI_MMU_LOCKED,
    /* A fault was raised (or one is outstanding): the access never happens. */
    MALI_MMU_FAULT,
} MaliMmuResult;

typedef enum {
    MALI_ACCESS_EXEC = 1, MALI_ACCESS_READ = 2, MALI_ACCESS_WRITE = 3,
} MaliAccess;

/* A translation kept from a walk. */
typedef struct MaliTlbEntry {
    uint64_t va_page;   /* address >> 12; ~0: empty */
    uint64_t pa_page;
    bool writable;
    bool executable;
    uint8_t attribute;  /* as MEMATTR has it */
} MaliTlbEntry;

/* Where in memory something is, and what happens to a write there. */
typedef struct MaliPlace {
    uint64_t pa;
    bool cached;        /* stays in the GPU caches until a flush */
} MaliPlace;

#define MALI_TLB_SIZE 256

/* One address space: registers as written, and as last taken by UPDATE. */
typedef struct MaliAs {
    uint64_t transtab, memattr, lockaddr, transcfg;
    uint64_t cur_transtab, cur_memattr, cur_transcfg;
    bool locked;
    uint64_t lock_first, lock_last; /* the region, while it is locked */
    bool faulted;       /* a fault is outstanding until the next UPDATE */
    uint32_t faultstatus;
    uint64_t faultaddress;
    uint64_t faultextra;
    bool active;        /* a command is in progress (AS_STATUS) */
    bool stuck;         /* and will be, until a reset */
    uint32_t command;   /* which one */
    QEMUTimer *timer;   /* its end */
    MaliTlbEntry tlb[MALI_TLB_SIZE];
} MaliAs;

/* One interrupt block: RAWSTAT, CLEAR, MASK, STAT. */
typedef struct MaliIrq {
    uint32_t raw, mask;
    qemu_irq line;
    struct MaliIrq *sharer;     /* the other block on the same line, or NULL */
} MaliIrq;

/*
 * Who controls a domain of PWR_CONTROL:
 *
 *   MALI_PWR_HOST -- DELEGATE --> MALI_PWR_FIRMWARE -- RETRACT -->
 *   MALI_PWR_RETRACTING -- power_ns later, no transition left --> MALI_PWR_HOST
 *
 * and a reset makes all of them the host's. Before arch 14 host and firmware
 * control every domain: the state stays MALI_PWR_BOTH.
 */
typedef enum {
    MALI_PWR_BOTH, MALI_PWR_HOST, MALI_PWR_FIRMWARE, MALI_PWR_RETRACTING
} MaliPwrOwner;

/* One domain of the power controller. */
typedef struct MaliPwr {
    uint64_t present, ready, trans_on, trans_off;
    QEMUTimer *timer;
    MaliPwrOwner owner;
} MaliPwr;

/* A clock of the board. */
typedef struct MaliClk {
    uint32_t nominal_hz;    /* as the board sets it */
    uint64_t hz;            /* at which it runs */
    uint64_t base_cycles;   /* cycles before rate or gate last changed */
    int64_t base_ns;        /* virtual time of that */
} MaliClk;

/* What the bench page has asked for; read by the blocks concerned. */
typedef struct MaliInject {
    /* the MCU looks at a global doorbell this much later */
    uint64_t ack_delay_ns;
    /* this many SAMPLE requests are never answered */
    uint32_t drop_samples;
    /* this many samples are taken and not acknowledged */
    uint32_t drop_sample_acks;
    /* this many global requests of any kind are never answered */
    uint32_t drop_acks;
    bool hang;                  /* the MCU executes nothing, until a reset */
    bool ring_full;             /* the counter ring looks full to firmware */
    bool protm;                 /* hold protected mode */
    bool cores_hold;            /* idle cores are not powered down */
    uint64_t cores_off;         /* shader cores which firmware powers down */
    uint32_t iface_version;     /* published at the next boot; 0: the model's */
    uint32_t boot_fail;         /* so many boots do not come up */
    uint32_t cs_unrecoverable;  /* so many streams end so */
    bool unrecoverable;         /* one has, and there was no reset since */
    /* added to INSERT as published: hostile firmware */
    uint32_t insert_skew;
    uint32_t insert_skew_on;
    /* the switches from 0x300 of the bench page on */
    uint32_t fault[MALI_FAULTS];
    uint64_t fault_hits;        /* times that one made a difference */
    bool en_cut, ts_back;       /* of the sample that is being written */
} MaliInject;

/* Constant facts about one GPU. */
typedef struct MaliModel {
    const char *name;
    const char *compatible;     /* default of the property, or NULL */
    uint32_t gpu_id;
    uint64_t shader_present;
    uint32_t l2_slices;
    uint32_t counters;          /* per block: 64 or 128 */
    bool metadata;
    uint32_t iface_version;
    uint32_t csgs;
    uint32_t fw_blocks;         /* 0 or 1 */
    uint32_t csg_blocks;        /* 0 or csgs */
    uint64_t gpu_features;
    uint32_t core_features;
} MaliModel;

typedef struct MaliCs MaliCs;               /* mali-csf-cs.c */
typedef struct MaliCounters MaliCounters;   /* mali-csf-counters.c */
typedef struct MaliPerfcnt MaliPerfcnt;     /* mali-csf-perfcnt.c */
typedef struct MaliLedger MaliLedger;       /* mali-csf-ledger.c */
typedef struct MaliBench MaliBench;         /* mali-csf-bench.c */
typedef struct MaliPublish MaliPublish;     /* mali-csf-publish.c */

/*
 * What files tell those above them, which they do not know. Their calls of each
 * other go downwards alone; virtual-mali.rst has the drawing.
 */
typedef struct MaliCsfEvents {
    /* Address space @as was unlocked or updated. */
    void (*space_changed)(MaliCsfState *s, unsigned as);
    /* A domain of the power controller came up or went down. */
    void (*power_changed)(MaliCsfState *s);
    /* A group became busy, or idle, or a slot's state changed. */
    void (*groups_changed)(MaliCsfState *s);
    /* Nothing runs or can run in any group slot. */
    bool (*groups_idle)(MaliCsfState *s);
    /* A sample is due: the counters are to hear of work under way. */
    void (*sample_due)(MaliCsfState *s);
    /* The GPU's caches were flushed: what is in memory is what was written. */
    void (*caches_flushed)(MaliCsfState *s);
    /* The board has stopped all clocks: the GPU knows nothing any more. */
    void (*clocks_stopped)(MaliCsfState *s);
    /* PWR_CONTROL has been told to reset the GPU. */
    void (*reset_wanted)(MaliCsfState *s);
} MaliCsfEvents;

/* Arch 14 and later have PWR_CONTROL, and shader blocks without gaps. */
#define MALI_ARCH_PWR_CONTROL   14
#define MALI_ARCH_COMPACT_CORES 14

struct MaliCsfState {
    SysBusDevice parent_obj;

    MemoryRegion regs;
    MemoryRegion bench_regs;
    MemoryRegion sysreg;
    MemoryRegion fuses;

    /* Properties; UINT32_MAX, UINT64_MAX or NULL: as the model has it. */
    char *model_name;
    char *ledger_name, *job_ledger_name;
    uint64_t ledger_max;        /* bytes */
    char *iface_str;            /* "X.Y.Z" */
    uint32_t gpu_id;
    uint64_t shader_present;
    uint64_t shader_fuses;          /* cores that fuses have left */
    uint32_t l2_slices;
    uint32_t csgs;
    uint32_t streams;           /* a group */
    uint32_t counters;          /* a block */
    uint32_t fw_blocks;
    uint32_t csg_blocks;
    OnOffAuto metadata;
    uint64_t gpu_features;
    bool coherent;
    /* Of the board */
    char *board;                /* its name */
    char *compatible;           /* the GPU's, before arm,mali-valhall-csf */
    char *clocks;               /* "core+coregroup@HZ+stacks" */
    char *opps;                 /* "HZ+HZ+..." */
    bool gpufreq;               /* a power domain has them */
    /* perfcnt_features is junk where it means nothing */
    bool features_junk;
    /* counter events are not raised again at a doorbell */
    bool events_once;
    uint32_t cntfrq;            /* of the CPUs' counter; 0: ask the first CPU */
    uint64_t timestamp_ahead;   /* ticks that no register tells of */
    bool timestamp_gated;       /* TIMESTAMP reads 0 without COUNTER_EN */
    bool cycle_count;           /* off: CYCLE_COUNT stands still */
    uint32_t real_rate;         /* thousandths of the rate set */
    bool protm_end;             /* a sample when protected mode ends */
    uint32_t mcu_latency_ns;    /* doorbell to firmware looking at it */
    uint32_t latency_seed;      /* not 0: latencies are drawn */
    uint32_t latency_random;
    uint32_t power_ns;          /* a power transition */

    const MaliModel *model;
    uint32_t iface_version;     /* major << 24 | minor << 16 | patch */
    uint32_t n_cores;           /* bits in shader_present */
    uint32_t as_present;

    /* registers */
    uint32_t gpu_status_protm;
    uint32_t gpu_fault_status;
    uint64_t gpu_fault_addr;
    uint64_t timestamp_offset;
    uint32_t coherency_protocol;
    uint32_t l2_config;
    uint32_t asn_hash[3];
    uint32_t pwr_key, pwr_override[2];
    uint32_t latest_flush_id;
    MaliIrq irq[MALI_IRQS];
    MaliPwr pwr[MALI_PWRS];
    uint64_t pwr_cmdarg;
    QEMUTimer *retract_timer;
    MaliClk clk[MALI_CLKS];
    unsigned clks_on;           /* a bit each: its gate is open */
    unsigned clks_named;        /* a bit each: the device tree has it */
    bool clks_shared;           /* all have the rate of core */
    uint32_t clk_fixed[MALI_CLKS];  /* rate as the device tree has it, or 0 */
    uint32_t opp_hz[MALI_MAX_OPPS];
    uint32_t opp_stacks_hz[MALI_MAX_OPPS];
    unsigned n_opps;
    uint32_t sys_led, sys_cfgdata, sys_cfgctrl, sys_cfgstat;
    QEMUTimer *reset_timer;
    QEMUTimer *flush_timer;
    uint32_t real_rate_now;     /* as the bench page sets it */
    /* What CYCLE_COUNT had advanced in all when last started or stopped */
    uint64_t cycle_total;
    uint64_t cycle_start;       /* of the core clock, then */
    uint64_t cycle_zero;        /* cycle_total when CYCLE_COUNT was 0 */
    bool cycle_enabled;         /* GLB_COUNTER_EN */
    uint32_t count_period_ns;   /* of the system counter */
    uint32_t second_ns;         /* QEMU's time while that counts a second */

    MaliAs as[MALI_MAX_AS];
    uint64_t csg_turns;             /* of the loop that runs groups */
    uint64_t mmu_walks, mmu_hits;   /* page-table walks; translations without */

    /* MCU */
    uint32_t mcu_control;
    uint32_t mcu_status;
    bool mcu_booted;            /* has run to its main loop */
    bool mcu_stuck;             /* never will, until it is disabled */
    /* the global doorbell was rung and not looked at */
    bool mcu_doorbell;
    /* counter requests are looked at again, though no doorbell rang */
    bool mcu_counters_due;
    /* asleep, and a doorbell rang while memory was locked */
    bool mcu_wake_due;
    uint32_t glb_req;           /* the global REQ, as last looked at */
    bool mcu_halted_req;        /* GLB_HALT as last seen, to find 0 to 1 */
    bool mcu_asleep;
    /* counter state does not survive to the next boot */
    bool mcu_cold;
    uint32_t published_version;
    uint32_t alloc_lo, alloc_hi;
    QEMUTimer *mcu_timer;       /* boot, doorbell latency */
    QEMUTimer *poweroff_timer;  /* idle cores power down */
    QEMUTimer *idle_timer;      /* GLB_IDLE hysteresis */
    bool idle_pending;
    uint64_t poweroff_ns, idle_ns;
    /* a job longer than this is reported; 0: never */
    uint64_t progress_cycles;

    MaliInject inj;

    MaliCs *cs;
    MaliCounters *ctr;
    MaliPerfcnt *perfcnt;
    MaliLedger *ledger, *job_ledger;
    MaliBench *bench;
    MaliPublish *publish;
    const MaliCsfEvents *events;
};

static inline unsigned mali_arch(const MaliCsfState *s)
{
    return s->gpu_id >> 28;
}

/* mali-csf-clk.c */
int64_t mali_csf_clk_now(void);
/* GPU timestamp, with its offset, in ticks of the system counter. */
uint64_t mali_csf_clk_timestamp(MaliCsfState *s);
uint64_t mali_csf_clk_timestamp_at(MaliCsfState *s, int64_t ns);
/* What the register TIMESTAMP reads. */
uint64_t mali_csf_clk_timestamp_reg(MaliCsfState *s);
/*
 * What takes @ns takes so long, or 2, 4... times that, up to as many
 * @doublings, drawn if there is a latency_seed.
 */
int64_t mali_csf_clk_latency(MaliCsfState *s, int64_t ns, unsigned doublings);
/*
 * Rate at which a clock domain runs, the one that the board has set, and its
 * cycles since power-on of the machine.
 */
uint64_t mali_csf_clk_hz(MaliCsfState *s, int clk);
uint32_t mali_csf_clk_nominal_hz(MaliCsfState *s, int clk);
uint64_t mali_csf_clk_cycles(MaliCsfState *s, int clk);
uint64_t mali_csf_clk_cycles_at(MaliCsfState *s, int clk, int64_t ns);
/* From now on; what depends on the clock has been brought up to date. */
void mali_csf_clk_set(MaliCsfState *s, int clk, uint32_t hz);
/* Likewise for all clocks: how fast they run, in thousandths of what is set. */
void mali_csf_clk_set_real_rate(MaliCsfState *s, uint32_t thousandths);
/* Those of @on, a bit each, run from now on, and the others do not. */
void mali_csf_clk_run(MaliCsfState *s, unsigned on);
/* All clocks run: the GPU works, and its registers answer. */
bool mali_csf_clk_running(const MaliCsfState *s);
/*
 * Whether what @timer is about is put off, because nothing gets on. Each timer
 * of the GPU asks that first.
 */
bool mali_csf_clk_waits(MaliCsfState *s, QEMUTimer *timer);
/* Time that so many cycles of a clock take, rounded up. */
int64_t mali_csf_clk_cycles_to_ns(MaliCsfState *s, int clk, uint64_t cycles);
/*
 * CYCLE_COUNT register: runs while GLB_COUNTER_EN, and is 0 after a reset or a
 * loss of power. The total is what it has advanced since power-on of the
 * machine.
 */
uint64_t mali_csf_clk_cycle_count(MaliCsfState *s);
uint64_t mali_csf_clk_cycle_total(MaliCsfState *s);
void mali_csf_clk_cycle_enable(MaliCsfState *s, bool on);
void mali_csf_clk_cycle_reset(MaliCsfState *s);
/* a * b / c without a limit to any of them but the result's. */
uint64_t mali_csf_clk_muldiv(uint64_t a, uint64_t b, uint64_t c);

/* mali-csf-irq.c */
void mali_csf_irq_update(MaliIrq *irq);
uint32_t mali_csf_irq_read(MaliIrq *irq, hwaddr reg);
void mali_csf_irq_write(MaliIrq *irq, hwaddr reg, uint32_t val);
void mali_csf_irq_raise(MaliCsfState *s, int irq, uint32_t bits);

/* mali-csf-mmu.c */
void mali_csf_mmu_init(MaliCsfState *s);
void mali_csf_mmu_exit(MaliCsfState *s);
void mali_csf_mmu_reset(MaliCsfState *s);
uint32_t mali_csf_mmu_read(MaliCsfState *s, hwaddr off);
void mali_csf_mmu_write(MaliCsfState *s, hwaddr off, uint32_t val);
/*
 * Read or write (or fetch) guest memory at an address of address space @as.
 * Nothing is transferred unless all of it can be. @source is the source id of
 * FAULTSTATUS.
 */
MaliMmuResult mali_csf_mmu_access(MaliCsfState *s, unsigned as, uint64_t va,
                                  void *buf, uint64_t len, MaliAccess access,
                                  uint32_t source);
/*
 * The same in two steps, for a write that reaches memory later: what can go
 * wrong with the access does so in the first one, and it is of one page.
 */
MaliMmuResult mali_csf_mmu_locate(MaliCsfState *s, unsigned as, uint64_t va,
                                  uint64_t len, uint32_t source,
                                  MaliPlace *place);
MaliMmuResult mali_csf_mmu_put(MaliCsfState *s, uint64_t pa, const void *buf,
                               uint64_t len);
/*
 * Whether accesses may have to wait; of address space 0, whether firmware has
 * to. What it answers cannot change within a callback.
 */
bool mali_csf_mmu_locked(MaliCsfState *s, unsigned as);
/* A flush of the caches begins: LATEST_FLUSH moves. */
void mali_csf_mmu_flush_started(MaliCsfState *s);

/* mali-csf-faults.c: whether something goes wrong here and now. */
bool mali_csf_faults_drop_request(MaliCsfState *s);
bool mali_csf_faults_drop_sample(MaliCsfState *s);
bool mali_csf_faults_drop_sample_ack(MaliCsfState *s);
bool mali_csf_faults_boot_fails(MaliCsfState *s);
/* A stream ends here, and after that none starts until a reset. */
bool mali_csf_faults_stream_ends(MaliCsfState *s);
bool mali_csf_faults_unrecoverable(MaliCsfState *s);
bool mali_csf_faults_hang(MaliCsfState *s);
bool mali_csf_faults_ring_full(MaliCsfState *s);
/* So much later firmware looks at a doorbell. */
uint64_t mali_csf_faults_delay_ns(MaliCsfState *s);
/* Added to INSERT as published. */
uint32_t mali_csf_faults_insert_skew(MaliCsfState *s);
/* The interface version that firmware publishes, which would be @version. */
uint32_t mali_csf_faults_iface(MaliCsfState *s, uint32_t version);
/* Shader cores that have no power, and whether idle ones keep it. */
uint64_t mali_csf_faults_cores_off(MaliCsfState *s);
bool mali_csf_faults_cores_hold(MaliCsfState *s);
/* What a storm gives the switch of a number, by a random number. */
uint32_t mali_csf_faults_storm_value(unsigned number, uint32_t random);
/*
 * The switches of the bench page from 0x300 on. A question that is answered
 * otherwise than a GPU would counts as a hit.
 */
/* Delays in ns: of a block, of its values after its header. */
int64_t mali_csf_faults_data_late(MaliCsfState *s, bool core);
int64_t mali_csf_faults_values_late(MaliCsfState *s);
/* What is written is seen at the next flush of the caches. */
bool mali_csf_faults_memory_late(MaliCsfState *s);
int64_t mali_csf_faults_insert_late(MaliCsfState *s);
int64_t mali_csf_faults_ack_late(MaliCsfState *s);
bool mali_csf_faults_empty_ack(MaliCsfState *s);
bool mali_csf_faults_double_sample(MaliCsfState *s);
bool mali_csf_faults_irq_lost(MaliCsfState *s);
int64_t mali_csf_faults_irq_late(MaliCsfState *s);
/* Whether interrupts lie apart, that one waits for another, or until when. */
bool mali_csf_faults_irqs_are_apart(MaliCsfState *s);
void mali_csf_faults_irq_was_apart(MaliCsfState *s);
int64_t mali_csf_faults_irq_apart(MaliCsfState *s, int64_t now, int64_t last);
/* The period of interrupts without a cause, or 0; and that one has come. */
int64_t mali_csf_faults_irq_spurious(MaliCsfState *s);
void mali_csf_faults_irq_was_spurious(MaliCsfState *s);
/* To be called before what concerns one sample as a whole. */
void mali_csf_faults_sample_begins(MaliCsfState *s);
/* PRFCNT_EN of a block, which would be @en. */
uint32_t mali_csf_faults_en(MaliCsfState *s, uint32_t en);
/* Bits as of meta_stale. */
uint32_t mali_csf_faults_meta_stale(MaliCsfState *s);
/* EXTRACT as firmware has it, which is @now, and was @latched. */
uint32_t mali_csf_faults_extract(MaliCsfState *s, uint32_t now,
                                 uint32_t latched);
/* Whether a full ring is written to, and that it was. */
bool mali_csf_faults_overwrite(MaliCsfState *s);
void mali_csf_faults_overwritten(MaliCsfState *s);
/* Asked if a SAMPLE is outstanding when firmware is to halt. */
bool mali_csf_faults_halt_first(MaliCsfState *s);
bool mali_csf_faults_enable_lost(MaliCsfState *s);
int64_t mali_csf_faults_enable_slow(MaliCsfState *s);
/* Bits as of events_always, and that an event was raised for them. */
uint32_t mali_csf_faults_events_always(MaliCsfState *s);
void mali_csf_faults_event_was_raised(MaliCsfState *s);
/* Whether events are raised once, and that one was not raised again. */
bool mali_csf_faults_events_few(MaliCsfState *s);
void mali_csf_faults_event_was_withheld(MaliCsfState *s);
/*
 * The timestamp of block @block, which would be @timestamp; the sample before
 * had @last.
 */
uint64_t mali_csf_faults_timestamp(MaliCsfState *s, uint64_t timestamp,
                                   uint64_t last, unsigned block);
int64_t mali_csf_faults_cores_apart(MaliCsfState *s);
bool mali_csf_faults_power_loses(MaliCsfState *s);
uint32_t mali_csf_faults_busy_skew(MaliCsfState *s);
bool mali_csf_faults_as_stuck(MaliCsfState *s);
bool mali_csf_faults_flush_stuck(MaliCsfState *s);
bool mali_csf_faults_l2_stuck(MaliCsfState *s);
bool mali_csf_faults_reset_stuck(MaliCsfState *s);
/* The GPU was reset. */
void mali_csf_faults_reset(MaliCsfState *s);

/* mali-csf-glb.c */
/* Firmware's own accesses, through address space 0. Zero when it faulted. */
bool mali_csf_glb_access(MaliCsfState *s, uint32_t va, void *buf, uint64_t len,
                         MaliAccess access);
uint32_t mali_csf_glb_ld32(MaliCsfState *s, uint32_t va);
uint64_t mali_csf_glb_ld64(MaliCsfState *s, uint32_t va);
void mali_csf_glb_st32(MaliCsfState *s, uint32_t va, uint32_t val);
void mali_csf_glb_st64(MaliCsfState *s, uint32_t va, uint64_t val);
/* Firmware is running: not disabled, halted, asleep, hung or dead. */
bool mali_csf_glb_running(MaliCsfState *s);
/* It cannot go on. */
void mali_csf_glb_fatal(MaliCsfState *s);
/* Why firmware stops, in HALT_STATUS, if that can still be said. */
void mali_csf_glb_last_words(MaliCsfState *s, uint32_t status);
/* Firmware looks at REQ: at a doorbell or at boot. */
void mali_csf_glb_latch(MaliCsfState *s);
/*
 * The global REQ at the last doorbell or boot, one not looked at yet included.
 */
uint32_t mali_csf_glb_req(MaliCsfState *s);
/* Flip bits of the global ACK, and interrupt as ACK_IRQ_MASK says. */
void mali_csf_glb_ack(MaliCsfState *s, uint32_t bits);
/* One of these without the other. */
void mali_csf_glb_flip(MaliCsfState *s, uint32_t bits);
void mali_csf_glb_interrupt(MaliCsfState *s, uint32_t bits);

/*
 * mali-csf-publish.c: what firmware publishes of a sample, at once or in stages
 * if the bench page has it so.
 */
void mali_csf_publish_init(MaliCsfState *s);
void mali_csf_publish_exit(MaliCsfState *s);
/* What is late never will be seen; what is in the GPU's caches stays there. */
void mali_csf_publish_reset(MaliCsfState *s);
/*
 * What is late is seen now. To be called while address space 0 is not locked.
 */
void mali_csf_publish_late(MaliCsfState *s);
/* The GPU's caches have been flushed, or have lost what was in them. */
void mali_csf_publish_flushed(MaliCsfState *s);
void mali_csf_publish_lost(MaliCsfState *s);
/* The switches were changed. */
void mali_csf_publish_faults_changed(MaliCsfState *s);
/* The header of a block and its values are @len bytes of one page, at @va. */
MaliMmuResult mali_csf_publish_block(MaliCsfState *s, unsigned as, uint64_t va,
                                     const void *buf, uint64_t len, bool core);
void mali_csf_publish_insert(MaliCsfState *s, uint32_t insert);
/* Flip bits of the counters in the global ACK, and interrupt. */
void mali_csf_publish_ack(MaliCsfState *s, uint32_t bits);

/* mali-csf-pwr.c */
void mali_csf_pwr_init(MaliCsfState *s);
void mali_csf_pwr_exit(MaliCsfState *s);
void mali_csf_pwr_reset(MaliCsfState *s);
uint32_t mali_csf_pwr_read(MaliCsfState *s, hwaddr off);
void mali_csf_pwr_write(MaliCsfState *s, hwaddr off, uint32_t val);
/* PWR_CONTROL's registers, from MALI_PWRCTL_REGS on */
uint32_t mali_csf_pwr_control_read(MaliCsfState *s, hwaddr off);
void mali_csf_pwr_control_write(MaliCsfState *s, hwaddr off, uint32_t val);
/* The reset that was wanted is over. */
void mali_csf_pwr_control_reset_done(MaliCsfState *s);
/*
 * Firmware switches power, if the domain is (also) its own. Takes power_ns; its
 * end is an event.
 */
void mali_csf_pwr_set(MaliCsfState *s, int domain, uint64_t mask, bool on);
/* Ask for the shader cores (and the tiler) now. */
void mali_csf_pwr_cores_needed(MaliCsfState *s);
bool mali_csf_pwr_cores_ready(MaliCsfState *s);
/* Shader cores firmware may use now: present, allowed, not switched off. */
uint64_t mali_csf_pwr_core_mask(MaliCsfState *s);

/* mali-csf-mcu.c */
void mali_csf_mcu_init(MaliCsfState *s);
void mali_csf_mcu_exit(MaliCsfState *s);
void mali_csf_mcu_reset(MaliCsfState *s);
void mali_csf_mcu_control(MaliCsfState *s, uint32_t val);
void mali_csf_mcu_doorbell(MaliCsfState *s);
/*
 * A user doorbell rang: firmware that sleeps is woken, when its memory is
 * unlocked.
 */
void mali_csf_mcu_user_doorbell(MaliCsfState *s);
/*
 * Protected mode; at its end firmware goes on with the counter requests it
 * knows.
 */
void mali_csf_mcu_set_protm(MaliCsfState *s, bool on);
/* How firmware stops; HALT_STATUS says why. Values of crash (bench page). */
typedef enum {
    MALI_CRASH_NONE, MALI_CRASH_PANIC, MALI_CRASH_WATCHDOG, MALI_CRASH_FATAL,
} MaliCrash;
void mali_csf_mcu_crash(MaliCsfState *s, MaliCrash how);
/* Events: see MaliCsfEvents. */
void mali_csf_mcu_as_event(MaliCsfState *s, unsigned as);
void mali_csf_mcu_activity(MaliCsfState *s);
/* Firmware goes to sleep by itself, and is woken (warm boot). */
void mali_csf_mcu_sleep(MaliCsfState *s);
void mali_csf_mcu_wake(MaliCsfState *s);

/* mali-csf-csg.c */
void mali_csf_csg_init(MaliCsfState *s);
void mali_csf_csg_exit(MaliCsfState *s);
/* All state is lost: soft reset, MCU stopped. */
void mali_csf_csg_reset(MaliCsfState *s);
/* Firmware boots: publish group and stream control blocks. */
void mali_csf_csg_boot(MaliCsfState *s);
/* Evaluate these groups' requests (bits of doorbell_req that differed). */
void mali_csf_csg_doorbell(MaliCsfState *s, uint32_t groups);
/* A user doorbell page (1...) was written. */
void mali_csf_csg_user_doorbell(MaliCsfState *s, unsigned id);
void mali_csf_csg_as_event(MaliCsfState *s, unsigned as);
/* The global doorbell rang: what a stream waits for may have come. */
void mali_csf_csg_look(MaliCsfState *s);
/* Before a clock changes: what jobs have done by now is done, and counts. */
void mali_csf_csg_settle(MaliCsfState *s);
/* Cores came up or went down, protected mode or sleep ended: go on. */
void mali_csf_csg_kick(MaliCsfState *s);
/* Nothing runs or can run in any group slot. */
bool mali_csf_csg_idle(MaliCsfState *s);
/* Tell the counters what jobs under way have done up to now. */
void mali_csf_csg_report_work(MaliCsfState *s);

/* mali-csf-counters.c */
void mali_csf_counters_init(MaliCsfState *s);
void mali_csf_counters_exit(MaliCsfState *s);
void mali_csf_counters_reset(MaliCsfState *s);
/*
 * Bring what depends on time (clock, power, activity) up to now. To be called
 * before any of those changes.
 */
void mali_csf_counters_advance(MaliCsfState *s);
/* Work that command streams do, for the counters. */
typedef enum {
    MALI_WORK_COMPUTE, MALI_WORK_TILER, MALI_WORK_IDVS, MALI_WORK_FRAGMENT,
    /* @amount pixels of FRAGMENT written to each target but the first */
    MALI_WORK_MORE_TARGETS,
    MALI_WORK_PRIMS,    /* @amount primitives of a TILER or IDVS */
    MALI_WORK_CEU,      /* @amount instructions executed */
    MALI_WORK_LSU,      /* @amount bytes loaded or stored by streams */
    MALI_WORK_FLUSH,    /* @amount cache flushes */
    MALI_WORK_MCU,      /* @amount requests served by firmware */
    /* @amount jobs ended on an iterator (IDVS is the tiler's); @cycles is 0 */
    MALI_WORK_COMPUTE_JOB, MALI_WORK_TILER_JOB, MALI_WORK_FRAGMENT_JOB,
    MALI_WORK_KINDS
} MaliWorkKind;

/*
 * @amount units of work (threads, primitives, vertices, pixels) are done, in
 * @cycles cycles (of the core group's clock for the tiler's own work, of the
 * stacks' for shading, else of the core clock), by the cores of @cores, by
 * stream @cs of group slot @csg.
 */
void mali_csf_counters_work(MaliCsfState *s, MaliWorkKind kind, unsigned csg,
                            unsigned cs, uint64_t amount, uint64_t cycles,
                            uint64_t cores);

/* mali-csf-perfcnt.c */
void mali_csf_perfcnt_init(MaliCsfState *s);
void mali_csf_perfcnt_exit(MaliCsfState *s);
void mali_csf_perfcnt_reset(MaliCsfState *s);
/* Firmware boots; a warm boot restores the counters' state. */
void mali_csf_perfcnt_boot(MaliCsfState *s, bool warm);
/*
 * Evaluate the counters' bits of the global REQ, at a doorbell or at boot
 * (not in protected mode: the MCU calls again when that ends). Acknowledges
 * with mali_csf_glb_ack().
 */
void mali_csf_perfcnt_eval(MaliCsfState *s, uint32_t req);
/* A counter request waits for address space @as to be unlocked. */
bool mali_csf_perfcnt_wait_for(MaliCsfState *s, unsigned as);
/* A sample of firmware's own accord, if counters are enabled. */
void mali_csf_perfcnt_auto(MaliCsfState *s, uint32_t reason);
/* Protected mode has ended, and is still in no sample. */
void mali_csf_perfcnt_protm_left(MaliCsfState *s);
/* Size words of the global control block. */
uint32_t mali_csf_perfcnt_size(MaliCsfState *s);
uint32_t mali_csf_perfcnt_features(MaliCsfState *s);

/* mali-csf-board.c */
extern const MemoryRegionOps mali_csf_board_ops, mali_csf_fuses_ops;
/* Takes the properties of the board; false if one of them is wrong. */
bool mali_csf_board_init(MaliCsfState *s, Error **errp);
void mali_csf_board_reset(MaliCsfState *s);
void mali_csf_board_fdt_add(MaliCsfState *s, void *fdt, const char *parent,
                            const uint64_t *mmio, const int *irqs);

/* mali-csf-bench.c */
void mali_csf_bench_init(MaliCsfState *s);
void mali_csf_bench_exit(MaliCsfState *s);
void mali_csf_bench_reset(MaliCsfState *s);
/* The machine was reset: nothing that was asked of the page stays. */
void mali_csf_bench_forget(MaliCsfState *s);
uint64_t mali_csf_bench_read(MaliCsfState *s, hwaddr off, unsigned size);
void mali_csf_bench_write(MaliCsfState *s, hwaddr off, uint64_t val,
                          unsigned size);

#endif
