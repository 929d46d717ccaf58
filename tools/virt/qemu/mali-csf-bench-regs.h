/*
 * Arm Mali CSF GPU: registers of the bench page
 *
 * SPDX-License-Identifier: GPL-2.0-or-later OR MIT
 *
 * Shared by the device and by mali-bench. All accesses are of 32 bits; the
 * high half of a 64-bit register is at the next word. Reading the low half
 * holds the high half until it is read; writing the high half makes a 64-bit
 * value take effect.
 */
#ifndef MALI_CSF_BENCH_REGS_H
#define MALI_CSF_BENCH_REGS_H

#define MALI_BENCH_COMPATIBLE   "panthor-perf,mali-bench"
#define MALI_BENCH_ID_VALUE     0x424c414du     /* "MALB" */
#define MALI_BENCH_VERSION_VALUE 1u

enum {
    MALI_BENCH_ID = 0x000,
    MALI_BENCH_VERSION = 0x004,
    MALI_BENCH_ACTIVITY = 0x010,
    MALI_BENCH_RATE = 0x014,
    MALI_BENCH_CORES_HOLD = 0x018,
    MALI_BENCH_TYPE = 0x020,
    MALI_BENCH_INDEX = 0x024,
    MALI_BENCH_COUNTER = 0x028,
    MALI_BENCH_EXISTS = 0x02c,
    MALI_BENCH_EMITTED = 0x030,
    MALI_BENCH_GENERATED = 0x038,
    MALI_BENCH_AMOUNT = 0x040,
    MALI_BENCH_ADD = 0x048,
    MALI_BENCH_PROTM = 0x080,
    MALI_BENCH_SLEEP = 0x084,
    MALI_BENCH_CORES_OFF = 0x088,
    MALI_BENCH_ACK_DELAY = 0x090,
    MALI_BENCH_DROP_SAMPLES = 0x094,
    MALI_BENCH_DROP_ACKS = 0x098,
    MALI_BENCH_DROP_SAMPLE_ACKS = 0x09c,
    MALI_BENCH_RING_FULL = 0x0a0,
    MALI_BENCH_HANG = 0x0a4,
    MALI_BENCH_BOOT_FAIL = 0x0a8,
    MALI_BENCH_IFACE = 0x0ac,
    MALI_BENCH_INSERT_SKEW = 0x0b0,
    MALI_BENCH_INSERT_SKEW_ON = 0x0b4,
    MALI_BENCH_LEDGER_FLUSH = 0x0b8,
    MALI_BENCH_CRASH = 0x0bc,
    MALI_BENCH_MCU_STATUS = 0x100,
    MALI_BENCH_MCU_FLAGS = 0x104,
    MALI_BENCH_GPU_STATUS = 0x108,
    MALI_BENCH_IFACE_NOW = 0x10c,
    MALI_BENCH_SHADER_READY = 0x110,
    MALI_BENCH_TILER_READY = 0x118,
    MALI_BENCH_L2_READY = 0x11c,
    MALI_BENCH_ENABLED = 0x120,
    MALI_BENCH_EPOCH = 0x124,
    MALI_BENCH_INSERT = 0x128,
    MALI_BENCH_EXTRACT = 0x12c,
    MALI_BENCH_SET = 0x130,
    MALI_BENCH_SLOTS = 0x134,
    MALI_BENCH_SAMPLE_SIZE = 0x138,
    MALI_BENCH_SAMPLES = 0x140,
    MALI_BENCH_AUTOS = 0x148,
    MALI_BENCH_LOST_AUTOS = 0x150,
    MALI_BENCH_FAULTS = 0x158,
    MALI_BENCH_REJECTED = 0x160,
    MALI_BENCH_DROPPED = 0x168,
    MALI_BENCH_OVERFLOWS = 0x170,
    MALI_BENCH_THRESHOLDS = 0x178,
    MALI_BENCH_SATURATED = 0x180,
    MALI_BENCH_LAST_REASON = 0x188,
    MALI_BENCH_LAST_TIMESTAMP = 0x190,
    MALI_BENCH_TIMESTAMP = 0x198,
    MALI_BENCH_CORE_CYCLES = 0x1a0,
    MALI_BENCH_COREGROUP_CYCLES = 0x1a8,
    MALI_BENCH_STACKS_CYCLES = 0x1b0,
    MALI_BENCH_CORE_HZ = 0x1b8,
    MALI_BENCH_COREGROUP_HZ = 0x1bc,
    MALI_BENCH_STACKS_HZ = 0x1c0,
    MALI_BENCH_WALKS = 0x1c8,
    MALI_BENCH_TLB_HITS = 0x1d0,
    MALI_BENCH_LAST_CORE_CYCLES = 0x1d8,
    MALI_BENCH_LAST_COREGROUP_CYCLES = 0x1e0,
    MALI_BENCH_LAST_STACKS_CYCLES = 0x1e8,
    MALI_BENCH_REQ = 0x1f0,
    MALI_BENCH_INSTRUCTIONS = 0x1f8,
    MALI_BENCH_STORM = 0x200,
    MALI_BENCH_STORM_SEED = 0x204,
    MALI_BENCH_STORM_PERIOD = 0x208,
    MALI_BENCH_STORM_KINDS = 0x20c,
    MALI_BENCH_STORM_EVENTS = 0x210,
    MALI_BENCH_STORM_NOW = 0x214,
    MALI_BENCH_STORM_FAULTS = 0x218,
    MALI_BENCH_STORM_FAULTS_NOW = 0x21c,
    MALI_BENCH_FAULT_HITS = 0x220,
    MALI_BENCH_CS_UNRECOVERABLE = 0x228,
    MALI_BENCH_PROTM_FAULT = 0x22c,
    MALI_BENCH_TURNS = 0x230,
    MALI_BENCH_REAL_RATE = 0x238,
    MALI_BENCH_CYCLE_TOTAL = 0x240,
    MALI_BENCH_CORE_REAL_HZ = 0x248,
    MALI_BENCH_COREGROUP_REAL_HZ = 0x250,
    MALI_BENCH_STACKS_REAL_HZ = 0x258,
    MALI_BENCH_DATA_LATE = 0x300,
    MALI_BENCH_CORES_LATE = 0x304,
    MALI_BENCH_VALUES_LATE = 0x308,
    MALI_BENCH_MEMORY_LATE = 0x30c,
    MALI_BENCH_INSERT_LATE = 0x310,
    MALI_BENCH_ACK_LATE = 0x314,
    MALI_BENCH_EMPTY_ACKS = 0x318,
    MALI_BENCH_DOUBLE_SAMPLES = 0x31c,
    MALI_BENCH_IRQS_LOST = 0x320,
    MALI_BENCH_IRQ_LATE = 0x324,
    MALI_BENCH_IRQ_APART = 0x328,
    MALI_BENCH_IRQ_SPURIOUS = 0x32c,
    MALI_BENCH_EN_CUT = 0x330,
    MALI_BENCH_META_STALE = 0x334,
    MALI_BENCH_EXTRACT_LATCHED = 0x338,
    MALI_BENCH_OVERWRITE = 0x33c,
    MALI_BENCH_HALT_FIRST = 0x340,
    MALI_BENCH_ENABLES_LOST = 0x344,
    MALI_BENCH_ENABLE_SLOW = 0x348,
    MALI_BENCH_EVENTS_ALWAYS = 0x34c,
    MALI_BENCH_EVENTS_FEW = 0x350,
    MALI_BENCH_TS_OFFSET = 0x354,
    MALI_BENCH_TS_DRIFT = 0x358,
    MALI_BENCH_TS_SKEW = 0x35c,
    MALI_BENCH_TS_BACK = 0x360,
    MALI_BENCH_CORES_APART = 0x364,
    MALI_BENCH_POWER_LOSES = 0x368,
    MALI_BENCH_BUSY_SKEW = 0x36c,
    MALI_BENCH_AS_STUCK = 0x370,
    MALI_BENCH_FLUSH_STUCK = 0x374,
    MALI_BENCH_L2_STUCK = 0x378,
    MALI_BENCH_RESET_STUCK = 0x37c,
};

