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

/* R(offset, SYMBOL, name, bits, readable, writable, help) */
#define MALI_BENCH_REGS(R) \
    R(0x000, ID, "id", 32, 1, 0, "0x424c414d") \
    R(0x004, VERSION, "version", 32, 1, 0, "of this page") \
    /* activity */ \
    R(0x010, ACTIVITY, "activity", 32, 1, 1, "1: every block that has power counts, with time") \
    R(0x014, RATE, "rate", 32, 1, 1, "units of activity a second") \
    R(0x018, CORES_HOLD, "cores_hold", 32, 1, 1, "1: idle shader cores keep their power") \
    /* one counter */ \
    R(0x020, TYPE, "type", 32, 1, 1, "block type: 1 fw, 2 csg, 3 cshw, 4 tiler, 5 memsys, 6 shader") \
    R(0x024, INDEX, "index", 32, 1, 1, "which block of that type; shader cores by physical position") \
    R(0x028, COUNTER, "counter", 32, 1, 1, "which counter in the block, from 4") \
    R(0x02c, EXISTS, "exists", 32, 1, 0, "1: there is such a counter") \
    R(0x030, EMITTED, "emitted", 64, 1, 0, "its total in all samples written since power-on") \
    R(0x038, GENERATED, "generated", 64, 1, 0, "its total, sampled or not, by the set latched last") \
    R(0x040, AMOUNT, "amount", 64, 1, 1, "for add") \
    R(0x048, ADD, "add", 32, 0, 1, "1: the counter counts amount more, now") \
    /* what happens to the GPU */ \
    R(0x080, PROTM, "protm", 32, 1, 1, "1: enter protected mode, 0: leave it") \
    R(0x084, SLEEP, "sleep", 32, 1, 1, "1: firmware goes to sleep, 0: wakes (warm boot); a doorbell wakes it too") \
    R(0x088, CORES_OFF, "cores_off", 64, 1, 1, "mask of shader cores without power") \
    R(0x090, ACK_DELAY, "ack_delay", 32, 1, 1, "ns that firmware looks at a doorbell later") \
    R(0x094, DROP_SAMPLES, "drop_samples", 32, 1, 1, "so many SAMPLE requests are ignored") \
    R(0x098, DROP_ACKS, "drop_acks", 32, 1, 1, "so many other global requests are ignored") \
    R(0x09c, DROP_SAMPLE_ACKS, "drop_sample_acks", 32, 1, 1, "so many samples are written and not acknowledged") \
    R(0x0a0, RING_FULL, "ring_full", 32, 1, 1, "1: the counter ring looks full to firmware") \
    R(0x0a4, HANG, "hang", 32, 1, 1, "1: firmware hangs, until a reset") \
    R(0x0a8, BOOT_FAIL, "boot_fail", 32, 1, 1, "how many boots from now on do not come up") \
    R(0x0ac, IFACE, "iface", 32, 1, 1, "interface version of the next boots, X.Y.Z; 0: the model's") \
    R(0x0b0, INSERT_SKEW, "insert_skew", 32, 1, 1, "added to INSERT as published, while insert_skew_on") \
    R(0x0b4, INSERT_SKEW_ON, "insert_skew_on", 32, 1, 1, "1: publish nonsense") \
    R(0x0b8, LEDGER_FLUSH, "ledger_flush", 32, 0, 1, "1: the ledger file is brought up to date") \
    R(0x0bc, CRASH, "crash", 32, 0, 1, "1: firmware panics, 2: its watchdog expires; it halts and says so in HALT_STATUS") \
    /* state */ \
    R(0x100, MCU_STATUS, "mcu_status", 32, 1, 0, "0 disabled, 1 enabled, 2 halted, 3 fatal") \
    R(0x104, MCU_FLAGS, "mcu_flags", 32, 1, 0, "bit 0 booted, 1 asleep, 2 running, 3 doorbell not looked at") \
    R(0x108, GPU_STATUS, "gpu_status", 32, 1, 0, "bit 0 groups have work, 7 protected mode") \
    R(0x10c, IFACE_NOW, "iface_now", 32, 1, 0, "interface version published by the last boot") \
    R(0x110, SHADER_READY, "shader_ready", 64, 1, 0, "shader cores with power") \
    R(0x118, TILER_READY, "tiler_ready", 32, 1, 0, "likewise") \
    R(0x11c, L2_READY, "l2_ready", 32, 1, 0, "likewise") \
    R(0x120, ENABLED, "enabled", 32, 1, 0, "1: counters are enabled") \
    R(0x124, EPOCH, "epoch", 32, 1, 0, "enables since power-on") \
    R(0x128, INSERT, "insert", 32, 1, 0, "samples written since the last enable") \
    R(0x12c, EXTRACT, "extract", 32, 1, 0, "as firmware last read it") \
    R(0x130, SET, "set", 32, 1, 0, "counter set latched last") \
    R(0x134, SLOTS, "slots", 32, 1, 0, "of the ring, likewise") \
    R(0x138, SAMPLE_SIZE, "sample_size", 32, 1, 0, "bytes, likewise") \
    R(0x140, SAMPLES, "samples", 64, 1, 0, "written since power-on: records in the ledger") \
    R(0x148, AUTOS, "autos", 64, 1, 0, "of these, of firmware's own accord") \
    R(0x150, LOST_AUTOS, "lost_autos", 64, 1, 0, "samples of its own accord that found no room") \
    R(0x158, FAULTS, "faults", 64, 1, 0, "samples lost to an MMU fault") \
    R(0x160, REJECTED, "rejected", 64, 1, 0, "enables ignored for what they asked") \
    R(0x168, DROPPED, "dropped", 64, 1, 0, "SAMPLE requests ignored by drop_samples") \
    R(0x170, OVERFLOWS, "overflows", 64, 1, 0, "OVERFLOW events raised") \
    R(0x178, THRESHOLDS, "thresholds", 64, 1, 0, "THRESHOLD events raised") \
    R(0x180, SATURATED, "saturated", 64, 1, 0, "counter values cut to 32 bits") \
    R(0x188, LAST_REASON, "last_reason", 32, 1, 0, "of the last sample written") \
    R(0x190, LAST_TIMESTAMP, "last_timestamp", 64, 1, 0, "likewise") \
    R(0x198, TIMESTAMP, "timestamp", 64, 1, 0, "the GPU's, now") \
    R(0x1a0, CORE_CYCLES, "core_cycles", 64, 1, 0, "of the core clock since power-on") \
    R(0x1a8, COREGROUP_CYCLES, "coregroup_cycles", 64, 1, 0, "likewise") \
    R(0x1b0, STACKS_CYCLES, "stacks_cycles", 64, 1, 0, "likewise") \
    R(0x1b8, CORE_HZ, "core_hz", 32, 1, 0, "rate of the core clock") \
    R(0x1bc, COREGROUP_HZ, "coregroup_hz", 32, 1, 0, "likewise") \
    R(0x1c0, STACKS_HZ, "stacks_hz", 32, 1, 0, "likewise") \
    R(0x1c8, WALKS, "walks", 64, 1, 0, "page table walks since power-on") \
    R(0x1d0, TLB_HITS, "tlb_hits", 64, 1, 0, "translations that needed none") \
    R(0x1d8, LAST_CORE_CYCLES, "last_core_cycles", 64, 1, 0, "core_cycles at the last sample written") \
    R(0x1e0, LAST_COREGROUP_CYCLES, "last_coregroup_cycles", 64, 1, 0, "likewise") \
    R(0x1e8, LAST_STACKS_CYCLES, "last_stacks_cycles", 64, 1, 0, "likewise") \
    R(0x1f0, REQ, "req", 32, 1, 0, "the global REQ, as firmware last read it") \
    R(0x1f8, INSTRUCTIONS, "instructions", 64, 1, 0, "run by the processors, if time is counted by them (run -i), or 0") \
    /* storm */ \
    R(0x200, STORM, "storm", 32, 1, 1, "1: disturb at random, 0: stop and undo what lasts") \
    R(0x204, STORM_SEED, "storm_seed", 32, 1, 1, "same seed, same series of disturbances") \
    R(0x208, STORM_PERIOD, "storm_period", 32, 1, 1, "mean us from one to the next") \
    R(0x20c, STORM_KINDS, "storm_kinds", 32, 1, 1, "1 sleep, 2 protm, 4 power, 8 slow acks, 16 full ring, 32 drop samples, 64 drop sample acks, 128 hang") \
    R(0x210, STORM_EVENTS, "storm_events", 32, 1, 0, "disturbances since storm was set") \
    R(0x214, STORM_NOW, "storm_now", 32, 1, 0, "kinds that last at this moment")

enum {
#define MALI_BENCH_ENUM(off, sym, name, bits, r, w, help) MALI_BENCH_##sym = off,
    MALI_BENCH_REGS(MALI_BENCH_ENUM)
#undef MALI_BENCH_ENUM
};

/* Bits of storm_kinds, and their number. */
enum {
    MALI_STORM_SLEEP, MALI_STORM_PROTM, MALI_STORM_POWER, MALI_STORM_SLOW_ACK,
    MALI_STORM_RING_FULL, MALI_STORM_DROP_SAMPLE, MALI_STORM_DROP_ACK,
    MALI_STORM_HANG, MALI_STORM_KINDS
};

#endif
