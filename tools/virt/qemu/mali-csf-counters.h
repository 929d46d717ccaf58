/*
 * Arm Mali CSF GPU: what the bench page reads and does to the counters
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_MISC_MALI_CSF_COUNTERS_H
#define HW_MISC_MALI_CSF_COUNTERS_H

#include "hw/misc/mali-csf.h"

/*
 * Bits of a ledger record's reason, for a sample that found no room in the
 * ring: such a record has no blocks, and the number of the record after it.
 * One of firmware's own accord is lost, one that was requested is tried again.
 */
#define MALI_LEDGER_NO_ROOM     (1u << 31)
#define MALI_LEDGER_OWN_ACCORD  (1u << 30)

/* State of the counter block, as firmware has it. */
typedef struct MaliCountersInfo {
    bool enabled;
    uint32_t epoch;             /* enables since power-on */
    uint32_t insert;            /* of the current enable, without any skew */
    uint32_t extract;           /* as last read */
    uint32_t set;               /* latched by the last enable */
    uint32_t slots;             /* likewise */
    uint32_t sample_size;       /* likewise, in bytes */
    uint64_t samples;           /* written since power-on */
    uint64_t autos;             /* of these: of firmware's own accord */
    uint64_t lost_autos;        /* own accord, ring full or locked: not written */
    uint64_t faults;            /* lost to an MMU fault */
    uint64_t rejected;          /* enables that were ignored */
    uint64_t dropped;           /* SAMPLE requests dropped by the bench page */
    uint64_t overflows;         /* OVERFLOW events raised */
    uint64_t thresholds;        /* THRESHOLD events raised */
    uint64_t saturated;         /* counters cut to 32 bits */
    uint32_t last_reason;       /* of the last sample written */
    uint64_t last_timestamp;    /* likewise */
    uint64_t last_cycles[MALI_CLKS];    /* of the clocks, then */
} MaliCountersInfo;

const MaliCountersInfo *mali_csf_counters_info(MaliCsfState *s);

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
void mali_csf_counters_flush_ledger(MaliCsfState *s);

#endif
