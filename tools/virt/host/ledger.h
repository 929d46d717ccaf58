/* SPDX-License-Identifier: MIT */
/*
 * Reader of the virtual Mali's ledgers (virtual-mali.rst, "The ledger"), for tests
 */
#ifndef MALI_LEDGER_H
#define MALI_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_type {
	LEDGER_META, LEDGER_FW, LEDGER_CSG, LEDGER_CSHW, LEDGER_TILER,
	LEDGER_MEMSYS, LEDGER_SHADER, LEDGER_TYPES
};

/* What a GPU's sample is made of; a ledger does not say. */
struct ledger_layout {
	unsigned int words;			/* a block: 64 or 128 */
	unsigned int count[LEDGER_TYPES];	/* blocks of a type, in a sample's order; cores: positions */
};

/*
 * Bits of the reason: the sample found no room; it was of firmware's own accord; it was requested, and
 * the bench page withheld the acknowledgment.
 */
#define LEDGER_NO_ROOM		(1u << 31)
#define LEDGER_OWN_ACCORD	(1u << 30)
#define LEDGER_UNANSWERED	(1u << 29)
#define LEDGER_BITS		(LEDGER_NO_ROOM | LEDGER_OWN_ACCORD | LEDGER_UNANSWERED)

/*
 * One sample, as firmware wrote it. Blocks that it did not write are zero. One
 * that found no room has no blocks at all, and the next one's sequence.
 */
struct ledger_record {
	uint64_t sequence;	/* from 0, over all resets */
	uint32_t epoch;		/* which enable, from 1 */
	uint32_t insert;	/* INSERT before this sample: which slot, unmasked */
	uint64_t timestamp;	/* GPU timestamp */
	uint32_t reason;
	uint32_t size;		/* of what follows, in bytes */
	const uint8_t *blocks;
};

static inline bool ledger_no_room(const struct ledger_record *r)
{
	return r->reason & LEDGER_NO_ROOM;
}

struct ledger;

/* NULL, and a message on stderr, if the file cannot be read. */
struct ledger *ledger_open(const char *path);
/*
 * 1: the next record; 0: there is none; -1: the file is broken (a message has
 * been printed). Pointers in a record are good until ledger_close().
 */
int ledger_next(struct ledger *l, struct ledger_record *r);
void ledger_close(struct ledger *l);

/* Bytes of a sample. */
size_t ledger_sample_size(const struct ledger_layout *layout);
/* Byte offset of a block in a sample. */
size_t ledger_offset(const struct ledger_layout *layout, enum ledger_type type,
		     unsigned int index);
/* A word of a block. */
uint32_t ledger_word(const struct ledger_layout *layout,
		     const struct ledger_record *r, enum ledger_type type,
		     unsigned int index, unsigned int word);

#endif