/*
 * Switches of faults follow each other. The number of one is the bit that it
 * has in storm_faults.
 */
#define MALI_FAULTS             32
#define MALI_BENCH_FAULTS_FIRST MALI_BENCH_DATA_LATE
#define MALI_FAULT_NUMBER(reg)  (((reg) - MALI_BENCH_FAULTS_FIRST) / 4)

/* R(SYMBOL, name, bits, readable, writable, help) */
#define MALI_BENCH_REGS(R) \
    R(ID, "id", 32, 1, 0, \
      "0x424c414d") \
    R(VERSION, "version", 32, 1, 0, \
      "of this page") \
    /* activity */ \
    R(ACTIVITY, "activity", 32, 1, 1, \
      "1: every block that has power counts, with time") \
    R(RATE, "rate", 32, 1, 1, \
      "units of activity a second") \
    R(CORES_HOLD, "cores_hold", 32, 1, 1, \
      "1: idle shader cores keep their power") \
    /* one counter */ \
    R(TYPE, "type", 32, 1, 1, \
      "block type: 1 fw, 2 csg, 3 cshw, 4 tiler, 5 memsys, 6 shader") \
    R(INDEX, "index", 32, 1, 1, \
      "which block of that type; shader cores by physical position") \
    R(COUNTER, "counter", 32, 1, 1, \
      "which counter in the block, from 4") \
    R(EXISTS, "exists", 32, 1, 0, \
      "1: there is such a counter") \
    R(EMITTED, "emitted", 64, 1, 0, \
      "its total in all samples written since power-on") \
    R(GENERATED, "generated", 64, 1, 0, \
      "its total, sampled or not, by the set latched last") \
    R(AMOUNT, "amount", 64, 1, 1, \
      "for add") \
    R(ADD, "add", 32, 0, 1, \
      "1: the counter counts amount more, now") \
    /* what happens to the GPU */ \
    R(PROTM, "protm", 32, 1, 1, \
      "1: enter protected mode, 0: leave it") \
    R(SLEEP, "sleep", 32, 1, 1, \
      "1: firmware goes to sleep, 0: wakes (warm boot); a doorbell " \
      "wakes it too") \
    R(CORES_OFF, "cores_off", 64, 1, 1, \
      "mask of shader cores without power") \
    R(ACK_DELAY, "ack_delay", 32, 1, 1, \
      "ns that firmware looks at a doorbell later") \
    R(DROP_SAMPLES, "drop_samples", 32, 1, 1, \
      "so many SAMPLE requests are ignored") \
    R(DROP_ACKS, "drop_acks", 32, 1, 1, \
      "so many other global requests are ignored") \
    R(DROP_SAMPLE_ACKS, "drop_sample_acks", 32, 1, 1, \
      "so many samples are written and not acknowledged") \
    R(RING_FULL, "ring_full", 32, 1, 1, \
      "1: the counter ring looks full to firmware") \
    R(HANG, "hang", 32, 1, 1, \
      "1: firmware hangs, until a reset") \
    R(BOOT_FAIL, "boot_fail", 32, 1, 1, \
      "how many boots from now on do not come up") \
    R(IFACE, "iface", 32, 1, 1, \
      "interface version of the next boots, X.Y.Z; 0: the model's") \
    R(INSERT_SKEW, "insert_skew", 32, 1, 1, \
      "added to INSERT as published, while insert_skew_on") \
    R(INSERT_SKEW_ON, "insert_skew_on", 32, 1, 1, \
      "1: publish nonsense") \
    R(LEDGER_FLUSH, "ledger_flush", 32, 0, 1, \
      "1: the ledger file is brought up to date") \
    R(CRASH, "crash", 32, 0, 1, \
      "1: firmware panics, 2: its watchdog expires, 3: it panics and " \
      "MCU_STATUS is fatal; it stops and says why in HALT_STATUS") \
    /* state */ \
    R(MCU_STATUS, "mcu_status", 32, 1, 0, \
      "0 disabled, 1 enabled, 2 halted, 3 fatal") \
    R(MCU_FLAGS, "mcu_flags", 32, 1, 0, \
      "bit 0 booted, 1 asleep, 2 running, 3 doorbell not looked at") \
    R(GPU_STATUS, "gpu_status", 32, 1, 0, \
      "bit 0 groups have work, 7 protected mode") \
    R(IFACE_NOW, "iface_now", 32, 1, 0, \
      "interface version published by the last boot") \
    R(SHADER_READY, "shader_ready", 64, 1, 0, \
      "shader cores with power") \
    R(TILER_READY, "tiler_ready", 32, 1, 0, \
      "likewise") \
    R(L2_READY, "l2_ready", 32, 1, 0, \
      "likewise") \
    R(ENABLED, "enabled", 32, 1, 0, \
      "1: counters are enabled") \
    R(EPOCH, "epoch", 32, 1, 0, \
      "enables since power-on") \
    R(INSERT, "insert", 32, 1, 0, \
      "samples written since the last enable") \
    R(EXTRACT, "extract", 32, 1, 0, \
      "as firmware last read it") \
    R(SET, "set", 32, 1, 0, \
      "counter set latched last") \
    R(SLOTS, "slots", 32, 1, 0, \
      "of the ring, likewise") \
    R(SAMPLE_SIZE, "sample_size", 32, 1, 0, \
      "bytes, likewise") \
    R(SAMPLES, "samples", 64, 1, 0, \
      "written since power-on: records in the ledger") \
    R(AUTOS, "autos", 64, 1, 0, \
      "of these, of firmware's own accord") \
    R(LOST_AUTOS, "lost_autos", 64, 1, 0, \
      "samples of its own accord that found no room") \
    R(FAULTS, "faults", 64, 1, 0, \
      "samples lost to an MMU fault") \
    R(REJECTED, "rejected", 64, 1, 0, \
      "enables ignored for what they asked") \
    R(DROPPED, "dropped", 64, 1, 0, \
      "SAMPLE requests ignored by drop_samples") \
    R(OVERFLOWS, "overflows", 64, 1, 0, \
      "OVERFLOW events raised") \
    R(THRESHOLDS, "thresholds", 64, 1, 0, \
      "THRESHOLD events raised") \
    R(SATURATED, "saturated", 64, 1, 0, \
      "counter values cut to 32 bits") \
    R(LAST_REASON, "last_reason", 32, 1, 0, \
      "of the last sample written") \
    R(LAST_TIMESTAMP, "last_timestamp", 64, 1, 0, \
      "likewise") \
    R(TIMESTAMP, "timestamp", 64, 1, 0, \
      "the GPU's, now") \
    R(CORE_CYCLES, "core_cycles", 64, 1, 0, \
      "of the core clock since power-on") \
    R(COREGROUP_CYCLES, "coregroup_cycles", 64, 1, 0, \
      "likewise") \
    R(STACKS_CYCLES, "stacks_cycles", 64, 1, 0, \
      "likewise") \
    R(CORE_HZ, "core_hz", 32, 1, 0, \
      "rate set for the core clock, as the kernel sees it") \
    R(COREGROUP_HZ, "coregroup_hz", 32, 1, 0, \
      "likewise") \
    R(STACKS_HZ, "stacks_hz", 32, 1, 0, \
      "likewise") \
    R(WALKS, "walks", 64, 1, 0, \
      "page table walks since power-on") \
    R(TLB_HITS, "tlb_hits", 64, 1, 0, \
      "translations that needed none") \
    R(LAST_CORE_CYCLES, "last_core_cycles", 64, 1, 0, \
      "core_cycles at the last sample written") \
    R(LAST_COREGROUP_CYCLES, "last_coregroup_cycles", 64, 1, 0, \
      "likewise") \
    R(LAST_STACKS_CYCLES, "last_stacks_cycles", 64, 1, 0, \
      "likewise") \
    R(REQ, "req", 32, 1, 0, \
      "the global REQ, as firmware last read it") \
    R(INSTRUCTIONS, "instructions", 64, 1, 0, \
      "run by the processors, if time is counted by them (run -i), or 0") \
    /* storm */ \
    R(STORM, "storm", 32, 1, 1, \
      "1: disturb at random, 0: stop and undo what lasts") \
    R(STORM_SEED, "storm_seed", 32, 1, 1, \
      "same seed, same series of disturbances") \
    R(STORM_PERIOD, "storm_period", 32, 1, 1, \
      "mean us from one to the next") \
    R(STORM_KINDS, "storm_kinds", 32, 1, 1, \
      "1 sleep, 2 protm, 4 power, 8 slow acks, 16 full ring, 32 drop " \
      "samples, 64 drop sample acks, 128 hang") \
    R(STORM_EVENTS, "storm_events", 32, 1, 0, \
      "disturbances since storm was set") \
    R(STORM_NOW, "storm_now", 32, 1, 0, \
      "kinds that last at this moment") \
    R(STORM_FAULTS, "storm_faults", 32, 1, 1, \
      "which of the faults from 0x300 on a storm has as well, a bit each") \
    R(STORM_FAULTS_NOW, "storm_faults_now", 32, 1, 0, \
      "those of them that last at this moment") \
    R(FAULT_HITS, "fault_hits", 64, 1, 0, \
      "times that one of those faults has made a difference") \
    R(CS_UNRECOVERABLE, "cs_unrecoverable", 32, 1, 1, \
      "so many streams end in a fault after which the GPU needs a " \
      "reset") \
    R(PROTM_FAULT, "protm_fault", 32, 0, 1, \
      "1: the GPU tells of a fault, if it is in protected mode") \
    /* faults of firmware and of the GPU; 0: none */ \
    R(TURNS, "turns", 64, 1, 0, \
      "of the loop that runs groups, since power-on") \
    R(REAL_RATE, "real_rate", 32, 1, 1, \
      "thousandths of the rate set at which all clocks run: 1 to 4000") \
    R(CYCLE_TOTAL, "cycle_total", 64, 1, 0, \
      "that GPU_CYCLE_COUNT has advanced since power-on, never reset") \
    R(CORE_REAL_HZ, "core_real_hz", 64, 1, 0, \
      "rate at which the core clock runs") \
    R(COREGROUP_REAL_HZ, "coregroup_real_hz", 64, 1, 0, \
      "likewise") \
    R(STACKS_REAL_HZ, "stacks_real_hz", 64, 1, 0, \
      "likewise") \
    R(DATA_LATE, "data_late", 32, 1, 1, \
      "ns from INSERT, ACK and the interrupt to the sample that " \
      "they tell of") \
    R(CORES_LATE, "cores_late", 32, 1, 1, \
      "ns from the other blocks of a sample to those of shader " \
      "cores") \
    R(VALUES_LATE, "values_late", 32, 1, 1, \
      "ns from a block's first four values, PRFCNT_EN among them, " \
      "to the others") \
    R(MEMORY_LATE, "memory_late", 32, 1, 1, \
      "1: samples are seen when the GPU's caches are flushed, " \
      "unless it is coherent") \
    R(INSERT_LATE, "insert_late", 32, 1, 1, \
      "ns from ACK and the interrupt to INSERT") \
    R(ACK_LATE, "ack_late", 32, 1, 1, \
      "ns from the interrupt to ACK") \
    R(EMPTY_ACKS, "empty_acks", 32, 1, 1, \
      "so many SAMPLE requests are acknowledged without a sample") \
    R(DOUBLE_SAMPLES, "double_samples", 32, 1, 1, \
      "so many samples are written twice, into two slots") \
    R(IRQS_LOST, "irqs_lost", 32, 1, 1, \
      "so many interrupts about counters do not come") \
    R(IRQ_LATE, "irq_late", 32, 1, 1, \
      "ns that they come later") \
    R(IRQ_APART, "irq_apart", 32, 1, 1, \
      "ns that lie between two of them at least") \
    R(IRQ_SPURIOUS, "irq_spurious", 32, 1, 1, \
      "ns from one interrupt without a cause to the next") \
    R(EN_CUT, "en_cut", 32, 1, 1, \
      "so many samples have blocks whose PRFCNT_EN lacks bit 1") \
    R(META_STALE, "meta_stale", 32, 1, 1, \
      "metadata of the sample before: 1 its reason, and " \
      "PRFCNT_EN: 2 is 0, 4 is 1") \
    R(EXTRACT_LATCHED, "extract_latched", 32, 1, 1, \
      "1: EXTRACT is read at doorbells alone") \
    R(OVERWRITE, "overwrite", 32, 1, 1, \
      "1: the counter ring is never full, and is overwritten") \
    R(HALT_FIRST, "halt_first", 32, 1, 1, \
      "1: HALT is served before a SAMPLE that is outstanding") \
    R(ENABLES_LOST, "enables_lost", 32, 1, 1, \
      "so many times firmware does not see that counters are to " \
      "be enabled") \
    R(ENABLE_SLOW, "enable_slow", 32, 1, 1, \
      "ns that it takes to enable counters") \
    R(EVENTS_ALWAYS, "events_always", 32, 1, 1, \
      "at each doorbell, without a reason: 1 THRESHOLD, 2 " \
      "OVERFLOW is raised") \
    R(EVENTS_FEW, "events_few", 32, 1, 1, \
      "1: as with the property events_once") \
    R(TS_OFFSET, "ts_offset", 32, 1, 1, \
      "ticks added to timestamps of samples, signed") \
    R(TS_DRIFT, "ts_drift", 32, 1, 1, \
      "the same in millionths of the timestamp") \
    R(TS_SKEW, "ts_skew", 32, 1, 1, \
      "ticks that each block's timestamp is behind that of the " \
      "block before") \
    R(TS_BACK, "ts_back", 32, 1, 1, \
      "so many samples have a timestamp of a millisecond before " \
      "the last one's") \
    R(CORES_APART, "cores_apart", 32, 1, 1, \
      "ns between shader cores, which gain and lose power one " \
      "after the other") \
    R(POWER_LOSES, "power_loses", 32, 1, 1, \
      "so many times shader cores lose power without the sample " \
      "before that") \
    R(BUSY_SKEW, "busy_skew", 32, 1, 1, \
      "cycles that GPU_ITER_ACTIVE is ahead of GPU_ACTIVE in each " \
      "sample") \
    R(AS_STUCK, "as_stuck", 32, 1, 1, \
      "so many commands of address spaces never end, until a " \
      "reset") \
    R(FLUSH_STUCK, "flush_stuck", 32, 1, 1, \
      "so many flushes of caches never end") \
    R(L2_STUCK, "l2_stuck", 32, 1, 1, \
      "so many times the L2 does not get its power") \
    R(RESET_STUCK, "reset_stuck", 32, 1, 1, \
      "so many resets of the GPU never end")

/* Bits of storm_kinds, and their number. */
enum {
    MALI_STORM_SLEEP, MALI_STORM_PROTM, MALI_STORM_POWER, MALI_STORM_SLOW_ACK,
    MALI_STORM_RING_FULL, MALI_STORM_DROP_SAMPLE, MALI_STORM_DROP_ACK,
    MALI_STORM_HANG, MALI_STORM_KINDS
};

/* What each of them sets of the registers above. */
#define MALI_STORM_NAMES \
    "sleep", "protm", "cores_off", "ack_delay", "ring_full", "drop_samples", \
    "drop_sample_acks", "hang"

#endif
